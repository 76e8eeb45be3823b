"""Local reports: every user sends a random answer to a value of her own; one value is replaced.

Two values have laws of reports that are weights over their sum, weights sums of c e^a with rational
c and a: where two are proportional with c = 1, the loss is known exactly.

*Categories*: the true one has the weight e^epsilon, any other 1. *Bits*: a value sets `hashes` of
many bits; each is reported by itself, with odds `on` of a 1 where it is set and `off` where it is
not. Two values differ in `hashes` bits each way at most, and all others have one law. *Subsets* of
`size` categories: e^epsilon where they hold the true one, else 1. *Hadamard response*: a column of
the K x K Hadamard matrix, K the least power of two above the categories: e^epsilon where the row of
the value has 1; two rows agree in half of the columns, and of each pattern there is a quarter.
*Of these any two values are alike, up to the names of reports, and so are both ways round.*
*Reports* of one permanent answer (RAPPOR): bit by bit the number of ones says it all, a mixture of
two binomials by what the permanent bit is. *Tables*: any two rows, either way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, permutations, product
from typing import Any

from . import shape
from .arithmetic import Interval, OpenError, certainly, exp, gathered, interval, total
from .deadline import check_time
from .mechanisms import Family, Finite, Mechanism, Outcomes, Parts, TwoLaws
from .shape import CertificateError, number_text

_MOST_COMPARED = 200_000  # values squared times reports
_MOST_SHUFFLED = 5  # values of a table
_MOST_BITS = 10**9
_LONGEST = 40_000  # bits of denominators
Fields = Mapping[str, Any]

Weight = tuple[tuple[Fraction, Fraction], ...]  # of exponents and their factors
Row = Sequence[Weight]


def weight(factor: Fraction | int, exponent: Fraction | int = 0) -> Weight:
    """factor e^exponent."""
    return ((Fraction(exponent), Fraction(factor)),) if factor else ()


def added(weights: Iterable[Weight]) -> Weight:
    """Their sum."""
    return tuple(sorted(gathered(chain.from_iterable(weights)).items()))


def _power(one: Weight, count: int) -> Weight:
    ((exponent, factor),) = one
    return weight(factor**count, count * exponent)


def _times(one: Weight, other: Weight) -> Weight:
    return added(((a + b, c * d),) for a, c in one for b, d in other)


def _product(weights: Iterable[Weight]) -> Weight:
    found = weight(1)
    for each in weights:
        found = _times(found, each)
    return found


def _held(
    kinds: Sequence[Sequence[int]], many: Sequence[int], epsilon: Fraction, values: int
) -> Sequence[Row]:
    """So many reports of each kind, e^epsilon times as likely where they hold the value."""
    each = list(zip(kinds, many, strict=True))
    return [[weight(count, epsilon * kind[x]) for kind, count in each] for x in range(values)]


def _ratio(one: Weight, other: Weight) -> tuple[Fraction, Fraction] | None:
    """(a, c) where this is c e^a times the other, term by term."""
    found = {(a - b, c / d) for (a, c), (b, d) in zip(one, other, strict=False)}
    return found.pop() if len(one) == len(other) and len(found) == 1 else None


def size(one: Weight) -> Interval:
    """Its value; exactly 0 where it is nothing."""
    return total(interval(c) * (exp(interval(a)) if a else 1) for a, c in one)


def compared(first: Row, second: Row) -> Outcomes:
    """The reports of two values."""
    wholes = added(first), added(second)
    common = _ratio(wholes[1], wholes[0])
    kept = [both for both in zip(first, second, strict=True) if any(both)]
    sizes = [size(whole) for whole in wholes]
    p, q = ([size(both[side]) / sizes[side] for both in kept] for side in (0, 1))
    losses: list[Fraction] = []
    for one, other in kept:
        ratio = _ratio(one, other) if one and other else (Fraction(0), Fraction(1))
        if common is None or ratio is None or ratio[1] * common[1] != 1:
            return Outcomes(p, q)
        losses.append(ratio[0] + common[0] if one and other else Fraction(0))
    bottom = math.lcm(*(loss.denominator for loss in losses))
    unit = Fraction(math.gcd(*(int(loss * bottom) for loss in losses)), bottom)
    places = [int(loss / unit) if unit else 0 for loss in losses]
    bounded = all(other for one, other in kept if one)
    return Outcomes(p, q, max(losses) if bounded else None, places, unit or None)


@dataclass(frozen=True)
class Scene:
    """Laws of two values, and what others may hold, on reports of which those alike are one.

    least: at most what every value reports, as a share of the sum of `first`; None: the least of
    all of `others`, which then are all values.
    """

    first: Row
    second: Row
    others: Sequence[Row]
    least: Row | None = None


def _scene(rows: Sequence[Row], least: Row) -> Scene:
    """Of the first two of these; others hold a third value, where there is one, or one of them."""
    return Scene(rows[0], rows[1], (*rows[2:], *rows[:2]), least)


class Local(Finite):
    """A family says the laws of two of its values."""

    def rows(self) -> Sequence[Row]:
        """On the same reports, those alike taken together."""
        raise NotImplementedError

    def scenes(self) -> Sequence[Scene]:
        """All that two values and a third one can be, where they are shuffled."""
        raise NotImplementedError

    def attained(self) -> Sequence[Outcomes]:
        return [compared(*self.rows())]


@dataclass(frozen=True)
class Categories(Local):
    """k-ary randomized response."""

    words = "one of many categories, the true one e^epsilon times as often"

    epsilon: Fraction
    categories: int

    def rows(self) -> Sequence[Row]:
        odds, one, rest = weight(1, self.epsilon), weight(1), weight(self.categories - 2)
        return (odds, one, rest), (one, odds, rest)

    def scenes(self) -> Sequence[Scene]:
        """Every category is reported with a weight of 1 at least."""
        odds, one, rest = weight(1, self.epsilon), weight(1), weight(max(self.categories - 3, 0))
        kinds = min(self.categories, 3)
        rows = [[*(odds if y == x else one for y in range(kinds)), rest] for x in range(kinds)]
        return [_scene(rows, [*[one] * kinds, rest])]


@dataclass(frozen=True)
class Bits(Local):
    """Unary encoding, RAPPOR's permanent answer or one instantaneous one, count-mean sketches."""

    on: Weight
    off: Weight
    hashes: int
    size: int | None = None  # how many bits there are, where that is stated
    flipped: bool = False  # 0 and 1 exchanged in reports

    def described(self) -> str:
        on, off = (
            " e^".join(number_text(each) for each in reversed(odds[0]))
            for odds in (self.on, self.off)
        )
        return (
            f"{_many(self.size)}bits of which a value sets {self.hashes:,}, each reported by "
            f"itself, {int(not self.flipped)} with the odds {on} where it is set and {off} where "
            "not"
        )

    def rows(self) -> Sequence[Row]:
        h, sides = self.hashes, ((self.on, self.off), (self.off, self.on))
        found: tuple[list[Weight], list[Weight]] = ([], [])
        for ones in product(range(h + 1), repeat=2):
            many = weight(math.prod(math.comb(h, k) for k in ones))
            for row, side in zip(found, sides, strict=True):
                each = (_power(odds, k) for odds, k in zip(side, ones, strict=True))
                row.append(_times(_times(*each), many))
        return found

    def scenes(self) -> Sequence[Scene]:
        """Of one bit a value, and three bits at least.

        A value makes a report off^ones times as likely as no ones, and on/off >= 1 times that if
        its own bit is 1. All sums are (1 + on) (1 + off)^2, and so is the first row's.
        """
        if self.hashes > 1:
            raise OpenError("values of several bits are not shuffled here")
        if self.size is not None and self.size < 3:
            raise OpenError("fewer than three bits are not shuffled here")
        if not certainly(size(self.on) >= size(self.off)):
            raise OpenError("bits that are set are to be the likelier ones")
        rows: list[list[Weight]] = [[], [], []]
        least: list[Weight] = []
        for ones in product((0, 1), repeat=3):
            for own, row in enumerate(rows):
                sides = (self.on if own == at else self.off for at in range(3))
                row.append(_product(odds for odds, one in zip(sides, ones, strict=True) if one))
            least.append(_product([self.off] * sum(ones)))
        return [_scene(rows, least)]


