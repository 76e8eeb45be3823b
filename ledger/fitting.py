"""Whether a charge fits into what its users have left, and what they have spent with it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from attrs import frozen

from ..exact import Enclosure
from . import amounts
from .amounts import Amount
from .chain import Used
from .limits import Limit
from .written import read_costs, read_spent, spent_text


@frozen
class Fit:
    """The balance with a charge, as it is written; whether it is within the limit."""

    spent: str
    fits: bool


@frozen
class Refusal:
    """Why a charge does not fit: what is left of which limit, and how many uses would fit."""

    limit: str
    left: Enclosure
    most: int

    @property
    def rank(self) -> tuple[int, Fraction]:
        """Smaller where less fits; among those, where less is left."""
        return self.most, Fraction(self.left.upper)


def with_uses(
    spent: Sequence[Amount], uses: Sequence[Used], number: int, up: bool = True
) -> tuple[Amount, ...]:
    """A balance of limit `number` with these uses more, in their order; from above or from below.

    From below an infinite cost is one: it is known to be.
    """
    for use in uses:
        more = _cost(use.costs, use.times, number, up)
        spent = [amounts.plus(one, other, up) for one, other in zip(spent, more, strict=True)]
    return tuple(spent)


@lru_cache(maxsize=1 << 14)
def _cost(costs: str, count: int, number: int, up: bool) -> tuple[Amount, ...]:
    """So many uses, at each level of limit `number`."""
    return tuple(amounts.times(ends[up], count, up) for ends in read_costs(costs)[number])


def tried(limit: Limit, number: int, spent: str, uses: Sequence[Used]) -> Fit:
    """A balance with a charge."""
    after = with_uses(read_spent(spent), uses, number)
    return Fit(spent_text(after), limit.fits(after))


def refusal(limit: Limit, number: int, spent: str, uses: Sequence[Used]) -> Refusal:
    """What is left, and how often the list of mechanisms, each used once, still fits."""
    held = read_spent(spent)
    once = with_uses([Fraction(0)] * len(held), [_once(use) for use in uses], number)
    left = limit.report(held, held).negated().plus(limit.amount)
    return Refusal(f"{limit.name} ({limit.claim})", left, limit.most(held, once))


def _once(use: Used) -> Used:
    return Used(use.mechanism, 1, use.costs)
