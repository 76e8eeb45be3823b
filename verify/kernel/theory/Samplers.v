(** Discrete Laplace and discrete Gaussian noise from fair bits: Canonne, Kamath, Steinke (2020), Algorithms 2 and 3, as
    [geometric.py] draws them; their laws are those of [Laws.v]. *)
From Coq Require Import Reals List ZArith Lra Lia.
From ExactDP Require Import Definitions Laws Mass Weights Tables DiscreteLaplace DiscreteGaussian Programs Coins.
Import ListNotations.
Open Scope R_scope.

Definition geometric (t d : Z) : prog Z :=
  Bind (until (below t) (fun u => coin_exp u t)) (fun u =>
  Bind (While (fun v => Bind (coin_exp 1 1) (fun b => Ret (if b then inl (v + 1)%Z else inr v))) 0%Z) (fun v =>
  Ret ((u + t * v) / d)%Z)).
Definition signed (t d : Z) : prog (Z * bool) :=
  until (Bind (geometric t d) (fun x => Bind Flip (fun b => Ret (x, b)))) (fun c => Ret (snd c || negb (fst c =? 0)%Z)%bool).
Definition laplace_noise (t d : Z) : prog Z := Bind (signed t d) (fun c => Ret (if snd c then fst c else - fst c)%Z).
Definition gaussian_noise (n d : Z) : prog Z :=
  let t := (Z.sqrt (n / d) + 1)%Z in
  until (laplace_noise t 1) (fun y => coin_exp ((Z.abs y * (d * t) - n) * (Z.abs y * (d * t) - n)) (2 * n * d * (t * t)))%Z.

(** ** Geometric variables *)
Definition geometric_law (b : R) (x : Z) : R := if (x <? 0)%Z then 0 else (1 - b) * b ^ Z.to_nat x.
(** A finite geometric series *)
Lemma mass_powers b n : forall s, (0 <= s)%Z ->
  mass (fun z => (1 - b) * b ^ Z.to_nat z) (zseq s n) = b ^ Z.to_nat s * (1 - b ^ n).
Proof.
  induction n as [|n IH]; intros s Hs; cbn [zseq mass]; [simpl; lra|]. rewrite IH by lia.
  replace (Z.to_nat (s + 1)) with (S (Z.to_nat s)) by lia. simpl pow. lra.
Qed.
(** Its total *)
Lemma geometric_full b : 0 <= b < 1 -> full (geometric_law b).
Proof.
  intros Hb e He. destruct (pow_small b 1 e Hb He) as [n Hn]. exists (zseq 0 n). split; [apply zseq_nodup|].
  rewrite (mass_ext _ (fun z => (1 - b) * b ^ Z.to_nat z)).
  - rewrite mass_powers by lia. simpl Z.to_nat. simpl pow. lra.
  - intros z Hz. apply in_zseq in Hz. unfold geometric_law. now rewrite (proj2 (Z.ltb_ge _ _)) by lia.
Qed.
(** How often a coin comes up before it does not *)
Lemma count_at_least q c (m : nat) : coin_of q c -> forall n v, (v + n)%nat = m ->
  at_least (While (fun v => Bind q (fun b => Ret (if b then inl (v + 1)%Z else inr v))) (Z.of_nat v)) (Z.of_nat m) ((1 - c) * c ^ n).
Proof.
  intros (Hc & Ht & Hf). assert (forall n, 0 <= c ^ n) as Hp by (intros; apply pow_le; lra).
  induction n as [|n IH]; intros v Hv; apply while_at_least.
  - replace v with m by lia. simpl pow. apply then_at_least with (a := inr (Z.of_nat m)); [lra|lra| |apply ret_at_least].
    apply (map_at_least _ (fun b : bool => if b then inl (Z.of_nat m + 1)%Z else inr (Z.of_nat m)) false); [lra|easy].
  - replace ((1 - c) * c ^ S n) with (c * ((1 - c) * c ^ n)) by (simpl; lra).
    apply then_at_least with (a := inl (Z.of_nat (S v))); [lra|specialize (Hp n); nra| |apply IH; lia].
    replace (Z.of_nat (S v)) with (Z.of_nat v + 1)%Z by lia.
    apply (map_at_least _ (fun b : bool => if b then inl (Z.of_nat v + 1)%Z else inr (Z.of_nat v)) true); [lra|easy].
