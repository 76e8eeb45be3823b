(** Skellam noise, used K times: tight composition on a grid. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables DiscreteGaussian SkellamLaw Skellam Grid UsesOnGrid.
Import ListNotations.
Open Scope R_scope.

(** Steps of the grid are ln((m + 1)/m). *)
Definition skellam_uses_check (K : nat) (u v : Z) (s : nat) (Q : Z) (N L : nat) (m B : Z) (e f g h : nat) (a b n d P : Z) (r : nat) : bool :=
  let l := first_ratios u v Q N L in
  (is_mean u v Q l && uses_check (both_sides (lower Q (2 ^ Q) l)) (whole Q l) K s (m + 1) m B e f g h a b n d P r)%bool.

(** Of both sides of zero *)
Lemma skellam_concave mu f : 0 < mu -> skellam mu f ->
  forall k0 k s, (0 <= s)%Z -> (k0 <= k)%Z -> f (k0 - s)%Z * f k <= f (k - s)%Z * f k0.
Proof.
  intros Hmu Hf. pose proof (skellam_even mu Hmu f) as Heven. assert (forall k, 0 < f k) as Hpos.
  { intros k. destruct (Z_le_dec 0 k); [|rewrite <- (Heven k Hf)]; [rewrite <- (Z2Nat.id k) by lia|rewrite <- (Z2Nat.id (- k)) by lia]; now apply skellam_pos with (mu := mu). }
  assert (forall j, (0 <= j)%Z -> f (j + 1)%Z <= f j) as Hdown.
  { intros j Hj. pose proof (rho_step mu Hmu f Hf 0) as [R0 E0]. cbv beta zeta in R0, E0.
    pose proof (archimed (mu * mu)) as [Hm _].
    pose proof (rho_falls mu Hmu f Hf (Z.to_nat (Rdefinitions.up (mu * mu))) 0) as F.
    rewrite Nat.add_0_r, INR_IZR_INZ, Z2Nat.id in F by (apply le_IZR; nra). specialize (F ltac:(lra)). cbv beta zeta in F.
    pose proof (skellam_falls mu Hmu f Hf 0 (Z.to_nat j) ltac:(lia)) as X. cbv beta zeta in X.
    replace (Z.of_nat (S (Z.to_nat j))) with (j + 1)%Z in X by lia. rewrite Z2Nat.id in X by lia. simpl Z.of_nat in X, R0, E0, F.
    change (INR 1) with 1 in E0. pose proof (Hpos 0%Z) as H0. pose proof (Hpos 1%Z) as H1. pose proof (Hpos j).
    set (x := f 1%Z / f 0%Z) in *. assert (x <= 1) as Hx1 by (set (y := f 2%Z / f 1%Z) in *; unfold Rdiv in E0; rewrite Rmult_1_l in E0; nra).
    assert (f 1%Z <= f 0%Z). { replace (f 1%Z) with (x * f 0%Z) by (unfold x; field; lra). nra. }
    nra. }
  apply log_concave; [intros; now left|intros; auto|]. intros j k Hjk. destruct (Z_le_dec 0 j) as [Hj|Hj].
  - pose proof (skellam_falls mu Hmu f Hf (Z.to_nat j) (Z.to_nat k) ltac:(lia)) as X. cbv beta zeta in X.
    replace (Z.of_nat (S (Z.to_nat j))) with (j + 1)%Z in X by lia. replace (Z.of_nat (S (Z.to_nat k))) with (k + 1)%Z in X by lia.
    rewrite !Z2Nat.id in X by lia. lra.
  - destruct (Z_le_dec 0 k) as [Hk|Hk].
    + pose proof (Hdown k Hk). pose proof (Hdown (- j - 1)%Z ltac:(lia)) as Y. replace (- j - 1 + 1)%Z with (- j)%Z in Y by lia.
      replace (- j - 1)%Z with (- (j + 1))%Z in Y by lia. rewrite !Heven in Y by easy. pose proof (Hpos j). pose proof (Hpos (k + 1)%Z).
      apply Rmult_le_compat; lra.
    + pose proof (skellam_falls mu Hmu f Hf (Z.to_nat (- k - 1)) (Z.to_nat (- j - 1)) ltac:(lia)) as X. cbv beta zeta in X.
      replace (Z.of_nat (S (Z.to_nat (- k - 1)))) with (- k)%Z in X by lia. replace (Z.of_nat (S (Z.to_nat (- j - 1)))) with (- j)%Z in X by lia.
      rewrite !Z2Nat.id in X by lia. replace (- k - 1)%Z with (- (k + 1))%Z in X by lia. replace (- j - 1)%Z with (- (j + 1))%Z in X by lia.
      rewrite !Heven in X by easy. lra.
Qed.
(** Weights from below, on the grid *)
Theorem skellam_uses_dp K u v s Q N L m B e f g h a b n d P r : skellam_uses_check K u v s Q N L m B e f g h a b n d P r = true ->
  exists p, skellam (IZR u / IZR v) p /\ noise_uses_dp p K (Z.of_nat s) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold skellam_uses_check. intros H. apply andb_prop in H as [Hm Hc]. pose proof Hm as H. unfold is_mean in H. split_bool H.
  pose proof (mean_pos u v ltac:(easy) ltac:(easy)) as Hmu. destruct (skellam_exists _ Hmu) as [p Hp]. exists p. split; [easy|].
  pose proof Hc as H'. unfold uses_check in H'. split_bool H'. assert (0 < whole Q (first_ratios u v Q N L))%Z as HW.
  { match goal with X : grid_check _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ = true |- _ => now apply grid_product in X end. }
  eapply (uses_on_grid p 0); [apply (skellam_pmf _ Hmu p Hp)| |exact (skellam_concave _ p Hmu Hp)|exact HW|exact H'|assumption|
    exact (weights_ok u v Q p ltac:(easy) ltac:(easy) ltac:(easy) Hp N L Hm)|exact Hc].
  intros k. rewrite Z.sub_0_l. now apply (skellam_even _ Hmu).
Qed.
