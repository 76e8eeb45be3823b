"""What bounds uses of vectors from above besides the lists that they lie between.

*What adds up over coordinates* (pure epsilon, Rényi divergence at each order, rho, which is at most
the sum of suprema) is c(|v_1|) + c(|v_2|) + ..., c(k) the cost of one number that moves by k. Where
c(k) <= a k^2 + b k for all k within reach, a, b >= 0, it is at most a |v|_2^2 + b |v|_1: the best
such a and b are a vertex of these constraints.

*Rounded at random* before integer noise is added; neighbours differ by one user, added or removed,
both ways round. The least of two (proofs: `docs/rounding.md`):

- Rényi: `laws.rounded_envelope.rounded_renyi`, which adds up over uses, also adaptive ones.
- Gaussian, where the dimension is known: `laws.rounded_envelope.rounded_distance`. With b the mass
  that all uses together miss there is a law G, (1 - b) G <= P <= G + b, that the Gaussians
  dominate, so that with their profile delta_G

      P(S) - e^eps Q(S) <= delta_G(eps) + b,    Q(S) - e^eps P(S) <= delta_G(eps + log(1 - b)).

  The first is of the sampled Gaussians where the user is removed, the second where one is added.

*Binomial noise*, which has no Gaussian envelope of its own: each use is that of a law which has
one, but for a little mass (`laws.gaussian_envelope`). A coordinate that v does not move tells
nothing, so that d of them count at most, and K uses, sampled or not, adaptive ones included, are
within s = K d tau in total variation on either side:

    P(S) <= P'(S) + s <= e^eps Q'(S) + delta_G(eps) + s <= e^eps Q(S) + delta_G(eps) + (1 + e^eps) s

with delta_G of the Gaussians that dominate the uses of that law. e^eps < 3^ceil(eps) is enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from ...exact.budget import OutOfTimeError, in_any_case, in_time
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ExactInput, ball, exact, whole
from ...exact.precision import enclose, working_precision
from ...mechanisms.additive.coordinate_rounding import Stochastic
from ...mechanisms.additive.reach import Reach, RoundedReach
from ...mechanisms.additive.vector import VectorNoise, vector
from ...mechanisms.bracket import RenyiCurve
from ...mechanisms.laws.binomial import Binomial
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.gaussian_envelope import NoEnvelopeError, distance_at, trimmed
from ...mechanisms.laws.law import Law
from ...mechanisms.laws.rounded_envelope import rounded_distance, rounded_renyi
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.pairs.sampling import Sampling
from ..divergences.conversion import renyi_to_delta, renyi_to_epsilon
from ..figure import RHO, Figure, read_epsilon, read_failure, read_order
from ..losses.continuous.inversion import Parts
from ..losses.continuous.sampled_gaussian import SampledGaussian
from ..losses.sums import of_noise
from ..scenario import Use

_BITS = 128
_WIDTH, _NARROW = Fraction(1, 10**6), Fraction(1, 10**9)
_SHARES = [Fraction(1, 10**n) for n in (1, 2, 3, 4)]  # of delta, for what is missed
_SHARE = [Fraction(1, 100)]  # the same, where it takes long
_TRIMMED = Fraction(1, 1000)  # of delta, for what is left out of binomial noise
_LARGEST = 1000  # epsilon of binomial noise
_START = Fraction(1, 10**9)
_ZERO, _INFINITY = Fraction(0), Decimal("Infinity")

Repeated: TypeAlias = Sequence[tuple[VectorNoise, int]]
MOST_MOVES = 16  # of one coordinate, each of which is measured
_FEW_RESIDUES = 64
_ANYTHING = Enclosure.unknown()


def _gaussians(uses: Sequence[tuple[Fraction, Fraction, int]]) -> tuple[Parts, Parts]:
    """(rate, distance, times) each: where a user is removed, and where one is added."""
    removed, added = (
        [
            (SampledGaussian(1 / distance, Sampling(rate, way)), times)
            for rate, distance, times in uses
        ]
        for way in (True, False)
    )
    return removed, added


def _cost(way: Parts, figure: Figure, width: Fraction) -> Endpoint:
    return of_noise(way, figure, width).upper


def _plus(end: Endpoint, more: Fraction) -> Endpoint:
    return _INFINITY if end == _INFINITY else Fraction(end) + more


# -- rounded at random ----------------------------------------------------------------------------


def rounded(
    figure: Figure,
    law: Law,
    l2: ExactInput,
    dimension: int | None = None,
    times: ExactInput = 1,
    rate: ExactInput = 1,
) -> Enclosure:
    """At most what so many uses cost, from 0 on: epsilon at a delta > 0, delta, or a divergence.

    law: of the noise in every coordinate. l2: what a user's real vector is at most in norm, before
    it is rounded. dimension: how many coordinates; None for any number. rate: of users that take
    part, independently, in each use.

    Raises NoEnvelopeError where no Gaussian envelope of the noise is proved.

    >>> from exactdp.mechanisms.laws import Skellam
    >>> f"{rounded(Figure('epsilon', Fraction(1, 10**5)), Skellam(10000), 100, 2**20):.3f}"
    '4.564'
    """
    count, share = whole(times, "times", at_least=1), exact(rate, "rate", at_least=0, at_most=1)
    read = {"epsilon": read_failure, "delta": read_epsilon, "renyi": read_order}
    at, is_delta = read[figure.quantity](figure.at or 0), figure.quantity == "delta"

    def curve(orders: Sequence[Fraction]) -> list[Enclosure]:
        """Upper bounds, as if they were exact: only upper ends made of them are true."""
        costs = (rounded_renyi(law, l2, dimension, order, share) for order in orders)
        return [
            Enclosure.infinite() if cost is None else Enclosure.exactly(cost * count)
            for cost in costs
        ]

    if figure.quantity == "renyi":
        return Enclosure(_ZERO, curve([at])[0].upper)
    convert = renyi_to_delta if is_delta else renyi_to_epsilon
    found: list[Endpoint] = []
    if is_delta:
        found = [min(convert(curve, at, width=_WIDTH).value.upper, Fraction(1))]
    delta = Fraction(found[0]) if is_delta else at
    for (removed, added), missed in _distances(law, l2, dimension, count, delta, share):
        lost = _lost(missed)
        if is_delta:
            one = _plus(_cost(removed, figure, _WIDTH), missed)
            other = _cost(added, Figure("delta", max(at - lost, _ZERO)), _WIDTH)
            if at < lost:  # Q(S) - P(S) is at most the total variation distance
                other = _plus(other, missed)
        else:
            one = _cost(removed, Figure("epsilon", at - missed), _WIDTH)
            other = _plus(_cost(added, figure, _WIDTH), lost)
        found.append(max(one, other))
    try:
        if not is_delta:  # which takes longest, and is seldom less where the dimension is known
            found.append(convert(curve, at, width=_WIDTH).value.upper)
    except OutOfTimeError:
        if not found:
            raise
    return Enclosure(_ZERO, min(found))


def _distances(
    law: Law, l2: ExactInput, dimension: int | None, times: int, delta: Fraction, rate: Fraction
) -> Iterator[tuple[tuple[Parts, Parts], Fraction]]:
    """Gaussians that dominate all uses, and the probability that these together miss."""
    if dimension is None or delta == 0 or exact(l2, "l2") == 0:
        return
    for part in _SHARES if rate == 1 else _SHARE:
        missed = delta * part
        distance = rounded_distance(law, l2, dimension, missed / times)
        yield _gaussians([(rate, distance, times)]), missed


def _lost(missed: Fraction) -> Fraction:
    """-log(1 - missed), rounded up."""
    with working_precision(_BITS):
        return Fraction(enclose(-(-ball(missed)).log1p()).upper)


# -- binomial noise -------------------------------------------------------------------------------


def is_trimmable(one: VectorNoise) -> bool:
    """Is this about it: binomial noise, of integer vectors?"""
    return isinstance(one.law, Binomial) and isinstance(one.reach, Reach)


def trimmed_cost(vectors: Repeated, figure: Figure) -> Enclosure:
    """At most what these uses, each so many times, cost, epsilon at a delta or delta: from 0 on."""
    at, level, found = figure.at or _ZERO, 1, figure.trivial
    with suppress(NoEnvelopeError):
        if figure.quantity == "delta":
            charged = _START
            for _ in range(2 if at <= _LARGEST else 0):  # left out: a share of what was found last
                ways = _trimmed(vectors, charged / (1 + 3 ** math.ceil(at)))
                most = max(Fraction(_cost(way, figure, _NARROW)) for way in ways)
                found = found.intersection(Enclosure(_ZERO, min(most + charged, Fraction(1))))
                if not most:
                    break
                charged = most * _TRIMMED
            return found
        while level <= _LARGEST:
            ways = _trimmed(vectors, at * _TRIMMED / (1 + 3**level))
            costs = (_cost(way, Figure("epsilon", at * (1 - _TRIMMED)), _NARROW) for way in ways)
            if (end := max(costs)) <= level:
                return Enclosure(_ZERO, end)
            level = level * 4 if end == _INFINITY else max(2 * level, math.ceil(Fraction(end)))
    return found


def _trimmed(uses: Repeated, total: Fraction) -> tuple[Parts, Parts]:
    """The Gaussians of all uses, but for this total variation.

    Raises NoEnvelopeError where some law has too few outcomes to leave out so little.
    """
    times, found = sum(count for _, count in uses), []
    for one, count in uses:
        assert isinstance(one.law, Binomial) and isinstance(one.reach, Reach)
        unit = trimmed(one.law, total / (times * one.reach.most_coordinates)).mu
        found.append((one.rate, distance_at(unit, one.reach.largest_square), count))
    return _gaussians(found)


def in_one_curve(curve: RenyiCurve, figure: Figure) -> Enclosure:
    """At most what this curve bounds, of a figure that adds up.

    Beyond the order of a guarantee some mechanisms that have it attain what has no bound.
    """
    end: Fraction | Decimal = _INFINITY
    if figure.quantity == "renyi":
        assert figure.at is not None
        end = curve.at(figure.at)
    elif figure == RHO:
        end = curve.rho
    return Enclosure(end if end == _INFINITY and curve.order is not None else _ZERO, end)


def coordinates(
    mechanism: Mechanism, figure: Figure, measure: Callable[[Sequence[Use]], Enclosure]
) -> Enclosure | None:
    """What all coordinates of one use add up to, at most; None where that is not known."""
    one = vector(mechanism)
    if one is None:
        return None
    if one.rate == 1 and isinstance(one.law, DiscreteGaussian):  # a/(2 sigma2) a unit of |v|_2^2
        curve = RenyiCurve(one.reach.largest_square / (2 * one.law.sigma2))
        if (found := in_one_curve(curve, figure)).is_finite():
            return found
    if one.rate != 1 or one.reach.farthest > MOST_MOVES:
        return None
    moves = range(1, one.reach.farthest + 1)
    costs = [measure([Use(*part) for part in one.along({move: 1})]).upper for move in moves]
    if _INFINITY in costs:
        return _ANYTHING
    square, total = one.reach.largest_square, one.reach.largest_sum
    slope, level = least_tilt([Fraction(cost) for cost in costs], square, total)
    return Enclosure(_ZERO, slope * square + level * total)


def is_reduced(listed: Sequence[Use]) -> bool:
    """Are all of them vectors, if any, mod a number so small that all residues are seen often?"""
    found = (vector(use.mechanism) for use in listed)
    return all(one is None or (one.modulus or _INFINITY) <= _FEW_RESIDUES for one in found)


def mixed(listed: Sequence[Use], figure: Figure) -> Enclosure:
    """At most epsilon, delta or a Rényi divergence of vectors that are rounded at random, as the
    mixture that they are, or epsilon and delta of binomial noise; of others, and out of time,
    nothing is known.
    """
    if (found := rounded_at_random(listed)) is not None:
        one, reach, times = found
        cost = partial(rounded, figure, one.law, reach.norm, reach.dimension, times, one.rate)
        with suppress(NoEnvelopeError):
            return in_any_case(cost, _ANYTHING)
    vectors = [(vector(use.mechanism), use.times) for use in listed]
    binomial = [(one, count) for one, count in vectors if one is not None and is_trimmable(one)]
    if figure.quantity == "renyi" or len(binomial) < len(vectors):
        return _ANYTHING
    return in_time(partial(trimmed_cost, binomial, figure), _ANYTHING)


def rounded_at_random(uses: Sequence[Use]) -> tuple[VectorNoise, RoundedReach, int] | None:
    """The vector, its reach and how often it is used, where all uses are of one such; else None."""
    mechanism, times = uses[0]
    one = vector(mechanism)
    if len(uses) > 1 or one is None or not isinstance(one.reach, RoundedReach):
        return None
    return (one, one.reach, times) if isinstance(one.reach.rounding, Stochastic) else None


def least_tilt(costs: Sequence[Fraction], square: int, total: int) -> tuple[Fraction, Fraction]:
    """Those a, b >= 0 with a k^2 + b k >= cost of k for which a square + b total is least.

    Divided by k: a k + b >= cost/k =: r(k). For a given a the least b is the largest r(k) - a k,
    so that the whole is convex and linear between slopes of the upper hull of the r(k).
    """
    rates = [(move, cost / move) for move, cost in enumerate(costs, start=1)]
    slopes = {_ZERO, max(rate / move for move, rate in rates)}
    slopes |= {(s - r) / (j - i) for i, r in rates for j, s in rates if j > i and s > r}
    tilts = [
        (slope, max(_ZERO, *(rate - slope * move for move, rate in rates))) for slope in slopes
    ]
    return min(tilts, key=lambda tilt: tilt[0] * square + tilt[1] * total)
