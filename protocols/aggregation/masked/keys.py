"""Keys that two users agree on: X25519 (RFC 7748), HKDF-SHA256 (RFC 5869), ChaCha20-Poly1305.

Each user has two X25519 keys in a round. One seals the shares that go to neighbours; the other
gives the pairwise masks, and the server learns its secret half if the user vanishes. Were they
one, a server that says that a user vanished could open what that user had sealed, the shares of
its self-mask among it.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ....mechanisms.samplers.bits import RandomBits

KEY_BYTES = 32
_SHARES, _CONFIRMATION = 0, 2  # nonces: each key seals one message of each kind in each direction


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
