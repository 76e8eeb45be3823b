(** Discrete Gaussian noise: the normaliser is bounded by a partial sum, the tails by a geometric
    series, the weights by recurrences in whole numbers. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FinFun.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables BinomialTail.
Import ListNotations.
Open Scope R_scope.

(** ** A tail whose terms fall at least geometrically *)
Lemma zseq_app n m : forall s, zseq s (n + m) = zseq s n ++ zseq (s + Z.of_nat n) m.
Proof.
  induction n; intros s; [simpl; f_equal; lia|]. cbn [Nat.add zseq app]. f_equal. rewrite IHn. do 2 f_equal. lia.
Qed.
(** A list has a largest member *)
Lemma list_below (l : list Z) s : exists n, forall x, In x l -> (x < s + Z.of_nat n)%Z.
Proof.
  induction l as [|a l [n IH]]; [exists O; easy|]. exists (Nat.max n (Z.to_nat (a + 1 - s))).
  intros x [<-|Hx]; [lia|]. apply IH in Hx. lia.
Qed.
(** Terms that fall by a factor sum like a geometric series *)
Lemma geometric (g : Z -> R) a m : 0 <= a < 1 -> (forall k, (m <= k)%Z -> 0 <= g k) ->
  (forall k, (m <= k)%Z -> g (k + 1)%Z <= a * g k) ->
  forall n s, (m <= s)%Z -> mass g (zseq s n) <= g s / (1 - a).
Proof.
  intros Ha H0 Hg. induction n; intros s Hs; cbn [zseq mass].
  - apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; lra].
  - specialize (IHn (s + 1)%Z ltac:(lia)). specialize (Hg s Hs).
    assert (g (s + 1)%Z / (1 - a) <= a * g s / (1 - a)).
    { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|easy]. }
    replace (g s / (1 - a)) with (g s + a * g s / (1 - a)) by (field; lra). lra.
Qed.

(** What is zero below s and falls geometrically from s + n on. *)
Lemma mass_tail (g : Z -> R) a s n l : 0 <= a < 1 -> (forall k, 0 <= g k) ->
  (forall k, (k < s)%Z -> g k = 0) ->
  (forall k, (s + Z.of_nat n <= k)%Z -> g (k + 1)%Z <= a * g k) -> NoDup l ->
  mass g l <= mass g (zseq s n) + g (s + Z.of_nat n)%Z / (1 - a).
Proof.
  intros Ha H0 Hs Hg Hl. destruct (list_below l s) as [m Hm].
  apply Rle_trans with (mass g (zseq s (n + m))).
  - apply mass_cover; auto. intros x Hx. rewrite in_zseq. specialize (Hm x Hx).
    destruct (Z_lt_dec x s); [right; auto|left; lia].
  - rewrite zseq_app, mass_app. apply Rplus_le_compat_l.
    apply geometric with (m := (s + Z.of_nat n)%Z); auto. lia.
Qed.

(** ** What is even, and falls at least geometrically after n *)
Section Even.
Variables (w : Z -> R) (a : R) (n : nat).
Hypotheses (Hpos : forall k, 0 <= w k) (Heven : forall k, w (- k)%Z = w k) (Ha : 0 <= a < 1).
Hypothesis (Hfall : forall k, (Z.of_nat n < k)%Z -> w (k + 1)%Z <= a * w k).
Let half (k : Z) : R := if (k <? 1)%Z then 0 else w k.
Let rest : R := w (Z.of_nat n + 1)%Z / (1 - a).
(** One side: listed weights, then a geometric tail *)
Lemma half_le l : NoDup l -> mass half l <= mass w (zseq 1 n) + rest.
Proof.
  intros Hl. unfold rest. replace (Z.of_nat n + 1)%Z with (1 + Z.of_nat n)%Z by lia.
  assert (forall k, 0 <= half k) as H0 by (intros; unfold half; destruct (_ <? _)%Z; [lra|easy]).
  assert (forall k, (1 <= k)%Z -> half k = w k) as H1 by (intros; unfold half; now rewrite (proj2 (Z.ltb_ge _ _))).
  eapply Rle_trans; [apply (mass_tail half _ 1 n l Ha); auto|].
  - intros k Hk. unfold half. now rewrite (proj2 (Z.ltb_lt _ _)).
  - intros k Hk. rewrite !H1 by lia. apply Hfall. lia.
  - rewrite H1 by lia. rewrite (mass_ext half w); [lra|]. intros k Hk. apply in_zseq in Hk. apply H1. lia.
Qed.
(** Zero and two sides *)
Lemma even_le l : NoDup l -> mass w l <= w 0%Z + 2 * (mass w (zseq 1 n) + rest).
Proof.
  intros Hl. set (at0 := fun k => if (k =? 0)%Z then w 0%Z else 0).
  rewrite (mass_ext w (fun k => 1 * at0 k + 1 * (1 * half k + 1 * half (- k)%Z))).
  - rewrite (mass_lin at0), (mass_lin half (fun k => half (- k)%Z)).
    assert (mass at0 l <= mass at0 [0%Z]).
    { apply mass_cover; auto.
      - intros x. unfold at0. destruct (_ =? _)%Z; [easy|lra].
      - intros x _. unfold at0. destruct (Z.eqb_spec x 0); [subst; left; now left|now right]. }
    cbn [mass] in *. unfold at0 in H. rewrite Z.eqb_refl in H. fold at0 in H.
    pose proof (half_le l Hl). pose proof (half_le (map Z.opp l)) as Hr. rewrite mass_map in Hr.
    specialize (Hr ltac:(apply Injective_map_NoDup; auto; intros x y; lia)). lra.
  - intros k _. unfold at0, half. destruct (Z.eqb_spec k 0) as [->|]; [simpl; lra|].
    destruct (Z.ltb_spec k 1), (Z.ltb_spec (- k) 1); try lia; rewrite ?Heven; lra.
Qed.
End Even.

(** ** The weights *)
Section Gauss.
Variable s2 : R.
Hypothesis Hs2 : 0 < s2.
Let w := gauss_weight s2.

