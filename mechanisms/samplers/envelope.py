"""Any unimodal law on the integers, exactly: points thrown under a histogram that lies above it.

Let r(x) > 0 be the mass at x over that at the mode, known by enclosures, not rising to the right of
the mode and not falling to the left of it. With one unit = 2^-B, each x gets the height h(x), a
whole number of units, r(x) <= h(x) 2^-B. A uniform point under the histogram of the heights has an
x with mass proportional to h(x), and a uniform height y in [0, h(x)) units: kept where y < r(x)
2^B, x has mass proportional to r(x) (von Neumann 1951). The integer part of y comes with the point;
its other binary digits are revealed only where that does not decide.

Steps: on [a, b) right of the mode h(x) is r(a) rounded up, and r(b) rounded down lies below all of
it, so that most points are kept after one comparison of integers (the idea of Marsaglia and
Tsang's ziggurat, 2000). Beyond the last step, r(a + j) <= r(a) e^(-j/s) for a rational s: there x
comes from a geometric variable, and is kept with probability r(a + j)/(c e^(-j/s)), c >= r(a).

Where the steps end makes it fast or slow, and never wrong.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate

from attrs import evolve, frozen
from flint import arb, ctx

from ...exact.enclosure import UndecidedError
from ...exact.number import ball
from ...exact.precision import CAP, START, working_precision
from .bits import RandomBits
from .coins import Uniform, below, enclosed
from .geometric import geometric_exp

_UNITS = 64  # B
_NEGLIGIBLE = 20  # bits: steps end where r is this much smaller than at the mode
_MOST_STEPS = 2000  # on each side
_COARSE = 1 << 15  # a tail's scale is rounded up to at least so many units


@frozen
class Step:
    """low, low + 1, ... with this height; `floor` units are certainly below r(x) 2^B."""

    low: int
    height: int
    floor: int
    weight: int


@frozen
class Tail:
    """start, start + side, start + 2 side, ...: r falls at least as fast as e^(-j/scale)."""

    start: int
    side: int
    scale: Fraction
    weight: int


@frozen
class Envelope:
    """The histogram; `ratio` encloses r(x) at the working precision."""

    ratio: Callable[[int], arb]
    units: int
    pieces: tuple[Step | Tail, ...]
    ends: tuple[int, ...]  # of the pieces, laid out one after the other

    def draw(self, bits: RandomBits) -> int:
        """One draw of the law."""
        ends, total = self.ends, self.ends[-1]
        while True:
            place = below(total, bits)
            index = bisect_right(ends, place)
            piece = self.pieces[index]
            if isinstance(piece, Tail):
                x = self._beyond(piece, bits)
                if x is not None:
                    return x
                continue
            steps, y = divmod(place - ends[index] + piece.weight, piece.height)
            x = piece.low + steps
            if y < piece.floor or Uniform(y, self.units).is_below(partial(self.ratio, x), bits):
                return x

    def difference(self, bits: RandomBits) -> int:
        """One draw less another."""
        return self.draw(bits) - self.draw(bits)

    def _beyond(self, tail: Tail, bits: RandomBits) -> int | None:
        s = tail.scale
        j = geometric_exp(s.numerator, s.denominator, bits)
        x = tail.start + tail.side * j

        def chance() -> arb:
            # the mass of j under this piece is weight (1 - e^(-1/s)) e^(-j/s) units
            above = tail.weight * -(-1 / ball(s)).expm1() * (-j / ball(s)).exp()
            return self.ratio(x) * arb(2) ** self.units / above

        return x if Uniform(bits.take(_UNITS), _UNITS).is_below(chance, bits) else None


def envelope(
    mass: Callable[[int], arb],
    mode: int,
    spread: int,
    support: tuple[int | None, int | None],
    *,
    tail_scale: Callable[[], arb] | None = None,
    extra: int = 0,
) -> Envelope:
    """The histogram above r.

    mass: encloses what r(x) is proportional to, at the working precision, 0 outside the support.
    mode: the largest mass is at mode - 1, mode or mode + 1: each of them has a height of its own.
    spread: about a standard deviation; it only matters for speed.
    tail_scale: encloses an s with r(x + 1) <= r(x) e^(-1/s) for all x > mode + 1, for laws with a
    peak at the left end of their support; without it r is log-concave, and then ratios of
    neighbours fall away from the mode: the last one that was computed bounds all later ones.
    extra: more binary digits of the heights, where r falls at once to less than 2^-20.
    """
    low, high = support
    units = _UNITS + extra

    @lru_cache(maxsize=8)
    def peak(bits: int) -> arb:
        return mass(mode)

    def ratio(x: int) -> arb:
        return arb(1) if x == mode else mass(x) / peak(ctx.prec)

    def height(x: int) -> tuple[int, int]:
        return enclosed(lambda: ratio(x), units)

    pieces: list[Step | Tail] = []
    for x in range(mode - 1, mode + 2):
        if (low is None or x >= low) and (high is None or x <= high):
            below_it, above_it = height(x)
            pieces.append(Step(x, above_it, below_it, above_it))
    for side, end in ((1, high), (-1, low)):
        last = None if end is None else side * (end - mode)
        steps, start = _steps(height, mode, side, last, spread, units, tail_scale is not None)
        pieces += steps
        if start is not None:
            pieces.append(_tail(ratio, start, side, tail_scale, units))
    pieces = [piece for piece in pieces if piece.weight]
    ends = tuple(accumulate(piece.weight for piece in pieces))
    return Envelope(ratio, units, tuple(pieces), ends)


def _steps(
    height: Callable[[int], tuple[int, int]],
    mode: int,
    side: int,
    last: int | None,
    spread: int,
    units: int,
    peaked: bool,
) -> tuple[list[Step], int | None]:
    """The steps from mode + 2 side on, and where the tail starts (None: it has none)."""
    found: list[Step] = []
    offset, floor = 2, 0
    while last is None or offset <= last:
        start = mode + side * offset
        floor, above = height(start)
        if found:
            # r does not rise away from the mode: what it is here lies below the step before
            found[-1] = evolve(found[-1], floor=floor)
        small = above >> (units - _NEGLIGIBLE) == 0 and offset > 4 * spread
        if (small or len(found) >= _MOST_STEPS) and offset != last:
            return found, start
        size = max(1, min(spread, offset) // 8 if peaked else spread // 8)
        size = size if last is None else min(size, last - offset + 1)
        low = start if side > 0 else start - size + 1
        found.append(Step(low, above, 0, above * size))
        offset += size
    if found:
        found[-1] = evolve(found[-1], floor=height(mode + side * (offset - 1))[0])
    return found, None


def _tail(
    ratio: Callable[[int], arb],
    start: int,
    side: int,
    tail_scale: Callable[[], arb] | None,
    units: int,
) -> Tail:
    """The tail from `start` on, whose scale and weight are certainly large enough."""
    bits = START
    while bits <= CAP:
        with working_precision(bits):
            if tail_scale is None:
                least = -1 / (ratio(start + side) / ratio(start)).log()
            else:
                least = tail_scale()
        if least.is_finite() and least > 0:
            places = 0
            while (above := enclosed(lambda: least, places)[1]) < _COARSE:  # noqa: B023
                places += 16
            scale = Fraction(above, 1 << places)
            mass = partial(_geometric_mass, ratio, start, scale)
            return Tail(start, side, scale, enclosed(mass, units)[1])
        bits *= 2
    raise UndecidedError(f"how fast the distribution falls beyond {start} is not certain")


def _geometric_mass(ratio: Callable[[int], arb], start: int, scale: Fraction) -> arb:
    """r(start) times the sum of e^(-j/scale) over j >= 0."""
    return ratio(start) / -(-1 / ball(scale)).expm1()
