"""How far noise in every coordinate moves what is read: Chernoff's bound in all directions.

After b batches with n users in all, the coordinates of the sum of g phi are off by a vector W: b
times noise in each, with log E e^(sZ) = K_1(s) (`release`), and n times rounding at random, without
bias, to one of two neighbours. Given all that went before, the noise is fresh, and what rounding
adds to a coordinate is of mean 0 in an interval of length 1 (Hoeffding 1963). So for every fixed
vector t

    E e^<t, W>  <=  exp(sum over j of K(t_j)),    K(s) = b K_1(s) + n s^2/8,

whatever the contexts are, and however they depend on earlier releases. K is even, and K(s)/s^2 does
not fall in |s|. So for any vector a, all |a_j| <= m, and s > 0

    sum K(s a_j)  <=  |a|^2 K(s m)/m^2.                                                        (1)

*A norm.* Let u be uniform on the unit sphere of R^k; h_k(x) = E e^(x u_1) = 0F1(; k/2; x^2/4)
rises in x > 0. For a random vector Y in R^k

    E h_k(s |Y|) = E E_u e^(s <u, Y>) = E_u E e^(s <u, Y>),

so P(|Y| >= r) <= (E_u E e^(s <u, Y>)) / h_k(s r) for every s > 0 (Markov). No net is needed.

*The matrix.* Its part W_1 of W has k = d(d + 1)/2 coordinates. E e^(s <u, W_1>) <= e^K(s) by (1):

    P(|W_1| >= r) <= e^K(s) / h_k(s r).                                                        (2)

The sum of x x' is read with the error N, svec(N) = (5/3) W_1/g, and |N| <= |N|_F = (5/3)|W_1|/g.

*What theta* sees.* The sum of r x is read with the error eta = (5/4) W_2/g. Only e = eta - N theta*
will matter, |theta*| <= S. For a unit vector w

    <w, e> = (5/4)<w, W_2>/g - (5/3)<svec((w theta*' + theta* w')/2), W_1>/g = <a, W>,
    |a|^2 = (25/16 + (25/18)(|theta*|^2 + <w, theta*>^2))/g^2.

No |a_j| is above m = max(5/4, (5/3) S)/g: of W_2 they are (5/4)|w_i|/g, of the diagonal
(5/3)|w_i theta_i|/g, beside it (5/3)|w_i theta_j + w_j theta_i|/(sqrt 2 g) <= (5/3) S/(sqrt 2 g).

By (1), with c = K(s m)/(g m)^2, E e^(s <w, e>) <= exp(c g^2 |a|^2). For w uniform on the sphere of
R^d, <w, theta*> is |theta*| u_1 in law, and E e^(x u_1^2) = 1F1(1/2; d/2; x) rises in x >= 0. So

    P(|e| >= r) <= exp(c (25/16 + (25/18) S^2)) 1F1(1/2; d/2; (25/18) c S^2) / h_d(s r).       (3)

Every s gives a bound; a good one and the r are looked for in floats, and then proved in balls.

What is known of theta* after noisy sums: an estimate, and a radius for every context at once.

*Model.* User i has a context x_i in R^d, |x_i| <= 1 (chosen among her arms' by earlier releases,
her own data, and chance), and a reward y_i in [0, 1]; with r_i = 2 y_i - 1,

    E[r_i | all before, x_i] = <x_i, theta*>,    |theta*| <= S.                                (M)

After b batches with n users in all the server has G~ = G + N and u~ = u + eta: G = sum x_i x_i',
u = sum r_i x_i, N symmetric (above). Let rho > 0 be fixed beforehand, lambda and W (a matrix; the
best one is (G~ + lambda I)^-1) anything, and

    theta^ = W u~,    H = G~ + (c + rho) I,    beta = sqrt(2 log(1/p_1) + log(det H/rho^d)),

    width(x) = beta sqrt(z' H z) + gamma |z| + e |x|,    z = W' x,    gamma = c_e + |lambda| S,

    e = |I - W (G~ + lambda I)| S,    where c, c_e: |N| <= c and |eta - N theta*| <= c_e.      (N)

**Theorem.** With probability at least 1 - p, |<theta^ - theta*, x>| <= width(x) after every batch,
for every x in R^d at once; p is p_1, plus what (N) fails with in each batch, plus wrapping.

*Proof.* (i) Let e_i = r_i - <x_i, theta*> and xi_n = sum e_i x_i. Given all before and x_i, e_i has
mean 0 in an interval of length 2: E e^(s e_i) <= e^(s^2/2) (Hoeffding 1963). So for every q in R^d

    M_n(q) = exp(<q, xi_n> - q' G_n q/2)

is a nonnegative supermartingale in n, M_0 = 1, and so is its mean over q drawn from N(0, I/rho),

    det(I + G_n/rho)^(-1/2) exp(|xi_n|^2/2),    |.| the norm of (G_n + rho I)^-1

(the method of mixtures). By Ville's inequality it ever reaches 1/p_1 with probability at most p_1.
Otherwise, for all n,

    |xi_n| <= beta_n = sqrt(2 log(1/p_1) + log det(I + G_n/rho))    in that norm.

This is Theorem 1 of Abbasi-Yadkori, Pal, Szepesvari (2011). Nothing in it is noisy: neither the
regulariser rho I nor G_n, and n counts users, not releases.

(ii) Let (N) hold, and no sum wrap. Then G + rho I = G~ - N + rho I <= H, as matrices. So H >= rho I
and det(I + G/rho) <= det H/rho^d, hence beta_n <= beta. (Where det H is larger, beta is found from
det(I + G/rho) <= (1 + n/(d rho))^d, as tr G <= n, by the inequality of the means.)

(iii) u~ = G theta* + xi + eta = (G~ + lambda I) theta* + xi + (eta - N theta*) - lambda theta*, so

    theta^ - theta* = W (xi + (eta - N theta*) - lambda theta*) - (I - W (G~ + lambda I)) theta*,
    |<x, theta^ - theta*>| <= |<z, xi>| + (c_e + |lambda| S)|z| + e |x|,

and |<z, xi>| <= beta_n sqrt(z' (G + rho I) z) <= beta sqrt(z' H z). QED.

As W and lambda may depend on all releases, lambda is the least >= 0 with which no eigenvalue of
G~ + lambda I is below `FLOOR` max(c, rho), about: never larger, as the least eigenvalue is taken
from a vector's Rayleigh quotient. Once contexts are plenty it is 0, and noise costs gamma |z|, of
order 1/n, beside beta/sqrt(n). rho is max(1, c) of the first batch.

*Regret.* A user takes the arm of the largest <theta^, x> + width(x). In the theorem's event the arm
that is best for her is ahead of it by at most 2 width(x) of the chosen one, in r; in y by width(x).
`simulation` adds up min(width, 1, S): regret is at most that, on the same event. What the server
knows of that, and what is known before: `regret`.

*What is not exact.* Fixed-point vectors stand for g phi: with f fraction bits (`on_grid`) each is
off by at most 2 sqrt(D) 2^-f, where it is shortened by a relative 2^-39, with all floats before:
phi is off by at most 2 sqrt(D) 2^-f/g + 2^-38, for each user. (Without privacy, sums of T numbers
in floats, in any order, are off by a relative (T + 2) u at most, u = 2^-53, as T is at most 10^8.)
What is read of the sums is off by a relative 2^-48. All this is added to c and c_e. det H,
I - W (G~ + lambda I) and theta^ - W u~ (added to e) are computed in balls, from the very floats
that are used. Widths are found in floats: with |W| and |H| Frobenius norms, |x| <= 1, the computed
z is off by at most 2 d u |W|, z' H z by 4 d u |H||z|^2, <theta^, x> by 2 d u |theta^|, so that

    8 beta |W| sqrt(d u |H|) + 4 d u (gamma |W| + |theta^|)

is added to e; all is made larger by a relative 2^-40 for the last roundings, and those of |x|.

*What is assumed.* (M). Of real data it is a model that they do not follow, and no theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from attrs import frozen
from flint import arb, arb_mat
from numpy.typing import NDArray

from ...exact.number import ball
from ...exact.precision import lower_float, upper_float, working_precision
from ...exact.roots import float_root
from ...mechanisms.additive.coordinate_rounding import fraction_bits
from ...verify.certificate import MismatchError
from .contribution import MATRIX, VECTOR
from .release import WRAPS, LinearRelease, deviation, log_moment, wraps_of
from .setting import LinearSetting

_BITS, _MOST_TERMS = 128, 100_000
_STEP = 1.1
_TRIED = [_STEP**-step for step in range(16)]  # s, by the largest
_MORE = 1 + 2.0**-30  # until it is proved
_MOST_TRIES = 60
_LEAST, _NEAR = 1e-3, 1e-10


def matrix_bound(release: LinearRelease, batches: int, users: int, failure: Fraction) -> float:
    """What |N|_F is at most but with this probability, after so many batches and users: (2)."""
    size, unit = release.contribution.matrix_size, 1 / (MATRIX * release.contribution.scale)
    cumulant = _Cumulant(release, batches, users)

    def log_mean(s: arb) -> arb:
        return cumulant(s * ball(unit))

    return _proved_norm(log_mean, size, cumulant.deviation * float(unit), failure)


def error_bound(
    release: LinearRelease, batches: int, users: int, norm: Fraction, failure: Fraction
) -> float:
    """What |eta - N theta*| is at most but with this probability, |theta*| <= norm: (3)."""
    dimension, scale = release.contribution.dimension, release.contribution.scale
    cumulant = _Cumulant(release, batches, users)
    square = norm**2
    vector, matrix = 1 / VECTOR**2, 1 / (2 * MATRIX**2)
    most = max(1 / VECTOR, norm / MATRIX) ** 2  # (g m)^2

    def log_mean(s: arb) -> arb:
        c = cumulant(s * ball(most).sqrt() / scale) / ball(most)
        if not c.is_finite():
            return c
        tilted = (ball(matrix * square) * c).hypgeom_1f1(ball(Fraction(1, 2)), arb(dimension) / 2)
        return c * ball(vector + matrix * square) + tilted.log()

    deviation = cumulant.deviation / scale * math.sqrt(vector + matrix * square)
    return _proved_norm(log_mean, dimension, deviation, failure)


class _Cumulant:
    """K."""

    def __init__(self, release: LinearRelease, batches: int, users: int) -> None:
        self.noise, self.batches, self.users = release.noise, batches, users
        self.deviation = math.sqrt(batches * deviation(release.noise) ** 2 + users / 4)

    def __call__(self, s: arb) -> arb:
        return self.batches * log_moment(self.noise, s) + self.users * s * s / 8


def _proved_norm(
    log_mean: Callable[[arb], arb], size: int, deviation: float, failure: Fraction
) -> float:
    """An r with log_mean(s) - log h(s r) <= log(failure), proved, for some s."""
    with working_precision(_BITS):
        goal = ball(failure).log()
        about, most = arb(math.sqrt(size) / deviation), size - goal
        while log_mean(about) < most:  # at the best s it is no more, about
            about *= 2
        while log_mean(about) > most:
            about /= _STEP
        steps = [about * tried for tried in _TRIED]
        needs = [float((log_mean(s) - goal).mid()) for s in steps]
        found = [_inverse(size, need) / float(s) for s, need in zip(steps, needs, strict=True)]
        best = found.index(min(found))
        s, r = steps[best], found[best]
        for _ in range(_MOST_TRIES):
            if log_mean(s) - _log_sphere(size, s * arb(r)) <= goal:
                return r
            r *= _MORE
    raise ArithmeticError("a norm was not proved where floats found it")


def _log_sphere(size: int, x: arb) -> arb:
    """log h_k(x) from below: its series without a tail, all of whose terms are positive."""
    total = term = arb(1)
    y, half = x * x / 4, arb(size) / 2
    for j in range(1, _MOST_TERMS):
        term = term * y / (j * (half + j - 1))
        total += term
        if term < total * arb(2) ** -_BITS:
            break
    return total.log()


def _inverse(size: int, need: float) -> float:
    """About the x with log h_k(x) = need, in floats."""

    def excess(x: float) -> float:
        j = np.arange(1.0, x + 50)
        logs = np.cumsum(2 * math.log(x / 2) - np.log(j * (size / 2 + j - 1)))
        return float(np.logaddexp.reduce(logs, initial=0.0)) - need

    return float_root(excess, _LEAST, 2 * need + 10 * size + 10, _NEAR)


FLOOR = 2.0  # times c: the least eigenvalue that is divided by
_REWARDS = Fraction(1, 2)  # of p: for (i); of the rest each half is for one bound of (N)
BITS, UNIT = 128, 2.0**-53
MISSED = (
    2.0**-12
)  # times min(1, S): more than |I - W (G~ + lambda I)| S and |theta^ - W u~| ever are
_READ, _DRIFT, _LAST = 2.0**-48, 2.0**-38, 1 + 2.0**-40

Floats = NDArray[np.float64]


@frozen
class Radius:
    """What holds after each batch, but with probability `failure` in all.

    users     n, after each batch
    matrix    c, without what floats add, rounded up
    error     c_e, likewise
    rewards   p_1
    ridge     rho
    norm      S
    """

    dimension: int
    users: tuple[int, ...]
    matrix: tuple[float, ...]
    error: tuple[float, ...]
    rewards: Fraction
    ridge: float
    norm: Fraction
    failure: Fraction
    drift: float

    def estimate(self, batch: int, gram: Floats, rewards: Floats) -> Estimate:
        """From the released sums of the first `batch` batches, 1, 2, ....

        gram: G~, symmetric. rewards: u~.
        """
        users, norm = self.users[batch - 1], float(self.norm)
        inexact = self.inexact(users, float(np.linalg.norm(gram) + np.linalg.norm(rewards)))
        c = self.matrix[batch - 1] + inexact
        c_e = self.error[batch - 1] + inexact * (1 + norm)
        shift = max(0.0, FLOOR * max(c, self.ridge) - _least(gram))
        inverse: Floats = np.linalg.inv(gram + shift * np.eye(self.dimension)).astype(np.float64)
        theta = inverse @ rewards
        with working_precision(BITS):
            one = identity(self.dimension)
            exact_gram, exact_inverse = exact_matrix(gram), exact_matrix(inverse)
            wide = exact_gram + (arb(c) + arb(self.ridge)) * one
            beta = self._beta(wide, users)
            off = one - exact_inverse * (exact_gram + arb(shift) * one)
            rest = exact_matrix(theta[:, None]) - exact_inverse * exact_matrix(rewards[:, None])
            bias = _frobenius(off) * ball(self.norm) + _frobenius(rest)
            if not bias < MISSED * ball(self.norm).min(arb(1)):
                raise ArithmeticError("the sums are too large for an inverse in floats")
            gamma = arb(c_e) + arb(shift) * ball(self.norm)
            most, weight, missed = (upper_float(each) for each in (beta, gamma, bias))
            shape = np.array([[float(each.mid()) for each in row] for row in wide.tolist()])
        frobenius, high = (float(np.linalg.norm(each)) for each in (inverse, shape))
        floats = 8 * most * frobenius * math.sqrt(self.dimension * UNIT * high)
        size = weight * frobenius + float(np.linalg.norm(theta))
        floats += 4 * self.dimension * UNIT * size
        e = (missed + floats) * _LAST
        return Estimate(theta, inverse, shape, most, weight, e, shift, gram, c)

    def inexact(self, users: int, size: float) -> float:
        """What floats add to c, where the sums are of this size."""
        return (users * self.drift + _READ * (size + 1)) * _LAST

    def largest_beta(self, users: int) -> arb:
        """What beta is at most after so many users."""
        ridge = arb(self.ridge)
        log_det = self.dimension * (1 + users / (self.dimension * ridge)).log()
        return (log_det - 2 * ball(self.rewards).log()).sqrt()

    def _beta(self, wide: arb_mat, users: int) -> arb:
        found = wide.det() / arb(self.ridge) ** self.dimension
        most = self.largest_beta(users)
        if not found >= 1:  # it is, where the bounds of the noise hold
            return most
        own = (found.log() - 2 * ball(self.rewards).log()).sqrt()
        return own if own < most else most


@frozen(eq=False)
class Estimate:
    """theta^, W, H, beta, gamma, e and lambda; G~ and c, with what floats add."""

    theta: Floats
    inverse: Floats
    shape: Floats
    beta: float
    gamma: float
    rest: float
    shift: float
    gram: Floats
    matrix: float

    def widths(self, contexts: Floats) -> Floats:
        """The width of each context, along the last axis; |x| <= 1."""
        z = contexts @ self.inverse
        square = np.maximum(((z @ self.shape) * z).sum(axis=-1), 0.0)
        length = np.sqrt((z * z).sum(axis=-1))
        found: Floats = (self.beta * np.sqrt(square) + self.gamma * length) * _LAST + self.rest
        return found

    def means(self, contexts: Floats) -> Floats:
        """<theta^, x>."""
        found: Floats = contexts @ self.theta
        return found


def radius(setting: LinearSetting, release: LinearRelease | None) -> Radius:
    """The constants of every batch. release: None where the sums are released as they are.

    Raises MismatchError for a release of another setting: of other numbers, or whose sums may wrap.
    """
    ends, p = setting.batches, setting.confidence
    if release is None:
        none, drift = (0.0,) * len(ends), (setting.horizon + 2) * UNIT
        return Radius(setting.dimension, ends, none, none, p, 1.0, setting.norm, p, drift)
    one = release.contribution
    overflows = wraps_of(setting, one, release.noise)
    if one.dimension != setting.dimension or overflows > WRAPS * p:
        raise MismatchError("the release is of another setting: its dimension, or its batches")
    unit = 2.0 ** -fraction_bits(Fraction(one.scale)) / one.scale
    drift = (_DRIFT + 2 * math.sqrt(one.size) * unit) / float(MATRIX)  # the smaller weight
    each = (p * (1 - _REWARDS) - overflows) / (2 * len(ends))
    looks = list(enumerate(ends, 1))
    matrix = tuple(matrix_bound(release, batch, users, each) for batch, users in looks)
    error = tuple(error_bound(release, batch, users, setting.norm, each) for batch, users in looks)
    ridge = max(1.0, matrix[0])
    rewards = p * _REWARDS
    return Radius(setting.dimension, ends, matrix, error, rewards, ridge, setting.norm, p, drift)


def _least(gram: Floats) -> float:
    """The least eigenvalue, about, and never below it: a Rayleigh quotient."""
    vector = np.linalg.eigh(gram)[1][:, :1]
    with working_precision(BITS):
        one = exact_matrix(vector)
        quotient = (one.transpose() * exact_matrix(gram) * one)[0, 0]
        return lower_float(quotient / (one.transpose() * one)[0, 0])


def identity(size: int) -> arb_mat:
    """Of so many rows."""
    return arb_mat([[int(row == column) for column in range(size)] for row in range(size)])


def exact_matrix(values: Floats) -> arb_mat:
    """These floats, exactly."""
    return arb_mat([[arb(each) for each in row] for row in values.tolist()])


def _frobenius(matrix: arb_mat) -> arb:
    squares: arb = sum((each * each for each in matrix.entries()), arb(0))
    return squares.sqrt()