(** exp is *)
Lemma w_pos k : 0 < w k.
Proof. apply exp_pos. Qed.
(** Squares are even *)
Lemma w_neg k : w (- k) = w k.
Proof. unfold w, gauss_weight. do 4 f_equal. lia. Qed.
(** (k+1)^2 = k^2 + 2k + 1 *)
Lemma w_step k : w (k + 1) = w k * exp (- (IZR (2 * k + 1) / (2 * s2))).
Proof.
  unfold w, gauss_weight. rewrite <- exp_plus. f_equal.
  replace ((k + 1) * (k + 1))%Z with (k * k + (2 * k + 1))%Z by lia. rewrite (plus_IZR (k * k)). field. lra.
Qed.
(** exp rises *)
Lemma exp_down x y : x <= y -> exp (- y) <= exp (- x).
Proof. intros [H| ->]; [left; apply exp_increasing; lra|lra]. Qed.
(** Division by a positive number *)
Lemma over_le x y : x <= y -> x / (2 * s2) <= y / (2 * s2).
Proof. intros. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|easy]. Qed.
(** The ratio falls in k *)
Lemma w_falls m k : (m <= k)%Z -> w (k + 1) <= exp (- (IZR (2 * m + 1) / (2 * s2))) * w k.
Proof.
  intros H. rewrite w_step, Rmult_comm. apply Rmult_le_compat_r; [left; apply w_pos|].
  apply exp_down, over_le, IZR_le. lia.
Qed.
(** Its exponent is negative *)
Lemma decay_lt m : (0 <= m)%Z -> 0 <= exp (- (IZR (2 * m + 1) / (2 * s2))) < 1.
Proof.
  intros H. split; [left; apply exp_pos|]. rewrite <- exp_0. apply exp_increasing.
  assert (0 < IZR (2 * m + 1) / (2 * s2)); [|lra]. apply Rdiv_lt_0_compat; [apply IZR_lt; lia|lra].
Qed.

(** The sum of all weights: at most those within n on both sides and two tails. *)
Definition rest (n : nat) : R := w (Z.of_nat n + 1) / (1 - exp (- (IZR (2 * (Z.of_nat n + 1) + 1) / (2 * s2)))).
(** By even_le *)
Lemma all_le n l : NoDup l -> mass w l <= w 0 + 2 * (mass w (zseq 1 n) + rest n).
Proof.
  apply even_le; [intros; left; apply w_pos|exact w_neg|apply decay_lt; lia|]. intros k Hk. apply w_falls. lia.
Qed.

(** The law exists, is a law, and is the only one of these weights. *)
Theorem gauss_exists : exists f, discrete_gaussian s2 f.
Proof.
  destruct (has_prob_exists w (fun _ => True) (w 0 + 2 * (mass w (zseq 1 0) + rest 0))) as [N HN].
  - intros l Hl. now apply all_le.
  - exists (fun k => w k / N), N. split; [exact HN|reflexivity].
