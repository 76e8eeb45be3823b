"""How a round looks: what `exactdp round` prints."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ..common.table import Table
from ..exact import Enclosure, decimal_text
from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.specs.spec import Spec
from ..protocols.aggregation.batch import Batch
from ..verify.certificate import Certificate
from .in_time import LATE
from .parts import at_most, who_is_summed
from .result import Part

if TYPE_CHECKING:
    from ..protocols.aggregation.masked.graph import GraphFailure
    from ..protocols.aggregation.masked.terms import Terms

_BEFORE, _AFTER = "the sum before the reduction mod m", "the sum reduced mod m"
_PLAIN = "without masks S sees every message: what remains is against the analyzer only"
_RELAXED = "S sums exactly here; a relaxed aggregation adds twice its epsilon to what remains"


@frozen
class Played:
    """What a round came to.

    gone: how many users dropped out, at any stage. beyond: P(the error is above tau/g); None where
    it stays open. overflow: P(the sum wraps), which is part of it. known: users who tell the server
    what they know. most: how many may be missing. source: of the random bits. remains: the pure
    epsilon, or epsilon at delta, as that was written. proof: what was certified, into `file`.
    """

    spec: Spec
    protocol: SumProtocol
    batch: Batch
    gone: int
    beyond: Enclosure | None
    overflow: Enclosure
    known: int
    most: int
    source: str
    remains: Enclosure
    delta: str | None
    proof: Certificate | None
    file: Path | None

    def to_json(self) -> dict[str, Any]:
        """For JSON."""
        batch, error, bound = self.batch, self._error(), self._bound()
        privacy: dict[str, Any] = {
            "quantity": "pure" if self.delta is None else "epsilon",
            "value": self.remains,
            "of": _BEFORE,
            "floor": self.protocol.users - self.most,
        }
        if self.delta is not None:
            privacy["delta"] = self.delta
        if self.proof is not None:
            privacy |= {
                "claim": self.proof.content["claim"],
                "verdict": self.proof.verdict.name,
                "certificate": str(self.file),
                "certificate_of": _certified(self.proof),
            }
        return {
            "mechanism": self.spec,
            "bits_from": self.source,
            "simulation": batch.simulated,
            "users": self.protocol.users,
            "summed": batch.summed,
            "missing": self.protocol.users - batch.summed,
            "dropped_out": self.gone,
            "colluding": self.known,
            "present": dict(batch.present),
            "found": batch.estimate,
            "truth": batch.truth,
            "error": error,
            "bound": bound,
            "within": abs(error) <= bound,
            "beyond": self.beyond,
            "overflow": self.overflow,
            "bits_per_user": self.protocol.bits_per_user,
            "bits_sent": batch.bits,
            "graph": None if batch.terms is None else self._graph(batch.terms),
            "seconds": {stage: round(each, 4) for stage, each in batch.seconds.items()},
            "notes": self._notes(),
            "privacy": privacy,
        }

    def parts(self) -> Iterator[Part]:
        """What happened, and how long each stage took."""
        batch, error, bound = self.batch, self._error(), self._bound()
        users, within = self.protocol.users, "within" if abs(error) <= bound else "BEYOND"
        state = "a simulation, not a release" if batch.simulated else "CSPRNG"
        shown = {
            "mechanism": self.spec.text,
            "modulus": str(self.protocol.modulus),
            "random bits": f"{self.source}: {state}",
            "summed": who_is_summed(batch.summed, users, self.gone, "users"),
            "sum found": _short(batch.estimate),
            "true sum": f"{_short(batch.truth)}  (of those summed)",
            "error": f"{_short(error)}, {within} the bound τ/g = {_short(bound)}",
        }
        if self.beyond is not None:
            shown["P(beyond)"] = f"{self.beyond}, for the worst data, overflow included"
        shown["P(modular overflow)"] = f"{self.overflow}, for the worst data"
        sent = f"{self.protocol.bits_per_user} bits of message, {batch.bits} bits in all"
        shown["a user sends"] = sent
        if batch.terms is not None:
            risk = self._risk(batch.terms)
            honest, lying = map(_at_most, (risk.honest_server, risk.lying_server))
            shown["masks"] = (
                f"{batch.terms.neighbours} neighbours, {batch.terms.threshold} needed; "
                f"P(more than the sum is learnt) is at most {honest}, {lying} if the server lies, "
                f"with {batch.terms.corrupt} users corrupt"
            )
        if self.known:
            shown["colluding"] = f"{self.known} users with the server"
        at = " (pure)" if self.delta is None else f" at δ = {self.delta}"
        shown["ε that remains"] = f"{self.remains}{at}"
        shown["of"] = (
            f"{_BEFORE} (which costs nothing), with {users - self.most} users in it: the fewest "
            "that are accepted"
        )
        if self.proof is not None:
            kind, *numbers = self.proof.content["claim"].values()
            claim = f"{kind}:{','.join(numbers)} {self.proof.verdict.name}"
            shown["certificate"] = f"{claim}, of {_certified(self.proof)}: {self.file}"
        if notes := self._notes():
            shown["note"] = "; ".join(notes)
        rows = [
            (stage, str(batch.present.get(stage.removeprefix("S "), "")), f"{seconds:.3f}")
            for stage, seconds in batch.seconds.items()
        ]
        columns = ("stage", "users", "seconds")
        yield shown
        yield Table(columns, rows, right=columns[1:])

    def _error(self) -> Fraction:
        return self.batch.estimate - self.batch.truth

    def _bound(self) -> Fraction:
        return Fraction(self.protocol.accuracy, self.protocol.precision)

    def _notes(self) -> list[str]:
        plain = [_PLAIN] if self.batch.terms is None else []
        late = [LATE] if self.file is not None and self.proof is None else []
        return plain + ([_RELAXED] if "aggregation" in self.spec.derived else []) + late

    def _risk(self, terms: Terms) -> GraphFailure:
        """How likely the graph of masks gives more than the sum away."""
        from ..protocols.aggregation.masked import graph_failure

        users = self.protocol.users
        return graph_failure(users, terms.neighbours, terms.threshold, terms.corrupt, self.most)

    def _graph(self, terms: Terms) -> dict[str, Any]:
        risk = self._risk(terms)
        return {
            "neighbours": terms.neighbours,
            "threshold": terms.threshold,
            "floor": terms.floor,
            "corrupt": terms.corrupt,
            "failure": terms.failure,
            "honest_server": risk.honest_server,
            "lying_server": risk.lying_server,
            "aborted": risk.aborted,
        }


def _certified(proof: Certificate) -> str:
    """What it is of."""
    reduced = proof.content["uses"][0]["mechanism"]["modulus"] is not None
    return _AFTER if reduced else _BEFORE


def _short(value: Fraction) -> str:
    text = decimal_text(value)
    return text if "/" not in text else f"{float(value):.6g}"


def _at_most(risk: Enclosure) -> str:
    upper = Fraction(risk.upper)
    return at_most(upper) if upper else "0"
