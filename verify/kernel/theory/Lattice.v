(** The lattice of K uses of discrete Laplace noise, summed in whole numbers, rounded up or down. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights DiscreteLaplace RandomizedResponse Composition LaplacePair LaplaceUses.
Import ListNotations.
Open Scope R_scope.

(** Products of polynomials, as lists of coefficients. *)
Fixpoint plus (A B : list Z) : list Z :=
  match A, B with a :: A', b :: B' => (a + b)%Z :: plus A' B' | [], _ => B | _, [] => A end.
Fixpoint times (A C : list Z) : list Z :=
  match A with [] => [] | a :: A' => plus (map (Z.mul a) C) (0%Z :: times A' C) end.
Definition dot (A : list Z) (F : nat -> R) (s : nat) : R :=
  mass (fun j => IZR (nth j A 0%Z) * F (s + j)%nat) (seq 0 (length A)).

(** The first coefficient *)
Lemma dot_cons a A F s : dot (a :: A) F s = IZR a * F s + dot A F (S s).
Proof.
  unfold dot. cbn [length seq mass nth]. rewrite Nat.add_0_r, <- seq_shift, mass_map. f_equal.
  apply mass_ext. intros j _. cbn [nth]. do 2 f_equal. lia.
Qed.
(** Coefficient by coefficient *)
Lemma dot_plus A : forall B F s, dot (plus A B) F s = dot A F s + dot B F s.
Proof.
  induction A as [|a A IH]; intros [|b B] F s; cbn [plus]; rewrite ?dot_cons, ?IH, ?plus_IZR; unfold dot; simpl; ring.
Qed.
(** A common factor *)
Lemma dot_scale a A : forall F s, dot (map (Z.mul a) A) F s = IZR a * dot A F s.
Proof.
  induction A as [|b A IH]; intros F s; cbn [map]; rewrite ?dot_cons, ?IH, ?mult_IZR; [unfold dot; simpl; ring|ring].
Qed.
(** Sums of products *)
Lemma dot_times A C : forall F s, dot (times A C) F s = dot A (dot C F) s.
Proof.
  induction A as [|a A IH]; intros F s; cbn [times]; [easy|].
  rewrite dot_plus, dot_scale, !dot_cons, IH. ring.
Qed.

Open Scope Z_scope.
(** One use more: both ends weigh 1, each of the Delta - 1 cells between weighs w, in units of 2^-P. *)
Definition one_more (Delta : nat) (weigh : Z -> Z) (C : list Z) : list Z :=
  plus C (plus (map weigh (times (repeat 1 (Delta - 1)) (0 :: C))) (repeat 0 Delta ++ C)).
Fixpoint shares_up (Delta K : nat) (w P : Z) : list Z :=
  match K with O => [2 ^ P] | S K' => one_more Delta (fun c => Z.shiftr (w * c) P + 1) (shares_up Delta K' w P) end.
Fixpoint shares_down (Delta K : nat) (w P : Z) : list Z :=
  match K with O => [2 ^ P] | S K' => one_more Delta (fun c => Z.shiftr (w * c) P) (shares_down Delta K' w P) end.

(** scale t/u, eps = a/b, delta = n/d: e^(-u/t) lies between lo and up, its powers in two lists. *)
Definition lattice_check (K : nat) (t u : Z) (Delta : nat) (a b n d P : Z) (r : nat) : bool :=
  let N := (K * Delta)%nat in
  let lo := 2 ^ (2 * P) / exp_above r P u t in let up := 2 ^ (2 * P) / exp_below r P u t + 1 in
  let e := exp_below r P a b in let C := shares_up Delta K (2 ^ P - lo) P in
  ((0 <? t) && (0 <? u) && (0 <? Z.of_nat Delta) && (0 <=? P) && (u <? t * 2 ^ Z.of_nat r) &&
   is_ratio a b && is_ratio n d && (0 <? exp_above r P u t) && (0 <? exp_below r P u t) && (0 <=? e) && (0 <=? lo) &&
   (Z.of_nat (length C) =? Z.of_nat (S N)) &&
   (sum3 P e C (rev (pows_up N P up (2 ^ P))) (pows_dn N P lo (2 ^ P)) * d
    <=? n * (last (pows_dn K P (2 ^ P + lo) (2 ^ P)) 0 * 2 ^ (2 * P))))%bool.
