"""Real vectors rounded at random are hidden like the vectors themselves, but for a little mass.

Setting and notation as in `rounded`; Z is N(0, 1), t > 0 a threshold, h = Phibar(t - mu) and
w(z) = e^(mu z - mu^2/2). Then for every y there is a law G with (1 - b) G <= P <= G + b, b being h
times the sum of the fractions of the |y_i|, for which (G, Q) is post-processing of N(nu |y|, 1)
against N(0, 1), where nu = mu (1 + mu t/2 + ...), namely

    nu = max((Phibar(t - mu) - Phibar(t))/phi(t),  (w(t) - 1 + h)/(t (1 - h))),

if t >= nu and h < 1. In d coordinates the fractions add up to at most min(d, sqrt(d) |y|).

*Proof.* Let y = f < 1 first. P is post-processing of (1-f) N(0, 1) + f N(mu, 1), of density
1 - f + f w to N(0, 1). Cut w off at its value at t, and divide by the mass 1 - f k that is left,
k <= h: that is G, it has (1 - f k) G <= P <= (1 - f k) G + f k, and its density rises, so that
half-lines {z > x} are the best tests. With e = f nu they are never better than those of N(e, 1):

    x <= t   G(z > x) <= P(z > x), as P is larger by f k before the division. Is Phibar(x - e) at
             least Phibar(x) + f (Phibar(x - mu) - Phibar(x))? At f = 0 they are equal; at f = 1 it
             is, as nu >= mu. As a function of f the left side is convex while x >= e and concave
             from there on; its slope at 0, nu phi(x), is at least phi(x) times the integral of
             e^(x u - u^2/2) over 0 < u < mu, which rises in x: so it is in between, too.
    x >= t   Phibar(x - e) >= Phibar(x) + e phi(x) >= Phibar(x) (1 + e t), as x >= e; and G(z > x) =
             Phibar(x) (1 + f (w(t) - 1))/(1 - f k) is no more by the choice of nu.

Of y = m + f take this moved by mu m: tests of level Phibar(x) have at most the power
Phibar(x - mu m - f nu) <= Phibar(x - nu y), and the density rises still. Products: the kernels'
products, distances nu |y_i|, and the product of all 1 - f_i k is at least 1 - b.

Sampled, (1-q) Q + q P, the same holds of (1-q) Q + q G, and over K uses of K b.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from ...exact.number import ExactInput, ball, exact, whole
from ...exact.precision import enclose, working_precision
from ...mechanisms.laws.law import Law
from .cells import mass, quantile
from .unit import unit_parameter

_BITS = 192


def rounded_distance(law: Law, l2: ExactInput, dimension: int, missed: ExactInput) -> Fraction:
    """A distance of Gaussians that dominates a use but for this probability, at most.

    With b = missed there is a law G, (1 - b) G <= P <= G + b, so that (G, Q) is post-processing of
    N(distance, 1) against N(0, 1), P being the law with the user. So over K uses P(S) is at most
    e^epsilon Q(S) + delta(epsilon) + K b, and Q(S) at most e^epsilon P(S) + delta(epsilon + log(1 -
    K b)), delta the Gaussians' profile; the same of samples, each with its own user's coin.

    The least of three: every vector shorter than l2 + sqrt(d) (nothing missed); the bound on its
    length of `mechanisms.protocols.federated.rounding`, missed with probability b; and nu l2.

    Raises NoEnvelopeError where no Gaussian envelope of the noise is proved.

    >>> from exactdp.mechanisms.laws import Skellam
    >>> f"{float(rounded_distance(Skellam(250000), 500, 2**20, '1e-9')):.4f}"
    '1.0079'
    """
    norm, b = exact(l2, "l2", at_least=0), exact(missed, "missed", above=0, below=1)
    size = whole(dimension, "dimension", at_least=1)
    if norm == 0:
        return Fraction(0)
    with working_precision(_BITS):
        mu, c, root = ball(Fraction(unit_parameter(law).upper)), ball(norm), arb(size).sqrt()
        spread = (-2 * ball(b).log()).sqrt() * (c + root / 2)
        found = [mu * (c + root), mu * (c**2 + root**2 / 4 + spread).sqrt()]
        fractions = (root * c).min(root**2)
        if (nu := _steepest(mu, (ball(b) / fractions).lower())) is not None:
            found.append(nu * c)
        return min(Fraction(enclose(each.upper()).upper) for each in found)


def _steepest(mu: arb, cut: arb) -> arb | None:
    """nu for h = cut; None where it is not proved."""
    if not cut < 0.5:
        return None
    t = mu + quantile(cut)
    slope = mass(t - mu, mu) * (2 * arb.pi()).sqrt() * (t**2 / 2).exp()
    last = (mu * t - mu**2 / 2).expm1() + cut
    nu = slope.max(last / (t * (1 - cut)))
    return nu if t >= nu else None
