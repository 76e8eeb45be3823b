"""Continuous losses by the cells of a lattice, whose masses are differences of two tails
(`losses.continuous.sampled_noise`); and both ways round at once.

*Batches of a fixed size* lie between the pair that is attained and the one that dominates both
ways. With L the loss of a pair (P, Q), the dearer way round, the pair that has its profile either
way has L's masses above 0 under P and Q, those of -L below 0 with P and Q changed over, and what is
left at 0 (`losses.continuous.profile`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from attrs import frozen
from flint import arb

from ...exact.budget import spend
from ...exact.number import ball
from ...losses.cells import Cell, Cells, Reals
from ...losses.planning import cumulant_of
from ..losses.continuous.sampled_noise import LineLaw, SampledNoise
from ..losses.law import LossLaw
from .blocks import BlockLoss, attained_of

_FIRST = 16  # cells at first, of which those that weigh enough are halved
_LIGHT = 1 / 256  # tilted mass times squared width of cells that are not
_LIGHTER = 1e-6  # the same where rare losses decide, which weigh little however they are tilted
# Of a lattice's points, that a cell has at most, unless its mass is below, in its logarithm: seen
# by another tilt, by which tails are bounded, it may weigh more.
_WIDEST, _SEEN_MASS = 64, -60.0
_CELL, _HALF = 1500, 200  # units of work, of a cell and of one that is halved


@frozen(eq=False)
class DividedLoss(LossLaw):
    """The loss of continuous noise. log_tail: of the P-mass of the largest losses, in no cell.

    rare: does the user take part less than once in all uses, so that a single loss decides?
    """

    law: LineLaw
    log_tail: float
    rare: bool = False

    def largest(self) -> arb:
        """No loss is above this."""
        return self.law.largest()

    def sketch(self) -> tuple[Reals, Reals]:
        """Losses, and logarithms of masses."""
        rest = [(np.zeros(1), np.array([math.log(self.law.rest)]))] if self.law.rest else []
        for weight, part in self.law.parts:
            losses, logs = part.sketched(self.log_tail)
            rest.append((losses, logs + math.log(weight)))
        all_losses, all_logs = zip(*rest, strict=True)
        return np.concatenate(all_losses), np.concatenate(all_logs)

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        """Cells as wide as their mass allows, and one for all losses below them."""
        rest, missing = ball(self.law.rest), arb(0)
        cells = [Cell(0, 0, rest, rest)] if self.law.rest else []
        for weight, part in self.law.parts:
            share = ball(weight)
            for low, high, p, q in self._divided(part, step, tilt, points):
                cells.append(Cell(low, high, share * p, share * q))
            missing += share * part.tail(step * cells[-1].high)[0]
        return Cells(cells, missing, _CELL * len(cells))

    def _divided(
        self, law: SampledNoise, step: arb, tilt: float, points: int
    ) -> Iterator[tuple[int, int, arb, arb]]:
        losses, logs = law.sketched(self.log_tail)
        scale, spacing = cumulant_of(logs + tilt * losses, losses).value, float(step)
        # between which points the losses matter: chosen, not proved
        low = math.floor(losses.min() / spacing) - 1
        high = max(math.ceil(losses.max() / spacing), low + 1) + 1
        width = 1 << max((high - low) // _FIRST, 1).bit_length() - 1

        def matters(first: int, last: int, p: arb) -> bool:
            """Is a cell so wide, or so heavy, that it has to be halved?"""
            count = last - first
            if count == 1 or not p > 0:
                return False
            log_mass = float(p.mid().log().mid()) + tilt * spacing * (first + last) / 2 - scale
            highest = log_mass + tilt * spacing * count / 2  # were all of it at the upper end
            if highest > _SEEN_MASS and count > points / _WIDEST:
                return True
            return log_mass + 2 * math.log(count) > math.log(_LIGHTER if self.rare else _LIGHT)

        before = law.tail(step * low)
        yield low, low, *((1 - one).max(arb(0)) for one in before)
        for start in range(low, high, width):
            spend()
            first, last = start, start + width
            pending = [(last, law.tail(step * last))]  # ends from here on, the nearest one last
            while pending:
                last, after = pending[-1]
                p, q = ((one - other).max(arb(0)) for one, other in zip(before, after, strict=True))
                if matters(first, last, p):
                    spend(_HALF)
                    middle = (first + last) // 2
                    pending.append((middle, law.tail(step * middle)))
                    continue
                yield first, last, p, q
                first, before = pending.pop()


@frozen
class TwoWayLoss(LossLaw):
    """Of one batch. one_way: the loss if a user is removed from Poisson sampling, attained."""

    one_way: DividedLoss | BlockLoss

    is_exact = False

    def largest(self) -> arb:
        """The same either way round."""
        return self.one_way.largest()

    def sketch(self) -> tuple[Reals, Reals]:
        """Losses and logarithms of masses, about."""
        losses, logs = self.one_way.sketch()
        logs, losses = logs[losses > 0], losses[losses > 0]
        rest = max(1 - float((np.exp(logs) + np.exp(logs - losses)).sum()), 1e-300)
        return (
            np.concatenate((-losses, [0.0], losses)),
            np.concatenate((logs - losses, [np.log(rest)], logs)),
        )

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        """Those above 0, the same below, and what is left.

        Where it is open how much of a cell lies above 0, all of it does: more mass, or mass at a
        larger loss, can only raise delta.
        """
        loss, found, surely = self.one_way, list[Cell](), arb(0)
        one = (loss.enclosed if isinstance(loss, BlockLoss) else loss.cells)(step, tilt, points)
        for low, high, p, q, _ in one.cells:
            if 0 <= low < high:
                found += [Cell(low, high, p.upper(), q), Cell(-high, -low, q.upper(), p)]
                surely += p.lower() + q.lower()
            elif high > 0:
                found += [Cell(high, high, p.upper(), q), Cell(0, 0, q.upper(), p)]
        rest = (1 - surely).max(arb(0))
        found.append(Cell(0, 0, rest, rest))
        attained = [attained_of(cell, step) for cell in one.cells]
        return Cells(found, 2 * one.missing, 2 * one.cost, attained)
