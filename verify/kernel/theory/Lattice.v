(** The lattice of K uses of discrete Laplace noise: what its points weigh, in whole numbers, rounded up or down. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights DiscreteLaplace RandomizedResponse Composition LaplacePair LaplaceUses.
Import ListNotations.
Open Scope R_scope.

(** Products of polynomials, as lists of coefficients. *)
Fixpoint plus (A B : list Z) : list Z :=
  match A, B with a :: A', b :: B' => (a + b)%Z :: plus A' B' | [], _ => B | _, [] => A end.
Fixpoint times (A C : list Z) : list Z :=
  match A with [] => [] | a :: A' => plus (map (Z.mul a) C) (0%Z :: times A' C) end.
Definition dot (A : list Z) (F : nat -> R) (s : nat) : R :=
  mass (fun j => IZR (nth j A 0%Z) * F (s + j)%nat) (seq 0 (length A)).

(** The first coefficient *)
Lemma dot_cons a A F s : dot (a :: A) F s = IZR a * F s + dot A F (S s).
Proof.
  unfold dot. cbn [length seq mass nth]. rewrite Nat.add_0_r, <- seq_shift, mass_map. f_equal.
  apply mass_ext. intros j _. cbn [nth]. do 2 f_equal. lia.
Qed.
(** Coefficient by coefficient *)
Lemma dot_plus A : forall B F s, dot (plus A B) F s = dot A F s + dot B F s.
Proof.
  induction A as [|a A IH]; intros [|b B] F s; cbn [plus]; rewrite ?dot_cons, ?IH, ?plus_IZR; unfold dot; simpl; ring.
Qed.
(** A common factor *)
Lemma dot_scale a A : forall F s, dot (map (Z.mul a) A) F s = IZR a * dot A F s.
Proof.
  induction A as [|b A IH]; intros F s; cbn [map]; rewrite ?dot_cons, ?IH, ?mult_IZR; [unfold dot; simpl; ring|ring].
Qed.
(** Sums of products *)
Lemma dot_times A C : forall F s, dot (times A C) F s = dot A (dot C F) s.
Proof.
  induction A as [|a A IH]; intros F s; cbn [times]; [easy|].
  rewrite dot_plus, dot_scale, !dot_cons, IH. ring.
Qed.

Open Scope Z_scope.
(** One use more: both ends weigh 1, each of the Delta - 1 cells between weighs w, in units of 2^-P. *)
Definition one_more (Delta : nat) (weigh : Z -> Z) (C : list Z) : list Z :=
  plus C (plus (map weigh (times (repeat 1 (Delta - 1)) (0 :: C))) (repeat 0 Delta ++ C)).
Fixpoint shares_up (Delta K : nat) (w P : Z) : list Z :=
  match K with O => [2 ^ P] | S K' => one_more Delta (fun c => Z.shiftr (w * c) P + 1) (shares_up Delta K' w P) end.
Fixpoint shares_down (Delta K : nat) (w P : Z) : list Z :=
  match K with O => [2 ^ P] | S K' => one_more Delta (fun c => Z.shiftr (w * c) P) (shares_down Delta K' w P) end.

Close Scope Z_scope.

Section Shares.
Variables (t : R) (Delta : nat) (P : Z).
Hypotheses (Ht : 0 < t) (HD : (0 < Delta)%nat) (HP : (0 <= P)%Z).
Let a := exp (- (1 / t)).
Let p := IZR (2 ^ P).
Variable F : nat -> R.
Hypothesis HF : forall j, 0 <= F j.

(** Cell by cell *)
Lemma dot_ones m C : forall s, dot (times (repeat 1%Z m) C) F s = mass (fun j => dot C F (s + j)) (seq 0 m).
Proof.
  induction m; intros s; [easy|]. cbn [repeat seq mass]. rewrite dot_times, dot_cons, <- dot_times, IHm, <- seq_shift, mass_map, Nat.add_0_r.
  rewrite Rmult_1_l. f_equal. apply mass_ext. intros j _. f_equal. lia.
