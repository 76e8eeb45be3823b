(** Discrete Laplace noise on K queries, chosen adaptively: the pair's K-fold product, on a lattice. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights DiscreteLaplace Tables RandomizedResponse Composition LaplacePair.
Import ListNotations.
Open Scope R_scope.

(** Both rates by one factor *)
Lemma product_above_scale ps : forall c x y, 0 <= c -> product_above ps (c * x) (c * y) = c * product_above ps x y.
Proof.
  induction ps as [|p ps IH]; intros c x y Hc; simpl.
  - rewrite <- Rmult_minus_distr_l, <- RmaxRmult by easy. f_equal. ring.
  - rewrite <- mass_scale. apply mass_ext. intros u _. rewrite <- IH by easy. f_equal; ring.
Qed.
(** No excess where the product of the largest ratios is at most y/x *)
Lemma product_above_zero ps cs : Forall2 (fun p c => 0 < c /\ forall u, In u (points p) -> 0 <= left p u <= c * right p u) ps cs ->
  forall x y, 0 <= x -> x * fold_right Rmult 1 cs <= y -> product_above ps x y = 0.
Proof.
  intros H. induction H as [|p c ps cs [Hc Hp] H IH]; intros x y Hx Hy; cbn [product_above fold_right] in *; [apply Rmax_left; lra|].
  assert (0 < fold_right Rmult 1 cs) as HP by (clear - H; induction H as [|p c ps cs [Hc _] H IH]; simpl; [lra|now apply Rmult_lt_0_compat]).
  rewrite (mass_ext _ (fun u => 0 * 0)); [rewrite mass_scale; ring|]. intros u Hu. specialize (Hp u Hu). rewrite Rmult_0_l. apply IH; [nra|].
  set (P := fold_right Rmult 1 cs) in *. assert (0 <= right p u) by nra. apply Rle_trans with (x * (c * right p u) * P); [|nra].
  apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra.
Qed.
(** The ratios of the pair of discrete Laplace noise are at most e^(Delta/t) *)
Lemma laplace_pair_ratio t Delta u : 0 < t -> In u (points (laplace_pair t Delta)) ->
  0 <= left (laplace_pair t Delta) u <= exp (INR Delta / t) * right (laplace_pair t Delta) u.
Proof.
  intros Ht Hu. split; [now apply laplace_pair_positive|]. apply in_seq in Hu. simpl left. simpl right.
  pose proof (rate t Ht) as Ha. pose proof (share_nonneg t Delta Ht u) as Hw. set (w := share t Delta u) in *. set (a := exp (- (1 / t))) in *.
  assert (a ^ (Delta - u) <= exp (INR Delta / t) * a ^ u) as H.
  { pose proof (power_range t Ht (Delta - u)) as H1. fold a in H1. assert (exp (INR Delta / t) * (a ^ u * a ^ (Delta - u)) = 1) as E.
    { rewrite <- pow_add. replace (u + (Delta - u))%nat with Delta by lia. unfold a. rewrite exp_mult_pow, <- exp_plus. transitivity (exp 0); [f_equal; field; lra|apply exp_0]. }
    pose proof (power_range t Ht u) as H2. fold a in H2. pose proof (exp_pos (INR Delta / t)) as Hx. set (x := exp (INR Delta / t)) in *.
    apply Rle_trans with 1; [apply H1|]. rewrite <- E. apply Rmult_le_compat_l; nra. }
  replace (w * a ^ (Delta - u) / (1 + a)) with (w / (1 + a) * a ^ (Delta - u)) by (field; lra).
  replace (exp (INR Delta / t) * (w * a ^ u / (1 + a))) with (w / (1 + a) * (exp (INR Delta / t) * a ^ u)) by (field; lra).
  apply Rmult_le_compat_l; [|easy]. apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat; lra].
