"""`exactdp audit`: is a claim about a mechanism true; or, without a claim, what is true of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from attrs import evolve

from ..common.atomic_write import check_target
from ..exact import OutOfTimeError, ParameterError, time_limit
from ..verify import Audit, Claim, Verdict, parse_claim
from ..verify import audit as verified
from ..verify.guarantee import CLAIMS
from . import options, output, parts
from .measure import Request, Width, measure, read_width
from .options import DEFAULT_TIME, Specs, Time, Uses, option
from .result import Result, printed
from .theorem import write_theorem

_EXIT_CODES = {Verdict.VERIFIED: 0, Verdict.REFUTED: 1, Verdict.UNDECIDED: 3}
_ALL = Request(
    pure=True,
    orders=("1.5", "2", "4", "8", "16", "32", "64"),
    deltas=("1e-6", "1e-9"),
    zcdp=True,
    gdp=True,
)


@printed
def audit(
    specs: Specs,
    claim: Annotated[str | None, option("CLAIM", CLAIMS)] = None,
    width: Annotated[str | None, option("W", "relative width of every figure (1e-12)")] = None,
    certificate: Annotated[
        Path | None, option("FILE", "write a certificate, for `exactdp check`")
    ] = None,
    coq: Annotated[
        Path | None, option("FILE.v", "write the verdict as a Coq theorem, for `exactdp check`")
    ] = None,
    note: options.Note = None,
    seconds: Time = DEFAULT_TIME,
) -> Result:
    """Audit mechanisms, each released K times: verified, refuted with a witness, or undecided.

    Without --claim: what does hold. `exactdp list` shows what SPEC and CLAIM may be.
    """
    relative = read_width(width)
    allowed = options.read_time(seconds)
    asked = None if claim is None else parse_claim(claim)
    if asked is None and certificate is not None:
        raise ParameterError("--certificate is of a verdict: --claim is missing")
    if asked is None and coq is not None:
        raise ParameterError("--coq is of a verdict: --claim is missing")
    noted = options.read_note(note, certificate)
    for file, name in ((certificate, "--certificate"), (coq, "--coq")):
        if file is not None:
            check_target(file, name)
    uses = options.read_uses(specs)
    if certificate is not None:
        _check_certifiable(uses)
    with time_limit(allowed):
        if claim is None or asked is None:
            return _measured(uses, relative)
        return _decided(uses, claim, asked, relative, certificate, noted, coq)


def _measured(uses: Uses, width: Width) -> Result:
    with output.working("measuring"):
        results = measure(options.composed(uses), _ALL, width)
    code = 3 if any(result.is_undecided for result in results) else 0
    return Result(_named(uses) | {"results": results}, parts.measurements(uses, results), code)


def _decided(
    uses: Uses,
    text: str,
    claim: Claim,
    width: Width,
    certificate: Path | None,
    note: str | None,
    coq: Path | None,
) -> Result:
    """text: the claim as it was written. note: for the certificate."""
    with output.working(f"auditing {text}"):
        result = verified(options.composed(uses), claim, width=width.relative)
    code = _EXIT_CODES[result.verdict]
    if coq is not None:
        result = _with_theorem(result, coq)
    if result.verdict is Verdict.UNDECIDED and certificate is not None:
        result, certificate = evolve(result, note=f"{result.note} (no certificate)"), None
    if certificate is not None:
        from ..verify.certificate import NotCertifiedError, certificate_of

        try:
            with output.working("checking the certificate"):
                made = certificate_of(result)
            output.kept(made, certificate, note)
        except (OutOfTimeError, NotCertifiedError) as error:
            late = isinstance(error, OutOfTimeError)
            remark = "no certificate: not checked in the time allowed" if late else str(error)
            result, code, certificate = evolve(result, note=remark), 3, None
    data = _named(uses) | {
        "claim": text,
        "verdict": result.verdict.name,
        "measured": result.measured,
        "methods": list(result.measured.by),
        "excess": result.excess,
        "witness": result.witness,
        "note": result.note,
        "certificate": None if certificate is None else str(certificate),
    }
    return Result(data, parts.used(uses, parts.evidence(result)), code)


def _check_certifiable(uses: Uses) -> None:
    """Refuse, before anything is computed, what no certificate can name."""
    from ..verify.fields import NotCertifiedError, use_fields

    try:
        for use in options.composed(uses).uses:
            use_fields(use)
    except NotCertifiedError as error:
        raise ParameterError(f"--certificate: {error}") from error


def _with_theorem(result: Audit, file: Path) -> Audit:
    """Write the theorem; where nothing was decided there is none, and the note says so."""
    from ..verify.kernel import theorem_of

    if result.verdict is Verdict.UNDECIDED:
        return evolve(result, note=f"{result.note} (no theorem)")
    write_theorem(theorem_of(result), file)
    return result


def _named(uses: Uses) -> dict[str, Any]:
    """The mechanism, or all of them where there are several; and who is a neighbour."""
    (first, times), *others = uses
    named: dict[str, Any] = {} if others or times > 1 else {"mechanism": first}
    named["mechanisms"] = [{**spec.to_json(), "times": times} for spec, times in uses]
    return named | options.neighbourhood(uses)
