(** Events: how much mass lists carry, and how a pair or additive noise is proved or refuted. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FinFun.
From ExactDP Require Import Definitions.
Import ListNotations.
Open Scope R_scope.

Section Mass.
Context {T : Type}.
Implicit Types (f g h : T -> R) (l L : list T).

(** The same terms *)
Lemma mass_ext f g l : (forall x, In x l -> f x = g x) -> mass f l = mass g l.
Proof. induction l; simpl; intros H; [easy|]. rewrite H by auto. f_equal. auto. Qed.

(** A sum of such *)
Lemma mass_nonneg f l : (forall x, 0 <= f x) -> 0 <= mass f l.
Proof. intros H. induction l; simpl; [lra|]. specialize (H a). lra. Qed.

(** Term by term *)
Lemma mass_le f g l : (forall x, In x l -> f x <= g x) -> mass f l <= mass g l.
Proof. induction l; simpl; intros H; [lra|]. pose proof (H a (or_introl eq_refl)). assert (mass f l <= mass g l) by auto. lra. Qed.

(** Sums are linear *)
Lemma mass_lin f g a b l : mass (fun x => a * f x + b * g x) l = a * mass f l + b * mass g l.
Proof. induction l; simpl; [lra|]. rewrite IHl. lra. Qed.

(** Sums add *)
Lemma mass_app f l L : mass f (l ++ L) = mass f l + mass f L.
Proof. induction l; simpl; [lra|]. rewrite IHl. lra. Qed.

(** A duplicate-free list carries at most the mass of any list that covers the support. *)
Lemma mass_cover h l : (forall x, 0 <= h x) -> NoDup l ->
  forall L, (forall x, In x l -> In x L \/ h x = 0) -> mass h l <= mass h L.
Proof.
  intros Hh Hl. induction Hl as [|a l Ha Hl IH]; intros L HL; simpl.
  - now apply mass_nonneg.
  - destruct (HL a (or_introl eq_refl)) as [Hin|H0].
    + apply in_split in Hin. destruct Hin as (L1 & L2 & ->).
      rewrite mass_app; simpl.
      assert (mass h l <= mass h (L1 ++ L2)) as H.
      { apply IH. intros x Hx. destruct (HL x (or_intror Hx)) as [H|H]; [|now right].
        left. apply in_app_or in H. apply in_or_app. destruct H as [H|[H|H]]; auto.
        subst. contradiction. }
      rewrite mass_app in H. lra.
    + rewrite H0. assert (mass h l <= mass h L) by (apply IH; intros; apply HL; now right). lra.
Qed.

(** Bounded sets have a supremum *)
Lemma has_prob_exists f S M : (forall l, NoDup l -> mass f l <= M) -> exists p, has_prob f S p.
Proof.
  intros H. destruct (completeness (fun r => exists l, NoDup l /\ (forall x, In x l -> S x) /\ r = mass f l)) as [p Hp].
  - exists M. intros r (l & Hl & _ & ->). auto.
  - exists 0, []. repeat split; [constructor|easy].
  - now exists p.
Qed.

(** A supremum is unique *)
Lemma has_prob_unique f S p q : has_prob f S p -> has_prob f S q -> p = q.
Proof. apply is_lub_u. Qed.

(** The definition is not vacuous: under a PMF every event has exactly one probability. *)
Lemma pmf_has_prob f S : pmf f -> exists p, has_prob f S p.
Proof.
  intros [_ [H _]]. apply (has_prob_exists f S 1).
  intros l Hl. apply H. now exists l.
Qed.

(** Of a finite event: its mass *)
Lemma has_prob_list f l : (forall x, 0 <= f x) -> NoDup l -> has_prob f (fun x => In x l) (mass f l).
Proof.
  intros Hf Hl. split.
  - intros r (l' & Hl' & Hin & ->). apply mass_cover; auto.
  - intros b Hb. apply Hb. now exists l.
Qed.

(** Proof rule for a pair: bound the excess of every finite event. *)
Lemma dp_pair_intro f g eps delta :
  (forall x, 0 <= g x) ->
  (forall l, NoDup l -> mass f l - exp eps * mass g l <= delta) -> dp_pair f g eps delta.
Proof.
  intros Hg H S p q [_ Hp] [Hq _]. apply Hp. intros r (l & Hl & Hin & ->).
  assert (mass g l <= q) by (apply Hq; now exists l).
  specialize (H l Hl). pose proof (exp_pos eps). nra.
Qed.

(** A ratio of at most e^eps everywhere *)
Lemma dp_pair_pointwise f g eps :
  (forall x, 0 <= g x) -> (forall x, f x <= exp eps * g x) -> dp_pair f g eps 0.
Proof.
  intros Hg H. apply dp_pair_intro; auto. intros l _.
  rewrite <- (Rmult_1_l (mass f l)), <- Rminus_0_r.
  assert (mass f l <= mass (fun x => exp eps * g x + 0 * g x) l) by (apply mass_le; intros; specialize (H x); lra).
  rewrite mass_lin in H0. lra.
Qed.

(** ... with the excess bounded by a function [h] of known total. *)
Lemma dp_pair_excess f g h L eps delta :
  (forall x, 0 <= g x) -> (forall x, 0 <= h x) ->
  (forall x, f x - exp eps * g x <= h x) ->
  (forall x, In x L \/ h x = 0) -> mass h L <= delta -> dp_pair f g eps delta.
Proof.
  intros Hg Hh Hfg HL HD. apply dp_pair_intro; auto. intros l Hl.
  assert (mass h l <= mass h L) by (apply mass_cover; auto).
  assert (mass (fun x => 1 * f x + - exp eps * g x) l <= mass h l) by (apply mass_le; intros; specialize (Hfg x); lra).
  rewrite mass_lin in H0. lra.
Qed.

(** A finite support of total mass 1 *)
Lemma pmf_finite f L : (forall x, 0 <= f x) -> NoDup L -> (forall x, In x L \/ f x = 0) -> mass f L = 1 -> pmf f.
Proof.
  intros Hf HL Hs H1. split; [easy|]. split.
  - intros r (l & Hl & _ & ->). rewrite <- H1. apply mass_cover; auto.
  - intros b Hb. apply Hb. exists L. auto.
Qed.
End Mass.

(** Lists without a common member. *)
Lemma nodup_app {T} (l l' : list T) :
  NoDup l -> NoDup l' -> (forall x, In x l -> ~ In x l') -> NoDup (l ++ l').
Proof.
  induction l; simpl; intros H1 H2 H3; auto. inversion H1; subst. constructor.
  - rewrite in_app_iff. intros [Hi|Hi]; [easy|]. exact (H3 a (or_introl eq_refl) Hi).
  - apply IHl; auto.
Qed.

(** The same terms *)
Lemma mass_map {A B} (f : B -> R) (u : A -> B) l : mass f (map u l) = mass (fun x => f (u x)) l.
Proof. induction l; simpl; congruence. Qed.

(** Shifting the outcome space changes nothing. *)
Lemma NoDup_shift c (l : list Z) : NoDup l -> NoDup (map (fun k => k + c)%Z l).
Proof. intros H. apply Injective_map_NoDup; auto. intros x y. lia. Qed.

(** Lists shift with the event *)
Lemma has_prob_shift (f : Z -> R) S c p :
  has_prob f S p -> has_prob (fun k => f (k + c)%Z) (fun k => S (k + c)%Z) p.
Proof.
  intros [H1 H2]. split.
  - intros r (l & Hl & Hin & ->). apply H1. exists (map (fun k => k + c)%Z l). repeat split.
    + now apply NoDup_shift.
    + intros x Hx. apply in_map_iff in Hx. destruct Hx as (y & <- & Hy). auto.
    + now rewrite mass_map.
  - intros b Hb. apply H2. intros r (l & Hl & Hin & ->). apply Hb.
    exists (map (fun k => k + - c)%Z l). repeat split.
    + now apply NoDup_shift.
    + intros x Hx. apply in_map_iff in Hx. destruct Hx as (y & <- & Hy).
      replace (y + - c + c)%Z with y by lia. auto.
    + rewrite mass_map. apply mass_ext. intros x _. f_equal. lia.
Qed.

(** The same law and event *)
Lemma has_prob_ext {T} (f g : T -> R) (S S' : T -> Prop) p :
  (forall x, f x = g x) -> (forall x, S x <-> S' x) -> has_prob f S p -> has_prob g S' p.
Proof.
  intros Hf HS [H1 H2]. split.
  - intros r (l & Hl & Hin & ->). apply H1. exists l. repeat split; auto.
    + intros x Hx. apply HS. auto.
    + apply mass_ext. intros; now rewrite Hf.
  - intros b Hb. apply H2. intros r (l & Hl & Hin & ->). apply Hb. exists l. repeat split; auto.
    + intros x Hx. apply HS. auto.
    + apply mass_ext. intros; now rewrite Hf.
Qed.

(** The same laws *)
Lemma dp_pair_ext {T} (f f' g g' : T -> R) eps delta :
  (forall x, f x = f' x) -> (forall x, g x = g' x) -> dp_pair f g eps delta -> dp_pair f' g' eps delta.
Proof.
  intros Hf Hg H S p q Hp Hq. apply (H S).
  - apply (has_prob_ext f' f S S); auto. now intros. 
  - apply (has_prob_ext g' g S S); auto. now intros.
Qed.

(** Events shift *)
Lemma dp_pair_shift (f g : Z -> R) c eps delta :
  dp_pair f g eps delta -> dp_pair (fun k => f (k + c)%Z) (fun k => g (k + c)%Z) eps delta.
Proof.
  intros H S p q Hp Hq. apply (H (fun k => S (k + - c)%Z)).
  - eapply has_prob_ext; [ | | apply (has_prob_shift _ S (- c) p Hp)]; simpl; [|tauto].
    intros x. f_equal. lia.
  - eapply has_prob_ext; [ | | apply (has_prob_shift _ S (- c) q Hq)]; simpl; [|tauto].
    intros x. f_equal. lia.
Qed.

(** A larger delta is a weaker claim. *)
Lemma dp_pair_weaken {T} (f g : T -> R) eps delta delta' :
  dp_pair f g eps delta -> delta <= delta' -> dp_pair f g eps delta'.
Proof. intros H Hd S p q Hp Hq. specialize (H S p q Hp Hq). lra. Qed.

(** Equal data are indistinguishable. *)
Lemma dp_pair_refl {T} (f : T -> R) eps delta :
  (forall x, 0 <= f x) -> 0 <= eps -> 0 <= delta -> dp_pair f f eps delta.
Proof.
  intros Hf He Hd. apply dp_pair_intro; auto. intros l _. pose proof (mass_nonneg f l Hf).
  pose proof (exp_ineq1_le eps). nra.
Qed.

(** A law that moves with the query stays a law. *)
Lemma pmf_shift (f : Z -> R) c : pmf f -> pmf (fun k => f (k + c)%Z).
Proof. intros [H0 H1]. split; [auto|]. exact (has_prob_shift f (fun _ => True) c 1 H1). Qed.
(** The same law *)
Lemma pmf_ext {T} (f g : T -> R) : (forall x, f x = g x) -> pmf f -> pmf g.
Proof.
  intros H [H0 H1]. split; [intros; rewrite <- H; auto|].
  eapply (has_prob_ext f g (fun _ => True) (fun _ => True)); [exact H|tauto|exact H1].
Qed.

(** Additive noise: only the shift matters. *)
Lemma noise_dp_intro f Delta eps delta : pmf f ->
  (forall s, (Z.abs s <= Delta)%Z -> dp_pair (fun k => f (k - s)%Z) f eps delta) ->
  noise_dp f Delta eps delta.
Proof.
  intros Hf H D adj q Hq. unfold add_noise. split.
  - intros d. exact (pmf_shift f (- q d) Hf).
  - intros d d' Ha.
    eapply dp_pair_ext; [| |apply (dp_pair_shift _ _ (- q d')%Z eps delta (H (q d - q d')%Z (Hq d d' Ha)))];
    intros x; simpl; f_equal; lia.
Qed.

(** A finite event refutes. *)
Lemma not_dp_intro {D T} (adj : D -> D -> Prop) (M : D -> T -> R) d d' l eps delta : (forall d, pmf (M d)) ->
  adj d d' -> NoDup l -> mass (M d) l > exp eps * mass (M d') l + delta -> not_dp adj M eps delta.
Proof.
  intros HM Ha Hl H. split; auto. exists d, d', (fun x => In x l), (mass (M d) l), (mass (M d') l).
  repeat split; auto; apply has_prob_list; auto; apply HM.
Qed.

(** The witness: two data sets, counts s and 0, and a finite event. *)
Lemma noise_not_dp_intro f Delta s l eps delta : pmf f -> (Z.abs s <= Delta)%Z -> NoDup l ->
  mass (fun k => f (k - s)%Z) l > exp eps * mass f l + delta -> noise_not_dp f Delta eps delta.
Proof.
  intros Hf Hs Hl H. exists bool, (fun d d' => d <> d'), (fun b : bool => if b then s else 0%Z). split.
  - intros [|] [|]; simpl; intros; try congruence; lia.
  - apply not_dp_intro with (d := true) (d' := false) (l := l); auto.
    + intros d. exact (pmf_shift f (- _) Hf).
    + discriminate.
    + unfold add_noise. rewrite (mass_ext (fun k => f (k - 0)%Z) f); [exact H|].
      intros; f_equal; lia.
Qed.

(** ... and with the two data sets the other way round. *)
Lemma noise_not_dp_back f Delta s l eps delta : pmf f -> (Z.abs s <= Delta)%Z -> NoDup l ->
  mass f l > exp eps * mass (fun k => f (k - s)%Z) l + delta -> noise_not_dp f Delta eps delta.
Proof.
  intros Hf Hs Hl H. exists bool, (fun d d' => d <> d'), (fun b : bool => if b then 0%Z else s). split.
  - intros [|] [|]; simpl; intros; try congruence; lia.
  - apply not_dp_intro with (d := true) (d' := false) (l := l); auto.
    + intros d. exact (pmf_shift f (- _) Hf).
    + discriminate.
    + unfold add_noise. rewrite (mass_ext (fun k => f (k - 0)%Z) f); [exact H|].
      intros; f_equal; lia.
Qed.

(** The two verdicts exclude each other. *)
Theorem not_dp_not {D T} (adj : D -> D -> Prop) (M : D -> T -> R) eps delta :
  not_dp adj M eps delta -> ~ dp adj M eps delta.
Proof.
  intros (_ & d & d' & S & p & p' & Ha & Hp & Hp' & Hgt) [_ H].
  specialize (H d d' Ha S p p' Hp Hp'). lra.
Qed.
(** Instantiate the claim at the witness *)
Theorem noise_not_dp_not f Delta eps delta :
  noise_not_dp f Delta eps delta -> ~ noise_dp f Delta eps delta.
Proof. intros (D & adj & q & Hs & Hn) H. exact (not_dp_not _ _ _ _ Hn (H D adj q Hs)). Qed.

(** Only the values of a law count. *)
Lemma noise_dp_ext f g Delta eps delta :
  (forall k, f k = g k) -> noise_dp f Delta eps delta -> noise_dp g Delta eps delta.
Proof.
  intros H Hf D adj q Hq. destruct (Hf D adj q Hq) as [H0 H1]. unfold add_noise in *. split.
  - intros d. eapply pmf_ext; [|apply (H0 d)]. intros; simpl; auto.
  - intros d d' Ha. eapply dp_pair_ext; [| |exact (H1 d d' Ha)]; intros; simpl; auto.
Qed.
(** Only the values of a law count *)
Lemma noise_not_dp_ext f g Delta eps delta :
  (forall k, f k = g k) -> noise_not_dp f Delta eps delta -> noise_not_dp g Delta eps delta.
Proof.
  intros H (D & adj & q & Hs & H0 & d & d' & S & p & p' & Ha & Hp & Hp' & Hgt).
  assert (forall c k, add_noise f q c k = add_noise g q c k) as He by (intros; apply H).
  exists D, adj, q. split; [easy|]. split.
  - intros c. exact (pmf_ext _ _ (He c) (H0 c)).
  - exists d, d', S, p, p'. split; [easy|]. split; [|split; [|easy]].
    + exact (has_prob_ext _ _ S S p (He d) (fun x => iff_refl _) Hp).
    + exact (has_prob_ext _ _ S S p' (He d') (fun x => iff_refl _) Hp').
Qed.
