(** Discrete Gaussian noise is concentrated: its Rényi divergences are at most those of the Gaussian,
    since a product of powers of moved weights is a weight around some centre. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz Classical_Prop.
From ExactDP Require Import Definitions Laws Mass Weights DiscreteGaussian Centres Renyi.
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
Lemma shifted_term c d a N k : 0 < N -> (forall k, f k = around s2 0 k / N) ->
  renyi_term a (fun k => f (k - c)%Z) (fun k => f (k - d)%Z) k
  = exp ((a - 1) * (a * IZR (c - d) ^ 2 / (2 * s2))) / N * around s2 (a * IZR c + (1 - a) * IZR d) k.
Proof.
  intros HN E. unfold renyi_term, Rpower. rewrite !E. unfold around. unfold Rdiv at 1 3. rewrite !ln_mult by (apply exp_pos || now apply Rinv_0_lt_compat). rewrite !ln_exp, !ln_Rinv by easy.
  replace (exp ((a - 1) * (a * IZR (c - d) ^ 2 / (2 * s2))) / N) with (exp ((a - 1) * (a * IZR (c - d) ^ 2 / (2 * s2)) + - ln N)).
  2: { rewrite exp_plus, exp_Ropp, exp_ln by easy. reflexivity. }
  rewrite <- !exp_plus. f_equal. rewrite !minus_IZR. field. lra.
Qed.

(** No outcome is impossible *)
Lemma gauss_pos k : 0 < f k.
Proof. destruct gauss_sums as (N & HN & _ & E). rewrite E. apply Rdiv_lt_0_compat; [apply around_pos|easy]. Qed.
(** a Delta^2/(2 sigma^2), at all real orders a *)
Theorem gauss_renyi Delta a eps : 1 < a -> a * (IZR Delta ^ 2 / (2 * s2)) <= eps -> noise_renyi f Delta a eps.
Proof.
  intros Hall Hr D adj q Hq. destruct gauss_sums as (N & HN & HS & E). split; [intros d; exact (pmf_shift f (- q d) (gauss_pmf s2 f Hf))|].
  intros d d' Ha. split; [intros; apply gauss_pos|]. intros l Hl _. unfold add_noise.
  rewrite (mass_ext _ _ l (fun k _ => shifted_term (q d) (q d') a N k HN E)), mass_scale.
  pose proof (centre_le s2 Hs (a * IZR (q d) + (1 - a) * IZR (q d')) N l HS Hl) as Hm.
  apply Rle_trans with (exp ((a - 1) * (a * IZR (q d - q d') ^ 2 / (2 * s2))) / N * N).
  - apply Rmult_le_compat_l; [|easy]. left. apply Rdiv_lt_0_compat; [apply exp_pos|easy].
  - unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (a * IZR (q d - q d') ^ 2 / (2 * s2) <= eps) as He.
    { unfold Rdiv in *. rewrite Rmult_assoc. apply Rle_trans with (2 := Hr). apply Rmult_le_compat_l; [lra|].
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. specialize (Hq d d' Ha).
      rewrite !(pow_IZR _ 2). apply IZR_le. change (Z.of_nat 2) with 2%Z. rewrite !Z.pow_2_r. nia. }
    apply Rmult_le_compat_l with (r := a - 1) in He; [|lra]. destruct He as [H| ->]; [left; now apply exp_increasing|lra].
Qed.
(** No less where a d is whole: there the bound is attained *)
Theorem gauss_attains d a n : a * IZR d = IZR n -> 1 < a ->
  attains a (fun k => f (k - d)%Z) (fun k => f (k - 0)%Z) (exp ((a - 1) * (a * (IZR d ^ 2 / (2 * s2))))).
Proof.
  intros Hn Hall x Hlt. destruct gauss_sums as (N & HN & HS & E). set (g := exp ((a - 1) * (a * (IZR d ^ 2 / (2 * s2))))) in *.
  assert (0 < g) as Hg by apply exp_pos. pose proof (whole_centre s2 Hs n N HS) as [_ HW].
  apply NNPP. intros Hno. assert (N <= N * x / g); [|apply Rmult_le_compat_r with (r := g) in H; [|lra]; replace (N * x / g * g) with (N * x) in H by (field; lra); nra].
  apply HW. intros r (l & Hl & _ & ->). apply Rnot_lt_le. intros Hgt. apply Hno. exists l. split; [easy|].
  split; [intros; split; apply gauss_pos|]. rewrite (mass_ext _ _ l (fun k _ => shifted_term d 0 a N k HN E)), mass_scale.
  replace (a * IZR d + (1 - a) * 0) with (IZR n) by lra.
  replace ((a - 1) * (a * IZR (d - 0) ^ 2 / (2 * s2))) with ((a - 1) * (a * (IZR d ^ 2 / (2 * s2)))) by (rewrite Z.sub_0_r; field; lra). fold g.
  apply Rmult_lt_compat_l with (r := g / N) in Hgt; [|apply Rdiv_lt_0_compat; lra].
  replace (g / N * (N * x / g)) with x in Hgt by (field; lra). exact Hgt.
Qed.
(** So of a query *)
Theorem gauss_not_renyi Delta a n eps : (0 <= Delta)%Z -> a * IZR Delta = IZR n -> 1 < a -> eps < a * (IZR Delta ^ 2 / (2 * s2)) ->
  noise_not_renyi f Delta a eps.
Proof.
  intros HD Hn Hall Hr. exists bool, differ, (fun b : bool => if b then Delta else 0%Z).
  split; [intros [|] [|] H; try lia; now elim H|].
  refine (attains_not_renyi differ _ a eps _ true false _ _ (gauss_attains Delta a n Hn Hall) _).
  - intros d. exact (pmf_shift f (- _) (gauss_pmf s2 f Hf)).
  - discriminate.
  - apply exp_increasing, Rmult_lt_compat_l; lra.
Qed.
(** rho = Delta^2/(2 sigma^2) *)
Theorem gauss_zcdp Delta rho : IZR Delta ^ 2 / (2 * s2) <= rho -> noise_zcdp f Delta rho.
Proof. intros Hr a Ha. apply gauss_renyi; [easy|]. apply Rmult_le_compat_l; lra. Qed.
(** ... and no less, by the order 2 *)
Theorem gauss_not_zcdp Delta rho : (0 <= Delta)%Z -> rho < IZR Delta ^ 2 / (2 * s2) -> noise_not_zcdp f Delta rho.
Proof.
  intros HD Hr. exists 2. split; [lra|]. apply (gauss_not_renyi Delta 2 (2 * Delta)); [easy|now rewrite mult_IZR|lra|lra].
Qed.
End Concentrated.

(** The two verdicts exclude each other. *)
Theorem noise_not_zcdp_not f Delta rho : noise_not_zcdp f Delta rho -> ~ noise_zcdp f Delta rho.
Proof.
  intros (a & Ha & D & adj & q & Hq & H) H'. exact (not_renyi_not adj _ a _ H (H' a Ha D adj q Hq)).
Qed.

(** ** The checks in whole numbers: sigma^2 = u/v, rho or epsilon = a/b, the order c/e, K uses *)
Open Scope Z_scope.
Definition gauss_ratios (u v b : Z) : bool := (0 <? u) && (0 <? v) && (0 <? b).
Definition zcdp_check (u v Delta a b : Z) : bool := gauss_ratios u v b && (Delta * Delta * v * b <=? a * (2 * u)).
Definition zcdp_refutes (u v Delta a b : Z) : bool :=
  gauss_ratios u v b && (0 <=? Delta) && (a * (2 * u) <? Delta * Delta * v * b).
Definition zcdp_uses_check (K : nat) (u v Delta a b : Z) : bool :=
  gauss_ratios u v b && (Z.of_nat K * (Delta * Delta) * v * b <=? a * (2 * u)).
Definition zcdp_uses_refutes (K : nat) (u v Delta a b : Z) : bool :=
  gauss_ratios u v b && (0 <? Z.of_nat K) && (0 <=? Delta) && (a * (2 * u) <? Z.of_nat K * (Delta * Delta) * v * b).
Definition renyi_check (K : nat) (u v Delta c e a b : Z) : bool :=
  gauss_ratios u v b && (0 <? e) && (e <? c) && (c * (Z.of_nat K * (Delta * Delta)) * v * b <=? a * (2 * u * e)).
Definition renyi_refutes (K : nat) (u v Delta c e a b : Z) : bool :=
  gauss_ratios u v b && (0 <? e) && (e <? c) && (0 <? Z.of_nat K) && (0 <=? Delta) && (c * Delta =? e * (c * Delta / e)) &&
  (a * (2 * u * e) <? c * (Z.of_nat K * (Delta * Delta)) * v * b).
Close Scope Z_scope.

(** An order above 1 *)
Lemma order_above c e : (0 < e)%Z -> (e < c)%Z -> 1 < IZR c / IZR e.
Proof. intros He Hc. apply IZR_lt in He, Hc. apply Rmult_lt_reg_r with (IZR e); [easy|]. replace (IZR c / IZR e * IZR e) with (IZR c) by (field; lra). lra. Qed.
Section Ratios.
Variables u v b : Z.
Hypothesis H : gauss_ratios u v b = true.
Let s2 := IZR u / IZR v.
(** They are positive *)
Lemma gauss_ratios_pos : 0 < IZR u /\ 0 < IZR v /\ 0 < IZR b /\ 0 < s2.
Proof.
  pose proof H as X. unfold gauss_ratios in X. split_bool X. split; [now apply IZR_lt|]. split; [now apply IZR_lt|]. split; [now apply IZR_lt|now apply s2_pos].
Qed.
(** Clearing denominators *)
Lemma cleared m k a : (0 < k)%Z -> IZR m / IZR k * / (2 * s2) <= IZR a / IZR b <-> (m * v * b <= a * (2 * u * k))%Z.
Proof.
  intros Hk. destruct gauss_ratios_pos as (Hu & Hv & Hb & Hs). apply IZR_lt in Hk.
  assert (IZR m / IZR k * / (2 * s2) * (IZR b * (2 * IZR u * IZR k)) = IZR (m * v * b)) as E1 by (unfold s2; rewrite !mult_IZR; field; lra).
  assert (IZR a / IZR b * (IZR b * (2 * IZR u * IZR k)) = IZR (a * (2 * u * k))) as E2 by (rewrite !mult_IZR; field; lra).
  assert (0 < IZR b * (2 * IZR u * IZR k)) as Hc by (repeat apply Rmult_lt_0_compat; lra). split; intros X.
  - apply le_IZR. rewrite <- E1, <- E2. apply Rmult_le_compat_r; lra.
  - apply IZR_le in X. rewrite <- E1, <- E2 in X. now apply Rmult_le_reg_r in X.
Qed.
(** K uses at an order c/e *)
Lemma cleared_uses K Delta c k a : (0 < k)%Z ->
  INR K * (IZR c / IZR k * (IZR Delta ^ 2 / (2 * s2))) <= IZR a / IZR b <-> (c * (Z.of_nat K * (Delta * Delta)) * v * b <= a * (2 * u * k))%Z.
Proof.
  intros Hk. rewrite <- cleared by easy. rewrite !mult_IZR, <- INR_IZR_INZ. apply IZR_lt in Hk. destruct gauss_ratios_pos as (_ & _ & _ & Hs).
  replace (INR K * (IZR c / IZR k * (IZR Delta ^ 2 / (2 * s2)))) with (IZR c * (INR K * (IZR Delta * IZR Delta)) / IZR k * / (2 * s2)) by (field; lra). tauto.
Qed.
End Ratios.

(** The law and what is said of it *)
Lemma gauss_has (u v b : Z) (claim : (Z -> R) -> Prop) : gauss_ratios u v b = true ->
  (forall f, 0 < IZR u / IZR v -> discrete_gaussian (IZR u / IZR v) f -> claim f) -> exists f, discrete_gaussian (IZR u / IZR v) f /\ claim f.
Proof.
  intros H Hc. destruct (gauss_ratios_pos u v b H) as (_ & _ & _ & Hs). destruct (gauss_exists _ Hs) as [f Hf]. exists f. auto.
Qed.
(** Clearing denominators *)
Theorem gauss_renyi_dp K u v Delta c e a b : renyi_check K u v Delta c e a b = true ->
  exists f, discrete_gaussian (IZR u / IZR v) f /\ noise_uses_renyi f K Delta (IZR c / IZR e) (IZR a / IZR b).
Proof.
  unfold renyi_check. intros H. split_bool H. apply (gauss_has u v b); [easy|]. intros f Hs Hf.
  assert (1 < IZR c / IZR e) as Ho by (apply order_above; easy).
  match goal with X : (_ <= _ * (2 * u * e))%Z |- _ => apply (cleared_uses u v b H K Delta c e a) in X; [rename X into Hc|easy] end.
  intros D adj q Hq. eapply renyi_weaken; [easy|exact Hc|]. apply (uses_renyi f Delta _ _ K (gauss_pmf _ f Hf)); [|easy].
  now apply (gauss_renyi _ Hs f Hf); [|apply Rle_refl].
Qed.
(** Clearing denominators *)
Theorem gauss_renyi_not_dp K u v Delta c e a b : renyi_refutes K u v Delta c e a b = true ->
  exists f, discrete_gaussian (IZR u / IZR v) f /\ noise_uses_not_renyi f K Delta (IZR c / IZR e) (IZR a / IZR b).
Proof.
  unfold renyi_refutes. intros H. split_bool H. apply (gauss_has u v b); [easy|]. intros f Hs Hf.
  assert (1 < IZR c / IZR e) as Ho by (apply order_above; easy). assert (0 < K)%nat as HK by lia. pose proof (lt_0_INR K HK) as HK'.
  replace (IZR a / IZR b) with (INR K * (IZR a / IZR b / INR K)) by (field; destruct (gauss_ratios_pos u v b H) as (_ & _ & Hb & _); lra).
  apply uses_not_renyi; [easy|]. apply (gauss_not_renyi _ Hs f Hf Delta _ (c * Delta / e)); [easy| |easy|].
  - match goal with X : (c * Delta = _)%Z |- _ => apply (f_equal IZR) in X; rewrite !mult_IZR in X; rename X into Hw end.
    assert (0 < IZR e) by now apply IZR_lt. apply Rmult_eq_reg_l with (IZR e); [|lra]. rewrite <- Hw. field. lra.
  - apply Rmult_lt_reg_l with (INR K); [easy|]. replace (INR K * (IZR a / IZR b / INR K)) with (IZR a / IZR b) by (field; destruct (gauss_ratios_pos u v b H) as (_ & _ & Hb & _); lra).
    apply Rnot_le_lt. intros Hc. apply (cleared_uses u v b H) in Hc; [lia|easy].
Qed.
(** K uses at once: each order's *)
Theorem zcdp_uses_dp K u v Delta a b : zcdp_uses_check K u v Delta a b = true ->
  exists f, discrete_gaussian (IZR u / IZR v) f /\ noise_uses_zcdp f K Delta (IZR a / IZR b).
Proof.
  unfold zcdp_uses_check. intros H. split_bool H. apply (gauss_has u v b); [easy|]. intros f Hs Hf o Ho.
  assert (INR K * (IZR 1 / IZR 1 * (IZR Delta ^ 2 / (2 * (IZR u / IZR v)))) <= IZR a / IZR b) as Hc by (apply cleared_uses; [easy|easy|lia]).
  intros D adj q Hq. apply renyi_weaken with (INR K * (o * (IZR Delta ^ 2 / (2 * (IZR u / IZR v))))); [easy| |].
  - replace (IZR 1 / IZR 1) with 1 in Hc by field. apply Rmult_le_compat_l with (r := o) in Hc; lra.
  - apply (uses_renyi f Delta _ _ K (gauss_pmf _ f Hf)); [|easy]. now apply (gauss_renyi _ Hs f Hf); [|apply Rle_refl].
Qed.
(** ... at the order 2 *)
Theorem zcdp_uses_not_dp K u v Delta a b : zcdp_uses_refutes K u v Delta a b = true ->
  exists f, discrete_gaussian (IZR u / IZR v) f /\ noise_uses_not_zcdp f K Delta (IZR a / IZR b).
Proof.
  unfold zcdp_uses_refutes. intros H. split_bool H. destruct (gauss_renyi_not_dp K u v Delta 2 1 (2 * a) b) as (f & Hf & Hn).
  { unfold renyi_refutes. rewrite H. assert (2 * Delta = 1 * (2 * Delta / 1))%Z as <- by (rewrite Z.div_1_r; lia).
    repeat (apply andb_true_intro; split); try (apply Z.ltb_lt; lia); try (apply Z.leb_le; lia); [easy|now apply Z.eqb_eq]. }
  exists f. split; [easy|]. exists 2. split; [lra|]. replace (2 * (IZR a / IZR b)) with (IZR (2 * a) / IZR b) by (rewrite mult_IZR; unfold Rdiv; ring).
  now replace 2 with (IZR 2 / IZR 1) at 1 by field.
Qed.
(** Once *)
Theorem zcdp_dp u v Delta a b : zcdp_check u v Delta a b = true ->
  exists f, discrete_gaussian (IZR u / IZR v) f /\ noise_zcdp f Delta (IZR a / IZR b).
Proof.
  unfold zcdp_check. intros H. split_bool H. apply (gauss_has u v b); [easy|]. intros f Hs Hf. apply (gauss_zcdp _ Hs f Hf).
  assert (INR 1 * (IZR 1 / IZR 1 * (IZR Delta ^ 2 / (2 * (IZR u / IZR v)))) <= IZR a / IZR b) as Hc by (apply cleared_uses; [easy|lia|lia]).
  simpl INR in Hc. lra.
Qed.
(** Once *)
Theorem zcdp_not_dp u v Delta a b : zcdp_refutes u v Delta a b = true ->
  exists f, discrete_gaussian (IZR u / IZR v) f /\ noise_not_zcdp f Delta (IZR a / IZR b).
Proof.
  unfold zcdp_refutes. intros H. split_bool H. apply (gauss_has u v b); [easy|]. intros f Hs Hf. apply (gauss_not_zcdp _ Hs f Hf); [easy|].
  apply Rnot_le_lt. intros Hc. assert (INR 1 * (IZR 1 / IZR 1 * (IZR Delta ^ 2 / (2 * (IZR u / IZR v)))) <= IZR a / IZR b) as Hc' by (simpl INR; lra).
  apply (cleared_uses u v b) in Hc'; [|easy|lia]. lia.
Qed.
