(** Skellam noise: Poisson weights from below, and sums of their products; no tail needs a bound. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FinFun.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables DiscreteGaussian PostProcessing FromBelow.
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

(** [l] lists the Poisson weights from o on, in units of 1/W, from below. *)
Definition lists (W : R) (o : nat) (l : list Z) : Prop :=
  forall i, (0 <= nth i l 0)%Z /\ IZR (nth i l 0%Z) <= p (o + i) * W.
(** Its rest *)
Lemma lists_skipn W m : forall o l, lists W o l -> lists W (o + m) (skipn m l).
Proof.
  intros o l H i. specialize (H (m + i)%nat). rewrite Nat.add_assoc in H. enough (nth i (skipn m l) 0%Z = nth (m + i) l 0%Z) as -> by easy.
  clear H. revert l. induction m; intros [|a l]; cbn [skipn Nat.add nth]; auto. now destruct i.
Qed.
(** In larger units, rounded down *)
Lemma lists_shiftr W c o l : (0 <= c)%Z -> lists (W * IZR (2 ^ c)) o l -> lists W o (map (fun x => Z.shiftr x c) l).
Proof.
  intros Hc H i. specialize (H i) as [H0 H]. set (g := fun x => Z.shiftr x c).
  assert (nth i (map g l) 0%Z = g (nth i l 0%Z)) as -> by (rewrite <- (map_nth g); unfold g; now rewrite Z.shiftr_0_l). unfold g.
  split; [now apply Z.shiftr_nonneg|]. rewrite Z.shiftr_div_pow2 by easy.
  pose proof (div_le (nth i l 0%Z) (2 ^ c) ltac:(apply Z.pow_pos_nonneg; lia)).
  apply Rmult_le_reg_r with (IZR (2 ^ c)); [now apply IZR_pow2_pos|lra].
Qed.

(** sum_i a_i b_i *)
Fixpoint inner (A B : list Z) : Z :=
  match A, B with a :: A', b :: B' => a * b + inner A' B' | _, _ => 0 end%Z.
(** ... from below that of the weights *)
Lemma inner_le W A : 0 <= W -> forall B x y, lists W x A -> lists W y B ->
  IZR (inner A B) <= mass (fun j => p (x + j) * p (y + j)) (seq 0 (length A)) * (W * W).
Proof.
  intros HW. induction A as [|a A IH]; intros [|b B] x y HA HB; cbn [inner]; try (simpl; lra).
  - apply Rmult_le_pos; [|nra]. apply mass_nonneg. intros. apply Rmult_le_pos; apply poisson_nonneg.
  - assert (forall o z l, lists W o (z :: l) -> lists W (S o) l) as Hl.
    { intros o z l H i. specialize (H (S i)). cbn [nth] in H. now rewrite Nat.add_succ_r in H. }
    specialize (IH B (S x) (S y) (Hl _ _ _ HA) (Hl _ _ _ HB)). cbn [length seq mass]. rewrite plus_IZR, mult_IZR.
    rewrite <- seq_shift, mass_map. rewrite (mass_ext _ (fun j => p (S x + j) * p (S y + j))) by (intros; do 2 f_equal; lia).
    destruct (HA O) as [Ha0 Ha]. destruct (HB O) as [Hb0 Hb]. cbn [nth] in *. apply IZR_le in Ha0, Hb0.
    assert (IZR a * IZR b <= (p (x + 0) * W) * (p (y + 0) * W)) by (apply Rmult_le_compat; lra). lra.
Qed.

(** Inner products of B with what is left of A; those of a list with itself, for differences of either sign. *)
Fixpoint products (A B : list Z) : list Z :=
  match A with [] => [] | _ :: A' => inner A B :: products A' B end.
Definition differences (l : list Z) : list Z := let half := products l l in rev (tl half) ++ half.
(** One a member *)
Lemma products_length B A : length (products A B) = length A.
Proof. induction A; simpl; congruence. Qed.
(** By definition *)
Lemma products_nth B A : forall i, nth i (products A B) 0%Z = inner (skipn i A) B.
Proof. induction A; intros [|i]; cbn [products nth skipn]; auto. Qed.
(** Each counts pairs of one difference *)
Lemma products_le W o l f i : 0 <= W -> lists W o l -> skellam mu f ->
  IZR (nth i (products l l) 0%Z) <= f (Z.of_nat i) * (W * W) /\
  IZR (nth i (products l l) 0%Z) <= f (- Z.of_nat i)%Z * (W * W).
Proof.
  intros HW Hl Hf. rewrite products_nth. pose proof (inner_le W (skipn i l) HW l (o + i) o (lists_skipn W i o l Hl) Hl) as H.
  set (n := length (skipn i l)) in *. split; apply Rle_trans with (1 := H); (apply Rmult_le_compat_r; [nra|]).
  - replace (Z.of_nat i) with (Z.of_nat (o + i) - Z.of_nat o)%Z by lia. now apply skellam_ge.
  - replace (- Z.of_nat i)%Z with (Z.of_nat o - Z.of_nat (o + i))%Z by lia.
    rewrite (mass_ext _ (fun j => p (o + j) * p (o + i + j))) by (intros; ring). now apply skellam_ge.
Qed.
(** From the middle in both directions *)
Lemma differences_le W o l f k : 0 <= W -> lists W o l -> skellam mu f ->
  IZR (entry (differences l) (k + (Z.of_nat (length l) - 1))) <= f k * (W * W).
Proof.
  intros HW Hl Hf. pose proof (proj1 (skellam_pmf f Hf) k) as H0. assert (0 <= f k * (W * W)) by (apply Rmult_le_pos; nra).
  unfold entry, differences. destruct (Z.ltb_spec (k + (Z.of_nat (length l) - 1)) 0) as [|Hk]; [easy|].
  assert (length (tl (products l l)) = (length l - 1)%nat) as Hlen.
  { rewrite <- (products_length l l). destruct (products l l); simpl; lia. }
  destruct (Z_lt_dec k 0).
  - rewrite app_nth1 by (rewrite rev_length; lia). rewrite rev_nth by lia. rewrite Hlen.
    replace (nth _ (tl (products l l)) 0%Z) with (nth (Z.to_nat (- k)) (products l l) 0%Z).
    + replace k with (- Z.of_nat (Z.to_nat (- k)))%Z at 2 by lia. now apply products_le with (o := o).
    + replace (Z.to_nat (- k)) with (S (length l - 1 - S (Z.to_nat (k + (Z.of_nat (length l) - 1))))) by lia.
      destruct (products l l); [now destruct (_ - _)%nat|easy].
  - rewrite app_nth2; rewrite rev_length, Hlen; [|lia].
    destruct l as [|a l]; [simpl; now destruct (Z.to_nat _ - _)%nat|].
    replace (Z.to_nat (k + (Z.of_nat (length (a :: l)) - 1)) - (length (a :: l) - 1))%nat with (Z.to_nat k) by (simpl length; lia).
    replace k with (Z.of_nat (Z.to_nat k)) at 2 by lia. now apply products_le with (o := o).
Qed.
End Counts.

(** ** The check in whole numbers; mu = u/v *)
Open Scope Z_scope.
(** Each weight is the last times mu/(k+1), rounded down. *)
Fixpoint counts (n : nat) (u v k a : Z) : list Z :=
  match n with O => [] | S m => a :: counts m u v (k + 1) (a * u / (v * (k + 1))) end.
(** [len] Poisson weights from o on, known to Q bits, of which c are left out. *)
Definition counts_from (u v Q c : Z) (r o len : nat) : list Z :=
  map (fun x => Z.shiftr x c) (skipn o (counts (o + len) u v 0 (fst (exp_box r Q (- u) v)))).
Definition is_mean (u v Q c : Z) (r : nat) : bool :=
  ((0 <? u) && (0 <? v) && (0 <=? c) && (c <=? Q) && (u <? v * 2 ^ Z.of_nat r))%bool.
Definition skellam_check (u v Delta a b n d P : Z) (r : nat) (Q c : Z) (o len : nat) : bool :=
  (is_mean u v Q c r &&
   below_check (differences (counts_from u v Q c r o len)) (2 ^ (Q - c) * 2 ^ (Q - c)) Delta a b n d P r)%bool.
Definition skellam_refutes (u v Delta a b n d P : Z) (r : nat) (Q c : Z) (o len : nat) : bool :=
  (is_mean u v Q c r &&
   below_refutes (differences (counts_from u v Q c r o len)) (2 ^ (Q - c) * 2 ^ (Q - c)) Delta (Z.to_nat Delta) a b n d P r)%bool.
Close Scope Z_scope.

Section Mean.
Variables (u v : Z).
Hypotheses (Hu : (0 < u)%Z) (Hv : (0 < v)%Z).
Let mu := IZR u / IZR v.
(** A quotient of positive numbers *)
Lemma mean_pos : 0 < mu.
Proof. apply Rdiv_lt_0_compat; now apply IZR_lt. Qed.
(** By poisson_step *)
Lemma counts_ok W n : 0 <= W -> forall k a, (0 <= a)%Z -> IZR a <= poisson mu k * W ->
  lists mu W k (counts n u v (Z.of_nat k) a).
Proof.
  intros HW. assert (forall k, 0 <= poisson mu k * W) as H0 by (intros; apply Rmult_le_pos; [apply poisson_nonneg, mean_pos|easy]).
  induction n; intros k a Ha H i; cbn [counts]; [destruct i; simpl; auto using Z.le_refl|].
  destruct i as [|i]; cbn [nth]; [now rewrite Nat.add_0_r|]. rewrite Nat.add_succ_r.
  replace (Z.of_nat k + 1)%Z with (Z.of_nat (S k)) by lia. set (c := (v * Z.of_nat (S k))%Z). assert (0 < c)%Z as Hc by (unfold c; nia).
  apply (IHn (S k)); [apply Z.div_pos; nia|].
  pose proof (div_le (a * u) c Hc) as Hd. apply IZR_lt in Hc. apply Rmult_le_reg_r with (IZR c); [easy|].
  apply Rle_trans with (1 := Hd). apply IZR_lt in Hu as Hu'. apply IZR_lt in Hv as Hv'.
  replace (poisson mu (S k) * W * IZR c) with (poisson mu k * W * IZR u).
  - rewrite mult_IZR. apply Rmult_le_compat_r; lra.
  - unfold c. rewrite mult_IZR, <- INR_IZR_INZ. pose proof (poisson_step mu k) as E.
    replace (poisson mu (S k) * W * (IZR v * INR (S k))) with (poisson mu (S k) * INR (S k) * (W * IZR v)) by ring.
    rewrite E. unfold mu. field. lra.
Qed.
(** The law is at least the table's weights *)
Lemma weights_ok Q c r o len f : is_mean u v Q c r = true -> skellam mu f -> forall k,
  let l := counts_from u v Q c r o len in
  IZR (entry (differences l) (k + (Z.of_nat (length l) - 1))) <= f k * IZR (2 ^ (Q - c) * 2 ^ (Q - c)).
Proof.
  intros H Hf k l. unfold is_mean in H. split_bool H. rewrite mult_IZR. pose proof (IZR_pow2_pos (Q - c) ltac:(lia)) as HW.
  apply differences_le with (mu := mu) (o := o); auto using mean_pos; [lra|].
  apply lists_shiftr; [easy|]. rewrite <- mult_IZR, <- Z.pow_add_r by lia. replace (Q - c + c)%Z with Q by lia.
  change o with (0 + o)%nat at 1. apply lists_skipn. pose proof (IZR_pow2_pos Q ltac:(lia)) as HQ.
  destruct (exp_box_ok r Q (- u) v ltac:(lia) Hv ltac:(lia)) as [E0 [E1 _]].
  apply (counts_ok _ _ (Rlt_le _ _ HQ) 0%nat); [easy|].
  unfold poisson. cbn [pow fact INR]. unfold mu. rewrite opp_IZR in E1.
  replace (- (IZR u / IZR v)) with (- IZR u / IZR v) by (unfold Rdiv; ring). lra.
Qed.
End Mean.

(** What the listed weights leave out counts against the claim *)
Theorem skellam_dp u v Delta a b n d P r Q c o len : skellam_check u v Delta a b n d P r Q c o len = true ->
  exists f, skellam (IZR u / IZR v) f /\ noise_dp f Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold skellam_check. intros H. apply andb_prop in H as [Hm Hc]. pose proof Hm as H. unfold is_mean in H. split_bool H.
  destruct (skellam_exists _ (mean_pos u v ltac:(easy) ltac:(easy))) as [f Hf]. exists f. split; [easy|].
  eapply below_dp; [apply (skellam_pmf _ (mean_pos u v ltac:(easy) ltac:(easy)) f Hf)|apply (weights_ok u v ltac:(easy) ltac:(easy) Q c r o len f Hm Hf)|exact Hc].
Qed.
(** ... or against its refutation *)
Theorem skellam_not_dp u v Delta a b n d P r Q c o len : skellam_refutes u v Delta a b n d P r Q c o len = true ->
  exists f, skellam (IZR u / IZR v) f /\ noise_not_dp f Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold skellam_refutes. intros H. apply andb_prop in H as [Hm Hc]. pose proof Hm as H. unfold is_mean in H. split_bool H.
  destruct (skellam_exists _ (mean_pos u v ltac:(easy) ltac:(easy))) as [f Hf]. exists f. split; [easy|].
  eapply below_not_dp; [apply (skellam_pmf _ (mean_pos u v ltac:(easy) ltac:(easy)) f Hf)|apply (weights_ok u v ltac:(easy) ltac:(easy) Q c r o len f Hm Hf)|exact Hc].
Qed.
