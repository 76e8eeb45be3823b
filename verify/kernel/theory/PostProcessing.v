(** What is computed from an output costs nothing more; groups; noise that is seen mod m. *)
From Coq Require Import Reals List ZArith Lra Lia Classical_Prop.
From ExactDP Require Import Definitions Laws Mass.
Import ListNotations.
Open Scope R_scope.

(** A list in two parts, by any property. *)
Lemma split_by {T} (f : T -> R) (P : T -> Prop) k : NoDup k -> exists k1 k2,
  NoDup k1 /\ NoDup k2 /\ (forall x, In x k1 <-> In x k /\ P x) /\ (forall x, In x k2 <-> In x k /\ ~ P x) /\
  mass f k = mass f k1 + mass f k2 /\ (length k = length k1 + length k2)%nat.
Proof.
  intros H. induction H as [|x k Hx Hk (k1 & k2 & H1 & H2 & P1 & P2 & Hm & Hl)].
  - exists [], []. simpl. repeat split; try constructor; try tauto. lra.
  - destruct (classic (P x)) as [HP|HP].
    + exists (x :: k1), k2. repeat split; auto.
      * constructor; auto. intros Hi. apply P1 in Hi. tauto.
      * destruct H as [<-|H]; [now left|right; now apply P1].
      * destruct H as [<-|H]; [easy|now apply P1].
      * intros [[<-|Hi] HPx]; [now left|right; now apply P1].
      * right. now apply P2. * now apply P2 in H.
      * intros [[<-|Hi] HPx]; [easy|now apply P2].
      * simpl. lra. * simpl. lia.
    + exists k1, (x :: k2). repeat split; auto.
      * constructor; auto. intros Hi. apply P2 in Hi. tauto.
      * right. now apply P1. * now apply P1 in H.
      * intros [[<-|Hi] HPx]; [easy|now apply P1].
      * destruct H as [<-|H]; [now left|right; now apply P2].
      * destruct H as [<-|H]; [easy|now apply P2].
      * intros [[<-|Hi] HPx]; [now left|right; now apply P2].
      * simpl. lra. * simpl. lia.
Qed.

Section Image.
Context {T U : Type} (h : T -> U) (f : T -> R) (g : U -> R).
Hypothesis Hg : image h f g.

(** Finite sums of outcomes are at most sums of what they lead to. *)
Lemma image_above : forall n k, (length k <= n)%nat -> NoDup k -> exists l,
  NoDup l /\ (forall y, In y l -> exists x, In x k /\ h x = y) /\ mass f k <= mass g l.
