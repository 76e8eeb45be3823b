"""How much privacy a mechanism costs: certified divergences of the pairs that dominate it."""

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
    "delta",
    "epsilon",
    "pure_epsilon",
    "renyi_curve",
    "renyi_divergence",
    "total_variation",
    "zcdp",
]
