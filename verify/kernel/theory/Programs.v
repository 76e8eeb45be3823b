(** Programs that flip fair coins: what they read, what comes out, and with what probability. *)
From Coq Require Import Reals List ZArith Lra Lia.
From ExactDP Require Import Definitions Mass Weights.
Import ListNotations.
Open Scope R_scope.

(** [While body s] goes on with [body s'] as long as the state [s'] comes out, and ends with what comes out else. *)
Inductive prog : Type -> Type :=
| Ret {A : Type} (a : A) : prog A
| Flip : prog bool
| Bind {A B : Type} (p : prog A) (k : A -> prog B) : prog B
| While {S A : Type} (body : S -> prog (S + A)) (s : S) : prog A.

Inductive turns {S A : Type} (step : S -> list bool -> S + A -> Prop) : S -> list bool -> A -> Prop :=
| stops s w a : step s w (inr a) -> turns step s w a
| goes s w s' v a : step s w (inl s') -> turns step s' v a -> turns step s (w ++ v) a.

(** The program reads just these bits, in this order, and ends with [a]. *)
Fixpoint reads {A : Type} (p : prog A) : list bool -> A -> Prop :=
  match p in prog A return list bool -> A -> Prop with
  | Ret a => fun w b => w = [] /\ b = a
  | Flip => fun w b => w = [b]
  | Bind p k => fun w b => exists u v a, w = u ++ v /\ reads p u a /\ reads (k a) v b
  | While body s => turns (fun s => reads (body s)) s
  end.

(** Of fair bits, the first ones are [w] with this probability. *)
Definition weight (w : list bool) : R := / 2 ^ length w.

(** What comes out of the program has the law [f]: Pr[it is a] is the supremum of finite sums. *)
Definition has_law {A : Type} (p : prog A) (f : A -> R) : Prop :=
  pmf f /\ forall a, has_prob weight (fun w => reads p w a) (f a).

(** ** No word that is read begins another one *)
Lemma reads_prefix {A : Type} (p : prog A) : forall u a v b x y,
  reads p u a -> reads p v b -> u ++ x = v ++ y -> u = v /\ a = b.
