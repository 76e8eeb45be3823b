(** Lists of different discrete Gaussian noise on integer vectors, in any dimension: rho of each is |v|_2^2/(2 sigma^2),
    and they add, however each query is chosen; where such a vector is within reach, no less will do. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz FunctionalExtensionality.
From ExactDP Require Import Definitions Laws Mass Exponential Weights DiscreteGaussian Centres Composition LaplaceUses Renyi Concentrated Conversion.
Import ListNotations.
Open Scope R_scope.

Definition square (v : list Z) : Z := total (map (fun x => x * x)%Z v).
(** A sum of squares *)
Lemma square_nonneg v : (0 <= square v)%Z.
Proof. unfold square. induction v; simpl; [lia|nia]. Qed.

(** ** One vector: its coordinates are mechanisms used one after the other *)
Definition coordinates (f : Z -> R) (v w : list Z) : list (list Z -> bool -> Z -> R) :=
  map (fun p _ (b : bool) y => f (y - (if b then fst p else snd p))%Z) (combine v w).
(** Coordinate by coordinate *)
Lemma vector_adaptive f v w past : length v = length w ->
  vector_noise f v = adaptive (coordinates f v w) past true /\ vector_noise f w = adaptive (coordinates f v w) past false.
Proof.
  revert w past. induction v as [|x v IH]; intros [|z w] past H; try discriminate.
  - split; apply functional_extensionality; now intros [|y ys].
  - injection H as H. unfold coordinates in *. cbn [combine map]. split; apply functional_extensionality; intros [|y ys]; try easy; simpl;
      f_equal; destruct (IH w (y :: past) H) as [E1 E2]; [now rewrite E1|now rewrite E2].
Qed.
Section Vector.
Variable s2 : R.
Hypothesis Hs : 0 < s2.
Variables (f : Z -> R) (Hf : discrete_gaussian s2 f).
(** Moved noise is a law *)
Lemma coordinates_laws v w : Forall laws (coordinates f v w).
Proof.
  apply Forall_forall. intros M HM. apply in_map_iff in HM as (p & <- & _). intros past b.
  exact (pmf_shift f (- _) (gauss_pmf s2 f Hf)).
Qed.
(** So is that of vectors *)
Lemma vector_pmf v : pmf (vector_noise f v).
Proof. destruct (vector_adaptive f v v [] eq_refl) as [-> _]. apply adaptive_pmf, coordinates_laws. Qed.
(** Rényi divergences of the coordinates add *)
Theorem vector_renyi v w a : 1 < a -> length v = length w ->
  renyi a (vector_noise f v) (vector_noise f w) (a * (IZR (square (differences v w)) / (2 * s2))).
Proof.
  intros Ha H. destruct (vector_adaptive f v w [] H) as [-> ->].
  replace (a * (IZR (square (differences v w)) / (2 * s2)))
    with (fold_right Rplus 0 (map (fun p => a * (IZR (fst p - snd p) ^ 2 / (2 * s2))) (combine v w))).
  - apply adaptive_renyi; [apply coordinates_laws|]. unfold coordinates. induction (combine v w) as [|p l IH]; constructor; [|exact IH].
    intros past. assert (sensitivity (fun x y => x = true /\ y = false) (fun b : bool => if b then fst p else snd p) (Z.abs (fst p - snd p))) as Hq
      by (intros x y [-> ->]; lia).
    refine (proj2 (gauss_renyi s2 Hs f Hf _ a _ Ha _ bool _ _ Hq) true false (conj eq_refl eq_refl)).
    rewrite abs_IZR, pow2_abs. apply Rle_refl.
  - clear - Hs. revert w. induction v as [|x v IH]; intros [|z w]; try (unfold square; simpl; unfold Rdiv; ring).
    cbn [combine map fold_right differences]. rewrite IH. unfold square. cbn [map total fold_right fst snd]. unfold total. rewrite plus_IZR, mult_IZR. field. lra.
Qed.
End Vector.

(** ** From below *)
(** Vectors against none *)
Lemma vector_attains s2 f a v : 0 < s2 -> discrete_gaussian s2 f -> 1 < a -> (forall x, In x v -> exists k, a * IZR x = IZR k) ->
  attains a (vector_noise f v) (vector_noise f (map (fun _ => 0%Z) v)) (exp ((a - 1) * (a * (IZR (square v) / (2 * s2))))).
Proof.
  intros Hs Hf Ha. induction v as [|x v IH]; intros Hv.
  - replace (square []) with 0%Z by easy. replace (_ * _) with 0 by (field; lra). rewrite exp_0. now apply attains_nil.
  - replace (exp _) with (exp ((a - 1) * (a * (IZR x ^ 2 / (2 * s2)))) * exp ((a - 1) * (a * (IZR (square v) / (2 * s2))))).
    + apply attains_cons with (f := fun y => f (y - x)%Z) (g := fun y => f (y - 0)%Z) (F := vector_noise f v) (G := vector_noise f (map (fun _ => 0%Z) v)); try easy; try apply exp_pos.
      * destruct (Hv x (or_introl eq_refl)) as [k Hk]. exact (gauss_attains s2 Hs f Hf x a k Hk Ha).
      * apply IH. intros z Hz. apply Hv. now right.
    + rewrite <- exp_plus. f_equal. unfold square. simpl. rewrite plus_IZR, mult_IZR. field. lra.
Qed.

(** ** How long a vector within reach can be *)
Open Scope Z_scope.
(** The lesser of two bounds, of which 0 bounds nothing *)
Definition lesser (x y : option Z) : option Z :=
  match x, y with Some a, Some b => Some (Z.min a b) | Some a, None => Some a | None, _ => y end.
Definition given (x y : Z) (b : Z) : option Z := if x =? 0 then None else Some (y / b).
(** |v|_1 <= s of coordinates up to m: the largest square has as few of them as possible that are not 0 *)
Definition packed (m s : Z) : Z := s / m * (m * m) + (s mod m) * (s mod m).
(** |v|_inf, and |v|_2^2 *)
Definition farthest (c e p q m : Z) : option Z :=
  lesser (option_map Z.sqrt (given c (c * c) (e * e))) (lesser (given p p q) (given m m 1)).
Definition longest (c e p q m n : Z) : option Z :=
  let most := given c (c * c) (e * e) in
  match farthest c e p q m with
  | None => None
  | Some far =>
      let count := lesser (given n n 1) (lesser (given p p q) most) in
      let sum := lesser (given p p q) (option_map (fun k => k * far) count) in
      if far <? 0 then None else lesser most (option_map (packed far) sum)
  end.
Close Scope Z_scope.

(** A number within such a bound *)
Definition below (o : option Z) (x : Z) : Prop := match o with Some b => (x <= b)%Z | None => True end.
(** Both bounds *)
Lemma lesser_ok o1 o2 x : below o1 x -> below o2 x -> below (lesser o1 o2) x.
Proof. destruct o1, o2; simpl; lia. Qed.
(** A quotient *)
Lemma given_ok x y b z : (0 < b)%Z -> ((x <> 0)%Z -> (z * b <= y)%Z) -> below (given x y b) z.
Proof.
  intros Hb H. unfold given. destruct (Z.eqb_spec x 0); simpl; [easy|]. apply Z.div_le_lower_bound; [easy|]. specialize (H n). lia.
Qed.
(** Sums of sizes are not negative *)
Lemma sizes_nonneg v : (0 <= total (map Z.abs v))%Z.
Proof. induction v; simpl; [lia|]. unfold total in *. simpl. lia. Qed.
(** Each coordinate is part of both sums *)
Lemma in_sums v x : In x v -> (Z.abs x <= total (map Z.abs v) /\ x * x <= square v)%Z.
Proof.
  induction v as [|y v IH]; intros H; [easy|]. destruct H as [H|H]; unfold square, total in *; simpl.
  - subst y. pose proof (sizes_nonneg v). pose proof (square_nonneg v). unfold square, total in *. lia.
  - specialize (IH H). pose proof (Z.abs_nonneg y). nia.
Qed.
(** Each takes at least 1 of the square *)
Lemma sizes_square v : (total (map Z.abs v) <= square v)%Z.
Proof. unfold square, total. induction v; simpl; [lia|]. nia. Qed.
(** Each takes at most the farthest *)
Lemma sizes_length v m : (forall x, In x v -> (Z.abs x <= m)%Z) -> (total (map Z.abs v) <= Z.of_nat (length v) * m)%Z.
Proof.
  induction v as [|x v IH]; intros H; [simpl; lia|]. unfold total in *. cbn [map fold_right length]. rewrite Nat2Z.inj_succ.
  pose proof (H x (or_introl eq_refl)). specialize (IH (fun y Hy => H y (or_intror Hy))). lia.
Qed.
(** One coordinate more takes no more than the sum leaves it *)
Lemma packed_step m s x : (0 < m)%Z -> (0 <= x <= m)%Z -> (x <= s)%Z -> (x * x + packed m (s - x) <= packed m s)%Z.
Proof.
  intros Hm Hx Hs. unfold packed. pose proof (Z.div_mod s m ltac:(lia)) as E. pose proof (Z.mod_pos_bound s m Hm) as Hr.
  set (k := (s / m)%Z) in *. set (r := (s mod m)%Z) in *. destruct (Z.le_gt_cases x r) as [Hxr|Hxr].
  - replace ((s - x) / m)%Z with k by (apply (Z.div_unique_pos _ _ k (r - x)); lia).
    replace ((s - x) mod m)%Z with (r - x)%Z by (apply (Z.mod_unique_pos _ _ k (r - x)); lia). nia.
  - replace ((s - x) / m)%Z with (k - 1)%Z by (apply (Z.div_unique_pos _ _ (k - 1) (m + r - x)); lia).
    replace ((s - x) mod m)%Z with (m + r - x)%Z by (apply (Z.mod_unique_pos _ _ (k - 1) (m + r - x)); lia). nia.
Qed.
(** Coordinate by coordinate *)
Lemma packed_ok m v : (0 <= m)%Z -> (forall x, In x v -> (Z.abs x <= m)%Z) -> forall s, (total (map Z.abs v) <= s)%Z -> (square v <= packed m s)%Z.
Proof.
  intros Hm H. destruct (Z.eq_dec m 0) as [->|Hm0].
  - intros s _. unfold packed. assert (square v = 0)%Z as ->.
    { induction v as [|x v IH]; [easy|]. unfold square, total in *. simpl. rewrite IH by (intros y Hy; apply H; now right).
      specialize (H x (or_introl eq_refl)). nia. }
    nia.
  - induction v as [|x v IH]; intros s Hsum.
    + unfold packed, square. unfold total in *. simpl in *. pose proof (Z.div_pos s m ltac:(lia) ltac:(lia)). nia.
    + pose proof (H x (or_introl eq_refl)) as Hx. unfold square, total in *. cbn [map fold_right] in *. pose proof (sizes_nonneg v) as H0. unfold total in H0.
      specialize (IH (fun y Hy => H y (or_intror Hy)) (s - Z.abs x)%Z ltac:(lia)). pose proof (packed_step m s (Z.abs x) ltac:(lia) ltac:(lia) ltac:(lia)). lia.
Qed.
(** Padding with zeros costs nothing: coordinates that are not 0 count *)
Definition nonzero (v : list Z) : list Z := filter (fun x => negb (x =? 0)%Z) v.
(** The same sums *)
Lemma nonzero_sums v : total (map Z.abs (nonzero v)) = total (map Z.abs v) /\ (Z.of_nat (length (nonzero v)) <= total (map Z.abs v))%Z.
Proof.
  unfold nonzero, total. induction v as [|x v [IH1 IH2]]; [easy|]. cbn [filter]. destruct (Z.eqb_spec x 0) as [->|Hx]; cbn [negb map fold_right length]; [split; [exact IH1|lia]|].
  rewrite Nat2Z.inj_succ. lia.
Qed.
(** ... and no longer *)
Lemma nonzero_length v : (length (nonzero v) <= length v)%nat.
Proof. unfold nonzero. induction v as [|x v IH]; [easy|]. simpl. destruct (negb _); simpl; lia. Qed.

(** All bounds are sound *)
Lemma longest_ok c e p q m n v S : (0 < e)%Z -> (0 < q)%Z -> within_reach c e p q m n v -> longest c e p q m n = Some S -> (square v <= S)%Z.
Proof.
  intros He Hq (H2 & H1 & Hm & Hn) E.
  assert (below (given c (c * c) (e * e)) (square v)) as B2 by (apply given_ok; [nia|]; intros X; specialize (H2 X); unfold square; lia).
  assert (below (given p p q) (total (map Z.abs v))) as B1 by (apply given_ok; auto).
  unfold longest in E. destruct (farthest c e p q m) as [far|] eqn:Ef; [|discriminate].
  assert (forall x, In x v -> (Z.abs x <= far)%Z) as Hfar.
  { intros x Hx. destruct (in_sums v x Hx) as [X1 X2]. assert (below (farthest c e p q m) (Z.abs x)) as B; [|now rewrite Ef in B].
    unfold farthest. apply lesser_ok; [|apply lesser_ok].
    - destruct (given c (c * c) (e * e)) as [b|]; simpl in *; [|easy]. pose proof (square_nonneg v). apply Z.sqrt_le_square; nia.
    - destruct (given p p q); simpl in *; [lia|easy].
    - apply given_ok; [lia|]. intros X. specialize (Hm X x Hx). lia. }
  set (count := lesser (given n n 1) (lesser (given p p q) (given c (c * c) (e * e)))) in *.
  destruct (nonzero_sums v) as [N1 N2]. pose proof (nonzero_length v) as N3.
  assert (below count (Z.of_nat (length (nonzero v)))) as BC.
  { unfold count. apply lesser_ok; [|apply lesser_ok].
    - apply given_ok; [lia|]. intros X. specialize (Hn X). lia.
    - destruct (given p p q); simpl in *; [lia|easy].
    - pose proof (sizes_square v). destruct (given c (c * c) (e * e)); simpl in *; [lia|easy]. }
  destruct (Z.ltb_spec far 0) as [|Hf0]; [discriminate|].
  set (sum := lesser (given p p q) (option_map (fun k => k * far)%Z count)) in *.
  assert (below sum (total (map Z.abs v))) as BS.
  { unfold sum. apply lesser_ok; [easy|]. destruct count as [k|]; simpl in *; [|easy]. rewrite <- N1.
    pose proof (sizes_length (nonzero v) far) as L. assert (forall x, In x (nonzero v) -> (Z.abs x <= far)%Z) as Hin by (intros x Hx; apply Hfar; now apply filter_In in Hx).
    specialize (L Hin). nia. }
  assert (below (lesser (given c (c * c) (e * e)) (option_map (packed far) sum)) (square v)) as B; [|now rewrite E in B].
  apply lesser_ok; [easy|]. destruct sum as [s|]; simpl in *; [|easy]. now apply packed_ok.
Qed.

(** ** Lists of them, nine numbers a time *)
Record batch := Batch { times : Z; top : Z; bottom : Z; b2 : Z; b2' : Z; b1 : Z; b1' : Z; binf : Z; bdim : Z }.
Definition uses_of (b : batch) : list vectors :=
  repeat (Vectors (IZR (top b) / IZR (bottom b)) (b2 b) (b2' b) (b1 b) (b1' b) (binf b) (bdim b)) (Z.to_nat (times b)).
Fixpoint batches (l : list Z) : list batch :=
  match l with k :: t :: u :: c :: e :: p :: q :: m :: n :: l' => Batch k t u c e p q m n :: batches l' | _ => [] end.
(** Read in the same way *)
Lemma vectors_in_batches l : vectors_in l = flat_map uses_of (batches l).
Proof.
  assert (forall N l, (length l <= N)%nat -> vectors_in l = flat_map uses_of (batches l)) as H; [|now apply (H (length l))].
  clear l. induction N as [|N IH]; intros l Hl; [destruct l; [easy|simpl in Hl; lia]|].
  do 9 (destruct l as [|? l]; [easy|]). cbn [vectors_in batches flat_map]. f_equal. apply IH. simpl in Hl. lia.
Qed.
Open Scope Z_scope.
Definition sound (b : batch) : bool :=
  (0 <=? times b) && (0 <? top b) && (0 <? bottom b) && (0 <? b2' b) && (0 <? b1' b).
Definition length_of (b : batch) : option Z := longest (b2 b) (b2' b) (b1 b) (b1' b) (binf b) (bdim b).
(** 2 rho as a quotient x/y, [lengths] being the squares |v|_2^2 *)
Fixpoint spent (lengths : batch -> Z) (bs : list batch) : Z * Z :=
  match bs with
  | [] => (0, 1)
  | b :: bs' => let '(x, y) := spent lengths bs' in (x * top b + times b * lengths b * bottom b * y, y * top b)
  end.
Definition longest_of (b : batch) : Z := match length_of b with Some most => most | None => 0 end.
Definition has_length (b : batch) : bool := match length_of b with Some _ => true | None => false end.
Definition most_spent (l : list Z) : Z * Z := spent longest_of (batches l).
Definition bounded_check (l : list Z) : bool := forallb sound (batches l) && forallb has_length (batches l).

(** eps or rho = a/b, the order c/o, delta = n/d *)
Definition vectors_zcdp_check (l : list Z) (a b : Z) : bool :=
  let '(x, y) := most_spent l in bounded_check l && (0 <? b) && (x * b <=? a * (2 * y)).
Definition vectors_renyi_check (l : list Z) (c o a b : Z) : bool :=
  let '(x, y) := most_spent l in bounded_check l && (0 <? o) && (o <? c) && (0 <? b) && (c * x * b <=? a * (o * (2 * y))).
Definition vectors_check (l : list Z) (c o a b n d P : Z) (r : nat) : bool :=
  let '(x, y) := most_spent l in bounded_check l && conversion_check c o (c * x) (o * (2 * y)) a b n d P r.
Close Scope Z_scope.

(** Its cost, as a real number *)
Definition cost (lengths : batch -> Z) (b : batch) : R := IZR (lengths b) / (2 * (IZR (top b) / IZR (bottom b))).
Fixpoint costs (lengths : batch -> Z) (bs : list batch) : R :=
  match bs with [] => 0 | b :: bs' => IZR (times b) * cost lengths b + costs lengths bs' end.
(** Numbers that are sound *)
Lemma sound_ok b : sound b = true -> (0 <= times b)%Z /\ 0 < IZR (top b) /\ 0 < IZR (bottom b) /\ (0 < b2' b)%Z /\ (0 < b1' b)%Z.
Proof. unfold sound. intros H. split_bool H. repeat split; try easy; now apply IZR_lt. Qed.
(** Clearing denominators *)
Lemma spent_ok lengths bs : forallb sound bs = true ->
  (0 < snd (spent lengths bs))%Z /\ costs lengths bs = IZR (fst (spent lengths bs)) / IZR (2 * snd (spent lengths bs)).
Proof.
  induction bs as [|b bs IH]; intros H; [simpl; split; [lia|field]|]. cbn [forallb] in H. apply andb_prop in H as [Hb H].
  destruct (IH H) as [IH1 IH2]. destruct (sound_ok b Hb) as (_ & Ht & Hu & _). cbn [spent costs]. destruct (spent lengths bs) as [x y]. cbn [fst snd] in *.
  split; [apply lt_IZR in Ht; nia|]. rewrite IH2. unfold cost. apply IZR_lt in IH1. rewrite plus_IZR, !mult_IZR. field. lra.
Qed.
(** One use *)
Lemma use_renyi {D} (adj : D -> D -> Prop) b M a : sound b = true -> has_length b = true -> 1 < a ->
  vectors_of adj (Vectors (IZR (top b) / IZR (bottom b)) (b2 b) (b2' b) (b1 b) (b1' b) (binf b) (bdim b)) M ->
  laws M /\ forall past d d', adj d d' -> renyi a (M past d) (M past d') (a * cost longest_of b).
Proof.
  intros Hb HS Ha (f & query & Hf & Hq & E). destruct (sound_ok b Hb) as (_ & Ht & Hu & He & Hq').
  assert (0 < IZR (top b) / IZR (bottom b)) as Hs by now apply Rdiv_lt_0_compat.
  assert (forall past d, M past d = vector_noise f (query past d)) as E' by (intros; apply functional_extensionality; intros; apply E).
  split; [intros past d; rewrite E'; now apply (vector_pmf _ f Hf)|]. intros past d d' Hd. destruct (Hq past d d' Hd) as [Hl Hw].
  rewrite !E'. pose proof (vector_renyi _ Hs f Hf _ _ a Ha Hl) as [R1 R2]. split; [exact R1|]. intros l Hl' Hpos.
  apply Rle_trans with (1 := R2 l Hl' Hpos), exp_le. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [lra|]. unfold cost.
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. apply IZR_le. unfold has_length, longest_of in *.
  destruct (length_of b) as [most|] eqn:El; [|discriminate]. exact (longest_ok _ _ _ _ _ _ _ most He Hq' Hw El).
Qed.
(** All uses, chosen one after the other *)
Theorem uses_cost {D} (adj : D -> D -> Prop) bs Ms a : forallb sound bs = true -> forallb has_length bs = true -> 1 < a ->
  Forall2 (vectors_of adj) (flat_map uses_of bs) Ms -> renyi_dp adj (adaptive Ms []) a (a * costs longest_of bs).
Proof.
  intros Hb HS Ha HM.
  assert (exists es, Forall laws Ms /\ Forall2 (fun M e => forall past d d', adj d d' -> renyi a (M past d) (M past d') e) Ms es /\
    fold_right Rplus 0 es = a * costs longest_of bs) as (es & H1 & H2 & <-); [|now apply renyi_composition].
  revert Ms HM Hb HS. induction bs as [|b bs IH]; intros Ms HM Hb HS.
  - inversion HM. exists []. repeat split; try constructor. simpl. ring.
  - cbn [flat_map forallb] in *. apply andb_prop in Hb as [Hb Hbs]. apply andb_prop in HS as [HS HSs].
    apply Forall2_app_inv_l in HM as (M1 & M2 & HM1 & HM2 & ->). destruct (IH M2 HM2 Hbs HSs) as (es & L2 & R2 & E2).
    exists (repeat (a * cost longest_of b) (Z.to_nat (times b)) ++ es).
    assert (Forall laws M1 /\ Forall2 (fun M e => forall past d d', adj d d' -> renyi a (M past d) (M past d') e) M1 (repeat (a * cost longest_of b) (Z.to_nat (times b)))) as [L1 R1].
    { unfold uses_of in HM1. revert M1 HM1. induction (Z.to_nat (times b)) as [|K IHK]; intros M1 HM1; inversion HM1; subst; [split; constructor|].
      match goal with X : Forall2 _ (repeat _ _) _ |- _ => destruct (IHK _ X) end. match goal with X : vectors_of _ _ _ |- _ => destruct (use_renyi adj b _ a Hb HS Ha X) end.
      split; simpl; constructor; auto. }
    split; [now apply Forall_app|]. split; [now apply Forall2_app|]. rewrite fold_right_app, E2. cbn [costs].
    destruct (sound_ok b Hb) as (Hk & _). rewrite <- (Z2Nat.id (times b)) at 2 by easy. rewrite <- INR_IZR_INZ.
    clear. induction (Z.to_nat (times b)) as [|K IHK]; [simpl; ring|]. cbn [repeat fold_right]. rewrite IHK, S_INR. ring.
Qed.
(** The sum of a list *)
Lemma most_spent_ok l : bounded_check l = true -> (0 < snd (most_spent l))%Z /\
  forall D (adj : D -> D -> Prop) Ms a, 1 < a -> Forall2 (vectors_of adj) (vectors_in l) Ms ->
    renyi_dp adj (adaptive Ms []) a (a * (IZR (fst (most_spent l)) / IZR (2 * snd (most_spent l)))).
Proof.
  unfold bounded_check, most_spent. intros H. apply andb_prop in H as [Hb HS]. destruct (spent_ok longest_of _ Hb) as [Hy <-].
  split; [easy|]. intros D adj Ms a Ha HM. rewrite vectors_in_batches in HM. now apply uses_cost.
Qed.
(** rho adds *)
Theorem vectors_zcdp_dp l a b : vectors_zcdp_check l a b = true -> vectors_zcdp (vectors_in l) (IZR a / IZR b).
Proof.
  unfold vectors_zcdp_check. destruct (most_spent l) as [x y] eqn:E. intros H. split_bool H. destruct (most_spent_ok l ltac:(easy)) as [Hy HM].
  rewrite E in *. cbn [fst snd] in *. intros o Ho D adj Ms HMs. apply renyi_weaken with (o * (IZR x / IZR (2 * y))); [easy| |now apply HM].
  apply Rmult_le_compat_l; [lra|].
  assert (0 < IZR b) by now apply IZR_lt. apply IZR_lt in Hy. match goal with X : (x * b <= _)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR in X end.
  rewrite mult_IZR. apply Rmult_le_reg_r with (IZR b * (2 * IZR y)); [nra|].
  replace (IZR x / (2 * IZR y) * (IZR b * (2 * IZR y))) with (IZR x * IZR b) by (field; lra). replace (IZR a / IZR b * (IZR b * (2 * IZR y))) with (IZR a * (2 * IZR y)) by (field; lra). lra.
Qed.
(** At one order *)
Theorem vectors_renyi_dp l c o a b : vectors_renyi_check l c o a b = true -> vectors_renyi (vectors_in l) (IZR c / IZR o) (IZR a / IZR b).
Proof.
  unfold vectors_renyi_check. destruct (most_spent l) as [x y] eqn:E. intros H. split_bool H. destruct (most_spent_ok l ltac:(easy)) as [Hy HM].
  rewrite E in *. cbn [fst snd] in *. intros D adj Ms HMs. pose proof (order_above c o ltac:(easy) ltac:(easy)) as Ho.
  apply renyi_weaken with (IZR c / IZR o * (IZR x / IZR (2 * y))); [easy| |now apply HM].
  assert (0 < IZR b) by now apply IZR_lt. assert (0 < IZR o) by now apply IZR_lt. apply IZR_lt in Hy.
  match goal with X : (c * x * b <= _)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR in X end.
  rewrite mult_IZR. apply Rmult_le_reg_r with (IZR b * (IZR o * (2 * IZR y))); [apply Rmult_lt_0_compat; [easy|nra]|].
  replace (IZR c / IZR o * (IZR x / (2 * IZR y)) * (IZR b * (IZR o * (2 * IZR y)))) with (IZR c * IZR x * IZR b) by (field; lra).
  replace (IZR a / IZR b * (IZR b * (IZR o * (2 * IZR y)))) with (IZR a * (IZR o * (2 * IZR y))) by (field; lra). lra.
Qed.
(** ... of which delta follows *)
Theorem vectors_are_dp l c o a b n d P r : vectors_check l c o a b n d P r = true -> vectors_dp (vectors_in l) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold vectors_check. destruct (most_spent l) as [x y] eqn:E. intros H. apply andb_prop in H as [Hl H]. destruct (most_spent_ok l Hl) as [Hy HM].
  rewrite E in *. cbn [fst snd] in *. intros D adj Ms HMs. apply (converted adj _ _ _ _ _ _ _ _ _ _ _ H).
  unfold conversion_check in H. split_bool H. assert (0 < IZR o) by now apply IZR_lt. apply IZR_lt in Hy.
  replace (IZR (c * x) / IZR (o * (2 * y))) with (IZR c / IZR o * (IZR x / IZR (2 * y))) by (rewrite !mult_IZR; field; lra).
  apply HM; [now apply order_above|easy].
Qed.

(** ** No less will do where a longest vector is within reach: so many coordinates of one size, and one more *)
Definition shape := (Z * Z * Z)%type.
Definition spread (w : shape) : list Z := let '(x, y, z) := w in repeat y (Z.to_nat x) ++ (if (z =? 0)%Z then [] else [z]).
Open Scope Z_scope.
Definition shape_square (w : shape) : Z := let '(x, y, z) := w in x * (y * y) + z * z.
Definition shape_inside (b : batch) (w : shape) : bool :=
  let '(x, y, z) := w in
  (0 <=? x) && (0 <=? y) && (0 <=? z) &&
  ((b2 b =? 0) || (shape_square w * (b2' b * b2' b) <=? b2 b * b2 b)) && ((b1 b =? 0) || ((x * y + z) * b1' b <=? b1 b)) &&
  ((binf b =? 0) || (y <=? binf b) && (z <=? binf b)) && ((bdim b =? 0) || (x + (if z =? 0 then 0 else 1) <=? bdim b)).
(** Which attain the bound, if any: as few coordinates as possible, or as many, or one *)
Definition candidates (b : batch) : list shape :=
  match farthest (b2 b) (b2' b) (b1 b) (b1' b) (binf b), length_of b with
  | Some far, Some most =>
      let sum := match lesser (given (b1 b) (b1 b) (b1' b)) (option_map (fun n => n * far) (given (bdim b) (bdim b) 1)) with Some s => s | None => most end in
      [(sum / far, far, sum mod far); (most, 1, 0); (1, far, 0)]
  | _, _ => []
  end.
Definition better (v w : shape) : shape := if shape_square v <? shape_square w then w else v.
Definition widest (b : batch) : shape := fold_right better (0, 0, 0) (filter (shape_inside b) (candidates b)).
Definition least_spent (l : list Z) : Z * Z := spent (fun b => shape_square (widest b)) (batches l).
(** An order c/o times its coordinates is whole *)
Definition whole_at (c o : Z) (b : batch) : bool :=
  let '(_, y, z) := widest b in ((c * y) mod o =? 0) && ((c * z) mod o =? 0).
Definition vectors_renyi_refutes (l : list Z) (c o a b : Z) : bool :=
  let '(x, y) := least_spent l in
  forallb sound (batches l) && (0 <? o) && (o <? c) && (0 <? b) && forallb (fun b => shape_inside b (widest b)) (batches l) &&
  forallb (whole_at c o) (batches l) && (a * (o * (2 * y)) <? c * x * b).
(** By the order 2 *)
Definition vectors_zcdp_refutes (l : list Z) (a b : Z) : bool := vectors_renyi_refutes l 2 1 (2 * a) b.
Close Scope Z_scope.

(** Its square *)
Lemma spread_square x y z : (0 <= x)%Z -> square (spread (x, y, z)) = shape_square (x, y, z).
Proof.
  intros Hx. unfold spread, square, shape_square, total. rewrite map_app, fold_right_app.
  replace (fold_right Z.add 0%Z (map (fun x => x * x)%Z (if (z =? 0)%Z then [] else [z]))) with (z * z)%Z by (destruct (Z.eqb_spec z 0) as [->|]; simpl; lia).
  rewrite <- (Z2Nat.id x) at 2 by easy. induction (Z.to_nat x) as [|n IH]; [simpl; lia|]. cbn [repeat map fold_right]. rewrite IH, Nat2Z.inj_succ. lia.
Qed.
(** The sum of its sizes *)
Lemma spread_sizes x y z : (0 <= x)%Z -> (0 <= y)%Z -> (0 <= z)%Z -> total (map Z.abs (spread (x, y, z))) = (x * y + z)%Z.
Proof.
  intros Hx Hy Hz. unfold spread, total. rewrite map_app, fold_right_app.
  replace (fold_right Z.add 0%Z (map Z.abs (if (z =? 0)%Z then [] else [z]))) with z by (destruct (Z.eqb_spec z 0) as [->|]; simpl; lia).
  rewrite <- (Z2Nat.id x) at 2 by easy. induction (Z.to_nat x) as [|n IH]; [simpl; lia|]. cbn [repeat map fold_right]. rewrite IH, Nat2Z.inj_succ. lia.
Qed.
(** What it consists of *)
Lemma in_spread x y z k : In k (spread (x, y, z)) -> k = y \/ k = z.
Proof.
  unfold spread. intros H. apply in_app_or in H as [H|H]; [left; now apply repeat_spec in H|right]. destruct (z =? 0)%Z; [easy|]. destruct H as [H|H]; easy.
Qed.
(** A bound that is not 0 *)
Lemma or_zero k t : ((k =? 0)%Z || t)%bool = true -> (k <> 0)%Z -> t = true.
Proof. destruct (Z.eqb_spec k 0); [easy|now intros]. Qed.
(** It is within reach *)
Lemma spread_inside b w : shape_inside b w = true ->
  within_reach (b2 b) (b2' b) (b1 b) (b1' b) (binf b) (bdim b) (spread w) /\ square (spread w) = shape_square w.
Proof.
  destruct w as [[x y] z]. cbn [shape_inside]. intros H. split_bool H. assert (0 <= x)%Z as Hx by easy. split; [|now apply spread_square].
  unfold within_reach. fold (square (spread (x, y, z))). rewrite spread_square, spread_sizes by easy.
  split; [|split; [|split]].
  - intros X. apply Z.leb_le. eauto using or_zero.
  - intros X. apply Z.leb_le. eauto using or_zero.
  - intros X k Hk. assert (((y <=? binf b)%Z && (z <=? binf b)%Z)%bool = true) as Y by eauto using or_zero. split_bool Y.
    destruct (in_spread x y z k Hk) as [->| ->]; lia.
  - intros X. assert (x + (if z =? 0 then 0 else 1) <=? bdim b = true)%Z as Y by eauto using or_zero. apply Z.leb_le in Y.
    unfold spread. rewrite app_length, repeat_length. destruct (z =? 0)%Z; simpl length; lia.
Qed.
(** The other way round *)
Lemma within_opposite c e p q m n v : within_reach c e p q m n v -> within_reach c e p q m n (map Z.opp v).
Proof.
  unfold within_reach. rewrite !map_map, map_length. rewrite (map_ext (fun x => - x * - x)%Z (fun x => x * x)%Z) by (intros; ring).
  rewrite (map_ext (fun x => Z.abs (- x)) Z.abs) by (intros; apply Z.abs_opp). intros (H2 & H1 & Hm & Hn). repeat split; auto.
  intros X x Hx. apply in_map_iff in Hx as (y & <- & Hy). rewrite Z.abs_opp. now apply Hm.
Qed.
(** Nothing moves by nothing *)
Lemma zero_differences v : differences v (map (fun _ => 0%Z) v) = v /\ differences (map (fun _ => 0%Z) v) v = map Z.opp v.
Proof. induction v as [|x v [IH1 IH2]]; [easy|]. simpl. rewrite IH1, IH2. split; f_equal; lia. Qed.

(** Such a list of mechanisms, on the data sets [true] and [false] *)
Lemma list_attains a bs : 1 < a -> forallb sound bs = true -> forallb (fun b => shape_inside b (widest b)) bs = true ->
  (forall b x, In b bs -> In x (spread (widest b)) -> exists k, a * IZR x = IZR k) ->
  exists Ms : list (list (list Z) -> bool -> list Z -> R), Forall2 (vectors_of differ) (flat_map uses_of bs) Ms /\ Forall laws Ms /\
    (forall past past' d, adaptive Ms past d = adaptive Ms past' d) /\
    attains a (adaptive Ms [] true) (adaptive Ms [] false) (exp ((a - 1) * (a * costs (fun b => shape_square (widest b)) bs))).
Proof.
  intros Ha. induction bs as [|b bs IH]; intros Hb Hw Hwhole.
  - exists []. repeat split; try constructor. simpl. rewrite !Rmult_0_r, exp_0. now apply attains_nil.
  - cbn [forallb] in Hb, Hw. apply andb_prop in Hb as [Hb Hbs]. apply andb_prop in Hw as [Hw Hws].
    destruct (IH Hbs Hws (fun (c : batch) (x : Z) Hc => Hwhole c x (or_intror Hc))) as (Ms & F2 & FL & Fpast & Fat).
    destruct (sound_ok b Hb) as (Hk & Ht & Hu & _). set (s2 := IZR (top b) / IZR (bottom b)). assert (0 < s2) as Hs by now apply Rdiv_lt_0_compat.
    destruct (gauss_exists s2 Hs) as [f Hf]. destruct (spread_inside b _ Hw) as [Hin Hsq]. set (v := spread (widest b)) in *. set (o := map (fun _ => 0%Z) v).
    set (M := fun (_ : list (list Z)) (d : bool) => vector_noise f (if d then v else o)).
    assert (vectors_of differ (Vectors s2 (b2 b) (b2' b) (b1 b) (b1' b) (binf b) (bdim b)) M) as HM.
    { exists f, (fun (_ : list (list Z)) (d : bool) => if d then v else o). split; [easy|]. split; [|easy]. destruct (zero_differences v) as [E1 E2]. fold o in E1, E2.
      intros _ [|] [|] Hd; try (now elim Hd); rewrite ?E1, ?E2; unfold o; rewrite map_length; (split; [easy|]); [easy|now apply within_opposite]. }
    assert (laws M) as HL by (intros past d; now apply (vector_pmf s2 f Hf)).
    pose proof (vector_attains s2 f a v Hs Hf Ha (fun x Hx => Hwhole b x (or_introl eq_refl) Hx)) as Hat. fold o in Hat. rewrite Hsq in Hat.
    cbn [flat_map costs]. unfold uses_of at 1. fold s2. rewrite <- (Z2Nat.id (times b)) by easy. rewrite <- INR_IZR_INZ, Nat2Z.id.
    clear IH Hwhole Hk. induction (Z.to_nat (times b)) as [|K (Ns & N2 & NL & Npast & Nat)].
    + exists Ms. repeat split; auto. simpl INR. rewrite Rmult_0_l, Rplus_0_l. exact Fat.
    + exists (M :: Ns). split; [now constructor|]. split; [now constructor|]. split.
      * intros past past' d. apply functional_extensionality. intros [|y ys]; [easy|]. cbn [adaptive]. now rewrite (Npast (y :: past) (y :: past')).
      * replace (exp _) with (exp ((a - 1) * (a * (IZR (shape_square (widest b)) / (2 * s2)))) *
          exp ((a - 1) * (a * (INR K * cost (fun b => shape_square (widest b)) b + costs (fun b => shape_square (widest b)) bs)))).
        -- apply attains_cons with (f := vector_noise f v) (g := vector_noise f o) (F := adaptive Ns [] true) (G := adaptive Ns [] false); try apply exp_pos; auto.
           ++ intros y ys. cbn [adaptive]. now rewrite (Npast [y] []).
           ++ intros y ys. cbn [adaptive]. now rewrite (Npast [y] []).
        -- rewrite <- exp_plus. f_equal. rewrite S_INR. unfold cost. fold s2. ring.
Qed.
(** At one order *)
Theorem vectors_renyi_not_dp l c o a b : vectors_renyi_refutes l c o a b = true -> vectors_not_renyi (vectors_in l) (IZR c / IZR o) (IZR a / IZR b).
Proof.
  unfold vectors_renyi_refutes. destruct (least_spent l) as [x y] eqn:E. intros H. split_bool H. pose proof (order_above c o ltac:(easy) ltac:(easy)) as Ho.
  assert (forallb sound (batches l) = true) as Hsound by easy. destruct (spent_ok (fun b => shape_square (widest b)) _ Hsound) as [Hy Hc].
  unfold least_spent in E. rewrite E in Hy, Hc. cbn [fst snd] in Hy, Hc. assert (0 < o)%Z as Hoz by easy.
  destruct (list_attains (IZR c / IZR o) (batches l) Ho Hsound ltac:(easy)) as (Ms & F2 & FL & _ & Hat).
  { intros s k Hs Hk. match goal with X : forallb (whole_at c o) _ = true |- _ => rewrite forallb_forall in X; specialize (X s Hs); rename X into Hw end.
    unfold whole_at in Hw. destruct (widest s) as [[u v] z]. apply andb_prop in Hw as [W1 W2]. apply Z.eqb_eq in W1, W2.
    assert (forall j, ((c * j) mod o = 0)%Z -> exists k, IZR c / IZR o * IZR j = IZR k) as Hwhole.
    { intros j Hj. exists (c * j / o)%Z. pose proof (Z.div_mod (c * j) o ltac:(lia)) as D. rewrite Hj, Z.add_0_r in D. apply (f_equal IZR) in D. rewrite !mult_IZR in D.
      apply IZR_lt in Hoz. apply Rmult_eq_reg_l with (IZR o); [|lra]. rewrite <- D. field. lra. }
    destruct (in_spread _ _ _ _ Hk) as [->| ->]; auto. }
  rewrite <- vectors_in_batches in F2. exists bool, differ, Ms. split; [easy|].
  refine (attains_not_renyi differ (adaptive Ms []) _ _ _ true false _ _ Hat _); [intros d; now apply adaptive_pmf|discriminate|].
  apply exp_increasing, Rmult_lt_compat_l; [lra|]. rewrite Hc. assert (0 < IZR b) by now apply IZR_lt. apply IZR_lt in Hy, Hoz.
  match goal with X : (_ < c * x * b)%Z |- _ => apply IZR_lt in X; rewrite !mult_IZR in X end.
  rewrite mult_IZR. apply Rmult_lt_reg_r with (IZR b * (IZR o * (2 * IZR y))); [apply Rmult_lt_0_compat; [easy|nra]|].
  replace (IZR c / IZR o * (IZR x / (2 * IZR y)) * (IZR b * (IZR o * (2 * IZR y)))) with (IZR c * IZR x * IZR b) by (field; lra).
  replace (IZR a / IZR b * (IZR b * (IZR o * (2 * IZR y)))) with (IZR a * (IZR o * (2 * IZR y))) by (field; lra). lra.
Qed.
(** At the order 2 *)
Theorem vectors_zcdp_not_dp l a b : vectors_zcdp_refutes l a b = true -> vectors_not_zcdp (vectors_in l) (IZR a / IZR b).
Proof.
  intros H. exists 2. split; [lra|]. apply vectors_renyi_not_dp in H. replace (2 * (IZR a / IZR b)) with (IZR (2 * a) / IZR b) by (rewrite mult_IZR; unfold Rdiv; ring).
  now replace 2 with (IZR 2 / IZR 1) at 1 by field.
Qed.
