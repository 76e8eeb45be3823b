"""`python -m exactdp.verify.checker FILE...`: check certificates with Python and mpmath alone.

Exit code 0: all are valid (and as expected); 1: one is not; 2: one is no certificate, or the call
is wrong; 3: one is undecided, in the time allowed or by the bounds that there are here.
"""

from __future__ import annotations

import argparse
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

from . import SECONDS, Outcome, check
from .canonical import loaded
from .deadline import OutOfTimeError, time_limit
from .implied import Expected, difference
from .mechanisms import NEIGHBOURS
from .schema import schema_text
from .shape import CertificateError
from .specs import claim_fields, spec_fields
from .statement import UNPROVED, VERDICTS, described, read

_LARGEST_FILE = 20_000_000  # bytes


def main(arguments: list[str] | None = None) -> int:
    """Check the files named; the exit code."""
    first, _, *ends = __doc__.splitlines()
    parser = argparse.ArgumentParser(prog="exactdp-check", description=first, epilog=" ".join(ends))
    parser.add_argument("files", nargs="*", metavar="FILE", type=Path)
    parser.add_argument(
        "--expect", nargs="+", action="extend", default=[], metavar="SPEC[*K]", help="of these uses"
    )
    parser.add_argument(
        "--claim", metavar="CLAIM", help="verified: this claim, or one that implies it"
    )
    parser.add_argument(
        "--at-most", metavar="CLAIM", help="verified: this claim, or a stronger one"
    )
    parser.add_argument(
        "--verdict", metavar="V", help=f"{' or '.join(VERDICTS)}: of --claim, if any"
    )
    parser.add_argument(
        "--neighbours", metavar="N", help=f"of {' or '.join(NEIGHBOURS)} neighbours"
    )
    parser.add_argument("--time", metavar="S", type=float, default=SECONDS, help="seconds a file")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the files")
    asked = parser.parse_args(arguments)
    if asked.schema:
        print(schema_text(), end="")
        return 0
    if not asked.files:
        parser.error("FILE is missing")
    if not 0 < asked.time <= 1e6:
        parser.error(f"--time must be above 0 and at most 1000000, got {asked.time}")
    try:
        expected = Expected(
            [spec_fields(text) for text in asked.expect],
            None if asked.claim is None else claim_fields(asked.claim),
            None if asked.at_most is None else claim_fields(asked.at_most),
            asked.verdict,
            asked.neighbours,
        )
    except (CertificateError, ValueError, ZeroDivisionError) as error:
        parser.error(str(error))
    results = [_checked(file, expected, asked.time) for file in asked.files]
    if asked.json:
        print(json.dumps([result for result, _ in results], indent=2))
    else:
        for result, _ in results:
            says = result.get("says", [])
            marked = [UNPROVED, *says] if says and result["state"] != "valid" else says
            print(f"{result['file']}: {result['state']}: {result['reason']}", *marked, sep="\n  ")
    codes = [code for _, code in results]
    return next((code for code in (2, 1, 3) if code in codes), 0)


def _checked(file: Path, expected: Expected, seconds: float) -> tuple[dict[str, Any], int]:
    shown: dict[str, Any] = {"file": ascii(str(file))[1:-1]}
    try:
        with time_limit(seconds):
            data = _read(file)
            statement = read(data)
            says = described(statement)
            odd = difference(statement, expected)
            outcome = check(data, None) if odd is None else Outcome(False, odd)
    except OutOfTimeError as error:
        return {**shown, "state": "undecided", "reason": str(error)}, 3
    except (CertificateError, OSError, ValueError) as error:
        return {**shown, "state": "not a certificate", "reason": str(error)[:300]}, 2
    state = "undecided" if outcome.undecided else "valid" if outcome.valid else "not valid"
    code = 3 if outcome.undecided else 0 if outcome.valid else 1
    return {**shown, "state": state, "reason": outcome.reason, "says": says}, code


def _read(file: Path) -> object:
    """The JSON of a regular file of bounded size."""
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as opened:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise CertificateError("it is not a regular file")
        data = opened.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise CertificateError(f"it is larger than {_LARGEST_FILE} bytes")
    return loaded(data)


if __name__ == "__main__":
    sys.exit(main())