Qed.
(** Zeros before the first coefficient *)
Lemma dot_zeros m C : forall s, dot (repeat 0%Z m ++ C) F s = dot C F (s + m).
Proof.
  induction m; intros s; cbn [repeat app]; [f_equal; lia|]. rewrite dot_cons, IHm, Rmult_0_l, Rplus_0_l. f_equal. lia.
Qed.
(** Both ends and what is between *)
Lemma dot_one_more weigh C s : dot (one_more Delta weigh C) F s
  = dot C F s + (dot (map weigh (times (repeat 1%Z (Delta - 1)) (0%Z :: C))) F s + dot C F (s + Delta)).
Proof. unfold one_more. now rewrite !dot_plus, dot_zeros. Qed.
(** Both ends and what is between *)
Lemma spread_one_more K s : spread t Delta (S K) F s
  = spread t Delta K F s + ((1 - a) * mass (fun j => spread t Delta K F (S s + j)) (seq 0 (Delta - 1)) + spread t Delta K F (s + Delta)).
Proof.
  cbn [spread]. assert (seq 0 (S Delta) = [0%nat] ++ seq 1 (Delta - 1) ++ [Delta]) as ->.
  { replace (S Delta) with (1 + ((Delta - 1) + 1))%nat by lia. rewrite !seq_app. simpl. do 3 f_equal. lia. }
  rewrite !mass_app. cbn [mass]. rewrite Nat.add_0_r, !Rplus_0_r. unfold share at 1 3. rewrite Nat.eqb_refl, Nat.eqb_refl, Bool.orb_true_r. cbn [orb].
  rewrite !Rmult_1_l. do 2 f_equal. rewrite <- mass_scale, <- seq_shift, mass_map. apply mass_ext. intros j Hj. apply in_seq in Hj.
  unfold share. destruct (Nat.eqb_spec (S j) 0); [lia|]. destruct (Nat.eqb_spec (S j) Delta); [lia|]. cbn [orb]. fold a. do 2 f_equal. lia.
Qed.
(** Rounded up, entry by entry *)
Lemma dot_up w C s : IZR w * dot C F s <= p * dot (map (fun c => Z.shiftr (w * c) P + 1)%Z C) F s.
Proof.
  revert s. induction C as [|c C IH]; intros s; [unfold dot; simpl; lra|]. cbn [map]. rewrite !dot_cons.
  specialize (IH (S s)). specialize (HF s).
  assert (IZR w * IZR c <= IZR (Z.shiftr (w * c) P + 1) * p).
  { rewrite Z.shiftr_div_pow2, <- mult_IZR by easy. apply div_up, Z.pow_pos_nonneg; lia. } nra.
Qed.
(** Rounded down, entry by entry *)
Lemma dot_down w C s : p * dot (map (fun c => Z.shiftr (w * c) P) C) F s <= IZR w * dot C F s.
Proof.
  revert s. induction C as [|c C IH]; intros s; [unfold dot; simpl; lra|]. cbn [map]. rewrite !dot_cons.
  specialize (IH (S s)). specialize (HF s).
  assert (IZR (Z.shiftr (w * c) P) * p <= IZR w * IZR c).
  { rewrite Z.shiftr_div_pow2, <- mult_IZR by easy. apply div_le, Z.pow_pos_nonneg; lia. } nra.
Qed.
(** The cells between, of which the first is one step on *)
Lemma dot_between C s : dot (times (repeat 1%Z (Delta - 1)) (0%Z :: C)) F s = mass (fun j => dot C F (S s + j)) (seq 0 (Delta - 1)).
Proof. rewrite dot_ones. apply mass_ext. intros j _. rewrite dot_cons. simpl. ring. Qed.

