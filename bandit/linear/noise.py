"""How far noise in every coordinate moves what is read: Chernoff's bound in all directions.

After b batches with n users in all, the coordinates of the sum of g phi are off by a vector W: b
times noise in each, with log E e^(sZ) = K_1(s) (`law`), and n times rounding at random, without
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
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb

from ...exact.number import ball
from ...exact.precision import working_precision
from ...exact.roots import float_root
from .contribution import MATRIX, VECTOR
from .law import deviation, log_moment
from .release import LinearRelease

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

    return _norm(log_mean, size, cumulant.deviation * float(unit), failure)


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
    return _norm(log_mean, dimension, deviation, failure)


class _Cumulant:
    """K."""

    def __init__(self, release: LinearRelease, batches: int, users: int) -> None:
        self.noise, self.batches, self.users = release.noise, batches, users
        self.deviation = math.sqrt(batches * deviation(release.noise) ** 2 + users / 4)

    def __call__(self, s: arb) -> arb:
        return self.batches * log_moment(self.noise, s) + self.users * s * s / 8


def _norm(log_mean: Callable[[arb], arb], size: int, deviation: float, failure: Fraction) -> float:
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