Proof.
  induction p as [A a0| |A B p IHp k IHk|S A body IH s]; cbn [reads].
  - now intros u a v b x y [-> ->] [-> ->].
  - intros u a v b x y -> -> H. injection H. intros _ ->. easy.
  - intros u a v b x y (u1 & u2 & a1 & -> & Hp & Hk) (v1 & v2 & b1 & -> & Hp' & Hk') H.
    rewrite <- !app_assoc in H. destruct (IHp _ _ _ _ _ _ Hp Hp' H) as [-> ->].
    apply app_inv_head in H. destruct (IHk _ _ _ _ _ _ _ Hk Hk' H) as [-> ->]. easy.
  - intros u a v b x y Hu. revert v b x y. induction Hu as [s w a Hs|s w s' w' a Hs Hw' IHw]; intros v b x y Hv H.
    + inversion Hv as [s1 w1 b1 H1|s1 w1 s2 v1 b1 H1 H2]; subst.
      * destruct (IH _ _ _ _ _ _ _ Hs H1 H) as [-> E]. now injection E.
      * rewrite <- app_assoc in H. destruct (IH _ _ _ _ _ _ _ Hs H1 H). discriminate.
    + rewrite <- app_assoc in H. inversion Hv as [s1 w1 b1 H1|s1 w1 s2 v1 b1 H1 H2]; subst.
      * destruct (IH _ _ _ _ _ _ _ Hs H1 H). discriminate.
      * rewrite <- app_assoc in H. destruct (IH _ _ _ _ _ _ _ Hs H1 H) as [-> E]. injection E as ->.
        apply app_inv_head in H. destruct (IHw _ _ _ _ H2 H) as [-> ->]. easy.
Qed.
(** A word that is read is read to one end *)
Lemma reads_same {A : Type} (p : prog A) w a b : reads p w a -> reads p w b -> a = b.
Proof. intros Ha Hb. exact (proj2 (reads_prefix p w a w b [] [] Ha Hb eq_refl)). Qed.

(** ** Kraft's inequality *)
Definition prefix_free (l : list (list bool)) : Prop := forall u v x y, In u l -> In v l -> u ++ x = v ++ y -> u = v.
Fixpoint tails (b : bool) (l : list (list bool)) : list (list bool) :=
  match l with
  | [] => []
  | (c :: w) :: l' => if Bool.eqb b c then w :: tails b l' else tails b l'
  | [] :: l' => tails b l'
  end.
(** The words that begin so *)
Lemma in_tails b w l : In w (tails b l) <-> In (b :: w) l.
Proof.
  induction l as [|[|c v] l IH]; simpl; [tauto| |].
  - rewrite IH. intuition discriminate.
  - destruct (Bool.eqb_spec b c) as [->|N]; simpl; rewrite IH; [|intuition congruence].
    split; (intros [E|H]; [left; congruence|now right]).
Qed.
(** Distinct words have distinct tails *)
Lemma tails_nodup b l : NoDup l -> NoDup (tails b l).
Proof.
  intros H. induction H as [|[|c w] l Hw Hl IH]; simpl; [constructor|easy|].
  destruct (Bool.eqb_spec b c) as [->|]; [constructor; [now rewrite in_tails|easy]|easy].
Qed.
(** Half the weight each *)
Lemma mass_tails l : ~ In [] l -> mass weight l = / 2 * (mass weight (tails true l) + mass weight (tails false l)).
Proof.
  induction l as [|[|c w] l IH]; intros H; [simpl; lra|now destruct H; left|]. cbn [mass tails].
  rewrite IH by (intros X; apply H; now right). assert (weight (c :: w) = / 2 * weight w) as ->.
  { unfold weight. simpl length. simpl pow. apply Rinv_mult. }
  destruct c; cbn [Bool.eqb mass]; lra.
Qed.
(** By the longest word *)
Lemma kraft_by n : forall l, (forall w, In w l -> (length w <= n)%nat) -> NoDup l -> prefix_free l -> mass weight l <= 1.
Proof.
  assert (forall l, NoDup l -> (forall w, In w l -> w = []) -> mass weight l <= 1) as Hempty.
  { intros [|w [|v l]] Hl H; cbn [mass]; [lra| |].
    - rewrite (H w (or_introl eq_refl)). unfold weight. simpl. lra.
    - inversion Hl as [|? ? Hw]; subst. destruct Hw. left.
      now rewrite (H w (or_introl eq_refl)), (H v (or_intror (or_introl eq_refl))). }
  induction n as [|n IH]; intros l Hn Hl Hp.
  - apply Hempty; auto. intros w Hw. specialize (Hn w Hw). destruct w; [easy|simpl in Hn; lia].
  - destruct (in_dec (list_eq_dec Bool.bool_dec) [] l) as [H0|H0].
    + apply Hempty; auto. intros w Hw. symmetry. apply (Hp [] w w []); auto. now rewrite app_nil_r.
    + rewrite mass_tails by easy. assert (forall b, mass weight (tails b l) <= 1) as H; [|pose proof (H true); pose proof (H false); lra].
      intros b. apply IH; [|now apply tails_nodup|].
      * intros w Hw. apply in_tails, Hn in Hw. simpl in Hw. lia.
      * intros u v x y Hu Hv E. apply in_tails in Hu, Hv.
        assert (b :: u = b :: v) as X by (apply (Hp _ _ x y Hu Hv); simpl; now f_equal). now injection X.
Qed.
(** Words that a program reads weigh at most 1 *)
Lemma kraft {A : Type} (p : prog A) l : NoDup l -> (forall w, In w l -> exists a, reads p w a) -> mass weight l <= 1.
Proof.
  intros Hl H. apply kraft_by with (n := list_max (map (@length bool) l)); auto.
  - intros w Hw. assert (Forall (fun k => (k <= list_max (map (@length bool) l))%nat) (map (@length bool) l)) as F
      by (apply list_max_le; lia). rewrite Forall_forall in F. apply F, in_map, Hw.
  - intros u v x y Hu Hv E. destruct (H u Hu) as [a Ha], (H v Hv) as [b Hb]. exact (proj1 (reads_prefix p _ _ _ _ _ _ Ha Hb E)).
Qed.

(** ** Lower bounds of probabilities *)
Definition at_least {A : Type} (p : prog A) (a : A) (r : R) : Prop :=
  forall x, x < r -> exists l, NoDup l /\ (forall w, In w l -> reads p w a) /\ x <= mass weight l.
(** Nothing weighs nothing *)
Lemma at_least_0 {A : Type} (p : prog A) a r : r <= 0 -> at_least p a r.
Proof. intros Hr x Hx. exists []. repeat split; [constructor|easy|simpl; lra]. Qed.
(** A smaller bound *)
Lemma at_least_le {A : Type} (p : prog A) a r s : at_least p a r -> s <= r -> at_least p a s.
Proof. intros H Hs x Hx. apply H. lra. Qed.
(** Bounds as near as one likes *)
Lemma at_least_limit {A : Type} (p : prog A) a r : (forall e, 0 < e -> at_least p a (r - e)) -> at_least p a r.
Proof. intros H x Hx. apply (H ((r - x) / 2)); lra. Qed.
(** The same words *)
Lemma at_least_same {A B : Type} (p : prog A) (q : prog B) a b r :
  (forall w, reads p w a -> reads q w b) -> at_least p a r -> at_least q b r.
Proof. intros H Hp x Hx. destruct (Hp x Hx) as (l & Hl & Hr & Hm). exists l. auto. Qed.
(** No bit is read *)
Lemma ret_at_least {A : Type} (a : A) : at_least (Ret a) a 1.
Proof.
  intros x Hx. exists [[]]. split; [repeat constructor; easy|split; [|simpl; unfold weight; simpl; lra]].
  intros v [<-|[]]. now cbn.
Qed.
(** One bit is read *)
Lemma flip_at_least b : at_least Flip b (/ 2).
Proof.
  intros x Hx. exists [[b]]. split; [repeat constructor; easy|split; [|simpl; unfold weight; simpl; lra]].
  intros v [<-|[]]. now cbn.
Qed.
(** Distinct on the members *)
Lemma nodup_map {T U} (h : T -> U) l : NoDup l -> (forall x y, In x l -> In y l -> h x = h y -> x = y) -> NoDup (map h l).
Proof.
  intros Hl. induction Hl as [|a l Ha Hl IH]; intros H; simpl; constructor.
  - rewrite in_map_iff. intros (y & E & Hy). apply Ha. now rewrite (H a y (or_introl eq_refl) (or_intror Hy) (eq_sym E)).
  - apply IH. intros x y Hx Hy. apply H; now right.
Qed.
(** One after the other: probabilities multiply *)
Lemma bind_one {A B : Type} (p : prog A) (k : A -> prog B) a b r s : 0 <= r -> (0 < r -> 0 <= s /\ at_least p a r /\ at_least (k a) b s) ->
  forall x, x < r * s -> exists l, NoDup l /\ (forall w, In w l -> exists u v, w = u ++ v /\ reads p u a /\ reads (k a) v b) /\ x <= mass weight l.
Proof.
  intros Hr H x Hx. destruct (Rle_lt_dec 0 x) as [H0|H0].
  2:{ exists []. repeat split; [constructor|easy|simpl; lra]. }
  assert (0 < r) as Hr0 by (destruct Hr as [|<-]; [easy|nra]). destruct (H Hr0) as (Hs & Hp & Hk). assert (0 < s) as Hs0 by (destruct Hs as [|<-]; [easy|nra]).
  assert (x / r < s) as H1 by (apply Rmult_lt_reg_r with r; [easy|unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra]).
  set (s' := (x / r + s) / 2). assert (0 <= x / r) as Hxr by (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
  assert (0 < s') as Hs1 by (unfold s'; lra). assert (x / r * r = x) as Ex by (field; lra).
  assert (x / s' < r) as H2.
  { apply Rmult_lt_reg_r with s'; [easy|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. unfold s'. nra. }
  destruct (Hp _ H2) as (l & Hl & Hlr & Hlm). destruct (Hk s' ltac:(unfold s'; lra)) as (m & Hm & Hmr & Hmm).
  exists (map (fun c => fst c ++ snd c) (list_prod l m)). split; [|split].
  - apply nodup_map; [now apply nodup_prod|]. intros [u v] [u' v'] H3 H4 E. apply in_prod_iff in H3, H4. cbn in *.
    destruct (reads_prefix p _ _ _ _ _ _ (Hlr u ltac:(tauto)) (Hlr u' ltac:(tauto)) E) as [-> _].
    apply app_inv_head in E. now subst.
  - intros w Hw. apply in_map_iff in Hw. destruct Hw as ([u v] & <- & Hw). apply in_prod_iff in Hw. exists u, v. cbn. intuition auto.
  - rewrite mass_map. rewrite (mass_ext _ (fun c => weight (fst c) * weight (snd c))).
    + rewrite mass_prod. assert (x / s' * s' = x) by (field; lra).
      assert (0 <= x / s') by (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]). nra.
    + intros [u v] _. cbn. unfold weight. rewrite app_length, pow_add. apply Rinv_mult.
Qed.
(** ... and those of different outcomes add. *)
Lemma bind_at_least {A B : Type} (p : prog A) (k : A -> prog B) b (f s : A -> R) L : NoDup L ->
  (forall a, In a L -> 0 <= f a /\ (0 < f a -> 0 <= s a /\ at_least p a (f a) /\ at_least (k a) b (s a))) ->
  at_least (Bind p k) b (mass (fun a => f a * s a) L).
Proof.
  intros HL H.
  assert (forall x, x < mass (fun a => f a * s a) L -> exists l, NoDup l /\
    (forall w, In w l -> exists a u v, In a L /\ w = u ++ v /\ reads p u a /\ reads (k a) v b) /\ x <= mass weight l) as X.
  { induction HL as [|a L Ha HL IH]; intros x Hx; cbn [mass] in Hx.
    - exists []. repeat split; [constructor|easy|simpl; lra].
    - destruct (H a (or_introl eq_refl)) as (Hf & Hk). set (m := mass (fun a => f a * s a) L) in *.
      set (e := (f a * s a + m - x) / 2). assert (0 < e) by (unfold e; lra).
      destruct (bind_one p k a b _ _ Hf Hk (f a * s a - e) ltac:(lra)) as (l & Hl & Hlr & Hlm).
      destruct (IH (fun a' Ha' => H a' (or_intror Ha')) (m - e) ltac:(lra)) as (l' & Hl' & Hlr' & Hlm').
      exists (l ++ l'). split; [|split].
      + apply nodup_app; auto. intros w Hw Hw'. destruct (Hlr w Hw) as (u & v & -> & Hu & _).
        destruct (Hlr' _ Hw') as (a' & u' & v' & Ha' & E & Hu' & _).
        destruct (reads_prefix p _ _ _ _ _ _ Hu Hu' E) as [_ ->]. contradiction.
      + intros w Hw. apply in_app_or in Hw. destruct Hw as [Hw|Hw].
        * destruct (Hlr w Hw) as (u & v & Hw1). exists a, u, v. now split; [left|].
        * destruct (Hlr' w Hw) as (a' & u & v & Ha' & Hw1). exists a', u, v. now split; [right|].
      + rewrite mass_app. unfold e in *. lra. }
  intros x Hx. destruct (X x Hx) as (l & Hl & Hr & Hm). exists l. repeat split; auto.
  intros w Hw. destruct (Hr w Hw) as (a & u & v & _ & E). cbn. now exists u, v, a.
Qed.
(** Of one outcome *)
Lemma then_at_least {A B : Type} (p : prog A) (k : A -> prog B) a b r s : 0 <= r -> 0 <= s ->
  at_least p a r -> at_least (k a) b s -> at_least (Bind p k) b (r * s).
Proof.
  intros Hr Hs Hp Hk. replace (r * s) with (mass (fun _ => r * s) [a]) by (simpl; lra).
  apply bind_at_least with (f := fun _ => r) (s := fun _ => s); [repeat constructor; easy|]. now intros a' [<-|[]].
Qed.
(** A function of an outcome *)
Lemma map_at_least {A B : Type} (p : prog A) (h : A -> B) a r : 0 <= r -> at_least p a r -> at_least (Bind p (fun a => Ret (h a))) (h a) r.
Proof. intros Hr Hp. rewrite <- (Rmult_1_r r). apply then_at_least with (a := a); auto; [lra|apply ret_at_least]. Qed.
(** A loop is one turn, and then the loop *)
Lemma while_at_least {S A : Type} (body : S -> prog (S + A)) s a r :
  at_least (Bind (body s) (fun c => match c with inl s' => While body s' | inr b => Ret b end)) a r ->
  at_least (While body s) a r.
Proof.
  apply at_least_same. intros w (u & v & c & -> & Hu & Hv). destruct c as [s'|b]; cbn in Hv |- *.
  - now apply goes with (s' := s').
  - destruct Hv as [-> ->]. rewrite app_nil_r. now apply stops.
Qed.

(** ** Lower bounds that sum to 1 are a law *)
Definition full {T} (f : T -> R) : Prop := forall e, 0 < e -> exists L, NoDup L /\ 1 - e <= mass f L.
Definition draws {A : Type} (p : prog A) (f : A -> R) : Prop := full f /\ forall a, 0 <= f a /\ at_least p a (f a).
(** Words of several outcomes *)
Lemma gather {A : Type} (p : prog A) (f : A -> R) L : NoDup L -> (forall a, In a L -> at_least p a (f a)) ->
  forall x, x < mass f L -> exists l, NoDup l /\ (forall w, In w l -> exists a, In a L /\ reads p w a) /\ x <= mass weight l.
Proof.
  intros HL H. induction HL as [|a L Ha HL IH]; intros x Hx; cbn [mass] in Hx.
  - exists []. repeat split; [constructor|easy|simpl; lra].
  - set (e := (f a + mass f L - x) / 2). assert (0 < e) by (unfold e; lra).
    destruct (H a (or_introl eq_refl) (f a - e) ltac:(lra)) as (l & Hl & Hlr & Hlm).
    destruct (IH (fun a' Ha' => H a' (or_intror Ha')) (mass f L - e) ltac:(lra)) as (l' & Hl' & Hlr' & Hlm').
    exists (l ++ l'). split; [|split].
    + apply nodup_app; auto. intros w Hw Hw'. destruct (Hlr' w Hw') as (a' & Ha' & Hr). apply Ha.
      now rewrite (reads_same p w a a' (Hlr w Hw) Hr).
    + intros w Hw. apply in_app_or in Hw. destruct Hw as [Hw|Hw]; [exists a; split; [now left|auto]|].
      destruct (Hlr' w Hw) as (a' & Ha' & Hr). exists a'. split; [now right|easy].
    + rewrite mass_app. unfold e in *. lra.
Qed.
(** By Kraft's inequality *)
Lemma draws_most {A : Type} (p : prog A) f L : (forall a, at_least p a (f a)) -> NoDup L -> mass f L <= 1.
Proof.
  intros H HL. apply Rnot_lt_le. intros Hlt.
  destruct (gather p f L HL (fun a _ => H a) ((1 + mass f L) / 2) ltac:(lra)) as (l & Hl & Hr & Hm).
  assert (mass weight l <= 1); [|lra]. apply (kraft p); auto. intros w Hw. destruct (Hr w Hw) as (a & _ & Ha). eauto.
Qed.
(** What all words that end so weigh is what is left by the other outcomes *)
Theorem draws_law {A : Type} (dec : forall a b : A, {a = b} + {a <> b}) (p : prog A) f : draws p f -> has_law p f.
Proof.
  intros [Hfull H]. assert (forall a, 0 <= f a) as H0 by apply H.
  assert (forall a, at_least p a (f a)) as Hp by apply H. split; [split; [easy|]|].
  - split.
    + intros r (l & Hl & _ & ->). now apply (draws_most p).
    + intros b Hb. apply Rnot_lt_le. intros Hlt. destruct (Hfull ((1 - b) / 2) ltac:(lra)) as (L & HL & Hm).
      assert (mass f L <= b); [|lra]. apply Hb. now exists L.
  - intros a. split.
    + intros r (l & Hl & Hr & ->). apply Rnot_lt_le. intros Hlt. set (e := (mass weight l - f a) / 3).
      assert (0 < e) by (unfold e; lra). destruct (Hfull e ltac:(easy)) as (L & HL & Hm).
      assert (NoDup (remove dec a L)) as HR.
      { clear - HL. induction HL as [|b L Hb HL IH]; simpl; [constructor|]. destruct (dec a b); [easy|]. constructor; [|easy].
        intros X. now apply in_remove in X. }
      assert (mass f L <= mass f (a :: remove dec a L)) as Hc.
      { apply mass_cover; auto. intros x Hx. left. destruct (dec a x) as [->|N]; [now left|right].
        now apply in_in_remove; [congruence|]. }
      cbn [mass] in Hc.
      destruct (gather p f (remove dec a L) HR (fun a _ => Hp a) (mass f (remove dec a L) - e) ltac:(lra)) as (l' & Hl' & Hr' & Hm').
      assert (mass weight (l ++ l') <= 1); [|rewrite mass_app in *; unfold e in *; lra].
      apply (kraft p).
      * apply nodup_app; auto. intros w Hw Hw'. destruct (Hr' w Hw') as (b & Hb & Hwb).
        rewrite <- (reads_same p w a b (Hr w Hw) Hwb) in Hb. now apply in_remove in Hb.
      * intros w Hw. apply in_app_or in Hw. destruct Hw as [Hw|Hw]; [eauto|]. destruct (Hr' w Hw) as (b & _ & Hb). eauto.
    + intros b Hb. apply Rnot_lt_le. intros Hlt. destruct (Hp a ((f a + b) / 2) ltac:(lra)) as (l & Hl & Hr & Hm).
      assert (mass weight l <= b); [|lra]. apply Hb. now exists l.
Qed.