(** Shares rounded up *)
Lemma shares_up_ok w : (1 - a) * p <= IZR w -> forall K s, p * spread t Delta K F s <= dot (shares_up Delta K w P) F s.
Proof.
  intros Hw. pose proof (IZR_pow2_pos P HP) as Hp. fold p in Hp. pose proof (rate t Ht) as Ha. fold a in Ha. induction K; intros s.
  - cbn [shares_up spread]. rewrite dot_cons. unfold dot. simpl. fold p. lra.
  - cbn [shares_up]. rewrite spread_one_more, dot_one_more. set (C := shares_up Delta K w P) in *.
    pose proof (dot_up w (times (repeat 1%Z (Delta - 1)) (0%Z :: C)) s) as Hr. rewrite dot_between in Hr.
    set (R := dot (map _ _) F s) in *. pose proof (IHK s). pose proof (IHK (s + Delta)%nat).
    set (X := mass (fun j => spread t Delta K F (S s + j)) (seq 0 (Delta - 1))). set (Y := mass _ _) in Hr.
    assert (p * X <= Y) by (unfold X, Y; rewrite <- mass_scale; apply mass_le; auto).
    assert (0 <= X) by (apply mass_nonneg; intros; now apply spread_nonneg).
    assert (p * ((1 - a) * X) <= R); [|nra]. apply Rmult_le_reg_l with p; [easy|]. apply Rle_trans with (2 := Hr).
    replace (p * (p * ((1 - a) * X))) with ((1 - a) * p * (p * X)) by ring. apply Rmult_le_compat; nra.
Qed.
(** Shares rounded down *)
Lemma shares_down_ok w : (0 <= w)%Z -> IZR w <= (1 - a) * p -> forall K s, dot (shares_down Delta K w P) F s <= p * spread t Delta K F s.
Proof.
  intros Hw0 Hw. apply IZR_le in Hw0. pose proof (IZR_pow2_pos P HP) as Hp. fold p in Hp. pose proof (rate t Ht) as Ha. fold a in Ha. induction K; intros s.
  - cbn [shares_down spread]. rewrite dot_cons. unfold dot. simpl. fold p. lra.
  - cbn [shares_down]. rewrite spread_one_more, dot_one_more. set (C := shares_down Delta K w P) in *.
    pose proof (dot_down w (times (repeat 1%Z (Delta - 1)) (0%Z :: C)) s) as Hr. rewrite dot_between in Hr.
    set (R := dot (map _ _) F s) in *. pose proof (IHK s). pose proof (IHK (s + Delta)%nat).
    set (X := mass (fun j => spread t Delta K F (S s + j)) (seq 0 (Delta - 1))). set (Y := mass _ _) in Hr.
    assert (Y <= p * X) by (unfold X, Y; rewrite <- mass_scale; apply mass_le; auto).
    assert (0 <= X) by (apply mass_nonneg; intros; now apply spread_nonneg).
    assert (R <= p * ((1 - a) * X)); [|nra]. apply Rmult_le_reg_l with p; [easy|]. apply Rle_trans with (1 := Hr).
    replace (p * (p * ((1 - a) * X))) with ((1 - a) * p * (p * X)) by ring.
    apply Rle_trans with (IZR w * (p * X)); [now apply Rmult_le_compat_l|apply Rmult_le_compat_r; nra].
Qed.
End Shares.

(** e^(-u/t) in units of 2^-P, from bounds on e^(u/t) *)
Lemma rate_bounds t u P r : (0 < t)%Z -> (0 < u)%Z -> (0 <= P)%Z -> (u < t * 2 ^ Z.of_nat r)%Z ->
  (0 < exp_above r P u t)%Z -> (0 < exp_below r P u t)%Z ->
  let a := exp (- (1 / (IZR t / IZR u))) in
  IZR (2 ^ (2 * P) / exp_above r P u t) <= a * IZR (2 ^ P) <= IZR (2 ^ (2 * P) / exp_below r P u t + 1).