Qed.

Section Geometric.
Variables t d : Z.
Hypotheses (Ht : (0 < t)%Z) (Hd : (0 < d)%Z).
Let a : R := exp (- (1 / IZR t)).
Let b : R := exp (- (1 / (IZR t / IZR d))).
(** Powers of e^(-1/t) *)
Lemma power_at z : (0 <= z)%Z -> exp (- (IZR z / IZR t)) = a ^ Z.to_nat z.
Proof. intros Hz. unfold a. rewrite <- exp_pow by now apply IZR_lt. now rewrite INR_IZR_INZ, Z2Nat.id. Qed.
(** Below 1 *)
Lemma a_range : 0 < a < 1.
Proof. apply decay. now apply IZR_lt. Qed.
(** Below 1 *)
Lemma b_range : 0 < b < 1.
Proof. apply decay. now apply ratio_pos. Qed.
(** d of them *)
Lemma b_power : b = a ^ Z.to_nat d.
Proof.
  rewrite <- power_at by lia. unfold b. do 2 f_equal. field. split; apply not_0_IZR; lia.
Qed.
(** 1/e is t of them *)
Lemma unit_power : exp (- (1 / 1)) = a ^ Z.to_nat t.
Proof. rewrite <- power_at by lia. do 2 f_equal. field. apply not_0_IZR; lia. Qed.

(** Below t: what is accepted falls like e^(-u/t) *)
Lemma remainder_at_least u : (0 <= u < t)%Z ->
  at_least (until (below t) (fun u => coin_exp u t)) u (a ^ Z.to_nat u * ((1 - a) / (1 - a ^ Z.to_nat t))).
Proof.
  intros Hu. pose proof a_range as Ha. assert (0 < IZR t) as H0 by now apply IZR_lt.
  assert (0 < 1 - a ^ Z.to_nat t) as Hat.
  { rewrite <- unit_power. pose proof (exp_increasing (- (1 / 1)) 0 ltac:(lra)) as X. rewrite exp_0 in X. lra. }
  set (c := fun u : Z => exp (- (IZR u / IZR t))). set (M := (1 - a ^ Z.to_nat t) / (1 - a) * / IZR t).
  assert (0 < / IZR t) as H1 by now apply Rinv_0_lt_compat.
  assert (0 < M) as HM by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|easy]).
  assert (forall L, NoDup L -> mass (fun x => uniform t x * c x) L <= M) as Hmass.
  { intros L HL. apply Rle_trans with (mass (fun x => uniform t x * c x) (zseq 0 (Z.to_nat t))).
    - apply mass_cover; auto.
      + intros x. apply Rmult_le_pos; [apply uniform_pos|left; apply exp_pos].
      + intros x _. destruct (Rle_lt_dec (uniform t x) 0) as [H|H].
        * right. pose proof (uniform_pos t x). replace (uniform t x) with 0 by lra. lra.
        * left. apply uniform_support in H. apply in_zseq. lia.
    - rewrite (mass_ext _ (fun z => / (IZR t * (1 - a)) * ((1 - a) * a ^ Z.to_nat z))).
      + rewrite mass_scale, mass_powers by lia. simpl Z.to_nat. simpl pow. right. unfold M. field. lra.
      + intros x Hx. apply in_zseq in Hx. rewrite uniform_in by lia. unfold c. rewrite power_at by lia. field. lra. }
  replace (a ^ Z.to_nat u * ((1 - a) / (1 - a ^ Z.to_nat t))) with (uniform t u * c u / M).
  - apply until_at_least; [now apply below_draws| |split; [easy|]|easy].
    + intros x Hx. apply uniform_support in Hx. apply coin_exp_chance; lia.
    + unfold M. assert (1 - a ^ Z.to_nat t <= (1 - a) * IZR t) as X.
      { assert (mass (fun z => (1 - a) * a ^ Z.to_nat z) (zseq 0 (Z.to_nat t)) <= mass (fun _ => 1 - a) (zseq 0 (Z.to_nat t))) as X.
        { apply mass_le. intros z _. assert (a ^ Z.to_nat z <= 1); [|nra]. rewrite <- (pow1 (Z.to_nat z)). apply pow_incr. lra. }
        rewrite mass_powers, mass_const, length_zseq, INR_IZR_INZ, Z2Nat.id in X by lia. change (Z.to_nat 0) with O in X. rewrite pow_O in X. lra. }
      apply Rmult_le_reg_r with ((1 - a) * IZR t); [apply Rmult_lt_0_compat; lra|].
      replace ((1 - a ^ Z.to_nat t) / (1 - a) * / IZR t * ((1 - a) * IZR t)) with (1 - a ^ Z.to_nat t) by (field; lra). lra.
  - rewrite uniform_in by lia. unfold c, M. rewrite power_at by lia. field. lra.
