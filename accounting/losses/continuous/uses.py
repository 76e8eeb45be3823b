"""Uses of continuous mechanisms as the laws of their losses, in one direction.

*Both ways round.* What has the profile of Poisson sampling, the user removed, either way round
dominates batches of a fixed size (`sampling.fixed_size`). It is composed on a lattice
(`grid.cells`), with H(g) = 1 - g + g H(1/g) for g < 1.

*Rényi.* With r = dP'/dQ, e^((a-1) D_a) of the two-way pair is 1 + int over {r > 1} of (r^a +
r^(1-a) - r - 1) dQ. The integrand is (r^a - r)(1 - r^-a) >= 0 for all r > 0, so that it is at most
E_Q r^a + E_Q r^(1-a) - 1, both sides of Poisson sampling. *rho* is at most that without sampling,
and for the Gaussian attained by the pair that is composed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from flint import acb, arb

from ....exact.enclosure import Enclosure
from ....exact.number import ball
from ....exact.precision import WIDTH, refine
from ....exact.square_root import square_root
from ....mechanisms.bracket import is_bracketed
from ....mechanisms.continuous import ContinuousNoise, Shape, continuous
from ....mechanisms.mechanism import Mechanism, either_way
from ....mechanisms.sampled import RandomRate
from ....mechanisms.sampling.allocation import Allocation
from ....mechanisms.sampling.fixed_size import TwoWay
from ...scenario import Use
from . import profile
from .inversion import Parts
from .mixture import LineLaw, MixtureLoss, SampledNoise
from .sampled_gaussian import SampledGaussian
from .sampled_laplace import SampledLaplace

Continuous: TypeAlias = LineLaw | Allocation | TwoWay  # what has no outcomes to list


def plain_law(
    one: TwoWay | ContinuousNoise, removing: bool = True
) -> SampledGaussian | SampledLaplace:
    """The loss of Poisson sampling at the same rate."""
    noise = one.mechanism if isinstance(one, TwoWay) else one
    assert isinstance(noise, ContinuousNoise)
    if noise.shape is Shape.GAUSSIAN:
        return SampledGaussian(noise.rate, noise.scale / noise.sensitivity, removing)
    assert isinstance(noise.move, Fraction)
    return SampledLaplace(noise.rate, noise.move, removing)


def two_way_renyi(one: TwoWay, order: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """Its Rényi divergence at this order > 1."""

    def compute() -> arb:
        c, rise = ball(order - 1), arb(-1)
        for way in (True, False):
            rise += plain_law(one, way).transform(acb(c)).real
        return (rise.log() / c).min(plain_law(one).log_unsampled(c) / c)

    return profile.renyi(plain_law(one), order, width).hull(refine(compute, width=width))


def continuous_loss(mechanism: Mechanism) -> Continuous | None:
    """The loss of one use of continuous noise, or how users take part in it where that is not known
    by one loss; None for anything else.
    """
    inner = either_way(mechanism)
    if isinstance(inner, RandomRate):
        each = [(weight, continuous_loss(part)) for weight, part in inner.parts]
        laws = tuple((weight, law) for weight, law in each if isinstance(law, SampledNoise))
        return MixtureLoss(laws) if len(laws) == len(each) else None
    if isinstance(inner, ContinuousNoise):
        return plain_law(inner, inner.removing)
    if isinstance(inner, TwoWay) and isinstance(inner.mechanism, ContinuousNoise):
        return inner
    if not isinstance(inner, Allocation) or inner.taken < inner.steps:
        return inner if isinstance(inner, Allocation) else None
    noise = inner.scale / inner.sensitivity / square_root(Fraction(inner.steps))
    return SampledGaussian(Fraction(1), noise, True)


def has_no_outcomes(mechanism: Mechanism) -> bool:
    """Is it of continuous laws, or known by other mechanisms, and has no pairs of laws itself?"""
    return is_bracketed(mechanism) or continuous_loss(mechanism) is not None


def continuous_noise(mechanism: Mechanism) -> ContinuousNoise | None:
    """The continuous noise that this is: where a scheme samples it, as at its rate on the whole.

    None for what is discrete.
    """
    inner = either_way(mechanism)
    if isinstance(inner, RandomRate) and (plain := continuous(inner.mechanism)):
        return continuous(plain.at_rate(inner.rate, inner.removing))
    return continuous(inner.mechanism if isinstance(inner, TwoWay) else inner)


def single_law(mechanism: Mechanism) -> LineLaw:
    """The loss of a single use of continuous noise; of `TwoWay` that of either way."""
    law = continuous_loss(mechanism)
    law = plain_law(law) if isinstance(law, TwoWay) else law
    assert isinstance(law, LineLaw)
    return law


def parts_of(uses: Sequence[Use]) -> Parts | None:
    """The losses of these uses where `profile` measures them, of Gaussian noise or of a single use;
    None elsewhere.
    """
    laws = [(continuous_loss(use.mechanism), use.times) for use in uses]
    parts = [(law, n) for law, n in laws if isinstance(law, LineLaw)]
    gaussian = all(isinstance(law, SampledGaussian) for law, _ in parts)
    known = gaussian or sum(n for _, n in profile.merged(parts)) <= 1
    return parts if parts and len(parts) == len(laws) and known else None
