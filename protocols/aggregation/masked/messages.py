"""The messages of a round, as values that a network could carry.

Each names its round, and its sender or its recipient; what is malformed cannot be made. From a
user to the server: KeyAdvertisement, SealedShares, MaskedInput (MaskedVector for arrays),
Confirmation, Unmasking. From the server to a user: NeighbourKeys, DeliveredShares, Present,
Confirmations.

`to_json` and `from_json` make plain JSON-able dicts of them and back, `bits_of` says how many bits
they carry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias, get_args

from attrs import Attribute, field, fields, frozen

from ..aggregation import Stage
from .keys import PRIME, SHARE_BYTES
from .terms import ROUND_BYTES, Terms

DIGEST_BYTES = 32
TAG_BYTES = 16
SEALED_BYTES = 2 * SHARE_BYTES + TAG_BYTES
_Validator: TypeAlias = Callable[[Any, "Attribute[Any]", Any], None]  # of attrs


class RefusedError(ValueError):
    """A message that was refused: nothing has changed. The message says whose it was, and why."""


def _malformed(message: object, why: str) -> NoReturn:
    raise RefusedError(f"{type(message).__name__} refused: {why}")


def _whole(message: object, attribute: Attribute[Any], value: object) -> None:
    if type(value) is not int or value < 0:
        name = "user" if attribute.name in ("sender", "recipient") else attribute.name
        _malformed(message, f"{name} must be an integer >= 0")


def _octets(size: int | None = None) -> _Validator:
    def check(message: object, attribute: Attribute[Any], value: object) -> None:
        if type(value) is not bytes:
            _malformed(message, f"{attribute.name} must be bytes")
        if size is not None and len(value) != size:
            _malformed(message, f"{attribute.name} must be {size} bytes, got {len(value)}")

    return check


def _element(message: object, attribute: Attribute[Any], value: int) -> None:
    _whole(message, attribute, value)
    if value >= PRIME:
        _malformed(message, f"{attribute.name} must hold elements of the field")


def _each(content: _Validator) -> _Validator:
    """Pairs of distinct users and such contents."""

    def check(message: object, attribute: Attribute[Any], pairs: object) -> None:
        if not isinstance(pairs, tuple) or not all(
            isinstance(pair, tuple) and len(pair) == 2 and type(pair[0]) is int for pair in pairs
        ):
            _malformed(message, f"{attribute.name} must be a tuple of (user, content) pairs")
        if len({user for user, _ in pairs}) != len(pairs):
            _malformed(message, f"{attribute.name} must be for distinct users")
        for _, value in pairs:
            content(message, attribute, value)

    return check


@frozen
class _FromUser:
    round_id: bytes = field(validator=_octets(ROUND_BYTES))
    sender: int = field(validator=_whole)


@frozen
class _FromServer:
    round_id: bytes = field(validator=_octets(ROUND_BYTES))
    recipient: int = field(validator=_whole)


@frozen
class KeyAdvertisement(_FromUser):
    """Two public X25519 keys, and the terms that the user has agreed to."""

    modulus: int = field(validator=_whole)
    terms: bytes = field(validator=_octets(32))
    masking_key: bytes = field(validator=_octets(32))
    sealing_key: bytes = field(validator=_octets(32))


@frozen
class NeighbourKeys(_FromServer):
    """What the recipient's neighbours advertised."""

    keys: tuple[KeyAdvertisement, ...]

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.keys, tuple) or not all(
            isinstance(each, KeyAdvertisement) for each in self.keys
        ):
            _malformed(self, "keys must be a tuple of advertisements")
        if len({each.sender for each in self.keys}) != len(self.keys):
            _malformed(self, "keys must be of distinct users")


@frozen
class SealedShares(_FromUser):
    """For each neighbour a share of both secrets, sealed; and commitments for the server.

    commitment is SHA-256 of the 256-bit seed of the self-mask; checks are, for each neighbour,
    SHA-256 of its share of the seed and of its share of the key: a share that is opened wrongly
    shows, and the others are enough without it.
    """

    commitment: bytes = field(validator=_octets(DIGEST_BYTES))
    shares: tuple[tuple[int, bytes], ...] = field(validator=_each(_octets(SEALED_BYTES)))
    checks: tuple[tuple[int, bytes], ...] = field(validator=_each(_octets(2 * DIGEST_BYTES)))

    def __attrs_post_init__(self) -> None:
        if {user for user, _ in self.checks} != {user for user, _ in self.shares}:
            _malformed(self, "shares and checks must be for the same users")


@frozen
class DeliveredShares(_FromServer):
    """What the recipient's neighbours sealed for it."""

    shares: tuple[tuple[int, bytes], ...] = field(validator=_each(_octets(SEALED_BYTES)))


