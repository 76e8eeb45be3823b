"""What is released: laws on the integers, mechanisms, and the pairs that dominate neighbours."""

from .binomial import Binomial
from .discrete_gaussian import DiscreteGaussian
from .discrete_gaussian_sum import DiscreteGaussianSum
from .discrete_laplace import DiscreteLaplace
from .finite import FiniteLaw
from .law import Law, Moments, UndecidedError
from .mechanism import AdditiveNoise, Mechanism, RandomizedResponse
from .pair import FinitePair, Pair, ResponsePair, ShiftPair, WrappedPair
from .polya import Polya, PolyaDifference
from .skellam import Skellam

__all__ = [
    "AdditiveNoise",
    "Binomial",
    "DiscreteGaussian",
    "DiscreteGaussianSum",
    "DiscreteLaplace",
    "FinitePair",
    "FiniteLaw",
    "Law",
    "Mechanism",
    "Moments",
    "Pair",
    "Polya",
    "PolyaDifference",
    "RandomizedResponse",
    "ResponsePair",
    "ShiftPair",
    "Skellam",
    "UndecidedError",
    "WrappedPair",
]