Qed.
(** Each quotient by d *)
Lemma geometric_draws : draws (geometric t d) (geometric_law b).
Proof.
  pose proof a_range as Ha. pose proof b_range as Hb. split; [apply geometric_full; lra|]. intros x. unfold geometric_law.
  destruct (Z.ltb_spec x 0) as [H|H]; [split; [lra|apply at_least_0; lra]|].
  split; [apply Rmult_le_pos; [lra|apply pow_le; lra]|]. unfold geometric.
  set (U := until _ _). set (V := While _ _).
  apply at_least_same with (p := Bind (Bind U (fun u => Bind V (fun v => Ret (u, v)))) (fun c => Ret ((fst c + t * snd c) / d)%Z)) (a := x).
  { intros w (u1 & v1 & [u v] & -> & (u2 & v2 & u' & -> & Hu & (u3 & v3 & v' & -> & Hv & -> & E)) & -> & ->).
    injection E as -> ->. exists u2, (u3 ++ []), u'. split; [now rewrite !app_nil_r|]. split; [easy|].
    exists u3, [], v'. now repeat split. }
  set (L := map (fun z => (z mod t, z / t)%Z) (zseq (x * d) (Z.to_nat d))).
  set (f := fun c : Z * Z => (1 - a) * a ^ Z.to_nat (fst c + t * snd c)).
  assert (forall z, (t * (z / t) + z mod t)%Z = z) as Hdiv by (intros; symmetry; apply Z.div_mod; lia).
  replace ((1 - b) * b ^ Z.to_nat x) with (mass (fun c => f c * 1) L).
  - apply bind_at_least with (s := fun _ => 1).
    + apply nodup_map; [apply zseq_nodup|]. intros y z _ _ E. injection E as E1 E2.
      rewrite <- (Hdiv y), <- (Hdiv z). congruence.
    + intros c Hc. apply in_map_iff in Hc. destruct Hc as (z & <- & Hz). apply in_zseq in Hz.
      assert (0 <= z)%Z as Hz0 by nia. pose proof (Z.mod_pos_bound z t Ht) as Hm. pose proof (Z.div_pos z t Hz0 Ht) as Hq.
      unfold f. cbn [fst snd]. replace (z mod t + t * (z / t))%Z with z by (specialize (Hdiv z); lia).
      split; [apply Rmult_le_pos; [lra|apply pow_le; lra]|]. intros _. split; [lra|]. split.
      * assert (0 < 1 - a ^ Z.to_nat t) as Hat.
        { rewrite <- unit_power. pose proof (exp_increasing (- (1 / 1)) 0 ltac:(lra)) as X. rewrite exp_0 in X. lra. }
        replace ((1 - a) * a ^ Z.to_nat z) with (a ^ Z.to_nat (z mod t) * ((1 - a) / (1 - a ^ Z.to_nat t)) *
          ((1 - exp (- (1 / 1))) * exp (- (1 / 1)) ^ Z.to_nat (z / t))).
        2:{ rewrite unit_power, <- pow_mult, <- Z2Nat.inj_mul by lia. rewrite <- (Hdiv z) at 3.
            rewrite Z2Nat.inj_add, pow_add by lia. field. lra. }
        assert (0 < a ^ Z.to_nat (z mod t)) by (apply pow_lt; lra). pose proof (exp_pos (- (1 / 1))).
        apply then_at_least with (a := (z mod t)%Z).
        -- apply Rmult_le_pos; [lra|]. left. apply Rdiv_lt_0_compat; lra.
        -- rewrite unit_power in *. apply Rmult_le_pos; [lra|apply pow_le; lra].
        -- apply remainder_at_least. lia.
        -- apply (map_at_least V (fun v => ((z mod t)%Z, v))).
           ++ rewrite unit_power in *. apply Rmult_le_pos; [lra|apply pow_le; lra].
           ++ rewrite <- (Z2Nat.id (z / t)) at 1 by lia. apply (count_at_least (coin_exp 1 1) (exp (- (1 / 1))) (Z.to_nat (z / t))) with (v := O).
              ** now apply coin_exp_chance.
              ** lia.
      * assert (z / d = x)%Z as ->; [|apply ret_at_least]. symmetry.
        apply Z.div_unique with (r := (z - d * x)%Z); [left; lia|lia].
  - rewrite (mass_ext _ f) by (intros; lra). unfold L. rewrite mass_map.
    rewrite (mass_ext _ (fun z => (1 - a) * a ^ Z.to_nat z)).
    + rewrite mass_powers by nia. rewrite b_power, <- pow_mult, <- Z2Nat.inj_mul by lia. rewrite (Z.mul_comm d x). lra.
    + intros z _. unfold f. cbn [fst snd]. now replace (z mod t + t * (z / t))%Z with z by (specialize (Hdiv z); lia).
