(** Composition: mechanisms that pairs dominate, chosen one after the other, are dominated by the
    product of the pairs. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz Classical_Prop.
From ExactDP Require Import Definitions Laws Mass Weights PostProcessing.
Import ListNotations.
Open Scope R_scope.

(** What x f - y g has above zero. *)
Definition above (x y f g : R) : R := Rmax 0 (x * f - y * g).

(** By definition *)
Lemma above_nonneg x y f g : 0 <= above x y f g.
Proof. apply Rmax_l. Qed.
(** By definition *)
Lemma above_ge x y f g : x * f - y * g <= above x y f g.
Proof. apply Rmax_r. Qed.
(** A common factor *)
Lemma above_scale c x y f g : 0 <= c -> above x y (c * f) (c * g) = c * above x y f g.
Proof.
  intros H. unfold above. replace (x * (c * f) - y * (c * g)) with (c * (x * f - y * g)) by ring.
  rewrite <- RmaxRmult by easy. f_equal. ring.
Qed.

(** Sums in either order *)
Lemma mass_swap {A B} (f : A -> B -> R) l L :
  mass (fun x => mass (f x) L) l = mass (fun y => mass (fun x => f x y) l) L.
Proof.
  induction l; simpl.
  - induction L; simpl; [easy|]. rewrite <- IHL. ring.
  - rewrite IHl. transitivity (mass (fun y => 1 * f a y + 1 * mass (fun x => f x y) l) L).
    + rewrite mass_lin. ring.
    + apply mass_ext. intros. ring.
Qed.

(** A pair of laws with finitely many outcomes: [left] and [right] on the list [points]. *)
Record pair := Pair { left : nat -> R; right : nat -> R; points : list nat }.

(** Domination: at every rate of exchange e^eps = y/x, the pair's excess is as large as that of f
    over g, which is the least delta of (eps, delta)-indistinguishability. *)
Definition dominated {T} (f g : T -> R) (p : pair) : Prop :=
  forall x y, 0 <= x -> 0 <= y -> forall l, NoDup l ->
    mass (fun t => above x y (f t) (g t)) l <= mass (fun u => above x y (left p u) (right p u)) (points p).

(** The excess of the product of some pairs, its first pair outermost. *)
Fixpoint product_above (ps : list pair) (x y : R) : R :=
  match ps with
  | [] => Rmax 0 (x - y)
  | p :: ps' => mass (fun u => product_above ps' (x * left p u) (y * right p u)) (points p)
  end.

Definition positive_pair (p : pair) : Prop := forall u, 0 <= left p u /\ 0 <= right p u.

(** A sum of such *)
Lemma product_above_nonneg ps : forall x y, 0 <= product_above ps x y.
Proof. induction ps; intros; simpl; [apply Rmax_l|]. now apply mass_nonneg. Qed.

(** Domination goes through any product: it is a sum of excesses at other rates of exchange. *)
Lemma dominated_product {T} (f g : T -> R) p ps : dominated f g p -> Forall positive_pair ps ->
  forall x y, 0 <= x -> 0 <= y -> forall l, NoDup l ->
  mass (fun t => product_above ps (x * f t) (y * g t)) l <= product_above (p :: ps) x y.
Proof.
  intros H Hps. induction Hps as [|r ps Hr Hps IH]; intros x y Hx Hy l Hl.
  - exact (H x y Hx Hy l Hl).
  - simpl. rewrite mass_swap.
    rewrite (mass_swap (fun u v => product_above ps (x * left p u * left r v) (y * right p u * right r v))).
    apply mass_le. intros v _. destruct (Hr v) as [H1 H2].
    rewrite (mass_ext _ (fun t => product_above ps (x * left r v * f t) (y * right r v * g t))) by (intros; f_equal; ring).
    apply Rle_trans with (1 := IH (x * left r v) (y * right r v) ltac:(nra) ltac:(nra) l Hl). simpl.
    apply Req_le, mass_ext. intros; f_equal; ring.
Qed.

(** A sum over sequences is at most the sum over their first outputs of bounds on the rest. *)
Lemma by_heads {T} (phi : list T -> R) (b : T -> R) : phi [] <= 0 ->
  (forall y l, NoDup l -> mass (fun ys => phi (y :: ys)) l <= b y) ->
  forall l, NoDup l -> exists hs, NoDup hs /\ mass phi l <= mass b hs.