@dataclass(frozen=True)
class Subsets(Local):
    """A set of so many categories."""

    words = "a set of categories, those that hold the true one e^epsilon times as often"

    epsilon: Fraction
    categories: int
    size: int

    def rows(self) -> Sequence[Row]:
        k, odds = self.categories - 2, self.epsilon
        both, one, neither = (
            math.comb(k, self.size - held) if self.size >= held else 0 for held in (2, 1, 0)
        )
        kinds = ((both, 1, 1), (one, 1, 0), (one, 0, 1), (neither, 0, 0))
        return tuple([weight(kind[0], odds * kind[side]) for kind in kinds] for side in (1, 2))

    def scenes(self) -> Sequence[Scene]:
        """In no set are all categories: some value gives it the weight 1."""
        values = min(self.categories, 3)
        kinds = list(product((0, 1), repeat=values))
        left = [(self.categories - values, self.size - sum(kind)) for kind in kinds]
        many = [math.comb(k, size) if size >= 0 else 0 for k, size in left]
        rows = _held(kinds, many, self.epsilon, values)
        return [_scene(rows, [*map(weight, many)])]


@dataclass(frozen=True)
class Hadamard(Local):
    """Hadamard response."""

    words = "Hadamard response"

    epsilon: Fraction
    categories: int

    def rows(self) -> Sequence[Row]:
        quarter, odds = (1 << self.categories.bit_length()) // 4, self.epsilon
        kinds = ((quarter, 1, 1), (quarter, 1, 0), (quarter, 0, 1), (quarter, 0, 0))
        return tuple([weight(kind[0], odds * kind[side]) for kind in kinds] for side in (1, 2))

    def scenes(self) -> Sequence[Scene]:
        """The rows' product is one of a value from three categories on: it has 1 where they agree.

        A third row that is not their product meets every pattern equally often. All rows have 1 in
        the first column; in any other one, some of the rows 1, 2, 4, ... has not.
        """
        free = 3 if self.categories >= 4 else 2
        patterns = list(product((0, 1), repeat=free))
        columns = (1 << self.categories.bit_length()) >> free
        kinds = [(1,) * (free + 1), *((*kind, int(kind[0] == kind[1])) for kind in patterns)]
        many = [1, *(columns - all(kind) for kind in patterns)]
        rows = _held(kinds, many, self.epsilon, free + (self.categories >= 3))
        return [_scene(rows, [rows[0][0], *map(weight, many[1:])])]


