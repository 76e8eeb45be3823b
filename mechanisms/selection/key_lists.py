"""The worst counts of others in all of a user's keys together, where only names are told.

The pair of one use is a product over her keys, each Bernoulli(p) against Bernoulli(q) with p = pi(n
+ step), q = pi(n) for some count n of others (`key_names`): delta is the largest over all lists of
as many counts. *Cells.* With r >= p/q and s <= (1 - p)/(1 - q) for all counts of a cell, the pair
of the two ratios r and s, q' = (1 - s)/(r - s) and p' = r q', dominates each of theirs: (0, 0), (q,
p), (1, 1) lies below (0, 0), (q', p'), (1, 1), the lines of these slopes. So lists of cells bound
all lists of counts within them. They are halved until what is left exceeds what some list attains
by no more than the width that is asked, or there are too many: then the bound is as wide.

*Floats* compute the bounds, r from above, s and e^epsilon from below. With u = 2^-53 each of p',
q', 1 - p' = s (1 - q') and 1 - q' is off by 5 u, relatively, a product of `keys` of them by c u, if
c = 7 keys + 3. So a difference P - e^epsilon Q that is not 0 anyway, since e^epsilon Q < 2 P, is
off by 3 c u P, their sum by (3 c + 2^keys) u, which is charged. What is attained is in balls.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np
from attrs import frozen
from flint import arb, ctx
from numpy.typing import NDArray

from ...exact.budget import spend
from ...exact.enclosure import Endpoint
from ...exact.number import ball
from ...exact.precision import enclose_between, lower_float, upper_float, working_precision
from ..pairs.pair import ListedPair, Masses

MOST_KEYS = 6
_MOST_NODES = 1 << 21  # times 2^keys, that are held at once
_BITS = 128
_GROUPS = 16  # of cells that are neither nearly always released nor nearly never
_SELDOM = 1e-3
_UNIT = 2.0**-52  # 2 u
_LARGEST = 1e300  # of e^epsilon: less is no less than delta

Chances: TypeAlias = tuple[arb, arb]  # of being released, and of not
_Floats: TypeAlias = NDArray[np.float64]
_Places: TypeAlias = NDArray[np.int64]


class Rule(Protocol):
    """Which names are told: a hashable value."""

    def __hash__(self) -> int: ...
    @property
    def step(self) -> Fraction | int: ...  # the most that one user adds to a count
    def chances(self, count: Fraction | int) -> Chances: ...  # pi(count) and 1 - pi(count)
    def cells(self) -> Sequence[Cell]: ...  # of all counts, in order; at the working precision


@frozen
class Cell:
    """One of its counts, and what the ratios r and s of all of them are at most, and at least."""

    count: Fraction | int
    odds: arb
    withheld: arb


def cell(
    count: Fraction | int,
    first: tuple[Chances, Chances],
    last: tuple[Chances, Chances],
    falling: bool,
) -> Cell:
    """By the chances with and without the user of its first count, or less, and its last, or more.

    falling: r and s do not rise from one to the other. What is divided by 0 is infinite, or 0.
    """
    if falling:
        return Cell(count, first[0][0] / first[1][0], last[0][1] / last[1][1])
    return Cell(count, last[0][0] / first[1][0], last[0][1] / first[1][1])


@frozen
class WorstCounts:
    """One use of the names of so many keys, at most `MOST_KEYS`."""

    rule: Rule
    keys: int

    def delta_at_least(self, epsilon: Fraction, width: float) -> Endpoint:
        """What the dearest list that was found attains at this epsilon >= 0."""
        counts = _search(self.rule, self.keys, epsilon, width)[1]
        with working_precision(_BITS):
            return enclose_between(_attained(self.rule, counts, ball(epsilon).exp()), arb(1)).lower

    def delta_at_most(self, epsilon: Fraction, width: float) -> Endpoint:
        """What bounds all lists there, to about this relative width."""
        return Fraction(_search(self.rule, self.keys, epsilon, width)[0])

    def costs_at_most(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Nothing slower is known."""
        return False


def _attained(rule: Rule, counts: Sequence[Fraction | int], odds: arb) -> arb:
    """delta of these counts of others, exactly; the larger of both ways round."""
    factors = [
        list(zip(rule.chances(count + rule.step), rule.chances(count), strict=True))
        for count in counts
    ]
    ahead = back = arb(0)
    for seen in itertools.product(*factors):
        p = q = arb(1)
        for one, other in seen:
            p, q = p * one, q * other
        ahead, back = ahead + (p - odds * q).max(arb(0)), back + (q - odds * p).max(arb(0))
    return ahead.max(back)


@lru_cache(maxsize=8)
def _tables(rule: Rule) -> tuple[Sequence[Fraction | int], _Floats, _Floats]:
    """A count of each cell; r of it and of all later ones, s of it and of all earlier ones."""
    with working_precision(_BITS):
        cells = _cells(rule, _BITS)
        odds = np.array([max(upper_float(cell.odds), 1.0) for cell in cells])
        withheld = np.array([min(max(lower_float(cell.withheld), 0.0), 1.0) for cell in cells])
    counts = [cell.count for cell in cells]
    return counts, np.maximum.accumulate(odds[::-1])[::-1], np.minimum.accumulate(withheld)


