(** Rational bounds on exp, by repeated squaring of whole numbers: P bits, n squarings. *)
From Coq Require Import Reals ZArith Lra Lia Psatz.
Open Scope R_scope.

Open Scope Z_scope.
Fixpoint square_down (n : nat) (P : Z) (x : Z) : Z :=
  match n with O => x | S n' => square_down n' P (Z.shiftr (x * x) P) end.
(** exp(a/b) >= (1 + a/(b 2^n))^(2^n), rounded down at each step; needs 0 <= a, 0 < b *)
Definition exp_below (n : nat) (P a b : Z) : Z :=
  square_down n P (2 ^ P + (a * 2 ^ P) / (b * 2 ^ Z.of_nat n)).
Fixpoint square_up (n : nat) (P : Z) (x : Z) : Z :=
  match n with O => x | S n' => square_up n' P (Z.shiftr (x * x) P + 1) end.
(** exp(a/b) <= (1 / (1 - a/(b 2^n)))^(2^n), rounded up *)
Definition exp_above (n : nat) (P a b : Z) : Z :=
  square_up n P (2 ^ P * (b * 2 ^ Z.of_nat n) / (b * 2 ^ Z.of_nat n - a) + 1).
Close Scope Z_scope.

(** exp rises *)
Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H|H]; [left; now apply exp_increasing|right; now rewrite H]. Qed.
(** ... and only there *)
Lemma exp_le_back x y : exp x <= exp y -> x <= y.
Proof. intros H. apply Rnot_lt_le. intros Hlt. apply exp_increasing in Hlt. lra. Qed.

(** Whole powers as real ones *)
Lemma IZR_pow2 P : (0 <= P)%Z -> IZR (2 ^ P) = 2 ^ Z.to_nat P.
Proof. intros H. rewrite <- (Z2Nat.id P) at 1 by easy. now rewrite <- pow_IZR. Qed.
(** Powers of two are positive *)
Lemma IZR_pow2_pos P : (0 <= P)%Z -> 0 < IZR (2 ^ P).
Proof. intros. apply IZR_lt. apply Z.pow_pos_nonneg; lia. Qed.

(** Division of whole numbers rounds down. *)
Lemma div_le a b : (0 < b)%Z -> IZR (a / b) * IZR b <= IZR a.
Proof. intros H. rewrite <- mult_IZR. apply IZR_le. rewrite Z.mul_comm. now apply Z.mul_div_le. Qed.
(** ... by less than one *)
Lemma div_up a b : (0 < b)%Z -> IZR a <= IZR (a / b + 1) * IZR b.
Proof. intros H. rewrite <- mult_IZR. apply IZR_le. pose proof (Z.div_mod a b). pose proof (Z.mod_pos_bound a b H). nia. Qed.

(** Exponents add *)
Lemma exp_half x n : exp (x / 2 ^ n) = exp (x / 2 ^ S n) * exp (x / 2 ^ S n).
Proof. rewrite <- exp_plus. f_equal. simpl. field. apply pow_nonzero. lra. Qed.

(** Each squaring rounds down *)
Lemma square_down_ok P x n : (0 <= P)%Z -> forall y, (0 <= y)%Z ->
  IZR y <= exp (x / 2 ^ n) * IZR (2 ^ P) -> IZR (square_down n P y) <= exp x * IZR (2 ^ P).
Proof.
  intros HP. pose proof (IZR_pow2_pos P HP) as H2. induction n; intros y Hy H.
  - simpl in *. now rewrite Rdiv_1 in H || (replace (x / 1) with x in H by field).
  - cbn [square_down]. apply IHn.
    + apply Z.shiftr_nonneg. nia.
    + rewrite Z.shiftr_div_pow2 by easy. rewrite exp_half.
      pose proof (div_le (y * y) (2 ^ P)) as Hd. specialize (Hd ltac:(apply Z.pow_pos_nonneg; lia)).
      rewrite mult_IZR in Hd. apply IZR_le in Hy.
      set (e := exp (x / 2 ^ S n)) in *. set (p := IZR (2 ^ P)) in *. set (z := IZR y) in *.
      assert (z * z <= (e * p) * (e * p)) by (apply Rmult_le_compat; lra).
      apply Rmult_le_reg_r with p; [easy|]. nra.
Qed.

(** Each squaring rounds up *)
Lemma square_up_ok P x n : (0 <= P)%Z -> forall y, (0 <= y)%Z ->
  exp (x / 2 ^ n) * IZR (2 ^ P) <= IZR y -> exp x * IZR (2 ^ P) <= IZR (square_up n P y).
