"""`exactdp round`: a whole batch of a protocol, R, S and A, with users who vanish on the way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ..exact import Enclosure
    from ..mechanisms.aggregation.batch import Batch
    from ..mechanisms.protocols.protocol import SumProtocol
    from ..mechanisms.samplers import RandomBits
    from ..verify.certificate import Certificate
    from ..verify.claim import Claim
    from .catalogue import Spec

__all__ = ["round_"]

_DIGITS = 6  # of the claim that is certified, rounded up
_LARGEST_BATCH = 100_000
_RELAXED = "S sums exactly here; a relaxed aggregation adds twice its epsilon to what remains"


def round_(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="a preset, theorem1:epsilon=...,batch=... say")
    ],
    vanish: Annotated[
        str,
        typer.Option(metavar="V", help="users who vanish: a fraction below 1, or how many"),
    ] = "0",
    rewards: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="a reward in [0, 1] for each user, one a line"),
    ] = None,
    mean: Annotated[
        str, typer.Option(metavar="P", help="without FILE: rewards are coins of this mean")
    ] = "1/2",
    neighbours: Annotated[
        str | None, typer.Option(metavar="K", help="with whom each user shares masks (32)")
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="add up without masks: who vanishes sends nothing")
    ] = False,
    delta: Annotated[
        str, typer.Option(metavar="D", help="where there is no pure ε: ε at this δ")
    ] = "1e-6",
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="write a certificate of the privacy that remains"),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="S", min=0, help="the same again: a simulation, never a release"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Play one batch: randomizers, secure aggregation by masks, analyzer.

    Prints the sum that is found beside the true one, who was there at each stage, and the privacy
    that remains without those who are missing.
    """
    from ..exact import ParameterError, exact
    from ..mechanisms.protocols.protocol import missing_users
    from ..mechanisms.samplers import SeededBits, SystemBits
    from . import render
    from .spec import parse

    parsed = parse(spec)
    protocol = parsed.protocol
    if protocol is None:
        raise ParameterError("SPEC must be the preset of a summed batch: theorem1 to theorem6, say")
    if parsed.derived.get("users") != protocol.users:
        raise ParameterError("SPEC must leave dropout and collusion to this command: use --vanish")
    if protocol.users > _LARGEST_BATCH:
        raise ParameterError(f"batch must be at most {_LARGEST_BATCH}, got {protocol.users}")
    bits: RandomBits = SystemBits() if seed is None else SeededBits(seed)
    leaving = _how_many(vanish, protocol.users)
    level = exact(delta, "delta", above=0, below=1)
    earned = _rewards(rewards, mean, protocol.users, bits)
    with render.working("playing the round"):
        batch = _play(protocol, earned, bits, leaving, neighbours, plain)
    missing = protocol.users - batch.summed
    missing_users(protocol.users, missing)  # refuses where nobody is left
    with render.working("measuring what remains"):
        accuracy = _off(protocol, earned, missing)
        quantity, remains = _remaining(protocol, missing, level)
    proof = None
    if certificate is not None:
        with render.working("certifying what remains"):
            proof = _certified(protocol, _claim(quantity, remains, level), missing, certificate)
    facts = _facts(parsed, protocol, batch, accuracy, seed)
    privacy: dict[str, Any] = {"quantity": quantity, "value": remains.to_json()}
    if quantity == "epsilon":
        privacy["delta"] = delta
    if proof is not None:
        held = proof.content["claim"]
        privacy |= {"claim": held, "verdict": proof.verdict.name, "certificate": str(certificate)}
    if as_json:
        render.as_json({**facts, "privacy": privacy})
    else:
        _show(facts, privacy, remains, accuracy)


def _how_many(text: str, users: int) -> int:
    from ..exact import exact, whole

    share = exact(text, "vanish", at_least=0)
    if share < 1:
        return int(share * users)
    return whole(text, "vanish", at_least=0, at_most=users)


def _rewards(file: Path | None, mean: str, users: int, bits: RandomBits) -> Sequence[Fraction]:
    from fractions import Fraction

    from ..exact import ParameterError, exact
    from ..mechanisms.pair_file import read_text
    from ..mechanisms.samplers.bernoulli import bernoulli

    if file is None:
        chance = exact(mean, "mean", at_least=0, at_most=1)
        return [Fraction(bernoulli(chance, bits)) for _ in range(users)]
    lines = read_text(file).split()
    if len(lines) != users:
        raise ParameterError(f"{file}: must hold {users} rewards, one a line, holds {len(lines)}")
    return [exact(line, f"{file}: reward", at_least=0, at_most=1) for line in lines]


