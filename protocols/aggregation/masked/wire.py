"""Messages as plain JSON-able dicts and back, and how many bits they carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from attrs import fields

from .messages import (
    TAG_BYTES,
    Confirmation,
    FromServer,
    FromUser,
    KeyAdvertisement,
    MaskedInput,
    MaskedVector,
    RefusedError,
    SealedShares,
    Unmasking,
)
from .shamir import SHARE_BYTES
from .terms import Terms

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
        return _whole(value)
    if isinstance(value, Mapping) and set(value) == {"hex"} and isinstance(value["hex"], str):
        return bytes.fromhex(value["hex"])
    return from_json(value)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)