Qed.

(** ** A sign; 0 has one only *)
Lemma signed_at_least c : snd c = true \/ fst c <> 0%Z -> at_least (signed t d) c (geometric_law b (fst c) * / (1 + b)).
Proof.
  intros Hc. destruct geometric_draws as [Hfull Hg]. pose proof b_range as Hb. unfold signed. set (p := Bind (geometric t d) _).
  set (f := fun c : Z * bool => geometric_law b (fst c) * (fun _ : bool => / 2) (snd c)).
  set (k := fun c : Z * bool => if (snd c || negb (fst c =? 0)%Z)%bool then 1 else 0).
  assert (draws p f) as Hp.
  { split.
    - intros e He. destruct (Hfull e He) as (L & HL & Hm). exists (list_prod L [true; false]). split.
      + apply nodup_prod; [easy|]. repeat constructor; [intros [E|[]]; discriminate|easy].
      + pose proof (mass_prod (geometric_law b) (fun _ : bool => / 2) L [true; false]) as E.
        change (mass f (list_prod L [true; false]) = mass (geometric_law b) L * (/ 2 + (/ 2 + 0))) in E. lra.
    - intros [x s]. unfold f. cbn [fst snd]. destruct (Hg x) as [H0 Hx]. split; [lra|].
      apply then_at_least with (a := x); [easy|lra|easy|]. apply (map_at_least Flip (fun s => (x, s))); [lra|apply flip_at_least]. }
  assert (f (0%Z, false) = (1 - b) / 2) as Hz by (unfold f, geometric_law; simpl; lra).
  replace (geometric_law b (fst c) * / (1 + b)) with (f c * k c / ((1 + b) / 2)).
  - apply until_at_least; [easy|intros; apply ret_coin|lra|]. intros L HL.
    assert (forall x y : Z * bool, {x = y} + {x <> y}) as dec by (decide equality; [apply Bool.bool_dec|apply Z.eq_dec]).
    assert (NoDup (remove dec (0%Z, false) L)) as HR.
    { clear - HL. induction HL as [|y L Hy HL IH]; simpl; [constructor|]. destruct (dec (0%Z, false) y); [easy|]. constructor; [|easy].
      intros X. now apply in_remove in X. }
    assert (mass f ((0%Z, false) :: remove dec (0%Z, false) L) <= 1) as H1.
    { apply (draws_most p); [apply Hp|]. constructor; [apply remove_In|easy]. }
    cbn [mass] in H1. assert (mass (fun x => f x * k x) L <= mass f (remove dec (0%Z, false) L)); [|lra].
    apply Rle_trans with (mass (fun x => f x * k x) (remove dec (0%Z, false) L)).
    + apply mass_cover; auto.
      * intros x. apply Rmult_le_pos; [apply Hp|]. unfold k. destruct (_ || _)%bool; lra.
      * intros x Hx. destruct (dec (0%Z, false) x) as [<-|N]; [right; unfold k; simpl; lra|left; now apply in_in_remove; [congruence|]].
    + apply mass_le. intros x _. assert (0 <= f x) by apply Hp. unfold k. destruct (_ || _)%bool; lra.
  - assert (k c = 1) as ->.
    { unfold k. destruct Hc as [->|H]; [easy|]. rewrite (proj2 (Z.eqb_neq _ _) H). now rewrite Bool.orb_true_r. }
    unfold f. field. lra.
