"""N(mu, 1) against N(0, 1): Gaussian noise with mu = sensitivity/sigma, also in Euclidean norm.

With Phi the normal distribution function (Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2022):

    delta(level) = Phi(mu/2 - level/mu) - e^level Phi(-mu/2 - level/mu)
    Renyi        = order mu^2/2, hence rho = mu^2/2; pure epsilon is infinite
    trade-off    = Phi(Phi^-1(1 - a) - mu)

The loss is N(mu^2/2, mu^2), and independent losses add up: K uses are one of mu sqrt(K). The pair
is symmetric under reflection, so both directions cost the same.
"""

from __future__ import annotations

from flint import arb

from ..envelope.cells import upper


def delta(mu: arb, level: arb) -> arb:
    """delta(level), also at a negative level; mu > 0."""
    near, far = upper(level / mu - mu / 2), upper(level / mu + mu / 2)
    return (near - level.exp() * far).max(arb(0)).min(arb(1))
