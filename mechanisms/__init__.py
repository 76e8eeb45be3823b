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
from .pair import FinitePair, Pair, ResponsePair, SampledPair, ShiftPair, TwoWayPair, WrappedPair
from .sampled import Sampled

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
    "Moments",
    "Pair",
    "Polya",
    "PolyaDifference",
    "RandomizedResponse",
    "ResponsePair",
    "Sampled",
    "SampledPair",
    "ShiftPair",
    "Skellam",
    "TwoWayPair",
    "UndecidedError",
    "WrappedPair",
]
