"""What one continuous use costs, or Gaussian ones together, narrowly.

All uses go in one direction: with neighbours that differ by a user, the dataset that has that user
is the same one in every use. The worse direction at a level (or an order) is the caller's maximum
of the two.

One use has a closed form, and so have Gaussians that are not sampled, which are one (`merged`).
Other sums of Gaussian noise are measured by inversion of their transform (`inversion`). All else is
composed on a lattice (`losses.sums`).

*Both ways round.* What has the profile of Poisson sampling, the user removed, either way round
dominates batches of a fixed size (`sampling.fixed_size`). It is composed on a lattice
(`grid.cells`), with H(g) = 1 - g + g H(1/g) for g < 1.

*Rényi.* With r = dP'/dQ, e^((a-1) D_a) of the two-way pair is 1 + int over {r > 1} of (r^a +
r^(1-a) - r - 1) dQ. The integrand is (r^a - r)(1 - r^-a) >= 0 for all r > 0, so that it is at most
E_Q r^a + E_Q r^(1-a) - 1, both sides of Poisson sampling. *rho* is at most that without sampling,
and for the Gaussian attained by the pair that is composed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from flint import acb, arb

from ....exact.budget import OutOfTimeError
from ....exact.enclosure import Enclosure
from ....exact.errors import DoesNotApplyError
from ....exact.number import ball
from ....exact.precision import CAP, WIDTH, enclose, enclose_between, refine, working_precision
from ....exact.square_root import square_root, squared
from ....losses.planning import saddle
from ....mechanisms.bracket import is_bracketed
from ....mechanisms.continuous import ContinuousNoise, Shape
from ....mechanisms.mechanism import Mechanism, either_way
from ....mechanisms.pairs.sampling import Sampling
from ....mechanisms.sampled import RandomRate
from ....mechanisms.sampling.allocation import Allocation
from ....mechanisms.sampling.fixed_size import TwoWay
from ...divergences.privacy_profile import Event, least_level, value_at
from ...figure import Figure
from ...scenario import Use
from ..composite import NO_LATTICE, Together
from .inversion import Gaussians, Parts, Profile, is_few, plan, root
from .sampled_gaussian import SampledGaussian
from .sampled_noise import LineLaw, MixtureLoss, SampledLaplace, SampledNoise

WORK = 4.0  # about how many seconds an inversion may take

_BITS = 128
_TOO_MANY = "transforms so far out need too many nodes"
_ATTEMPTS, _LOWER = 3, 12.0  # by so much in its logarithm each aims lower than the one before
_NEGLIGIBLE = 1e-20
_CLOSED, _BY_INVERSION = "closed form", "inversion of the transform"


def merged(parts: Parts) -> list[tuple[LineLaw, int]]:
    """Equal laws together, only those that take part, and Gaussians that are not sampled as one."""
    found, square = Counter[LineLaw](), Fraction(0)
    for law, times in parts:
        if isinstance(law, SampledGaussian) and law.sampling.rate == 1:
            square += times / squared(law.noise)
        elif law.sampling.rate:
            found[law] += times
    if square:
        found[SampledGaussian(square_root(1 / square))] = 1
    return list(found.items())


def renyi(law: LineLaw, order: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The Rényi divergence of one use at this order a > 1, log M(a - 1)/(a - 1).

    Where its transform takes too many nodes, bounds: at most D, that without sampling, which is
    post-processing; removing, at least D - a log(1/q)/(a - 1), since (1 - q) Q + q P >= q P, at
    told rates too, whose a-th powers have a mean of at least q^a, q their own mean.
    """
    far = not is_few([(law, 1)], float(order - 1))

    def compute() -> Enclosure:
        c = ball(order - 1)
        if not far:
            least = most = law.transform(acb(c)).real.log() / c
        else:
            least, most = arb(0), (law.log_unsampled(c) / c).min(law.largest())
            if law.sampling.removing:
                least = law.log_unsampled(c) / c + ball(order) / c * ball(law.sampling.rate).log()
        return enclose_between(least.max(arb(0)), most)

    found = refine(compute, width=width, cap=2 * _BITS if far else CAP)
    return found.because(_TOO_MANY) if far else found


