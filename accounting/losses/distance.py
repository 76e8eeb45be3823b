"""delta(0) of a few uses of finite pairs, exactly: the total variation distance of their products.

A target that this just meets is met at epsilon = 0, which no enclosure of delta(0) can tell.
"""

from __future__ import annotations

from fractions import Fraction

from ...exact.budget import spend
from ...mechanisms.pair import FinitePair
from .of_pair import by_ratio
from .product import Product

_MOST_RATIOS = 500
_MOST_USES = 64


def total_variation(product: Product) -> Fraction | None:
    """None where the pairs are not listed exactly, or their products take too many values."""
    pairs = [(factor.pairs[0], factor.times) for factor in product.factors]
    if not product.is_exact or sum(times for _, times in pairs) > _MOST_USES:
        return None
    masses = {Fraction(1): Fraction(1)}  # P of each finite value of P/Q > 0
    finite = Fraction(1)  # P of all of them
    for pair, times in pairs:
        if not isinstance(pair, FinitePair) or pair.slack:
            return None
        ratios, escaping = by_ratio(pair)
        for _ in range(times):
            masses = _times(masses, ratios)
            if len(masses) > _MOST_RATIOS:
                return None
        finite *= (sum(pair.p, Fraction(0)) - escaping) ** times
    return 1 - finite + sum(mass * (1 - 1 / ratio) for ratio, mass in masses.items() if ratio > 1)


def _times(
    masses: dict[Fraction, Fraction], ratios: dict[Fraction, Fraction]
) -> dict[Fraction, Fraction]:
    found: dict[Fraction, Fraction] = {}
    for before, mass in masses.items():
        spend()
        for ratio, p in ratios.items():
            both = before * ratio
            found[both] = found.get(both, Fraction(0)) + mass * p
    return found