Definition lattice_refutes (K : nat) (t u : Z) (Delta : nat) (a b n d P : Z) (r : nat) : bool :=
  let N := (K * Delta)%nat in
  let lo := 2 ^ (2 * P) / exp_above r P u t in let up := 2 ^ (2 * P) / exp_below r P u t + 1 in
  let e := exp_above r P a b in let C := shares_down Delta K (2 ^ P - up) P in
  ((0 <? t) && (0 <? u) && (0 <? Z.of_nat Delta) && (0 <=? P) && (u <? t * 2 ^ Z.of_nat r) && (a <? b * 2 ^ Z.of_nat r) &&
   is_ratio a b && is_ratio n d && (0 <? exp_above r P u t) && (0 <? exp_below r P u t) && (0 <=? lo) && (up <=? 2 ^ P) &&
   (Z.of_nat (length C) =? Z.of_nat (S N)) &&
   (n * (last (pows_up K P (2 ^ P + up) (2 ^ P)) 0 * 2 ^ (2 * P))
    <? sum3 P e C (rev (pows_dn N P lo (2 ^ P))) (pows_up N P up (2 ^ P)) * d))%bool.
Close Scope Z_scope.

Section Shares.
Variables (t : R) (Delta : nat) (P : Z).
Hypotheses (Ht : 0 < t) (HD : (0 < Delta)%nat) (HP : (0 <= P)%Z).
Let a := exp (- (1 / t)).
Let p := IZR (2 ^ P).
Variable F : nat -> R.
Hypothesis HF : forall j, 0 <= F j.

(** Cell by cell *)
Lemma dot_ones m C : forall s, dot (times (repeat 1%Z m) C) F s = mass (fun j => dot C F (s + j)) (seq 0 m).
Proof.
  induction m; intros s; [easy|]. cbn [repeat seq mass]. rewrite dot_times, dot_cons, <- dot_times, IHm, <- seq_shift, mass_map, Nat.add_0_r.
  rewrite Rmult_1_l. f_equal. apply mass_ext. intros j _. f_equal. lia.
Qed.
(** Zeros before the first coefficient *)
Lemma dot_zeros m C : forall s, dot (repeat 0%Z m ++ C) F s = dot C F (s + m).
Proof.
  induction m; intros s; cbn [repeat app]; [f_equal; lia|]. rewrite dot_cons, IHm, Rmult_0_l, Rplus_0_l. f_equal. lia.
Qed.
(** Both ends and what is between *)
Lemma dot_one_more weigh C s : dot (one_more Delta weigh C) F s
  = dot C F s + (dot (map weigh (times (repeat 1%Z (Delta - 1)) (0%Z :: C))) F s + dot C F (s + Delta)).
Proof. unfold one_more. now rewrite !dot_plus, dot_zeros. Qed.
(** Both ends and what is between *)
Lemma spread_one_more K s : spread t Delta (S K) F s
  = spread t Delta K F s + ((1 - a) * mass (fun j => spread t Delta K F (S s + j)) (seq 0 (Delta - 1)) + spread t Delta K F (s + Delta)).
Proof.
  cbn [spread]. assert (seq 0 (S Delta) = [0%nat] ++ seq 1 (Delta - 1) ++ [Delta]) as ->.
  { replace (S Delta) with (1 + ((Delta - 1) + 1))%nat by lia. rewrite !seq_app. simpl. do 3 f_equal. lia. }
  rewrite !mass_app. cbn [mass]. rewrite Nat.add_0_r, !Rplus_0_r. unfold share at 1 3. rewrite Nat.eqb_refl, Nat.eqb_refl, Bool.orb_true_r. cbn [orb].
  rewrite !Rmult_1_l. do 2 f_equal. rewrite <- mass_scale, <- seq_shift, mass_map. apply mass_ext. intros j Hj. apply in_seq in Hj.
  unfold share. destruct (Nat.eqb_spec (S j) 0); [lia|]. destruct (Nat.eqb_spec (S j) Delta); [lia|]. cbn [orb]. fold a. do 2 f_equal. lia.
