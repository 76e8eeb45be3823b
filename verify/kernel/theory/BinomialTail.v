(** Fair bits, sensitivity 1, for large N: one tail and one coefficient decide. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FinFun.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables Binomial.
Import ListNotations.
Open Scope R_scope.

(** (sum_{i < M} C(N,i), C(N,M)) *)
Fixpoint tail_loop (fuel : nat) (N i c acc : Z) : Z * Z :=
  match fuel with O => (acc, c) | S f => tail_loop f N (i + 1) (c * (N - i) / (i + 1)) (acc + c) end%Z.
Definition tail (N M : nat) := tail_loop M (Z.of_nat N) 0 1 0.

Section Tail.
Variable N : nat.
Definition bz (k : Z) : Z := if andb (0 <=? k)%Z (k <=? Z.of_nat N)%Z then choose N (Z.to_nat k) else 0%Z.

(** By definition *)
Lemma bz_in k : (0 <= k <= Z.of_nat N)%Z -> bz k = choose N (Z.to_nat k).
Proof. intros [H1 H2]. unfold bz. now rewrite (proj2 (Z.leb_le _ _) H1), (proj2 (Z.leb_le _ _) H2). Qed.
(** By definition *)
Lemma bz_out k : (k < 0 \/ Z.of_nat N < k)%Z -> bz k = 0%Z.
Proof. intros [H|H]; unfold bz; [rewrite (proj2 (Z.leb_gt _ _)) by lia; easy|]. rewrite (proj2 (Z.leb_gt k _)) by lia. now rewrite Bool.andb_false_r. Qed.
(** A sum of such *)
Lemma choose_nonneg : forall n k, (0 <= choose n k)%Z.
Proof. induction n; intros [|k]; simpl; try lia. specialize (IHn k) as H1. specialize (IHn (S k)). lia. Qed.
(** By choose_nonneg *)
Lemma bz_nonneg k : (0 <= bz k)%Z.
Proof. unfold bz. destruct (andb _ _); [apply choose_nonneg|lia]. Qed.
(** By choose_step, and zero beyond *)
Lemma bz_step k : (0 <= k <= Z.of_nat N)%Z -> (bz (k + 1) * (k + 1) = bz k * (Z.of_nat N - k))%Z.
Proof.
  intros H. destruct (Z.eq_dec k (Z.of_nat N)) as [->|]. rewrite (bz_out (_ + 1)) by lia. lia.
  rewrite !bz_in by lia. pose proof (choose_step N (Z.to_nat k) ltac:(lia)) as Hp.
  replace (Z.to_nat (k + 1)) with (S (Z.to_nat k)) by lia. rewrite Z2Nat.id in Hp by lia. lia.
Qed.
(** p = 1-p = 1/2 *)
Lemma law_bz k : binomial N (1 / 2) k = IZR (bz k) / IZR (2 ^ Z.of_nat N).
Proof.
  unfold binomial, bz. rewrite IZR_pow2, Nat2Z.id by lia. destruct (andb _ _) eqn:E; [|lra].
  apply andb_prop in E as [E1 E2]. apply Z.leb_le in E1, E2. rewrite choose_C by lia.
  replace (1 - 1 / 2) with (/ 2) by lra. replace (1 / 2) with (/ 2) by lra.
  rewrite Rmult_assoc, <- pow_add. replace (Z.to_nat k + (N - Z.to_nat k))%nat with N by lia.
  rewrite pow_inv. reflexivity.
Qed.
Fixpoint zsum (n : nat) : Z := match n with O => 0 | S m => zsum m + bz (Z.of_nat m) end%Z.
(** The loop adds coefficient after coefficient *)
Lemma tail_loop_ok fuel : forall i, (fuel + i <= N)%nat ->
  tail_loop fuel (Z.of_nat N) (Z.of_nat i) (bz (Z.of_nat i)) (zsum i) = (zsum (i + fuel), bz (Z.of_nat (i + fuel))).
Proof.
  induction fuel; intros i Hi; cbn [tail_loop]; [rewrite Nat.add_0_r; reflexivity|].
  pose proof (bz_step (Z.of_nat i) ltac:(lia)) as Hs. rewrite <- Hs, Z.div_mul by lia.
  replace (Z.of_nat i + 1)%Z with (Z.of_nat (S i)) by lia.
  change (zsum i + bz (Z.of_nat i))%Z with (zsum (S i)). rewrite (IHfuel (S i)) by lia.
  replace (S i + fuel)%nat with (i + S fuel)%nat by lia. reflexivity.
Qed.
(** From the start *)
Lemma tail_ok M : (M <= N)%nat -> tail N M = (zsum M, bz (Z.of_nat M)).
Proof.
  intros H. unfold tail. pose proof (tail_loop_ok M 0 ltac:(lia)) as Ht. simpl in Ht.
  assert (bz 0 = 1%Z) as H1 by (rewrite bz_in by lia; destruct N; reflexivity). rewrite H1 in Ht. exact Ht.
Qed.

(** One coefficient after another *)
Lemma mass_zsum M : mass (fun k => IZR (bz k)) (zseq (-1) (S M)) = IZR (zsum M).
Proof.
  induction M. cbn [mass zseq zsum]. rewrite bz_out by lia. lra.
  rewrite zseq_snoc, mass_app, IHM. cbn [mass zsum]. rewrite plus_IZR. replace (-1 + Z.of_nat (S M))%Z with (Z.of_nat M) by lia. lra.
Qed.
(** The same, moved by one *)
Lemma mass_zsum1 M : mass (fun k => IZR (bz (k + 1))) (zseq (-1) (S M)) = IZR (zsum M + bz (Z.of_nat M)).
Proof.
  induction M. cbn [mass zseq zsum]. rewrite Z.add_0_l, Rplus_0_r. reflexivity.
  rewrite zseq_snoc, mass_app, IHM. cbn [mass zsum]. rewrite !plus_IZR. replace (-1 + Z.of_nat (S M) + 1)%Z with (Z.of_nat (S M)) by lia. lra.
Qed.

(** Mirrored events have the same probabilities *)
Lemma dp_pair_neg (f g : Z -> R) eps delta : dp_pair f g eps delta -> dp_pair (fun k => f (- k)%Z) (fun k => g (- k)%Z) eps delta.
Proof.
  assert (forall (f : Z -> R) S p, has_prob (fun k => f (- k)%Z) S p -> has_prob f (fun k => S (- k)%Z) p) as H0.
  { clear. intros f S p [H1 H2]. split.
    - intros r (l & Hl & Hin & ->). apply H1. exists (map Z.opp l). repeat split.
      + apply Injective_map_NoDup; auto. intros x y. lia.
      + intros x Hx. apply in_map_iff in Hx as (y & <- & Hy). auto.
      + rewrite mass_map. apply mass_ext. intros; f_equal; lia.
    - intros b Hb. apply H2. intros r (l & Hl & Hin & ->). apply Hb. exists (map Z.opp l). repeat split.
      + apply Injective_map_NoDup; auto. intros x y. lia.
      + intros x Hx. apply in_map_iff in Hx as (y & <- & Hy). rewrite Z.opp_involutive. auto.
      + rewrite mass_map. apply mass_ext. intros; f_equal; lia. }
  intros H S p q Hp Hq. apply (H (fun k => S (- k)%Z)); auto.
Qed.
(** C(N,k) = C(N,N-k) *)
Lemma law_sym k : binomial N (1 / 2) (Z.of_nat N - k) = binomial N (1 / 2) k.
Proof.
  rewrite !law_bz. do 2 f_equal. destruct (Z_lt_dec k 0). rewrite !bz_out; lia.
  destruct (Z_lt_dec (Z.of_nat N) k). rewrite !bz_out; lia. rewrite !bz_in by lia.
  apply eq_IZR. rewrite !choose_C by lia. rewrite (pascal_step1 N (Z.to_nat k)) by lia. f_equal. lia.
Qed.

(** It is a table's law *)
Lemma law_pmf : pmf (binomial N (1 / 2)).
Proof.
  assert (is_success 1 2 = true) as H by reflexivity.
  apply (pmf_ext _ _ (binomial_table N 1 2 H)), table_pmf, andb_true_intro. split.
  - unfold nonneg. apply forallb_forall. intros x Hx. apply (In_nth _ _ 0%Z) in Hx as (i & Hi & <-).
    rewrite row_length in Hi. rewrite row_nth by lia. apply Z.leb_le.
    unfold weight. rewrite !Z.pow_1_l by lia. pose proof (choose_nonneg N i). lia.
  - apply Z.ltb_lt, lt_IZR. rewrite total_row by lia. apply pow_lt. simpl. lra.
Qed.
End Tail.

(** The ratio of neighbouring weights, (N-k)/(k+1), crosses e^eps at k = M: the hint. *)
Definition tail_check (N M : nat) (a b n d P : Z) (r : nat) : bool :=
  let lo := exp_below r P a b in let n' := Z.of_nat N in let m := Z.of_nat M in
  ((0 <=? P)%Z && is_ratio a b && is_ratio n d && (0 <=? lo)%Z && (M <=? N)%nat &&
   (lo * m <=? (n' + 1 - m) * 2 ^ P)%Z && ((n' - m) * 2 ^ P <=? lo * (m + 1))%Z &&
   let (acc, c) := tail N M in
   (((acc + c) * 2 ^ P - lo * acc) * d <=? n * (2 ^ n' * 2 ^ P))%Z)%bool.
Definition tail_refutes (N M : nat) (a b n d P : Z) (r : nat) : bool :=
  let up := exp_above r P a b in let n' := Z.of_nat N in
  ((0 <=? P)%Z && is_ratio a b && (a <? b * 2 ^ Z.of_nat r)%Z && is_ratio n d && (M <=? N)%nat &&
   let (acc, c) := tail N M in
   (n * (2 ^ n' * 2 ^ P) <? ((acc + c) * 2 ^ P - up * acc) * d)%Z)%bool.

(** Below M the excess is positive, from M on it is not: the sum telescopes *)
Theorem tail_dp N M a b n d P r : tail_check N M a b n d P r = true ->
  noise_dp (binomial N (1 / 2)) 1 (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold tail_check. intros H. split_bool H. rename H0 into Ht. rewrite tail_ok in Ht by easy. apply Z.leb_le in Ht.
  pose proof (law_pmf N) as Hpmf. assert (0 < 2 ^ P)%Z as HPP by (apply Z.pow_pos_nonneg; lia).
  assert (0 < 2 ^ Z.of_nat N)%Z as HW by (apply Z.pow_pos_nonneg; lia).
  set (lo := exp_below r P a b) in *.
  assert (forall k, (-1 <= k < Z.of_nat M)%Z -> (lo * bz N k <= 2 ^ P * bz N (k + 1))%Z) as Hlow.
  { intros k Hk. pose proof (bz_nonneg N (k + 1)). destruct (Z.eq_dec k (-1)) as [->|]. rewrite (bz_out N (-1)) by lia. nia.
    pose proof (bz_step N k ltac:(lia)) as Hs. pose proof (bz_nonneg N k).
    apply Z.mul_le_mono_pos_r with (k + 1)%Z; [lia|]. rewrite <- (Z.mul_assoc (2 ^ P)), Hs.
    assert (lo * (k + 1) <= 2 ^ P * (Z.of_nat N - k))%Z by nia. nia. }
  assert (forall k, (k < -1 \/ Z.of_nat M <= k)%Z -> (2 ^ P * bz N (k + 1) <= lo * bz N k)%Z) as Hhigh.
  { intros k Hk. destruct (Z_lt_dec k (-1)). rewrite !bz_out by lia. lia.
    destruct (Z_lt_dec (Z.of_nat N) k). rewrite !bz_out by lia. lia.
    pose proof (bz_step N k ltac:(lia)) as Hs. pose proof (bz_nonneg N k).
    apply Z.mul_le_mono_pos_r with (k + 1)%Z; [lia|]. rewrite <- (Z.mul_assoc (2 ^ P)), Hs.
    assert (2 ^ P * (Z.of_nat N - k) <= lo * (k + 1))%Z by nia. nia. }
  assert (dp_pair (fun k => binomial N (1 / 2) (k + 1)) (binomial N (1 / 2)) (IZR a / IZR b) (IZR n / IZR d)) as Hp.
  { eapply dp_pair_ext; [| |eapply (weights_dp (fun k => bz N (k + 1)) (bz N) (2 ^ Z.of_nat N) P (zseq (-1) (S M))
      ((zsum N M + bz N (Z.of_nat M)) * 2 ^ P - lo * zsum N M)%Z) with (lo := lo)]; eauto using ratio_bottom.
    - intros; simpl. now rewrite law_bz. - intros; simpl. now rewrite law_bz.
    - apply bz_nonneg.
    - apply exp_below_ok; eauto using ratio_top, ratio_bottom.
    - intros k. rewrite in_zseq. destruct (Z_lt_dec k (-1)); [right; apply Hhigh; lia|]. destruct (Z_lt_dec k (Z.of_nat M)); [left; lia|right; apply Hhigh; lia].
    - apply Req_le.
      rewrite (mass_ext _ (fun k => IZR (2 ^ P) * IZR (bz N (k + 1)) + (- IZR lo) * IZR (bz N k))).
      rewrite mass_lin, mass_zsum, mass_zsum1, minus_IZR, !mult_IZR. ring.
      intros k Hk. apply in_zseq in Hk. unfold positive_part. rewrite Z.max_r by (specialize (Hlow k); lia). rewrite minus_IZR, !mult_IZR. ring. }
  apply noise_dp_intro; auto. intros s Hs.
  assert (s = 0 \/ s = -1 \/ s = 1)%Z as [->|[->| ->]] by lia.
  - eapply dp_pair_ext; [| |apply (dp_pair_refl (binomial N (1 / 2)))]; try (intros; f_equal; lia);
      [apply Hpmf|auto using ratio_nonneg|auto using ratio_nonneg].
  - eapply dp_pair_ext; [| |exact Hp]; intros; cbv beta; try reflexivity; f_equal; lia.
  - eapply dp_pair_ext; [| |exact (dp_pair_neg _ _ _ _ (dp_pair_shift _ _ (Z.of_nat N) _ _ Hp))]; intros k; cbv beta.
    + rewrite <- (law_sym N (k - 1)). f_equal. lia.
    + rewrite <- (law_sym N k). f_equal. lia.
Qed.

(** The event of the outcomes below M *)
Theorem tail_not_dp N M a b n d P r : tail_refutes N M a b n d P r = true ->
  noise_not_dp (binomial N (1 / 2)) 1 (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold tail_refutes. intros H. split_bool H. rename H0 into Ht. rewrite tail_ok in Ht by easy. apply Z.ltb_lt in Ht.
  pose proof (law_pmf N) as Hpmf. assert (0 <= P)%Z as HP by assumption. pose proof (IZR_pow2_pos P HP) as HPP.
  assert (0 < d)%Z as Hd by eauto using ratio_bottom.
  assert (0 < IZR (2 ^ Z.of_nat N)) as HW by (apply IZR_pow2_pos; lia). apply IZR_lt in Hd.
  assert (exp (IZR a / IZR b) * IZR (2 ^ P) <= IZR (exp_above r P a b)) as Hup by (apply exp_above_ok; eauto using ratio_top, ratio_bottom). set (up := exp_above r P a b) in *.
  apply (noise_not_dp_intro _ _ (-1) (zseq (-1) (S M))); auto; [lia|apply zseq_nodup|].
  rewrite (mass_ext _ (fun k => / IZR (2 ^ Z.of_nat N) * IZR (bz N (k + 1)))) by (intros; rewrite law_bz; replace (x - -1)%Z with (x + 1)%Z by lia; field; lra).
  rewrite (mass_ext (binomial N (1 / 2)) (fun k => / IZR (2 ^ Z.of_nat N) * IZR (bz N k))) by (intros; rewrite law_bz; field; lra).
  rewrite !mass_scale, mass_zsum, mass_zsum1. apply IZR_lt in Ht. rewrite !mult_IZR, minus_IZR, !mult_IZR in Ht.
  apply clear_lt in Ht; auto. set (A := IZR (zsum N M + bz N (Z.of_nat M))) in *.
  assert (0 <= IZR (zsum N M)) as HB by (rewrite <- mass_zsum; apply mass_nonneg; intros; apply IZR_le, bz_nonneg).
  pose proof (scale_ge _ _ _ _ A _ HW HPP Hup HB) as Hs. unfold Rdiv in *. rewrite (Rmult_comm A (IZR (2 ^ P))) in Ht. nra.
Qed.