Qed.
(** A supremum is unique *)
Theorem gauss_unique f g : discrete_gaussian s2 f -> discrete_gaussian s2 g -> forall k, f k = g k.
Proof.
  intros (N & HN & Hf) (N' & HN' & Hg) k. rewrite Hf, Hg. now rewrite (has_prob_unique _ _ _ _ HN HN').
Qed.
(** A supremum bounds every sum *)
Lemma normaliser_ge N l : has_prob w (fun _ => True) N -> NoDup l -> mass w l <= N.
Proof. intros [H _] Hl. apply H. now exists l. Qed.
(** It is at least the weight of zero *)
Lemma normaliser_pos N : has_prob w (fun _ => True) N -> 0 < N.
Proof.
  intros HN. pose proof (normaliser_ge N [0%Z] HN ltac:(repeat constructor; easy)) as H.
  cbn [mass] in H. pose proof (w_pos 0). lra.
Qed.
(** It is the least bound *)
Lemma normaliser_le N n : has_prob w (fun _ => True) N -> N <= w 0 + 2 * (mass w (zseq 1 n) + rest n).
Proof. intros [_ H]. apply H. intros r (l & Hl & _ & ->). now apply all_le. Qed.
(** Weights over their own sum *)
Lemma gauss_pmf f : discrete_gaussian s2 f -> pmf f.
Proof.
  intros (N & HN & Hf). fold w in HN, Hf. pose proof (normaliser_pos N HN) as HN0. split.
  - intros k. rewrite Hf. apply Rmult_le_pos; [left; apply w_pos|left; now apply Rinv_0_lt_compat].
  - assert (forall l, mass f l = / N * mass w l) as Hm
      by (intros l; rewrite <- mass_scale; apply mass_ext; intros; rewrite Hf; unfold Rdiv; ring).
    destruct HN as [H1 H2]. split.
    + intros r (l & Hl & _ & ->). rewrite Hm. apply Rmult_le_reg_l with N; [easy|].
      rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra. apply H1. now exists l.
    + intros b Hb. apply Rmult_le_reg_l with N; [easy|]. rewrite Rmult_1_r. apply H2.
      intros r (l & Hl & _ & ->). specialize (Hb (mass f l)). rewrite Hm in Hb.
      apply Rmult_le_reg_l with (/ N); [now apply Rinv_0_lt_compat|].
      rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. apply Hb. exists l. rewrite Hm. auto.
Qed.

(** ** A shift by s > 0 favours just the outcomes from k0 on *)
Section Shift.
Variables (s k0 : Z) (eps : R).
Hypothesis Hs : (0 < s)%Z.
(** (k-s)^2 = k^2 - (2ks - s^2) *)
Lemma shifted k : w (k - s) = exp (IZR (2 * k * s - s * s) / (2 * s2)) * w k.
Proof.
  unfold w, gauss_weight. rewrite <- exp_plus. f_equal.
  replace ((k - s) * (k - s))%Z with (k * k - (2 * k * s - s * s))%Z by lia. rewrite minus_IZR. field. lra.
Qed.
(** The ratio rises in k *)
Lemma below k : IZR (2 * (k0 - 1) * s - s * s) / (2 * s2) <= eps -> (k < k0)%Z -> w (k - s) <= exp eps * w k.
Proof.
  intros H Hk. rewrite shifted. apply Rmult_le_compat_r; [left; apply w_pos|].
  assert (IZR (2 * k * s - s * s) / (2 * s2) <= eps) as [E|E].
  - eapply Rle_trans; [apply over_le, IZR_le|exact H]. nia.
  - left. now apply exp_increasing.
  - rewrite E. lra.
Qed.

(** The excess of the shifted law: listed outcomes k0 .. k0+n-1 ([S] bounds theirs), then a tail. *)
Lemma gauss_pair f N n S : discrete_gaussian s2 f -> has_prob w (fun _ => True) N ->
  (0 <= k0 + Z.of_nat n - s)%Z -> IZR (2 * (k0 - 1) * s - s * s) / (2 * s2) <= eps ->
  mass (fun k => Rmax 0 (w (k - s) - exp eps * w k)) (zseq k0 n) <= S ->
  dp_pair (fun k => f (k - s)%Z) f eps
    ((S + w (k0 + Z.of_nat n - s) / (1 - exp (- (IZR (2 * (k0 + Z.of_nat n - s) + 1) / (2 * s2))))) / N).
Proof.
  intros (N' & HN' & Hf) HN Hm H HS. fold w in HN', Hf. rewrite <- (has_prob_unique _ _ _ _ HN HN') in Hf. clear N' HN'.
  pose proof (normaliser_pos N HN) as HN0.
  set (m := (k0 + Z.of_nat n - s)%Z) in *. set (a := exp (- (IZR (2 * m + 1) / (2 * s2)))).
  pose proof (decay_lt m Hm) as Ha. fold a in Ha.
  set (g := fun k => if (k <? k0)%Z then 0 else if (k <? k0 + Z.of_nat n)%Z then Rmax 0 (w (k - s) - exp eps * w k) else w (k - s)).
  assert (forall k, 0 <= g k) as Hg0.
  { intros k. unfold g. destruct (_ <? _)%Z; [lra|]. destruct (_ <? _)%Z; [apply Rmax_l|left; apply w_pos]. }
  assert (forall k, w (k - s) - exp eps * w k <= g k) as Hg.
  { intros k. unfold g. pose proof (w_pos k). pose proof (exp_pos eps).
    destruct (Z.ltb_spec k k0); [pose proof (below k H ltac:(easy)); lra|].
    destruct (_ <? _)%Z; [apply Rmax_r|nra]. }
  apply dp_pair_intro.
  - intros k. rewrite Hf. apply Rmult_le_pos; [left; apply w_pos|left; now apply Rinv_0_lt_compat].
  - intros l Hl.
    assert (mass (fun k => f (k - s)%Z) l - exp eps * mass f l <= / N * mass g l) as H1.
    { replace (mass (fun k => f (k - s)%Z) l - exp eps * mass f l) with (1 * mass (fun k => f (k - s)%Z) l + - exp eps * mass f l) by ring.
      rewrite <- mass_lin, <- mass_scale. apply mass_le. intros k _. rewrite !Hf. specialize (Hg k).
      apply Rmult_le_compat_l with (r := / N) in Hg; [|left; now apply Rinv_0_lt_compat]. unfold Rdiv. lra. }
    eapply Rle_trans; [exact H1|]. unfold Rdiv at 1. rewrite Rmult_comm.
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
    eapply Rle_trans; [apply (mass_tail g a k0 n l Ha Hg0)|]; auto.
    + intros k Hk. unfold g. now rewrite (proj2 (Z.ltb_lt _ _)).
    + intros k Hk. unfold g. rewrite !(proj2 (Z.ltb_ge _ _)) by lia.
      replace (k + 1 - s)%Z with ((k - s) + 1)%Z by lia. apply w_falls. lia.
    + rewrite (mass_ext g (fun k => Rmax 0 (w (k - s) - exp eps * w k)) (zseq k0 n)).
      * apply Rplus_le_compat; [easy|]. unfold g. rewrite !(proj2 (Z.ltb_ge _ _)) by lia. apply Rle_refl.
      * intros k Hk. apply in_zseq in Hk. unfold g.
        rewrite (proj2 (Z.ltb_ge _ _)), (proj2 (Z.ltb_lt k (k0 + _))) by lia. easy.
Qed.
End Shift.
End Gauss.

(** ** The check in whole numbers: enclosures (lower, upper) in units of 2^-P *)
Open Scope Z_scope.
Definition up (P x : Z) : Z := Z.shiftr x P + 1.
(** e^(a/b) for a of either sign *)
Definition exp_box (r : nat) (P a b : Z) : Z * Z :=
  if 0 <=? a then (exp_below r P a b, exp_above r P a b)
  else (2 ^ (2 * P) / exp_above r P (- a) b, 2 ^ (2 * P) / exp_below r P (- a) b + 1).
(** e^(-k^2 v/(2u)) for n values of k from some on: each is the last times a ratio, which falls. *)
Fixpoint boxes (n : nat) (P : Z) (fall ratio w : Z * Z) : list (Z * Z) :=
  match n with
  | O => []
  | S m => w :: boxes m P fall (Z.shiftr (fst ratio * fst fall) P, up P (snd ratio * snd fall))
                               (Z.shiftr (fst w * fst ratio) P, up P (snd w * snd ratio))
  end.
Definition weights_from (r : nat) (P u v k : Z) (n : nat) : list (Z * Z) :=
  boxes n P (exp_box r P (- v) u) (exp_box r P (- (2 * k + 1) * v) (2 * u)) (exp_box r P (- (k * k) * v) (2 * u)).
Fixpoint sum_of (part : Z * Z -> Z) (l : list (Z * Z)) : Z :=
  match l with [] => 0 | x :: l' => part x + sum_of part l' end.
(** scale w(m)/(1 - a), rounded up: the tail from m on, where a is the ratio there. *)
Definition tail_above (r : nat) (P u v m scale : Z) : Z :=
  snd (exp_box r P (- (m * m) * v) (2 * u)) * scale / (2 ^ P - snd (exp_box r P (- (2 * m + 1) * v) (2 * u))) + 1.
Close Scope Z_scope.

Definition within (P : Z) (x : R) (box : Z * Z) : Prop :=
  (0 <= fst box)%Z /\ IZR (fst box) <= x * IZR (2 ^ P) <= IZR (snd box).

