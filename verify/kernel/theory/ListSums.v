(** Lists of uses: the lattices of all of them, one inside the other, summed in whole numbers. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights DiscreteLaplace RandomizedResponse Composition LaplacePair LaplaceUses Lattice Lists.
Import ListNotations.
Open Scope R_scope.

(** K uses of scale t/u and sensitivity Delta; randomized response is of sensitivity 1. *)
Record block := Block { count : nat; top : Z; bottom : Z; reach : nat }.
Fixpoint blocks_in (l : list Z) : list block :=
  match l with
  | k :: t :: u :: s :: l' => Block (Z.to_nat k) t u (if (s =? 0)%Z then 1 else Z.to_nat s) :: blocks_in l'
  | _ => []
  end.
Definition scale (b : block) : R := IZR (top b) / IZR (bottom b).
Definition fall (b : block) : R := exp (- (1 / scale b)).
Definition cells (b : block) : nat := (count b * reach b)%nat.
Definition pairs (bs : list block) : list pair := flat_map (fun b => repeat (laplace_pair (scale b) (reach b)) (count b)) bs.
Definition sound (b : block) : Prop := (0 < top b)%Z /\ (0 < bottom b)%Z /\ (0 < reach b)%nat.

(** By definition *)
Lemma scale_pos b : sound b -> 0 < scale b.
Proof. intros (Ht & Hu & _). now apply ratio_pos. Qed.
(** One by one *)
Lemma repeated_pair u n : map pair_of (repeat u n) = repeat (pair_of u) n.
Proof. induction n; simpl; [easy|]. now rewrite IHn. Qed.
(** Block by block *)
Lemma pairs_in : forall l, Forall sound (blocks_in l) -> Forall proper (uses_in l) /\ map pair_of (uses_in l) = pairs (blocks_in l).
Proof.
  enough (forall n l, (length l <= n)%nat -> Forall sound (blocks_in l) ->
    Forall proper (uses_in l) /\ map pair_of (uses_in l) = pairs (blocks_in l)) as A by (intros l; now apply (A (length l))).
  induction n as [|n IH]; intros [|k [|t [|u [|s l]]]] Hn H; try (split; [constructor|easy]); [easy|].
  cbn [blocks_in] in H. apply Forall_cons_iff in H as [(Ht & Hu & Hs) H]. cbn [length] in Hn. destruct (IH l ltac:(lia) H) as [H1 H2]. clear IH. cbn [top bottom reach] in *.
  cbn [uses_in blocks_in]. unfold pairs. cbn [flat_map count]. fold (pairs (blocks_in l)). unfold scale. cbn [top bottom reach].
  rewrite map_app, H2. apply IZR_lt in Ht, Hu.
  assert (0 < IZR t / IZR u) by (apply Rdiv_lt_0_compat; lra). assert (0 < IZR u / IZR t) by (apply Rdiv_lt_0_compat; lra). split.
  - apply Forall_app. split; [|easy]. apply Forall_forall. intros x Hx. apply repeat_spec in Hx as ->.
    destruct (Z.eqb_spec s 0); simpl; [easy|]. split; [easy|lia].
  - f_equal. rewrite repeated_pair. f_equal. destruct (Z.eqb_spec s 0); simpl; [|easy]. f_equal. field. lra.
Qed.

(** The excess over the lattices *)
Fixpoint excess (bs : list block) (x y : R) : R :=
  match bs with
  | [] => Rmax 0 (x - y)
  | b :: bs' => spread (scale b) (reach b) (count b) (fun j => excess bs' (x * fall b ^ (cells b - j)) (y * fall b ^ j)) 0
  end.
Fixpoint whole (bs : list block) : R := match bs with [] => 1 | b :: bs' => (1 + fall b) ^ count b * whole bs' end.
(** Term by term *)
Lemma spread_linear t Delta c F G : (forall j, c * F j = G j) -> forall K s, c * spread t Delta K F s = spread t Delta K G s.
Proof.
  intros H. induction K; intros s; [apply H|]. cbn [spread]. rewrite <- mass_scale. apply mass_ext. intros j _. rewrite <- IHK. ring.
Qed.
(** Block by block *)
Lemma excess_product bs : Forall sound bs -> forall x y, whole bs * product_above (pairs bs) x y = excess bs x y.
Proof.
  intros H. induction H as [|b bs Hb H IH]; intros x y; [simpl; ring|].
  cbn [whole excess]. unfold pairs. cbn [flat_map]. fold (pairs bs). pose proof (scale_pos b Hb) as Ht. destruct Hb as (_ & _ & HD).
  pose proof (spread_product (scale b) (reach b) Ht HD (pairs bs) (cells b) (count b) 0 ltac:(unfold cells; lia) x y) as E.
  unfold cells in E at 1. rewrite Nat.sub_diag in E. simpl (_ ^ (0 - 0)) in E. simpl (_ ^ 0) in E. rewrite !Rmult_1_r in E.
  rewrite (Rmult_comm _ (whole bs)), Rmult_assoc. unfold fall at 1. rewrite E. apply spread_linear. intros j. apply IH.