Proof.
  induction n; intros [|x k] Hn Hk; try (exists []; repeat split; [constructor|easy|simpl; lra]).
  - simpl in Hn. lia.
  - destruct (split_by f (fun z => h z = h x) (x :: k) Hk) as (k1 & k2 & H1 & H2 & P1 & P2 & Hm & Hl).
    assert (In x k1) as Hx by (apply P1; split; [now left|easy]).
    assert (0 < length k1)%nat as Hl1 by (destruct k1; [easy|simpl; lia]).
    destruct (IHn k2 ltac:(simpl in *; lia) H2) as (l & Hl' & Hin & Hle).
    exists (h x :: l). repeat split.
    + constructor; auto. intros Hi. apply Hin in Hi as (z & Hz & E). now apply P2 in Hz.
    + intros y [<-|Hy]; [exists x; split; [now left|easy]|].
      apply Hin in Hy as (z & Hz & E). apply P2 in Hz. exists z. tauto.
    + rewrite Hm. cbn [mass]. apply Rplus_le_compat; [|easy].
      destruct (Hg (h x)) as [Hub _]. apply Hub. exists k1. repeat split; auto. intros z Hz. now apply P1.
Qed.

(** Sums over the image are, up to any e, sums of outcomes that lead there. *)
Lemma image_below l : NoDup l -> forall e, 0 < e ->
  exists k, NoDup k /\ (forall x, In x k -> In (h x) l) /\ mass g l - e <= mass f k.
Proof.
  intros Hl. induction Hl as [|y l Hy Hl IH]; intros e He.
  - exists []. repeat split; [constructor|easy|simpl; lra].
  - destruct (IH (e / 2) ltac:(lra)) as (k & Hk & Hin & Hm).
    assert (exists k', NoDup k' /\ (forall x, In x k' -> h x = y) /\ g y - e / 2 <= mass f k') as (k' & Hk' & Hin' & Hm').
    { destruct (Hg y) as [_ H2]. apply NNPP. intros Hno.
      assert (g y <= g y - e / 2); [|lra]. apply H2. intros r (k' & Hk' & Hin' & ->).
      destruct (Rle_lt_dec (mass f k') (g y - e / 2)); [easy|]. exfalso. apply Hno. exists k'. repeat split; auto. lra. }
    exists (k' ++ k). repeat split.
    + apply nodup_app; auto. intros x Hx Hx'. apply Hin' in Hx. apply Hin in Hx'. subst. contradiction.
    + intros x Hx. apply in_app_or in Hx as [Hx|Hx]; [left; symmetry; now apply Hin'|right; now apply Hin].
    + rewrite mass_app. cbn [mass]. lra.
Qed.

(** An event of the image has the probability of what leads there. *)
Lemma image_prob S p : has_prob g S p -> has_prob f (fun x => S (h x)) p.
Proof.
  intros [H1 H2]. split.
  - intros r (k & Hk & Hin & ->). destruct (image_above (length k) k (le_n _) Hk) as (l & Hl & Hi & Hm).
    apply Rle_trans with (mass g l); [easy|]. apply H1. exists l. repeat split; auto.
    intros y Hy. apply Hi in Hy as (x & Hx & <-). auto.
  - intros b Hb. apply H2. intros r (l & Hl & Hin & ->). apply le_epsilon. intros e He.
    destruct (image_below l Hl e He) as (k & Hk & Hi & Hm).
    assert (mass f k <= b); [|lra]. apply Hb. exists k. auto.
Qed.
(** All outcomes lead somewhere *)
Lemma image_pmf : pmf f -> pmf g.
Proof.
  intros [Hf HT]. pose proof HT as [H1 _]. split.
  - intros y. destruct (Hg y) as [H _]. apply H. exists []. repeat split; [constructor|easy].
  - assert (forall l, NoDup l -> mass g l <= 1) as Hb.
    { intros l Hl. apply le_epsilon. intros e He. destruct (image_below l Hl e He) as (k & Hk & _ & Hm).
      assert (mass f k <= 1); [|lra]. apply H1. exists k. auto. }
    destruct (has_prob_exists g (fun _ => True) 1 Hb) as [p Hp].
    pose proof (image_prob _ _ Hp) as Hq.
    now rewrite (has_prob_unique _ _ _ _ HT Hq).
Qed.
End Image.

(** Every law has an image under every function. *)
Theorem image_exists {T U} (h : T -> U) (f : T -> R) : pmf f -> exists g, image h f g.
Proof.
  intros [Hf [H1 _]].
  assert (forall S : T -> Prop, {p | has_prob f S p}) as H.
  { intros S. apply completeness.
    - exists 1. intros r (l & Hl & _ & ->). apply H1. exists l. auto.
    - exists 0, []. repeat split; [constructor|easy]. }
  exists (fun y => proj1_sig (H (fun x => h x = y))). intros y. apply (proj2_sig (H _)).
Qed.

(** Events of what is computed are events of the outputs *)
Theorem post_processing {D T U} (adj : D -> D -> Prop) (M : D -> T -> R) (h : T -> U) (M' : D -> U -> R) eps delta :
  dp adj M eps delta -> (forall d, image h (M d) (M' d)) -> dp adj M' eps delta.
Proof.
  intros [Hp H] Hi. split.
  - intros d. exact (image_pmf h (M d) (M' d) (Hi d) (Hp d)).
  - intros d d' Ha S p q H1 H2.
    exact (H d d' Ha _ p q (image_prob h _ _ (Hi d) S p H1) (image_prob h _ _ (Hi d') S q H2)).
Qed.

(** Reduction is post-processing *)
Theorem reduced f m Delta eps delta : noise_dp f Delta eps delta -> noise_mod_dp f m Delta eps delta.
Proof. intros H D adj q M Hs Hi. exact (post_processing adj _ _ M eps delta (H D adj q Hs) Hi). Qed.

(** Group privacy: data sets that are k steps apart. *)
Fixpoint steps {D} (adj : D -> D -> Prop) (k : nat) (d d' : D) : Prop :=
  match k with O => d = d' | S k' => exists c, adj d c /\ steps adj k' c d' end.
Fixpoint group_delta (eps delta : R) (k : nat) : R :=
  match k with O => 0 | S k' => delta + exp eps * group_delta eps delta k' end.
(** One step after the other *)
Theorem group_privacy {D T} (adj : D -> D -> Prop) (M : D -> T -> R) eps delta k : dp adj M eps delta ->
  dp (steps adj k) M (INR k * eps) (group_delta eps delta k).
Proof.
  intros [Hp H]. split; [easy|]. induction k; intros d d' Hs S p q H1 H2.
  - simpl in Hs. subst. rewrite (has_prob_unique _ _ _ _ H1 H2). simpl. rewrite Rmult_0_l, exp_0. lra.
  - destruct Hs as (c & Ha & Hs). destruct (pmf_has_prob (M c) S (Hp c)) as [r Hr].
    specialize (H d c Ha S p r H1 Hr). specialize (IHk c d' Hs S r q Hr H2).
    rewrite S_INR. replace ((INR k + 1) * eps) with (eps + INR k * eps) by ring. rewrite exp_plus.
    cbn [group_delta]. pose proof (exp_pos eps). nra.
Qed.
