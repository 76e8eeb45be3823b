(** What K answers cost is what they cost when each bit is chosen by the answers before. *)
From Coq Require Import Reals List ZArith Lra Lia Psatz.
From ExactDP Require Import Definitions Laws Mass Weights DiscreteLaplace RandomizedResponse Composition LaplacePair Lists.
Import ListNotations.
Open Scope R_scope.

Section Response.
Variable e : R.
Hypothesis He : 0 < e.
Let p := laplace_pair (1 / e) 1.
(** Answer by answer *)
Lemma answers_product K : forall x y, product_above (repeat p K) x y = mass (fun ys => above x y (answers e K true ys) (answers e K false ys)) (allvec K).
Proof.
  induction K; intros x y; [unfold above; simpl; rewrite !Rmult_1_r; ring|].
  cbn [repeat]. unfold p at 1. rewrite response_pair by easy. fold p. rewrite !IHK. cbn [allvec]. rewrite mass_app, !mass_map, Rplus_comm.
  f_equal; apply mass_ext; intros ys _; unfold answers; cbn [repeated]; rewrite !response_at by easy; unfold above; simpl Bool.eqb; cbv iota; f_equal; ring.
Qed.
(** The pairs of all uses *)
Lemma response_pairs K : map pair_of (repeat (Response e) K) = repeat p K /\ Forall proper (repeat (Response e) K).
Proof. split; [induction K; simpl; [easy|now rewrite IHK]|]. apply Forall_forall. intros u Hu. now apply repeat_spec in Hu as ->. Qed.

(** The event of the sequences that gain *)
Theorem answers_list_dp K eps delta : dp differ (repeated (randomized_response e) K) eps delta -> list_dp (repeat (Response e) K) eps delta.
Proof.
  intros [Hp H]. destruct (response_pairs K) as [E Hus]. apply list_is_dp; [easy|]. rewrite E, answers_product.
  set (f := answers e K true). set (g := answers e K false).
  set (gains := fun ys => if Rlt_dec 0 (1 * f ys - exp eps * g ys) then true else false).
  assert (mass (fun ys => above 1 (exp eps) (f ys) (g ys)) (allvec K) = 1 * mass f (filter gains (allvec K)) + - exp eps * mass g (filter gains (allvec K))) as ->.
  { rewrite <- mass_lin, mass_filter. apply mass_ext. intros ys _. unfold gains, above. destruct (Rlt_dec 0 _); [rewrite Rmax_right; lra|rewrite Rmax_left; lra]. }
  assert (NoDup (filter gains (allvec K))) as Hn by apply NoDup_filter, allvec_nodup.
  pose proof (H true false ltac:(discriminate) _ _ _ (has_prob_list f _ (proj1 (Hp true)) Hn) (has_prob_list g _ (proj1 (Hp false)) Hn)) as Hle. fold f g in Hle. lra.
Qed.
End Response.

(** eps0 = a0/b0 *)
Definition answers_uses_check (K : nat) (a0 b0 a b n d P : Z) (r : nat) : bool := ((0 <? a0)%Z && answers_check K a0 b0 a b n d P r)%bool.
(** By the K-fold product *)
Theorem answers_uses_dp K a0 b0 a b n d P r : answers_uses_check K a0 b0 a b n d P r = true ->
  list_dp (repeat (Response (IZR a0 / IZR b0)) K) (IZR a / IZR b) (IZR n / IZR d).
Proof.
  unfold answers_uses_check. intros H. apply andb_prop in H as [H0 H]. apply Z.ltb_lt in H0. apply answers_list_dp; [|now apply answers_are_dp with (P := P) (r := r)].
  unfold answers_check in H. split_bool H. apply ratio_pos; [easy|]. eauto using ratio_bottom.
Qed.