Proof.
  intros H0 Hb.
  assert (forall n l, (length l <= n)%nat -> NoDup l -> exists hs, NoDup hs /\
    (forall y, In y hs -> exists ys, In (y :: ys) l) /\ mass phi l <= mass b hs) as H.
  { induction n; intros l Hn Hl.
    - destruct l; [|simpl in Hn; lia]. exists []. repeat split; [constructor|easy|simpl; lra].
    - destruct l as [|[|y ys] l].
      + exists []. repeat split; [constructor|easy|simpl; lra].
      + apply NoDup_cons_iff in Hl as [_ Hl]. destruct (IHn l ltac:(simpl in Hn; lia) Hl) as (hs & H3 & H4 & H5).
        exists hs. repeat split; [easy| |simpl; lra]. intros y Hy. destruct (H4 y Hy) as [ys Hys]. exists ys. now right.
      + destruct (split_by phi (fun zs => exists ws, zs = y :: ws) _ Hl) as (k1 & k2 & H1 & H2 & P1 & P2 & Hm & Hlen).
        assert (In (y :: ys) k1) as Hin by (apply P1; split; [now left|now exists ys]).
        assert (0 < length k1)%nat by (destruct k1; [easy|simpl; lia]).
        destruct (IHn k2 ltac:(simpl in *; lia) H2) as (hs & H3 & H4 & H5).
        exists (y :: hs). repeat split.
        * constructor; auto. intros Hi. apply H4 in Hi as [ws Hws]. apply P2 in Hws as [_ Hws]. apply Hws. now exists ws.
        * intros z [<-|Hz]; [exists ys; now left|]. apply H4 in Hz as [ws Hws]. apply P2 in Hws as [Hws _]. now exists ws.
        * rewrite Hm. cbn [mass]. apply Rplus_le_compat; [|easy].
          assert (k1 = map (cons y) (map (@tl T) k1)) as E.
          { rewrite map_map. rewrite <- (map_id k1) at 1. apply map_ext_in. intros zs Hz. apply P1 in Hz as [_ [ws ->]]. easy. }
          rewrite E, mass_map. apply Hb. apply (NoDup_map_inv (cons y)). now rewrite <- E. }
  intros l Hl. destruct (H _ l (le_n _) Hl) as (hs & H1 & _ & H2). now exists hs.
Qed.

Section Adaptive.
Context {D T : Type}.
Implicit Types (M : list T -> D -> T -> R) (Ms : list (list T -> D -> T -> R)).

Definition laws M : Prop := forall past d, pmf (M past d).

(** A product of such *)
Lemma adaptive_nonneg Ms d : Forall laws Ms -> forall past ys, 0 <= adaptive Ms past d ys.
Proof.
  intros H. induction H as [|M Ms HM H IH]; intros past [|y ys]; simpl; try lra.
  destruct (HM past d) as [H0 _]. specialize (H0 y). specialize (IH (y :: past) ys). nra.
Qed.

(** What goes on from a finite list of first outputs: all but a share e of each rest *)
Lemma extend (f : T -> R) (F : T -> list T -> R) c : (forall y, 0 <= f y) ->
  (forall y, exists l, NoDup l /\ c <= mass (F y) l) -> forall hs, NoDup hs ->
  exists l, NoDup l /\ (forall ys, In ys l -> exists y zs, ys = y :: zs /\ In y hs) /\
    mass f hs * c <= mass (fun ys => match ys with [] => 0 | y :: ys' => f y * F y ys' end) l.
Proof.
  intros Hf HF hs Hhs. induction Hhs as [|y hs Hy Hhs (l & H1 & H2 & H3)].
  - exists []. repeat split; [constructor|easy|simpl; lra].
  - destruct (HF y) as (k & Hk & Hc). exists (map (cons y) k ++ l). repeat split.
    + apply nodup_app; auto.
      * apply FinFun.Injective_map_NoDup; auto. intros a b E. now injection E.
      * intros ys Hi Hj. apply in_map_iff in Hi as (zs & <- & _). apply H2 in Hj as (z & ws & E & Hz).
        injection E as -> _. contradiction.
    + intros ys Hi. apply in_app_or in Hi as [Hi|Hi].
      * apply in_map_iff in Hi as (zs & <- & _). exists y, zs. split; [easy|now left].
      * apply H2 in Hi as (z & ws & E & Hz). exists z, ws. split; [easy|now right].
    + rewrite mass_app, mass_map, mass_scale. cbn [mass]. specialize (Hf y). nra.
Qed.

