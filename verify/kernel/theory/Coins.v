(** Numbers below a bound from fair bits, coins of probability p and e^(-gamma): Canonne, Kamath, Steinke (2020),
    Algorithm 1, as [coins.py] draws them. *)
From Coq Require Import Reals List ZArith Lra Lia.
From ExactDP Require Import Definitions Mass Weights Tables Programs.
Import ListNotations.
Open Scope R_scope.

(** ** Draws that are begun anew until one is accepted *)
Definition until {A : Type} (p : prog A) (accept : A -> prog bool) : prog A :=
  While (fun _ : unit => Bind p (fun a => Bind (accept a) (fun b => Ret (if b then inr a else inl tt)))) tt.
Definition coin_of (q : prog bool) (c : R) : Prop := 0 <= c <= 1 /\ at_least q true c /\ at_least q false (1 - c).
(** Powers fall below everything *)
Lemma pow_small a c e : 0 <= a < 1 -> 0 < e -> exists n, c * a ^ n <= e.
Proof.
  intros Ha He. destruct (pow_lt_1_zero a ltac:(rewrite Rabs_right; lra) (e / (1 + Rabs c))) as [n Hn].
  - apply Rdiv_lt_0_compat; [easy|]. pose proof (Rabs_pos c). lra.
  - exists n. specialize (Hn n (le_n n)). pose proof (Rabs_pos c). pose proof (Rle_abs c).
    assert (0 <= a ^ n) by (apply pow_le; lra). rewrite Rabs_right in Hn by lra.
    apply Rle_trans with (Rabs c * a ^ n); [nra|]. apply Rmult_lt_compat_l with (r := 1 + Rabs c) in Hn; [|lra].
    replace ((1 + Rabs c) * (e / (1 + Rabs c))) with e in Hn by (field; lra). nra.
Qed.
(** What is accepted has its proportions: a geometric series of refusals *)
Theorem until_at_least {A : Type} (p : prog A) accept (f c : A -> R) M : draws p f ->
  (forall a, 0 < f a -> coin_of (accept a) (c a)) -> 0 < M <= 1 ->
  (forall L, NoDup L -> mass (fun a => f a * c a) L <= M) -> forall a, at_least (until p accept) a (f a * c a / M).
Proof.
  intros [Hfull Hp] Hc HM Hmass a. destruct (Hp a) as [Hf Hpa].
  destruct (Rle_lt_or_eq_dec _ _ Hf) as [Hpos|<-].
  2:{ apply at_least_0. unfold Rdiv. lra. }
  destruct (Hc a Hpos) as (Hca & Htrue & _). set (x := f a * c a). assert (0 <= x) as Hx by (unfold x; nra).
  unfold until. set (body := fun _ : unit => _).
  assert (at_least (body tt) (inr a) x) as Hin.
  { apply then_at_least with (a := a); try easy. apply (map_at_least _ (fun b : bool => if b then inr a else inl tt) true); easy. }
  assert (at_least (body tt) (inl tt) (1 - M)) as Hout.
  { apply at_least_limit. intros e He. destruct (Hfull e He) as (L & HL & Hm).
    apply at_least_le with (r := mass (fun a => f a * (1 - c a)) L).
    - apply bind_at_least with (s := fun a => 1 - c a); auto. intros b _. split; [apply Hp|]. intros Hb.
      destruct (Hc b Hb) as (Hcb & _ & Hfalse). split; [lra|]. split; [apply Hp|].
      apply (map_at_least _ (fun b' : bool => if b' then inr b else inl tt) false); [lra|easy].
    - rewrite (mass_ext _ (fun a => 1 * f a + - (1) * (f a * c a))) by (intros; lra). rewrite mass_lin.
      specialize (Hmass L HL). lra. }
  assert (forall n, 0 <= (1 - M) ^ n <= 1) as Hpow.
  { induction n; simpl; [lra|]. split; [apply Rmult_le_pos; lra|nra]. }
  assert (0 <= x / M) as HxM by (apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat; lra]).
  assert (forall n, at_least (While body tt) a (x / M * (1 - (1 - M) ^ n))) as Hn.
  { induction n as [|n IH]; [apply at_least_0; simpl; lra|]. apply while_at_least.
    replace (x / M * (1 - (1 - M) ^ S n)) with (mass (fun o : unit + A =>
      match o with inl _ => 1 - M | inr _ => x end * match o with inl _ => x / M * (1 - (1 - M) ^ n) | inr _ => 1 end)
      [inl tt; inr a]) by (simpl; field; lra).
    apply bind_at_least; [repeat constructor; [intros [E|[]]; discriminate|easy]|].
    intros o [<-|[<-|[]]].
    - split; [lra|]. intros _. specialize (Hpow n). split; [apply Rmult_le_pos; lra|]. split; [exact Hout|exact IH].
    - split; [easy|]. intros _. split; [lra|]. split; [exact Hin|apply ret_at_least]. }
  apply at_least_limit. intros e He. destruct (pow_small (1 - M) (x / M) e ltac:(lra) He) as [n Hsmall].
  apply at_least_le with (1 := Hn n). lra.
