"""What users of local randomizers report of their values, drawn exactly.

Each is a few coins whose probability is a real number known by enclosures, and uniform integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import singledispatch
from typing import Any

from flint import arb

from ...exact.number import ExactInput, ParameterError, ball, exact, is_list, whole
from ..samplers.bits import NoSamplerError, RandomBits
from ..samplers.coins import Chance, below, coin
from .local_families import Bits, Categories, Hadamard, OneBitMean, Reports, Subsets
from .local_file import Table
from .randomizer import LocalRandomizer, Row, Weight, total
from .shuffled import Shuffled

_LONGEST = 1 << 16  # bits in a report
_MOST_USERS = 10**7  # whose reports are drawn at once


@singledispatch
def report(local: LocalRandomizer | Reports, value: Any) -> Callable[[RandomBits], Any]:
    """One report of this value, counted from 0; of a number in 0..1 where its mean is reported.

    Where a value sets several bits of a report it is the list of their places, 0: the first ones.
    Raises ParameterError for a value that there is not, and for what has no sampler.
    """
    raise NoSamplerError(f"mechanism {type(local).__name__} has no exact sampler")


def shuffled(crowd: Shuffled, values: Any) -> Callable[[RandomBits], dict[int | str, int]]:
    """How many users send each report, reports in order: what is left of them once shuffled.

    values: of all users; one value: that of everybody.
    """
    if crowd.users > _MOST_USERS:
        raise ParameterError(f"shuffled must be at most {_MOST_USERS} to be drawn: {crowd.users}")
    if not is_list(values):
        held = Counter({values: crowd.users})
    elif len(values) != crowd.users:
        raise ParameterError(f"query must hold {crowd.users} values, one a user: {len(values)}")
    else:
        held = Counter(values)
    each = [(report(crowd.local, value), count) for value, count in held.items()]

    def draw(bits: RandomBits) -> dict[int | str, int]:
        seen = Counter(one(bits) for one, count in each for _ in range(count))
        return dict(sorted(seen.items()))

    return draw


def _value(value: ExactInput, count: int) -> int:
    return whole(value, "query", at_least=0, at_most=count - 1)


def _odds(odds: Weight) -> Chance:
    """True with odds to 1."""

    def probability() -> arb:
        size = odds.ball()
        return size / (1 + size)

    return Chance(probability)


@report.register
def _(local: Categories, value: ExactInput) -> Callable[[RandomBits], int | str]:
    true, others = _value(value, local.categories), local.categories - 1
    chance = _odds(Weight.of(Fraction(1, others), local.epsilon))

    def draw(bits: RandomBits) -> int:
        if chance.draw(bits):
            return true
        other = below(others, bits)
        return other + (other >= true)

    return draw


@report.register
def _(local: Bits, value: Any) -> Callable[[RandomBits], int | str]:
    """As text, the first bit first."""
    true = _set_bits(local, value)
    on, off = _odds(local.on), _odds(local.off)

    def draw(bits: RandomBits) -> str:
        drawn = ((on if one else off).draw(bits) != local.flipped for one in true)
        return "".join("01"[one] for one in drawn)

    return draw


@report.register
def _(local: Reports, value: Any) -> Callable[[RandomBits], tuple[str, ...]]:
    """All instantaneous reports of one permanent answer, which is drawn first and kept."""
    true = _set_bits(local, value)
    half, chances = local.half, (local.q, local.p)

    def draw(bits: RandomBits) -> tuple[str, ...]:
        kept = [one != coin(half.numerator, half.denominator, bits) for one in true]
        permanent = [chances[one] for one in kept]
        return tuple(
            "".join("01"[coin(p.numerator, p.denominator, bits)] for p in permanent)
            for _ in range(local.reports)
        )

    return draw


def _set_bits(local: Bits | Reports, value: Any) -> list[bool]:
    """Which bits a value sets: one place, or the list of so many."""
    if local.size is None:
        raise ParameterError("bits must be given to be drawn: how many there are in a report")
    if local.size > _LONGEST:
        raise ParameterError(f"bits must be at most {_LONGEST} to be drawn, got {local.size}")
    if not is_list(value):
        one = whole(value, "query")
        value = range(local.hashes) if local.hashes > 1 and not one else [one]
    places = {_value(place, local.size) for place in value}
    if len(places) != local.hashes or len(value) != local.hashes:
        raise ParameterError(f"query must be {local.hashes} places of bits, all different")
    return [place in places for place in range(local.size)]


@report.register
def _(local: Subsets, value: ExactInput) -> Callable[[RandomBits], int | str]:
    """The categories of the set, rising. Of all sets d/k hold the true one, the others do not."""
    true, k, d = _value(value, local.categories), local.categories, local.size
    chance = _odds(Weight.of(Fraction(d, k - d), local.epsilon))

    def draw(bits: RandomBits) -> str:
        held = chance.draw(bits)
        found = _subset(k - 1, d - held, bits)
        others = [one + (one >= true) for one in found]
        return " ".join(map(str, sorted([*others, true] if held else others)))

    return draw


def _subset(count: int, size: int, bits: RandomBits) -> set[int]:
    """A uniform subset of 0, ..., count - 1 (Floyd: each new element, or the last one instead)."""
    found = set[int]()
    for last in range(count - size, count):
        one = below(last + 1, bits)
        found.add(last if one in found else one)
    return found


@report.register
def _(local: Hadamard, value: ExactInput) -> Callable[[RandomBits], int | str]:
    """A column, counted from 0; its entry in row r is (-1)^(number of ones of r and column)."""
    row, columns = _value(value, local.categories) + 1, local.columns
    chance = _odds(Weight.of(1, local.epsilon))

    def draw(bits: RandomBits) -> int:
        odd = not chance.draw(bits)
        while ((column := below(columns, bits)) & row).bit_count() % 2 != odd:
            pass
        return column

    return draw


@report.register
def _(local: OneBitMean, value: ExactInput) -> Callable[[RandomBits], int | str]:
    x = exact(value, "query", at_least=0, at_most=1)

    def one() -> arb:
        odds = ball(local.epsilon).exp()
        return (1 + ball(x) * (odds - 1)) / (1 + odds)

    chance = Chance(one)
    return lambda bits: int(chance.draw(bits))


@report.register
def _(local: Table, value: ExactInput) -> Callable[[RandomBits], int | str]:
    """The name of the report."""
    row = local.rows[_value(value, len(local.rows))]
    last = max(at for at, weight in enumerate(row) if weight.terms)
    chances = [_share(row, at) for at in range(last)]

    def draw(bits: RandomBits) -> str:
        for at, chance in enumerate(chances):
            if row[at].terms and chance.draw(bits):
                return local.reports[at]
        return local.reports[last]

    return draw


def _share(row: Row, at: int) -> Chance:
    """This report, if it is none of those before."""
    return Chance(lambda: row[at].ball() / total(row[at:]).ball())