Qed.
(** Exponents add *)
Lemma exp_repeat x K : fold_right Rmult 1 (repeat (exp x) K) = exp (INR K * x).
Proof. induction K; [simpl; rewrite Rmult_0_l, exp_0; easy|]. cbn [repeat fold_right]. rewrite IHK, <- exp_plus, S_INR. f_equal. ring. Qed.
(** Sequences with these heads and these rests *)
Definition heads {T} (l : list T) (b : list (list T)) : list (list T) := flat_map (fun k => map (cons k) b) l.
(** They differ in the first place or later *)
Lemma heads_nodup {T} (l : list T) b : NoDup l -> NoDup b -> NoDup (heads l b).
Proof.
  intros Hl Hb. unfold heads. induction Hl as [|k l Hk Hl IH]; simpl; [constructor|]. apply nodup_app; auto.
  - apply FinFun.Injective_map_NoDup; auto. intros u v E. now injection E.
  - intros ys H1 H2. apply in_map_iff in H1 as (zs & <- & _). apply in_flat_map in H2 as (z & Hz & H2).
    apply in_map_iff in H2 as (ws & E & _). injection E as -> _. contradiction.
Qed.
(** Sums of sums *)
Lemma mass_heads {T} (phi : list T -> R) l b : mass phi (heads l b) = mass (fun k => mass (fun ys => phi (k :: ys)) b) l.
Proof. unfold heads. induction l as [|k l IH]; [easy|]. simpl. now rewrite mass_app, mass_map, IH. Qed.
(** All sequences of K members of a list *)
Fixpoint boxes {T} (l : list T) (K : nat) : list (list T) := match K with O => [[]] | S K' => heads l (boxes l K') end.
(** Head by head *)
Lemma boxes_nodup {T} (l : list T) K : NoDup l -> NoDup (boxes l K).
Proof. intros Hl. induction K; [repeat constructor; easy|now apply heads_nodup]. Qed.
(** Head by head *)
Lemma mass_boxes {T} (phi : list T -> R) l K : mass phi (boxes l (S K)) = mass (fun k => mass (fun ys => phi (k :: ys)) (boxes l K)) l.
Proof. apply mass_heads. Qed.
(** Consecutive whole numbers *)
Lemma zseq_of_nat n : forall s, zseq (Z.of_nat s) n = map Z.of_nat (seq s n).
Proof. induction n; intros s; [easy|]. simpl. rewrite <- IHn. do 2 f_equal. lia. Qed.

Section Uses.
Variables (t : R) (Delta : nat).
Hypotheses (Ht : 0 < t) (HD : (0 < Delta)%nat).
Let a := exp (- (1 / t)).
Let f := discrete_laplace t.
Let p := laplace_pair t Delta.

(** The excess as a sum over the lattice: each use adds its cell j, which weighs [share j]. *)
Fixpoint spread (K : nat) (F : nat -> R) (s : nat) : R :=
  match K with
  | O => F s
  | S K' => mass (fun j => share t Delta j * spread K' F (s + j)) (seq 0 (S Delta))
  end.
(** One use after the other, and what comes after them *)
Lemma spread_product ps N : forall K s, (s + K * Delta <= N)%nat -> forall x y,
  (1 + a) ^ K * product_above (repeat p K ++ ps) (x * a ^ (N - K * Delta - s)) (y * a ^ s)
  = spread K (fun j => product_above ps (x * a ^ (N - j)) (y * a ^ j)) s.
Proof.
  pose proof (rate t Ht) as Ha. fold a in Ha.
  induction K; intros s Hs x y.
  - simpl. rewrite Nat.sub_0_r. ring.
  - cbn [repeat app product_above spread]. change (points p) with (seq 0 (S Delta)). rewrite <- mass_scale. apply mass_ext.
    intros j Hj. apply in_seq in Hj. rewrite <- IHK by lia. pose proof (share_nonneg t Delta Ht j) as Hw. set (w := share t Delta j) in *.
    replace (x * a ^ (N - S K * Delta - s) * left p j) with (w / (1 + a) * (x * a ^ (N - K * Delta - (s + j)))).
    2: { unfold p. simpl left. fold a. fold w. replace (N - K * Delta - (s + j))%nat with ((N - S K * Delta - s) + (Delta - j))%nat by lia. rewrite pow_add. field. lra. }
    replace (y * a ^ s * right p j) with (w / (1 + a) * (y * a ^ (s + j))).
    2: { unfold p. simpl right. fold a. fold w. rewrite pow_add. field. lra. }
    rewrite product_above_scale; [simpl; field; lra|]. apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat; lra].
