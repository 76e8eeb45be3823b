"""rho of several mechanisms together: the supremum of the *sum* of their curves over all orders.

Their own suprema add up to an upper bound, which is exact only where one order attains all of them.
Where the pairs can be listed, every choice of one pair for each mechanism is searched by itself
(`concentrated.joint`): at each order costs add up, so the worst choice is one of these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import islice, product

from ...exact import Enclosure, Endpoint, refine
from ...exact.budget import OutOfTimeError
from ...mechanisms.pair import Pair
from ..divergences import concentrated
from ..losses.continuous.uses import has_no_outcomes
from ..scenario import Scenario
from . import divergence

_ORDERS = tuple(map(Fraction, ("1.01", "1.5", "2", "4", "16", "64")))
_MOST_CHOICES = 8
_CAP = 384  # bits


def composed_zcdp(uses: Scenario, width: Fraction, cap: int) -> Enclosure:
    """Enclose the least rho for which these uses together are rho-zCDP."""
    each = [divergence.zcdp(use.mechanism, width, cap).times(use.times) for use in uses]
    total = Enclosure.total(each)
    if len(uses) == 1 or total.lower == Decimal("Infinity"):
        return total
    found = Enclosure(_below(uses, width, cap), total.upper)
    return found if found.is_within(width) else _searched(uses, found, width, cap)


def _searched(uses: Scenario, known: Enclosure, width: Fraction, cap: int) -> Enclosure:
    if any(has_no_outcomes(use.mechanism) for use in uses):
        return known
    menus = [(tuple(islice(one.pairs(), _MOST_CHOICES + 1)), times) for one, times in uses]
    menus = [menu for menu in menus if menu[0]]  # what has no pair tells nothing
    if math.prod(len(pairs) for pairs, _ in menus) > _MOST_CHOICES:
        return known
    best = Enclosure.exactly(0)
    for choice in product(*(pairs for pairs, _ in menus)):
        pairs = [(pair, times) for pair, (_, times) in zip(choice, menus, strict=True)]

        def measured(pairs: Sequence[tuple[Pair, int]] = pairs) -> Enclosure:
            found = concentrated.joint(pairs)
            return known if found is None else found.value

        try:
            best = best.maximum(refine(measured, width=width, cap=min(cap, _CAP)))
        except (ArithmeticError, OutOfTimeError):
            return known
    return known.intersection(best)


def _below(uses: Scenario, width: Fraction, cap: int) -> Endpoint:
    curves = [
        [value.times(use.times) for value in divergence.renyi_curve(use.mechanism, _ORDERS, width)]
        for use in uses
    ]
    totals = [Enclosure.total(column).lower for column in zip(*curves, strict=True)]
    if Decimal("Infinity") in totals:
        return Decimal("Infinity")
    ratios = (Fraction(total) / order for total, order in zip(totals, _ORDERS, strict=True))
    return max(ratios)
