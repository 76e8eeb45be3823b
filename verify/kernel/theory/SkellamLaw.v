(** The law of Skellam noise, the difference of two independent Poisson counts: that it exists, its recurrence,
    and that the ratio of one probability to the one before falls. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FinFun Classical_Prop.
From ExactDP Require Import Definitions Laws Mass Weights PostProcessing.
Import ListNotations.
Open Scope R_scope.

(** ** Two independent counts have a law: their probabilities sum to 1 *)
(** The sums of Coq's library *)
Lemma mass_seq f n : mass f (seq 0 (S n)) = sum_f_R0 f n.
Proof. induction n; [simpl; ring|]. rewrite seq_S, mass_app, IHn, tech5. simpl. ring. Qed.

Section Counts.
Variable mu : R.
Hypothesis Hmu : 0 < mu.
Let p := poisson mu.
Let both (c : nat * nat) := p (fst c) * p (snd c).
Let square n := list_prod (seq 0 (S n)) (seq 0 (S n)).

(** A quotient of such *)
Lemma poisson_nonneg n : 0 <= poisson mu n.
Proof.
  unfold poisson, Rdiv. apply Rmult_le_pos; [apply Rmult_le_pos|left; apply Rinv_0_lt_compat, INR_fact_lt_0].
  - left. apply exp_pos. - apply pow_le. lra.
Qed.
(** One factor more on both sides *)
Lemma poisson_step n : poisson mu (S n) * INR (S n) = poisson mu n * mu.
Proof.
  unfold poisson. rewrite fact_simpl, mult_INR. cbn [pow]. field. split; [apply INR_fact_neq_0|now apply not_0_INR].
Qed.
(** The series of e^mu *)
Lemma poisson_sum : Un_cv (fun n => mass p (seq 0 (S n))) 1.
Proof.
  apply Un_cv_ext with (fun n => exp (- mu) * sum_f_R0 (fun i => / INR (fact i) * mu ^ i) n).
  - intros n. rewrite mass_seq, scal_sum. apply sum_eq. intros i _. unfold p, poisson, Rdiv. ring.
  - replace 1 with (exp (- mu) * exp mu) by (rewrite <- exp_plus, <- exp_0; f_equal; lra).
    apply (CV_mult (fun _ => exp (- mu))).
    + intros e He. exists O. intros. now rewrite R_dist_eq.
    + exact (proj2_sig (exist_exp mu)).
Qed.
(** Its square *)
Lemma square_sum : Un_cv (fun n => mass both (square n)) 1.
Proof.
  apply Un_cv_ext with (fun n => mass p (seq 0 (S n)) * mass p (seq 0 (S n))).
  - intros n. unfold both, square. now rewrite (mass_prod p p).
  - replace 1 with (1 * 1) by ring. apply CV_mult; apply poisson_sum.
Qed.
(** A product of such *)
Lemma both_nonneg c : 0 <= both c.
Proof. apply Rmult_le_pos; apply poisson_nonneg. Qed.
(** Larger squares hold more *)
Lemma square_le n : mass both (square n) <= 1.
Proof.
  apply (growing_ineq (fun n => mass both (square n))); [|exact square_sum]. intros m. unfold square.
  apply mass_cover; [exact both_nonneg|apply nodup_prod; apply seq_NoDup|].
  intros [x y] H. left. apply in_prod_iff in H. rewrite !in_seq in H. apply in_prod_iff. rewrite !in_seq. lia.
Qed.
(** Some square holds every list *)
Lemma in_square (l : list (nat * nat)) : exists n, forall c, In c l -> In c (square n).
Proof.
  enough (exists n, forall c, In c l -> (fst c <= n /\ snd c <= n)%nat) as [n H].
  { exists n. intros [x y] Hc. specialize (H _ Hc). cbn [fst snd] in H. apply in_prod_iff. rewrite !in_seq. lia. }
  induction l as [|a l [n IH]]; [exists O; easy|]. exists (Nat.max n (Nat.max (fst a) (snd a))).
  intros c [<-|H]; [lia|]. specialize (IH c H). lia.
Qed.
(** Squares hold all but any e *)
Lemma both_pmf : pmf both.
Proof.
  split; [exact both_nonneg|]. split.
  - intros r (l & Hl & _ & ->). destruct (in_square l) as [n Hn]. apply Rle_trans with (2 := square_le n).
    apply mass_cover; auto using both_nonneg.
  - intros b Hb. apply Rnot_lt_le. intros Hlt. destruct (square_sum (1 - b) ltac:(lra)) as [n Hn].
    specialize (Hn n (le_n _)). apply Rabs_def2 in Hn.
    assert (mass both (square n) <= b); [|lra]. apply Hb. exists (square n). repeat split; auto.
    apply nodup_prod; apply seq_NoDup.
Qed.

(** The law exists, is a law, and is the only one. *)
Theorem skellam_exists : exists f, skellam mu f.
Proof. apply image_exists, both_pmf. Qed.
(** A supremum is unique *)
Theorem skellam_unique f g : skellam mu f -> skellam mu g -> forall k, f k = g k.
Proof. intros Hf Hg k. exact (has_prob_unique _ _ _ _ (Hf k) (Hg k)). Qed.
(** It is what is computed from a law *)
Lemma skellam_pmf f : skellam mu f -> pmf f.
Proof. intros H. exact (image_pmf _ _ f H both_pmf). Qed.
(** Finitely many of the pairs that lead there *)
Lemma skellam_ge f x y n : skellam mu f ->
  mass (fun j => p (x + j) * p (y + j)) (seq 0 n) <= f (Z.of_nat x - Z.of_nat y)%Z.
Proof.
  intros Hf. destruct (Hf (Z.of_nat x - Z.of_nat y)%Z) as [H _]. apply H.
  exists (map (fun j => (x + j, y + j)%nat) (seq 0 n)). repeat split.
  - apply Injective_map_NoDup; [|apply seq_NoDup]. intros i j E. injection E. lia.
  - intros c Hc. apply in_map_iff in Hc as (j & <- & _). cbn [fst snd]. lia.
  - now rewrite mass_map.
Qed.

(** The pairs that lead to a difference, in order: all of them, where the first is at an end *)
Lemma skellam_limit f x y : skellam mu f -> (x = 0 \/ y = 0)%nat ->
  Un_cv (fun n => mass (fun j => p (x + j) * p (y + j)) (seq 0 n)) (f (Z.of_nat x - Z.of_nat y)%Z).
Proof.
  intros Hf Hxy e He. destruct (Hf (Z.of_nat x - Z.of_nat y)%Z) as [_ Hlub]. set (v := f _) in *.
  assert (exists l, NoDup l /\ (forall c, In c l -> (Z.of_nat (fst c) - Z.of_nat (snd c) = Z.of_nat x - Z.of_nat y)%Z) /\ v - e < mass both l)
    as (l & Hl & Hin & Hm).
  { apply NNPP. intros Hno. assert (v <= v - e); [|lra]. apply Hlub. intros r (l & Hl & Hin & ->).
    apply Rnot_lt_le. intros Hlt. apply Hno. exists l. auto. }
  destruct (in_square l) as [N HN]. exists (S N). intros n Hn. pose proof (skellam_ge f x y n Hf) as Hge. fold v in Hge.
  assert (mass both l <= mass (fun j => p (x + j) * p (y + j)) (seq 0 n)) as Hle.
  { rewrite <- (mass_map both (fun j => (x + j, y + j)%nat)). apply mass_cover; [exact both_nonneg|easy|].
    intros [i j] Hc. left. specialize (Hin _ Hc). specialize (HN _ Hc). cbn [fst snd] in Hin.
    apply in_prod_iff in HN. rewrite !in_seq in HN. apply in_map_iff. exists (Nat.max (i - x) (j - y)). rewrite in_seq. split; [f_equal; lia|lia]. }
  unfold R_dist. apply Rabs_def1; lra.
Qed.
(** Both counts have the same law *)
Lemma skellam_even f k : skellam mu f -> f (- k)%Z = f k.
Proof.
  intros Hf. enough (forall n, f (- Z.of_nat n)%Z = f (Z.of_nat n)) as H.
  { destruct (Z.le_ge_cases 0 k) as [Hk|Hk]; [rewrite <- (Z2Nat.id k Hk); apply H|]. rewrite <- (Z.opp_involutive k) at 2.
    rewrite <- (Z2Nat.id (- k)) by lia. symmetry. apply H. }
  intros n. pose proof (skellam_limit f n 0 Hf ltac:(auto)) as H1. pose proof (skellam_limit f 0 n Hf ltac:(auto)) as H2.
  cbn [Z.of_nat] in H1, H2. rewrite Z.sub_0_r in H1. rewrite Z.sub_0_l in H2. apply (UL_sequence _ _ _ H2).
  eapply Un_cv_ext; [|exact H1]. intros m. cbv beta. apply mass_ext. intros; ring.
Qed.
(** Of finitely many pairs: x p(x) = mu p(x-1), of both counts *)
Lemma recurrence_to m n :
  INR (S m) * mass (fun j => p (S m + j) * p (0 + j)) (seq 0 (S n))
  = mu * mass (fun j => p (m + j) * p (0 + j)) (seq 0 (S n)) - mu * mass (fun j => p (S (S m) + j) * p (0 + j)) (seq 0 n).
Proof.
  induction n.
  - cbn [seq mass]. rewrite !Nat.add_0_r, !Rplus_0_r, Rmult_0_r, Rminus_0_r. pose proof (poisson_step m) as E. fold p in E.
    replace (INR (S m) * (p (S m) * p 0%nat)) with (p (S m) * INR (S m) * p 0%nat) by ring. rewrite E. ring.
  - assert (forall (h : nat -> R) k, mass h (seq 0 (S k)) = mass h (seq 0 k) + h k) as Hs by (intros; rewrite seq_S, mass_app; simpl; ring).
    rewrite (Hs (fun j => p (S m + j) * p (0 + j))), (Hs (fun j => p (m + j) * p (0 + j))), (Hs (fun j => p (S (S m) + j) * p (0 + j)) n).
    rewrite Rmult_plus_distr_l, IHn. cbv beta. change (0 + S n)%nat with (S n). change (0 + n)%nat with n.
    pose proof (poisson_step (m + S n)) as E1. pose proof (poisson_step n) as E2. fold p in E1, E2.
    replace (S (m + S n)) with (S m + S n)%nat in E1 by lia. rewrite plus_INR in E1.
    assert (INR (S m) * (p (S m + S n) * p (S n)) = mu * (p (m + S n) * p (S n)) - mu * (p (S (S m) + n) * p n)) as E; [|rewrite E].
    { replace (S (S m) + n)%nat with (S m + S n)%nat by lia.
      replace (mu * (p (m + S n) * p (S n))) with (p (m + S n) * mu * p (S n)) by ring. rewrite <- E1.
      replace (mu * (p (S m + S n) * p n)) with (p (S m + S n) * (p n * mu)) by ring. rewrite <- E2. ring. }
    ring.
Qed.
(** mu f(k) = (k + 1) f(k + 1) + mu f(k + 2): E[X - Y] over the pairs of difference k + 1 *)
Theorem skellam_recurrence f m : skellam mu f ->
  mu * f (Z.of_nat m) = INR (S m) * f (Z.of_nat (S m)) + mu * f (Z.of_nat (S (S m))).
Proof.
  intros Hf. assert (forall k, Un_cv (fun n => mass (fun j => p (k + j) * p (0 + j)) (seq 0 n)) (f (Z.of_nat k))) as H.
  { intros k. pose proof (skellam_limit f k 0 Hf ltac:(auto)) as H. now rewrite Z.sub_0_r in H. }
  assert (forall c (u : nat -> R) t, Un_cv u t -> Un_cv (fun n => c * u n) (c * t)) as Hc.
  { intros c u t Hu. apply (CV_mult (fun _ => c)); [|easy]. intros e He. exists O. intros. now rewrite R_dist_eq. }
  assert (forall (u : nat -> R) t, Un_cv u t -> Un_cv (fun n => u (S n)) t) as HS.
  { intros u t Hu e He. destruct (Hu e He) as [N HN]. exists N. intros n Hn. apply HN. lia. }
  enough (INR (S m) * f (Z.of_nat (S m)) = mu * f (Z.of_nat m) - mu * f (Z.of_nat (S (S m)))) by lra.
  set (s := fun k n => mass (fun j => p (k + j) * p (0 + j)) (seq 0 n)).
  apply (UL_sequence (fun n => INR (S m) * s (S m) (S n))); [exact (Hc _ _ _ (HS _ _ (H (S m))))|].
  apply (Un_cv_ext (fun n => mu * s m (S n) - mu * s (S (S m)) n)); [intros n; symmetry; apply recurrence_to|].
  apply (CV_minus (fun n => mu * s m (S n)) (fun n => mu * s (S (S m)) n)); [exact (Hc _ _ _ (HS _ _ (H m)))|exact (Hc _ _ _ (H (S (S m))))].
Qed.
(** No outcome is impossible *)
Lemma skellam_pos f k : skellam mu f -> 0 < f (Z.of_nat k).
Proof.
  intros Hf. pose proof (skellam_ge f k 0 1 Hf) as H. rewrite Z.sub_0_r in H. cbn [seq mass] in H.
  assert (forall n, 0 < p n) as Hp.
  { intros n. unfold p, poisson. apply Rdiv_lt_0_compat; [|apply INR_fact_lt_0]. apply Rmult_lt_0_compat; [apply exp_pos|now apply pow_lt]. }
  pose proof (Hp (k + 0)%nat). pose proof (Hp (0 + 0)%nat). nra.
Qed.
(** f(k + 1)/f(k) falls in k: each ratio is 1/((k + 1)/mu + the next), so each fall is at most 1/mu if the next
    one is not negative, and not negative if the next one is at most 1/mu; far out both are clear. *)
Section Falls.
Variable f : Z -> R.
Hypothesis Hf : skellam mu f.
Let g k := f (Z.of_nat k).
Let rho k := g (S k) / g k.
(** The recurrence *)
Lemma rho_step k : 0 < rho k /\ rho k * (INR (S k) / mu + rho (S k)) = 1.
Proof.
  pose proof (skellam_pos f k Hf) as H0. pose proof (skellam_pos f (S k) Hf) as H1. pose proof (skellam_recurrence f k Hf) as E.
  fold (g k) (g (S k)) (g (S (S k))) in *. split; [now apply Rdiv_lt_0_compat|]. unfold rho.
  apply Rmult_eq_reg_r with (mu * g k); [|nra].
  transitivity (INR (S k) * g (S k) + mu * g (S (S k))); [field; lra|lra].
Qed.
(** Downwards from far out *)
Lemma rho_falls m : forall k, mu * mu <= INR (m + k) -> 0 <= rho k - rho (S k) <= / mu.
Proof.
  assert (forall k, mu * mu <= INR k -> rho k <= / mu) as Hfar.
  { intros k Hk. destruct (rho_step k) as [H E]. destruct (rho_step (S k)) as [H' _]. rewrite S_INR in E.
    apply Rmult_le_reg_r with ((INR k + 1) / mu); [apply Rdiv_lt_0_compat; nra|].
    apply Rle_trans with 1; [nra|]. apply Rmult_le_reg_r with (mu * mu); [nra|].
    replace (/ mu * ((INR k + 1) / mu) * (mu * mu)) with (INR k + 1) by (field; lra). lra. }
  assert (forall k, rho (S k) - rho (S (S k)) <= / mu -> 0 <= rho k - rho (S k)) as Hdown.
  { intros k H. destruct (rho_step k) as [H0 E0]. destruct (rho_step (S k)) as [H1 E1]. rewrite (S_INR (S k)) in E1.
    assert (rho k * rho (S k) * ((INR (S k) + 1) / mu + rho (S (S k)) - (INR (S k) / mu + rho (S k))) = rho k - rho (S k)) as <- by nra.
    apply Rmult_le_pos; [nra|]. replace ((INR (S k) + 1) / mu) with (INR (S k) / mu + / mu) by (field; lra). lra. }
  induction m; intros k Hk.
  - cbn [Nat.add] in Hk. destruct (rho_step (S k)) as [H1 _]. destruct (rho_step (S (S k))) as [H2 _]. pose proof (Hfar k Hk).
    pose proof (Hfar (S k) ltac:(rewrite S_INR; lra)). split; [apply Hdown; lra|lra].
  - specialize (IHm (S k) ltac:(rewrite <- plus_n_Sm; exact Hk)). split; [apply Hdown; lra|].
    destruct (rho_step k) as [H0 E0]. destruct (rho_step (S k)) as [H1 E1]. rewrite (S_INR (S k)) in E1. pose proof (pos_INR k).
    assert (rho k * rho (S k) <= 1). { assert (0 <= INR (S k) / mu); [|nra]. apply Rmult_le_pos; [apply pos_INR|left; now apply Rinv_0_lt_compat]. }
    assert (rho k * rho (S k) * ((INR (S k) + 1) / mu + rho (S (S k)) - (INR (S k) / mu + rho (S k))) = rho k - rho (S k)) as <- by nra.
    replace ((INR (S k) + 1) / mu) with (INR (S k) / mu + / mu) by (field; lra). assert (0 < / mu) by (now apply Rinv_0_lt_compat). nra.
Qed.
(** Between any two *)
Theorem skellam_falls n k : (n <= k)%nat -> g (S k) * g n <= g k * g (S n).
Proof.
  intros H. assert (rho k <= rho n) as Hr.
  { induction H as [|k H IH]; [lra|]. pose proof (archimed (mu * mu)) as [Hm _].
    pose proof (rho_falls (Z.to_nat (up (mu * mu))) k) as F. rewrite plus_INR, (INR_IZR_INZ (Z.to_nat _)), Z2Nat.id in F by (apply le_IZR; nra).
    pose proof (pos_INR k). lra. }
  pose proof (skellam_pos f k Hf) as H0. pose proof (skellam_pos f n Hf) as H1. fold (g k) (g n) in *. unfold rho in Hr.
  apply Rmult_le_compat_r with (r := g k * g n) in Hr; [|nra].
  replace (g (S k) / g k * (g k * g n)) with (g (S k) * g n) in Hr by (field; lra). replace (g (S n) / g n * (g k * g n)) with (g k * g (S n)) in Hr by (field; lra). exact Hr.
Qed.
End Falls.
End Counts.
