"""The messages of a round, as values that a network could carry.

Each names its round, and its sender or its recipient; what is malformed cannot be made. From a
user to the server: KeyAdvertisement, SealedShares, MaskedInput, Confirmation, Unmasking. From the
server to a user: NeighbourKeys, DeliveredShares, Present, Confirmations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .shamir import PRIME, SHARE_BYTES
from .terms import ROUND_BYTES

__all__ = [
    "DIGEST_BYTES",
    "SEALED_BYTES",
    "Confirmation",
    "Confirmations",
    "DeliveredShares",
    "FromServer",
    "FromUser",
    "KeyAdvertisement",
    "MaskedInput",
    "NeighbourKeys",
    "Present",
    "RefusedError",
    "SealedShares",
    "Unmasking",
]

DIGEST_BYTES = 32
TAG_BYTES = 16
SEALED_BYTES = 2 * SHARE_BYTES + TAG_BYTES


class RefusedError(ValueError):
    """A message that was refused: nothing has changed. The message says whose it was, and why."""


@dataclass(frozen=True, slots=True)
class KeyAdvertisement:
    """Two public X25519 keys, and the terms that the user has agreed to."""

    round_id: bytes
    sender: int
    modulus: int
    terms: bytes
    masking_key: bytes
    sealing_key: bytes

    def __post_init__(self) -> None:
        _header(self, self.round_id, self.sender)
        _whole(self, "modulus", self.modulus)
        for name in ("terms", "masking_key", "sealing_key"):
            _octets(self, name, getattr(self, name), 32)


@dataclass(frozen=True, slots=True)
class NeighbourKeys:
    """What the recipient's neighbours advertised."""

    round_id: bytes
    recipient: int
    keys: tuple[KeyAdvertisement, ...]

    def __post_init__(self) -> None:
        _header(self, self.round_id, self.recipient)
        if not isinstance(self.keys, tuple) or not all(
            isinstance(each, KeyAdvertisement) for each in self.keys
        ):
            _malformed(self, "keys must be a tuple of advertisements")
        if len({each.sender for each in self.keys}) != len(self.keys):
            _malformed(self, "keys must be of distinct users")


@dataclass(frozen=True, slots=True)
class SealedShares:
    """For each neighbour a share of both secrets, sealed; and commitments for the server.

    commitment is SHA-256 of the 256-bit seed of the self-mask; checks are, for each neighbour,
    SHA-256 of its share of the seed and of its share of the key: a share that is opened wrongly
    shows, and the others are enough without it.
    """

    round_id: bytes
    sender: int
    commitment: bytes
    shares: tuple[tuple[int, bytes], ...]
    checks: tuple[tuple[int, bytes], ...]

    def __post_init__(self) -> None:
        _header(self, self.round_id, self.sender)
        _octets(self, "commitment", self.commitment, DIGEST_BYTES)
        _pairs(self, "shares", self.shares)
        for _, sealed in self.shares:
            _octets(self, "shares", sealed, SEALED_BYTES)
        _pairs(self, "checks", self.checks)
        for _, digests in self.checks:
            _octets(self, "checks", digests, 2 * DIGEST_BYTES)
        if {user for user, _ in self.checks} != {user for user, _ in self.shares}:
            _malformed(self, "shares and checks must be for the same users")


@dataclass(frozen=True, slots=True)
class DeliveredShares:
    """What the recipient's neighbours sealed for it."""

    round_id: bytes
    recipient: int
    shares: tuple[tuple[int, bytes], ...]

    def __post_init__(self) -> None:
        _header(self, self.round_id, self.recipient)
        _pairs(self, "shares", self.shares)
        for _, sealed in self.shares:
            _octets(self, "shares", sealed, SEALED_BYTES)


@dataclass(frozen=True, slots=True)
class MaskedInput:
    """The user's message plus its masks, mod `modulus`."""

    round_id: bytes
    sender: int
    modulus: int
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        _header(self, self.round_id, self.sender)
        _whole(self, "modulus", self.modulus)
        if not isinstance(self.values, tuple):
            _malformed(self, "values must be a tuple")
        for value in self.values:
            _whole(self, "values", value)


@dataclass(frozen=True, slots=True)
class Present:
    """Whose masked inputs have arrived: one bit a user, in the order of the circle."""

    round_id: bytes
    recipient: int
    listed: bytes

    def __post_init__(self) -> None:
        _header(self, self.round_id, self.recipient)
        _octets(self, "listed", self.listed)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """For each neighbour on the list, a tag: this user has seen the same list."""

    round_id: bytes
    sender: int
    tags: tuple[tuple[int, bytes], ...]

    def __post_init__(self) -> None:
        _header(self, self.round_id, self.sender)
        _pairs(self, "tags", self.tags)
        for _, tag in self.tags:
            _octets(self, "tags", tag, TAG_BYTES)


@dataclass(frozen=True, slots=True)
class Confirmations:
    """The tags of the recipient's neighbours."""

    round_id: bytes
    recipient: int
    tags: tuple[tuple[int, bytes], ...]

    def __post_init__(self) -> None:
        _header(self, self.round_id, self.recipient)
        _pairs(self, "tags", self.tags)
        for _, tag in self.tags:
            _octets(self, "tags", tag, TAG_BYTES)


@dataclass(frozen=True, slots=True)
class Unmasking:
    """Shares by their owner: of the self-mask of a present one, of the key of a vanished one."""

    round_id: bytes
    sender: int
    self_masks: tuple[tuple[int, int], ...]
    keys: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        _header(self, self.round_id, self.sender)
        for name in ("self_masks", "keys"):
            shares = getattr(self, name)
            _pairs(self, name, shares)
            for _, share in shares:
                _whole(self, name, share)
                if share >= PRIME:
                    _malformed(self, f"{name} must hold elements of the field")


FromUser: TypeAlias = KeyAdvertisement | SealedShares | MaskedInput | Confirmation | Unmasking
FromServer: TypeAlias = NeighbourKeys | DeliveredShares | Present | Confirmations


def _malformed(message: object, why: str) -> None:
    raise RefusedError(f"{type(message).__name__} refused: {why}")


def _header(message: object, round_id: object, user: object) -> None:
    _octets(message, "round_id", round_id, ROUND_BYTES)
    _whole(message, "user", user)


def _whole(message: object, name: str, value: object) -> None:
    if type(value) is not int or value < 0:
        _malformed(message, f"{name} must be an integer >= 0")


def _octets(message: object, name: str, value: object, size: int | None = None) -> None:
    if type(value) is not bytes:
        _malformed(message, f"{name} must be bytes")
    elif size is not None and len(value) != size:
        _malformed(message, f"{name} must be {size} bytes, got {len(value)}")


def _pairs(message: object, name: str, pairs: object) -> None:
    if not isinstance(pairs, tuple) or not all(
        isinstance(pair, tuple) and len(pair) == 2 and type(pair[0]) is int for pair in pairs
    ):
        _malformed(message, f"{name} must be a tuple of (user, content) pairs")
    elif len({user for user, _ in pairs}) != len(pairs):
        _malformed(message, f"{name} must be for distinct users")
