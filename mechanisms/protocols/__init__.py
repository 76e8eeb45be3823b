"""Protocols (R, S, A): what users send, what is summed, what is made of the sum."""

from .analyzer import analyze, decode
from .protocol import SumProtocol, Trust
from .randomizer import encode, randomize
from .relaxed import RelaxedAggregation
from .shuffle import ShuffleSum

__all__ = ["RelaxedAggregation", "ShuffleSum", "SumProtocol", "Trust"]
__all__ += ["analyze", "decode", "encode", "randomize"]
