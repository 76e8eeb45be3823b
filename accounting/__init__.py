"""How much privacy a mechanism costs: certified divergences of the pairs that dominate it."""

from .budget import Budget, Use, compose
from .divergence import (
    delta,
    epsilon,
    pure_epsilon,
    renyi_curve,
    renyi_divergence,
    total_variation,
    zcdp,
)

__all__ = [
    "Budget",
    "Use",
    "compose",
    "delta",
    "epsilon",
    "pure_epsilon",
    "renyi_curve",
    "renyi_divergence",
    "total_variation",
    "zcdp",
]
