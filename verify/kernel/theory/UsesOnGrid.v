(** Noise of which whole weights are known from below, used K times: each use is dominated by one pair, and the
    product of the pairs is bounded on a grid. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FinFun Classical_Prop.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables PostProcessing DiscreteGaussian Composition LaplacePair Grid.
Import ListNotations.
Open Scope R_scope.

(** Outcome k weighs w_(k-s) on the left and w_k on the right; what the weights leave out may have infinite loss. *)
Definition shifted_pairs (w : list Z) (W : Z) (s : nat) : list (Z * Z) :=
  combine (zeros s ++ w) (w ++ zeros s) ++ [(W - total w, 0)%Z].
Definition uses_check (w : list Z) (W : Z) (K s : nat) (u v B : Z) (o m G H : nat) (a b n d P : Z) (r : nat) : bool :=
  (nonneg w && (total w <=? W)%Z && grid_check (shifted_pairs w W s) W K u v B o m G H a b n d P r)%bool.

(** Entry by entry *)
Lemma mass_combine (F : Z -> Z -> R) : forall A B s, length A = length B ->
  mass (fun k => F (entry A (k - s)) (entry B (k - s))) (zseq s (length A)) = mass (fun c => F (fst c) (snd c)) (combine A B).
Proof.
  induction A as [|a A IH]; intros [|b B] s Hl; try discriminate; [easy|].
  injection Hl as Hl. cbn [length zseq mass combine fst snd].
  rewrite (mass_ext _ (fun k => F (entry A (k - (s + 1))) (entry B (k - (s + 1))))).
  2: { intros k Hk. apply in_zseq in Hk. rewrite !entry_cons by lia. do 2 f_equal; lia. }
  rewrite IH by easy. replace (s - s)%Z with 0%Z by lia. reflexivity.
Qed.

Section Uses.
Variables (f : Z -> R) (c : Z).
Hypotheses (Hf : pmf f) (Hsym : forall k, f (c - k)%Z = f k).
Hypothesis Hfall : forall k0 k s, (0 <= s)%Z -> (k0 <= k)%Z -> f (k0 - s)%Z * f k <= f (k - s)%Z * f k0.
Variables (w : list Z) (W h : Z).
Hypotheses (HW : (0 < W)%Z) (Hw : nonneg w = true) (HT : (total w <= W)%Z).
Hypothesis H : forall k, IZR (entry w (k + h)) <= f k * IZR W.
Variable Delta : nat.
Let p := listed_pair (shifted_pairs w W Delta) W.

(** What no finite part of the weights has *)
Lemma rest_le g (A : list Z) l : pmf g -> nonneg A = true -> (forall k, IZR (entry A (k + h)) <= g k * IZR W) -> NoDup l ->
  mass (fun k => g k - IZR (entry A (k + h)) / IZR W) l <= 1 - IZR (total A) / IZR W.
Proof.
  intros Hg HA Hle Hl. apply IZR_lt in HW as HW'. set (e := fun k => IZR (entry A (k + h)) / IZR W).
  assert (forall k, 0 <= e k) as He.
  { intros k. apply Rmult_le_pos; [apply IZR_le; now apply entry_nonneg|left; now apply Rinv_0_lt_compat]. }
  assert (forall k, 0 <= g k - e k) as Hpos.
  { intros k. enough (e k <= g k) by lra. unfold e. apply Rmult_le_reg_r with (IZR W); [easy|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. apply Hle. }
  set (L := zseq (- h) (length A)).
  destruct (split_by (fun _ => 0) (fun k => In k L) l Hl) as (l1 & l2 & _ & N2 & P1 & P2 & _).
  apply Rle_trans with (mass (fun k => g k - e k) (L ++ l2)).
  { apply mass_cover; auto. intros k Hk. left. apply in_or_app. destruct (in_dec Z.eq_dec k L); [now left|right; now apply P2]. }
  rewrite (mass_ext _ (fun k => 1 * g k + -1 * e k)) by (intros; ring). rewrite (mass_lin g e).
  assert (mass g (L ++ l2) <= 1).
  { destruct Hg as [_ [Hg _]]. apply Hg. exists (L ++ l2). repeat split. apply nodup_app; auto; [apply zseq_nodup|].
    intros k Hk Hk'. now apply P2 in Hk'. }
  assert (mass e L = IZR (total A) / IZR W) as E.
  { unfold e, Rdiv. rewrite (mass_ext _ (fun k => / IZR W * IZR (entry A (k - - h)))).
    - rewrite mass_scale. unfold L. rewrite (total_mass A (- h)). ring.
    - intros k _. replace (k - - h)%Z with (k + h)%Z by lia. ring. }
  rewrite (mass_app e), E. pose proof (mass_nonneg e l2 He). lra.
Qed.
(** Padding leaves sums as they are *)
Lemma total_pad s : total (zeros s ++ w) = total w.
Proof. induction s; [easy|]. exact IHs. Qed.
(** The largest shift *)
Lemma far_dominated : dominated (fun k => f (k - Z.of_nat Delta)%Z) f p.
Proof.
  intros x y Hx Hy l Hl. apply IZR_lt in HW as HW'. change (mass (fun u => above x y (left p u) (right p u)) (points p)) with (product_above [p] x y).
  unfold p. rewrite listed_above by easy. set (A := zeros Delta ++ w). set (B := w ++ zeros Delta).
  assert (length A = length B) as Hlen by (unfold A, B; rewrite !app_length; lia).
  assert (nonneg A = true) as HA by (apply nonneg_app; auto using nonneg_zeros).
  assert (nonneg B = true) as HB by (apply nonneg_app; auto using nonneg_zeros).
  set (G := fun k => gain (x * IZR (entry A (k + h))) (y * IZR (entry B (k + h)))).
  unfold shifted_pairs, gains. rewrite mass_app. cbn [mass fst snd]. fold A B.
  assert (forall k, IZR (entry A (k + h)) <= f (k - Z.of_nat Delta)%Z * IZR W) as HAf.
  { intros k. unfold A. rewrite entry_pad_l. replace (k + h - Z.of_nat Delta)%Z with (k - Z.of_nat Delta + h)%Z by lia. apply H. }
  pose proof (rest_le (fun k => f (k - Z.of_nat Delta)%Z) A l (pmf_shift f (- Z.of_nat Delta) Hf) HA HAf Hl) as Hr.
  unfold A in Hr at 2. rewrite total_pad in Hr. fold A in Hr.
  assert (mass G l <= mass (fun c => gain (x * IZR (fst c)) (y * IZR (snd c))) (combine A B)) as HG.
  { rewrite <- (mass_combine (fun a b => gain (x * IZR a) (y * IZR b)) A B (- h) Hlen).
    rewrite (mass_ext _ G (zseq (- h) (length A))) by (intros k _; unfold G; replace (k - - h)%Z with (k + h)%Z by lia; reflexivity).
    apply mass_cover; auto; [intros; apply gain_nonneg|]. intros k _. rewrite in_zseq.
    destruct (Z_lt_dec (k + h) 0) as [|Hn]; [right|destruct (Z_le_dec (Z.of_nat (length A)) (k + h)) as [|Hm]; [right|left; lia]];
      unfold G; rewrite !entry_out by lia; rewrite !Rmult_0_r; unfold gain; rewrite Rminus_0_r; apply Rmax_left; lra. }
  assert (IZR W - IZR (total w) >= 0) as Hrest by (apply IZR_le in HT; lra).
  unfold gain at 2. rewrite Rmult_0_r, Rminus_0_r, Rmax_right, minus_IZR by (rewrite minus_IZR; nra).
  apply Rle_trans with (x * (1 - IZR (total w) / IZR W) + / IZR W * mass G l).
  - refine (Rle_trans _ _ _ _ (Rplus_le_compat_r _ _ _ (Rmult_le_compat_l x _ _ Hx Hr))). rewrite <- !mass_scale.
    rewrite <- (Rmult_1_l (mass (fun x0 => x * _) l)), <- (Rmult_1_l (mass (fun x0 => / IZR W * _) l)), <- mass_lin. apply mass_le. intros k _.
    unfold above. pose proof (HAf k) as H1. pose proof (H k) as H2.
    assert (IZR (entry A (k + h)) / IZR W <= f (k - Z.of_nat Delta)%Z) as H1'.
    { apply Rmult_le_reg_r with (IZR W); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r; lra. }
    assert (IZR (entry B (k + h)) / IZR W <= f k) as H2'.
    { unfold B. rewrite entry_pad_r. apply Rmult_le_reg_r with (IZR W); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r; lra. }
    set (a := IZR (entry A (k + h)) / IZR W) in *. set (b := IZR (entry B (k + h)) / IZR W) in *.
    assert (/ IZR W * G k = gain (x * a) (y * b)) as ->.
    { unfold G, gain, a, b. rewrite <- RmaxRmult by (left; now apply Rinv_0_lt_compat). unfold Rdiv. f_equal; ring. }
    pose proof (gain_nonneg (x * a) (y * b)). pose proof (gain_ge (x * a) (y * b)). apply Rmax_lub; nra.
  - apply Rle_trans with (x * (1 - IZR (total w) / IZR W) + / IZR W * mass (fun c => gain (x * IZR (fst c)) (y * IZR (snd c))) (combine A B)).
    + apply Rplus_le_compat_l. apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|easy].
    + apply Req_le. field. lra.
Qed.

(** A smaller shift gains less: what the larger one has more is far out. *)
Lemma near_dominated s : (0 <= s <= Z.of_nat Delta)%Z -> dominated (fun k => f (k - s)%Z) f p.
Proof.
  intros Hs x y Hx Hy l Hl. destruct Hf as [Hpos [Hsum Hlub]]. set (cost := mass _ (points p)).
  destruct (least 1 (le_n 1) (fun k => y * f k < x * f (k - s)%Z) (fun k => Rlt_dec _ _) l) as [H0|(k0 & H0 & H1)].
  - apply Rle_trans with (mass (fun _ => 0 * 0) l).
    + apply mass_le. intros k Hk. specialize (H0 k Hk). unfold above. rewrite Rmax_left; lra.
    + rewrite mass_scale, Rmult_0_l. apply mass_nonneg. intros; apply above_nonneg.
  - apply le_epsilon. intros e He. assert (0 < e / (x + 1)) as He' by (apply Rdiv_lt_0_compat; lra).
    assert (exists hs, NoDup hs /\ 1 - e / (x + 1) < mass f hs) as (hs & Hhs & Hm).
    { apply NNPP. intros Hno. assert (1 <= 1 - e / (x + 1)); [|lra]. apply Hlub. intros r (k & Hk & _ & ->).
      apply Rnot_lt_le. intros Hlt. apply Hno. now exists k. }
    set (D := Z.of_nat Delta) in *.
    destruct (list_below hs (k0 - D)%Z) as [n1 Hn1]. destruct (list_below l k0) as [n2 Hn2]. set (n := (n1 + n2)%nat).
    assert (forall k, (k0 <= k)%Z -> y * f k <= x * f (k - s)%Z) as Hsign.
    { intros k Hk. pose proof (Hfall k0 k s ltac:(lia) Hk) as Hr. pose proof (Hpos k) as Pk. pose proof (Hpos k0) as Pk0. pose proof (Hpos (k - s)%Z) as Pks.
      pose proof (Hpos (k0 - s)%Z) as Pk0s. destruct Pk0 as [Pk0|Pk0].
      - apply Rmult_le_reg_r with (f k0); [easy|].
        apply Rle_trans with (x * (f (k0 - s)%Z * f k)); [|nra]. replace (y * f k * f k0) with (y * f k0 * f k) by ring. nra.
      - rewrite <- Pk0 in Hr, H0. rewrite !Rmult_0_r in *. assert (0 < f (k0 - s)%Z) by nra. assert (f k = 0) by nra. nra. }
    apply Rle_trans with (mass (fun k => above x y (f (k - s)%Z) (f k)) (zseq k0 n)).
    { apply mass_cover; auto; [intros; apply above_nonneg|]. intros k Hk. destruct (Z_lt_dec k k0) as [Hlt|Hge].
      - right. unfold above. apply Rmax_left. apply Rnot_lt_le. intros Hp. specialize (H1 k Hk ltac:(lra)). lia.
      - left. apply in_zseq. specialize (Hn2 k Hk). unfold n. lia. }
    rewrite (mass_ext _ (fun k => x * f (k - s)%Z + - y * f k)).
    2: { intros k Hk. apply in_zseq in Hk. specialize (Hsign k ltac:(lia)). unfold above. rewrite Rmax_right; lra. }
    rewrite (mass_lin (fun k => f (k - s)%Z)), mass_zseq_shift.
    pose proof (far_dominated x y Hx Hy (zseq k0 n) (zseq_nodup n k0)) as Hd. fold cost D in Hd.
    assert (x * mass f (zseq (k0 - D) n) - y * mass f (zseq k0 n) <= cost) as Hd'.
    { apply Rle_trans with (2 := Hd). rewrite <- (mass_zseq_shift f D n k0).
      replace (x * mass (fun j => f (j - D)%Z) (zseq k0 n) - y * mass f (zseq k0 n)) with (mass (fun k => x * f (k - D)%Z + - y * f k) (zseq k0 n))
        by (rewrite (mass_lin (fun k => f (k - D)%Z)); ring).
      apply mass_le. intros k _. pose proof (above_ge x y (f (k - D)%Z) (f k)). lra. }
    assert (mass f (zseq (k0 - s) n) <= mass f (zseq (k0 - D) n) + e / (x + 1)) as Htail.
    { apply Rle_trans with (mass f (zseq (k0 - D) (n + Z.to_nat (D - s)))).
      - apply mass_cover; auto; [apply zseq_nodup|]. intros k Hk. left. apply in_zseq in Hk. apply in_zseq. lia.
      - rewrite zseq_app, mass_app. apply Rplus_le_compat_l.
        assert (mass f (hs ++ zseq (k0 - D + Z.of_nat n) (Z.to_nat (D - s))) <= 1) as Ht.
        { apply Hsum. exists (hs ++ zseq (k0 - D + Z.of_nat n) (Z.to_nat (D - s))). repeat split. apply nodup_app; auto; [apply zseq_nodup|].
          intros k Hk Hk'. apply in_zseq in Hk'. specialize (Hn1 k Hk). unfold n in Hk'. lia. }
        rewrite mass_app in Ht. lra. }
    apply Rmult_le_compat_l with (r := x) in Htail; [|easy].
    assert (x * (e / (x + 1)) <= e).
    { apply Rmult_le_reg_r with (x + 1); [lra|]. replace (x * (e / (x + 1)) * (x + 1)) with (x * e) by (field; lra). nra. }
    lra.
Qed.
(** To the left is to the right of the mirrored outcomes *)
Lemma all_dominated s : (Z.abs s <= Z.of_nat Delta)%Z -> dominated (fun k => f (k - s)%Z) f p.
Proof.
  intros Hs. destruct (Z_le_dec 0 s); [apply near_dominated; lia|]. intros x y Hx Hy l Hl.
  rewrite (mass_ext _ (fun k => above x y (f (c - k - - s)%Z) (f (c - k)%Z))).
  2: { intros k _. rewrite Hsym, <- (Hsym (k - s)%Z). do 2 f_equal. lia. }
  rewrite <- (mass_map (fun k => above x y (f (k - - s)%Z) (f k)) (fun k => (c - k)%Z)).
  apply near_dominated; auto; [lia|]. apply Injective_map_NoDup; auto. intros a b. lia.
Qed.
(** Any data, any relation, any way of asking *)
Theorem uses_on_grid K u v B o m G H' a b n d P r : uses_check w W K Delta u v B o m G H' a b n d P r = true ->
  noise_uses_dp f K (Z.of_nat Delta) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold uses_check. intros Hc. apply andb_prop in Hc as [_ Hg]. apply grid_product in Hg as (_ & Hl & Hg).
  intros D adj q Hq. unfold noisy_answers. apply adaptive_composition with (ps := repeat p K); [| | |exact Hg].
  - apply Forall_forall. intros M HM. apply repeat_spec in HM as ->. intros past d0. exact (pmf_shift f (- q past d0) Hf).
  - apply Forall_forall. intros z Hz. apply repeat_spec in Hz as ->. now apply listed_positive.
  - clear Hg. induction K; simpl; constructor; [|easy]. intros past d0 d' Hadj x y Hx Hy l Hll. unfold add_noise.
    pose proof (all_dominated _ (Hq past d0 d' Hadj) x y Hx Hy (map (fun k => (k + - q past d')%Z) l) (NoDup_shift _ l Hll)) as Hm.
    rewrite mass_map in Hm. refine (Rle_trans _ _ _ (Req_le _ _ _) Hm). apply mass_ext. intros k _. do 2 f_equal; lia.
