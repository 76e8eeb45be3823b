(** Gaussian weights of the integers around any centre sum to at most those around 0. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FinFun Classical_Prop.
From ExactDP Require Import Definitions Laws Mass Weights Tables DiscreteGaussian.
Import ListNotations.
Open Scope R_scope.

(** Weights around a centre: e^(-(k-x)^2/(2 v)). *)
Definition around (v x : R) (k : Z) : R := exp (- ((IZR k - x) ^ 2 / (2 * v))).
(** Their sum, as a bound and as the least one *)
Definition sums (v x t : R) : Prop := has_prob (around v x) (fun _ => True) t.

(** exp is *)
Lemma around_pos v x k : 0 < around v x k.
Proof. apply exp_pos. Qed.
(** Its square is that of k *)
Lemma around_0 v k : around v 0 k = gauss_weight v k.
Proof. unfold around, gauss_weight. do 3 f_equal. rewrite mult_IZR. ring. Qed.
(** A supremum bounds every sum *)
Lemma sums_ge v x t l : sums v x t -> NoDup l -> mass (around v x) l <= t.
Proof. intros [H _] Hl. apply H. now exists l. Qed.
(** ... and is at least nothing *)
Lemma sums_nonneg v x t : sums v x t -> 0 <= t.
Proof. intros H. exact (sums_ge v x t [] H (NoDup_nil _)). Qed.
(** Centres move with the outcomes *)
Lemma around_move v x n l : mass (around v (x + IZR n)) (map (fun k => (k + n)%Z) l) = mass (around v x) l.
Proof. rewrite mass_map. apply mass_ext. intros k _. unfold around. rewrite plus_IZR. do 4 f_equal. ring. Qed.

(** One bound for all centres: those within 1 of zero, by a wider weight *)
Lemma around_bounded v : 0 < v -> exists B, forall x l, NoDup l -> mass (around v x) l <= B.
Proof.
  intros Hv. destruct (gauss_exists (2 * v) ltac:(lra)) as (g & N & HN & _).
  exists (exp (/ (2 * v)) * N). intros x l Hl. set (n := Int_part x). destruct (base_Int_part x) as [H1 H2]. fold n in H1, H2.
  replace x with (x - IZR n + IZR n) by ring. rewrite <- (map_id l).
  replace (map (fun k => k) l) with (map (fun k => (k + n)%Z) (map (fun k => (k + - n)%Z) l)).
  2: { rewrite map_map. apply map_ext. intros; lia. }
  rewrite around_move. set (y := x - IZR n). pose proof (NoDup_shift (- n) l Hl) as Hl'. set (l' := map _ l) in *.
  apply Rle_trans with (mass (fun k => exp (/ (2 * v)) * gauss_weight (2 * v) k) l').
  - apply mass_le. intros k _. unfold around, gauss_weight. rewrite <- exp_plus, mult_IZR.
    assert (- ((IZR k - y) ^ 2 / (2 * v)) <= / (2 * v) + - (IZR k * IZR k / (2 * (2 * v)))) as H.
    { apply Rmult_le_reg_r with (4 * v); [lra|].
      replace (- ((IZR k - y) ^ 2 / (2 * v)) * (4 * v)) with (- 2 * (IZR k - y) ^ 2) by (field; lra).
      replace ((/ (2 * v) + - (IZR k * IZR k / (2 * (2 * v)))) * (4 * v)) with (2 - IZR k * IZR k) by (field; lra).
      assert (0 <= y < 1) by (unfold y; lra). pose proof (pow2_ge_0 (IZR k - 2 * y)). nra. }
    destruct H as [H|H]; [left; now apply exp_increasing|right; now rewrite H].
  - rewrite mass_scale. apply Rmult_le_compat_l; [left; apply exp_pos|]. exact (normaliser_ge (2 * v) N l' HN Hl').
Qed.
(** So sums exist *)
Lemma sums_exist v x : 0 < v -> exists t, sums v x t.
Proof. intros Hv. destruct (around_bounded v Hv) as [B HB]. apply has_prob_exists with B. auto. Qed.

(** Pairs of outcomes: at most the product of both sums *)
Lemma pairs_le v x t w y s (L : list (Z * Z)) : sums v x t -> sums w y s -> NoDup L ->
  mass (fun c => around v x (fst c) * around w y (snd c)) L <= t * s.
Proof.
  intros Ht Hs HL. set (A := nodup Z.eq_dec (map fst L)). set (B := nodup Z.eq_dec (map snd L)).
  apply Rle_trans with (mass (fun c => around v x (fst c) * around w y (snd c)) (list_prod A B)).
  - apply mass_cover; auto.
    + intros c. left. apply Rmult_lt_0_compat; apply around_pos.
    + intros [i j] H. left. apply in_prod_iff. unfold A, B. rewrite !nodup_In, !in_map_iff. split; eexists; split; eauto; easy.
  - rewrite mass_prod. apply Rmult_le_compat; try (apply mass_nonneg; intros; left; apply around_pos);
      eapply sums_ge; eauto; apply NoDup_nodup.
Qed.
(** The square of a sum is one over pairs *)
Lemma square v x l : mass (around v x) l ^ 2 = mass (fun c => around v x (fst c) * around v x (snd c)) (list_prod l l).
Proof. rewrite mass_prod. ring. Qed.
(** From all finite sums to the least bound *)
Lemma square_sup v x t c : sums v x t -> (forall l, NoDup l -> mass (around v x) l ^ 2 <= c) -> t ^ 2 <= c.
Proof.
  intros Ht H. assert (0 <= c) by (specialize (H [] (NoDup_nil _)); simpl in H; lra).
  pose proof (sums_nonneg v x t Ht). rewrite <- (pow2_sqrt c) by easy. apply pow_incr. split; [easy|].
  destruct Ht as [_ Hl]. apply Hl. intros r (l & Hnd & _ & ->). apply Rsqr_incr_0_var; [|apply sqrt_pos].
  rewrite Rsqr_sqrt by easy. unfold Rsqr. specialize (H l Hnd). lra.
Qed.

Section Theta.
Variable v : R.
Hypothesis Hv : 0 < v.
Let h := v / 2.
Let Hh : 0 < h.
Proof. unfold h. lra. Qed.
Variables (x N X a b G H : R).
Hypotheses (HN : sums v 0 N) (HX : sums v (2 * x) X).
Hypotheses (Ha : sums h 0 a) (Hb : sums h (- / 2) b) (HG : sums h x G) (HH : sums h (x - / 2) H).

(** i and j by their sum and difference, which are both even or both odd: at half the variance *)
Lemma even i j : Z.even (i + j) = true ->
  around v x i * around v x j = around h x ((i + j) / 2)%Z * around h 0 ((i - j) / 2)%Z.
Proof.
  intros E. apply Z.even_spec in E as [m E]. replace (i + j)%Z with (m * 2)%Z by lia. replace (i - j)%Z with ((i - m) * 2)%Z by lia.
  rewrite !Z.div_mul by lia. unfold around, h. rewrite <- !exp_plus. f_equal. assert (j = 2 * m - i)%Z as -> by lia.
  rewrite !minus_IZR, mult_IZR. field. lra.
Qed.
(** The same where they are odd *)
Lemma odd i j : Z.even (i + j) = false ->
  around v x i * around v x j = around h (x - / 2) ((i + j) / 2)%Z * around h (- / 2) ((i - j) / 2)%Z.
Proof.
  intros E. assert (Z.odd (i + j) = true) as O by (rewrite <- Z.negb_even, E; easy). apply Z.odd_spec in O as [m O].
  assert (j = 2 * m + 1 - i)%Z as -> by lia.
  replace (i + (2 * m + 1 - i))%Z with (1 + m * 2)%Z by lia. replace (i - (2 * m + 1 - i))%Z with (1 + (i - m - 1) * 2)%Z by lia.
  rewrite !Z.div_add by lia. change (1 / 2)%Z with 0%Z. rewrite !Z.add_0_l. unfold around, h. rewrite <- !exp_plus. f_equal.
  rewrite !minus_IZR, plus_IZR, mult_IZR. field. lra.
Qed.
(** Pairs with equal halves of sums and of differences, and equal parity, are equal *)
Lemma halves_nodup l p : NoDup l ->
  NoDup (map (fun c : Z * Z => ((fst c + snd c) / 2, (fst c - snd c) / 2)%Z) (filter (fun c => Bool.eqb (Z.even (fst c + snd c)) p) (list_prod l l))).
Proof.
  intros Hl. assert (forall L : list (Z * Z), NoDup L -> (forall c, In c L -> Bool.eqb (Z.even (fst c + snd c)) p = true) ->
    NoDup (map (fun c : Z * Z => ((fst c + snd c) / 2, (fst c - snd c) / 2)%Z) L)) as K.
  { induction L as [|[i j] L IH]; intros HL HP; cbn [map]; constructor.
    - inversion HL; subst. intros Hin. apply in_map_iff in Hin as ([i' j'] & E & Hin). injection E as E1 E2. cbn [fst snd] in *.
      pose proof (HP _ (or_introl eq_refl)) as P1. pose proof (HP _ (or_intror Hin)) as P2. cbn [fst snd] in P1, P2.
      apply Bool.eqb_prop in P1, P2. pose proof (Zmod_even (i + j)) as Q1. pose proof (Zmod_even (i' + j')) as Q2.
      pose proof (Zmod_even (i - j)) as Q3. pose proof (Zmod_even (i' - j')) as Q4. rewrite Z.even_sub in Q3, Q4. rewrite Z.even_add in *.
      rewrite P1 in *. rewrite P2 in *.
      pose proof (Z.div_mod (i + j) 2). pose proof (Z.div_mod (i' + j') 2). pose proof (Z.div_mod (i - j) 2). pose proof (Z.div_mod (i' - j') 2).
      assert (i = i' /\ j = j') as [-> ->] by (destruct p; lia). contradiction.
    - inversion HL; subst. apply IH; auto. intros; apply HP; now right. }
  apply K; [apply NoDup_filter, nodup_prod; auto|]. intros c Hc. now apply filter_In in Hc.
Qed.
(** theta(x)^2 <= a G + b H *)
Lemma step_down l : NoDup l -> mass (around v x) l ^ 2 <= G * a + H * b.
Proof.
  intros Hl. rewrite square. set (f := fun c => around v x (fst c) * around v x (snd c)).
  replace (mass f (list_prod l l)) with (mass f (filter (fun c => Bool.eqb (Z.even (fst c + snd c)) true) (list_prod l l))
    + mass f (filter (fun c => Bool.eqb (Z.even (fst c + snd c)) false) (list_prod l l))).
  2: { rewrite !mass_filter. generalize (list_prod l l). induction l0 as [|c L IH]; cbn [mass]; [lra|].
       rewrite <- IH. destruct (Z.even _); cbn [Bool.eqb]; lra. }
  apply Rplus_le_compat.
  - eapply Rle_trans; [|apply (pairs_le _ _ _ _ _ _ _ HG Ha (halves_nodup l true Hl))]. rewrite mass_map.
    apply Req_le, mass_ext. intros [i j] Hc. apply filter_In in Hc as [_ Hc]. apply Bool.eqb_prop in Hc. unfold f. cbn [fst snd] in *. now apply even.
  - eapply Rle_trans; [|apply (pairs_le _ _ _ _ _ _ _ HH Hb (halves_nodup l false Hl))]. rewrite mass_map.
    apply Req_le, mass_ext. intros [i j] Hc. apply filter_In in Hc as [_ Hc]. apply Bool.eqb_prop in Hc. unfold f. cbn [fst snd] in *. now apply odd.
Qed.
(** Sums and differences of the pairs of both lists are apart: those of one are even together. *)
Lemma step_up l k : NoDup l -> NoDup k -> mass (around h x) l ^ 2 + mass (around h (x - / 2)) k ^ 2 <= X * N.
Proof.
  intros Hl Hk. rewrite !square.
  set (L := map (fun c : Z * Z => (fst c + snd c, fst c - snd c)%Z) (list_prod l l)).
  set (K := map (fun c : Z * Z => (fst c + snd c + 1, fst c - snd c)%Z) (list_prod k k)).
  apply Rle_trans with (mass (fun c => around v (2 * x) (fst c) * around v 0 (snd c)) (L ++ K)).
  - rewrite mass_app. unfold L, K. rewrite !mass_map. apply Req_le. f_equal; apply mass_ext; intros [i j] _; cbn [fst snd];
      unfold around, h; rewrite <- !exp_plus; f_equal; rewrite ?minus_IZR, ?plus_IZR; field; lra.
  - apply pairs_le; auto. apply nodup_app.
    + apply Injective_map_NoDup; [|now apply nodup_prod]. intros [i j] [i' j'] E. cbn [fst snd] in E. injection E. intros. f_equal; lia.
    + apply Injective_map_NoDup; [|now apply nodup_prod]. intros [i j] [i' j'] E. cbn [fst snd] in E. injection E. intros. f_equal; lia.
    + intros c HL HK. apply in_map_iff in HL as ([i j] & <- & _). apply in_map_iff in HK as ([i' j'] & E & _). cbn [fst snd] in E. injection E. lia.
Qed.
(** The same of the sums *)
Lemma steps_up : G ^ 2 + H ^ 2 <= X * N.
Proof.
  enough (G ^ 2 <= X * N - H ^ 2) by lra. apply (square_sup h x G _ HG). intros l Hl.
  enough (H ^ 2 <= X * N - mass (around h x) l ^ 2) by lra. apply (square_sup h (x - / 2) H _ HH). intros k Hk.
  pose proof (step_up l k Hl Hk). lra.
Qed.
End Theta.

Section Centres.
Variable v : R.
Hypothesis Hv : 0 < v.
(** theta(x)^4 <= theta(0)^3 theta(2x), by Cauchy and Schwarz *)
Lemma fourth x N X l : sums v 0 N -> sums v (2 * x) X -> NoDup l -> mass (around v x) l ^ 4 <= N ^ 3 * X.
Proof.
  intros HN HX Hl. assert (0 < v / 2) as Hh by lra.
  destruct (sums_exist (v / 2) 0 Hh) as [a Ha]. destruct (sums_exist (v / 2) (- / 2) Hh) as [b Hb].
  destruct (sums_exist (v / 2) x Hh) as [G HG]. destruct (sums_exist (v / 2) (x - / 2) Hh) as [H HH].
  pose proof (step_down v Hv x a b G H Ha Hb HG HH l Hl) as H1.
  pose proof (steps_up v Hv x N X G H HN HX HG HH) as H2.
  assert (a ^ 2 + b ^ 2 <= N * N) as H3.
  { apply (steps_up v Hv 0 N N a b HN); [now rewrite Rmult_0_r|easy|now rewrite Rminus_0_l]. }
  set (m := mass (around v x) l) in *. pose proof (sums_nonneg _ _ _ HN). pose proof (sums_nonneg _ _ _ HX).
  assert (0 <= m ^ 2) by apply pow2_ge_0.
  replace (m ^ 4) with (m ^ 2 * m ^ 2) by ring. replace (N ^ 3 * X) with (N * N * (X * N)) by ring.
  apply Rle_trans with ((G * a + H * b) * (G * a + H * b)); [apply Rmult_le_compat; lra|].
  apply Rle_trans with ((a ^ 2 + b ^ 2) * (G ^ 2 + H ^ 2)); [|apply Rmult_le_compat; nra].
  pose proof (pow2_ge_0 (G * b - H * a)). lra.
Qed.
(** The supremum M of all sums has M^4 <= N^3 M: no centre weighs more than zero. *)
Theorem centre_le x N l : sums v 0 N -> NoDup l -> mass (around v x) l <= N.
Proof.
  intros HN Hl. destruct (around_bounded v Hv) as [B HB].
  destruct (completeness (fun r => exists y k, NoDup k /\ r = mass (around v y) k)) as [M [HM1 HM2]].
  - exists B. intros r (y & k & Hk & ->). auto.
  - exists 0, x, []. split; [constructor|easy].
  - assert (mass (around v x) l <= M) as Hx by (apply HM1; eauto). apply Rle_trans with (1 := Hx).
    assert (N <= M) as HNM. { destruct HN as [_ H]. apply H. intros r (k & Hk & _ & ->). apply HM1. eauto. }
    assert (0 < N) as HN0.
    { pose proof (sums_ge v 0 N [0%Z] HN ltac:(repeat constructor; easy)) as H. cbn [mass] in H. pose proof (around_pos v 0 0). lra. }
    set (z := N ^ 3 * M). assert (0 <= z) as Hz by (apply Rmult_le_pos; [apply pow_le|]; lra).
    assert (M <= sqrt (sqrt z)) as HMz.
    { apply HM2. intros r (y & k & Hk & ->). destruct (sums_exist v (2 * y) Hv) as [X HX].
      assert (mass (around v y) k ^ 4 <= z) as H4.
      { apply Rle_trans with (1 := fourth y N X k HN HX Hk). apply Rmult_le_compat_l; [apply pow_le; lra|].
        destruct HX as [_ H]. apply H. intros r (k' & Hk' & _ & ->). apply HM1. eauto. }
      assert (0 <= mass (around v y) k) by (apply mass_nonneg; intros; left; apply around_pos).
      rewrite <- (sqrt_Rsqr (mass (around v y) k)) by easy. apply sqrt_le_1_alt.
      rewrite <- (sqrt_Rsqr (Rsqr _)) by apply Rle_0_sqr. apply sqrt_le_1_alt. unfold Rsqr. lra. }
    assert (M ^ 4 <= z) as H4.
    { apply Rle_trans with (sqrt (sqrt z) ^ 4); [apply pow_incr; lra|].
      replace (sqrt (sqrt z) ^ 4) with ((sqrt (sqrt z) ^ 2) ^ 2) by ring. rewrite pow2_sqrt by apply sqrt_pos. rewrite pow2_sqrt by easy. lra. }
    unfold z in H4. apply Rnot_lt_le. intros Hlt.
    assert (N ^ 3 < M ^ 3) by (assert (N * N < M * M) by nra; nra).
    nra.
Qed.

(** Whole centres weigh the same *)
Lemma whole_centre n N : sums v 0 N -> sums v (IZR n) N.
Proof.
  intros [H1 H2]. split.
  - intros r (l & Hl & _ & ->). apply centre_le; [now split|easy].
  - intros b Hb. apply H2. intros r (l & Hl & _ & ->). rewrite <- (around_move v 0 n), Rplus_0_l. apply Hb.
    exists (map (fun k => (k + n)%Z) l). repeat split; auto. now apply NoDup_shift.
Qed.
End Centres.