Qed.
(** A sum of such *)
Lemma excess_nonneg bs : Forall sound bs -> forall x y, 0 <= excess bs x y.
Proof.
  intros H. induction H as [|b bs Hb H IH]; intros x y; [apply Rmax_l|]. cbn [excess]. apply spread_nonneg; [now apply scale_pos|auto].
Qed.

Open Scope Z_scope.
(** Sums of C_j times what is left at A_j and B_j *)
Fixpoint sum_of (G : Z -> Z -> Z) (C A B : list Z) : Z :=
  match C, A, B with c :: C', a :: A', b :: B' => c * G a b + sum_of G C' A' B' | _, _, _ => 0 end.
(** One lattice inside the other; [f] and [g] divide by 2^P and round. *)
Fixpoint sums (f g : Z -> Z) (ts : list (list Z * (list Z * list Z))) (X Y : Z) : Z :=
  match ts with
  | [] => Z.max 0 (X - Y)
  | (C, (A, B)) :: ts' => sum_of (fun a b => sums f g ts' (f (X * a)) (g (Y * b))) C A B
  end.
Definition down (P x : Z) : Z := Z.shiftr x P.
Definition up (P x : Z) : Z := Z.shiftr x P + 1.

(** e^(-1/scale) lies between low and high, in units of 2^-P *)
Definition low (P : Z) (r : nat) (b : block) : Z := 2 ^ (2 * P) / exp_above r P (bottom b) (top b).
Definition high (P : Z) (r : nat) (b : block) : Z := 2 ^ (2 * P) / exp_below r P (bottom b) (top b) + 1.
Definition sound_check (P : Z) (r : nat) (b : block) : bool :=
  ((0 <? top b) && (0 <? bottom b) && (0 <? Z.of_nat (reach b)) && (bottom b <? top b * 2 ^ Z.of_nat r) &&
   (0 <? exp_above r P (bottom b) (top b)) && (0 <? exp_below r P (bottom b) (top b)) && (0 <=? low P r b) && (high P r b <=? 2 ^ P))%bool.
Definition table_up (P : Z) (r : nat) (b : block) : list Z * (list Z * list Z) :=
  (shares_up (reach b) (count b) (2 ^ P - low P r b) P,
   (rev (pows_up (cells b) P (high P r b) (2 ^ P)), pows_dn (cells b) P (low P r b) (2 ^ P))).
Definition table_down (P : Z) (r : nat) (b : block) : list Z * (list Z * list Z) :=
  (shares_down (reach b) (count b) (2 ^ P - high P r b) P,
   (rev (pows_dn (cells b) P (low P r b) (2 ^ P)), pows_up (cells b) P (high P r b) (2 ^ P))).
Definition even (T : list Z * (list Z * list Z)) : bool :=
  ((Z.of_nat (length (fst T)) =? Z.of_nat (length (snd (snd T)))) && forallb (Z.leb 0) (fst T))%bool.
Fixpoint whole_down (P : Z) (r : nat) (bs : list block) : Z :=
  match bs with [] => 1 | b :: bs' => last (pows_dn (count b) P (2 ^ P + low P r b) (2 ^ P)) 0 * whole_down P r bs' end.
Fixpoint whole_up (P : Z) (r : nat) (bs : list block) : Z :=
  match bs with [] => 1 | b :: bs' => last (pows_up (count b) P (2 ^ P + high P r b) (2 ^ P)) 0 * whole_up P r bs' end.

(** eps = a/b, delta = n/d *)
Definition list_check (l : list Z) (a b n d P : Z) (r : nat) : bool :=
  let bs := blocks_in l in let ts := map (table_up P r) bs in let e := exp_below r P a b in
  ((0 <=? P) && is_ratio a b && is_ratio n d && (0 <=? e) && forallb (sound_check P r) bs && forallb even ts &&
   (sums (up P) (down P) ts (2 ^ P) e * d <=? n * (whole_down P r bs * 2 ^ P)))%bool.
