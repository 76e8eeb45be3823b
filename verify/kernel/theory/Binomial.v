(** Binomial noise is a table: its weights come from one another, exactly, by division. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Weights Tables.
Import ListNotations.
Open Scope R_scope.

(** The weights C(N, k) u^k q^(N-k), k = 0 .. N, of success u/(u+q). *)
Fixpoint row_from (fuel : nat) (u q N k c : Z) : list Z :=
  match fuel with
  | O => []
  | S f => c :: row_from f u q N (k + 1) (c * ((N - k) * u) / ((k + 1) * q))%Z
  end.
Definition row (u q : Z) (N : nat) : list Z := row_from (S N) u q (Z.of_nat N) 0 (q ^ Z.of_nat N).

(** Pascal's triangle, and that it is C of the library. *)
Fixpoint choose (n k : nat) : Z :=
  match n, k with _, O => 1 | O, S _ => 0 | S n', S k' => (choose n' k' + choose n' k)%Z end.

(** Above the diagonal: zero *)
Lemma choose_out n : forall k, (n < k)%nat -> choose n k = 0%Z.
Proof. induction n; intros [|k] H; simpl; try lia. rewrite !IHn; lia. Qed.
(** n!/n! *)
Lemma C_n_0 n : C n 0 = 1.
Proof. unfold C. rewrite Nat.sub_0_r. simpl fact. simpl INR. field. apply INR_fact_neq_0. Qed.
(** n!/n! *)
Lemma C_n_n n : C n n = 1.
Proof. unfold C. rewrite Nat.sub_diag. simpl fact. simpl INR. field. apply INR_fact_neq_0. Qed.
(** Both satisfy Pascal's rule *)
Lemma choose_C n : forall k, (k <= n)%nat -> IZR (choose n k) = C n k.
Proof.
  induction n; intros [|k] H.
  - now rewrite C_n_0. - lia. - now rewrite C_n_0.
  - cbn [choose]. rewrite plus_IZR. destruct (Nat.eq_dec k n) as [->|].
    + rewrite IHn, C_n_n, C_n_n, (choose_out n (S n)) by lia. lra.
    + rewrite !IHn by lia. apply pascal. lia.
Qed.

(** C(n,k+1)/C(n,k) = (n-k)/(k+1) *)
Lemma choose_step n k : (k < n)%nat -> (choose n (S k) * (Z.of_nat k + 1) = choose n k * (Z.of_nat n - Z.of_nat k))%Z.
Proof.
  intros H. apply eq_IZR. rewrite !mult_IZR, plus_IZR, minus_IZR, <- !INR_IZR_INZ.
  rewrite !choose_C by lia. rewrite pascal_step3, minus_INR, S_INR by lia. field. pose proof (pos_INR k). lra.
Qed.

Section Row.
Variables (u q : Z) (N : nat).
Hypotheses (Hu : (0 < u)%Z) (Hq : (0 < q)%Z).
Definition weight (k : nat) : Z := (choose N k * u ^ Z.of_nat k * q ^ (Z.of_nat N - Z.of_nat k))%Z.

(** The division is exact: numerator and denominator differ by a weight *)
Lemma weight_step k : (k < N)%nat ->
  (weight k * ((Z.of_nat N - Z.of_nat k) * u) / ((Z.of_nat k + 1) * q) = weight (S k))%Z.
Proof.
  intros H. replace (weight k * ((Z.of_nat N - Z.of_nat k) * u))%Z with (weight (S k) * ((Z.of_nat k + 1) * q))%Z.
  { apply Z.div_mul. nia. }
  unfold weight. pose proof (choose_step N k H) as Hs. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia.
  replace (Z.of_nat N - Z.of_nat k)%Z with (Z.succ (Z.of_nat N - Z.succ (Z.of_nat k))) by lia.
  rewrite (Z.pow_succ_r q) by lia.
  replace (Z.succ (Z.of_nat N - Z.succ (Z.of_nat k))) with (Z.of_nat N - Z.of_nat k)%Z by lia.
  set (x := (u ^ Z.of_nat k)%Z). set (y := (q ^ (Z.of_nat N - Z.succ (Z.of_nat k)))%Z).
  transitivity (choose N (S k) * (Z.of_nat k + 1) * (u * x * y * q))%Z; [ring|]. rewrite Hs. ring.
Qed.

(** Each entry is the last times the ratio *)
Lemma row_from_ok fuel : forall k, (fuel + k <= S N)%nat -> forall i, (i < fuel)%nat ->
  nth i (row_from fuel u q (Z.of_nat N) (Z.of_nat k) (weight k)) 0%Z = weight (k + i).
Proof.
  induction fuel; intros k Hk i Hi; [lia|]. destruct i; [simpl; f_equal; lia|].
  cbn [row_from nth]. destruct fuel; [lia|]. rewrite weight_step by lia.
  replace (Z.of_nat k + 1)%Z with (Z.of_nat (S k)) by lia. rewrite IHfuel by lia. f_equal. lia.
Qed.
(** One entry a step *)
Lemma row_from_length fuel : forall n k c, length (row_from fuel u q n k c) = fuel.
Proof. induction fuel; intros; simpl; auto. Qed.
(** One entry a step *)
Lemma row_length : length (row u q N) = S N.
Proof. apply row_from_length. Qed.
(** By definition *)
Lemma choose_0 : choose N 0 = 1%Z.
Proof. destruct N; reflexivity. Qed.
(** The list is made of these weights *)
Lemma row_nth i : (i <= N)%nat -> nth i (row u q N) 0%Z = weight i.
Proof.
  intros H. pose proof (row_from_ok (S N) 0 ltac:(lia) i ltac:(lia)) as X.
  replace (weight 0) with (q ^ Z.of_nat N)%Z in X; [exact X|].
  unfold weight. rewrite choose_0, Z.pow_0_r, Z.sub_0_r. ring.
Qed.

Let p := IZR u / IZR (u + q).
(** p and 1-p are u and q over u+q *)
Lemma success : IZR (u + q) * p = IZR u /\ IZR (u + q) * (1 - p) = IZR q.
Proof.
  assert (0 < IZR (u + q)) by (apply IZR_lt; lia). unfold p. rewrite plus_IZR in *. split; field; lra.
Qed.
(** Powers of u and q over those of u+q *)
Lemma weight_real k : (k <= N)%nat ->
  IZR (weight k) = IZR (u + q) ^ N * (C N k * p ^ k * (1 - p) ^ (N - k)).
Proof.
  intros H. unfold weight. rewrite !mult_IZR, choose_C by easy.
  replace (Z.of_nat N - Z.of_nat k)%Z with (Z.of_nat (N - k)) by lia. rewrite <- !pow_IZR.
  destruct success as [<- <-]. rewrite !Rpow_mult_distr.
  replace (IZR (u + q) ^ N) with (IZR (u + q) ^ k * IZR (u + q) ^ (N - k)) by (rewrite <- pow_add; f_equal; lia). ring.
Qed.

(** Inside by weight_real, zero outside on both sides *)
Lemma entry_row k : IZR (entry (row u q N) k) = IZR (u + q) ^ N * binomial N p k.
Proof.
  unfold binomial. destruct (Z_le_dec 0 k) as [H0|H0]; [destruct (Z_le_dec k (Z.of_nat N)) as [H1|H1]|].
  - rewrite (proj2 (Z.leb_le 0 k) H0), (proj2 (Z.leb_le k _) H1). simpl andb. cbv iota.
    unfold entry. rewrite (proj2 (Z.ltb_ge k 0) H0), row_nth, weight_real by lia. reflexivity.
  - rewrite (proj2 (Z.leb_gt k _)) by lia. rewrite Bool.andb_false_r, entry_out by (rewrite row_length; lia). ring.
  - rewrite (proj2 (Z.leb_gt 0 k)) by lia. simpl andb. rewrite entry_out by lia. ring.
Qed.

(** The last of a range *)
Lemma zseq_snoc m : forall s, zseq s (S m) = zseq s m ++ [(s + Z.of_nat m)%Z].
Proof. induction m; intros s. simpl; do 2 f_equal; lia. cbn [zseq app] in *. f_equal. rewrite IHm. do 2 f_equal. lia. Qed.

(** The binomial theorem: the weights sum to (u + q)^N. *)
Lemma total_row : IZR (total (row u q N)) = IZR (u + q) ^ N.
Proof.
  rewrite <- (total_mass (row u q N) 0), row_length.
  rewrite (mass_ext _ (fun k => IZR (u + q) ^ N * binomial N p k)) by (intros; now rewrite Z.sub_0_r, entry_row).
  rewrite mass_scale.
  assert (forall n, (n <= N)%nat -> mass (binomial N p) (zseq 0 (S n)) = sum_f_R0 (fun i => C N i * p ^ i * (1 - p) ^ (N - i)) n) as H.
  { assert (forall n, (n <= N)%nat -> binomial N p (Z.of_nat n) = C N n * p ^ n * (1 - p) ^ (N - n)) as Hb.
    { intros n Hn. unfold binomial. rewrite (proj2 (Z.leb_le 0 _)), (proj2 (Z.leb_le _ (Z.of_nat N))), Nat2Z.id by lia. easy. }
    induction n; intros Hn.
    - cbn [zseq mass sum_f_R0]. rewrite <- (Hb 0%nat) by lia. simpl Z.of_nat. lra.
    - rewrite zseq_snoc, mass_app, IHn, tech5 by lia. cbn [mass]. rewrite Z.add_0_l, Hb by lia. lra. }
  rewrite H, <- Coq.Reals.Binomial.binomial by lia. replace (p + (1 - p)) with 1 by lra. rewrite pow1. ring.
Qed.

(** Both over the same total *)
Lemma row_law k : table (row u q N) k = binomial N p k.
Proof.
  unfold table. rewrite total_row, entry_row. field. apply pow_nonzero, not_0_IZR. lia.
Qed.
End Row.

(** Success u/v. *)
Definition is_success (u v : Z) : bool := ((0 <? u)%Z && (u <? v)%Z)%bool.
Definition binomial_check N u v Delta a b n d P r : bool :=
  (is_success u v && table_check (row u (v - u) N) Delta a b n d P r)%bool.
Definition binomial_refutes N u v Delta s a b n d P r : bool :=
  (is_success u v && table_refutes (row u (v - u) N) Delta s a b n d P r)%bool.

(** The table of v successes is that law *)
Lemma binomial_table N u v : is_success u v = true ->
  forall k, table (row u (v - u) N) k = binomial N (IZR u / IZR v) k.
Proof. unfold is_success. intros H k. split_bool H. rewrite row_law by lia. do 3 f_equal. lia. Qed.

(** The table is the law, and the check is the table's *)
Theorem binomial_dp N u v Delta a b n d P r : binomial_check N u v Delta a b n d P r = true ->
  noise_dp (binomial N (IZR u / IZR v)) Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold binomial_check. intros H. apply andb_prop in H as [H H'].
  eapply noise_dp_ext; [exact (binomial_table N u v H)|eapply table_dp; exact H'].
Qed.
(** The table is the law, and the check is the table's *)
Theorem binomial_not_dp N u v Delta s a b n d P r : binomial_refutes N u v Delta s a b n d P r = true ->
  noise_not_dp (binomial N (IZR u / IZR v)) Delta (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold binomial_refutes. intros H. apply andb_prop in H as [H H'].
  eapply noise_not_dp_ext; [exact (binomial_table N u v H)|eapply table_not_dp; exact H'].
Qed.
