"""`exactdp calibrate`: the least noise that meets a target, and proof that it is the least."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..verify import Audit, Calibration
    from .families import Chosen

__all__ = ["calibrate"]


def calibrate(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="discrete-laplace, skellam, discrete-gaussian, discrete-gaussian-sum:count=N, "
            "polya-difference:shape=R, binomial:probability=P or randomized-response",
        ),
    ],
    target: Annotated[
        str,
        typer.Option(
            metavar="CLAIM",
            help="pure:EPSILON, approx:EPSILON,DELTA, rdp:ORDER,EPSILON or zcdp:RHO",
        ),
    ],
    sensitivity: Annotated[
        str | None, typer.Option(metavar="S", help="of the query; none for randomized-response")
    ] = None,
    times: Annotated[
        str, typer.Option(metavar="K", help="uses that meet the target together")
    ] = "1",
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Find the least noise that meets a target: verified, and refuted 1e-9 below."""
    from ..exact import whole
    from ..verify import calibrate as calibrated
    from ..verify import parse_claim
    from . import render
    from .families import choose

    uses = whole(times, "--times", at_least=1, at_most=10**9)
    chosen = choose(name, sensitivity, uses)
    claim = parse_claim(target)
    with render.working(f"calibrating {chosen.family.parameter}"):
        found = calibrated(chosen.family, claim, uses)
    if as_json:
        with render.working("checking the certificate"):
            told = _told(chosen, found)
        render.as_json({"mechanism": name, "target": target, "times": uses} | told)
    else:
        _show(chosen, found, f"{target}, {uses} uses together" if uses > 1 else target)


def _told(chosen: Chosen, found: Calibration) -> dict[str, Any]:
    from ..exact import decimal_text

    def outcome(audit: Audit) -> dict[str, Any]:
        return {"verdict": audit.verdict.name, "measured": audit.measured.to_json()}

    return {
        "parameter": found.parameter,
        "value": decimal_text(found.value),
        "spec": chosen.spec(found.value),
        **outcome(found.verified),
        "certificate": _certificate(found.verified),
        "neighbour": {
            "value": decimal_text(found.neighbour),
            "spec": chosen.spec(found.neighbour),
            **outcome(found.refuted),
        },
    }


def _certificate(audit: Audit) -> dict[str, Any] | None:
    """What `exactdp check` proves again; None where that is out of its reach, or too slow."""
    from ..verify.certificate import NotCertifiedError, certificate_of, is_close_call_in_reach

    try:
        return certificate_of(audit).content if is_close_call_in_reach(audit) else None
    except NotCertifiedError:
        return None


def _show(chosen: Chosen, found: Calibration, target: str) -> None:
    from ..exact import decimal_text
    from . import render

    out = render.console()
    out.print(render.facts({"mechanism": chosen.spec(found.value), "target": target}))
    table = render.grid(found.parameter, "", "measured")
    for value, audit in ((found.value, found.verified), (found.neighbour, found.refuted)):
        table.add_row(decimal_text(value), render.verdict(audit), str(audit.measured))
    out.print(table)
