"""`exactdp calibrate`: the least noise that meets a target, and proof that it is the least."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any

import typer

from ..common.moment import now
from ..common.table import Table
from ..exact import OutOfTimeError, decimal_text, time_left, time_limit, whole
from ..verify import Audit, Calibration, Edge, UnfinishedError, parse_claim
from ..verify import calibrate as calibrated
from ..verify.calibration import VectorCalibration
from ..verify.certificate import NotCertifiedError, certificate_of, is_close_call_in_reach
from ..verify.families import Chosen, calibrated_names, choose
from ..verify.guarantee import CLAIMS
from . import output
from .options import DEFAULT_TIME, Json, Note, Time, option, read_note, read_time
from .result import Part, Result, printed

# what is meant, where the number is a noise and where it is a cost; where it is not proved
_LEAST = (
    "the least {0} that meets the target{1}: every smaller one that is searched fails",
    "the largest {0} that meets the target{1}: every larger one that is searched fails",
)
_FROM_ON = (
    "holds for all larger {0}{1}",
    "holds for all smaller {0}{1}",
)
_OPEN = (
    "holds here; for larger {0} it is open",
    "holds here; for smaller {0} it is open",
)


@printed
def calibrate(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"{', '.join(calibrated_names())}; with all keys that are fixed",
        ),
    ],
    target: Annotated[str, option("CLAIM", CLAIMS)],
    sensitivity: Annotated[
        str | None, option("S", "of the query (1); none for randomized-response")
    ] = None,
    l2: Annotated[
        str | None, option("L", "of integer vectors instead (skellam, discrete-gaussian)")
    ] = None,
    l1: Annotated[
        str | None, option("L", "the same in the sum of coordinates (discrete-laplace as well)")
    ] = None,
    dimension: Annotated[str | None, option("D", "of the vectors, if it bounds the cost")] = None,
    rounding: Annotated[
        str | None, option("R", "the vectors are real: stochastic, conditional:B or nearest")
    ] = None,
    times: Annotated[str | None, option("K", "releases that meet the target together (1)")] = None,
    poisson: Annotated[
        str | None, option("Q", "each user takes part with this probability")
    ] = None,
    find: Annotated[
        str | None,
        option(
            "PARAMETER",
            "threshold: of counts per key with this noise; epsilon0: the largest of users' own "
            "reports, shuffled=N or not; "
            "times, for the most releases; poisson, for the largest probability of taking part; "
            "else the least noise",
        ),
    ] = None,
    note: Note = None,
    seconds: Time = DEFAULT_TIME,
    as_json: Json = False,
) -> Result:
    """Find the least noise that meets a target: verified, and refuted 1e-9 below.

    Or the most releases, or the largest sampling probability (--find). And the least such that all
    larger noise meets it: the same for most mechanisms. Where the cost is not known to 1e-9, what
    is refuted is at most 1e-6 below. For vectors (--l2, --l1), the least noise that is verified,
    1e-9 below it what is known, and the largest that is found refuted.
    """
    given = None if times is None else whole(times, "--times", at_least=1, at_most=10**9)
    uses = given or 1
    allowed = read_time(seconds)
    noted = read_note(note, as_json)
    claim = parse_claim(target)
    chosen = choose(
        name,
        sensitivity,
        given,
        poisson,
        find,
        l2=l2,
        l1=l1,
        dimension=dimension,
        rounding=rounding,
    )
    of = chosen.name if chosen.family.by_bracket else name
    asked = {"mechanism": of, "target": target, "times": None if find == "times" else uses}
    shown = f"{target}, {uses} releases together" if uses > 1 else target
    try:
        with time_limit(allowed):
            with output.working(f"calibrating {chosen.family.parameter}"):
                found = calibrated(chosen.family, claim, uses)
            left = time_left()
    except UnfinishedError as unfinished:
        return _unfinished(asked, shown, unfinished)

    def data() -> dict[str, Any]:
        with time_limit(left), output.working("checking the certificate"):
            return asked | _told(chosen, found, noted)

    return Result(
        data, _show(chosen, found, shown), 3 if found.least.late or found.from_on.late else 0
    )


def _told(chosen: Chosen, found: Calibration, note: str | None) -> dict[str, Any]:
    edge = _edge(chosen, found.least)
    neighbour, least = edge.pop("neighbour"), edge.pop("proof")
    told = {"parameter": found.parameter, **edge, "certificate": _certificate(found, note)}
    told |= {"neighbour": neighbour}
    if isinstance(found, VectorCalibration):
        failing = None if found.failing is None else _member(chosen, *found.failing)
        return told | {"failing": failing, "why": found.why}
    from_on = _edge(chosen, found.from_on)
    return told | {
        "least": {"meaning": _meaning(found, _LEAST)} | least,
        "from_on": {"meaning": _from_on(found)} | from_on.pop("proof") | from_on,
    }


def _member(chosen: Chosen, value: Fraction, audit: Audit) -> dict[str, Any]:
    """A value that was audited."""
    return {
        "value": value,
        "spec": chosen.spec(value),
        "verdict": audit.verdict.name,
        "measured": audit.measured,
    }


def _edge(chosen: Chosen, edge: Edge) -> dict[str, Any]:
    return {
        **_member(chosen, edge.value, edge.verified),
        "neighbour": _member(chosen, edge.neighbour, edge.refuted),
        "proof": {"proved": edge.proved, "why": edge.why},
    }


def _from_on(found: Calibration) -> str:
    return _meaning(found, _FROM_ON if found.from_on.proved else _OPEN)


def _meaning(found: Calibration, meaning: tuple[str, str]) -> str:
    """In words, for a noise and for a cost (which falls where noise grows)."""
    value, neighbour = found.value, found.neighbour
    gap = abs(neighbour - value) / max(value, neighbour)
    digits = next((digits for digits in (9, 6) if gap <= Fraction(1, 10**digits)), None)
    near = "" if digits is None else f", to 1e-{digits}"
    return meaning[neighbour > value].format(found.parameter, near)


def _certificate(found: Calibration, note: str | None) -> dict[str, Any] | None:
    """What `exactdp check` proves again; None where that is out of its reach, or too slow."""
    if not (isinstance(found, VectorCalibration) or is_close_call_in_reach(found.verified)):
        return None
    try:
        return certificate_of(found.verified).noted(note, now()).content
    except (NotCertifiedError, OutOfTimeError):
        return None


def _unfinished(asked: dict[str, Any], target: str, unfinished: UnfinishedError) -> Result:
    """Say what is known when the time was over before there was an answer."""
    found = {"REFUTED": unfinished.refuted, "VERIFIED": unfinished.verified}
    known = {verdict: decimal_text(value) for verdict, value in found.items() if value is not None}
    state = {"verdict": "UNDECIDED", "note": str(unfinished)}
    listed = [{"value": value, "verdict": verdict} for verdict, value in known.items()]
    parts = (
        {"mechanism": asked["mechanism"], "target": target},
        Table((unfinished.parameter, ""), [item[::-1] for item in known.items()]),
        state,
    )
    data = asked | {"parameter": unfinished.parameter} | state | {"known": listed}
    return Result(data, parts, 3)


def _show(chosen: Chosen, found: Calibration, target: str) -> Iterator[Part]:
    rows = [(decimal_text(value), audit.verdict.name, audit.told) for value, audit in found.audits]
    measured = "measured" if isinstance(found, VectorCalibration) else "tightest"
    yield {"mechanism": chosen.spec(found.value), "target": target}
    yield Table((found.parameter, "", measured), rows)
    if isinstance(found, VectorCalibration):
        least = f"{decimal_text(found.value)}, of those that are verified"
        yield {"least": least, "why": found.why}
        return
    said: dict[str, str] = {}
    names = ("largest", "all smaller") if found.neighbour > found.value else ("least", "all larger")
    for name, edge, meaning in (
        (names[0], found.least, _meaning(found, _LEAST)),
        (names[1], found.from_on, _from_on(found)),
    ):
        what = f"{decimal_text(edge.value)}: {meaning}"
        said[name] = what if edge.proved else f"not proved: {what}"
        if edge is found.least or edge.why != found.least.why:
            said[f"why {name}"] = edge.why
    yield said
