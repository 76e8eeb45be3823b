(** Randomized response used K times: only the number of true answers counts. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FinFun.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables Binomial BinomialTail.
Import ListNotations.
Open Scope R_scope.

Definition answers (eps0 : R) := repeated (randomized_response eps0).

(** All sequences of K answers, and how many of them agree with the bit. *)
Fixpoint allvec (K : nat) : list (list bool) :=
  match K with O => [[]] | S K' => map (cons true) (allvec K') ++ map (cons false) (allvec K') end.
Fixpoint agree (b : bool) (ys : list bool) : nat :=
  match ys with [] => O | y :: ys' => if Bool.eqb b y then S (agree b ys') else agree b ys' end.

(** By induction *)
Lemma in_allvec K : forall ys, In ys (allvec K) <-> length ys = K.
Proof.
  induction K; intros ys; simpl.
  - destruct ys; simpl; intuition; try discriminate.
  - rewrite in_app_iff, !in_map_iff. split.
    + intros [(x & <- & H)|(x & <- & H)]; simpl; f_equal; now apply IHK.
    + destruct ys as [|[|] ys]; simpl; intros H; try discriminate; injection H as H; apply IHK in H; [left|right]; now exists ys.
Qed.
(** They differ in the first answer or later *)
Lemma allvec_nodup K : NoDup (allvec K).
Proof.
  induction K; simpl. repeat constructor; easy.
  assert (forall b, NoDup (map (cons b) (allvec K))) as H by (intros b; apply Injective_map_NoDup; auto; intros x y E; now injection E).
  apply nodup_app; auto. intros x. rewrite !in_map_iff. intros (y & <- & _) (z & E & _). discriminate.
Qed.

Definition cmass (n : nat) (H : nat -> R) : R := mass (fun k => IZR (choose n k) * H k) (seq 0 (S n)).

(** The last of a range *)
Lemma seq_snoc n : seq 0 (S n) = seq 0 n ++ [n].
Proof. rewrite seq_S. reflexivity. Qed.
(** Pascal's rule *)
Lemma cmass_S n H : cmass (S n) H = cmass n (fun k => H (S k)) + cmass n H.
Proof.
  unfold cmass. change (seq 0 (S (S n))) with (0%nat :: seq 1 (S n)). rewrite <- seq_shift. cbn [mass]. rewrite mass_map.
  rewrite (mass_ext (fun x => IZR (choose (S n) (S x)) * H (S x))
     (fun k => 1 * (IZR (choose n k) * H (S k)) + 1 * (IZR (choose n (S k)) * H (S k)))) by (intros; cbn [choose]; rewrite plus_IZR; ring).
  rewrite mass_lin. rewrite (seq_snoc n) at 2. rewrite mass_app. cbn [mass]. rewrite (choose_out n (S n)) by lia.
  change (seq 0 (S n)) with (0%nat :: seq 1 n) at 3. rewrite <- seq_shift. cbn [mass]. rewrite mass_map.
  replace (choose (S n) 0) with 1%Z by easy. replace (choose n 0) with 1%Z by (destruct n; easy). ring.
Qed.
(** C(K,j) sequences have j true answers *)
Lemma mass_allvec b K : forall H, mass (fun ys => H (agree b ys)) (allvec K) = cmass K H.
Proof.
  induction K; intros H. unfold cmass; simpl. ring.
  cbn [allvec]. rewrite mass_app, !mass_map, cmass_S. cbn [agree].
  destruct b; simpl Bool.eqb; cbv iota; rewrite (IHK (fun k => H (S k))), (IHK H); ring.
Qed.
(** An answer is true of one bit or of the other *)
Lemma agree_neg b ys : agree (negb b) ys = (length ys - agree b ys)%nat.
Proof.
  assert (forall b ys, (agree b ys <= length ys)%nat) as Hle by (clear; intros b; induction ys as [|y ys]; simpl; [lia|destruct (Bool.eqb b y); lia]).
  induction ys as [|y ys]; [easy|]. cbn [agree length]. rewrite IHys. specialize (Hle b ys). destruct b, y; simpl Bool.eqb; cbv iota; lia.
Qed.
(** At most all *)
Lemma agree_le b ys : (agree b ys <= length ys)%nat.
Proof. induction ys as [|y ys]; simpl; [lia|destruct (Bool.eqb b y); lia]. Qed.

(** A factor for each answer *)
Lemma answers_in eps0 K b : forall ys, length ys = K -> answers eps0 K b ys = exp eps0 ^ agree b ys / (1 + exp eps0) ^ K.
Proof.
  pose proof (exp_pos eps0). induction K; intros [|y ys] Hl; try discriminate.
  - cbn. field.
  - injection Hl as Hl. unfold answers in *. cbn [repeated agree]. rewrite IHK by easy. unfold randomized_response.
  destruct (Bool.eqb b y); simpl pow; field; (split; [|lra] || idtac); try apply pow_nonzero; lra.
Qed.
(** No probability otherwise *)
Lemma answers_out eps0 K b : forall ys, length ys <> K -> answers eps0 K b ys = 0.
Proof. unfold answers. induction K; intros [|y ys] Hl; simpl; auto; [easy|]. rewrite IHK. ring. simpl in Hl. lia. Qed.
(** A quotient of such *)
Lemma answers_nonneg eps0 K b ys : 0 <= answers eps0 K b ys.
Proof.
  pose proof (exp_pos eps0). destruct (Nat.eq_dec (length ys) K). rewrite answers_in by easy.
  apply Rmult_le_pos; [apply pow_le; lra|left; apply Rinv_0_lt_compat, pow_lt; lra]. rewrite answers_out; [lra|easy].
Qed.

(** The binomial theorem *)
Lemma cmass_pow K : forall a, cmass K (fun j => a ^ j) = (1 + a) ^ K.
Proof.
  induction K; intros a. unfold cmass; simpl; ring. rewrite cmass_S. unfold cmass in *.
  rewrite (mass_ext (fun k => IZR (choose K k) * a ^ S k) (fun k => a * (IZR (choose K k) * a ^ k) + 0 * 0)) by (intros; simpl; ring).
  rewrite mass_lin, IHK. simpl. ring.
Qed.
(** Term by term *)
Lemma cmass_le K H H' : (forall k, (k <= K)%nat -> H k <= H' k) -> cmass K H <= cmass K H'.
Proof. intros Hh. apply mass_le. intros k Hk. apply in_seq in Hk. apply Rmult_le_compat_l. apply IZR_le, choose_nonneg. apply Hh. lia. Qed.

