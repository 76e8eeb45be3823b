(** Discrete Gaussian noise, used K times: tight composition on a grid. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables DiscreteGaussian Skellam Grid UsesOnGrid.
Import ListNotations.
Open Scope R_scope.

(** Steps of the grid are ln((m + 1)/m); the weights are those of outcomes from -L to L. *)
Definition gauss_half (r : nat) (P u v : Z) (L : nat) : list Z := map fst (weights_from r P u v 0 (S L)).
Definition gauss_uses_check (K : nat) (u v : Z) (s L : nat) (m B : Z) (e f g h : nat) (a b n d P : Z) (r : nat) : bool :=
  ((0 <? u)%Z && (0 <? v)%Z && (0 <=? P)%Z && small u v r 0 && small u v r 1 && (v <? u * 2 ^ Z.of_nat r)%Z &&
   short_tail u v P r (Z.of_nat L + 1) &&
   uses_check (both_sides (gauss_half r P u v L)) (total_above u v P r L) K s (m + 1) m B e f g h a b n d P r)%bool.

(** Squares: those that are further apart sum to more *)
Lemma gauss_concave s2 f : 0 < s2 -> discrete_gaussian s2 f ->
  forall k0 k s, (0 <= s)%Z -> (k0 <= k)%Z -> f (k0 - s)%Z * f k <= f (k - s)%Z * f k0.
Proof.
  intros Hs2 (N & HN & Hf) k0 k s Hs Hk. pose proof (normaliser_pos s2 N HN) as HN0. rewrite !Hf.
  replace (gauss_weight s2 (k0 - s) / N * (gauss_weight s2 k / N)) with (gauss_weight s2 (k0 - s) * gauss_weight s2 k * (/ N * / N)) by (unfold Rdiv; ring).
  replace (gauss_weight s2 (k - s) / N * (gauss_weight s2 k0 / N)) with (gauss_weight s2 (k - s) * gauss_weight s2 k0 * (/ N * / N)) by (unfold Rdiv; ring).
  pose proof (Rinv_0_lt_compat N HN0). apply Rmult_le_compat_r; [nra|]. unfold gauss_weight. rewrite <- !exp_plus. apply exp_le.
  assert (IZR ((k - s) * (k - s)) + IZR (k0 * k0) <= IZR ((k0 - s) * (k0 - s)) + IZR (k * k)) as Hz by (rewrite <- !plus_IZR; apply IZR_le; nia).
  assert (0 < / (2 * s2)) by (apply Rinv_0_lt_compat; lra). unfold Rdiv. nra.
Qed.
(** Weights from below, on the grid *)
Theorem gauss_uses_dp K u v s L m B e f g h a b n d P r : gauss_uses_check K u v s L m B e f g h a b n d P r = true ->
  exists p, discrete_gaussian (IZR u / IZR v) p /\ noise_uses_dp p K (Z.of_nat s) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold gauss_uses_check. intros H. apply andb_prop in H as [H Hc]. split_bool H. rename H into Hu.
  assert (0 < v)%Z as Hv by easy. assert (0 <= P)%Z as HP by easy.
  pose proof (s2_pos u v Hu Hv) as Hs2. destruct (gauss_exists _ Hs2) as [p Hp]. exists p. split; [easy|].
  pose proof Hp as (N & HN & Hf). pose proof (normaliser_pos _ N HN) as HN0. pose proof (IZR_pow2_pos P HP) as HPP.
  pose proof (total_le u v P HP Hu Hv r N L HN ltac:(assumption) ltac:(assumption) ltac:(assumption)) as Htot.
  pose proof Hc as H'. unfold uses_check in H'. split_bool H'.
  assert (0 < total_above u v P r L)%Z as HW by (apply lt_IZR; nra).
  assert (length (gauss_half r P u v L) = S L) as Hlen.
  { unfold gauss_half. rewrite map_length. unfold weights_from. generalize (S L). intros j. generalize (exp_box r P (- (2 * 0 + 1) * v) (2 * u)).
    generalize (exp_box r P (- (0 * 0) * v) (2 * u)). induction j; intros x y; [easy|]. cbn [boxes length]. now rewrite IHj. }
  pose proof (DiscreteGaussian.weights_ok u v P HP Hu Hv r 0 (S L) ltac:(assumption) ltac:(assumption)) as Hall.
  eapply (uses_on_grid p 0) with (W := total_above u v P r L) (h := Z.of_nat L);
    [exact (gauss_pmf _ p Hp)| |exact (gauss_concave _ p Hs2 Hp)|exact HW|exact H'|assumption| |exact Hc].
  - intros k. rewrite Z.sub_0_l, !Hf. f_equal. apply w_neg.
  - intros k. pose proof (both_sides_entry (gauss_half r P u v L) k ltac:(rewrite Hlen; lia)) as E. rewrite Hlen in E.
    replace (Z.of_nat (S L) - 1)%Z with (Z.of_nat L) in E by lia. rewrite E. rewrite Hf.
    assert (gauss_weight (IZR u / IZR v) k = gauss_weight (IZR u / IZR v) (Z.abs k)) as ->
      by (destruct (Z.abs_spec k) as [[_ ->]|[_ ->]]; [easy|symmetry; apply w_neg]).
    set (w := gauss_weight (IZR u / IZR v)) in *.
    assert (IZR (nth (Z.to_nat (Z.abs k)) (gauss_half r P u v L) 0%Z) <= w (Z.abs k) * IZR (2 ^ P)) as Hle.
    { assert (forall j l z, Forall2 (fun i box => within P (w i) box) (zseq z j) l -> forall i, IZR (nth i (map fst l) 0%Z) <= w (z + Z.of_nat i)%Z * IZR (2 ^ P)) as X.
      { induction j; intros l z Hl i; inversion Hl as [|z' box zs l' Hb Hl']; subst.
        - assert (0 < w (z + Z.of_nat i)%Z) by apply w_pos. destruct i; simpl nth; nra.
        - destruct i; cbn [map nth]; [rewrite Z.add_0_r; apply Hb|].
          replace (z + Z.of_nat (S i))%Z with (z + 1 + Z.of_nat i)%Z by lia. now apply IHj. }
      pose proof (X _ _ _ Hall (Z.to_nat (Z.abs k))) as Y. now replace (0 + Z.of_nat (Z.to_nat (Z.abs k)))%Z with (Z.abs k) in Y by lia. }
    apply Rle_trans with (1 := Hle). pose proof (w_pos (IZR u / IZR v) (Z.abs k)) as Hw. fold w in Hw.
    apply Rmult_le_reg_r with N; [easy|]. replace (w (Z.abs k) / N * IZR (total_above u v P r L) * N) with (w (Z.abs k) * IZR (total_above u v P r L)) by (field; lra).
    rewrite Rmult_assoc. apply Rmult_le_compat_l; lra.
Qed.
