"""Theorems in the commands: written beside a verdict, and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import asdict

from ..common.atomic_write import write_atomically
from ..exact.number import ParameterError, located
from ..verify.certificate import Certificate, CertificateError
from ..verify.checker.implied import Expected, difference
from ..verify.checker.statement import read
from . import output


def write_theorem(text: str, file: Path) -> None:
    """Write a Coq file. Raises ParameterError where that cannot be done."""
    with located(f"--coq: {file}"):
        write_atomically(file, text)


def is_theorem(file: Path) -> bool:
    """Is it a file for Coq, by its name?"""
    return file.suffix == ".v"


def checked_theorem(
    file: Path, expected: Expected, extracted: bool
) -> tuple[dict[str, Any], list[str], int]:
    """What Coq's kernel makes of it, if it is of these: as JSON, as text, the exit code.

    extracted: what the native checker makes of it, or of the theorem that a certificate says.
    """
    from ..verify.kernel import CoqError, Outcome, check_text, check_theorem, theorem_in

    try:
        with output.working(f"checking {file}"), located(f"FILE: {file}"):
            if is_theorem(file):
                outcome = check_theorem(file, expected, extracted=extracted)
            else:
                statement = read(Certificate.read(file).content)
                odd = difference(statement, expected)
                outcome = (
                    check_text(theorem_in(statement), extracted=True)
                    if odd is None
                    else Outcome(False, odd)
                )
    except CertificateError as error:
        raise ParameterError(f"FILE: {error}") from error
    except CoqError as error:
        raise ParameterError(f"FILE: {error}") from error
    word = "valid, but vacuous" if outcome.vacuous else "valid" if outcome.valid else "not valid"
    lines = [f"{word}: {outcome.reason}"]
    if outcome.says is not None:
        lines.append(outcome.says if outcome.valid else f"it says: {outcome.says}")
    if outcome.vacuous:
        lines.append(f"it says nothing of any noise: {outcome.vacuous}")
    if outcome.valid:
        lines.append(f"axioms: {', '.join(outcome.axioms) or 'none'}")
    shown = {
        "valid": outcome.valid,
        "reason": outcome.reason,
        "says": outcome.says,
        "axioms": list(outcome.axioms),
        "lists": {name: asdict(listed) for name, listed in outcome.lists.items()},
        "vacuous": outcome.vacuous,
    }
    return shown, lines, 0 if outcome.valid else 1
