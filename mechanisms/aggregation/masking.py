"""What a certificate names of the masks under which a sum is released."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Masking"]


@dataclass(frozen=True)
class Masking:
    """The graph of the masks, and the fewest contributors that users accept.

    neighbours  k, of each user
    threshold   t, the neighbours that must remain to unmask
    floor       no user unmasks a sum of fewer messages than these
    """

    neighbours: int
    threshold: int
    floor: int
