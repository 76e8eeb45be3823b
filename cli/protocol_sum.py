"""How often a summed batch fails, how far off it is, what it costs to send: measured and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..common.rows import written
from ..common.table import Table
from ..exact import Enclosure, ParameterError, exact
from ..mechanisms.additive.error import noise_quantile, off_probability, wrap_probability
from ..mechanisms.additive.protocol import missing_users
from ..mechanisms.specs.spec import Spec
from ..protocols import SumProtocol, worst_error_quantile, worst_rounding_quantile
from ..protocols.provision import Provision, provisioned
from ..protocols.total import Least, least_accuracy, least_modulus
from . import output
from .in_time import Figures
from .parts import described, short, shown
from .result import Part, Result

FAILURE = "1e-6"
_SENT, _PARTS = ("accuracy", "modulus", "bits_per_user"), ("noise", "rounding", "total")
LEVELS = ("0.5", "0.1", "0.01")  # and the failure probability


def summed(parsed: Spec, failure: str | None, dropout: Sequence[str]) -> Result:
    """Certify a sum's failures and errors; find the least accuracy and modulus."""
    given = parsed.protocol
    if given is None:
        raise ParameterError(
            "SPEC must name a protocol (theorem1 to theorem6, published, shuffle-sum): "
            f"{parsed.text[:60]!r} says nothing of what users send"
        )
    if parsed.derived.get("users") != given.users:
        raise ParameterError("SPEC must not take shares out: users who drop out go to --dropout")
    if not given.decodes:
        least = given.users * given.precision + given.accuracy + 1
        raise ParameterError(
            f"modulus must be at least n g + tau + 1 = {least} for sums to be decoded, "
            f"got {given.modulus}"
        )
    level, claimed = _levels(failure, parsed.horizon, parsed.failure)
    figures = Figures()
    with output.working("measuring the protocol"):
        for missing in dropout:
            missing_users(given.users, missing)  # refuses what is out of range
        report = _report(given, level, claimed, figures)
        found = [_provided(given, missing, level, figures) for missing in dropout]
        shares = [each for each in found if each is not None]
    data = {"mechanism": parsed} | report | ({"dropout": shares} if dropout else {}) | figures.note
    return Result(data, _told(parsed, given, report, shares, figures.note), figures.code)


def _levels(
    failure: str | None, horizon: int | None, aggregation: Fraction | None
) -> tuple[Fraction, Fraction | None]:
    """The failure probability to meet, and what the theorem claims of tau.

    Theorem 3 splits: its aggregation fails with half of 1/T, tau is for the other half.
    """
    claimed = None
    if horizon is not None:
        claimed = Fraction(1, horizon) - (aggregation or 0)
    if failure is not None:
        return exact(failure, "--failure", above=0, at_most=1), claimed
    return claimed or exact(FAILURE, "--failure"), claimed


def _report(
    protocol: SumProtocol, failure: Fraction, claimed: Fraction | None, figures: Figures
) -> dict[str, Any]:
    reduced = protocol.modulus is not None
    anything = Enclosure.probability()
    overflow = figures.find(lambda: wrap_probability(protocol), anything)
    return {
        "users": protocol.users,
        "precision": protocol.precision,
        "trust": protocol.trust,
        "paper": {
            "accuracy": protocol.accuracy,
            "modulus": protocol.modulus,
            "bits_per_user": protocol.bits_per_user,
            "claimed_failure": claimed,
            "failure": figures.find(lambda: off_probability(protocol), anything),
            "wrap": overflow,
            "overflow": overflow,
        },
        "failure": failure,
        "least_accuracy": figures.find(lambda: _least(least_accuracy(protocol, failure)), None),
        "least_modulus": figures.find(lambda: _least(least_modulus(protocol, failure)), None)
        if reduced
        else None,
        "quantiles": [
            _quantiles(protocol, level, figures) | {"overflow": overflow}
            for level in sorted({*map(Fraction, LEVELS), failure}, reverse=True)
        ],
    }


