"""`exactdp audit`: is a claim about a mechanism true; or, without a claim, what is true of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias

import typer

from .options import DEFAULT_TIME, Specs, Time, neighbourhood, read_time, read_uses

if TYPE_CHECKING:
    from ..accounting import Composition
    from ..verify import Claim
    from .measure import Width
    from .spec import Spec

    Uses: TypeAlias = list[tuple[Spec, int]]

__all__ = ["audit"]

_VERDICT_SHARE = 0.6  # of the time, where a certificate is to be checked as well
_DELTAS = ("1e-6", "1e-9")
_ORDERS = ("1.5", "2", "4", "8", "16", "32", "64")


def audit(
    specs: Specs,
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
    seconds: Time = DEFAULT_TIME,
) -> None:
    """Audit mechanisms, each used K times: verified, refuted with a witness, or undecided.

    Without --claim: what does hold.
    """
    from ..accounting import compose
    from ..exact import ParameterError, time_limit
    from ..exact.atomic_write import check_target
    from ..verify import parse_claim
    from . import output, render
    from .measure import Request, measure, read_width

    asked_width = read_width(width)
    allowed = read_time(seconds)
    asked = None if claim is None else parse_claim(claim)
    if asked is None and certificate is not None:
        raise ParameterError("--certificate is of a verdict: --claim is missing")
    if certificate is not None:
        check_target(certificate, "--certificate")
    uses = read_uses(specs)
    composition = compose(*((spec.mechanism, times) for spec, times in uses))
    with time_limit(allowed, rings=False):
        if asked is not None:
            _decide(uses, composition, (str(claim), asked), asked_width, certificate, as_json)
        request = Request(pure=True, orders=_ORDERS, deltas=_DELTAS, zcdp=True)
        with output.working("measuring"):
            results = measure(composition, request, asked_width)
    if as_json:
        output.as_json(_named(uses) | {"results": [result.to_json() for result in results]})
    else:
        render.measurements(uses, results)
    raise typer.Exit(3 if any(result.is_undecided for result in results) else 0)


def _decide(
    uses: Uses,
    composition: Composition,
    claim: tuple[str, Claim],  # as it was written, and read
    width: Width,
    certificate: Path | None,
    as_json: bool,
) -> NoReturn:
    from ..exact import OutOfTimeError, time_left, time_limit
    from ..verify import audit as verified
    from ..verify.certificate import certificate_of
    from . import output, render
    from .files import written

    text, asked = claim
    share = 1.0 if certificate is None else _VERDICT_SHARE
    with output.working(f"auditing {text}"), time_limit(share * time_left(), rings=False):
        result = verified(composition, asked, width=width.relative)
    decided = result.verdict.name != "UNDECIDED"
    note, code = result.note, {"VERIFIED": 0, "REFUTED": 1, "UNDECIDED": 3}[result.verdict.name]
    if certificate is not None and decided:
        try:
            with output.working("checking the certificate"), time_limit(time_left()):
                written(lambda: certificate_of(result), certificate)
        except OutOfTimeError:
            note, code, certificate = "no certificate: not checked in the time allowed", 3, None
            result = replace(result, note=note)
    if as_json:
        output.as_json(
            {
                **_named(uses),
                "claim": text,
                "verdict": result.verdict.name,
                "measured": result.measured.to_json(),
                "witness": None if result.witness is None else result.witness.to_json(),
                "note": note,
                "certificate": str(certificate) if certificate and decided else None,
            }
        )
    else:
        render.audited(uses, result)
    raise typer.Exit(code)


def _named(uses: Uses) -> dict[str, Any]:
    """The mechanism, or all of them where there are several; and who is a neighbour."""
    (first, times), *others = uses
    named: dict[str, Any] = {} if others or times > 1 else {"mechanism": first.to_json()}
    named["mechanisms"] = [{**spec.to_json(), "times": times} for spec, times in uses]
    return named | neighbourhood(uses)