Qed.
(** A total that is a number is approached *)
Lemma pmf_full {T} (f : T -> R) : pmf f -> full f.
Proof.
  intros [_ [_ H]] e He. destruct (Classical_Prop.classic (exists L, NoDup L /\ 1 - e <= mass f L)) as [X|X]; [easy|exfalso].
  assert (1 <= 1 - e); [|lra]. apply H. intros r (l & Hl & _ & ->). apply Rnot_lt_le. intros Hlt. apply X. exists l. split; [easy|lra].
Qed.

(** ** Numbers below a bound *)
Fixpoint bits (n : nat) : prog Z :=
  match n with O => Ret 0%Z | S m => Bind Flip (fun b => Bind (bits m) (fun x => Ret (Z.b2z b + 2 * x)%Z)) end.
Definition below (n : Z) : prog Z := until (bits (Z.to_nat (Z.log2_up n))) (fun x => Ret (x <? n)%Z).
Definition uniform (n x : Z) : R := if ((0 <=? x) && (x <? n))%Z%bool then / IZR n else 0.

(** A sum of equal terms *)
Lemma mass_const {T} c (l : list T) : mass (fun _ => c) l = INR (length l) * c.
Proof. induction l as [|a l IH]; [simpl; lra|]. cbn [mass length]. rewrite IH, S_INR. lra. Qed.
(** So many members *)
Lemma length_zseq n : forall s, length (zseq s n) = n.
Proof. induction n; intros s; simpl; congruence. Qed.
(** Inside it is 1/n *)
Lemma uniform_in n x : (0 <= x < n)%Z -> uniform n x = / IZR n.
Proof. intros H. unfold uniform. rewrite (proj2 (Z.leb_le _ _)), (proj2 (Z.ltb_lt _ _)) by lia. easy. Qed.
(** Not negative *)
Lemma uniform_pos n x : 0 <= uniform n x.
Proof.
  unfold uniform. destruct (Z.leb_spec 0 x), (Z.ltb_spec x n); cbn; try lra.
  left. apply Rinv_0_lt_compat, IZR_lt. lia.
Qed.
(** ... and 0 outside *)
Lemma uniform_support n x : 0 < uniform n x -> (0 <= x < n)%Z.
Proof. unfold uniform. destruct (Z.leb_spec 0 x), (Z.ltb_spec x n); cbn; try lra. easy. Qed.
(** n times 1/n *)
Lemma uniform_part n s m : (0 <= s)%Z -> (s + Z.of_nat m <= n)%Z -> (0 < n)%Z -> mass (uniform n) (zseq s m) = INR m * / IZR n.
Proof.
  intros Hs Hm Hn. rewrite (mass_ext _ (fun _ => / IZR n)).
  - now rewrite mass_const, length_zseq.
  - intros x Hx. apply in_zseq in Hx. apply uniform_in. lia.
Qed.
(** Its total *)
Lemma uniform_full n : (0 < n)%Z -> full (uniform n).
Proof.
  intros Hn e He. exists (zseq 0 (Z.to_nat n)). split; [apply zseq_nodup|].
  rewrite uniform_part by lia. rewrite INR_IZR_INZ, Z2Nat.id by lia. assert (0 < IZR n) by now apply IZR_lt.
  rewrite Rinv_r by lra. lra.