(** By the binomial theorem *)
Theorem answers_pmf eps0 K b : pmf (answers eps0 K b).
Proof.
  pose proof (exp_pos eps0). apply pmf_finite with (L := allvec K).
  - apply answers_nonneg. - apply allvec_nodup.
  - intros ys. rewrite in_allvec. destruct (Nat.eq_dec (length ys) K); [left; easy|right; now apply answers_out].
  - rewrite (mass_ext _ (fun ys => / (1 + exp eps0) ^ K * (exp eps0 ^ agree b ys) + 0 * 0)).
    rewrite mass_lin, (mass_allvec b K (fun k => exp eps0 ^ k)), cmass_pow. field. apply pow_nonzero; lra.
    intros ys Hy. apply in_allvec in Hy. rewrite answers_in by easy. field. apply pow_nonzero; lra.
Qed.

(** One number decides, in either order of the pair. *)
Theorem answers_excess eps0 K eps delta :
  cmass K (fun j => Rmax 0 (exp eps0 ^ j - exp eps * exp eps0 ^ (K - j))) <= delta * (1 + exp eps0) ^ K ->
  dp differ (answers eps0 K) eps delta.
Proof.
  intros H. split; [intros; apply answers_pmf|]. intros b b' Hb. unfold differ in Hb. replace b' with (negb b) by (destruct b, b'; simpl; congruence). clear b' Hb.
  pose proof (exp_pos eps0) as He. pose proof (exp_pos eps) as He'. assert (0 < (1 + exp eps0) ^ K) as HD by (apply pow_lt; lra).
  set (h := fun j => Rmax 0 (exp eps0 ^ j - exp eps * exp eps0 ^ (K - j))) in *.
  apply dp_pair_excess with (h := fun ys => if (length ys =? K)%nat then / (1 + exp eps0) ^ K * h (agree b ys) + 0 * 0 else 0) (L := allvec K).
  - apply answers_nonneg.
  - intros ys. destruct (length ys =? K)%nat; [|lra]. rewrite Rmult_0_l, Rplus_0_r. apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|apply Rmax_l].
  - intros ys. destruct (Nat.eqb_spec (length ys) K) as [E|E].
    + rewrite !answers_in, agree_neg, E by easy. pose proof (Rmax_r 0 (exp eps0 ^ agree b ys - exp eps * exp eps0 ^ (K - agree b ys))) as Hm. fold (h (agree b ys)) in Hm.
      apply Rmult_le_compat_l with (r := / (1 + exp eps0) ^ K) in Hm; [|left; now apply Rinv_0_lt_compat]. unfold Rdiv. lra.
    + rewrite !answers_out by easy. lra.
  - intros ys. rewrite in_allvec. destruct (Nat.eqb_spec (length ys) K); auto.
  - rewrite (mass_ext _ (fun ys => / (1 + exp eps0) ^ K * h (agree b ys) + 0 * 0)).
    rewrite mass_lin, (mass_allvec b K h). apply Rmult_le_reg_l with ((1 + exp eps0) ^ K); [easy|].
    field_simplify; [lra|lra].
    intros ys Hy. apply in_allvec in Hy. now rewrite (proj2 (Nat.eqb_eq _ _) Hy).
