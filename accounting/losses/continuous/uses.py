"""Uses of continuous mechanisms as the laws of their losses, in one direction.

*Batches of a fixed size*; neighbours replace one user. `mechanisms.fixed_size` proves, of any
symmetric pair (P, Q) whose profile h is the largest of two batches in which one user is replaced,
that with q = size/population no two datasets have a larger profile than q h(1 + (g - 1)/q), g >= 1,
either way round: that is attained, one way round and throughout, by P' = (1-q) Q + q P against Q,
whose laws are those of Poisson sampling with the user removed.

One use is exact, then; several lie between that pair, composed, and the pair that has the profile
both ways round. Of that H(g) = 1 - g + g H(1/g) for g < 1; it is composed on a lattice
(`grid.cells`). It costs no more than no sampling: by convexity q h(1 + (g-1)/q) <= h(g), h(1) <=
1, both ways.

*Rényi.* With r = dP'/dQ, e^((a-1) D_a) of the two-way pair is 1 + int over {r > 1} of (r^a +
r^(1-a) - r - 1) dQ. The integrand is (r^a - r)(1 - r^-a) >= 0 for all r > 0, so that it is at most
E_Q r^a + E_Q r^(1-a) - 1, both sides of Poisson sampling. *rho* is at most that without sampling,
and for the Gaussian attained by the pair that is composed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import acb, arb

from ....exact.enclosure import Enclosure
from ....exact.number import ball
from ....exact.precision import WIDTH, refine
from ....exact.square_root import square_root
from ....mechanisms.allocation import allocation
from ....mechanisms.continuous import ContinuousNoise, Shape, continuous
from ....mechanisms.dominating import dominated
from ....mechanisms.fixed_size import FixedSize
from ....mechanisms.mechanism import Mechanism, either_way
from ....mechanisms.sampled import RandomRate
from ....mechanisms.vector import vector
from ...scenario import Use
from . import profile
from .inversion import Parts
from .mixture import LineLaw, MixtureLoss
from .sampled_gaussian import SampledGaussian
from .sampled_laplace import SampledLaplace


def batch_law(mechanism: Mechanism) -> FixedSize | None:
    """The batches of continuous noise that this is; None for anything else."""
    inner = either_way(mechanism)
    if isinstance(inner, FixedSize) and isinstance(inner.mechanism, ContinuousNoise):
        return inner
    return None


def plain_law(
    one: FixedSize | ContinuousNoise, removing: bool = True
) -> SampledGaussian | SampledLaplace:
    """The loss of Poisson sampling at the same rate."""
    noise = one.mechanism if isinstance(one, FixedSize) else one
    assert isinstance(noise, ContinuousNoise)
    if noise.shape is Shape.GAUSSIAN:
        return SampledGaussian(one.rate, noise.scale / noise.sensitivity, removing)
    assert isinstance(noise.move, Fraction)
    return SampledLaplace(one.rate, noise.move, removing)


def batched_renyi(one: FixedSize, order: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The Rényi divergence of one batch at this order > 1."""

    def compute() -> arb:
        c, rise = ball(order - 1), arb(-1)
        for removing in (True, False):
            rise += plain_law(one, removing).transform(acb(c)).real
        return (rise.log() / c).min(plain_law(one).log_unsampled(c) / c)

    return profile.renyi(plain_law(one), order, width).hull(refine(compute, width=width))


def has_no_outcomes(mechanism: Mechanism) -> bool:
    """Is it of continuous laws, or known by other mechanisms, and has no pairs of laws itself?"""
    inner = either_way(mechanism)
    plain = inner.mechanism if isinstance(inner, RandomRate) else inner
    kinds = (continuous, allocation, batch_law, vector, dominated)
    return any(kind(plain) is not None for kind in kinds)


def continuous_noise(mechanism: Mechanism) -> ContinuousNoise | None:
    """The continuous noise that this is: where a scheme samples it, as at its rate on the whole.

    None for what is discrete.
    """
    inner = either_way(mechanism)
    if isinstance(inner, RandomRate | FixedSize) and (plain := continuous(inner.mechanism)):
        return continuous(plain.at_rate(inner.rate, getattr(inner, "removing", True)))
    return continuous(mechanism)


def single_law(mechanism: Mechanism) -> LineLaw:
    """The loss of a single use of continuous noise, batches of a fixed size included."""
    law = line_law(mechanism, alone=True)
    assert law is not None
    return law


def line_law(mechanism: Mechanism, alone: bool = False) -> LineLaw | None:
    """The loss of one use; None where it is not one of continuous noise.

    alone: is that all? Then one batch is one as well.
    """
    inner = either_way(mechanism)
    if isinstance(inner, RandomRate):
        each = [(weight, continuous(part)) for weight, part in inner.parts]
        laws = [(weight, plain_law(one, one.removing)) for weight, one in each if one is not None]
        return MixtureLoss(tuple(laws)) if len(laws) == len(each) else None
    if (one := allocation(mechanism)) is not None and one.taken == one.steps:
        return SampledGaussian(
            Fraction(1), one.scale / one.sensitivity / square_root(Fraction(one.steps)), True
        )
    if (batches := batch_law(mechanism)) is not None:
        return plain_law(batches) if alone or batches.rate == 1 else None
    noise = continuous(mechanism)
    return None if noise is None else plain_law(noise, noise.removing)


def parts_of(uses: Sequence[Use], alone: bool | None = None) -> tuple[Parts, tuple[Use, ...]]:
    """The losses of the continuous uses, and the others. alone: whether a single one is all."""
    alone = sum(use.times for use in uses) == 1 if alone is None else alone
    laws = [(line_law(use.mechanism, alone), use) for use in uses]
    others = tuple(use for law, use in laws if law is None)
    return [(law, use.times) for law, use in laws if law is not None], others
