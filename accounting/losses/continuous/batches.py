"""Batches of a fixed size under continuous noise; neighbours replace one user.

`mechanisms.fixed_size` proves, of any symmetric pair (P, Q) whose profile h is the largest of two
batches in which one user is replaced, that with q = size/population no two datasets have a larger
profile than q h(1 + (g - 1)/q), g >= 1, either way round: that is attained, one way round and
throughout, by ((1-q) Q + q P, Q), whose laws are those of Poisson sampling with the user removed.

One use is exact, then; several lie between that pair, composed, and the pair that has the profile
both ways round. Of that H(g) = 1 - g + g H(1/g) for g < 1; it is composed on a lattice
(`grid.two_way`). It costs no more than no sampling: by convexity q h(1 + (g-1)/q) <= h(g), h(1) <=
1, both ways.

*Rényi.* With r = dP'/dQ, P' = (1-q) Q + q P, e^((a-1) D_a) of the two-way pair is 1 + int over {r >
1} of (r^a + r^(1-a) - r - 1) dQ. The integrand is (r^a - r)(1 - r^-a) >= 0 for all r > 0, so that
it is at most E_Q r^a + E_Q r^(1-a) - 1, both sides of Poisson sampling.

*rho.* At most that without sampling, and for the Gaussian attained by the pair that is composed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from flint import acb, arb

from ....exact.enclosure import Enclosure
from ....exact.number import ball
from ....exact.precision import WIDTH, refine
from ....mechanisms.continuous import ContinuousNoise, Shape, continuous
from ....mechanisms.fixed_size import FixedSize
from ....mechanisms.mechanism import Mechanism, either_way
from ...scenario import Use
from . import composed
from .mixture import LineLaw
from .sampled_gaussian import SampledGaussian
from .sampled_laplace import SampledLaplace

Batches: TypeAlias = Sequence[tuple["FixedSize | ContinuousNoise", int]]


def batch_law(mechanism: Mechanism) -> FixedSize | None:
    """The batches of continuous noise that this is; None for anything else."""
    inner = either_way(mechanism)
    if isinstance(inner, FixedSize) and isinstance(inner.mechanism, ContinuousNoise):
        return inner
    return None


def batches_of(uses: Sequence[Use]) -> Batches | None:
    """These uses, where some are batches and the others take all users; None elsewhere."""
    if not any(batch_law(mechanism) for mechanism, _ in uses):
        return None
    found = [(batch_law(mechanism) or continuous(mechanism), times) for mechanism, times in uses]
    known = [(inner, times) for inner, times in found if inner is not None]
    return known if len(known) == len(found) else None


def batched_renyi(one: FixedSize, order: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The Rényi divergence of one use at this order > 1."""
    lower = composed.composed_renyi(_laws([(one, 1)]), order, width)
    plain = composed.composed_renyi(_unsampled([(one, 1)]), order, width)
    c = ball(order - 1)

    def compute() -> arb:
        rise = arb(-1)
        for removing in (True, False):
            rise += plain_law(one, removing).transform(acb(ball(order - 1))).real
        return rise.log() / c

    upper = refine(compute, width=width)
    return lower.hull(plain.minimum(upper))


def single_batch(uses: Sequence[Use]) -> list[tuple[LineLaw, int]] | None:
    """The losses of one batch, or of batches of all users: what is exact; None of others."""
    parts = batches_of(uses)
    if parts is None:
        return None
    alone = sum(times for _, times in parts) == 1
    return _laws(parts) if alone or all(one.rate == 1 for one, _ in parts) else None


def plain_law(
    one: FixedSize | ContinuousNoise, removing: bool = True, sampled: bool = True
) -> SampledGaussian | SampledLaplace:
    """The loss of Poisson sampling at the same rate, or of no sampling."""
    noise = one.mechanism if isinstance(one, FixedSize) else one
    assert isinstance(noise, ContinuousNoise)
    rate = one.rate if sampled else Fraction(1)
    if noise.shape is Shape.GAUSSIAN:
        return SampledGaussian(rate, noise.scale / noise.sensitivity, removing)
    assert isinstance(noise.move, Fraction)
    return SampledLaplace(rate, noise.move, removing)


def _laws(parts: Batches) -> list[tuple[LineLaw, int]]:
    return [(plain_law(one), times) for one, times in parts]


def _unsampled(parts: Batches) -> list[tuple[LineLaw, int]]:
    return [(plain_law(one, sampled=False), times) for one, times in parts]
