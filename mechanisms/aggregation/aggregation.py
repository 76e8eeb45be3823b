"""What every secure aggregation S offers: the sum mod m of what the users sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["AggregationError", "SecureAggregation"]


class AggregationError(RuntimeError):
    """An aggregation that ended without a sum; the message says why."""


class SecureAggregation(Protocol):
    """S of a protocol (R, S, A), for one modulus: the one that the certificate names."""

    @property
    def modulus(self) -> int:
        """m."""
        ...

    def aggregate(self, messages: Mapping[int, int]) -> int:
        """The sum mod m of the messages, which are in 0, ..., m - 1, by user.

        Raises ParameterError for a message out of range, AggregationError without a sum.
        """
        ...
