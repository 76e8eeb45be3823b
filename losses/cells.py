"""A privacy loss L = log dP/dQ of one ordered pair, moved to the points of a lattice by coins.

**The coin.** Let an outcome's loss be at most b, and let W be b with probability c, else a < b,
with 1 >= c >= (1 - e^(a - L))/(1 - e^(a - b)), c >= 0. Then for every t, every level, and any
number of independent uses whose losses are treated so,

    P(sum W >= t) - e^level Q(sum W >= t) <= delta(level) <= E_P (1 - e^(level - sum W))^+.

*Proof.* Left: {sum W >= t} is a randomised test, and delta(level) the largest P - e^level Q of any.
Right: f(x) = (1 - e^(level - x))^+ rises in x and is convex in y = e^(-x). If L >= a, f(L) lies
below the chord from a to b, affine in y: f(L) <= (1 - c') f(a) + c' f(b) with (1 - c') e^(-a) + c'
e^(-b) = e^(-L), which is c' = (1 - e^(a - L))/(1 - e^(a - b)); a larger share of b only raises it.
If L < a, f(L) <= f(a). Several uses: replace one loss after the other, since for fixed others f(x +
others) rises in x and is convex in e^(-x) too. Infinite losses belong to every event; an outcome
that is left out to none, and above its loss counts as infinite. #

A coin is a definite number, rounded up, so that all later errors are two-sided and add up. Coins on
top of W (`Weights.coarsened`) are of the same kind, with W in place of L.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.precision import floor_of

Pair: TypeAlias = tuple[arb, arb]  # masses under P and under Q
Reals: TypeAlias = NDArray[np.float64]


class ListedLoss(Protocol):
    """A loss outcome by outcome; balls are at the working precision."""

    @property
    def masses(self) -> Sequence[arb]:
        """P of each outcome; what may be 0 counts as left out."""
        ...

    @property
    def losses(self) -> Sequence[arb]:
        """log P/Q of each."""
        ...

    def escaping(self) -> arb:
        """P of an infinite loss, whose outcomes Q does not have."""
        ...

    def missing(self) -> arb:
        """P of all that is left out, at most."""
        ...

    def sketch(self) -> tuple[Reals, Reals]:
        """Losses, and logarithms of masses, in floats: to choose by."""
        ...


class OnLattice(NamedTuple):
    """Masses of W at the points k h, by k; P-mass that is left out besides, at most."""

    masses: dict[int, Pair]
    lost: arb


def on_lattice(loss: ListedLoss, step: arb) -> OnLattice:
    """W of one use, for the lattice of this step, an exact number above 0."""
    masses, lost, span = dict[int, Pair](), loss.missing(), -(-step).expm1()
    zero = arb(0), arb(0)
    for p, here in zip(loss.masses, loss.losses, strict=True):
        if not p > 0:
            lost += p.upper()
            continue
        index = floor_of((here.upper() / step).upper())  # L <= (place + 1) h
        coin = (-(step * index - here).expm1() / span).upper().max(arb(0)).min(arb(1)).upper()
        q = p * (-here).exp()
        for at, share in ((index, 1 - coin), (index + 1, coin)):
            below = masses.get(at, zero)
            masses[at] = below[0] + share * p, below[1] + share * q
    return OnLattice(masses, lost)


def gathered(
    indices: NDArray[np.int64], p: Sequence[arb], q: Sequence[arb], width: int
) -> list[tuple[int, arb, arb]]:
    """Masses moved to the two ends of runs no wider than this; each keeps its sum and its mean.

    So no convex function's integral falls.
    """
    knots, start = list[tuple[int, arb, arb]](), 0
    while start < len(indices):
        end = int(np.searchsorted(indices, indices[start] + width, side="right"))
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
