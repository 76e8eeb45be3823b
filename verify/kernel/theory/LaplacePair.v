(** Discrete Laplace noise of scale t: the finite pair that dominates every shift of at most Delta. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Weights PostProcessing DiscreteLaplace Composition Tables.
Import ListNotations.
Open Scope R_scope.

Section Laplace.
Variables (t : R) (Delta : nat).
Hypotheses (Ht : 0 < t) (HD : (0 < Delta)%nat).
Let a := exp (- (1 / t)).
Let f := discrete_laplace t.

(** Its exponent is negative *)
Lemma rate : 0 < a < 1.
Proof. exact (decay t Ht). Qed.

(** The tail Pr[X >= k] *)
Definition tail (k : Z) : R :=
  if (k <=? 0)%Z then (1 + a - a ^ Z.to_nat (1 - k)) / (1 + a) else a ^ Z.to_nat k / (1 + a).

(** Each outcome leaves the tail *)
Lemma tail_step k : tail k - tail (k + 1) = f k.
Proof.
  pose proof rate. unfold tail, f. rewrite laplace_pow by easy. fold a.
  destruct (Z.leb_spec k 0), (Z.leb_spec (k + 1) 0); try lia.
  - replace (Z.to_nat (1 - k)) with (S (Z.to_nat (Z.abs k))) by lia.
    replace (Z.to_nat (1 - (k + 1))) with (Z.to_nat (Z.abs k)) by lia. simpl. field. lra.
  - replace k with 0%Z by lia. simpl. field. lra.
  - replace (Z.to_nat (k + 1)) with (S (Z.to_nat k)) by lia. replace (Z.abs k) with k by lia. simpl. field. lra.
Qed.
(** Outcome by outcome *)
Lemma tail_sum m : forall k, mass f (zseq k m) = tail k - tail (k + Z.of_nat m).
Proof.
  induction m; intros k; cbn [zseq mass].
  - replace (k + Z.of_nat 0)%Z with k by lia. lra.
  - rewrite IHm, <- tail_step. replace (k + 1 + Z.of_nat m)%Z with (k + Z.of_nat (S m))%Z by lia. lra.
Qed.
(** Powers of a *)
Lemma power_range n : 0 < a ^ n <= 1.
Proof.
  pose proof rate. split; [apply pow_lt; lra|]. rewrite <- (pow1 n). apply pow_incr. lra.
Qed.
(** Powers of a *)
Lemma tail_nonneg k : 0 <= tail k.
Proof.
  pose proof rate. unfold tail. destruct (k <=? 0)%Z; apply Rmult_le_pos; try (left; apply Rinv_0_lt_compat; lra).
  - pose proof (power_range (Z.to_nat (1 - k))). lra.
  - pose proof (power_range (Z.to_nat k)). lra.
Qed.
(** Sums of outcomes *)
Lemma tail_falls k k' : (k <= k')%Z -> tail k' <= tail k.
Proof.
  intros H. pose proof (tail_sum (Z.to_nat (k' - k)) k) as Hs.
  replace (k + Z.of_nat (Z.to_nat (k' - k)))%Z with k' in Hs by lia.
  pose proof (mass_nonneg f (zseq k (Z.to_nat (k' - k))) (laplace_pos t Ht)). lra.
Qed.
(** Powers of a *)
Lemma tail_ends k e : 0 < e -> exists m, forall m', (m <= m')%nat -> tail (k + Z.of_nat m') <= e.
Proof.
  intros He. pose proof rate. destruct (pow_lt_1_zero a ltac:(rewrite Rabs_right; lra) e He) as [N HN].
  exists (N + 1 + Z.to_nat (- k))%nat. intros m' Hm. unfold tail.
  destruct (Z.leb_spec (k + Z.of_nat m') 0); [lia|]. specialize (HN (Z.to_nat (k + Z.of_nat m')) ltac:(lia)).
  pose proof (power_range (Z.to_nat (k + Z.of_nat m'))). rewrite Rabs_right in HN by lra.
  apply Rmult_le_reg_r with (1 + a); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

(** The pair: what is at most 0, one of 1 .. Delta-1, at least Delta, with the query at Delta or at 0. *)
Definition share (j : nat) : R := if ((j =? 0) || (j =? Delta))%nat%bool then 1 else 1 - a.
Definition laplace_pair : pair :=
  Pair (fun j => share j * a ^ (Delta - j) / (1 + a)) (fun j => share j * a ^ j / (1 + a)) (seq 0 (S Delta)).

(** Products of such *)
Lemma share_nonneg j : 0 <= share j.
Proof. pose proof rate. unfold share. destruct (_ || _)%bool; lra. Qed.
(** Products of such *)
Lemma laplace_pair_positive : positive_pair laplace_pair.
Proof.
  pose proof rate. intros j. pose proof (share_nonneg j). simpl.
  assert (0 < / (1 + a)) by (apply Rinv_0_lt_compat; lra).
  pose proof (power_range (Delta - j)). pose proof (power_range j).
  split; apply Rmult_le_pos; try lra; apply Rmult_le_pos; lra.
Qed.

Section Excess.
Variables x y : R.
Hypotheses (Hx : 0 <= x) (Hy : 0 <= y).
Let gain j := x * left laplace_pair j - y * right laplace_pair j.
Let cost := mass (fun j => above x y (left laplace_pair j) (right laplace_pair j)) (points laplace_pair).

(** The cells from Delta - m on *)
Lemma cells m : (m < Delta)%nat ->
  mass gain (seq (Delta - m) (S m)) = x * tail (- Z.of_nat m) - y * tail (Z.of_nat (Delta - m)).
Proof.
  pose proof rate. induction m; intros Hm.
  - cbn [seq mass]. unfold gain, tail. simpl left. simpl right. unfold share. rewrite Nat.sub_0_r, Nat.eqb_refl, Nat.sub_diag, Bool.orb_true_r.
    destruct (Z.leb_spec (Z.of_nat Delta) 0); [lia|]. rewrite Nat2Z.id. simpl. field. lra.
  - change (seq (Delta - S m) (S (S m))) with ((Delta - S m)%nat :: seq (S (Delta - S m)) (S m)).
    replace (S (Delta - S m)) with (Delta - m)%nat by lia. cbn [mass]. rewrite IHm by lia.
    pose proof (tail_step (- Z.of_nat (S m))) as H1. pose proof (tail_step (Z.of_nat (Delta - S m))) as H2.
    replace (- Z.of_nat (S m) + 1)%Z with (- Z.of_nat m)%Z in H1 by lia.
    replace (Z.of_nat (Delta - S m) + 1)%Z with (Z.of_nat (Delta - m)) in H2 by lia.
    assert (gain (Delta - S m) = x * f (- Z.of_nat (S m)) - y * f (Z.of_nat (Delta - S m))) as ->; [|rewrite <- H1, <- H2; ring].
    unfold gain, f. simpl left. simpl right. unfold share.
    destruct (Nat.eqb_spec (Delta - S m) 0); [lia|]. destruct (Nat.eqb_spec (Delta - S m) Delta); [lia|]. simpl orb. cbv iota.
    rewrite !laplace_pow by easy. fold a. replace (Z.to_nat (Z.abs (- Z.of_nat (S m)))) with (Delta - (Delta - S m))%nat by lia.
    replace (Z.to_nat (Z.abs (Z.of_nat (Delta - S m)))) with (Delta - S m)%nat by lia. field. lra.
Qed.
(** Cells from one on are at most all positive ones *)
Lemma cells_below m : (m <= S Delta)%nat -> mass gain (seq (S Delta - m) m) <= cost.
Proof.
  intros H. unfold cost. change (points laplace_pair) with (seq 0 (S Delta)).
  replace (S Delta) with ((S Delta - m) + m)%nat at 2 by lia. rewrite seq_app, mass_app, Nat.add_0_l.
  assert (0 <= mass (fun j => above x y (left laplace_pair j) (right laplace_pair j)) (seq 0 (S Delta - m)))
    by (apply mass_nonneg; intros; apply above_nonneg).
  assert (mass gain (seq (S Delta - m) m) <= mass (fun j => above x y (left laplace_pair j) (right laplace_pair j)) (seq (S Delta - m) m))
    by (apply mass_le; intros; apply above_ge). lra.
Qed.

(** No threshold gains more than the pair. *)
Lemma threshold k : x * tail (k - Z.of_nat Delta) - y * tail k <= cost.
Proof.
  pose proof rate. destruct (Z_le_dec k 0) as [Hk|Hk]; [|destruct (Z_le_dec k (Z.of_nat Delta)) as [Hk'|Hk']].
  - pose proof (cells_below Delta ltac:(lia)) as H1. pose proof (cells_below (S Delta) ltac:(lia)) as H0.
    rewrite Nat.sub_diag in H0. change (seq 0 (S Delta)) with (0%nat :: seq 1 Delta) in H0. cbn [mass] in H0.
    replace (S Delta - Delta)%nat with 1%nat in H1 by lia.
    pose proof (cells (Delta - 1) ltac:(lia)) as Hc. replace (Delta - (Delta - 1))%nat with 1%nat in Hc by lia.
    replace (S (Delta - 1)) with Delta in Hc by lia. rewrite Hc in H0, H1.
    assert (gain 0 = (x * a ^ Delta - y) / (1 + a)) as Hg.
    { unfold gain. simpl. unfold share. simpl. rewrite Nat.sub_0_r. field. lra. }
    rewrite Hg in H0. set (z := a ^ Z.to_nat (1 - k)). pose proof (power_range (Z.to_nat (1 - k))) as Hz. fold z in Hz.
    assert (z <= a) as Hza.
    { unfold z. replace (Z.to_nat (1 - k)) with (S (Z.to_nat (- k))) by lia. pose proof (power_range (Z.to_nat (- k))). simpl. nra. }
    set (w := z / a). assert (z = w * a) as Ez by (unfold w; field; lra). assert (0 <= w <= 1) as Hw by nra.
    set (V := x * tail (- Z.of_nat (Delta - 1)) - y * tail (Z.of_nat 1)) in *.
    assert (x * tail (k - Z.of_nat Delta) - y * tail k = V + (1 - w * a) * ((x * a ^ Delta - y) / (1 + a))) as ->.
    { unfold V, tail. destruct (Z.leb_spec (k - Z.of_nat Delta) 0); [|lia]. destruct (Z.leb_spec k 0); [|lia].
      destruct (Z.leb_spec (- Z.of_nat (Delta - 1)) 0); [|lia]. destruct (Z.leb_spec (Z.of_nat 1) 0); [lia|].
      fold z. replace (Z.to_nat (1 - (k - Z.of_nat Delta))) with (Delta + Z.to_nat (1 - k))%nat by lia.
      replace (Z.to_nat (1 - - Z.of_nat (Delta - 1))) with Delta by lia. rewrite pow_add. fold z. rewrite Ez. simpl. field. lra. }
    nra.
  - pose proof (cells_below (S (Delta - Z.to_nat k)) ltac:(lia)) as H1.
    pose proof (cells (Delta - Z.to_nat k) ltac:(lia)) as Hc.
    replace (S Delta - S (Delta - Z.to_nat k))%nat with (Delta - (Delta - Z.to_nat k))%nat in H1 by lia. rewrite Hc in H1.
    replace (- Z.of_nat (Delta - Z.to_nat k))%Z with (k - Z.of_nat Delta)%Z in H1 by lia.
    replace (Z.of_nat (Delta - (Delta - Z.to_nat k))) with k in H1 by lia. exact H1.
  - pose proof (cells_below 1 ltac:(lia)) as H1. pose proof (cells_below 0 ltac:(lia)) as H0. cbn [seq mass] in H0.
    pose proof (cells 0 ltac:(lia)) as Hc. rewrite Nat.sub_0_r in Hc. replace (S Delta - 1)%nat with Delta in H1 by lia.
    rewrite Hc in H1. unfold tail in *.
    destruct (Z.leb_spec (k - Z.of_nat Delta) 0); [lia|]. destruct (Z.leb_spec k 0); [lia|]. destruct (Z.leb_spec (Z.of_nat Delta) 0); [lia|].
    simpl in H1. rewrite Nat2Z.id in H1. replace (Z.to_nat k) with (Z.to_nat (k - Z.of_nat Delta) + Delta)%nat by lia. rewrite pow_add.
    pose proof (power_range (Z.to_nat (k - Z.of_nat Delta))) as Hp. set (z := a ^ Z.to_nat (k - Z.of_nat Delta)) in *.
    replace (x * (z / (1 + a)) - y * (z * a ^ Delta / (1 + a))) with (z * (x * ((1 + a - a * 1) / (1 + a)) - y * (a ^ Delta / (1 + a)))) by (field; lra).
    nra.
Qed.

(** The least member with a property, of a list *)
Lemma least (P : Z -> Prop) (Pdec : forall k, {P k} + {~ P k}) (l : list Z) :
  (forall k, In k l -> ~ P k) \/ exists k0, P k0 /\ forall k, In k l -> P k -> (k0 <= k)%Z.
Proof.
  induction l as [|k l [IH|(k0 & H0 & IH)]]; [left; easy| |].
  - destruct (Pdec k) as [H|H]; [right; exists k; split; [easy|]|left].
    + intros z [<-|Hz] Hp; [lia|]. exfalso. exact (IH z Hz Hp).
    + intros z [<-|Hz]; auto.
  - right. destruct (Pdec k) as [H|H].
    + exists (Z.min k k0). split; [destruct (Z.min_dec k k0) as [->| ->]; easy|]. intros z [<-|Hz] Hp; [lia|]. specialize (IH z Hz Hp). lia.
    + exists k0. split; [easy|]. intros z [<-|Hz] Hp; [contradiction|auto].
Qed.

(** A shift to the right: the event of the outcomes from some k on gains most, and less for a smaller shift *)
Lemma right_shift s l : (0 <= s <= Z.of_nat Delta)%Z -> NoDup l -> mass (fun k => above x y (f (k - s)%Z) (f k)) l <= cost.
Proof.
  intros Hs Hl. pose proof rate. assert (forall k, 0 < f k) as Hf.
  { intros k. unfold f. rewrite laplace_pow by easy. fold a. apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|apply power_range]. }
  destruct (least (fun k => y * f k < x * f (k - s)%Z) (fun k => Rlt_dec _ _) l) as [H0|(k0 & H0 & H1)].
  - apply Rle_trans with (mass (fun _ => 0 * 0) l).
    + apply mass_le. intros k Hk. specialize (H0 k Hk). unfold above. rewrite Rmax_left; lra.
    + rewrite mass_scale, Rmult_0_l. apply mass_nonneg. intros; apply above_nonneg.
  - apply Rle_trans with (x * tail (k0 - s) - y * tail k0).
    2: { apply Rle_trans with (2 := threshold k0). pose proof (tail_falls (k0 - Z.of_nat Delta) (k0 - s) ltac:(lia)). nra. }
    apply le_epsilon. intros e He.
    destruct (tail_ends k0 (e / (y + 1)) ltac:(apply Rdiv_lt_0_compat; lra)) as [m Hm].
    destruct (list_in_ball l) as [n Hn]. set (m' := (m + n + Z.to_nat (Z.abs k0) + 1)%nat).
    specialize (Hm m' ltac:(lia)).
    apply Rle_trans with (mass (fun k => above x y (f (k - s)%Z) (f k)) (zseq k0 m')).
    + apply mass_cover; auto. { intros; apply above_nonneg. }
      intros k Hk. destruct (Z_lt_dec k k0) as [Hlt|Hge].
      * right. unfold above. apply Rmax_left. apply Rnot_lt_le. intros Hp. specialize (H1 k Hk ltac:(lra)). lia.
      * left. apply in_zseq. apply Hn, in_ball in Hk. lia.
    + assert (forall k, (k0 <= k)%Z -> 0 <= x * f (k - s)%Z - y * f k) as Hsign.
      { intros k Hk. assert (f (k0 - s)%Z * f k <= f (k - s)%Z * f k0) as Hr.
        { unfold f. rewrite !laplace_pow by easy. fold a. set (c := (1 - a) / (1 + a)). assert (0 < c) by (apply Rdiv_lt_0_compat; lra).
          assert (forall u v w z, (w + z <= u + v)%nat -> (c * a ^ u) * (c * a ^ v) <= (c * a ^ w) * (c * a ^ z)) as X; [|apply X; lia].
          intros u v w z Hu. replace (c * a ^ u * (c * a ^ v)) with (c * c * a ^ (u + v)) by (rewrite pow_add; ring).
          replace (c * a ^ w * (c * a ^ z)) with (c * c * a ^ (w + z)) by (rewrite pow_add; ring).
          apply Rmult_le_compat_l; [nra|]. replace (u + v)%nat with ((w + z) + (u + v - (w + z)))%nat by lia.
          rewrite pow_add. pose proof (power_range (w + z)). pose proof (power_range (u + v - (w + z))). nra. }
        pose proof (Hf k0) as Hf0. pose proof (Hf k) as Hfk.
        assert (y * f k * f k0 <= x * f (k - s)%Z * f k0); [|nra].
        apply Rle_trans with (x * (f (k0 - s)%Z * f k)); [|nra]. nra. }
      rewrite (mass_ext _ (fun k => x * f (k - s)%Z + - y * f k)).
      2: { intros k Hk. apply in_zseq in Hk. unfold above. rewrite Rmax_right; [ring|]. apply Hsign. lia. }
      rewrite mass_lin, tail_sum.
      assert (mass (fun k => f (k - s)%Z) (zseq k0 m') = mass f (zseq (k0 - s) m')) as ->.
      { generalize m'. clear. intros m'. revert k0. induction m' as [|m IH]; intros k0; [easy|]. cbn [zseq mass]. rewrite IH. do 3 f_equal. lia. }
      rewrite tail_sum. pose proof (tail_nonneg (k0 - s + Z.of_nat m')).
      assert (y * tail (k0 + Z.of_nat m') <= y * (e / (y + 1))) by (apply Rmult_le_compat_l; lra).
      assert (y * (e / (y + 1)) <= e).
      { apply Rmult_le_reg_r with (y + 1); [lra|]. replace (y * (e / (y + 1)) * (y + 1)) with (y * e) by (field; lra). nra. }
      nra.
Qed.
End Excess.

(** The law is even *)
Lemma laplace_even k : f (- k)%Z = f k.
Proof. unfold f, discrete_laplace. now rewrite Z.abs_opp. Qed.

(** To the left is to the right of the mirrored outcomes *)
Theorem laplace_dominated s : (Z.abs s <= Z.of_nat Delta)%Z -> dominated (fun k => f (k - s)%Z) f laplace_pair.
Proof.
  intros Hs x y Hx Hy l Hl. destruct (Z_le_dec 0 s); [apply right_shift; auto; lia|].
  rewrite (mass_ext _ (fun k => above x y (f (- k - - s)%Z) (f (- k)%Z))).
  2: { intros k _. rewrite laplace_even, <- (laplace_even (k - s)). do 2 f_equal. lia. }
  rewrite <- (mass_map (fun k => above x y (f (k - - s)%Z) (f k)) Z.opp).
  apply right_shift; auto; [lia|]. apply FinFun.Injective_map_NoDup; auto. intros u v. lia.
Qed.
End Laplace.
