"""What is known of theta* after noisy sums: an estimate, and a radius for every context at once.

*Model.* User i has a context x_i in R^d, |x_i| <= 1 (chosen among her arms' by earlier releases,
her own data, and chance), and a reward y_i in [0, 1]; with r_i = 2 y_i - 1,

    E[r_i | all before, x_i] = <x_i, theta*>,    |theta*| <= S.                                (M)

After b batches with n users in all the server has G~ = G + N and u~ = u + eta: G = sum x_i x_i',
u = sum r_i x_i, N symmetric (`noise`). Let rho > 0 be fixed beforehand, lambda and W (a matrix; the
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
`play` adds up min(width, 1, S): regret is at most that, on the same event. What the server knows of
that, and what is known before: `regret`.

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
from fractions import Fraction

import numpy as np
from attrs import frozen
from flint import arb, arb_mat
from numpy.typing import NDArray

from ...exact.number import ball
from ...exact.precision import lower_float, upper_float, working_precision
from ...mechanisms.additive.coordinate_rounding import fraction_bits
from ...verify.certificate import MismatchError
from .contribution import MATRIX
from .noise import error_bound, matrix_bound
from .release import WRAPS, LinearRelease, wraps_of
from .setting import LinearSetting

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
            bias = _norm(off) * ball(self.norm) + _norm(rest)
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
    wraps = wraps_of(setting, one, release.noise)
    if one.dimension != setting.dimension or wraps > WRAPS * p:
        raise MismatchError("the release is of another setting: its dimension, or its batches")
    unit = 2.0 ** -fraction_bits(Fraction(one.scale)) / one.scale
    drift = (_DRIFT + 2 * math.sqrt(one.size) * unit) / float(MATRIX)  # the smaller weight
    each = (p * (1 - _REWARDS) - wraps) / (2 * len(ends))
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


def _norm(matrix: arb_mat) -> arb:
    squares: arb = sum((each * each for each in matrix.entries()), arb(0))
    return squares.sqrt()