Qed.
(** Term by term *)
Lemma spread_le N F G : (forall j, (j <= N)%nat -> F j <= G j) -> forall K s, (s + K * Delta <= N)%nat -> spread K F s <= spread K G s.
Proof.
  intros H. induction K; intros s Hs; cbn [spread]; [apply H; lia|].
  apply mass_le. intros j Hj. apply in_seq in Hj.
  apply Rmult_le_compat_l; [now apply share_nonneg|]. apply IHK. lia.
Qed.
(** A sum of such *)
Lemma spread_nonneg F : (forall j, 0 <= F j) -> forall K s, 0 <= spread K F s.
Proof.
  intros H. induction K; intros s; cbn [spread]; [easy|]. apply mass_nonneg.
  intros j. apply Rmult_le_pos; [now apply share_nonneg|easy].
Qed.

Definition lattice_excess (K : nat) (eps : R) : R :=
  spread K (fun j => above 1 (exp eps) (a ^ (K * Delta - j)) (a ^ j)) 0.
(** By spread_product *)
Lemma lattice_product K eps : (1 + a) ^ K * product_above (repeat p K) 1 (exp eps) = lattice_excess K eps.
Proof.
  pose proof (spread_product [] (K * Delta) K 0 ltac:(lia) 1 (exp eps)) as H.
  rewrite app_nil_r, Nat.sub_diag in H. simpl (a ^ (0 - 0)) in H. now rewrite !Rmult_1_r in H.
Qed.

(** The lattice decides, for any data, any relation and any way of asking. *)
Theorem uses_dp K eps delta : lattice_excess K eps <= delta * (1 + a) ^ K -> noise_uses_dp f K (Z.of_nat Delta) eps delta.
Proof.
  intros H D adj q Hq. unfold noisy_answers. pose proof (rate t Ht) as Ha. fold a in Ha.
  apply adaptive_composition with (ps := repeat p K).
  - apply Forall_forall. intros M HM. apply repeat_spec in HM as ->. intros past d.
    exact (pmf_shift f (- q past d) (laplace_pmf t Ht)).
  - apply Forall_forall. intros r Hr. apply repeat_spec in Hr as ->. now apply laplace_pair_positive.
  - clear H. induction K; simpl; constructor; [|easy]. intros past d d' Hadj x y Hx Hy l Hl. unfold add_noise.
    pose proof (laplace_dominated t Delta Ht HD _ (Hq past d d' Hadj) x y Hx Hy (map (fun k => (k + - q past d')%Z) l) (NoDup_shift _ l Hl)) as Hm.
    rewrite mass_map in Hm. refine (Rle_trans _ _ _ (Req_le _ _ _) Hm). apply mass_ext. intros k _. unfold f. do 2 f_equal; lia.
  - apply Rmult_le_reg_l with ((1 + a) ^ K); [apply pow_lt; lra|]. rewrite lattice_product. lra.
Qed.

(** Outcomes from -n to Delta + n: all but a^(n+1) of both ends. *)
Definition window (n : nat) : list Z := zseq (- Z.of_nat n) (S n) ++ zseq 1 (Delta - 1) ++ zseq (Z.of_nat Delta) (S n).
(** Later ones are larger *)
Lemma window_nodup n : NoDup (window n).
Proof.
  unfold window. apply nodup_app; [apply zseq_nodup|apply nodup_app; try apply zseq_nodup|].
  - intros k. rewrite !in_zseq. lia.
  - intros k. rewrite in_app_iff, !in_zseq. lia.
