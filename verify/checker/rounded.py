"""Real vectors, rounded to integer ones before the noise: how long those may be, and what is meant.

Neighbours differ by one user, whose real vector y, |y| <= c in d coordinates, is rounded to R:

    stochastic    each coordinate up or down to a neighbouring integer, independently, no bias
    conditional   the same, repeated until |R|^2 <= B: the bound that Hoeffding's inequality shows a
                  first try to miss with probability beta at most
    nearest       each coordinate to the nearest integer, halves up

*How long R is.* Up or down: |R - y| < sqrt(d), so that |R| < c + sqrt(d), and |R_i| <= ceil(c).
Nearest: |R - y| <= sqrt(d)/2; and R_i != 0 only where |y_i| >= 1/2, so that |R_i| <= 2 |y_i|:
|R| <= min(c + sqrt(d)/2, 2 c). B = c^2 + d/4 + sqrt(2 log(1/beta)) (c + sqrt(d)/2) for whatever
vector is sent by `conditional`, whether or not the probability is beta. |R|^2 is an integer.

*That is enough.* N is the noise, P_b the law of b + N, Q that of N. R + N has the law
sum w_b P_b, w_b = P(R = b), and Q = sum w_b Q; sampled, (1-q) Q + q sum w_b P_b is the mixture of
the (1-q) Q + q P_b. H_g(P, Q) = sup over events S of P(S) - g Q(S) is a supremum of linear
functions of (P, Q), so that of the mixtures it is at most the largest H_g of the (P_b, Q), g >= 0,
and the same of (Q, P). exp((a-1) D_a) is jointly convex as well. So what dominates (P_b, Q) for
every integer vector b as short as R dominates the rounded vector's pair. What all other users'
rounded vectors are is the same on both sides, so given.

*From below.* An integer vector is rounded to itself. To the nearest, b - 1/2 becomes b > 0. At
random, c e_1 for c < 1 becomes e_1 with probability c, else 0, whose norms are within B.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from mpmath import iv

from .arithmetic import floor, interval, log, precision, upper
from .reach import Reach, in_dimensions
from .shape import number_text

ROUNDINGS = ("stochastic", "conditional", "nearest")
_BITS = 400


@dataclass(frozen=True)
class Rounded:
    """What real vectors of so many dimensions, no longer than norm, are rounded to.

    beta: of conditional rounding, else None.
    """

    norm: Fraction
    dimension: int
    rounding: str
    beta: Fraction | None = None

    def described(self) -> str:
        """In words."""
        found = "up or down at random without bias"
        if self.beta is not None:
            found += ", repeated until the norm is within a bound that is missed "
            found += f"with probability at most {number_text(self.beta)}"
        elif not self.is_random:
            found = "to the nearest integer, halves up"
        return (
            f"integer vectors, a user's part of which is a real vector of at most "
            f"{number_text(self.norm)} in L2, {in_dimensions(self.dimension)}, each coordinate "
            f"rounded {found}: then of a squared L2 norm of at most {self.squared_bound:,}"
        )

    @property
    def is_random(self) -> bool:
        """Is what a vector is rounded to drawn, on the side of the user who is there?"""
        return self.rounding != "nearest"

    @cached_property
    def squared_bound(self) -> int:
        """What |R|_2^2 is at most."""
        c, d = self.norm, self.dimension
        if self.rounding == "nearest":
            return min(_floor(c**2 + Fraction(d, 4), c**2 * d), math.floor(4 * c**2))
        longest = _floor(c**2 + d, 4 * c**2 * d)
        return longest if self.beta is None else min(longest, self._likely(self.beta))

    @cached_property
    def within(self) -> Reach:
        """Every vector that is sent."""
        square = self.squared_bound
        k = square.bit_length() // 2 + 3  # root - 2^-k < sqrt(square) < root: root^2 < square + 1
        root = Fraction(math.isqrt(square << (2 * k)) + 1, 1 << k)
        return Reach(root, None, Fraction(math.ceil(self.norm)), self.dimension)

    @property
    def farthest(self) -> int:
        """max |R|_inf, at most."""
        return self.within.farthest

    @property
    def largest_square(self) -> int:
        """max |R|_2^2, at most."""
        return self.within.largest_square

    @property
    def largest_sum(self) -> int:
        """max |R|_1, at most."""
        return self.within.largest_sum

    def chance(self, counts: Mapping[int, int]) -> Fraction:
        """The probability of a vector of which so many coordinates are of this size, else of 0.

        For the y that is best for it; 0 where none is known here. Smaller coordinates have it too.
        """
        if not all(move > 0 and count > 0 for move, count in counts.items()):
            return Fraction(0)
        less = Fraction(0) if self.is_random else Fraction(1, 2)
        square = sum(count * (move - less) ** 2 for move, count in counts.items())
        if square <= self.norm**2 and sum(counts.values()) <= self.dimension:
            return Fraction(1)
        return self.norm if self.is_random and dict(counts) == {1: 1} else Fraction(0)

    def _likely(self, beta: Fraction) -> int:
        """floor(B)."""
        with precision(_BITS):
            c, d = interval(self.norm), interval(Fraction(self.dimension))
            spread = iv.sqrt(-2 * log(interval(beta))) * (c + iv.sqrt(d) / 2)
            return floor(upper(c**2 + d / 4 + spread), 0)


def _floor(number: Fraction, square: Fraction) -> int:
    """The largest integer that is at most number + sqrt(square), both at least 0."""
    n = number.denominator
    return (number.numerator + math.isqrt(math.floor(square * n**2))) // n
