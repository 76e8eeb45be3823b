(** Laws whose probabilities are whole numbers over one total: the decision is made in Z. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FinFun.
From ExactDP Require Import Definitions Mass Exponential.
Import ListNotations.
Open Scope R_scope.

(** The excess of one outcome: max(0, u a - e b). *)
Definition positive_part (u e a b : Z) : R := IZR (Z.max 0 (u * a - e * b)).

(** Clearing denominators: [lo] is e^eps in units of 1/p, rounded down; [up] rounded up. *)
Lemma scale_le W p lo e a b m : 0 < W -> 0 < p -> lo <= e * p -> 0 <= b ->
  p * a - lo * b <= m -> a / W - e * (b / W) <= / (W * p) * m.
Proof.
  intros. apply Rmult_le_reg_r with (W * p); [apply Rmult_lt_0_compat; easy|].
  replace ((a / W - e * (b / W)) * (W * p)) with (p * a - e * p * b) by (field; lra).
  replace (/ (W * p) * m * (W * p)) with m by (field; lra). nra.
Qed.
(** The same from below *)
Lemma scale_ge W p up e a b : 0 < W -> 0 < p -> e * p <= up -> 0 <= b ->
  / (W * p) * (p * a - up * b) <= a / W - e * (b / W).
Proof.
  intros. apply Rmult_le_reg_r with (W * p); [apply Rmult_lt_0_compat; easy|].
  replace ((a / W - e * (b / W)) * (W * p)) with (p * a - e * p * b) by (field; lra).
  replace (/ (W * p) * (p * a - up * b) * (W * p)) with (p * a - up * b) by (field; lra). nra.
Qed.
(** Multiply by both denominators *)
Lemma clear_le W p n d x : 0 < W -> 0 < p -> 0 < d -> x * d <= n * (W * p) -> / (W * p) * x <= n / d.
Proof.
  intros. apply Rmult_le_reg_r with (d * (W * p)); [apply Rmult_lt_0_compat; [|apply Rmult_lt_0_compat]; easy|].
  replace (n / d * (d * (W * p))) with (n * (W * p)) by (field; lra).
  replace (/ (W * p) * x * (d * (W * p))) with (x * d) by (field; lra). easy.
Qed.
(** Multiply by both denominators *)
Lemma clear_lt W p n d x : 0 < W -> 0 < p -> 0 < d -> n * (W * p) < x * d -> n / d < / (W * p) * x.
Proof.
  intros. apply Rmult_lt_reg_r with (d * (W * p)); [apply Rmult_lt_0_compat; [|apply Rmult_lt_0_compat]; easy|].
  replace (n / d * (d * (W * p))) with (n * (W * p)) by (field; lra).
  replace (/ (W * p) * x * (d * (W * p))) with (x * d) by (field; lra). easy.
Qed.

(** The others count zero *)
Lemma mass_filter {T} (h : T -> R) p l : mass h (filter p l) = mass (fun k => if p k then h k else 0) l.
Proof. induction l; simpl; [easy|]. destruct (p a); simpl; lra. Qed.
(** Sums are linear *)
Lemma mass_scale {T} (h : T -> R) c l : mass (fun x => c * h x) l = c * mass h l.
Proof. induction l; simpl; [lra|]. rewrite IHl. lra. Qed.
(** A product of sums is a sum over pairs *)
Lemma mass_prod {A B} (f : A -> R) (g : B -> R) l L :
  mass (fun c => f (fst c) * g (snd c)) (list_prod l L) = mass f l * mass g L.
Proof.
  induction l as [|a l IH]; [simpl; ring|]. cbn [list_prod]. rewrite mass_app, mass_map, IH. cbn [mass fst snd].
  rewrite mass_scale. ring.
Qed.
(** Rows are apart *)
Lemma nodup_prod {A B} (l : list A) (L : list B) : NoDup l -> NoDup L -> NoDup (list_prod l L).
Proof.
  intros H HL. induction H as [|a l Ha Hl IH]; [constructor|]. cbn [list_prod]. apply nodup_app; auto.
  - apply Injective_map_NoDup; auto. intros x y E. now injection E.
  - intros [x y] Hx Hy. apply in_map_iff in Hx as (z & E & _). injection E as <- _. apply in_prod_iff in Hy. tauto.
Qed.

Section Pair.
Context {T : Type}.
Variables (A B : T -> Z) (W P : Z) (L : list T) (excess : Z).
Hypotheses (HP : (0 <= P)%Z) (HW : (0 < W)%Z) (HB : forall x, (0 <= B x)%Z).
Let f x := IZR (A x) / IZR W.
Let g x := IZR (B x) / IZR W.

(** The excess of all outcomes, rounded up, is at most delta: then no event exceeds it. *)
Lemma weights_dp eps n d lo : IZR lo <= exp eps * IZR (2 ^ P) -> (0 < d)%Z ->
  (forall x, In x L \/ (2 ^ P * A x <= lo * B x)%Z) ->
  mass (fun x => positive_part (2 ^ P) lo (A x) (B x)) L <= IZR excess ->
  (excess * d <= n * (W * 2 ^ P))%Z -> dp_pair f g eps (IZR n / IZR d).
Proof.
  intros Hlo Hd HL HS Hc. pose proof (IZR_pow2_pos P HP) as HPP. apply IZR_lt in HW, Hd.
  apply dp_pair_excess with (h := fun x => / (IZR W * IZR (2 ^ P)) * positive_part (2 ^ P) lo (A x) (B x)) (L := L).
  - intros k. apply Rmult_le_pos. now apply IZR_le. left. now apply Rinv_0_lt_compat.
  - intros k. apply Rmult_le_pos. left. apply Rinv_0_lt_compat. nra. apply IZR_le. lia.
  - intros k. apply scale_le with (IZR lo); auto. now apply IZR_le.
    rewrite <- !mult_IZR, <- minus_IZR. apply IZR_le. lia.
  - intros k. destruct (HL k) as [H|H]; [now left|right]. unfold positive_part. rewrite Z.max_l by lia. lra.
  - rewrite mass_scale. apply IZR_le in Hc. rewrite !mult_IZR in Hc.
    apply Rle_trans with (/ (IZR W * IZR (2 ^ P)) * IZR excess); [|now apply clear_le].
    apply Rmult_le_compat_l; [|easy]. left. apply Rinv_0_lt_compat. nra.
Qed.

(** The excess, rounded down, is above delta: the event of the outcomes that add to it refutes. *)
Lemma weights_not_dp eps n d up : exp eps * IZR (2 ^ P) <= IZR up -> (0 < d)%Z ->
  IZR excess <= mass (fun x => positive_part (2 ^ P) up (A x) (B x)) L ->
  (n * (W * 2 ^ P) < excess * d)%Z ->
  let l := filter (fun x => 0 <? 2 ^ P * A x - up * B x)%Z L in
  mass f l > exp eps * mass g l + IZR n / IZR d.
Proof.
  intros Hup Hd HS Hc l. pose proof (IZR_pow2_pos P HP) as HPP. apply IZR_lt in HW, Hd.
  assert (/ (IZR W * IZR (2 ^ P)) * IZR excess <= 1 * mass f l + - exp eps * mass g l) as H.
  { apply Rle_trans with (/ (IZR W * IZR (2 ^ P)) * mass (fun x => positive_part (2 ^ P) up (A x) (B x)) L).
    { apply Rmult_le_compat_l; [|easy]. left. apply Rinv_0_lt_compat. nra. }
    rewrite <- mass_scale, <- mass_lin. unfold l. rewrite mass_filter. apply mass_le. intros k _.
    unfold positive_part. assert (0 <= IZR (B k)) by (now apply IZR_le).
    destruct (Z.ltb_spec 0 (2 ^ P * A k - up * B k)).
    - rewrite Z.max_r by lia. rewrite minus_IZR, !mult_IZR. unfold f, g.
      pose proof (scale_ge (IZR W) (IZR (2 ^ P)) (IZR up) (exp eps) (IZR (A k)) (IZR (B k))) as Hs. lra.
    - rewrite Z.max_l by lia. lra. }
  apply IZR_lt in Hc. rewrite !mult_IZR in Hc.
  assert (IZR n / IZR d < / (IZR W * IZR (2 ^ P)) * IZR excess); [|lra].
  apply clear_lt; lra.
Qed.
End Pair.

(** Splitting a check that came out true into its parts. *)
Ltac split_bool H :=
  repeat (match type of H with
          | andb _ _ = true => apply andb_prop in H; let H' := fresh in destruct H as [H H'] end);
  repeat match goal with
  | X : (_ <=? _)%Z = true |- _ => apply Z.leb_le in X
  | X : (_ <? _)%Z = true |- _ => apply Z.ltb_lt in X
  | X : (_ =? _)%Z = true |- _ => apply Z.eqb_eq in X
  | X : (_ <=? _)%nat = true |- _ => apply Nat.leb_le in X end.

(** A quotient of whole numbers that a claim may name. *)
Definition is_ratio (a b : Z) : bool := ((0 <=? a)%Z && (0 <? b)%Z)%bool.
(** A quotient of such *)
Lemma ratio_nonneg a b : is_ratio a b = true -> 0 <= IZR a / IZR b.
Proof.
  unfold is_ratio. intros H. split_bool H.
  apply Rmult_le_pos; [apply IZR_le; lia|left; apply Rinv_0_lt_compat, IZR_lt; lia].
Qed.
(** By definition *)
Lemma ratio_bottom a b : is_ratio a b = true -> (0 < b)%Z.
Proof. unfold is_ratio. intros H. now split_bool H. Qed.
(** By definition *)
Lemma ratio_top a b : is_ratio a b = true -> (0 <= a)%Z.
Proof. unfold is_ratio. intros H. now split_bool H. Qed.
