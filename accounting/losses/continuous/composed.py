"""What composed uses of sampled continuous mechanisms cost, as functions of plain numbers.

All uses go in one direction: with neighbours that differ by a user, the dataset that has that user
is the same one in every use. The worse direction at a level (or an order) is the caller's maximum
of the two. One use has a closed form, and so do any number of Gaussians that are not sampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from flint import acb, arb

from ....exact.budget import OutOfTimeError
from ....exact.enclosure import Enclosure
from ....exact.number import ExactInput, ParameterError, ball, exact, whole
from ....exact.precision import CAP, WIDTH, enclose, refine, working_precision
from ....exact.roots import met_between
from ...divergences import gaussian
from ..composite import Saddle, Together
from .inversion import Parts as Parts
from .inversion import Profile
from .mixture import LineLaw
from .root import between
from .sampled_gaussian import SampledGaussian
from .sampled_laplace import SampledLaplace

_Attempt: TypeAlias = Callable[[float, "Enclosure | None"], tuple[Enclosure, bool]]

BITS = 128
_FARTHEST = 1e11  # real parts beyond are not tried
_TOO_MANY = "transforms so far out need too many nodes"
_FAR_BITS = 256  # of bounds that more do not make narrower
_NEED, _MOST_TERMS = 40.0, 20_000  # nodes on a line, of such an accuracy, that are few enough
_ATTEMPTS = 3
_HIGHEST = 1e300  # level that is tried
_NEGLIGIBLE = 1e-20


def composed_renyi(parts: Parts, order: ExactInput, width: Fraction = WIDTH) -> Enclosure:
    """The Renyi divergence of these uses together: log M(order - 1)/(order - 1), added up."""
    alpha, parts = exact(order, "order", above=1), merged(parts)

    far = {law for law, _ in parts if not is_within_reach([(law, 1)], float(alpha - 1))}

    def compute() -> Enclosure:
        lower, upper, c = arb(0), arb(0), ball(alpha - 1)
        for law, times in parts:
            if isinstance(law, SampledGaussian) and law.rate == 1:
                least = most = times * ball(alpha) / (2 * ball(law.noise) ** 2)
            elif law in far:
                least, most = (times * end.log() / c for end in law.rough(c))
            else:
                least = most = times * law.transform(acb(c)).real.log() / c
            lower, upper = lower + least, upper + most
        return between(lower.max(arb(0)), upper.max(arb(0)))

    found = refine(compute, width=width, cap=_FAR_BITS if far else CAP)
    return found if found.is_within(width) else found.because(_TOO_MANY)


def composed_pure(parts: Parts, width: Fraction = WIDTH) -> Enclosure:
    """The largest loss of these uses together."""
    parts = merged(parts)
    return refine(lambda: Together(tuple(parts)).largest(), width=width)


# -- closed forms ---------------------------------------------------------------------------------


def is_closed(parts: Parts) -> bool:
    """Has delta(level) of these uses a closed form: one use, or Gaussians that are not sampled?"""
    alone = len(parts) == 1 and parts[0][1] == 1
    return alone or all(isinstance(law, SampledGaussian) and law.rate == 1 for law, _ in parts)


def closed_delta(parts: Parts, level: arb) -> arb:
    """That closed form, at any real level."""
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0].profile(level)
    return _unsampled(parts)(level)


def closed_epsilon(parts: Parts, target: Fraction) -> Enclosure:
    """Where that is the target, at the working precision."""
    return _root(lambda level: closed_delta(parts, level), target)


def _root(delta: Callable[[arb], arb], target: Fraction) -> Enclosure:
    """By bisection for each end: delta(level) falls, also where it has a kink or ends in 0."""
    goal = ball(target)
    if delta(arb(0)) <= goal:
        return Enclosure.exactly(0)
    lower = fallen(lambda level: not delta(level) >= goal)[0]
    upper = fallen(lambda level: bool(delta(level) <= goal))[1]
    return between(lower, upper)


def fallen(met: Callable[[arb], bool]) -> tuple[arb, arb]:
    """Two neighbouring levels >= 0: it is met at the second, not at the first (or that is 0)."""
    low, high = arb(0), arb(1)
    while not met(high):
        low, high = high, 2 * high
        if high > _HIGHEST:
            return low, arb.pos_inf()
    return met_between(met, low, high)


def total_variation(parts: Parts) -> Fraction:
    """delta(0) of all uses is at most the sum of theirs."""
    with working_precision(BITS):
        total = sum((times * law.profile(arb(0)) for law, times in parts), arb(0))
        return Fraction(enclose(total.upper()).upper)


def basic_delta(parts: Parts, level: Fraction) -> Enclosure:
    """Of Gaussians: from what any one use costs to what basic composition and no sampling allow."""
    uses = sum(times for _, times in parts)
    lower, upper = arb(0), arb(0)
    with working_precision(BITS):
        for law, times in parts:
            lower = lower.max(law.profile(ball(level)).lower())
            upper += times * law.profile(ball(level / uses))
        upper = upper.min(arb(1))
        upper = upper.min(_unsampled(parts)(ball(level)))
        return between(lower, upper.upper())


def basic_epsilon(parts: Parts, target: Fraction) -> Enclosure:
    """Of Gaussians: from what any one use costs to what basic composition and no sampling allow."""
    uses = sum(times for _, times in parts)
    lower, upper = Enclosure.exactly(0), Enclosure.exactly(0)
    with working_precision(BITS):
        for law, times in parts:
            lower = lower.maximum(_root(law.profile, target))
            upper = upper.plus(_root(law.profile, target / uses).times(times))
        most = min(upper.upper, _root(_unsampled(parts), target).upper)
    return Enclosure(lower.lower, most)


def _unsampled(parts: Parts) -> Callable[[arb], arb]:
    """delta(level) of Gaussians if everyone took part: at least what it is with sampling.

    To replace the output by a draw from Q, with probability 1 - q, turns (P, Q) into the sampled
    pair, and (Q, P) into the other: post-processing, of every use.
    """
    squares = arb(0)
    for law, times in parts:
        assert isinstance(law, SampledGaussian)
        squares += times / ball(law.noise) ** 2
    mu = squares.sqrt()
    return lambda level: gaussian.delta(mu, level)


# -- inversion ------------------------------------------------------------------------------------


def attempts(parts: Parts, width: Fraction, attempt: _Attempt) -> Enclosure:
    """Aim lower where a saddle point in floats promised too much; keep what is known."""
    uses = sum(times for _, times in parts)
    asked = math.log(max(float(width), _NEGLIGIBLE))
    found: Enclosure | None = None
    for _ in range(_ATTEMPTS):
        bits = BITS + math.ceil(math.log2(uses) - 1.5 * asked)
        try:
            with working_precision(bits):
                now, limited = attempt(asked, found)
        except OutOfTimeError:
            return Enclosure.unknown() if found is None else found
        found = now if found is None else found.intersection(now)
        if limited or found.is_within(width):
            break
        asked -= 12
    assert found is not None
    return found


def near(profile: Profile, saddle: Saddle, log_delta: float) -> tuple[float, float]:
    """About where delta(level) is e^log_delta, by Newton in floats, and the slope there."""
    level, slope = max(saddle.level, 0.0), saddle.c
    for _ in range(30):
        height, slope = profile.log_about(level)
        if not (math.isfinite(height) and slope > 0):
            return max(saddle.level, 0.0), saddle.c
        step = (height - log_delta) / slope
        level = max(level + step, 0.0)
        if abs(step) < 1e-13 * (1 + level):
            break
    return level, slope


def beyond(parts: Parts, level: Fraction) -> bool:
    """Is no loss above the level, for certain?"""
    if all(isinstance(law, SampledLaplace) and law.rate == 1 for law, _ in parts):
        largest = sum(law.epsilon * k for law, k in parts if isinstance(law, SampledLaplace))
        return largest <= level
    with working_precision(BITS):
        return bool(Together(tuple(parts)).largest() <= ball(level))


def is_within_reach(parts: Parts, c: float) -> bool:
    """Do the transforms on this line need few enough nodes to be worth it?"""
    return c < _FARTHEST and sum(law.terms(c, 0.0, -_NEED) for law, _ in parts) < _MOST_TERMS


def merged(parts: Parts) -> list[tuple[LineLaw, int]]:
    """Equal laws together, and only those that take part."""
    found: dict[LineLaw, int] = {}
    for law, times in parts:
        count = whole(times, "times", at_least=0)
        if count and law.rate:
            found[law] = found.get(law, 0) + count
    # both ways round are the same where nobody is sampled
    if len({getattr(law, "removing", None) for law in found if law.rate < 1}) > 1:
        raise ParameterError("parts must all go in one direction, got both remove and add")
    return list(found.items())