Definition list_refutes (l : list Z) (a b n d P : Z) (r : nat) : bool :=
  let bs := blocks_in l in let ts := map (table_down P r) bs in let e := exp_above r P a b in
  ((0 <=? P) && is_ratio a b && is_ratio n d && (a <? b * 2 ^ Z.of_nat r) && forallb (sound_check P r) bs && forallb even ts &&
   (n * (whole_up P r bs * 2 ^ P) <? sums (down P) (up P) ts (2 ^ P) e * d))%bool.
Close Scope Z_scope.

(** Term by term *)
Lemma sum_of_ge G w F C : (forall c, In c C -> (0 <= c)%Z) -> forall A B s, length A = length C -> length B = length C ->
  (forall j, (j < length C)%nat -> w * F (s + j)%nat <= IZR (G (nth j A 0%Z) (nth j B 0%Z))) ->
  w * dot C F s <= IZR (sum_of G C A B).
Proof.
  induction C as [|c C IH]; intros Hc [|a A] [|b B] s HA HB H; try discriminate; [unfold dot; simpl; lra|].
  cbn [sum_of]. rewrite dot_cons, plus_IZR, mult_IZR. injection HA as HA. injection HB as HB.
  pose proof (H 0%nat ltac:(simpl; lia)) as H0. cbn [nth] in H0. rewrite Nat.add_0_r in H0.
  assert (0 <= IZR c) by (apply IZR_le, Hc; now left).
  assert (w * dot C F (S s) <= IZR (sum_of G C A B)).
  { apply IH; auto. { intros; apply Hc; now right. } intros j Hj. specialize (H (S j) ltac:(simpl; lia)). cbn [nth] in H. now rewrite <- plus_n_Sm in H. }
  nra.
Qed.
(** Term by term *)
Lemma sum_of_le G w F C : (forall c, In c C -> (0 <= c)%Z) -> forall A B s, length A = length C -> length B = length C ->
  (forall j, (j < length C)%nat -> IZR (G (nth j A 0%Z) (nth j B 0%Z)) <= w * F (s + j)%nat) ->
  IZR (sum_of G C A B) <= w * dot C F s.
Proof.
  induction C as [|c C IH]; intros Hc [|a A] [|b B] s HA HB H; try discriminate; [unfold dot; simpl; lra|].
  cbn [sum_of]. rewrite dot_cons, plus_IZR, mult_IZR. injection HA as HA. injection HB as HB.
  pose proof (H 0%nat ltac:(simpl; lia)) as H0. cbn [nth] in H0. rewrite Nat.add_0_r in H0.
  assert (0 <= IZR c) by (apply IZR_le, Hc; now left).
  assert (IZR (sum_of G C A B) <= w * dot C F (S s)).
  { apply IH; auto. { intros; apply Hc; now right. } intros j Hj. specialize (H (S j) ltac:(simpl; lia)). cbn [nth] in H. now rewrite <- plus_n_Sm in H. }
  nra.
Qed.

Section Sums.
Variables (P : Z) (r : nat).
Hypothesis HP : (0 <= P)%Z.
Let p := IZR (2 ^ P).
(** A power *)
Lemma unit_pos : 0 < p.
Proof. now apply IZR_pow2_pos. Qed.
(** Rounded up *)
Lemma up_ge X a x z : 0 <= x -> 0 <= z -> x * p <= IZR X -> z * p <= IZR a -> x * z * p <= IZR (up P (X * a)).
Proof.
  pose proof unit_pos as Hp. intros Hx Hz HX Ha. unfold up. rewrite Z.shiftr_div_pow2 by easy.
  pose proof (div_up (X * a) (2 ^ P) ltac:(apply Z.pow_pos_nonneg; lia)) as H. rewrite mult_IZR in H. fold p in H.
  apply Rmult_le_reg_r with p; [easy|]. assert ((x * p) * (z * p) <= IZR X * IZR a) by (apply Rmult_le_compat; nra). nra.
Qed.
(** Rounded down *)
Lemma down_le X a x z : (0 <= X)%Z -> (0 <= a)%Z -> IZR X <= x * p -> IZR a <= z * p -> (0 <= down P (X * a))%Z /\ IZR (down P (X * a)) <= x * z * p.
Proof.
  pose proof unit_pos as Hp. intros Hx Ha HX Hz. unfold down. split; [apply Z.shiftr_nonneg; nia|]. rewrite Z.shiftr_div_pow2 by easy.
  pose proof (div_le (X * a) (2 ^ P) ltac:(apply Z.pow_pos_nonneg; lia)) as H. rewrite mult_IZR in H. fold p in H.
  apply IZR_le in Hx, Ha. apply Rmult_le_reg_r with p; [easy|]. assert (IZR X * IZR a <= (x * p) * (z * p)) by (apply Rmult_le_compat; nra). nra.
Qed.

