"""What is spent, as exact rationals: nothing is lost to floats, and nothing is ever rounded down.

An amount is a Fraction, or None where no finite number bounds the cost.

*A cost* is taken exactly where its enclosure is a point (closed forms that are rational, 1/200 for
instance), so that limits which are met exactly are met: twenty times 1/200 is 1/10. Otherwise its
upper end is rounded up to a multiple of 2^-64. Either way it is at least the true cost.

*A sum* is exact until its denominator has more than 4096 bits, which takes hundreds of different
costs; then it too is rounded up to a multiple of 2^-64. So no sum is below the sum of the true
costs, its text stays short, and equal histories make equal sums.

*In the database* an amount is text, numerator/denominator in lowest terms: no type that SQLite and
PostgreSQL share holds such numbers exactly (SQLite's numbers end at 64 bits and then turn into
floats). Amounts are compared by Python's integers, while the ledger is locked.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import TypeAlias

from ..exact import Enclosure, Endpoint

Amount: TypeAlias = Fraction | None

UNIT = Fraction(1, 2**64)
ZERO = Fraction(0)
_BITS = 4096
_FARTHEST = 5000  # decimal exponents beyond it are not expanded
_INFINITE = "inf"
_MOST = Fraction(2 ** (_BITS - 1))
_LONGEST = 2 * 1300  # characters: 4096 bits are 1234 digits
_WRITTEN = re.compile("(0|-?[1-9][0-9]*)/[1-9][0-9]*")


def ends(cost: Enclosure) -> tuple[Amount, Amount]:
    """A cost >= 0 from below and from above: a point where it is known exactly and short enough."""
    if cost.lower == cost.upper and isinstance(cost.lower, Fraction) and _is_short(cost.lower):
        return cost.lower, cost.lower
    return _below(cost.lower), _above(cost.upper)


def times(amount: Amount, count: int, up: bool = True) -> Amount:
    """So many of it, count >= 0; rounded up (or down) where it would be too long."""
    return None if amount is None else _kept(amount * count, up)


def plus(one: Amount, other: Amount, up: bool = True) -> Amount:
    """The sum, rounded up (or down) where it would be too long."""
    return None if one is None or other is None else _kept(one + other, up)


def text(amount: Amount) -> str:
    """As it stands in the database."""
    return _INFINITE if amount is None else f"{amount.numerator}/{amount.denominator}"


@lru_cache(maxsize=1 << 16)
def read(written: str) -> Amount:
    """The amount that was written so. Raises ValueError for what `text` does not write."""
    if written == _INFINITE:
        return None
    if len(written) > _LONGEST or _WRITTEN.fullmatch(written) is None:
        raise ValueError(f"not an amount: {written[:40]!r}")
    amount = Fraction(written)
    if text(amount) != written:
        raise ValueError(f"not an amount: {written[:40]!r}")
    return amount


def enclosure(lower: Amount, upper: Amount) -> Enclosure:
    """The two ends as an enclosure."""
    return Enclosure(*(Decimal("Infinity") if end is None else end for end in (lower, upper)))


def _kept(amount: Fraction, up: bool) -> Amount:
    if _is_short(amount):
        return amount
    return _above(amount) if up else _below(amount)


def _is_short(amount: Fraction) -> bool:
    return max(amount.numerator.bit_length(), amount.denominator.bit_length()) <= _BITS


def _above(end: Endpoint) -> Amount:
    if isinstance(end, Decimal):
        if end.is_infinite() or end.adjusted() > _FARTHEST:
            return None
        if end and end.adjusted() < -_FARTHEST:
            return UNIT
    rounded = ceil(Fraction(end) / UNIT) * UNIT
    return rounded if _is_short(rounded) else None


def _below(end: Endpoint) -> Amount:
    if isinstance(end, Decimal):
        if end.is_infinite():
            return None
        if abs(end.adjusted()) > _FARTHEST:
            return ZERO
    rounded = floor(Fraction(end) / UNIT) * UNIT
    return rounded if _is_short(rounded) else min(rounded, _MOST)
