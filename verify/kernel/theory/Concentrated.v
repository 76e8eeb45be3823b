(** Discrete Gaussian noise is concentrated: its Rényi divergences are at most those of the Gaussian,
    since a product of powers of moved weights is a weight around some centre. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz Classical_Prop.
From ExactDP Require Import Definitions Laws Mass Weights DiscreteGaussian Centres.
Import ListNotations.
Open Scope R_scope.

Section Concentrated.
Variable s2 : R.
Hypothesis Hs : 0 < s2.
Variables (f : Z -> R) (Hf : discrete_gaussian s2 f).

(** The sum of the weights *)
Lemma gauss_sums : exists N, 0 < N /\ sums s2 0 N /\ forall k, f k = around s2 0 k / N.
Proof.
  destruct Hf as (N & HN & Hk). exists N. split; [exact (normaliser_pos s2 N HN)|]. split.
  - apply (has_prob_ext (gauss_weight s2) _ (fun _ => True) (fun _ => True)); [intros; now rewrite around_0|tauto|easy].
  - intros k. now rewrite around_0.
Qed.
(** A product of powers of moved weights is a weight around some centre. *)
Lemma renyi_term c d a N k : 0 < N -> (forall k, f k = around s2 0 k / N) ->
  renyi_term a (fun k => f (k - c)%Z) (fun k => f (k - d)%Z) k
  = exp ((a - 1) * (a * IZR (c - d) ^ 2 / (2 * s2))) / N * around s2 (a * IZR c + (1 - a) * IZR d) k.
Proof.
  intros HN E. unfold Laws.renyi_term, Rpower. rewrite !E. unfold around. unfold Rdiv at 1 3. rewrite !ln_mult by (apply exp_pos || now apply Rinv_0_lt_compat). rewrite !ln_exp, !ln_Rinv by easy.
  replace (exp ((a - 1) * (a * IZR (c - d) ^ 2 / (2 * s2))) / N) with (exp ((a - 1) * (a * IZR (c - d) ^ 2 / (2 * s2)) + - ln N)).
  2: { rewrite exp_plus, exp_Ropp, exp_ln by easy. reflexivity. }
  rewrite <- !exp_plus. f_equal. rewrite !minus_IZR. field. lra.
Qed.

(** rho = Delta^2/(2 sigma^2), at all real orders *)
Theorem gauss_zcdp Delta rho : IZR Delta ^ 2 / (2 * s2) <= rho -> noise_zcdp f Delta rho.
Proof.
  intros Hr D adj q Hq. destruct gauss_sums as (N & HN & HS & E).
  assert (forall k, 0 < f k) as Hpos by (intros k; rewrite E; apply Rdiv_lt_0_compat; [apply around_pos|easy]).
  split; [intros d; exact (pmf_shift f (- q d) (gauss_pmf s2 f Hf))|]. split; [intros; apply Hpos|].
  intros d d' Ha a Hall l Hl. unfold add_noise.
  rewrite (mass_ext _ _ l (fun k _ => renyi_term (q d) (q d') a N k HN E)), mass_scale.
  pose proof (centre_le s2 Hs (a * IZR (q d) + (1 - a) * IZR (q d')) N l HS Hl) as Hm.
  apply Rle_trans with (exp ((a - 1) * (a * IZR (q d - q d') ^ 2 / (2 * s2))) / N * N).
  - apply Rmult_le_compat_l; [|easy]. left. apply Rdiv_lt_0_compat; [apply exp_pos|easy].
  - unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (a * IZR (q d - q d') ^ 2 / (2 * s2) <= a * rho) as He.
    { unfold Rdiv. rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. apply Rle_trans with (2 := Hr).
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. specialize (Hq d d' Ha).
      rewrite !(pow_IZR _ 2). apply IZR_le. change (Z.of_nat 2) with 2%Z. rewrite !Z.pow_2_r. nia. }
    assert ((a - 1) * (a * IZR (q d - q d') ^ 2 / (2 * s2)) <= (a - 1) * (a * rho)) as [H|H] by (apply Rmult_le_compat_l; lra).
    + left. now apply exp_increasing.
    + right. now rewrite H.
Qed.
(** No smaller rho: the order 2 has a whole centre, where the bound is attained *)
Theorem gauss_not_zcdp Delta rho : (0 <= Delta)%Z -> rho < IZR Delta ^ 2 / (2 * s2) -> noise_not_zcdp f Delta rho.
Proof.
  intros HD Hr. destruct gauss_sums as (N & HN & HS & E).
  assert (forall k, 0 < f k) as Hpos by (intros k; rewrite E; apply Rdiv_lt_0_compat; [apply around_pos|easy]).
  exists bool, differ, (fun b : bool => if b then Delta else 0%Z).
  split; [intros [|] [|] H; try lia; now elim H|].
  split; [intros d; exact (pmf_shift f (- _) (gauss_pmf s2 f Hf))|]. split; [intros; apply Hpos|].
  exists true, false, 2. split; [discriminate|]. split; [lra|]. unfold add_noise.
  set (g := exp (2 * (IZR Delta ^ 2 / (2 * s2)))).
  pose proof (whole_centre s2 Hs (2 * Delta) N HS) as [_ HW].
  assert (exp ((2 - 1) * (2 * rho)) < g) as Hlt by (apply exp_increasing; lra).
  set (x := exp ((2 - 1) * (2 * rho))) in *. pose proof (exp_pos ((2 - 1) * (2 * rho))) as Hx. fold x in Hx.
  apply NNPP. intros Hno. assert (N <= N * x / g); [|apply Rmult_le_compat_r with (r := g) in H; [|lra]; replace (N * x / g * g) with (N * x) in H by (field; lra); nra].
  apply HW. intros r (l & Hl & _ & ->). apply Rnot_lt_le. intros Hgt. apply Hno. exists l. split; [easy|].
  rewrite (mass_ext _ _ l (fun k _ => renyi_term Delta 0 2 N k HN E)), mass_scale.
  replace (2 * IZR Delta + (1 - 2) * 0) with (IZR (2 * Delta)) by (rewrite mult_IZR; ring).
  replace ((2 - 1) * (2 * IZR (Delta - 0) ^ 2 / (2 * s2))) with (2 * (IZR Delta ^ 2 / (2 * s2))) by (rewrite Z.sub_0_r; field; lra). fold g.
  apply Rmult_lt_compat_l with (r := g / N) in Hgt; [|apply Rdiv_lt_0_compat; lra].
  replace (g / N * (N * x / g)) with x in Hgt by (field; lra). exact Hgt.
Qed.
End Concentrated.

(** The two verdicts exclude each other. *)
Theorem noise_not_zcdp_not f Delta rho : noise_not_zcdp f Delta rho -> ~ noise_zcdp f Delta rho.
Proof.
  intros (D & adj & q & Hq & _ & _ & d & d' & a & Ha & Hall & l & Hl & Hgt) H.
  destruct (H D adj q Hq) as (_ & _ & H'). specialize (H' d d' Ha a Hall l Hl). lra.
Qed.

(** sigma^2 = u/v, rho = a/b *)
Definition zcdp_check (u v Delta a b : Z) : bool :=
  ((0 <? u) && (0 <? v) && (0 <? b) && (Delta * Delta * v * b <=? a * (2 * u)))%Z%bool.
Definition zcdp_refutes (u v Delta a b : Z) : bool :=
  ((0 <? u) && (0 <? v) && (0 <? b) && (0 <=? Delta) && (a * (2 * u) <? Delta * Delta * v * b))%Z%bool.
(** Clearing denominators *)
Theorem zcdp_dp u v Delta a b : zcdp_check u v Delta a b = true ->
  exists f, discrete_gaussian (IZR u / IZR v) f /\ noise_zcdp f Delta (IZR a / IZR b).
Proof.
  unfold zcdp_check. intros H. split_bool H. pose proof (s2_pos u v ltac:(easy) ltac:(easy)) as Hs.
  destruct (gauss_exists _ Hs) as [f Hf]. exists f. split; [easy|]. apply (gauss_zcdp _ Hs f Hf).
  rewrite (pow_IZR _ 2). change (Z.of_nat 2) with 2%Z. rewrite Z.pow_2_r. apply over_ratio; easy.
Qed.
(** Clearing denominators *)
Theorem zcdp_not_dp u v Delta a b : zcdp_refutes u v Delta a b = true ->
  exists f, discrete_gaussian (IZR u / IZR v) f /\ noise_not_zcdp f Delta (IZR a / IZR b).
Proof.
  unfold zcdp_refutes. intros H. split_bool H. pose proof (s2_pos u v ltac:(easy) ltac:(easy)) as Hs.
  destruct (gauss_exists _ Hs) as [f Hf]. exists f. split; [easy|]. apply (gauss_not_zcdp _ Hs f Hf); [easy|].
  match goal with X : (_ < Delta * Delta * v * b)%Z |- _ => apply IZR_lt in X; rewrite !mult_IZR in X end.
  apply IZR_lt in H as Hu. match goal with X : (0 < v)%Z |- _ => apply IZR_lt in X end. match goal with X : (0 < b)%Z |- _ => apply IZR_lt in X end.
  apply Rmult_lt_reg_r with (2 * IZR u * IZR b); [nra|].
  replace (IZR a / IZR b * (2 * IZR u * IZR b)) with (IZR a * (2 * IZR u)) by (field; lra).
  replace (IZR Delta ^ 2 / (2 * (IZR u / IZR v)) * (2 * IZR u * IZR b)) with (IZR Delta * IZR Delta * IZR v * IZR b) by (field; lra). lra.
Qed.