@dataclass(frozen=True)
class Table(Local):
    """Any local randomizer: a row for every value, weights report by report."""

    table: tuple[tuple[Weight, ...], ...]

    def described(self) -> str:
        return f"a table of {len(self.table[0]):,} reports of {len(self.table):,} values"

    def attained(self) -> Sequence[Outcomes]:
        pairs = [compared(*both) for both in permutations(self.table, 2)]
        pairs = pairs or [compared(self.table[0], self.table[0])]

        def apart(one: Outcomes) -> float:
            both = zip(one.p, one.q, strict=True)
            return -sum(max(float((p - q).mid), 0.0) for p, q in both)

        return sorted(pairs, key=apart)

    def scenes(self) -> Sequence[Scene]:
        if len(self.table) > _MOST_SHUFFLED:
            raise OpenError("a table has too many values to be shuffled")
        return [Scene(*both, self.table) for both in permutations(self.table, 2)]


@dataclass(frozen=True)
class Reports(Family):
    """So many instantaneous answers, 1 with probability p or q, of one permanent one, of which each
    bit is wrong with probability `half`.
    """

    words = "answers about a permanent one, of which each bit may be wrong"

    half: Fraction
    p: Fraction
    q: Fraction
    hashes: int
    reports: int
    size: int | None = None  # how many bits there are, where that is stated

    def above(self) -> Sequence[Parts]:
        n, kinds = self.reports, []
        for at in (self.p, self.q):
            kinds.append([math.comb(n, k) * at**k * (1 - at) ** (n - k) for k in range(n + 1)])
            check_time()
        laws = [
            tuple((1 - wrong) * a + wrong * b for a, b in zip(*kinds, strict=True))
            for wrong in (self.half, 1 - self.half)
        ]
        ways = (TwoLaws(p, q, Fraction(0)) for p, q in (laws, laws[::-1]))
        return [tuple((way, self.hashes) for way in ways)]


