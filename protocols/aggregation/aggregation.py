"""What every secure aggregation S offers: the sum mod m of what the users sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, whole
from ...mechanisms.samplers.bits import RandomBits

if TYPE_CHECKING:
    from .masked import Stage, Terms


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


class SummedArrays(NamedTuple):
    """A sum of arrays mod m.

    users: whose messages are in it. present: how many sent each stage's message. bits: that one of
    them sent at most, all messages together. terms: of the masks; None without masks.
    """

    total: NDArray[np.uint64]
    users: frozenset[int]
    present: Mapping[str, int]
    bits: int
    terms: Terms | None = None


def sum_arrays(
    send: Callable[[int], NDArray[np.uint64]],
    users: int,
    size: int,
    width: int,
    bits: RandomBits,
    vanish: Mapping[int, Stage],
    dropout: ExactInput | None,
) -> SummedArrays:
    """Sum what users 0, 1, ... send, arrays of `size` integers mod 2^width, one after the other.

    vanish: users, and the first stage at which they send nothing. dropout: the most that may be
    missing from a masked sum; None for a plain one, which hides nothing.
    """
    if dropout is not None:
        from .masked import MaskedSum

        messages = {user: partial(send, user) for user in range(users)}
        masked = MaskedSum(1 << width, bits=bits, dropout=dropout)
        played = masked.play_vectors(messages, size, vanish)
        present = {stage.name: count for stage, count in played.present.items()}
        return SummedArrays(played.sums, played.summed, present, played.bits, played.terms)
    total, there = np.zeros(size, dtype=np.uint64), [n for n in range(users) if n not in vanish]
    for user in there:
        total += send(user)  # mod 2^64, which 2^width divides
    total &= np.uint64((1 << width) - 1)
    return SummedArrays(total, frozenset(there), {"INPUT": len(there)}, width * size)
