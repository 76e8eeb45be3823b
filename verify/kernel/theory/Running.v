(** Programs run on a source of bits: what comes out is what the words that are read say. *)
From Coq Require Import List Lia.
From ExactDP Require Import Programs.
Import ListNotations.

(** At most so many turns of a loop *)
Fixpoint turn {Source X A : Type} (step : X -> Source -> option ((X + A) * Source)) (n : nat) (x : X) (s : Source)
  : option (A * Source) :=
  match n with
  | O => None
  | S m => match step x s with
           | Some (inl x', s') => turn step m x' s'
           | Some (inr a, s') => Some (a, s')
           | None => None
           end
  end.
(** [next] gives a bit and what is left, or nothing; no loop has more than [fuel] turns. *)
Fixpoint run {Source : Type} (next : Source -> option (bool * Source)) (fuel : nat) {A : Type} (p : prog A)
  : Source -> option (A * Source) :=
  match p in prog A return Source -> option (A * Source) with
  | Ret a => fun s => Some (a, s)
  | Flip => next
  | Bind p k => fun s => match run next fuel p s with Some (a, s') => run next fuel (k a) s' | None => None end
  | While body x => turn (fun x => run next fuel (body x)) fuel x
  end.

Section Running.
Context {Source : Type}.
Variable next : Source -> option (bool * Source).
(** The source gives these bits. *)
Inductive gives : Source -> list bool -> Source -> Prop :=
| nothing s : gives s [] s
| given s b s' w s'' : next s = Some (b, s') -> gives s' w s'' -> gives s (b :: w) s''.

(** One after the other *)
Lemma gives_app s u s' v s'' : gives s u s' -> gives s' v s'' -> gives s (u ++ v) s''.
Proof. intros H Hv. induction H; [easy|]. simpl. eauto using given. Qed.
(** And apart again *)
Lemma gives_split u : forall s v s'', gives s (u ++ v) s'' -> exists s', gives s u s' /\ gives s' v s''.
Proof.
  induction u as [|b u IH]; intros s v s'' H; [exists s; split; [constructor|easy]|].
  inversion H as [|s1 b1 s2 w1 s3 Hn Hg]; subst. destruct (IH _ _ _ Hg) as (s' & H1 & H2). exists s'. eauto using given.
Qed.

(** What comes out is said by a word that the source gave. *)
Theorem run_reads fuel {A : Type} (p : prog A) : forall s a s', run next fuel p s = Some (a, s') ->
  exists w, gives s w s' /\ reads p w a.
Proof.
  induction p as [A a0| |A B p IHp k IHk|X A body IH x]; cbn [run reads]; intros s a s' H.
  - injection H as <- <-. exists []. split; [constructor|easy].
  - exists [a]. split; [|easy]. apply given with (s' := s'); [easy|constructor].
  - destruct (run next fuel p s) as [[a1 s1]|] eqn:E; [|easy]. destruct (IHp _ _ _ E) as (u & Hu & Hr).
    destruct (IHk _ _ _ _ H) as (v & Hv & Hr'). exists (u ++ v). split; [now apply gives_app with (s' := s1)|]. now exists u, v, a1.
  - assert (forall n x s, turn (fun x => run next fuel (body x)) n x s = Some (a, s') ->
      exists w, gives s w s' /\ turns (fun x => reads (body x)) x w a) as X0; [|now apply (X0 fuel)].
    clear H x s. induction n as [|n IHn]; intros x s H; cbn [turn] in H; [easy|].
    destruct (run next fuel (body x) s) as [[[x1|a1] s1]|] eqn:E; [| |easy].
    + destruct (IH _ _ _ _ E) as (u & Hu & Hr). destruct (IHn _ _ H) as (v & Hv & Hr'). exists (u ++ v).
      split; [now apply gives_app with (s' := s1)|]. now apply goes with (s' := x1).
    + injection H as <- <-. destruct (IH _ _ _ _ E) as (u & Hu & Hr). exists u. split; [easy|now apply stops].
Qed.
(** More turns change nothing *)
Lemma turn_more {X A : Type} (f g : X -> Source -> option ((X + A) * Source)) : (forall x s r, f x s = Some r -> g x s = Some r) ->
  forall n m x s r, (n <= m)%nat -> turn f n x s = Some r -> turn g m x s = Some r.
Proof.
  intros Hfg n. induction n as [|n IH]; intros m x s r Hm H; cbn [turn] in H; [easy|]. destruct m as [|m]; [lia|]. cbn [turn].
  destruct (f x s) as [[[x'|a] s']|] eqn:E; [| |easy]; rewrite (Hfg _ _ _ E); [apply (IH m); [lia|easy]|easy].
Qed.
(** Nor does more fuel *)
Lemma run_more n m {A : Type} (p : prog A) : (n <= m)%nat -> forall s r, run next n p s = Some r -> run next m p s = Some r.
Proof.
  intros Hm. induction p as [A a0| |A B p IHp k IHk|X A body IH x]; cbn [run]; intros s r H; try easy.
  - destruct (run next n p s) as [[a1 s1]|] eqn:E; [|easy]. now rewrite (IHp _ _ E), (IHk _ _ _ H).
  - now apply (turn_more (fun x => run next n (body x)) _ (fun x => IH x) n).
Qed.
(** With fuel enough, a word that is read is what is run. *)
Theorem reads_run {A : Type} (p : prog A) : forall w a, reads p w a ->
  exists fuel, forall s s', gives s w s' -> run next fuel p s = Some (a, s').
Proof.
  induction p as [A a0| |A B p IHp k IHk|X A body IH x]; cbn [reads run]; intros w a H.
  - destruct H as [-> ->]. exists O. intros s s' Hg. now inversion Hg.
  - subst w. exists O. intros s s' Hg. inversion Hg as [|s1 b1 s2 w1 s3 Hn Hg']; subst. inversion Hg'; subst. exact Hn.
  - destruct H as (u & v & a1 & -> & Hu & Hv). destruct (IHp _ _ Hu) as [n Hn]. destruct (IHk _ _ _ Hv) as [m Hm].
    exists (n + m). intros s s' Hg. destruct (gives_split _ _ _ _ Hg) as (s1 & H1 & H2).
    rewrite (run_more n (n + m) p ltac:(lia) _ _ (Hn _ _ H1)). apply (run_more m (n + m)); [lia|auto].
  - induction H as [x w a Hs|x w x' v a Hs Ht IHt].
    + destruct (IH _ _ _ Hs) as [n Hn]. exists (S n). intros s s' Hg. cbn [turn].
      now rewrite (run_more n (S n) (body x) ltac:(lia) _ _ (Hn _ _ Hg)).
    + destruct (IH _ _ _ Hs) as [n Hn]. destruct IHt as [m Hm]. exists (S (n + m)). intros s s' Hg.
      destruct (gives_split _ _ _ _ Hg) as (s1 & H1 & H2). cbn [turn].
      rewrite (run_more n (S (n + m)) (body x) ltac:(lia) _ _ (Hn _ _ H1)).
      apply (turn_more (fun x => run next m (body x))) with (n := m); [|lia|auto].
      intros y t r. apply run_more. lia.
Qed.
End Running.
