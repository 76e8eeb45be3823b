(** Discrete Laplace noise of scale t is (eps, 0)-DP if and only if eps >= Delta/t. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Weights PostProcessing.
Import ListNotations.
Open Scope R_scope.

(** 0, 1, -1, 2, -2, ..., n, -n *)
Fixpoint ball (n : nat) : list Z :=
  match n with O => [0%Z] | S m => (Z.of_nat n) :: (- Z.of_nat n)%Z :: ball m end.

(** By induction *)
Lemma in_ball n k : In k (ball n) <-> (Z.abs k <= Z.of_nat n)%Z.
Proof. induction n; simpl ball; simpl In; [lia|]. rewrite IHn. lia. Qed.
(** New members are larger *)
Lemma ball_nodup n : NoDup (ball n).
Proof.
  induction n; simpl ball; [repeat constructor; simpl; tauto|].
  constructor. { simpl In. rewrite in_ball. lia. }
  constructor. { rewrite in_ball. lia. } auto.
Qed.

(** A list is finite *)
Lemma list_in_ball (l : list Z) : exists n, forall x, In x l -> In x (ball n).
Proof.
  induction l as [|a l [n IH]]; [exists O; easy|].
  exists (Nat.max n (Z.to_nat (Z.abs a))). intros x [<-|Hx]; rewrite in_ball; [lia|].
  apply IH in Hx. rewrite in_ball in Hx. lia.
Qed.

Section Laplace.
Variable t : R.
Hypothesis Ht : 0 < t.
Let a := exp (- (1 / t)).

(** Its exponent is negative *)
Lemma decay : 0 < a < 1.
Proof.
  split; [apply exp_pos|]. rewrite <- exp_0. apply exp_increasing.
  assert (0 < 1 / t) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

(** Exponents add *)
Lemma exp_pow n : exp (- (INR n / t)) = a ^ n.
Proof.
  induction n. - simpl. unfold Rdiv. rewrite Rmult_0_l, Ropp_0. apply exp_0.
  - rewrite S_INR. replace (- ((INR n + 1) / t)) with (- (1 / t) + - (INR n / t)) by (field; lra).
    rewrite exp_plus, IHn. simpl. reflexivity.
Qed.

(** By exp_pow *)
Lemma laplace_pow k : discrete_laplace t k = (1 - a) / (1 + a) * a ^ Z.to_nat (Z.abs k).
Proof. unfold discrete_laplace. fold a. rewrite <- exp_pow, INR_IZR_INZ, Z2Nat.id by lia. reflexivity. Qed.

(** A product of such *)
Lemma laplace_pos k : 0 <= discrete_laplace t k.
Proof.
  rewrite laplace_pow. pose proof decay. apply Rmult_le_pos.
  - apply Rlt_le, Rdiv_lt_0_compat; lra. - apply pow_le; lra.
Qed.

(** A geometric series *)
Lemma mass_ball n : mass (discrete_laplace t) (ball n) = 1 - 2 * a ^ S n / (1 + a).
Proof.
  pose proof decay. induction n.
  - simpl. rewrite laplace_pow. simpl. field. lra.
  - change (ball (S n)) with (Z.of_nat (S n) :: (- Z.of_nat (S n))%Z :: ball n).
    cbn [mass]. rewrite IHn, !laplace_pow, Z.abs_opp.
    replace (Z.to_nat (Z.abs (Z.of_nat (S n)))) with (S n) by lia.
    simpl. field. lra.
Qed.

(** The balls' masses tend to 1, and every list lies in a ball *)
Lemma laplace_pmf : pmf (discrete_laplace t).
Proof.
  pose proof decay as Ha. split; [apply laplace_pos|]. split.
  - intros r (l & Hl & _ & ->). destruct (list_in_ball l) as [n Hn].
    apply Rle_trans with (mass (discrete_laplace t) (ball n)).
    + apply mass_cover; auto. apply laplace_pos.
    + rewrite mass_ball. assert (0 <= 2 * a ^ S n / (1 + a)); [|lra].
      apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
      assert (0 <= a ^ S n) by (apply pow_le; lra). lra.
  - intros b Hb. apply Rnot_lt_le. intros Hlt.
    assert (Rabs a < 1) as Habs by (rewrite Rabs_right; lra).
    destruct (pow_lt_1_zero a Habs ((1 - b) / 2)) as [N HN]; [lra|].
    specialize (HN (S N) ltac:(lia)). rewrite Rabs_right in HN by (apply Rle_ge, pow_le; lra).
    assert (mass (discrete_laplace t) (ball N) <= b) as Hm by (apply Hb; exists (ball N); repeat split; auto using ball_nodup).
    rewrite mass_ball in Hm.
    assert (2 * a ^ S N / (1 + a) <= 2 * a ^ S N); [|lra].
    assert (0 < a ^ S N) by (apply pow_lt; lra).
    apply Rmult_le_reg_r with (1 + a); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

End Laplace.

(** A quotient of positive numbers *)
Lemma ratio_pos n d : (0 < n)%Z -> (0 < d)%Z -> 0 < IZR n / IZR d.
Proof. intros. apply Rdiv_lt_0_compat; now apply IZR_lt. Qed.

(** Scale n/d, claim a/b: Delta d b <= a n says Delta / scale <= eps. *)
Definition laplace_check (n d Delta a b m e : Z) : bool :=
  ((0 <? n)%Z && (0 <? d)%Z && (0 <=? Delta)%Z && is_ratio a b && is_ratio m e &&
   (Delta * d * b <=? a * n)%Z)%bool.
(** ||k-s| - |k|| is at most |s| *)
Theorem laplace_dp n d Delta a b m e : laplace_check n d Delta a b m e = true ->
  noise_dp (discrete_laplace (IZR n / IZR d)) Delta (IZR a / IZR b) (IZR m / IZR e).
Proof.
  unfold laplace_check. intros H. split_bool H. pose proof (ratio_pos n d H ltac:(easy)) as Ht.
  assert (0 <= IZR m / IZR e) by now apply ratio_nonneg.
  assert (0 < b)%Z as Hb by eauto using ratio_bottom.
  assert (IZR Delta / (IZR n / IZR d) <= IZR a / IZR b) as Heps.
  { match goal with X : (Delta * d * b <= _)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR in X end.
    assert (0 < IZR n) by now apply IZR_lt. assert (0 < IZR d) by now apply IZR_lt.
    assert (0 < IZR b) by now apply IZR_lt.
    apply Rmult_le_reg_r with (IZR n * IZR b); [nra|].
    replace (IZR Delta / (IZR n / IZR d) * (IZR n * IZR b)) with (IZR Delta * IZR d * IZR b) by (field; lra).
    replace (IZR a / IZR b * (IZR n * IZR b)) with (IZR a * IZR n) by (field; lra). easy. }
  set (t := IZR n / IZR d) in *. set (eps := IZR a / IZR b) in *.
  apply noise_dp_intro; [now apply laplace_pmf|]. intros s Hs.
  apply dp_pair_weaken with (delta := 0); [|easy].
  apply dp_pair_pointwise; [now apply laplace_pos|]. intros k. pose proof (decay t Ht) as Ha.
  unfold discrete_laplace. rewrite (Rmult_comm (exp eps)), Rmult_assoc.
  apply Rmult_le_compat_l. { apply Rlt_le, Rdiv_lt_0_compat; lra. }
  rewrite <- exp_plus.
  assert (- (IZR (Z.abs (k - s)) / t) <= - (IZR (Z.abs k) / t) + eps) as Hle.
  { assert (IZR (Z.abs k) <= IZR (Z.abs (k - s)) + IZR Delta) as Hk by (rewrite <- plus_IZR; apply IZR_le; lia).
    apply Rmult_le_compat_r with (r := / t) in Hk; [|left; now apply Rinv_0_lt_compat]. unfold Rdiv in *. lra. }
  destruct (Rle_lt_or_eq_dec _ _ Hle) as [E|E]; [left; now apply exp_increasing|right; now rewrite E].
Qed.

(** Seen mod m it costs no more. *)
Theorem laplace_mod_dp n d m Delta a b x y : laplace_check n d Delta a b x y = true ->
  noise_mod_dp (discrete_laplace (IZR n / IZR d)) m Delta (IZR a / IZR b) (IZR x / IZR y).
Proof. intros H. now apply reduced, laplace_dp. Qed.

(** Refuted by one outcome: Delta, where the law with the query at Delta is highest. *)
Definition laplace_refutes (n d Delta a b : Z) : bool :=
  ((0 <? n)%Z && (0 <? d)%Z && (0 <=? Delta)%Z && is_ratio a b && (a * n <? Delta * d * b)%Z)%bool.
(** There the ratio is e^(Delta/t) *)
Theorem laplace_not_dp n d Delta a b : laplace_refutes n d Delta a b = true ->
  noise_not_dp (discrete_laplace (IZR n / IZR d)) Delta (IZR a / IZR b) (0 / 1).
Proof.
  unfold laplace_refutes. intros H. split_bool H. pose proof (ratio_pos n d H ltac:(easy)) as Ht.
  assert (0 < b)%Z as Hb by eauto using ratio_bottom.
  assert (IZR a / IZR b < IZR Delta / (IZR n / IZR d)) as Heps.
  { match goal with X : (a * n < _)%Z |- _ => apply IZR_lt in X; rewrite !mult_IZR in X end.
    assert (0 < IZR n) by now apply IZR_lt. assert (0 < IZR d) by now apply IZR_lt.
    assert (0 < IZR b) by now apply IZR_lt.
    apply Rmult_lt_reg_r with (IZR n * IZR b); [nra|].
    replace (IZR Delta / (IZR n / IZR d) * (IZR n * IZR b)) with (IZR Delta * IZR d * IZR b) by (field; lra).
    replace (IZR a / IZR b * (IZR n * IZR b)) with (IZR a * IZR n) by (field; lra). easy. }
  set (t := IZR n / IZR d) in *. set (eps := IZR a / IZR b) in *. pose proof (decay t Ht) as Ha.
  apply noise_not_dp_intro with (s := Delta) (l := [Delta]); [now apply laplace_pmf|lia|repeat constructor; easy|].
  cbn [mass]. unfold discrete_laplace. rewrite Z.sub_diag, (Z.abs_eq Delta) by easy. simpl (Z.abs 0).
  replace (- (0 / t)) with 0 by (field; lra). rewrite exp_0.
  set (c := (1 - exp (- (1 / t))) / (1 + exp (- (1 / t)))). assert (0 < c) by (apply Rdiv_lt_0_compat; lra).
  assert (exp eps * exp (- (IZR Delta / t)) < 1).
  { rewrite <- exp_plus, <- exp_0. apply exp_increasing. lra. }
  replace (0 / 1) with 0 by field. nra.
Qed.