Qed.
(** Each of 2^n numbers by its binary digits *)
Lemma bits_draw n : draws (bits n) (uniform (2 ^ Z.of_nat n)).
Proof.
  split; [apply uniform_full, Z.pow_pos_nonneg; lia|]. intros x. split; [apply uniform_pos|].
  destruct (Rle_lt_dec (uniform (2 ^ Z.of_nat n) x) 0) as [H|H]; [now apply at_least_0|].
  apply uniform_support in H. rewrite uniform_in by easy. revert x H. induction n as [|n IH]; intros x Hx.
  - replace x with 0%Z by (simpl in Hx; lia). simpl. rewrite Rinv_1. apply ret_at_least.
  - replace (/ IZR (2 ^ Z.of_nat (S n))) with (/ 2 * / IZR (2 ^ Z.of_nat n)).
    2:{ rewrite Nat2Z.inj_succ, Z.pow_succ_r, mult_IZR, Rinv_mult by lia. easy. }
    assert (0 < 2 ^ Z.of_nat n)%Z as H2 by (apply Z.pow_pos_nonneg; lia). pose proof (Z.div2_odd x) as E.
    assert (0 <= Z.div2 x < 2 ^ Z.of_nat n)%Z as Hy.
    { rewrite Nat2Z.inj_succ, Z.pow_succ_r in Hx by lia.
      assert (0 <= Z.b2z (Z.odd x) <= 1)%Z by (destruct (Z.odd x); simpl; lia). lia. }
    cbn [bits]. apply IZR_lt in H2. pose proof (Rinv_0_lt_compat _ H2).
    apply then_at_least with (a := Z.odd x); [lra|lra|apply flip_at_least|].
    pose proof (map_at_least (bits n) (fun y => Z.b2z (Z.odd x) + 2 * y)%Z _ _ (Rlt_le _ _ H) (IH _ Hy)) as X.
    cbv beta in X. replace (Z.b2z (Z.odd x) + 2 * Z.div2 x)%Z with x in X by lia. exact X.
Qed.
(** A decision *)
Lemma ret_coin (b : bool) : coin_of (Ret b) (if b then 1 else 0).
Proof. destruct b; repeat split; try lra; try (apply at_least_0; lra); [|rewrite Rminus_0_r]; apply ret_at_least. Qed.
(** The bound is above half of the power of two *)
Theorem below_draws n : (0 < n)%Z -> draws (below n) (uniform n).
Proof.
  intros Hn. split; [now apply uniform_full|]. intros x. split; [apply uniform_pos|].
  set (k := Z.to_nat (Z.log2_up n)). assert (n <= 2 ^ Z.of_nat k)%Z as Hk.
  { unfold k. rewrite Z2Nat.id by apply Z.log2_up_nonneg. destruct (Z.eq_dec n 1) as [->|]; [easy|]. apply Z.log2_up_spec. lia. }
  set (m := (2 ^ Z.of_nat k)%Z) in *. assert (0 < IZR n) as H0 by now apply IZR_lt. pose proof (IZR_le _ _ Hk) as H1.
  set (c := fun x : Z => if (x <? n)%Z then 1 else 0).
  assert (forall y, uniform m y * c y = IZR n / IZR m * uniform n y) as E.
  { intros y. unfold uniform, c. destruct (Z.leb_spec 0 y), (Z.ltb_spec y m), (Z.ltb_spec y n); cbn; try lia; try (field; lra); lra. }
  assert (uniform n x = uniform m x * c x / (IZR n / IZR m)) as -> by (rewrite E; field; lra).
  apply until_at_least; [exact (bits_draw k)|intros; apply ret_coin| |].
  - split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_le_reg_r with (IZR m); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - intros L HL. rewrite (mass_ext _ (fun y => IZR n / IZR m * uniform n y)) by (intros; apply E). rewrite mass_scale.
    assert (mass (uniform n) L <= 1).
    { apply Rle_trans with (mass (uniform n) (zseq 0 (Z.to_nat n))).
      - apply mass_cover; auto using uniform_pos. intros y _. destruct (Rle_lt_dec (uniform n y) 0) as [H|H].
        + right. pose proof (uniform_pos n y). lra.
        + left. apply uniform_support in H. apply in_zseq. lia.
      - rewrite uniform_part by lia. rewrite INR_IZR_INZ, Z2Nat.id by lia. rewrite Rinv_r; lra. }
    assert (0 < IZR n / IZR m) by (apply Rdiv_lt_0_compat; lra). nra.
