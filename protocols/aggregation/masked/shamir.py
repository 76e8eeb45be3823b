"""Shamir's secret sharing: any `threshold` shares give the secret, fewer say nothing about it.

Shamir, "How to share a secret", Communications of the ACM 22 (1979). The secret is the constant
term of a uniformly random polynomial of degree threshold - 1 over a prime field, a share is its
value at a non-zero point: for any threshold - 1 shares and any secret there is exactly one
polynomial through them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping

from ....exact.number import ParameterError
from ....mechanisms.samplers.bits import RandomBits

SECRET_BITS = 256
PRIME = 2**257 - 93  # the largest prime below 2^257: room for every secret, few rejected draws
SHARE_BYTES = 33


def split(secret: int, threshold: int, points: Iterable[int], bits: RandomBits) -> dict[int, int]:
    """One share for each point: distinct integers in 1, ..., PRIME - 1, best small ones.

    secret: 0 <= secret < 2^256; threshold: how many shares give it back, at most so many as points.
    """
    places = list(points)
    if not 0 <= secret < 2**SECRET_BITS:
        raise ParameterError(f"secret must be an integer of at most {SECRET_BITS} bits")
    if not 1 <= threshold <= len(places):
        raise ParameterError(
            f"threshold must be between 1 and the number of points, {len(places)}, got {threshold}"
        )
    if len(set(places)) != len(places) or not all(1 <= x < PRIME for x in places):
        raise ParameterError("points must be distinct integers between 1 and PRIME - 1")
    coefficients = [_element(bits) for _ in range(threshold - 1)]
    shares = {}
    for x in places:
        value = 0
        for coefficient in coefficients:  # Horner; for small x the reduction can wait
            value = (value + coefficient) * x
        shares[x] = (value + secret) % PRIME
    return shares


def check(share: int) -> bytes:
    """SHA-256 of a share: a commitment to it.

    It gives nothing away: a share is an element of a field of 2^257, uniform by itself, and whoever
    lacks one of those that would give the secret cannot tell it from 2^256 others.
    """
    return hashlib.sha256(share.to_bytes(SHARE_BYTES, "little")).digest()


def combine(shares: Mapping[int, int]) -> int:
    """The constant term of the polynomial of least degree through these (point, share) pairs.

    That is the secret if there are at least `threshold` of them and none was tampered with.
    Lagrange at 0, the weights over one common denominator so that one inversion is enough.
    """
    if not shares:
        raise ParameterError("there are no shares to combine")
    tops, bottoms = [], []
    for x in shares:
        top, bottom = 1, 1
        for other in shares:
            if other != x:
                top, bottom = top * other, bottom * (other - x)
        tops.append(top)
        bottoms.append(bottom)
    common = math.lcm(*bottoms)
    total = sum(
        share * (top * (common // bottom) % PRIME)
        for share, top, bottom in zip(shares.values(), tops, bottoms, strict=True)
    )
    return total * pow(common, -1, PRIME) % PRIME


def _element(bits: RandomBits) -> int:
    """A uniform element of the field."""
    while (drawn := bits.take(257)) >= PRIME:
        pass
    return drawn
