"""`exactdp calibrate`: the least noise that meets a target, and proof that it is the least."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..mechanisms import Mechanism
    from ..verify import Audit, Calibration
    from .families import Chosen

__all__ = ["calibrate"]

_SHORT = 10_000  # uses times sensitivity, or times sigma2, that a certificate is made for


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
    """What `exactdp check` proves again; None where that is out of its reach, or too slow.

    Of many uses its slower means tell (epsilon, delta) apart this closely only on a lattice, in
    time only if the lattice is short.
    """
    from ..accounting.budget import Budget
    from ..verify import ApproxDP
    from ..verify.certificate import NotCertifiedError, certificate_of

    budget = audit.mechanism
    several = isinstance(budget, Budget) and budget.times > 1
    if several and isinstance(audit.claim, ApproxDP):
        assert isinstance(budget, Budget)
        if not all(_on_a_short_lattice(use.mechanism, use.times) for use in budget.uses):
            return None
    try:
        return certificate_of(audit).content
    except NotCertifiedError:
        return None


def _on_a_short_lattice(mechanism: Mechanism, times: int) -> bool:
    from ..mechanisms import AdditiveNoise, DiscreteGaussian, DiscreteLaplace, RandomizedResponse

    if isinstance(mechanism, AdditiveNoise):
        if isinstance(mechanism.law, DiscreteGaussian):
            return times * mechanism.law.sigma2 <= _SHORT
        short = times * mechanism.sensitivity <= _SHORT
        return isinstance(mechanism.law, DiscreteLaplace) and short
    return isinstance(mechanism, RandomizedResponse) and times <= _SHORT


def _show(chosen: Chosen, found: Calibration, target: str) -> None:
    from ..exact import decimal_text
    from . import render

    out = render.console()
    out.print(render.facts({"mechanism": chosen.spec(found.value), "target": target}))
    table = render.grid(found.parameter, "", "measured")
    for value, audit in ((found.value, found.verified), (found.neighbour, found.refuted)):
        table.add_row(decimal_text(value), render.verdict(audit), str(audit.measured))
    out.print(table)
