"""Mechanisms of which nothing is known but a guarantee: the worst of all that have it.

*Pure and (epsilon, delta)-DP*: randomized response of these numbers; every mechanism that has the
guarantee is post-processing of it (`ResponsePair`). *mu-Gaussian DP*: N(mu, 1) against N(0, 1), by
definition. These are mechanisms like any other, in every list and for sampled users.

*rho-zCDP and Rényi DP of one order* have no worst mechanism. In a list their Rényi divergences are
at most what the guarantee says, and they are dominated by the pair of `moment_profile`; N(mu, 1)
against N(0, 1) with mu^2/2 <= rho has the guarantee, and so have some pairs of two outcomes
(`accounting.guarantees`).

*Beyond its order a* a Rényi guarantee, however small, bounds nothing: where dP/dQ is e^k, k >= 1,
with the Q-mass t k^-2 e^(-ak) and both laws are alike elsewhere but for a factor, D_b is infinite
at every b > a, and as t -> 0 D_a becomes as small as is asked, both ways round.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from attrs import field, frozen

from ...exact.number import ParameterError, exact
from ...exact.square_root import square_root
from ..bracket import Bracket, Bracketed, RenyiCurve
from ..continuous import ContinuousNoise, Shape
from ..mechanism import Mechanism, RandomizedResponse
from ..sampled import check_neighbours
from .moment_profile import dominating_pair
from .schemes import with_users

KINDS = {
    "pure": ("epsilon",),
    "approx": ("epsilon", "delta"),
    "rdp": ("order", "epsilon"),
    "zcdp": ("rho",),
    "gdp": ("mu",),
}
_WHY = "the worst of all that have the guarantee is not known"


def _curve(curve: RenyiCurve) -> RenyiCurve:
    exact(curve.bound, "epsilon" if curve.order else "rho", above=0, at_most=10_000)
    return curve


@frozen
class Guaranteed(Bracketed):
    """Any mechanism whose Rényi divergences this curve bounds, for these neighbours."""

    curve: RenyiCurve = field(converter=_curve)
    neighbours: str = field(default="replace")

    def __attrs_post_init__(self) -> None:
        check_neighbours(self.neighbours, Fraction(1))

    def bracket(self) -> Bracket:
        """A Gaussian that has the guarantee, and what dominates all mechanisms that have it."""
        upper = self.alike(dominating_pair(self.curve))
        return Bracket([self._gaussian()], [upper], curve=self.curve, reason=_WHY)

    def alike(self, pair: Mechanism) -> Mechanism:
        """This pair, which has the guarantee, for the same neighbours."""
        return with_users({"neighbours": self.neighbours}, pair)

    def _gaussian(self) -> Mechanism:
        """N(mu, 1) against N(0, 1) has a mu^2/2 at order a."""
        bound, order = self.curve.bound, self.curve.order
        scale = square_root(1 / (2 * bound) if order is None else order / (2 * bound))
        return ContinuousNoise(Shape.GAUSSIAN, scale, neighbours=self.neighbours)


def read_guarantee(values: Mapping[str, str]) -> Mechanism:
    """The mechanism of `guarantee:KIND:numbers`; claim: KIND:numbers."""
    kind, _, rest = values["claim"].partition(":")
    names, numbers = KINDS.get(kind), rest.split(",")
    if names is None or len(numbers) != len(names):
        forms = ", ".join(f"{one}:{','.join(n.upper() for n in KINDS[one])}" for one in KINDS)
        raise ParameterError(f"claim must be one of {forms}, got {values['claim'][:40]!r}")
    read = {name: number.strip() for name, number in zip(names, numbers, strict=True)}
    if kind in ("pure", "approx"):
        return with_users(values, RandomizedResponse(**read))
    size = {name: exact(number, name, at_least=0) for name, number in read.items()}
    if kind == "gdp":
        if not size["mu"]:
            return with_users(values, RandomizedResponse(0))
        return with_users(values, ContinuousNoise(Shape.GAUSSIAN, Fraction(1), size["mu"]))
    nothing = with_users(values, RandomizedResponse(0))
    if getattr(nothing, "rate", 1) != 1:
        raise ParameterError(
            f"poisson must not be given with {kind}: what it is worth for sampled users does not "
            "follow from it (of pure, approx and gdp it does)"
        )
    order = exact(read["order"], "order", above=1, at_most=10_000) if kind == "rdp" else None
    bound = size["epsilon" if order else "rho"]
    if not bound:
        return nothing
    return Guaranteed(RenyiCurve(bound, order), values.get("neighbours", "replace"))