Qed.
(** Its absolute value, and its sign *)
Theorem laplace_draws : draws (laplace_noise t d) (discrete_laplace (IZR t / IZR d)).
Proof.
  pose proof (ratio_pos t d Ht Hd) as Hs. pose proof b_range as Hb. split; [apply pmf_full, laplace_pmf, Hs|]. intros y.
  split; [now apply laplace_pos|]. rewrite laplace_pow by easy. fold b.
  pose proof (signed_at_least (Z.abs y, (0 <=? y)%Z)) as H. cbn [fst snd] in H.
  assert ((0 <=? y)%Z = true \/ Z.abs y <> 0%Z) as Hc by (destruct (Z.leb_spec 0 y); [now left|right; lia]). specialize (H Hc).
  assert (0 <= geometric_law b (Z.abs y) * / (1 + b)) as H0.
  { apply Rmult_le_pos; [apply geometric_draws|left; apply Rinv_0_lt_compat; lra]. }
  pose proof (map_at_least _ (fun c : Z * bool => (if snd c then fst c else - fst c)%Z) _ _ H0 H) as X. cbn [fst snd] in X.
  replace (if (0 <=? y)%Z then Z.abs y else (- Z.abs y)%Z) with y in X by (destruct (Z.leb_spec 0 y); lia).
  eapply at_least_le; [exact X|]. unfold geometric_law. rewrite (proj2 (Z.ltb_ge _ _)) by lia. right. field. lra.
Qed.
End Geometric.

(** ** The theorems *)
Theorem uniform_sampler n : (0 < n)%Z -> has_law (below n) (uniform n).
Proof. intros Hn. apply (draws_law Z.eq_dec). now apply below_draws. Qed.
(** A coin of rational probability *)
Theorem coin_sampler r n : (0 <= r <= n)%Z -> (0 < n)%Z ->
  has_law (coin r n) (fun b => if b then IZR r / IZR n else 1 - IZR r / IZR n).
Proof. intros Hr Hn. now apply coin_law, coin_chance. Qed.
(** Of probability e^-gamma *)
Theorem coin_exp_sampler n d : (0 <= n)%Z -> (0 < d)%Z ->
  has_law (coin_exp n d) (fun b => if b then exp (- (IZR n / IZR d)) else 1 - exp (- (IZR n / IZR d))).
Proof. intros Hn Hd. now apply coin_law, coin_exp_chance. Qed.
(** Discrete Laplace noise *)
Theorem laplace_sampler t d : (0 < t)%Z -> (0 < d)%Z -> has_law (laplace_noise t d) (discrete_laplace (IZR t / IZR d)).
Proof. intros Ht Hd. apply (draws_law Z.eq_dec). now apply laplace_draws. Qed.

