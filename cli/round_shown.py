"""How a round looks: what `exactdp round` prints."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..exact import Enclosure, decimal_text
from ..mechanisms.aggregation.batch import Batch
from ..mechanisms.protocols.protocol import SumProtocol
from . import render
from .catalogue import Spec

__all__ = ["AFTER", "BEFORE", "described", "show"]

BEFORE, AFTER = "the sum before the reduction mod m", "the sum reduced mod m"

_PLAIN = "without masks S sees every message: what remains is against the analyzer only"
_RELAXED = "S sums exactly here; a relaxed aggregation adds twice its epsilon to what remains"


def _graph(batch: Batch, users: int, most: int) -> dict[str, Any] | None:
    """How the masks were laid, and how likely such a graph gives more than the sum away."""
    terms = batch.terms
    if terms is None:
        return None
    from ..mechanisms.aggregation.masked import graph_failure

    risk = graph_failure(users, terms.neighbours, terms.threshold, terms.corrupt, most)
    return {
        "neighbours": terms.neighbours,
        "threshold": terms.threshold,
        "floor": terms.floor,
        "corrupt": terms.corrupt,
        "failure": decimal_text(terms.failure),
        "honest_server": risk.honest_server.to_json(),
        "lying_server": risk.lying_server.to_json(),
        "aborted": risk.aborted.to_json(),
    }


def described(
    parsed: Spec,
    protocol: SumProtocol,
    batch: Batch,
    accuracy: Enclosure | None,
    known: int,
    most: int,
    seed: int | None,
) -> dict[str, Any]:
    """What a round came to, as `--json` shows it; rationals as exact text."""
    bound = Fraction(protocol.accuracy, protocol.precision)
    return {
        "mechanism": parsed.to_json(),
        "bits_from": "operating system" if seed is None else f"seed {seed}",
        "simulation": batch.simulated,
        "users": protocol.users,
        "summed": batch.summed,
        "missing": protocol.users - batch.summed,
        "colluding": known,
        "present": dict(batch.present),
        "found": decimal_text(batch.estimate),
        "truth": decimal_text(batch.truth),
        "error": decimal_text(batch.estimate - batch.truth),
        "bound": decimal_text(bound),
        "within": abs(batch.estimate - batch.truth) <= bound,
        "beyond": None if accuracy is None else accuracy.to_json(),
        "bits_per_user": protocol.bits_per_user,
        "bits_sent": batch.bits,
        "graph": _graph(batch, protocol.users, most),
        "seconds": {stage: round(each, 4) for stage, each in batch.seconds.items()},
        "notes": [
            *([_PLAIN] if batch.terms is None else []),
            *([_RELAXED] if "aggregation" in parsed.derived else []),
        ],
    }


def show(
    facts: dict[str, Any], privacy: dict[str, Any], remains: Enclosure, beyond: Enclosure | None
) -> None:
    """Print it as tables."""
    out = render.console()
    at = f" at δ = {privacy['delta']}" if "delta" in privacy else ""
    state = "a simulation, not a release" if facts["simulation"] else "CSPRNG"
    shown = {
        "mechanism": facts["mechanism"]["spec"],
        "modulus": facts["mechanism"]["modulus"],
        "random bits": f"{facts['bits_from']}: {state}",
        "summed": f"{facts['summed']} of {facts['users']} users, {facts['missing']} missing",
        "sum found": _short(facts["found"]),
        "true sum": f"{_short(facts['truth'])}  (of those summed)",
        "error": f"{_short(facts['error'])}, {'within' if facts['within'] else 'BEYOND'} the bound "
        f"τ/g = {_short(facts['bound'])}",
    }
    if beyond is not None:
        shown["P(beyond)"] = f"{beyond}, for the worst data"
    sent = f"{facts['bits_per_user']} bits of message, {facts['bits_sent']} bits in all"
    shown["a user sends"] = sent
    if facts["graph"] is not None:
        graph = facts["graph"]
        honest, lying = (_upper(graph, f"{kind}_server") for kind in ("honest", "lying"))
        shown["masks"] = (
            f"{graph['neighbours']} neighbours, {graph['threshold']} needed; "
            f"P(more than the sum is learnt) is at most {honest}, {lying} if the server lies, "
            f"with {graph['corrupt']} users corrupt"
        )
    if facts["colluding"]:
        shown["colluding"] = f"{facts['colluding']} users with the server"
    shown["ε that remains"] = f"{remains}{at}{'' if at else ' (pure)'}"
    shown["of"] = (
        f"{privacy['of']} (which costs nothing), with {privacy['floor']} users in it: the fewest "
        "that are accepted"
    )
    if "certificate" in privacy:
        numbers = {**privacy["claim"]}
        claim = f"{numbers.pop('kind')}:{','.join(numbers.values())}"
        shown["certificate"] = (
            f"{claim} {privacy['verdict']}, of {privacy['certificate_of']}: "
            f"{privacy['certificate']}"
        )
    if facts["notes"]:
        shown["note"] = "; ".join(facts["notes"])
    out.print(render.facts(shown))
    table = render.grid("stage", "users", "seconds", right=("users", "seconds"))
    for stage, seconds in facts["seconds"].items():
        count = facts["present"].get(stage.removeprefix("S "), "")
        table.add_row(stage, str(count), f"{seconds:.3f}")
    out.print(table)


def _short(text: str) -> str:
    return text if "/" not in text else f"{float(Fraction(text)):.6g}"


def _upper(graph: dict[str, Any], name: str) -> str:
    upper = Fraction(graph[name]["upper"])
    return render.at_most(upper) if upper else "0"
