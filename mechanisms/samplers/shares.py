"""One user's share of a noise: n independent shares add up to exactly the law."""

from __future__ import annotations

from ...exact.number import ExactInput
from ..laws.law import Law
from ..laws.shares import share_of
from .bits import RandomBits
from .draw import sampler

__all__ = ["draw_share", "share_of"]


def draw_share(law: Law, users: ExactInput, bits: RandomBits) -> int:
    """What one of `users` users adds, drawn exactly: the sum over all of them has this law.

    Raises ParameterError where the law has no equal shares (`share_of`).
    """
    return sampler(share_of(law, users))(bits)
