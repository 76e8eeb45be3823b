"""Over-provisioning: shares so large that n - d of them make the noise that n were to make.

If d of n users vanish, the noise of those left is too small. Let the shares be such that n - d of
them add up to the noise N that keeps the target. If fewer vanish, what is released is that sum plus
further independent shares: post-processing, so that every divergence (pure epsilon, each Rényi
divergence, zCDP, the privacy profile) is at most that of N. What it costs is error: with everyone
present the variance is n/(n - d) times that of N.

    Pólya         shape r n/(n-d) in place of r: n - d of them have the law of n before, exactly
    Skellam       variance n/(n-d): the same, exactly
    N_Z(0, s2)    sigma2 n/(n-d): the sum is N_Z(0, n s2) up to a factor e^(+-gap) of each
                  probability, before and after (`DiscreteGaussianSum.gaussian_gap`); a Rényi
                  divergence of order a then moves by at most (2a - 1)/(a - 1) gaps
    binomial      ceil(trials n/(n-d)): at least as many trials, the rest is post-processing

For Pólya shares the scale may be raised instead, the shape kept. What is left then has the shape
(n - d)/n < 1 and is no discrete Laplace: it has a peak at 0, and a pure epsilon of log p(0)/p(g)
(`largest_loss_of_noise`), so the scale has to grow by more than the variance would suggest; below
the shape 1/2 no scale may do, since p(0)/p(g) tends to a constant as the scale grows. For the
other laws a larger scale and larger shares are the same thing.
"""

from __future__ import annotations

import math
from fractions import Fraction

from attrs import evolve, frozen

from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput
from ..exact.precision import refine
from ..exact.roots import first_met_near
from ..mechanisms.additive.protocol import SumProtocol, Trust, largest_loss_of_noise, missing_users
from ..mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum
from ..mechanisms.laws.discrete_laplace import PolyaDifference
from ..mechanisms.laws.law import Law

_DIGITS = 9  # of a raised scale
_FARTHEST = 2**20  # times the scale: no larger one is tried


@frozen
class Provision:
    """A protocol that keeps its guarantee while at most `dropout` users vanish.

    protocol        with the share that does; g, tau and m as before
    changed         which parameter of the share was raised
    remaining       the noise that is left when exactly `dropout` users have vanished
    gap             bound of |log p/p'|, p of `remaining`, p' of the noise that it stands for
    variance_ratio  the variance of the noise with everyone present, over what it was
    alternative     the other way, where there is one: it costs more variance

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.protocols import SumProtocol
    >>> protocol = SumProtocol(100, 8, accuracy=200, modulus=2048, noise=Skellam(variance=1))
    >>> found = provisioned(protocol, dropout=10)
    >>> found.remaining, f"{found.variance_ratio:.3f}"
    (Skellam(variance=Fraction(100, 1)), '1.112')
    """

    protocol: SumProtocol
    dropout: int
    changed: str
    remaining: Law
    gap: Enclosure
    variance_ratio: Enclosure
    alternative: Provision | None = None


def provisioned(protocol: SumProtocol, dropout: ExactInput) -> Provision:
    """The cheaper way to keep the guarantee of the full noise if at most `dropout` users vanish.

    protocol: as it is with everyone. dropout: the most that vanish. In the central and the local
    model no noise is made of shares: nothing changes. Raises ParameterError where nobody would be
    left, and for shares of a law that cannot be enlarged.

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.protocols import SumProtocol
    >>> protocol = SumProtocol(100, 8, accuracy=200, modulus=2048, noise=Skellam(variance=1))
    >>> found = provisioned(protocol, dropout=10)
    >>> found.protocol.noise, found.changed
    (Skellam(variance=Fraction(10, 9)), 'variance')
    """
    missing = missing_users(protocol.users, dropout)
    if protocol.trust is not Trust.DISTRIBUTED:
        changed, share = "nothing", protocol.noise
    else:
        present = protocol.users - missing
        changed, share = protocol.noise.enlarged(Fraction(protocol.users, present))
    by_share = _provision(protocol, missing, changed, share)
    if not missing or protocol.trust is not Trust.DISTRIBUTED:
        return by_share
    by_scale = raised_scale(protocol, missing)
    if by_scale is None:
        return by_share
    cheaper, other = sorted((by_share, by_scale), key=lambda way: way.variance_ratio.lower)
    return evolve(cheaper, alternative=other)


def raised_scale(protocol: SumProtocol, dropout: ExactInput) -> Provision | None:
    """Pólya shares of the same shape and a larger scale that keep the pure epsilon.

    The scale has 9 digits, and the next smaller such number is too small. None for other noise,
    and where none up to 2^20 times the scale does. Raises ParameterError where nobody would be
    left.
    """
    share, missing = protocol.noise, missing_users(protocol.users, dropout)
    if not isinstance(share, PolyaDifference) or not isinstance(share.scale, Fraction):
        return None
    scale, shape = share.scale, share.shape
    g, left = protocol.precision, protocol.users - missing
    target = largest_loss_of_noise(protocol.total_noise(), g)

    def keeps(candidate: Fraction) -> bool:
        return largest_loss_of_noise(PolyaDifference(shape * left, candidate), g) <= target

    unit = Fraction(10) ** (math.floor(math.log10(scale)) + 1 - _DIGITS)
    base, farthest = math.ceil(scale / unit), math.floor(_FARTHEST * scale / unit)
    if keeps(scale):
        return _provision(protocol, missing, "scale", share)
    if not keeps(farthest * unit):
        return None
    found = first_met_near(lambda units: keeps(units * unit), base + 1, base, farthest)
    return _provision(protocol, missing, "scale", PolyaDifference(shape, found * unit))


def _provision(protocol: SumProtocol, missing: int, changed: str, share: Law) -> Provision:
    larger = evolve(protocol, noise=share)
    before, after = (each.total_noise().moments().variance for each in (protocol, larger))
    ratio = Enclosure(
        Fraction(after.lower) / Fraction(before.upper),
        Fraction(after.upper) / Fraction(before.lower),
    )
    remaining, stands_for = larger.total_noise(missing), protocol.total_noise()
    gap = Enclosure.exactly(0)
    if changed == "sigma2" and missing:
        gap = _gap(remaining).plus(_gap(stands_for))
    return Provision(larger, missing, changed, remaining, gap, ratio)


def _gap(law: Law) -> Enclosure:
    if not isinstance(law, DiscreteGaussian | DiscreteGaussianSum):
        return Enclosure.unknown()
    return Enclosure(Fraction(0), refine(law.gaussian_gap).upper)
