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
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ....exact.number import ParameterError
from ....mechanisms.samplers.bits import RandomBits

KEY_BYTES = 32
_SHARES, _CONFIRMATION = 0, 2  # nonces: each key seals one message of each kind in each direction
SECRET_BITS = 256
PRIME = 2**257 - 93  # the largest prime below 2^257: room for every secret, few rejected draws
SHARE_BYTES = 33


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
        return self._cipher.encrypt(*self._outward(_SHARES, content, b"shares"))

    def open(self, sealed: bytes) -> bytes | None:
        """Decrypt what the other user sealed; None if it is not what was sealed."""
        return self._decrypted(_SHARES, sealed, b"shares")

    def confirm(self, digest: bytes) -> bytes:
        """A tag that tells the other user that this one has seen `digest`; once a round."""
        return self._cipher.encrypt(*self._outward(_CONFIRMATION, b"", digest))

    def confirms(self, tag: bytes, digest: bytes) -> bool:
        """Has the other user seen this digest?"""
        return self._decrypted(_CONFIRMATION, tag, digest) is not None

    def _outward(self, kind: int, content: bytes, what: bytes) -> tuple[bytes, bytes, bytes]:
        return _nonce(kind, self._own, self._other), content, _from(self._own, self._other, what)

    def _decrypted(self, kind: int, sealed: bytes, what: bytes) -> bytes | None:
        try:
            return self._cipher.decrypt(
                _nonce(kind, self._other, self._own), sealed, _from(self._other, self._own, what)
            )
        except InvalidTag:
            return None


def _nonce(kind: int, sender: int, recipient: int) -> bytes:
    return (kind + (sender > recipient)).to_bytes(12, "little")


def _from(sender: int, recipient: int, what: bytes) -> bytes:
    return sender.to_bytes(8, "little") + recipient.to_bytes(8, "little") + what


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
