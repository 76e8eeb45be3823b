"""Certified figures of the findings: how they are computed and how they are written."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.precision import refine
from ...mechanisms.laws.law import UndecidedError

__all__ = ["certain", "figure", "shown"]

_NARROW = Fraction(1, 10**18)


def figure(compute: Callable[[], arb]) -> Enclosure:
    """Enclose a number to 18 digits."""
    return refine(compute, width=_NARROW)


def shown(value: Enclosure, digits: int = 8) -> str:
    """At most this many significant digits of it, all of them certain (rounded to nearest)."""
    text = str(value)
    if text.startswith("["):
        return text
    return f"{Decimal(text):.{digits}g}".lower()


def certain(compute: Callable[[], arb]) -> bool:
    """Is the number positive (True) or negative (False)? For certain.

    Raises UndecidedError where the highest precision allowed cannot tell it from zero.
    """
    found = refine(
        compute, width=Fraction(0), enough=lambda gap: gap.greater_than(0) is not None
    ).greater_than(0)
    if found is None:
        raise UndecidedError("a comparison stayed open at the highest precision allowed")
    return found
