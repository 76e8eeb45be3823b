"""`exactdp check`: prove a certificate, or a transcript of a bandit, again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from ..verify import Audit
    from ..verify.certificate import Certificate

__all__ = ["check", "write_certificate", "written"]


def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="a certificate, or a bandit's transcript")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
    time: Annotated[
        float, typer.Option("--time", metavar="S", help="seconds it may take", min=0)
    ] = 60.0,
) -> None:
    """Check a certificate or a transcript.

    Exit 0 valid, 1 not valid (and why), 2 neither, 3 undecided in the time allowed.
    """
    from ..exact import ParameterError
    from ..verify.certificate import Certificate, CertificateError
    from . import render

    if _begins_as_transcript(file):
        _check_transcript(file, as_json)
    try:
        certificate = Certificate.read(file)
    except CertificateError as error:
        raise ParameterError(f"FILE: {error}") from error
    with render.working(f"checking {file}"):
        outcome = certificate.check(time)
    content = certificate.content
    if as_json:
        found = {"valid": outcome.valid, "reason": outcome.reason}
        kept = [name for name in ("uses", "claim", "verdict", "measured", "protocol")
                if name in content]  # fmt: skip
        render.as_json({**found, **{name: content[name] for name in kept}})
    else:
        numbers = {**content["claim"]}
        claim = f"{numbers.pop('kind')}:{','.join(numbers.values())}"
        state = "undecided" if outcome.undecided else "valid" if outcome.valid else "not valid"
        typer.echo(f"{state}: {claim} {content['verdict']}: {outcome.reason}")
        if "protocol" in content:
            told = {**content["protocol"]}
            share = {**told.pop("share")}
            name = share.pop("name")
            told["share"] = f"{name}({', '.join(f'{key}={value}' for key, value in share.items())})"
            typer.echo("protocol: " + ", ".join(f"{key} {value}" for key, value in told.items()))
    raise typer.Exit(3 if outcome.undecided else 0 if outcome.valid else 1)


def _begins_as_transcript(file: Path) -> bool:
    """Told here, since the bandit takes long to load."""
    try:
        with file.open("rb") as opened:
            return b"exactdp bandit transcript" in opened.read(200)
    except OSError:
        return False


def _check_transcript(file: Path, as_json: bool) -> NoReturn:
    from ..bandit.transcript_check import TranscriptError, check_transcript
    from ..exact import ParameterError
    from . import render

    try:
        with render.working(f"checking {file}"):
            outcome = check_transcript(file)
    except TranscriptError as error:
        raise ParameterError(f"FILE: {error}") from error
    if as_json:
        render.as_json({"valid": outcome.valid, "reason": outcome.reason})
    else:
        typer.echo(f"{'valid' if outcome.valid else 'not valid'}: {outcome.reason}")
    raise typer.Exit(0 if outcome.valid else 1)


def write_certificate(audit: Audit, file: Path) -> Certificate:
    """Write the certificate of a decided audit. Raises ParameterError where there is none."""
    from ..verify.certificate import certificate_of

    return written(lambda: certificate_of(audit), file)


def written(make: Callable[[], Certificate], file: Path) -> Certificate:
    """Make a certificate and write it. Raises ParameterError where either cannot be done."""
    from ..exact import ParameterError
    from ..verify.certificate import NotCertifiedError

    try:
        certificate = make()
        certificate.write(file)
    except NotCertifiedError as error:
        raise ParameterError(f"--certificate: {error}") from error
    except OSError as error:
        raise ParameterError(f"--certificate: {file}: {error.strerror or error}") from error
    return certificate