(** Squares of what is at least one stay so *)
Lemma exp_below_pos r P a b : (0 <= P)%Z -> (0 <= a)%Z -> (0 < b)%Z -> (0 < exp_below r P a b)%Z.
Proof.
  intros HP Ha Hb. assert (0 < 2 ^ P)%Z as HPP by (apply Z.pow_pos_nonneg; lia).
  assert (forall n y, (2 ^ P <= y)%Z -> (2 ^ P <= square_down n P y)%Z) as H.
  { induction n; intros y Hy; [easy|]. cbn [square_down]. apply IHn. rewrite Z.shiftr_div_pow2 by easy.
    apply Z.div_le_lower_bound; nia. }
  enough (2 ^ P <= exp_below r P a b)%Z by lia. apply H.
  assert (0 <= a * 2 ^ P / (b * 2 ^ Z.of_nat r))%Z; [|lia].
  apply Z.div_pos; [nia|]. apply Z.mul_pos_pos; [easy|apply Z.pow_pos_nonneg; lia].
Qed.
(** Negative exponents by the reciprocal *)
Lemma exp_box_ok r P a b : (0 <= P)%Z -> (0 < b)%Z -> (Z.abs a < b * 2 ^ Z.of_nat r)%Z ->
  within P (exp (IZR a / IZR b)) (exp_box r P a b).