def measured(
    parts: Parts, figure: Figure, width: Fraction = WIDTH, work: float = WORK
) -> Enclosure:
    """delta at an epsilon >= 0, or the least epsilon >= 0 at a delta in (0, 1], of these uses.

    parts: of Gaussian noise or of a single use, all in one direction. work: about how many seconds
    an inversion may take.
    """
    parts, at, is_delta = merged(parts), figure.at, figure.quantity == "delta"
    assert at is not None
    # the total variation distance of one use is at most its rate
    if not parts or (not is_delta and min(1, sum(n * law.sampling.rate for law, n in parts)) <= at):
        return Enclosure.exactly(0)
    law, n = parts[0]
    if len(parts) == n == 1:
        if (
            is_delta
            and isinstance(law, SampledLaplace)
            and law.sampling.rate == 1
            and law.move <= at
        ):
            return Enclosure.exactly(0)  # its largest loss, which no ball tells

        def closed() -> Enclosure:
            if is_delta:
                return enclose(value_at(ball(at), exceeding(law, ball(at))))
            return least_level(partial(exceeding, law), at, enclose(law.largest()))

        return refine(closed, width=width).found_by(_CLOSED)
    gaussians = [(law, times) for law, times in parts if isinstance(law, SampledGaussian)]
    assert len(gaussians) == len(parts)
    found = _inverted(gaussians, figure, width, work)
    if found.is_within(width):
        return found
    # if everyone took part: to replace the output by a draw from Q, with probability 1 - q, turns
    # (P, Q) into the sampled pair, and (Q, P) into the other, which is post-processing of every use
    everyone = [(SampledGaussian(law.noise), times) for law, times in gaussians]
    return found.intersection(Enclosure(Fraction(0), measured(everyone, figure, width).upper))


def exceeding(law: LineLaw, level: arb) -> Event:
    """The event {loss >= level} at a level >= 0, of what is told at all."""
    tails = [(ball(weight), part.tail(level)) for weight, part in law.parts]
    p, q = (sum((weight * tail[k] for weight, tail in tails), arb(0)) for k in (0, 1))
    return Event(p, q, arb(0))


def _inverted(parts: Gaussians, figure: Figure, width: Fraction, work: float) -> Enclosure:
    """Aims lower where a saddle point in floats promised too much; keeps what is known."""
    composite, uses, result = Together(parts), sum(times for _, times in parts), figure.trivial
    for k in range(_ATTEMPTS):
        asked = math.log(max(float(width), _NEGLIGIBLE)) - _LOWER * k
        try:
            with working_precision(_BITS + math.ceil(math.log2(uses) - 1.5 * asked)):
                at = ball(figure.at or 0)
                if figure.quantity == "delta":
                    near = saddle(composite.cumulant, None, float(at.mid()))
                else:
                    near = saddle(composite.cumulant, float(at.log().mid()), None)
                    asked += math.log(min(1.0, near.c * max(near.level, 1e-3)))
                profile = Profile(parts, plan(parts, near, asked), work)
                now = (
                    enclose_between(*profile.bounds(at))
                    if figure.quantity == "delta"
                    else root(profile.bounds, at, arb(near.level))
                )
        except (OutOfTimeError, DoesNotApplyError):
            break
        result = result.intersection(now)
        if result.is_within(width):
            break
    return result.found_by(_BY_INVERSION).because(NO_LATTICE)


# -- of mechanisms ---------------------------------------------------------------------------------

Continuous: TypeAlias = LineLaw | Allocation | TwoWay  # what has no outcomes to list


def plain_law(
    one: TwoWay | ContinuousNoise, removing: bool = True
) -> SampledGaussian | SampledLaplace:
    """The loss of Poisson sampling at the same rate."""
    noise = one.mechanism if isinstance(one, TwoWay) else one
    assert isinstance(noise, ContinuousNoise)
    if noise.shape is Shape.GAUSSIAN:
        return SampledGaussian(noise.scale / noise.sensitivity, Sampling(noise.rate, removing))
    assert isinstance(noise.move, Fraction)
    return SampledLaplace(noise.move, Sampling(noise.rate, removing))


def two_way_renyi(one: TwoWay, order: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """Its Rényi divergence at this order > 1."""

    def compute() -> arb:
        c, rise = ball(order - 1), arb(-1)
        for way in (True, False):
            rise += plain_law(one, way).transform(acb(c)).real
        return (rise.log() / c).min(plain_law(one).log_unsampled(c) / c)

    return renyi(plain_law(one), order, width).hull(refine(compute, width=width))


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
    return SampledGaussian(noise)


def has_no_outcomes(mechanism: Mechanism) -> bool:
    """Is it of continuous laws, or known by other mechanisms, and has no pairs of laws itself?"""
    return is_bracketed(mechanism) or continuous_loss(mechanism) is not None


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
    known = gaussian or sum(n for _, n in merged(parts)) <= 1
    return parts if parts and len(parts) == len(laws) and known else None
