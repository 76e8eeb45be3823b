"""One schema: what a text says of a mechanism is derived from the fields of its class.

A field of an attrs class names its key by `key`, once. From there specs are read, `exactdp list`
and help are printed, and certificates and ledgers are written. Which values a key takes stands in
the docstring of the field's converter, beside the check.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, TypeAlias

from attrs import NOTHING, Attribute, field, fields, frozen, has

from ...exact.number import ParameterError, decimal_text

_KEY, _INNER, _SPREAD = "key", "inner", "spread"

Values: TypeAlias = Mapping[str, str]
Spellings: TypeAlias = Mapping[str, Callable[[str], str]]


@frozen
class Key:
    """Which values a key takes, what it says, and its value where it is not given ("": none).

    spelt: other names of it, each with what turns a value of that name into one of this.
    """

    takes: str
    says: str
    default: str = ""
    spelt: Spellings = field(factory=dict)


class _Named(NamedTuple):
    says: str
    default: str | None
    takes: str | None
    name: str | None
    needed: bool
    always: bool
    spelt: Spellings


def key(
    says: str,
    default: str | None = None,
    *,
    takes: str | None = None,
    name: str | None = None,
    needed: bool = True,
    always: bool = False,
    spelt: Spellings | None = None,
) -> dict[str, object]:
    """Metadata of a field that is a key.

    says: what it means, in a few words. default: in words, where the field's own does not tell it.
    takes: where no converter tells it. name: where it is not the field's. needed: must specs give
    what the class has no default for? always: do ledgers write its default as well? spelt: as in
    `Key`.
    """
    return {_KEY: _Named(says, default, takes, name, needed, always, spelt or {})}


YES_OR_NO = "yes or no"

#: metadata of fields whose value is a law or a mechanism, and of those whose keys stand in place
INNER: Mapping[str, object] = {_INNER: True}
SPREAD: Mapping[str, object] = {_SPREAD: True}


class Calibrated(NamedTuple):
    """The parameter in which these are a family that calibration can search.

    power: for one claim it grows with this power of the sensitivity times the root of the uses,
    about, from `start` on. proof: why no divergence rises with it; None where none is known.
    defaults: of the other parameters. is_whole: only whole numbers count. falls: more of it is more
    noise, of which the least is looked for; else more of it costs more. is_open: verdicts between
    the last value that is verified and the first that is refuted may stay open.
    """

    parameter: str
    power: int
    proof: str | None
    defaults: Mapping[str, str] = {}
    start: float = 1.0
    is_whole: bool = False
    falls: bool = True
    is_open: bool = False


@frozen
class Entry:
    """What a name needs, what else it allows, and what it builds: a mechanism, or a `Spec` of one.

    says: the mechanism in a few words. example: the values of a spec. keys: in the order in which
    they are named, each with what it means here. (`exactdp list` shows all of it.) calibrated: the
    key that calibration may look for; None where it may not.
    """

    needs: tuple[str, ...]
    build: Callable[[Values], Any]
    says: str
    example: str
    keys: Mapping[str, Key]
    calibrated: Calibrated | None = None


def keys(cls: type) -> dict[str, Key]:
    """The keys of a class, by name."""
    found: dict[str, Key] = {}
    for name, attribute in _keys(cls):
        named: _Named = attribute.metadata[_KEY]
        takes, default = named.takes, named.default
        if takes is None:
            said = re.split(r"[.;](?:\s|$)", getattr(attribute.converter, "__doc__", None) or "")[0]
            takes = said[:1].lower() + said[1:]
        if default is None:
            default = "" if attribute.default is NOTHING else written(attribute.default) or ""
        found[name] = Key(takes, named.says, default, named.spelt)
    return found


class Named(Protocol):
    """An attrs class all of whose parameters are keys."""

    says: str  # the mechanism in a few words
    example: str  # the values of a spec


def entry(cls: type[Named], build: Callable[[Values], Any] | None = None) -> Entry:
    """Of a class of mechanisms. build: makes it of their values, where that is not the class."""
    known = dict(_keys(cls))

    def made(values: Values) -> Any:
        read: dict[str, object] = {}
        for name, one in known.items():
            if name in values:
                is_flag, text = isinstance(one.default, bool), values[name]
                read[str(one.alias)] = flag(text, name) if is_flag else text
        return cls(**read)

    unset = {name: one for name, one in known.items() if one.default is NOTHING}
    needs = tuple(name for name, one in unset.items() if one.metadata[_KEY].needed)
    sought: Calibrated | None = getattr(cls, "calibrated", None)
    return Entry(needs, build or made, cls.says, cls.example, keys(cls), sought)


def parts(of: object) -> dict[str, Any]:
    """The values of its keys, and what it is made of, by name: its own `parts` where it has them.

    A property of the key's name says what holds where it was not given.
    """
    if own := getattr(of, "parts", None):
        return dict(own())
    found: dict[str, Any] = {}
    for attribute in fields(type(of)):  # type: ignore[arg-type]
        value = getattr(of, attribute.name)
        if _KEY in attribute.metadata:
            name = _name(attribute)
            found[name] = getattr(of, name, value)
        elif _INNER in attribute.metadata:
            found[attribute.name] = value
        elif _SPREAD in attribute.metadata:
            found |= parts(value)
    return found


def spec(of: object) -> tuple[str, dict[str, str]] | None:
    """The name and the keys by which specs name a mechanism; None where there are none.

    What it is made of comes first; keys that hold what they hold anyway are left out, but for those
    that are always told. Where specs say it otherwise than its parts do, it has `spec_keys`.
    """
    own: Callable[[], Mapping[str, object]] | None = getattr(of, "spec_keys", None)
    name: str | None = getattr(of, "spec_name", getattr(of, "kind", None))
    usual = {
        n
        for n, a in _keys(type(of))
        if getattr(of, a.name) == a.default and not a.metadata[_KEY].always
    }
    found: dict[str, str] = {}
    for key, value in (parts(of) if own is None else own()).items():
        if hasattr(value, "pairs"):
            inner = spec(value)
        elif hasattr(value, "fields"):  # a law
            law = value.fields()
            rest = law and {key: str(part) for key, part in law.items() if key != "name"}
            inner = None if law is None else (law["name"], rest)
        else:
            if key not in usual and (text := written(value)) is not None:
                found[key] = text
            continue
        if inner is None:
            return None
        name, found = inner[0], inner[1] | found
    return None if name is None else (name, found)


def written(value: object) -> str | None:
    """The value of a key as text; None where there is none."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | Fraction):
        return decimal_text(value)
    return str(value.value if isinstance(value, Enum) else value)


def flag(value: str, name: str) -> bool:
    """Yes or no."""
    if value not in ("yes", "no"):
        raise ParameterError(f"{name} must be yes or no, got {short(value)}")
    return value == "yes"


def short(text: str) -> str:
    """Text as an error quotes it."""
    return repr(text) if len(text) <= 40 else repr(text[:37] + "...")


def _keys(cls: type) -> Iterator[tuple[str, Attribute[Any]]]:
    if has(cls):
        for attribute in fields(cls):
            if _KEY in attribute.metadata:
                yield _name(attribute), attribute


def _name(attribute: Attribute[Any]) -> str:
    named: _Named = attribute.metadata[_KEY]
    return named.name or (attribute.alias or attribute.name).replace("_", "-")
