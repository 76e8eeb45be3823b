"""epsilon and delta of real vectors that are rounded at random before integer noise is added.

What is bounded here is from above only; neighbours differ by one user, added or removed, both ways
round. The least of these (proofs: `docs/rounding.md`):

*Rényi*: `envelope.rounded_renyi`, which adds up over uses, also adaptive ones.

*Gaussian*, where the dimension is known: `envelope.rounded_distance`. With b the mass that all uses
together miss there is a law G, (1 - b) G <= P <= G + b, that the Gaussians dominate, so that with
their profile delta_G

    P(S) - e^eps Q(S) <= delta_G(eps) + b,    Q(S) - e^eps P(S) <= delta_G(eps + log(1 - b)).

The first is of the sampled Gaussians where the user is removed, the second where one is added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from flint import arb

from ...exact.budget import OutOfTimeError
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ExactInput, ball, exact, whole
from ...exact.precision import enclose, working_precision
from ...mechanisms.laws.law import Law
from ..divergences.conversion import Curve, renyi_to_delta, renyi_to_epsilon
from ..envelope import rounded_distance, rounded_renyi
from ..losses.continuous import profile
from ..losses.continuous.inversion import Parts
from ..losses.continuous.sampled_gaussian import SampledGaussian

_BITS = 128
_WIDTH = Fraction(1, 10**6)
_SHARES = [Fraction(1, 10**n) for n in (1, 2, 3, 4)]  # of delta, for what is missed
_SHARE = [Fraction(1, 100)]  # the same, where it takes long
_INFINITY = Decimal("Infinity")


def rounded_epsilon(
    law: Law,
    l2: ExactInput,
    delta: ExactInput,
    dimension: int | None = None,
    times: int = 1,
    rate: ExactInput = 1,
) -> Enclosure:
    """At most what so many uses cost at this delta > 0: an enclosure from 0 on.

    law: of the noise in every coordinate. l2: what a user's real vector is at most in norm, before
    it is rounded. dimension: how many coordinates; None for any number. rate: of users that take
    part, independently, in each use.

    Raises NoEnvelopeError where no Gaussian envelope of the noise is proved.

    >>> from exactdp.mechanisms.laws import Skellam
    >>> f"{rounded_epsilon(Skellam(10000), 100, '1e-5', 2**20):.3f}"
    '4.564'
    """
    level = exact(delta, "delta", above=0, below=1)
    found: list[Endpoint] = []
    for distance, missed in _distances(law, l2, dimension, times, level, rate):
        removed, added = _gaussians(distance, times, rate)
        one = profile.epsilon(removed, level - missed, _WIDTH).upper
        other = profile.epsilon(added, level, _WIDTH).upper
        found.append(max(one, _plus(other, _lost(missed))))
    try:  # which takes longest, and is seldom less where the dimension is known
        curve = _curve(law, l2, dimension, times, rate)
        found.append(renyi_to_epsilon(curve, level, width=_WIDTH).value.upper)
    except OutOfTimeError:
        if not found:
            raise
    return Enclosure(Fraction(0), min(found))


def rounded_delta(
    law: Law,
    l2: ExactInput,
    epsilon: ExactInput,
    dimension: int | None = None,
    times: int = 1,
    rate: ExactInput = 1,
) -> Enclosure:
    """At most what so many uses cost at this epsilon >= 0. Arguments as for `rounded_epsilon`."""
    level = exact(epsilon, "epsilon", at_least=0)
    curve = _curve(law, l2, dimension, times, rate)
    best: Endpoint = min(renyi_to_delta(curve, level, width=_WIDTH).value.upper, Fraction(1))
    for distance, missed in _distances(law, l2, dimension, times, Fraction(best), rate):
        removed, added = _gaussians(distance, times, rate)
        one = _plus(profile.delta(removed, level, _WIDTH).upper, missed)
        left = level - _lost(missed)
        other = profile.delta(added, max(left, Fraction(0)), _WIDTH).upper
        if left < 0:  # Q(S) - P(S) is at most the total variation distance
            other = _plus(other, missed)
        best = min(best, max(one, other))
    return Enclosure(Fraction(0), best)


def _curve(law: Law, l2: ExactInput, dimension: int | None, times: int, rate: ExactInput) -> Curve:
    """Upper bounds, given as if they were exact: only upper ends made of them are true."""
    count = whole(times, "times", at_least=1)

    def curve(orders: Sequence[Fraction]) -> list[Enclosure]:
        each = [rounded_renyi(law, l2, dimension, order, rate) for order in orders]
        return [
            Enclosure.infinite() if cost is None else Enclosure.exactly(cost * count)
            for cost in each
        ]

    return curve


def _distances(
    law: Law, l2: ExactInput, dimension: int | None, times: int, delta: Fraction, rate: ExactInput
) -> Iterator[tuple[Fraction, Fraction]]:
    """Of Gaussians that dominate each use, and the probability that all uses together miss."""
    if dimension is None or delta == 0 or exact(l2, "l2") == 0:
        return
    for share in _SHARES if exact(rate, "rate") == 1 else _SHARE:
        missed = delta * share
        yield rounded_distance(law, l2, dimension, missed / times), missed


def _gaussians(distance: Fraction, times: int, rate: ExactInput) -> tuple[Parts, Parts]:
    """All uses, where a user is removed, and where one is added."""
    share = exact(rate, "rate", at_least=0, at_most=1)
    removed, added = (SampledGaussian(share, 1 / distance, way) for way in (True, False))
    return [(removed, times)], [(added, times)]


def _lost(missed: Fraction) -> Fraction:
    """-log(1 - missed)."""
    with working_precision(_BITS):
        return _above(-(-ball(missed)).log1p())


def _above(value: arb) -> Fraction:
    return Fraction(enclose(value.upper()).upper)


def _plus(end: Endpoint, more: Fraction) -> Endpoint:
    return _INFINITY if end == _INFINITY else Fraction(end) + more
