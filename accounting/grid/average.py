"""Random allocation: the loss of one of t steps, from an average of likelihood ratios.

S = (1/t) sum of X_i, X_i = e^(mu Z_i - mu^2/2), Z_i standard normal: under Q, what dP/dQ of random
allocation is (`continuous.allocated`); under P one Z_i, each as likely, has the mean mu. The loss
is log S under P if a user is removed, -log S under Q if one is added. S is on points e^(kh), k an
integer, where the place of a sum of two depends on the difference of their numbers alone.

*Above.* The profiles of both (P, Q) and (Q, P) are E_Q f(S), f convex and not negative. To split a
value between two points (0 is one) so that its mean is kept raises E f(S), whatever is added to it
independently; so do masses that are rounded up. All f of several uses are such in each S.

*Below.* A rounded sum of rounded sums T, whose number tells about log S, is a statistic of the
outcome: P and Q of {T >= k} are those of an event. P is that with the ratio that has the mean mu in
one of two halves, as likely as their sizes say.

*Cut off* are points above which there is little: of f(S) <= max(S, 1), what any of the t/n sums B
of n ratios has there is at most (t/n) E_Q (1 + B) 1{B > x}. Points below which there is little, or
which are next to nothing beside the mean, are split between 0 and the first that is kept.

*Rounding.* A sum of 2n products of floats that are not negative is off by less than a factor
1 + (n + 8) 2^-52, in any order. Masses are 0 or at least 10^-140, so that no product underflows:
below, what they were raised by is charged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from attrs import evolve, frozen
from flint import arb

from ...exact.budget import spend
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import floor_of, upper_float, working_precision
from ...losses.cells import Cell, Cells, Reals, listed_cells
from ...mechanisms.laws.normal import upper
from ..losses.law import LossLaw

_BITS = 128
_UNIT = 2.0**-52
_FLOOR = 1e-140  # least mass that is kept
_HAIR = 1 + 1e-11  # more than what sums of floats that are charged are off by
_LARGEST = 300.0  # logarithm of a ratio: masses beside it are no floats
_LITTLE = 1 / 4  # of the step, beside the mean, for ratios that are independent
_LEAST = 1e-20  # weight
_RAREST = 1e-300
_MORE = 10.0  # by so much, in its logarithm, more is left out than of other losses
_ROUGHLY = (Fraction(1, 1 << 20), -60.0, 256)  # step, tail and points of what is only chosen by
_MOST_POINTS = 4096  # of an average, which takes their square
_LONGEST = 1 << 14  # points of two that are added up, which takes their square as well
_POINT = 20_000  # units of work


@frozen(eq=False)
class Spread:
    """The sum of `count` of t ratios, divided by t. rows: at the points first, first + 1, ... the
    Q-masses from above; the masses of T under Q and under P, off by the factor 1 + off.

    zero: the Q-mass from above at 0. missing: what was cut off of all sums of so many weighs at
    most this. raised: by at most so much more, in all, are q and p.
    """

    count: int
    step: Fraction
    first: int
    zero: float
    rows: Reals
    missing: float = 0.0
    off: float = 0.0
    raised: float = 0.0

    def __len__(self) -> int:
        return int(self.rows.shape[1])

    @property
    def last(self) -> int:
        """The number of the last point."""
        return self.first + len(self) - 1

    @property
    def points(self) -> Reals:
        """The logarithms of the points."""
        return (self.first + np.arange(len(self), dtype=np.float64)) * float(self.step)

    def plus(self, other: Spread) -> Spread:
        """The sum of both."""
        one, is_double = self, self is other
        if not is_double:
            step = min(self.step, other.step)
            first = min(int(part.step / step) * part.first for part in (self, other))
            last = max(int(part.step / step) * part.last for part in (self, other))
            if last - first >= _LONGEST:
                raise DoesNotApplyError("averages so narrow lie too far apart for a lattice")
            one, other = (part._between(step, first, last) for part in (self, other))
        split, rounded = _kernels(one.step, len(one))

        points = len(one) + split[0].move + 1  # of which sums that are rounded may need fewer

        def summed(i: int, j: int, kernels: Sequence[_Kernel]) -> Reals:
            """Of the one's row i and the other's row j."""
            half = _met(one.rows[i], other.rows[j], kernels, points)
            if is_double and i == j:
                return 2 * half
            return half + _met(other.rows[j], one.rows[i], kernels, points)

        rows = np.array([summed(0, 0, split), summed(1, 1, rounded), summed(2, 1, rounded)])
        rows[0, : len(one)] += one.zero * other.rows[0] + other.zero * one.rows[0]
        if not is_double:
            share = one.count / (one.count + other.count)
            rows[2] = share * rows[2] + (1 - share) * summed(1, 2, rounded)
        return Spread(
            one.count + other.count,
            one.step,
            one.first,
            one.zero * other.zero,
            np.maximum(rows, _FLOOR),
            off=one.off + other.off + (len(one) + 8) * _UNIT,
            raised=2 * (one.raised + other.raised + points * _FLOOR),
        )

    def _between(self, step: Fraction, first: int, last: int) -> Spread:
        """On a finer lattice, between these points of it."""
        finer = int(self.step / step)
        rows, start = np.zeros((3, last - first + 1)), finer * self.first - first
        rows[:, start : start + finer * (len(self) - 1) + 1 : finer] = self.rows
        return evolve(self, rows=rows, step=step, first=first)

    def kept(self, steps: int, step: Fraction, tail: float, most: int) -> Spread:
        """Without the ends that weigh little, about e^tail; as fine as so many points allow."""
        blocks, points = steps / self.count, self.points
        rest = np.cumsum((self.rows[0] * blocks * (1 + np.exp(points)))[::-1])[::-1]
        last = max(int((rest > math.exp(tail)).sum()), 2)
        below = np.log(self.zero + np.cumsum(self.rows[0]))
        near = math.log(_LITTLE * float(step) / math.sqrt(blocks))
        little = (below <= tail) | ((blocks * below <= tail) & (points <= near))
        first = min(int(little.sum()), last - 2)
        fall = np.arange(-first, 0) * float(self.step)
        rows, below = self.rows[:, first:last].copy(), self.rows[0, :first]
        rows[1:, 0] += self.rows[1:, :first].sum(axis=1)
        rows[1:, -1] += self.rows[1:, last:].sum(axis=1)
        rows[0, 0] += _HAIR * float((below * np.exp(fall)).sum())
        found = evolve(
            self,
            first=self.first + first,
            zero=self.zero + _HAIR * float((below * -np.expm1(fall)).sum()),
            rows=rows,
            missing=_HAIR * (1 + self.off) ** 2 * float(rest[last]) if last < len(self) else 0.0,
            off=self.off + (len(self) + 8) * _UNIT,
        )
        while found.step > step and 2 * len(found) <= most:
            found = found._between(found.step / 2, 2 * found.first, 2 * found.last)
        return found


@frozen
class AllocatedLoss(LossLaw):
    """One of `steps` steps: what dominates it, and a statistic of what is attained."""

    noise: Fraction
    steps: int
    removing: bool
    log_tail: float

    is_exact = False

    def sketch(self) -> tuple[Reals, Reals]:
        """Losses and logarithms of masses, of the one that dominates, about."""
        spread = averaged(self.noise, self.steps, *_ROUGHLY)
        logs, losses = np.log(np.maximum(spread.rows[0], _RAREST)), spread.points
        return (losses, logs + losses) if self.removing else (-losses, logs)

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        """On the lattice of this step, its outcomes on a coarser one of their own."""
        width = Fraction(2) ** math.floor(math.log2(float(step)))
        points = min(points, _MOST_POINTS)
        spread = averaged(self.noise, self.steps, width, self.log_tail + _MORE, points)
        sign, up = 1 if self.removing else -1, 1 + arb(spread.off)
        losses = [sign * k * ball(spread.step) for k in range(spread.first, spread.last + 1)]
        masses = [arb(above) * up for above in spread.rows[0].tolist()]
        if self.removing:
            masses = [mass * loss.exp() for mass, loss in zip(masses, losses, strict=True)]
        attained = []
        for loss, *both in zip(losses, *spread.rows[:0:-1].tolist(), strict=True):  # P's, and Q's
            k, off = floor_of(loss / step), spread.off * _HAIR
            p, q = (arb(mass, mass * off + spread.raised) for mass in both)
            attained.append(Cell(k, k, *((p, q) if self.removing else (q, p))))
        missing = arb(spread.missing) if self.removing else spread.missing + up * arb(spread.zero)
        cells = listed_cells(masses, losses, step)
        return Cells(cells, missing, _POINT * len(losses), attained)


@lru_cache(maxsize=16)
def averaged(noise: Fraction, steps: int, step: Fraction, tail: float, most: int) -> Spread:
    """S for t = steps and mu = 1/noise.

    step: a power of two, how fine the lattice is to be where `most` points allow it. tail: about
    the logarithm of what is cut off. Raises DoesNotApplyError.
    """
    share = tail - math.log(4 + 2 * math.log2(steps))
    made = {1: _one(noise, steps, step, share, most)}

    def of(count: int) -> Spread:
        if count not in made:
            spend()
            half = of(count // 2).plus(of(count - count // 2))
            made[count] = half.kept(steps, step, share, most)
        return made[count]

    return evolve(of(steps), missing=sum(each.missing for each in made.values()))


def _one(noise: Fraction, steps: int, step: Fraction, tail: float, most: int) -> Spread:
    """X/t, by cells from one point to the next."""
    size = float(1 / noise)
    far = math.sqrt(2 * (math.log(steps) - tail)) + 1
    nearest = NormalDist().inv_cdf(max(math.exp(tail / steps), _RAREST))  # of all Z: e^tail
    low = min(size * (nearest - size / 2), math.log(_LITTLE * float(step) * math.sqrt(steps)))
    low, high = max(low, size * (-far - size / 2)), size * (far + size / 2)
    if max(-low, high) + math.log(steps) > _LARGEST:
        raise DoesNotApplyError("the masses of likelihood ratios so far apart are no floats")
    while high - low > (most - 2) * step:
        step *= 2
    shift = math.log(steps) / float(step)
    first, last = (math.floor(end / float(step) - shift) for end in (low, high))
    numbers = range(first, last + 2)
    with working_precision(_BITS):
        mu, points = 1 / ball(noise), [(ball(step) * k).exp() for k in numbers]
        places = [(ball(step) * k + arb(steps).log()) / mu for k in numbers]
        q, means = (_cells([z + mu * side / 2 for z in places]) for side in (1, -1))
        above = [arb(0)] * len(points)
        for k, (mass, mean) in enumerate(zip(q[1:-1], means[1:-1], strict=True)):
            share = (mean / steps - points[k] * mass) / (points[k + 1] - points[k])
            above[k] += mass - share
            above[k + 1] += share
        share = means[0] / steps / points[0]
        above[0] += share
        about = np.array([[float(mass.mid()) for mass in masses] for masses in (q, means)])
        about[:, 1] += about[:, 0]  # what is below the first place with the first cell
        return Spread(
            1,
            step,
            first,
            upper_float(q[0] - share),
            np.maximum([[*map(upper_float, above)], *about[:, 1:]], _FLOOR),
            missing=upper_float(steps * q[-1] + means[-1]),
            off=8 * _UNIT,
            raised=len(points) * _FLOOR,
        )


def _cells(places: Sequence[arb]) -> list[arb]:
    """Of a standard normal: below the first place, between neighbouring ones, above the last."""
    below, above = ([upper(sign * z) for z in places] for sign in (-1, 1))
    between = [
        below[k + 1] - below[k] if places[k] < 0 else above[k] - above[k + 1]
        for k in range(len(places) - 1)
    ]
    return [below[0], *between, above[-1]]


class _Kernel(NamedTuple):
    """x_i + x_j of i = j - d, for d from here on, goes to x_(j + move), with these weights."""

    move: int
    start: int
    weights: Reals


def _met(a: Reals, b: Reals, kernels: Sequence[_Kernel], points: int) -> Reals:
    """The sum over i <= j of b_i a_j, each at its place of so many points."""
    count = len(a)
    found = np.zeros(points)
    for move, start, weights in kernels:
        within = np.convolve(b[: count - start], weights)[: count - start]
        found[start + move : count + move] += a[start:] * within
    return found


@lru_cache(maxsize=64)
def _kernels(step: Fraction, count: int) -> tuple[list[_Kernel], list[_Kernel]]:
    """For sums that are split between two points, and for such as are rounded to one.

    Half of d = 0 is in either order of a and b.
    """
    with working_precision(_BITS):
        h = ball(step)
        falls = [(-h * d).exp() for d in range(count)]
        places = [fall.log1p() / h for fall in falls]
        moves = [floor_of(place) for place in places]
        gap = h.expm1()
        shares = [
            ((1 + fall) / (h * move).exp() - 1) / gap
            for fall, move in zip(falls, moves, strict=True)
        ]
        if not all(share >= 0 and share <= 1 for share in shares):
            raise ArithmeticError("between which points a sum lies is not known")
        raised = np.maximum([upper_float(share) for share in shares], _LEAST)
        rest = np.maximum([upper_float(1 - share) for share in shares], _LEAST)
        nearest = [floor_of(place + 0.5) for place in places]
    split = [*_grouped(moves, rest), *_grouped([move + 1 for move in moves], raised)]
    split.sort(key=lambda kernel: -kernel.move)
    return split, _grouped(nearest, np.ones(count))


def _grouped(moves: Sequence[int], weights: Reals) -> list[_Kernel]:
    """Moves never rise."""
    weights = np.concatenate(([weights[0] / 2], weights[1:]))
    found, start = [], 0
    for move, same in groupby(moves):
        end = start + sum(1 for _ in same)
        found.append(_Kernel(move, start, weights[start:end]))
        start = end
    return found
