"""From text to a mechanism: `NAME:key=value,...`, or a .toml or .json file with the same keys.

In a file the key `mechanism` (or `name`) holds NAME, and paths are relative to the file. Numbers
are taken as they are written, never through a float.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from ..exact import ParameterError, decimal_text, exact
from ..mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    Law,
    Mechanism,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
    papers,
)
from ..mechanisms.pair_file import read_pair, read_text

__all__ = ["Spec", "Values", "parse", "read_name"]

_LONGEST_TEXT = 4096
_LARGEST = 1000  # decimal digits of a number, on either side of the point
_LATER = {"theorem3", "shuffle-sum", "dropout", "collusion"}

Values: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Spec:
    """A mechanism, the text that named it, and the parameters that were derived from it."""

    text: str
    mechanism: Mechanism
    derived: Mapping[str, int]

    def to_json(self) -> dict[str, str]:
        """The mechanism as `--json` shows it; integers as text, since they may be large."""
        shown = {"spec": self.text}
        if isinstance(self.mechanism, AdditiveNoise):
            shown["noise"] = _shown(self.mechanism.law)
        return shown | {name: str(value) for name, value in self.derived.items()}


@dataclass(frozen=True)
class _Entry:
    """What a name needs, what else it allows, and what it builds."""

    needs: tuple[str, ...]
    allows: tuple[str, ...]
    build: Callable[[Values], Mechanism | papers.Preset]


def parse(text: str) -> Spec:
    """Read a mechanism spec. Raises ParameterError, in one line, for anything that is not one."""
    name = _printable(text, "SPEC", ", NAME:key=value,... or a .toml or .json file")
    if name not in _ENTRIES and text.endswith((".toml", ".json")):
        name, values = _from_file(Path(text))
    else:
        name, values = read_name(text, "SPEC")
    built = _entry(name, values).build(values)
    if isinstance(built, papers.Preset):
        return Spec(text, built.mechanism, _derived(built))
    return Spec(text, built, {})


def read_name(text: str, what: str) -> tuple[str, dict[str, str]]:
    """NAME:key=value,... as the name and its values; what: what the text is called in errors."""
    name = _printable(text, what, ", NAME or NAME:key=value,...")
    _, _, rest = text.partition(":")
    return name, _distinct(
        (_assignment(part, what) for part in rest.split(",")) if rest else (), name
    )


def _printable(text: str, what: str, form: str) -> str:
    """The name in front of the colon."""
    if len(text) > _LONGEST_TEXT or not text.isprintable():
        raise ParameterError(
            f"{what} must be printable text of at most {_LONGEST_TEXT} characters{form}"
        )
    return text.partition(":")[0]


def _derived(preset: papers.Preset) -> dict[str, int]:
    found = {
        "precision": preset.precision,
        "accuracy": preset.accuracy,
        "modulus": preset.mechanism.modulus,
    }
    return {name: value for name, value in found.items() if value is not None}


def _entry(name: str, values: Values) -> _Entry:
    if name in _LATER:
        raise ParameterError(f"{name} is not available yet; available are {_listed(_ENTRIES)}")
    if name not in _ENTRIES:
        raise ParameterError(
            f"SPEC names no known mechanism: {_short(name)}; available are {_listed(_ENTRIES)}"
        )
    entry = _ENTRIES[name]
    allowed = entry.needs + entry.allows
    for key, value in values.items():
        if key not in allowed:
            state = "is not available yet" if key in _LATER else "is not known"
            raise ParameterError(f"{name}: {_short(key)} {state}; keys are {_listed(allowed)}")
        if not value:
            raise ParameterError(f"{name}: {key} is empty")
        _check_size(key, value)
    missing = [key for key in entry.needs if key not in values]
    if missing:
        raise ParameterError(f"{name}: {_listed(missing)} missing; keys are {_listed(allowed)}")
    return entry


def _check_size(key: str, value: str) -> None:
    """Refuse numbers that no formula can hold; what is no number, the builder refuses by name."""
    try:
        number = exact(value, key)
    except ParameterError:
        return
    limit = 10**_LARGEST
    if abs(number.numerator) > limit or number.denominator > limit:
        raise ParameterError(f"{key} must have at most {_LARGEST} digits, got {_short(value)}")


def _assignment(part: str, what: str) -> tuple[str, str]:
    key, equals, value = part.partition("=")
    if not equals or not key.strip():
        raise ParameterError(f"{what} must read NAME:key=value,..., got {_short(part)}")
    return key.strip(), value.strip()


def _distinct(pairs: Iterable[tuple[str, Any]], where: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ParameterError(f"{where}: {_short(key)} is given twice")
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
            table = tomllib.loads(content, parse_float=str)
    except ParameterError:
        raise
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{path}: not {path.suffix[1:].upper()}: {error}") from error
    if not isinstance(table, dict):
        raise ParameterError(f"{path}: must hold a table of keys and values")
    for key, value in table.items():
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ParameterError(f"{path}: {_short(key)} must be a number or text")
    values = {key: _digits(value, key) for key, value in table.items()}
    names = [values.pop(key) for key in ("mechanism", "name") if key in values]
    if len(names) != 1:
        raise ParameterError(f"{path}: one key `mechanism` must name the mechanism")
    if "file" in values:
        values["file"] = str(path.parent / values["file"])
    return names[0], values


def _digits(value: str | int, key: str) -> str:
    if isinstance(value, int) and abs(value) > 10**_LARGEST:
        raise ParameterError(f"{key} must have at most {_LARGEST} digits")
    return str(value)


def _shown(value: object) -> str:
    """A law and its exact parameters, as one would write it."""
    if isinstance(value, (int, Fraction)):
        return decimal_text(value)
    if is_dataclass(value):
        parts = (f"{part.name}={_shown(getattr(value, part.name))}" for part in fields(value))
        return f"{type(value).__name__}({', '.join(parts)})"
    return str(value)


def _short(text: str) -> str:
    return repr(text) if len(text) <= 40 else repr(text[:37] + "...")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


# -- what can be built ----------------------------------------------------------------------------


def _modulus(values: Values) -> str | None:
    return None if (given := values.get("modulus", "none")) == "none" else given


def _additive(needs: tuple[str, ...], law: Callable[[Values], Law]) -> _Entry:
    def build(values: Values) -> Mechanism:
        return AdditiveNoise(law(values), values.get("sensitivity", "1"), _modulus(values))

    return _Entry(needs, ("sensitivity", "modulus"), build)


def _discrete_laplace(values: Values) -> Mechanism:
    if ("epsilon" in values) == ("scale" in values):
        raise ParameterError("discrete-laplace: exactly one of epsilon and scale must be given")
    sensitivity = exact(values.get("sensitivity", "1"), "sensitivity", at_least=1)
    scale = (
        exact(values["scale"], "scale", above=0)
        if "scale" in values
        else sensitivity / exact(values["epsilon"], "epsilon", above=0)
    )
    return AdditiveNoise(DiscreteLaplace(scale), sensitivity, _modulus(values))


def _preset(
    build: Callable[..., papers.Preset],
    needs: tuple[str, ...] = ("epsilon", "batch", "horizon"),
    allows: tuple[str, ...] = (),
) -> _Entry:
    def built(values: Values) -> papers.Preset:
        given: dict[str, Any] = dict(values)
        if "modulus" in given:
            given["modulus"] = _modulus(values)
        return build(**given)

    return _Entry(needs, (*allows, "modulus"), built)


_SCALED = ("epsilon", "batch", "horizon", "scaling")
_ENTRIES: dict[str, _Entry] = {
    "discrete-laplace": _Entry(
        (), ("epsilon", "scale", "sensitivity", "modulus"), _discrete_laplace
    ),
    "polya-difference": _additive(
        ("shape", "scale"), lambda given: PolyaDifference(given["shape"], given["scale"])
    ),
    "skellam": _additive(("variance",), lambda given: Skellam(given["variance"])),
    "discrete-gaussian": _additive(("sigma2",), lambda given: DiscreteGaussian(given["sigma2"])),
    "discrete-gaussian-sum": _additive(
        ("count", "sigma2"), lambda given: DiscreteGaussianSum(given["count"], given["sigma2"])
    ),
    "binomial": _additive(
        ("trials", "probability"), lambda given: Binomial(given["trials"], given["probability"])
    ),
    "randomized-response": _Entry(
        ("epsilon",),
        ("delta",),
        lambda given: RandomizedResponse(given["epsilon"], given.get("delta", "0")),
    ),
    "pmf": _Entry(
        ("file",), ("slack",), lambda given: read_pair(given["file"], given.get("slack", "0"))
    ),
    "theorem1": _preset(papers.theorem1),
    "theorem2": _preset(papers.theorem2, _SCALED),
    "theorem4": _preset(papers.theorem4, _SCALED),
    "theorem5": _preset(papers.theorem5),
    "theorem6": _preset(papers.theorem6),
    "published": _preset(papers.published, ("epsilon", "batch"), ("horizon",)),
}
