(** A law of which whole weights are known from below: what they leave out counts against the claim. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables PostProcessing.
Import ListNotations.
Open Scope R_scope.

(** An event and what is outside of it *)
Lemma complement {T} (f : T -> R) S p r : pmf f -> has_prob f S p -> has_prob f (fun x => ~ S x) r -> p + r = 1.
Proof.
  intros [Hf [H1 H2]] [Hp Hp'] [Hr Hr']. apply Rle_antisym.
  - enough (r <= 1 - p) by lra. apply Hr'. intros z (k & Hk & Hin & ->).
    enough (p <= 1 - mass f k) by lra. apply Hp'. intros z (l & Hl & Hin' & ->).
    enough (mass f (l ++ k) <= 1) by (rewrite mass_app in *; lra). apply H1. exists (l ++ k). repeat split; auto.
    apply nodup_app; auto. intros x Hx Hx'. exact (Hin x Hx' (Hin' x Hx)).
  - apply H2. intros z (l & Hl & _ & ->).
    destruct (split_by f S l Hl) as (l1 & l2 & N1 & N2 & P1 & P2 & -> & _).
    apply Rplus_le_compat; [apply Hp; exists l1|apply Hr; exists l2]; repeat split; auto; intros x Hx; [now apply P1|now apply P2].
Qed.

(** Where a law is at least the share c of another, they differ by at most the rest of 1. *)
Lemma share_below {T} (f g : T -> R) c S p p' : 0 <= c -> (forall x, c * g x <= f x) ->
  has_prob f S p -> has_prob g S p' -> c * p' <= p.
Proof.
  intros [Hc| <-] H [Hp _] [_ Hp'].
  - enough (p' <= p / c) by (apply Rmult_le_compat_l with (r := c) in H0; [|lra]; replace (c * (p / c)) with p in H0 by (field; lra); lra).
    apply Hp'. intros z (l & Hl & Hin & ->). apply Rmult_le_reg_l with c; [easy|].
    replace (c * (p / c)) with p by (field; lra). rewrite <- mass_scale.
    apply Rle_trans with (mass f l); [apply mass_le; auto|]. apply Hp. now exists l.
  - rewrite Rmult_0_l. apply Hp. exists []. repeat split; [constructor|easy].
Qed.
(** The same of the complement *)
Lemma share_above {T} (f g : T -> R) c S p p' : pmf f -> pmf g -> 0 <= c -> (forall x, c * g x <= f x) ->
  has_prob f S p -> has_prob g S p' -> p <= c * p' + (1 - c).
Proof.
  intros Hf Hg Hc H Hp Hp'. destruct (pmf_has_prob f (fun x => ~ S x) Hf) as [r Hr].
  destruct (pmf_has_prob g (fun x => ~ S x) Hg) as [r' Hr'].
  pose proof (complement f S p r Hf Hp Hr). pose proof (complement g S p' r' Hg Hp' Hr').
  pose proof (share_below f g c _ r r' Hc H Hr Hr'). nra.
Qed.

Section Shares.
Variables (f g : Z -> R) (c : R) (h : Z).
Hypotheses (Hf : pmf f) (Hc : 0 < c) (H : forall k, c * g (k + h)%Z <= f k).

(** The rest may be anything: it adds to delta. *)
Lemma shared_dp Delta eps delta : noise_dp g Delta eps delta -> noise_dp f Delta eps (c * delta + (1 - c)).
Proof.
  intros Hg D adj q Hq. destruct (Hg D adj (fun d => q d - h)%Z) as [H0 H1].
  { intros d d' Ha. specialize (Hq d d' Ha). lia. }
  assert (forall d, pmf (add_noise f q d)) as Hp by (intros d; exact (pmf_shift f (- q d) Hf)).
  assert (forall d k, c * add_noise g (fun d => q d - h)%Z d k <= add_noise f q d k) as Hm.
  { intros d k. unfold add_noise. replace (k - (q d - h))%Z with (k - q d + h)%Z by lia. apply H. }
  split; [easy|]. intros d d' Ha S p p' Hs Hs'.
  destruct (pmf_has_prob _ S (H0 d)) as [r Hr]. destruct (pmf_has_prob _ S (H0 d')) as [r' Hr'].
  pose proof (H1 d d' Ha S r r' Hr Hr').
  pose proof (share_above _ _ c S p r (Hp d) (H0 d) ltac:(lra) (Hm d) Hs Hr).
  pose proof (share_below _ _ c S p' r' ltac:(lra) (Hm d') Hs' Hr').
  pose proof (exp_pos eps). nra.
Qed.
(** ... and takes from the excess, most of all where it is all on the other side. *)
Lemma shared_not_dp Delta eps delta : noise_not_dp g Delta eps delta -> noise_not_dp f Delta eps (c * delta - exp eps * (1 - c)).
Proof.
  intros (D & adj & q & Hq & Hg & d & d' & S & r & r' & Ha & Hr & Hr' & Hgt).
  assert (forall d, pmf (add_noise f (fun d => q d + h)%Z d)) as Hp by (intros e; exact (pmf_shift f (- (q e + h)) Hf)).
  assert (forall d k, c * add_noise g q d k <= add_noise f (fun d => q d + h)%Z d k) as Hm.
  { intros e k. unfold add_noise. replace (k - q e)%Z with (k - (q e + h) + h)%Z by lia. apply H. }
  exists D, adj, (fun d => q d + h)%Z. split; [intros e e' He; specialize (Hq e e' He); lia|]. split; [easy|].
  destruct (pmf_has_prob _ S (Hp d)) as [p Hs]. destruct (pmf_has_prob _ S (Hp d')) as [p' Hs'].
  exists d, d', S, p, p'. repeat split; auto; try apply Hs; try apply Hs'.
  pose proof (share_below _ _ c S p r ltac:(lra) (Hm d) Hs Hr).
  pose proof (share_above _ _ c S p' r' (Hp d') (Hg d') ltac:(lra) (Hm d') Hs' Hr').
  pose proof (exp_pos eps). nra.
Qed.
End Shares.

(** What is refuted is so at a smaller delta *)
Lemma not_dp_less f Delta eps delta delta' : noise_not_dp f Delta eps delta -> delta' <= delta -> noise_not_dp f Delta eps delta'.
Proof.
  intros (D & adj & q & Hq & Hp & d & d' & S & p & p' & Ha & H & H' & Hgt) Hd.
  exists D, adj, q. split; [easy|]. split; [easy|]. exists d, d', S, p, p'. repeat split; auto; try apply H; try apply H'. lra.
Qed.

(** Weights [w] in units of 1/W; eps = a/b, delta = n/d; P bits, r squarings. *)
Definition below_check (w : list Z) (W Delta a b n d P : Z) (r : nat) : bool :=
  let T := total w in
  ((T <=? W)%Z && is_ratio n d && table_check w Delta a b (n * W - d * (W - T)) (d * T) P r)%bool.
Definition below_refutes (w : list Z) (W Delta : Z) (s : nat) (a b n d P : Z) (r : nat) : bool :=
  let T := total w in
  ((T <=? W)%Z && is_ratio n d && is_ratio a b && (0 <=? P)%Z && (a <? b * 2 ^ Z.of_nat r)%Z &&
   table_refutes w Delta s a b (n * W * 2 ^ P + d * exp_above r P a b * (W - T)) (d * T * 2 ^ P) P r)%bool.

Section Table.
Variables (f : Z -> R) (w : list Z) (W h : Z).
Hypotheses (Hf : pmf f) (H : forall k, IZR (entry w (k + h)) <= f k * IZR W).

(** Its share of the law *)
Lemma table_share : (0 < total w <= W)%Z -> forall k, IZR (total w) / IZR W * table w (k + h) <= f k.
Proof.
  intros [H0 H1] k. assert (0 < IZR (total w)) by now apply IZR_lt. assert (0 < IZR W) by (apply IZR_lt; lia).
  unfold table. replace (IZR (total w) / IZR W * (IZR (entry w (k + h)) / IZR (total w))) with (IZR (entry w (k + h)) / IZR W) by (field; lra).
  apply Rmult_le_reg_r with (IZR W); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. apply H.
Qed.
(** The table at a smaller delta *)
Theorem below_dp Delta a b n d P r : below_check w W Delta a b n d P r = true ->
  noise_dp f Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold below_check. intros Hc. split_bool Hc. rename H0 into Ht.
  assert (0 < total w)%Z as HT by (unfold table_check, valid in Ht; split_bool Ht; easy).
  assert (0 < d)%Z as Hd by eauto using ratio_bottom.
  assert (0 < IZR (total w)) by now apply IZR_lt. assert (0 < IZR W) by (apply IZR_lt; lia). apply IZR_lt in Hd.
  apply table_dp in Ht. eapply shared_dp in Ht; [| |apply Rdiv_lt_0_compat|apply table_share]; eauto.
  replace (IZR n / IZR d) with (IZR (total w) / IZR W * (IZR (n * W - d * (W - total w)) / IZR (d * total w)) + (1 - IZR (total w) / IZR W)); [easy|].
  rewrite minus_IZR, !mult_IZR, minus_IZR. field. lra.
Qed.
(** The table at a larger delta *)
Theorem below_not_dp Delta s a b n d P r : below_refutes w W Delta s a b n d P r = true ->
  noise_not_dp f Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold below_refutes. intros Hc. split_bool Hc. rename H0 into Ht.
  assert (0 < total w)%Z as HT by (unfold table_refutes, valid in Ht; split_bool Ht; easy).
  assert (0 < d)%Z as Hd by eauto using ratio_bottom.
  assert (0 < IZR (total w)) as HT' by now apply IZR_lt. assert (0 < IZR W) as HW by (apply IZR_lt; lia). apply IZR_lt in Hd.
  assert (0 <= P)%Z as HP by assumption. pose proof (IZR_pow2_pos P HP) as Hp.
  apply table_not_dp in Ht. eapply shared_not_dp in Ht; [| |apply Rdiv_lt_0_compat|apply table_share]; eauto.
  pose proof (exp_above_ok r P a b HP ltac:(eauto using ratio_top) ltac:(eauto using ratio_bottom) ltac:(easy)) as Hup.
  eapply not_dp_less; [exact Ht|]. rewrite plus_IZR, !mult_IZR, minus_IZR. set (E := exp (IZR a / IZR b)) in *.
  set (up := IZR (exp_above r P a b)) in *. set (p := IZR (2 ^ P)) in *. set (T := IZR (total w)) in *.
  replace (T / IZR W * ((IZR n * IZR W * p + IZR d * up * (IZR W - T)) / (IZR d * T * p)) - E * (1 - T / IZR W))
    with (IZR n / IZR d + (up - E * p) * ((IZR W - T) / (p * IZR W))) by (field; lra).
  assert (0 <= (IZR W - T) / (p * IZR W)); [|nra].
  apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; nra]. assert (T <= IZR W) by now apply IZR_le. lra.
Qed.
End Table.
