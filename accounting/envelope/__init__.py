"""The Gaussian envelope of integer noise: the mu_1 with which it makes vectors mu_1 |v|_2-GDP.

    unit      mu_1 of a law, and why some have none; the best mu for one shift
    rounded   real vectors, rounded at random before the noise is added: Rényi divergences, and a
              Gaussian that dominates all but a little mass
    trimmed   binomial noise, which has none: a law next to it, and how far off that is
    cells     cells of the normal law: what curvature says of their width

The mathematics with all proofs: `docs/envelope.md`, of rounding `docs/rounding.md`.
"""

from .rounded import rounded_distance, rounded_factor, rounded_renyi
from .trimmed import Trimmed, trimmed
from .unit import NoEnvelopeError, distance, distance_at, unit_parameter

__all__ = [
    "NoEnvelopeError",
    "Trimmed",
    "distance",
    "distance_at",
    "rounded_distance",
    "rounded_factor",
    "rounded_renyi",
    "trimmed",
    "unit_parameter",
]
