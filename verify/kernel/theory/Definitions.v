(** What certificates claim: definitions only. These lines, the law in [Laws.v] that a
    certificate names, and the certificate's last statement are all that a reader must trust. *)
From Coq Require Import Reals List ZArith.
Import ListNotations.
Open Scope R_scope.

Fixpoint mass {T} (f : T -> R) (l : list T) : R :=
  match l with [] => 0 | x :: l' => f x + mass f l' end.

(** Pr[S] under the PMF [f] is the supremum of the mass of the finite subsets of [S]. *)
Definition has_prob {T} (f : T -> R) (S : T -> Prop) (p : R) : Prop :=
  is_lub (fun r => exists l, NoDup l /\ (forall x, In x l -> S x) /\ r = mass f l) p.

Definition pmf {T} (f : T -> R) : Prop :=
  (forall x, 0 <= f x) /\ has_prob f (fun _ => True) 1.

(** (eps, delta)-indistinguishability of an ordered pair: over all events. *)
Definition dp_pair {T} (f g : T -> R) (eps delta : R) : Prop :=
  forall (S : T -> Prop) (p q : R),
    has_prob f S p -> has_prob g S q -> p <= exp eps * q + delta.

(** A mechanism maps a data set to a law; [adj] relates neighbours. *)
Definition dp {D T} (adj : D -> D -> Prop) (M : D -> T -> R) (eps delta : R) : Prop :=
  (forall d, pmf (M d)) /\ forall d d', adj d d' -> dp_pair (M d) (M d') eps delta.

(** Refuted: one event on one pair of neighbours breaks the inequality. *)
Definition not_dp {D T} (adj : D -> D -> Prop) (M : D -> T -> R) (eps delta : R) : Prop :=
  (forall d, pmf (M d)) /\ exists (d d' : D) (S : T -> Prop) (p p' : R),
    adj d d' /\ has_prob (M d) S p /\ has_prob (M d') S p' /\ p > exp eps * p' + delta.

(** An integer query plus independent noise of law [f]. *)
Definition add_noise {D} (f : Z -> R) (q : D -> Z) : D -> Z -> R := fun d k => f (k - q d)%Z.

Definition sensitivity {D} (adj : D -> D -> Prop) (q : D -> Z) (Delta : Z) : Prop :=
  forall d d', adj d d' -> (Z.abs (q d - q d') <= Delta)%Z.

(** DP for every data type, every neighbour relation and every query of that sensitivity. *)
Definition noise_dp (f : Z -> R) (Delta : Z) (eps delta : R) : Prop :=
  forall (D : Type) (adj : D -> D -> Prop) (q : D -> Z),
    sensitivity adj q Delta -> dp adj (add_noise f q) eps delta.

(** Refuted: one data type, one neighbour relation, one query of that sensitivity. *)
Definition noise_not_dp (f : Z -> R) (Delta : Z) (eps delta : R) : Prop :=
  exists (D : Type) (adj : D -> D -> Prop) (q : D -> Z),
    sensitivity adj q Delta /\ not_dp adj (add_noise f q) eps delta.
