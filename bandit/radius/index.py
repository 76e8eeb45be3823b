"""Upper confidence bounds of an arm's mean from noisy sums that are never forgotten.

Statement. X is what the first b batches of an arm released, added up, in units of rewards: the sum
S of N independent rewards in [0, 1] of mean q and noise Z, independent of it, all releases read
rightly. With

    q_t(x) = (1 - e^((log L - t x - log E e^(-tZ) - log C_t)/N)) / (1 - e^(-t)),
    I(x) = min over t of q_t(x),  C_t = min(1, M_t/(1 - e^(-t/g))),

for finitely many t > 0, M_t as below, whatever the laws of the rewards, P(I(X) < q) <= L.

Proof. Every q_t increases with x, hence so does I: where I(X) < q is possible at all it is the
event X <= x0, I(x0) < q (for sums on a grid x0 is the largest such; for others take a sequence that
increases to the supremum). Take the t with q_t(x0) < q. Let P' have the density e^(-tX)/E e^(-tX):

    P(X <= x0) = E e^(-tX) e^(t x0) E' [e^(t (X - x0)); X <= x0] <= E e^(-tX) e^(t x0) C_t.

For the mean under P' is at most 1, and Z, whose steps are of 1/g, is independent of S there too:
given S, X runs through values x0 - r - j/g, r >= 0, j = 0, 1, ... of probability at most
M_t = max over z of P'(Z = z) each, so that the mean is at most M_t sum over j of e^(-tj/g). As
e^(-ts) is convex, E e^(-tS) <= (1 - q + q e^(-t))^N, for rewards that are rounded at random too,
whose means do not change (Hoeffding 1963). So P(X <= x0) <= e^(t x0) (1 - q (1 - e^(-t)))^N
E e^(-tZ) C_t, which is less than L just if q > q_t(x0). QED.

It is Chernoff's bound of the sum together with its noise, not one of each: with Laplace noise of
scale 1/epsilon -log P is N d(x/N, q) to first order, d as in `lower_bound`. C_t is what Chernoff's
bound alone gives away where the noise counts (2 to 4 nats): with one Laplace variable and few
rewards the bound is its exact tail, e^(-epsilon x)/2.

M_t. In units of 1/g let f(theta) = |E e^((-t/g + i theta) Z)|/E e^(-tZ/g), the modulus of the
characteristic function of Z under P'. By inversion M_t <= 1/pi times the integral of f over
[0, pi]; f is the product of those of the batches, and where each of them falls in theta
(`Law.falls_off_axis`) the sum over intervals of their width times f at their left ends is above it.
M_t is also at most the largest probability of one batch's noise; for the discrete Laplace, whose
e^(-tz/g) P(Z = z) is largest at 0, that is P(Z = 0)/E e^(-tZ/g). Other noise has C_t = 1.

Reading. Let w be the probability that some release of an arm is read too small, since noise above
the window was reduced mod m: w <= sum over batches of P(Z_b > m - 1 - tau - n_b g). A release read
too large makes X and I larger only. With levels L_b that sum to p - w an arm's index falls below
its mean, ever, with probability at most p: the index of a best arm, which is all that regret needs.
Any such levels do. Here they are equal for N up to 16 times n_1, the users of the first batch, and
halved with each doubling of N from there on: where batches double a batch has at least p - w over
6, or over 6 N/(16 n_1), however long the horizon.

Rounding. log L - log E e^(-tZ) - log C_t is rounded down, which raises q_t; the rest is done in
floats whose errors are a few 2^-53 of |log L - log E e^(-tZ) - log C_t|/N and t |x|/N in the
exponent, and of q_t itself: 2^-44 of each, and 2^-44, are put on top. So floats are never below
I(x), also not those that differ from the ones computed here by 2^-46 (1 + |I|), as another
machine's may (`agrees`); and x0 is that of the exact I.

Adaptivity. Imagine tapes: each arm's rewards and noise, batch by batch, are drawn beforehand; which
arm is chosen when decides only how much of a tape is seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from attrs import frozen
from flint import acb, arb
from numpy.typing import NDArray

from ...exact.budget import spend
from ...exact.enclosure import Enclosure
from ...exact.number import ParameterError, ball
from ...exact.precision import enclose, lower_float, upper_float, working_precision
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.law import Law
from .noise import BITS, MOST_EXPONENT, exponents, log_mgf, mgf_end
from .plan import Decoding, Noise

_STEP = 0.08  # of log(t/(end - t)) from one t to the next: the bound is flat at the best one
_SLACK = 2.0**-44
_FULL = 16  # up to so many times the users of the first batch a batch has the full level
_THETA = np.array([0.0, *math.pi * 2.0 ** np.arange(-30, 0, 1 / 6), 3.1416])  # from 0 beyond pi
_NOTHING = -800.0  # below it e^x is 0 in floats
_WIDER = 2.0**-28  # above the relative error of the integral in floats: terms below e^-745 are 0,
# others are e to a sum of at most 20,000 terms, with an error of 2^-53 of it for each


@frozen
class Look:
    """One batch of an arm, as far as its index may depend on it.

    users      n_b
    precision  g: the sum is in units of 1/g
    noise      of this release alone, in these units
    decoding   how the sum was read that was released mod m
    """

    users: int
    precision: int
    noise: Noise | None
    decoding: Decoding | None


@frozen(eq=False, slots=False)
class Index:
    """The upper confidence bounds after 1, ..., B batches.

    levels     L, of each of them
    failure    their sum + w: encloses the bound of the probability that an arm's index ever falls
               below its mean
    overflow   a bound of the probability that some release of an arm is read wrongly at all
    precision  g
    users      N: of all batches so far
    exponents  the t
    offsets    log L - log E e^(-tZ) - log C_t, rounded down, B x exponents
    """

    levels: tuple[Fraction, ...]
    failure: Enclosure
    overflow: Enclosure
    precision: int
    users: NDArray[np.int64]
    exponents: NDArray[np.float64]
    offsets: NDArray[np.float64]

    def of(self, batches: NDArray[np.int64], totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """The bounds, within 0..1, after so many batches that have released so much (units 1/g)."""
        offset = self.offsets[batches - 1]
        moved = self.exponents * (np.asarray(totals, dtype=np.float64)[:, None] / self.precision)
        exponent = (offset - moved) - _SLACK * (np.abs(offset) + np.abs(moved))
        # above 0 a bound is below 0, and true also with a smaller exponent
        exponent = np.minimum(exponent / self.users[batches - 1, None], 1.0)
        bounds = np.expm1(exponent) * self._scale
        bounds += _SLACK * (1 + np.abs(bounds))
        least: NDArray[np.float64] = np.clip(bounds.min(axis=1), 0.0, 1.0)
        return least

    @cached_property
    def _scale(self) -> NDArray[np.float64]:
        return 1 / np.expm1(-self.exponents)


def agrees(found: float, computed: float) -> bool:
    """May a machine whose floats round otherwise have found this bound?"""
    return abs(found - computed) <= _SLACK / 4 * (1 + abs(computed))


def index(looks: Sequence[Look], confidence: Fraction, plain: bool = False) -> Index:
    """The bounds of a schedule at confidence p. Raises ParameterError where they cannot be had.

    plain: Chernoff's bounds, C_t = 1, all batches at the same level.
    """
    grids = {look.precision for look in looks}
    if len(grids) != 1:
        raise ParameterError("precisions must be the same in all batches for sums that add up")
    precision = grids.pop()
    with working_precision(BITS):
        overflows = [overflow_chances(look) for look in looks]
        above = enclose(sum((high for _, high in overflows), arb(0)))
        wrong = enclose(sum((low + high for low, high in overflows), arb(0)))
    left = confidence - Fraction(above.upper)
    if left <= 0:
        raise ParameterError(
            f"confidence must be above what wrong decoding costs, {float(above):.3g}, "
            f"got {float(confidence):g}"
        )
    users = np.cumsum([look.users for look in looks])
    levels = _levels(left, users.tolist(), plain)
    points = _exponents(looks, precision, levels[-1], int(users[-1]))
    known: dict[Noise | None, _Tilted] = {}
    offsets = np.empty((len(looks), len(points)))
    spent, shape = [arb(0) for _ in points], np.zeros((len(points), len(_THETA) - 1))
    single = np.zeros(len(points))
    steps = -np.expm1(-points / precision)
    with working_precision(BITS):
        for row, look in enumerate(looks):
            spend()
            if look.noise not in known:
                known[look.noise] = _tilted(look.noise, points, precision, plain)
            noise = known[look.noise]
            spent = [sum_ + more for sum_, more in zip(spent, noise.mgf, strict=True)]
            shape, single = shape + noise.shape, np.minimum(single, noise.peak)
            peak = np.minimum(single, np.log(np.exp(shape) @ np.diff(_THETA) / math.pi))
            excess = np.minimum(peak - np.log(steps) + _WIDER, 0)
            start = ball(levels[row]).log()
            lower = [lower_float(start - each) for each in spent]
            offsets[row] = np.nextafter(lower - excess, -math.inf)
    failure = Enclosure.exactly(left).plus(above)
    return Index(levels, failure, wrong, precision, users, points, offsets)


def _levels(total: Fraction, users: Sequence[int], equal: bool) -> tuple[Fraction, ...]:
    """Of each batch, adding up to this."""
    halvings = [0 if equal else ((each - 1) // (_FULL * users[0])).bit_length() for each in users]
    weights = [Fraction(1, 1 << each) for each in halvings]
    return tuple(total * weight / sum(weights) for weight in weights)


@frozen(eq=False)
class _Tilted:
    """One batch's noise Z, in units of 1/g, under the density e^(-tZ/g)/E e^(-tZ/g), by t.

    mgf    log E e^(-tZ/g)
    shape  log f at each theta but the last, rounded up; 0 where f is not known to fall
    peak   above the logarithm of the largest probability; 0 where that is not known
    """

    mgf: list[arb]
    shape: NDArray[np.float64]
    peak: NDArray[np.float64]


def _tilted(
    noise: Noise | None, points: NDArray[np.float64], precision: int, plain: bool
) -> _Tilted:
    """plain: nothing but the first of the three is known."""
    mgf = [log_mgf(noise, -t, precision) for t in points.tolist()]
    shape, peak = np.zeros((len(points), len(_THETA) - 1)), np.zeros(len(points))
    if plain:
        return _Tilted(mgf, shape, peak)
    laws = [noise] if isinstance(noise, Law) else noise if isinstance(noise, tuple) else []
    for law in laws:
        if law.falls_off_axis:
            for row, t in enumerate(points.tolist()):
                real = -arb(t) / precision
                middle = law.cumulant(acb(real)).real
                for place, theta in enumerate(_THETA[1:-1].tolist(), 1):
                    found = min(0.0, upper_float(law.cumulant(acb(real, theta)).real - middle))
                    if found < _NOTHING:  # f falls: from here on its floats are 0
                        shape[row, place:] += found
                        break
                    shape[row, place] += found
    if isinstance(noise, DiscreteLaplace):
        top = noise.ball(0).log()
        peak = np.array([min(0.0, upper_float(top - each)) for each in mgf])
    return _Tilted(mgf, shape, peak)


def _exponents(
    looks: Sequence[Look], precision: int, level: Fraction, most: int
) -> NDArray[np.float64]:
    """From what is best for sums of all users up to where the noise ends."""
    end = min((mgf_end(look.noise, precision) for look in looks), default=MOST_EXPONENT)
    return exponents(end, math.sqrt(-math.log(level) / most), 6.0, _STEP)


def overflow_chances(look: Look) -> tuple[arb, arb]:
    """P(noise < -tau) and P(noise > m - 1 - tau - n g)."""
    if look.decoding is None or look.noise is None:
        return arb(0), arb(0)
    if not isinstance(look.noise, Law):
        raise ParameterError("decodings need discrete noise")
    room = look.decoding.modulus - 1 - look.decoding.accuracy - look.users * look.precision
    if room < 0:
        raise ParameterError(f"modulus must be at least n g + accuracy + 1, got {room} less")
    below = look.noise.lower_tail(-look.decoding.accuracy - 1)
    return below, look.noise.upper_tail(room + 1)
