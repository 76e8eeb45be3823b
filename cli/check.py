"""`exactdp check`: prove a certificate, or a transcript of a bandit, again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from .options import DEFAULT_TIME, Time, read_time

__all__ = ["check"]

_SHARE = 0.95  # of the time for the checker, so that it is the one to say what was settled


def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="a certificate, or a bandit's transcript")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
    seconds: Time = DEFAULT_TIME,
) -> None:
    """Check a certificate or a transcript: exit 0 valid, 1 not valid (and why), 2 neither.

    Exit 3: not settled within --time.
    """
    from ..exact import OutOfTimeError, time_limit

    allowed = read_time(seconds)
    try:
        with time_limit(allowed):
            if _begins_as_transcript(file):
                _check_transcript(file, as_json)
            else:
                _check_certificate(file, as_json, _SHARE * allowed)
    except OutOfTimeError as error:
        if as_json:
            from . import render

            render.as_json({"valid": None, "reason": str(error)})
        raise


def _check_certificate(file: Path, as_json: bool, seconds: float) -> NoReturn:
    from ..exact import ParameterError
    from ..verify.certificate import Certificate, CertificateError
    from . import render

    try:
        certificate = Certificate.read(file)
    except CertificateError as error:
        raise ParameterError(f"FILE: {error}") from error
    with render.working(f"checking {file}"):
        outcome = certificate.check(seconds)
    content = certificate.content
    if as_json:
        found = {"valid": outcome.valid, "reason": outcome.reason}
        names = ("neighbours", "orientation", "uses", "claim", "verdict", "measured", "protocol")
        kept = [name for name in names if name in content]
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
    from ..exact.regular_file import open_regular

    try:
        with open_regular(file) as opened:
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
        render.as_json({"valid": outcome.valid, "reason": outcome.reason, **outcome.about})
    else:
        typer.echo(f"{'valid' if outcome.valid else 'not valid'}: {outcome.reason}")
        if outcome.about:
            about = outcome.about.items()
            typer.echo(", ".join(f"{key} {'none' if val is None else val}" for key, val in about))
    raise typer.Exit(0 if outcome.valid else 1)
