"""Keys that two users agree on, X25519 (RFC 7748), HKDF-SHA256 (RFC 5869), ChaCha20-Poly1305, and
secrets of which many hold shares.

Each user has two X25519 keys in a round. One seals the shares that go to neighbours; the other
gives the pairwise masks, and the server learns its secret half if the user vanishes. Were they
one, a server that says that a user vanished could open what that user had sealed, the shares of
its self-mask among it.

*Shamir's secret sharing*: any `threshold` shares give the secret, fewer say nothing about it.

Shamir, "How to share a secret", Communications of the ACM 22 (1979). The secret is the constant
term of a uniformly random polynomial of degree threshold - 1 over a prime field, a share is its
value at a non-zero point: for any threshold - 1 shares and any secret there is exactly one
polynomial through them.

*Masks*: a user's own and one for each neighbour, and the stream they come from.

The stream: a 256-bit key stretched into integers mod m, without bias, for any m. The keystream of
ChaCha20 (RFC 8439) from block 0 is cut into numbers of as many bits as m - 1 has (whole bytes,
little-endian, the spare top bits dropped), and those that are not below m are skipped. Reducing
them mod m instead would favour small residues; a power of two for m need not be forced. A key
serves one mask of one round, so that a fixed nonce is right.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from ....exact.number import ParameterError
from ....mechanisms.samplers.bits import RandomBits
from ....mechanisms.samplers.coins import below
from .terms import Terms

KEY_BYTES = 32
_SHARES, _CONFIRMATION = 0, 2  # nonces: each key seals one message of each kind in each direction
SECRET_BITS = 256
PRIME = 2**257 - 93  # the largest prime below 2^257: room for every secret, few rejected draws
SHARE_BYTES = 33
_NONCE = bytes(16)
_BLOCK = 64

Mask: TypeAlias = tuple[bytes, int]  # its key, and whether it is added, 1, or subtracted, -1


def new_key(bits: RandomBits) -> X25519PrivateKey:
    """A fresh X25519 key."""
    return X25519PrivateKey.from_private_bytes(bits.take(256).to_bytes(KEY_BYTES, "little"))


def public_half(key: X25519PrivateKey) -> bytes:
    """What is advertised."""
    return key.public_key().public_bytes_raw()


def secret_half(key: X25519PrivateKey) -> int:
    """What is shared among the neighbours."""
    return int.from_bytes(key.private_bytes_raw(), "little")


def agree(own: X25519PrivateKey, other: bytes, context: bytes) -> bytes:
    """The 32-byte key that both users derive for this context.

    Raises ValueError for a public key of small order, with which the secret would be known.
    """
    return derive(own.exchange(X25519PublicKey.from_public_bytes(other)), context)


def is_sound(public: bytes) -> bool:
    """Is the order of this public key not small? Then a neighbour could not use it (`agree`)."""
    try:
        X25519PrivateKey.generate().exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        return False
    return True


def derive(secret: bytes, context: bytes) -> bytes:
    """HKDF-SHA256 without salt, 32 bytes."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=context).derive(secret)


class Channel:
    """An authenticated and encrypted channel between two neighbours, for one round.

    What one user seals for the other, nobody else can read or alter, nor send back to its sender:
    the nonce and the associated data say who sends it.
    """

    def __init__(self, key: bytes, own: int, other: int) -> None:
        self._cipher = ChaCha20Poly1305(key)
        self._own, self._other = own, other

    def seal(self, content: bytes) -> bytes:
        """Encrypt for the other user; once a round."""
        return self._encrypted(_SHARES, content, b"shares")

    def open(self, sealed: bytes) -> bytes | None:
        """Decrypt what the other user sealed; None if it is not what was sealed."""
        return self._decrypted(_SHARES, sealed, b"shares")

    def confirm(self, digest: bytes) -> bytes:
        """A tag that tells the other user that this one has seen `digest`; once a round."""
        return self._encrypted(_CONFIRMATION, b"", digest)

    def confirms(self, tag: bytes, digest: bytes) -> bool:
        """Has the other user seen this digest?"""
        return self._decrypted(_CONFIRMATION, tag, digest) is not None

    def _encrypted(self, kind: int, content: bytes, what: bytes) -> bytes:
        nonce, associated = _bound(kind, self._own, self._other, what)
        return self._cipher.encrypt(nonce, content, associated)

    def _decrypted(self, kind: int, sealed: bytes, what: bytes) -> bytes | None:
        nonce, associated = _bound(kind, self._other, self._own, what)
        try:
            return self._cipher.decrypt(nonce, sealed, associated)
        except InvalidTag:
            return None


def _bound(kind: int, sender: int, recipient: int, what: bytes) -> tuple[bytes, bytes]:
    """The nonce and the associated data."""
    nonce = (kind + (sender > recipient)).to_bytes(12, "little")
    return nonce, sender.to_bytes(8, "little") + recipient.to_bytes(8, "little") + what


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
    coefficients = [below(PRIME, bits) for _ in range(threshold - 1)]
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
