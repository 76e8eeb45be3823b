"""delta(epsilon) and epsilon(delta) of one continuous use, or of Gaussian ones, narrowly.

One use has a closed form, and so do Gaussians that are not sampled. Other sums of Gaussian noise
are measured by inversion of their transform (`inversion`). All else is composed on a lattice
(`losses.sums`).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from ....exact.enclosure import Enclosure
from ....exact.number import ExactInput, ball, exact
from ....exact.precision import WIDTH, enclose_between, refine
from ..composite import NO_LATTICE, Composite, saddle_at, saddle_for
from . import composed as smooth
from .inversion import Gaussians, Parts, Profile, plan
from .root import root
from .sampled_gaussian import SampledGaussian

WORK = 4.0  # about how many seconds an inversion may take

_BY_CLOSED, _BY_INVERSION = "closed form", "inversion of the transform"
_BY_PARTS = "each use by itself"


def is_known(parts: Parts) -> bool:
    """Are these what is measured here?"""
    merged = smooth.merged(parts)
    gaussian = all(isinstance(law, SampledGaussian) for law, _ in merged)
    return bool(parts) and (gaussian or smooth.is_closed(merged))


def delta(
    parts: Parts, epsilon: ExactInput, width: Fraction = WIDTH, work: float = WORK
) -> Enclosure:
    """The least delta for which these are (epsilon, delta)-DP together, epsilon >= 0.

    parts: as `is_known`, all in one direction.
    """
    level = exact(epsilon, "epsilon", at_least=0)
    parts = smooth.merged(parts)
    if not parts or smooth.beyond(parts, level):
        return Enclosure.exactly(0)
    if smooth.is_closed(parts):
        found = refine(
            lambda: _between(*[smooth.closed_delta(parts, ball(level))] * 2), width=width
        )
        return found.found_by(_BY_CLOSED)
    gaussians = _gaussians(parts)

    def attempt(log_width: float, found: Enclosure | None) -> tuple[Enclosure, bool]:
        here = ball(level)
        saddle = saddle_at(Composite(gaussians), float(here.mid()))
        if not smooth.is_within_reach(parts, saddle.c):
            return Enclosure.probability(), True
        aimed = saddle.log_delta if found is None else _log_middle(found, saddle.log_delta)
        profile = Profile(gaussians, plan(gaussians, saddle, aimed, log_width), work)
        return _between(*profile.bounds(here)).found_by(_BY_INVERSION), profile.sigma > 0

    found = smooth.attempts(parts, width, attempt).because(NO_LATTICE)
    found = found.intersection(Enclosure.probability())
    if not found.is_within(width):
        found = found.intersection(smooth.basic_delta(parts, level).found_by(_BY_PARTS))
    return found


def epsilon(
    parts: Parts, delta: ExactInput, width: Fraction = WIDTH, work: float = WORK
) -> Enclosure:
    """The least epsilon >= 0 for which these are (epsilon, delta)-DP together, 0 < delta <= 1."""
    target = exact(delta, "delta", above=0, at_most=1)
    parts = smooth.merged(parts)
    # the total variation distance of one use is at most its rate
    if target == 1 or sum(times * law.rate for law, times in parts) <= target:
        return Enclosure.exactly(0)
    if smooth.is_closed(parts):
        found = refine(lambda: smooth.closed_epsilon(parts, target), width=width)
        return found.found_by(_BY_CLOSED)
    if smooth.total_variation(parts) <= target:
        return Enclosure.exactly(0)
    gaussians = _gaussians(parts)

    def attempt(log_width: float, found: Enclosure | None) -> tuple[Enclosure, bool]:
        composite, goal = Composite(gaussians), ball(target)
        log_delta = float(goal.log().mid())
        saddle = saddle_for(composite, log_delta)
        saddle = saddle if saddle.level > 0 else saddle_at(composite, 0.0)
        asked = log_width + math.log(min(1.0, saddle.c * max(saddle.level, 1e-3)))
        if found is not None and found.is_finite():
            saddle = saddle._replace(level=float(Fraction(found.upper)))
        if not smooth.is_within_reach(parts, saddle.c):
            return Enclosure.unknown(), True
        profile = Profile(gaussians, plan(gaussians, saddle, log_delta, asked), work)
        start, slope = smooth.near(profile, saddle, log_delta)
        found = root(profile.bounds, goal, arb(start), slope).found_by(_BY_INVERSION)
        return found, profile.sigma > 0

    found = smooth.attempts(parts, width, attempt)
    if not found.is_within(width):
        found = found.intersection(smooth.basic_epsilon(parts, target).found_by(_BY_PARTS))
    return found.because(NO_LATTICE)


def _gaussians(parts: Parts) -> Gaussians:
    found = [(law, times) for law, times in parts if isinstance(law, SampledGaussian)]
    assert len(found) == len(parts)
    return found


def _log_middle(found: Enclosure, otherwise: float) -> float:
    """The logarithm of the delta that is enclosed, about."""
    middle = ball((Fraction(found.lower) + Fraction(found.upper)) / 2)
    return float(middle.mid().log().mid()) if middle > 0 else otherwise


def _between(lower: arb, upper: arb) -> Enclosure:
    return enclose_between(lower.max(arb(0)), upper.min(arb(1)))
