"""Real vectors, rounded to integer ones before the noise: what that moves a query by.

Neighbours differ by one user, whose real vector y, |y|_2 <= norm, is rounded to an integer vector R
(`protocols.federated.rounding`); all other users' vectors are rounded without regard to it. With N
for the noise, the pair is (law of R + N, law of N) in either order, sampled or not.

*From above.* Let P_b be the law of b + N, Q that of N. The law of R + N is the mixture of the P_b
with the weights w_b = P(R = b), and every such b is within `moved`. The hockey-stick divergence H_g
is jointly convex for every g >= 0 (a supremum over events S of P(S) - g Q(S), linear in the pair),
and so is exp((a-1) D_a): with Q as the mixture of itself,

    H_g(sum w_b P_b, Q) <= sum w_b H_g(P_b, Q) <= max H_g(P_b, Q),

and the same the other way round. Sampled, (1-q) Q + q sum w_b P_b = sum w_b ((1-q) Q + q P_b), so
it holds for the sampled pairs too. Hence whatever dominates (P_b, Q) for every integer vector b
within `moved`, in all H_g, dominates the rounded vector's pair, and dominating pairs compose.
Others' rounding is the same on both sides: convexity again, given what it was.

*From below.* An integer vector is rounded to itself, in all three ways. `Nearest` takes b - 1/2 to
b. A unit vector times c < 1 is rounded at random to that unit vector with probability c, else to 0
(as long as a vector of norm 1 may be sent at all): one coordinate, sampled.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

from attrs import field, frozen

from ...exact.number import ExactInput, ParameterError, exact, whole
from .coordinate_rounding import Nearest, Rounding, read_rounding
from .reach import LARGEST, Direction, Reach

_LARGEST, _MOST_DIMENSIONS = 1 << 46, 10**15


def _norm(value: ExactInput) -> Fraction:
    return exact(value, "l2", above=0, at_most=_LARGEST)


def _dimension(value: ExactInput) -> int:
    return whole(value, "dimension", at_least=1, at_most=_MOST_DIMENSIONS)


@frozen(slots=False)
class RoundedReach:
    """What real vectors of so many coordinates and at most this L2 norm are rounded to.

    norm: before rounding. Raises ParameterError where all of them are rounded to 0, and where
    some are too long.

    >>> RoundedReach(4, 100, "stochastic").largest_square, RoundedReach(4, 100, "nearest").farthest
    (196, 4)
    """

    norm: Fraction = field(converter=_norm)
    dimension: int = field(converter=_dimension)
    rounding: Rounding = field(converter=read_rounding)

    def __attrs_post_init__(self) -> None:
        square = self.rounding.squared_bound(self.norm, self.dimension)
        if not square:
            raise ParameterError(
                f"l2 must be large enough that not every vector is rounded to 0, got {self.norm}"
            )
        if square >= LARGEST**2:
            raise ParameterError(
                f"l2 (clip times scale) must be below {LARGEST} after rounding, got "
                f"{float(self.norm):.6g} in {self.dimension} dimensions"
            )

    def parts(self) -> dict[str, object]:
        """What certificates say of it (see `schema`)."""
        rounding, _, beta = self.rounding.text.partition(":")
        size = {"rounding": rounding, "beta": beta or None, "dimension": self.dimension}
        return {"l2": self.norm, **size}

    @cached_property
    def moved(self) -> Reach:
        """Every vector that may be sent is within. |R_i - y_i| < 1, so |R_i| <= ceil(norm)."""
        return Reach.of_square(
            self.rounding.squared_bound(self.norm, self.dimension),
            math.ceil(self.norm),
            self.dimension,
        )

    @property
    def is_random(self) -> bool:
        """Is the pair that of a mixture, which differs from the swapped one?"""
        return self.rounding.is_random

    @property
    def farthest(self) -> int:
        """What |R|_inf is at most."""
        return self.moved.farthest

    @property
    def largest_square(self) -> int:
        """What |R|_2^2 is at most."""
        return self.moved.largest_square

    @property
    def largest_sum(self) -> int:
        """What |R|_1 is at most."""
        return self.moved.largest_sum

    def directions(self) -> list[Direction]:
        """Integer vectors that some y is rounded to for certain; {} where only 0 is known to be."""
        found: list[Direction] = []
        if isinstance(self.rounding, Nearest):  # halves up, each coordinate of norm 1/2
            found.append({1: min(self.dimension, math.floor(4 * self.norm**2))})
        if self.norm >= 1:
            kept = Reach(self.norm, dimension=self.dimension).directions()
            found += [one for one in kept if one not in found]
        return found or [{}]

    def alone(self) -> Direction:
        """The farthest of these with one coordinate."""
        far = math.floor(self.norm + (Fraction(1, 2) if not self.is_random else 0))
        return {far: 1} if far else {}

    def dearest(self) -> None:
        """No vector that is rounded is known to be the dearest."""
        return None

    @property
    def chance(self) -> Fraction:
        """With which probability some y is rounded to a unit vector, or else to 0."""
        return min(self.norm, Fraction(1))