Qed.
(** Rounded up, entry by entry *)
Lemma dot_up w C s : IZR w * dot C F s <= p * dot (map (fun c => Z.shiftr (w * c) P + 1)%Z C) F s.
Proof.
  revert s. induction C as [|c C IH]; intros s; [unfold dot; simpl; lra|]. cbn [map]. rewrite !dot_cons.
  specialize (IH (S s)). specialize (HF s).
  assert (IZR w * IZR c <= IZR (Z.shiftr (w * c) P + 1) * p).
  { rewrite Z.shiftr_div_pow2, <- mult_IZR by easy. apply div_up, Z.pow_pos_nonneg; lia. } nra.
Qed.
(** Rounded down, entry by entry *)
Lemma dot_down w C s : p * dot (map (fun c => Z.shiftr (w * c) P) C) F s <= IZR w * dot C F s.
Proof.
  revert s. induction C as [|c C IH]; intros s; [unfold dot; simpl; lra|]. cbn [map]. rewrite !dot_cons.
  specialize (IH (S s)). specialize (HF s).
  assert (IZR (Z.shiftr (w * c) P) * p <= IZR w * IZR c).
  { rewrite Z.shiftr_div_pow2, <- mult_IZR by easy. apply div_le, Z.pow_pos_nonneg; lia. } nra.
Qed.
(** The cells between, of which the first is one step on *)
Lemma dot_between C s : dot (times (repeat 1%Z (Delta - 1)) (0%Z :: C)) F s = mass (fun j => dot C F (S s + j)) (seq 0 (Delta - 1)).
Proof. rewrite dot_ones. apply mass_ext. intros j _. rewrite dot_cons. simpl. ring. Qed.

(** Shares rounded up *)
Lemma shares_up_ok w : (1 - a) * p <= IZR w -> forall K s, p * spread t Delta K F s <= dot (shares_up Delta K w P) F s.
Proof.
  intros Hw. pose proof (IZR_pow2_pos P HP) as Hp. fold p in Hp. pose proof (rate t Ht) as Ha. fold a in Ha. induction K; intros s.
  - cbn [shares_up spread]. rewrite dot_cons. unfold dot. simpl. fold p. lra.
  - cbn [shares_up]. rewrite spread_one_more, dot_one_more. set (C := shares_up Delta K w P) in *.
    pose proof (dot_up w (times (repeat 1%Z (Delta - 1)) (0%Z :: C)) s) as Hr. rewrite dot_between in Hr.
    set (R := dot (map _ _) F s) in *. pose proof (IHK s). pose proof (IHK (s + Delta)%nat).
    set (X := mass (fun j => spread t Delta K F (S s + j)) (seq 0 (Delta - 1))). set (Y := mass _ _) in Hr.
    assert (p * X <= Y) by (unfold X, Y; rewrite <- mass_scale; apply mass_le; auto).
    assert (0 <= X) by (apply mass_nonneg; intros; now apply spread_nonneg).
    assert (p * ((1 - a) * X) <= R); [|nra]. apply Rmult_le_reg_l with p; [easy|]. apply Rle_trans with (2 := Hr).
    replace (p * (p * ((1 - a) * X))) with ((1 - a) * p * (p * X)) by ring. apply Rmult_le_compat; nra.
