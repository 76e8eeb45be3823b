"""epsilon and delta of vectors with binomial noise, which has no Gaussian envelope of its own.

Each use is that of a law which has one, but for a little mass (`envelope.trimmed`). A coordinate
that v does not move tells nothing, so that d of them count at most, and K uses, sampled or not,
adaptive ones included, are within s = K d tau in total variation on either side:

    P(S) <= P'(S) + s <= e^eps Q'(S) + delta_G(eps) + s <= e^eps Q(S) + delta_G(eps) + (1 + e^eps) s

with delta_G of the Gaussians that dominate the uses of that law. e^eps < 3^ceil(eps) is enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from ...exact.enclosure import Enclosure
from ...mechanisms.laws.binomial import Binomial
from ...mechanisms.reach import Reach
from ...mechanisms.vector import VectorNoise
from ..envelope import NoEnvelopeError, distance_at, trimmed
from ..losses.continuous import profile
from ..losses.continuous.inversion import Parts
from ..losses.continuous.sampled_gaussian import SampledGaussian

_WIDTH = Fraction(1, 10**9)
_SHARE = Fraction(1, 1000)  # of delta, for what is left out
_LARGEST = 1000  # epsilon
_START = Fraction(1, 10**9)

Repeated: TypeAlias = Sequence[tuple[VectorNoise, int]]


def is_trimmable(one: VectorNoise) -> bool:
    """Is this about it: binomial noise, of integer vectors?"""
    return isinstance(one.law, Binomial) and isinstance(one.reach, Reach)


def trimmed_epsilon(uses: Repeated, delta: Fraction) -> Enclosure:
    """At most what these uses, each so many times, cost at this delta: an enclosure from 0 on."""
    level = 1
    while level <= _LARGEST:
        sides = _gaussians(uses, delta * _SHARE / (1 + 3**level))
        if sides is None:
            break
        found = _largest(sides, lambda parts: profile.epsilon(parts, delta * (1 - _SHARE), _WIDTH))
        if found.upper <= level:
            return found
        level = max(2 * level, math.ceil(Fraction(found.upper))) if found.is_finite() else level * 4
    return Enclosure.unknown()


def trimmed_delta(uses: Repeated, epsilon: Fraction) -> Enclosure:
    """The same at this epsilon."""
    best, charged = Enclosure.probability(), _START
    if epsilon > _LARGEST:
        return best
    for _ in range(2):  # what is left out, measured by what was found last
        sides = _gaussians(uses, charged / (1 + 3 ** math.ceil(epsilon)))
        if sides is None:
            break
        found = _largest(sides, lambda parts: profile.delta(parts, epsilon, _WIDTH))
        dominating = Fraction(found.upper)
        whole = dominating + charged
        best = best.intersection(Enclosure(Fraction(0), min(whole, Fraction(1))))
        if not dominating:
            break
        charged = dominating * _SHARE
    return best


def _largest(sides: Sequence[Parts], measure: Callable[[Parts], Enclosure]) -> Enclosure:
    return Enclosure(Fraction(0), max(measure(parts).upper for parts in sides))


def _gaussians(uses: Repeated, total: Fraction) -> list[Parts] | None:
    """All uses but for this total variation, where a user is removed, and where one is added.

    None where some law has too few outcomes to leave out so little.
    """
    removed, added = [], []
    times = sum(count for _, count in uses)
    for one, count in uses:
        assert isinstance(one.law, Binomial) and isinstance(one.reach, Reach)
        try:
            unit = trimmed(one.law, total / (times * one.reach.most_coordinates)).mu
        except NoEnvelopeError:
            return None
        distance = distance_at(unit, one.reach.largest_square)
        removed.append((SampledGaussian(one.rate, 1 / distance, True), count))
        added.append((SampledGaussian(one.rate, 1 / distance, False), count))
    return [removed, added]