def _quantiles(protocol: SumProtocol, level: Fraction, figures: Figures) -> dict[str, Any]:
    """The errors that are exceeded with at most this probability, in units of rewards."""
    parts: dict[str, Callable[[], Enclosure]] = {
        "noise": lambda: Enclosure.exactly(noise_quantile(protocol, level)),
        "rounding": lambda: worst_rounding_quantile(protocol.users, level),
        "total": lambda: worst_error_quantile(protocol, level),
    }
    unit, found = Fraction(1, protocol.precision), {"failure": level}
    return found | {
        name: figures.find(compute, Enclosure.unknown()).times(unit)
        for name, compute in parts.items()
    }


def _provided(
    protocol: SumProtocol, missing: str, failure: Fraction, figures: Figures
) -> dict[str, Any] | None:
    return figures.find(lambda: _larger(provisioned(protocol, missing), failure), None)


def _larger(way: Provision, failure: Fraction) -> dict[str, Any]:
    """Shares that keep the guarantee while so many users vanish; and the other way, if any."""
    raised = getattr(way.protocol.noise, way.changed, None)
    return {
        "missing": way.dropout,
        "changed": way.changed,
        "raised_to": raised,
        "share": written(way.protocol.noise),
        "variance_ratio": way.variance_ratio,
        "least_accuracy": _least(least_accuracy(way.protocol, failure)),
        "alternative": None if way.alternative is None else _larger(way.alternative, failure),
    }


def _least(found: Least) -> dict[str, Any]:
    neighbour = None
    if found.neighbour is not None:
        accuracy, modulus = found.neighbour
        neighbour = {"accuracy": accuracy, "modulus": modulus, "failure": found.exceeding}
    return {
        "accuracy": found.accuracy,
        "modulus": found.modulus,
        "bits_per_user": found.bits_per_user,
        "failure": found.probability,
        "neighbour": neighbour,
    }


def _told(
    parsed: Spec,
    given: SumProtocol,
    report: dict[str, Any],
    shares: list[dict[str, Any]],
    note: Mapping[str, str],
) -> Iterator[Part]:
    paper = report["paper"]
    facts = described(parsed)
    facts["share"] = written(given.noise)
    facts["failure"] = short(report["failure"])
    if paper["claimed_failure"] is not None:
        facts["claimed"] = (
            f"off by more than τ/g with probability at most {short(paper['claimed_failure'])}"
        )
    facts["modular overflow"] = (
        f"with probability {shown(paper['wrap'])}, counted in the errors of noise and total"
    )
    columns = ("τ", "m", "bits per user", "P(it fails)")
    least = {"least τ": report["least_accuracy"], "least m": report["least_modulus"]}
    sent = [
        (name, *(str(row[key]) for key in _SENT), shown(row["failure"]))
        for name, row in {"as given": paper, **least}.items()
        if row is not None
    ]
    errors = [
        (f"at most {short(row['failure'])}", *(_span(row[part]) for part in _PARTS))
        for row in report["quantiles"]
    ]
    yield facts
    yield Table(("", *columns), sent, right=columns[:-1])
    yield Table(("error exceeded with probability", *_PARTS), errors)
    if shares:
        costs = ("variance", "least τ", "bits per user")
        ways = (way for share in shares for way in (share, share["alternative"]) if way)
        rows = [_cost(way) for way in ways]
        right = ("dropouts", *costs[1:])
        yield Table(("dropouts", "larger share", *costs), rows, right=right)
    if note:
        yield note


def _cost(way: dict[str, Any]) -> tuple[str, ...]:
    least, raised = way["least_accuracy"], way["raised_to"]
    return (
        str(way["missing"]),
        way["changed"] if raised is None else f"{way['changed']} {short(raised)}",
        f"× {shown(way['variance_ratio'])}",
        str(least["accuracy"]),
        str(least["bits_per_user"]),
    )


def _span(value: Enclosure) -> str:
    low, high = float(value.lower), float(value.upper)
    return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