Qed.
(** The cells' probabilities, but for the ends *)
Lemma window_step ps n x y : 0 <= x -> 0 <= y ->
  (1 - a ^ S n) * product_above (p :: ps) x y
  <= mass (fun k => product_above ps (x * f (k - Z.of_nat Delta)%Z) (y * f k)) (window n).
Proof.
  intros Hx Hy. pose proof (rate t Ht) as Ha. fold a in Ha. pose proof (power_range t Ht (S n)) as Hn. fold a in Hn.
  assert (forall k, 0 <= f k) as Hf by (apply laplace_pos; exact Ht).
  unfold window. rewrite !mass_app. cbn [product_above]. change (points p) with (seq 0 (S Delta)).
  set (term := fun j => product_above ps (x * left p j) (y * right p j)).
  assert (seq 0 (S Delta) = [0%nat] ++ seq 1 (Delta - 1) ++ [Delta]) as ->.
  { replace (S Delta) with (1 + ((Delta - 1) + 1))%nat by lia. rewrite !seq_app. simpl. do 3 f_equal. lia. }
  rewrite !mass_app. cbn [mass]. rewrite !Rplus_0_r.
  assert (mass (fun k => product_above ps (x * f (k - Z.of_nat Delta)%Z) (y * f k)) (zseq (- Z.of_nat n) (S n)) = (1 - a ^ S n) * term 0%nat) as ->.
  { rewrite (mass_ext _ (fun k => product_above ps (x * a ^ Delta) y * f k)).
    - rewrite mass_scale. unfold f. rewrite (tail_sum t Delta Ht HD). unfold tail. fold a.
      destruct (Z.leb_spec (- Z.of_nat n) 0); [|lia]. destruct (Z.leb_spec (- Z.of_nat n + Z.of_nat (S n)) 0); [lia|].
      replace (Z.to_nat (1 - - Z.of_nat n)) with (S n) by lia. replace (Z.to_nat (- Z.of_nat n + Z.of_nat (S n))) with 1%nat by lia.
      unfold term, p. simpl left. simpl right. unfold share. simpl. fold a. rewrite Nat.sub_0_r.
      replace (x * (1 * a ^ Delta / (1 + a))) with (/ (1 + a) * (x * a ^ Delta)) by (field; lra).
      replace (y * (1 * 1 / (1 + a))) with (/ (1 + a) * y) by (field; lra).
      rewrite product_above_scale by (left; apply Rinv_0_lt_compat; lra). field. lra.
    - intros k Hk. apply in_zseq in Hk. rewrite (Rmult_comm (product_above _ _ _) (f k)), <- product_above_scale by easy. f_equal; [|ring].
      unfold f. rewrite !laplace_pow by easy. fold a.
      replace (Z.to_nat (Z.abs (k - Z.of_nat Delta))) with (Z.to_nat (Z.abs k) + Delta)%nat by lia. rewrite pow_add. ring. }
  assert (mass (fun k => product_above ps (x * f (k - Z.of_nat Delta)%Z) (y * f k)) (zseq (Z.of_nat Delta) (S n)) = (1 - a ^ S n) * term Delta) as ->.
  { rewrite (mass_ext _ (fun k => product_above ps x (y * a ^ Delta) * f (k - Z.of_nat Delta)%Z)).
    - rewrite mass_scale.
      assert (forall m s, mass (fun k => f (k - Z.of_nat Delta)%Z) (zseq s m) = mass f (zseq (s - Z.of_nat Delta) m)) as E.
      { clear. induction m as [|m IH]; intros s; [easy|]. cbn [zseq mass]. rewrite IH. do 3 f_equal. lia. }
      rewrite E. unfold f. rewrite (tail_sum t Delta Ht HD). unfold tail. fold a. rewrite Z.sub_diag.
      destruct (Z.leb_spec 0 0); [|lia]. destruct (Z.leb_spec (0 + Z.of_nat (S n)) 0); [lia|].
      replace (Z.to_nat (0 + Z.of_nat (S n))) with (S n) by lia. simpl (Z.to_nat (1 - 0)).
      unfold term, p. simpl left. simpl right. unfold share. fold a. rewrite Nat.sub_diag, Nat.eqb_refl, Bool.orb_true_r.
      replace (x * (1 * a ^ 0 / (1 + a))) with (/ (1 + a) * x) by (simpl; field; lra).
      replace (y * (1 * a ^ Delta / (1 + a))) with (/ (1 + a) * (y * a ^ Delta)) by (field; lra).
      rewrite product_above_scale by (left; apply Rinv_0_lt_compat; lra). simpl. field. lra.
    - intros k Hk. apply in_zseq in Hk. rewrite (Rmult_comm (product_above _ _ _) (f _)), <- product_above_scale by easy. f_equal; [ring|].
      unfold f. rewrite !laplace_pow by easy. fold a.
      replace (Z.to_nat (Z.abs k)) with (Z.to_nat (Z.abs (k - Z.of_nat Delta)) + Delta)%nat by lia. rewrite pow_add. ring. }
  change (zseq 1 (Delta - 1)) with (zseq (Z.of_nat 1) (Delta - 1)). rewrite zseq_of_nat, mass_map.
  rewrite (mass_ext (fun j => product_above ps (x * f (Z.of_nat j - Z.of_nat Delta)%Z) (y * f (Z.of_nat j))) term).
  2: { intros j Hj. apply in_seq in Hj. unfold term, p. simpl left. simpl right. unfold share. fold a.
    destruct (Nat.eqb_spec j 0); [lia|]. destruct (Nat.eqb_spec j Delta); [lia|]. simpl orb. cbv iota.
    unfold f. rewrite !laplace_pow by easy. fold a.
    replace (Z.to_nat (Z.abs (Z.of_nat j - Z.of_nat Delta))) with (Delta - j)%nat by lia.
    replace (Z.to_nat (Z.abs (Z.of_nat j))) with j by lia. f_equal; field; lra. }
  assert (0 <= mass term (seq 1 (Delta - 1))) by (apply mass_nonneg; intros; apply product_above_nonneg). nra.
Qed.

(** A query that is Delta on one data set and 0 on the other, whatever came before *)
Definition moved_query (past : list Z) (d : bool) : Z := if d then Z.of_nat Delta else 0%Z.
(** Window by window *)
Lemma window_uses n K : forall x y past, 0 <= x -> 0 <= y ->
  (1 - a ^ S n) ^ K * product_above (repeat p K) x y
  <= mass (fun ys => above x y (adaptive (repeat (fun past => add_noise f (moved_query past)) K) past true ys)
                               (adaptive (repeat (fun past => add_noise f (moved_query past)) K) past false ys)) (boxes (window n) K).
Proof.
  pose proof (power_range t Ht (S n)) as Hn. fold a in Hn. assert (forall k, 0 <= f k) as Hf by (apply laplace_pos; exact Ht).
  induction K; intros x y past Hx Hy.
  - simpl. unfold above. rewrite !Rmult_1_r. lra.
  - rewrite mass_boxes. cbn [repeat]. change ((1 - a ^ S n) ^ S K) with ((1 - a ^ S n) * (1 - a ^ S n) ^ K).
    assert (0 <= (1 - a ^ S n) ^ K) by (apply pow_le; lra).
    apply Rle_trans with ((1 - a ^ S n) ^ K * mass (fun k => product_above (repeat p K) (x * f (k - Z.of_nat Delta)%Z) (y * f k)) (window n)).
    { pose proof (window_step (repeat p K) n x y Hx Hy). nra. }
    rewrite <- mass_scale. apply mass_le. intros k _.
    refine (Rle_trans _ _ _ (IHK (x * f (k - Z.of_nat Delta)%Z) (y * f k) (k :: past) _ _) (Req_le _ _ _)); try (apply Rmult_le_pos; auto).
    apply mass_ext. intros ys _. cbn [adaptive]. unfold add_noise at 3 5. unfold moved_query at 3 5. cbv beta iota. rewrite Z.sub_0_r.
    unfold above. f_equal. ring.
Qed.
(** Bernoulli's inequality *)
Lemma bernoulli z K : 0 <= z <= 1 -> 1 - INR K * z <= (1 - z) ^ K.
Proof.
  intros Hz. induction K; [simpl; lra|]. rewrite S_INR. simpl pow. assert (0 <= (1 - z) ^ K) by (apply pow_le; lra).
  pose proof (pos_INR K). destruct (Rle_lt_dec 0 (1 - INR K * z)); [nra|].
  apply Rle_trans with 0; [nra|]. apply Rmult_le_pos; lra.
Qed.

(** Refuted within a window that is large enough *)
Theorem uses_not_dp K eps delta : 0 <= delta -> delta * (1 + a) ^ K < lattice_excess K eps -> noise_uses_not_dp f K (Z.of_nat Delta) eps delta.
Proof.
  intros Hdelta H. pose proof (rate t Ht) as Ha. fold a in Ha. rewrite <- lattice_product in H.
  set (E := product_above (repeat p K) 1 (exp eps)) in *. assert (0 < (1 + a) ^ K) by (apply pow_lt; lra).
  assert (delta < E) as HE by nra.
  assert (0 < (E - delta) / (E * (INR K + 1))) as He.
  { pose proof (pos_INR K). apply Rdiv_lt_0_compat; [lra|]. apply Rmult_lt_0_compat; lra. }
  destruct (pow_lt_1_zero a ltac:(rewrite Rabs_right; lra) _ He) as [n Hn]. specialize (Hn (S n) ltac:(lia)).
  pose proof (power_range t Ht (S n)) as Hz. fold a in Hz. rewrite Rabs_right in Hn by lra.
  assert (delta < (1 - a ^ S n) ^ K * E) as Hlow.
  { pose proof (bernoulli (a ^ S n) K ltac:(lra)). pose proof (pos_INR K). set (z := a ^ S n) in *.
    assert (z * (E * (INR K + 1)) < E - delta).
    { apply Rmult_lt_compat_r with (r := E * (INR K + 1)) in Hn; [|apply Rmult_lt_0_compat; lra].
      replace ((E - delta) / (E * (INR K + 1)) * (E * (INR K + 1))) with (E - delta) in Hn by (field; lra). exact Hn. }
    assert ((1 - INR K * z) * E <= (1 - z) ^ K * E) by (apply Rmult_le_compat_r; lra). nra. }
  pose proof (window_uses n K 1 (exp eps) [] ltac:(lra) (Rlt_le _ _ (exp_pos eps))) as Hw. fold E in Hw.
  exists bool, differ, moved_query. split.
  { intros past [|] [|] Hd; unfold moved_query; lia. }
  set (Ms := repeat (fun past => add_noise f (moved_query past)) K) in *.
  assert (Forall laws Ms) as HM.
  { apply Forall_forall. intros M HM. apply repeat_spec in HM as ->. intros past d. exact (pmf_shift f (- moved_query past d) (laplace_pmf t Ht)). }
  unfold noisy_answers. fold Ms.
  set (gains := fun ys => if Rlt_dec 0 (1 * adaptive Ms [] true ys - exp eps * adaptive Ms [] false ys) then true else false).
  apply not_dp_intro with (d := true) (d' := false) (l := filter gains (boxes (window n) K)).
  - intros d. now apply adaptive_pmf.
  - discriminate.
  - apply NoDup_filter, boxes_nodup, window_nodup.
  - assert (mass (fun ys => 1 * adaptive Ms [] true ys + - exp eps * adaptive Ms [] false ys) (filter gains (boxes (window n) K))
      = mass (fun ys => above 1 (exp eps) (adaptive Ms [] true ys) (adaptive Ms [] false ys)) (boxes (window n) K)) as Hm.
    { rewrite mass_filter. apply mass_ext. intros ys _. unfold gains, above.
      destruct (Rlt_dec 0 _); [rewrite Rmax_right; lra|rewrite Rmax_left; lra]. }
    rewrite mass_lin in Hm. lra.
Qed.
End Uses.