(** What a table says of its block *)
Definition table_above (b : block) (T : list Z * (list Z * list Z)) : Prop :=
  let '(C, (A, B)) := T in sound b /\ (forall c, In c C -> (0 <= c)%Z) /\ length C = S (cells b) /\ length A = length C /\ length B = length C /\
  (forall F, (forall j, 0 <= F j) -> p * spread (scale b) (reach b) (count b) F 0 <= dot C F 0) /\
  forall j, (j <= cells b)%nat -> fall b ^ (cells b - j) * p <= IZR (nth j A 0%Z) /\ (0 <= nth j B 0)%Z /\ IZR (nth j B 0%Z) <= fall b ^ j * p.
Definition table_below (b : block) (T : list Z * (list Z * list Z)) : Prop :=
  let '(C, (A, B)) := T in sound b /\ (forall c, In c C -> (0 <= c)%Z) /\ length C = S (cells b) /\ length A = length C /\ length B = length C /\
  (forall F, (forall j, 0 <= F j) -> dot C F 0 <= p * spread (scale b) (reach b) (count b) F 0) /\
  forall j, (j <= cells b)%nat -> fall b ^ j * p <= IZR (nth j B 0%Z) /\ (0 <= nth j A 0)%Z /\ IZR (nth j A 0%Z) <= fall b ^ (cells b - j) * p.

(** Outermost first *)
Lemma sums_ge bs ts : Forall sound bs -> Forall2 table_above bs ts -> forall x y X Y, 0 <= x -> x * p <= IZR X -> (0 <= Y)%Z -> IZR Y <= y * p ->
  p ^ S (length bs) * excess bs x y <= IZR (sums (up P) (down P) ts X Y).
Proof.
  intros Hbs H. pose proof unit_pos as Hp. induction H as [|b [C [A B]] bs ts Hb H IH]; intros x y X Y Hx HX HY0 HY.
  - cbn [length pow excess sums]. rewrite Rmult_1_r.
    assert (IZR X - IZR Y <= IZR (Z.max 0 (X - Y))) by (rewrite <- minus_IZR; apply IZR_le; lia).
    assert (0 <= IZR (Z.max 0 (X - Y))) by (apply IZR_le; lia). apply Rmax_case; nra.
  - apply Forall_cons_iff in Hbs as [_ Hbs]. destruct Hb as (Hs & Hc & HC & HA & HB & HF & Hj). cbn [length excess sums]. pose proof (pow_lt p (S (length bs)) Hp).
    set (F := fun j => excess bs (x * fall b ^ (cells b - j)) (y * fall b ^ j)).
    apply Rle_trans with (p ^ S (length bs) * dot C F 0).
    { change (p ^ S (S (length bs))) with (p * p ^ S (length bs)). specialize (HF F ltac:(intros; now apply excess_nonneg)). nra. }
    apply sum_of_ge; auto. intros j Hlt. destruct (Hj j ltac:(lia)) as (H1 & H2 & H3). rewrite Nat.add_0_l. unfold F.
    destruct (down_le Y (nth j B 0%Z) y (fall b ^ j) HY0 H2 HY H3). pose proof (exp_pos (- (1 / scale b))) as Hf. fold (fall b) in Hf.
    assert (0 <= fall b ^ (cells b - j)) by (apply pow_le; lra).
    apply IH; auto; [nra|]. now apply up_ge.
Qed.
(** Outermost first *)
Lemma sums_le bs ts : Forall sound bs -> Forall2 table_below bs ts -> forall x y X Y, 0 <= y -> (0 <= X)%Z -> IZR X <= x * p -> y * p <= IZR Y ->
  IZR (sums (down P) (up P) ts X Y) <= p ^ S (length bs) * excess bs x y.
Proof.
  intros Hbs H. pose proof unit_pos as Hp. induction H as [|b [C [A B]] bs ts Hb H IH]; intros x y X Y Hy HX0 HX HY.
  - cbn [length pow excess sums]. rewrite Rmult_1_r. pose proof (Rmax_l 0 (x - y)). pose proof (Rmax_r 0 (x - y)).
    destruct (Z.max_spec 0 (X - Y)) as [[_ ->]|[_ ->]]; rewrite ?minus_IZR; nra.
  - apply Forall_cons_iff in Hbs as [_ Hbs]. destruct Hb as (Hs & Hc & HC & HA & HB & HF & Hj). cbn [length excess sums]. pose proof (pow_lt p (S (length bs)) Hp).
    set (F := fun j => excess bs (x * fall b ^ (cells b - j)) (y * fall b ^ j)).
    apply Rle_trans with (p ^ S (length bs) * dot C F 0).
    2: { change (p ^ S (S (length bs))) with (p * p ^ S (length bs)). specialize (HF F ltac:(intros; now apply excess_nonneg)). nra. }
    apply sum_of_le; auto. intros j Hlt. destruct (Hj j ltac:(lia)) as (H1 & H2 & H3). rewrite Nat.add_0_l. unfold F.
    destruct (down_le X (nth j A 0%Z) x (fall b ^ (cells b - j)) HX0 H2 HX H3). pose proof (exp_pos (- (1 / scale b))) as Hf. fold (fall b) in Hf.
    assert (0 <= fall b ^ j) by (apply pow_le; lra).
    apply IH; auto; [nra|]. now apply up_ge.
