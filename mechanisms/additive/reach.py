"""Integer vectors that neighbours may move a query by: bounds on their norms, and extremes.

A user's part of the query changes it by an integer vector v with |v|_2 <= l2, |v|_1 <= l1, |v|_inf
<= linf, in so many dimensions; what is not given does not bind. Everything here is in integers.

*Real vectors* are rounded to integer ones before the noise (`RoundedReach`). Neighbours differ by
one user, whose vector y, |y|_2 <= norm, is rounded to an integer vector R (`coordinate_rounding`);
all other users' vectors are rounded without regard to it. With N for the noise, the pair is (law of
R + N, law of N) in either order, sampled or not.

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
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from attrs import field, frozen

from ...exact.number import ExactInput, ParameterError, exact, whole
from ...exact.roots import first_met
from ..fields.schema import key
from .coordinate_rounding import Nearest, Rounding, read_rounding

_MOST_DIMENSIONS = 10**15
_LARGEST, _LARGEST_REAL = 10**9, 1 << 46

Direction: TypeAlias = Mapping[int, int]  # how many coordinates are moved by how much


def _norm(value: ExactInput | None, name: str) -> Fraction | None:
    if value is None:
        return None
    return exact(value, name, at_least=1, at_most=_LARGEST)


def _l2(value: ExactInput | None) -> Fraction | None:
    """A number, 1 to 1e9."""
    return _norm(value, "l2")


def _l1(value: ExactInput | None) -> Fraction | None:
    """A number, 1 to 1e9."""
    return _norm(value, "l1")


def _linf(value: ExactInput | None) -> Fraction | None:
    """A number, 1 to 1e9."""
    return _norm(value, "linf")


def _dimension(value: ExactInput | None) -> int | None:
    """A whole number, 1 to 1e15."""
    if value is None:
        return None
    return whole(value, "dimension", at_least=1, at_most=_MOST_DIMENSIONS)


@frozen
class Reach:
    """All integer vectors within these norms. l2, l1, linf: at least 1; None where not bounded.

    Raises ParameterError where the vectors are not bounded at all.

    >>> Reach(l2=4).largest_sum
    16
    """

    l2: Fraction | None = field(
        converter=_l2,
        default=None,
        metadata=key("the query is an integer vector, moved by this Euclidean norm at most"),
    )
    l1: Fraction | None = field(
        converter=_l1,
        default=None,
        metadata=key("a vector: moved by this at most in the sum of all coordinates"),
    )
    linf: Fraction | None = field(
        converter=_linf,
        default=None,
        metadata=key("a vector: moved by this at most in every coordinate"),
    )
    dimension: int | None = field(converter=_dimension, default=None, metadata=key("of the vector"))

    def __attrs_post_init__(self) -> None:
        if self.l2 is None and self.l1 is None and (self.linf is None or self.dimension is None):
            raise ParameterError("a vector needs l2, l1, or linf with its dimension")

    @staticmethod
    def of_square(square: int, linf: ExactInput | None, dimension: ExactInput | None) -> Reach:
        """All vectors with |v|_2^2 <= square, at least 1, and within these.

        l2 is rational: r 2^-k with r = floor(sqrt(square) 2^k) + 1 is above the root by 2^-k at
        most, so that its square is below square + 1 where 2^k > 2 sqrt(square) + 1.

        >>> Reach.of_square(5, None, 2).largest_square
        5
        """
        k = square.bit_length() // 2 + 3
        return Reach(Fraction(math.isqrt(square << (2 * k)) + 1, 1 << k), None, linf, dimension)

    @property
    def is_random(self) -> bool:
        """Is what the query moves by drawn at random? (`RoundedReach`)"""
        return False

    @property
    def farthest(self) -> int:
        """The largest |v|_inf: all in one coordinate."""
        bounds = [self.l1, self.linf, None if self.l2 is None else math.isqrt(self._square)]
        return min(math.floor(bound) for bound in bounds if bound is not None)

    @property
    def largest_square(self) -> int:
        """What |v|_2^2 is at most.

        Given |v|_1 and |v|_inf it is largest with as much as possible in as few coordinates.
        """
        far, most = self.farthest, self.most_coordinates
        full = min(most, self._sum // far)
        rest = min(far, self._sum - full * far) if full < most else 0
        found = full * far**2 + rest**2
        return found if self.l2 is None else min(found, self._square)

    @property
    def largest_sum(self) -> int:
        """The largest |v|_1: given |v|_2 that of a vector whose coordinates are most alike."""
        return sum(move * count for move, count in self._spread().items())

    def directions(self) -> list[Direction]:
        """Vectors within reach that may cost most: with the largest coordinate, and most alike."""
        found: list[Direction] = []
        for one in (self._steepest(), self._spread(), self._of(1)):
            if one not in found:
                found.append(one)
        return found

    def alone(self) -> Direction:
        """The farthest with one coordinate."""
        return {self.farthest: 1}

    def dearest(self) -> Direction | None:
        """A vector that no other within reach costs more than; None where none is known to be.

        For symmetric noise, with nothing but the noise at random. Where no coordinate moves by
        more than 1: of as many +-1 as can be. A reflection of a coordinate changes nothing, and
        whoever leaves out coordinates of it has any other vector.
        """
        return self._of(1) if self.farthest == 1 else None

    @property
    def _square(self) -> int:
        """floor(l2^2)."""
        assert self.l2 is not None
        return math.floor(self.l2**2)

    @property
    def most_coordinates(self) -> int:
        """How many can be other than 0."""
        bounds = [self.dimension, self.l1, None if self.l2 is None else self._square]
        return min(math.floor(bound) for bound in bounds if bound is not None)

    @property
    def _sum(self) -> int:
        """What |v|_1 is at most, by l1 and by linf in all coordinates."""
        within = self.most_coordinates * self.farthest
        return within if self.l1 is None else min(within, math.floor(self.l1))

    def _of(self, move: int) -> Direction:
        """As many coordinates as possible moved by this."""
        counts = [self.most_coordinates, self._sum // move]
        if self.l2 is not None:
            counts.append(self._square // move**2)
        return {move: min(counts)}

    def _steepest(self) -> Direction:
        """The largest coordinate first, as often as it fits, then what is left over.

        What is left of |v|_2^2 by a move of its root is below twice that root: some ten turns.
        """
        square = self._square if self.l2 is not None else self._sum**2
        total, coordinates, moves = self._sum, self.most_coordinates, Counter[int]()
        while coordinates and (move := min(math.isqrt(square), total, self.farthest)):
            count = min(coordinates, total // move, square // move**2)
            moves[move] += count
            coordinates, square, total = (
                coordinates - count,
                square - count * move**2,
                total - count * move,
            )
        return dict(moves)

    def _spread(self) -> Direction:
        """Of all vectors of the largest |v|_1 one whose coordinates differ by at most 1.

        For that sum no other vector has less |v|_2, so that it is within reach if any is.
        """
        count = self.most_coordinates
        # sums that are within reach are all those up to the largest
        beyond = first_met(lambda total: not self._is_near(total, count), 0, self._sum + 1)
        each, more = divmod(beyond - 1, count)
        return {m: k for m, k in ((each + 1, more), (each, count - more)) if m and k}

    def _is_near(self, total: int, count: int) -> bool:
        each, more = divmod(total, count)
        square = count * each**2 + more * (2 * each + 1)
        return self.l2 is None or square <= self._square


def _real_norm(value: ExactInput) -> Fraction:
    return exact(value, "l2", above=0, at_most=_LARGEST_REAL)


def _size(value: ExactInput) -> int:
    return whole(value, "dimension", at_least=1, at_most=_MOST_DIMENSIONS)


@frozen(slots=False)
class RoundedReach:
    """What real vectors of so many coordinates and at most this L2 norm are rounded to.

    norm: before rounding. Raises ParameterError where all of them are rounded to 0, and where
    some are too long.

    >>> RoundedReach(4, 100, "stochastic").largest_square, RoundedReach(4, 100, "nearest").farthest
    (196, 4)
    """

    norm: Fraction = field(converter=_real_norm)
    dimension: int = field(converter=_size)
    rounding: Rounding = field(converter=read_rounding)

    def __attrs_post_init__(self) -> None:
        square = self.rounding.squared_bound(self.norm, self.dimension)
        if not square:
            raise ParameterError(
                f"l2 must be large enough that not every vector is rounded to 0, got {self.norm}"
            )
        if square >= _LARGEST**2:
            raise ParameterError(
                f"l2 (clip times scale) must be below {_LARGEST} after rounding, got "
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
