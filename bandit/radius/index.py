"""Upper confidence bounds of an arm's mean from noisy sums that are never forgotten.

Statement. X is what the first b batches of an arm released, added up, in units of rewards: the sum
S of N rewards in [0, 1] of mean q and noise Z, independent of it, all releases read rightly. With

    q_t(x) = (1 - e^((log L - t x - log E e^(-tZ))/N)) / (1 - e^(-t)),
    I(x) = min over t of q_t(x)

for finitely many t > 0, whatever the law of the rewards, P(I(X) < q) <= L.

Proof. Every q_t increases with x, hence so does I: where I(X) < q is possible at all it is the
event X <= x0, I(x0) < q (for sums on a grid x0 is the largest such; for others take a sequence that
increases to the supremum). Take the t with q_t(x0) < q. As e^(-ts) is convex,
E e^(-tS) <= (1 - q + q e^(-t))^N, for rewards that are rounded at random too, whose means do not
change (Hoeffding 1963). So P(X <= x0) <= e^(t x0) E e^(-tS) E e^(-tZ)
<= e^(t x0) (1 - q (1 - e^(-t)))^N E e^(-tZ), which is less than L just if q > q_t(x0). QED.

It is Chernoff's bound of the sum together with its noise, not one of each: with Laplace noise of
scale 1/epsilon -log P is N d(x/N, q) to first order, d as in `lower_bound`.

Reading. Let w be the probability that some release of an arm is read too small, since noise above
the window was reduced mod m: w <= sum over batches of P(Z_b > m - 1 - tau - n_b g). A release read
too large makes X and I larger only. With L = (p - w)/B an arm's index falls below its mean, ever,
with probability at most p: the index of a best arm, which is all that regret needs.

Rounding. log L - log E e^(-tZ) is rounded down, which raises q_t; the rest is done in floats whose
errors are a few 2^-53 of |log L - log E e^(-tZ)|/N and t |x|/N in the exponent, and of q_t itself:
2^-44 of each, and 2^-44, are put on top. So floats are never below I(x), also not those that differ
from the ones computed here by 2^-46 (1 + |I|), as another machine's may (`agrees`); and x0 is that
of the exact I.

Adaptivity. Imagine tapes: each arm's rewards and noise, batch by batch, are drawn beforehand; which
arm is chosen when decides only how much of a tape is seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.number import ParameterError, ball
from ...exact.precision import enclose, working_precision
from ...mechanisms.laws.law import Law
from .noise import BITS
from .plan import ContinuousLaplace, Decoding, Noise

_STEP = 0.08  # of log(t/(end - t)) from one t to the next: the bound is flat at the best one
_FARTHEST = 8.0  # the largest t where noise has no tail that limits it
_SLACK = 2.0**-44


@dataclass(frozen=True)
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


@dataclass(frozen=True, eq=False)
class Index:
    """The upper confidence bounds after 1, ..., B batches.

    level      L, of each of them
    failure    B L + w: encloses the bound of the probability that an arm's index ever falls below
               its mean
    misread    a bound of the probability that some release of an arm is read wrongly at all
    precision  g
    users      N: of all batches so far
    exponents  the t
    offsets    log L - log E e^(-tZ), rounded down, B x exponents
    """

    level: Fraction
    failure: Enclosure
    misread: Enclosure
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


def index(looks: Sequence[Look], confidence: Fraction) -> Index:
    """The bounds of a schedule at confidence p. Raises ParameterError where they cannot be had."""
    grids = {look.precision for look in looks}
    if len(grids) != 1:
        raise ParameterError("precisions must be the same in all batches for sums that add up")
    precision = grids.pop()
    with working_precision(BITS):
        wraps = [_wrap(look) for look in looks]
        above = enclose(sum((high for _, high in wraps), arb(0)))
        wrong = enclose(sum((low + high for low, high in wraps), arb(0)))
    level = (confidence - Fraction(above.upper)) / len(looks)
    if level <= 0:
        raise ParameterError(
            f"confidence must be above what wrong decoding costs, {float(above):.3g}, "
            f"got {float(confidence):g}"
        )
    users = np.cumsum([look.users for look in looks])
    points = _exponents(looks, precision, level, int(users[-1]))
    offsets = np.empty((len(looks), len(points)))
    with working_precision(BITS):
        start = ball(level).log()
        spent = [arb(0) for _ in points]
        known: dict[Noise | None, list[arb]] = {}
        for row, look in enumerate(looks):
            if look.noise not in known:
                known[look.noise] = [log_mgf(look.noise, -t, precision) for t in points.tolist()]
            spent = [sum_ + more for sum_, more in zip(spent, known[look.noise], strict=True)]
            offsets[row] = [_below(start - each) for each in spent]
    failure = Enclosure.exactly(level * len(looks)).plus(above)
    return Index(level, failure, wrong, precision, users, points, offsets)


def log_mgf(noise: Noise | None, t: float, precision: int) -> arb:
    """log E e^(tZ/g), Z in units of 1/g, at the working precision."""
    if noise is None:
        return arb(0)
    point = arb(t) / precision
    if isinstance(noise, ContinuousLaplace):
        return -(1 - (point * ball(noise.scale)) ** 2).log()
    if not isinstance(noise, Law):
        return sum((log_mgf(law, t, precision) for law in noise), arb(0))
    return noise.cumulant(acb(point), False).real


def _exponents(
    looks: Sequence[Look], precision: int, level: Fraction, most: int
) -> NDArray[np.float64]:
    """From what is best for sums of all users up to where the noise ends."""
    end = min((farthest(look.noise, precision) for look in looks), default=_FARTHEST)
    least = min(math.sqrt(-math.log(level) / most), end / 4)
    low, high = math.log(least / (end - least)), 6.0
    odds = np.exp(np.arange(low, high, _STEP))
    points: NDArray[np.float64] = end * odds / (1 + odds)
    return points


def farthest(noise: Noise | None, precision: int) -> float:
    """Below which t noise has a moment generating function: a little less, in floats."""
    if noise is None:
        return _FARTHEST
    if isinstance(noise, ContinuousLaplace):
        return precision / float(noise.scale) * (1 - 2.0**-40)
    if not isinstance(noise, Law):
        return min(farthest(law, precision) for law in noise)
    ends = [abs(end) for end in noise.mgf_domain if isinstance(end, Fraction)]
    return min([_FARTHEST, *(float(end) * precision * (1 - 2.0**-40) for end in ends)])


def _wrap(look: Look) -> tuple[arb, arb]:
    """P(noise < -tau) and P(noise > m - 1 - tau - n g)."""
    if look.decoding is None or look.noise is None:
        return arb(0), arb(0)
    if not isinstance(look.noise, Law):
        raise ParameterError("decodings need noises that are laws")
    room = look.decoding.modulus - 1 - look.decoding.accuracy - look.users * look.precision
    if room < 0:
        raise ParameterError(f"modulus must be at least n g + accuracy + 1, got {room} less")
    below = look.noise.lower_tail(-look.decoding.accuracy - 1)
    return below, look.noise.upper_tail(room + 1)


def _below(value: arb) -> float:
    return float(np.nextafter(float(value.lower()), -math.inf))
