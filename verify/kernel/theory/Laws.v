(** The laws and mechanisms that certificates name: definitions only. *)
From Coq Require Import Reals List ZArith.
From ExactDP Require Import Definitions.
Import ListNotations.
Open Scope R_scope.

(** Discrete Laplace noise of scale [t]: proportional to e^(-|k|/t). *)
Definition discrete_laplace (t : R) (k : Z) : R :=
  (1 - exp (- (1 / t))) / (1 + exp (- (1 / t))) * exp (- (IZR (Z.abs k) / t)).

(** Discrete Gaussian noise: [f k] is e^(-k^2/(2 sigma2)) over the sum of all of these. *)
Definition gauss_weight (sigma2 : R) (k : Z) : R := exp (- (IZR (k * k) / (2 * sigma2))).
Definition discrete_gaussian (sigma2 : R) (f : Z -> R) : Prop :=
  exists N, has_prob (gauss_weight sigma2) (fun _ => True) N /\
            forall k, f k = gauss_weight sigma2 k / N.

(** Binomial noise, with C from Coq's library of real numbers. *)
Definition binomial (N : nat) (p : R) (k : Z) : R :=
  if andb (0 <=? k)%Z (k <=? Z.of_nat N)%Z
  then C N (Z.to_nat k) * p ^ Z.to_nat k * (1 - p) ^ (N - Z.to_nat k) else 0.

(** Outcome k = 0, 1, ... has probability w_k / sum w. *)
Definition entry (w : list Z) (k : Z) : Z := if (k <? 0)%Z then 0%Z else nth (Z.to_nat k) w 0%Z.
Definition total (w : list Z) : Z := fold_right Z.add 0%Z w.
Definition table (w : list Z) (k : Z) : R := IZR (entry w k) / IZR (total w).

(** A user's own pair of laws: one on the data set [true], the other on the data set [false]. *)
Definition two_tables (a b : list Z) (d : bool) : Z -> R := table (if d then a else b).

(** The true bit with probability e^eps0 / (1 + e^eps0), else its flip. *)
Definition randomized_response (eps0 : R) (b y : bool) : R :=
  (if Bool.eqb b y then exp eps0 else 1) / (1 + exp eps0).

(** A mechanism used [K] times on the same data with fresh randomness. *)
Fixpoint repeated {D T} (M : D -> T -> R) (K : nat) (d : D) (ys : list T) : R :=
  match K, ys with
  | O, [] => 1
  | S K', y :: ys' => M d y * repeated M K' d ys'
  | _, _ => 0
  end.

(** Data sets that differ. *)
Definition differ {D} (d d' : D) : Prop := d <> d'.

(** [g] is the law of [h x] where [x] has the law [f]. *)
Definition image {T U} (h : T -> U) (f : T -> R) (g : U -> R) : Prop :=
  forall y, has_prob f (fun x => h x = y) (g y).

(** Skellam noise is X - Y, where X and Y are independent Poisson counts of mean [mu]: variance 2 mu. *)
Definition poisson (mu : R) (n : nat) : R := exp (- mu) * mu ^ n / INR (fact n).
Definition skellam (mu : R) (f : Z -> R) : Prop :=
  image (fun c => Z.of_nat (fst c) - Z.of_nat (snd c))%Z (fun c => poisson mu (fst c) * poisson mu (snd c)) f.

(** The query plus noise, seen mod m. *)
Definition noise_mod_dp (f : Z -> R) (m Delta : Z) (eps delta : R) : Prop :=
  forall (D : Type) (adj : D -> D -> Prop) (q : D -> Z) (M : D -> Z -> R),
    sensitivity adj q Delta ->
    (forall d, image (fun k => (k mod m)%Z) (add_noise f q d) (M d)) -> dp adj M eps delta.

(** Mechanisms used one after the other on the same data with fresh randomness; each may be chosen
    by what came out before it ([past], the latest first). *)
Fixpoint adaptive {D T} (Ms : list (list T -> D -> T -> R)) (past : list T) (d : D) (ys : list T) : R :=
  match Ms, ys with
  | [], [] => 1
  | M :: Ms', y :: ys' => M past d y * adaptive Ms' (y :: past) d ys'
  | _, _ => 0
  end.

(** Noise of law [f] on K integer queries, each of that sensitivity and chosen by the past. *)
Definition noisy_answers {D} (f : Z -> R) (q : list Z -> D -> Z) (K : nat) : D -> list Z -> R :=
  adaptive (repeat (fun past => add_noise f (q past)) K) [].
Definition noise_uses_dp (f : Z -> R) (K : nat) (Delta : Z) (eps delta : R) : Prop :=
  forall (D : Type) (adj : D -> D -> Prop) (q : list Z -> D -> Z),
    (forall past, sensitivity adj (q past) Delta) -> dp adj (noisy_answers f q K) eps delta.
(** Refuted: one data type, one neighbour relation, one such way of asking. *)
Definition noise_uses_not_dp (f : Z -> R) (K : nat) (Delta : Z) (eps delta : R) : Prop :=
  exists (D : Type) (adj : D -> D -> Prop) (q : list Z -> D -> Z),
    (forall past, sensitivity adj (q past) Delta) /\ not_dp adj (noisy_answers f q K) eps delta.

(** Different mechanisms on the same data, in a fixed order: noise on an integer query of sensitivity
    [Delta], or randomized response of a bit; the queries and bits are chosen by the past. *)
Inductive use := Laplace (t : R) (Delta : Z) | Response (eps0 : R).
Definition use_of {D} (adj : D -> D -> Prop) (u : use) (M : list (Z + bool) -> D -> Z + bool -> R) : Prop :=
  match u with
  | Laplace t Delta => exists q, (forall past, sensitivity adj (q past) Delta) /\
      forall past d y, M past d y = match y with inl k => add_noise (discrete_laplace t) (q past) d k | inr _ => 0 end
  | Response eps0 => exists b : list (Z + bool) -> D -> bool,
      forall past d y, M past d y = match y with inl _ => 0 | inr v => randomized_response eps0 (b past d) v end
  end.
Definition list_dp (us : list use) (eps delta : R) : Prop :=
  forall (D : Type) (adj : D -> D -> Prop) Ms, Forall2 (use_of adj) us Ms -> dp adj (adaptive Ms []) eps delta.
(** Refuted: one data type, one neighbour relation, one such list of mechanisms. *)
Definition list_not_dp (us : list use) (eps delta : R) : Prop :=
  exists (D : Type) (adj : D -> D -> Prop) Ms, Forall2 (use_of adj) us Ms /\ not_dp adj (adaptive Ms []) eps delta.
(** Four numbers k, t, u, s are k uses of noise of scale t/u and sensitivity s, or where s = 0 of
    randomized response of eps0 = u/t. *)
Fixpoint uses_in (l : list Z) : list use :=
  match l with
  | k :: t :: u :: s :: l' =>
      repeat (if (s =? 0)%Z then Response (IZR u / IZR t) else Laplace (IZR t / IZR u) s) (Z.to_nat k) ++ uses_in l'
  | _ => []
  end.

(** Rényi divergences at order a > 1: sum f^a g^(1-a), over all finite lists of outcomes that f makes possible (g has
    to, too), is at most e^((a-1) eps). *)
Definition renyi_term {T} (a : R) (f g : T -> R) (x : T) : R := Rpower (f x) a * Rpower (g x) (1 - a).
Definition renyi {T} (a : R) (f g : T -> R) (eps : R) : Prop :=
  (forall x, 0 < f x -> 0 < g x) /\
  forall l, NoDup l -> (forall x, In x l -> 0 < f x) -> mass (renyi_term a f g) l <= exp ((a - 1) * eps).
Definition renyi_dp {D T} (adj : D -> D -> Prop) (M : D -> T -> R) (a eps : R) : Prop :=
  (forall d, pmf (M d)) /\ forall d d', adj d d' -> renyi a (M d) (M d') eps.
(** Refuted: some outcomes that both make possible, on one pair of neighbours. *)
Definition not_renyi_dp {D T} (adj : D -> D -> Prop) (M : D -> T -> R) (a eps : R) : Prop :=
  (forall d, pmf (M d)) /\ exists d d' l, adj d d' /\ NoDup l /\ (forall x, In x l -> 0 < M d x /\ 0 < M d' x) /\
    mass (renyi_term a (M d) (M d')) l > exp ((a - 1) * eps).

(** Of noise on a query, once and on K queries chosen by the past *)
Definition noise_renyi (f : Z -> R) (Delta : Z) (a eps : R) : Prop :=
  forall (D : Type) (adj : D -> D -> Prop) (q : D -> Z), sensitivity adj q Delta -> renyi_dp adj (add_noise f q) a eps.
Definition noise_not_renyi (f : Z -> R) (Delta : Z) (a eps : R) : Prop :=
  exists (D : Type) (adj : D -> D -> Prop) (q : D -> Z), sensitivity adj q Delta /\ not_renyi_dp adj (add_noise f q) a eps.
Definition noise_uses_renyi (f : Z -> R) (K : nat) (Delta : Z) (a eps : R) : Prop :=
  forall (D : Type) (adj : D -> D -> Prop) (q : list Z -> D -> Z),
    (forall past, sensitivity adj (q past) Delta) -> renyi_dp adj (noisy_answers f q K) a eps.
Definition noise_uses_not_renyi (f : Z -> R) (K : nat) (Delta : Z) (a eps : R) : Prop :=
  exists (D : Type) (adj : D -> D -> Prop) (q : list Z -> D -> Z),
    (forall past, sensitivity adj (q past) Delta) /\ not_renyi_dp adj (noisy_answers f q K) a eps.

(** rho-zero-concentrated DP: at every order a, eps = a rho; refuted at some order. *)
Definition noise_zcdp (f : Z -> R) (Delta : Z) (rho : R) : Prop := forall a, 1 < a -> noise_renyi f Delta a (a * rho).
Definition noise_not_zcdp (f : Z -> R) (Delta : Z) (rho : R) : Prop := exists a, 1 < a /\ noise_not_renyi f Delta a (a * rho).
Definition noise_uses_zcdp (f : Z -> R) (K : nat) (Delta : Z) (rho : R) : Prop :=
  forall a, 1 < a -> noise_uses_renyi f K Delta a (a * rho).
Definition noise_uses_not_zcdp (f : Z -> R) (K : nat) (Delta : Z) (rho : R) : Prop :=
  exists a, 1 < a /\ noise_uses_not_renyi f K Delta a (a * rho).

(** Discrete Gaussian noise of variance parameter [sigma2] in every coordinate of an integer vector. Neighbours move
    it by v with |v|_2 <= c/e, |v|_1 <= p/q, |v|_inf <= m, in at most n coordinates; of c, p, m, n, 0 bounds nothing. *)
Inductive vectors := Vectors (sigma2 : R) (c e p q m n : Z).
Definition within_reach (c e p q m n : Z) (v : list Z) : Prop :=
  (c <> 0 -> total (map (fun x => x * x) v) * (e * e) <= c * c)%Z /\ (p <> 0 -> total (map Z.abs v) * q <= p)%Z /\
  (m <> 0 -> forall x, In x v -> Z.abs x <= m)%Z /\ (n <> 0 -> Z.of_nat (length v) <= n)%Z.
Fixpoint differences (v w : list Z) : list Z := match v, w with x :: v', y :: w' => (x - y)%Z :: differences v' w' | _, _ => [] end.
Fixpoint vector_noise (f : Z -> R) (v ys : list Z) : R :=
  match v, ys with
  | [], [] => 1
  | x :: v', y :: ys' => f (y - x)%Z * vector_noise f v' ys'
  | _, _ => 0
  end.
(** The query is chosen by the vectors that came out before it. *)
Definition vectors_of {D} (adj : D -> D -> Prop) (u : vectors) (M : list (list Z) -> D -> list Z -> R) : Prop :=
  match u with Vectors sigma2 c e p q m n =>
    exists (f : Z -> R) (query : list (list Z) -> D -> list Z), discrete_gaussian sigma2 f /\
      (forall past d d', adj d d' -> length (query past d) = length (query past d') /\
        within_reach c e p q m n (differences (query past d) (query past d'))) /\
      forall past d ys, M past d ys = vector_noise f (query past d) ys
  end.
Definition vectors_dp (us : list vectors) (eps delta : R) : Prop :=
  forall (D : Type) (adj : D -> D -> Prop) Ms, Forall2 (vectors_of adj) us Ms -> dp adj (adaptive Ms []) eps delta.
Definition vectors_renyi (us : list vectors) (a eps : R) : Prop :=
  forall (D : Type) (adj : D -> D -> Prop) Ms, Forall2 (vectors_of adj) us Ms -> renyi_dp adj (adaptive Ms []) a eps.
Definition vectors_not_renyi (us : list vectors) (a eps : R) : Prop :=
  exists (D : Type) (adj : D -> D -> Prop) Ms, Forall2 (vectors_of adj) us Ms /\ not_renyi_dp adj (adaptive Ms []) a eps.
Definition vectors_zcdp (us : list vectors) (rho : R) : Prop := forall a, 1 < a -> vectors_renyi us a (a * rho).
Definition vectors_not_zcdp (us : list vectors) (rho : R) : Prop := exists a, 1 < a /\ vectors_not_renyi us a (a * rho).
(** Nine numbers k, t, u, c, e, p, q, m, n are k uses of such noise with sigma2 = t/u. *)
Fixpoint vectors_in (l : list Z) : list vectors :=
  match l with
  | k :: t :: u :: c :: e :: p :: q :: m :: n :: l' => repeat (Vectors (IZR t / IZR u) c e p q m n) (Z.to_nat k) ++ vectors_in l'
  | _ => []
  end.

(** Data are the users' records, in a list. Poisson sampling: each user takes part with probability r, independently of
    the others, anew at every use; M sees the records of those who do. *)
Fixpoint sampled {A T} (r : R) (M : list A -> T -> R) (users : list A) : T -> R :=
  match users with
  | [] => M []
  | u :: us => fun y => r * sampled r (fun s => M (u :: s)) us y + (1 - r) * sampled r M us y
  end.
(** Neighbours: one user more, or one less *)
Definition add_remove {A} (d d' : list A) : Prop :=
  exists l u l', (d = l ++ u :: l' /\ d' = l ++ l') \/ (d = l ++ l' /\ d' = l ++ u :: l').
(** Discrete Gaussian noise on an integer vector, a function of those who take part and of what came out before *)
Definition sampled_of {A} (u : R * vectors) (M : list (list Z) -> list A -> list Z -> R) : Prop :=
  exists N, vectors_of add_remove (snd u) N /\ forall past, M past = sampled (fst u) (N past).
Definition sampled_dp (us : list (R * vectors)) (eps delta : R) : Prop :=
  forall (A : Type) Ms, Forall2 sampled_of us Ms -> dp (@add_remove A) (adaptive Ms []) eps delta.
Definition sampled_renyi (us : list (R * vectors)) (a eps : R) : Prop :=
  forall (A : Type) Ms, Forall2 sampled_of us Ms -> renyi_dp (@add_remove A) (adaptive Ms []) a eps.
(** Eleven numbers: how often, the probability x/y, and eight of [vectors_in] *)
Fixpoint sampled_in (l : list Z) : list (R * vectors) :=
  match l with
  | k :: x :: y :: t :: u :: c :: e :: p :: q :: m :: n :: l' =>
      repeat (IZR x / IZR y, Vectors (IZR t / IZR u) c e p q m n) (Z.to_nat k) ++ sampled_in l'
  | _ => []
  end.