Qed.
End Uses.

(** Ratios of neighbouring probabilities fall, in steps of one and so in steps of any size. *)
Lemma log_concave (f : Z -> R) : (forall k, 0 <= f k) -> (forall a b c, (a <= b <= c)%Z -> 0 < f a -> 0 < f c -> 0 < f b) ->
  (forall j k, (j <= k)%Z -> f j * f (k + 1)%Z <= f (j + 1)%Z * f k) ->
  forall k0 k s, (0 <= s)%Z -> (k0 <= k)%Z -> f (k0 - s)%Z * f k <= f (k - s)%Z * f k0.
Proof.
  intros Hpos Hin Hstep k0 k s Hs Hk.
  destruct (Hpos k) as [Hk1|E]; [|rewrite <- E; pose proof (Hpos (k - s)%Z); pose proof (Hpos k0); nra].
  assert (forall n : nat, 0 < f (k0 - Z.of_nat n)%Z -> f (k0 - Z.of_nat n)%Z * f k <= f (k - Z.of_nat n)%Z * f k0) as H.
  { induction n; intros Hn; [rewrite !Z.sub_0_r; lra|].
    assert (0 < f (k0 - Z.of_nat n)%Z) as H1 by (apply (Hin (k0 - Z.of_nat (S n))%Z _ k); auto; lia).
    assert (0 < f (k - Z.of_nat n)%Z) as H2 by (apply (Hin (k0 - Z.of_nat (S n))%Z _ k); auto; lia).
    specialize (IHn H1). pose proof (Hstep (k0 - Z.of_nat (S n))%Z (k - Z.of_nat (S n))%Z ltac:(lia)) as X.
    replace (k - Z.of_nat (S n) + 1)%Z with (k - Z.of_nat n)%Z in X by lia. replace (k0 - Z.of_nat (S n) + 1)%Z with (k0 - Z.of_nat n)%Z in X by lia.
    pose proof (Hpos (k - Z.of_nat (S n))%Z) as H3. pose proof (Hpos k0) as H4.
    set (A := f (k0 - Z.of_nat (S n))%Z) in *. set (A1 := f (k0 - Z.of_nat n)%Z) in *. set (C := f (k - Z.of_nat (S n))%Z) in *. set (C1 := f (k - Z.of_nat n)%Z) in *.
    apply Rmult_le_reg_r with (C1 * A1); [nra|].
    apply Rle_trans with ((A * C1) * (A1 * f k)); [right; ring|].
    apply Rle_trans with ((A1 * C) * (C1 * f k0)); [|right; ring]. apply Rmult_le_compat; nra. }
  destruct (Hpos (k0 - s)%Z) as [H0|E]; [|rewrite <- E; pose proof (Hpos (k - s)%Z); pose proof (Hpos k0); nra].
  rewrite <- (Z2Nat.id s Hs) in *. now apply H.
Qed.
