(** Rényi divergences of randomized response, at any rational order, and of two tables, at whole orders; K uses. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables Pairs DiscreteLaplace Lists Renyi.
Import ListNotations.
Open Scope R_scope.

(** eps shared by K uses *)
Lemma shared K a b : (0 < K)%nat -> (0 < b)%Z -> INR K * (IZR a / IZR (Z.of_nat K * b)) = IZR a / IZR b.
Proof. intros HK Hb. apply lt_0_INR in HK. apply IZR_lt in Hb. rewrite mult_IZR, <- INR_IZR_INZ. field. lra. Qed.

(** ** Randomized response of eps0 = e *)
Section Response.
Variables e a : R.
Hypothesis He : 0 < e.
Let x := exp e.
(** Both outcomes, times e^((a - 1) e) (1 + e^e) *)
Lemma response_sum b : mass (counted a (randomized_response e b) (randomized_response e (negb b))) [true; false] * (exp ((a - 1) * e) * (1 + x))
  = exp ((2 * a - 1) * e) + 1.
Proof.
  pose proof (exp_pos e) as Hx. fold x in Hx. set (L := ln (1 + x)). assert (exp L = 1 + x) as EL by (apply exp_ln; lra).
  assert (x / (1 + x) = exp (e - L)) as Ep by (unfold Rminus; rewrite exp_plus, exp_Ropp, EL; reflexivity).
  assert (1 / (1 + x) = exp (- L)) as Eq by (rewrite exp_Ropp, EL; unfold Rdiv; ring).
  assert (Rpower (x / (1 + x)) a * Rpower (1 / (1 + x)) (1 - a) * (exp ((a - 1) * e) * (1 + x)) = exp ((2 * a - 1) * e)) as E1.
  { unfold Rpower. rewrite Ep, Eq, !ln_exp, <- EL, <- !exp_plus. f_equal. ring. }
  assert (Rpower (1 / (1 + x)) a * Rpower (x / (1 + x)) (1 - a) * (exp ((a - 1) * e) * (1 + x)) = 1) as E2.
  { unfold Rpower. rewrite Ep, Eq, !ln_exp, <- EL, <- !exp_plus. transitivity (exp 0); [f_equal; ring|apply exp_0]. }
  assert (0 < x / (1 + x)) as P1 by (rewrite Ep; apply exp_pos). assert (0 < 1 / (1 + x)) as P2 by (rewrite Eq; apply exp_pos).
  cbn [mass]. unfold counted, renyi_term, randomized_response. fold x.
  destruct b; simpl; (destruct (Rlt_dec 0 (x / (1 + x))); [|easy]); (destruct (Rlt_dec 0 (1 / (1 + x))); [|easy]); lra.
Qed.
(** One use *)
Lemma response_renyi eps : exp ((2 * a - 1) * e) + 1 <= exp ((a - 1) * (eps + e)) * (1 + x) -> renyi_dp differ (randomized_response e) a eps.
Proof.
  intros H. split; [intros; now apply response_pmf|]. intros b b' Hb. replace b' with (negb b) by (destruct b, b'; simpl; congruence).
  pose proof (exp_pos e) as Hx. fold x in Hx. apply renyi_finite with (L := [true; false]).
  - intros y _. split; [destruct y; simpl; auto|]. unfold randomized_response. fold x. destruct (Bool.eqb _ _); apply Rdiv_lt_0_compat; lra.
  - apply Rmult_le_reg_r with (exp ((a - 1) * e) * (1 + x)); [apply Rmult_lt_0_compat; [apply exp_pos|lra]|].
    rewrite response_sum. replace ((a - 1) * (eps + e)) with ((a - 1) * eps + (a - 1) * e) in H by ring. rewrite exp_plus in H. lra.
Qed.
(** One use *)
Lemma response_not_renyi eps : exp ((a - 1) * (eps + e)) * (1 + x) < exp ((2 * a - 1) * e) + 1 -> not_renyi_dp differ (randomized_response e) a eps.
Proof.
  intros H. pose proof (exp_pos e) as Hx. fold x in Hx. apply not_renyi_finite with (d := true) (d' := false) (L := [true; false]).
  - intros; now apply response_pmf.
  - discriminate.
  - repeat constructor; simpl; intuition congruence.
  - intros y _ _. unfold randomized_response. fold x. destruct (Bool.eqb _ _); apply Rdiv_lt_0_compat; lra.
  - apply Rmult_lt_reg_r with (exp ((a - 1) * e) * (1 + x)); [apply Rmult_lt_0_compat; [apply exp_pos|lra]|].
    pose proof (response_sum true) as Hs. cbn [negb] in Hs. rewrite Hs. replace ((a - 1) * (eps + e)) with ((a - 1) * eps + (a - 1) * e) in H by ring. rewrite exp_plus in H. lra.
Qed.
End Response.

Open Scope Z_scope.
(** eps0 = e/f, the order c/o, eps = a/b: (2c - o)/o e/f, and (c - o)/o (a/(K b) + e/f) *)
Definition response_ratios (K : nat) (e f c o a b P : Z) : bool :=
  ((0 <=? P) && (0 <? Z.of_nat K) && (0 <? e) && (0 <? f) && (0 <? o) && (o <? c) && is_ratio a b)%bool.
Definition response_renyi_check (K : nat) (e f c o a b P : Z) (r : nat) : bool :=
  let k := Z.of_nat K * b in
  (response_ratios K e f c o a b P && ((2 * c - o) * e <? o * f * 2 ^ Z.of_nat r) && (0 <=? exp_below r P e f) &&
   ((exp_above r P ((2 * c - o) * e) (o * f) + 2 ^ P) * 2 ^ P
    <=? exp_below r P ((c - o) * (a * f + e * k)) (o * (k * f)) * (2 ^ P + exp_below r P e f)))%bool.
Definition response_renyi_refutes (K : nat) (e f c o a b P : Z) (r : nat) : bool :=
  let k := Z.of_nat K * b in
  (response_ratios K e f c o a b P && (e <? f * 2 ^ Z.of_nat r) && ((c - o) * (a * f + e * k) <? o * (k * f) * 2 ^ Z.of_nat r) &&
   (exp_above r P ((c - o) * (a * f + e * k)) (o * (k * f)) * (2 ^ P + exp_above r P e f)
    <? (exp_below r P ((2 * c - o) * e) (o * f) + 2 ^ P) * 2 ^ P))%bool.
Close Scope Z_scope.

Section Exponents.
Variables (K : nat) (e f c o a b P : Z).
Hypothesis H : response_ratios K e f c o a b P = true.
Let k := (Z.of_nat K * b)%Z.
(** They are positive *)
Lemma response_signs : (0 <= P)%Z /\ (0 < K)%nat /\ (0 < e)%Z /\ (0 < f)%Z /\ (0 < o)%Z /\ (o < c)%Z /\ (0 <= a)%Z /\ (0 < b)%Z /\ (0 < k)%Z.
Proof.
  pose proof H as X. unfold response_ratios in X. split_bool X. assert (0 < b)%Z by eauto using ratio_bottom. assert (0 <= a)%Z by eauto using ratio_top.
  unfold k. repeat split; auto; nia.
Qed.
(** (2a - 1) e *)
Lemma first_exponent : (2 * (IZR c / IZR o) - 1) * (IZR e / IZR f) = IZR ((2 * c - o) * e) / IZR (o * f).
Proof.
  destruct response_signs as (_ & _ & _ & Hf & Ho & _). apply IZR_lt in Hf, Ho. rewrite !mult_IZR, minus_IZR, mult_IZR. field. lra.
Qed.
(** (a - 1) (eps/K + e) *)
Lemma second_exponent : (IZR c / IZR o - 1) * (IZR a / IZR k + IZR e / IZR f) = IZR ((c - o) * (a * f + e * k)) / IZR (o * (k * f)).
Proof.
  destruct response_signs as (_ & _ & _ & Hf & Ho & _ & _ & _ & Hk). apply IZR_lt in Hf, Ho, Hk. rewrite !mult_IZR, minus_IZR, plus_IZR, !mult_IZR. field. lra.
Qed.
End Exponents.

(** Both exponentials rounded against the claim *)
Theorem response_renyi_dp K e f c o a b P r : response_renyi_check K e f c o a b P r = true ->
  renyi_dp differ (repeated (randomized_response (IZR e / IZR f)) K) (IZR c / IZR o) (IZR a / IZR b).
Proof.
  unfold response_renyi_check. intros H. split_bool H. set (k := (Z.of_nat K * b)%Z) in *.
  destruct (response_signs K e f c o a b P H) as (HP & HK & He & Hf & Ho & Hc & Ha & Hb & Hk). fold k in Hk.
  pose proof (IZR_pow2_pos P HP) as Hp. rewrite <- (shared K a b HK Hb). fold k. apply repeated_renyi, response_renyi; [now apply ratio_pos|].
  pose proof (second_exponent K e f c o a b P H) as Hx. fold k in Hx. rewrite (first_exponent K e f c o a b P H), Hx. clear Hx.
  pose proof (exp_above_ok r P ((2 * c - o) * e) (o * f) HP ltac:(nia) ltac:(nia) ltac:(easy)) as E1.
  pose proof (exp_below_ok r P ((c - o) * (a * f + e * k)) (o * (k * f)) HP ltac:(nia) ltac:(nia)) as E2.
  pose proof (exp_below_ok r P e f HP ltac:(lia) Hf) as E3. set (p := IZR (2 ^ P)) in *.
  match goal with X : (_ * 2 ^ P <= _)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR, !plus_IZR in X; fold p in X; rename X into Hc' end.
  match goal with X : (0 <= exp_below r P e f)%Z |- _ => apply IZR_le in X end.
  pose proof (exp_pos (IZR ((c - o) * (a * f + e * k)) / IZR (o * (k * f)))). set (x := exp (IZR e / IZR f)) in *. set (y := exp (_ / IZR (o * (k * f)))) in *. set (z := exp _) in *.
  set (z' := IZR (exp_above _ _ _ _)) in *. set (y' := IZR (exp_below r P ((c - o) * _) _)) in *. set (x' := IZR (exp_below r P e f)) in *.
  apply Rmult_le_reg_r with (p * p); [nra|]. apply Rle_trans with ((z' + p) * p); [nra|]. apply Rle_trans with (1 := Hc').
  apply Rle_trans with (y * p * (p + x')); [apply Rmult_le_compat_r; lra|]. replace (y * (1 + x) * (p * p)) with (y * p * (p + x * p)) by ring. apply Rmult_le_compat_l; nra.
Qed.
(** Both exponentials rounded towards the claim *)
Theorem response_renyi_not_dp K e f c o a b P r : response_renyi_refutes K e f c o a b P r = true ->
  not_renyi_dp differ (repeated (randomized_response (IZR e / IZR f)) K) (IZR c / IZR o) (IZR a / IZR b).
Proof.
  unfold response_renyi_refutes. intros H. split_bool H. set (k := (Z.of_nat K * b)%Z) in *.
  destruct (response_signs K e f c o a b P H) as (HP & HK & He & Hf & Ho & Hc & Ha & Hb & Hk). fold k in Hk.
  pose proof (IZR_pow2_pos P HP) as Hp. rewrite <- (shared K a b HK Hb). fold k. apply repeated_not_renyi, response_not_renyi; [easy|now apply ratio_pos|].
  pose proof (second_exponent K e f c o a b P H) as Hx. fold k in Hx. rewrite (first_exponent K e f c o a b P H), Hx. clear Hx.
  pose proof (exp_below_ok r P ((2 * c - o) * e) (o * f) HP ltac:(nia) ltac:(nia)) as E1.
  pose proof (exp_above_ok r P ((c - o) * (a * f + e * k)) (o * (k * f)) HP ltac:(nia) ltac:(nia) ltac:(easy)) as E2.
  pose proof (exp_above_ok r P e f HP ltac:(lia) Hf ltac:(easy)) as E3. set (p := IZR (2 ^ P)) in *.
  match goal with X : (_ < _ * 2 ^ P)%Z |- _ => apply IZR_lt in X; rewrite !mult_IZR, !plus_IZR in X; fold p in X; rename X into Hc' end.
  pose proof (exp_pos (IZR ((c - o) * (a * f + e * k)) / IZR (o * (k * f)))). pose proof (exp_pos (IZR e / IZR f)).
  set (x := exp (IZR e / IZR f)) in *. set (y := exp (_ / IZR (o * (k * f)))) in *. set (z := exp _) in *.
  set (z' := IZR (exp_below _ _ _ _)) in *. set (y' := IZR (exp_above r P ((c - o) * _) _)) in *. set (x' := IZR (exp_above r P e f)) in *.
  apply Rmult_lt_reg_r with (p * p); [nra|]. apply Rlt_le_trans with ((z' + p) * p); [|nra]. apply Rle_lt_trans with (2 := Hc').
  apply Rle_trans with (y * p * (p + x')); [|apply Rmult_le_compat_r; nra]. replace (y * (1 + x) * (p * p)) with (y * p * (p + x * p)) by ring. apply Rmult_le_compat_l; nra.
Qed.

(** ** Two tables of the same total and of positive weights, at a whole order c *)
Open Scope Z_scope.
(** sum A^c/B^(c-1) in units of 2^-P, each quotient rounded by [g] *)
Definition power_sum (g : Z -> Z -> Z) (c P : Z) (A B : list Z) : Z := zip_sum (fun a b => g (a ^ c * 2 ^ P) (b ^ (c - 1))) A B.
Definition quotient_up (x y : Z) : Z := x / y + 1.
Definition tables_ratios (A B : list Z) (K : nat) (c a b P : Z) : bool :=
  (pair_valid A B && forallb (Z.ltb 0) A && forallb (Z.ltb 0) B && (0 <=? P) && (0 <? Z.of_nat K) && (1 <? c) && is_ratio a b)%bool.
Definition tables_renyi_check (A B : list Z) (K : nat) (c a b P : Z) (r : nat) : bool :=
  (tables_ratios A B K c a b P && let E := total A * exp_below r P ((c - 1) * a) (Z.of_nat K * b) in
   (power_sum quotient_up c P A B <=? E) && (power_sum quotient_up c P B A <=? E))%bool.
Definition tables_renyi_refutes (A B : list Z) (K : nat) (c a b P : Z) (r : nat) : bool :=
  (tables_ratios A B K c a b P && ((c - 1) * a <? Z.of_nat K * b * 2 ^ Z.of_nat r) &&
   let E := total A * exp_above r P ((c - 1) * a) (Z.of_nat K * b) in
   if E <? power_sum Z.div c P A B then true else E <? power_sum Z.div c P B A)%bool.
Close Scope Z_scope.

(** Whole powers *)
Lemma power_term W x y c : 0 < W -> (0 < x)%Z -> (0 < y)%Z -> (1 < c)%Z ->
  Rpower (IZR x / W) (IZR c / 1) * Rpower (IZR y / W) (1 - IZR c / 1) = IZR (x ^ c) / IZR (y ^ (c - 1)) / W.
Proof.
  intros HW Hx Hy Hc. set (m := Z.to_nat (c - 1)). assert (c = Z.of_nat (S m)) as Ec by (unfold m; lia).
  assert (c - 1 = Z.of_nat m)%Z as Em by (unfold m; lia). rewrite Em, Ec, <- !pow_IZR. apply IZR_lt in Hx, Hy.
  replace (IZR (Z.of_nat (S m)) / 1) with (INR (S m)) by (rewrite INR_IZR_INZ; field). replace (1 - INR (S m)) with (- INR m) by (rewrite S_INR; ring).
  assert (0 < IZR x / W) by (now apply Rdiv_lt_0_compat). assert (0 < IZR y / W) by (now apply Rdiv_lt_0_compat).
  rewrite Rpower_Ropp, !Rpower_pow by easy. unfold Rdiv. rewrite !Rpow_mult_distr, <- !Rinv_pow by lra. simpl pow. field.
  repeat split; try apply pow_nonzero; lra.
Qed.

Section Tables.
Variables (A B : list Z) (c P : Z).
Hypotheses (HA : forallb (Z.ltb 0) A = true) (HB : forallb (Z.ltb 0) B = true) (Hlen : length A = length B) (HW : (0 < total A)%Z)
  (HT : total A = total B) (HP : (0 <= P)%Z) (Hc : (1 < c)%Z).
Let W := IZR (total A).
Let p := IZR (2 ^ P).
Let L := zseq 0 (length A).
(** Positive where there is an entry *)
Lemma entry_pos w k : forallb (Z.ltb 0) w = true -> In k (zseq 0 (length w)) -> (0 < entry w k)%Z.
Proof.
  intros H Hk. rewrite forallb_forall in H. apply in_zseq in Hk. unfold entry. destruct (Z.ltb_spec k 0); [lia|].
  apply Z.ltb_lt, H, nth_In. lia.
Qed.
(** Only there *)
Lemma table_support k : 0 < table A k -> In k L /\ 0 < table B k.
Proof.
  intros Hk. assert (In k L) as Hin.
  { apply in_zseq. unfold table in Hk. destruct (Z_lt_dec k 0); [rewrite entry_out in Hk by lia; lra|].
    destruct (Z_le_dec (Z.of_nat (length A)) k); [rewrite entry_out in Hk by lia; lra|lia]. }
  split; [easy|]. unfold table. rewrite <- HT. apply Rdiv_lt_0_compat; apply IZR_lt; [|easy]. apply entry_pos; [easy|]. now rewrite <- Hlen.
Qed.
(** One outcome *)
Lemma table_term k : In k L -> counted (IZR c / 1) (table A) (table B) k = IZR (entry A k ^ c) / IZR (entry B k ^ (c - 1)) / W.
Proof.
  intros Hk. pose proof (entry_pos A k HA Hk) as Ha. assert (0 < entry B k)%Z as Hb by (apply entry_pos; [easy|now rewrite <- Hlen]).
  assert (0 < W) by now apply IZR_lt. unfold counted, renyi_term, table. rewrite <- HT. fold W. rewrite power_term by easy.
  destruct (Rlt_dec 0 (IZR (entry A k) / W)) as [|Hn]; [easy|]. elim Hn. apply Rdiv_lt_0_compat; [now apply IZR_lt|easy].
Qed.
(** Entry by entry *)
Lemma power_sum_mass g : mass (fun k => IZR (g (entry A k ^ c * 2 ^ P)%Z (entry B k ^ (c - 1))%Z)) L = IZR (power_sum g c P A B).
Proof. unfold power_sum. rewrite <- (mass_zip _ A B 0 Hlen). apply mass_ext. intros k _. now rewrite Z.sub_0_r. Qed.
(** All quotients rounded up *)
Lemma power_sum_ge : mass (counted (IZR c / 1) (table A) (table B)) L * (p * W) <= IZR (power_sum quotient_up c P A B).
Proof.
  assert (0 < W) by now apply IZR_lt. rewrite <- power_sum_mass, Rmult_comm, <- mass_scale. apply mass_le. intros k Hk. rewrite (table_term k Hk).
  assert (0 < entry B k ^ (c - 1))%Z as Hb by (apply Z.pow_pos_nonneg; [apply entry_pos; [easy|now rewrite <- Hlen]|lia]).
  pose proof (div_up (entry A k ^ c * 2 ^ P) _ Hb) as D. rewrite mult_IZR in D. fold p in D. apply IZR_lt in Hb.
  apply Rmult_le_reg_r with (IZR (entry B k ^ (c - 1))); [easy|]. apply Rle_trans with (2 := D). apply Req_le. field. lra.
Qed.
(** All quotients rounded down *)
Lemma power_sum_le : IZR (power_sum Z.div c P A B) <= mass (counted (IZR c / 1) (table A) (table B)) L * (p * W).
Proof.
  assert (0 < W) by now apply IZR_lt. rewrite <- power_sum_mass, Rmult_comm, <- mass_scale. apply mass_le. intros k Hk. rewrite (table_term k Hk).
  assert (0 < entry B k ^ (c - 1))%Z as Hb by (apply Z.pow_pos_nonneg; [apply entry_pos; [easy|now rewrite <- Hlen]|lia]).
  pose proof (div_le (entry A k ^ c * 2 ^ P) _ Hb) as D. rewrite mult_IZR in D. fold p in D. apply IZR_lt in Hb.
  apply Rmult_le_reg_r with (IZR (entry B k ^ (c - 1))); [easy|]. apply Rle_trans with (1 := D). apply Req_le. field. lra.
Qed.
(** One order of the pair *)
Lemma table_renyi E eps : IZR E <= exp ((IZR c / 1 - 1) * eps) * p -> (power_sum quotient_up c P A B <= total A * E)%Z ->
  renyi (IZR c / 1) (table A) (table B) eps.
Proof.
  intros HE H. pose proof (IZR_pow2_pos P HP) as Hp. fold p in Hp. assert (0 < W) by now apply IZR_lt.
  apply renyi_finite with (L := L); [exact table_support|]. pose proof power_sum_ge as Hs. apply IZR_le in H. rewrite mult_IZR in H. fold W in H.
  apply Rmult_le_reg_r with (p * W); [nra|]. nra.
Qed.
(** One order of the pair *)
Lemma table_not_renyi E eps : exp ((IZR c / 1 - 1) * eps) * p <= IZR E -> (total A * E < power_sum Z.div c P A B)%Z ->
  exp ((IZR c / 1 - 1) * eps) < mass (counted (IZR c / 1) (table A) (table B)) L.
Proof.
  intros HE H. pose proof (IZR_pow2_pos P HP) as Hp. fold p in Hp. assert (0 < W) by now apply IZR_lt.
  pose proof power_sum_le as Hs. apply IZR_lt in H. rewrite mult_IZR in H. fold W in H.
  apply Rmult_lt_reg_r with (p * W); [nra|]. nra.
Qed.
End Tables.

(** eps/K at the order c *)
Lemma whole_exponent K c a b : (0 < K)%nat -> (0 < b)%Z ->
  (IZR c / 1 - 1) * (IZR a / IZR (Z.of_nat K * b)) = IZR ((c - 1) * a) / IZR (Z.of_nat K * b).
Proof.
  intros HK Hb. assert (0 < IZR (Z.of_nat K * b)) by (apply IZR_lt; nia). set (k := (Z.of_nat K * b)%Z) in *. rewrite mult_IZR, minus_IZR. field. lra.
Qed.
(** What is checked of both tables *)
Lemma tables_ratios_ok A B K c a b P : tables_ratios A B K c a b P = true ->
  valid A = true /\ valid B = true /\ length A = length B /\ total A = total B /\ (0 < total A)%Z /\
  forallb (Z.ltb 0) A = true /\ forallb (Z.ltb 0) B = true /\ (0 <= P)%Z /\ (0 < K)%nat /\ (1 < c)%Z /\ (0 <= a)%Z /\ (0 < b)%Z.
Proof.
  unfold tables_ratios, pair_valid. intros H. split_bool H. assert (0 < b)%Z by eauto using ratio_bottom. assert (0 <= a)%Z by eauto using ratio_top.
  assert (0 < total A)%Z by (unfold valid in H; now split_bool H).
  match goal with X : (_ =? _)%nat = true |- _ => apply Nat.eqb_eq in X end. repeat split; auto; lia.
Qed.
(** Both orders *)
Theorem tables_renyi_dp A B K c a b P r : tables_renyi_check A B K c a b P r = true ->
  renyi_dp differ (repeated (two_tables A B) K) (IZR c / 1) (IZR a / IZR b).
Proof.
  unfold tables_renyi_check. intros H. apply andb_prop in H as [H H']. apply andb_prop in H' as [H1 H2]. apply Z.leb_le in H1, H2.
  destruct (tables_ratios_ok _ _ _ _ _ _ _ H) as (VA & VB & Hlen & HT & HW & PA & PB & HP & HK & Hc & Ha & Hb).
  rewrite <- (shared K a b HK Hb). apply repeated_renyi.
  assert (IZR (exp_below r P ((c - 1) * a) (Z.of_nat K * b)) <= exp ((IZR c / 1 - 1) * (IZR a / IZR (Z.of_nat K * b))) * IZR (2 ^ P)) as HE
    by (rewrite whole_exponent by easy; apply exp_below_ok; [easy|nia|nia]).
  split; [intros [|]; now apply table_pmf|]. intros [|] [|] Hd; try (now elim Hd); unfold two_tables.
  - exact (table_renyi A B c P PA PB Hlen HW HT HP Hc _ _ HE H1).
  - rewrite HT in HW, H2. exact (table_renyi B A c P PB PA (eq_sym Hlen) HW (eq_sym HT) HP Hc _ _ HE H2).
Qed.
(** One of both orders *)
Theorem tables_renyi_not_dp A B K c a b P r : tables_renyi_refutes A B K c a b P r = true ->
  not_renyi_dp differ (repeated (two_tables A B) K) (IZR c / 1) (IZR a / IZR b).
Proof.
  unfold tables_renyi_refutes. intros H. apply andb_prop in H as [H H']. apply andb_prop in H as [H Hr]. apply Z.ltb_lt in Hr.
  destruct (tables_ratios_ok _ _ _ _ _ _ _ H) as (VA & VB & Hlen & HT & HW & PA & PB & HP & HK & Hc & Ha & Hb).
  rewrite <- (shared K a b HK Hb). apply repeated_not_renyi; [easy|].
  assert (exp ((IZR c / 1 - 1) * (IZR a / IZR (Z.of_nat K * b))) * IZR (2 ^ P) <= IZR (exp_above r P ((c - 1) * a) (Z.of_nat K * b))) as HE
    by (rewrite whole_exponent by easy; apply exp_above_ok; [easy|nia|nia|easy]).
  assert (forall d, pmf (two_tables A B d)) as Hp by (intros [|]; now apply table_pmf).
  match type of H' with (if ?q then true else _) = true => destruct q eqn:E end; apply Z.ltb_lt in E || apply Z.ltb_lt in H'.
  - apply not_renyi_finite with (d := true) (d' := false) (L := zseq 0 (length A)); [easy|discriminate|apply zseq_nodup| |].
    + intros k _ Hk. now apply (table_support A B PB Hlen HW HT).
    + exact (table_not_renyi A B c P PA PB Hlen HW HT HP Hc _ _ HE E).
  - rewrite HT in HW, H'. apply not_renyi_finite with (d := false) (d' := true) (L := zseq 0 (length B)); [easy|discriminate|apply zseq_nodup| |].
    + intros k _ Hk. now apply (table_support B A PA (eq_sym Hlen) HW (eq_sym HT)).
    + exact (table_not_renyi B A c P PB PA (eq_sym Hlen) HW (eq_sym HT) HP Hc _ _ HE H').
Qed.
