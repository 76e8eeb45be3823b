"""Reports of files that are there already: a certificate, a transcript of a bandit."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ..common.table import Cell, Table
from ..verify.certificate import Certificate
from ..verify.checker import Outcome
from ..verify.checker.statement import claim_text, described, read
from .evidence import check_with
from .page import File, Section
from .scope import NOT_CHECKED

_STATES = {True: "valid", False: "not valid", None: "undecided"}


def of_certificate(name: str, held: Certificate, outcome: Outcome) -> tuple[str, list[Section]]:
    """What a certificate says, and whether it was proved again; in one line, and as sections."""
    statement = read(held.content)
    says, claim = described(statement), claim_text(statement)
    state = _STATES[None if outcome.undecided else outcome.valid]
    facts: dict[str, Cell] = {
        "certificate": state,
        "why": outcome.reason,
        "claim": claim,
        "verdict": held.verdict.name,
        "the least for which it holds": held.measured,
    }
    content = held.content
    kept = ("neighbours", "orientation")
    facts |= {each: str(content[each]) for each in kept if each in content}
    check = check_with(name, claim, held.verdict)
    sections = [
        Section("checked", "What the checker found", facts=facts),
        Section("says", "What it says", points=says),
        Section("open", "What was not checked", points=NOT_CHECKED),
        Section("certificates", "The certificate", files=(File(name, held.text, check),)),
    ]
    return f"{claim} {held.verdict.name}: {state}", sections


def of_transcript(
    name: str,
    sha256: str,
    valid: bool | None,
    reason: str,
    header: Mapping[str, Any],
    lines: Sequence[Mapping[str, Any]],
) -> tuple[str, list[Section]]:
    """What a transcript says. header: its first line. lines: those of its first run.

    Of one that is not valid nothing is shown but why: its lines may be anything.
    """
    state = _STATES[valid]
    again = f"Check all of it again: exactdp check {shlex.quote(name)}"
    facts: dict[str, Cell] = {"transcript": state, "why": reason, "SHA-256": sha256}
    checked = Section("checked", "What the check found", facts=facts, text=(again,))
    if valid is not True:
        return state, [checked]
    facts |= {"algorithm": str(header["algorithm"]), "runs": str(header["runs"])}
    setting: dict[str, Cell] = {"radius": str(header["radius"])}
    setting |= {str(key): str(value) for key, value in header["setting"].items()}
    released = [line for line in lines if "released" in line]
    batches = sorted({line["batch"] for line in released})
    rows = [_batch([line for line in released if line["batch"] == batch]) for batch in batches]
    files = [_certificate(one) for one in header["evidence"] if "certificate" in one]
    sections = [
        checked,
        Section("setting", "Setting", facts=setting),
        Section(
            "batches",
            "Batches of the first run",
            text=(
                "Each batch of rewards is summed with noise and released once; arms that are "
                "certainly worse leave. Every release is proved by the certificate that is named.",
            ),
            tables=(Table(_COLUMNS, rows, "Releases of the first run"),),
        ),
        Section("open", "What was not checked", points=(*_OF_A_TRANSCRIPT, *NOT_CHECKED)),
        Section("certificates", "Certificates", files=files),
    ]
    return f"{header['algorithm']}: {state}", sections


_OF_A_TRANSCRIPT = (
    "Whether the released values came from the users: a transcript cannot show it.",
    "Whether header and runs were written anew together: keep the SHA-256 elsewhere.",
)
_COLUMNS = ("batch", "users", "arms", "arms that stay", "radius", "proved by")


def _batch(lines: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    first = lines[0]
    stays = [str(line["arm"]) for line in lines if line["stays"]]
    evidence = "nothing: not private" if first["evidence"] is None else str(first["evidence"])
    arms = " ".join(str(line["arm"]) for line in lines)
    return (
        str(first["batch"]),
        str(first["users"]),
        arms,
        " ".join(stays),
        str(first["radius"]),
        evidence,
    )


def _certificate(one: Mapping[str, Any]) -> File:

    text = json.dumps(one["certificate"], indent=2)
    name = f"{one['id']}.json"
    return File(name, text, f"exactdp check {shlex.quote(name)}")
