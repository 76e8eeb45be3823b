"""How often a summed batch fails, how far off it is, what it costs to send: measured and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..exact import Enclosure, ParameterError, decimal_text, exact
from ..exact.rows import written
from ..mechanisms.protocols import SumProtocol, worst_error_quantile, worst_rounding_quantile
from ..mechanisms.protocols.error import noise_quantile, off_probability, wrap_probability
from ..mechanisms.protocols.least import Least, least_accuracy, least_modulus
from ..mechanisms.protocols.provision import Provision, provisioned
from ..mechanisms.spec import Spec
from . import output, render

__all__ = ["FAILURE", "LEVELS", "summed"]

FAILURE = "1e-6"
LEVELS = ("0.5", "0.1", "0.01")  # and the failure probability


def summed(parsed: Spec, failure: str | None, dropout: Sequence[str], as_json: bool) -> None:
    """Certify a sum's failures and errors; find the least accuracy and modulus."""
    given = parsed.protocol
    if given is None:
        raise ParameterError(
            "SPEC must name a protocol (theorem1 to theorem6, published, shuffle-sum): "
            f"{parsed.text[:60]!r} says nothing of what users send"
        )
    if parsed.derived.get("users") != given.users:
        raise ParameterError("SPEC must not take shares out: users who vanish go to --dropout")
    if not given.decodes:
        least = given.users * given.precision + given.accuracy + 1
        raise ParameterError(
            f"modulus must be at least n g + tau + 1 = {least} for sums to be decoded, "
            f"got {given.modulus}"
        )
    level, claimed = _levels(failure, parsed.horizon, parsed.failure)
    with output.working("measuring the protocol"):
        report = _Report.of(given, level, claimed)
        shares = [_Larger.of(given, missing, level) for missing in dropout]
    if as_json:
        told = {"mechanism": parsed.to_json(), **report.to_json()}
        output.as_json(told | ({"dropout": [each.to_json() for each in shares]} if shares else {}))
    else:
        _show(parsed.to_json(), report, shares)


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


@dataclass(frozen=True)
class _Report:
    protocol: SumProtocol
    failure: Fraction
    claimed: Fraction | None
    off: Enclosure
    wrap: Enclosure
    least: Least
    least_modulus: Least | None
    quantiles: list[tuple[Fraction, dict[str, Enclosure]]]  # in units of 1/g

    @staticmethod
    def of(protocol: SumProtocol, failure: Fraction, claimed: Fraction | None) -> _Report:

        quantiles = []
        for level in sorted({*map(Fraction, LEVELS), failure}, reverse=True):
            parts = {
                "noise": Enclosure.exactly(noise_quantile(protocol, level)),
                "rounding": worst_rounding_quantile(protocol.users, level),
                "total": worst_error_quantile(protocol, level),
            }
            quantiles.append((level, parts))
        return _Report(
            protocol,
            failure,
            claimed,
            off_probability(protocol),
            wrap_probability(protocol),
            least_accuracy(protocol, failure),
            None if protocol.modulus is None else least_modulus(protocol, failure),
            quantiles,
        )

    def to_json(self) -> dict[str, Any]:

        return {
            "users": self.protocol.users,
            "precision": self.protocol.precision,
            "trust": self.protocol.trust.value,
            "paper": {
                "accuracy": self.protocol.accuracy,
                "modulus": self.protocol.modulus,
                "bits_per_user": self.protocol.bits_per_user,
                "claimed_failure": None if self.claimed is None else decimal_text(self.claimed),
                "failure": self.off.to_json(),
                "wrap": self.wrap.to_json(),
            },
            "failure": decimal_text(self.failure),
            "least_accuracy": _least(self.least),
            "least_modulus": None if self.least_modulus is None else _least(self.least_modulus),
            "quantiles": [
                {"failure": decimal_text(level)}
                | {name: self._in_rewards(value).to_json() for name, value in parts.items()}
                for level, parts in self.quantiles
            ],
        }

    def _in_rewards(self, quantile: Enclosure) -> Enclosure:
        return quantile.times(Fraction(1, self.protocol.precision))

    def in_rewards(self) -> list[tuple[Fraction, dict[str, Enclosure]]]:
        """The quantiles in units of rewards."""
        return [
            (level, {name: self._in_rewards(value) for name, value in parts.items()})
            for level, parts in self.quantiles
        ]


