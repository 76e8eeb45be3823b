"""The plain modular sum: what a secure aggregation computes, without the security."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...exact.number import ExactInput, whole
from .aggregation import residue

__all__ = ["PlainSum"]


@dataclass(frozen=True)
class PlainSum:
    """The sum mod m, by someone who sees every message: for simulation only."""

    modulus: int

    def __init__(self, modulus: ExactInput) -> None:
        object.__setattr__(self, "modulus", whole(modulus, "modulus", at_least=1))

    def aggregate(self, messages: Mapping[int, int]) -> int:
        """The sum mod m of the messages, which are in 0, ..., m - 1, by user.

        Raises ParameterError for a message out of range. Nobody's is the sum 0.
        """
        return (
            sum(residue(value, self.modulus, user) for user, value in messages.items())
            % self.modulus
        )
