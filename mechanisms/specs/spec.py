"""From text to a mechanism: `NAME:key=value,...`, or a .toml or .json file with the same keys.

In a file the key `mechanism` (or `name`) holds NAME (`name` where `mechanism` is a key of it), and
paths are relative to the file. Numbers are taken as they are written, never through a float.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from ...common.suggest import meant, uncovered
from ...exact.number import ParameterError, exact, whole
from ..fields.schema import Entry, Key, Values, short
from ..mechanism import Mechanism
from ..pairs.pair_file import Held, noting, read_text
from .catalogue import Spec, entries

__all__ = ["Spec", "Values", "parse", "parse_use", "read_name"]

_LONGEST_TEXT = 4096
_MOST_USES = 10**9
_LARGEST = 1000  # decimal digits of a number, on either side of the point


def parse(text: str) -> Spec:
    """Read a mechanism spec. Raises ParameterError, in one line, for anything that is not one."""
    name = _printable(text, "SPEC", ", NAME:key=value,... or a .toml or .json file")
    if name not in entries() and text.endswith((".toml", ".json")):
        name, values = _from_file(Path(text))
    else:
        if name not in entries():
            raise _unknown(name)
        name, values = _read_pairs(text, "SPEC")
    try:
        respelt = _respelt(name, values)
        with noting() as read:
            built = _entry(name, respelt).build(respelt)
    except ParameterError as error:
        raise type(error)(_typed(name, values, str(error))) from error
    held = Held.of(name, respelt, *read.values()) if read else None
    if isinstance(built, Spec):
        return evolve(built, text=text, held=held)
    return Spec(text, built, {}, held=held)


def built(name: str, values: Values) -> Mechanism:
    """The mechanism of this name and these keys. Raises ParameterError, as `parse` does."""
    spec = _entry(name, values).build(values)
    mechanism: Mechanism = spec.mechanism if isinstance(spec, Spec) else spec
    return mechanism


def parse_use(text: str) -> tuple[Spec, int]:
    """SPEC*K as the mechanism and K, which is 1 where it is not given."""
    spec, star, times = text.rpartition("*")
    if not star:
        return parse(text), 1
    count = whole(times, "K in SPEC*K", at_least=1, at_most=_MOST_USES)
    return parse(spec), count


def read_name(text: str, what: str) -> tuple[str, dict[str, str]]:
    """NAME:key=value,... as the name and its values; what: what the text is called in errors."""
    name, values = _read_pairs(text, what)
    return name, _respelt(name, values)


def _read_pairs(text: str, what: str) -> tuple[str, dict[str, str]]:
    """The same with the keys as they are typed."""
    name = _printable(text, what, ", NAME or NAME:key=value,...")
    _, _, rest = text.partition(":")
    parts = rest.split(",") if rest else []
    if name == "guarantee":  # KIND:numbers stand in front, without a key
        count = next((i for i, part in enumerate(parts) if "=" in part), len(parts))
        parts = [f"claim={','.join(parts[:count])}" for _ in range(count > 0)] + parts[count:]
    return name, _distinct((_assignment(part, what) for part in parts), name)


def _printable(text: str, what: str, form: str) -> str:
    """The name in front of the colon."""
    if len(text) > _LONGEST_TEXT or not text.isprintable():
        raise ParameterError(
            f"{what} must be printable text of at most {_LONGEST_TEXT} characters{form}"
        )
    return text.partition(":")[0]


def _typed(name: str, values: Values, error: str) -> str:
    """An error that names a key as it was typed: behind what was given where it names none of it.

    (It may name what follows from the keys, or a key by its other name.)
    """
    named = set(re.findall(r"[\w-]+", error))
    of_file = error.startswith(str(values.get("file", "file")))
    if named & set(values) or of_file or name not in entries():
        return error
    keys = entries()[name].keys
    said = [key for key in values if _meant(key, keys) in named]
    if not said and name not in named:
        said = list(values)
    given = ",".join(f"{key}={short(values[key])[1:-1]}" for key in said)
    return f"{given}: {error}" if given else error


def _meant(given: str, keys: Mapping[str, Key]) -> str:
    """The key that has this as its name, or as another name."""
    if given in keys:
        return given
    return next((each for each, one in keys.items() if given in one.spelt), given)


def _respelt(name: str, values: Mapping[str, str]) -> dict[str, str]:
    """Other names of keys, and other words for their values, as the schema has them."""
    keys = one.keys if (one := entries().get(name)) is not None else {}
    pairs = []
    for given, value in values.items():
        key = _meant(given, keys)
        convert = keys[key].spelt.get(given) if key in keys else None
        pairs.append((key, value if convert is None else convert(value)))
    return _distinct(pairs, name)


def _entry(name: str, values: Values) -> Entry:
    if (entry := entries().get(name)) is None:
        raise _unknown(name)
    allowed = entry.keys
    for key, value in values.items():
        if key not in allowed:
            raise ParameterError(
                f"{name}: {short(key)} is not known{meant(key, allowed)}; "
                f"keys are {', '.join(allowed)}"
            )
        if not value:
            raise ParameterError(f"{name}: {key} is empty")
        _check_size(key, value)
    missing = [key for key in entry.needs if key not in values]
    if missing:
        raise ParameterError(f"{name}: {', '.join(missing)} missing; keys are {', '.join(allowed)}")
    return entry


def _unknown(name: str) -> ParameterError:
    hint = uncovered(name) or meant(name, entries())
    every = "`exactdp list` names all" if hint else f"available are {', '.join(entries())}"
    return ParameterError(f"SPEC names no known mechanism: {short(name)}{hint}; {every}")


def _check_size(key: str, value: str) -> None:
    """Refuse numbers that no formula can hold; what is no number, the builder refuses by name."""
    try:
        number = exact(value, key)
    except ParameterError:
        return
    limit = 10**_LARGEST
    if abs(number.numerator) > limit or number.denominator > limit:
        raise ParameterError(f"{key} must have at most {_LARGEST} digits, got {short(value)}")


def _assignment(part: str, what: str) -> tuple[str, str]:
    key, equals, value = part.partition("=")
    if not equals or not key.strip():
        raise ParameterError(f"{what} must read NAME:key=value,..., got {short(part)}")
    return key.strip(), value.strip()


def _distinct(pairs: Iterable[tuple[str, Any]], where: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ParameterError(f"{where}: {short(key)} is given twice")
        values[key] = value
    return values


def _from_file(path: Path) -> tuple[str, dict[str, str]]:
    content = read_text(path)
    try:
        if path.suffix == ".json":
            table = json.loads(
                content,
                object_pairs_hook=lambda pairs: _distinct(pairs, str(path)),
                parse_float=str,
                parse_int=str,
                parse_constant=str,
            )
        else:
            import tomllib

            table = tomllib.loads(content, parse_float=str)
    except ParameterError:
        raise
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{path}: not {path.suffix[1:].upper()}: {error}") from error
    if not isinstance(table, dict):
        raise ParameterError(f"{path}: must hold a table of keys and values")
    for key, value in table.items():
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ParameterError(f"{path}: {short(key)} must be a number or text")
        if isinstance(value, int) and abs(value) > 10**_LARGEST:
            raise ParameterError(f"{key} must have at most {_LARGEST} digits")
    values = {key: str(value) for key, value in table.items()}
    keys = ("name",) if values.get("name") == "federated" else ("mechanism", "name")
    names = [values.pop(key) for key in keys if key in values]  # its `mechanism` is of its noise
    if len(names) != 1:
        raise ParameterError(f"{path}: one key `mechanism` must name the mechanism")
    if "file" in values:
        values["file"] = str(path.parent / values["file"])
    return names[0], values