Qed.
(** Shares rounded down *)
Lemma shares_down_ok w : (0 <= w)%Z -> IZR w <= (1 - a) * p -> forall K s, dot (shares_down Delta K w P) F s <= p * spread t Delta K F s.
Proof.
  intros Hw0 Hw. apply IZR_le in Hw0. pose proof (IZR_pow2_pos P HP) as Hp. fold p in Hp. pose proof (rate t Ht) as Ha. fold a in Ha. induction K; intros s.
  - cbn [shares_down spread]. rewrite dot_cons. unfold dot. simpl. fold p. lra.
  - cbn [shares_down]. rewrite spread_one_more, dot_one_more. set (C := shares_down Delta K w P) in *.
    pose proof (dot_down w (times (repeat 1%Z (Delta - 1)) (0%Z :: C)) s) as Hr. rewrite dot_between in Hr.
    set (R := dot (map _ _) F s) in *. pose proof (IHK s). pose proof (IHK (s + Delta)%nat).
    set (X := mass (fun j => spread t Delta K F (S s + j)) (seq 0 (Delta - 1))). set (Y := mass _ _) in Hr.
    assert (Y <= p * X) by (unfold X, Y; rewrite <- mass_scale; apply mass_le; auto).
    assert (0 <= X) by (apply mass_nonneg; intros; now apply spread_nonneg).
    assert (R <= p * ((1 - a) * X)); [|nra]. apply Rmult_le_reg_l with p; [easy|]. apply Rle_trans with (1 := Hr).
    replace (p * (p * ((1 - a) * X))) with ((1 - a) * p * (p * X)) by ring.
    apply Rle_trans with (IZR w * (p * X)); [now apply Rmult_le_compat_l|apply Rmult_le_compat_r; nra].
Qed.
End Shares.

(** e^(-u/t) in units of 2^-P, from bounds on e^(u/t) *)
Lemma rate_bounds t u P r : (0 < t)%Z -> (0 < u)%Z -> (0 <= P)%Z -> (u < t * 2 ^ Z.of_nat r)%Z ->
  (0 < exp_above r P u t)%Z -> (0 < exp_below r P u t)%Z ->
  let a := exp (- (1 / (IZR t / IZR u))) in
  IZR (2 ^ (2 * P) / exp_above r P u t) <= a * IZR (2 ^ P) <= IZR (2 ^ (2 * P) / exp_below r P u t + 1).
Proof.
  intros Ht Hu HP Hr Ha Hb a. pose proof (IZR_pow2_pos P HP) as Hp.
  pose proof (exp_below_ok r P u t HP ltac:(lia) Ht) as H1. pose proof (exp_above_ok r P u t HP ltac:(lia) Ht Hr) as H2.
  assert (a * exp (IZR u / IZR t) = 1) as E.
  { unfold a. rewrite <- exp_plus. transitivity (exp 0); [|apply exp_0]. f_equal. apply IZR_lt in Ht, Hu. field. lra. }
  assert (0 < a) by apply exp_pos.
  assert (IZR (2 ^ (2 * P)) = IZR (2 ^ P) * IZR (2 ^ P)) as E2 by (rewrite <- mult_IZR, <- Z.pow_add_r by lia; do 2 f_equal; lia).
  pose proof (div_le (2 ^ (2 * P)) _ Ha) as D1. pose proof (div_up (2 ^ (2 * P)) _ Hb) as D2. rewrite E2 in D1, D2.
  apply IZR_lt in Ha, Hb. set (p := IZR (2 ^ P)) in *. set (x := exp (IZR u / IZR t)) in *. split.
  - apply Rmult_le_reg_r with (IZR (exp_above r P u t)); [easy|]. apply Rle_trans with (1 := D1).
    replace (p * p) with (a * p * (x * p)) by (replace (a * p * (x * p)) with ((a * x) * (p * p)) by ring; rewrite E; ring).
    apply Rmult_le_compat_l; [nra|easy].
  - apply Rmult_le_reg_r with (IZR (exp_below r P u t)); [easy|]. apply Rle_trans with (2 := D2).
    replace (p * p) with (a * p * (x * p)) by (replace (a * p * (x * p)) with ((a * x) * (p * p)) by ring; rewrite E; ring).
    apply Rmult_le_compat_l; [nra|easy].
Qed.
(** The sum that the kernel computes, over the lattice *)
Lemma dot_sum3 P e C A B : (0 <= P)%Z -> length A = length C -> length B = length C ->
  dot C (fun j => / (IZR (2 ^ P) * IZR (2 ^ P)) * positive_part (2 ^ P) e (nth j A 0%Z) (nth j B 0%Z)) 0
  = / (IZR (2 ^ P) * IZR (2 ^ P)) * IZR (sum3 P e C A B).