Proof.
  intros HP Hb Ha. pose proof (IZR_pow2_pos P HP) as Hp.
  pose proof (exp_below_pos r P (Z.abs a) b HP ltac:(lia) Hb) as Hlo.
  pose proof (exp_below_ok r P (Z.abs a) b HP ltac:(lia) Hb) as H1.
  pose proof (exp_above_ok r P (Z.abs a) b HP ltac:(lia) Hb Ha) as H2.
  unfold within, exp_box. destruct (Z.leb_spec 0 a) as [H|H].
  - rewrite Z.abs_eq in * by easy. cbn [fst snd]. split; [lia|]. lra.
  - rewrite Z.abs_neq in * by lia. cbn [fst snd].
    set (lo := exp_below r P (- a) b) in *. set (hi := exp_above r P (- a) b) in *.
    assert (IZR (- a) / IZR b = - (IZR a / IZR b)) as E by (rewrite opp_IZR; field; apply not_0_IZR; lia).
    rewrite E in *. set (x := IZR a / IZR b) in *. apply IZR_lt in Hlo.
    pose proof (exp_pos x). pose proof (exp_pos (- x)).
    assert (exp x * exp (- x) = 1) as E1 by (rewrite <- exp_plus; replace (x + - x) with 0 by lra; apply exp_0).
    assert (0 < hi)%Z as Hhi by (apply lt_IZR; lra).
    assert (IZR (2 ^ (2 * P)) = IZR (2 ^ P) * IZR (2 ^ P)) as E2
      by (rewrite <- mult_IZR; f_equal; rewrite <- Z.pow_add_r by lia; f_equal; lia).
    assert (0 < lo)%Z as Hlo' by now apply lt_IZR.
    pose proof (div_le (2 ^ (2 * P)) hi Hhi) as D1. pose proof (div_up (2 ^ (2 * P)) lo Hlo') as D2.
    rewrite E2 in D1, D2. apply IZR_lt in Hhi. set (p := IZR (2 ^ P)) in *.
    repeat split.
    + apply Z.div_pos; [apply Z.pow_nonneg; lia|now apply lt_IZR].
    + apply Rmult_le_reg_r with (IZR hi); [easy|]. eapply Rle_trans; [exact D1|].
      replace (p * p) with (exp x * p * (exp (- x) * p)) by (transitivity (exp x * exp (- x) * (p * p)); [ring|rewrite E1; ring]).
      apply Rmult_le_compat_l; [nra|easy].
    + apply Rmult_le_reg_r with (IZR lo); [easy|]. eapply Rle_trans; [|exact D2].
      replace (p * p) with (exp x * p * (exp (- x) * p)) by (transitivity (exp x * exp (- x) * (p * p)); [ring|rewrite E1; ring]).
      apply Rmult_le_compat_l; [nra|easy].
Qed.
(** Products of bounds, rounded outward *)
Lemma within_mult P x y a b : (0 <= P)%Z -> 0 <= x -> 0 <= y -> within P x a -> within P y b ->
  within P (x * y) (Z.shiftr (fst a * fst b) P, up P (snd a * snd b)).
Proof.
  intros HP Hx Hy [Ha0 Ha] [Hb0 Hb]. pose proof (IZR_pow2_pos P HP) as Hp.
  assert (0 < 2 ^ P)%Z as HPP by (apply Z.pow_pos_nonneg; lia). apply IZR_le in Ha0 as Ha1, Hb0 as Hb1.
  unfold within, up. cbn [fst snd]. rewrite !Z.shiftr_div_pow2 by easy.
  pose proof (div_le (fst a * fst b) _ HPP) as D1. pose proof (div_up (snd a * snd b) _ HPP) as D2.
  rewrite mult_IZR in D1, D2. set (p := IZR (2 ^ P)) in *. repeat split.
  - apply Z.div_pos; nia.
  - apply Rmult_le_reg_r with p; [easy|]. eapply Rle_trans; [exact D1|].
    replace (x * y * p * p) with ((x * p) * (y * p)) by ring. apply Rmult_le_compat; lra.
  - apply Rmult_le_reg_r with p; [easy|]. eapply Rle_trans; [|exact D2].
    replace (x * y * p * p) with ((x * p) * (y * p)) by ring. apply Rmult_le_compat; nra.
Qed.

(** The lists enclose the weights. *)
Section Lists.
Variables (u v P : Z).
Hypotheses (HP : (0 <= P)%Z) (Hu : (0 < u)%Z) (Hv : (0 < v)%Z).
Let s2 := IZR u / IZR v.
Let w := gauss_weight s2.
(** A quotient of positive numbers *)
Lemma s2_pos : 0 < s2.
Proof. apply Rdiv_lt_0_compat; now apply IZR_lt. Qed.
(** The exponent over whole numbers *)
Lemma exp_over k : exp (- (IZR k / (2 * s2))) = exp (IZR (- k * v) / IZR (2 * u)).
Proof.
  f_equal. unfold s2. rewrite !mult_IZR, opp_IZR. field. split; apply not_0_IZR; lia.
Qed.
(** Each step is a product *)
Lemma boxes_ok fall n : within P (exp (IZR (- v) / IZR u)) fall -> forall k ratio b,
  within P (exp (- (IZR (2 * k + 1) / (2 * s2)))) ratio -> within P (w k) b ->
  Forall2 (fun j box => within P (w j) box) (zseq k n) (boxes n P fall ratio b).
Proof.
  intros Hf. induction n; intros k ratio b Hr Hb; cbn [zseq boxes]; constructor; [easy|]. apply IHn.
  - replace (exp (- (IZR (2 * (k + 1) + 1) / (2 * s2)))) with (exp (- (IZR (2 * k + 1) / (2 * s2))) * exp (IZR (- v) / IZR u)).
    + apply within_mult; auto; left; apply exp_pos.
    + rewrite <- exp_plus. f_equal. unfold s2. rewrite opp_IZR, !plus_IZR, !mult_IZR, plus_IZR. field.
      split; apply not_0_IZR; lia.
  - unfold w. rewrite (w_step _ s2_pos). apply within_mult; auto; left; apply exp_pos.
Qed.

(** Every exponent is less than 2^r. *)
Variable r : nat.
Definition small (k : Z) : bool :=
  ((k * k * v <? 2 * u * 2 ^ Z.of_nat r) && (Z.abs (2 * k + 1) * v <? 2 * u * 2 ^ Z.of_nat r))%Z%bool.
(** Its exponent is in range *)
Lemma small_weight k : small k = true -> within P (w k) (exp_box r P (- (k * k) * v) (2 * u)).
Proof.
  unfold small. intros H. split_bool H. unfold w, gauss_weight. rewrite exp_over. apply exp_box_ok; [easy|lia|].
  rewrite Z.abs_mul, Z.abs_opp, (Z.abs_eq (k * k)), (Z.abs_eq v) by nia. easy.
Qed.
(** Its exponent is in range *)
Lemma small_ratio k : small k = true ->
  within P (exp (- (IZR (2 * k + 1) / (2 * s2)))) (exp_box r P (- (2 * k + 1) * v) (2 * u)).
Proof.
  unfold small. intros H. split_bool H. rewrite exp_over. apply exp_box_ok; [easy|lia|].
  rewrite Z.abs_mul, Z.abs_opp, (Z.abs_eq v) by lia. easy.
Qed.
(** From the first weight and ratio on *)
Lemma weights_ok k n : small k = true -> (v < u * 2 ^ Z.of_nat r)%Z ->
  Forall2 (fun j box => within P (w j) box) (zseq k n) (weights_from r P u v k n).
Proof.
  intros H Hr. apply boxes_ok; [|now apply small_ratio|now apply small_weight].
  apply exp_box_ok; auto. lia.
Qed.
(** Sums of bounds *)
Lemma sums_ok k n : small k = true -> (v < u * 2 ^ Z.of_nat r)%Z ->
  IZR (sum_of fst (weights_from r P u v k n)) <= mass w (zseq k n) * IZR (2 ^ P) <= IZR (sum_of snd (weights_from r P u v k n)).
Proof.
  intros H Hr. pose proof (weights_ok k n H Hr) as Hf.
  induction Hf as [|j box l l' [_ Hb] Hf IH]; cbn [mass sum_of]; [lra|]. rewrite !plus_IZR. lra.
Qed.
Definition short_tail (m : Z) : bool :=
  ((0 <=? m) && small m && (snd (exp_box r P (- (2 * m + 1) * v) (2 * u)) <? 2 ^ P))%Z%bool.
(** The first weight over one minus the ratio, rounded up *)
Lemma tail_ok_above m scale : short_tail m = true -> (0 <= scale)%Z ->
  w m / (1 - exp (- (IZR (2 * m + 1) / (2 * s2)))) * IZR scale <= IZR (tail_above r P u v m scale).
Proof.
  unfold short_tail. intros H Hsc. split_bool H. pose proof (IZR_pow2_pos P HP) as Hp.
  destruct (small_weight m ltac:(easy)) as [_ [_ Hw]]. destruct (small_ratio m ltac:(easy)) as [_ [_ Ha]].
  pose proof (decay_lt s2 s2_pos m H) as Hd.
  unfold tail_above. set (wh := snd (exp_box r P (- (m * m) * v) (2 * u))) in *.
  set (ah := snd (exp_box r P (- (2 * m + 1) * v) (2 * u))) in *. set (a := exp (- (IZR (2 * m + 1) / (2 * s2)))) in *.
  assert (0 < 2 ^ P - ah)%Z as Hq by lia. pose proof (div_up (wh * scale) _ Hq) as D.
  apply IZR_lt in Hq. rewrite mult_IZR, minus_IZR in *. apply IZR_le in Hsc. set (p := IZR (2 ^ P)) in *.
  pose proof (w_pos s2 m) as Hw0. fold w in Hw0.
  apply Rmult_le_reg_r with (p - IZR ah); [easy|]. eapply Rle_trans; [|exact D].
  apply Rle_trans with (w m / (1 - a) * IZR scale * ((1 - a) * p)).
  - apply Rmult_le_compat_l; [|lra]. apply Rmult_le_pos; [|easy].
    apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra].
  - replace (w m / (1 - a) * IZR scale * ((1 - a) * p)) with (w m * p * IZR scale) by (field; lra).
    apply Rmult_le_compat_r; lra.
Qed.

(** The normaliser, in units of 2^-P. *)
Lemma weight_0 : w 0 = 1.
Proof. unfold w, gauss_weight. rewrite <- exp_0. f_equal. simpl. unfold Rdiv. ring. Qed.
Definition total_below (L : nat) : Z := (2 ^ P + 2 * sum_of fst (weights_from r P u v 1 L))%Z.
Definition total_above (L : nat) : Z :=
  (2 ^ P + 2 * (sum_of snd (weights_from r P u v 1 L) + tail_above r P u v (Z.of_nat L + 1) (2 ^ P)))%Z.
(** One list: zero, one side, and the other mirrored *)
Lemma total_ge N L : has_prob w (fun _ => True) N -> small 1 = true -> (v < u * 2 ^ Z.of_nat r)%Z ->
  IZR (total_below L) <= N * IZR (2 ^ P).
Proof.
  intros HN H Hr. unfold total_below. rewrite plus_IZR, mult_IZR. destruct (sums_ok 1 L H Hr) as [Hs _].
  pose proof (IZR_pow2_pos P HP) as Hp.
  assert (w 0 + 2 * mass w (zseq 1 L) <= N) as Hn.
  { pose proof (normaliser_ge s2 N (0%Z :: zseq 1 L ++ map Z.opp (zseq 1 L)) HN) as X. fold w in X.
    cbn [mass] in X. rewrite mass_app, mass_map in X.
    rewrite (mass_ext (fun k => w (- k)%Z) w) in X by (intros; apply w_neg).
    enough (NoDup (0%Z :: zseq 1 L ++ map Z.opp (zseq 1 L))) as Y by (specialize (X Y); lra).
    constructor.
    - rewrite in_app_iff, in_map_iff. intros [Hi|(y & Hy & Hi)]; apply in_zseq in Hi; lia.
    - apply nodup_app; [apply zseq_nodup|apply Injective_map_NoDup; [intros x y; lia|apply zseq_nodup]|].
      intros x Hx Hy. apply in_zseq in Hx. apply in_map_iff in Hy as (y & <- & Hy). apply in_zseq in Hy. lia. }
  rewrite weight_0 in Hn. apply Rmult_le_compat_r with (r := IZR (2 ^ P)) in Hn; lra.
Qed.
(** One side, its tail, twice *)
Lemma total_le N L : has_prob w (fun _ => True) N -> small 1 = true -> (v < u * 2 ^ Z.of_nat r)%Z ->
  short_tail (Z.of_nat L + 1) = true -> N * IZR (2 ^ P) <= IZR (total_above L).
Proof.
  intros HN H Hr Ht. unfold total_above. rewrite plus_IZR, mult_IZR, plus_IZR. destruct (sums_ok 1 L H Hr) as [_ Hs].
  pose proof (IZR_pow2_pos P HP) as Hp.
  pose proof (tail_ok_above (Z.of_nat L + 1) (2 ^ P) Ht ltac:(apply Z.pow_nonneg; lia)) as Hta.
  pose proof (normaliser_le s2 s2_pos N L HN) as Hn. unfold rest in Hn. fold w in Hn. rewrite weight_0 in Hn.
  apply Rmult_le_compat_r with (r := IZR (2 ^ P)) in Hn; lra.
Qed.
End Lists.

(** Where a shift by s starts to be favoured by more than e^(a/b). *)
Definition start (u v a b s : Z) : Z := (2 * a * u + b * v * (s * s)) / (2 * b * v * s) + 1.
Definition shift_check (u v a b n d P : Z) (r : nat) (len : nat) (lo weight s : Z) : bool :=
  let k0 := start u v a b s in let m := (k0 + Z.of_nat len - s)%Z in
  ((0 <? s)%Z && ((2 * (k0 - 1) * s - s * s) * v * b <=? a * (2 * u))%Z && (a * (2 * u) <=? (2 * k0 * s - s * s) * v * b)%Z &&
   small u v r (k0 - s) && small u v r k0 && short_tail u v P r m &&
   ((2 ^ P * sum_of snd (weights_from r P u v (k0 - s) len) - lo * sum_of fst (weights_from r P u v k0 len)
     + tail_above r P u v m (2 ^ P * 2 ^ P)) * d <=? n * (2 ^ P * weight))%Z)%bool.
Definition gauss_check (u v Delta a b n d P : Z) (r len L : nat) : bool :=
  ((0 <? u)%Z && (0 <? v)%Z && (0 <=? P)%Z && is_ratio a b && is_ratio n d && small u v r 1 && (v <? u * 2 ^ Z.of_nat r)%Z &&
   let lo := exp_below r P a b in let weight := total_below u v P r L in
   forallb (fun s => shift_check u v a b n d P r len lo weight (Z.of_nat s)) (seq 1 (Z.to_nat Delta)))%bool.

(** Clearing denominators *)
Lemma over_ratio x u v a b : (0 < u)%Z -> (0 < v)%Z -> (0 < b)%Z ->
  (x * v * b <= a * (2 * u))%Z -> IZR x / (2 * (IZR u / IZR v)) <= IZR a / IZR b.
Proof.
  intros Hu Hv Hb H. apply IZR_le in H. rewrite !mult_IZR in H. apply IZR_lt in Hu, Hv, Hb.
  apply Rmult_le_reg_r with (2 * IZR u * IZR b); [nra|].
  replace (IZR x / (2 * (IZR u / IZR v)) * (2 * IZR u * IZR b)) with (IZR x * IZR v * IZR b) by (field; lra).
  replace (IZR a / IZR b * (2 * IZR u * IZR b)) with (IZR a * (2 * IZR u)) by (field; lra). lra.
Qed.
(** Clearing denominators *)
Lemma under_ratio x u v a b : (0 < u)%Z -> (0 < v)%Z -> (0 < b)%Z ->
  (a * (2 * u) <= x * v * b)%Z -> IZR a / IZR b <= IZR x / (2 * (IZR u / IZR v)).
Proof.
  intros Hu Hv Hb H. apply IZR_le in H. rewrite !mult_IZR in H. apply IZR_lt in Hu, Hv, Hb.
  apply Rmult_le_reg_r with (2 * IZR u * IZR b); [nra|].
  replace (IZR x / (2 * (IZR u / IZR v)) * (2 * IZR u * IZR b)) with (IZR x * IZR v * IZR b) by (field; lra).
  replace (IZR a / IZR b * (2 * IZR u * IZR b)) with (IZR a * (2 * IZR u)) by (field; lra). lra.
Qed.
(** The same terms *)
Lemma mass_zseq_shift (h : Z -> R) s n : forall k, mass (fun j => h (j - s)%Z) (zseq k n) = mass h (zseq (k - s) n).
Proof.
  induction n; intros k; [easy|]. cbn [zseq mass]. rewrite IHn. do 2 f_equal. f_equal. lia.
Qed.

(** Listed excess plus tail, over a lower bound of the normaliser, for every shift *)
Theorem gauss_dp u v Delta a b n d P r len L : gauss_check u v Delta a b n d P r len L = true ->
  exists f, discrete_gaussian (IZR u / IZR v) f /\ noise_dp f Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold gauss_check. intros H. split_bool H. rename H0 into Hf. rewrite forallb_forall in Hf.
  assert (0 < v)%Z as Hv by assumption. assert (0 <= P)%Z as HP by assumption. rename H into Hu.
  assert (0 < b)%Z as Hb by eauto using ratio_bottom. assert (0 < d)%Z as Hd by eauto using ratio_bottom.
  pose proof (s2_pos u v Hu Hv) as Hs2. destruct (gauss_exists _ Hs2) as [f Hfg]. exists f. split; [easy|].
  pose proof Hfg as (N & HN & Hff). pose proof (gauss_pmf _ f Hfg) as Hpmf.
  pose proof (normaliser_pos _ N HN) as HN0.
  apply noise_dp_intro; [easy|].
  assert (forall s, (0 < s <= Delta)%Z -> dp_pair (fun k => f (k - s)%Z) f (IZR a / IZR b) (IZR n / IZR d)) as Hpos.
  { intros s Hs. specialize (Hf (Z.to_nat s)). rewrite in_seq, Z2Nat.id in Hf by lia. specialize (Hf ltac:(lia)).
    unfold shift_check in Hf. set (k0 := start u v a b s) in *. split_bool Hf.
    set (m := (k0 + Z.of_nat len - s)%Z) in *. set (s2 := IZR u / IZR v) in *. set (w := gauss_weight s2).
    assert (small u v r (k0 - s) = true) as S1 by assumption. assert (small u v r k0 = true) as S2 by assumption.
    assert (small u v r 1 = true) as S3 by assumption. assert (v < u * 2 ^ Z.of_nat r)%Z as Hr by assumption.
    destruct (sums_ok u v P HP Hu Hv r (k0 - s) len S1 Hr) as [_ HA].
    destruct (sums_ok u v P HP Hu Hv r k0 len S2 Hr) as [HB _].
    pose proof (total_ge u v P HP Hu Hv r N L HN S3 Hr) as HT.
    assert (short_tail u v P r m = true) as Ht by assumption.
    pose proof (tail_ok_above u v P HP Hu Hv r m (2 ^ P * 2 ^ P) Ht ltac:(apply Z.mul_nonneg_nonneg; apply Z.pow_nonneg; lia)) as HX.
    fold s2 in HA, HB, HX. fold w in HA, HB, HX.
    pose proof (exp_below_ok r P a b HP ltac:(eauto using ratio_top) Hb) as Hlo.
    pose proof (exp_below_pos r P a b HP ltac:(eauto using ratio_top) Hb) as Hlo0.
    match goal with X : (_ <= n * _)%Z |- _ => rename X into Hc end.
    set (E := exp (IZR a / IZR b)) in *. set (lo := exp_below r P a b) in *.
    set (SA := sum_of snd (weights_from r P u v (k0 - s) len)) in *.
    set (SB := sum_of fst (weights_from r P u v k0 len)) in *.
    set (X := tail_above r P u v m (2 ^ P * 2 ^ P)) in *. set (W := total_below u v P r L) in *.
    assert (0 <= m)%Z as Hm by (unfold short_tail in Ht; split_bool Ht; easy).
    eapply dp_pair_weaken.
    - apply (gauss_pair s2 Hs2 s k0 (IZR a / IZR b) ltac:(easy) f N len (mass w (zseq (k0 - s) len) - E * mass w (zseq k0 len)) Hfg HN Hm).
      + now apply over_ratio.
      + right. fold w. fold E.
        rewrite (mass_ext _ (fun k => 1 * w (k - s)%Z + - E * w k)).
        * rewrite (mass_lin (fun k => w (k - s)%Z)), (mass_zseq_shift w). ring.
        * intros k Hk. apply in_zseq in Hk. rewrite Rmax_right; [ring|].
          unfold w. rewrite (shifted s2 Hs2). fold w.
          assert (E <= exp (IZR (2 * k * s - s * s) / (2 * s2))) as HE.
          { assert (IZR a / IZR b <= IZR (2 * k * s - s * s) / (2 * s2)) as [Y|Y].
            - apply under_ratio; auto. nia.
            - left. now apply exp_increasing.
            - unfold E. rewrite Y. lra. }
          pose proof (w_pos s2 k) as Hw. fold w in Hw. nra.
    - fold m. fold w.
      set (tail := w m / (1 - exp (- (IZR (2 * m + 1) / (2 * s2))))) in *.
      pose proof (IZR_pow2_pos P HP) as Hp. rewrite mult_IZR in HX. apply IZR_le in Hc. rewrite !mult_IZR, plus_IZR, minus_IZR, !mult_IZR in Hc.
      set (p := IZR (2 ^ P)) in *. apply IZR_lt in Hd, Hlo0.
      assert (0 <= IZR n) by (apply IZR_le; eauto using ratio_top).
      assert (0 <= mass w (zseq k0 len)) as HwB by (apply mass_nonneg; intros; left; apply w_pos).
      apply Rmult_le_reg_r with (N * IZR d * (p * p)); [repeat apply Rmult_lt_0_compat; easy|].
      replace ((mass w (zseq (k0 - s) len) - E * mass w (zseq k0 len) + tail) / N * (N * IZR d * (p * p)))
        with ((mass w (zseq (k0 - s) len) * p * p - (E * p) * (mass w (zseq k0 len) * p) + tail * (p * p)) * IZR d) by (field; lra).
      replace (IZR n / IZR d * (N * IZR d * (p * p))) with (IZR n * (p * (N * p))) by (field; lra).
      assert (IZR lo * IZR SB <= (E * p) * (mass w (zseq k0 len) * p)) as HEB.
      { apply Rle_trans with (IZR lo * (mass w (zseq k0 len) * p)); [apply Rmult_le_compat_l; lra|].
        apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|easy]. }
      apply Rle_trans with ((p * IZR SA - IZR lo * IZR SB + IZR X) * IZR d).
      + apply Rmult_le_compat_r; [lra|].
        apply Rmult_le_compat_r with (r := p) in HA; [|lra]. lra.
      + eapply Rle_trans; [exact Hc|]. apply Rmult_le_compat_l; [easy|]. apply Rmult_le_compat_l; lra. }
  intros s Hs. destruct (Z_lt_dec 0 s) as [|Hn]; [apply Hpos; lia|].
  destruct (Z.eq_dec s 0) as [->|].
  - eapply dp_pair_ext; [| |apply (dp_pair_refl f)]; try (intros; f_equal; lia); [apply Hpmf|auto using ratio_nonneg|auto using ratio_nonneg].
  - assert (forall k, f (- k)%Z = f k) as Hsym by (intros; rewrite !Hff; f_equal; apply w_neg).
    eapply dp_pair_ext; [| |exact (dp_pair_neg _ _ _ _ (Hpos (- s)%Z ltac:(lia)))]; intros k; cbv beta.
    + rewrite <- (Hsym (k - s)%Z). f_equal. lia.
    + apply Hsym.
