"""Local randomizers: every user reports a random answer to a value of her own.

A randomizer is a table R_x(y), x a value and y a report. Neighbours replace one user's value, so
that it costs what the pairs (R_x, R_x') cost; an adversary may pick any two values at every use.
Families have few pairs up to the names of values and reports: each lists its *scenes*, reports
that nothing tells apart taken together, with the laws of two values and what others may hold.

Probabilities are quotients of sums c_1 e^a_1 + c_2 e^a_2 + ... with rational c and a, which are
kept exactly: where two are proportional, the loss log R_x(y)/R_x'(y) is known exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import chain

from attrs import field, frozen
from flint import arb

from ...exact.number import ExactInput, Logarithm, Real, ball, exact
from ..mechanism import Mechanism
from ..pairs.pair import FinitePair, ListedPair, Masses, Pair, Steps, Swapped


def _terms(terms: Iterable[tuple[Fraction, Fraction]]) -> tuple[tuple[Fraction, Fraction], ...]:
    found: dict[Fraction, Fraction] = {}
    for exponent, factor in terms:
        found[exponent] = found.get(exponent, Fraction(0)) + factor
    return tuple(sorted((exponent, factor) for exponent, factor in found.items() if factor))


@frozen
class Weight:
    """A sum of factors times e^exponent, all rational, factors > 0; nothing is 0."""

    terms: tuple[tuple[Fraction, Fraction], ...] = field(converter=_terms)

    @staticmethod
    def of(factor: ExactInput, exponent: ExactInput = 0) -> Weight:
        """factor e^exponent."""
        return Weight(((exact(exponent, "exponent"), exact(factor, "factor", at_least=0)),))

    @property
    def rational(self) -> Fraction | None:
        """The same as a rational number, where it is written as one."""
        if not self.terms:
            return Fraction(0)
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def ball(self) -> arb:
        """At the working precision; exactly 0 where it is."""
        return sum((ball(c) * ball(a).exp() if a else ball(c) for a, c in self.terms), arb(0))

    def __add__(self, other: Weight) -> Weight:
        return Weight(self.terms + other.terms)

    def __mul__(self, other: Weight) -> Weight:
        return Weight((a + b, c * d) for a, c in self.terms for b, d in other.terms)

    def __pow__(self, count: int) -> Weight:
        found = Weight.of(1)
        for _ in range(count):
            found *= self
        return found

    def over(self, other: Weight) -> tuple[Fraction, Fraction] | None:
        """(c, a) where this is c e^a times the other, term by term; None where it is not."""
        if len(self.terms) != len(other.terms) or not self.terms:
            return None
        quotients = {(c / d, a - b) for (a, c), (b, d) in zip(self.terms, other.terms, strict=True)}
        return quotients.pop() if len(quotients) == 1 else None


NOTHING, ONE = Weight(()), Weight.of(1)
Row = tuple[Weight, ...]  # of reports; divided by their sum, probabilities


def total(row: Iterable[Weight]) -> Weight:
    """The sum of these."""
    return Weight(chain.from_iterable(weight.terms for weight in row))


def probabilities(row: Row) -> list[arb]:
    """At the working precision."""
    whole = total(row).ball()
    return [weight.ball() / whole if weight.terms else arb(0) for weight in row]


@frozen
class LocalPair(ListedPair):
    """The reports of two values; reports of the same ratio, where that is known, are one outcome.

    p, q: weights, outcome by outcome. ratios: (c, a) of P/Q = c e^a, None where it is not known,
    0 or infinite.
    """

    p: Row
    q: Row
    ratios: tuple[tuple[Fraction, Fraction] | None, ...]
    names: tuple[str, ...] = field(eq=False, repr=False)

    def masses(self) -> Masses:
        return probabilities(self.p), probabilities(self.q)

    @cached_property
    def _steps(self) -> Steps | None:
        """Where all ratios are powers of e, or 1, one number and its inverse."""
        shared = [bool(a.terms and b.terms) for a, b in zip(self.p, self.q, strict=True)]
        found = [ratio for ratio, both in zip(self.ratios, shared, strict=True) if both]
        ratios = [ratio for ratio in found if ratio is not None]
        if len(ratios) < len(found):
            return None
        factors, exponents = {factor for factor, _ in ratios}, {exponent for _, exponent in ratios}
        unit: Real
        if factors <= {1}:
            scale = math.lcm(*(exponent.denominator for exponent in exponents))
            common = math.gcd(*(int(exponent * scale) for exponent in exponents))
            unit = step = Fraction(common or scale, scale)
            multiples = iter([int(exponent / step) for _, exponent in ratios])
        else:
            largest = max(max(factor, 1 / factor) for factor in factors)
            if exponents != {0} or not factors <= {1, largest, 1 / largest}:
                return None
            unit = Logarithm(largest)
            multiples = iter([(factor > 1) - (factor < 1) for factor, _ in ratios])
        return Steps(unit, [next(multiples) if both else None for both in shared])

    def steps(self) -> Steps | None:
        return self._steps

    def name_of(self, outcome: int) -> str:
        return self.names[outcome]

    def swapped(self) -> ListedPair:
        found = local_pair(self.q, self.p, self.names)
        return found if isinstance(found, LocalPair) else Swapped(self)  # all weights rational


def local_pair(p: Row, q: Row, names: Sequence[str]) -> FinitePair | LocalPair:
    """The pair of these two rows; of exact probabilities where all weights are rational.

    Outcomes that neither value reports are left out. Rows that differ by a factor, or by the order
    of their reports, give the same pair.
    """
    p_whole, q_whole = total(p), total(q)
    common = q_whole.over(p_whole)
    found: dict[tuple[object, ...], tuple[Weight, Weight, str]] = {}
    for index, (a, b, name) in enumerate(zip(p, q, names, strict=True)):
        if not (a.terms or b.terms):
            continue
        ratio = a.over(b) if a.terms and b.terms else None
        key: tuple[object, ...] = (bool(a.terms), bool(b.terms), ratio or index)
        if not (a.terms and b.terms):
            key = key[:2]
        before = found.get(key, (NOTHING, NOTHING, name))
        found[key] = before[0] + a, before[1] + b, before[2]
    listed = []
    for first, second, name in found.values():
        ratio = first.over(second)
        if ratio is not None:
            ratio = None if common is None else (ratio[0] * common[0], ratio[1] + common[1])
        listed.append((_scaled(first, p_whole), _scaled(second, q_whole), ratio, name))
    listed.sort(key=lambda each: (each[0].terms, each[1].terms))
    masses, others, ratios, named = zip(*listed, strict=True)
    if p_whole.rational is not None and q_whole.rational is not None:
        sizes = [weight.rational for weight in (*masses, *others)]
        if all(size is not None for size in sizes):
            return FinitePair(_distinct(named), sizes[: len(listed)], sizes[len(listed) :])
    return LocalPair(masses, others, ratios, named)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names) if len(set(names)) == len(names) else tuple(map(str, range(len(names))))


def _scaled(weight: Weight, whole: Weight) -> Weight:
    """Divided by the largest term of the sum of all: then equal laws have equal weights."""
    exponent, factor = whole.terms[-1]
    return weight * Weight(((-exponent, 1 / factor),))


@frozen
class Scene:
    """The laws of two values, and what others may hold, on the same classes of reports.

    names: of the classes. others: laws of values that all others may hold. least: at most what
    *every* value reports, as a share of the sum of `first`; None: the least of all rows here.
    """

    first: Row
    second: Row
    others: tuple[Row, ...]
    names: tuple[str, ...]
    least: Row | None = None

    def pair(self) -> FinitePair | LocalPair:
        """What tells the two values apart."""
        return local_pair(self.first, self.second, self.names)

    def blanket(self) -> list[arb]:
        """Probabilities that every value's law has at least, at the working precision."""
        if self.least is not None:
            whole = total(self.first).ball()
            return [weight.ball() / whole for weight in self.least]
        rows = [probabilities(row) for row in (self.first, self.second, *self.others)]
        return [reduce(arb.min, column) for column in zip(*rows, strict=True)]


