"""A privacy loss L = log dP/dQ of one ordered pair, moved to the points of a lattice by coins.

**The coin.** Let the losses of some outcomes be at most b, and let W be b with probability c, else
a, for all of them. Let either a = b; or all losses be at least a < b, the outcomes have the masses
p and q, and 1 >= c >= (p - e^a q)/(p (1 - e^(a - b))), c >= 0. Then for every t, every level, and
any number of independent uses whose losses are treated so,

    P(sum W >= t) - e^level Q(sum W >= t) <= delta(level) <= E_P (1 - e^(level - sum W))^+.

*Proof.* Left: {sum W >= t} is a randomised test, and delta(level) the largest P - e^level Q of any;
so it is for any statistic W of the outcomes. Right: f(x) = (1 - e^(level - x))^+ rises in x and is
convex in y = e^(-x). For a = b, f(L) <= f(a). Else f(L) lies below the chord from a to b, affine in
y, so that of all outcomes together it is at most the chord at their mean of y, q/p: (1 - c') f(a) +
c' f(b) with (1 - c') e^(-a) + c' e^(-b) = q/p, which is the least c above; a larger share of b only
raises it. Several uses: replace one loss after the other, since for fixed others f(x + others)
rises in x and is convex in e^(-x) too. Infinite losses belong to every event; an outcome that is
left out to none, and above its loss counts as infinite. #

A coin is a definite number, rounded up, so that all later errors are two-sided and add up. Coins on
top of W (`Weights.coarsened`) are of the same kind, with W in place of L.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.precision import floor_of

Pair: TypeAlias = tuple[arb, arb]  # masses under P and under Q
Reals: TypeAlias = NDArray[np.float64]

_WIDEST = 1 << 40  # steps of a run


class Cell(NamedTuple):
    """Outcomes whose losses lie from low to high steps, and their masses.

    low = high: no loss is above it. excess: p - q e^low, where that is known better than they tell.
    """

    low: int
    high: int
    p: arb
    q: arb
    excess: arb | None = None


class Cells(NamedTuple):
    """All cells, and the P-mass in none of them, whose losses may be finite; what they cost.

    attained: where the cells are those of what dominates, the values low = high of a statistic of
    the outcomes.
    """

    cells: list[Cell]
    missing: arb
    cost: int
    attained: list[Cell] | None = None


class Loss:
    """The privacy loss of one use; balls are at the working precision.

    No outcome is left out, no loss is infinite, no bound is known, where it does not say otherwise.
    """

    is_exact: ClassVar[bool] = True  # are its cells of what is attained? Else they tell what is

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        """For a lattice of this step, so many points of which are looked at.

        tilt: where losses are looked at closely: where P's masses times e^(tilt loss) are.
        """
        raise NotImplementedError

    def sketch(self) -> tuple[Reals, Reals]:
        """Losses, and logarithms of masses, in floats: to choose by."""
        raise NotImplementedError

    def escaping(self) -> arb:
        """P of an infinite loss, whose outcomes Q does not have."""
        return arb(0)

    def missing(self) -> arb:
        """P of the outcomes that are left out."""
        return arb(0)

    def largest(self) -> arb:
        """No finite loss is above this."""
        return arb.pos_inf()


def listed_cells(masses: Sequence[arb], losses: Sequence[arb], step: arb) -> list[Cell]:
    """Outcomes by the steps between which their losses lie.

    A loss that may be below its cell for all that is known may be raised to it: its Q-mass then is
    one that the ball holds as well.
    """
    runs = dict[int, Pair]()
    for mass, loss in zip(masses, losses, strict=True):
        steps = (loss.upper() / step).upper()
        if not abs(steps) < _WIDEST:
            raise ArithmeticError("a loss is too large for the lattice")
        k = floor_of(steps)
        p, q = runs.get(k, (arb(0), arb(0)))
        runs[k] = p + mass, q + mass * (-loss).exp()
    return [Cell(k, k + 1, *runs[k]) for k in sorted(runs)]


def on_lattice(cells: Iterable[Cell], step: arb) -> dict[int, Pair]:
    """Masses of W of one use at the points k h, by k.

    One coin for all of a cell, as proved above; 1 where there may be no mass.
    """
    masses, zero = dict[int, Pair](), (arb(0), arb(0))
    for low, high, p, q, excess in cells:
        coin = arb(low < high)
        if low < high and p > 0:
            excess = p - q * (step * low).exp() if excess is None else excess
            coin = (excess / (-(step * (low - high)).expm1() * p)).upper()
            coin = coin.max(arb(0)).min(arb(1)).upper()
        for at, share in ((low, 1 - coin), (high, coin)):
            if share > 0:
                below = masses.get(at, zero)
                masses[at] = below[0] + share * p, below[1] + share * q
    return masses


def gathered(
    indices: NDArray[np.int64], p: Sequence[arb], q: Sequence[arb], width: int
) -> list[tuple[int, arb, arb]]:
    """Masses moved to the two ends of runs no wider than this; each keeps its sum and its mean.

    So no convex function's integral falls.
    """
    knots, start = list[tuple[int, arb, arb]](), 0
    while start < len(indices):
        end = int(np.searchsorted(indices, int(indices[start]) + min(width, _WIDEST), side="right"))
        low, high = int(indices[start]), int(indices[end - 1])
        length = max(high - low, 1)
        for at, other in ((low, high), (high, low))[: 1 + (high > low)]:
            shares = [abs(other - int(k)) if high > low else 1 for k in indices[start:end]]
            p_mass, q_mass = (
                sum((n * mass for n, mass in zip(shares, some[start:end], strict=True)), arb(0))
                for some in (p, q)
            )
            knots.append((at, p_mass / length, q_mass / length))
        start = end
    return knots


def log_about(ball: arb) -> float:
    """The logarithm of the ball's middle, in floats; minus infinity of what may be 0."""
    return float(ball.mid().log()) if ball.mid() > 0 else -math.inf
