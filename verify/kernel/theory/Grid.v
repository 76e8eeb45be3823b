(** Pairs on a grid of privacy losses: losses are split onto neighbouring grid points, products of pairs are
    products of polynomials with whole coefficients, everything rounded up. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights Tables Composition Lattice.
Import ListNotations.
Open Scope R_scope.

(** A finite pair of whole weights over one total *)
Definition listed_pair (l : list (Z * Z)) (W : Z) : pair :=
  Pair (fun k => IZR (fst (nth k l (0, 0)%Z)) / IZR W) (fun k => IZR (snd (nth k l (0, 0)%Z)) / IZR W) (seq 0 (length l)).

Open Scope Z_scope.
(** Losses (j - origin) ln(u/v) of weights [cells], j = 0, 1, ..., and infinite loss of weight [lost]: in units of 2^-B. *)
Record grid := Grid { origin : nat; cells : list Z; lost : Z }.
Definition div_ceil (x y : Z) : Z := - (- x / y).
Definition shift_ceil (B x : Z) : Z := - Z.shiftr (- x) B.
(** e^(-loss) in units of 2^-P, rounded up *)
Fixpoint uppers (n : nat) (u v U : Z) : list Z :=
  match n with O => [] | S m => let U' := U * v / u + 1 in U' :: uppers m u v U' end.
(** As many outcomes as lie between two grid points, each split such that neither its weight on the left falls nor
    that on the right rises *)
Fixpoint cell (p U0 U1 lo hi : Z) (l : list (Z * Z)) : Z * Z * list (Z * Z) :=
  match l with
  | [] => (lo, hi, [])
  | (a, b) :: l' =>
      let share := Z.max 0 (div_ceil (a * U0 - b * p) (U0 - U1)) in
      if ((share <=? a) && ((a - share) * U0 + share * U1 <=? b * p))%bool then cell p U0 U1 (lo + (a - share)) (hi + share) l' else (lo, hi, l)
  end.
Fixpoint split (p U0 : Z) (U : list Z) (carry : Z) (l : list (Z * Z)) : list Z * list (Z * Z) :=
  match U with
  | [] => ([carry], l)
  | U1 :: U' =>
      let '(lo, hi, rest) := if U1 <? U0 then cell p U0 U1 carry 0 l else (carry, 0, l) in
      let '(C, rest') := split p U1 U' hi rest in (lo :: C, rest')
  end.
Definition weigh (l : list (Z * Z)) : Z := total (map fst l).
Definition on_grid (l : list (Z * Z)) (W u v B P : Z) (o n : nat) : grid :=
  let U := u ^ Z.of_nat o * 2 ^ P / v ^ Z.of_nat o + 1 in
  let '(C, rest) := split (2 ^ P) U (uppers n u v U) 0 (map (fun c => (fst c * 2 ^ B, snd c * 2 ^ B)) l) in
  Grid o (map (fun c => div_ceil c W) C) (div_ceil (weigh rest) W).
(** Losses below [G] cells under zero count as if they were there, those of [H] cells above zero as infinite. *)
Fixpoint low (n : nat) (carry : Z) (C : list Z) : list Z :=
  match C with
  | [] => [carry]
  | c :: C' => match n with O => carry + c :: C' | S m => low m (carry + c) C' end
  end.
Definition trim (G H : nat) (g : grid) : grid :=
  let k := (origin g - G)%nat in let o := (origin g - k)%nat in let C := low k 0 (cells g) in
  Grid o (firstn (o + H) C) (lost g + total (skipn (o + H) C)).