(** Laws one after the other are a law *)
Theorem adaptive_pmf Ms d : Forall laws Ms -> forall past, pmf (adaptive Ms past d).
Proof.
  intros H. pose proof (adaptive_nonneg Ms d H) as Hpos. induction H as [|M Ms HM H IH]; intros past.
  - apply pmf_finite with (L := [[]]).
    + apply Hpos. + repeat constructor; easy.
    + intros [|y ys]; [left; now left|right; easy]. + simpl. lra.
  - specialize (IH (adaptive_nonneg Ms d H)). destruct (HM past d) as [Hf [Hf1 Hf2]].
    split; [apply Hpos|]. split.
    + intros r (l & Hl & _ & ->).
      destruct (by_heads (adaptive (M :: Ms) past d) (M past d)) with (l := l) as (hs & Hhs & Hle); auto.
      * simpl. lra.
      * intros y k Hk. simpl. rewrite mass_scale. destruct (IH (y :: past)) as [_ [H1 _]].
        assert (mass (adaptive Ms (y :: past) d) k <= 1) by (apply H1; now exists k). specialize (Hf y). nra.
      * apply Rle_trans with (1 := Hle). apply Hf1. now exists hs.
    + intros b Hb. apply le_epsilon. intros e He. destruct (Rle_lt_dec 1 (b + e)) as [|Hlt]; [easy|exfalso].
      assert (0 <= b) by (apply Hb; exists []; repeat split; constructor).
      assert (exists hs, NoDup hs /\ 1 - e / 2 <= mass (M past d) hs) as (hs & Hhs & Hm).
      { apply NNPP. intros Hno. assert (1 <= 1 - e / 2); [|lra]. apply Hf2. intros r (l & Hl & _ & ->).
        apply Rnot_lt_le. intros Hl'. apply Hno. exists l. split; [easy|lra]. }
      destruct (extend (M past d) (fun y => adaptive Ms (y :: past) d) (1 - e / 2) Hf) with (hs := hs) as (l & Hl & _ & Hle); auto.
      { intros y. destruct (IH (y :: past)) as [_ [_ H2]]. apply NNPP. intros Hno.
        assert (1 <= 1 - e / 2); [|lra]. apply H2. intros r (l & Hl & _ & ->).
        apply Rnot_lt_le. intros Hl'. apply Hno. exists l. split; [easy|lra]. }
      assert (mass (adaptive (M :: Ms) past d) l <= b).
      { apply Hb. exists l. auto. }
      rewrite (mass_ext _ (adaptive (M :: Ms) past d)) in Hle by (intros [|? ?]; easy). nra.
Qed.

(** Pair by pair, the outputs before being whatever they were *)
Lemma adaptive_above Ms ps d d' : Forall positive_pair ps -> Forall laws Ms ->
  Forall2 (fun M p => forall past, dominated (M past d) (M past d') p) Ms ps ->
  forall x y past l, 0 <= x -> 0 <= y -> NoDup l ->
  mass (fun ys => above x y (adaptive Ms past d ys) (adaptive Ms past d' ys)) l <= product_above ps x y.
Proof.
  intros Hps HMs H. induction H as [|M p Ms ps HM H IH]; intros x y past l Hx Hy Hl.
  - apply Rle_trans with (mass (fun ys => above x y (adaptive [] past d ys) (adaptive [] past d' ys)) [[]]).
    + apply mass_cover; auto.
      * intros; apply above_nonneg.
      * intros [|z zs] _; [left; now left|right]. unfold above. simpl. rewrite !Rmult_0_r, Rminus_0_r. apply Rmax_left. lra.
    + simpl. unfold above. rewrite !Rmult_1_r. lra.
  - inversion Hps; subst. inversion HMs; subst.
    destruct (by_heads (fun ys => above x y (adaptive (M :: Ms) past d ys) (adaptive (M :: Ms) past d' ys))
      (fun t => product_above ps (x * M past d t) (y * M past d' t))) with (l := l) as (hs & Hhs & Hle); auto.
    + simpl. unfold above. rewrite !Rmult_0_r, Rminus_0_r, Rmax_left; lra.
    + intros t k Hk. simpl.
      match goal with X : laws M |- _ => pose proof (proj1 (X past d) t); pose proof (proj1 (X past d') t) end.
      rewrite (mass_ext _ (fun ys => above (x * M past d t) (y * M past d' t) (adaptive Ms (t :: past) d ys) (adaptive Ms (t :: past) d' ys)))
        by (intros; unfold above; f_equal; ring).
      apply IH; auto; nra.
    + apply Rle_trans with (1 := Hle). now apply dominated_product.
Qed.

(** Adaptive composition: what the product of the pairs costs is enough for all of the mechanisms. *)
Theorem adaptive_composition (adj : D -> D -> Prop) Ms ps eps delta :
  Forall laws Ms -> Forall positive_pair ps ->
  Forall2 (fun M p => forall past d d', adj d d' -> dominated (M past d) (M past d') p) Ms ps ->
  product_above ps 1 (exp eps) <= delta -> dp adj (adaptive Ms []) eps delta.
Proof.
  intros HMs Hps H Hd. split; [intros; now apply adaptive_pmf|]. intros d d' Ha.
  apply dp_pair_intro; [now apply adaptive_nonneg|]. intros l Hl.
  assert (Forall2 (fun M p => forall past, dominated (M past d) (M past d') p) Ms ps) as H'
    by (clear - H Ha; induction H; constructor; auto).
  pose proof (adaptive_above Ms ps d d' Hps HMs H' 1 (exp eps) [] l ltac:(lra) (Rlt_le _ _ (exp_pos eps)) Hl) as Hm.
  apply Rle_trans with (2 := Hd), Rle_trans with (2 := Hm).
  replace (mass (adaptive Ms [] d) l - exp eps * mass (adaptive Ms [] d') l)
    with (mass (fun ys => 1 * adaptive Ms [] d ys + - exp eps * adaptive Ms [] d' ys) l) by (rewrite mass_lin; ring).
  apply mass_le. intros ys _. pose proof (above_ge 1 (exp eps) (adaptive Ms [] d ys) (adaptive Ms [] d' ys)). lra.
Qed.
End Adaptive.

(** What a function makes of the outputs is dominated by all that dominates them. *)
Theorem image_dominated {T U} (h : T -> U) (f g : T -> R) (f' g' : U -> R) p :
  (forall t, 0 <= g t) -> image h f f' -> image h g g' -> dominated f g p -> dominated f' g' p.
Proof.
  intros Hg Hf' Hg' H x y Hx Hy l Hl. apply le_epsilon. intros e He.
  destruct (split_by (fun t => above x y (f' t) (g' t)) (fun t => x * f' t - y * g' t > 0) l Hl)
    as (l1 & l2 & H1 & H2 & P1 & P2 & Hm & _).
  assert (mass (fun t => above x y (f' t) (g' t)) l2 <= mass (fun _ => 0) l2) as Hz.
  { apply mass_le. intros t Ht. apply P2 in Ht as [_ Ht]. unfold above. rewrite Rmax_left; lra. }
  assert (forall L : list U, mass (fun _ => 0) L = 0) as Hz' by (induction L; simpl; lra). rewrite Hz' in Hz.
  destruct (image_below h f f' Hf' l1 H1 (e / (x + 1)) ltac:(apply Rdiv_lt_0_compat; lra)) as (k & Hk & Hin & Hle).
  destruct (image_prob h g g' Hg' (fun u => In u l1) (mass g' l1)) as [Hub _].
  { apply has_prob_list; auto. intros u. destruct (Hg' u) as [Hu _]. apply Hu. exists []. repeat split; [constructor|easy]. }
  assert (mass g k <= mass g' l1) as Hgk by (apply Hub; now exists k).
  specialize (H x y Hx Hy k Hk).
  assert (x * mass f k - y * mass g k <= mass (fun t => above x y (f t) (g t)) k) as Ha.
  { replace (x * mass f k - y * mass g k) with (mass (fun t => x * f t + - y * g t) k) by (rewrite mass_lin; ring).
    apply mass_le. intros t _. pose proof (above_ge x y (f t) (g t)). lra. }
  assert (mass (fun t => above x y (f' t) (g' t)) l1 = x * mass f' l1 - y * mass g' l1) as Hb.
  { replace (x * mass f' l1 - y * mass g' l1) with (mass (fun t => x * f' t + - y * g' t) l1) by (rewrite mass_lin; ring).
    apply mass_ext. intros t Ht. apply P1 in Ht as [_ Ht]. unfold above. rewrite Rmax_right; lra. }
  assert (x * (e / (x + 1)) <= e).
  { apply Rmult_le_reg_r with (x + 1); [lra|]. replace (x * (e / (x + 1)) * (x + 1)) with (x * e) by (field; lra). nra. }
  assert (x * (mass f' l1 - e / (x + 1)) <= x * mass f k) by (apply Rmult_le_compat_l; lra). nra.
Qed.
