"""Mechanisms of which only a guarantee is known: their Rényi divergences are at most so much.

rho-zCDP: D_a <= rho a at every order; or D_b <= epsilon at the orders b up to one. They add up over
uses, whatever else is used. Of (epsilon, delta) from above: with x = e^(L - epsilon), (1 - 1/x)^+
<= c x^(a-1), c the largest of x^(1-a) (1 - 1/x), at x = a/(a-1), so that delta(epsilon) <=
    e^((a-1) (D_a - epsilon)) (1 - 1/a)^(a-1)/a
for every a > 1, of which the hints name one (Canonne, Kamath, Steinke 2020). From below: N(mu, 1)
against N(0, 1), D_a = a mu^2/2, has the guarantee. Pure, approximate and Gaussian DP are mechanisms
of their own: randomized response, and Gaussian noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .arithmetic import INFINITY, End, exp, interval, log, value
from .mechanisms import NEIGHBOURS, Continuous, Curve, Family, Parts
from .shape import number, number_text, read_choice, read_fields, read_number


@dataclass(frozen=True)
class Guaranteed(Family):
    """Anything that has it."""

    curve: Curve
    neighbours: str = "replace"

    def described(self) -> str:
        bound, order = number_text(self.curve.bound), self.curve.order
        held = f"rho = {bound}" if order is None else f"({number_text(order)}, {bound})-Rényi DP"
        return f"anything of which it is known that {held} holds"

    def above(self) -> Sequence[Parts]:
        return [((self.curve, 1),)]

    def below(self, hint: Sequence[int] = ()) -> Sequence[Parts]:
        bound, order = self.curve.bound, self.curve.order
        scale = 1 / (2 * bound) if order is None else order / (2 * bound)
        return [((Continuous("gaussian", scale, Fraction(1), self.neighbours, root=True), 1),)]


def read_guarantee(data: object) -> Guaranteed:
    """{kind, claim, neighbours}. Raises CertificateError for anything else."""
    fields = read_fields(data, "guarantee", "kind", "claim", "neighbours")
    names = {"zcdp": ("rho",), "rdp": ("order", "epsilon")}
    claim = fields["claim"]
    kind = read_choice(claim, "kind", names, "claim of a guarantee must be zcdp or rdp")
    held = read_fields(claim, "claim", "kind", *names[kind])
    bound = read_number(held[names[kind][-1]], "a guarantee", above=Fraction(0), at_most=10**4)
    order = number(above=Fraction(1), at_most=10**4)(held, "order") if kind == "rdp" else None
    return Guaranteed(Curve(bound, order), read_choice(fields, "neighbours", NEIGHBOURS))


def delta_at_most(level: End, renyi: End, order: Fraction) -> End:
    """From the Rényi divergence of this order."""
    if INFINITY in (level, renyi) or renyi > level + 40:
        return Fraction(1)
    a = interval(order)
    nats = interval((order - 1) * (Fraction(renyi) - Fraction(level)))
    whole = exp(nats + (a - 1) * log(interval(1 - 1 / order))) / a
    return min(Fraction(value(whole)[1]), Fraction(1))
