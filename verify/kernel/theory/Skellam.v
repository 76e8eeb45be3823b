(** Skellam noise: the ratios of its probabilities, enclosed from far out inwards, give weights from below; what
    they leave out counts against the claim. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables DiscreteGaussian SkellamLaw FromBelow.
Import ListNotations.
Open Scope R_scope.

(** mu = u/v *)
Open Scope Z_scope.
(** f(k+1)/f(k) within [lo, hi] in units of 2^-P, of k = 0, 1, ...: from a far k, where it lies between 0 and
    mu/(k+1), down to 0. Each step narrows it. *)
Fixpoint ratios (k : nat) (u v P lo hi : Z) (l : list (Z * Z)) : list (Z * Z) :=
  match k with
  | O => (lo, hi) :: l
  | S k' => let c := v * Z.of_nat k * 2 ^ P in let U := u * 2 ^ (2 * P) in
            ratios k' u v P (U / (c + u * hi)) (U / (c + u * lo) + 1) ((lo, hi) :: l)
  end.
Definition far_ratios (N : nat) (u v P : Z) : list (Z * Z) := ratios N u v P 0 (u * 2 ^ P / (v * (Z.of_nat N + 1)) + 1) [].
(** f(k)/f(0): products of ratios, rounded down and up *)
Fixpoint lower (P x : Z) (l : list (Z * Z)) : list Z :=
  x :: match l with [] => [] | q :: l' => lower P (Z.shiftr (x * fst q) P) l' end.
Fixpoint upper (P x : Z) (l : list (Z * Z)) : list Z :=
  x :: match l with [] => [] | q :: l' => upper P (up P (x * snd q)) l' end.
(** Weights from -n to n, and 2^P/f(0): the sum of all, of which those after n are at most a geometric series *)
Definition both_sides (l : list Z) : list Z := rev (tl l) ++ l.
Definition whole (P : Z) (l : list (Z * Z)) : Z :=
  let h := snd (last l (0, 0)) in let U := upper P (2 ^ P) l in 2 * total U - 2 ^ P + 2 * (last U 0 * h / (2 ^ P - h) + 1).
Definition first_ratios (u v Q : Z) (N n : nat) : list (Z * Z) := firstn n (far_ratios N u v Q).
Definition is_mean (u v Q : Z) (l : list (Z * Z)) : bool :=
  ((0 <? u) && (0 <? v) && (0 <=? Q) && (0 <? Z.of_nat (length l)) && (snd (last l (0, 0)) <? 2 ^ Q))%bool.
Definition skellam_check (u v Delta a b n d P : Z) (r : nat) (Q : Z) (N m : nat) : bool :=
  let l := first_ratios u v Q N m in (is_mean u v Q l && below_check (both_sides (lower Q (2 ^ Q) l)) (whole Q l) Delta a b n d P r)%bool.
Definition skellam_refutes (u v Delta a b n d P : Z) (r : nat) (Q : Z) (N m : nat) : bool :=
  let l := first_ratios u v Q N m in (is_mean u v Q l && below_refutes (both_sides (lower Q (2 ^ Q) l)) (whole Q l) Delta (Z.to_nat Delta) a b n d P r)%bool.
Close Scope Z_scope.

Section Mean.
Variables (u v Q : Z) (f : Z -> R).
Hypotheses (Hu : (0 < u)%Z) (Hv : (0 < v)%Z) (HQ : (0 <= Q)%Z).
Let mu := IZR u / IZR v.
Let q := IZR (2 ^ Q).
Hypothesis Hf : skellam mu f.
Let g (k : nat) := f (Z.of_nat k).
(** A quotient of positive numbers *)
Lemma mean_pos : 0 < mu.
Proof. apply Rdiv_lt_0_compat; now apply IZR_lt. Qed.
(** No outcome is impossible *)
Lemma g_pos k : 0 < g k.
Proof. exact (skellam_pos mu mean_pos f k Hf). Qed.
(** The recurrence, without quotients *)
Lemma g_step k : IZR u * g k = IZR v * IZR (Z.of_nat (S k)) * g (S k) + IZR u * g (S (S k)).
Proof.
  pose proof (skellam_recurrence mu mean_pos f k Hf) as E. fold (g k) (g (S k)) (g (S (S k))) in E. rewrite INR_IZR_INZ in E.
  apply IZR_lt in Hv. replace (IZR u) with (IZR v * mu) by (unfold mu; field; lra).
  replace (IZR v * mu * g k) with (IZR v * (mu * g k)) by ring. rewrite E. ring.
Qed.
(** The recurrence's last term is positive *)
Lemma g_falls k : IZR v * IZR (Z.of_nat (S k)) * g (S k) <= IZR u * g k.
Proof. rewrite g_step. pose proof (g_pos (S (S k))). apply IZR_lt in Hu. nra. Qed.

(** What a list says of the ratios from k on *)
Fixpoint enclosed (k : nat) (l : list (Z * Z)) : Prop :=
  match l with
  | [] => True
  | x :: l' => ((0 <= fst x)%Z /\ IZR (fst x) * g k <= q * g (S k) <= IZR (snd x) * g k) /\ enclosed (S k) l'
  end.
(** Downwards *)
Lemma ratios_ok k : forall lo hi l, enclosed k ((lo, hi) :: l) -> enclosed 0 (ratios k u v Q lo hi l).
Proof.
  pose proof (IZR_pow2_pos Q HQ) as Hq. fold q in Hq. assert (IZR (2 ^ (2 * Q)) = q * q) as E2 by (unfold q; rewrite <- mult_IZR, <- Z.pow_add_r by lia; do 2 f_equal; lia).
  assert (0 < 2 ^ Q)%Z as HqZ by (apply Z.pow_pos_nonneg; lia). assert (0 < 2 ^ (2 * Q))%Z as HqZ2 by (apply Z.pow_pos_nonneg; lia).
  induction k; intros lo hi l H; [exact H|]. cbn [ratios]. apply IHk. cbn [enclosed fst snd]. split; [|exact H].
  destruct H as [(H0 & H1 & H2) _]. cbn [fst snd] in *. pose proof (g_pos k) as Hk. pose proof (g_pos (S k)) as Hk1. pose proof (g_pos (S (S k))) as Hk2.
  assert (0 <= IZR hi) as Hhi by (apply Rmult_le_reg_r with (g (S k)); nra). apply le_IZR in Hhi.
  set (c := (v * Z.of_nat (S k) * 2 ^ Q)%Z). assert (0 < c)%Z as Hc by (unfold c; nia).
  assert (IZR c = IZR v * IZR (Z.of_nat (S k)) * q) as Ec by (unfold c, q; now rewrite !mult_IZR).
  pose proof (g_step k) as E. set (s := IZR v * IZR (Z.of_nat (S k))) in *. apply IZR_lt in Hu as Hu'.
  pose proof (div_le (u * 2 ^ (2 * Q)) (c + u * hi) ltac:(nia)) as D1. pose proof (div_up (u * 2 ^ (2 * Q)) (c + u * lo) ltac:(nia)) as D2.
  assert (0 <= u * 2 ^ (2 * Q) / (c + u * hi))%Z as Hx by (apply Z.div_pos; nia). assert (0 <= u * 2 ^ (2 * Q) / (c + u * lo))%Z as Hy by (apply Z.div_pos; nia).
  split; [easy|]. assert (0 < s * q) as Hs by (rewrite <- Ec; now apply IZR_lt).
  set (x := (_ / (c + u * hi))%Z) in *. set (y := (_ / (c + u * lo) + 1)%Z) in *. assert (0 <= y)%Z as Hy' by lia.
  rewrite !mult_IZR, E2, plus_IZR, mult_IZR, Ec in D1, D2. apply IZR_le in H0, Hhi, Hx, Hy'.
 
  assert (IZR u * (q * g k) = s * q * g (S k) + IZR u * (q * g (S (S k)))) as E' by (replace (IZR u * (q * g k)) with (q * (IZR u * g k)) by ring; rewrite E; ring).
  split; apply Rmult_le_reg_l with (IZR u * q); try nra.
  - apply Rle_trans with (IZR x * (s * q + IZR u * IZR hi) * g (S k)); [|nra].
    replace (IZR u * q * (IZR x * g k)) with (IZR x * (IZR u * (q * g k))) by ring. rewrite E'. 
    assert (IZR u * (q * g (S (S k))) <= IZR u * (IZR hi * g (S k))) by (apply Rmult_le_compat_l; lra). nra.
  - apply Rle_trans with (IZR y * (s * q + IZR u * IZR lo) * g (S k)); [nra|].
    replace (IZR u * q * (IZR y * g k)) with (IZR y * (IZR u * (q * g k))) by ring. rewrite E'.
    assert (IZR u * (IZR lo * g (S k)) <= IZR u * (q * g (S (S k)))) by (apply Rmult_le_compat_l; lra). nra.
Qed.
(** Far out *)
Lemma far_ratios_ok N : enclosed 0 (far_ratios N u v Q).
Proof.
  apply ratios_ok. cbn [enclosed fst snd]. split; [|easy]. split; [lia|]. pose proof (g_pos N). pose proof (g_pos (S N)).
  pose proof (IZR_pow2_pos Q HQ) as Hq. fold q in Hq. split; [nra|].
  pose proof (g_falls N) as Hg. pose proof (div_up (u * 2 ^ Q) (v * (Z.of_nat N + 1)) ltac:(nia)) as D.
  replace (Z.of_nat N + 1)%Z with (Z.of_nat (S N)) in * by lia. rewrite !mult_IZR in D. fold q in D. set (y := IZR (_ + 1)) in *.
  assert (0 < IZR v * IZR (Z.of_nat (S N))) as Hs by (apply Rmult_lt_0_compat; apply IZR_lt; lia). set (s := IZR v * _) in *.
  apply Rmult_le_reg_l with s; [easy|]. apply Rle_trans with (q * (IZR u * g N)); nra.
Qed.
(** The first of them *)
Lemma enclosed_firstn m : forall k l, enclosed k l -> enclosed k (firstn m l).
Proof. induction m; intros k [|x l] H; simpl; auto. destruct H as [H H']. split; auto. Qed.
(** Rounded down *)
Lemma lower_ok : forall l k x i, enclosed k l -> (0 <= x)%Z -> IZR x * g 0 <= q * g k ->
  0 <= IZR (nth i (lower Q x l) 0%Z) /\ IZR (nth i (lower Q x l) 0%Z) * g 0 <= q * g (k + i).
Proof.
  pose proof (IZR_pow2_pos Q HQ) as Hq. fold q in Hq. assert (forall k, 0 < q * g k) as Hqg by (intros; apply Rmult_lt_0_compat; [easy|apply g_pos]).
  induction l as [|y l IH]; intros k x i Hl Hx H.
  - destruct i as [|i]; cbn [lower nth]; [rewrite Nat.add_0_r; split; [now apply IZR_le|easy]|].
    destruct i; rewrite Rmult_0_l; split; try lra; left; apply Hqg.
  - cbn [lower]. destruct i as [|i]; cbn [nth]; [rewrite Nat.add_0_r; split; [now apply IZR_le|easy]|]. destruct Hl as [(H0 & H1 & _) Hl].
    rewrite Nat.add_succ_r. apply (IH (S k)); [easy|apply Z.shiftr_nonneg; nia|]. rewrite Z.shiftr_div_pow2 by easy.
    pose proof (div_le (x * fst y) (2 ^ Q) ltac:(apply Z.pow_pos_nonneg; lia)) as D. rewrite mult_IZR in D. fold q in D. set (z := IZR (_ / _)) in *.
    apply IZR_le in H0, Hx. pose proof (g_pos 0). pose proof (g_pos k). apply Rmult_le_reg_r with q; [easy|].
    apply Rle_trans with (IZR x * g 0 * IZR (fst y)); [nra|]. apply Rle_trans with (q * g k * IZR (fst y)); [nra|nra].
Qed.
(** Rounded up: all of them, and the last *)
Lemma upper_ok : forall l k x, enclosed k l -> q * g k <= IZR x * g 0 ->
  q * mass f (zseq (Z.of_nat k) (S (length l))) <= IZR (total (upper Q x l)) * g 0 /\
  q * g (k + length l) <= IZR (last (upper Q x l) 0%Z) * g 0.
Proof.
  pose proof (IZR_pow2_pos Q HQ) as Hq. fold q in Hq. induction l as [|y l IH]; intros k x Hl H.
  - cbn [upper length zseq mass total fold_right last]. rewrite Nat.add_0_r, Z.add_0_r. fold (g k). split; lra.
  - destruct Hl as [(H0 & _ & H1) Hl]. pose proof (g_pos 0) as G0. pose proof (g_pos k) as Gk.
    destruct (IH (S k) (up Q (x * snd y)) Hl) as [I1 I2].
    { unfold up. rewrite Z.shiftr_div_pow2 by easy. pose proof (div_up (x * snd y) (2 ^ Q) ltac:(apply Z.pow_pos_nonneg; lia)) as D.
      rewrite mult_IZR in D. fold q in D. set (z := IZR (_ + 1)) in *.
      assert (0 <= IZR (snd y)) by (pose proof (g_pos (S k)); apply Rmult_le_reg_r with (g k); nra).
      apply Rmult_le_reg_r with q; [easy|]. apply Rle_trans with (IZR x * g 0 * IZR (snd y)); [|nra]. nra. }
    cbn [upper length]. split.
    + cbn [zseq mass total fold_right]. rewrite plus_IZR. fold (g k) (total (upper Q (up Q (x * snd y)) l)).
      replace (Z.of_nat k + 1)%Z with (Z.of_nat (S k)) by lia. cbn [zseq mass] in I1. lra.
    + rewrite Nat.add_succ_r. destruct l; exact I2.
Qed.
(** The last of them *)
Lemma last_ok : forall l k, enclosed k l -> l <> [] -> q * g (k + length l) <= IZR (snd (last l (0%Z, 0%Z))) * g (k + length l - 1).
Proof.
  induction l as [|x l IH]; intros k H Hn; [easy|]. destruct H as [(_ & _ & H) Hl]. destruct l as [|y l].
  - cbn [length last]. replace (k + 1)%nat with (S k) by lia. now replace (S k - 1)%nat with k by lia.
  - specialize (IH (S k) Hl ltac:(discriminate)). cbn [length] in *. replace (k + S (S (length l)))%nat with (S k + S (length l))%nat by lia. exact IH.
Qed.
(** From the middle in both directions *)
Lemma both_sides_entry l k : (0 < length l)%nat ->
  entry (both_sides l) (k + (Z.of_nat (length l) - 1)) = nth (Z.to_nat (Z.abs k)) l 0%Z.
Proof.
  intros Hl. destruct l as [|a l]; [easy|]. unfold entry, both_sides. cbn [tl length].
  destruct (Z.ltb_spec (k + (Z.of_nat (S (length l)) - 1)) 0) as [H|H]; [rewrite nth_overflow; [easy|simpl; lia]|].
  destruct (Z_lt_dec k 0).
  - rewrite app_nth1 by (rewrite rev_length; lia). rewrite rev_nth by lia.
    replace (Z.to_nat (Z.abs k)) with (S (length l - S (Z.to_nat (k + (Z.of_nat (S (length l)) - 1))))) by lia. easy.
  - rewrite app_nth2; rewrite rev_length; [|lia]. f_equal. lia.
Qed.
(** All there is: the rest falls geometrically *)
Lemma whole_ok l : enclosed 0 l -> (0 < Z.of_nat (length l))%Z -> (snd (last l (0, 0)) < 2 ^ Q)%Z -> q <= IZR (whole Q l) * g 0.
Proof.
  intros Hl Hn Hm. pose proof (IZR_pow2_pos Q HQ) as Hq. fold q in Hq.
  destruct (upper_ok l 0 (2 ^ Q) Hl) as [H1 H2]; [fold q; lra|]. cbn [zseq mass] in H1. change (f (Z.of_nat 0)) with (g 0) in H1.
  change (Z.of_nat 0 + 1)%Z with 1%Z in H1. cbn [Nat.add] in H2. pose proof (last_ok l 0 Hl ltac:(now destruct l)) as Hlast. cbn [Nat.add] in Hlast.
  unfold whole. set (U := upper Q (2 ^ Q) l) in *. set (h := snd (last l (0, 0)%Z)) in *. set (n := length l) in *. set (D := (2 ^ Q - h)%Z). assert (0 < D)%Z as HD by (unfold D; lia).
  pose proof (div_up (last U 0 * h)%Z D HD) as Ht. rewrite mult_IZR in Ht. set (t := IZR (_ + 1)) in *.
  assert (IZR D = q - IZR h) as ED by (unfold D, q; now rewrite minus_IZR). apply IZR_lt in HD as HD'.
  pose proof (g_pos n) as Gn. pose proof (g_pos (n - 1)) as Gn1.
  assert (0 <= IZR h) as Hh by (apply Rmult_le_reg_r with (g (n - 1)); nra).
  assert (0 <= IZR h / q < 1) as Ha.
  { split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|]. apply Rmult_lt_reg_r with q; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (forall k, (Z.of_nat n <= k)%Z -> f (k + 1)%Z <= IZR h / q * f k) as Hfall.
  { intros k Hk. pose proof (skellam_falls mu mean_pos f Hf (n - 1) (Z.to_nat k) ltac:(lia)) as G. cbv beta zeta in G.
    replace (Z.of_nat (S (Z.to_nat k))) with (k + 1)%Z in G by lia. replace (S (n - 1)) with n in G by lia. fold (g (n - 1)) (g n) in G. rewrite Z2Nat.id in G by lia.
    pose proof (g_pos (Z.to_nat k)) as P. unfold g in P. rewrite Z2Nat.id in P by lia.
    apply Rmult_le_reg_r with (g (n - 1)); [easy|]. apply Rle_trans with (1 := G). apply Rmult_le_reg_l with q; [easy|].
    replace (q * (IZR h / q * f k * g (n - 1))) with (IZR h * g (n - 1) * f k) by (field; lra). nra. }
  destruct (skellam_pmf mu mean_pos f Hf) as [Hpos [_ Hlub]].
  set (W := (2 * total U - 2 ^ Q + 2 * _)%Z).
  assert (1 <= IZR W * g 0 / q) as H; [|apply Rmult_le_compat_r with (r := q) in H; [|lra]; unfold Rdiv in H; rewrite Rmult_assoc, Rinv_l in H; lra].
  apply Hlub. intros z (l' & Hl' & _ & ->).
  pose proof (even_le f (IZR h / q) n Hpos (fun k => skellam_even mu mean_pos f k Hf) Ha (fun k Hk => Hfall k ltac:(lia)) l' Hl') as He.
  apply Rmult_le_reg_r with q; [easy|]. replace (IZR W * g 0 / q * q) with (IZR W * g 0) by (field; lra).
  apply Rle_trans with ((g 0 + 2 * (mass f (zseq 1 n) + IZR h / IZR D * g n)) * q).
  - apply Rmult_le_compat_r; [lra|]. apply Rle_trans with (1 := He). unfold g at 1. cbn [Z.of_nat].
    assert (f (Z.of_nat n + 1)%Z / (1 - IZR h / q) <= IZR h / IZR D * g n); [|lra].
    replace (IZR h / IZR D * g n) with (IZR h / q * g n / (1 - IZR h / q)) by (rewrite ED; field; lra).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. apply (Hfall (Z.of_nat n)). lia.
  - assert (IZR h / IZR D * (q * g n) <= t * g 0).
    { pose proof (g_pos 0). apply Rmult_le_reg_l with (IZR D); [easy|]. replace (IZR D * (IZR h / IZR D * (q * g n))) with (IZR h * (q * g n)) by (field; lra).
      apply Rle_trans with (IZR h * (IZR (last U 0%Z) * g 0)); [apply Rmult_le_compat_l; lra|]. nra. }
    unfold W. rewrite plus_IZR, minus_IZR, !mult_IZR. fold q t. lra.
Qed.
(** The law is at least the table's weights *)
Lemma weights_ok N m : let l := first_ratios u v Q N m in is_mean u v Q l = true ->
  forall k, IZR (entry (both_sides (lower Q (2 ^ Q) l)) (k + Z.of_nat (length l))) <= f k * IZR (whole Q l).
Proof.
  intros l H k. unfold is_mean in H. split_bool H. pose proof (IZR_pow2_pos Q HQ) as Hq. fold q in Hq.
  assert (enclosed 0 l) as Hl by apply enclosed_firstn, far_ratios_ok.
  assert (forall l x, length (lower Q x l) = S (length l)) as Hlen by (intros l0; induction l0; intros x; simpl; auto).
  pose proof (both_sides_entry (lower Q (2 ^ Q) l) k ltac:(rewrite Hlen; lia)) as E. rewrite Hlen in E.
  replace (Z.of_nat (S (length l)) - 1)%Z with (Z.of_nat (length l)) in E by lia. rewrite E.
  pose proof (whole_ok l Hl ltac:(easy) ltac:(easy)) as Hw. set (W := IZR (whole _ _)) in *.
  destruct (lower_ok l 0 (2 ^ Q) (Z.to_nat (Z.abs k)) Hl ltac:(apply Z.pow_nonneg; lia) ltac:(fold q; lra)) as [H0' H1']. set (z := IZR (nth _ _ _)) in *.
  cbn [Nat.add] in H1'. assert (g (Z.to_nat (Z.abs k)) = f k) as Ek.
  { unfold g. rewrite Z2Nat.id by lia. destruct (Z.abs_spec k) as [[_ ->]|[_ ->]]; [easy|now apply (skellam_even mu mean_pos)]. }
  rewrite Ek in H1'. pose proof (g_pos 0) as G0. pose proof (proj1 (skellam_pmf mu mean_pos f Hf) k) as Hk.
  assert (0 < W) by (apply Rmult_lt_reg_r with (g 0); nra).
  apply Rmult_le_reg_r with q; [easy|]. apply Rle_trans with (z * (W * g 0)); [now apply Rmult_le_compat_l|nra].
Qed.
End Mean.

(** What the listed weights leave out counts against the claim *)
Theorem skellam_dp u v Delta a b n d P r Q N m : skellam_check u v Delta a b n d P r Q N m = true ->
  exists f, skellam (IZR u / IZR v) f /\ noise_dp f Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold skellam_check. intros H. apply andb_prop in H as [Hm Hc]. pose proof Hm as H. unfold is_mean in H. split_bool H.
  pose proof (mean_pos u v ltac:(easy) ltac:(easy)) as Hmu. destruct (skellam_exists _ Hmu) as [f Hf]. exists f. split; [easy|].
  eapply below_dp; [apply (skellam_pmf _ Hmu f Hf)|exact (weights_ok u v Q f ltac:(easy) ltac:(easy) ltac:(easy) Hf N m Hm)|exact Hc].
Qed.
(** ... or against its refutation *)
Theorem skellam_not_dp u v Delta a b n d P r Q N m : skellam_refutes u v Delta a b n d P r Q N m = true ->
  exists f, skellam (IZR u / IZR v) f /\ noise_not_dp f Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold skellam_refutes. intros H. apply andb_prop in H as [Hm Hc]. pose proof Hm as H. unfold is_mean in H. split_bool H.
  pose proof (mean_pos u v ltac:(easy) ltac:(easy)) as Hmu. destruct (skellam_exists _ Hmu) as [f Hf]. exists f. split; [easy|].
  eapply below_not_dp; [apply (skellam_pmf _ Hmu f Hf)|exact (weights_ok u v Q f ltac:(easy) ltac:(easy) ltac:(easy) Hf N m Hm)|exact Hc].
Qed.
