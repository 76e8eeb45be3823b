"""The plain modular sum: what a secure aggregation computes, without the security."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from ...exact.number import ExactInput, whole
from .aggregation import residue

__all__ = ["PlainSum"]


def _modulus(value: ExactInput) -> int:
    return whole(value, "modulus", at_least=1)


@frozen
class PlainSum:
    """The sum mod m, by someone who sees every message: for simulation only."""

    modulus: int = field(converter=_modulus)

    def aggregate(self, messages: Mapping[int, int]) -> int:
        """The sum mod m of the messages, which are in 0, ..., m - 1, by user.

        Raises ParameterError for a message out of range. Nobody's is the sum 0.
        """
        return (
            sum(residue(value, self.modulus, user) for user, value in messages.items())
            % self.modulus
        )
