"""`exactdp round`: a whole batch of a protocol, R, S and A, with users who vanish on the way."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from attrs import evolve

from ..accounting import compose
from ..common.atomic_write import check_target
from ..exact import Enclosure, ParameterError, exact, time_limit, whole
from ..mechanisms import AdditiveNoise, UndecidedError
from ..mechanisms.additive.protocol import missing_users
from ..mechanisms.matrices.release import DiscreteMatrixNoise, MatrixNoise
from ..mechanisms.pairs.pair_file import read_text
from ..mechanisms.samplers import RandomBits, SeededBits, SystemBits
from ..mechanisms.samplers.coins import bernoulli
from ..mechanisms.specs.spec import parse
from ..protocols import SumProtocol, off_probability, worst_error, wrap_probability
from ..protocols.aggregation.aggregation import Stage
from ..protocols.aggregation.batch import play_batch, some_of, some_stages
from ..verify import ApproxDP, Claim, PureDP, certify, parse_claim
from ..verify.certificate import Certificate
from . import output
from .in_time import Figures
from .options import DEFAULT_TIME, Note, Time, option, read_note, read_time
from .result import Result, printed
from .round_asked import Asked
from .round_shown import Played

_DIGITS = 6  # of the claim that is certified, rounded up
_LARGEST_BATCH = 100_000


@printed
def round(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC", help="theorem1:epsilon=...,batch=..., say, federated:... or tree:..."
        ),
    ],
    vanish: Annotated[
        str,
        typer.Option(
            *("--dropout", "--vanish"),
            metavar="D",
            help="users who drop out: a fraction below 1, or how many",
        ),
    ] = "0",
    rewards: Annotated[
        Path | None, option("FILE", "a reward in [0, 1] for each user, one a line")
    ] = None,
    mean: Annotated[str, option("P", "without FILE: rewards are coins of this mean")] = "1/2",
    floor: Annotated[
        str | None, option("F", "fewest users in a sum that users unmask; all but V")
    ] = None,
    neighbours: Annotated[
        str | None, option("K", "with whom each user shares masks; from --failure")
    ] = None,
    failure: Annotated[
        str, option("P", "a server that lies learns more than the sum: at most")
    ] = "1e-9",
    colluding: Annotated[str, option("C", "users who tell the server all that they know")] = "0",
    plain: Annotated[
        bool, typer.Option("--plain", help="add up without masks: who drops out sends nothing")
    ] = False,
    delta: Annotated[str, option("D", "where there is no pure ε: ε at this δ")] = "1e-6",
    certificate: Annotated[
        Path | None, option("FILE", "write a certificate of the privacy that remains")
    ] = None,
    claim: Annotated[
        str | None, option("CLAIM", "what is certified; by default the least ε that is known")
    ] = None,
    note: Note = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="S", min=0, help="the same again: a simulation, never a release"),
    ] = None,
    clients: Annotated[str | None, option("N", "of federated:..., where it has none")] = None,
    dimension: Annotated[str | None, option("D", "of federated:..., where it has none")] = None,
    seconds: Time = DEFAULT_TIME,
) -> Result:
    """Play one batch: randomizers, secure aggregation by masks, analyzer.

    Prints the sum that is found beside the true one, who was there at each stage, and the privacy
    of the worst round that users accept: with as many dropped out as the floor allows. --time
    is for what is measured, and as much again for its certificate; exit 3 where one of them ended
    first.
    """
    stated = None if claim is None else parse_claim(claim)
    if stated is not None and certificate is None:
        raise ParameterError("--claim is what is certified: --certificate is missing")
    noted = read_note(note, certificate)
    if certificate is not None:
        check_target(certificate, "--certificate")
    allowed = read_time(seconds)
    bits: RandomBits = SystemBits() if seed is None else SeededBits(seed)
    source = "operating system" if seed is None else f"seed {seed}"
    asked = Asked(vanish, floor, plain, delta, bits, source, allowed)
    if spec.partition(":")[0] == "federated":
        from .round_federated import certified, filled_in, play_federated

        given = (rewards, neighbours, mean, failure, colluding)
        if given != (None, None, "1/2", "1e-9", "0"):
            raise ParameterError(
                "a federated round takes --clients, --dimension, --dropout, --floor, --plain, "
                "--delta, --certificate, --claim, --note, --seed, --time and --json, no others"
            )
        spec = filled_in(spec, clients=clients, dimension=dimension)
        federated = play_federated(spec, asked)
        figures = Figures()
        figures.late = not all(cost.is_finite() for cost in federated.costs.values())
        if certificate is not None:
            file = certificate
            with time_limit(allowed):
                found = figures.find(lambda: certified(federated, stated, file, noted), None)
            federated = evolve(federated, proof=found, note=figures.note)
        return Result(federated, federated.parts(), figures.code)
    parsed = parse(spec)
    if isinstance(parsed.mechanism, MatrixNoise | DiscreteMatrixNoise):
        from .round_stream import play

        unset = (rewards, neighbours, certificate, claim, clients, dimension)
        usual = (mean, failure, colluding) == ("1/2", "1e-9", "0")
        if not usual or any(each is not None for each in unset):
            raise ParameterError(
                "a stream takes --dropout, --floor, --plain, --delta, --seed, --time and --json, "
                "no others; exactdp audit SPEC,dropout=D --certificate FILE certifies what remains"
            )
        return play(parsed, asked)
    if clients is not None or dimension is not None:
        raise ParameterError("--clients and --dimension are for federated:... only")
    protocol = parsed.protocol
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
    leaving, most = asked.missing(protocol.users)
    risk = exact(failure, "failure", above=0, at_most=1)
    known = whole(colluding, "colluding", at_least=0, at_most=protocol.users - 1)
    level = asked.level
    earned = _rewards(rewards, mean, protocol.users, bits)
    missing_users(protocol.users, most, known)  # refuses where nobody is left
    with output.working("playing the round"), asked.summing():
        gone = some_of(protocol.users, leaving, bits)
        when = dict.fromkeys(gone, Stage.KEYS) if plain else some_stages(gone, bits)
        # The masks are laid for a tenth of the users at least, whoever says to collude.
        corrupt = known if known > protocol.users // 10 else None
        batch = play_batch(protocol, earned, bits, when, neighbours, most, corrupt, risk, plain)
    missing = protocol.users - batch.summed
    if missing > most:
        raise ParameterError(
            f"--dropout {vanish} left {batch.summed} users in the sum, below the floor of "
            f"{protocol.users - most} needed"
        )
    figures, unknown = Figures(), ("epsilon", Enclosure.unknown())
    with output.working("measuring what remains"), time_limit(allowed):
        quantity, remains = figures.find(lambda: _remaining(protocol, most, known, level), unknown)
        beyond = figures.find(lambda: _off(protocol, earned, missing), None)
        overflow = figures.find(
            lambda: wrap_probability(protocol, missing), Enclosure.probability()
        )
    proof = None
    if certificate is not None and (stated is not None or remains.is_finite()):
        masking = None if batch.terms is None else batch.terms.masking
        held = stated or _claim(quantity, remains, level)
        file = certificate

        def proved() -> Certificate:
            return output.written(
                lambda: certify(protocol, held, most, known, masking=masking), file, noted
            )

        with output.working("certifying what remains"), time_limit(allowed):
            proof = figures.find(proved, None)
    at = None if quantity == "pure" else delta
    played = Played(
        *(parsed, protocol, batch, len(gone), beyond, overflow, known, most, source, remains, at),
        *(proof, certificate),
    )
    return Result(played, played.parts(), figures.code)


def _rewards(file: Path | None, mean: str, users: int, bits: RandomBits) -> Sequence[Fraction]:
    if file is None:
        chance = exact(mean, "mean", at_least=0, at_most=1)
        return [Fraction(bernoulli(chance, bits)) for _ in range(users)]
    lines = read_text(file).split()
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
    upper = Fraction(value.upper)
    up = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    bound = up.divide(Decimal(upper.numerator), Decimal(upper.denominator))
    return PureDP(bound) if quantity == "pure" else ApproxDP(bound, delta)
