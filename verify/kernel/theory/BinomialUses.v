(** Sums of fair bits as noise, used K times: tight composition on a grid. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables DiscreteGaussian Binomial Grid UsesOnGrid.
Import ListNotations.
Open Scope R_scope.

(** Steps of the grid are ln((m + 1)/m). *)
Definition bits_uses_check (K N s : nat) (m B : Z) (e f g h : nat) (a b n d P : Z) (r : nat) : bool :=
  uses_check (row 1 1 N) (2 ^ Z.of_nat N) K s (m + 1) m B e f g h a b n d P r.

(** By Pascal's triangle *)
Lemma choose_pos N : forall k, (k <= N)%nat -> (0 < choose N k)%Z.
Proof.
  induction N; intros [|k] H; try (cbn [choose]; lia). specialize (IHN k ltac:(lia)). change (choose (S N) (S k)) with (choose N k + choose N (S k))%Z.
  destruct (Nat.le_gt_cases (S k) N) as [Hk|Hk].
  - assert (forall n j, (0 <= choose n j)%Z) as H0 by (induction n; intros [|j]; try (cbn [choose]; lia); pose proof (IHn j); pose proof (IHn (S j));
      change (choose (S n) (S j)) with (choose n j + choose n (S j))%Z; lia).
    pose proof (H0 N (S k)). lia.
  - rewrite (choose_out N (S k)) by lia. lia.
Qed.
Section Bits.
Variable N : nat.
Let f := binomial N (1 / 2).
Let W := IZR (2 ^ Z.of_nat N).
(** Whole numbers over 2^N *)
Lemma bits_entry k : IZR (entry (row 1 1 N) k) = W * f k.
Proof.
  rewrite (entry_row 1 1 N ltac:(lia) ltac:(lia) k). change (1 + 1)%Z with 2%Z. unfold W, f. now rewrite <- pow_IZR.
Qed.
(** A power of two *)
Lemma bits_scale : 0 < W.
Proof. apply IZR_pow2_pos. lia. Qed.
(** By the row of weights *)
Lemma bits_weight k : W * f k = IZR (if ((0 <=? k) && (k <=? Z.of_nat N))%Z%bool then choose N (Z.to_nat k) else 0).
Proof.
  rewrite <- bits_entry. destruct (Z.leb_spec 0 k) as [H0|H0]; [destruct (Z.leb_spec k (Z.of_nat N)) as [H1|H1]|]; cbn [andb].
  - unfold entry. rewrite (proj2 (Z.ltb_ge k 0) H0), row_nth by lia. unfold weight. rewrite !Z.pow_1_l by lia. f_equal. ring.
  - rewrite entry_out by (rewrite row_length; lia). easy.
  - rewrite entry_out by lia. easy.
Qed.
(** Weights of such *)
Lemma bits_nonneg k : 0 <= f k.
Proof.
  pose proof bits_scale. apply Rmult_le_reg_l with W; [easy|]. rewrite bits_weight, Rmult_0_r. apply IZR_le.
  destruct (_ && _)%bool eqn:E; [|lia]. apply andb_prop in E as [E1 E2]. apply Z.leb_le in E1, E2. pose proof (choose_pos N (Z.to_nat k) ltac:(lia)). lia.
Qed.
(** Within their range *)
Lemma bits_pos k : 0 < f k <-> (0 <= k <= Z.of_nat N)%Z.
Proof.
  pose proof bits_scale as HW. pose proof (bits_weight k) as E. split.
  - intros H. destruct (Z.leb_spec 0 k) as [H0|H0]; [destruct (Z.leb_spec k (Z.of_nat N)) as [H1|H1]; [lia|]|]; cbn [andb] in E; nra.
  - intros [H0 H1]. rewrite (proj2 (Z.leb_le 0 k) H0), (proj2 (Z.leb_le k _) H1) in E. cbn [andb] in E.
    pose proof (IZR_lt _ _ (choose_pos N (Z.to_nat k) ltac:(lia))). apply Rmult_lt_reg_l with W; lra.
Qed.
(** C(N, k+1)/C(N, k) falls *)
Lemma bits_concave k0 k s : (0 <= s)%Z -> (k0 <= k)%Z -> f (k0 - s)%Z * f k <= f (k - s)%Z * f k0.
Proof.
  intros Hs Hk. revert k0 k s Hs Hk. apply log_concave; [exact bits_nonneg|intros a b c; rewrite !bits_pos; lia|]. intros j k Hjk.
  pose proof bits_scale as HW. destruct (Z_le_dec 0 j) as [H0|H0].
  2: { assert (f j = 0) as ->; [|pose proof (bits_nonneg (j + 1)); pose proof (bits_nonneg k); nra].
       pose proof (bits_weight j) as E. rewrite (proj2 (Z.leb_gt 0 j)) in E by lia. cbn [andb] in E. nra. }
  destruct (Z_le_dec (k + 1) (Z.of_nat N)) as [H1|H1].
  2: { assert (f (k + 1)%Z = 0) as ->; [|pose proof (bits_nonneg (j + 1)); pose proof (bits_nonneg k); nra].
       pose proof (bits_weight (k + 1)) as E. rewrite (proj2 (Z.leb_gt (k + 1) _)), Bool.andb_false_r in E by lia. nra. }
  assert (forall i, (0 <= i < Z.of_nat N)%Z -> f (i + 1)%Z * (IZR i + 1) = f i * (IZR (Z.of_nat N) - IZR i)) as Hstep.
  { intros i Hi. pose proof (bits_weight i) as E0. pose proof (bits_weight (i + 1)) as E1.
    rewrite (proj2 (Z.leb_le 0 i)), (proj2 (Z.leb_le i _)) in E0 by lia. rewrite (proj2 (Z.leb_le 0 (i + 1))), (proj2 (Z.leb_le (i + 1) _)) in E1 by lia. cbn [andb] in E0, E1.
    pose proof (choose_step N (Z.to_nat i) ltac:(lia)) as X. replace (S (Z.to_nat i)) with (Z.to_nat (i + 1)) in X by lia. rewrite Z2Nat.id in X by lia.
    apply (f_equal IZR) in X. rewrite !mult_IZR, plus_IZR, minus_IZR, <- E0, <- E1 in X. apply Rmult_eq_reg_l with W; [lra|lra]. }
  pose proof (Hstep j ltac:(lia)) as S0. pose proof (Hstep k ltac:(lia)) as S1.
  pose proof (IZR_le _ _ H0) as J. pose proof (IZR_le _ _ Hjk) as JK. pose proof (IZR_le _ _ H1) as K1. rewrite plus_IZR in K1.
  pose proof (bits_nonneg j) as F0. pose proof (bits_nonneg k) as F1. set (n := IZR (Z.of_nat N)) in *. set (x := IZR j) in *. set (y := IZR k) in *.
  apply Rmult_le_reg_r with ((x + 1) * (y + 1)); [nra|].
  replace (f j * f (k + 1)%Z * ((x + 1) * (y + 1))) with (f j * (x + 1) * (f (k + 1)%Z * (y + 1))) by ring.
  replace (f (j + 1)%Z * f k * ((x + 1) * (y + 1))) with ((f (j + 1)%Z * (x + 1)) * (f k * (y + 1))) by ring. rewrite S0, S1.
  assert (0 <= f j * f k) by nra. assert ((x + 1) * (n - y) <= (n - x) * (y + 1)) by nra.
  replace (f j * (x + 1) * (f k * (n - y))) with (f j * f k * ((x + 1) * (n - y))) by ring.
  replace (f j * (n - x) * (f k * (y + 1))) with (f j * f k * ((n - x) * (y + 1))) by ring. now apply Rmult_le_compat_l.
Qed.
(** C(N, N-k) = C(N, k) *)
Lemma bits_even k : f (Z.of_nat N - k)%Z = f k.
Proof.
  unfold f, binomial. destruct (Z.leb_spec 0 k) as [H0|H0], (Z.leb_spec k (Z.of_nat N)) as [H1|H1];
    destruct (Z.leb_spec 0 (Z.of_nat N - k)), (Z.leb_spec (Z.of_nat N - k) (Z.of_nat N)); try lia; cbn [andb]; try easy.
  replace (Z.to_nat (Z.of_nat N - k)) with (N - Z.to_nat k)%nat by lia. rewrite <- pascal_step1 by lia.
  replace (1 - 1 / 2) with (1 / 2) by lra. rewrite !Rmult_assoc, <- !pow_add. do 2 f_equal. lia.
Qed.
End Bits.
(** The weights are the law *)
Theorem bits_uses_dp K N s m B e f g h a b n d P r : bits_uses_check K N s m B e f g h a b n d P r = true ->
  noise_uses_dp (binomial N (1 / 2)) K (Z.of_nat s) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold bits_uses_check. intros Hc. pose proof Hc as H. unfold uses_check in H. split_bool H.
  assert (valid (row 1 1 N) = true) as Hv.
  { unfold valid. rewrite H, Bool.andb_true_l. apply Z.ltb_lt, lt_IZR. rewrite (total_row 1 1 N ltac:(lia) ltac:(lia)). apply pow_lt, IZR_lt. lia. }
  eapply (uses_on_grid (binomial N (1 / 2)) (Z.of_nat N)) with (W := (2 ^ Z.of_nat N)%Z) (h := 0%Z);
    [|apply bits_even|exact (bits_concave N)|apply Z.pow_pos_nonneg; lia|exact H|easy| |exact Hc].
  - eapply pmf_ext; [|exact (table_pmf _ Hv)]. intros k. rewrite (row_law 1 1 N ltac:(lia) ltac:(lia)). easy.
  - intros k. rewrite Z.add_0_r, bits_entry. lra.
Qed.
