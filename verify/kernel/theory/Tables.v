(** Noise given by a table of whole weights: every shift is checked, in both orders. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights.
Import ListNotations.
Open Scope R_scope.

Fixpoint zseq (s : Z) (n : nat) : list Z := match n with O => [] | S m => s :: zseq (s + 1) m end.
(** By induction *)
Lemma in_zseq n : forall s k, In k (zseq s n) <-> (s <= k < s + Z.of_nat n)%Z.
Proof. induction n; intros; simpl zseq; simpl In; [lia|]. rewrite IHn. lia. Qed.
(** Later ones are larger *)
Lemma zseq_nodup n : forall s, NoDup (zseq s n).
Proof. induction n; intros; simpl; constructor; auto. rewrite in_zseq. lia. Qed.

(** sum of max(0, u a_i - e b_i) *)
Fixpoint excess (u e : Z) (A B : list Z) : Z :=
  match A, B with
  | a :: A', b :: B' => let d := (u * a - e * b)%Z in
                        (if (0 <? d)%Z then d + excess u e A' B' else excess u e A' B')%Z
  | _, _ => 0%Z
  end.

(** By definition *)
Lemma entry_cons a w k : (k > 0)%Z -> entry (a :: w) k = entry w (k - 1).
Proof.
  intros H. unfold entry. destruct (Z.ltb_spec k 0); [lia|]. destruct (Z.ltb_spec (k - 1) 0); [lia|].
  replace (Z.to_nat k) with (S (Z.to_nat (k - 1))) by lia. reflexivity.
Qed.
(** By definition *)
Lemma entry_out w k : (k < 0 \/ Z.of_nat (length w) <= k)%Z -> entry w k = 0%Z.
Proof. intros H. unfold entry. destruct (Z.ltb_spec k 0); [easy|]. apply nth_overflow. lia. Qed.

(** Entry by entry *)
Lemma excess_mass u e : forall A B s, length A = length B ->
  mass (fun k => positive_part u e (entry A (k - s)) (entry B (k - s))) (zseq s (length A)) = IZR (excess u e A B).
Proof.
  induction A as [|a A IH]; intros [|b B] s Hl; try discriminate; [easy|].
  injection Hl as Hl. cbn [length zseq mass excess].
  rewrite (mass_ext _ (fun k => positive_part u e (entry A (k - (s + 1))) (entry B (k - (s + 1))))).
  2: { intros k Hk. apply in_zseq in Hk. rewrite !entry_cons by lia. f_equal; f_equal; lia. }
  rewrite IH by easy. replace (s - s)%Z with 0%Z by lia. unfold positive_part, entry. simpl.
  destruct (Z.ltb_spec 0 (u * a - e * b)).
  - rewrite Z.max_r, <- plus_IZR by lia. reflexivity.
  - rewrite Z.max_l by lia. lra.
Qed.

(** Entry by entry *)
Lemma total_mass : forall w s, mass (fun k => IZR (entry w (k - s))) (zseq s (length w)) = IZR (total w).
Proof.
  induction w as [|a w IH]; intros; [easy|]. cbn [length zseq mass total fold_right].
  rewrite (mass_ext _ (fun k => IZR (entry w (k - (s + 1))))).
  2: { intros k Hk. apply in_zseq in Hk. rewrite !entry_cons by lia. do 2 f_equal; lia. }
  rewrite IH, plus_IZR. replace (s - s)%Z with 0%Z by lia. reflexivity.
Qed.

Definition nonneg (w : list Z) : bool := forallb (Z.leb 0) w.
Definition valid (w : list Z) : bool := (nonneg w && (0 <? total w)%Z)%bool.

(** All members are *)
Lemma entry_nonneg w k : nonneg w = true -> (0 <= entry w k)%Z.
Proof.
  unfold nonneg. rewrite forallb_forall. intros H. unfold entry. destruct (k <? 0)%Z; [lia|].
  destruct (nth_in_or_default (Z.to_nat k) w 0%Z) as [Hi|Hd]; [|lia]. apply H in Hi. lia.
Qed.
(** A quotient of such *)
Lemma table_nonneg w k : valid w = true -> 0 <= table w k.
Proof.
  unfold valid. intros H. apply andb_prop in H as [H1 H2]. apply Z.ltb_lt in H2.
  apply Rmult_le_pos. apply IZR_le. now apply entry_nonneg. left. apply Rinv_0_lt_compat. now apply IZR_lt.
Qed.

(** Weights over their own sum *)
Lemma table_pmf w : valid w = true -> pmf (table w).
Proof.
  intros H. apply pmf_finite with (L := zseq 0 (length w)).
  - intros; now apply table_nonneg.
  - apply zseq_nodup.
  - intros k. rewrite in_zseq. unfold table.
    destruct (Z_lt_dec k 0); [right; rewrite entry_out by lia; lra|].
    destruct (Z_le_dec (Z.of_nat (length w)) k); [right; rewrite entry_out by lia; lra|]. left; lia.
  - unfold valid in H. apply andb_prop in H as [_ H]. apply Z.ltb_lt, IZR_lt in H.
    rewrite (mass_ext _ (fun k => / IZR (total w) * IZR (entry w (k - 0)) + 0 * 0)).
    2: { intros k _. unfold table. rewrite Z.sub_0_r. lra. }
    rewrite mass_lin, total_mass. field. lra.
Qed.

(** Additive noise: pad for a shift of s, both orders, s = 1..Delta. *)
Definition zeros (s : nat) := repeat 0%Z s.
(** Zeros after the end change nothing *)
Lemma entry_pad_r w s k : entry (w ++ zeros s) k = entry w k.
Proof.
  unfold entry. destruct (k <? 0)%Z; auto. destruct (Nat.lt_ge_cases (Z.to_nat k) (length w)).
  - now rewrite app_nth1. - rewrite app_nth2, (nth_overflow w) by lia. unfold zeros.
    destruct (nth_in_or_default (Z.to_nat k - length w) (repeat 0%Z s) 0%Z) as [Hi|]; auto. now apply repeat_spec in Hi.
Qed.
(** Zeros before the start move it *)
Lemma entry_pad_l s : forall w k, entry (zeros s ++ w) k = entry w (k - Z.of_nat s).
Proof.
  induction s; intros w k; [f_equal; simpl; lia|]. unfold zeros in *. cbn [repeat app].
  destruct (Z_lt_dec k 0). rewrite !entry_out; auto; lia.
  destruct (Z.eq_dec k 0) as [->|]. rewrite (entry_out w) by lia. reflexivity.
  rewrite entry_cons, IHs by lia. f_equal. lia.
Qed.
(** Member by member *)
Lemma nonneg_app a b : nonneg a = true -> nonneg b = true -> nonneg (a ++ b) = true.
Proof. unfold nonneg. intros H1 H2. now rewrite forallb_app, H1, H2. Qed.
(** Zero is *)
Lemma nonneg_zeros s : nonneg (zeros s) = true.
Proof. unfold nonneg, zeros. apply forallb_forall. intros x H. apply repeat_spec in H. now subst. Qed.

(** A table that is padded has the weights of the noise moved by s. *)
Lemma moved w s k : IZR (entry (zeros s ++ w) k) / IZR (total w) = table w (k - Z.of_nat s).
Proof. now rewrite entry_pad_l. Qed.
(** Padding on the right changes nothing *)
Lemma unmoved w s k : IZR (entry (w ++ zeros s) k) / IZR (total w) = table w k.
Proof. now rewrite entry_pad_r. Qed.

(** From the first entry on *)
Lemma excess_all u e A B : length A = length B ->
  mass (fun k => positive_part u e (entry A k) (entry B k)) (zseq 0 (length A)) = IZR (excess u e A B).
Proof.
  intros H. rewrite <- (excess_mass u e A B 0 H). apply mass_ext. intros k _. now rewrite Z.sub_0_r.
Qed.
(** Outside both are zero *)
Lemma excess_covers u e A B k : length A = length B ->
  In k (zseq 0 (length A)) \/ (u * entry A k <= e * entry B k)%Z.
Proof.
  intros H. rewrite in_zseq. destruct (Z_lt_dec k 0) as [Hk|Hk]; [right|
    destruct (Z_le_dec (Z.of_nat (length A)) k); [right|left; lia]]; rewrite !entry_out by lia; lia.
Qed.

(** Noise of weights [w]; eps = a/b, delta = n/d; P bits, r squarings. *)
Definition check_shift w W (P lo n d : Z) (s : nat) : bool :=
  let A := zeros s ++ w in let B := w ++ zeros s in
  let bound := (n * (W * 2 ^ P))%Z in
  ((excess (2 ^ P) lo A B * d <=? bound)%Z && (excess (2 ^ P) lo B A * d <=? bound)%Z)%bool.
Definition table_check (w : list Z) (Delta : Z) (a b n d : Z) (P : Z) (r : nat) : bool :=
  (valid w && (0 <=? P)%Z && is_ratio a b && is_ratio n d &&
   let W := total w in let lo := exp_below r P a b in
   forallb (check_shift w W P lo n d) (seq 1 (Z.to_nat Delta)))%bool.

(** Each shift's excess, rounded up, in both orders *)
Theorem table_dp w Delta a b n d P r : table_check w Delta a b n d P r = true ->
  noise_dp (table w) Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold table_check. intros H. split_bool H. rename H0 into Hf. rewrite forallb_forall in Hf.
  assert (0 < total w)%Z as HW by (unfold valid in H; now split_bool H).
  assert (nonneg w = true) as Hnn by (unfold valid in H; now split_bool H).
  apply noise_dp_intro; [now apply table_pmf|]. intros s Hs.
  assert (forall k, 0 <= table w k) as Hpos by (intros; now apply table_nonneg).
  destruct (Z.eq_dec s 0) as [->|Hs0].
  { eapply dp_pair_ext; [| |apply (dp_pair_refl (table w))]; try (intros; f_equal; lia); auto using ratio_nonneg. }
  specialize (Hf (Z.to_nat (Z.abs s))). rewrite in_seq in Hf. specialize (Hf ltac:(lia)).
  unfold check_shift in Hf. split_bool Hf. set (z := Z.to_nat (Z.abs s)) in *.
  assert (length (zeros z ++ w) = length (w ++ zeros z)) as Hlen by (rewrite !app_length; lia).
  assert (nonneg (zeros z ++ w) = true) by (apply nonneg_app; auto using nonneg_zeros).
  assert (nonneg (w ++ zeros z) = true) by (apply nonneg_app; auto using nonneg_zeros).
  assert (IZR (exp_below r P a b) <= exp (IZR a / IZR b) * IZR (2 ^ P)) as Hlo
    by (apply exp_below_ok; eauto using ratio_top, ratio_bottom).
  assert (forall A B, length A = length B -> nonneg B = true -> (excess (2 ^ P) (exp_below r P a b) A B * d <= n * (total w * 2 ^ P))%Z ->
    dp_pair (fun k => IZR (entry A k) / IZR (total w)) (fun k => IZR (entry B k) / IZR (total w)) (IZR a / IZR b) (IZR n / IZR d)) as Hp.
  { intros A B Hl HB He. eapply (weights_dp _ _ _ P (zseq 0 (length A)) (excess (2 ^ P) (exp_below r P a b) A B)); eauto using ratio_bottom.
    - intros x. now apply entry_nonneg.
    - intros x. now apply excess_covers.
    - rewrite excess_all by easy. lra. }
  destruct (Z_lt_dec 0 s).
  - eapply dp_pair_ext; [| |exact (Hp (zeros z ++ w) (w ++ zeros z) ltac:(auto) ltac:(auto) ltac:(auto))]; intros k; cbv beta.
    + rewrite moved. f_equal. lia.
    + apply unmoved.
  - eapply dp_pair_ext; [| |exact (dp_pair_shift _ _ (- s)%Z _ _ (Hp (w ++ zeros z) (zeros z ++ w) ltac:(auto) ltac:(auto) ltac:(auto)))]; intros k; cbv beta.
    + rewrite unmoved. f_equal.
    + rewrite moved. f_equal. lia.
Qed.

(** Refuted by a shift of s, in either order. *)
Definition table_refutes (w : list Z) (Delta : Z) (s : nat) (a b n d : Z) (P : Z) (r : nat) : bool :=
  (valid w && (0 <=? P)%Z && is_ratio a b && (a <? b * 2 ^ Z.of_nat r)%Z && is_ratio n d && (Z.of_nat s <=? Delta)%Z &&
   let A := zeros s ++ w in let B := w ++ zeros s in
   let up := exp_above r P a b in let bound := (n * (total w * 2 ^ P))%Z in
   if (bound <? excess (2 ^ P) up A B * d)%Z then true
   else (bound <? excess (2 ^ P) up B A * d)%Z)%bool.
(** One shift's excess, rounded down, in one of both orders *)
Theorem table_not_dp w Delta s a b n d P r : table_refutes w Delta s a b n d P r = true ->
  noise_not_dp (table w) Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold table_refutes. intros H. split_bool H.
  assert (0 < total w)%Z as HW by (unfold valid in H; now split_bool H).
  assert (nonneg w = true) as Hnn by (unfold valid in H; now split_bool H).
  set (A := zeros s ++ w) in *. set (B := w ++ zeros s) in *. set (up := exp_above r P a b) in *.
  assert (length A = length B) as Hlen by (unfold A, B; rewrite !app_length; lia).
  assert (nonneg A = true) as HA by (apply nonneg_app; auto using nonneg_zeros).
  assert (nonneg B = true) as HB by (apply nonneg_app; auto using nonneg_zeros).
  assert (exp (IZR a / IZR b) * IZR (2 ^ P) <= IZR up) as Hup
    by (apply exp_above_ok; eauto using ratio_top, ratio_bottom).
  assert (forall U V, length U = length V -> nonneg V = true -> (n * (total w * 2 ^ P) < excess (2 ^ P) up U V * d)%Z ->
    exists l, NoDup l /\ mass (fun k => IZR (entry U k) / IZR (total w)) l
      > exp (IZR a / IZR b) * mass (fun k => IZR (entry V k) / IZR (total w)) l + IZR n / IZR d) as Hm.
  { intros U V Hl HV He. eexists. split.
    2: { apply (weights_not_dp (entry U) (entry V) (total w) P (zseq 0 (length U)) (excess (2 ^ P) up U V)) with (up := up);
         eauto using ratio_bottom, entry_nonneg. apply Req_le. symmetry. now apply excess_all. }
    apply NoDup_filter, zseq_nodup. }
  pose proof (table_pmf w H) as Hpmf.
  match goal with X : (if ?q then true else _) = true |- _ => destruct q eqn:E; [apply Z.ltb_lt in E|apply Z.ltb_lt in X; rename X into E'] end.
  - destruct (Hm A B Hlen HB E) as (l & Hl & Hg).
    eapply noise_not_dp_intro with (s := Z.of_nat s); [easy|lia|exact Hl|].
    rewrite (mass_ext _ _ l (fun k _ => eq_sym (moved w s k))), (mass_ext _ _ l (fun k _ => eq_sym (unmoved w s k))). exact Hg.
  - destruct (Hm B A (eq_sym Hlen) HA E') as (l & Hl & Hg).
    eapply noise_not_dp_back with (s := Z.of_nat s); [easy|lia|exact Hl|].
    rewrite (mass_ext _ _ l (fun k _ => eq_sym (moved w s k))), (mass_ext _ _ l (fun k _ => eq_sym (unmoved w s k))). exact Hg.
Qed.
