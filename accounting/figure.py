"""A figure: a number of a composition by its name, and two enclosures of the same one; and the
numbers of privacy notions, each read in its range: converters of fields of their names.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from ..exact.enclosure import ContradictionError, Enclosure
from ..exact.number import ExactInput, exact

UPPER_BOUND = "an upper bound: it is converted from Rényi divergences or rho"


class Figure(NamedTuple):
    """A number of a composition: "epsilon" at a delta (0: the pure one), "delta" at an epsilon,
    "renyi" at an order, "zcdp" or "gdp".
    """

    quantity: str
    at: Fraction | None = None

    @property
    def adds_up(self) -> bool:
        """Does it add up over uses? (For rho, the sum is an upper bound.)"""
        return self.quantity == "renyi" or self in (PURE, RHO)

    @property
    def trivial(self) -> Enclosure:
        """What is true of every mechanism."""
        return Enclosure.probability() if self.quantity == "delta" else Enclosure.unknown()


PURE, RHO, MU = Figure("epsilon", Fraction(0)), Figure("zcdp"), Figure("gdp")


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


def read_epsilon(value: ExactInput) -> Fraction:
    """epsilon >= 0."""
    return exact(value, "epsilon", at_least=0)


def read_delta(value: ExactInput) -> Fraction:
    """0 <= delta <= 1."""
    return exact(value, "delta", at_least=0, at_most=1)


def read_failure(value: ExactInput) -> Fraction:
    """A delta above 0 and below 1."""
    return exact(value, "delta", above=0, below=1)


def read_order(value: ExactInput) -> Fraction:
    """An order > 1."""
    return exact(value, "order", above=1)


def read_rho(value: ExactInput) -> Fraction:
    """rho >= 0."""
    return exact(value, "rho", at_least=0)


def read_mu(value: ExactInput) -> Fraction:
    """mu >= 0."""
    return exact(value, "mu", at_least=0)
