"""Probability laws on the integers, one a file: exact PMFs, tails, and proved shapes."""

from .binomial import Binomial
from .discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum
from .discrete_laplace import DiscreteLaplace, PolyaDifference
from .finite import FiniteLaw
from .law import Law, Moments, UndecidedError
from .polya import Polya
from .skellam import Skellam

__all__ = ["Binomial", "DiscreteGaussian", "DiscreteGaussianSum", "DiscreteLaplace", "FiniteLaw"]
__all__ += ["Law", "Moments", "Polya", "PolyaDifference", "Skellam", "UndecidedError"]
