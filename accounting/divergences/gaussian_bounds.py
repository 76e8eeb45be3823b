"""mu of Gaussian DP from the privacy profile, where nothing else tells it: from both sides.

delta(epsilon) of a mechanism, the larger of both ways round, against that of N(mu, 1) and N(0, 1):

*From below.* What is mu-GDP has delta(epsilon) <= Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 -
epsilon/mu) at every epsilon, which rises in mu: no mu below the root of any of these will do.

And the Rényi divergence of order a is at most a mu^2/2 (post-processing): mu >= sqrt(2 rho) for the
rho of zCDP. That is met where Gaussian noise is sampled, however rarely.

*From above.* delta(epsilon) says that every event S of Q-mass a has P(S) <= delta + e^epsilon a,
either way round. At finitely many epsilon >= 0, and with no delta at the pure epsilon, these lines
bound the power by a concave polygon, whose mirror image (the line of epsilon = 0 is its own) bounds
it from there on. Each chord lies on the safe side of the concave power of G_mu if its ends do: mu
is at most the largest separation (`gaussian_dp`) of the polygon's vertices, where two neighbouring
lines meet.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import isqrt

from flint import arb

from ...exact.budget import OutOfTimeError
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ball
from ...exact.precision import enclose, working_precision
from ...exact.roots import halved
from . import gaussian
from .gaussian_dp import of_pure, separation

_BITS = 192
_INFINITY = Decimal("Infinity")
_SMALLEST, _HALVINGS = 2.0**-60, 64
_POINTS = 24  # levels at which the profile is asked
_FEW = 6  # where it only bounds from below
_MOST_PURE = 10**6
_NOT_TOLD = (OutOfTimeError, ArithmeticError, NotImplementedError)
_OPEN = "mu is told by the profile at some levels and by rho only"


def bounded_mu(
    known: Enclosure,
    delta: Callable[[Fraction], Enclosure],
    pure: Callable[[], Enclosure],
    rho: Callable[[], Enclosure],
    width: Fraction,
) -> Enclosure:
    """What rho and the profile leave of mu, which is known to be in `known`.

    delta: delta(epsilon), the larger of both ways round. pure: the largest loss of either way.
    width: a relative one that is narrow enough.
    """
    found = known
    largest: Endpoint = _INFINITY
    with suppress(*_NOT_TOLD):
        found = found.intersection(Enclosure(root_of(rho().times(2)).lower, _INFINITY))
    if found.is_within(width):
        return found
    profile: dict[Fraction, Enclosure] = {}
    with suppress(*_NOT_TOLD):
        largest = pure().upper
    with suppress(*_NOT_TOLD):
        for level in _levels(found.upper, largest):
            profile[level] = delta(level)
    for level, value in profile.items():
        least = largest_mu(level, Fraction(value.lower))
        found = found.intersection(Enclosure(least, _INFINITY))
    with working_precision(_BITS):
        found = found.intersection(Enclosure(Fraction(0), _most(profile, largest)))
    return found if found.is_within(width) else found.because(_OPEN)


def largest_mu(level: Fraction, delta: Fraction) -> Endpoint:
    """The mu at which N(mu, 1) against N(0, 1) has delta(level) = delta, rounded down."""
    if not 0 < delta < 1:
        return _INFINITY if delta else Fraction(0)
    with working_precision(_BITS):
        target, at = ball(delta), ball(level)
        if level == 0:
            return max(enclose(arb(8).sqrt() * target.erfinv()).lower, Fraction(0))

        def met(mu: float) -> bool:
            return bool(gaussian.delta(arb(mu), at) <= target)

        high = _SMALLEST
        while met(high):
            high *= 2
        return Fraction(halved(met, high, 0.0, _HALVINGS)[1])


def root_of(square: Enclosure) -> Enclosure:
    """The root of a number >= 0: exact where both ends are squares of rationals."""
    return Enclosure(_root(square.lower, False), _root(square.upper, True), why=square.why)


def squared(number: Enclosure) -> Enclosure:
    """The square of a number >= 0."""
    lower, upper = (
        Fraction(end) ** 2 if _finite(end) else end for end in (number.lower, number.upper)
    )
    return Enclosure(lower, upper, why=number.why)


def _root(end: Endpoint, up: bool) -> Endpoint:
    if not _finite(end):
        return end
    number = Fraction(end)
    found = Fraction(isqrt(number.numerator), isqrt(number.denominator))
    if found**2 == number:
        return found
    with working_precision(_BITS):
        ends = enclose(ball(number).sqrt())
    return ends.upper if up else ends.lower


def _finite(end: Endpoint) -> bool:
    return end != _INFINITY


def _levels(most: Endpoint, largest: Endpoint) -> list[Fraction]:
    """From 0 to where delta has all but vanished; the middle ones first."""
    top, count = Fraction(8), _FEW
    if _finite(most):
        mu = Fraction(most).limit_denominator(10**6)
        top = mu * mu / 2 + 6 * mu
    if _finite(largest):
        top, count = min(top, Fraction(largest)), _POINTS
    grid = [(top * k / count).limit_denominator(10**9) for k in range(count)]
    return sorted(set(grid), key=lambda level: (level != 0, grid.index(level) % 4, level))


def _most(profile: dict[Fraction, Enclosure], largest: Endpoint) -> Endpoint:
    """The largest separation of the polygon's vertices, and at most what pure epsilon allows."""
    if not _finite(largest) or Fraction(largest) > _MOST_PURE:
        return _INFINITY
    ceiling = enclose(of_pure(ball(Fraction(largest)))).upper
    if Fraction(0) not in profile or not largest:
        return ceiling if largest else Fraction(0)
    lines = [(ball(level).exp(), ball(Fraction(profile[level].upper))) for level in sorted(profile)]
    lines.append((ball(Fraction(largest)).exp(), arb(0)))
    most, before = arb(0), arb(1)
    for (slope, start), (steeper, lower) in pairwise(_hull(lines)):
        level = (start - lower) / (steeper - slope)
        power = start + slope * level
        if not (level < before and level > 0 and power < 1):
            return ceiling
        before = level
        most = most.max(separation(power, 1 - power, level, 1 - level).upper())
    found = enclose(most).upper
    return min(found, ceiling)


def _hull(lines: list[tuple[arb, arb]]) -> list[tuple[arb, arb]]:
    """Those lines, the steeper later, that are lowest somewhere; leaving any out is safe."""
    kept: list[tuple[arb, arb]] = []
    for line in lines:
        while len(kept) > 1 and not _meet(kept[-1], line) < _meet(kept[-2], kept[-1]):
            kept.pop()
        kept.append(line)
    return kept


def _meet(one: tuple[arb, arb], other: tuple[arb, arb]) -> arb:
    return (one[1] - other[1]) / (other[0] - one[0])
