"""How a round looks: what `exactdp round` prints."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..exact import Enclosure, decimal_text
from ..mechanisms.aggregation.batch import Batch
from ..mechanisms.protocols.protocol import SumProtocol
from ..mechanisms.spec import Spec
from ..verify.certificate import Certificate
from . import render

__all__ = ["Played"]

_BEFORE, _AFTER = "the sum before the reduction mod m", "the sum reduced mod m"
_PLAIN = "without masks S sees every message: what remains is against the analyzer only"
_RELAXED = "S sums exactly here; a relaxed aggregation adds twice its epsilon to what remains"


@dataclass(frozen=True)
class Played:
    """What a round came to.

    beyond: P(the error is above tau/g); None where it stays open. known: users who tell the server
    what they know. most: how many may be missing. quantity: what `remains` is, pure or epsilon (at
    delta, as it was written). proof: what was certified, and written to `file`.
    """

    spec: Spec
    protocol: SumProtocol
    batch: Batch
    beyond: Enclosure | None
    known: int
    most: int
    seed: int | None
    quantity: str
    remains: Enclosure
    delta: str
    proof: Certificate | None = None
    file: Path | None = None

    @property
    def _error(self) -> Fraction:
        return self.batch.estimate - self.batch.truth

    @property
    def _bound(self) -> Fraction:
        return Fraction(self.protocol.accuracy, self.protocol.precision)

    @property
    def _source(self) -> str:
        return "operating system" if self.seed is None else f"seed {self.seed}"

    @property
    def _missing(self) -> int:
        return self.protocol.users - self.batch.summed

    @property
    def _floor(self) -> int:
        return self.protocol.users - self.most

    @property
    def _certified(self) -> str:
        """What the certificate is of."""
        assert self.proof is not None
        reduced = self.proof.content["uses"][0]["mechanism"]["modulus"] is not None
        return _AFTER if reduced else _BEFORE

    @property
    def _notes(self) -> list[str]:
        plain = [_PLAIN] if self.batch.terms is None else []
        return plain + ([_RELAXED] if "aggregation" in self.spec.derived else [])

    def to_json(self) -> dict[str, Any]:
        """As `--json` shows it; rationals as exact text."""
        batch = self.batch
        privacy: dict[str, Any] = {
            "quantity": self.quantity,
            "value": self.remains.to_json(),
            "of": _BEFORE,
            "floor": self._floor,
        }
        if self.quantity == "epsilon":
            privacy["delta"] = self.delta
        if self.proof is not None:
            privacy |= {
                "claim": self.proof.content["claim"],
                "verdict": self.proof.verdict.name,
                "certificate": str(self.file),
                "certificate_of": self._certified,
            }
        return {
            "mechanism": self.spec.to_json(),
            "bits_from": self._source,
            "simulation": batch.simulated,
            "users": self.protocol.users,
            "summed": batch.summed,
            "missing": self._missing,
            "colluding": self.known,
            "present": dict(batch.present),
            "found": decimal_text(batch.estimate),
            "truth": decimal_text(batch.truth),
            "error": decimal_text(self._error),
            "bound": decimal_text(self._bound),
            "within": abs(self._error) <= self._bound,
            "beyond": None if self.beyond is None else self.beyond.to_json(),
            "bits_per_user": self.protocol.bits_per_user,
            "bits_sent": batch.bits,
            "graph": self._graph(),
            "seconds": {stage: round(each, 4) for stage, each in batch.seconds.items()},
            "notes": self._notes,
            "privacy": privacy,
        }

    def _graph(self) -> dict[str, Any] | None:
        """How the masks were laid, and how likely such a graph gives more than the sum away."""
        terms = self.batch.terms
        if terms is None:
            return None
        honest, lying, aborted = self._risks()
        return {
            "neighbours": terms.neighbours,
            "threshold": terms.threshold,
            "floor": terms.floor,
            "corrupt": terms.corrupt,
            "failure": decimal_text(terms.failure),
            "honest_server": honest.to_json(),
            "lying_server": lying.to_json(),
            "aborted": aborted.to_json(),
        }

    def _risks(self) -> tuple[Enclosure, Enclosure, Enclosure]:
        """That the server learns more than the sum, honest and lying; that there is no sum."""
        from ..mechanisms.aggregation.masked import graph_failure

        terms = self.batch.terms
        assert terms is not None
        risk = graph_failure(
            self.protocol.users, terms.neighbours, terms.threshold, terms.corrupt, self.most
        )
        return risk.honest_server, risk.lying_server, risk.aborted

    def show(self) -> None:
        """Print it as tables."""
        out, batch = render.console(), self.batch
        within = "within" if abs(self._error) <= self._bound else "BEYOND"
        state = "a simulation, not a release" if batch.simulated else "CSPRNG"
        shown = {
            "mechanism": self.spec.text,
            "modulus": str(self.protocol.modulus),
            "random bits": f"{self._source}: {state}",
            "summed": f"{batch.summed} of {self.protocol.users} users, {self._missing} missing",
            "sum found": _short(batch.estimate),
            "true sum": f"{_short(batch.truth)}  (of those summed)",
            "error": f"{_short(self._error)}, {within} the bound τ/g = {_short(self._bound)}",
        }
        if self.beyond is not None:
            shown["P(beyond)"] = f"{self.beyond}, for the worst data"
        sent = f"{self.protocol.bits_per_user} bits of message, {batch.bits} bits in all"
        shown["a user sends"] = sent
        if batch.terms is not None:
            honest, lying, _ = (_at_most(risk) for risk in self._risks())
            shown["masks"] = (
                f"{batch.terms.neighbours} neighbours, {batch.terms.threshold} needed; "
                f"P(more than the sum is learnt) is at most {honest}, {lying} if the server lies, "
                f"with {batch.terms.corrupt} users corrupt"
            )
        if self.known:
            shown["colluding"] = f"{self.known} users with the server"
        at = " (pure)" if self.quantity == "pure" else f" at δ = {self.delta}"
        shown["ε that remains"] = f"{self.remains}{at}"
        shown["of"] = (
            f"{_BEFORE} (which costs nothing), with {self._floor} users in it: the fewest "
            "that are accepted"
        )
        if self.proof is not None:
            kind, *numbers = self.proof.content["claim"].values()
            claim = f"{kind}:{','.join(numbers)}"
            shown["certificate"] = (
                f"{claim} {self.proof.verdict.name}, of {self._certified}: {self.file}"
            )
        if self._notes:
            shown["note"] = "; ".join(self._notes)
        out.print(render.facts(shown))
        table = render.grid("stage", "users", "seconds", right=("users", "seconds"))
        for stage, seconds in batch.seconds.items():
            count = batch.present.get(stage.removeprefix("S "), "")
            table.add_row(stage, str(count), f"{seconds:.3f}")
        out.print(table)


def _short(value: Fraction) -> str:
    text = decimal_text(value)
    return text if "/" not in text else f"{float(value):.6g}"


def _at_most(risk: Enclosure) -> str:
    upper = Fraction(risk.upper)
    return render.at_most(upper) if upper else "0"
