"""The local randomizer R of Algorithm 1 (lines 18-22): what one user sends.

Everything is integers of any size, from random bits: no float, and no wrap at 2^63.
"""

from __future__ import annotations

from ...exact.number import ExactInput
from ..samplers.bits import RandomBits
from ..samplers.released import draw
from ..samplers.rounding import rounded
from .protocol import SumProtocol, Trust

__all__ = ["encode", "randomize"]


def encode(protocol: SumProtocol, reward: ExactInput, bits: RandomBits) -> int:
    """The reward, in [0, 1], as an integer in 0, ..., g of mean g times it: randomized rounding."""
    return rounded(reward, protocol.precision, bits)


def randomize(protocol: SumProtocol, reward: ExactInput, bits: RandomBits) -> int:
    """What a user with this reward sends: its encoding plus its share of the noise, mod m.

    reward: in [0, 1], taken exactly (a float stands for the decimal that it prints as).
    bits: `SystemBits()` for a release, `SeededBits(seed)` in simulation.
    In 0, ..., m - 1; without a modulus any integer. In the central model users add no noise.
    Raises ParameterError for a reward out of range.
    """
    sent = encode(protocol, reward, bits)
    if protocol.trust is not Trust.CENTRAL:
        sent += draw(protocol.noise, bits, 1)[0]
    return sent if protocol.modulus is None else sent % protocol.modulus
