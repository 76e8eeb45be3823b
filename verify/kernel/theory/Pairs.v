(** A user's own pair of laws, used K times: every sequence of outcomes is visited. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FinFun.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables.
Import ListNotations.
Open Scope R_scope.

(** The sequences of K outcomes of 0 .. n-1. *)
Fixpoint sequences (n K : nat) : list (list Z) :=
  match K with O => [[]] | S K' => flat_map (fun y => map (cons y) (sequences n K')) (zseq 0 n) end.
Fixpoint product (w : list Z) (K : nat) (ys : list Z) : Z :=
  match K, ys with O, [] => 1 | S K', y :: ys' => entry w y * product w K' ys' | _, _ => 0 end%Z.

(** By induction *)
Lemma in_sequences n K : forall ys, In ys (sequences n K) <->
  length ys = K /\ forall y, In y ys -> (0 <= y < Z.of_nat n)%Z.
Proof.
  induction K; intros ys; simpl.
  - destruct ys; simpl; intuition; try discriminate; easy.
  - rewrite in_flat_map. split.
    + intros (y & Hy & H). apply in_map_iff in H as (x & <- & H). apply in_zseq in Hy. apply IHK in H as [H1 H2].
      simpl. split; [lia|]. intros z [<-|Hz]; [lia|auto].
    + destruct ys as [|y ys]; simpl; intros [H1 H2]; [discriminate|]. exists y. split.
      * apply in_zseq. specialize (H2 y (or_introl eq_refl)). lia.
      * apply in_map, IHK. split; [lia|auto].
Qed.
(** Sequences that differ in the first place or later *)
Lemma sequences_nodup n K : NoDup (sequences n K).
Proof.
  induction K; simpl; [repeat constructor; easy|]. pose proof (zseq_nodup n 0) as Hz.
  induction (zseq 0 n) as [|y l IH]; simpl; [constructor|]. inversion Hz; subst. apply nodup_app; auto.
  - apply Injective_map_NoDup; auto. intros a b E. now injection E.
  - intros x. rewrite in_map_iff, in_flat_map. intros (a & <- & _) (z & Hz' & E).
    apply in_map_iff in E as (b & E & _). injection E as -> _. contradiction.
Qed.
(** Sums of sums *)
Lemma mass_flat_map {A B} (f : B -> R) (g : A -> list B) l : mass f (flat_map g l) = mass (fun y => mass f (g y)) l.
Proof. induction l; simpl; [easy|]. now rewrite mass_app, IHl. Qed.

(** Sums over a table, and over two tables side by side. *)
Fixpoint zip_sum (F : Z -> Z -> Z) (A B : list Z) : Z :=
  match A, B with a :: A', b :: B' => (F a b + zip_sum F A' B')%Z | _, _ => 0%Z end.
(** Entry by entry *)
Lemma mass_zip F : forall A B s, length A = length B ->
  mass (fun k => IZR (F (entry A (k - s)) (entry B (k - s)))) (zseq s (length A)) = IZR (zip_sum F A B).
Proof.
  induction A as [|a A IH]; intros [|b B] s Hl; try discriminate; [easy|].
  injection Hl as Hl. cbn [length zseq mass zip_sum].
  rewrite (mass_ext _ (fun k => IZR (F (entry A (k - (s + 1))) (entry B (k - (s + 1)))))).
  2: { intros k Hk. apply in_zseq in Hk. rewrite !entry_cons by lia. f_equal; f_equal; f_equal; lia. }
  rewrite IH, plus_IZR by easy. replace (s - s)%Z with 0%Z by lia. reflexivity.
Qed.

(** The sum of max(0, x a - y b) over all products a, b of K weights. *)
Fixpoint product_excess (A B : list Z) (K : nat) (x y : Z) : Z :=
  match K with
  | O => Z.max 0 (x - y)
  | S K' => zip_sum (fun a b => product_excess A B K' (x * a) (y * b)) A B
  end%Z.