Qed.

(** ** Coins *)
Definition coin (r n : Z) : prog bool := Bind (below n) (fun x => Ret (x <? r)%Z).
(** r of n equal chances *)
Theorem coin_chance r n : (0 <= r <= n)%Z -> (0 < n)%Z -> coin_of (coin r n) (IZR r / IZR n).
Proof.
  intros Hr Hn. destruct (below_draws n Hn) as [_ H]. assert (0 < IZR n) by now apply IZR_lt.
  assert (0 <= IZR r <= IZR n) by (split; apply IZR_le; lia).
  assert (forall b s m, (0 <= s)%Z -> (s + Z.of_nat m <= n)%Z -> (forall x, (s <= x < s + Z.of_nat m)%Z -> (x <? r)%Z = b) ->
    at_least (coin r n) b (INR m * / IZR n)) as X.
  { intros b s m Hs Hm Hb. rewrite <- (uniform_part n s m) by lia.
    rewrite (mass_ext _ (fun x => uniform n x * 1)) by (intros; lra). apply bind_at_least; [apply zseq_nodup|].
    intros x Hx. apply in_zseq in Hx. split; [apply H|]. intros _. split; [lra|]. split; [apply H|].
    rewrite Hb by lia. apply ret_at_least. }
  split; [|split].
  - split; [apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]|].
    apply Rmult_le_reg_r with (IZR n); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - replace (IZR r / IZR n) with (INR (Z.to_nat r) * / IZR n) by (rewrite INR_IZR_INZ, Z2Nat.id by lia; easy).
    apply X with (s := 0%Z); try lia; intros; apply Z.ltb_lt; lia.
  - replace (1 - IZR r / IZR n) with (INR (Z.to_nat (n - r)) * / IZR n) by (rewrite INR_IZR_INZ, Z2Nat.id, minus_IZR by lia; field; lra).
    apply X with (s := r); try lia; intros; apply Z.ltb_ge; lia.
Qed.
(** Both come up true *)
Lemma both_coins p q c c' : coin_of p c -> coin_of q c' -> coin_of (Bind p (fun b => if b then q else Ret false)) (c * c').
Proof.
  intros (Hc & Ht & Hf) (Hc' & Ht' & Hf'). split; [split; nra|]. split; [apply then_at_least with (a := true); tauto|].
  replace (1 - c * c') with (mass (fun b : bool => (if b then c else 1 - c) * (if b then 1 - c' else 1)) [true; false]) by (simpl; lra).
  apply bind_at_least; [repeat constructor; [intros [E|[]]; discriminate|easy]|].
  intros b [<-|[<-|[]]]; (split; [lra|intros _; split; [lra|split; [easy|]]]); [easy|apply ret_at_least].
Qed.

(** The first k at which a coin of probability r/(k d) fails: is it odd? *)
Definition first_failure (d r k : Z) : prog bool :=
  While (fun k => Bind (coin r (k * d)) (fun b => Ret (if b then inl (k + 1)%Z else inr (Z.odd k)))) k.
Fixpoint ones (n : nat) : prog bool :=
  match n with O => Ret true | S m => Bind (first_failure 1 1 2) (fun b => if b then ones m else Ret false) end.
Definition coin_exp (n d : Z) : prog bool :=
  Bind (ones (Z.to_nat (n / d))) (fun b => if b then first_failure d (n mod d) 1 else Ret false).

