(** Uses of different mechanisms, adaptively in a fixed order: each is dominated by the pair of discrete
    Laplace noise, and nothing less is enough. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FunctionalExtensionality.
From ExactDP Require Import Definitions Laws Mass Weights DiscreteLaplace Composition LaplacePair LaplaceUses.
Import ListNotations.
Open Scope R_scope.

(** Laws on a part of the outcomes: [i] puts them there, [o] takes them back. *)
Section Part.
Context {U T : Type} (i : U -> T) (o : T -> option U).
Hypothesis there : forall t u, o t = Some u <-> t = i u.
Definition lift (f : U -> R) (t : T) : R := match o t with Some u => f u | None => 0 end.
Fixpoint back (l : list T) : list U :=
  match l with [] => [] | t :: l' => match o t with Some u => u :: back l' | None => back l' end end.
(** Each once *)
Lemma in_back u l : In u (back l) <-> In (i u) l.
Proof.
  induction l as [|t l IH]; [easy|]. simpl. destruct (o t) as [v|] eqn:E; simpl; rewrite IH.
  - apply there in E as ->. split; intros [H|H]; auto; left; [now rewrite H|].
    assert (o (i v) = Some u) as E1 by now apply there. assert (o (i v) = Some v) as E2 by now apply there. congruence.
  - split; [now right|]. intros [H|H]; [|easy]. apply there in H. congruence.
Qed.
(** Each once *)
Lemma back_nodup l : NoDup l -> NoDup (back l).
Proof.
  intros H. induction H as [|t l Hn H IH]; simpl; [constructor|]. destruct (o t) as [u|] eqn:E; auto. constructor; auto.
  rewrite in_back. apply there in E as <-. easy.
Qed.
(** The rest weighs nothing *)
Lemma mass_back (phi : T -> R) (psi : U -> R) l : (forall t, phi t = lift psi t) -> mass phi l = mass psi (back l).
Proof. intros H. induction l as [|t l IH]; [easy|]. simpl. rewrite H, IH. unfold lift. destruct (o t); simpl; ring. Qed.
(** There and back *)
Lemma lift_at f u : lift f (i u) = f u.
Proof. unfold lift. assert (o (i u) = Some u) as -> by now apply there. easy. Qed.
(** Both ends of the embedding are lists *)
Lemma embed_nodup l : NoDup l -> NoDup (map i l).
Proof.
  apply FinFun.Injective_map_NoDup. intros u v E. assert (o (i u) = Some u) as E1 by now apply there.
  rewrite E in E1. apply there in E1. assert (o (i v) = Some v) as E2 by now apply there.
  assert (o (i v) = Some u) as E3 by (rewrite <- E; now apply there). congruence.
Qed.
(** The same sums *)
Lemma lift_pmf f : pmf f -> pmf (lift f).
Proof.
  intros [H0 [H1 H2]]. split; [|split].
  - intros t. unfold lift. destruct (o t); [easy|lra].
  - intros r (l & Hl & _ & ->). rewrite (mass_back _ f) by easy. apply H1. exists (back l). auto using back_nodup.
  - intros b Hb. apply H2. intros r (l & Hl & _ & ->). apply Hb. exists (map i l). repeat split; [now apply embed_nodup|].
    rewrite mass_map. apply mass_ext. intros u _. now rewrite lift_at.
Qed.
(** The same sums *)
Lemma lift_dominated f g p : dominated f g p -> dominated (lift f) (lift g) p.
Proof.
  intros H x y Hx Hy l Hl. rewrite (mass_back _ (fun u => above x y (f u) (g u))); [now apply H, back_nodup|].
  intros t. unfold lift. destruct (o t); [easy|]. unfold above. rewrite !Rmult_0_r, Rminus_0_r. now apply Rmax_left, Rle_refl.
Qed.
End Part.

Definition left_of (y : Z + bool) : option Z := match y with inl k => Some k | inr _ => None end.
Definition right_of (y : Z + bool) : option bool := match y with inl _ => None | inr v => Some v end.
(** By cases *)
Lemma left_there y k : left_of y = Some k <-> y = inl k.
Proof. destruct y; simpl; split; intros E; congruence. Qed.
(** By cases *)
Lemma right_there y v : right_of y = Some v <-> y = inr v.
Proof. destruct y; simpl; split; intros E; congruence. Qed.

(** All excess but a share z, on a finite list of outcomes, whatever comes after *)
Definition attained {T} (f g : T -> R) (p : pair) : Prop :=
  forall z, 0 < z -> exists l, NoDup l /\ forall ps x y, 0 <= x -> 0 <= y ->
    (1 - z) * product_above (p :: ps) x y <= mass (fun k => product_above ps (x * f k) (y * g k)) l.
(** On the same outcomes *)
Lemma lift_attained {U T} (i : U -> T) o f g p : (forall t u, o t = Some u <-> t = i u) -> attained f g p -> attained (lift o f) (lift o g) p.
Proof.
  intros there H z Hz. destruct (H z Hz) as (l & Hl & Hm). exists (map i l). split; [now apply (embed_nodup i o)|].
  intros ps x y Hx Hy. rewrite mass_map. apply Rle_trans with (1 := Hm ps x y Hx Hy), Req_le, mass_ext.
  intros u _. now rewrite !(lift_at i o there).
Qed.

(** Discrete Laplace noise: a window that is large enough *)
Lemma laplace_attained t Delta : 0 < t -> (0 < Delta)%nat ->
  attained (fun k => discrete_laplace t (k - Z.of_nat Delta)%Z) (discrete_laplace t) (laplace_pair t Delta).
Proof.
  intros Ht HD z Hz. pose proof (rate t Ht) as Ha.
  destruct (pow_lt_1_zero (exp (- (1 / t))) ltac:(rewrite Rabs_right; lra) _ Hz) as [n Hn]. specialize (Hn (S n) ltac:(lia)).
  pose proof (power_range t Ht (S n)) as Hp. rewrite Rabs_right in Hn by lra.
  exists (window Delta n). split; [now apply window_nodup|]. intros ps x y Hx Hy.
  apply Rle_trans with (2 := window_step t Delta Ht HD ps n x y Hx Hy).
  apply Rmult_le_compat_r; [apply product_above_nonneg|lra].
Qed.

(** Randomized response is discrete Laplace noise of sensitivity 1 of which only the side is seen. *)
Section Response.
Variable e : R.
Hypothesis He : 0 < e.
Let a := exp (- (1 / (1 / e))).
Let p := laplace_pair (1 / e) 1.
(** Its parameters *)
Lemma response_rate : 0 < a < 1 /\ exp e = / a.
Proof.
  split; [apply rate, Rdiv_lt_0_compat; lra|]. unfold a. rewrite <- exp_Ropp. f_equal. field. lra.
Qed.
(** The law in terms of a *)
Lemma response_at b v : randomized_response e b v = if Bool.eqb b v then 1 / (1 + a) else a / (1 + a).
Proof.
  destruct response_rate as [Ha E]. unfold randomized_response. rewrite E. destruct (Bool.eqb b v); field; lra.
Qed.
(** Two probabilities *)
Lemma response_pmf b : pmf (randomized_response e b).
Proof.
  destruct response_rate as [Ha E]. apply pmf_finite with (L := [true; false]).
  - intros v. rewrite response_at. assert (0 < / (1 + a)) by (apply Rinv_0_lt_compat; lra). destruct (Bool.eqb b v); unfold Rdiv; nra.
  - repeat constructor; simpl; intuition congruence.
  - intros [|]; left; simpl; auto.
  - simpl. rewrite !response_at. destruct b; simpl; field; lra.
Qed.
(** The pair, point by point *)
Lemma response_pair ps x y : product_above (p :: ps) x y
  = product_above ps (x * (a / (1 + a))) (y * (1 / (1 + a))) + product_above ps (x * (1 / (1 + a))) (y * (a / (1 + a))).
Proof.
  unfold p. simpl. unfold share. simpl. fold a. rewrite !Rmult_1_r, !Rmult_1_l, Rplus_0_r. f_equal.
Qed.
(** Of two bits, or twice of the same one *)
Lemma response_dominated b b' : dominated (randomized_response e b) (randomized_response e b') p.
Proof.
  intros x y Hx Hy l Hl. destruct response_rate as [Ha E].
  apply Rle_trans with (mass (fun v => above x y (randomized_response e b v) (randomized_response e b' v)) [true; false]).
  { apply mass_cover; auto; [intros; apply above_nonneg|]. intros [|] _; left; simpl; auto. }
  pose proof (response_pair [] x y) as Hp. cbn [product_above] in Hp. fold p in Hp.
  change (mass (fun u => Rmax 0 (x * left p u - y * right p u)) (points p)) with (mass (fun u => above x y (left p u) (right p u)) (points p)) in Hp.
  rewrite Hp. cbn [mass]. rewrite !response_at. unfold above.
  set (w := 1 / (1 + a)). replace (a / (1 + a)) with (a * w) by (unfold w; field; lra).
  assert (0 < w) by (unfold w; apply Rdiv_lt_0_compat; lra).
  pose proof (Rmax_l 0 (x * (a * w) - y * w)). pose proof (Rmax_r 0 (x * (a * w) - y * w)).
  pose proof (Rmax_l 0 (x * w - y * (a * w))). pose proof (Rmax_r 0 (x * w - y * (a * w))).
  assert (0 < a * w) by nra. assert (forall c, 0 < c -> Rmax 0 (x * c - y * c) = c * Rmax 0 (x - y)) as Hc.
  { intros c Hc. rewrite <- RmaxRmult by lra. f_equal; ring. }
  assert (a * w = 1 - w) as Ev by (unfold w; field; lra). set (v := a * w) in *. clearbody v. subst v.
  assert (Rmax 0 (x - y) <= Rmax 0 (x * (1 - w) - y * w) + Rmax 0 (x * w - y * (1 - w))) by (apply Rmax_case; lra).
  destruct b, b'; simpl; try lra; rewrite !Hc by easy; lra.
Qed.
(** Both bits are all outcomes *)
Lemma response_attained : attained (randomized_response e true) (randomized_response e false) p.
Proof.
  intros z Hz. exists [true; false]. split; [repeat constructor; simpl; intuition congruence|]. intros ps x y Hx Hy.
  pose proof (product_above_nonneg (p :: ps) x y). apply Rle_trans with (product_above (p :: ps) x y); [nra|].
  rewrite response_pair. cbn [mass]. rewrite !response_at. simpl. lra.
Qed.
End Response.

Definition proper (u : use) : Prop := match u with Laplace t Delta => 0 < t /\ (0 < Delta)%Z | Response e => 0 < e end.
Definition pair_of (u : use) : pair :=
  match u with Laplace t Delta => laplace_pair t (Z.to_nat Delta) | Response e => laplace_pair (1 / e) 1 end.

(** Products of such *)
Lemma pairs_positive us : Forall proper us -> Forall positive_pair (map pair_of us).
Proof.
  intros H. induction H as [|[t Delta|e] us Hu H IH]; constructor; auto; simpl in *.
  - now apply laplace_pair_positive. - apply laplace_pair_positive, Rdiv_lt_0_compat; lra.
Qed.

Section Lists.
Variable us : list use.
Hypothesis proper_us : Forall proper us.

(** Use by use *)
Theorem list_is_dp eps delta : product_above (map pair_of us) 1 (exp eps) <= delta -> list_dp us eps delta.
Proof.
  intros Hd D adj Ms HM. apply adaptive_composition with (ps := map pair_of us); [|now apply pairs_positive| |easy].
  all: clear Hd; induction HM as [|u M us' Ms' Hu HM IH]; simpl; constructor; try (inversion proper_us; now apply IH).
  all: inversion proper_us as [|? ? Hp ?]; subst; destruct u as [t Delta|e]; simpl in Hu, Hp.
  - destruct Hu as (q & Hq & Hu). intros past d. replace (M past d) with (lift left_of (add_noise (discrete_laplace t) (q past) d)).
    + apply (lift_pmf inl left_of left_there). apply (pmf_shift (discrete_laplace t) (- q past d)). now apply laplace_pmf.
    + apply functional_extensionality. intros y. rewrite Hu. now destruct y.
  - destruct Hu as (b & Hu). intros past d. replace (M past d) with (lift right_of (randomized_response e (b past d))).
    + apply (lift_pmf inr right_of right_there). now apply response_pmf.
    + apply functional_extensionality. intros y. rewrite Hu. now destruct y.
  - destruct Hu as (q & Hq & Hu). intros past d d' Hadj.
    assert (forall d, M past d = lift left_of (add_noise (discrete_laplace t) (q past) d)) as E
      by (intros d0; apply functional_extensionality; intros y; rewrite Hu; now destruct y).
    rewrite !E. apply (lift_dominated inl left_of left_there). destruct Hp as [Ht HD].
    intros x y Hx Hy l Hl. unfold add_noise. specialize (Hq past d d' Hadj).
    pose proof (laplace_dominated t (Z.to_nat Delta) Ht ltac:(lia) (q past d - q past d')%Z ltac:(lia) x y Hx Hy (map (fun k => (k + - q past d')%Z) l) (NoDup_shift _ l Hl)) as Hm.
    rewrite mass_map in Hm. refine (Rle_trans _ _ _ (Req_le _ _ _) Hm). apply mass_ext. intros k _. do 2 f_equal; lia.
  - destruct Hu as (b & Hu). intros past d d' Hadj.
    assert (forall d, M past d = lift right_of (randomized_response e (b past d))) as E
      by (intros d0; apply functional_extensionality; intros y; rewrite Hu; now destruct y).
    rewrite !E. apply (lift_dominated inr right_of right_there). now apply response_dominated.
Qed.
End Lists.

(** Sequences of outcomes that attain the product of the pairs, but for a share *)
Lemma list_attained {T} (fs : list (bool -> T -> R)) ps :
  Forall2 (fun f p => (forall d y, 0 <= f d y) /\ attained (f true) (f false) p) fs ps ->
  forall z, 0 < z <= 1 -> exists L, NoDup L /\ forall x y past, 0 <= x -> 0 <= y ->
    (1 - z) ^ length fs * product_above ps x y
    <= mass (fun ys => above x y (adaptive (map (fun f _ d => f d) fs) past true ys) (adaptive (map (fun f _ d => f d) fs) past false ys)) L.
Proof.
  intros H z Hz. induction H as [|f p fs ps [Hf Hp] H (L & HL & IH)].
  - exists [[]]. split; [repeat constructor; easy|]. intros x y past Hx Hy. simpl. unfold above. rewrite !Rmult_1_r. lra.
  - destruct (Hp z (proj1 Hz)) as (l & Hl & Hm). exists (heads l L). split; [now apply heads_nodup|]. intros x y past Hx Hy.
    rewrite mass_heads. cbn [length map pow]. assert (0 <= (1 - z) ^ length fs) by (apply pow_le; lra).
    apply Rle_trans with ((1 - z) ^ length fs * mass (fun k => product_above ps (x * f true k) (y * f false k)) l).
    { pose proof (Hm ps x y Hx Hy). nra. }
    rewrite <- mass_scale. apply mass_le. intros k _.
    refine (Rle_trans _ _ _ (IH (x * f true k) (y * f false k) (k :: past) _ _) (Req_le _ _ _)); try (apply Rmult_le_pos; auto).
    apply mass_ext. intros ys _. cbn [adaptive map]. unfold above. f_equal. ring.
Qed.

(** Each use asked for what differs most, whatever came before *)
Definition law_of (u : use) (d : bool) : Z + bool -> R :=
  match u with
  | Laplace t Delta => lift left_of (fun k => discrete_laplace t (k - if d then Delta else 0)%Z)
  | Response e => lift right_of (randomized_response e d)
  end.
(** Of both kinds *)
Lemma law_of_pmf u d : proper u -> pmf (law_of u d).
Proof.
  destruct u as [t Delta|e]; simpl.
  - intros [Ht HD]. apply (lift_pmf inl left_of left_there). exact (pmf_shift (discrete_laplace t) (- if d then Delta else 0)%Z (laplace_pmf t Ht)).
  - intros He. apply (lift_pmf inr right_of right_there). now apply response_pmf.
Qed.
(** Of both kinds *)
Lemma law_of_attained u : proper u -> attained (law_of u true) (law_of u false) (pair_of u).
Proof.
  destruct u as [t Delta|e]; simpl.
  - intros [Ht HD]. apply (lift_attained inl left_of _ _ _ left_there).
    pose proof (laplace_attained t (Z.to_nat Delta) Ht ltac:(lia)) as H. rewrite Z2Nat.id in H by lia.
    intros z Hz. destruct (H z Hz) as (l & Hl & Hm). exists l. split; [easy|]. intros ps x y Hx Hy.
    apply Rle_trans with (1 := Hm ps x y Hx Hy), Req_le, mass_ext. intros k _. now rewrite Z.sub_0_r.
  - intros He. apply (lift_attained inr right_of _ _ _ right_there). now apply response_attained.
Qed.

(** Refuted on sequences that attain enough *)
Theorem list_is_not_dp us eps delta : Forall proper us -> 0 <= delta -> delta < product_above (map pair_of us) 1 (exp eps) -> list_not_dp us eps delta.
Proof.
  intros Hus Hdelta H. set (E := product_above (map pair_of us) 1 (exp eps)) in *. set (m := length us).
  pose proof (pos_INR m) as Hm. assert (0 < E * (INR m + 1)) by (apply Rmult_lt_0_compat; lra).
  set (z := (E - delta) / (E * (INR m + 1))). assert (z * (E * (INR m + 1)) = E - delta) as Ez by (unfold z; field; lra).
  assert (0 < z) as Hz by (apply Rdiv_lt_0_compat; lra).
  assert (z <= 1) as Hz1 by (apply Rmult_le_reg_r with (E * (INR m + 1)); [easy|nra]).
  destruct (list_attained (map law_of us) (map pair_of us)) with (z := z) as (L & HL & Hle); [|easy|].
  { clear - Hus. induction Hus; simpl; constructor; auto. split; [intros d; now apply law_of_pmf|now apply law_of_attained]. }
  specialize (Hle 1 (exp eps) [] ltac:(lra) (Rlt_le _ _ (exp_pos eps))). rewrite map_length in Hle. fold E m in Hle.
  assert (delta < (1 - z) ^ m * E) as Hlow.
  { pose proof (bernoulli z m ltac:(lra)). assert ((1 - INR m * z) * E <= (1 - z) ^ m * E) by (apply Rmult_le_compat_r; lra). nra. }
  set (Ms := map (fun f (_ : list (Z + bool)) d => f d) (map law_of us)) in *.
  exists bool, differ, Ms. split.
  { unfold Ms. clear - Hus. induction Hus as [|u us Hu Hus IH]; simpl; constructor; auto. destruct u as [t Delta|e]; simpl in *.
    - exists (fun (_ : list (Z + bool)) (d : bool) => if d then Delta else 0%Z). split; [intros _ [|] [|] Hd; lia|]. intros past d [k|v]; easy.
    - exists (fun (_ : list (Z + bool)) (d : bool) => d). intros past d [k|v]; easy. }
  assert (Forall laws Ms) as HM.
  { unfold Ms. clear - Hus. induction Hus; simpl; constructor; auto. intros past d. now apply law_of_pmf. }
  set (gains := fun ys => if Rlt_dec 0 (1 * adaptive Ms [] true ys - exp eps * adaptive Ms [] false ys) then true else false).
  apply not_dp_intro with (d := true) (d' := false) (l := filter gains L).
  - intros d. now apply adaptive_pmf.
  - discriminate.
  - now apply NoDup_filter.
  - assert (mass (fun ys => 1 * adaptive Ms [] true ys + - exp eps * adaptive Ms [] false ys) (filter gains L)
      = mass (fun ys => above 1 (exp eps) (adaptive Ms [] true ys) (adaptive Ms [] false ys)) L) as Hg.
    { rewrite mass_filter. apply mass_ext. intros ys _. unfold gains, above.
      destruct (Rlt_dec 0 _); [rewrite Rmax_right; lra|rewrite Rmax_left; lra]. }
    rewrite mass_lin in Hg. lra.
Qed.