Proof.
  intros Ht Hu HP Hr Ha Hb a. pose proof (IZR_pow2_pos P HP) as Hp.
  pose proof (exp_below_ok r P u t HP ltac:(lia) Ht) as H1. pose proof (exp_above_ok r P u t HP ltac:(lia) Ht Hr) as H2.
  assert (a * exp (IZR u / IZR t) = 1) as E.
  { unfold a. rewrite <- exp_plus. transitivity (exp 0); [|apply exp_0]. f_equal. apply IZR_lt in Ht, Hu. field. lra. }
  assert (0 < a) by apply exp_pos.
  assert (IZR (2 ^ (2 * P)) = IZR (2 ^ P) * IZR (2 ^ P)) as E2 by (rewrite <- mult_IZR, <- Z.pow_add_r by lia; do 2 f_equal; lia).
  pose proof (div_le (2 ^ (2 * P)) _ Ha) as D1. pose proof (div_up (2 ^ (2 * P)) _ Hb) as D2. rewrite E2 in D1, D2.
  apply IZR_lt in Ha, Hb. set (p := IZR (2 ^ P)) in *. set (x := exp (IZR u / IZR t)) in *. split.
  - apply Rmult_le_reg_r with (IZR (exp_above r P u t)); [easy|]. apply Rle_trans with (1 := D1).
    replace (p * p) with (a * p * (x * p)) by (replace (a * p * (x * p)) with ((a * x) * (p * p)) by ring; rewrite E; ring).
    apply Rmult_le_compat_l; [nra|easy].
  - apply Rmult_le_reg_r with (IZR (exp_below r P u t)); [easy|]. apply Rle_trans with (2 := D2).
    replace (p * p) with (a * p * (x * p)) by (replace (a * p * (x * p)) with ((a * x) * (p * p)) by ring; rewrite E; ring).
    apply Rmult_le_compat_l; [nra|easy].
Qed.
(** Pure: each use costs Delta/scale. *)
Definition pure_uses_check (K : nat) (t u : Z) (Delta : nat) (a b n d : Z) : bool :=
  ((0 <? t)%Z && (0 <? u)%Z && (0 <? Z.of_nat Delta)%Z && is_ratio a b && is_ratio n d &&
   (Z.of_nat K * Z.of_nat Delta * u * b <=? a * t)%Z)%bool.
(** No ratio is larger *)
Theorem pure_uses_dp K t u Delta a b n d : pure_uses_check K t u Delta a b n d = true ->
  noise_uses_dp (discrete_laplace (IZR t / IZR u)) K (Z.of_nat Delta) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold pure_uses_check. intros H. split_bool H. assert (0 < IZR t / IZR u) as Ht by now apply ratio_pos.
  apply uses_dp; [easy|lia|]. pose proof (rate _ Ht) as Hq. rewrite <- lattice_product by (easy || lia).
  rewrite product_above_zero with (cs := repeat (exp (INR Delta / (IZR t / IZR u))) K); [| |lra|].
  - rewrite Rmult_0_r. apply Rmult_le_pos; [now apply ratio_nonneg|apply pow_le; lra].
  - clear - Ht. induction K; simpl; constructor; auto. split; [apply exp_pos|]. intros j. now apply laplace_pair_ratio.
  - rewrite Rmult_1_l, exp_repeat. apply exp_le.
    match goal with X : (_ <= a * t)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR, <- !INR_IZR_INZ in X; rename X into Hc end.
    assert (0 < IZR t) by now apply IZR_lt. assert (0 < IZR u) by now apply IZR_lt. assert (0 < IZR b) by (apply IZR_lt; eauto using ratio_bottom).
    apply Rmult_le_reg_r with (IZR t * IZR b); [nra|].
    replace (INR K * (INR Delta / (IZR t / IZR u)) * (IZR t * IZR b)) with (INR K * INR Delta * IZR u * IZR b) by (field; lra).
    replace (IZR a / IZR b * (IZR t * IZR b)) with (IZR a * IZR t) by (field; lra). lra.
Qed.
