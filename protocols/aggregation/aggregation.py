"""What every secure aggregation S offers: the sum mod m of what the users sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from attrs import cmp_using, field, frozen
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, whole
from ...mechanisms.samplers.bits import RandomBits

if TYPE_CHECKING:
    from .masked import MaskedSum, Terms


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


class Stage(Enum):
    """What a user sends next; without masks there is the input alone."""

    KEYS = 0
    SHARES = 1
    INPUT = 2
    CONFIRMATION = 3
    UNMASKING = 4
    DONE = 5

    @property
    def next(self) -> Stage:
        """The stage after this one."""
        return Stage(self.value + 1)


@frozen
class Round:
    """What a round came to.

    terms    of the masks; None without masks
    sums     mod m, of the messages of `summed`: a tuple, or the array that they were
    summed   the users whose input arrived in time
    present  how many sent each stage's message
    seconds  what each stage took, the server and all users together; DONE is the unmasking
    bits     that one user sent at most, all messages together
    simulated  whether the bits of its masks were a seed's: then no sum of it is a release
    """

    terms: Terms | None
    sums: Any = field(eq=cmp_using(eq=np.array_equal))
    summed: frozenset[int]
    present: Mapping[Stage, int]
    seconds: Mapping[Stage, float] = field(eq=False)
    bits: int
    simulated: bool

    @property
    def present_by_name(self) -> Mapping[str, int]:
        """`present` by the stages' names."""
        return {stage.name: count for stage, count in self.present.items()}


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
        whole_sum = sum(residue(value, self.modulus, user) for user, value in messages.items())
        return whole_sum % self.modulus

    def play(self, messages: Mapping[int, Sequence[int]], vanish: Mapping[int, Stage]) -> Round:
        """The same of those who do not vanish, one integer each, with what happened."""
        start = time.perf_counter()
        there = {user: each for user, (each,) in messages.items() if user not in vanish}
        return self._round((self.aggregate(there),), there, 1, start)

    def play_vectors(
        self,
        messages: Mapping[int, Callable[[], NDArray[np.uint64]]],
        length: int,
        vanish: Mapping[int, Stage],
    ) -> Round:
        """The same of arrays of so many integers mod 2^bits, made one after the other."""
        start = time.perf_counter()
        there = {user: send for user, send in messages.items() if user not in vanish}
        total = np.zeros(length, dtype=np.uint64)
        for send in there.values():
            total += send()  # mod 2^64, which the modulus divides
        return self._round(total & np.uint64(self.modulus - 1), there, length, start)

    def _round(self, sums: Any, there: Mapping[int, Any], length: int, start: float) -> Round:
        took, bits = time.perf_counter() - start, length * (self.modulus - 1).bit_length()
        present, seconds = {Stage.INPUT: len(there)}, {Stage.INPUT: took}
        return Round(None, sums, frozenset(there), present, seconds, bits, False)


def summing_arrays(
    width: int, bits: RandomBits, dropout: ExactInput | None
) -> PlainSum | MaskedSum:
    """What sums arrays mod 2^width. dropout: the most that may be missing from a masked sum; None:
    a plain one, which hides nothing.
    """
    if dropout is None:
        return PlainSum(1 << width)
    from .masked import MaskedSum

    return MaskedSum(1 << width, bits=bits, dropout=dropout)
