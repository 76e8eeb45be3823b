"""`exactdp check`: prove a certificate again, independently of the code that made it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..verify import Audit
    from ..verify.certificate import Certificate

__all__ = ["check", "write_certificate"]


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a certificate")],
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Check a certificate: exit 0 valid, 1 not valid (and why), 2 not a certificate."""
    from ..exact import ParameterError
    from ..verify.certificate import Certificate, CertificateError
    from . import render

    try:
        certificate = Certificate.read(file)
    except CertificateError as error:
        raise ParameterError(f"FILE: {error}") from error
    with render.working(f"checking {file}"):
        outcome = certificate.check()
    content = certificate.content
    if as_json:
        found = {"valid": outcome.valid, "reason": outcome.reason}
        kept = [name for name in ("uses", "claim", "verdict", "measured", "protocol")
                if name in content]  # fmt: skip
        render.as_json({**found, **{name: content[name] for name in kept}})
    else:
        numbers = {**content["claim"]}
        claim = f"{numbers.pop('kind')}:{','.join(numbers.values())}"
        state = "valid" if outcome.valid else "not valid"
        typer.echo(f"{state}: {claim} {content['verdict']}: {outcome.reason}")
        if "protocol" in content:
            told = {**content["protocol"]}
            share = {**told.pop("share")}
            name = share.pop("name")
            told["share"] = f"{name}({', '.join(f'{key}={value}' for key, value in share.items())})"
            typer.echo("protocol: " + ", ".join(f"{key} {value}" for key, value in told.items()))
    raise typer.Exit(0 if outcome.valid else 1)


def write_certificate(audit: Audit, file: Path) -> Certificate:
    """Write the certificate of a decided audit. Raises ParameterError where there is none."""
    from ..exact import ParameterError
    from ..verify.certificate import NotCertifiedError, certificate_of

    try:
        certificate = certificate_of(audit)
        certificate.write(file)
    except NotCertifiedError as error:
        raise ParameterError(f"--certificate: {error}") from error
    except OSError as error:
        raise ParameterError(f"--certificate: {file}: {error.strerror or error}") from error
    return certificate