@frozen
class Group(ListedPair):
    """What dominates all cells from one to another."""

    rule: Rule
    first: int
    last: int

    def masses(self) -> Masses:
        cells = _cells(self.rule, ctx.prec)[self.first : self.last + 1]
        s = reduce(arb.min, (cell.withheld for cell in cells)).max(arb(0))
        if not all(cell.odds.is_finite() for cell in cells):  # nobody else holds the key
            return (1 - s, s), (arb(0), arb(1))
        r = reduce(arb.max, (cell.odds for cell in cells))
        if not r > s:
            r, s = r.upper() + arb(2) ** (8 - ctx.prec), s.lower().max(arb(0))  # too near
        q = (1 - s) / (r - s)
        return (r * q, s * (1 - q)), (q, 1 - q)

    def name_of(self, outcome: int) -> str:
        return ("released", "not released")[outcome]


@lru_cache(maxsize=8)
def _cells(rule: Rule, bits: int) -> Sequence[Cell]:
    with working_precision(bits):
        return rule.cells()


def groups(rule: Rule) -> tuple[Group, ...]:
    """Of all cells: the key that nobody else holds by itself, the others by how often they show."""
    counts, r, s = _tables(rule)
    with np.errstate(invalid="ignore"):
        shown = np.where(r > s, (1 - s) / (r - s), 1.0)
    often = np.flatnonzero((shown > _SELDOM) & (shown < 1 - _SELDOM))
    inner = [1, *often[:: max(1, len(often) // _GROUPS)].tolist(), *(often[-1:] + 1).tolist()]
    begins = sorted({0, *(place for place in inner if 0 < place < len(counts))})
    return tuple(Group(rule, one, end - 1) for one, end in pairwise([*begins, len(counts)]))


def _bounds(r: _Floats, s: _Floats, odds: float) -> _Floats:
    """delta of lists, a row each, the larger of both ways round."""
    with np.errstate(invalid="ignore"):
        q = np.where(r > s, (1 - s) / (r - s), 1.0)
        p = np.where(np.isinf(r), 1 - s, r * q)
    rest, other_rest = np.where(r > s, s * (1 - q), 0.0), 1 - q
    one = other = np.ones((len(p), 1))
    for place in range(p.shape[1]):
        here = slice(place, place + 1)
        one = np.hstack([one * p[:, here], one * rest[:, here]])
        other = np.hstack([other * q[:, here], other * other_rest[:, here]])
    ahead = np.maximum(one - odds * other, 0).sum(axis=1)
    found: _Floats = np.maximum(ahead, np.maximum(other - odds * one, 0).sum(axis=1))
    return found


@lru_cache(maxsize=64)
def _search(
    rule: Rule, keys: int, epsilon: Fraction, width: float
) -> tuple[float, tuple[Fraction | int, ...]]:
    """At most delta of all lists, and one that attains about as much."""
    counts, r, s = _tables(rule)
    with working_precision(_BITS):
        odds = min(lower_float(ball(epsilon).exp()), _LARGEST)
    low = np.zeros((1, keys), dtype=np.int64)
    high = low + len(counts) - 1
    top, best, found = 0.0, 0.0, low[0]
    while len(low):
        spend()
        bounds, middle = _bounds(r[low], s[high], odds), (low + high) // 2
        reached = _bounds(r[middle], s[middle], odds)  # about: cells are narrow where it counts
        dearest = int(reached.argmax())
        if reached[dearest] > best:
            best, found = float(reached[dearest]), middle[dearest]
        left = (bounds > best * (1 + width / 2)) & (low < high).any(axis=1)
        many = 2 * int(left.sum()) << keys > _MOST_NODES
        top = max(top, float(np.max(bounds, where=~left | many, initial=0.0)))
        if many:
            break
        low, high = _halved(low[left], high[left])
    charge = (3 * (7 * keys + 3) + 2**keys) * _UNIT
    return min(top + charge, 1.0), tuple(counts[place] for place in found)


def _halved(low: _Places, high: _Places) -> tuple[_Places, _Places]:
    """Each list of cells without the one or the other half of its widest; counts do not fall."""
    rows, widest = np.arange(len(low)), (high - low).argmax(axis=1)
    middle = (low[rows, widest] + high[rows, widest]) // 2
    below, above = high.copy(), low.copy()
    below[rows, widest], above[rows, widest] = middle, middle + 1
    low, high = np.vstack([low, above]), np.vstack([below, high])
    low = np.maximum.accumulate(low, axis=1)
    high = np.minimum.accumulate(high[:, ::-1], axis=1)[:, ::-1]
    some = (low <= high).all(axis=1)
    return low[some], high[some]