Qed.

(** What is checked of a block *)
Lemma sound_check_ok b : sound_check P r b = true ->
  sound b /\ 0 < fall b < 1 /\ (0 <= low P r b)%Z /\ IZR (low P r b) <= fall b * p <= IZR (high P r b) /\ (high P r b <= 2 ^ P)%Z.
Proof.
  unfold sound_check. intros H. split_bool H. assert (sound b) as Hs by (repeat split; auto; lia). pose proof (rate _ (scale_pos b Hs)) as Ha.
  repeat split; auto; try apply Ha; try lia.
  - now apply (rate_bounds (top b) (bottom b) P r).
  - now apply (rate_bounds (top b) (bottom b) P r).
Qed.
(** What is checked of its table *)
Lemma even_ok C A B : even (C, (A, B)) = true -> length C = length B /\ forall c, In c C -> (0 <= c)%Z.
Proof.
  unfold even. cbn [fst snd]. intros H. apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1. split; [lia|].
  intros c Hc. rewrite forallb_forall in H2. apply Z.leb_le. now apply H2.
Qed.
(** Every table is rounded as it should be *)
Lemma tables_up bs : forallb (sound_check P r) bs = true -> forallb even (map (table_up P r) bs) = true ->
  Forall sound bs /\ Forall2 table_above bs (map (table_up P r) bs).
