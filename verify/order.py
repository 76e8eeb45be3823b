"""Beyond two audited values: do all smaller noises fail a claim, and do all larger ones meet it?

For most families more noise is a post-processing of less, and the answer is yes. Where it is not,
a `Cover` decides whole intervals of values, and the walks below go from an audited value to where
one bound settles everything beyond.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN
from fractions import Fraction
from typing import Protocol

from attrs import frozen

from ..exact.budget import spend
from ..exact.rounding import to_digits
from ..mechanisms.mechanism import RandomizedResponse

_FIRST = Fraction(1, 10**9)  # the first step, relative to where it starts
_FINEST = Fraction(1, 10**12)  # a walk whose steps become finer than this is stuck
_DIGITS = 18


class Cover(Protocol):
    """What can be proved of all values in an interval. False says only: not proved."""

    @property
    def why(self) -> tuple[str, str]:
        """The proofs in words: that smaller values fail, that larger ones meet the claim."""
        ...

    def fails(self, low: Fraction | None, high: Fraction) -> bool:
        """Does every value in [low, high] fail? All with at most this noise where low is None.

        high itself has been refuted.
        """
        ...

    def meets(self, low: Fraction, high: Fraction | None) -> bool:
        """Does every value in [low, high] meet it? All with at least this noise for high = None.

        low itself has been verified.
        """
        ...


@frozen
class Monotone:
    """A family in which more noise is a post-processing of less: no cost rises with the noise."""

    proof: str

    @property
    def why(self) -> tuple[str, str]:
        return self.proof, self.proof

    def fails(self, low: Fraction | None, high: Fraction) -> bool:
        return True

    def meets(self, low: Fraction, high: Fraction | None) -> bool:
        return True


assert RandomizedResponse.calibrated.proof is not None
FLIPS = Monotone(RandomizedResponse.calibrated.proof)


def fails_down_to(cover: Cover, start: Fraction) -> Fraction:
    """Every value from here up to `start`, which fails, fails as well; 0 where all smaller do."""
    high, step = start, start * _FIRST
    while not cover.fails(None, high):
        spend()
        low = to_digits(high - min(step, high / 2), _DIGITS, ROUND_HALF_EVEN)
        if low < high and cover.fails(low, high):
            high, step = low, 3 * (high - low)
        elif step < _FINEST * high:
            return high
        else:
            step = min(step, high) / 4
    return Fraction(0)


def meets_up_to(cover: Cover, start: Fraction) -> Fraction | None:
    """Every value from `start`, which meets it, up to here does as well; None: all larger."""
    low, step = start, start * _FIRST
    while not cover.meets(low, None):
        spend()
        high = to_digits(low + min(step, low), _DIGITS, ROUND_HALF_EVEN)
        if high > low and cover.meets(low, high):
            low, step = high, 3 * (high - low)
        elif step < _FINEST * low:
            return low
        else:
            step = min(step, low) / 4
    return None
