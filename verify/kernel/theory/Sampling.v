(** Poisson sampling at whole orders: what one user costs who takes part with probability r, added or removed. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FunctionalExtensionality Classical_Prop.
From ExactDP Require Import Definitions Laws Mass Weights.
Import ListNotations.
Open Scope R_scope.

(** ** Sums of x (x/y)^n, of order n + 1 *)
Definition quotient_term (n : nat) (x y : R) : R := x * (x / y) ^ n.
(** Not negative, not even where y = 0 < x would be *)
Lemma quotient_term_nonneg n x y : 0 <= x -> (0 < x -> 0 < y) -> 0 <= quotient_term n x y.
Proof.
  intros Hx Hy. unfold quotient_term. destruct Hx as [Hx| <-]; [|lra]. apply Rmult_le_pos; [lra|]. left. apply pow_lt, Rdiv_lt_0_compat; auto.
Qed.
(** Bernoulli's inequality *)
Lemma power_above_tangent n u : 0 <= u -> INR (S n) * u - INR n <= u ^ S n.
Proof.
  intros Hu. induction n; [simpl; lra|]. change (u ^ S (S n)) with (u * u ^ S n). rewrite !S_INR in *. pose proof (pos_INR n) as Hn.
  apply Rmult_le_compat_l with (r := u) in IHn; [|easy]. assert (0 <= (INR n + 1) * (u - 1) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]). nra.
Qed.
(** So these lie above their tangent planes *)
Lemma quotient_tangent n c x y : 0 < c -> 0 < x -> 0 < y -> INR (S n) * c ^ n * x - INR n * c ^ S n * y <= quotient_term n x y.
Proof.
  intros Hc Hx Hy. assert (0 < c ^ S n) as Hcn by now apply pow_lt. assert (0 < x / (y * c)) as Hu by (apply Rdiv_lt_0_compat; [easy|now apply Rmult_lt_0_compat]).
  pose proof (power_above_tangent n (x / (y * c)) (Rlt_le _ _ Hu)) as H. apply Rmult_le_compat_l with (r := y * c ^ S n) in H; [|left; now apply Rmult_lt_0_compat].
  assert (y * c ^ S n * (x / (y * c)) ^ S n = quotient_term n x y) as E.
  { unfold quotient_term. replace (x / (y * c)) with (x / y * / c) by (field; lra). rewrite Rpow_mult_distr, pow_inv. change ((x / y) ^ S n) with (x / y * (x / y) ^ n). field. split; [now apply pow_nonzero, Rgt_not_eq|lra]. }
  rewrite E in H. apply Rle_trans with (2 := H), Req_le. simpl pow. field. lra.
Qed.
(** ... and are jointly convex *)
Lemma quotient_convex n t x y x' y' : 0 <= t <= 1 -> 0 < x -> 0 < y -> 0 < x' -> 0 < y' ->
  quotient_term n (t * x + (1 - t) * x') (t * y + (1 - t) * y') <= t * quotient_term n x y + (1 - t) * quotient_term n x' y'.
Proof.
  intros Ht Hx Hy Hx' Hy'. set (X := t * x + (1 - t) * x'). set (Y := t * y + (1 - t) * y').
  assert (0 < X) as HX by (unfold X; destruct (Req_dec t 0) as [->|]; nra). assert (0 < Y) as HY by (unfold Y; destruct (Req_dec t 0) as [->|]; nra).
  assert (0 < X / Y) as Hc by now apply Rdiv_lt_0_compat.
  pose proof (quotient_tangent n (X / Y) x y Hc Hx Hy) as H1. pose proof (quotient_tangent n (X / Y) x' y' Hc Hx' Hy') as H2.
  apply Rmult_le_compat_l with (r := t) in H1; [|lra]. apply Rmult_le_compat_l with (r := 1 - t) in H2; [|lra].
  apply Rle_trans with (INR (S n) * (X / Y) ^ n * X - INR n * (X / Y) ^ S n * Y).
  - apply Req_le. unfold quotient_term. rewrite S_INR. simpl pow. field. lra.
  - unfold X at 2, Y at 3. lra.
Qed.

(** Both of a pair at least 1: the larger, with its inverse, has the larger powers *)
Lemma powers_and_inverses s t k : 1 <= s -> s <= t -> s ^ k + / s ^ k <= t ^ k + / t ^ k.
Proof.
  intros Hs Ht. pose proof (pow_R1_Rle s k Hs) as Ha. assert (s ^ k <= t ^ k) as Hab by (apply pow_incr; lra). set (a := s ^ k) in *. set (b := t ^ k) in *.
  assert (b + / b - (a + / a) = (b - a) * (1 - / (a * b))) as E by (field; lra). assert (/ (a * b) <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; nra). nra.
Qed.
(** Of two outcomes with the masses F, G and G, F: mixing the first law costs as much at least as mixing the second. By
    induction on the order: one more adds (w - G) times a difference of powers of w/G >= F/v and their inverses. *)
Lemma mirrored_terms_ordered n r F G : 0 <= r <= 1 -> 0 < G -> G <= F ->
  quotient_term n G (r * F + (1 - r) * G) + quotient_term n F (r * G + (1 - r) * F)
  <= quotient_term n (r * F + (1 - r) * G) G + quotient_term n (r * G + (1 - r) * F) F.
Proof.
  intros Hr HG HF. set (w := r * F + (1 - r) * G). set (v := r * G + (1 - r) * F). assert (0 < F) as HF0 by lra.
  assert (G <= w) as Hw by (unfold w; nra). assert (0 < v) as Hv by (unfold v; destruct (Req_dec r 0) as [->|]; nra). assert (w - G = F - v) as E by (unfold w, v; ring).
  assert (F * G <= w * v) as Hwv by (assert (w * v = F * G + r * (1 - r) * (F - G) ^ 2) as -> by (unfold w, v; ring); assert (0 <= r * (1 - r) * (F - G) ^ 2) by (apply Rmult_le_pos; [nra|apply pow2_ge_0]); lra).
  assert (v <= F) as HvF by lra. assert (1 <= F / v) as H1 by (apply Rmult_le_reg_r with v; [easy|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  assert (F / v <= w / G) as H2.
  { apply Rmult_le_reg_r with (v * G); [now apply Rmult_lt_0_compat|]. replace (F / v * (v * G)) with (F * G) by (field; lra). replace (w / G * (v * G)) with (w * v) by (field; lra). easy. }
  clearbody w v. induction n; [unfold quotient_term; simpl; lra|].
  pose proof (powers_and_inverses (F / v) (w / G) (S n) H1 H2) as H3. unfold quotient_term in *.
  assert (forall x y, 0 < x -> 0 < y -> x * (x / y) ^ S n - y * (y / x) ^ S n = x * (x / y) ^ n - y * (y / x) ^ n + (x - y) * ((x / y) ^ S n + / (x / y) ^ S n)) as Step.
  { intros x y Hx Hy. rewrite <- pow_inv. replace (/ (x / y)) with (y / x) by (field; lra). simpl pow. set (a := (x / y) ^ n). set (b := (y / x) ^ n). field. lra. }
  assert (0 < w) as Hw0 by lra. pose proof (Step w G Hw0 HG) as S1. pose proof (Step F v HF0 Hv) as S2.
  apply Rmult_le_compat_l with (r := w - G) in H3; [|lra]. rewrite <- E in S2. lra.
Qed.
(** Whichever is larger *)
Lemma mirrored_terms n r F G : 0 <= r <= 1 -> 0 < F -> 0 < G ->
  quotient_term n G (r * F + (1 - r) * G) + quotient_term n F (r * G + (1 - r) * F)
  <= quotient_term n (r * F + (1 - r) * G) G + quotient_term n (r * G + (1 - r) * F) F.
Proof.
  intros Hr HF HG. destruct (Rle_dec G F) as [H|H]; [now apply mirrored_terms_ordered|].
  pose proof (mirrored_terms_ordered n r G F Hr HF ltac:(lra)). lra.
Qed.

(** ** Pairs of laws that are positive at the same outcomes *)
Definition positive_on {T} (S : T -> Prop) (f : T -> R) : Prop := forall x, 0 <= f x /\ (S x <-> 0 < f x).
Definition mixed {T} (r : R) (f g : T -> R) (x : T) : R := r * f x + (1 - r) * g x.
(** Mixtures are, too *)
Lemma mixed_positive {T} (S : T -> Prop) r f g : 0 <= r <= 1 -> positive_on S f -> positive_on S g -> positive_on S (mixed r f g).
Proof.
  intros Hr Hf Hg x. destruct (Hf x) as [F0 F1], (Hg x) as [G0 G1]. unfold mixed. split; [nra|]. split; intros H.
  - apply F1 in H as HF. apply G1 in H as HG. destruct (Req_dec r 0) as [->|]; nra.
  - destruct F0 as [F0|F0]; [now apply F1|]. apply G1. destruct G0 as [G0|G0]; [easy|]. rewrite <- F0, <- G0 in H. lra.
Qed.
(** Both lists without repetition *)
Lemma union {T} (l l' : list T) : exists L, NoDup L /\ forall x, In x L <-> In x l \/ In x l'.
Proof.
  assert (forall k : list T, exists L, NoDup L /\ forall x, In x L <-> In x k) as H.
  { induction k as [|y k (L & HL & E)]; [exists []; split; [constructor|easy]|]. destruct (classic (In y L)) as [Hy|Hy].
    - exists L. split; [easy|]. intros x. rewrite E. split; [now right|]. intros [->|H]; [now apply E|easy].
    - exists (y :: L). split; [now constructor|]. intros x. simpl. now rewrite E. }
  destruct (H (l ++ l')) as (L & HL & E). exists L. split; [easy|]. intros x. rewrite E. apply in_app_iff.
Qed.
(** A mixture of two laws is a law *)
Lemma mixed_pmf {T} r (f g : T -> R) : 0 <= r <= 1 -> pmf f -> pmf g -> pmf (mixed r f g).
Proof.
  intros Hr [F0 [F1 F2]] [G0 [G1 G2]]. assert (forall l, mass (mixed r f g) l = r * mass f l + (1 - r) * mass g l) as E by (intros; apply mass_lin).
  split; [intros x; unfold mixed; specialize (F0 x); specialize (G0 x); nra|]. split.
  - intros p (l & Hl & _ & ->). rewrite E. assert (mass f l <= 1) by (apply F1; now exists l). assert (mass g l <= 1) by (apply G1; now exists l). nra.
  - intros b Hb. assert (forall l l', NoDup l -> NoDup l' -> r * mass f l + (1 - r) * mass g l' <= b) as H.
    { intros l l' Hl Hl'. destruct (union l l') as (L & HL & EL). apply Rle_trans with (mass (mixed r f g) L); [|apply Hb; now exists L]. rewrite E.
      assert (mass f l <= mass f L) by (apply mass_cover; auto; intros; left; apply EL; now left).
      assert (mass g l' <= mass g L) by (apply mass_cover; auto; intros; left; apply EL; now right). nra. }
    assert (forall l', NoDup l' -> r + (1 - r) * mass g l' <= b) as H'.
    { intros l' Hl'. destruct (Req_dec r 0) as [->|Hr0]; [specialize (H [] l' ltac:(constructor) Hl'); simpl in H; lra|].
      assert (1 <= (b - (1 - r) * mass g l') / r) as X.
      { apply F2. intros p (l & Hl & _ & ->). specialize (H l l' Hl Hl'). apply Rmult_le_reg_l with r; [lra|]. replace (r * ((b - (1 - r) * mass g l') / r)) with (b - (1 - r) * mass g l') by (field; lra). lra. }
      apply Rmult_le_compat_l with (r := r) in X; [|lra]. replace (r * ((b - (1 - r) * mass g l') / r)) with (b - (1 - r) * mass g l') in X by (field; lra). lra. }
    destruct (Req_dec r 1) as [->|Hr1]; [specialize (H' [] ltac:(constructor)); simpl in H'; lra|].
    assert (1 <= (b - r) / (1 - r)) as X.
    { apply G2. intros p (l & Hl & _ & ->). specialize (H' l Hl). apply Rmult_le_reg_l with (1 - r); [lra|]. replace ((1 - r) * ((b - r) / (1 - r))) with (b - r) by (field; lra). lra. }
    apply Rmult_le_compat_l with (r := 1 - r) in X; [|lra]. replace ((1 - r) * ((b - r) / (1 - r))) with (b - r) in X by (field; lra). lra.
Qed.

Section Pairs.
Context {T : Type}.
Variables (S : T -> Prop) (n : nat) (E r : R).
Hypothesis Hr : 0 <= r <= 1.
(** Sums of order n + 1 are at most E *)
Definition within_cost (f g : T -> R) : Prop := positive_on S f /\ positive_on S g /\
  forall l, NoDup l -> (forall x, In x l -> S x) -> mass (fun x => quotient_term n (f x) (g x)) l <= E.
(** Mixtures of pairs cost no more *)
Lemma mixed_within t f g f' g' : 0 <= t <= 1 -> within_cost f g -> within_cost f' g' -> within_cost (mixed t f f') (mixed t g g').
Proof.
  intros Ht (Hf & Hg & H) (Hf' & Hg' & H'). split; [now apply mixed_positive|]. split; [now apply mixed_positive|]. intros l Hl HS.
  apply Rle_trans with (mass (fun x => t * quotient_term n (f x) (g x) + (1 - t) * quotient_term n (f' x) (g' x)) l).
  - apply mass_le. intros x Hx. apply HS in Hx. apply quotient_convex; [easy| | | |]; [now apply Hf|now apply Hg|now apply Hf'|now apply Hg'].
  - rewrite mass_lin. specialize (H l Hl HS). specialize (H' l Hl HS). nra.
Qed.

(** ** One user: the pair f, g with her and without *)
Variables (f g : T -> R).
Hypothesis (Hf : positive_on S f) (Hg : positive_on S g).
(** Removed, from the whole moments c of f/g: a blend of two of them at each factor of the mixture *)
Fixpoint blended (c : nat -> R) (j k : nat) : R :=
  match j with O => c k | Datatypes.S j' => (1 - r) * blended c j' k + r * blended c j' (Datatypes.S k) end.
Lemma blended_moments c : (forall k l, NoDup l -> (forall x, In x l -> S x) -> mass (fun x => g x * (f x / g x) ^ k) l <= c k) ->
  forall j k l, NoDup l -> (forall x, In x l -> S x) -> mass (fun x => g x * (mixed r f g x / g x) ^ j * (f x / g x) ^ k) l <= blended c j k.
Proof.
  intros Hc. induction j as [|j IH]; intros k l Hl HS.
  - simpl. rewrite (mass_ext _ (fun x => g x * (f x / g x) ^ k)) by (intros; ring). auto.
  - cbn [blended]. rewrite (mass_ext _ (fun x => (1 - r) * (g x * (mixed r f g x / g x) ^ j * (f x / g x) ^ k) + r * (g x * (mixed r f g x / g x) ^ j * (f x / g x) ^ Datatypes.S k))).
    + rewrite mass_lin. pose proof (IH k l Hl HS). pose proof (IH (Datatypes.S k) l Hl HS). nra.
    + intros x Hx. apply HS, Hg in Hx. simpl pow. replace (mixed r f g x / g x) with (1 - r + r * (f x / g x)) by (unfold mixed; field; lra). ring.
Qed.
(** So of the mixture *)
Theorem removed_within c : (forall k l, NoDup l -> (forall x, In x l -> S x) -> mass (fun x => g x * (f x / g x) ^ k) l <= c k) ->
  blended c (Datatypes.S n) 0 <= E -> within_cost (mixed r f g) g.
Proof.
  intros Hc HE. split; [now apply mixed_positive|]. split; [easy|]. intros l Hl HS. apply Rle_trans with (2 := HE).
  apply Rle_trans with (2 := blended_moments c Hc (Datatypes.S n) 0 l Hl HS), Req_le, mass_ext. intros x Hx. apply HS, Hg in Hx.
  unfold quotient_term. simpl pow. field. lra.
Qed.
(** Added: no more, where a mirror exchanges f and g. Of an outcome and its mirror image, [mirrored_terms]. *)
Theorem added_within (mirror : T -> T) : (forall x, mirror (mirror x) = x) -> (forall x, f (mirror x) = g x) ->
  within_cost (mixed r f g) g -> within_cost g (mixed r f g).
Proof.
  intros Hm Hfg (Hmix & _ & H). split; [easy|]. split; [easy|]. intros l Hl HS.
  assert (forall x, g (mirror x) = f x) as Hgf by (intros x; rewrite <- Hfg; now rewrite Hm).
  assert (forall x, S (mirror x) <-> S x) as HSm by (intros x; rewrite (proj2 (Hf (mirror x))), (proj2 (Hg x)), Hfg; tauto).
  destruct (union l (map mirror l)) as (L & HL & EL). set (A := fun x => quotient_term n (g x) (mixed r f g x)). set (B := fun x => quotient_term n (mixed r f g x) (g x)).
  assert (forall x, 0 <= A x) as HA by (intros x; apply quotient_term_nonneg; [apply Hg|]; intros X; apply Hmix, Hg, X).
  assert (forall x, In x L -> S x) as HLS.
  { intros x Hx. apply EL in Hx as [Hx|Hx]; [auto|]. apply in_map_iff in Hx as (y & <- & Hy). apply HSm. auto. }
  assert (forall x, In x L -> In x (map mirror L)) as Hclosed.
  { intros x Hx. rewrite <- (Hm x). apply in_map. apply EL in Hx as [Hx|Hx]; apply EL; [right; now apply in_map|left]. apply in_map_iff in Hx as (y & <- & Hy). now rewrite Hm. }
  assert (NoDup (map mirror L)) as HmL by (apply FinFun.Injective_map_NoDup; [intros x y Hxy; rewrite <- (Hm x), <- (Hm y); now f_equal|easy]).
  assert (mass A l <= mass A L) as H1 by (apply mass_cover; auto; intros x Hx; left; apply EL; now left).
  assert (mass A L <= mass (fun x => A (mirror x)) L) as H2 by (rewrite <- (mass_map A mirror L); apply mass_cover; auto).
  assert (mass (fun x => 1 * A x + 1 * A (mirror x)) L <= mass (fun x => 1 * B x + 1 * B (mirror x)) L) as H3.
  { apply mass_le. intros x Hx. apply HLS in Hx. unfold A, B, mixed. rewrite Hfg, Hgf.
    pose proof (mirrored_terms n r (f x) (g x) Hr (proj1 (proj2 (Hf x)) Hx) (proj1 (proj2 (Hg x)) Hx)). lra. }
  rewrite !mass_lin in H3. assert (mass B L <= E) as H4 by now apply H.
  assert (mass (fun x => B (mirror x)) L <= E) as H5.
  { rewrite <- (mass_map B mirror L). apply H; [easy|]. intros x Hx. apply in_map_iff in Hx as (y & <- & Hy). apply HSm. auto. }
  fold A. lra.
Qed.
End Pairs.

(** ** All users: what each sample costs with one of them and without, all samples cost *)
Section Samples.
Context {A T : Type}.
Variables (r : R) (rel : (T -> R) -> (T -> R) -> Prop).
Hypothesis closed : forall f g f' g', rel f g -> rel f' g' -> rel (mixed r f f') (mixed r g g').
(** Sample by sample *)
Lemma sampled_related (M M' : list A -> T -> R) us : (forall s, rel (M s) (M' s)) -> rel (sampled r M us) (sampled r M' us).
Proof.
  revert M M'. induction us as [|u us IH]; intros M M' H; [apply H|]. apply (closed _ _ _ _ (IH (fun s => M (u :: s)) (fun s => M' (u :: s)) (fun s => H _)) (IH M M' H)).
Qed.
End Samples.
(** One user more, wherever she stands *)
Theorem sampled_one_more {A T} r (rel : (T -> R) -> (T -> R) -> Prop) (M : list A -> T -> R) u l us :
  (forall f g f' g', rel f g -> rel f' g' -> rel (mixed r f f') (mixed r g g')) ->
  (forall s s', rel (mixed r (M (s ++ u :: s')) (M (s ++ s'))) (M (s ++ s'))) -> rel (sampled r M (l ++ u :: us)) (sampled r M (l ++ us)).
Proof.
  intros closed. revert M. induction l as [|v l IH]; intros M H.
  - simpl app. set (rel' := fun f g => rel (mixed r f g) g).
    refine (sampled_related r rel' _ (fun s => M (u :: s)) M us _).
    + intros f g f' g' H1 H2. unfold rel' in *. replace (mixed r (mixed r f f') (mixed r g g')) with (mixed r (mixed r f g) (mixed r f' g')) by (apply functional_extensionality; intros x; unfold mixed; ring).
      now apply closed.
    + intros s. apply (H [] s).
  - apply (closed _ _ _ _ (IH (fun s => M (v :: s)) (fun s s' => H (v :: s) s')) (IH M H)).
Qed.
(** The law of what comes out is a law *)
Lemma sampled_pmf {A T} r (M : list A -> T -> R) us : 0 <= r <= 1 -> (forall s, pmf (M s)) -> pmf (sampled r M us).
Proof.
  intros Hr H. refine (sampled_related r (fun f _ => pmf f) _ M M us H).
  intros f g f' g' X Y. now apply mixed_pmf.
Qed.
