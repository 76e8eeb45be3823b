"""The laws that specs, certificates and calibration know by name: a new law is one more line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from .binomial import Binomial
from .discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum
from .discrete_laplace import DiscreteLaplace, PolyaDifference
from .law import Law
from .skellam import Skellam

_LAWS: tuple[type[Law], ...] = (
    DiscreteLaplace,
    PolyaDifference,
    Skellam,
    DiscreteGaussian,
    DiscreteGaussianSum,
    Binomial,
)
FAMILIES = {law.name: law for law in _LAWS}
BY_VARIANCE: Mapping[str, Callable[[Fraction], Law]] = {  # of one parameter: about the variance
    law.name: law for law in (Skellam, DiscreteGaussian)
}
