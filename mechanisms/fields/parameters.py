"""How mechanisms read their parameters: the name and the range of each, in one place.

They are the converters of value classes. Each raises ParameterError, naming the parameter.
"""

from __future__ import annotations

from fractions import Fraction

from ...exact.number import ExactInput, exact, positive, whole
from .schema import key

MODULUS = key("what is released is taken mod this", "none")
SCALE = key("P(x) falls as e^(-|x|/scale)")
SIGMA2 = key(
    "P(x) falls as e^(-x^2/(2 sigma2)); or sigma, its root",
    spelt={"sigma": lambda root: str(exact(root, "sigma", above=0) ** 2)},
)


def variance(value: ExactInput) -> Fraction:
    """A number, 1e-9 to 1e15."""
    return positive(value, "variance")


def sigma2(value: ExactInput) -> Fraction:
    """A number, 1e-9 to 1e15."""
    return positive(value, "sigma2")


def delta(value: ExactInput) -> Fraction:
    """A number, 0 to 1."""
    return exact(value, "delta", at_least=0, at_most=1)


def epsilon(value: ExactInput) -> Fraction:
    """A number above 0, to 1000."""
    return exact(value, "epsilon", above=0, at_most=1000)


def odds(value: ExactInput) -> Fraction:
    """A number, 0 to 10000."""
    return exact(value, "epsilon", at_least=0, at_most=10_000)


def moved(value: ExactInput) -> Fraction:
    """A number above 0."""
    return exact(value, "sensitivity", above=0)


def keys(value: ExactInput) -> int:
    """A whole number, 1 to 1e6."""
    return whole(value, "keys", at_least=1, at_most=10**6)


def count(value: ExactInput) -> int:
    """A whole number from 1."""
    return whole(value, "count", at_least=1)


def trials(value: ExactInput) -> int:
    """A whole number from 1."""
    return whole(value, "trials", at_least=1)


def users(value: ExactInput) -> int:
    """Whole, at least 1."""
    return whole(value, "users", at_least=1)


def noise_bits(value: ExactInput) -> int:
    """Whole, at least 1."""
    return whole(value, "noise_bits", at_least=1)


def precision(value: ExactInput) -> int:
    """Whole, at least 1."""
    return whole(value, "precision", at_least=1)


def accuracy(value: ExactInput) -> int:
    """Whole, at least 0."""
    return whole(value, "accuracy", at_least=0)


def sensitivity(value: ExactInput) -> int:
    """A whole number, 1 to 1e9."""
    return whole(value, "sensitivity", at_least=1, at_most=10**9)


def modulus(value: ExactInput | None) -> int | None:
    """A whole number from 1, or none."""
    return None if value is None else whole(value, "modulus", at_least=1)
