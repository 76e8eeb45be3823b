"""The numbers of privacy notions, each read in its range: converters of fields of their names."""

from __future__ import annotations

from fractions import Fraction

from ..exact.number import ExactInput, exact


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
