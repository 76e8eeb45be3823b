"""A figure: a number of a composition by its name, and two enclosures of the same one."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from ..exact.enclosure import ContradictionError, Enclosure

UPPER_BOUND = "an upper bound: it is converted from Rényi divergences or rho"


class Figure(NamedTuple):
    """A number of a composition: "epsilon" at a delta (0: the pure one), "delta" at an epsilon,
    "renyi" at an order, "zcdp" or "gdp".
    """

    quantity: str
    at: Fraction | None = None

    @property
    def trivial(self) -> Enclosure:
        """What is true of every mechanism."""
        return Enclosure.probability() if self.quantity == "delta" else Enclosure.unknown()


def meeting(figure: Figure, one: Enclosure, other: Enclosure) -> Enclosure:
    """What both leave of the number. Raises ContradictionError where they do not meet."""
    try:
        return one.intersection(other)
    except ContradictionError as error:
        at = "" if figure.at is None else f" at {figure.at}"
        raise ContradictionError(f"{figure.quantity}{at}: {error}") from error


def as_shown(value: Enclosure) -> Enclosure | str:
    """What is known from above alone, for tables: it is not to be taken for an enclosure.

    >>> as_shown(Enclosure(0, Fraction(3, 2), why=(UPPER_BOUND,)))
    '≤ 1.5'
    """
    return f"≤ {value:.7g}" if UPPER_BOUND in value.why else value