def _many(size: int | None) -> str:
    return "" if size is None else f"{size:,} "


def _odds(epsilon: Fraction) -> str:
    return f"e^{number_text(epsilon)} times as often"


# -- from the fields of a certificate -------------------------------------------------------------


_EPSILON = shape.number(at_most=10**4)


def _size(fields: Fields, name: str) -> int:
    return shape.read_whole(fields[name], name, 2 * _HASHES(fields, "hashes"), _MOST_BITS)


_HASHES = shape.whole(1, 32)
_STATED = {"bits": _size, "flipped": shape.read_yes}  # not in older certificates


def _subset(fields: Fields, name: str) -> int:
    return shape.read_whole(fields[name], name, 1, _SUBSETS(fields, "categories") - 1)


def _set(fields: Fields, name: str) -> Weight:
    if not (found := _weight(fields[name])):
        raise CertificateError("on and off must be above 0")
    return found


def _bits(data: object) -> Mechanism:
    stated = {name: _STATED[name] for name in shape.named(data, *_STATED)}
    readers = {"on": _set, "off": _set, "hashes": _HASHES, **stated}
    found = shape.read_each(data, "bits", readers, "kind")
    size, flipped = found.pop("bits", None), found.pop("flipped", False)
    return Bits(**found, size=size, flipped=flipped)


def _reports(data: object) -> Mechanism:
    readers = dict.fromkeys(("wrong", "p", "q"), shape.number(at_most=1))
    readers |= {"hashes": _HASHES, "reports": shape.whole(1, 1000)}
    readers |= dict.fromkeys(shape.named(data, "bits"), _size)
    found = Reports(*shape.read_each(data, "reports", readers, "kind").values())
    chances = (found.half, found.p, found.q)
    if max(x.denominator.bit_length() for x in chances) * found.reports > _LONGEST:
        raise CertificateError("wrong, p and q need too long a common denominator")
    return found


def _table(data: object) -> Mechanism:
    fields = shape.read_fields(data, "local-table", "kind", "rows")
    rows = shape.read_list(fields["rows"], "rows", 1000)
    read: list[tuple[Weight, ...]] = []
    for row in rows:
        listed = shape.read_list(row, "a row", 4096)
        if len(rows) ** 2 * len(listed) > _MOST_COMPARED:
            raise CertificateError("a table has too many values and reports to compare")
        read.append(tuple(added(map(_weight, _terms(entry))) for entry in listed))
        if len(read[-1]) != len(read[0]) or not any(read[-1]):
            raise CertificateError("rows must be as long, and not all 0")
    return Table(tuple(read))


def _terms(entry: object) -> Sequence[object]:
    return shape.read_list(entry, "an entry", 8) if isinstance(entry, list) else [entry]


def _weight(data: object) -> Weight:
    """A number, or {factor, exponent}."""
    if not isinstance(data, dict):
        return weight(shape.read_number(data, "a weight", at_most=10**40))
    factor, exponent = shape.number(at_most=10**40), shape.number(least=-(10**4), at_most=10**4)
    return shape.plainly("a weight", weight, "", factor=factor, exponent=exponent)(data)


_CATEGORIES, _SUBSETS = shape.whole(2, 10**9), shape.whole(2, 4096)
READERS: dict[str, Callable[[object], Mechanism]] = {
    "categories": shape.plainly("categories", Categories, epsilon=_EPSILON, categories=_CATEGORIES),
    "subset-selection": shape.plainly("subset-selection", Subsets, epsilon=_EPSILON,
        categories=_SUBSETS, size=_subset),
    "hadamard-response": shape.plainly("hadamard-response", Hadamard, epsilon=_EPSILON,
        categories=_CATEGORIES),
    "bits": _bits,
    "reports": _reports,
    "local-table": _table,
}  # fmt: skip
