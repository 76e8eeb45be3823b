(** A user's own pair of laws, used K times: tight composition on a grid, in either order. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables Pairs Composition Grid UsesOnGrid.
Import ListNotations.
Open Scope R_scope.

(** Outcomes by their losses, which grids take in this order *)
Fixpoint put (c : Z * Z) (l : list (Z * Z)) : list (Z * Z) :=
  match l with
  | [] => [c]
  | e :: l' => if (fst c * snd e <=? fst e * snd c)%Z then c :: l else e :: put c l'
  end.
Definition by_loss (l : list (Z * Z)) : list (Z * Z) := fold_right put [] l.
(** Steps of the grid are ln((m + 1)/m). *)
Definition pair_uses_check (A B : list Z) (K : nat) (m U : Z) (e f g h : nat) (a b n d P : Z) (r : nat) : bool :=
  (pair_valid A B && grid_check (by_loss (combine A B)) (total A) K (m + 1) m U e f g h a b n d P r &&
   grid_check (by_loss (combine B A)) (total A) K (m + 1) m U e f g h a b n d P r)%bool.

(** The same terms *)
Lemma gains_by_loss x y l : gains x y (by_loss l) = gains x y l.
Proof.
  assert (forall c l, gains x y (put c l) = gain (x * IZR (fst c)) (y * IZR (snd c)) + gains x y l) as H.
  { intros c. induction l0 as [|e l0 IH]; [easy|]. cbn [put]. destruct (_ <=? _)%Z; [easy|].
    change (gains x y (e :: put c l0)) with (gain (x * IZR (fst e)) (y * IZR (snd e)) + gains x y (put c l0)).
    change (gains x y (e :: l0)) with (gain (x * IZR (fst e)) (y * IZR (snd e)) + gains x y l0). rewrite IH. ring. }
  induction l as [|c l IH]; [easy|]. change (by_loss (c :: l)) with (put c (by_loss l)). rewrite H, IH. easy.
Qed.
(** Its own weights *)
Lemma pair_dominated A B : (0 < total A)%Z -> length A = length B -> total A = total B ->
  dominated (table A) (table B) (listed_pair (by_loss (combine A B)) (total A)).
Proof.
  intros HW Hlen Ht x y Hx Hy l Hl. apply IZR_lt in HW as HW'.
  change (mass (fun u => above x y (left (listed_pair (by_loss (combine A B)) (total A)) u) (right (listed_pair (by_loss (combine A B)) (total A)) u)) (points (listed_pair (by_loss (combine A B)) (total A))))
    with (product_above [listed_pair (by_loss (combine A B)) (total A)] x y).
  rewrite listed_above, gains_by_loss by easy. unfold gains.
  rewrite <- (mass_combine (fun a b => gain (x * IZR a) (y * IZR b)) A B 0 Hlen). unfold Rdiv. rewrite Rmult_comm, <- mass_scale.
  rewrite (mass_ext (fun k => above x y (table A k) (table B k)) (fun k => / IZR (total A) * gain (x * IZR (entry A (k - 0))) (y * IZR (entry B (k - 0))))).
  - apply mass_cover; auto.
    + intros k. apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|apply gain_nonneg].
    + intros k _. rewrite in_zseq, Z.sub_0_r.
      destruct (Z_lt_dec k 0) as [|Hn]; [right|destruct (Z_le_dec (Z.of_nat (length A)) k) as [|Hm]; [right|left; lia]];
        rewrite !entry_out by lia; rewrite !Rmult_0_r; unfold gain; rewrite Rminus_0_r, Rmax_left; lra.
  - intros k _. rewrite Z.sub_0_r. unfold table, above, gain. rewrite <- Ht, <- RmaxRmult by (left; now apply Rinv_0_lt_compat). unfold Rdiv. f_equal; ring.
Qed.
(** What does not look at the past *)
Lemma adaptive_repeated {D T} (M : D -> T -> R) K d : forall past ys, adaptive (repeat (fun _ => M) K) past d ys = repeated M K d ys.
Proof. induction K; intros past [|y ys]; cbn [repeat adaptive repeated]; try easy. now rewrite IHK. Qed.
(** One order *)
Lemma one_way (M : bool -> Z -> R) c p K eps delta : (forall d, pmf (M d)) -> positive_pair p -> dominated (M c) (M (negb c)) p ->
  product_above (repeat p K) 1 (exp eps) <= delta -> dp_pair (repeated M K c) (repeated M K (negb c)) eps delta.
Proof.
  intros HM Hp Hd He.
  destruct (adaptive_composition (fun d d' => d = c /\ d' = negb c) (repeat (fun _ => M) K) (repeat p K) eps delta) as [_ H]; [| | |exact He|].
  - apply Forall_forall. intros z Hz. apply repeat_spec in Hz as ->. intros past d. apply HM.
  - apply Forall_forall. intros z Hz. now apply repeat_spec in Hz as ->.
  - clear He. induction K; simpl; constructor; [|easy]. now intros past d d' [-> ->].
  - specialize (H c (negb c) (conj eq_refl eq_refl)). eapply dp_pair_ext; [| |exact H]; intros ys; apply adaptive_repeated.
Qed.
(** Both orders *)
Theorem pair_uses_dp A B K m U e f g h a b n d P r : pair_uses_check A B K m U e f g h a b n d P r = true ->
  dp differ (repeated (two_tables A B) K) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold pair_uses_check. intros H. apply andb_prop in H as [H G2]. apply andb_prop in H as [Hv G1].
  unfold pair_valid in Hv. split_bool Hv. rename H into Ht. match goal with X : (length A =? length B)%nat = true |- _ => apply Nat.eqb_eq in X; rename X into Hlen end.
  apply grid_product in G1 as (HW & P1 & G1). apply grid_product in G2 as (_ & P2 & G2).
  assert (forall c, pmf (two_tables A B c)) as HM by (intros [|]; now apply table_pmf).
  split; [intros [|]; [now apply repeated_pmf with (w := A)|now apply repeated_pmf with (w := B)]|].
  intros [|] [|] Hd; try (exfalso; apply Hd; reflexivity).
  - apply (one_way (two_tables A B) true _ K _ _ HM (listed_positive _ _ HW P1)); [|exact G1]. now apply pair_dominated.
  - apply (one_way (two_tables A B) false _ K _ _ HM (listed_positive _ _ HW P2)); [|exact G2].
    rewrite Ht. apply pair_dominated; [now rewrite <- Ht|easy|easy].
Qed.