@dataclass(frozen=True)
class _Larger:
    """Shares that keep the guarantee while so many users vanish."""

    provision: Provision
    least: Least

    @staticmethod
    def of(protocol: SumProtocol, dropout: str, failure: Fraction) -> _Larger:

        found = provisioned(protocol, dropout)
        return _Larger(found, least_accuracy(found.protocol, failure))

    def other(self) -> _Larger | None:
        """The other way to keep it, where there is one."""

        if (way := self.provision.alternative) is None:
            return None
        return _Larger(way, least_accuracy(way.protocol, self.least.failure))

    def to_json(self) -> dict[str, Any]:
        other = self.other()
        return {
            "missing": self.provision.dropout,
            "changed": self.provision.changed,
            "share": written(self.provision.protocol.noise),
            "variance_ratio": self.provision.variance_ratio.to_json(),
            "least_accuracy": _least(self.least),
            "alternative": None if other is None else other.to_json(),
        }


def _least(found: Least) -> dict[str, Any]:
    return {
        "accuracy": found.accuracy,
        "modulus": found.modulus,
        "bits_per_user": found.bits_per_user,
        "failure": found.probability.to_json(),
        "neighbour": None
        if found.neighbour is None or found.exceeding is None
        else {
            "accuracy": found.neighbour[0],
            "modulus": found.neighbour[1],
            "failure": found.exceeding.to_json(),
        },
    }


def _changed(provision: Provision) -> str:
    """What is larger of a share, and how large."""
    value = getattr(provision.protocol.noise, provision.changed)
    return f"{provision.changed} {decimal_text(value)}"


def _show(described: dict[str, str], report: _Report, shares: list[_Larger]) -> None:

    out, given = render.console(), report.protocol
    facts = {"mechanism" if key == "spec" else key: text for key, text in described.items()}
    facts["share"] = written(given.noise)
    facts["failure"] = decimal_text(report.failure)
    if report.claimed is not None:
        facts["claimed"] = f"off by more than τ/g with probability at most {report.claimed}"
    facts["wraps around"] = f"with probability {render.shown(report.wrap)}"
    out.print(render.facts(facts))
    columns = ("τ", "m", "bits per user", "P(it fails)")
    table = render.grid("", *columns, right=columns[:-1])
    table.add_row(
        "as given",
        str(given.accuracy),
        str(given.modulus),
        str(given.bits_per_user),
        render.shown(report.off),
    )
    for name, least in (("least τ", report.least), ("least m", report.least_modulus)):
        if least is not None:
            bits = str(least.bits_per_user)
            cells = (str(least.accuracy), str(least.modulus), bits, render.shown(least.probability))
            table.add_row(name, *cells)
    out.print(table)
    table = render.grid("error exceeded with probability", "noise", "rounding", "total")
    for level, parts in report.in_rewards():
        table.add_row(f"at most {decimal_text(level)}", *(_span(value) for value in parts.values()))
    out.print(table)
    if shares:
        costs = ("variance", "least τ", "bits per user")
        table = render.grid("missing", "larger share", *costs, right=("missing", *costs[1:]))
        for each in shares:
            rows = [each] if (other := each.other()) is None else [each, other]
            for row in rows:
                table.add_row(
                    str(row.provision.dropout),
                    _changed(row.provision),
                    f"× {render.shown(row.provision.variance_ratio)}",
                    str(row.least.accuracy),
                    str(row.least.bits_per_user),
                )
        out.print(table)


def _span(value: Enclosure) -> str:
    low, high = float(Fraction(value.lower)), float(Fraction(value.upper))
    return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
