"""What users and the analyzer do: R (lines 18-22) and A (lines 26-30) of Algorithm 1.

Everything is integers of any size, from random bits: no float, and no wrap at 2^63.

The aggregate is known mod m. The sum of the encodings lies in 0, ..., n g, and their noise exceeds
tau rarely, so the representative in the window -tau, ..., m - 1 - tau is taken. With the paper's
m = n g + 2 tau + 1 that is n g + tau at most: the correction of line 29 is made for the same ones.
"""

from __future__ import annotations

from fractions import Fraction

from ..exact.number import ExactInput, ParameterError, whole
from ..mechanisms.additive.protocol import SumProtocol, Trust
from ..mechanisms.samplers.bits import RandomBits
from ..mechanisms.samplers.coins import rounded
from ..mechanisms.specs.released import draw


def encode(protocol: SumProtocol, reward: ExactInput, bits: RandomBits) -> int:
    """The reward, in [0, 1], as an integer in 0, ..., g of mean g times it: randomized rounding."""
    return rounded(reward, protocol.precision, bits)


def randomize(protocol: SumProtocol, reward: ExactInput, bits: RandomBits) -> int:
    """What a user with this reward sends: its encoding plus its share of the noise, mod m.

    protocol: with users' shares, or without.
    reward: in [0, 1], taken exactly (a float stands for the decimal that it prints as).
    bits: `SystemBits()` for a release, `SeededBits(seed)` in simulation.
    In 0, ..., m - 1; without a modulus any integer. In the central model users add no noise.
    Raises ParameterError for a reward out of range.

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.protocols import SumProtocol
    >>> from exactdp.mechanisms.samplers import SeededBits, SystemBits
    >>> protocol = SumProtocol(3, precision=8, accuracy=50, modulus=128, noise=Skellam(variance=1))
    >>> 0 <= randomize(protocol, "0.75", SystemBits()) < 128
    True
    >>> int(randomize(protocol, "0.75", SeededBits(1)))  # a simulation
    6
    """
    sent = encode(protocol, reward, bits)
    if protocol.trust is not Trust.CENTRAL:
        sent += draw(protocol.noise, bits, 1)[0]
    return sent if protocol.modulus is None else sent % protocol.modulus


def decode(protocol: SumProtocol, aggregate: ExactInput) -> int:
    """The noisy sum of encodings that the aggregate, in 0, ..., m - 1, stands for.

    Without a modulus it stands for itself, any integer. Raises ParameterError for an aggregate out
    of range, and for a modulus in which different sums of encodings are not told apart.
    """
    m = protocol.modulus
    if m is None:
        return whole(aggregate, "aggregate")
    if not protocol.decodes:
        least = protocol.users * protocol.precision + protocol.accuracy + 1
        raise ParameterError(
            f"modulus must be at least n g + tau + 1 = {least} for sums to be decoded, got {m}"
        )
    return protocol.decoded(whole(aggregate, "aggregate", at_least=0, at_most=m - 1))


def analyze(
    protocol: SumProtocol, aggregate: ExactInput, bits: RandomBits | None = None
) -> Fraction:
    """The estimate of the sum of rewards: the decoded aggregate over g.

    In the central model the analyzer adds the noise, mod m, to the sum that it has been trusted
    with: bits are needed there, and nowhere else.

    protocol: that of the users. aggregate: the sum mod m of what they sent. bits: as above.
    Raises ParameterError for an aggregate out of range, for a modulus too small to tell sums apart,
    and where bits are missing.

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.protocols import SumProtocol
    >>> protocol = SumProtocol(3, precision=8, accuracy=50, modulus=128, noise=Skellam(variance=1))
    >>> analyze(protocol, 18), analyze(protocol, 126)  # sums 18 and -2, in eighths
    (Fraction(9, 4), Fraction(-1, 4))
    """
    if protocol.trust is Trust.CENTRAL:
        if bits is None:
            raise ParameterError("bits must be given: in the central model A draws the noise")
        decode(protocol, aggregate)  # out of range is refused before any noise is drawn
        noisy = whole(aggregate, "aggregate") + draw(protocol.noise, bits, 1)[0]
        aggregate = noisy if protocol.modulus is None else noisy % protocol.modulus
    return Fraction(decode(protocol, aggregate), protocol.precision)
