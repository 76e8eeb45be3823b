"""What every test of samples shares: its two answers, its error and its power, in one place."""

from __future__ import annotations

from enum import Enum

from ...exact.number import ExactInput, ParameterError, exact

ERROR = 1e-6  # the probability of a false alarm, over everything that one call tests
POWER = 0.95  # the probability at which a violation counts as one that would have been found


class SampleVerdict(Enum):
    """What samples can say. They never prove that a claim is true."""

    VIOLATION = "VIOLATION FOUND"
    NONE = "NO VIOLATION FOUND"

    def __bool__(self) -> bool:
        raise TypeError("a verdict is not true or false: compare it with SampleVerdict.VIOLATION")


def read_error(error: ExactInput) -> float:
    """Read an error probability: at least 1e-12, where scipy's quantiles are still accurate."""
    value = float(exact(error, "error", above=0, below=1))
    if not 1e-12 <= value <= 0.5:
        raise ParameterError(f"error must be between 1e-12 and 0.5, got {error}")
    return value
