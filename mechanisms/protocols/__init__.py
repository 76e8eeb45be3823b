"""Protocols (R, S, A): what users send, what is summed, what is made of the sum."""

from .protocol import SumProtocol, Trust
from .relaxed import RelaxedAggregation
from .shuffle import ShuffleSum

__all__ = ["RelaxedAggregation", "ShuffleSum", "SumProtocol", "Trust"]
