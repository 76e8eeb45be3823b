"""Noise of more outcomes than are listed: cells of whole blocks of them, by its shape alone.

(P, Q) is a law p against its shift by d. Between neighbouring points y < z all that is computed are
p and p(. - d) at both. Let log p be concave. Its chord from y to z is below it, and the chords of
the blocks before and after, prolonged, are above it: geometric sums on both sides of the mass of
y + 1, ..., z. Where log p is convex, above and below change places. That is of the second order of
the block's length; stretches begin and end with a block of a single outcome, which is exact.

*What decides* is how much more A there is of a block than B: for a small shift d that is known far
better than either mass, the sums of p(x) - p(x - d) telescope to p(z - d + 1) + ... + p(z) less
p(y - d + 1) + ... + p(y). So P - e^l Q is computed from P - Q, and what is attained from the ratio
P/Q = 1 + (P - Q)/Q and the least that Q may be.

*The loss* l = log p(x)/p(x - d) is monotone on a stretch, so that in a block it lies between those
at its ends. For log p concave it falls throughout. For p symmetric and log-convex on x >= 0, so
that p falls there, it rises up to 0, falls from 0 to d and rises from d on (`AdditiveNoise.pairs`;
the same by reflection): stretches end at 0 and d, where p's logarithm and its shift's have cusps.

*Sampled* the loss rises in l as well, and masses are mixtures of the two (`pairs.sampling`).

*Reduced mod m* the pair before the reduction is enough from above, and charged for from below
(`losses.product`).

Floats choose the points: blocks are halved where their tilted mass times their share in a step,
squared, or times how far log p bends in them, matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np
from attrs import frozen
from flint import arb, ctx
from numpy.typing import NDArray

from ...exact.budget import spend
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import floor_of
from ...losses.cells import Cell, Cells, Reals
from ...losses.planning import cumulant_of
from ...mechanisms.pairs.pair import Pair, ShiftPair, faced
from ...mechanisms.pairs.sampling import Sampling
from ..losses.law import LossLaw, Probability
from ..losses.of_pair import window

_Points: TypeAlias = NDArray[np.int64]
_Flags: TypeAlias = NDArray[np.bool_]
# whether blocks of so many outcomes, log p and log p(. - d) at their ends, so bent, are halved
_Matters: TypeAlias = Callable[[_Points, Reals, Reals, Reals], _Flags]
# of a block, or of all beyond a point, under A and B; how much more under A, known better
_Mass: TypeAlias = tuple[arb, arb, arb]

_LIGHT = 1 / 256  # tilted mass times squared width, in steps, of blocks that are not halved
# tilted mass times how far log p bends: of all uses together, at least, and at most
_FLAT, _FLATTEST, _BENDING = 1e-6, 1e-9, 1e-7
_NOTHING = 1e-25  # tilted mass that does not matter
_BENT, _STEEP = 0.01, 0.03  # how far log p bends and falls within what is looked at to choose by
_FIRST = 16  # blocks at first, of each stretch
_FEW = 512  # points of a lattice, of more of which blocks are finer
_NEAR = 1  # so far apart losses are in one cell with the first point at most
_LEVELS = 64  # halvings
_MOST_KEPT = 1 << 17  # probabilities, of all noise
_MOST_POINTS = 1 << 21  # of one stretch: they take some 200 MB
_POINT = 0.2  # units of work
_BLOCK = 1000  # units of work
_SMALL = 4  # shift, at most, of which sums of the differences are known


@frozen(eq=False, slots=False)
class BlockLoss(LossLaw):
    """The loss of one use. facing: (P, Q), or (Q, P) where a sampled user is added.

    log_tail: about the logarithm of the P-mass at either end
    that is not divided. flat: a block's tilted mass times how far log p bends in it, at most.
    """

    facing: ShiftPair
    sampling: Sampling
    log_tail: float
    flat: float

    is_exact = False

    @staticmethod
    def of(pair: Pair, log_tail: float, uses: int) -> BlockLoss | None:
        """Of noise that is shifted, sampled or not; None of anything else.

        uses: how many there are of all mechanisms, whose errors add up.
        """
        flat = min(max(_FLAT / uses, _FLATTEST), _BENDING)
        plain, sampling = faced(pair)
        return BlockLoss(plain, sampling, log_tail, flat) if isinstance(plain, ShiftPair) else None

    @property
    def infinite(self) -> Probability:
        """0 where p is positive throughout, or the law with less noise is the second one."""
        least, _ = self._ends
        if least is None or not self._is_plainly_first:
            return Fraction(0)
        return ball(self.sampling.rate) * self.facing.law.lower_tail(least - 1)

    def largest(self) -> arb:
        """That of the least outcome where the loss falls throughout, else that of 0."""
        law, (least, _) = self.facing.law, self._ends
        if not law.log_concave:
            return self._loss_at(0)
        if least is not None and self._is_plainly_first:
            return self._loss_at(least)
        limit = None if least is not None else law.loss_limit(self.facing.shift)
        return self.sampling.loss(arb.pos_inf() if limit is None else ball(limit))

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        """What dominates: P's masses at most. Attained is as much as P's at least, Q's at most.

        An event that holds each outcome with a probability, the same under P and Q, is a
        randomised test: so it may count less of P than there is, and any more of Q; and, of a whole
        block, the same share of both.
        """
        cells, missing, cost, _ = self.enclosed(step, tilt, points)
        above = [one._replace(p=one.p.upper(), q=one.q.upper()) for one in cells]
        return Cells(above, missing, cost, [attained_of(one, step) for one in cells])

    def enclosed(self, step: arb, tilt: float, points: int) -> Cells:
        """Enclosed masses of all blocks and of what is beyond."""
        return self._enclosed(step.mid(), step.rad(), tilt, points, ctx.prec)

    @lru_cache(maxsize=4)  # noqa: B019
    def _enclosed(self, middle: arb, off: arb, tilt: float, points: int, bits: int) -> Cells:
        """Kept, since what dominates and what is attained ask for the same."""
        h, found, missing = arb(middle, off), list[Cell](), arb(0)

        def put(mass: _Mass, low: arb | None, high: arb) -> None:
            last = -floor_of(-(high / h).upper())
            first = last if low is None else min(floor_of((low / h).lower()), last)
            p, q = self._masses(mass)
            excess = ball(self.sampling.rate) * mass[2] - (h * first).expm1() * q
            found.append(Cell(first, last, p, q, excess))

        matters = self._matters(float(h), tilt, points)
        for low, high in self._stretches:
            for mass, ends in self._blocks(self._halved(low, high, matters)[0].tolist()):
                losses = [self.sampling.loss(end) for end in ends]
                put(mass, losses[0].min(losses[1]), losses[0].max(losses[1]))
        before, after, hidden = self._beyond
        first, last = self._outermost
        if first <= self._loss_at(self._window[0]) + _NEAR:
            put(before, None, first)
        else:  # little mass, perhaps at huge losses: left out
            missing = self._masses(before)[0].upper()
        put(after, None, last)
        if self._ends[0] is not None and not self._is_plainly_first:  # A's outcomes that B has not
            put(hidden, None, -ball(1 - self.sampling.rate).log())
        return Cells(found, missing, _BLOCK * len(found))

    # -- one outcome ------------------------------------------------------------------------------

    @property
    def _is_plainly_first(self) -> bool:
        """Has A, the first law of `facing`, what the second has not, as an infinite loss?"""
        return self.sampling.removing or self.sampling.rate == 1

    def _loss_at(self, x: int) -> arb:
        return self.sampling.loss(self._log(x) - self._log(x - self.facing.shift))

    def _masses(self, mass: _Mass) -> tuple[arb, arb]:
        """P and Q."""
        (p,), (q,) = self.sampling.mixed([mass[0]], [mass[1]])
        return p, q

    @lru_cache(maxsize=_MOST_KEPT)  # noqa: B019
    def _log(self, x: int) -> arb:
        """log p(x)."""
        found = self.facing.law.ball(x).log()
        if not found.is_finite():
            raise DoesNotApplyError("a probability is too small to tell at this precision")
        return found

    # -- blocks -----------------------------------------------------------------------------------

    @property
    def _ends(self) -> tuple[int | None, int | None]:
        """The least and the greatest outcome that both laws have."""
        least, greatest = self.facing.law.support
        return None if least is None else least + self.facing.shift, greatest

    @cached_property
    def _window(self) -> tuple[int, int]:
        law, shift = self.facing.law, self.facing.shift
        (low, high), (least, greatest) = window(law, self.log_tail), self._ends
        high += shift * (self.sampling.rate != 1)
        low = low if least is None else max(low, least)
        high = high if greatest is None else min(high, greatest)
        if law.log_concave and low < high:
            return low, high
        if law.log_convex_sides:
            return min(low, -1), max(high, shift + 1)
        raise DoesNotApplyError("too few outcomes are possible under both, or it has no shape")

    @cached_property
    def _stretches(self) -> list[tuple[int, int]]:
        (low, high), shift = self._window, self.facing.shift
        if self.facing.law.log_concave:
            return [(low, high)]
        return [(low, 0), (0, shift), (shift, high)]

    def _blocks(self, xs: list[int]) -> Iterator[tuple[_Mass, tuple[arb, arb]]]:
        """Masses of y + 1, ..., z under both laws for neighbouring points, and losses at both."""
        shift = self.facing.shift
        concave = bool(self.facing.law.log_concave)
        p = [self._log(x) for x in xs]
        q = [self._log(x - shift) for x in xs]
        sums = [_summed(xs, logs, concave) for logs in (p, q)]
        losses = [one - other for one, other in zip(p, q, strict=True)]
        tops = [
            sum((self._log(x - k).exp() for k in range(shift)), arb(0))
            for x in xs
            if shift <= _SMALL
        ]
        if self.facing.law.symmetric and shift % 2 == 0 and shift // 2 in xs:
            losses[xs.index(shift // 2)] = arb(0)  # exactly
        for i, (a, b) in enumerate(zip(*sums, strict=True)):
            before = i + (xs[i + 1] - xs[i] == 1)  # a single outcome has one loss
            gap = tops[i + 1] - tops[i] if tops else a - b
            yield (a, b, gap), (losses[before], losses[i + 1])

    @cached_property
    def _beyond(self) -> list[_Mass]:
        """Up to the first point, beyond the last one, and of outcomes impossible under B."""
        law, shift, (low, high) = self.facing.law, self.facing.shift, self._window
        hidden = arb(0) if (least := self._ends[0]) is None else law.lower_tail(least - 1)
        a, b = (law.lower_tail(low) - hidden).max(arb(0)), law.lower_tail(low - shift)
        after = law.upper_tail(high + 1), law.upper_tail(high + 1 - shift)
        parts = ((a, b), after, (hidden, arb(0)))
        return [(one, other, one - other) for one, other in parts]

    @property
    def _outermost(self) -> tuple[arb, arb]:
        """No loss up to the first point, and none beyond the last one, is above these."""
        law, (low, high) = self.facing.law, self._window
        if law.log_concave:
            return self.largest(), self._loss_at(high)
        limit = law.loss_limit(self.facing.shift)
        assert limit is not None
        return self._loss_at(low), self.sampling.loss(-ball(limit))

    # -- which points: in floats ------------------------------------------------------------------

    def _halved(self, low: int, high: int, matters: _Matters) -> tuple[_Points, Reals, Reals]:
        """Points from low to high, and the logarithms of both masses there."""
        few = (low + 1 + (high - low - 2) * k // _FIRST for k in range(_FIRST + 1))
        middle = self.facing.shift // 2  # about where the loss changes its sign
        both = (min(max(x, low), high) for x in (middle, middle + 1))
        xs = np.unique(np.array([low, high, *few, high - 1, *both], dtype=np.int64))
        p, q = self._about_at(xs)
        for _ in range(_LEVELS):
            spend()
            counts = np.diff(xs)
            bends = np.maximum(_bends(counts, p), _bends(counts, q))
            places = np.flatnonzero((counts > 1) & matters(counts, p, q, bends)) + 1
            count = places.size
            if not count:
                break
            if xs.size + count > _MOST_POINTS:
                raise DoesNotApplyError("its blocks are too many")
            spend(_POINT * count)
            middle = xs[places - 1] + counts[places - 1] // 2
            more = (middle, *self._about_at(middle))
            xs, p, q = (
                np.insert(old, places, new) for old, new in zip((xs, p, q), more, strict=True)
            )
        return xs, p, q

    def _about_at(self, xs: _Points) -> tuple[Reals, Reals]:
        law = self.facing.law
        return law.log_pmf(xs), law.log_pmf(xs - self.facing.shift)

    def _matters(self, step: float, tilt: float, points: int) -> _Matters:
        losses, logs = self.sketch()
        scale = cumulant_of(logs + tilt * losses, losses).value
        flat = self.flat * (_FEW / points) ** 2

        def matters(counts: _Points, p: Reals, q: Reals, bends: Reals) -> _Flags:
            losses, logs = self.sampling.losses(p - q, p)
            height = logs + tilt * losses
            height = np.maximum(height[1:], height[:-1]) + np.log(counts) - scale
            share, width = np.exp(np.minimum(height, 0.0)), np.abs(np.diff(losses)) / step
            wide = (width > 1) & (share * width**2 > _LIGHT)
            found: _Flags = (share > _NOTHING) & (wide | (share * bends > flat))
            return found

        return matters

    @lru_cache(maxsize=16)  # noqa: B019
    def sketch(self) -> tuple[Reals, Reals]:
        """Losses and logarithms of masses, of the points that are looked at to choose by."""

        def matters(counts: _Points, p: Reals, q: Reals, bends: Reals) -> _Flags:
            falls = np.maximum(np.abs(np.diff(p)), np.abs(np.diff(q)))
            found: _Flags = (bends > _BENT) | (falls > _STEEP)
            return found

        logs, losses = [], []
        for low, high in self._stretches:
            xs, p, q = self._halved(low, high, matters)
            loss, height = self.sampling.losses(p - q, p)
            half = np.clip(np.abs(np.diff(height)) / 2, 1e-9, 1e3)
            sums = (height[1:] + height[:-1]) / 2 + half + np.log(-np.expm1(-2 * half) / (2 * half))
            alone = np.diff(xs) == 1  # an outcome: the one at the end
            logs.append(np.where(alone, height[1:], sums + np.log(np.diff(xs))))
            losses.append(np.where(alone, loss[1:], (loss[1:] + loss[:-1]) / 2))
        all_logs, all_losses = np.concatenate(logs), np.concatenate(losses)
        finite = np.isfinite(all_logs) & np.isfinite(all_losses)
        return all_losses[finite], all_logs[finite]


def attained_of(cell: Cell, step: arb) -> Cell:
    """As much of the cell, in a test, as is known: P's mass at least, Q's at most.

    Or an equal share of both, where their ratio is told better so.
    """
    low, _, p, q, excess = cell
    least, most = p.lower().max(arb(0)), q.upper()
    if excess is not None and q > 0:
        part, ratio = q.lower(), ((step * low).exp() + excess / q).lower()
        if ratio * most > least:
            return cell._replace(p=(part * ratio).lower().max(arb(0)), q=part)
    return cell._replace(p=least, q=most)


def _bends(counts: _Points, logs: Reals) -> Reals:
    """How far these logarithms bend within each block, about, by the blocks beside it."""
    kinks = np.abs(np.diff(np.diff(logs) / counts))
    found: Reals = counts * np.maximum(np.append(kinks, 0.0), np.insert(kinks, 0, 0.0)) / 4
    return found


def _summed(xs: list[int], logs: list[arb], concave: bool) -> Iterator[arb]:
    """Masses of y + 1, ..., z for neighbouring points y < z, by log p at all points."""
    falls = [
        (after - before) / (z - y)
        for y, z, before, after in zip(xs, xs[1:], logs, logs[1:], strict=False)
    ]
    masses = [log.exp() for log in logs]
    for i, fall in enumerate(falls):
        count = xs[i + 1] - xs[i]
        if count == 1:
            yield masses[i + 1]
            continue
        chord = masses[i] * _geometric(fall, count)
        left, right = falls[i - 1], falls[i + 1]
        # where the two prolonged chords cross, about: any place will do
        bend, rise = float((left - right).mid()), float((fall - right).mid())
        kink = min(max(round(count * rise / bend), 0), count) if bend else 0
        prolonged = masses[i] * _geometric(left, kink)
        prolonged += masses[i + 1] * (1 + _geometric(-right, count - kink - 1)) * (kink < count)
        lower, upper = (chord, prolonged) if concave else (prolonged, chord)
        yield lower.lower().union(upper.upper())


def _geometric(rate: arb, count: int) -> arb:
    """The sum of e^(k rate) over k = 1, ..., count."""
    if count <= 0:
        return arb(0)
    if rate.contains(0):
        return count * (arb(0).union(count * rate)).exp()
    return rate.exp() * (count * rate).expm1() / rate.expm1()
