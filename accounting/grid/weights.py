"""Masses on a lattice as integers that are rounded one way, and their convolution.

*Tilted.* The mass at the point k h is n_k 2^-bits e^(scale - tilt k h), n_k an integer: far out,
where a tiny delta is decided, it has as many digits as in the middle. Products of polynomials in
integers are exact; each is shifted right by `bits`, rounding up or down as all weights are.

*What is cut off.* Rounding down, it is dropped. Rounding up, its tilted mass is kept as `rest`, its
place forgotten: of masses at points from l h on, that weighs at most rest 2^-bits e^(scale - tilt
l h), and so it does if these are moved to points below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from attrs import evolve, frozen
from flint import arb, fmpz, fmpz_poly

from ...exact.number import ball
from ...exact.precision import floor_of

_Mass = TypeVar("_Mass", arb, fmpz)
_Sum = TypeVar("_Sum")

_LONGEST = 1 << 20  # points


@frozen(eq=False)
class Weights:
    """n_k for k = first, first + 1, ..., and the rest in the same unit. up: all are rounded up."""

    up: bool
    bits: int
    step: Fraction
    tilt: Fraction
    scale: Fraction
    first: int
    masses: fmpz_poly
    rest: int = 0

    @staticmethod
    def of(
        masses: Mapping[int, arb], up: bool, bits: int, step: Fraction, tilt: Fraction, most: int
    ) -> Weights:
        """From masses by their points, at the working precision; the scale makes them about 1.

        most: what the points at either end that are cut off may weigh together, about.
        """
        unit, decay = arb(2) ** bits, ball(tilt * step)
        tilted = [(k, masses[k] * (decay * k).exp()) for k in sorted(masses)]
        total = sum((mass for _, mass in tilted), arb(0)).upper()
        scale = Fraction(float(total.log().mid())) if total > 0 else Fraction(0)
        unit *= (-ball(scale)).exp()
        tilted = [(k, mass * unit) for k, mass in tilted]
        low, left = _cut((mass for _, mass in tilted), most)
        high, right = _cut((mass for _, mass in reversed(tilted[low:])), most)
        kept = tilted[low : len(tilted) - high]
        rest = _whole(arb(left + right), up) * up
        if not kept:
            return Weights(up, bits, step, tilt, scale, 0, fmpz_poly(), rest)
        first, last = kept[0][0], kept[-1][0]
        if last - first > _LONGEST:
            raise ArithmeticError(f"a step so fine needs more than {_LONGEST} points")
        dense = [0] * (last + 1 - first)
        for k, mass in kept:
            dense[k - first] = _whole(mass, up)
        return Weights(up, bits, step, tilt, scale, first, fmpz_poly(dense), rest)

    def __len__(self) -> int:
        return int(self.masses.length())

    @property
    def total(self) -> int:
        """The sum of all n_k."""
        return int(self.masses(fmpz(1)))

    def times(self, other: Weights) -> Weights:
        """Of the sum of two independent losses, on the same lattice."""
        rest = self.rest * (other.total + other.rest) + self.total * other.rest
        return evolve(
            self,
            scale=self.scale + other.scale,
            first=self.first + other.first,
            masses=self._shifted(self.masses * other.masses),
            rest=-(-rest >> self.bits),
        )

    def power(self, count: int, most: int) -> Weights:
        """Of the sum of so many of these, each of which may lose so much at either end."""

        def plus(one: tuple[Weights, int], other: tuple[Weights, int]) -> tuple[Weights, int]:
            uses = one[1] + other[1]
            return one[0].times(other[0]).cut(most * uses), uses

        return power((self, 1), count, plus)[0]

    def cut(self, most: int) -> Weights:
        """Without the points at either end that weigh at most so much."""
        size, masses = len(self), self.masses
        low, left = _cut((masses[k] for k in range(size)), most)
        high, right = _cut((masses[k] for k in range(size - 1, low - 1, -1)), most)
        end, lost = size - high, left + right
        kept = self.masses.truncate(end).right_shift(low)
        return evolve(
            self, first=self.first + low, masses=kept, rest=self.rest + int(lost) * self.up
        )

    def coarsened(self, shares: Sequence[arb]) -> Weights:
        """On every second point; one between two gives these shares to the one below and above.

        Of masses that are not tilted.
        """
        assert self.tilt == 0
        odd, coeffs = self.first % 2, self.masses.coeffs()
        between = fmpz_poly(coeffs[1 - odd :: 2])
        below, above = (fmpz(_whole(share * arb(2) ** self.bits, self.up)) for share in shares)
        moved = self._shifted(between * below + between.left_shift(1) * above)
        masses = fmpz_poly(coeffs[odd::2]).left_shift(odd) + moved
        return evolve(self, step=2 * self.step, first=self.first // 2, masses=masses)

    def untilted(self, mass: int, level: arb) -> arb:
        """So many units of tilted mass at this level."""
        return mass * (ball(self.scale) - ball(self.tilt) * level).exp() / (1 << self.bits)

    @property
    def log_unit(self) -> float:
        """log(2^-bits e^scale), in floats."""
        return float(self.scale) - self.bits * math.log(2)

    def _shifted(self, masses: fmpz_poly) -> fmpz_poly:
        unit = fmpz(1 << self.bits)
        return -(-masses // unit) if self.up else masses // unit


def power(one: _Sum, count: int, plus: Callable[[_Sum, _Sum], _Sum]) -> _Sum:
    """One added to itself until it stands there so many times, by doubling."""
    square, found = one, None
    while True:
        if count & 1:
            found = square if found is None else plus(square, found)
        count >>= 1
        if not count:
            assert found is not None
            return found
        square = plus(square, square)


def _cut(masses: Iterable[_Mass], most: int) -> tuple[int, _Mass | int]:
    """How many of the first of these weigh at most so much together, and what they weigh."""
    total: _Mass | int = 0
    count = 0
    for mass in masses:
        more = total + mass
        if not more <= most:
            break
        total, count = more, count + 1
    return count, total


def _whole(value: arb, up: bool) -> int:
    """An integer that is not below the ball, or not above it; never negative."""
    if up:
        return max(-floor_of((-value).lower()), 0)
    return max(floor_of(value.lower()), 0)
