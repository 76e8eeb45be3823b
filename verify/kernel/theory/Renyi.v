(** Rényi divergences of mechanisms used one after the other add, however each is chosen by the outputs before it. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FunctionalExtensionality.
From ExactDP Require Import Definitions Laws Mass Weights Composition LaplaceUses.
Import ListNotations.
Open Scope R_scope.

(** The two verdicts exclude each other. *)
Theorem not_renyi_not {D T} (adj : D -> D -> Prop) (M : D -> T -> R) a eps : not_renyi_dp adj M a eps -> ~ renyi_dp adj M a eps.
Proof.
  intros (_ & d & d' & l & Ha & Hl & Hpos & Hgt) [_ H]. destruct (H d d' Ha) as [_ H'].
  specialize (H' l Hl (fun x Hx => proj1 (Hpos x Hx))). lra.
Qed.
(** exp is positive *)
Lemma renyi_term_pos {T} a (f g : T -> R) x : 0 < renyi_term a f g x.
Proof. apply Rmult_lt_0_compat; apply exp_pos. Qed.
(** A larger bound is a weaker claim. *)
Lemma renyi_weaken {D T} (adj : D -> D -> Prop) (M : D -> T -> R) a eps eps' : 1 < a -> eps <= eps' ->
  renyi_dp adj M a eps -> renyi_dp adj M a eps'.
Proof.
  intros Ha He [Hp H]. split; [easy|]. intros d d' Hd. destruct (H d d' Hd) as [H0 H1]. split; [easy|]. intros l Hl Hpos.
  apply Rle_trans with (1 := H1 l Hl Hpos). destruct (Rmult_le_compat_l (a - 1) eps eps' ltac:(lra) He) as [Hlt| ->]; [|lra].
  left. now apply exp_increasing.
Qed.
(** Impossible outcomes count zero: so all lists have a sum. *)
Definition counted {T} (a : R) (f g : T -> R) (x : T) : R := if Rlt_dec 0 (f x) then renyi_term a f g x else 0.
(** Only the possible ones of a list count *)
Lemma counted_le {T} a (f g : T -> R) c : (forall l, NoDup l -> (forall x, In x l -> 0 < f x) -> mass (renyi_term a f g) l <= c) ->
  forall l, NoDup l -> mass (counted a f g) l <= c.
Proof.
  intros H l Hl. set (p := fun x => if Rlt_dec 0 (f x) then true else false).
  rewrite (mass_ext _ (fun x => if p x then renyi_term a f g x else 0)) by (intros; unfold counted, p; now destruct (Rlt_dec _ _)).
  rewrite <- mass_filter. apply H; [now apply NoDup_filter|]. intros x Hx. apply filter_In in Hx as [_ Hx]. unfold p in Hx. now destruct (Rlt_dec _ _).
Qed.
(** All of such a list *)
Lemma counted_all {T} a (f g : T -> R) l : (forall x, In x l -> 0 < f x) -> mass (renyi_term a f g) l = mass (counted a f g) l.
Proof. intros H. apply mass_ext. intros x Hx. unfold counted. specialize (H x Hx). now destruct (Rlt_dec _ _). Qed.

Section Adaptive.
Context {D T : Type}.
Implicit Types (M : list T -> D -> T -> R) (Ms : list (list T -> D -> T -> R)).

(** First outputs first *)
Lemma adaptive_renyi a Ms es d d' : Forall laws Ms -> Forall2 (fun M e => forall past, renyi a (M past d) (M past d') e) Ms es ->
  forall past, renyi a (adaptive Ms past d) (adaptive Ms past d') (fold_right Rplus 0 es).
Proof.
  intros HMs H. induction H as [|M e Ms es HM H IH]; intros past.
  - split; [intros [|y ys]; simpl; lra|]. intros l Hl Hpos. simpl fold_right. rewrite Rmult_0_r, exp_0.
    apply Rle_trans with (mass (renyi_term a (adaptive [] past d) (adaptive [] past d')) [[]]).
    + apply mass_cover; auto; [intros; left; apply renyi_term_pos|]. intros [|y ys] Hx; left; [now left|]. specialize (Hpos _ Hx). simpl in Hpos. lra.
    + simpl. unfold renyi_term, Rpower. simpl. rewrite ln_1, !Rmult_0_r, exp_0. lra.
  - apply Forall_cons_iff in HMs as [HL HMs]. specialize (IH HMs). destruct (HM past) as [HP HR].
    assert (forall y ys, 0 < adaptive (M :: Ms) past d (y :: ys) -> 0 < M past d y /\ 0 < adaptive Ms (y :: past) d ys) as Hsplit.
    { intros y ys Hp. cbn [adaptive] in Hp. pose proof (proj1 (HL past d) y). pose proof (adaptive_nonneg Ms d HMs (y :: past) ys). split; nra. }
    assert (forall ys, 0 < adaptive (M :: Ms) past d ys -> 0 < adaptive (M :: Ms) past d' ys) as Hpos.
    { intros [|y ys] Hp; [simpl in *; lra|]. apply Hsplit in Hp as [H1 H2]. cbn [adaptive].
      apply Rmult_lt_0_compat; [now apply HP|]. now apply (proj1 (IH (y :: past))). }
    split; [exact Hpos|]. intros l Hl Hin. rewrite counted_all by easy.
    set (c := exp ((a - 1) * fold_right Rplus 0 es)). assert (0 < c) by apply exp_pos.
    destruct (by_heads (counted a (adaptive (M :: Ms) past d) (adaptive (M :: Ms) past d')) (fun y => c * counted a (M past d) (M past d') y)) with (l := l)
      as (hs & Hhs & Hle); auto.
    + unfold counted. simpl. destruct (Rlt_dec 0 0); lra.
    + intros y k Hk. rewrite (mass_ext _ (fun ys => counted a (M past d) (M past d') y * counted a (adaptive Ms (y :: past) d) (adaptive Ms (y :: past) d') ys)).
      * rewrite mass_scale, (Rmult_comm c). apply Rmult_le_compat_l; [unfold counted; destruct (Rlt_dec _ _); [left; apply renyi_term_pos|lra]|].
        apply counted_le; [|easy]. apply IH.
      * intros ys _. unfold counted at 1. destruct (Rlt_dec 0 (adaptive (M :: Ms) past d (y :: ys))) as [Hp|Hp].
        -- pose proof (Hsplit y ys Hp) as [H1 H2]. pose proof (HP y H1). pose proof (proj1 (IH (y :: past)) ys H2).
           unfold counted. destruct (Rlt_dec 0 (M past d y)); [|easy]. destruct (Rlt_dec 0 (adaptive Ms (y :: past) d ys)); [|easy].
           unfold renyi_term. cbn [adaptive]. rewrite <- !Rpower_mult_distr by easy. ring.
        -- unfold counted. destruct (Rlt_dec 0 (M past d y)); [|ring]. destruct (Rlt_dec 0 (adaptive Ms (y :: past) d ys)); [|ring].
           elim Hp. cbn [adaptive]. now apply Rmult_lt_0_compat.
    + apply Rle_trans with (1 := Hle). rewrite mass_scale. cbn [fold_right]. rewrite Rmult_plus_distr_l, exp_plus, Rmult_comm. fold c.
      apply Rmult_le_compat_r; [lra|]. now apply counted_le.
Qed.
(** Adaptive composition *)
Theorem renyi_composition (adj : D -> D -> Prop) a Ms es : Forall laws Ms ->
  Forall2 (fun M e => forall past d d', adj d d' -> renyi a (M past d) (M past d') e) Ms es ->
  renyi_dp adj (adaptive Ms []) a (fold_right Rplus 0 es).
Proof.
  intros HMs H. split; [intros; now apply adaptive_pmf|]. intros d d' Ha. apply adaptive_renyi; [easy|].
  clear HMs. induction H; constructor; auto.
Qed.
End Adaptive.

(** K equal terms *)
Lemma sum_repeat e K : fold_right Rplus 0 (repeat e K) = INR K * e.
Proof. induction K; [simpl; ring|]. cbn [repeat fold_right]. rewrite IHK, S_INR. ring. Qed.
(** Noise on K queries *)
Theorem uses_renyi f Delta a eps K : pmf f -> noise_renyi f Delta a eps -> noise_uses_renyi f K Delta a (INR K * eps).
Proof.
  intros Hf H D adj q Hq. unfold noisy_answers. rewrite <- sum_repeat. apply renyi_composition.
  - apply Forall_forall. intros M HM. apply repeat_spec in HM as ->. intros past d. exact (pmf_shift f (- q past d) Hf).
  - clear Hf. induction K; simpl; constructor; auto. intros past. apply (H D adj (q past) (Hq past)).
Qed.
(** The same mechanism K times, on sequences of outcomes that refute one use *)
Theorem repeat_not_renyi {D T} (adj : D -> D -> Prop) (M : D -> T -> R) a eps K : (0 < K)%nat -> not_renyi_dp adj M a eps ->
  not_renyi_dp adj (adaptive (repeat (fun _ => M) K) []) a (INR K * eps).
Proof.
  intros HK (Hp & d & d' & l & Ha & Hl & Hpos & Hgt). set (Ms := repeat (fun _ : list T => M)). split.
  { intros e. apply adaptive_pmf, Forall_forall. intros N HN. apply repeat_spec in HN as ->. now intros past. }
  exists d, d', (boxes l K). fold (Ms K).
  assert (forall K past ys, In ys (boxes l K) -> 0 < adaptive (Ms K) past d ys /\ 0 < adaptive (Ms K) past d' ys) as Hin.
  { clear - Hpos. induction K; intros past ys Hy; [destruct Hy as [<-|[]]; simpl; lra|]. cbn [boxes] in Hy. unfold heads in Hy.
    apply in_flat_map in Hy as (k & Hk & Hy). apply in_map_iff in Hy as (zs & <- & Hz). destruct (Hpos k Hk). destruct (IHK (k :: past) zs Hz).
    unfold Ms in *. cbn [repeat adaptive]. split; now apply Rmult_lt_0_compat. }
  split; [easy|]. split; [now apply boxes_nodup|]. split; [now apply Hin|]. set (m := mass (renyi_term a (M d) (M d')) l) in *.
  assert (forall K past, mass (renyi_term a (adaptive (Ms K) past d) (adaptive (Ms K) past d')) (boxes l K) = m ^ K) as Hm.
  { clear - Hpos Hin. induction K; intros past.
    - simpl. unfold renyi_term, Rpower. simpl. rewrite ln_1, !Rmult_0_r, exp_0. ring.
    - rewrite mass_boxes. change (m ^ S K) with (m * m ^ K). rewrite <- (IHK past), Rmult_comm. unfold m. rewrite <- mass_scale. apply mass_ext. intros k Hk.
      destruct (Hpos k Hk) as [P1 P2]. rewrite IHK, <- (IHK (k :: past)), Rmult_comm, <- mass_scale. apply mass_ext. intros ys Hy.
      destruct (Hin K (k :: past) ys Hy) as [P3 P4]. unfold renyi_term, Ms in *. cbn [repeat adaptive]. rewrite <- !Rpower_mult_distr by easy. ring. }
  rewrite Hm. assert (exp ((a - 1) * (INR K * eps)) = exp ((a - 1) * eps) ^ K) as ->.
  { clear. induction K; [simpl; rewrite Rmult_0_l, Rmult_0_r; apply exp_0|]. cbn [pow]. rewrite <- IHK, <- exp_plus, S_INR. f_equal. ring. }
  pose proof (exp_pos ((a - 1) * eps)) as He. set (x := exp _) in *. clear - HK Hgt He. destruct K as [|K]; [lia|]. clear HK.
  induction K; [simpl; lra|]. change (m * m ^ S K > x * x ^ S K). assert (0 < x ^ S K) by (now apply pow_lt). nra.
Qed.
(** The same query K times *)
Theorem uses_not_renyi f Delta a eps K : (0 < K)%nat -> noise_not_renyi f Delta a eps -> noise_uses_not_renyi f K Delta a (INR K * eps).
Proof.
  intros HK (D & adj & q & Hq & H). exists D, adj, (fun _ => q). split; [easy|]. exact (repeat_not_renyi adj _ a eps K HK H).
Qed.

(** Uses that do not look at the past *)
Lemma repeated_adaptive {D T} (M : D -> T -> R) K d : forall past, adaptive (repeat (fun _ => M) K) past d = repeated M K d.
Proof.
  induction K; intros past; apply functional_extensionality; intros [|y ys]; try easy. cbn [repeat adaptive repeated]. now rewrite IHK.
Qed.
(** K times as much *)
Theorem repeated_renyi {D T} (adj : D -> D -> Prop) (M : D -> T -> R) a eps K : renyi_dp adj M a eps -> renyi_dp adj (repeated M K) a (INR K * eps).
Proof.
  intros [Hp H]. replace (repeated M K) with (adaptive (repeat (fun _ : list T => M) K) []) by (apply functional_extensionality; intros d; apply repeated_adaptive).
  rewrite <- sum_repeat. apply renyi_composition.
  - apply Forall_forall. intros N HN. apply repeat_spec in HN as ->. now intros past.
  - induction K; simpl; constructor; auto.
Qed.
(** ... and no less *)
Theorem repeated_not_renyi {D T} (adj : D -> D -> Prop) (M : D -> T -> R) a eps K : (0 < K)%nat ->
  not_renyi_dp adj M a eps -> not_renyi_dp adj (repeated M K) a (INR K * eps).
Proof.
  intros HK H. replace (repeated M K) with (adaptive (repeat (fun _ : list T => M) K) []) by (apply functional_extensionality; intros d; apply repeated_adaptive).
  now apply repeat_not_renyi.
Qed.

(** Laws on finitely many outcomes *)
Lemma renyi_finite {T} a (f g : T -> R) eps L : (forall x, 0 < f x -> In x L /\ 0 < g x) ->
  mass (counted a f g) L <= exp ((a - 1) * eps) -> renyi a f g eps.
Proof.
  intros H Hm. split; [intros x Hx; now apply H|]. intros l Hl Hpos. rewrite counted_all by easy. apply Rle_trans with (2 := Hm).
  apply mass_cover; auto.
  - intros x. unfold counted. destruct (Rlt_dec _ _); [left; apply renyi_term_pos|lra].
  - intros x Hx. left. now apply H, Hpos.
Qed.
(** The outcomes that count *)
Lemma not_renyi_finite {D T} (adj : D -> D -> Prop) (M : D -> T -> R) a eps d d' L : (forall e, pmf (M e)) -> adj d d' -> NoDup L ->
  (forall x, In x L -> 0 < M d x -> 0 < M d' x) -> exp ((a - 1) * eps) < mass (counted a (M d) (M d')) L -> not_renyi_dp adj M a eps.
Proof.
  intros Hp Ha HL H Hm. set (p := fun x => if Rlt_dec 0 (M d x) then true else false).
  assert (forall x, In x (filter p L) -> In x L /\ 0 < M d x) as Hin.
  { intros x Hx. apply filter_In in Hx as [Hx Hx']. split; [easy|]. unfold p in Hx'. now destruct (Rlt_dec _ _). }
  split; [easy|]. exists d, d', (filter p L). split; [easy|]. split; [now apply NoDup_filter|]. split.
  - intros x Hx. apply Hin in Hx as [Hx Hx']. auto.
  - rewrite counted_all by (intros x Hx; now apply Hin). rewrite mass_filter. apply Rlt_le_trans with (1 := Hm), Req_le, mass_ext.
    intros x _. unfold counted, p. now destruct (Rlt_dec _ _).
Qed.

(** ** From below: sums over finite lists of outcomes that come as near as one likes *)
Definition attains {T} (a : R) (f g : T -> R) (E : R) : Prop :=
  forall c, c < E -> exists l, NoDup l /\ (forall x, In x l -> 0 < f x /\ 0 < g x) /\ c < mass (renyi_term a f g) l.
(** Two factors a little smaller *)
Lemma factors c E1 E2 : 0 < E1 -> 0 < E2 -> c < E1 * E2 -> exists c1 c2, 0 < c1 < E1 /\ 0 < c2 < E2 /\ c <= c1 * c2.
Proof.
  intros H1 H2 Hc. set (k := Rmax c (E1 * E2 / 2)). assert (0 < E1 * E2) as H12 by now apply Rmult_lt_0_compat.
  assert (0 < k < E1 * E2) as Hk by (unfold k; split; [apply Rlt_le_trans with (2 := Rmax_r _ _)|apply Rmax_lub_lt]; lra).
  set (q := k / E2). assert (0 < q < E1) as Hq.
  { unfold q. split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with E2; [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  set (c1 := (q + E1) / 2). assert (q < c1 < E1) as H1c by (unfold c1; lra). exists c1, (k / c1). split; [lra|].
  assert (k / c1 * c1 = k) as Ek by (field; lra). assert (q * E2 = k) as Eq by (unfold q; field; lra). split; [split|].
  - apply Rdiv_lt_0_compat; lra.
  - apply Rmult_lt_reg_r with c1; [lra|]. rewrite Ek. nra.
  - rewrite Rmult_comm, Ek. apply Rmax_l.
Qed.
(** A product *)
Lemma attains_cons {T} a (f g : T -> R) (F G FF GG : list T -> R) E1 E2 : 0 < E1 -> 0 < E2 ->
  (forall y ys, FF (y :: ys) = f y * F ys) -> (forall y ys, GG (y :: ys) = g y * G ys) ->
  attains a f g E1 -> attains a F G E2 -> attains a FF GG (E1 * E2).
Proof.
  intros P1 P2 HF HG H1 H2 c Hc. destruct (factors c E1 E2 P1 P2 Hc) as (c1 & c2 & Hc1 & Hc2 & Hcc).
  destruct (H1 c1 (proj2 Hc1)) as (l1 & N1 & Q1 & M1). destruct (H2 c2 (proj2 Hc2)) as (l2 & N2 & Q2 & M2).
  exists (heads l1 l2). split; [now apply heads_nodup|]. split.
  - intros x Hx. unfold heads in Hx. apply in_flat_map in Hx as (y & Hy & Hx). apply in_map_iff in Hx as (ys & <- & Hys).
    destruct (Q1 y Hy), (Q2 ys Hys). rewrite HF, HG. split; now apply Rmult_lt_0_compat.
  - rewrite mass_heads. apply Rle_lt_trans with (1 := Hcc).
    rewrite (mass_ext _ (fun y => mass (renyi_term a F G) l2 * renyi_term a f g y)).
    + rewrite mass_scale. set (m1 := mass _ l1) in *. set (m2 := mass _ l2) in *. nra.
    + intros y Hy. rewrite Rmult_comm, <- mass_scale. apply mass_ext. intros ys Hys. destruct (Q1 y Hy), (Q2 ys Hys).
      unfold renyi_term. rewrite HF, HG, <- !Rpower_mult_distr by easy. ring.
Qed.
(** Of nothing *)
Lemma attains_nil {T} a (F G : list T -> R) : F [] = 1 -> G [] = 1 -> attains a F G 1.
Proof.
  intros HF HG c Hc. exists [[]]. split; [repeat constructor; easy|]. split; [intros x [<-|[]]; lra|].
  simpl. unfold renyi_term, Rpower. rewrite HF, HG, ln_1, !Rmult_0_r, exp_0. lra.
Qed.
(** The divergence that follows *)
Lemma attains_not_renyi {D T} (adj : D -> D -> Prop) (M : D -> T -> R) a eps E d d' : (forall e, pmf (M e)) -> adj d d' ->
  attains a (M d) (M d') E -> exp ((a - 1) * eps) < E -> not_renyi_dp adj M a eps.
Proof. intros Hp Hd H Hlt. destruct (H _ Hlt) as (l & N & Q & Hm). split; [easy|]. exists d, d', l. auto. Qed.
