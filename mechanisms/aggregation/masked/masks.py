"""The two kinds of masks: a user's own, and one for each neighbour that the neighbour cancels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from .keys import agree, derive
from .stream import mask
from .terms import Terms

__all__ = ["added", "pair_mask", "self_mask", "subtracted"]


def self_mask(terms: Terms, user: int, seed: bytes) -> tuple[int, ...]:
    """What only the user knows: it protects a late message of one whose pairwise key is open."""
    return mask(derive(seed, terms.context(b"self", user)), terms.modulus, terms.length)


def pair_mask(
    terms: Terms, user: int, own: X25519PrivateKey, other: int, public: bytes
) -> tuple[int, ...]:
    """What `user` adds and `other` adds the negative of, or the other way round, mod m.

    Raises ValueError for a public key of small order.
    """
    key = agree(own, public, terms.context(b"pair", user, other))
    drawn = mask(key, terms.modulus, terms.length)
    return drawn if user < other else tuple(-each for each in drawn)


def added(values: Sequence[int], masks: Iterable[Sequence[int]], modulus: int) -> tuple[int, ...]:
    """values plus all masks, mod m."""
    return tuple(sum(column) % modulus for column in zip(values, *masks, strict=True))


def subtracted(
    values: Sequence[int], masks: Iterable[Sequence[int]], modulus: int
) -> tuple[int, ...]:
    """values minus all masks, mod m."""
    return tuple(
        (value - taken) % modulus
        for value, taken in zip(values, added((0,) * len(values), masks, modulus), strict=True)
    )
