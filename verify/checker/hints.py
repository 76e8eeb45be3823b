"""The choices with which a certificate is proved: nothing rests on them, wrong ones prove nothing.

direction   REFUTED: which of the two datasets comes first, where that makes a difference
above       of every use, what dominates it: of a vector (`vectors`) "gaussian", "one number",
            "by one", "squares" or what may be missed; of what is known by others, which of the
            lists that dominate it, by its number
below       which of the lists that are attained, by its number
along       how many coordinates of a vector move by how much; the steps of a user of a stream
step        of the grid that composed losses are rounded to
order       of the Rényi divergence that shows rho, mu or epsilon
cover       orders from 1 on between which rho is covered (`concentrated`): a list for each pair,
            the last one for all others as well
listed      yes: all shifts mod m, and all outcomes of wide laws, are listed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from . import shape
from .mechanisms import RATE, Additive, Family, Mechanism, Sampled, Vector
from .releases import Stream
from .shape import CertificateError

DIRECTIONS = ("forward", "backward")
_VECTORS = ("gaussian", "one number", "by one", "squares")
_MOST_ORDERS, _MOST_COVERS, _MOST_STEPS, _MOST_USES = 1000, 300, 20_000, 100


@dataclass(frozen=True)
class Missed:
    """With which probability, in one use, a bound of a vector may fail."""

    chance: Fraction


Above: TypeAlias = "str | int | Missed | None"
Along: TypeAlias = "tuple[Any, ...]"  # of a vector moves, each with its count; else steps of a user
Orders: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class Hints:
    """What a certificate names; above, below and along: an entry for every use, or none at all."""

    direction: str | None = None
    above: tuple[Above, ...] = ()
    below: tuple[int, ...] = ()
    along: tuple[Along, ...] = ()
    step: Fraction | None = None
    order: Fraction | None = None
    cover: tuple[Orders, ...] = ()
    listed: bool = False


NONE = Hints()


def read_hints(data: object, released: Sequence[Mechanism]) -> Hints:
    """Read them. Raises CertificateError for anything that is none of these."""
    given = {} if data is None else data
    if odd := sorted(map(shape.shown, shape.held(given).keys() - set(_READERS)))[:3]:
        raise CertificateError(f"hints are {', '.join(_READERS)}, not {', '.join(odd)}")
    readers = {name: _READERS[name] for name in shape.named(given, *_READERS)}
    found = shape.read_each(given, "hints", readers)
    for name, read_one in (("above", _above), ("below", _below), ("along", _along)):
        if name in found:
            if len(found[name]) != len(released):
                raise CertificateError(f"{name} must have one entry for each use")
            each = zip(found[name], released, strict=True)
            found[name] = tuple(read_one(entry, one) for entry, one in each)
    return Hints(**found)


def hint_fields(hints: Hints) -> dict[str, Any]:
    """As they are read; what says nothing is left out."""
    found: dict[str, Any] = {}
    if hints.direction:
        found["direction"] = hints.direction
    if any(each not in (None, 0) for each in hints.above):
        found["above"] = [_above_field(each) for each in hints.above]
    if any(hints.below):
        found["below"] = [str(each) if each else None for each in hints.below]
    if any(hints.along):
        found["along"] = [_along_field(each) for each in hints.along]
    for name in ("step", "order"):
        if (number := getattr(hints, name)) is not None:
            found[name] = str(number)
    if hints.cover:
        found["cover"] = [[str(order) for order in orders] for orders in hints.cover]
    if hints.listed:
        found["listed"] = "yes"
    return found


def _above_field(one: Above) -> Any:
    if isinstance(one, Missed):
        return {"missed": str(one.chance)}
    return (str(one) if one else None) if isinstance(one, int) else one


def _along_field(along: Along) -> Any:
    if along and isinstance(along[0], tuple):
        return [{"move": str(move), "count": str(count)} for move, count in along]
    return [str(step) for step in along] or None


def _above(entry: object, one: Mechanism) -> Above:
    number = one.mechanism if isinstance(one, Sampled) else one
    if entry is None or (isinstance(number, Additive) and entry == "gaussian"):
        return None if entry is None else "gaussian"
    if isinstance(one, Family):
        return shape.read_whole(entry, "above", 0, _MOST_COVERS)
    if not isinstance(one, Vector):
        raise CertificateError("above is of vectors, of what is known by others, and gaussian of "
                               "numbers with noise on the integers: else null")  # fmt: skip
    if "missed" in shape.held(entry):
        return shape.plainly("above", Missed, "", missed=RATE)(entry)
    if isinstance(entry, dict):  # as older versions name the squares
        most = shape.number(at_most=10**40)
        return shape.plainly("above", lambda *_: "squares", "", square=most, sum=most)(entry)
    if entry not in _VECTORS:
        raise CertificateError(f"above must be {', '.join(_VECTORS)}, missed, or null")
    return str(entry)


def _below(entry: object, one: Mechanism) -> int:
    if entry is None:
        return 0
    if not isinstance(one, Family):
        raise CertificateError("below is of what is known by others: else null")
    return shape.read_whole(entry, "below", 0, _MOST_COVERS)


def _along(entry: object, one: Mechanism) -> Along:
    if entry is None:
        return ()
    if isinstance(one, Stream):
        listed = shape.read_list(entry, "along", _MOST_STEPS)
        return tuple(shape.read_whole(each, "a step of along", 0) for each in listed)
    if not isinstance(one, Vector):
        raise CertificateError("along is of vectors and streams: else null")
    count = shape.whole(1, 10**9)
    read_one = shape.plainly("along", lambda *both: both, "", move=count, count=count)
    return tuple(map(read_one, shape.read_list(entry, "along", 100)))


def _list(fields: Mapping[str, Any], name: str) -> list[Any]:
    return shape.read_list(fields[name], name, _MOST_USES)


def _orders(listed: object) -> Orders:
    orders = shape.read_list(listed, "cover", _MOST_ORDERS)
    return tuple(shape.read_number(each, "an order", least=1, at_most=1 << 20) for each in orders)


def _cover(fields: Mapping[str, Any], name: str) -> tuple[Orders, ...]:
    return tuple(map(_orders, shape.read_list(fields[name], name, _MOST_COVERS)))


_READERS: dict[str, shape.Reader] = {
    "step": shape.number(above=Fraction(1, 10**12)),
    "above": _list,
    "along": _list,
    "below": _list,
    "direction": shape.choice(*DIRECTIONS),
    "order": shape.number(least=1, at_most=1 << 20),
    "cover": _cover,
    "listed": shape.read_yes,
}