Section Failure.
Variables (d r : Z).
Hypotheses (Hd : (0 < d)%Z) (Hr : (0 <= r <= d)%Z).
Let g : R := IZR r / IZR d.
Let a (i : nat) : R := g ^ i / INR (fact i).
Let is (o : bool) (i : nat) : R := if Bool.eqb (Nat.odd (S i)) o then 1 else 0.
Fixpoint found (o : bool) (n j : nat) : R :=
  match n with O => 0 | S m => g / INR (S j) * found o m (S j) + (1 - g / INR (S j)) * is o j end.
Fixpoint telescope (o : bool) (n j : nat) : R := match n with O => 0 | S m => (a j - a (S j)) * is o j + telescope o m (S j) end.
Fixpoint alternating (n j : nat) : R := match n with O => 0 | S m => (-1) ^ j * a j + alternating m (S j) end.

(** A quotient of at most 1 *)
Lemma rate : 0 <= g <= 1.
Proof.
  assert (0 < IZR d) by now apply IZR_lt. assert (0 <= IZR r <= IZR d) by (split; apply IZR_le; lia). unfold g. split.
  - apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat].
  - apply Rmult_le_reg_r with (IZR d); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.
(** A smaller one *)
Lemma rate_at j : 0 <= g / INR (S j) <= 1.
Proof.
  pose proof rate. assert (1 <= INR (S j)) by (rewrite S_INR; pose proof (pos_INR j); lra). split.
  - apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra].
  - apply Rmult_le_reg_r with (INR (S j)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.
(** Term by term *)
Lemma found_pos o n : forall j, 0 <= found o n j.
Proof.
  induction n as [|n IH]; intros j; cbn [found]; [lra|]. pose proof (rate_at j). specialize (IH (S j)).
  assert (0 <= is o j) by (unfold is; destruct (Bool.eqb _ _); lra). nra.
Qed.
(** Within so many turns *)
Lemma failure_found o n : forall j, at_least (first_failure d r (Z.of_nat (S j))) o (found o n j).
Proof.
  induction n as [|n IH]; intros j; [apply at_least_0; simpl; lra|]. pose proof (rate_at j) as Hg.
  unfold first_failure. apply while_at_least.
  destruct (coin_chance r (Z.of_nat (S j) * d) ltac:(nia) ltac:(nia)) as (_ & Ht & Hf).
  assert (IZR r / IZR (Z.of_nat (S j) * d) = g / INR (S j)) as E.
  { rewrite mult_IZR, <- INR_IZR_INZ. unfold g. field. split; first [apply not_0_INR; lia|apply not_0_IZR; lia]. }
  rewrite E in Ht, Hf.
  replace (found o (S n) j) with (mass (fun c : Z + bool => match c with inl _ => g / INR (S j) | inr _ => 1 - g / INR (S j) end *
    match c with inl _ => found o n (S j) | inr _ => is o j end) [inl (Z.of_nat (S j) + 1)%Z; inr (Z.odd (Z.of_nat (S j)))]) by (cbn [mass found]; lra).
  apply bind_at_least; [repeat constructor; [intros [X|[]]; discriminate|easy]|].
  intros c [<-|[<-|[]]]; (split; [lra|intros _]).
  - split; [apply found_pos|]. split.
    + apply (map_at_least _ (fun b : bool => if b then inl (Z.of_nat (S j) + 1)%Z else inr (Z.odd (Z.of_nat (S j)))) true); [lra|easy].
    + replace (Z.of_nat (S j) + 1)%Z with (Z.of_nat (S (S j))) by lia. apply IH.
  - split; [unfold is; destruct (Bool.eqb _ _); lra|]. split.
    + apply (map_at_least _ (fun b : bool => if b then inl (Z.of_nat (S j) + 1)%Z else inr (Z.odd (Z.of_nat (S j)))) false); [lra|easy].
    + assert (Z.odd (Z.of_nat (S j)) = Nat.odd (S j)) as ->.
      { apply Bool.eq_true_iff_eq. rewrite Z.odd_spec, Nat.odd_spec. split; intros [m Hm]; [exists (Z.to_nat m)|exists (Z.of_nat m)]; lia. }
      unfold is. destruct (Bool.eqb_spec (Nat.odd (S j)) o) as [->|]; [apply ret_at_least|apply at_least_0; lra].
Qed.
(** The next term *)
Lemma a_next j : a (S j) = a j * (g / INR (S j)).
Proof.
  unfold a. replace (fact (S j)) with (S j * fact j)%nat by reflexivity. rewrite mult_INR. simpl pow. field.
  split; first [apply INR_fact_neq_0|apply not_0_INR; lia].
Qed.
(** With the factor that leads there *)
Lemma found_telescope o n : forall j, a j * found o n j = telescope o n j.
Proof.
  induction n as [|n IH]; intros j; cbn [found telescope]; [lra|]. rewrite <- IH, a_next.
  set (q := found o n (S j)). set (h := g / INR (S j)). lra.
Qed.
(** Odd and even together *)
Lemma telescope_sum n : forall j, telescope true n j + telescope false n j = a j - a (j + n)%nat.
Proof.
  induction n as [|n IH]; intros j; cbn [telescope]; [rewrite Nat.add_0_r; lra|]. specialize (IH (S j)).
  replace (j + S n)%nat with (S j + n)%nat by lia. assert (is true j + is false j = 1); [|nra].
  unfold is. destruct (Nat.odd (S j)); simpl; lra.
Qed.
(** Odd ones alone *)
Lemma telescope_odd m : forall l, telescope true (2 * m) (2 * l) = alternating (2 * m) (2 * l).
Proof.
  induction m as [|m IH]; intros l; [easy|]. replace (2 * S m)%nat with (S (S (2 * m))) by lia. cbn [telescope alternating].
  replace (S (S (2 * l))) with (2 * S l)%nat by lia. rewrite IH.
  assert (is true (2 * l) = 1 /\ is true (S (2 * l)) = 0) as [-> ->].
  { unfold is. replace (S (S (2 * l))) with (2 * S l)%nat by lia. rewrite Nat.odd_succ, Nat.even_mul, Nat.odd_mul. easy. }
  assert ((-1) ^ (S (2 * l)) = -1 /\ (-1) ^ (2 * l) = 1) as [-> ->] by (split; [apply pow_1_odd|apply pow_1_even]). lra.
Qed.
(** From the other end *)
Lemma alternating_last n : forall j, alternating (S n) j = alternating n j + (-1) ^ (j + n) * a (j + n)%nat.
Proof.
  induction n as [|n IH]; intros j; [cbn [alternating]; rewrite Nat.add_0_r; lra|].
  change (alternating (S (S n)) j) with ((-1) ^ j * a j + alternating (S n) (S j)). rewrite IH. cbn [alternating].
  replace (j + S n)%nat with (S j + n)%nat by lia. lra.
Qed.
(** The series of exp *)
Lemma alternating_exp n : alternating (S n) 0 = sum_f_R0 (fun i => / INR (fact i) * (- g) ^ i) n.
Proof.
  assert (forall i, (-1) ^ i * a i = / INR (fact i) * (- g) ^ i) as E.
  { intros i. unfold a. replace (- g) with (-1 * g) by lra. rewrite Rpow_mult_distr. field. apply INR_fact_neq_0. }
  induction n as [|n IH]; [cbn [alternating sum_f_R0]; rewrite E; lra|].
  rewrite alternating_last, IH. cbn [sum_f_R0 Nat.add]. now rewrite E.
Qed.
(** In the limit *)
Lemma telescope_limit (o : bool) e : 0 < e -> exists n, (if o then exp (- g) else 1 - exp (- g)) - e <= telescope o (S n) 0.
Proof.
  intros He. destruct (exist_exp (- g)) as [x Hx] eqn:X. assert (exp (- g) = x) as -> by (unfold exp; now rewrite X).
  destruct (Hx (e / 2) ltac:(lra)) as [N1 H1]. destruct (cv_speed_pow_fact g (e / 2) ltac:(lra)) as [N2 H2].
  set (m := S (N1 + N2)). specialize (H1 (2 * m - 1)%nat ltac:(lia)). specialize (H2 (2 * m)%nat ltac:(lia)).
  rewrite <- alternating_exp in H1. unfold R_dist in H1. replace (S (2 * m - 1)) with (2 * m)%nat in H1 by lia.
  unfold R_dist in H2. rewrite Rminus_0_r in H2. change (g ^ (2 * m) / INR (fact (2 * m))) with (a (2 * m)) in H2.
  apply Rabs_def2 in H1, H2. pose proof (telescope_odd m 0) as Ho. rewrite Nat.mul_0_r in Ho.
  pose proof (telescope_sum (2 * m) 0) as Hs. cbn [Nat.add] in Hs. assert (a 0 = 1) by (unfold a; simpl; lra).
  exists (2 * m - 1)%nat. replace (S (2 * m - 1)) with (2 * m)%nat by lia. destruct o; lra.
Qed.
(** From the first k on *)
Lemma first_failure_chance : coin_of (first_failure d r 1) (exp (- g)).
Proof.
  assert (forall o, at_least (first_failure d r 1) o (if o then exp (- g) else 1 - exp (- g))) as H.
  { intros o. apply at_least_limit. intros e He. destruct (telescope_limit o e He) as [n Hn].
    apply at_least_le with (1 := failure_found o (S n) 0). pose proof (found_telescope o (S n) 0) as E.
    assert (a 0 = 1) by (unfold a; simpl; lra). nra. }
  split; [|split; [exact (H true)|exact (H false)]]. pose proof rate. split; [left; apply exp_pos|].
  rewrite <- exp_0. destruct (Rle_lt_or_eq_dec 0 g ltac:(tauto)) as [X|<-]; [left; apply exp_increasing; lra|rewrite Ropp_0; lra].
Qed.
(** From the second on, where the first does not fail *)
Lemma second_failure_chance : g = 1 -> coin_of (first_failure d r 2) (exp (- g)).
Proof.
  intros H1. assert (forall o, at_least (first_failure d r 2) o (if o then exp (- g) else 1 - exp (- g))) as H.
  { intros o. apply at_least_limit. intros e He. destruct (telescope_limit o e He) as [n Hn].
    apply at_least_le with (1 := failure_found o n 1). pose proof (found_telescope o n 1) as E.
    assert (a 0 = 1 /\ a 1 = 1) as [A0 A1] by (unfold a; simpl; rewrite H1; lra). cbn [telescope] in Hn. nra. }
  split; [apply first_failure_chance|]. split; [exact (H true)|exact (H false)].
Qed.
End Failure.

(** e^-1 so often *)
Lemma ones_chance n : coin_of (ones n) (exp (- INR n)).
Proof.
  induction n as [|n IH].
  - cbn [ones INR]. rewrite Ropp_0, exp_0. exact (ret_coin true).
  - cbn [ones]. replace (- INR (S n)) with (- (1 / 1) + - INR n) by (rewrite S_INR; lra). rewrite exp_plus.
    apply both_coins; [|exact IH]. apply (second_failure_chance 1 1); [lia|lia|lra].
Qed.
(** e^-gamma, gamma = n/d *)
Theorem coin_exp_chance n d : (0 <= n)%Z -> (0 < d)%Z -> coin_of (coin_exp n d) (exp (- (IZR n / IZR d))).
Proof.
  intros Hn Hd. pose proof (Z.mod_pos_bound n d Hd). pose proof (Z.div_pos n d Hn Hd).
  replace (- (IZR n / IZR d)) with (- INR (Z.to_nat (n / d)) + - (IZR (n mod d) / IZR d)).
  - rewrite exp_plus. apply both_coins; [apply ones_chance|]. apply first_failure_chance; lia.
  - rewrite INR_IZR_INZ, Z2Nat.id by easy. rewrite (Z.div_mod n d) at 3 by lia. rewrite plus_IZR, mult_IZR. field.
    apply not_0_IZR. lia.
Qed.
(** Two outcomes have a law *)
Lemma coin_law q c : coin_of q c -> has_law q (fun b => if b then c else 1 - c).
Proof.
  intros (Hc & Ht & Hf). apply (draws_law Bool.bool_dec). split.
  - intros e He. exists [true; false]. split; [repeat constructor; [intros [E|[]]; discriminate|easy]|simpl; lra].
  - intros [|]; (split; [lra|easy]).
Qed.
