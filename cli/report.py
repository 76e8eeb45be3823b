"""`exactdp report`: one page to hand on: of mechanisms, a certificate, a transcript, a ledger."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..common.atomic_write import check_target, write_atomically
from ..common.extra import bring
from ..common.regular_file import open_regular
from ..exact import OutOfTimeError, ParameterError, exact, time_left, time_limit
from ..exact.number import located
from ..verify import Verdict, parse_claim
from ..verify.guarantee import CLAIMS
from . import options, output
from .options import Time, option

if TYPE_CHECKING:
    from ..report.page import Page
    from ..report.subject import Subject

_DEFAULT_TIME = "1200"
_DELTAS = ("1e-6", "1e-9", "1e-5")
_LONGEST = 200  # characters of a title
_BEGINNING = 400  # bytes, by which files are told apart
_EXIT_CODES = {Verdict.VERIFIED: 0, Verdict.REFUTED: 1, Verdict.UNDECIDED: 3}


def report(
    out: Annotated[Path, option("FILE.html", "where the page goes")],
    specs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SPEC[*K]|FILE", help="mechanisms; or one certificate, or one transcript"
        ),
    ] = None,
    claim: Annotated[list[str] | None, option("CLAIM", f"{CLAIMS}; may be repeated")] = None,
    delta: Annotated[
        list[str] | None, option("D", "show ε at this δ (1e-6, 1e-9, 1e-5); may be repeated")
    ] = None,
    record: Annotated[
        Path | None,
        option("FILE.yaml", "also a draft for OpenDP's registry of deployments"),
    ] = None,
    title: Annotated[str | None, option("TEXT", "what the page is called")] = None,
    owner: Annotated[str | None, option("TEXT", "who answers for it")] = None,
    ledger: Annotated[
        str | None, option("URL", "of a ledger, by itself: limits, and how much of them is spent")
    ] = None,
    seconds: Time = _DEFAULT_TIME,
) -> None:
    """Write one page to hand on: verdicts, pictures, what was not checked, certificates."""
    allowed = options.read_time(seconds)
    claims = [parse_claim(text) for text in claim or ()]
    levels = [exact(text, "--delta", above=0, below=1) for text in delta or _DELTAS]
    deltas = list(dict.fromkeys(levels))
    check_target(out, "--out")
    if record is not None:
        check_target(record, "--record")
        if record.absolute() == out.absolute():
            raise ParameterError(f"--out and --record must be two files, got {out} twice")
    more = claim or delta or record is not None
    if (ledger is None) == (not specs) or (ledger is not None and more):
        raise ParameterError("SPEC or --ledger must be given: a ledger is reported by itself")
    specs = specs or []
    kind = _kind(specs[0]) if specs else None
    if kind is not None and (len(specs) > 1 or more):
        raise ParameterError(
            f"{kind} is reported by itself: no other SPEC, --claim, --delta or --record"
        )
    named = {"--title": title, "--owner": owner}
    for name, text in named.items():
        if text is not None and (kind is not None or ledger is not None):
            raise ParameterError(f"{name} is for mechanisms: a file or a ledger has its own")
        if text is not None and not (text.isprintable() and 0 < len(text.strip()) <= _LONGEST):
            raise ParameterError(f"{name} must be 1 to {_LONGEST} printable characters")
    for module in ("jinja2", "matplotlib"):
        bring(module, "report")
    from ..report import make  # noqa: F401  # what takes long to load is no part of the time
    from ..report.subject import Subject

    with time_limit(allowed), output.working("measuring"):
        if ledger is not None:
            code = _ledger(ledger, out)
        elif kind == "a certificate":
            code = _certificate(Path(specs[0]), out)
        elif kind == "a transcript":
            code = _transcript(Path(specs[0]), out)
        else:
            code = _mechanisms(
                Subject(options.read_uses(specs), claims, deltas, title, owner), out, record
            )
    raise typer.Exit(code)


def _mechanisms(subject: Subject, out: Path, record: Path | None) -> int:
    from ..report import evidence, make
    from ..report.registry import entry

    found = evidence.decided(subject)
    page = make.report(subject, found)
    _write(page, out)
    if record is not None:
        with located(f"--record: {record}"):
            write_atomically(record, entry(subject, found))
        typer.echo(f"written: {record}")
    for result, _ in found:
        tightest = f"tightest {result.claim.bounds} {result.measured}"
        typer.echo(f"{result.claim.brief()} {result.verdict.name}, {tightest}")
    codes = [_EXIT_CODES[result.verdict] for result, _ in found]
    return next((code for code in (1, 3) if code in codes), 0)


def _certificate(file: Path, out: Path) -> int:
    from ..report import held, make
    from ..report.page import Page
    from ..verify.certificate import Certificate, CertificateError

    try:
        certificate = Certificate.read(file)
    except CertificateError as error:
        raise ParameterError(f"FILE: {error}") from error
    outcome = certificate.check(time_left())
    summary, sections = held.of_certificate(file.name, certificate, outcome)
    _write(Page(f"Certificate {file.name}", summary, make.made(), sections), out)
    typer.echo(summary)
    return 3 if outcome.undecided else 0 if outcome.valid else 1


def _transcript(file: Path, out: Path) -> int:
    from ..bandit.transcript_check import TranscriptError, check_transcript
    from ..report import held, make
    from ..report.page import Page

    valid: bool | None = None
    try:
        outcome = check_transcript(file)
        valid, reason = outcome.valid, outcome.reason
        reason += f"; not checked: {outcome.unchecked}" if outcome.unchecked else ""
    except TranscriptError as error:
        raise ParameterError(f"FILE: {error}") from error
    except OutOfTimeError as error:
        reason = str(error)
    digest, header, runs = hashlib.sha256(), {}, []
    with open_regular(file) as opened:
        for number, raw in enumerate(opened):
            digest.update(raw)
            if valid and number == 0:
                header = json.loads(raw)
            elif valid and (line := json.loads(raw))["run"] == 0:
                runs.append(line)
    summary, sections = held.of_transcript(
        file.name, digest.hexdigest(), valid, reason, header, runs
    )
    _write(Page(f"Transcript {file.name}", summary, make.made(), sections), out)
    typer.echo(f"{summary}: {reason}")
    return {True: 0, False: 1, None: 3}[valid]


def _ledger(url: str, out: Path) -> int:
    from ..ledger import Ledger, LedgerError
    from ..report import make
    from ..report.of_ledger import of_ledger
    from ..report.page import Page

    try:
        with Ledger.open(url, read_only=True) as opened:
            found, overview = opened.overview()
    except LedgerError as error:
        raise ParameterError(f"--ledger: {error}") from error
    name = url if "://" not in url else "in a database"
    summary, sections = of_ledger(name, found, overview)
    _write(Page("Ledger", summary, make.made(), sections), out)
    typer.echo(f"{summary}: {found.reason}")
    return 0 if found.valid else 1


def _kind(text: str) -> str | None:
    """Is this the name of a certificate or of a transcript? None: a mechanism."""
    if not text.endswith((".json", ".jsonl")):
        return None
    try:
        with open_regular(text) as file:
            beginning = file.read(_BEGINNING)
    except OSError as error:
        if text.endswith(".jsonl"):
            raise ParameterError(f"FILE: {text}: {error.strerror or error}") from error
        return None
    if text.endswith(".jsonl") or b"exactdp bandit transcript" in beginning:
        return "a transcript"
    return "a certificate" if b"exactdp certificate" in beginning else None


def _write(page: Page, out: Path) -> None:
    text = page.html()
    with located(f"--out: {out}"):
        write_atomically(out, text)
    typer.echo(f"written: {out}")