Proof.
  intros HP HA HB. rewrite <- sum3_ok by easy. rewrite <- mass_scale. unfold dot. apply mass_ext. intros j _. rewrite Nat.add_0_l. ring.
Qed.

(** Each factor rounded up, and the total down *)
Theorem lattice_dp K t u Delta a b n d P r : lattice_check K t u Delta a b n d P r = true ->
  noise_uses_dp (discrete_laplace (IZR t / IZR u)) K (Z.of_nat Delta) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold lattice_check. intros H. split_bool H.
  set (N := (K * Delta)%nat) in *. set (lo := (2 ^ (2 * P) / exp_above r P u t)%Z) in *. set (up := (2 ^ (2 * P) / exp_below r P u t + 1)%Z) in *.
  set (e := exp_below r P a b) in *. set (C := shares_up Delta K (2 ^ P - lo) P) in *.
  assert (0 <= P)%Z as HP by assumption. pose proof (IZR_pow2_pos P HP) as HPP. assert (0 < IZR t / IZR u) as Ht by now apply ratio_pos.
  destruct (rate_bounds t u P r ltac:(assumption) ltac:(assumption) HP ltac:(assumption) ltac:(assumption) ltac:(assumption)) as [Hlo Hup].
  fold lo in Hlo. fold up in Hup. pose proof (rate _ Ht) as Hq. set (q := exp (- (1 / (IZR t / IZR u)))) in *.
  assert (IZR e <= exp (IZR a / IZR b) * IZR (2 ^ P)) as He by (apply exp_below_ok; eauto using ratio_top, ratio_bottom).
  assert (0 <= 2 ^ P)%Z as H2P by (apply Z.pow_nonneg; lia). set (x := exp (IZR a / IZR b)) in *.
  assert (length C = S N) as HC by (apply Nat2Z.inj; assumption).
  set (A := rev (pows_up N P up (2 ^ P))) in *. set (B := pows_dn N P lo (2 ^ P)) in *. set (p := IZR (2 ^ P)) in *.
  assert (length A = length C) as HA by (unfold A; rewrite rev_length, pows_up_len; lia).
  assert (length B = length C) as HB by (unfold B; rewrite pows_dn_len; lia).
  apply uses_dp; [easy|lia|]. fold q.
  assert (p * lattice_excess (IZR t / IZR u) Delta K (IZR a / IZR b) <= / (p * p) * IZR (sum3 P e C A B)) as Hex.
  { pose proof (dot_sum3 P e C A B HP HA HB) as Hsum. fold p in Hsum. rewrite <- Hsum. clear Hsum.
    apply Rle_trans with (p * spread (IZR t / IZR u) Delta K (fun j => / (p * p) * positive_part (2 ^ P) e (nth j A 0%Z) (nth j B 0%Z)) 0).
    2: { apply shares_up_ok; auto; [lia| |].
      - intros j. apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; nra|apply IZR_le; lia].
      - rewrite minus_IZR. fold p q. lra. }
    apply Rmult_le_compat_l; [lra|]. unfold lattice_excess. fold N q x. apply (spread_le (IZR t / IZR u) Delta Ht ltac:(lia) N); [|unfold N; lia].
    intros j Hj. unfold above. rewrite Rmult_1_l. fold p.
    assert (q ^ (N - j) * p <= IZR (nth j A 0%Z)) as HAj.
    { unfold A. rewrite rev_nth; rewrite pows_up_len; [|lia]. replace (S N - S j)%nat with (N - j)%nat by lia.
      pose proof (pows_up_ok P up q N HP ltac:(lra) Hup (2 ^ P)%Z (N - j) 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X. fold p in X. lra. }
    pose proof (pows_dn_ok P lo q N HP ltac:(assumption) Hlo (2 ^ P)%Z j 1 H2P ltac:(lra) ltac:(fold p; lra) Hj) as HBj. fold B p in HBj.
    set (aj := nth j A 0%Z) in *. set (bj := nth j B 0%Z) in *. unfold positive_part.
    assert (p * IZR aj - IZR e * IZR bj <= IZR (Z.max 0 (2 ^ P * aj - e * bj))) as Hm by (unfold p; rewrite <- !mult_IZR, <- minus_IZR; apply IZR_le; lia).
    assert (0 <= IZR (Z.max 0 (2 ^ P * aj - e * bj))) by (apply IZR_le; lia).
    apply Rmult_le_reg_l with (p * p); [nra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by nra.
    assert (0 <= IZR e) by (apply IZR_le; assumption).
    assert (IZR e * IZR bj <= (x * p) * (q ^ j * p)) by (apply Rmult_le_compat; lra).
    assert (q ^ (N - j) * p * p <= IZR aj * p) by (apply Rmult_le_compat_r; lra).
    unfold Rmax. destruct (Rle_dec 0 (q ^ (N - j) - x * q ^ j)); nra. }
  assert (IZR (last (pows_dn K P (2 ^ P + lo) (2 ^ P)) 0%Z) <= (1 + q) ^ K * p) as HDn.
  { rewrite last_dn.
    pose proof (pows_dn_ok P (2 ^ P + lo) (1 + q) K HP ltac:(lia) ltac:(rewrite plus_IZR; fold p; lra) (2 ^ P)%Z K 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X. fold p in X. lra. }
  match goal with X : (sum3 _ _ _ _ _ * d <= _)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR in X; rename X into Hc end.
  assert (IZR (2 ^ (2 * P)) = p * p) as E2 by (unfold p; rewrite <- mult_IZR, <- Z.pow_add_r by lia; do 2 f_equal; lia). rewrite E2 in Hc.
  assert (0 < IZR d) as Hd by (apply IZR_lt; eauto using ratio_bottom). assert (0 <= IZR n) as Hn by (apply IZR_le; eauto using ratio_top).
  set (S3 := IZR (sum3 P e C A B)) in *. set (L := IZR (last (pows_dn K P (2 ^ P + lo) (2 ^ P)) 0%Z)) in *. set (E := lattice_excess _ _ _ _) in *.
  apply Rmult_le_reg_r with (IZR d * (p * p * p)); [apply Rmult_lt_0_compat; [easy|]; apply Rmult_lt_0_compat; nra|].
  replace (IZR n / IZR d * (1 + q) ^ K * (IZR d * (p * p * p))) with (IZR n * ((1 + q) ^ K * p) * (p * p)) by (field; lra).
  assert (p * E * (p * p) <= S3) as Hs3.
  { apply Rmult_le_compat_r with (r := p * p) in Hex; [|nra]. replace (/ (p * p) * S3 * (p * p)) with S3 in Hex by (field; lra). exact Hex. }
  assert (IZR n * L <= IZR n * ((1 + q) ^ K * p)) as X by (apply Rmult_le_compat_l; lra).
  apply Rmult_le_compat_r with (r := p * p) in X; [|nra]. apply Rmult_le_compat_r with (r := IZR d) in Hs3; [|lra]. lra.
Qed.

(** Each factor rounded down, and the total up *)
Theorem lattice_not_dp K t u Delta a b n d P r : lattice_refutes K t u Delta a b n d P r = true ->
  noise_uses_not_dp (discrete_laplace (IZR t / IZR u)) K (Z.of_nat Delta) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold lattice_refutes. intros H. split_bool H.
  set (N := (K * Delta)%nat) in *. set (lo := (2 ^ (2 * P) / exp_above r P u t)%Z) in *. set (up := (2 ^ (2 * P) / exp_below r P u t + 1)%Z) in *.
  set (e := exp_above r P a b) in *. set (C := shares_down Delta K (2 ^ P - up) P) in *.
  assert (0 <= P)%Z as HP by assumption. pose proof (IZR_pow2_pos P HP) as HPP. assert (0 < IZR t / IZR u) as Ht by now apply ratio_pos.
  destruct (rate_bounds t u P r ltac:(assumption) ltac:(assumption) HP ltac:(assumption) ltac:(assumption) ltac:(assumption)) as [Hlo Hup].
  fold lo in Hlo. fold up in Hup. pose proof (rate _ Ht) as Hq. set (q := exp (- (1 / (IZR t / IZR u)))) in *.
  assert (exp (IZR a / IZR b) * IZR (2 ^ P) <= IZR e) as He by (apply exp_above_ok; eauto using ratio_top, ratio_bottom).
  assert (0 <= 2 ^ P)%Z as H2P by (apply Z.pow_nonneg; lia). pose proof (exp_pos (IZR a / IZR b)) as Hx. set (x := exp (IZR a / IZR b)) in *.
  assert (length C = S N) as HC by (apply Nat2Z.inj; assumption).
  set (A := rev (pows_dn N P lo (2 ^ P))) in *. set (B := pows_up N P up (2 ^ P)) in *. set (p := IZR (2 ^ P)) in *.
  assert (length A = length C) as HA by (unfold A; rewrite rev_length, pows_dn_len; lia).
  assert (length B = length C) as HB by (unfold B; rewrite pows_up_len; lia).
  apply uses_not_dp; [easy|lia|now apply ratio_nonneg|]. fold q.
  assert (/ (p * p) * IZR (sum3 P e C A B) <= p * lattice_excess (IZR t / IZR u) Delta K (IZR a / IZR b)) as Hex.
  { pose proof (dot_sum3 P e C A B HP HA HB) as Hsum. fold p in Hsum. rewrite <- Hsum. clear Hsum.
    apply Rle_trans with (p * spread (IZR t / IZR u) Delta K (fun j => / (p * p) * positive_part (2 ^ P) e (nth j A 0%Z) (nth j B 0%Z)) 0).
    { apply shares_down_ok; auto; [lia| |lia|].
      - intros j. apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; nra|apply IZR_le; lia].
      - rewrite minus_IZR. fold p q. lra. }
    apply Rmult_le_compat_l; [lra|]. unfold lattice_excess. fold N q x. apply (spread_le (IZR t / IZR u) Delta Ht ltac:(lia) N); [|unfold N; lia].
    intros j Hj. unfold above. rewrite Rmult_1_l. fold p.
    assert (IZR (nth j A 0%Z) <= q ^ (N - j) * p) as HAj.
    { unfold A. rewrite rev_nth; rewrite pows_dn_len; [|lia]. replace (S N - S j)%nat with (N - j)%nat by lia.
      pose proof (pows_dn_ok P lo q N HP ltac:(assumption) Hlo (2 ^ P)%Z (N - j) 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X. fold p in X. lra. }
    pose proof (pows_up_ok P up q N HP ltac:(lra) Hup (2 ^ P)%Z j 1 H2P ltac:(lra) ltac:(fold p; lra) Hj) as HBj. fold B p in HBj.
    set (aj := nth j A 0%Z) in *. set (bj := nth j B 0%Z) in *. unfold positive_part.
    apply Rmult_le_reg_l with (p * p); [nra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by nra.
    assert (0 <= q ^ j) by (apply pow_le; lra). pose proof (Rmax_r 0 (q ^ (N - j) - x * q ^ j)). pose proof (Rmax_l 0 (q ^ (N - j) - x * q ^ j)).
    destruct (Z.max_spec 0 (2 ^ P * aj - e * bj)) as [[_ ->]|[_ ->]].
    - rewrite minus_IZR, !mult_IZR. fold p.
      assert ((x * p) * (q ^ j * p) <= IZR e * IZR bj) by (apply Rmult_le_compat; nra).
      assert (p * IZR aj <= p * (q ^ (N - j) * p)) by (apply Rmult_le_compat_l; lra). nra.
    - apply Rmult_le_pos; [nra|easy]. }
  assert ((1 + q) ^ K * p <= IZR (last (pows_up K P (2 ^ P + up) (2 ^ P)) 0%Z)) as HDn.
  { rewrite last_up.
    pose proof (pows_up_ok P (2 ^ P + up) (1 + q) K HP ltac:(lra) ltac:(rewrite plus_IZR; fold p; lra) (2 ^ P)%Z K 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X. fold p in X. lra. }
  match goal with X : (_ < sum3 _ _ _ _ _ * d)%Z |- _ => apply IZR_lt in X; rewrite !mult_IZR in X; rename X into Hc end.
  assert (IZR (2 ^ (2 * P)) = p * p) as E2 by (unfold p; rewrite <- mult_IZR, <- Z.pow_add_r by lia; do 2 f_equal; lia). rewrite E2 in Hc.
  assert (0 < IZR d) as Hd by (apply IZR_lt; eauto using ratio_bottom). assert (0 <= IZR n) as Hn by (apply IZR_le; eauto using ratio_top).
  set (S3 := IZR (sum3 P e C A B)) in *. set (L := IZR (last (pows_up K P (2 ^ P + up) (2 ^ P)) 0%Z)) in *. set (E := lattice_excess _ _ _ _) in *.
  apply Rmult_lt_reg_r with (IZR d * (p * p * p)); [apply Rmult_lt_0_compat; [easy|]; apply Rmult_lt_0_compat; nra|].
  replace (IZR n / IZR d * (1 + q) ^ K * (IZR d * (p * p * p))) with (IZR n * ((1 + q) ^ K * p) * (p * p)) by (field; lra).
  assert (S3 <= p * E * (p * p)) as Hs3.
  { apply Rmult_le_compat_r with (r := p * p) in Hex; [|nra]. replace (/ (p * p) * S3 * (p * p)) with S3 in Hex by (field; lra). exact Hex. }
  assert (IZR n * ((1 + q) ^ K * p) <= IZR n * L) as X by (apply Rmult_le_compat_l; lra).
  apply Rmult_le_compat_r with (r := p * p) in X; [|nra]. apply Rmult_le_compat_r with (r := IZR d) in Hs3; [|lra]. lra.
Qed.

(** Pure: each use costs Delta/scale. *)
Definition pure_uses_check (K : nat) (t u : Z) (Delta : nat) (a b n d : Z) : bool :=
  ((0 <? t)%Z && (0 <? u)%Z && (0 <? Z.of_nat Delta)%Z && is_ratio a b && is_ratio n d &&
   (Z.of_nat K * Z.of_nat Delta * u * b <=? a * t)%Z)%bool.
(** No ratio is larger *)
Theorem pure_uses_dp K t u Delta a b n d : pure_uses_check K t u Delta a b n d = true ->
  noise_uses_dp (discrete_laplace (IZR t / IZR u)) K (Z.of_nat Delta) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold pure_uses_check. intros H. split_bool H. assert (0 < IZR t / IZR u) as Ht by now apply ratio_pos.
  apply uses_dp; [easy|lia|]. pose proof (rate _ Ht) as Hq. rewrite <- lattice_product by (easy || lia).
  rewrite product_above_zero with (cs := repeat (exp (INR Delta / (IZR t / IZR u))) K); [| |lra|].
  - rewrite Rmult_0_r. apply Rmult_le_pos; [now apply ratio_nonneg|apply pow_le; lra].
  - clear - Ht. induction K; simpl; constructor; auto. split; [apply exp_pos|]. intros j. now apply laplace_pair_ratio.
  - rewrite Rmult_1_l, exp_repeat. apply exp_le.
    match goal with X : (_ <= a * t)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR, <- !INR_IZR_INZ in X; rename X into Hc end.
    assert (0 < IZR t) by now apply IZR_lt. assert (0 < IZR u) by now apply IZR_lt. assert (0 < IZR b) by (apply IZR_lt; eauto using ratio_bottom).
    apply Rmult_le_reg_r with (IZR t * IZR b); [nra|].
    replace (INR K * (INR Delta / (IZR t / IZR u)) * (IZR t * IZR b)) with (INR K * INR Delta * IZR u * IZR b) by (field; lra).
    replace (IZR a / IZR b * (IZR t * IZR b)) with (IZR a * IZR t) by (field; lra). lra.
Qed.
