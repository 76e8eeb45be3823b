"""When it is proved which arm is best: e-processes on noisy sums, at every time at once.

Let an arm of mean q have released X after N users in batches 1, ..., b: their rewards in [0, 1] and
the noise Z of all these batches, in units of rewards. For finitely many t > 0 and weights w that
sum to 1

    A(l) = sum over t of w_t e^(tX) / (E e^(tZ) (1 + l (e^t - 1))^N)

speaks against "q <= l", and B(l), the same with N - X, -Z and 1 - l, against "q >= l".

Statement. Stop with arm a where for every other arm j and *every* l in [0, 1]

    log A_a(l) + log B_j(l) >= log((K - 1)/p).

Whatever the laws of the rewards (independent, of one mean for each arm), and whichever arm has the
next batch by what was released, this ever happens with an arm that is not best with probability at
most p, if all sums are read rightly.

Proof. As e^(ts) is convex, E e^(ts) <= 1 + q (e^t - 1) for a reward s in [0, 1] of mean q, rounded
at random to a grid or not (Hoeffding 1963). So for q <= l one more batch of the arm multiplies
each summand of A(l) by something of mean at most 1 given all releases before: A(l) is a nonnegative
supermartingale that starts at 1, and B(l) where q >= l. Let * be a best arm and a one that is not,
l the mean of *. Each batch is of one arm, so that A_a(l) B_*(l) is such a supermartingale too, and
it ever reaches (K - 1)/p with probability at most p/(K - 1) (Ville 1939). There are at most K - 1
such a. QED. No union over batches or times is needed, and none over t.

Some sum of some arm is misread with a probability of at most K w (`radius.index`): that much is
taken off p.

Every l. Each summand's logarithm is convex in l, so is the logarithm of their sum, and so is
f = log A_a + log B_j. Take any u < v < w in [0, 1]. In [v, w] f is above the continued chord of u
and v, in [u, v] above that of v and w: f >= f(v) - r max(0, f(u) - f(v), f(w) - f(v)) with r the
larger of (w - v)/(v - u) and its inverse. Below u f is at least f(v) if f(u) >= f(v), above w if
f(w) >= f(v). Where the three are comes from a search in floats, whose result needs no trust.

What a search misses would be in the way of a proof of how long a run takes (`time_bound`). So
where its values are high enough, but not the bound, `surely` decides. log A_a decreases with l and
log B_j increases: between v and w f is at least log A_a(w) + log B_j(v). An arm is told as well
where that is enough between any two neighbours of 0, 2^-26, 2*2^-26, ..., 1, which is found by
halving intervals, and increases with X_a and -X_j.

Rounding. log w_t - log E e^(tZ) is rounded down, which makes A and B smaller. Floats find each
summand's logarithm up to a few 2^-53 of |log w_t - log E e^(tZ)|, t|X| and N log(1 + l (e^t - 1)),
which is at most t N, hence also f; 2^-44 of the largest of these is taken as the error. Points are
2^-30 apart at least, and the ratios r of steps that should be equal are below 1.01.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ParameterError, ball
from ...exact.precision import lower_float, refine, working_precision
from ...exact.rounding import float_above
from ..plan import Plan
from ..radius.noise import BITS, cumulated_log_mgf, exponents, mgf_end

_STEP = 0.3  # of log(t/(end - t)) from one t to the next: several share each best one
_HIGHEST = 3.0  # the largest such logarithm
_SLACK = 2.0**-44
_NEAR = np.array([0.1, 0.2, 0.3, 0.42, 0.6, 1.2, 4.0])
_AROUND = np.concatenate([-_NEAR[::-1], [0], _NEAR])  # where a search begins, in gaps
_POINTS = 11  # that it looks at next, about the least
_ZOOMS = 2
_CLOSEST = 2.0**-30
_UNEVEN = 1.01
_FIRST, _DEPTH = 4, 26  # intervals of 2^-4 are halved down to 2^-26

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]


@frozen(eq=False, slots=False)
class EProcess:
    """The e-processes of a schedule.

    threshold  log((K - 1)/p), p less what misreading costs; rounded up
    overflow   what that is: a bound of the probability that some release of some arm is misread
    precision  g: sums are in units of 1/g
    users      N, after b = 1, 2, ... batches
    exponents  the t
    above      log w_t - log E e^(tZ), rounded down, batches x exponents
    below      the same of -Z
    """

    threshold: float
    overflow: Fraction
    precision: int
    users: Whole
    exponents: Floats
    above: Floats
    below: Floats

    @cached_property
    def _growth(self) -> Floats:
        return np.asarray(np.expm1(self.exponents))

    def larger(self, batches: Whole, totals: Floats, means: Floats) -> Floats:
        """log A(l), rows x points, after so many batches that have released so much."""
        return self._log(self.above[batches - 1], self.users[batches - 1], totals, means)

    def smaller(self, batches: Whole, totals: Floats, means: Floats) -> Floats:
        """log B(l)."""
        users = self.users[batches - 1]
        return self._log(self.below[batches - 1], users, users * self.precision - totals, 1 - means)

    def _log(self, offsets: Floats, users: Whole, totals: Floats, means: Floats) -> Floats:
        fixed = offsets + self.exponents * (totals / self.precision)[:, None]
        terms = np.log1p(means[:, :, None] * self._growth)
        terms *= -users[:, None, None]
        terms += fixed[:, None, :]
        most = terms.max(axis=2)
        terms -= most[:, :, None]
        return np.asarray(most + np.log(np.exp(terms, out=terms).sum(axis=2)))

    def log_e_values(
        self, batches: Whole, sums: Floats, others: Whole, their_sums: Floats
    ) -> Floats:
        """Below log A_a(l) + log B_j(l) for all l: arms a with these sums against arms j.

        -inf where a's estimate is not the larger one, or floats cannot tell.
        """
        units = self.users * float(self.precision)
        high, low = sums / units[batches - 1], their_sums / units[others - 1]
        found = np.full(len(high), -np.inf)
        rows = np.flatnonzero(high - low > 1000 * _CLOSEST)  # for steps that are far enough apart
        if not len(rows):
            return found
        high, low = high[rows], low[rows]
        ours, their = (batches[rows], sums[rows]), (others[rows], their_sums[rows])
        middle = ((high + low) / 2)[:, None]
        near = np.clip(middle + (high - low)[:, None] * _AROUND, 0, 1)
        points = np.hstack([np.zeros_like(middle), near, np.ones_like(middle)])

        def around(points: Floats) -> tuple[Floats, Floats]:
            """The three points about the least value, of which it is one, and their values."""
            values = self.larger(*ours, points) + self.smaller(*their, points)
            best = np.clip(values.argmin(axis=1), 1, points.shape[1] - 2)[:, None]
            three = best + np.array([-1, 0, 1])
            return np.take_along_axis(points, three, 1), np.take_along_axis(values, three, 1)

        where, values = around(points)
        for _ in range(_ZOOMS):
            where, values = around(np.linspace(where[:, 0], where[:, 2], _POINTS, axis=1))
        least, sides = values[:, 1:2], values[:, ::2]
        error = (self._error(*ours) + self._error(*their))[:, None]
        known = ((sides - least >= 2 * error) | (where[:, ::2] == [0, 1])).all(axis=1)
        known &= where[:, 2] - where[:, 0] >= 2 * _CLOSEST
        more = np.maximum(sides.max(axis=1, keepdims=True) - least, 0)
        bound = (least - _UNEVEN * more - 4 * error)[:, 0]
        found[rows] = bound = np.where(known, bound, -np.inf)
        near = (bound < self.threshold) & (least[:, 0] >= self.threshold)
        if near.any():
            (b, x), (c, y) = ((one[near], sums[near]) for one, sums in (ours, their))
            sure = self.surely(b, x, c, y, np.zeros(len(b)))
            found[rows[near]] = np.where(sure, self.threshold, bound[near])
        return found

    def surely(
        self, batches: Whole, sums: Floats, others: Whole, their_sums: Floats, margin: Floats
    ) -> NDArray[np.bool_]:
        """Are all steps of 2^-26 enough to tell arms apart, by this margin?"""
        least = self.threshold + margin
        least = least + self._error(batches, sums) + self._error(others, their_sums)
        found = np.ones(len(sums), dtype=bool)
        row, place = (each.ravel() for each in np.indices((len(sums), 1 << _FIRST)))
        for depth in range(_FIRST, _DEPTH + 1):
            ends = np.ldexp(np.stack([place, place + 1], axis=1).astype(float), -depth)
            ours = self.larger(batches[row], sums[row], ends)
            low = self.smaller(others[row], their_sums[row], ends[:, :1])[:, 0]
            found[row[ours[:, 0] + low < least[row]]] = False
            rest = (ours[:, 1] + low < least[row]) & found[row]
            row, place = np.repeat(row[rest], 2), np.repeat(2 * place[rest], 2)
            place[1::2] += 1
            if not len(row):
                break
        found[row] = False
        return found

    def _error(self, batches: Whole, totals: Floats) -> Floats:
        """Of log A(l) and log B(l) in floats."""
        users = self.users[batches - 1]
        moved = self.exponents[-1] * (2 * users + np.abs(totals) / self.precision)
        offsets = np.maximum(np.abs(self.above), np.abs(self.below)).max(axis=1)[batches - 1]
        return np.asarray(_SLACK * (1 + offsets + moved))


def e_process(plan: Plan) -> EProcess:
    """That of an algorithm's batches, at its confidence.

    Raises ParameterError where misreading alone costs as much as the confidence allows.
    """
    batches, setting = list(plan.batches.values()), plan.setting
    assert plan.index is not None
    noises = [batch.release.noise for batch in batches]
    precision = plan.index.precision
    overflow = Fraction(plan.index.overflow.upper) * setting.arms
    left = setting.confidence - overflow
    if left <= 0:
        raise ParameterError(
            f"confidence must be above what wrong decoding costs, {float(overflow):.3g}, "
            f"got {float(setting.confidence):g}"
        )
    users = np.cumsum([batch.users for batch in batches])
    end = min(mgf_end(each, precision) for each in noises)
    points = exponents(end, math.sqrt(2 / int(users[-1])), _HIGHEST, _STEP)
    with working_precision(BITS):
        weight = arb(len(points)).log()
    above, below = (
        cumulated_log_mgf(noises, precision, signed.tolist(), _minus_rounded_up, weight)
        for signed in (points, -points)
    )
    rivals = (setting.arms - 1) / left
    threshold = float_above(refine(lambda: ball(rivals).log()).upper)
    return EProcess(threshold, overflow, precision, users, points, above, below)


def _minus_rounded_up(value: arb) -> float:
    """-value, rounded down."""
    return lower_float(-value)
