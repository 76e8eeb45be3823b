"""`exactdp protocol SPEC --play`: a whole batch, R, S and A, with users who drop out on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from ..accounting import compose
from ..common.table import Table
from ..exact import Enclosure, ParameterError, decimal_text, exact, time_limit, whole
from ..exact.rounding import to_digits
from ..mechanisms import AdditiveNoise, UndecidedError
from ..mechanisms.additive.error import off_probability, wrap_probability
from ..mechanisms.additive.protocol import SumProtocol, missing_users
from ..mechanisms.matrices.release import DiscreteMatrixNoise, MatrixNoise
from ..mechanisms.pairs.pair_file import read_text
from ..mechanisms.samplers import RandomBits
from ..mechanisms.samplers.coins import bernoulli
from ..mechanisms.specs.spec import Spec, parse
from ..protocols import worst_error
from ..protocols.aggregation.aggregation import Stage
from ..protocols.aggregation.batch import Batch, play_batch, some_of, some_stages
from ..verify import ApproxDP, Claim, PureDP, certify
from ..verify.certificate import Certificate
from . import output
from .in_time import LATE, Figures
from .parts import at_most, who_is_summed
from .playing import Choices, refuse
from .result import Part, Result

if TYPE_CHECKING:
    from ..protocols.aggregation.masked.graph import GraphFailure
    from ..protocols.aggregation.masked.terms import Terms

_DIGITS = 6  # of the claim that is certified, rounded up
_LARGEST_BATCH = 100_000
_ALWAYS = {"--dropout", "--floor", "--plain", "--delta", "--seed"}
_CERTIFIED = {"--certificate", "--claim", "--note"}
_OF_FEDERATED = _ALWAYS | _CERTIFIED | {"--clients", "--dimension"}
_OF_SUMS = (
    _ALWAYS | _CERTIFIED | {*("--failure", "--rewards", "--mean", "--mask-degree", "--colluding")}
)
_BEFORE, _AFTER = "the sum before the reduction mod m", "the sum reduced mod m"
_PLAIN = "without masks S sees every message: what remains is against the analyzer only"
_RELAXED = "S sums exactly here; a relaxed aggregation adds twice its epsilon to what remains"


def played_round(spec: str, choices: Choices) -> Result:
    """Play it, and measure what remains.

    Raises ParameterError for what is out of range or not taken, and where too few remain.
    """
    if spec.partition(":")[0] == "federated":
        refuse(choices.given, "is not for a federated round", _OF_FEDERATED)
        return _federated(spec, choices)
    parsed = parse(spec)
    if isinstance(parsed.mechanism, MatrixNoise | DiscreteMatrixNoise):
        from .play_stream import play

        refuse(
            choices.given,
            "is not for a stream (exactdp audit SPEC,dropout=D certifies one)",
            _ALWAYS,
        )
        return play(parsed, choices)
    refuse(choices.given, "is not for a sum", _OF_SUMS)
    return _summed(parsed, choices)


def _federated(spec: str, choices: Choices) -> Result:
    from .play_federated import certified, filled_in, play_federated

    given = {key: choices.text(f"--{key}") for key in ("clients", "dimension")}
    played = play_federated(filled_in(spec, **given), choices)
    figures, file = Figures(), choices.certificate
    figures.late = not all(cost.is_finite() for cost in played.costs.values())
    if file is not None:
        with time_limit(choices.seconds):
            found = figures.find(lambda: certified(played, choices.claim, file, choices.note), None)
        played = evolve(played, proof=found, note=figures.note)
    return Result(played, played.parts(), figures.code)


def _summed(parsed: Spec, choices: Choices) -> Result:
    protocol, bits, plain = parsed.protocol, choices.bits, choices.plain
    if protocol is None:
        raise ParameterError("SPEC must be the preset of a summed batch: theorem1 to theorem6, say")
    if parsed.derived.get("users") != protocol.users:
        raise ParameterError("SPEC must leave dropout and collusion to this command: use --dropout")
    if protocol.modulus is None:
        raise ParameterError("SPEC must have a modulus (published: with a horizon), got none")
    least = 1 if plain else 2
    if not least <= protocol.users <= _LARGEST_BATCH:
        raise ParameterError(
            f"batch must be between {least} and {_LARGEST_BATCH}, got {protocol.users}"
        )
    leaving, most = choices.missing(protocol.users)
    risk = exact(choices.text("--failure") or "1e-9", "--failure", above=0, at_most=1)
    known = whole(
        *(choices.text("--colluding") or "0", "--colluding"),
        at_least=0,
        at_most=protocol.users - 1,
    )
    level, degree = choices.level, choices.text("--mask-degree")
    earned = _rewards(choices, protocol.users, bits)
    missing_users(protocol.users, most, known)  # refuses where nobody is left
    with output.working("playing the round"), choices.summing():
        gone = some_of(protocol.users, leaving, bits)
        when = dict.fromkeys(gone, Stage.KEYS) if plain else some_stages(gone, bits)
        # The masks are laid for a tenth of the users at least, whoever says to collude.
        corrupt = known if known > protocol.users // 10 else None
        batch = play_batch(protocol, earned, bits, when, degree, most, corrupt, risk, plain)
    missing = protocol.users - batch.summed
    choices.check_floor(batch.summed, protocol.users, most, "users in the sum")
    figures, unknown = Figures(), ("epsilon", Enclosure.unknown())
    with output.working("measuring what remains"), time_limit(choices.seconds):
        quantity, remains = figures.find(lambda: _remaining(protocol, most, known, level), unknown)
        beyond = figures.find(lambda: _off(protocol, earned, missing), None)
        overflow = figures.find(
            lambda: wrap_probability(protocol, missing), Enclosure.probability()
        )
    proof, file = None, choices.certificate
    if file is not None and (choices.claim is not None or remains.is_finite()):
        masking = None if batch.terms is None else batch.terms.masking
        held = choices.claim or _claim(quantity, remains, level)

        def proved() -> Certificate:
            return output.written(
                lambda: certify(protocol, held, most, known, masking=masking), file, choices.note
            )

        with output.working("certifying what remains"), time_limit(choices.seconds):
            proof = figures.find(proved, None)
    at = None if quantity == "pure" else choices.delta
    played = Played(
        *(parsed, protocol, batch, len(gone), beyond, overflow, known, most, choices.source),
        *(remains, at, proof, file),
    )
    return Result(played, played.parts(), figures.code)


def _rewards(choices: Choices, users: int, bits: RandomBits) -> Sequence[Fraction]:
    file = choices.text("--rewards")
    if file is None:
        chance = exact(choices.text("--mean") or "1/2", "--mean", at_least=0, at_most=1)
        return [Fraction(bernoulli(chance, bits)) for _ in range(users)]
    lines = read_text(Path(file)).split()
    if len(lines) != users:
        raise ParameterError(f"{file}: must hold {users} rewards, one a line, holds {len(lines)}")
    return [exact(line, f"{file}: reward", at_least=0, at_most=1) for line in lines]


def _off(protocol: SumProtocol, rewards: Sequence[Fraction], missing: int) -> Enclosure | None:
    """P(the estimate is off by more than tau/g), the worst over data; None if it stays open."""
    try:
        if all((each * protocol.precision).denominator == 1 for each in rewards):
            return off_probability(protocol, missing=missing)  # on the grid nothing is rounded
        return worst_error(protocol, protocol.accuracy, missing)
    except (UndecidedError, ArithmeticError, NotImplementedError):
        return None


def _remaining(
    protocol: SumProtocol, missing: int, known: int, delta: Fraction
) -> tuple[str, Enclosure]:
    """Pure epsilon where it is finite, else epsilon at delta, of what is summed before mod m."""
    released = protocol.released(missing, known)
    composition = compose(AdditiveNoise(released.law, released.sensitivity))
    pure = composition.pure()
    return ("pure", pure) if pure.is_finite() else ("epsilon", composition.epsilon(delta))


def _claim(quantity: str, value: Enclosure, delta: Fraction) -> Claim:
    bound = to_digits(Fraction(value.upper), _DIGITS, ROUND_CEILING)
    return PureDP(bound) if quantity == "pure" else ApproxDP(bound, delta)


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