class LocalRandomizer:
    """A family says its scenes; all the rest follows."""

    def scenes(self, crowded: bool = False) -> tuple[Scene, ...]:
        """All that two values can be, up to the names of values and reports, in either order.

        crowded: with a third value that others may hold, where there is one.
        """
        raise NotImplementedError

    def pairs(self) -> tuple[Pair, ...]:
        """Every pair that an adversary may pick, both ways round; none that another dominates."""
        return _pairs(self)

    def reversed(self) -> Mechanism:
        """Itself: a value may be replaced by any other."""
        return self


@lru_cache(maxsize=64)
def _pairs(local: LocalRandomizer) -> tuple[Pair, ...]:
    found: list[FinitePair | LocalPair] = []
    for scene in local.scenes():
        for pair in (scene.pair(), local_pair(scene.second, scene.first, scene.names)):
            if not any(_same(pair, other) for other in found):
                found.append(pair)
    return undominated(found)


def _same(one: FinitePair | LocalPair, other: FinitePair | LocalPair) -> bool:
    if isinstance(one, FinitePair) and isinstance(other, FinitePair):
        return (one.p, one.q) == (other.p, other.q)
    return one == other


_MOST_COMPARED = 10**6  # terms; where it takes more, each pair is kept


def undominated(pairs: Sequence[FinitePair | LocalPair]) -> tuple[Pair, ...]:
    """Those pairs of exact probabilities that no other one dominates; all others.

    (P, Q) dominates (P', Q') if E(g) = sum of (P - g Q)^+ is at least E'(g) for all g >= 0
    (Blackwell). Both are convex, and E is linear between the values of P/Q: E >= E' there, where E
    and E' are 1 at g = 0 and E' does not rise beyond the largest, is E >= E' everywhere.
    """
    longest = max((len(pair.p) for pair in pairs), default=0)
    if (len(pairs) * longest) ** 2 > _MOST_COMPARED:
        return tuple(pairs)
    kept = list(pairs)
    for one in pairs:
        others = [other for other in kept if other is not one and isinstance(other, FinitePair)]
        if isinstance(one, FinitePair) and any(_dominates(other, one) for other in others):
            kept.remove(one)
    return tuple(kept)


def _dominates(one: FinitePair, other: FinitePair) -> bool:
    kinks = {p / q for p, q in zip(one.p, one.q, strict=True) if q}
    return all(_excess(one, kink) >= _excess(other, kink) for kink in kinks)


def _excess(pair: FinitePair, level: Fraction) -> Fraction:
    each = (p - level * q for p, q in zip(pair.p, pair.q, strict=True))
    return sum((gain for gain in each if gain > 0), Fraction(0))