Qed.

(** Refuted by the event of [len] outcomes from [start] on. *)
Definition gauss_refutes (u v Delta a b n d P : Z) (r len L : nat) : bool :=
  let k0 := start u v a b Delta in
  ((0 <? u)%Z && (0 <? v)%Z && (0 <=? P)%Z && (0 <? Delta)%Z && is_ratio a b && (a <? b * 2 ^ Z.of_nat r)%Z && is_ratio n d &&
   small u v r 1 && (v <? u * 2 ^ Z.of_nat r)%Z && small u v r (k0 - Delta) && small u v r k0 &&
   short_tail u v P r (Z.of_nat L + 1) &&
   (n * (2 ^ P * total_above u v P r L) <?
    (2 ^ P * sum_of fst (weights_from r P u v (k0 - Delta) len)
     - exp_above r P a b * sum_of snd (weights_from r P u v k0 len)) * d)%Z)%bool.
(** One event, over an upper bound of the normaliser *)
Theorem gauss_not_dp u v Delta a b n d P r len L : gauss_refutes u v Delta a b n d P r len L = true ->
  exists f, discrete_gaussian (IZR u / IZR v) f /\ noise_not_dp f Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold gauss_refutes. set (k0 := start u v a b Delta). intros H. split_bool H. rename H into Hu.
  assert (0 < v)%Z as Hv by assumption. assert (0 <= P)%Z as HP by assumption.
  assert (0 < b)%Z as Hb by eauto using ratio_bottom. assert (0 < d)%Z as Hd by eauto using ratio_bottom.
  pose proof (s2_pos u v Hu Hv) as Hs2. destruct (gauss_exists _ Hs2) as [f Hfg]. exists f. split; [easy|].
  pose proof Hfg as (N & HN & Hff). pose proof (normaliser_pos _ N HN) as HN0.
  apply noise_not_dp_intro with (s := Delta) (l := zseq k0 len); [now apply gauss_pmf with (s2 := IZR u / IZR v)|lia|apply zseq_nodup|].
  set (s2 := IZR u / IZR v) in *. set (w := gauss_weight s2) in *.
  assert (small u v r (k0 - Delta) = true) as S1 by assumption. assert (small u v r k0 = true) as S2 by assumption.
  assert (small u v r 1 = true) as S3 by assumption. assert (v < u * 2 ^ Z.of_nat r)%Z as Hr by assumption.
  destruct (sums_ok u v P HP Hu Hv r (k0 - Delta) len S1 Hr) as [HA _].
  destruct (sums_ok u v P HP Hu Hv r k0 len S2 Hr) as [_ HB].
  pose proof (total_le u v P HP Hu Hv r N L HN S3 Hr ltac:(assumption)) as HT.
  pose proof (exp_above_ok r P a b HP ltac:(eauto using ratio_top) Hb ltac:(assumption)) as Hup.
  fold s2 in HA, HB. fold w in HA, HB.
  match goal with X : (n * _ < _)%Z |- _ => rename X into Hc end.
  set (E := exp (IZR a / IZR b)) in *. set (up := exp_above r P a b) in *.
  set (SA := sum_of fst (weights_from r P u v (k0 - Delta) len)) in *.
  set (SB := sum_of snd (weights_from r P u v k0 len)) in *. set (W := total_above u v P r L) in *.
  rewrite (mass_ext (fun k => f (k - Delta)%Z) (fun k => / N * w (k - Delta)%Z)) by (intros; rewrite Hff; unfold Rdiv; apply Rmult_comm).
  rewrite (mass_ext f (fun k => / N * w k)) by (intros; rewrite Hff; unfold Rdiv; apply Rmult_comm).
  rewrite (mass_scale (fun k => w (k - Delta)%Z)), mass_scale, (mass_zseq_shift w).
  pose proof (IZR_pow2_pos P HP) as Hp. apply IZR_lt in Hc. rewrite !mult_IZR, minus_IZR, !mult_IZR in Hc.
  set (p := IZR (2 ^ P)) in *. apply IZR_lt in Hd. assert (0 <= IZR n) by (apply IZR_le; eauto using ratio_top).
  assert (0 <= mass w (zseq k0 len)) as HwB by (apply mass_nonneg; intros; left; apply w_pos).
  pose proof (exp_pos (IZR a / IZR b)) as HE. fold E in HE.
  apply Rlt_gt. apply Rmult_lt_reg_r with (N * IZR d * (p * p)); [repeat apply Rmult_lt_0_compat; easy|].
  replace ((E * (/ N * mass w (zseq k0 len)) + IZR n / IZR d) * (N * IZR d * (p * p)))
    with ((E * p) * (mass w (zseq k0 len) * p) * IZR d + IZR n * (p * (N * p))) by (field; lra).
  replace (/ N * mass w (zseq (k0 - Delta) len) * (N * IZR d * (p * p)))
    with (p * (mass w (zseq (k0 - Delta) len) * p) * IZR d) by (field; lra).
  assert ((E * p) * (mass w (zseq k0 len) * p) <= IZR up * IZR SB) as HEB by (apply Rmult_le_compat; try easy; apply Rmult_le_pos; lra).
  assert (p * IZR SA <= p * (mass w (zseq (k0 - Delta) len) * p)) as HAA by (apply Rmult_le_compat_l; lra).
  assert (IZR n * (p * (N * p)) <= IZR n * (p * IZR W)) by (apply Rmult_le_compat_l; [easy|]; apply Rmult_le_compat_l; lra).
  apply Rmult_le_compat_r with (r := IZR d) in HEB; [|lra]. apply Rmult_le_compat_r with (r := IZR d) in HAA; [|lra]. lra.
Qed.
