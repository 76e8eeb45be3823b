"""`exactdp list`: mechanisms and their keys, claims, and the commands that take them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from ..common.suggest import one_of
from ..common.table import Table
from ..exact import ParameterError
from ..mechanisms.fields.schema import Entry
from ..mechanisms.samplers import NoSamplerError
from ..mechanisms.specs.catalogue import EXAMPLE_FILES, Spec, entries
from ..mechanisms.specs.released import release
from ..mechanisms.specs.spec import parse
from ..verify.families import calibrated_names
from ..verify.guarantee import NOTIONS
from .result import Part, Result, printed

_ALL = ("audit", "check-claims", "compose", "profile", "report", "ledger", "search")
_OF_CLAIMS = ("audit", "check", "check-claims", "calibrate", "report", "search", "ledger")


@printed
def list(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="a mechanism or a claim: all about it")
    ] = None,
) -> Result:
    """What a spec can name: mechanisms, their keys, claims, commands that take them."""
    known = entries()
    if name is None:
        mechanisms = [_mechanism(each, entry) for each, entry in known.items()]
        claims = [_claim(each) for each in NOTIONS]
        return Result({"mechanisms": mechanisms, "claims": claims}, _all(mechanisms, claims))
    if name in known:
        about = _mechanism(name, known[name])
    else:
        about = _claim(one_of(name, (*known, *NOTIONS), "NAME"))
    return Result(about, _told(about))


def _mechanism(name: str, entry: Entry) -> dict[str, Any]:
    keys = [
        {
            "key": key,
            "required": key in entry.needs,
            "takes": meaning.takes,
            "default": meaning.default or None,
            "says": meaning.says,
        }
        for key, meaning in entry.keys.items()
    ]
    about = {"name": name, "says": entry.says, "example": f"{name}:{entry.example}"}
    if name in EXAMPLE_FILES:
        about["file"] = EXAMPLE_FILES[name]
    return about | {"keys": keys, "commands": _commands(name, entry.example)}


def _example(name: str, example: str) -> Spec:
    """The example, with its file where it names one."""
    if name not in EXAMPLE_FILES:
        return parse(f"{name}:{example}")
    key, path = example.partition(",")[0].split("=")
    with TemporaryDirectory() as folder:
        written = Path(folder, path)
        written.write_text(EXAMPLE_FILES[name])
        return parse(f"{name}:{example.replace(f'{key}={path}', f'{key}={written}')}")


def _commands(name: str, example: str) -> tuple[str, ...]:
    """Every command that takes it."""
    found: tuple[str, ...] = _ALL
    if name in calibrated_names():
        found += ("calibrate",)
    spec = _example(name, example)
    if _is_sampled(spec):
        found += ("sample",)
    if spec.protocol is not None or spec.shuffled is not None or spec.federated is not None:
        found += ("protocol",)
    if spec.protocol is not None or spec.federated is not None:
        found += ("protocol --play",)
    return found


def _is_sampled(spec: Spec) -> bool:
    try:
        release(spec.drawn or spec.mechanism)
    except NoSamplerError:
        return False
    except ParameterError:  # of the query 0, or of a spec that does not say enough to be drawn
        pass
    return True


def _claim(kind: str) -> dict[str, Any]:
    notion = NOTIONS[kind]
    told = " ".join((notion.__doc__ or "").partition("\n\n")[0].split()).rstrip(".")
    numbers = notion.names()
    text = f"{kind}:{','.join(numbers).upper()}"
    return {"name": kind, "says": told, "claim": text, "commands": _OF_CLAIMS}


def _all(mechanisms: Any, claims: Any) -> Iterator[Part]:
    first = [(each["name"], each["says"]) for each in mechanisms]
    second = [(each["claim"], each["says"]) for each in claims]
    yield Table(("mechanism", ""), first)
    yield Table(("claim", ""), second)
    yield "exactdp list NAME shows the keys of one, and which commands take it"


def _told(about: dict[str, Any]) -> Iterator[Part]:
    shown = ("name", "says", "example", "file", "claim")
    facts = {key: about[key] for key in shown if key in about}
    yield facts | {"commands": ", ".join(about["commands"])}
    if "keys" in about:
        rows = [
            (
                each["key"],
                "needed" if each["required"] else each["default"] or "",
                f"{each['says']} ({each['takes']})",
            )
            for each in about["keys"]
        ]
        yield Table(("key", "default", ""), rows)