@frozen
class MaskedInput(_FromUser):
    """The user's message plus its masks, mod `modulus`."""

    modulus: int = field(validator=_whole)
    values: tuple[int, ...] = field()

    @values.validator
    def _check(self, attribute: Attribute[Any], values: object) -> None:
        if not isinstance(values, tuple):
            _malformed(self, "values must be a tuple")
        for value in values:
            _whole(self, attribute, value)


@frozen
class MaskedVector(_FromUser):
    """The same for an array: its integers mod 2^bits one after the other, `bits` bits each."""

    modulus: int = field(validator=_whole)
    packed: bytes = field(validator=_octets(), repr=False)


@frozen
class Present(_FromServer):
    """Whose masked inputs have arrived: one bit a user, in the order of the circle."""

    listed: bytes = field(validator=_octets())


@frozen
class Confirmation(_FromUser):
    """For each neighbour on the list, a tag: this user has seen the same list."""

    tags: tuple[tuple[int, bytes], ...] = field(validator=_each(_octets(TAG_BYTES)))


@frozen
class Confirmations(_FromServer):
    """The tags of the recipient's neighbours."""

    tags: tuple[tuple[int, bytes], ...] = field(validator=_each(_octets(TAG_BYTES)))


@frozen
class Unmasking(_FromUser):
    """Shares by their owner: of the self-mask of a present one, of the key of a vanished one."""

    self_masks: tuple[tuple[int, int], ...] = field(validator=_each(_element))
    keys: tuple[tuple[int, int], ...] = field(validator=_each(_element))


FromUser: TypeAlias = (
    KeyAdvertisement | SealedShares | MaskedInput | MaskedVector | Confirmation | Unmasking
)
FromServer: TypeAlias = NeighbourKeys | DeliveredShares | Present | Confirmations


SENT: dict[type[FromUser], Stage] = {
    KeyAdvertisement: Stage.KEYS,
    SealedShares: Stage.SHARES,
    MaskedInput: Stage.INPUT,
    MaskedVector: Stage.INPUT,
    Confirmation: Stage.CONFIRMATION,
    Unmasking: Stage.UNMASKING,
}


def refuse(message: FromUser | FromServer, why: str) -> NoReturn:
    """Refuse a message by its name and its user."""
    user = message.sender if hasattr(message, "sender") else message.recipient
    whose = "of" if hasattr(message, "sender") else "to"
    raise RefusedError(f"{type(message).__name__} {whose} user {user} refused: {why}")


def check_round(message: FromUser | FromServer, terms: Terms) -> None:
    """Refuse what was sent in another round."""
    if message.round_id != terms.round_id:
        refuse(message, "it belongs to another round")


_KINDS = {kind.__name__: kind for kind in (*get_args(FromUser), *get_args(FromServer))}


def to_json(message: FromUser | FromServer) -> dict[str, Any]:
    """The fields by name, and "kind"; bytes as {"hex": ...}, integers as text, tuples as lists."""
    shown = {each.name: _written(getattr(message, each.name)) for each in fields(type(message))}
    return {"kind": type(message).__name__, **shown}


def from_json(data: object) -> FromUser | FromServer:
    """Read what `to_json` wrote. Raises RefusedError for anything that is no message."""
    held = data if isinstance(data, Mapping) else {}
    name = held.get("kind")
    if not isinstance(name, str) or name not in _KINDS:
        raise RefusedError("refused: what came is no message of the protocol")
    kind: Any = _KINDS[name]
    names = [each.name for each in fields(kind)]
    if set(held) != {"kind", *names}:
        raise RefusedError(f"{kind.__name__} refused: it must have the fields {', '.join(names)}")
    try:
        message: FromUser | FromServer = kind(*(_read(held[name]) for name in names))
    except RefusedError:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise RefusedError(f"{kind.__name__} refused: it is malformed") from error
    return message


def bits_of(message: FromUser, terms: Terms) -> int:
    """What a user's message carries, headers and addresses apart.

    Keys, sealed shares and tags at their size; each integer of a masked input ceil(log2 m) bits.
    """
    match message:
        case KeyAdvertisement():
            return 8 * (len(message.masking_key) + len(message.sealing_key))
        case SealedShares():
            pairs = (*message.shares, *message.checks)
            return 8 * (len(message.commitment) + sum(len(each) for _, each in pairs))
        case MaskedInput():
            return len(message.values) * (terms.modulus - 1).bit_length()
        case MaskedVector():
            return 8 * len(message.packed)
        case Confirmation():
            return 8 * TAG_BYTES * len(message.tags)
        case Unmasking():
            return 8 * SHARE_BYTES * (len(message.self_masks) + len(message.keys))


def _written(value: object) -> object:
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    return to_json(value) if isinstance(value, KeyAdvertisement) else str(value)


def _read(value: object) -> object:
    if isinstance(value, list):
        return tuple(_read(each) for each in value)
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit()):
            raise ValueError(value)
        return int(value)
    if isinstance(value, Mapping) and set(value) == {"hex"} and isinstance(value["hex"], str):
        return bytes.fromhex(value["hex"])
    return from_json(value)
