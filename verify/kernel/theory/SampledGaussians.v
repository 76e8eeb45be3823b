(** Discrete Gaussian noise on integer vectors, a function of Poisson-sampled users: Rényi divergences at whole orders,
    of adding and of removing a user, and the (eps, delta) that follow. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FunctionalExtensionality.
From ExactDP Require Import Definitions Laws Mass Exponential Weights DiscreteGaussian Centres Composition Renyi Concentrated Conversion Vectors Sampling.
Import ListNotations.
Open Scope R_scope.

(** Terms of whole orders *)
Lemma renyi_quotient {T} n (f g : T -> R) x : 0 < f x -> 0 < g x -> renyi_term (INR (S n)) f g x = quotient_term n (f x) (g x).
Proof.
  intros Hf Hg. unfold renyi_term, quotient_term. rewrite Rpower_pow, S_INR by easy. replace (1 - (INR n + 1)) with (- INR n) by ring.
  rewrite Rpower_Ropp, Rpower_pow by easy. unfold Rdiv. rewrite Rpow_mult_distr, pow_inv. simpl pow. ring.
Qed.
(** The divergence that a bound on the sums is *)
Lemma within_renyi {T} (S : T -> Prop) n E f g : (1 <= n)%nat -> 0 < E -> within_cost S n E f g -> renyi (INR (Datatypes.S n)) f g (ln E / INR n).
Proof.
  intros Hn HE (Hf & Hg & H). assert (0 < INR n) as Hn' by (apply lt_0_INR; lia). assert (forall x, 0 < f x -> 0 < g x) as Hfg by (intros x Hx; now apply Hg, Hf).
  split; [easy|]. intros l Hl Hpos. rewrite (mass_ext _ (fun x => quotient_term n (f x) (g x))) by (intros; apply renyi_quotient; auto).
  replace ((INR (Datatypes.S n) - 1) * (ln E / INR n)) with (ln E) by (rewrite S_INR; field; lra). rewrite exp_ln by easy. apply H; [easy|]. intros x Hx. now apply Hf, Hpos.
Qed.

Section OneUser.
Variable s2 : R.
Hypothesis Hs : 0 < s2.
Variables (f : Z -> R) (Hf : discrete_gaussian s2 f).
(** As likely as its opposite *)
Lemma gauss_even k : f (- k) = f k.
Proof. destruct Hf as (N & _ & E). rewrite !E. unfold gauss_weight. now replace (- k * - k)%Z with (k * k)%Z by ring. Qed.
(** Vectors of one length are possible, no others *)
Lemma vector_positive v : positive_on (fun ys => length ys = length v) (vector_noise f v).
Proof.
  induction v as [|x v IH]; intros [|y ys]; simpl; try (split; [lra|split; intros; lra || easy]).
  destruct (IH ys) as [I0 I1]. pose proof (gauss_pos s2 f Hf (y - x)) as Hp. split; [nra|]. split; intros H.
  - injection H as H. apply I1 in H. now apply Rmult_lt_0_compat.
  - f_equal. apply I1. nra.
Qed.
(** What exchanges noise around v and around w *)
Fixpoint mirrored (v w ys : list Z) : list Z :=
  match v, w, ys with x :: v', z :: w', y :: ys' => (x + z - y)%Z :: mirrored v' w' ys' | _, _, _ => ys end.
(** It is its own inverse *)
Lemma mirrored_twice v : forall w ys, mirrored v w (mirrored v w ys) = ys.
Proof. induction v as [|x v IH]; intros [|z w] [|y ys]; try easy. simpl. rewrite IH. f_equal. lia. Qed.
(** Noise is symmetric *)
Lemma mirrored_noise v : forall w ys, length v = length w -> vector_noise f v (mirrored v w ys) = vector_noise f w ys.
Proof.
  induction v as [|x v IH]; intros [|z w] ys H; try discriminate; [easy|]. destruct ys as [|y ys]; [easy|]. injection H as H. simpl. rewrite IH by easy.
  rewrite <- gauss_even. f_equal. f_equal. lia.
Qed.
(** The moments of their quotients *)
Definition moment_bound (most : Z) (k : nat) : R := exp (INR k * (INR k - 1) * (IZR most / (2 * s2))).
Lemma vector_moments v w most : length v = length w -> (square (differences v w) <= most)%Z ->
  forall k l, NoDup l -> (forall x, In x l -> length x = length w) ->
    mass (fun x => vector_noise f w x * (vector_noise f v x / vector_noise f w x) ^ k) l <= moment_bound most k.
Proof.
  intros Hl Hm k l Hd HS. assert (forall x, In x l -> 0 < vector_noise f v x /\ 0 < vector_noise f w x) as Hp.
  { intros x Hx. specialize (HS x Hx). split; apply vector_positive; congruence. }
  assert (forall u, mass (vector_noise f u) l <= 1) as H1 by (intros u; apply (vector_pmf s2 f Hf u); now exists l). unfold moment_bound. destruct k as [|[|k]].
  - rewrite (mass_ext _ (vector_noise f w)) by (intros; simpl; ring). simpl INR. rewrite !Rmult_0_l, exp_0. apply H1.
  - rewrite (mass_ext _ (vector_noise f v)) by (intros x Hx; destruct (Hp x Hx); simpl; field; lra). simpl INR. replace (1 * (1 - 1) * _) with 0 by ring. rewrite exp_0. apply H1.
  - assert (1 < INR (S (S k))) as Hk by (rewrite !S_INR; pose proof (pos_INR k); lra). pose proof (vector_renyi s2 Hs f Hf v w _ Hk Hl) as [_ H].
    rewrite (mass_ext _ (renyi_term (INR (S (S k))) (vector_noise f v) (vector_noise f w))).
    + apply Rle_trans with (1 := H l Hd (fun x Hx => proj1 (Hp x Hx))), exp_le. rewrite Rmult_comm, Rmult_assoc, (Rmult_comm _ (INR _ - 1)), <- Rmult_assoc. apply Rmult_le_compat_l; [nra|].
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. now apply IZR_le.
    + intros x Hx. destruct (Hp x Hx). rewrite renyi_quotient by easy. unfold quotient_term. simpl pow. field. lra.
Qed.
(** One user, removed and added *)
Theorem user_within r n v w most : 0 <= r <= 1 -> length v = length w -> (square (differences v w) <= most)%Z ->
  let E := blended r (moment_bound most) (S n) 0 in
  within_cost (fun ys => length ys = length w) n E (mixed r (vector_noise f v) (vector_noise f w)) (vector_noise f w) /\
  within_cost (fun ys => length ys = length w) n E (vector_noise f w) (mixed r (vector_noise f v) (vector_noise f w)).
Proof.
  intros Hr Hl Hm E. pose proof (vector_positive w) as Pw. assert (positive_on (fun ys => length ys = length w) (vector_noise f v)) as Pv by (rewrite <- Hl; apply vector_positive).
  assert (within_cost (fun ys => length ys = length w) n E (mixed r (vector_noise f v) (vector_noise f w)) (vector_noise f w)) as H.
  { apply removed_within with (moment_bound most); auto; [now apply vector_moments|apply Rle_refl]. }
  split; [exact H|]. apply added_within with (mirrored v w); auto; intros; [apply mirrored_twice|now apply mirrored_noise].
Qed.
End OneUser.

(** ** One use *)
Definition users_moment (r : R) (b : batch) (n : nat) : R := blended r (moment_bound (IZR (top b) / IZR (bottom b)) (longest_of b)) n 0.
(** Blends of what is positive *)
Lemma blended_pos r c j : 0 <= r <= 1 -> (forall k, 0 < c k) -> forall k, 0 < blended r c j k.
Proof. intros Hr Hc. induction j as [|j IH]; intros k; [apply Hc|]. simpl. pose proof (IH k). pose proof (IH (S k)). destruct (Req_dec r 0) as [->|]; nra. Qed.
(** Those of moments *)
Lemma users_moment_pos r b n : 0 <= r <= 1 -> 0 < users_moment r b n.
Proof. intros Hr. apply blended_pos; [easy|]. intros k. apply exp_pos. Qed.
(** All samples, both ways round *)
Lemma sampled_use {A} r b n (M : list (list Z) -> list A -> list Z -> R) : sound b = true -> has_length b = true -> 0 <= r <= 1 -> (1 <= n)%nat ->
  sampled_of (r, Vectors (IZR (top b) / IZR (bottom b)) (b2 b) (b2' b) (b1 b) (b1' b) (binf b) (bdim b)) M ->
  laws M /\ forall past d d', add_remove d d' -> renyi (INR (S n)) (M past d) (M past d') (ln (users_moment r b (S n)) / INR n).
Proof.
  intros Hb HS Hr Hn (N & (f & query & Hf & Hq & EN) & EM). cbn [fst snd] in *. destruct (sound_ok b Hb) as (_ & Ht & Hu & He & Hq').
  set (s2 := IZR (top b) / IZR (bottom b)) in *. assert (0 < s2) as Hs by now apply Rdiv_lt_0_compat.
  assert (forall past d, N past d = vector_noise f (query past d)) as EN' by (intros; apply functional_extensionality; intros; apply EN).
  split; [intros past d; rewrite EM; apply sampled_pmf; [easy|]; intros s; rewrite EN'; now apply (vector_pmf s2 f Hf)|]. intros past.
  set (m := length (query past [])). assert (forall s, length (query past s) = m) as Hlen.
  { induction s as [|u s IH]; [easy|]. rewrite <- IH. apply Hq. exists [], u, s. now left. }
  set (S := fun ys : list Z => length ys = m). set (E := users_moment r b (Datatypes.S n)).
  assert (forall s u s', within_cost S n E (mixed r (N past (s ++ u :: s')) (N past (s ++ s'))) (N past (s ++ s')) /\
    within_cost S n E (N past (s ++ s')) (mixed r (N past (s ++ u :: s')) (N past (s ++ s')))) as H.
  { intros s u s'. rewrite !EN'. unfold S. rewrite <- (Hlen (s ++ s')). apply (user_within s2 Hs f Hf); [easy|now rewrite !Hlen|].
    assert (add_remove (s ++ u :: s') (s ++ s')) as Ha by (exists s, u, s'; now left). destruct (Hq past _ _ Ha) as [_ Hw].
    unfold has_length, longest_of in *. destruct (length_of b) as [most|] eqn:El; [|discriminate]. exact (longest_ok _ _ _ _ _ _ _ most He Hq' Hw El). }
  assert (0 < E) as HE by now apply users_moment_pos.
  intros d d' (s & u & s' & [[-> ->]|[-> ->]]); rewrite !EM; apply (within_renyi S); auto.
  - apply (sampled_one_more r (within_cost S n E)); [intros; now apply mixed_within|]. intros t t'. apply H.
  - apply (sampled_one_more r (fun f g => within_cost S n E g f)); [intros; now apply mixed_within|]. intros t t'. apply H.
Qed.

(** ** In whole numbers, in units of 2^-P *)
Open Scope Z_scope.
(** e^(s k (k-1)/2) for k = 0, 1, ..., n, where g is e^s: each is the last times w = g^k *)
Fixpoint gauss_powers (n : nat) (P g w e : Z) : list Z :=
  match n with O => [e] | S n' => e :: gauss_powers n' P g (up P (w * g)) (up P (e * w)) end.
(** z a + x b for neighbours a, b in a list *)
Fixpoint blend (x z : Z) (l : list Z) : list Z :=
  match l with a :: ((b :: _) as l') => z * a + x * b :: blend x z l' | _ => [] end.
Fixpoint blends (n : nat) (x z : Z) (l : list Z) : list Z := match n with O => l | S n' => blends n' x z (blend x z l) end.
Fixpoint power_up (P x : Z) (k : positive) : Z :=
  match k with
  | xH => x
  | xO k' => let h := power_up P x k' in up P (h * h)
  | xI k' => let h := power_up P x k' in up P (up P (h * h) * x)
  end.
Definition rated := (Z * Z * batch)%type.
Fixpoint rated_in (l : list Z) : list rated :=
  match l with k :: x :: y :: t :: u :: c :: e :: p :: q :: m :: n :: l' => (x, y, Batch k t u c e p q m n) :: rated_in l' | _ => [] end.
Definition rated_sound (r : nat) (w : rated) : bool :=
  let '(x, y, b) := w in
  sound b && has_length b && (0 <=? x) && (x <=? y) && (0 <? y) && (0 <=? longest_of b) && (longest_of b * bottom b <? top b * 2 ^ Z.of_nat r).
Definition moment_above (n : nat) (P : Z) (r : nat) (w : rated) : Z :=
  let '(x, y, b) := w in
  let g := exp_above r P (longest_of b * bottom b) (top b) in
  nth 0 (blends n x (y - x) (gauss_powers n P g (2 ^ P) (2 ^ P))) 0 / y ^ Z.of_nat n + 1.
Fixpoint moments_above (n : nat) (P : Z) (r : nat) (ws : list rated) : Z :=
  match ws with
  | [] => 2 ^ P
  | w :: ws' =>
      let rest := moments_above n P r ws' in
      match times (snd w) with Zpos k => up P (power_up P (moment_above n P r w) k * rest) | _ => rest end
  end.
(** The order c, eps = a/b, delta = n/d. What would take too long to compute is not begun. *)
Definition sampled_numbers (l : list Z) (c a b P : Z) (r : nat) : bool :=
  forallb (rated_sound r) (rated_in l) && (2 <=? c) && (c <=? 10000) && (0 <=? P) && (Z.of_nat r <=? P) && is_ratio a b.
Definition sampled_renyi_check (l : list Z) (c a b P : Z) (r : nat) : bool :=
  if sampled_numbers l c a b P r
  then moments_above (Z.to_nat c) P r (rated_in l) <=? exp_below r P ((c - 1) * a) b
  else false.
Definition sampled_check (l : list Z) (c a b n d P : Z) (r : nat) : bool :=
  if (sampled_numbers l c a b P r && (0 <=? n) && (0 <? d))%bool
  then moments_above (Z.to_nat c) P r (rated_in l) * ((c - 1) ^ (c - 1) * d) <=? n * c ^ c * exp_below r P ((c - 1) * a) b
  else false.
Close Scope Z_scope.

Section Above.
Variable P : Z.
Hypothesis HP : (0 <= P)%Z.
(** A number that is at least so much *)
Definition at_least (x : R) (z : Z) : Prop := 0 <= x /\ x * IZR (2 ^ P) <= IZR z.
(** In these units *)
Lemma at_least_one : at_least 1 (2 ^ P).
Proof. split; [lra|]. lra. Qed.
(** Not negative *)
Lemma at_least_nonneg x z : at_least x z -> (0 <= z)%Z.
Proof. intros [Hx H]. apply le_IZR. pose proof (IZR_pow2_pos P HP). nra. Qed.
(** Products are rounded up *)
Lemma up_at_least x y a b : at_least x a -> at_least y b -> at_least (x * y) (up P (a * b)).
Proof.
  intros [Hx Ha] [Hy Hb]. pose proof (IZR_pow2_pos P HP) as H2. split; [now apply Rmult_le_pos|]. unfold up. rewrite Z.shiftr_div_pow2 by easy.
  pose proof (div_up (a * b) (2 ^ P) ltac:(apply Z.pow_pos_nonneg; lia)) as Hd. rewrite mult_IZR in Hd. set (p := IZR (2 ^ P)) in *.
  assert ((x * p) * (y * p) <= IZR a * IZR b) by (apply Rmult_le_compat; nra). apply Rmult_le_reg_r with p; [easy|]. nra.
Qed.
(** ... and powers *)
Lemma power_at_least x a k : at_least x a -> at_least (x ^ Pos.to_nat k) (power_up P a k).
Proof.
  intros H. induction k as [k IH|k IH|]; simpl power_up.
  - rewrite Pos2Nat.inj_xI. replace (x ^ S (2 * Pos.to_nat k)) with (x ^ Pos.to_nat k * x ^ Pos.to_nat k * x) by (simpl; rewrite Nat.add_0_r, pow_add; ring).
    apply up_at_least; [now apply up_at_least|easy].
  - rewrite Pos2Nat.inj_xO. replace (x ^ (2 * Pos.to_nat k)) with (x ^ Pos.to_nat k * x ^ Pos.to_nat k) by (simpl; rewrite Nat.add_0_r, pow_add; ring). now apply up_at_least.
  - now replace (x ^ Pos.to_nat 1) with x by (simpl; ring).
Qed.
(** One number for each moment *)
Lemma gauss_powers_length n g : forall w e, length (gauss_powers n P g w e) = S n.
Proof. induction n as [|n IH]; intros w e; simpl; [easy|]. now rewrite IH. Qed.
(** Exponents add *)
Lemma gauss_powers_ok s g n : at_least (exp s) g -> forall x y w e, at_least (exp x) w -> at_least (exp y) e ->
  forall k, (k <= n)%nat -> at_least (exp (y + INR k * x + INR k * (INR k - 1) * (s / 2))) (nth k (gauss_powers n P g w e) 0%Z).
Proof.
  intros Hg. induction n as [|n IH]; intros x y w e Hw He k Hk.
  - assert (k = 0)%nat as -> by lia. simpl INR. simpl nth. replace (y + 0 * x + 0 * (0 - 1) * (s / 2)) with y by ring. exact He.
  - destruct k as [|k]; [simpl INR; simpl nth; replace (y + 0 * x + 0 * (0 - 1) * (s / 2)) with y by ring; exact He|].
    simpl nth. replace (y + INR (S k) * x + INR (S k) * (INR (S k) - 1) * (s / 2)) with (y + x + INR k * (x + s) + INR k * (INR k - 1) * (s / 2)) by (rewrite S_INR; field).
    apply IH; [rewrite exp_plus; now apply up_at_least|rewrite exp_plus; now apply up_at_least|lia].
Qed.
(** Blends, times y *)
Definition moments_in (scale : R) (c : nat -> R) (l : list Z) : Prop := forall k, (k < length l)%nat -> c k * scale <= IZR (nth k l 0%Z).
(** One number fewer *)
Lemma blend_length x z l : length (blend x z l) = pred (length l).
Proof. induction l as [|a [|b l] IH]; try easy. simpl in *. now rewrite IH. Qed.
(** Neighbours in the list *)
Lemma blend_nth x z l : forall k, (S k < length l)%nat -> nth k (blend x z l) 0%Z = (z * nth k l 0 + x * nth (S k) l 0)%Z.
Proof. induction l as [|a [|b l] IH]; intros k Hk; simpl in Hk; try lia. destruct k as [|k]; [easy|]. cbn [blend nth]. apply IH. simpl. lia. Qed.
(** Each blend multiplies by y *)
Lemma blends_ok x y c j : (0 <= x <= y)%Z -> (0 < y)%Z -> forall l i scale, 0 <= scale -> moments_in scale (blended (IZR x / IZR y) c i) l ->
  moments_in (scale * IZR y ^ j) (blended (IZR x / IZR y) c (i + j)) (blends j x (y - x) l).
Proof.
  intros Hx Hy. pose proof (IZR_lt _ _ Hy) as Hy'. assert (0 <= IZR x <= IZR y) as Hx' by (split; apply IZR_le; lia).
  induction j as [|j IH]; intros l i scale Hsc H; [simpl; now rewrite Nat.add_0_r, Rmult_1_r|].
  cbn [blends]. replace (i + S j)%nat with (S i + j)%nat by lia. replace (scale * IZR y ^ S j) with (scale * IZR y * IZR y ^ j) by (simpl; ring).
  apply IH; [nra|]. intros k Hk. rewrite blend_length in Hk. rewrite blend_nth by lia. rewrite plus_IZR, !mult_IZR, minus_IZR.
  pose proof (H k ltac:(lia)) as H0. pose proof (H (S k) ltac:(lia)) as H1. cbn [blended]. set (u := blended _ c i k) in *. set (v := blended _ c i (S k)) in *.
  replace (((1 - IZR x / IZR y) * u + IZR x / IZR y * v) * (scale * IZR y)) with ((IZR y - IZR x) * (u * scale) + IZR x * (v * scale)) by (field; lra).
  apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.
(** One use *)
Lemma moment_ok n r x y b : rated_sound r (x, y, b) = true -> at_least (users_moment (IZR x / IZR y) b n) (moment_above n P r (x, y, b)).
Proof.
  unfold rated_sound. intros H. split_bool H. assert (sound b = true) as Hb by easy. destruct (sound_ok b Hb) as (_ & Ht & Hu & _). apply lt_IZR in Ht, Hu.
  assert (0 < y)%Z as Hy by easy. assert (0 <= x <= y)%Z as Hx by (split; easy). pose proof (IZR_lt _ _ Hy) as Hy'. pose proof (IZR_pow2_pos P HP) as HPP.
  assert (0 <= IZR x / IZR y <= 1) as Hr.
  { destruct Hx as [X0 X1]. apply IZR_le in X0, X1. split; [apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]|]. apply Rmult_le_reg_r with (IZR y); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  split; [left; now apply users_moment_pos|]. unfold moment_above. set (g := exp_above _ _ _ _). set (l := gauss_powers _ _ _ _ _).
  set (s := IZR (longest_of b * bottom b) / IZR (top b)). assert (at_least (exp s) g) as Hg by (split; [left; apply exp_pos|]; apply exp_above_ok; nia).
  set (c := moment_bound (IZR (top b) / IZR (bottom b)) (longest_of b)).
  assert (moments_in (IZR (2 ^ P)) (blended (IZR x / IZR y) c 0) l) as Hl.
  { intros k Hk. unfold l in *. rewrite gauss_powers_length in Hk. assert (at_least (exp 0) (2 ^ P)) as Hone by (rewrite exp_0; apply at_least_one).
    destruct (gauss_powers_ok s g n Hg 0 0 (2 ^ P) (2 ^ P) Hone Hone k ltac:(lia)) as [_ X]. simpl blended. apply Rle_trans with (2 := X), Req_le. f_equal. unfold c, moment_bound. f_equal.
    unfold s. rewrite mult_IZR. apply IZR_lt in Ht, Hu. field. lra. }
  pose proof (blends_ok x y c n Hx Hy l 0 _ (Rlt_le _ _ HPP) Hl) as Hbl. assert (length (blends n x (y - x) l) = 1)%nat as Hlen.
  { assert (forall j m, length m = S j -> length (blends j x (y - x) m) = 1)%nat as X; [|apply X; unfold l; apply gauss_powers_length].
    induction j as [|j IH]; intros m Hm; [easy|]. cbn [blends]. apply IH. now rewrite blend_length, Hm. }
  specialize (Hbl 0%nat ltac:(lia)). simpl plus in Hbl. fold (users_moment (IZR x / IZR y) b n) in Hbl. unfold c in Hbl. fold (users_moment (IZR x / IZR y) b n) in Hbl.
  set (top := nth 0 _ 0%Z) in *. assert (0 < y ^ Z.of_nat n)%Z as Hyn by (apply Z.pow_pos_nonneg; lia). pose proof (div_up top _ Hyn) as Hd. rewrite <- pow_IZR in Hd.
  apply Rmult_le_reg_r with (IZR y ^ n); [now apply pow_lt|]. lra.
Qed.
(** All uses: logarithms add *)
Fixpoint logs (n : nat) (ws : list rated) : R :=
  match ws with [] => 0 | (x, y, b) :: ws' => INR (Z.to_nat (times b)) * ln (users_moment (IZR x / IZR y) b n) + logs n ws' end.
(** A probability *)
Lemma rate_of x y b r : rated_sound r (x, y, b) = true -> 0 <= IZR x / IZR y <= 1.
Proof.
  unfold rated_sound. intros H. split_bool H. assert (0 < IZR y) as Hy by now apply IZR_lt. assert (0 <= IZR x) as X0 by now apply IZR_le. assert (IZR x <= IZR y) as X1 by now apply IZR_le.
  split; [apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]|]. apply Rmult_le_reg_r with (IZR y); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.
(** Their product *)
Lemma moments_ok n r ws : forallb (rated_sound r) ws = true -> at_least (exp (logs n ws)) (moments_above n P r ws).
Proof.
  induction ws as [|[[x y] b] ws IH]; intros H; [simpl; rewrite exp_0; apply at_least_one|]. cbn [forallb] in H. apply andb_prop in H as [Hw H]. specialize (IH H).
  cbn [logs moments_above snd]. destruct (times b) as [|k|k] eqn:Ek; try (simpl; rewrite Rmult_0_l, Rplus_0_l; exact IH).
  rewrite exp_plus. apply up_at_least; [|easy]. pose proof (users_moment_pos (IZR x / IZR y) b n (rate_of x y b r Hw)) as Hp.
  replace (exp _) with (users_moment (IZR x / IZR y) b n ^ Pos.to_nat k); [now apply power_at_least, moment_ok|].
  change (Z.to_nat (Z.pos k)) with (Pos.to_nat k). rewrite <- Rpower_pow by easy. reflexivity.
Qed.
End Above.

(** Lists of them *)
Definition rated_uses (w : rated) : list (R * vectors) :=
  let '(x, y, b) := w in
  repeat (IZR x / IZR y, Vectors (IZR (top b) / IZR (bottom b)) (b2 b) (b2' b) (b1 b) (b1' b) (binf b) (bdim b)) (Z.to_nat (times b)).
(** Read in the same way *)
Lemma sampled_in_rated l : sampled_in l = flat_map rated_uses (rated_in l).
Proof.
  assert (forall N l, (length l <= N)%nat -> sampled_in l = flat_map rated_uses (rated_in l)) as H; [|now apply (H (length l))].
  clear l. induction N as [|N IH]; intros l Hl; [destruct l; [easy|simpl in Hl; lia]|].
  do 11 (destruct l as [|? l]; [easy|]). cbn [sampled_in rated_in flat_map]. f_equal. apply IH. simpl in Hl. lia.
Qed.
(** Each chosen by what came out before *)
Theorem sampled_cost {A} n r ws Ms : forallb (rated_sound r) ws = true -> (1 <= n)%nat -> Forall2 (@sampled_of A) (flat_map rated_uses ws) Ms ->
  renyi_dp (@add_remove A) (adaptive Ms []) (INR (S n)) (logs (S n) ws / INR n).
Proof.
  intros Hw Hn HM. assert (0 < INR n) as Hn' by (apply lt_0_INR; lia).
  assert (exists es, Forall laws Ms /\ Forall2 (fun M e => forall past d d', add_remove d d' -> renyi (INR (S n)) (M past d) (M past d') e) Ms es /\
    fold_right Rplus 0 es = logs (S n) ws / INR n) as (es & H1 & H2 & <-); [|now apply renyi_composition].
  revert Ms HM Hw. induction ws as [|[[x y] b] ws IH]; intros Ms HM Hw.
  - inversion HM. exists []. repeat split; try constructor. simpl. field. lra.
  - cbn [flat_map forallb] in *. apply andb_prop in Hw as [Hb Hws]. pose proof (rate_of x y b r Hb) as Hr. unfold rated_sound in Hb. split_bool Hb.
    apply Forall2_app_inv_l in HM as (M1 & M2 & HM1 & HM2 & ->). destruct (IH M2 HM2 Hws) as (es & L2 & R2 & E2). set (e := ln (users_moment (IZR x / IZR y) b (S n)) / INR n).
    exists (repeat e (Z.to_nat (times b)) ++ es).
    assert (Forall laws M1 /\ Forall2 (fun M e => forall past d d', add_remove d d' -> renyi (INR (S n)) (M past d) (M past d') e) M1 (repeat e (Z.to_nat (times b)))) as [L1 R1].
    { unfold rated_uses in HM1. revert M1 HM1. induction (Z.to_nat (times b)) as [|K IHK]; intros M1 HM1; inversion HM1; subst; [split; constructor|].
      match goal with X : Forall2 _ (repeat _ _) _ |- _ => destruct (IHK _ X) end.
      match goal with X : sampled_of _ _ |- _ => destruct (sampled_use (IZR x / IZR y) b n _ ltac:(easy) ltac:(easy) Hr Hn X) end. split; simpl; constructor; auto. }
    split; [now apply Forall_app|]. split; [now apply Forall2_app|]. rewrite fold_right_app, E2. cbn [logs]. unfold e.
    clear - Hn'. induction (Z.to_nat (times b)) as [|K IHK]; [simpl; field; lra|]. cbn [repeat fold_right]. rewrite IHK, S_INR. field. lra.
Qed.
(** What the numbers say *)
Lemma sampled_numbers_ok l c a b P r : sampled_numbers l c a b P r = true -> (0 <= P)%Z /\ (2 <= c)%Z /\ 0 < IZR b /\ 1 < IZR c /\
  exp (logs (Z.to_nat c) (rated_in l)) * IZR (2 ^ P) <= IZR (moments_above (Z.to_nat c) P r (rated_in l)) /\
  IZR (exp_below r P ((c - 1) * a) b) <= exp ((IZR c - 1) * (IZR a / IZR b)) * IZR (2 ^ P) /\
  forall A Ms, Forall2 (@sampled_of A) (sampled_in l) Ms -> renyi_dp (@add_remove A) (adaptive Ms []) (IZR c) (logs (Z.to_nat c) (rated_in l) / (IZR c - 1)).
Proof.
  unfold sampled_numbers. intros H. split_bool H. match goal with X : is_ratio a b = true |- _ => pose proof (ratio_bottom a b X) as Hb; pose proof (ratio_top a b X) as Ha end.
  assert (0 <= P)%Z as HP by easy. assert (2 <= c)%Z as Hc by easy. assert (0 < IZR b) as Hb' by now apply IZR_lt. assert (1 < IZR c) as Hc' by (apply IZR_lt; lia).
  split; [easy|]. split; [easy|]. split; [easy|]. split; [easy|]. split; [apply (moments_ok P HP); easy|]. split.
  - replace ((IZR c - 1) * (IZR a / IZR b)) with (IZR ((c - 1) * a) / IZR b) by (rewrite mult_IZR, minus_IZR; field; lra). apply exp_below_ok; [easy|nia|easy].
  - intros A Ms HM. rewrite sampled_in_rated in HM. assert (Z.to_nat c = S (Z.to_nat (c - 1))) as E by lia.
    assert (INR (S (Z.to_nat (c - 1))) = IZR c) as E1 by (rewrite <- E, INR_IZR_INZ, Z2Nat.id by lia; easy).
    assert (INR (Z.to_nat (c - 1)) = IZR c - 1) as E2 by (rewrite <- E1, S_INR; ring). rewrite E, <- E2. rewrite <- E1. apply (sampled_cost _ r); [easy|lia|easy].
Qed.
(** At one order *)
Theorem sampled_renyi_dp l c a b P r : sampled_renyi_check l c a b P r = true -> sampled_renyi (sampled_in l) (IZR c / 1) (IZR a / IZR b).
Proof.
  unfold sampled_renyi_check. intros H. apply andb_prop in H as [Hn H]. apply Z.leb_le, IZR_le in H. destruct (sampled_numbers_ok _ _ _ _ _ _ Hn) as (HP & Hc & Hb & Hc' & H1 & H2 & HM).
  intros A Ms HMs. replace (IZR c / 1) with (IZR c) by field. apply renyi_weaken with (logs (Z.to_nat c) (rated_in l) / (IZR c - 1)); [easy| |now apply HM]. pose proof (IZR_pow2_pos P HP).
  assert (logs (Z.to_nat c) (rated_in l) <= (IZR c - 1) * (IZR a / IZR b)) as X by (apply exp_le_back, Rmult_le_reg_r with (IZR (2 ^ P)); lra).
  apply Rmult_le_reg_l with (IZR c - 1); [lra|]. replace ((IZR c - 1) * (logs (Z.to_nat c) (rated_in l) / (IZR c - 1))) with (logs (Z.to_nat c) (rated_in l)) by (field; lra). easy.
Qed.
(** ... of which delta follows *)
Theorem sampled_are_dp l c a b n d P r : sampled_check l c a b n d P r = true -> sampled_dp (sampled_in l) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold sampled_check. intros H. apply andb_prop in H as [H Hle]. apply andb_prop in H as [H Hd]. apply andb_prop in H as [Hn H0]. apply Z.ltb_lt in Hd. apply Z.leb_le, IZR_le in H0. apply Z.leb_le, IZR_le in Hle.
  destruct (sampled_numbers_ok _ _ _ _ _ _ Hn) as (HP & Hc & Hb & Hc' & H1 & H2 & HM). intros A Ms HMs.
  destruct (renyi_approx _ _ _ _ (IZR a / IZR b) Hc' (HM A Ms HMs)) as [Hp Hdp]. split; [easy|]. intros s s' Hs. apply dp_pair_weaken with (1 := Hdp s s' Hs).
  set (L := logs (Z.to_nat c) (rated_in l)) in *. pose proof (IZR_pow2_pos P HP) as H2P. rewrite !mult_IZR, !power_ln in Hle by lia. rewrite minus_IZR in Hle.
  set (u := exp ((IZR c - 1) * ln (IZR c - 1))) in *. set (v := exp (IZR c * ln (IZR c))) in *. set (w := exp ((IZR c - 1) * (IZR a / IZR b))) in *. set (p := IZR (2 ^ P)) in *.
  assert (exp ((IZR c - 1) * (L / (IZR c - 1) - IZR a / IZR b) + gain (IZR c)) = exp L * u / (v * w)) as ->.
  { unfold gain. replace ((IZR c - 1) * (L / (IZR c - 1) - IZR a / IZR b) + ((IZR c - 1) * ln (IZR c - 1) - IZR c * ln (IZR c)))
      with (L + (IZR c - 1) * ln (IZR c - 1) + - (IZR c * ln (IZR c) + (IZR c - 1) * (IZR a / IZR b))) by (field; lra).
    rewrite !exp_plus, exp_Ropp, exp_plus. reflexivity. }
  assert (0 < u) as Hu by apply exp_pos. assert (0 < v) as Hv by apply exp_pos. assert (0 < w) as Hw by apply exp_pos. pose proof (exp_pos L) as HL. apply IZR_lt in Hd.
  set (W := IZR (moments_above _ _ _ _)) in *. set (e := exp_below _ _ _ _) in *.
  assert (exp L * p * (u * IZR d) <= W * (u * IZR d)) as X by (apply Rmult_le_compat_r; nra).
  assert (IZR n * v * IZR e <= IZR n * v * (w * p)) as Y by (apply Rmult_le_compat_l; [nra|easy]).
  assert (exp L * u * IZR d <= IZR n * (v * w)) as Z by (apply Rmult_le_reg_r with p; [easy|]; nra).
  apply Rmult_le_reg_r with (v * w * IZR d); [apply Rmult_lt_0_compat; [nra|easy]|].
  replace (exp L * u / (v * w) * (v * w * IZR d)) with (exp L * u * IZR d) by (field; nra). replace (IZR n / IZR d * (v * w * IZR d)) with (IZR n * (v * w)) by (field; lra). easy.
Qed.