Definition joined (B : Z) (G H : nat) (g g' : grid) : grid :=
  trim G H (Grid (origin g + origin g') (map (shift_ceil B) (times (cells g) (cells g')))
    (shift_ceil B (lost g * total (cells g') + lost g' * total (cells g) + lost g * lost g'))).
Fixpoint power (B : Z) (G H : nat) (g : grid) (k : positive) : grid :=
  match k with
  | xH => g
  | xO k' => let h := power B G H g k' in joined B G H h h
  | xI k' => let h := power B G H g k' in joined B G H g (joined B G H h h)
  end.
(** The sum of c max(0, 1 - e^(eps - loss)) over losses from zero on, where [lo] is e^(eps - loss), rounded down *)
Fixpoint cost (p u v lo : Z) (C : list Z) : Z :=
  match C with [] => 0 | c :: C' => c * Z.max 0 (p - lo) + cost p u v (lo * v / u) C' end.
Definition both_nonneg (l : list (Z * Z)) : bool := forallb (fun c => (0 <=? fst c) && (0 <=? snd c))%bool l.
Definition grid_check (l : list (Z * Z)) (W : Z) (K : nat) (u v B : Z) (o m G H : nat) (a b n d P : Z) (r : nat) : bool :=
  ((0 <? v) && (v <? u) && (0 <=? B) && (0 <=? P) && (0 <? W) && both_nonneg l && is_ratio a b && is_ratio n d && (0 <? Z.of_nat K) &&
   let g := power B G H (on_grid l W u v B P o m) (Z.to_pos (Z.of_nat K)) in
   (d * (cost (2 ^ P) u v (exp_below r P a b) (skipn (origin g) (cells g)) + 2 ^ P * lost g) <=? n * 2 ^ P * 2 ^ B))%bool.
Close Scope Z_scope.

(** What x has above y *)
Definition gain (x y : R) : R := Rmax 0 (x - y).
(** By definition *)
Lemma gain_nonneg x y : 0 <= gain x y.
Proof. apply Rmax_l. Qed.
(** By definition *)
Lemma gain_ge x y : x - y <= gain x y.
Proof. apply Rmax_r. Qed.
(** Either bound *)
Lemma gain_le x y b : 0 <= b -> x - y <= b -> gain x y <= b.
Proof. intros. now apply Rmax_lub. Qed.
(** Nothing is taken from x *)
Lemma gain_most x y : 0 <= x -> 0 <= y -> gain x y <= x.
Proof. intros. apply gain_le; lra. Qed.
(** What is taken falls *)
Lemma gain_rises x y z : z <= y -> gain x y <= gain x z.
Proof. intros. apply gain_le; [apply gain_nonneg|]. pose proof (gain_ge x z). lra. Qed.

(** Rounded up *)
Lemma div_ceil_ok x y : (0 < y)%Z -> IZR x <= IZR (div_ceil x y) * IZR y.
Proof.
  intros H. unfold div_ceil. rewrite <- mult_IZR. apply IZR_le. pose proof (Z.mul_div_le (- x) y H). lia.
Qed.
(** Rounded up *)
Lemma shift_ceil_ok B x : (0 <= B)%Z -> IZR x <= IZR (shift_ceil B x) * IZR (2 ^ B).
Proof.
  intros H. unfold shift_ceil. rewrite Z.shiftr_div_pow2 by easy. apply (div_ceil_ok x). apply Z.pow_pos_nonneg; lia.
Qed.
(** A quotient of such *)
Lemma div_ceil_nonneg x y : (0 <= x)%Z -> (0 < y)%Z -> (0 <= div_ceil x y)%Z.
Proof. intros. unfold div_ceil. pose proof (Z.div_le_upper_bound (- x) y 0). lia. Qed.
(** A quotient of such *)
Lemma shift_ceil_nonneg B x : (0 <= B)%Z -> (0 <= x)%Z -> (0 <= shift_ceil B x)%Z.
Proof. intros. unfold shift_ceil. rewrite Z.shiftr_div_pow2 by easy. apply (div_ceil_nonneg x); [easy|]. apply Z.pow_pos_nonneg; lia. Qed.

(** Sums against functions that are not negative *)
Section Dots.
Definition all_nonneg (C : list Z) : Prop := forall c, In c C -> (0 <= c)%Z.
Variable F : nat -> R.
Hypothesis HF : forall j, 0 <= F j.
(** Term by term *)
Lemma dot_nonneg C : all_nonneg C -> forall s, 0 <= dot C F s.
Proof.
  induction C as [|c C IH]; intros H s; [unfold dot; simpl; lra|]. rewrite dot_cons.
  pose proof (IZR_le _ _ (H c (or_introl eq_refl))). specialize (IH (fun z Hz => H z (or_intror Hz)) (S s)). specialize (HF s). nra.
Qed.
(** Term by term *)
Lemma dot_map_up (h : Z -> Z) (c : R) C : (forall x, IZR x <= IZR (h x) * c) -> forall s, dot C F s <= dot (map h C) F s * c.
Proof.
  intros H. induction C as [|x C IH]; intros s; [unfold dot; simpl; lra|]. cbn [map]. rewrite !dot_cons.
  specialize (H x). specialize (HF s). specialize (IH (S s)). nra.
Qed.
(** In two parts *)
Lemma dot_parts n C : forall s, dot C F s = dot (firstn n C) F s + dot (skipn n C) F (s + n).
Proof.
  revert C. induction n; intros C s; [cbn [firstn skipn]; rewrite Nat.add_0_r; unfold dot at 2; simpl; lra|].
  destruct C as [|c C]; cbn [firstn skipn]; [unfold dot; simpl; lra|].
  rewrite !dot_cons, (IHn C). replace (S s + n)%nat with (s + S n)%nat by lia. lra.
Qed.
(** A bound on all *)
Lemma dot_le_total x C : all_nonneg C -> (forall j, F j <= x) -> forall s, dot C F s <= x * IZR (total C).
Proof.
  intros H Hx. induction C as [|c C IH]; intros s; [unfold dot; simpl; lra|]. rewrite dot_cons. cbn [total fold_right].
  rewrite plus_IZR. fold (total C). pose proof (IZR_le _ _ (H c (or_introl eq_refl))). specialize (IH (fun z Hz => H z (or_intror Hz)) (S s)).
  specialize (Hx s). nra.
Qed.
(** Moved up, where F rises *)
Lemma dot_low : (forall j, F j <= F (S j)) -> forall n C carry s, all_nonneg C -> (0 <= carry)%Z ->
  IZR carry * F s + dot C F s <= dot (low n carry C) F (s + n).
Proof.
  intros Hr. assert (forall n s, F s <= F (s + n)%nat) as Hm.
  { induction n; intros s; [rewrite Nat.add_0_r; lra|]. rewrite Nat.add_succ_r. specialize (IHn s). specialize (Hr (s + n)%nat). lra. }
  induction n; intros [|c C] carry s H Hc; cbn [low].
  - rewrite Nat.add_0_r. unfold dot. simpl. rewrite ?Nat.add_0_r. lra.
  - rewrite Nat.add_0_r, !dot_cons, plus_IZR. lra.
  - rewrite dot_cons. apply IZR_le in Hc. specialize (Hm (S n) s). unfold dot. simpl mass. nra.
  - pose proof (H c (or_introl eq_refl)) as H0. specialize (IHn C (carry + c)%Z (S s) (fun z Hz => H z (or_intror Hz)) ltac:(lia)).
    replace (S s + n)%nat with (s + S n)%nat in IHn by lia. apply Rle_trans with (2 := IHn). rewrite dot_cons, plus_IZR.
    apply IZR_le in Hc, H0. specialize (Hr s). nra.
Qed.
End Dots.
(** The same function *)
Lemma dot_ext C F G s t : (forall j, F (s + j)%nat = G (t + j)%nat) -> dot C F s = dot C G t.
Proof. intros H. apply mass_ext. intros j _. now rewrite H. Qed.
(** A constant factor *)
Lemma dot_const C c s : dot C (fun _ => c) s = c * IZR (total C).
Proof. revert s. induction C as [|a C IH]; intros s; [unfold dot; simpl; lra|]. rewrite dot_cons, IH. cbn [total fold_right]. rewrite plus_IZR. fold (total C). ring. Qed.
(** Sums of functions *)
Lemma dot_sum C F G a b s : dot C (fun j => a * F j + b * G j) s = a * dot C F s + b * dot C G s.
Proof. revert s. induction C as [|c C IH]; intros s; [unfold dot; simpl; lra|]. rewrite !dot_cons, IH. ring. Qed.
(** Term by term *)
Lemma dot_le C F G s : all_nonneg C -> (forall j, F j <= G j) -> dot C F s <= dot C G s.
Proof.
  intros H HF. revert s. induction C as [|c C IH]; intros s; [unfold dot; simpl; lra|]. rewrite !dot_cons.
  pose proof (IZR_le _ _ (H c (or_introl eq_refl))). specialize (IH (fun z Hz => H z (or_intror Hz)) (S s)). specialize (HF s). nra.
Qed.
(** Of all kinds of lists *)
Lemma nonneg_map (h : Z -> Z) C : (forall x, (0 <= x)%Z -> (0 <= h x)%Z) -> all_nonneg C -> all_nonneg (map h C).
Proof. intros Hh H c Hc. apply in_map_iff in Hc as (x & <- & Hx). auto. Qed.
(** Sums of such *)
Lemma nonneg_plus A : forall B, all_nonneg A -> all_nonneg B -> all_nonneg (plus A B).
Proof.
  induction A as [|a A IH]; intros [|b B] HA HB; cbn [plus]; try easy. intros c [<-|Hc].
  - pose proof (HA a (or_introl eq_refl)). pose proof (HB b (or_introl eq_refl)). lia.
  - apply (IH B); auto; intros z Hz; [apply HA|apply HB]; now right.
Qed.
(** Products of such *)
Lemma nonneg_times A C : all_nonneg A -> all_nonneg C -> all_nonneg (times A C).
Proof.
  intros HA HC. induction A as [|a A IH]; cbn [times]; [easy|]. apply nonneg_plus.
  - apply nonneg_map; [|easy]. intros x Hx. pose proof (HA a (or_introl eq_refl)). nia.
  - intros c [<-|Hc]; [lia|]. apply IH; auto. intros z Hz. apply HA. now right.
Qed.
(** Sums of such *)
Lemma nonneg_low n : forall C carry, all_nonneg C -> (0 <= carry)%Z -> all_nonneg (low n carry C).
Proof.
  induction n; intros [|c C] carry H Hc; cbn [low]; try (intros z [<-|[]]; easy).
  - intros z [<-|Hz]; [pose proof (H c (or_introl eq_refl)); lia|apply H; now right].
  - apply IHn; [intros z Hz; apply H; now right|]. pose proof (H c (or_introl eq_refl)). lia.
Qed.
(** Sums of such *)
Lemma total_nonneg C : all_nonneg C -> (0 <= total C)%Z.
Proof.
  induction C as [|c C IH]; intros H; [easy|]. change (total (c :: C)) with (c + total C)%Z. pose proof (H c (or_introl eq_refl)).
  specialize (IH (fun z Hz => H z (or_intror Hz))). lia.
Qed.
(** Of parts *)
Lemma nonneg_firstn n C : all_nonneg C -> all_nonneg (firstn n C).
Proof. intros H c Hc. apply H. rewrite <- (firstn_skipn n C). apply in_or_app. now left. Qed.
(** Of parts *)
Lemma nonneg_skipn n C : all_nonneg C -> all_nonneg (skipn n C).
Proof. intros H c Hc. apply H. rewrite <- (firstn_skipn n C). apply in_or_app. now right. Qed.

(** Bounds on the last pairs of a product go through the first ones. *)
Lemma product_covered {A} ps qs (L : list A) (c z : A -> R) : Forall positive_pair ps -> (forall j, 0 <= z j) ->
  (forall x y, 0 <= x -> 0 <= y -> product_above qs x y <= mass (fun j => c j * gain x (y * z j)) L) ->
  forall x y, 0 <= x -> 0 <= y -> product_above (ps ++ qs) x y <= mass (fun j => c j * product_above ps x (y * z j)) L.
Proof.
  intros Hps Hz H. induction Hps as [|p ps Hp Hps IH]; intros x y Hx Hy; [now apply H|]. cbn [app product_above].
  apply Rle_trans with (mass (fun u => mass (fun j => c j * product_above ps (x * left p u) (y * right p u * z j)) L) (points p)).
  - apply mass_le. intros k _. destruct (Hp k). apply IH; now apply Rmult_le_pos.
  - rewrite mass_swap. apply Req_le, mass_ext. intros j _. rewrite mass_scale. f_equal. apply mass_ext. intros k _. f_equal. ring.
Qed.

Section Step.
Variables (u v B : Z).
Hypotheses (Hv : (0 < v)%Z) (Hu : (v < u)%Z) (HB : (0 <= B)%Z).
Let q := IZR u / IZR v.
Let s := IZR v / IZR u.
Let N := IZR (2 ^ B).
(** e^(-loss) *)
Definition factor (o j : nat) : R := q ^ o * s ^ j.
(** Both are powers of one step *)
Lemma steps_ok : 1 < q /\ 0 < s < 1 /\ q * s = 1.
Proof.
  apply IZR_lt in Hv as Hv'. apply IZR_lt in Hu as Hu'. unfold q, s. repeat split.
  - apply Rmult_lt_reg_r with (IZR v); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - apply Rdiv_lt_0_compat; lra.
  - apply Rmult_lt_reg_r with (IZR u); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - field. lra.
Qed.
(** Powers of such *)
Lemma factor_pos o j : 0 < factor o j.
Proof. destruct steps_ok as (H1 & H2 & _). apply Rmult_lt_0_compat; apply pow_lt; lra. Qed.
(** Losses add *)
Lemma factor_product o j o' j' : factor o j * factor o' j' = factor (o + o') (j + j').
Proof. unfold factor. rewrite !pow_add. ring. Qed.
(** The step falls *)
Lemma factor_falls o j : factor o (S j) <= factor o j.
Proof.
  destruct steps_ok as (_ & H & _). pose proof (factor_pos o j) as H0. replace (factor o (S j)) with (factor o j * s) by (unfold factor; simpl; ring). nra.
Qed.
(** From another origin *)
Lemma factor_moved k o j : factor (k + o) (k + j) = factor o j.
Proof.
  destruct steps_ok as (_ & _ & E). unfold factor. rewrite !pow_add.
  replace (q ^ k * q ^ o * (s ^ k * s ^ j)) with ((q ^ k * s ^ k) * (q ^ o * s ^ j)) by ring.
  rewrite <- Rpow_mult_distr, E, pow1. ring.
Qed.

Definition value (g : grid) (x y : R) : R := dot (cells g) (fun j => gain x (y * factor (origin g) j)) 0 + x * IZR (lost g).
Definition positive_grid (g : grid) : Prop := all_nonneg (cells g) /\ (0 <= lost g)%Z.
Definition covers (g : grid) (ps : list pair) : Prop :=
  positive_grid g /\ forall x y, 0 <= x -> 0 <= y -> N * product_above ps x y <= value g x y.

(** Product of such *)
Lemma N_pos : 0 < N.
Proof. now apply IZR_pow2_pos. Qed.
(** What is moved goes up *)
Lemma trim_ok G H g : positive_grid g -> positive_grid (trim G H g) /\
  forall x y, 0 <= x -> 0 <= y -> value g x y <= value (trim G H g) x y.
Proof.
  intros [H1 H2]. unfold trim. set (k := (origin g - G)%nat). set (o := (origin g - k)%nat). set (C := low k 0 (cells g)).
  assert (all_nonneg C) as HC by (now apply nonneg_low). split.
  - split; cbn [cells lost]; [now apply nonneg_firstn|]. pose proof (total_nonneg _ (nonneg_skipn (o + H) C HC)). lia.
  - intros x y Hx Hy. unfold value. cbn [cells lost origin].
    set (F := fun j => gain x (y * factor (origin g) j)). set (F' := fun j => gain x (y * factor o j)).
    assert (forall j, 0 <= F' j) as HF' by (intros; apply gain_nonneg).
    assert (forall j, F j <= F (S j)) as Hr by (intros j; unfold F; apply gain_rises, Rmult_le_compat_l; [easy|apply factor_falls]).
    pose proof (dot_low F Hr k (cells g) 0%Z 0%nat H1 ltac:(lia)) as Hl. rewrite Rmult_0_l, Rplus_0_l in Hl. fold C in Hl.
    rewrite (dot_ext C F F' (0 + k) 0) in Hl.
    2: { intros j. change (0 + j)%nat with j. change (0 + k + j)%nat with (k + j)%nat. unfold F, F'. rewrite <- (factor_moved k o j).
         do 3 f_equal. destruct (Nat.le_gt_cases G (origin g)); unfold o, k; lia. }
    rewrite (dot_parts F' (o + H) C 0) in Hl.
    assert (dot (skipn (o + H) C) F' (0 + (o + H)) <= x * IZR (total (skipn (o + H) C))).
    { apply dot_le_total; [now apply nonneg_skipn|]. intros j. apply gain_most; [easy|]. pose proof (factor_pos o j). nra. }
    rewrite plus_IZR. lra.
Qed.
(** Losses add, weights multiply *)
Lemma joined_ok G H g g' ps qs : Forall positive_pair qs -> covers g ps -> covers g' qs -> covers (joined B G H g g') (qs ++ ps).
Proof.
  intros Hqs [[P1 P2] Hp] [[Q1 Q2] Hq]. unfold joined. set (g0 := Grid _ _ _).
  pose proof (total_nonneg _ P1) as TP. pose proof (total_nonneg _ Q1) as TQ.
  assert (positive_grid g0) as Hg0.
  { split; cbn [g0 cells lost].
    - apply nonneg_map; [intros; now apply shift_ceil_nonneg|]. now apply nonneg_times.
    - apply shift_ceil_nonneg; [easy|]. nia. }
  destruct (trim_ok G H g0 Hg0) as [Ht Hv']. split; [easy|]. intros x y Hx Hy. apply Rle_trans with (2 := Hv' x y Hx Hy). clear Ht Hv'.
  pose proof N_pos as HN. set (F := fun j => gain x (y * factor (origin g + origin g') j)).
  set (I := (lost g * total (cells g') + lost g' * total (cells g) + lost g * lost g')%Z).
  assert (N * N * product_above (qs ++ ps) x y <= dot (times (cells g) (cells g')) F 0 + x * IZR I) as Hmain.
  { set (c := fun j => match j with Some j => IZR (nth j (cells g) 0%Z) / N | None => IZR (lost g) / N end).
    set (z := fun j => match j with Some j => factor (origin g) j | None => 0 end).
    set (L := None :: map Some (seq 0 (length (cells g)))).
    pose proof (product_covered qs ps L c z Hqs) as Hc.
    assert (forall j, 0 <= z j) as Hz by (intros [j|]; simpl; [left; apply factor_pos|lra]). specialize (Hc Hz).
    assert (forall x y, 0 <= x -> 0 <= y -> product_above ps x y <= mass (fun j => c j * gain x (y * z j)) L) as Hc'.
    { intros a b Ha Hb. specialize (Hp a b Ha Hb). apply Rmult_le_reg_l with N; [easy|]. apply Rle_trans with (1 := Hp).
      unfold L. cbn [mass]. rewrite mass_map, Rmult_plus_distr_l, <- mass_scale. unfold value, dot. cbn [Nat.add]. simpl c. simpl z.
      rewrite Rmult_0_r. unfold gain at 2. rewrite Rminus_0_r, Rmax_right by easy.
      rewrite (mass_ext (fun x0 => N * (IZR (nth x0 (cells g) 0%Z) / N * gain a (b * factor (origin g) x0))) (fun j => IZR (nth j (cells g) 0%Z) * gain a (b * factor (origin g) j)))
        by (intros; field; lra). apply Req_le. field. lra. }
    specialize (Hc Hc' x y Hx Hy). apply Rmult_le_compat_l with (r := N * N) in Hc; [|nra]. apply Rle_trans with (1 := Hc).
    unfold L. cbn [mass]. rewrite mass_map, Rmult_plus_distr_l, <- mass_scale. simpl c. simpl z.
    rewrite dot_times.
    assert (N * N * (IZR (lost g) / N * product_above qs x (y * 0)) <= IZR (lost g) * (x * IZR (total (cells g')) + x * IZR (lost g'))) as H0.
    { replace (N * N * (IZR (lost g) / N * product_above qs x (y * 0))) with (IZR (lost g) * (N * product_above qs x (y * 0))) by (field; lra).
      apply Rmult_le_compat_l; [now apply IZR_le|]. apply Rle_trans with (1 := Hq x (y * 0) Hx ltac:(lra)). unfold value.
      apply Rplus_le_compat_r. apply dot_le_total; [easy|]. intros j. rewrite Rmult_0_r, Rmult_0_l. apply gain_most; lra. }
    assert (mass (fun j => N * N * (IZR (nth j (cells g) 0%Z) / N * product_above qs x (y * factor (origin g) j))) (seq 0 (length (cells g)))
      <= dot (cells g) (fun j => 1 * dot (cells g') F j + x * IZR (lost g') * 1) 0) as H1.
    { unfold dot at 1. apply mass_le. intros j Hj. apply in_seq in Hj. cbn [Nat.add].
      replace (N * N * (IZR (nth j (cells g) 0%Z) / N * product_above qs x (y * factor (origin g) j)))
        with (IZR (nth j (cells g) 0%Z) * (N * product_above qs x (y * factor (origin g) j))) by (field; lra).
      apply Rmult_le_compat_l; [apply IZR_le, P1, nth_In; lia|].
      pose proof (factor_pos (origin g) j). apply Rle_trans with (1 := Hq x (y * factor (origin g) j) Hx ltac:(nra)). unfold value.
      rewrite (dot_ext (cells g') _ F 0 j); [lra|]. intros i. unfold F. cbn [Nat.add]. f_equal.
      rewrite Rmult_assoc, factor_product. reflexivity. }
    rewrite (dot_sum (cells g) (fun j => dot (cells g') F j) (fun _ => 1)), dot_const in H1.
    change (fun j => dot (cells g') F j) with (dot (cells g') F) in H1.
    unfold I. rewrite !plus_IZR, !mult_IZR. lra. }
  pose proof (dot_map_up F ltac:(intros; apply gain_nonneg) (shift_ceil B) N (times (cells g) (cells g')) (fun c => shift_ceil_ok B c HB) 0) as Hd.
  pose proof (shift_ceil_ok B I HB) as HI. fold N in HI. unfold value. cbn [g0 cells lost origin]. fold F. fold I.
  apply Rmult_le_reg_l with N; [easy|].
  apply Rle_trans with (dot (times (cells g) (cells g')) F 0 + x * IZR I); [lra|].
  apply Rmult_le_compat_l with (r := x) in HI; [|easy]. lra.
Qed.
(** By halves *)
Lemma power_ok G H g p : positive_pair p -> covers g [p] -> forall k, covers (power B G H g k) (repeat p (Pos.to_nat k)).
Proof.
  intros Hp Hg. assert (forall n, Forall positive_pair (repeat p n)) as Hps by (induction n; simpl; constructor; auto).
  induction k; cbn [power].
  - replace (repeat p (Pos.to_nat k~1)) with ((repeat p (Pos.to_nat k) ++ repeat p (Pos.to_nat k)) ++ [p]).
    + apply joined_ok; auto; [now apply Forall_app|]. now apply joined_ok.
    + change [p] with (repeat p 1). rewrite <- !repeat_app. f_equal. lia.
  - replace (repeat p (Pos.to_nat k~0)) with (repeat p (Pos.to_nat k) ++ repeat p (Pos.to_nat k)) by (rewrite <- repeat_app; f_equal; lia).
    now apply joined_ok.
  - exact Hg.
Qed.

(** What is split *)
Section Split.
Variables (P x y : R).
Hypotheses (HP : 0 < P) (Hx : 0 <= x) (Hy : 0 <= y).
Definition gains (l : list (Z * Z)) : R := mass (fun c => gain (x * IZR (fst c)) (y * IZR (snd c))) l.
Definition positive_list (l : list (Z * Z)) : Prop := forall c, In c l -> (0 <= fst c)%Z /\ (0 <= snd c)%Z.
(** One outcome after the other *)
Lemma cell_ok p U0 U1 z0 z1 : IZR p = P -> z0 * P <= IZR U0 -> z1 * P <= IZR U1 -> forall l lo hi, positive_list l -> (0 <= lo)%Z -> (0 <= hi)%Z ->
  let '(lo', hi', rest) := cell p U0 U1 lo hi l in
  (0 <= lo')%Z /\ (0 <= hi')%Z /\ positive_list rest /\
  gains l + IZR lo * gain x (y * z0) + IZR hi * gain x (y * z1) <= gains rest + IZR lo' * gain x (y * z0) + IZR hi' * gain x (y * z1).
Proof.
  intros Hp H0 H1. induction l as [|[a b] l IH]; intros lo hi Hl Hlo Hhi; cbn [cell]; [split; [easy|split; [easy|split; [easy|lra]]]|].
  destruct (Hl (a, b) (or_introl eq_refl)) as [Ha Hb]. cbn [fst snd] in Ha, Hb.
  set (sh := Z.max 0 _). assert (0 <= sh)%Z as Hs by lia. clearbody sh.
  destruct ((sh <=? a)%Z && ((a - sh) * U0 + sh * U1 <=? b * p)%Z)%bool eqn:E; [|split; [easy|split; [easy|split; [easy|lra]]]].
  apply andb_prop in E as [E1 E2]. apply Z.leb_le in E1, E2.
  specialize (IH (lo + (a - sh))%Z (hi + sh)%Z (fun c Hc => Hl c (or_intror Hc)) ltac:(lia) ltac:(lia)).
  destruct (cell p U0 U1 (lo + (a - sh)) (hi + sh) l) as [[lo' hi'] rest]. destruct IH as (I1 & I2 & I3 & I4). split; [easy|split; [easy|split; [easy|]]].
  apply Rle_trans with (2 := I4). rewrite !plus_IZR, minus_IZR. unfold gains. cbn [mass fst snd].
  assert (gain (x * IZR a) (y * IZR b) <= (IZR a - IZR sh) * gain x (y * z0) + IZR sh * gain x (y * z1)); [|fold (gains l); lra].
  apply IZR_le in E1, E2, Ha, Hb, Hs. rewrite plus_IZR, !mult_IZR, minus_IZR, Hp in E2.
  pose proof (gain_nonneg x (y * z0)). pose proof (gain_nonneg x (y * z1)). pose proof (gain_ge x (y * z0)). pose proof (gain_ge x (y * z1)).
  apply gain_le; [nra|].
  assert ((IZR a - IZR sh) * z0 + IZR sh * z1 <= IZR b) as Hz.
  { apply Rmult_le_reg_r with P; [easy|]. apply Rle_trans with (2 := E2). nra. }
  apply Rmult_le_compat_l with (r := y) in Hz; [|easy].
  apply Rle_trans with ((IZR a - IZR sh) * (x - y * z0) + IZR sh * (x - y * z1)); [lra|].
  apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.
(** Grid point by grid point *)
Lemma split_ok p (z : nat -> R) : IZR p = P -> (forall j, 0 <= z j) -> forall U U0 carry l k, positive_list l -> (0 <= carry)%Z ->
  (forall j, (j <= length U)%nat -> z (k + j)%nat * P <= IZR (nth j (U0 :: U) 0%Z)) ->
  let '(C, rest) := split p U0 U carry l in
  all_nonneg C /\ positive_list rest /\ gains l + IZR carry * gain x (y * z k) <= dot C (fun j => gain x (y * z j)) k + x * IZR (weigh rest).
Proof.
  intros Hp Hz. assert (forall l, positive_list l -> gains l <= x * IZR (weigh l)) as Hw.
  { induction l as [|[a b] l IH]; intros Hl; [change (weigh []) with 0%Z; unfold gains; simpl; lra|].
    change (weigh ((a, b) :: l)) with (a + weigh l)%Z. change (gains ((a, b) :: l)) with (gain (x * IZR a) (y * IZR b) + gains l).
    rewrite plus_IZR. specialize (IH (fun c Hc => Hl c (or_intror Hc))). destruct (Hl (a, b) (or_introl eq_refl)) as [Ha Hb]. cbn [fst snd] in Ha, Hb.
    apply IZR_le in Ha, Hb. pose proof (gain_most (x * IZR a) (y * IZR b) ltac:(nra) ltac:(nra)). lra. }
  induction U as [|U1 U IH]; intros U0 carry l k Hl Hc HU; cbn [split].
  - split; [intros c [<-|[]]; easy|split; [easy|]]. rewrite dot_cons. unfold dot. simpl mass. specialize (Hw l Hl). lra.
  - pose proof (HU 0%nat ltac:(lia)) as HU0. pose proof (HU 1%nat ltac:(simpl; lia)) as HU1. cbn [nth] in HU0, HU1. rewrite Nat.add_0_r in HU0.
    assert (let '(lo, hi, rest) := if (U1 <? U0)%Z then cell p U0 U1 carry 0 l else (carry, 0%Z, l) in
      (0 <= lo)%Z /\ (0 <= hi)%Z /\ positive_list rest /\
      gains l + IZR carry * gain x (y * z k) <= gains rest + IZR lo * gain x (y * z k) + IZR hi * gain x (y * z (k + 1)%nat)) as Hcell.
    { destruct (U1 <? U0)%Z.
      - pose proof (cell_ok p U0 U1 (z k) (z (k + 1)%nat) Hp HU0 HU1 l carry 0%Z Hl Hc ltac:(lia)) as X.
        destruct (cell p U0 U1 carry 0 l) as [[lo hi] rest]. destruct X as (X1 & X2 & X3 & X4). split; [easy|split; [easy|split; [easy|lra]]].
      - split; [easy|split; [easy|split; [easy|lra]]]. }
    destruct (if (U1 <? U0)%Z then cell p U0 U1 carry 0 l else (carry, 0%Z, l)) as [[lo hi] rest].
    destruct Hcell as (X1 & X2 & X3 & X4).
    specialize (IH U1 hi rest (S k) X3 X2). replace (k + 1)%nat with (S k) in X4 by lia.
    assert (forall j, (j <= length U)%nat -> z (S k + j)%nat * P <= IZR (nth j (U1 :: U) 0%Z)) as HU'.
    { intros j Hj. specialize (HU (S j) ltac:(simpl; lia)). replace (k + S j)%nat with (S k + j)%nat in HU by lia. exact HU. }
    specialize (IH HU'). destruct (split p U1 U hi rest) as [C rest']. destruct IH as (Y1 & Y2 & Y3). split; [intros c [<-|Hin]; auto|split; [easy|]]. rewrite dot_cons. lra.
Qed.
End Split.

(** Rounded up *)
Lemma uppers_ok P o n : (0 <= P)%Z -> forall j, (j <= n)%nat ->
  let U := (u ^ Z.of_nat o * 2 ^ P / v ^ Z.of_nat o + 1)%Z in factor o j * IZR (2 ^ P) <= IZR (nth j (U :: uppers n u v U) 0%Z).
Proof.
  intros HP j Hj U. apply IZR_lt in Hv as Hv'. apply IZR_lt in Hu as Hu'. pose proof (IZR_pow2_pos P HP) as HPP.
  assert (forall n U k, factor o k * IZR (2 ^ P) <= IZR U -> forall j, (j <= n)%nat -> factor o (k + j) * IZR (2 ^ P) <= IZR (nth j (U :: uppers n u v U) 0%Z)) as H.
  { clear - Hv Hu Hv' Hu' HPP. induction n; intros U k H j Hj.
    - replace j with 0%nat by lia. now rewrite Nat.add_0_r.
    - destruct j; [now rewrite Nat.add_0_r|]. cbn [uppers]. cbn [nth].
      rewrite Nat.add_succ_r, <- Nat.add_succ_l. apply (IHn _ (S k)); [|lia].
      pose proof (div_up (U * v) u ltac:(lia)) as D. rewrite mult_IZR in D. unfold factor in *. simpl pow.
      apply Rmult_le_reg_r with (IZR u); [lra|]. apply Rle_trans with (2 := D).
      replace (q ^ o * (s * s ^ k) * IZR (2 ^ P) * IZR u) with (q ^ o * s ^ k * IZR (2 ^ P) * IZR v) by (unfold s; field; lra).
      apply Rmult_le_compat_r; lra. }
  apply (H n U 0%nat); [|easy]. unfold factor. simpl pow. rewrite Rmult_1_r.
  assert (0 < v ^ Z.of_nat o)%Z as Hvo by (apply Z.pow_pos_nonneg; lia).
  pose proof (div_up (u ^ Z.of_nat o * 2 ^ P) _ Hvo) as D. fold U in D. apply IZR_lt in Hvo.
  apply Rmult_le_reg_r with (IZR (v ^ Z.of_nat o)); [easy|]. apply Rle_trans with (2 := D). rewrite mult_IZR, <- !pow_IZR.
  unfold q. unfold Rdiv. rewrite Rpow_mult_distr. rewrite pow_inv. apply Req_le. field. apply pow_nonzero. lra.
Qed.

(** A sum over positions in a list is one over its members *)
Lemma mass_nth {A} (F : A -> R) (l : list A) d : mass (fun k => F (nth k l d)) (seq 0 (length l)) = mass F l.
Proof. induction l; [easy|]. cbn [length seq mass nth]. now rewrite <- seq_shift, mass_map, <- IHl. Qed.
(** The product of one pair *)
Lemma listed_above l W x y : (0 < W)%Z -> product_above [listed_pair l W] x y = gains x y l / IZR W.
Proof.
  intros HW. apply IZR_lt in HW. cbn [product_above points listed_pair left right]. unfold gains. rewrite <- (mass_nth _ l (0, 0)%Z).
  unfold Rdiv. rewrite Rmult_comm, <- mass_scale. apply mass_ext. intros k _. unfold gain.
  rewrite <- RmaxRmult by (left; now apply Rinv_0_lt_compat). f_equal; [ring|]. field. lra.
Qed.
(** As listed *)
Lemma listed_positive l W : (0 < W)%Z -> positive_list l -> positive_pair (listed_pair l W).
Proof.
  intros HW H k. cbn [left right listed_pair]. apply IZR_lt in HW. pose proof (Rinv_0_lt_compat _ HW).
  destruct (nth_in_or_default k l (0, 0)%Z) as [Hi| ->].
  - destruct (H _ Hi) as [H1 H2]. apply IZR_le in H1, H2. split; apply Rmult_le_pos; lra.
  - cbn [fst snd]. split; unfold Rdiv; lra.
Qed.
(** Split, and rounded up *)
Lemma on_grid_ok l W P o n : (0 < W)%Z -> (0 <= P)%Z -> positive_list l -> covers (on_grid l W u v B P o n) [listed_pair l W].
Proof.
  intros HW HP Hl. unfold on_grid. set (U := (_ / _ + 1)%Z). set (l' := map _ l).
  assert (0 < 2 ^ B)%Z as HNZ by (apply Z.pow_pos_nonneg; lia).
  assert (positive_list l') as Hl'.
  { intros c Hc. apply in_map_iff in Hc as (e & <- & He). destruct (Hl e He). cbn [fst snd]. nia. }
  pose proof (fun x y Hx Hy => split_ok (IZR (2 ^ P)) x y (IZR_pow2_pos P HP) Hx Hy (2 ^ P) (factor o) eq_refl (fun j => Rlt_le _ _ (factor_pos o j))
    (uppers n u v U) U 0%Z l' 0%nat Hl' (Z.le_refl 0)) as X.
  assert (forall m U, length (uppers m u v U) = m) as Hlen by (induction m; intros; simpl; auto). rewrite Hlen in X.
  destruct (split (2 ^ P) U (uppers n u v U) 0 l') as [C rest].
  specialize (fun x y Hx Hy => X x y Hx Hy (fun j Hj => uppers_ok P o n HP j Hj)).
  destruct (X 0 0 (Rle_refl 0) (Rle_refl 0)) as (HC & Hr & _). assert (0 <= weigh rest)%Z as Hw.
  { apply total_nonneg. intros c Hc. apply in_map_iff in Hc as (e & <- & He). now apply Hr. }
  split; [split; cbn [cells lost]; [apply nonneg_map; [intros; now apply div_ceil_nonneg|easy]|now apply div_ceil_nonneg]|].
  intros x y Hx Hy. destruct (X x y Hx Hy) as (_ & _ & Hm). rewrite listed_above by easy. apply IZR_lt in HW as HW'.
  assert (gains x y l' = N * gains x y l) as E.
  { unfold gains, l'. rewrite mass_map, <- mass_scale. apply mass_ext. intros c _. cbn [fst snd]. rewrite !mult_IZR. fold N. unfold gain.
    pose proof N_pos. rewrite <- RmaxRmult by lra. f_equal; ring. }
  rewrite E in Hm. unfold value. cbn [cells lost origin].
  set (F := fun j => gain x (y * factor o j)) in *.
  pose proof (dot_map_up F ltac:(intros; apply gain_nonneg) (fun c => div_ceil c W) (IZR W) C (fun c => div_ceil_ok c W HW) 0) as Hd.
  pose proof (div_ceil_ok (weigh rest) W HW) as Hi.
  apply Rmult_le_reg_r with (IZR W); [easy|]. replace (N * (gains x y l / IZR W) * IZR W) with (N * gains x y l) by (field; lra).
  apply Rmult_le_compat_l with (r := x) in Hi; [|easy]. lra.
Qed.

(** Rounded down, and used from zero on *)
Lemma cost_ok P lo E g : (0 <= P)%Z -> (0 <= lo)%Z -> IZR lo <= E * IZR (2 ^ P) -> 1 <= E -> positive_grid g ->
  value g 1 E * IZR (2 ^ P) <= IZR (cost (2 ^ P) u v lo (skipn (origin g) (cells g)) + 2 ^ P * lost g).
Proof.
  intros HP Hlo Hle HE [HC HI]. pose proof (IZR_pow2_pos P HP) as HPP. destruct steps_ok as (S1 & S2 & S3). apply IZR_lt in Hu as Hu'. apply IZR_lt in Hv as Hv'.
  set (o := origin g). set (F := fun j => gain 1 (E * factor o j)). unfold value. fold o F.
  assert (forall C lo i, all_nonneg C -> (0 <= lo)%Z -> IZR lo <= E * s ^ i * IZR (2 ^ P) -> dot C F (o + i) * IZR (2 ^ P) <= IZR (cost (2 ^ P) u v lo C)) as H.
  { induction C as [|c C IH]; intros lo' i H H0 H1; [unfold dot; simpl; lra|]. rewrite dot_cons. cbn [cost]. rewrite plus_IZR, mult_IZR.
    pose proof (IZR_le _ _ (H c (or_introl eq_refl))) as Hc. pose proof (pow_lt s i ltac:(lra)) as Hsi.
    specialize (IH (lo' * v / u)%Z (S i) (fun z Hz => H z (or_intror Hz)) ltac:(apply Z.div_pos; nia)).
    rewrite Nat.add_succ_r in IH. rewrite Rmult_plus_distr_r. apply Rplus_le_compat.
    - rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|]. unfold F.
      replace (factor o (o + i)) with (s ^ i) by (rewrite <- (Nat.add_0_r o) at 1; rewrite factor_moved; unfold factor; simpl; ring).
      unfold gain. apply Rle_trans with (Rmax 0 (1 - E * s ^ i) * IZR (2 ^ P)); [lra|].
      apply Rmax_case.
      + rewrite Rmult_0_l. apply IZR_le. lia.
      + apply Rle_trans with (IZR (2 ^ P - lo')); [rewrite minus_IZR; lra|apply IZR_le; lia].
    - apply IH. pose proof (div_le (lo' * v) u ltac:(lia)) as D. rewrite mult_IZR in D.
      apply Rmult_le_reg_r with (IZR u); [lra|]. apply Rle_trans with (1 := D). simpl pow.
      replace (E * (s * s ^ i) * IZR (2 ^ P) * IZR u) with (E * s ^ i * IZR (2 ^ P) * IZR v) by (unfold s; field; lra).
      apply Rmult_le_compat_r; lra. }
  rewrite (dot_parts F o (cells g) 0).
  assert (dot (firstn o (cells g)) F 0 <= 0) as H0.
  { unfold dot. apply Rle_trans with (mass (fun _ => 0 * 0) (seq 0 (length (firstn o (cells g))))).
    - apply mass_le. intros j Hj. apply in_seq in Hj. rewrite firstn_length in Hj. cbn [Nat.add].
      assert (F j = 0) as ->; [|lra]. unfold F, gain. apply Rmax_left.
      replace o with (j + (o - j))%nat by lia. replace (factor (j + (o - j)) j) with (q ^ (o - j)).
      + pose proof (pow_R1_Rle q (o - j) ltac:(lra)). nra.
      + pose proof (factor_moved j (o - j) 0) as Hf. rewrite Nat.add_0_r in Hf. rewrite Hf. unfold factor. simpl. ring.
    - rewrite mass_scale. lra. }
  specialize (H (skipn o (cells g)) lo 0%nat (nonneg_skipn _ _ HC) Hlo ltac:(simpl; lra)). rewrite Nat.add_0_r in H. simpl Nat.add.
  rewrite plus_IZR, mult_IZR. nra.
Qed.
End Step.

(** Members of such *)
Lemma both_nonneg_ok l : both_nonneg l = true -> positive_list l.
Proof. unfold both_nonneg. rewrite forallb_forall. intros H c Hc. specialize (H c Hc). apply andb_prop in H as [H1 H2]. apply Z.leb_le in H1, H2. easy. Qed.
(** Squares of such *)
Lemma exp_below_nonneg r P a b : (0 <= P)%Z -> (0 <= a)%Z -> (0 < b)%Z -> (0 <= exp_below r P a b)%Z.
Proof.
  intros HP Ha Hb. assert (forall n y, (0 <= y)%Z -> (0 <= square_down n P y)%Z) as H.
  { induction n; intros y Hy; [easy|]. cbn [square_down]. apply IHn, Z.shiftr_nonneg. nia. }
  apply H. assert (0 <= a * 2 ^ P / (b * 2 ^ Z.of_nat r))%Z; [apply Z.div_pos; [apply Z.mul_nonneg_nonneg; [easy|apply Z.pow_nonneg; lia]|
    apply Z.mul_pos_pos; [easy|apply Z.pow_pos_nonneg; lia]]|]. assert (0 <= 2 ^ P)%Z by (apply Z.pow_nonneg; lia). lia.
Qed.
(** The product of K such pairs *)
Theorem grid_product l W K u v B o m G H a b n d P r : grid_check l W K u v B o m G H a b n d P r = true ->
  (0 < W)%Z /\ positive_list l /\ product_above (repeat (listed_pair l W) K) 1 (exp (IZR a / IZR b)) <= IZR n / IZR d.
Proof.
  unfold grid_check. intros C. split_bool C. rename C into Hv.
  match goal with X : both_nonneg l = true |- _ => apply both_nonneg_ok in X; rename X into Hl end.
  assert (v < u)%Z as Hu by easy. assert (0 <= B)%Z as HB by easy. assert (0 <= P)%Z as HP by easy. assert (0 < W)%Z as HW by easy.
  split; [easy|]. split; [easy|].
  pose proof (power_ok u v B Hv Hu HB G H _ _ (listed_positive l W HW Hl) (on_grid_ok u v B Hv Hu HB l W P o m HW HP Hl) (Z.to_pos (Z.of_nat K))) as [Hg Hc].
  set (g := power _ _ _ _ _) in *. replace (Pos.to_nat (Z.to_pos (Z.of_nat K))) with K in Hc by lia.
  match goal with X : (d * _ <= _)%Z |- _ => rename X into He end.
  assert (0 < d)%Z as Hd by eauto using ratio_bottom. assert (0 <= IZR a / IZR b) as Heps by (now apply ratio_nonneg).
  pose proof (exp_below_ok r P a b HP ltac:(eauto using ratio_top) ltac:(eauto using ratio_bottom)) as Hlo.
  pose proof (exp_below_nonneg r P a b HP ltac:(eauto using ratio_top) ltac:(eauto using ratio_bottom)) as Hlo0.
  set (E := exp (IZR a / IZR b)) in *. assert (1 <= E) as HE by (pose proof (exp_ineq1_le (IZR a / IZR b)); unfold E; lra).
  pose proof (cost_ok u v Hv Hu P (exp_below r P a b) E g HP Hlo0 Hlo HE Hg) as Hcost.
  set (c := (cost _ _ _ _ _ + _)%Z) in *. specialize (Hc 1 E ltac:(lra) ltac:(lra)).
  pose proof (IZR_pow2_pos P HP) as HPP. pose proof (IZR_pow2_pos B HB) as HBB. apply IZR_le in He. rewrite !mult_IZR in He.
  apply IZR_lt in Hd. set (N := IZR (2 ^ B)) in *. set (p := IZR (2 ^ P)) in *. set (X := product_above _ _ _) in *.
  apply Rmult_le_reg_r with (IZR d * p * N); [repeat apply Rmult_lt_0_compat; easy|].
  replace (IZR n / IZR d * (IZR d * p * N)) with (IZR n * p * N) by (field; lra). apply Rle_trans with (2 := He).
  replace (X * (IZR d * p * N)) with (IZR d * (N * X * p)) by ring. apply Rmult_le_compat_l; [lra|]. nra.
Qed.
