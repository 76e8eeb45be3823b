"""Hockey-stick divergence of composed mechanisms, and its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..exact.enclosure import Enclosure

if TYPE_CHECKING:
    from .budget import Use

__all__ = ["composed_delta", "composed_epsilon"]


def composed_delta(
    uses: Sequence[Use], epsilon: Fraction, width: Fraction, cap: int
) -> Enclosure:
    """The least delta of (epsilon, delta)-DP."""
    raise NotImplementedError


def composed_epsilon(
    uses: Sequence[Use], delta: Fraction, width: Fraction, cap: int
) -> Enclosure:
    """The least epsilon of (epsilon, delta)-DP."""
    raise NotImplementedError
