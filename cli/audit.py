"""`exactdp audit`: is a claim about a mechanism true; or, without a claim, what is true of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["audit"]

_DELTAS = ("1e-6", "1e-9")
_ORDERS = ("1.5", "2", "4", "8", "16", "32", "64")


def audit(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="NAME:key=value,... or a .toml or .json file")
    ],
    claim: Annotated[
        str | None,
        typer.Option(
            metavar="CLAIM",
            help="pure:EPSILON, approx:EPSILON,DELTA, rdp:ORDER,EPSILON or zcdp:RHO",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
    width: Annotated[
        str | None, typer.Option(metavar="W", help="relative width of every figure (1e-12)")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="write a certificate, for `exactdp check`"),
    ] = None,
) -> None:
    """Audit a mechanism: verified, refuted with a witness, or undecided.

    Without --claim: what does hold.
    """
    from ..accounting import compose
    from ..exact import ParameterError
    from ..verify import audit as verified
    from ..verify import parse_claim
    from . import render
    from .check import write_certificate
    from .measure import Request, measure, read_width
    from .spec import parse

    asked_width = read_width(width)
    asked = None if claim is None else parse_claim(claim)
    parsed = parse(spec)
    if asked is None:
        if certificate is not None:
            raise ParameterError("--certificate is of a verdict: --claim is missing")
        request = Request(pure=True, orders=_ORDERS, deltas=_DELTAS, zcdp=True)
        with render.working("measuring"):
            results = measure(compose(parsed.mechanism), request, asked_width)
        if as_json:
            render.as_json(
                {
                    "mechanism": parsed.to_json(),
                    "results": [result.to_json() for result in results],
                }
            )
        else:
            render.measurements(parsed, results)
        raise typer.Exit(3 if any(result.is_undecided for result in results) else 0)
    with render.working(f"auditing {claim}"):
        result = verified(parsed.mechanism, asked, width=asked_width.relative)
    decided = result.verdict.name != "UNDECIDED"
    if certificate is not None and decided:
        with render.working("checking the certificate"):
            write_certificate(result, certificate)
    if as_json:
        render.as_json(
            {
                "mechanism": parsed.to_json(),
                "claim": claim,
                "verdict": result.verdict.name,
                "measured": result.measured.to_json(),
                "witness": None if result.witness is None else result.witness.to_json(),
                "note": result.note,
                "certificate": str(certificate) if certificate and decided else None,
            }
        )
    else:
        render.audited(parsed, result)
    raise typer.Exit({"VERIFIED": 0, "REFUTED": 1, "UNDECIDED": 3}[result.verdict.name])