Qed.

(** Refuted: the event of the numbers of true answers where [h], a lower bound, is positive. *)
Theorem answers_not_dp eps0 K h eps delta :
  (forall j, (j <= K)%nat -> 0 <= h j) ->
  (forall j, (j <= K)%nat -> 0 < h j -> h j <= exp eps0 ^ j - exp eps * exp eps0 ^ (K - j)) ->
  delta * (1 + exp eps0) ^ K < cmass K h ->
  not_dp differ (answers eps0 K) eps delta.
Proof.
  intros H0 H Hc. pose proof (exp_pos eps0) as He. assert (0 < (1 + exp eps0) ^ K) as HD by (apply pow_lt; lra).
  set (p := fun ys => if Rlt_dec 0 (h (agree true ys)) then true else false).
  apply not_dp_intro with (d := true) (d' := false) (l := filter p (allvec K)).
  - intros; apply answers_pmf.
  - discriminate.
  - apply NoDup_filter, allvec_nodup.
  - assert (/ (1 + exp eps0) ^ K * cmass K h <= 1 * mass (answers eps0 K true) (filter p (allvec K)) + - exp eps * mass (answers eps0 K false) (filter p (allvec K))) as Hm.
    { rewrite <- mass_lin, mass_filter, <- (mass_allvec true K h), <- mass_scale. apply mass_le. intros ys Hy.
      apply in_allvec in Hy. unfold p. pose proof (agree_le true ys) as Hle. rewrite Hy in Hle.
      assert (agree false ys = K - agree true ys)%nat as Hneg by (rewrite <- Hy; exact (agree_neg true ys)).
      assert (0 < / (1 + exp eps0) ^ K) as Hi by now apply Rinv_0_lt_compat.
      destruct (Rlt_dec 0 (h (agree true ys))) as [Hp|Hp].
      - rewrite !answers_in, Hneg by easy. specialize (H _ Hle Hp). unfold Rdiv. nra.
      - specialize (H0 _ Hle). assert (h (agree true ys) = 0) as -> by lra. lra. }
    assert (delta < / (1 + exp eps0) ^ K * cmass K h); [|lra].
    apply Rmult_lt_reg_l with ((1 + exp eps0) ^ K); [easy|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra.
Qed.

(** Powers of e^eps0, rounded; P bits. *)
Open Scope Z_scope.
Fixpoint pows_up (n : nat) (P x y : Z) : list Z := match n with O => [y] | S m => y :: pows_up m P x (Z.shiftr (x * y) P + 1) end.
Fixpoint pows_dn (n : nat) (P x y : Z) : list Z := match n with O => [y] | S m => y :: pows_dn m P x (Z.shiftr (x * y) P) end.
Fixpoint sum3 (P e : Z) (R A B : list Z) : Z :=
  match R, A, B with
  | r :: R', a :: A', b :: B' => let d := Z.shiftl a P - e * b in (if 0 <? d then r * d + sum3 P e R' A' B' else sum3 P e R' A' B')
  | _, _, _ => 0
  end.
(** The sum over j of C(K, j) max(0, e^(j eps0) - e^eps e^((K-j) eps0)), rounded up and down. *)
Definition answers_above (K : nat) (P lo up elo : Z) : Z :=
  sum3 P elo (row 1 1 K) (pows_up K P up (2 ^ P)) (rev (pows_dn K P lo (2 ^ P))).
Definition answers_below (K : nat) (P lo up eup : Z) : Z :=
  sum3 P eup (row 1 1 K) (pows_dn K P lo (2 ^ P)) (rev (pows_up K P up (2 ^ P))).

(** eps0 = a0/b0, eps = a/b, delta = n/d *)
Definition answers_check (K : nat) (a0 b0 a b n d P : Z) (r : nat) : bool :=
  let lo := exp_below r P a0 b0 in let up := exp_above r P a0 b0 in let elo := exp_below r P a b in
  ((0 <=? P) && is_ratio a0 b0 && (a0 <? b0 * 2 ^ Z.of_nat r) && is_ratio a b && is_ratio n d &&
   (0 <=? lo) && (0 <=? elo) &&
   (answers_above K P lo up elo * d <=? n * (last (pows_dn K P (2 ^ P + lo) (2 ^ P)) 0 * 2 ^ P)))%bool.
Definition answers_refutes (K : nat) (a0 b0 a b n d P : Z) (r : nat) : bool :=
  let lo := exp_below r P a0 b0 in let up := exp_above r P a0 b0 in let eup := exp_above r P a b in
  ((0 <=? P) && is_ratio a0 b0 && (a0 <? b0 * 2 ^ Z.of_nat r) && is_ratio a b && (a <? b * 2 ^ Z.of_nat r) &&
   is_ratio n d && (0 <=? lo) &&
   (n * (last (pows_up K P (2 ^ P + up) (2 ^ P)) 0 * 2 ^ P) <? answers_below K P lo up eup * d))%bool.
Close Scope Z_scope.

(** One entry a step *)
Lemma pows_up_len n P x : forall y, length (pows_up n P x y) = S n.
Proof. induction n; intros; simpl; auto. Qed.
(** One entry a step *)
Lemma pows_dn_len n P x : forall y, length (pows_dn n P x y) = S n.
Proof. induction n; intros; simpl; auto. Qed.

(** Each product rounds up *)
Lemma pows_up_ok P x u n : (0 <= P)%Z -> 0 < u -> u * IZR (2 ^ P) <= IZR x -> forall y i z, (0 <= y)%Z -> 0 <= z -> z * IZR (2 ^ P) <= IZR y -> (i <= n)%nat ->
  z * u ^ i * IZR (2 ^ P) <= IZR (nth i (pows_up n P x y) 0%Z).
Proof.
  intros HP Hu Hx. pose proof (IZR_pow2_pos P HP) as H2. set (p := IZR (2 ^ P)) in *.
  assert (0 <= x)%Z as Hx0 by (apply le_IZR; nra).
  induction n; intros y i z Hy Hz Hzy Hi.
  - assert (i = 0)%nat by lia; subst. simpl. lra.
  - destruct i; [simpl; lra|]. cbn [pows_up nth]. replace (z * u ^ S i) with ((z * u) * u ^ i) by (simpl; ring). apply IHn; try lia.
    + assert (0 <= Z.shiftr (x * y) P)%Z by (apply Z.shiftr_nonneg; nia). lia.
    + nra.
    + rewrite Z.shiftr_div_pow2 by easy. pose proof (div_up (x * y) (2 ^ P)) as Hd. specialize (Hd ltac:(apply Z.pow_pos_nonneg; lia)).
      rewrite mult_IZR in Hd. fold p in Hd. apply Rmult_le_reg_r with p; [easy|].
      assert ((u * p) * (z * p) <= IZR x * IZR y) by (apply Rmult_le_compat; nra). nra.
Qed.
(** Each product rounds down *)
Lemma pows_dn_ok P x u n : (0 <= P)%Z -> (0 <= x)%Z -> IZR x <= u * IZR (2 ^ P) -> forall y i z, (0 <= y)%Z -> 0 <= z -> IZR y <= z * IZR (2 ^ P) -> (i <= n)%nat ->
  0 <= IZR (nth i (pows_dn n P x y) 0%Z) <= z * u ^ i * IZR (2 ^ P).
Proof.
  intros HP Hx0 Hx. pose proof (IZR_pow2_pos P HP) as H2. set (p := IZR (2 ^ P)) in *. apply IZR_le in Hx0 as Hx1.
  assert (0 <= u) as Hu by nra.
  induction n; intros y i z Hy Hz Hzy Hi; apply IZR_le in Hy as Hy1.
  - assert (i = 0)%nat by lia; subst. simpl. lra.
  - destruct i; [simpl; lra|]. cbn [pows_dn nth]. replace (z * u ^ S i) with ((z * u) * u ^ i) by (simpl; ring). apply IHn; try lia.
    + apply Z.shiftr_nonneg; nia.
    + nra.
    + rewrite Z.shiftr_div_pow2 by easy. pose proof (div_le (x * y) (2 ^ P)) as Hd. specialize (Hd ltac:(apply Z.pow_pos_nonneg; lia)).
      rewrite mult_IZR in Hd. fold p in Hd. apply Rmult_le_reg_r with p; [easy|].
      assert (IZR x * IZR y <= (u * p) * (z * p)) by (apply Rmult_le_compat; nra). nra.
Qed.

(** Entry by entry *)
Lemma sum3_ok P e : (0 <= P)%Z -> forall W A B, length A = length W -> length B = length W ->
  mass (fun k => IZR (nth k W 0%Z) * positive_part (2 ^ P) e (nth k A 0%Z) (nth k B 0%Z)) (seq 0 (length W)) = IZR (sum3 P e W A B).
Proof.
  intros HP. induction W as [|r W IHW]; intros [|a A] [|b B] HA HB; try discriminate; [easy|].
  injection HA as HA. injection HB as HB. cbn [length seq mass sum3]. rewrite <- seq_shift, mass_map. cbn [nth]. rewrite IHW by easy.
  rewrite Z.shiftl_mul_pow2 by easy. unfold positive_part. rewrite (Z.mul_comm a).
  destruct (Z.ltb_spec 0 (2 ^ P * a - e * b)); [rewrite Z.max_r by lia; rewrite plus_IZR, mult_IZR; ring|rewrite Z.max_l by lia; ring].
Qed.

(** The last entry *)
Lemma last_up n P : forall x y, last (pows_up n P x y) 0%Z = nth n (pows_up n P x y) 0%Z.
Proof. induction n; intros; [easy|]. cbn [pows_up nth]. rewrite <- IHn. destruct n; reflexivity. Qed.
(** The last entry *)
Lemma last_dn n P : forall x y, last (pows_dn n P x y) 0%Z = nth n (pows_dn n P x y) 0%Z.
Proof. induction n; intros; [easy|]. cbn [pows_dn nth]. rewrite <- IHn. destruct n; reflexivity. Qed.

(** The sum over all numbers of answers is the one over the row of binomial coefficients. *)
Lemma row_sum K P e A B : (0 <= P)%Z -> length A = S K -> length B = S K ->
  cmass K (fun j => / (IZR (2 ^ P) * IZR (2 ^ P)) * positive_part (2 ^ P) e (nth j A 0%Z) (nth j B 0%Z))
  = / (IZR (2 ^ P) * IZR (2 ^ P)) * IZR (sum3 P e (row 1 1 K) A B).
Proof.
  intros HP HA HB. assert (length (row 1 1 K) = S K) as Hr by (apply row_length; lia).
  unfold cmass. rewrite <- sum3_ok, Hr by (rewrite ?Hr; auto). rewrite <- mass_scale. apply mass_ext.
  intros k Hk. apply in_seq in Hk. rewrite row_nth by lia. unfold weight. rewrite !Z.pow_1_l, !Z.mul_1_r by lia. ring.
Qed.

(** The excess rounded up, over the total rounded down *)
Theorem answers_are_dp K a0 b0 a b n d P r : answers_check K a0 b0 a b n d P r = true ->
  dp differ (repeated (randomized_response (IZR a0 / IZR b0)) K) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold answers_check. intros H. split_bool H.
  assert (0 <= P)%Z as HP by assumption. pose proof (IZR_pow2_pos P HP) as HPP.
  assert (IZR (exp_below r P a0 b0) <= exp (IZR a0 / IZR b0) * IZR (2 ^ P)) as Hlo by (apply exp_below_ok; eauto using ratio_top, ratio_bottom).
  assert (exp (IZR a0 / IZR b0) * IZR (2 ^ P) <= IZR (exp_above r P a0 b0)) as Hup by (apply exp_above_ok; eauto using ratio_top, ratio_bottom).
  assert (IZR (exp_below r P a b) <= exp (IZR a / IZR b) * IZR (2 ^ P)) as Helo by (apply exp_below_ok; eauto using ratio_top, ratio_bottom).
  set (lo := exp_below r P a0 b0) in *. set (up := exp_above r P a0 b0) in *. set (elo := exp_below r P a b) in *.
  set (u := exp (IZR a0 / IZR b0)) in *. pose proof (exp_pos (IZR a0 / IZR b0)) as Hu. fold u in Hu.
  set (e := exp (IZR a / IZR b)) in *. pose proof (exp_pos (IZR a / IZR b)) as He. fold e in He.
  apply answers_excess. fold u. fold e.
  set (A := pows_up K P up (2 ^ P)) in *. set (B := pows_dn K P lo (2 ^ P)) in *.
  assert (0 <= 2 ^ P)%Z as H2P by (apply Z.pow_nonneg; lia).
  assert (forall j, (j <= K)%nat -> u ^ j * IZR (2 ^ P) <= IZR (nth j A 0%Z)) as HA.
  { intros j Hj. pose proof (pows_up_ok P up u K HP Hu Hup (2 ^ P)%Z j 1 H2P ltac:(lra) ltac:(lra) Hj) as X. fold A in X. lra. }
  assert (forall j, (j <= K)%nat -> 0 <= IZR (nth j B 0%Z) <= u ^ j * IZR (2 ^ P)) as HB.
  { intros j Hj. pose proof (pows_dn_ok P lo u K HP ltac:(assumption) Hlo (2 ^ P)%Z j 1 H2P ltac:(lra) ltac:(lra) Hj) as X. fold B in X. lra. }
  assert (IZR (last (pows_dn K P (2 ^ P + lo) (2 ^ P)) 0%Z) <= (1 + u) ^ K * IZR (2 ^ P)) as HD.
  { rewrite last_dn.
    pose proof (pows_dn_ok P (2 ^ P + lo) (1 + u) K HP ltac:(lia) ltac:(rewrite plus_IZR; lra) (2 ^ P)%Z K 1 H2P ltac:(lra) ltac:(lra) ltac:(lia)) as X. lra. }
  apply Rle_trans with (cmass K (fun j => / (IZR (2 ^ P) * IZR (2 ^ P)) * positive_part (2 ^ P) elo (nth j A 0%Z) (nth j (rev B) 0%Z))).
  - apply cmass_le. intros j Hj. specialize (HA j Hj). destruct (HB (K - j)%nat ltac:(lia)) as [HB0 HB1].
    replace (nth j (rev B) 0%Z) with (nth (K - j) B 0%Z).
    2: { unfold B. rewrite rev_nth; rewrite pows_dn_len; [f_equal; lia|lia]. }
    unfold positive_part. set (bj := nth (K - j) B 0%Z) in *. set (aj := nth j A 0%Z) in *.
    apply Rmult_le_reg_l with (IZR (2 ^ P) * IZR (2 ^ P)); [nra|].
    replace (IZR (2 ^ P) * IZR (2 ^ P) * (/ (IZR (2 ^ P) * IZR (2 ^ P)) * IZR (Z.max 0 (2 ^ P * aj - elo * bj)))) with (IZR (Z.max 0 (2 ^ P * aj - elo * bj))) by (field; lra).
    assert (IZR (2 ^ P) * IZR aj - IZR elo * IZR bj <= IZR (Z.max 0 (2 ^ P * aj - elo * bj))) as Hmx by (rewrite <- !mult_IZR, <- minus_IZR; apply IZR_le; lia).
    assert (0 <= IZR (Z.max 0 (2 ^ P * aj - elo * bj))) by (apply IZR_le; lia).
    unfold Rmax. destruct (Rle_dec 0 (u ^ j - e * u ^ (K - j))); [|lra].
    assert (0 <= IZR elo) by (apply IZR_le; assumption).
    assert (IZR elo * IZR bj <= (e * IZR (2 ^ P)) * (u ^ (K - j) * IZR (2 ^ P))) by (apply Rmult_le_compat; lra).
    assert (u ^ j * IZR (2 ^ P) * IZR (2 ^ P) <= IZR aj * IZR (2 ^ P)) by (apply Rmult_le_compat_r; lra). nra.
  - rewrite row_sum; [|easy|apply pows_up_len|rewrite rev_length; apply pows_dn_len].
    change (sum3 P elo (row 1 1 K) A (rev B)) with (answers_above K P lo up elo).
    match goal with X : (answers_above _ _ _ _ _ * d <= _)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR in X; rename X into Hc end.
    assert (0 < IZR d) as Hd by (apply IZR_lt; eauto using ratio_bottom). assert (0 <= IZR n) as Hn by (apply IZR_le; eauto using ratio_top).
    set (D := IZR (last (pows_dn K P (2 ^ P + lo) (2 ^ P)) 0%Z)) in *. set (s := IZR (answers_above K P lo up elo)) in *. set (p := IZR (2 ^ P)) in *.
    apply Rmult_le_reg_r with (IZR d * (p * p)); [apply Rmult_lt_0_compat; [easy|]; now apply Rmult_lt_0_compat|].
    replace (/ (p * p) * s * (IZR d * (p * p))) with (s * IZR d) by (field; lra).
    replace (IZR n / IZR d * (1 + u) ^ K * (IZR d * (p * p))) with (IZR n * ((1 + u) ^ K * p) * p) by (field; lra).
    assert (IZR n * D <= IZR n * ((1 + u) ^ K * p)) as X by (apply Rmult_le_compat_l; lra).
    apply Rmult_le_compat_r with (r := p) in X; lra.
Qed.

(** The excess rounded down, over the total rounded up *)
Theorem answers_are_not_dp K a0 b0 a b n d P r : answers_refutes K a0 b0 a b n d P r = true ->
  not_dp differ (repeated (randomized_response (IZR a0 / IZR b0)) K) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold answers_refutes. intros H. split_bool H.
  assert (0 <= P)%Z as HP by assumption. pose proof (IZR_pow2_pos P HP) as HPP.
  assert (IZR (exp_below r P a0 b0) <= exp (IZR a0 / IZR b0) * IZR (2 ^ P)) as Hlo by (apply exp_below_ok; eauto using ratio_top, ratio_bottom).
  assert (exp (IZR a0 / IZR b0) * IZR (2 ^ P) <= IZR (exp_above r P a0 b0)) as Hup by (apply exp_above_ok; eauto using ratio_top, ratio_bottom).
  assert (exp (IZR a / IZR b) * IZR (2 ^ P) <= IZR (exp_above r P a b)) as Heup by (apply exp_above_ok; eauto using ratio_top, ratio_bottom).
  set (lo := exp_below r P a0 b0) in *. set (up := exp_above r P a0 b0) in *. set (eup := exp_above r P a b) in *.
  set (A := pows_dn K P lo (2 ^ P)) in *. set (B := pows_up K P up (2 ^ P)) in *.
  assert (0 <= 2 ^ P)%Z as H2P by (apply Z.pow_nonneg; lia).
  pose proof (exp_pos (IZR a0 / IZR b0)) as Hu. set (u := exp (IZR a0 / IZR b0)) in *.
  pose proof (exp_pos (IZR a / IZR b)) as He. set (e := exp (IZR a / IZR b)) in *.
  assert (forall j, (j <= K)%nat -> u ^ j * IZR (2 ^ P) <= IZR (nth j B 0%Z)) as HB.
  { intros j Hj. pose proof (pows_up_ok P up u K HP Hu Hup (2 ^ P)%Z j 1 H2P ltac:(lra) ltac:(lra) Hj) as X. fold B in X. lra. }
  assert (forall j, (j <= K)%nat -> 0 <= IZR (nth j A 0%Z) <= u ^ j * IZR (2 ^ P)) as HA.
  { intros j Hj. pose proof (pows_dn_ok P lo u K HP ltac:(assumption) Hlo (2 ^ P)%Z j 1 H2P ltac:(lra) ltac:(lra) Hj) as X. fold A in X. lra. }
  assert ((1 + u) ^ K * IZR (2 ^ P) <= IZR (last (pows_up K P (2 ^ P + up) (2 ^ P)) 0%Z)) as HD.
  { rewrite last_up.
    pose proof (pows_up_ok P (2 ^ P + up) (1 + u) K HP ltac:(lra) ltac:(rewrite plus_IZR; lra) (2 ^ P)%Z K 1 H2P ltac:(lra) ltac:(lra) ltac:(lia)) as X. lra. }
  set (p := IZR (2 ^ P)) in *.
  apply (answers_not_dp _ _ (fun j => / (p * p) * positive_part (2 ^ P) eup (nth j A 0%Z) (nth j (rev B) 0%Z))); fold u; fold e.
  - intros j _. apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; nra|apply IZR_le; lia].
  - intros j Hj Hpos. destruct (HA j Hj) as [HA0 HA1]. pose proof (HB (K - j)%nat ltac:(lia)) as HB1.
    replace (nth j (rev B) 0%Z) with (nth (K - j) B 0%Z) in *.
    2: { unfold B. rewrite rev_nth; rewrite pows_up_len; [f_equal; lia|lia]. }
    set (bj := nth (K - j) B 0%Z) in *. set (aj := nth j A 0%Z) in *.
    assert (0 < 2 ^ P * aj - eup * bj)%Z as Hz.
    { destruct (Z_lt_dec 0 (2 ^ P * aj - eup * bj)); [easy|]. unfold positive_part in Hpos. rewrite Z.max_l in Hpos by lia. lra. }
    unfold positive_part. rewrite Z.max_r by lia. rewrite minus_IZR, !mult_IZR. fold p.
    apply Rmult_le_reg_l with (p * p); [nra|].
    replace (p * p * (/ (p * p) * (p * IZR aj - IZR eup * IZR bj))) with (p * IZR aj - IZR eup * IZR bj) by (field; lra).
    assert (0 <= u ^ (K - j)) by (apply pow_le; lra).
    assert ((e * p) * (u ^ (K - j) * p) <= IZR eup * IZR bj) by (apply Rmult_le_compat; nra).
    assert (p * IZR aj <= p * (u ^ j * p)) by (apply Rmult_le_compat_l; lra). nra.
  - unfold p. rewrite row_sum; [|easy|apply pows_dn_len|rewrite rev_length; apply pows_up_len]. fold p.
    change (sum3 P eup (row 1 1 K) A (rev B)) with (answers_below K P lo up eup).
    match goal with X : (_ < answers_below _ _ _ _ _ * d)%Z |- _ => apply IZR_lt in X; rewrite !mult_IZR in X; fold p in X; rename X into Hc end.
    assert (0 < IZR d) as Hd by (apply IZR_lt; eauto using ratio_bottom). assert (0 <= IZR n) as Hn by (apply IZR_le; eauto using ratio_top).
    set (D := IZR (last (pows_up K P (2 ^ P + up) (2 ^ P)) 0%Z)) in *. set (s := IZR (answers_below K P lo up eup)) in *.
    apply Rmult_lt_reg_r with (IZR d * (p * p)); [apply Rmult_lt_0_compat; [easy|]; now apply Rmult_lt_0_compat|].
    replace (/ (p * p) * s * (IZR d * (p * p))) with (s * IZR d) by (field; lra).
    replace (IZR n / IZR d * (1 + u) ^ K * (IZR d * (p * p))) with (IZR n * ((1 + u) ^ K * p) * p) by (field; lra).
    assert (IZR n * ((1 + u) ^ K * p) <= IZR n * D) as X by (apply Rmult_le_compat_l; lra).
    apply Rmult_le_compat_r with (r := p) in X; lra.
Qed.

(** Pure: K answers cost K eps0, and the answer that is true K times costs no less. *)
Definition pure_answers_check (K : nat) (a0 b0 a b n d : Z) : bool :=
  (is_ratio a0 b0 && is_ratio a b && is_ratio n d && (Z.of_nat K * a0 * b <=? a * b0)%Z)%bool.
Definition pure_answers_refutes (K : nat) (a0 b0 a b : Z) : bool :=
  (is_ratio a0 b0 && is_ratio a b && (a * b0 <? Z.of_nat K * a0 * b)%Z)%bool.

(** Exponents add *)
Lemma exp_mult_pow x n : exp x ^ n = exp (INR n * x).
Proof. induction n; [simpl; rewrite Rmult_0_l; now rewrite exp_0|]. rewrite S_INR, <- tech_pow_Rmult, IHn, <- exp_plus. f_equal. lra. Qed.

(** Each answer's ratio is at most e^eps0 *)
Theorem pure_answers_dp K a0 b0 a b n d : pure_answers_check K a0 b0 a b n d = true ->
  dp differ (repeated (randomized_response (IZR a0 / IZR b0)) K) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold pure_answers_check. intros H. split_bool H.
  assert (0 <= IZR a0 / IZR b0) as H0' by now apply ratio_nonneg.
  assert (INR K * (IZR a0 / IZR b0) <= IZR a / IZR b) as Hk.
  { rewrite INR_IZR_INZ.
    assert (0 < IZR b0) by (apply IZR_lt; eauto using ratio_bottom). assert (0 < IZR b) by (apply IZR_lt; eauto using ratio_bottom).
    match goal with X : (_ <= a * b0)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR in X end.
    apply Rmult_le_reg_r with (IZR b0 * IZR b); [nra|].
    replace (IZR (Z.of_nat K) * (IZR a0 / IZR b0) * (IZR b0 * IZR b)) with (IZR (Z.of_nat K) * IZR a0 * IZR b) by (field; lra).
    replace (IZR a / IZR b * (IZR b0 * IZR b)) with (IZR a * IZR b0) by (field; lra). easy. }
  assert (0 <= IZR n / IZR d) by now apply ratio_nonneg.
  set (eps0 := IZR a0 / IZR b0) in *. set (eps := IZR a / IZR b) in *.
  split; [intros; apply answers_pmf|]. intros c c' Hc.
  apply dp_pair_weaken with (delta := 0); [|easy].
  apply dp_pair_pointwise; [intros; apply answers_nonneg|]. intros ys. fold (answers eps0).
  destruct (Nat.eq_dec (length ys) K) as [E|E]; [|rewrite !answers_out by easy; lra].
  rewrite !answers_in by easy. unfold Rdiv. rewrite <- Rmult_assoc.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, pow_lt; pose proof (exp_pos eps0); lra|].
  rewrite !exp_mult_pow, <- exp_plus. apply exp_le.
  assert (INR (agree c ys) <= INR K) by (apply le_INR; rewrite <- E; apply agree_le).
  pose proof (pos_INR (agree c' ys)). nra.
Qed.

(** The event of K true answers *)
Theorem pure_answers_not_dp K a0 b0 a b : pure_answers_refutes K a0 b0 a b = true ->
  not_dp differ (repeated (randomized_response (IZR a0 / IZR b0)) K) (IZR a / IZR b) (0 / 1).
Proof.
  unfold pure_answers_refutes. intros H. split_bool H.
  assert (IZR a / IZR b < INR K * (IZR a0 / IZR b0)) as Hk.
  { rewrite INR_IZR_INZ.
    assert (0 < IZR b0) by (apply IZR_lt; eauto using ratio_bottom). assert (0 < IZR b) by (apply IZR_lt; eauto using ratio_bottom).
    match goal with X : (a * b0 < _)%Z |- _ => apply IZR_lt in X; rewrite !mult_IZR in X end.
    apply Rmult_lt_reg_r with (IZR b0 * IZR b); [nra|].
    replace (IZR (Z.of_nat K) * (IZR a0 / IZR b0) * (IZR b0 * IZR b)) with (IZR (Z.of_nat K) * IZR a0 * IZR b) by (field; lra).
    replace (IZR a / IZR b * (IZR b0 * IZR b)) with (IZR a * IZR b0) by (field; lra). easy. }
  set (eps0 := IZR a0 / IZR b0) in *. set (eps := IZR a / IZR b) in *.
  apply not_dp_intro with (d := true) (d' := false) (l := [repeat true K]).
  - intros; apply answers_pmf.
  - discriminate.
  - repeat constructor; easy.
  - cbn [mass]. fold (answers eps0). pose proof (exp_pos eps0).
    assert (forall n, agree true (repeat true n) = n /\ agree false (repeat true n) = 0%nat) as Ha
      by (induction n; simpl; intuition congruence).
    rewrite !answers_in, (proj1 (Ha K)), (proj2 (Ha K)) by apply repeat_length.
    assert (0 < / (1 + exp eps0) ^ K) by (apply Rinv_0_lt_compat, pow_lt; lra).
    assert (exp eps < exp eps0 ^ K) by (rewrite exp_mult_pow; now apply exp_increasing).
    simpl pow. unfold Rdiv. replace (0 * / 1) with 0 by lra. nra.
Qed.
