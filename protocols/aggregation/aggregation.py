"""What every secure aggregation S offers: the sum mod m of what the users sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from attrs import field, frozen

from ...exact.number import ExactInput, ParameterError, whole


class AggregationError(RuntimeError):
    """An aggregation that ended without a sum; the message says why."""


class SecureAggregation(Protocol):
    """S of a protocol (R, S, A), for one modulus: the one that the certificate names.

    >>> class Trusted:
    ...     modulus = 16
    ...     def aggregate(self, messages):
    ...         return sum(messages.values()) % self.modulus
    >>> Trusted().aggregate({"ada": 9, "bob": 9})
    2
    """

    @property
    def modulus(self) -> int:
        """m."""

    def aggregate(self, messages: Mapping[int, int]) -> int:
        """The sum mod m of the messages, which are in 0, ..., m - 1, by user.

        Raises ParameterError for a message out of range, AggregationError without a sum.
        """


def residue(value: object, modulus: int, user: int) -> int:
    """Read a user's message, an integer in 0, ..., m - 1.

    Nothing is reduced here: a message that was not reduced mod m, or in another modulus, is a
    protocol other than the one that was certified.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError(
            f"the message of user {user} must be an integer, got a {type(value).__name__}"
        )
    if not 0 <= value < modulus:
        raise ParameterError(
            f"the message of user {user} must be between 0 and m - 1 = {modulus - 1}, got {value}"
        )
    return value


@frozen
class Masking:
    """The graph of the masks, and the fewest contributors that users accept.

    neighbours  k, of each user
    threshold   t, the neighbours that must remain to unmask
    floor       no user unmasks a sum of fewer messages than these
    """

    neighbours: int
    threshold: int
    floor: int


def read_modulus(value: ExactInput) -> int:
    """Whole, at least 1."""
    return whole(value, "modulus", at_least=1)


@frozen
class PlainSum:
    """The sum mod m, by someone who sees every message: for simulation only.

    modulus: of the sums.

    >>> PlainSum(16).aggregate({"ada": 9, "bob": 9})
    2
    """

    modulus: int = field(converter=read_modulus)

    def aggregate(self, messages: Mapping[int, int]) -> int:
        """The sum mod m of the messages, which are in 0, ..., m - 1, by user.

        Raises ParameterError for a message out of range. Nobody's is the sum 0.
        """
        return (
            sum(residue(value, self.modulus, user) for user, value in messages.items())
            % self.modulus
        )
