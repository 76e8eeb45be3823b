"""What is released: laws on the integers, mechanisms, and the pairs that dominate neighbours."""

from .fixed_size import FixedSize
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
from .pair import FinitePair, MixturePair, Pair, ResponsePair, SampledPair, TwoWayPair
from .sampled import Poisson, RandomRate, Sampled, Scheme
from .shift_pair import ShiftPair, WrappedPair

__all__ = [
    "AdditiveNoise",
    "Binomial",
    "DiscreteGaussian",
    "DiscreteGaussianSum",
    "DiscreteLaplace",
    "FinitePair",
    "FiniteLaw",
    "FixedSize",
    "Law",
    "Mechanism",
    "MixturePair",
    "Moments",
    "Pair",
    "Poisson",
    "Polya",
    "PolyaDifference",
    "RandomRate",
    "RandomizedResponse",
    "ResponsePair",
    "Sampled",
    "SampledPair",
    "Scheme",
    "ShiftPair",
    "Skellam",
    "TwoWayPair",
    "UndecidedError",
    "WrappedPair",
]