(** Discrete Gaussian noise: |y|/t + (|y| d t - n)^2 / (2 n d t^2) = y^2/(2 n/d) + n/(2 d t^2) *)
Theorem gaussian_sampler n d f : (0 < n)%Z -> (0 < d)%Z -> discrete_gaussian (IZR n / IZR d) f -> has_law (gaussian_noise n d) f.
Proof.
  intros Hn Hd Hf. pose proof (ratio_pos n d Hn Hd) as Hs. apply (draws_law Z.eq_dec).
  pose proof (gauss_pmf _ f Hf) as Hpmf. split; [now apply pmf_full|]. intros y. split; [apply Hpmf|].
  unfold gaussian_noise. pose proof (Z.sqrt_nonneg (n / d)). set (t := (Z.sqrt (n / d) + 1)%Z). assert (0 < t)%Z as Ht by (unfold t; lia).
  clearbody t. cbv zeta. pose proof (laplace_draws t 1 Ht eq_refl) as Hl. set (l := discrete_laplace (IZR t / IZR 1)) in *.
  set (c := fun y : Z => exp (- (IZR ((Z.abs y * (d * t) - n) * (Z.abs y * (d * t) - n)) / IZR (2 * n * d * (t * t))))).
  destruct Hf as (N & HN & Hf). set (w := gauss_weight (IZR n / IZR d)) in *.
  assert (0 < IZR n) as Hn0 by now apply IZR_lt. assert (0 < IZR d) as Hd0 by now apply IZR_lt. assert (0 < IZR t) as Ht0 by now apply IZR_lt.
  set (a := exp (- (1 / (IZR t / IZR 1)))). assert (0 < a < 1) as Ha by (apply decay, ratio_pos; easy).
  set (C := (1 - a) / (1 + a) * exp (- (IZR n / (2 * IZR d * (IZR t * IZR t))))).
  assert (forall z, l z * c z = C * w z) as E.
  { intros z. unfold l, discrete_laplace, c, C, w, gauss_weight. fold a. rewrite !Rmult_assoc. f_equal.
    rewrite <- !exp_plus. f_equal. replace (z * z)%Z with (Z.abs z * Z.abs z)%Z by lia.
    rewrite !mult_IZR, minus_IZR, !mult_IZR. field. lra. }
  assert (0 < C) as HC by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|apply exp_pos]).
  pose proof (normaliser_pos _ N HN) as HN0.
  assert (forall z, 0 < l z -> coin_of (coin_exp ((Z.abs z * (d * t) - n) * (Z.abs z * (d * t) - n)) (2 * n * d * (t * t))) (c z)) as Hc.
  { intros z _. apply coin_exp_chance; [apply Z.square_nonneg|]. repeat apply Z.mul_pos_pos; easy. }
  assert (forall L, NoDup L -> mass (fun z => l z * c z) L <= C * N) as Hmass.
  { intros L HL. rewrite (mass_ext _ (fun z => C * w z)) by (intros; apply E). rewrite mass_scale.
    apply Rmult_le_compat_l; [lra|]. exact (normaliser_ge _ N L HN HL). }
  replace (f y) with (l y * c y / (C * N)) by (rewrite E, Hf; field; lra).
  apply until_at_least; auto. split; [now apply Rmult_lt_0_compat|].
  assert (N <= / C); [|apply Rle_trans with (C * / C); [apply Rmult_le_compat_l; lra|right; field; lra]]. destruct HN as [_ HN]. apply HN.
  intros r (L & HL & _ & ->). apply Rmult_le_reg_l with C; [easy|]. rewrite Rinv_r by lra. rewrite <- mass_scale.
  apply Rle_trans with (mass l L).
  - apply mass_le. intros z _. rewrite <- E. assert (0 <= l z) by apply Hl. assert (c z <= 1); [|rewrite <- (Rmult_1_r (l z)) at 2; now apply Rmult_le_compat_l].
    unfold c. assert (0 <= IZR ((Z.abs z * (d * t) - n) * (Z.abs z * (d * t) - n)) / IZR (2 * n * d * (t * t))) as X.
    { apply Rmult_le_pos; [apply IZR_le, Z.square_nonneg|left; apply Rinv_0_lt_compat, IZR_lt; repeat apply Z.mul_pos_pos; easy]. }
    destruct X as [X|<-]; [|rewrite Ropp_0, exp_0; lra].
    pose proof (exp_increasing _ 0 (Ropp_lt_gt_0_contravar _ X)) as Y. rewrite exp_0 in Y. lra.
  - apply (draws_most (laplace_noise t 1)); [apply Hl|easy].
Qed.
