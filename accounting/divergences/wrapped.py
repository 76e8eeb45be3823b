"""Laws reduced mod m: exact residue probabilities, or how much the wrap can take away.

The reduction is post-processing, so what holds without it is an upper bound with it. A modulus
that can be enumerated gives the wrapped law itself. For a larger one the lower bounds here say
how little is lost: W is one period of outcomes around the bulk, and for x in W

    P'(x mod m) >= P(x),    Q'(x mod m) <= Q(x) (1 + e),    e >= sum over k != 0 of Q(x + km)/Q(x).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from flint import acb, arb, ctx

from ...exact.number import ball
from ...exact.precision import working_precision
from ...mechanisms.laws.law import Law
from ...mechanisms.pair import MixturePair, Reducible, SampledPair
from ...mechanisms.shift_pair import WrappedPair

_LARGEST_ENUMERATED = 1 << 16
_MOST_IMAGES = 1 << 21  # outcomes summed directly, before the Fourier sum takes over


def is_enumerable(pair: WrappedPair) -> bool:
    """Is the modulus small enough to list every residue?"""
    return pair.modulus <= _LARGEST_ENUMERATED


def residues(law: Law, modulus: int) -> list[arb]:
    """Enclose P(X = c mod m) for c = 0, ..., m - 1."""
    return list(_residues(law, modulus, ctx.prec))


def outside_masses(pair: Reducible) -> tuple[arb, arb]:
    """P and Q of the outcomes outside one period W, centred between the two laws."""
    if isinstance(pair, MixturePair):
        each = [(ball(weight), outside_masses(one)) for weight, one in pair.parts]  # type: ignore[arg-type]
        return tuple(sum((w * ends[k] for w, ends in each), arb(0)) for k in (0, 1))  # type: ignore[return-value]
    if isinstance(pair, SampledPair):
        assert isinstance(pair.pair, WrappedPair)
        p, q = outside_masses(pair.pair)
        mixture = (1 - ball(pair.rate)) * q + ball(pair.rate) * p
        return (mixture, q) if pair.removing else (q, mixture)
    return _outside(pair, ctx.prec)


@lru_cache(maxsize=32)
def _outside(pair: WrappedPair, bits: int) -> tuple[arb, arb]:
    """Kept, since one answer asks for it several times at the same precision."""
    law, d = pair.law, pair.shift
    centre = 0 if law.symmetric else round(float(law.moments().mean.lower))
    first = centre + (d - pair.modulus) // 2
    last = first + pair.modulus - 1
    return (
        law.lower_tail(first - 1) + law.upper_tail(last + 1),
        law.lower_tail(first - 1 - d) + law.upper_tail(last + 1 - d),
    )


def image_excess(law: Law, modulus: int, farthest: int) -> arb:
    """Bound e for |x| <= farthest < m/2, for a symmetric unimodal law.

    The images of x lie at distance at least m - farthest from 0, on each side at most one in m
    outcomes: their mass is at most P(|X| >= m - farthest), and p(x) >= p(farthest).
    """
    return 2 * law.upper_tail(modulus - farthest) / law.ball(farthest)


@lru_cache(maxsize=4)
def _residues(law: Law, modulus: int, bits: int) -> tuple[arb, ...]:
    reach = _reach(law, modulus, bits)
    return tuple(_fourier(law, modulus) if reach is None else _summed(law, modulus, reach))


def _reach(law: Law, modulus: int, bits: int) -> int | None:
    """A distance beyond which nothing matters at this precision, if it is near enough to sum.

    Found in floats: a bad guess costs width, since what lies beyond is added as an enclosure.
    """
    low, high = law.support
    if low is not None and high is not None:
        return max(abs(low), abs(high)) if high - low <= _MOST_IMAGES else None
    centre = round(float(law.moments().mean.lower))
    least = float(law.log_pmf(np.array([centre + modulus // 2 + 1]))[0]) - 0.7 * bits
    reach = modulus
    while float(law.log_pmf(np.array([centre + reach]))[0]) > least:
        reach += max(modulus, reach // 4)
        if 2 * reach > _MOST_IMAGES:
            return None
    return abs(centre) + reach


def _summed(law: Law, modulus: int, reach: int) -> list[arb]:
    totals = [arb(0)] * modulus
    for x, mass in zip(range(-reach, reach + 1), law.balls(-reach, reach), strict=True):
        totals[x % modulus] += mass
    beyond = law.upper_tail(reach + 1) + law.lower_tail(-reach - 1)
    if beyond == 0:
        return totals
    rest = arb(0).union(beyond)
    return [total + rest for total in totals]


def _fourier(law: Law, modulus: int) -> list[arb]:
    """P(X = c mod m) = (1/m) sum over j of M(2 pi i j/m) e^(-2 pi i j c/m), a finite sum."""
    with working_precision(ctx.prec + 2 * modulus.bit_length() + 20):
        step = 2 * arb.pi() / modulus
        transforms = (law.transform(acb(0, step * j), False) for j in range(modulus))
        values = [exponent.exp() * factor for exponent, factor in transforms]
        return [value.real / modulus for value in acb.dft(values)]
