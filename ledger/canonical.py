"""Mechanisms as text and back: what an entry says must be readable without any other file.

A mechanism is written as the spec that builds it, its numbers exact and its keys in a fixed order,
however it was spelt; a table of two laws as JSON, with all its numbers. So is a spec that names a
file: the content stands in the ledger, beside the spec with its SHA-256 in the path's place. What
is written is read back before it is used: it is the same mechanism, or it is not written. No path
is ever opened for what a ledger says.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256

from ..accounting.composition.composed import Composition, Use
from ..accounting.composition.composed import compose as _compose
from ..exact import ParameterError, decimal_text
from ..mechanisms import FinitePair, Mechanism
from ..mechanisms.fields import schema
from ..mechanisms.pairs.pair_file import only_from
from ..mechanisms.sampled import Sampled
from ..mechanisms.specs.spec import Spec, parse, parse_use

# kinds that ledgers have always written as they were given
_AS_GIVEN = {
    "exponential",
    "noisy-max",
    "permute-and-flip",
    "sparse-vector",
    "categories",
    "subset-selection",
    "hadamard-response",
    "rounded-vector",
}


def uses_of(released: object) -> dict[str, tuple[Mechanism, int]]:
    """What is released, by canonical text: each mechanism, and how often it is used.

    released: a spec (read or as text), SPEC*K, a mechanism, a composition, or a list. Raises
    ParameterError for what is no mechanism or cannot be written, and where neighbours do not agree.
    """
    found: dict[str, tuple[Mechanism, int]] = {}
    try:
        listed = _listed(released)
    except RecursionError as error:
        raise ParameterError("a list of mechanisms must not be in itself") from error
    for written, mechanism, count in listed:
        earlier = found.get(written, (mechanism, 0))[1]
        found[written] = (mechanism, earlier + count)
    if not found:
        raise ParameterError("there must be at least one mechanism")
    _compose(*found.values())  # neighbours are the same in all
    return dict(sorted(found.items()))


@lru_cache(maxsize=4096)
def read(text: str) -> Mechanism:
    """The mechanism that was written so. Raises ParameterError for other text."""
    if not text.startswith("{"):
        with only_from({}):
            return parse(text).mechanism
    try:
        data = json.loads(text)
        if "spec" in data:
            return _with_content(data)
        pair = FinitePair(
            tuple(data["outcomes"]), tuple(data["p"]), tuple(data["q"]), data["slack"]
        )
        return _sampled(pair, data) if "neighbours" in data else pair
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ParameterError(f"not a mechanism as it is written: {text[:60]!r}") from error


def _with_content(data: Mapping[str, str]) -> Mechanism:
    """The mechanism of a spec that named a file, from what the ledger holds of it."""
    content = data["content"].encode() if "content" in data else b64decode(data["base64"])
    digest = sha256(content).hexdigest()
    with only_from({digest: content, f"{digest}.npy": content}):
        spec = parse(data["spec"])
    if spec.held is None:
        raise ParameterError("a spec with a content must name it")
    return spec.mechanism


def _listed(released: object) -> list[tuple[str, Mechanism, int]]:
    if isinstance(released, str):
        spec, count = parse_use(released)
        return [(_text(spec.mechanism, spec), spec.mechanism, count)]
    if isinstance(released, Spec):
        return [(_text(released.mechanism, released), released.mechanism, 1)]
    if isinstance(released, Composition):
        return [(_text(use.mechanism), use.mechanism, use.times) for use in released.uses]
    if isinstance(released, Use):
        return [(_text(released.mechanism), released.mechanism, released.times)]
    if isinstance(released, tuple) and len(released) == 2 and not isinstance(released[1], str):
        what, count = released
        listed = _listed(what)
        _compose(*((one, times) for _, one, times in listed)) * count  # so often as may be
        return [(text, one, times * count) for text, one, times in listed]
    if isinstance(released, list | tuple):
        return [one for each in released for one in _listed(each)]
    if not callable(getattr(released, "pairs", None)):
        raise ParameterError(f"not a mechanism: {type(released).__name__}")
    mechanism: Mechanism = released  # type: ignore[assignment]
    return [(_text(mechanism), mechanism, 1)]


def _text(mechanism: Mechanism, given: Spec | None = None) -> str:
    """Its canonical text; the text that was given, in one spelling, where there is no other."""
    texts = [_spec(mechanism), None if given is None else _held(given) or _spelt(given.text)]
    if getattr(mechanism, "kind", None) in _AS_GIVEN:
        texts.reverse()
    for text in texts:
        if text is None:
            continue
        try:
            if read(text) == mechanism:
                return text
        except ParameterError:
            continue
    raise ParameterError(
        f"a ledger cannot write down {type(mechanism).__name__}: give its spec, which names no file"
    )


def _held(given: Spec) -> str | None:
    """A spec that names a file, with its content."""
    if given.held is None:
        return None
    content = given.held.content
    try:
        kept = {"content": content.decode()}
    except UnicodeDecodeError:
        kept = {"base64": b64encode(content).decode()}
    return json.dumps({"spec": given.held.text, **kept}, separators=(",", ":"))


def _spelt(given: str) -> str:
    """NAME:key=value,... with its keys in alphabetical order; what has no keys as it is."""
    name, _, rest = given.partition(":")
    if not all("=" in part for part in rest.split(",")):
        return given.strip()
    parts = sorted("=".join(map(str.strip, part.split("=", 1))) for part in rest.split(","))
    return f"{name}:{','.join(parts)}"


def _spec(mechanism: Mechanism) -> str | None:
    if isinstance(mechanism, FinitePair):
        return _table(mechanism, {})
    if isinstance(mechanism, Sampled) and isinstance(mechanism.mechanism, FinitePair):
        ways = {"neighbours": "add-remove", "poisson": decimal_text(mechanism.rate)}
        return _table(mechanism.mechanism, ways)
    held = schema.spec(mechanism)
    return held and f"{held[0]}:{','.join(f'{key}={value}' for key, value in held[1].items())}"


def _table(pair: FinitePair, more: Mapping[str, str]) -> str:
    masses = {name: [decimal_text(mass) for mass in getattr(pair, name)] for name in ("p", "q")}
    data = {"outcomes": list(pair.outcomes), **masses, "slack": decimal_text(pair.slack), **more}
    return json.dumps(data, separators=(",", ":"))


def _sampled(pair: FinitePair, data: Mapping[str, str]) -> Mechanism:
    if data["neighbours"] != "add-remove":
        raise ParameterError("neighbours of a sampled table must be add-remove")
    return Sampled(pair, data["poisson"])