Proof.
  intros HP. pose proof (IZR_pow2_pos P HP) as H2. induction n; intros y Hy H.
  - simpl in *. now replace (x / 1) with x in H by field.
  - cbn [square_up]. apply IHn.
    + assert (0 <= Z.shiftr (y * y) P)%Z by (apply Z.shiftr_nonneg; nia). lia.
    + rewrite Z.shiftr_div_pow2 by easy. rewrite exp_half.
      pose proof (div_up (y * y) (2 ^ P)) as Hd. specialize (Hd ltac:(apply Z.pow_pos_nonneg; lia)).
      rewrite mult_IZR in Hd.
      pose proof (exp_pos (x / 2 ^ S n)) as He.
      set (e := exp (x / 2 ^ S n)) in *. set (p := IZR (2 ^ P)) in *. set (z := IZR y) in *.
      assert ((e * p) * (e * p) <= z * z) by (apply Rmult_le_compat; nra).
      apply Rmult_le_reg_r with p; [easy|]. nra.
Qed.

(** 1 + x <= e^x, to the power 2^n *)
Lemma exp_below_ok n P a b : (0 <= P)%Z -> (0 <= a)%Z -> (0 < b)%Z ->
  IZR (exp_below n P a b) <= exp (IZR a / IZR b) * IZR (2 ^ P).
Proof.
  intros HP Ha Hb. unfold exp_below.
  assert (0 < b * 2 ^ Z.of_nat n)%Z as Hbn by (apply Z.mul_pos_pos; [easy|apply Z.pow_pos_nonneg; lia]).
  assert (0 < 2 ^ P)%Z as HPP by (apply Z.pow_pos_nonneg; lia).
  apply square_down_ok; auto.
  - assert (0 <= a * 2 ^ P / (b * 2 ^ Z.of_nat n))%Z by (apply Z.div_pos; nia). lia.
  - rewrite plus_IZR.
    pose proof (div_le (a * 2 ^ P) _ Hbn) as Hd. rewrite !mult_IZR in Hd.
    rewrite (IZR_pow2 (Z.of_nat n)), Nat2Z.id in Hd by lia.
    pose proof (exp_ineq1_le (IZR a / IZR b / 2 ^ n)) as He.
    apply IZR_lt in Hb, HPP. assert (0 < 2 ^ n) by (apply pow_lt; lra).
    set (d := IZR (a * 2 ^ P / (b * 2 ^ Z.of_nat n))) in *.
    set (p := IZR (2 ^ P)) in *.
    assert (d <= IZR a / IZR b / 2 ^ n * p).
    { apply Rmult_le_reg_r with (IZR b * 2 ^ n). apply Rmult_lt_0_compat; lra.
      replace (IZR a / IZR b / 2 ^ n * p * (IZR b * 2 ^ n)) with (IZR a * p) by (field; lra). lra. }
    nra.
Qed.

(** 1 - x <= e^(-x), inverted, to the power 2^n *)
Lemma exp_above_ok n P a b : (0 <= P)%Z -> (0 <= a)%Z -> (0 < b)%Z -> (a < b * 2 ^ Z.of_nat n)%Z ->
  exp (IZR a / IZR b) * IZR (2 ^ P) <= IZR (exp_above n P a b).
Proof.
  intros HP Ha Hb Han. unfold exp_above.
  assert (0 < 2 ^ P)%Z as HPP by (apply Z.pow_pos_nonneg; lia).
  set (m := (b * 2 ^ Z.of_nat n)%Z) in *. assert (0 < m - a)%Z as Hm by lia. assert (0 < m)%Z as Hm0 by lia.
  apply square_up_ok; auto.
  - assert (0 <= 2 ^ P * m / (m - a))%Z by (apply Z.div_pos; nia). lia.
  - pose proof (div_up (2 ^ P * m) _ Hm) as Hd. rewrite mult_IZR, minus_IZR in Hd.
    assert (IZR a / IZR b / 2 ^ n = IZR a / IZR m) as Hx.
    { unfold m. rewrite mult_IZR, (IZR_pow2 (Z.of_nat n)), Nat2Z.id by lia. field. split.
      apply pow_nonzero; lra. apply IZR_lt in Hb. lra. }
    rewrite Hx. set (x := IZR a / IZR m) in *.
    pose proof (exp_ineq1_le (- x)) as He. pose proof (exp_pos x) as Hp. pose proof (exp_pos (-x)).
    assert (exp x * exp (- x) = 1) as H1 by (rewrite <- exp_plus; replace (x + - x) with 0 by lra; apply exp_0).
    apply IZR_lt in Hm, Hm0, HPP. rewrite minus_IZR in Hm.
    set (p := IZR (2 ^ P)) in *. set (u := IZR (2 ^ P * m / (m - a) + 1)) in *.
    assert (IZR m - IZR a = IZR m * (1 - x)) as Hma by (unfold x; field; lra).
    rewrite Hma in Hd, Hm. assert (0 < 1 - x) by nra.
    assert (p <= u * (1 - x)) by nra.
    assert (exp x * (1 - x) <= 1) by nra.
    apply Rmult_le_reg_r with (1 - x); [easy|]. nra.
Qed.
