"""Many exact draws of one law at once: inversion of its certified distribution function.

Let U be uniform on [0, 1) and F(x) = P(X <= x). The least x with U < F(x) has exactly the law of X,
since P(F(x - 1) <= U < F(x)) = p(x). U is known by its first s = 63 binary digits, u 2^-s <= U <
(u + 1) 2^-s, and F(x) by integers low(x) <= F(x) 2^s <= high(x). Both hold for certain:

    u < low(x)    implies u + 1 <= low(x), hence U < F(x),
    u >= high(x)  implies F(x) <= U.

So where high(x - 1) <= u < low(x) the draw is x, whatever the other digits of U are: one search in
a sorted table, for all draws together. The few other u (about 2^-63 for each x of the table) keep
their digits, and more are drawn, and F is enclosed more narrowly, until it is certain: no digit is
thrown away, so that every draw is x with probability p(x) and nothing else. The table ends where
what is beyond has probability below 2^-s; there draws go on in the same way, outcome by outcome.

A table that is too long, or digits that are few, make it slow, and never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from attrs import field, frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, whole
from ...exact.precision import working_precision
from ..samplers.bits import RandomBits
from ..samplers.coins import Uniform, enclosed
from .law import Law

_DIGITS = 63  # of U, drawn at once: their bounds fit into 64 bits, 2^63 as well
_GUARD = 64  # bits with which the table is computed, beyond these
_CHUNK = 1 << 16  # draws made together: what they need stays in the processor's cache
_LONGEST = 1 << 20  # outcomes of a table; wider laws are drawn one by one

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]


def draw_array(law: Law, bits: RandomBits, size: ExactInput) -> Integers:
    """`size` independent exact draws of this law, as an array.

    bits: `SystemBits()` for a release, `SeededBits(seed)` for tests and simulation: an array has
    no mark, so whoever keeps it must remember which. A law whose table would be too long is drawn
    one by one, by its own sampler. Raises ParameterError for a law that has none, and for outcomes
    that do not fit into 64 bits.

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.mechanisms.samplers import SeededBits
    >>> noise = draw_array(Skellam(variance=100), SeededBits(1), 1000)
    >>> len(noise), int(abs(noise).max()) < 100
    (1000, True)
    """
    count = whole(size, "size", at_least=0)
    table = inversion(law)
    if table is not None:
        return table.draw(bits, count)
    one = law.sampler()
    drawn = [one(bits) for _ in range(count)]
    if drawn and not -(2**63) <= min(drawn) <= max(drawn) < 2**63:
        raise ParameterError("noise is too wide for arrays of 64-bit integers")
    return np.array(drawn, dtype=np.int64)


def uniform_words(count: int, width: int, bits: RandomBits) -> Words:
    """`count` independent uniform integers below 2^width, 0 <= width <= 64."""
    if width == 0:
        return np.zeros(count, dtype=np.uint64)
    size = 4 if width <= 32 else 8  # octets drawn for each
    octets = bits.take(8 * size * count).to_bytes(size * count, "little")
    words = np.frombuffer(octets, dtype=f"<u{size}").astype(np.uint64)
    return words >> np.uint64(8 * size - width)


@frozen
class Inversion:
    """The table: low[i] <= F(first + i) 2^digits and F(first + i - 1) 2^digits <= before[i].

    `cdf` encloses F at the working precision.
    """

    cdf: Callable[[int], arb]
    first: int
    low: Words = field(repr=False)
    before: Words = field(repr=False)  # one longer than `low`
    digits: int = _DIGITS

    def draw(self, bits: RandomBits, size: int) -> Integers:
        """`size` independent draws."""
        found = np.empty(size, dtype=np.int64)
        for start in range(0, size, _CHUNK):
            stop = min(start + _CHUNK, size)
            found[start:stop] = self._some(uniform_words(stop - start, self.digits, bits), bits)
        return found

    def _some(self, u: Words, bits: RandomBits) -> Integers:
        place = np.searchsorted(self.low, u, side="right")  # the first with u < low
        found = place + self.first
        for index in np.flatnonzero((u < self.before[place]) | (place == len(self.low))):
            known = Uniform(int(u[index]), self.digits)
            found[index] = self._resolved(int(found[index]), known, bits)
        return found

    def _resolved(self, x: int, uniform: Uniform, bits: RandomBits) -> int:
        """The x with F(x - 1) <= U < F(x), from a guess on."""
        while uniform.is_below(partial(self.cdf, x - 1), bits):
            x -= 1
        while not uniform.is_below(partial(self.cdf, x), bits):
            x += 1
        return x


@lru_cache(maxsize=8)
def inversion(law: Law, digits: int = _DIGITS) -> Inversion | None:
    """The table of this law, made once; None where it would be too long."""
    with working_precision(digits + _GUARD):
        mean, variance = (Fraction(moment.upper) for moment in law.moments())
        if not variance < _LONGEST**2:
            return None
        step = 2 * math.isqrt(math.ceil(variance)) + 4
        if not step < _LONGEST:
            return None
        least = arb(2) ** -digits
        centre, (start, end) = math.floor(mean), law.support
        first, last = centre - 4 * step, centre + 4 * step
        while (start is None or first > start) and not law.lower_tail(first) < least:
            first -= step
            if centre - first > _LONGEST:
                return None
        while (end is None or last < end) and not law.upper_tail(last + 1) < least:
            last += step
            if last - centre > _LONGEST:
                return None
        first = first if start is None else max(first, start)
        last = last if end is None else min(last, end)
        sums = [law.lower_tail(first)]
        for mass in law.balls(first + 1, last):
            sums.append(sums[-1] + mass)
    ends = [enclosed(partial(arb, value), digits) for value in sums]
    # F does not fall: a lower bound of an earlier value is one of this, an upper one of a later
    low = np.maximum.accumulate(np.array([max(each, 0) for each, _ in ends], dtype=np.uint64))
    high = np.array([min(each, 1 << digits) for _, each in ends], dtype=np.uint64)
    high = np.minimum.accumulate(high[::-1])[::-1]
    left = np.uint64(0) if first == start else high[0]  # what F(first - 1) is at most
    return Inversion(law.lower_tail, first, low, np.concatenate(([left], high)), digits)
