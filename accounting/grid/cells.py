"""Continuous losses by the cells of a lattice, whose masses are differences of two tails; and both
ways round at once.

With (P0, Q0) the pair of a user who takes part, u = log dP0/dQ0, and S_P, S_Q the tails P0(u >= v)
and Q0(u >= v),

    removing: L = log(1 - q + q e^u),   L >= l  <=>  u >= v = log(1 + (e^l - 1)/q),
    adding:   L = -log(1 - q + q e^u),  L >= l  <=>  -u >= v = -log(1 + (e^-l - 1)/q),

and -u is under Q0 what u is under P0 (both pairs are symmetric).

*Batches of a fixed size* lie between the pair that is attained and the one that dominates both
ways. With L the loss of a pair (P, Q), the dearer way round, the pair that has its profile either
way has L's masses above 0 under P and Q, those of -L below 0 with P and Q changed over, and what is
left at 0 (`losses.continuous.uses`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.budget import spend
from ...exact.number import ball
from ...losses.cells import Cell, Cells
from ...losses.planning import cumulant_of
from ..envelope.cells import upper
from ..losses.continuous.mixture import MixtureLoss
from ..losses.continuous.sampled_gaussian import SampledGaussian
from ..losses.continuous.sampled_laplace import SampledLaplace
from ..losses.law import LossLaw
from .blocks import BlockLoss

Continuous: TypeAlias = SampledGaussian | SampledLaplace

_FAR = 10.0  # deviations of the Gaussian below which nothing is told apart
_SEEN = 4000  # losses by which a tilt is chosen
_FIRST = 16  # cells at first, of which those that weigh enough are halved
_LIGHT = 1 / 256  # tilted mass times squared width of cells that are not
# Of a lattice's points, that a cell has at most, unless its mass is below, in its logarithm: seen
# by another tilt, by which tails are bounded, it may weigh more.
_WIDEST, _SEEN_MASS = 64, -60.0
_CELL, _HALF = 1500, 200  # units of work, of a cell and of one that is halved


@frozen(eq=False, slots=False)
class DividedLoss(LossLaw):
    """The loss of continuous noise. log_tail: of the P-mass of the largest losses, in no cell."""

    law: Continuous | MixtureLoss
    log_tail: float

    def largest(self) -> arb:
        """No loss is above this."""
        return self.law.largest()

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        """Cells as wide as their mass allows, and one for all losses below them."""
        if not isinstance(self.law, MixtureLoss):
            return self._divided(self.law, step, tilt, points)
        rest, missing = ball(self.law.rest), arb(0)
        cells = [Cell(0, 0, rest, rest)] if self.law.rest else []
        for weight, part in self.law.parts:
            share, one = ball(weight), self._divided(part, step, tilt, points)
            cells += [Cell(low, high, share * p, share * q) for low, high, p, q, _ in one.cells]
            missing += share * one.missing
        return Cells(cells, missing, _CELL * len(cells))

    def _divided(self, law: Continuous, step: arb, tilt: float, points: int) -> Cells:
        low, high = _ends(law, step, self.log_tail)
        width = 1 << max((high - low) // _FIRST, 1).bit_length() - 1
        logs, losses = DividedLoss(law, self.log_tail).about
        scale, spacing = cumulant_of(logs + tilt * losses, losses).value, float(step)

        def matters(first: int, last: int, p: arb) -> bool:
            """Is a cell so wide, or so heavy, that it has to be halved?"""
            count = last - first
            if count == 1 or not p > 0:
                return False
            log_mass = float(p.mid().log().mid()) + tilt * spacing * (first + last) / 2 - scale
            highest = log_mass + tilt * spacing * count / 2  # were all of it at the upper end
            if highest > _SEEN_MASS and count > points / _WIDEST:
                return True
            return log_mass + 2 * math.log(count) > math.log(_LIGHT)

        def divided(first: int, last: int, before: _Tail, after: _Tail) -> Iterator[Cell]:
            pending = [(last, after)]  # ends of cells from here on, the nearest one last
            while pending:
                last, after = pending[-1]
                p, q = ((one - other).max(arb(0)) for one, other in zip(before, after, strict=True))
                if matters(first, last, p):
                    spend(_HALF)
                    middle = (first + last) // 2
                    pending.append((middle, tail(law, step * middle)))
                    continue
                yield Cell(first, last, p, q)
                first, before = pending.pop()

        start = before = tail(law, step * low)
        cells = [Cell(low, low, *((1 - one).max(arb(0)) for one in start))]
        for first in range(low, high, width):
            spend()
            after = tail(law, step * (first + width))
            cells += divided(first, first + width, before, after)
            before = after
        return Cells(cells, before[0], _CELL * len(cells))

    def sketch(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Losses, and logarithms of masses."""
        logs, losses = self.about
        return losses, logs

    @cached_property
    def about(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logarithms of P-masses, and losses, in floats, without the largest: to choose by.

        Of Gaussian noise these, improbable beyond all measure, outweigh everything from some tilt
        on. At equidistant v.
        """
        law = self.law
        if isinstance(law, MixtureLoss):
            each = [(weight, *DividedLoss(part, self.log_tail).about) for weight, part in law.parts]
            found = [logs + math.log(weight) for weight, logs, _ in each]
            all_losses = [losses for *_, losses in each]
            if law.rest:
                found.append(np.array([math.log(law.rest)]))
                all_losses.append(np.zeros(1))
            return np.concatenate(found), np.concatenate(all_losses)
        if isinstance(law, SampledLaplace):
            return law.about
        assert isinstance(law, SampledGaussian)
        mu, rate = 1 / float(law.noise), float(law.rate)
        v, width = np.linspace(*_range(law, self.log_tail), _SEEN, retstep=True)
        logs = -((v / mu - mu / 2) ** 2) / 2
        if law.removing and rate < 1:
            other = -((v / mu + mu / 2) ** 2) / 2
            logs = np.logaddexp(math.log(rate) + logs, math.log1p(-rate) + other)
        logs += math.log(float(width) / (mu * math.sqrt(2 * math.pi)))
        return logs, _losses(law, v)


_Tail: TypeAlias = tuple[arb, arb]  # P and Q of all losses that are at least so large


def tail(law: Continuous, level: arb) -> _Tail:
    """P and Q of all losses that are at least this."""
    if law.rate == 1:
        return _tails(law, level)
    rate = ball(law.rate)
    inner = 1 + (level if law.removing else -level).expm1() / rate
    if inner <= 0:  # beyond all losses
        return (arb(1), arb(1)) if law.removing else (arb(0), arb(0))
    if not inner > 0:
        return arb(0).union(arb(1)), arb(0).union(arb(1))
    at = inner.log() * (1 if law.removing else -1)
    p, q = _tails(law, at)
    if law.removing:
        return (1 - rate) * q + rate * p, q
    return p, (1 - rate) * p + rate * q


def _tails(law: Continuous, at: arb) -> _Tail:
    """P0(u >= v) and Q0(u >= v)."""
    if isinstance(law, SampledGaussian):  # u is N(+-mu^2/2, mu^2)
        mu = 1 / ball(law.noise)
        return upper(at / mu - mu / 2), upper(at / mu + mu / 2)
    epsilon = ball(law.epsilon)
    if at > epsilon:
        return arb(0), arb(0)
    if at <= -epsilon:
        return arb(1), arb(1)
    p, q = 1 - ((at - epsilon) / 2).exp() / 2, (-(at + epsilon) / 2).exp() / 2
    if not (at <= epsilon and at > -epsilon):
        return arb(0).union(arb(1)), arb(0).union(arb(1))
    return p, q


def _ends(law: Continuous, step: arb, log_tail: float) -> tuple[int, int]:
    """Between which points the losses matter, about, in floats: chosen, not proved."""
    first, last = (_losses(law, np.array(_range(law, log_tail))) / float(step)).tolist()
    return math.floor(first) - 1, max(math.ceil(last), math.floor(first)) + 1


def _range(law: Continuous, log_tail: float) -> tuple[float, float]:
    """The same for v, of which only the largest have the P-mass e^log_tail, about."""
    if isinstance(law, SampledLaplace):
        return -float(law.epsilon), float(law.epsilon)
    mu = 1 / float(law.noise)
    return mu * (-mu / 2 - _FAR), mu * (mu / 2 + math.sqrt(2 * max(-log_tail, _FAR)))


def _losses(law: Continuous, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Those at v."""
    rate, sign = float(law.rate), 1 if law.removing else -1
    if rate == 1:
        return at
    return sign * np.logaddexp(math.log1p(-rate), math.log(rate) + sign * at)


@frozen
class TwoWayLoss(LossLaw):
    """Of one batch. one_way: the loss if a user is removed from Poisson sampling, attained."""

    one_way: DividedLoss | BlockLoss

    is_exact = False

    def largest(self) -> arb:
        """The same either way round."""
        return self.one_way.largest()

    def sketch(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
        loss = self.one_way
        one = loss.cells(step, tilt, points)
        enclosed = loss.enclosed(step, tilt, points) if isinstance(loss, BlockLoss) else one
        found, surely = list[Cell](), arb(0)
        for low, high, p, q, _ in enclosed.cells:
            if 0 <= low < high:
                found += [Cell(low, high, p.upper(), q), Cell(-high, -low, q.upper(), p)]
                surely += p.lower() + q.lower()
            elif high > 0:
                found += [Cell(high, high, p.upper(), q), Cell(0, 0, q.upper(), p)]
        rest = (1 - surely).max(arb(0))
        found.append(Cell(0, 0, rest, rest))
        return Cells(found, 2 * one.missing, 2 * one.cost, one.attained or one.cells)
