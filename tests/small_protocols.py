"""Brute force of small protocols, by mpmath: every sum of encodings, every noise that counts."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import floor

import mpmath

from exactdp.mechanisms import Law
from exactdp.protocols import SumProtocol

REACH = 45  # beyond it the noise of these tests has less than 1e-17


def exact_mpf(value: Fraction | int) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@cache
def noise_table(law: Law) -> list[tuple[int, mpmath.mpf]]:
    right = [law.pmf(x, 25) for x in range(REACH + 1)]
    left = right if law.symmetric else [law.pmf(-x, 25) for x in range(REACH + 1)]
    return [*((-x, left[x]) for x in range(REACH, 0, -1)), *enumerate(right)]


def decoded(protocol: SumProtocol, noisy: int) -> int:
    if protocol.modulus is None:
        return noisy
    seen = noisy % protocol.modulus
    top = protocol.modulus - 1 - protocol.accuracy
    return seen if seen <= top else seen - protocol.modulus


def off(protocol: SumProtocol, table: list[tuple[int, mpmath.mpf]], s: int, t: int) -> mpmath.mpf:
    """P(|D - s| > t) when the encodings sum to s."""
    return mpmath.fsum(p for x, p in table if abs(decoded(protocol, s + x) - s) > t)


def encodings(rewards: tuple[Fraction, ...], g: int) -> Iterator[tuple[int, Fraction]]:
    """The sums of encodings, and their probabilities."""
    for ups in product((0, 1), repeat=len(rewards)):
        total, chance = 0, Fraction(1)
        for x, up in zip(rewards, ups, strict=True):
            f = g * x - floor(g * x)
            chance *= f if up else 1 - f
            total += floor(g * x) + up
        yield total, chance


def beyond(
    protocol: SumProtocol,
    table: list[tuple[int, mpmath.mpf]],
    rewards: tuple[Fraction, ...],
    t: Fraction | int,
) -> mpmath.mpf:
    """P(|D - g sum x| > t) for these rewards."""
    target = protocol.precision * sum(rewards)
    parts = [mpmath.mpf(0)]
    for s, chance in encodings(rewards, protocol.precision):
        if chance:
            hits = (p for x, p in table if abs(decoded(protocol, s + x) - target) > t)
            parts.append(exact_mpf(chance) * mpmath.fsum(hits))
    return mpmath.fsum(parts)
