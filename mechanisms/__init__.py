"""What is released: laws on the integers, mechanisms, and the pairs that dominate neighbours."""

from .laws import (
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    Law,
    Moments,
    Polya,
    PolyaDifference,
    Skellam,
    UndecidedError,
)
from .mechanism import AdditiveNoise, Mechanism, RandomizedResponse
from .pairs.pair import (
    FinitePair,
    MixturePair,
    Pair,
    ResponsePair,
    SampledPair,
    ShiftPair,
    TwoWayPair,
    WrappedPair,
)
from .sampled import Poisson, RandomRate, Sampled, Scheme
from .sampling.fixed_size import FixedSize

__all__ = ["AdditiveNoise", "Binomial", "DiscreteGaussian", "DiscreteGaussianSum"]
__all__ += ["DiscreteLaplace", "FinitePair", "FiniteLaw", "FixedSize", "Law", "Mechanism"]
__all__ += ["MixturePair", "Moments", "Pair", "Poisson", "Polya", "PolyaDifference", "RandomRate"]
__all__ += ["RandomizedResponse", "ResponsePair", "Sampled", "SampledPair", "Scheme", "ShiftPair"]
__all__ += ["Skellam", "TwoWayPair", "UndecidedError", "WrappedPair"]
