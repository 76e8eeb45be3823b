"""What is known of one use's privacy loss by the cells of a lattice: their masses under P and Q.

Nothing else has to be known of a law. Discrete outcomes are counted cell by cell. Of continuous
noise a cell's masses are differences of two tails: with (P0, Q0) the pair of a user who takes part,
u = log dP0/dQ0, and S_P, S_Q the tails P0(u >= v) and Q0(u >= v),

    removing: L = log(1 - q + q e^u),   L >= l  <=>  u >= v = log(1 + (e^l - 1)/q),
    adding:   L = -log(1 - q + q e^u),  L >= l  <=>  -u >= v = -log(1 + (e^-l - 1)/q),

and -u is under Q0 what u is under P0 (both pairs are symmetric).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from attrs import frozen
from flint import acb, arb
from numpy.typing import NDArray

from ...exact.number import ball
from ...exact.precision import floor_of
from ..envelope.cells import upper
from ..losses.continuous.mixture import MixtureLoss
from ..losses.continuous.sampled_gaussian import SampledGaussian
from ..losses.continuous.sampled_laplace import SampledLaplace
from ..losses.law import Atoms, Cumulant, FiniteLoss, cumulant_of

Continuous: TypeAlias = SampledGaussian | SampledLaplace

_FAR = 10.0  # deviations of the Gaussian below which nothing is told apart
_FAR_STEPS, _NEAR = 2.0**40, 2.0**-40  # of floats that tell the floor, and so near that they do not
_SEEN = 4000  # losses by which a tilt is chosen
_FIRST = 16  # cells at first, of which those that weigh enough are halved
_LIGHT = 1 / 256  # tilted mass times squared width of cells that are not


class Cell(NamedTuple):
    """Losses from low to high steps (all at most low where these are equal), and their masses.

    excess: p - q e^low, where it is known better than p and q tell.
    """

    low: int
    high: int
    p: arb
    q: arb
    excess: arb | None = None


class Cells(NamedTuple):
    """All cells, and the P-mass that is in none of them: its losses are finite, or unknown.

    attained: where the cells are those of what dominates, the cells of what is certain, or of a
    statistic of its outcomes, low = high.
    """

    cells: list[Cell]
    missing: arb
    attained: list[Cell] | None = None


class Bounded(FiniteLoss):
    """Losses that are known by laws that they lie between, and by no transform.

    Nothing is missing but what `cells` leaves out.
    """

    def largest(self) -> arb:
        """No loss is above this."""
        raise NotImplementedError

    def transform(self, s: acb) -> acb:
        """It has none."""
        raise NotImplementedError

    def cumulant(self, c: float) -> Cumulant:
        """Of the one that dominates, about."""
        raise NotImplementedError

    def cells(self, step: Fraction, tilt: float, log_tail: float, points: int) -> Cells:
        """As `cells_of`."""
        raise NotImplementedError


CellLaw: TypeAlias = Atoms | Continuous | MixtureLoss | Bounded
Parts: TypeAlias = Sequence[tuple[CellLaw, int]]


def cells_of(law: CellLaw, step: Fraction, tilt: float, log_tail: float, points: int) -> Cells:
    """The cells of a law, at the working precision.

    step: a power of two. tilt: where continuous losses are looked at closely: where P's masses
    times e^(tilt loss) are. log_tail: about the logarithm of the P-mass of such losses in no cell.
    points: how many make a lattice that is a sum of others.
    """
    if isinstance(law, Atoms):
        return _listed(law, step)
    if isinstance(law, Continuous):
        return divided(law, step, tilt, log_tail)
    if isinstance(law, MixtureLoss):
        return _mixed(law, step, tilt, log_tail)
    return law.cells(step, tilt, log_tail, points)


def _mixed(law: MixtureLoss, step: Fraction, tilt: float, log_tail: float) -> Cells:
    """Those of all parts, as likely as each; and no loss."""
    rest, missing = ball(law.rest), arb(0)
    found = [Cell(0, 0, rest, rest)]
    for weight, part in law.parts:
        share, one = ball(weight), divided(part, step, tilt, log_tail)
        found += [Cell(low, high, share * p, share * q) for low, high, p, q, _ in one.cells]
        missing += share * one.missing
    return Cells(found, missing)


def _listed(law: Atoms, step: Fraction) -> Cells:
    """The step is a power of two, so that the quotient is exact: no loss is above its cell.

    One that is below it for all that is known may be raised to it: its Q-mass then is one that the
    ball holds as well.
    """
    places = _floors(law, step)
    order = np.argsort(places, kind="stable")
    starts = np.flatnonzero(np.diff(places[order], prepend=places.min(initial=0) - 1))
    found = []
    for some in np.split(order, starts)[1:]:
        k, zero = int(places[some[0]]), arb(0)
        masses = [law.masses[i] for i in some]
        q = sum((one * (-law.losses[i]).exp() for one, i in zip(masses, some, strict=True)), zero)
        found.append(Cell(k, k + 1, sum(masses, zero), q))
    return Cells(found, law.missing())


def _floors(law: Atoms, step: Fraction) -> NDArray[np.int64]:
    """The floor of each loss, at most, in steps: in floats where these tell it."""
    upper = [loss.upper() for loss in law.losses]
    about = np.array([float(one) for one in upper]) / float(step)
    if not np.abs(about).max(initial=0.0) < _FAR_STEPS:
        raise ArithmeticError("a loss is too large for the lattice")
    found = np.floor(about).astype(np.int64)
    near = np.abs(about - np.rint(about)) < _NEAR * np.maximum(np.abs(about), 1.0)
    for i in np.flatnonzero(near):
        found[i] = floor_of(upper[i] / ball(step))
    return found


def divided(law: Continuous, step: Fraction, tilt: float, log_tail: float) -> Cells:
    """Cells as wide as their mass allows, and one for all losses below them."""
    low, high = _ends(law, step, log_tail)
    width = 1 << max((high - low) // _FIRST, 1).bit_length() - 1
    scale = Seen(law, log_tail).cumulant(tilt).value
    spacing = float(step)

    def divided(first: int, last: int, before: _Tail, after: _Tail) -> Iterator[Cell]:
        p, q = ((one - other).max(arb(0)) for one, other in zip(before, after, strict=True))
        count = last - first
        if count > 1 and p > 0:
            log_mass = float(p.mid().log().mid()) + tilt * spacing * (first + last) / 2 - scale
            if log_mass + 2 * math.log(count) > math.log(_LIGHT):
                middle = (first + last) // 2
                between = tail(law, ball(step) * middle)
                yield from divided(first, middle, before, between)
                yield from divided(middle, last, between, after)
                return
        yield Cell(first, last, p, q)

    start = before = tail(law, ball(step) * low)
    found = [Cell(low, low, *((1 - one).max(arb(0)) for one in start))]
    for first in range(low, high, width):
        after = tail(law, ball(step) * (first + width))
        found += divided(first, first + width, before, after)
        before = after
    return Cells(found, before[0])


_Tail: TypeAlias = tuple[arb, arb]  # P and Q of all losses that are at least so large


def tail(law: Continuous, level: arb) -> _Tail:
    """P and Q of all losses that are at least this."""
    rate = ball(law.rate)
    inner = 1 + (level if law.removing else -level).expm1() / rate
    if inner <= 0:  # beyond all losses
        return (arb(1), arb(1)) if law.removing else (arb(0), arb(0))
    if not inner > 0:
        return arb(0).union(arb(1)), arb(0).union(arb(1))
    at = level if law.rate == 1 else inner.log() * (1 if law.removing else -1)
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


def _ends(law: Continuous, step: Fraction, log_tail: float) -> tuple[int, int]:
    """Between which points the losses matter, about, in floats: chosen, not proved."""
    first, last = (_loss(law, at) / float(step) for at in _range(law, log_tail))
    return math.floor(first) - 1, max(math.ceil(last), math.floor(first)) + 1


def _range(law: Continuous, log_tail: float) -> tuple[float, float]:
    """The same for v, of which only the largest have the P-mass e^log_tail, about."""
    if isinstance(law, SampledLaplace):
        return -float(law.epsilon), float(law.epsilon)
    mu = 1 / float(law.noise)
    return mu * (-mu / 2 - _FAR), mu * (mu / 2 + math.sqrt(2 * max(-log_tail, _FAR)))


def _loss(law: Continuous, at: float) -> float:
    """The loss at v."""
    rate, sign = float(law.rate), 1 if law.removing else -1
    if rate == 1:
        return at
    u = sign * at
    return sign * (math.log1p(rate * math.expm1(u)) if u < 700 else u + math.log(rate))


@frozen(eq=False, slots=False)
class Seen:
    """The cumulant of losses without those that are in no cell: in floats, to choose by.

    Of Gaussian noise the largest losses, improbable beyond all measure, outweigh everything from
    some tilt on.
    """

    law: CellLaw
    log_tail: float

    def cumulant(self, c: float) -> Cumulant:
        """Its logarithm and derivatives."""
        if not isinstance(self.law, SampledGaussian | MixtureLoss):
            return self.law.cumulant(c)
        logs, losses = self.masses
        return cumulant_of(logs + c * losses, losses)

    @cached_property
    def masses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logarithms of P-masses, and losses, of continuous noise: at equidistant v."""
        law = self.law
        if isinstance(law, MixtureLoss):
            each = [(weight, *Seen(part, self.log_tail).masses) for weight, part in law.parts]
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
        losses = v
        if law.removing and rate < 1:
            other = -((v / mu + mu / 2) ** 2) / 2
            logs = np.logaddexp(math.log(rate) + logs, math.log1p(-rate) + other)
        if rate < 1:
            u = v if law.removing else -v
            small = np.log1p(rate * np.expm1(np.minimum(u, 1.0)))
            large = u + np.log(rate + (1 - rate) * np.exp(-np.maximum(u, 0.0)))
            losses = np.where(u < 1, small, large) * (1 if law.removing else -1)
        return logs + math.log(float(width) / (mu * math.sqrt(2 * math.pi))), losses
