"""Ceilings and floors of irrational numbers: enclosed until the whole number is certain."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.precision import refine
from .law import UndecidedError


def certain_ceiling(compute: Callable[[], arb], name: str) -> int:
    """The ceiling of an irrational number. Raises UndecidedError where it stays open."""
    return _certain(compute, math.ceil, name)


def certain_floor(compute: Callable[[], arb], name: str) -> int:
    """The floor of an irrational number. Raises UndecidedError where it stays open."""
    return _certain(compute, math.floor, name)


def _certain(compute: Callable[[], arb], rounded: Callable[[Any], int], name: str) -> int:
    def settled(found: Enclosure) -> bool:
        return found.is_finite() and rounded(found.lower) == rounded(found.upper)

    found = refine(compute, width=Fraction(0), enough=settled)
    if not settled(found):
        raise UndecidedError(
            f"{name} = {rounded.__name__}({found}) is not certain at the precision allowed"
        )
    return rounded(found.upper)
