"""The two kinds of masks, a user's own and one for each neighbour, and the stream they come from.

The stream: a 256-bit key stretched into integers mod m, without bias, for any m. The keystream of
ChaCha20 (RFC 8439) from block 0 is cut into numbers of as many bits as m - 1 has (whole bytes,
little-endian, the spare top bits dropped), and those that are not below m are skipped. Reducing
them mod m instead would favour small residues; a power of two for m need not be forced. A key
serves one mask of one round, so that a fixed nonce is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from numpy.typing import NDArray

from .keys import agree, derive
from .terms import Terms

_NONCE = bytes(16)
_BLOCK = 64

Mask: TypeAlias = tuple[bytes, int]  # its key, and whether it is added, 1, or subtracted, -1


def self_mask(terms: Terms, user: int, seed: bytes) -> Mask:
    """What only the user knows: it protects a late message of one whose pairwise key is open."""
    return derive(seed, terms.context(b"self", user)), 1


def pair_mask(terms: Terms, user: int, own: X25519PrivateKey, other: int, public: bytes) -> Mask:
    """What `user` adds and `other` subtracts, or the other way round, mod m; both have its key.

    Raises ValueError for a public key of small order.
    """
    return agree(own, public, terms.context(b"pair", user, other)), 1 if user < other else -1


def under(values: Sequence[int], masks: Iterable[Mask], modulus: int) -> tuple[int, ...]:
    """The values with these masks added and subtracted, mod m."""
    for key, sign in masks:
        drawn = mask(key, modulus, len(values))
        values = [value + sign * each for value, each in zip(values, drawn, strict=True)]
    return tuple(value % modulus for value in values)


def mask(key: bytes, modulus: int, length: int = 1) -> tuple[int, ...]:
    """`length` integers in 0, ..., modulus - 1 that the 32-byte key determines.

    Uniform and independent if the keystream is uniform: a number that is kept is uniform below m.
    """
    width = (modulus - 1).bit_length()
    if width == 0:
        return (0,) * length
    size, kept = (width + 7) // 8, (1 << width) - 1
    stream = Cipher(algorithms.ChaCha20(key, _NONCE), None).encryptor()
    found: list[int] = []
    rest = b""
    while len(found) < length:
        wanted = 2 * size * (length - len(found))  # at least every other number is kept
        block = rest + stream.update(bytes(-(-wanted // _BLOCK) * _BLOCK))
        used = len(block) - len(block) % size
        for start in range(0, used, size):
            drawn = int.from_bytes(block[start : start + size], "little") & kept
            if drawn < modulus:
                found.append(drawn)
                if len(found) == length:
                    break
        rest = block[used:]
    return tuple(found)


def mask_array(key: bytes, bits: int, length: int) -> NDArray[np.unsignedinteger[Any]]:
    """`mask` for the modulus 2^bits, 1 <= bits <= 64, as an array: the same integers.

    Of the narrowest type that has so many bits: a million of 16 bits are added four times as fast
    as of 64.
    """
    size = (bits + 7) // 8
    stream = Cipher(algorithms.ChaCha20(key, _NONCE), None).encryptor()
    octets = np.frombuffer(stream.update(bytes(size * length)), dtype=np.uint8)
    word = word_of(bits)
    if size < word.itemsize:
        padded = np.zeros((length, word.itemsize), dtype=np.uint8)
        padded[:, :size] = octets.reshape(length, size)
        octets = padded.ravel()
    drawn = octets.view(word)
    return drawn if bits == 8 * size else drawn & word.type((1 << bits) - 1)


def word_of(bits: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The narrowest type of integers that has so many bits, 1 to 64."""
    octets = (bits + 7) // 8
    return np.dtype(f"<u{1 << (octets - 1).bit_length()}")
