"""Protocols (R, S, A): what users send, what is summed, what is made of the sum."""

from typing import TYPE_CHECKING

from ..exact.lazy import lazily

if TYPE_CHECKING:
    from ..mechanisms.additive.error import noise_quantile, off_probability, wrap_probability
    from ..mechanisms.additive.protocol import RelaxedAggregation, SumProtocol, Trust
    from ..mechanisms.additive.shuffle import ShuffleSum
    from .parties import analyze, decode, encode, randomize
    from .provision import Provision, provisioned
    from .rounding import worst_rounding_quantile
    from .total import Least, least_accuracy, least_modulus, worst_error, worst_error_quantile

__all__ = ["Least", "Provision", "RelaxedAggregation", "ShuffleSum", "SumProtocol", "Trust"]
__all__ += ["analyze", "decode", "encode", "least_accuracy", "least_modulus", "noise_quantile"]
__all__ += ["off_probability", "provisioned", "randomize", "worst_error", "worst_error_quantile"]
__all__ += ["worst_rounding_quantile", "wrap_probability"]

_TOTAL = ["Least", "least_accuracy", "least_modulus", "worst_error", "worst_error_quantile"]
__getattr__ = lazily(
    __name__,
    {
        "..mechanisms.additive.error": ["noise_quantile", "off_probability", "wrap_probability"],
        "..mechanisms.additive.protocol": ["RelaxedAggregation", "SumProtocol", "Trust"],
        ".provision": ["Provision", "provisioned"],
        ".parties": ["analyze", "decode", "encode", "randomize"],
        ".rounding": ["worst_rounding_quantile"],
        "..mechanisms.additive.shuffle": ["ShuffleSum"],
        ".total": _TOTAL,
    },
)
