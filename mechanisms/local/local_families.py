"""The local randomizers that are deployed: categories, bits, subsets, one bit of a mean.

*Categories* (k-ary randomized response; Warner 1965, Kairouz, Bonawitz, Ramage 2016): the value
itself has the weight e^epsilon, any other 1.

*Bits* (unary encoding: Wang, Blocki, Li, Jha, USENIX Security 2017; RAPPOR: Erlingsson, Pihur,
Korolova, CCS 2014; count-mean sketch: Apple 2017): a value sets `hashes` of many bits, and bits are
reported independently, 1 with probability p where set and q where not. Of two values at most
`hashes` bits are set by the one alone, and as many by the other alone; the others have the same
law, and bits that are set by both are so too: the worst pair has all of them apart, whatever the
number of bits is.

*Subsets* (Ye, Barg 2017; Wang et al. 2016): a set of d categories, of weight e^epsilon where it
holds the value, else 1. *Hadamard response* (Acharya, Sun, Zhang, AISTATS 2019): a column of
the K x K Hadamard matrix, K > categories a power of two, of weight e^epsilon where the value's row
(from 1 on) has 1. Any two such rows agree in half of the columns, three that do not add up to 0
mod 2 meet every pattern equally often; all rows have 1 in the first column, and in no other one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import compress, product
from typing import TypeAlias

from attrs import field, frozen

from ...exact.number import ExactInput, ParameterError, ball, whole
from ..bracket import Bracket, Bracketed
from ..fields import parameters
from ..fields.schema import key
from ..pairs.pair import FinitePair, ListedPair, Masses, Steps
from .randomizer import NOTHING, ONE, LocalRandomizer, Row, Scene, Weight

_CATEGORIES = (
    "the first category",
    "the second category",
    "a third category",
    "any other category",
)
_ORDINALS = ("the first", "the second", "a third")
_MOST_CATEGORIES = 10**9
_MOST_SUBSETS = 4096  # categories, where subsets are counted
_MOST_HASHES = 32

_RATIO = key("log of the largest ratio of a report's probabilities")
_VALUES = key("how many values there are")


def _categories(value: ExactInput) -> int:
    """A whole number, 2 to 1e9."""
    return whole(value, "categories", at_least=2, at_most=_MOST_CATEGORIES)


def _bits(value: ExactInput | None) -> int | None:
    return None if value is None else whole(value, "bits", at_least=2, at_most=_MOST_CATEGORIES)


def _hashes(value: ExactInput) -> int:
    """A whole number, 1 to 32."""
    return whole(value, "hashes", at_least=1, at_most=_MOST_HASHES)


_Column: TypeAlias = tuple[list[Weight], Weight, str]


def _scenes(columns: Iterable[_Column]) -> tuple[Scene, ...]:
    """One: of each class of reports its weights by value, the least that any has, its name."""
    weights, least, names = zip(*columns, strict=True)
    rows = tuple(zip(*weights, strict=True))
    return (Scene(rows[0], rows[1], rows, names, least),)


def _said(held: Iterable[bool]) -> str:
    return " and ".join(compress(_ORDINALS, held)) or "neither"


@frozen
class Categories(ListedPair, LocalRandomizer):
    """One of so many categories: the true one e^epsilon times as likely as any other."""

    epsilon: Fraction = field(converter=parameters.odds, metadata=_RATIO)
    categories: int = field(converter=_categories, metadata=_VALUES)

    kind = "categories"
    spec_name = "randomized-response"

    def scenes(self, crowded: bool = False) -> tuple[Scene, ...]:
        k, odds = self.categories, Weight.of(1, self.epsilon)
        third = ONE if k > 2 else NOTHING
        rest = Weight.of(max(k - 3, 0))
        rows: list[Row] = [(odds, ONE, third, rest), (ONE, odds, third, rest)]
        if k > 2:
            rows.append((ONE, ONE, odds, rest))
        least = (ONE, ONE, third, rest)
        return (Scene(rows[0], rows[1], tuple(rows), _CATEGORIES, least),)

    def masses(self) -> Masses:
        odds = ball(self.epsilon).exp()
        whole = odds + self.categories - 1
        rest = (self.categories - 2) / whole
        return (odds / whole, 1 / whole, rest), (1 / whole, odds / whole, rest)

    def steps(self) -> Steps | None:
        return Steps(self.epsilon, (1, -1, 0)) if self.epsilon else Steps(Fraction(1), (0, 0, 0))

    def name_of(self, outcome: int) -> str:
        return (*_CATEGORIES[:2], "any other category")[outcome]

    def swapped(self) -> Categories:
        return self


@frozen
class Bits(LocalRandomizer):
    """Bits of which a value sets so many, each reported by itself.

    on, off: the odds of 1 where the bit is set, and where it is not; on >= off. flipped: 0 and 1
    exchanged in reports. size: how many bits there are; None: any number, at least 3 hashes.
    """

    on: Weight
    off: Weight
    hashes: int = field(default=1, converter=_hashes)
    size: int | None = field(default=None, converter=_bits)
    flipped: bool = False

    def __attrs_post_init__(self) -> None:
        _check_size(self.size, self.hashes)

    def scenes(self, crowded: bool = False) -> tuple[Scene, ...]:
        """A third value makes no report less than off^ones as likely, relative to no bit reported:
        the factor is on/off >= 1 for each of its own bits that is reported.
        """
        h = self.hashes
        if crowded and h > 1:
            raise ParameterError(
                "shuffled takes values of one bit each: bits that two values share tell their "
                "reports from those of others"
            )
        values = 2 if not crowded or (self.size is not None and self.size < 3 * h) else 3
        on, off = ([weight**k for k in range(h + 1)] for weight in (self.on, self.off))
        columns = list[_Column]()
        for ones in product(range(h + 1), repeat=values):
            many = Weight.of(math.prod(math.comb(h, k) for k in ones))
            weights = [
                math.prod(
                    (on[k] if value == at else off[k] for at, k in enumerate(ones)), start=many
                )
                for value in range(values)
            ]
            least = math.prod((off[k] for k in ones), start=many)
            name = f"so many bits of each value: {' and '.join(map(str, ones))}"
            columns.append((weights, least, name))
        return _scenes(columns)


def _check_size(size: int | None, hashes: int) -> None:
    if size is not None and size < 2 * hashes:
        raise ParameterError(
            f"bits must be at least {2 * hashes}, in which two values differ, got {size}"
        )


def _of_counts(half: Fraction, p: Fraction, q: Fraction, reports: int) -> FinitePair:
    """The number of ones among all reports, for a bit that is set and for one that is not."""
    ones, zeros = (
        [math.comb(reports, k) * at**k * (1 - at) ** (reports - k) for k in range(reports + 1)]
        for at in (p, q)
    )
    rows = [
        [(1 - wrong) * one + wrong * zero for one, zero in zip(ones, zeros, strict=True)]
        for wrong in (half, 1 - half)
    ]
    return FinitePair(tuple(map(str, range(reports + 1))), rows[0], rows[1])


@frozen
class Reports(Bracketed):
    """Instantaneous reports of one permanent answer: bit by bit, the number of ones says it all.

    half: the probability that a permanent bit is the wrong one. Given a permanent bit its reports
    are independent: the number of ones is Bin(reports, p) or Bin(reports, q), and so a mixture of
    both given the true bit. Bits are independent, and `hashes` differ each way.
    """

    half: Fraction
    p: Fraction
    q: Fraction
    hashes: int = field(converter=_hashes)
    reports: int
    size: int | None = field(default=None, converter=_bits)

    def __attrs_post_init__(self) -> None:
        _check_size(self.size, self.hashes)

    def bracket(self) -> Bracket:
        """As many uses of one bit as bits differ, either way round."""
        bit = _of_counts(self.half, self.p, self.q, self.reports)
        parts = ((bit, self.hashes), (bit.swapped(), self.hashes))
        return Bracket.exactly(*parts)


def _size(value: ExactInput) -> int:
    """A whole number from 1."""
    return whole(value, "size", at_least=1, at_most=_MOST_SUBSETS)


def few(value: ExactInput) -> int:
    """A whole number, 2 to 4096."""
    return whole(value, "categories", at_least=2, at_most=_MOST_SUBSETS)


@frozen
class Subsets(LocalRandomizer):
    """So many of all categories, e^epsilon times as likely where they hold the true one."""

    epsilon: Fraction = field(converter=parameters.odds, metadata=_RATIO)
    categories: int = field(converter=few, metadata=_VALUES)
    size: int = field(
        converter=_size, metadata=key("of the set; categories/(1 + e^epsilon)", needed=False)
    )

    kind = "subset-selection"
    says = "a set of categories that rather holds the true one"
    example = "epsilon=1,categories=10"

    def __attrs_post_init__(self) -> None:
        if self.size >= self.categories:
            raise ParameterError(
                f"size must be below categories, {self.categories}, got {self.size}"
            )

    @staticmethod
    def best_size(epsilon: Fraction, categories: int) -> int:
        """The whole number nearest to categories/(1 + e^epsilon), at least 1: least variance."""
        chosen = float((ball(categories) / (1 + ball(epsilon).exp())).mid())
        return max(1, round(chosen))

    def scenes(self, crowded: bool = False) -> tuple[Scene, ...]:
        values = min(self.categories, 3)
        odds, columns = Weight.of(1, self.epsilon), list[_Column]()
        for held in product((False, True), repeat=values):
            left, others = self.size - sum(held), self.categories - values
            many = Weight.of(math.comb(others, left) if 0 <= left <= others else 0)
            weights = [many * (odds if has else ONE) for has in held]
            columns.append((weights, many, f"sets with {_said(held)}"))  # size < categories
        return _scenes(columns)


@frozen
class Hadamard(LocalRandomizer):
    """A column of a Hadamard matrix, e^epsilon times as likely where the value's row has 1."""

    epsilon: Fraction = field(converter=parameters.odds, metadata=_RATIO)
    categories: int = field(converter=_categories, metadata=_VALUES)

    kind = "hadamard-response"
    says = "a column of a Hadamard matrix that rather has 1 in the value's row"
    example = "epsilon=1,categories=10"

    @property
    def columns(self) -> int:
        """The least power of two above `categories`."""
        return 1 << self.categories.bit_length()

    def scenes(self, crowded: bool = False) -> tuple[Scene, ...]:
        """Of three values whose rows do not add up to 0 (from four on); else of these two.

        Others may hold the sum of the first two rows: it has 1 where they agree. Rows 1, 2, 4, ...
        are among all values': in every column but the first some value has -1.
        """
        values = 3 if self.categories >= 4 else 2
        odds, columns = Weight.of(1, self.epsilon), list[_Column]()
        for has in product((False, True), repeat=values):
            many = Weight.of((self.columns >> values) - all(has))
            agree = [has[0] == has[1]] * (self.categories >= 3)
            weights = [many * (odds if one else ONE) for one in [*has, *agree]]
            columns.append((weights, many, f"columns with {_said(has)}"))
        columns.append(([odds] * len(columns[0][0]), odds, "the first column"))
        return _scenes(columns)


@frozen
class OneBitMean(LocalRandomizer):
    """One bit of a number from 0 to 1 (Ding, Kulkarni, Yekhanin, NeurIPS 2017).

    It is 1 with probability (1 + x (e^epsilon - 1))/(1 + e^epsilon): of x strictly between 0 and 1
    a mixture of the bits of 0 and of 1. These two are randomized response.
    """

    epsilon: Fraction = field(converter=parameters.odds, metadata=_RATIO)

    says = "one bit of a number from 0 to 1 (Ding, Kulkarni, Yekhanin 2017)"
    example = "epsilon=1"

    def scenes(self, crowded: bool = False) -> tuple[Scene, ...]:
        return Categories(self.epsilon, 2).scenes()

    def pairs(self) -> tuple[ListedPair, ...]:
        return (Categories(self.epsilon, 2),)
