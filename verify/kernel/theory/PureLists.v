(** Lists of uses, pure: each costs its sensitivity over its scale. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Exponential Weights DiscreteLaplace RandomizedResponse Composition LaplacePair LaplaceUses Lists ListSums.
Import ListNotations.
Open Scope R_scope.

(** What a list costs, as a quotient *)
Fixpoint spent (bs : list block) : Z * Z :=
  match bs with
  | [] => (0, 1)
  | b :: bs' => let '(x, y) := spent bs' in (x * top b + Z.of_nat (cells b) * bottom b * y, y * top b)
  end%Z.
Definition sound_block (b : block) : bool := ((0 <? top b) && (0 <? bottom b) && (0 <? Z.of_nat (reach b)))%Z%bool.
Definition pure_list_check (l : list Z) (a b n d : Z) : bool :=
  let '(x, y) := spent (blocks_in l) in
  (is_ratio a b && is_ratio n d && forallb sound_block (blocks_in l) && (x * b <=? a * y)%Z)%bool.

(** The largest ratio of each pair *)
Definition ratios_of (bs : list block) : list R := flat_map (fun b => repeat (exp (INR (reach b) / scale b)) (count b)) bs.
(** Block by block *)
Lemma ratios_ok bs : Forall sound bs ->
  Forall2 (fun p c => 0 < c /\ forall u, In u (points p) -> 0 <= left p u <= c * right p u) (pairs bs) (ratios_of bs).
Proof.
  intros H. induction H as [|b bs Hb H IH]; [constructor|]. unfold pairs, ratios_of. cbn [flat_map]. apply Forall2_app; [|exact IH].
  clear IH. induction (count b); simpl; constructor; auto. split; [apply exp_pos|]. intros u. now apply laplace_pair_ratio, scale_pos.
Qed.
(** Block by block *)
Lemma spent_ok bs : Forall sound bs -> (0 < snd (spent bs))%Z /\
  fold_right Rmult 1 (ratios_of bs) = exp (IZR (fst (spent bs)) / IZR (snd (spent bs))).
Proof.
  intros H. induction H as [|b bs Hb H [IH1 IH2]]; [simpl; split; [lia|]; unfold Rdiv; now rewrite Rmult_0_l, exp_0|].
  cbn [spent]. destruct (spent bs) as [x y]. cbn [fst snd] in *. pose proof Hb as (Ht & Hu & Hr). split; [nia|].
  unfold ratios_of. cbn [flat_map]. fold (ratios_of bs). rewrite fold_right_app.
  assert (forall l z, fold_right Rmult z l = fold_right Rmult 1 l * z) as Hz by (induction l as [|c l IHl]; intros z; simpl; [ring|rewrite IHl; ring]).
  rewrite Hz, exp_repeat, IH2, <- exp_plus. f_equal. unfold scale, cells. apply IZR_lt in Ht, Hu, IH1.
  rewrite plus_IZR, !mult_IZR, <- INR_IZR_INZ, mult_INR. field. lra.
Qed.
(** No excess at what all of it costs *)
Theorem pure_list_dp l a b n d : pure_list_check l a b n d = true -> list_dp (uses_in l) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold pure_list_check. destruct (spent (blocks_in l)) as [x y] eqn:E. intros H. split_bool H.
  assert (Forall sound (blocks_in l)) as Hbs.
  { match goal with X : forallb _ _ = true |- _ => rewrite forallb_forall in X; rename X into Hs end.
    apply Forall_forall. intros c Hc. specialize (Hs c Hc). unfold sound_block in Hs. split_bool Hs. repeat split; auto; lia. }
  destruct (pairs_in l Hbs) as [Hus Hpairs]. destruct (spent_ok _ Hbs) as [Hy Hr]. rewrite E in Hy, Hr. cbn [fst snd] in *.
  apply list_is_dp; [easy|]. rewrite Hpairs, (product_above_zero _ (ratios_of (blocks_in l))); [now apply ratio_nonneg|now apply ratios_ok|lra|].
  rewrite Rmult_1_l, Hr. apply exp_le.
  match goal with X : (x * b <= a * y)%Z |- _ => apply IZR_le in X; rewrite !mult_IZR in X end.
  assert (0 < IZR b) by (apply IZR_lt; eauto using ratio_bottom). apply IZR_lt in Hy. apply Rmult_le_reg_r with (IZR y * IZR b); [nra|].
  replace (IZR x / IZR y * (IZR y * IZR b)) with (IZR x * IZR b) by (field; lra). replace (IZR a / IZR b * (IZR y * IZR b)) with (IZR a * IZR y) by (field; lra). lra.
Qed.