def _play(
    protocol: SumProtocol,
    rewards: Sequence[Fraction],
    bits: RandomBits,
    leaving: int,
    neighbours: str | None,
    plain: bool,
) -> Batch:
    from ..exact import ParameterError
    from ..mechanisms.aggregation import AggregationError
    from ..mechanisms.aggregation.batch import masked_batch, plain_batch, some_of
    from ..mechanisms.samplers.uniform import below

    gone = some_of(protocol.users, leaving, bits)
    if plain:
        return plain_batch(protocol, rewards, bits, frozenset(gone))
    try:
        from ..mechanisms.aggregation.masked import Stage
    except ImportError as error:
        raise ParameterError(f"{error} (or --plain)") from error
    stages = [stage for stage in Stage if stage is not Stage.DONE]
    when = {user: stages[below(len(stages), bits)] for user in gone}
    try:
        return masked_batch(protocol, rewards, bits, when, neighbours)
    except AggregationError as error:
        raise ParameterError(
            f"--vanish {leaving} left too few, so there is no sum: {error}"
        ) from error


def _off(protocol: SumProtocol, rewards: Sequence[Fraction], missing: int) -> Enclosure | None:
    """P(the estimate is off by more than tau/g), the worst over data; None if it stays open."""
    from ..mechanisms import UndecidedError
    from ..mechanisms.protocols.error import off_probability
    from ..mechanisms.protocols.total import worst_error

    try:
        if all((each * protocol.precision).denominator == 1 for each in rewards):
            return off_probability(protocol, missing=missing)  # on the grid nothing is rounded
        return worst_error(protocol, protocol.accuracy, missing)
    except (UndecidedError, ArithmeticError, NotImplementedError):
        return None


def _remaining(protocol: SumProtocol, missing: int, delta: Fraction) -> tuple[str, Enclosure]:
    """Pure epsilon where it is finite, else epsilon at delta, of what is summed before mod m."""
    from ..accounting import compose
    from ..mechanisms import AdditiveNoise

    released = protocol.released(missing)
    budget = compose(AdditiveNoise(released.law, released.sensitivity))
    pure = budget.pure()
    return ("pure", pure) if pure.is_finite() else ("epsilon", budget.epsilon(delta))


def _claim(quantity: str, value: Enclosure, delta: Fraction) -> Claim:
    from decimal import ROUND_CEILING, Context, Decimal
    from fractions import Fraction

    from ..verify.claim import ApproxDP, PureDP

    upper = Fraction(value.upper)
    up = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    bound = up.divide(Decimal(upper.numerator), Decimal(upper.denominator))
    return PureDP(bound) if quantity == "pure" else ApproxDP(bound, delta)


def _certified(protocol: SumProtocol, claim: Claim, missing: int, file: Path) -> Certificate:
    from ..exact import ParameterError
    from ..verify.certificate import NotCertifiedError
    from ..verify.protocol import certify

    try:
        certificate = certify(protocol, claim, dropout=missing)
        certificate.write(file)
    except NotCertifiedError as error:
        raise ParameterError(f"--certificate: {error}") from error
    except OSError as error:
        raise ParameterError(f"--certificate: {file}: {error.strerror or error}") from error
    return certificate


def _facts(
    parsed: Spec, protocol: SumProtocol, batch: Batch, accuracy: Enclosure | None, seed: int | None
) -> dict[str, Any]:
    from fractions import Fraction

    from ..exact import decimal_text

    bound = Fraction(protocol.accuracy, protocol.precision)
    return {
        "mechanism": parsed.to_json(),
        "bits_from": "operating system" if seed is None else f"seed {seed}",
        "simulation": seed is not None,
        "users": protocol.users,
        "summed": batch.summed,
        "missing": protocol.users - batch.summed,
        "present": dict(batch.present),
        "found": decimal_text(batch.estimate),
        "truth": decimal_text(batch.truth),
        "error": decimal_text(batch.estimate - batch.truth),
        "bound": decimal_text(bound),
        "within": abs(batch.estimate - batch.truth) <= bound,
        "beyond": None if accuracy is None else accuracy.to_json(),
        "bits_per_user": protocol.bits_per_user,
        "bits_sent": batch.bits,
        "seconds": {stage: round(each, 4) for stage, each in batch.seconds.items()},
        "note": _RELAXED if "aggregation" in parsed.derived else None,
    }


def _show(
    facts: dict[str, Any], privacy: dict[str, Any], remains: Enclosure, beyond: Enclosure | None
) -> None:
    from . import render

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
    shown["ε that remains"] = f"{remains}{at}{'' if at else ' (pure)'}"
    if "certificate" in privacy:
        numbers = {**privacy["claim"]}
        claim = f"{numbers.pop('kind')}:{','.join(numbers.values())}"
        shown["certificate"] = f"{claim} {privacy['verdict']}: {privacy['certificate']}"
    if facts["note"]:
        shown["note"] = facts["note"]
    out.print(render.facts(shown))
    table = render.grid("stage", "users", "seconds", right=("users", "seconds"))
    for stage, seconds in facts["seconds"].items():
        count = facts["present"].get(stage.removeprefix("S "), "")
        table.add_row(stage, str(count), f"{seconds:.3f}")
    out.print(table)


def _short(text: str) -> str:
    from fractions import Fraction

    return text if "/" not in text else f"{float(Fraction(text)):.6g}"