Proof.
  pose proof unit_pos as Hp. assert (0 <= 2 ^ P)%Z as H2P by (apply Z.pow_nonneg; lia).
  induction bs as [|b bs IH]; intros H1 H2; [split; constructor|]. cbn [map forallb] in *.
  apply andb_prop in H1 as [H1 H1']. apply andb_prop in H2 as [H2 H2']. destruct (IH H1' H2') as [IH1 IH2].
  destruct (sound_check_ok b H1) as (Hs & Ha & Hlo & Hb & Hhi). destruct (even_ok _ _ _ H2) as [HC Hc]. rewrite pows_dn_len in HC.
  split; constructor; auto. unfold table_up, table_above. repeat split; auto; try apply Hs.
  - rewrite HC, rev_length. apply pows_up_len.
  - rewrite HC. apply pows_dn_len.
  - intros F HF. apply shares_up_ok; auto; [now apply scale_pos|apply Hs|]. rewrite minus_IZR. fold p (fall b). lra.
  - rewrite rev_nth; rewrite pows_up_len; [|lia]. replace (S (cells b) - S j)%nat with (cells b - j)%nat by lia.
    pose proof (pows_up_ok P (high P r b) (fall b) (cells b) HP ltac:(lra) (proj2 Hb) (2 ^ P)%Z (cells b - j) 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X. fold p in X. lra.
  - pose proof (pows_dn_ok P (low P r b) (fall b) (cells b) HP Hlo (proj1 Hb) (2 ^ P)%Z j 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X. apply le_IZR, X.
  - pose proof (pows_dn_ok P (low P r b) (fall b) (cells b) HP Hlo (proj1 Hb) (2 ^ P)%Z j 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X. fold p in X. lra.
Qed.
(** Every table is rounded as it should be *)
Lemma tables_down bs : forallb (sound_check P r) bs = true -> forallb even (map (table_down P r) bs) = true ->
  Forall sound bs /\ Forall2 table_below bs (map (table_down P r) bs).
Proof.
  pose proof unit_pos as Hp. assert (0 <= 2 ^ P)%Z as H2P by (apply Z.pow_nonneg; lia).
  induction bs as [|b bs IH]; intros H1 H2; [split; constructor|]. cbn [map forallb] in *.
  apply andb_prop in H1 as [H1 H1']. apply andb_prop in H2 as [H2 H2']. destruct (IH H1' H2') as [IH1 IH2].
  destruct (sound_check_ok b H1) as (Hs & Ha & Hlo & Hb & Hhi). destruct (even_ok _ _ _ H2) as [HC Hc]. rewrite pows_up_len in HC.
  split; constructor; auto. unfold table_down, table_below. repeat split; auto; try apply Hs.
  - rewrite HC, rev_length. apply pows_dn_len.
  - rewrite HC. apply pows_up_len.
  - intros F HF. apply shares_down_ok; auto; [now apply scale_pos|apply Hs|lia|]. rewrite minus_IZR. fold p (fall b). lra.
  - pose proof (pows_up_ok P (high P r b) (fall b) (cells b) HP ltac:(lra) (proj2 Hb) (2 ^ P)%Z j 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X. fold p in X. lra.
  - rewrite rev_nth; rewrite pows_dn_len; [|lia]. replace (S (cells b) - S j)%nat with (cells b - j)%nat by lia.
    pose proof (pows_dn_ok P (low P r b) (fall b) (cells b) HP Hlo (proj1 Hb) (2 ^ P)%Z (cells b - j) 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X. apply le_IZR, X.
  - rewrite rev_nth; rewrite pows_dn_len; [|lia]. replace (S (cells b) - S j)%nat with (cells b - j)%nat by lia.
    pose proof (pows_dn_ok P (low P r b) (fall b) (cells b) HP Hlo (proj1 Hb) (2 ^ P)%Z (cells b - j) 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X. fold p in X. lra.
Qed.
(** A product of such *)
Lemma whole_pos bs : 0 < whole bs.
Proof.
  induction bs as [|b bs IH]; [simpl; lra|]. cbn [whole]. apply Rmult_lt_0_compat; [|easy]. apply pow_lt.
  unfold fall. pose proof (exp_pos (- (1 / scale b))). lra.
Qed.
(** Block by block *)
Lemma whole_down_ok bs : forallb (sound_check P r) bs = true -> 0 <= IZR (whole_down P r bs) <= p ^ length bs * whole bs.
Proof.
  pose proof unit_pos as Hp. assert (0 <= 2 ^ P)%Z as H2P by (apply Z.pow_nonneg; lia).
  induction bs as [|b bs IH]; intros H; [simpl; lra|]. cbn [forallb] in H. apply andb_prop in H as [H H']. specialize (IH H').
  destruct (sound_check_ok b H) as (Hs & Ha & Hlo & Hb & Hhi). cbn [whole_down whole length pow]. rewrite mult_IZR, last_dn.
  pose proof (pows_dn_ok P (2 ^ P + low P r b) (1 + fall b) (count b) HP ltac:(lia) ltac:(rewrite plus_IZR; fold p; lra) (2 ^ P)%Z (count b) 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X.
  fold p in X. rewrite Rmult_1_l in X. set (v := IZR (nth _ _ _)) in *. set (w := (1 + fall b) ^ count b) in *. split; [nra|].
  replace (p * p ^ length bs * (w * whole bs)) with ((w * p) * (p ^ length bs * whole bs)) by ring. apply Rmult_le_compat; lra.
Qed.
(** Block by block *)
Lemma whole_up_ok bs : forallb (sound_check P r) bs = true -> p ^ length bs * whole bs <= IZR (whole_up P r bs).
Proof.
  pose proof unit_pos as Hp. assert (0 <= 2 ^ P)%Z as H2P by (apply Z.pow_nonneg; lia).
  induction bs as [|b bs IH]; intros H; [simpl; lra|]. cbn [forallb] in H. apply andb_prop in H as [H H']. specialize (IH H').
  destruct (sound_check_ok b H) as (Hs & Ha & Hlo & Hb & Hhi). cbn [whole_up whole length pow]. rewrite mult_IZR, last_up.
  pose proof (pows_up_ok P (2 ^ P + high P r b) (1 + fall b) (count b) HP ltac:(lra) ltac:(rewrite plus_IZR; fold p; lra) (2 ^ P)%Z (count b) 1 H2P ltac:(lra) ltac:(fold p; lra) ltac:(lia)) as X.
  fold p in X. rewrite Rmult_1_l in X. pose proof (whole_pos bs). pose proof (pow_lt p (length bs) Hp).
  assert (0 < (1 + fall b) ^ count b) by (apply pow_lt; lra). set (v := IZR (nth _ _ _)) in *. set (w := (1 + fall b) ^ count b) in *.
  replace (p * p ^ length bs * (w * whole bs)) with ((w * p) * (p ^ length bs * whole bs)) by ring. apply Rmult_le_compat; nra.
Qed.
End Sums.

(** Each factor rounded up, and the total down *)
Lemma list_check_ok l a b n d P r : list_check l a b n d P r = true ->
  Forall sound (blocks_in l) /\ product_above (pairs (blocks_in l)) 1 (exp (IZR a / IZR b)) <= IZR n / IZR d.
Proof.
  unfold list_check. intros H. split_bool H. set (bs := blocks_in l) in *. set (e := exp_below r P a b) in *.
  assert (0 <= P)%Z as HP by assumption. pose proof (IZR_pow2_pos P HP) as Hp. set (p := IZR (2 ^ P)) in *.
  destruct (tables_up P r HP bs) as [Hbs Hts]; auto.
  assert (IZR e <= exp (IZR a / IZR b) * p) as He by (apply exp_below_ok; eauto using ratio_top, ratio_bottom). set (x := exp (IZR a / IZR b)) in *.
  split; [easy|].
  pose proof (sums_ge P HP bs _ Hbs Hts 1 x (2 ^ P)%Z e ltac:(lra) ltac:(fold p; lra) ltac:(easy) He) as Hsum. fold p in Hsum.
  rewrite <- excess_product in Hsum by easy. pose proof (whole_down_ok P r HP bs ltac:(easy)) as HW. fold p in HW. pose proof (whole_pos bs) as Hw.
  match goal with X : (sums _ _ _ _ _ * d <= _)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR in X; rename X into Hc end. fold p in Hc.
  assert (0 < IZR d) as Hd by (apply IZR_lt; eauto using ratio_bottom). assert (0 <= IZR n) as Hn by (apply IZR_le; eauto using ratio_top).
  set (S3 := IZR (sums _ _ _ _ _)) in *. set (L := IZR (whole_down P r bs)) in *. set (E := product_above _ _ _) in *. cbn [pow] in Hsum.
  pose proof (pow_lt p (length bs) Hp) as Hq. set (q := p ^ length bs) in *.
  apply Rmult_le_reg_r with (IZR d * (p * q * whole bs)); [apply Rmult_lt_0_compat; [easy|]; apply Rmult_lt_0_compat; nra|].
  replace (IZR n / IZR d * (IZR d * (p * q * whole bs))) with (IZR n * (q * whole bs) * p) by (field; lra).
  assert (IZR n * L <= IZR n * (q * whole bs)) as X by (apply Rmult_le_compat_l; lra).
  apply Rmult_le_compat_r with (r := p) in X; [|lra]. apply Rmult_le_compat_r with (r := IZR d) in Hsum; [|lra]. lra.
Qed.

(** Each factor rounded down, and the total up *)
Lemma list_refutes_ok l a b n d P r : list_refutes l a b n d P r = true ->
  Forall sound (blocks_in l) /\ 0 <= IZR n / IZR d < product_above (pairs (blocks_in l)) 1 (exp (IZR a / IZR b)).
Proof.
  unfold list_refutes. intros H. split_bool H. set (bs := blocks_in l) in *. set (e := exp_above r P a b) in *.
  assert (0 <= P)%Z as HP by assumption. pose proof (IZR_pow2_pos P HP) as Hp. set (p := IZR (2 ^ P)) in *.
  destruct (tables_down P r HP bs) as [Hbs Hts]; auto.
  assert (exp (IZR a / IZR b) * p <= IZR e) as He by (apply exp_above_ok; eauto using ratio_top, ratio_bottom). pose proof (exp_pos (IZR a / IZR b)) as Hx. set (x := exp (IZR a / IZR b)) in *.
  split; [easy|]. split; [now apply ratio_nonneg|].
  pose proof (sums_le P HP bs _ Hbs Hts 1 x (2 ^ P)%Z e ltac:(lra) ltac:(apply Z.pow_nonneg; lia) ltac:(fold p; lra) He) as Hsum. fold p in Hsum.
  rewrite <- excess_product in Hsum by easy. pose proof (whole_up_ok P r HP bs ltac:(easy)) as HW. fold p in HW. pose proof (whole_pos bs) as Hw.
  match goal with X : (_ < sums _ _ _ _ _ * d)%Z |- _ => apply IZR_lt in X; rewrite !mult_IZR in X; rename X into Hc end. fold p in Hc.
  assert (0 < IZR d) as Hd by (apply IZR_lt; eauto using ratio_bottom). assert (0 <= IZR n) as Hn by (apply IZR_le; eauto using ratio_top).
  set (S3 := IZR (sums _ _ _ _ _)) in *. set (L := IZR (whole_up P r bs)) in *. set (E := product_above _ _ _) in *. cbn [pow] in Hsum.
  pose proof (pow_lt p (length bs) Hp) as Hq. set (q := p ^ length bs) in *.
  apply Rmult_lt_reg_r with (IZR d * (p * q * whole bs)); [apply Rmult_lt_0_compat; [easy|]; apply Rmult_lt_0_compat; nra|].
  replace (IZR n / IZR d * (IZR d * (p * q * whole bs))) with (IZR n * (q * whole bs) * p) by (field; lra).
  assert (IZR n * (q * whole bs) <= IZR n * L) as X by (apply Rmult_le_compat_l; lra).
  apply Rmult_le_compat_r with (r := p) in X; [|lra]. apply Rmult_le_compat_r with (r := IZR d) in Hsum; [|lra]. lra.
Qed.

(** The product of the pairs decides *)
Theorem mixed_dp l a b n d P r : list_check l a b n d P r = true -> list_dp (uses_in l) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  intros H. destruct (list_check_ok _ _ _ _ _ _ _ H) as [Hbs Hle]. destruct (pairs_in l Hbs) as [Hus Hpairs]. apply list_is_dp; [easy|now rewrite Hpairs].
Qed.
(** ... either way *)
Theorem mixed_not_dp l a b n d P r : list_refutes l a b n d P r = true -> list_not_dp (uses_in l) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  intros H. destruct (list_refutes_ok _ _ _ _ _ _ _ H) as [Hbs [H0 Hlt]]. destruct (pairs_in l Hbs) as [Hus Hpairs]. apply list_is_not_dp; [easy|easy|now rewrite Hpairs].
Qed.

(** ** Noise on K queries: a list of one block *)
Definition one_block (K : nat) (t u : Z) (Delta : nat) : list Z := [Z.of_nat K; t; u; Z.of_nat Delta].
Definition lattice_check (K : nat) (t u : Z) (Delta : nat) (a b n d P : Z) (r : nat) : bool :=
  ((0 <? Z.of_nat Delta)%Z && list_check (one_block K t u Delta) a b n d P r)%bool.
Definition lattice_refutes (K : nat) (t u : Z) (Delta : nat) (a b n d P : Z) (r : nat) : bool :=
  ((0 <? Z.of_nat Delta)%Z && list_refutes (one_block K t u Delta) a b n d P r)%bool.
(** Its pairs *)
Lemma block_pairs K t u Delta : (0 < Delta)%nat ->
  blocks_in (one_block K t u Delta) = [Block K t u Delta] /\ pairs [Block K t u Delta] = repeat (laplace_pair (IZR t / IZR u) Delta) K.
Proof.
  intros HD. split; [|unfold pairs; cbn [flat_map count reach]; now rewrite app_nil_r]. unfold one_block. cbn [blocks_in].
  destruct (Z.eqb_spec (Z.of_nat Delta) 0); [lia|]. now rewrite !Nat2Z.id.
Qed.
(** The product of the pairs decides *)
Theorem lattice_dp K t u Delta a b n d P r : lattice_check K t u Delta a b n d P r = true ->
  noise_uses_dp (discrete_laplace (IZR t / IZR u)) K (Z.of_nat Delta) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold lattice_check. intros H. split_bool H. destruct (list_check_ok _ _ _ _ _ _ _ H0) as [Hbs Hle].
  destruct (block_pairs K t u Delta ltac:(lia)) as [E1 E2]. rewrite E1 in Hbs, Hle. rewrite E2 in Hle. apply Forall_cons_iff in Hbs as [Hb _].
  pose proof (scale_pos _ Hb) as Ht. unfold scale in Ht. cbn [top bottom] in Ht. pose proof (rate _ Ht).
  apply uses_dp; [easy|lia|]. rewrite <- lattice_product by (easy || lia). rewrite Rmult_comm. apply Rmult_le_compat_r; [apply pow_le; lra|easy].
Qed.
(** ... either way *)
Theorem lattice_not_dp K t u Delta a b n d P r : lattice_refutes K t u Delta a b n d P r = true ->
  noise_uses_not_dp (discrete_laplace (IZR t / IZR u)) K (Z.of_nat Delta) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold lattice_refutes. intros H. split_bool H. destruct (list_refutes_ok _ _ _ _ _ _ _ H0) as [Hbs [Hn Hlt]].
  destruct (block_pairs K t u Delta ltac:(lia)) as [E1 E2]. rewrite E1 in Hbs, Hlt. rewrite E2 in Hlt. apply Forall_cons_iff in Hbs as [Hb _].
  pose proof (scale_pos _ Hb) as Ht. unfold scale in Ht. cbn [top bottom] in Ht. pose proof (rate _ Ht).
  apply uses_not_dp; [easy|lia|easy|]. rewrite <- lattice_product by (easy || lia). rewrite Rmult_comm. apply Rmult_lt_compat_l; [apply pow_lt; lra|easy].
Qed.
