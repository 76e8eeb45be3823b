"""Closed forms that some noise has: the engine asks for each, and does without where there is none.

    if isinstance(law, ClosedRenyi): ...

A law has one by having its methods; `Law` itself knows of none. Methods compute at the working
precision; shift: by how much neighbours move the query.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from flint import arb

if TYPE_CHECKING:
    from .finite import FiniteLaw
    from .law import Law

__all__ = ["AttainsLimit", "BoundedCurvature", "ClosedDifference", "ClosedRenyi", "ClosedZCDP"]
__all__ += ["Gaussians", "RationalRenyi", "Tabulated", "ZCDPTail", "table_of"]


@runtime_checkable
class Tabulated(Protocol):
    """Few outcomes of rational probability."""

    def listed(self) -> FiniteLaw | None:
        """The same law as a table of exact probabilities, where it is a short one."""


def table_of(law: Law) -> FiniteLaw | None:
    """The same law as a table of exact probabilities; None where it has no short one."""
    return law.listed() if isinstance(law, Tabulated) else None


@runtime_checkable
class AttainsLimit(Protocol):
    """The limit of the loss, `Law.loss_limit`, is the loss of the outcome 0."""

    def wrapped_loss(self, shift: int, modulus: int) -> arb:
        """The largest loss of X mod modulus, that of 0."""


@runtime_checkable
class BoundedCurvature(Protocol):
    """A bound of s(y - shift) - s(y), where s(y) = log p(y)/p(y-1), for outcomes x <= 0."""

    def steepening(self, x: int, shift: int) -> arb:
        """Bound the sup over y <= x.

        How fast the privacy loss may still grow beyond x: what tails of Rényi sums need where
        `Law.loss_limit` is None.
        """


@runtime_checkable
class ClosedRenyi(Protocol):
    """Rényi divergences are one expression."""

    def renyi_sum(self, order: arb, shift: int) -> arb | None:
        """sum p(x)^order p(x - shift)^(1 - order); None where these parameters have none."""


@runtime_checkable
class RationalRenyi(Protocol):
    """Rényi divergences are rational at some orders, and met at these by their supremum."""

    def renyi_exact(self, order: Fraction, shift: int) -> Fraction | None:
        """The Rényi divergence itself, where it is known to be this rational."""

    def zcdp_exact(self, shift: int) -> Fraction:
        """sup over order > 1 of (Rényi divergence)/order."""


@runtime_checkable
class ClosedZCDP(Protocol):
    """rho lies in a narrow interval."""

    def zcdp_closed(self, shift: int) -> arb | None:
        """sup over order > 1 of (Rényi divergence)/order; None where these parameters have none."""


@runtime_checkable
class ZCDPTail(Protocol):
    """What rho needs where the loss has no limit."""

    def zcdp_tail(self, order: Fraction, shift: int) -> arb:
        """Bound (Rényi divergence)/order for all orders from this one on."""


@runtime_checkable
class ClosedDifference(Protocol):
    """The difference of two independent copies has tails in closed form."""

    def difference_tail(self, t: int) -> arb:
        """P(X - X' >= t), t >= 0."""


@runtime_checkable
class Gaussians(Protocol):
    """A sum of discrete Gaussians of one sigma2, and how nearly it is one itself."""

    @property
    def gaussians(self) -> int:
        """How many."""

    @property
    def sigma2(self) -> Fraction:
        """Of each."""

    def gaussian_gap(self) -> arb:
        """Bound |log p(x)/p'(x)| for all x, p' the discrete Gaussian that it nearly is."""
