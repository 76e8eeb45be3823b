(** From Rényi divergences to (eps, delta), at one order: Canonne, Kamath and Steinke, "The discrete Gaussian for
    differential privacy" (2020), Proposition 12. Proved anew, by the tangent of e^x. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Concentrated Renyi.
Import ListNotations.
Open Scope R_scope.

(** e^x lies above its tangents *)
Lemma exp_tangent x m : exp m * (1 + (x - m)) <= exp x.
Proof.
  replace (exp x) with (exp m * exp (x - m)) by (rewrite <- exp_plus; f_equal; ring).
  apply Rmult_le_compat_l; [left; apply exp_pos|apply exp_ineq1_le].
Qed.
(** v^a >= 1 + a (v - 1) for v = e^s *)
Lemma power_tangent a s : 1 < a -> a * exp s - (a - 1) <= exp (a * s).
Proof.
  intros Ha. pose proof (exp_tangent (a * s) s) as H1. pose proof (exp_tangent 0 s) as H0. rewrite exp_0 in H0.
  pose proof (exp_pos s). set (e := exp s) in *. nra.
Qed.
(** (a - 1)^(a - 1)/a^a, as a logarithm *)
Definition gain (a : R) : R := (a - 1) * ln (a - 1) - a * ln a.
(** x - e^eps y <= e^((1 - a) eps + gain a) x^a y^(1 - a): the tangent touches at x/y = e^eps a/(a - 1) *)
Lemma excess_power a eps x y : 1 < a -> 0 < x -> 0 < y ->
  x - exp eps * y <= exp ((1 - a) * eps + gain a) * (Rpower x a * Rpower y (1 - a)).
Proof.
  intros Ha Hx Hy. set (s := ln x - ln y - eps + ln (a - 1) - ln a). pose proof (power_tangent a s Ha) as H.
  set (c := exp (eps + ln y - ln (a - 1))). assert (0 < c) as Hc by apply exp_pos.
  assert (c * (a * exp s) = x) as E1.
  { assert (a * exp s = exp (ln a + s)) as -> by (rewrite exp_plus, exp_ln; lra). unfold c. rewrite <- exp_plus.
    replace (_ + _) with (ln x) by (unfold s; ring). now apply exp_ln. }
  assert (c * (a - 1) = exp eps * y) as E2.
  { assert (exp eps * y = exp (eps + ln y)) as -> by (rewrite exp_plus, exp_ln; lra). unfold c. unfold Rminus at 1.
    rewrite exp_plus, exp_Ropp, exp_ln by lra. field. lra. }
  unfold Rpower, gain. rewrite <- !exp_plus.
  replace (_ + (a * ln x + _)) with (eps + ln y - ln (a - 1) + a * s) by (unfold s; ring).
  rewrite exp_plus. fold c. rewrite <- E2, <- E1 at 1. nra.
Qed.
(** Over all events *)
Theorem renyi_approx {D T} (adj : D -> D -> Prop) (M : D -> T -> R) a r eps : 1 < a -> renyi_dp adj M a r ->
  dp adj M eps (exp ((a - 1) * (r - eps) + gain a)).
Proof.
  intros Ha [Hp H]. split; [easy|]. intros d d' Hd. destruct (H d d' Hd) as [H0 H1]. apply dp_pair_intro; [apply Hp|]. intros l Hl.
  set (k := exp ((1 - a) * eps + gain a)). assert (0 < k) as Hk by apply exp_pos.
  assert (mass (fun x => 1 * M d x + - exp eps * M d' x) l <= mass (fun x => k * counted a (M d) (M d') x) l) as Hm.
  { apply mass_le. intros x _. unfold counted. destruct (Rlt_dec 0 (M d x)) as [Hx|Hx].
    - pose proof (excess_power a eps _ _ Ha Hx (H0 x Hx)) as He. unfold renyi_term. fold k in He. lra.
    - assert (M d x = 0) as -> by (pose proof (proj1 (Hp d) x); lra). pose proof (proj1 (Hp d') x). pose proof (exp_pos eps). nra. }
  rewrite mass_lin, mass_scale in Hm. pose proof (counted_le a (M d) (M d') _ H1 l Hl) as Hc.
  apply Rmult_le_compat_l with (r := k) in Hc; [|lra]. unfold k in Hc at 2. rewrite <- exp_plus in Hc.
  replace ((1 - a) * eps + gain a + (a - 1) * r) with ((a - 1) * (r - eps) + gain a) in Hc by ring. lra.
Qed.

(** ** In whole numbers: order c/e, Rényi divergence x/y, eps = a/b, delta = n/d *)
Open Scope Z_scope.
(** e times the logarithm of delta: (c - e) (x/y - a/b) + e gain(c/e), of which e^(...) has (c - e)^(c - e) e^e / c^c *)
Definition conversion_check (c e x y a b n d P : Z) (r : nat) : bool :=
  let t := (c - e) * (a * y - x * b) in let k := b * y in
  let small := (c - e) ^ (c - e) * e ^ e * d ^ e in let large := n ^ e * c ^ c in
  (0 <=? P) && (0 <? e) && (e <? c) && (0 <? y) && is_ratio a b && (0 <? n) && (0 <? d) &&
  (if 0 <=? t then small * 2 ^ P <=? large * exp_below r P t k
   else (- t <? k * 2 ^ Z.of_nat r) && (small * exp_above r P (- t) k <=? large * 2 ^ P)).
Close Scope Z_scope.

(** Powers by logarithms *)
Lemma power_ln x n : (0 < x)%Z -> (0 <= n)%Z -> IZR (x ^ n) = exp (IZR n * ln (IZR x)).
Proof.
  intros Hx Hn. apply IZR_lt in Hx. rewrite <- (Z2Nat.id n) at 1 by easy. rewrite <- pow_IZR, <- Rpower_pow by easy.
  unfold Rpower. f_equal. f_equal. now rewrite INR_IZR_INZ, Z2Nat.id.
Qed.
(** Of a quotient *)
Lemma ln_quotient x y : 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof. intros Hx Hy. unfold Rdiv. rewrite ln_mult, ln_Rinv; [ring|easy..|now apply Rinv_0_lt_compat]. Qed.
(** Clearing denominators and roots *)
Lemma conversion_ok c e x y a b n d P r : conversion_check c e x y a b n d P r = true ->
  exp ((IZR c / IZR e - 1) * (IZR x / IZR y - IZR a / IZR b) + gain (IZR c / IZR e)) <= IZR n / IZR d.
Proof.
  unfold conversion_check. set (t := ((c - e) * (a * y - x * b))%Z). intros H. split_bool H.
  match goal with X : is_ratio a b = true |- _ => pose proof (ratio_bottom a b X) as Hb end.
  match goal with X : (if (0 <=? t)%Z then _ else _) = true |- _ => rename X into Hif end.
  assert (0 < e)%Z as He by easy. assert (e < c)%Z as Hc by easy. assert (0 < n)%Z as Hn by easy. assert (0 < d)%Z as Hd by easy.
  assert (0 < y)%Z as Hy by easy. assert (0 <= P)%Z as HP by easy. assert (0 < b * y)%Z as Hk by nia. pose proof (IZR_pow2_pos P HP) as HPP.
  set (small := ((c - e) ^ (c - e) * e ^ e * d ^ e)%Z) in *. set (large := (n ^ e * c ^ c)%Z) in *.
  assert (IZR small = exp (IZR (c - e) * ln (IZR (c - e)) + IZR e * ln (IZR e) + IZR e * ln (IZR d))) as Es.
  { unfold small. rewrite !mult_IZR, !power_ln by lia. now rewrite <- !exp_plus. }
  assert (IZR large = exp (IZR e * ln (IZR n) + IZR c * ln (IZR c))) as El.
  { unfold large. rewrite !mult_IZR, !power_ln by lia. now rewrite <- !exp_plus. }
  assert (0 < IZR small) as Hs by (rewrite Es; apply exp_pos). assert (0 < IZR large) as Hl by (rewrite El; apply exp_pos).
  assert (IZR small <= IZR large * exp (IZR t / IZR (b * y))) as Hmain.
  { apply Rmult_le_reg_r with (IZR (2 ^ P)); [easy|]. destruct (Z.leb_spec 0 t) as [Ht|Ht].
    - apply Z.leb_le, IZR_le in Hif. rewrite !mult_IZR in Hif. pose proof (exp_below_ok r P t (b * y) HP Ht Hk) as X. nra.
    - split_bool Hif. match goal with X : (small * _ <= _)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR in X; rename X into Hq end.
      assert (exp (IZR (- t) / IZR (b * y)) * IZR (2 ^ P) <= IZR (exp_above r P (- t) (b * y))) as X by (apply exp_above_ok; lia).
      assert (exp (IZR t / IZR (b * y)) * exp (IZR (- t) / IZR (b * y)) = 1) as E1.
      { rewrite <- exp_plus, opp_IZR. replace (_ + _) with 0 by (field; apply not_0_IZR; lia). apply exp_0. }
      pose proof (exp_pos (IZR t / IZR (b * y))) as Hp. set (g := exp (IZR t / IZR (b * y))) in *. set (h := exp (IZR (- t) / IZR (b * y))) in *.
      assert (IZR small * (h * IZR (2 ^ P)) <= IZR large * IZR (2 ^ P)) as Y by nra.
      apply Rmult_le_compat_l with (r := g) in Y; [|lra]. replace (g * (IZR small * (h * IZR (2 ^ P)))) with (g * h * (IZR small * IZR (2 ^ P))) in Y by ring.
      rewrite E1 in Y. lra. }
  rewrite Es, El, <- exp_plus in Hmain. apply exp_le_back in Hmain. clear Hif.
  assert (0 < IZR n / IZR d) as Hnd by (apply IZR_lt in Hn, Hd; now apply Rdiv_lt_0_compat). rewrite <- (exp_ln _ Hnd).
  apply exp_le. apply IZR_lt in He, Hn, Hd, Hb, Hy. assert (0 < IZR c - IZR e) as Hce by (apply IZR_lt in Hc; lra). assert (0 < IZR c) by lra.
  apply Rmult_le_reg_l with (IZR e); [easy|]. unfold gain. replace (IZR c / IZR e - 1) with ((IZR c - IZR e) / IZR e) by (field; lra).
  rewrite !ln_quotient by lra. unfold t in Hmain. rewrite !mult_IZR, !minus_IZR, !mult_IZR in Hmain.
  set (lce := ln (IZR c - IZR e)) in *. set (le := ln (IZR e)) in *. set (lc := ln (IZR c)) in *. set (ld := ln (IZR d)) in *. set (lnn := ln (IZR n)) in *.
  match goal with |- ?L <= _ => replace L with ((IZR c - IZR e) * lce + IZR e * le - IZR c * lc -
    (IZR c - IZR e) * (IZR a * IZR y - IZR x * IZR b) / (IZR b * IZR y)) by (field; lra) end. lra.
Qed.
(** What a mechanism of that Rényi divergence costs *)
Theorem converted {D T} (adj : D -> D -> Prop) (M : D -> T -> R) c e x y a b n d P r : conversion_check c e x y a b n d P r = true ->
  renyi_dp adj M (IZR c / IZR e) (IZR x / IZR y) -> dp adj M (IZR a / IZR b) (IZR n / IZR d).
Proof.
  intros H HM. pose proof (conversion_ok _ _ _ _ _ _ _ _ _ _ H) as Hd. unfold conversion_check in H. split_bool H.
  destruct (renyi_approx adj M _ _ (IZR a / IZR b) (order_above c e ltac:(easy) ltac:(easy)) HM) as [Hp Hdp]. split; [easy|].
  intros s s' Hs. exact (dp_pair_weaken _ _ _ _ _ (Hdp s s' Hs) Hd).
Qed.