(** The first outcome's weight goes into x and y *)
Lemma product_excess_mass A B : length A = length B -> forall K x y,
  mass (fun ys => positive_part x y (product A K ys) (product B K ys)) (sequences (length A) K)
  = IZR (product_excess A B K x y).
Proof.
  intros Hl. induction K; intros x y.
  - cbn. unfold positive_part. rewrite !Z.mul_1_r. lra.
  - cbn [sequences product_excess]. rewrite mass_flat_map, <- (mass_zip _ A B 0 Hl). apply mass_ext. intros k _.
    rewrite mass_map, <- IHK, Z.sub_0_r. apply mass_ext. intros ys _. unfold positive_part. cbn [product].
    do 2 f_equal. lia.
Qed.
(** Sums of products are products of sums *)
Lemma product_total w K : mass (fun ys => IZR (product w K ys)) (sequences (length w) K) = IZR (total w) ^ K.
Proof.
  induction K; [cbn; lra|]. cbn [sequences]. rewrite mass_flat_map.
  rewrite (mass_ext _ (fun k => IZR (total w) ^ K * IZR (entry w (k - 0)))).
  - rewrite mass_scale, total_mass. simpl. ring.
  - intros k _. rewrite mass_map, <- IHK, Z.sub_0_r, Rmult_comm, <- mass_scale. apply mass_ext.
    intros ys _. cbn [product]. now rewrite mult_IZR.
Qed.

(** A product of such *)
Lemma product_nonneg w : nonneg w = true -> forall K ys, (0 <= product w K ys)%Z.
Proof.
  intros H. induction K; intros [|y ys]; simpl; try lia. pose proof (entry_nonneg w y H). specialize (IHK ys). nia.
Qed.
(** One entry is out of the table *)
Lemma product_out w K : forall ys, ~ In ys (sequences (length w) K) -> product w K ys = 0%Z.
Proof.
  induction K; intros [|y ys] H; cbn [product]; try easy.
  - exfalso. apply H. now left.
  - destruct (Z_lt_dec y 0); [rewrite entry_out by lia; lia|].
    destruct (Z_le_dec (Z.of_nat (length w)) y); [rewrite entry_out by lia; lia|].
    rewrite IHK; [lia|]. intros Hi. apply H. apply in_sequences in Hi as [H1 H2]. apply in_sequences. simpl.
    split; [lia|]. intros z [<-|Hz]; [lia|auto].
Qed.
(** The totals multiply *)
Lemma repeated_product (M : bool -> Z -> R) w c : (0 < total w)%Z -> (forall k, M c k = table w k) ->
  forall K ys, repeated M K c ys = IZR (product w K ys) / IZR (total w ^ Z.of_nat K).
Proof.
  intros Hw HM K. rewrite <- pow_IZR. assert (IZR (total w) <> 0) as Hn by (apply not_0_IZR; lia).
  induction K; intros [|y ys]; cbn [repeated product]; try (unfold Rdiv; rewrite Rmult_0_l; easy).
  - simpl. field.
  - rewrite HM, IHK, mult_IZR. unfold table. simpl pow. field. split; [|easy]. now apply pow_nonzero.
Qed.

(** Finitely many sequences of total mass 1 *)
Lemma repeated_pmf (M : bool -> Z -> R) w c K : valid w = true -> (forall k, M c k = table w k) -> pmf (repeated M K c).
Proof.
  unfold valid. intros H HM. split_bool H. rename H0 into Hw.
  assert (0 < IZR (total w ^ Z.of_nat K)) as HW by (apply IZR_lt, Z.pow_pos_nonneg; lia).
  eapply pmf_ext. { intros ys. symmetry. exact (repeated_product M w c Hw HM K ys). }
  apply pmf_finite with (L := sequences (length w) K).
  - intros ys. apply Rmult_le_pos; [apply IZR_le; now apply product_nonneg|left; now apply Rinv_0_lt_compat].
  - apply sequences_nodup.
  - intros ys. destruct (in_dec (list_eq_dec Z.eq_dec) ys (sequences (length w) K)); [now left|right].
    rewrite product_out by easy. lra.
  - rewrite (mass_ext _ (fun ys => / IZR (total w ^ Z.of_nat K) * IZR (product w K ys))) by (intros; unfold Rdiv; ring).
    rewrite mass_scale, product_total, pow_IZR. field. lra.
Qed.

(** Both laws have the same total weight: W^K is that of all sequences. *)
Definition pair_valid (A B : list Z) : bool :=
  (valid A && valid B && (length A =? length B)%nat && (total A =? total B)%Z)%bool.
Definition pair_check (A B : list Z) (K : nat) (a b n d P : Z) (r : nat) : bool :=
  (pair_valid A B && (0 <=? P)%Z && is_ratio a b && is_ratio n d &&
   let lo := exp_below r P a b in let bound := (n * (total A ^ Z.of_nat K * 2 ^ P))%Z in
   (product_excess A B K (2 ^ P) lo * d <=? bound)%Z && (product_excess B A K (2 ^ P) lo * d <=? bound)%Z)%bool.
Definition pair_refutes (A B : list Z) (K : nat) (a b n d P : Z) (r : nat) : bool :=
  (pair_valid A B && (0 <=? P)%Z && is_ratio a b && (a <? b * 2 ^ Z.of_nat r)%Z && is_ratio n d &&
   let up := exp_above r P a b in let bound := (n * (total A ^ Z.of_nat K * 2 ^ P))%Z in
   if (bound <? product_excess A B K (2 ^ P) up * d)%Z then true
   else (bound <? product_excess B A K (2 ^ P) up * d)%Z)%bool.

(** Weights of sequences *)
Lemma one_order (A B : list Z) K c eps n d P lo :
  pair_valid A B = true -> (0 <= P)%Z -> is_ratio n d = true -> IZR lo <= exp eps * IZR (2 ^ P) ->
  (product_excess A B K (2 ^ P) lo * d <= n * (total A ^ Z.of_nat K * 2 ^ P))%Z ->
  forall M : bool -> Z -> R, (forall k, M c k = table A k) -> (forall k, M (negb c) k = table B k) ->
  dp_pair (repeated M K c) (repeated M K (negb c)) eps (IZR n / IZR d).
Proof.
  unfold pair_valid. intros Hv HP Hr Hlo He M HA HB. split_bool Hv. apply Nat.eqb_eq in H0.
  assert (0 < total A)%Z as HWA by (unfold valid in Hv; now split_bool Hv).
  assert (nonneg B = true) as HnB by (unfold valid in H1; now split_bool H1).
  eapply dp_pair_ext; [intros ys; symmetry; apply (repeated_product M A); auto|
    intros ys; symmetry; apply (repeated_product M B); auto; lia|]. cbv beta.
  match goal with X : total A = total B |- _ => rewrite <- X end.
  apply (weights_dp (product A K) (product B K) (total A ^ Z.of_nat K) P (sequences (length A) K)
    (product_excess A B K (2 ^ P) lo)) with (lo := lo); eauto using ratio_bottom, product_nonneg.
  - apply Z.pow_pos_nonneg; lia.
  - intros ys. destruct (in_dec (list_eq_dec Z.eq_dec) ys (sequences (length A) K)) as [Hi|Hi]; [now left|right].
    rewrite !product_out; [lia| |easy]. now rewrite <- H0.
  - apply Req_le. now apply product_excess_mass.
Qed.
(** Weights of sequences *)
Lemma one_order_refuted (A B : list Z) K c eps n d P up :
  pair_valid A B = true -> (0 <= P)%Z -> is_ratio n d = true -> exp eps * IZR (2 ^ P) <= IZR up ->
  (n * (total A ^ Z.of_nat K * 2 ^ P) < product_excess A B K (2 ^ P) up * d)%Z ->
  forall M : bool -> Z -> R, (forall k, M c k = table A k) -> (forall k, M (negb c) k = table B k) ->
  not_dp differ (repeated M K) eps (IZR n / IZR d).
Proof.
  intros Hv HP Hr Hup He M HA HB. unfold pair_valid in Hv. split_bool Hv. apply Nat.eqb_eq in H0.
  match goal with X : total A = total B |- _ => rename X into Ht end.
  assert (0 < total A)%Z as HWA by (unfold valid in *; now split_bool Hv).
  assert (nonneg B = true) as HnB by (unfold valid in H1; now split_bool H1).
  apply not_dp_intro with (d := c) (d' := negb c)
    (l := filter (fun ys => 0 <? 2 ^ P * product A K ys - up * product B K ys)%Z (sequences (length A) K)).
  - intros x. destruct (Bool.bool_dec x c) as [->|Hx]; [now apply repeated_pmf with (w := A)|].
    replace x with (negb c) by (destruct x, c; simpl; congruence). now apply repeated_pmf with (w := B).
  - destruct c; discriminate.
  - apply NoDup_filter, sequences_nodup.
  - rewrite (mass_ext (repeated M K c) _ _ (fun ys _ => repeated_product M A c HWA HA K ys)).
    rewrite (mass_ext (repeated M K (negb c)) _ _ (fun ys _ => repeated_product M B (negb c) ltac:(lia) HB K ys)).
    rewrite <- Ht.
    apply (weights_not_dp (product A K) (product B K) (total A ^ Z.of_nat K) P (sequences (length A) K)
      (product_excess A B K (2 ^ P) up)); eauto using ratio_bottom, product_nonneg.
    + apply Z.pow_pos_nonneg; lia.
    + apply Req_le. symmetry. now apply product_excess_mass.
Qed.

(** Equalities are symmetric *)
Lemma pair_valid_sym A B : pair_valid A B = true -> pair_valid B A = true.
Proof.
  unfold pair_valid. rewrite Nat.eqb_sym, Z.eqb_sym. intros H. apply andb_prop in H as [H H1].
  apply andb_prop in H as [H H2]. apply andb_prop in H as [H3 H4]. now rewrite H1, H2, H3, H4.
Qed.

(** Both orders *)
Theorem pair_dp A B K a b n d P r : pair_check A B K a b n d P r = true ->
  dp differ (repeated (two_tables A B) K) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold pair_check. intros H. split_bool H. rename H into Hv. split_bool H0.
  assert (IZR (exp_below r P a b) <= exp (IZR a / IZR b) * IZR (2 ^ P)) as Hlo
    by (apply exp_below_ok; eauto using ratio_top, ratio_bottom).
  pose proof (pair_valid_sym A B Hv) as Hv'.
  assert (total A = total B) as Ht by (unfold pair_valid in Hv; now split_bool Hv).
  split.
  - unfold pair_valid in Hv. split_bool Hv. intros [|]; [now apply repeated_pmf with (w := A)|now apply repeated_pmf with (w := B)].
  - intros [|] [|] Hd; try (exfalso; apply Hd; reflexivity).
    + apply (one_order A B K true) with (P := P) (lo := exp_below r P a b); auto; try reflexivity.
    + apply (one_order B A K false) with (P := P) (lo := exp_below r P a b); auto; try reflexivity. now rewrite <- Ht.
Qed.
(** One of both orders *)
Theorem pair_not_dp A B K a b n d P r : pair_refutes A B K a b n d P r = true ->
  not_dp differ (repeated (two_tables A B) K) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold pair_refutes. intros H. split_bool H. rename H into Hv.
  assert (exp (IZR a / IZR b) * IZR (2 ^ P) <= IZR (exp_above r P a b)) as Hup
    by (apply exp_above_ok; eauto using ratio_top, ratio_bottom).
  pose proof (pair_valid_sym A B Hv) as Hv'.
  assert (total A = total B) as Ht by (unfold pair_valid in Hv; now split_bool Hv).
  match goal with X : (if ?q then true else _) = true |- _ => destruct q eqn:E; [apply Z.ltb_lt in E|apply Z.ltb_lt in X] end.
  - apply (one_order_refuted A B K true) with (P := P) (up := exp_above r P a b); auto; try reflexivity.
  - apply (one_order_refuted B A K false) with (P := P) (up := exp_above r P a b); auto; try reflexivity. now rewrite <- Ht.
Qed.
