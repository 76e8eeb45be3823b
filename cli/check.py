"""`exactdp check`: prove a certificate, a theorem, a bandit's transcript or a ledger again."""

from __future__ import annotations

import json
import re
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ..common.atomic_write import check_target
from ..exact import OutOfTimeError, ParameterError, time_limit
from ..verify import parse_claim
from ..verify.certificate import Certificate, CertificateError
from ..verify.checker.implied import Expected, difference
from ..verify.checker.schema import schema_text
from ..verify.checker.statement import UNPROVED, claim_text, described, read
from ..verify.fields import NotCertifiedError, use_fields
from . import options, output
from .chained import checked_ledger, checked_transcript, is_ledger, is_transcript, named
from .options import CHECKING_TIME, option
from .result import Result, printed
from .theorem import checked_theorem, is_theorem, write_theorem

Found: TypeAlias = "tuple[dict[str, Any], list[str], int]"  # as JSON, as text, the exit code

_SHARE = 0.95  # of the time for the checker, so that it is the one to say what was settled


@printed
def check(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="certificates, Coq theorems (.v), a bandit's transcripts, or ledgers",
        ),
    ] = None,
    expect: Annotated[
        list[str] | None, option("SPEC[*K]", "they must be of these releases; may be repeated")
    ] = None,
    claim: Annotated[
        str | None, option("CLAIM", "they must verify this claim, or one that implies it")
    ] = None,
    at_most: Annotated[
        str | None, option("CLAIM", "they must verify this claim, or a stronger one")
    ] = None,
    verdict: Annotated[
        str | None, option("V", "VERIFIED or REFUTED: of --claim where one is named")
    ] = None,
    neighbours: Annotated[
        str | None, option("N", "replace or add-remove: how neighbouring datasets must differ")
    ] = None,
    head: Annotated[
        str | None,
        option("DIGEST", "of a transcript or a ledger, kept elsewhere: it must have this head"),
    ] = None,
    coq: Annotated[
        Path | None, option("FILE.v", "write what a valid certificate says as a Coq theorem")
    ] = None,
    extracted: Annotated[
        bool,
        typer.Option(
            "--extracted", help="theorems, and what certificates say, by the native checker"
        ),
    ] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="print the JSON Schema of certificates, check nothing")
    ] = False,
    seconds: Annotated[
        str, typer.Option("--time", metavar="S", help="seconds that each file may take")
    ] = CHECKING_TIME,
) -> Result:
    """Check certificates, theorems, transcripts, ledgers: exit 0 valid, 1 not (why), 2 neither.

    Exit 3: undecided, within --time or by the bounds that the checker has.
    """
    if schema:
        return Result(json.loads(schema_text()), [schema_text().rstrip("\n")])
    if not files:
        raise ParameterError("FILE is missing: name certificates, transcripts or ledgers")
    allowed = options.read_time(seconds)
    expected = _expected(expect or [], claim, at_most, verdict, neighbours)
    if head is not None and not re.fullmatch("[0-9a-fA-F]{64}", head):
        raise ParameterError(f"--head must be 64 hexadecimal digits, got {head[:70]!r}")
    if coq is not None:
        check_target(coq, "--coq")
        if len(files) > 1 or is_theorem(Path(files[0])):
            raise ParameterError("--coq is of one certificate")
    if extracted and coq is not None:
        raise ParameterError("--extracted and --coq are not asked of one file at once")
    found = []
    for file in files:
        try:
            with time_limit(allowed):
                found.append(_checked(file, expected, head, _SHARE * allowed, coq, extracted))
        except OutOfTimeError as error:
            found.append(({"valid": None, "reason": str(error)}, [f"undecided: {error}"], 3))
    shown = [content for content, _, _ in found]
    told = [
        [f"{named(file)}: {first}" if len(files) > 1 else first, *(f"  {each}" for each in others)]
        for file, (_, (first, *others), _) in zip(files, found, strict=True)
    ]
    codes = [code for _, _, code in found]
    return Result(
        shown if len(files) > 1 else shown[0],
        chain(*told),
        next((code for code in (1, 3) if code in codes), 0),
    )


def _checked(
    file: str,
    expected: Expected,
    head: str | None,
    seconds: float,
    coq: Path | None,
    extracted: bool,
) -> Found:
    """What the file says, by its kind. Raises ParameterError for what is not asked of this kind."""
    transcript = is_transcript(file)
    if transcript or is_ledger(file):
        if not expected.is_anything or coq is not None or extracted:
            raise ParameterError(
                "--expect, --claim, --at-most, --verdict, --neighbours, --coq and --extracted "
                "are not of " + ("transcripts: " + file if transcript else "ledgers")
            )
        kept = None if head is None else head.lower()
        return checked_transcript(file, kept) if transcript else checked_ledger(file, kept)
    if head is not None:
        raise ParameterError(f"--head is of transcripts and ledgers: {file}")
    if extracted or is_theorem(Path(file)):
        return checked_theorem(Path(file), expected, extracted)
    return _certificate(Path(file), expected, seconds, coq)


def _expected(
    specs: list[str],
    claim: str | None,
    at_most: str | None,
    verdict: str | None,
    neighbours: str | None,
) -> Expected:
    """What certificates must be of: these uses, claims, verdict and neighbours."""
    uses = options.composed(options.read_uses(specs)).uses if specs else ()
    stated, most = (
        None if each is None else parse_claim(each).fields() for each in (claim, at_most)
    )
    try:
        fields = [use_fields(use) for use in uses]
    except NotCertifiedError as error:
        raise ParameterError(f"--expect names what has no certificates: {error}") from error
    try:
        return Expected(fields, stated, most, verdict, neighbours)
    except CertificateError as error:
        raise ParameterError(f"--{error}") from error


def _certificate(file: Path, expected: Expected, seconds: float, coq: Path | None) -> Found:
    try:
        certificate = Certificate.read(file)
        statement = read(certificate.content)
    except CertificateError as error:
        where = "" if str(file) in str(error) else f"{file}: "
        raise ParameterError(f"FILE: {where}{error}") from error
    odd = difference(statement, expected)
    if odd is None:
        with output.working(f"checking {file}"):
            outcome = certificate.check(seconds)
        valid, reason, undecided = outcome.valid, outcome.reason, outcome.undecided
    else:
        valid, reason, undecided = False, odd, False
    if coq is not None and valid:
        from ..verify.kernel import theorem_in

        write_theorem(theorem_in(statement), coq)
    content, says = certificate.content, described(statement)
    names = ("neighbours", "orientation", "uses", "claim", "verdict", "measured", "protocol",
             "made", "note")  # fmt: skip
    kept = {name: content[name] for name in names if name in content}
    state = "undecided" if undecided else "valid" if valid else "not valid"
    lines = [f"{state}: {claim_text(statement)} {statement.verdict}: {reason}"]
    lines += says if valid else [UNPROVED, *says]
    code = 3 if undecided else 0 if valid else 1
    found = {"valid": valid, "reason": reason, "says": says, **kept, "digest": certificate.digest}
    return found, lines, code
