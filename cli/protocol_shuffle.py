"""What a sum of shuffled bits spends, how far off it is, and what keeps it private: shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from attrs import frozen
from flint import arb

from ..accounting import compose
from ..common.table import Table
from ..exact import Enclosure, ParameterError, exact, whole
from ..exact.budget import unhurried
from ..exact.precision import refine
from ..mechanisms.additive.papers import ShufflePreset
from ..mechanisms.additive.shuffle import ShuffleSum, shuffled_sum
from ..mechanisms.specs.spec import Spec
from ..verify import LeastNoiseBits, least_noise_bits, least_rare_bits
from . import output
from .in_time import Figures
from .parts import short, shown
from .protocol_sum import FAILURE, LEVELS
from .result import Part, Result

_WAYS = {
    "remaining": "Algorithm 3",
    "over_provisioned": "for those left",  # what the paper would have those send
    "least": "least fair",
    "rare": "least rare",
}


def _refined(compute: Callable[[], arb]) -> Enclosure:
    """What is quick is told also where the time is over."""
    with unhurried():
        return refine(compute)


@frozen
class Sent:
    """A binary sum as it is sent, and what is left of it when `missing` users vanish."""

    protocol: ShuffleSum
    delta: Enclosure  # at the epsilon of the spec
    epsilon: Enclosure  # at the delta of the spec

    @staticmethod
    def of(protocol: ShuffleSum, given: ShufflePreset, missing: int = 0) -> Sent:
        """Measure it."""
        spent = compose(protocol.released(dropout=missing))
        return Sent(protocol, spent.delta(given.epsilon), spent.epsilon(given.delta))

    @property
    def success(self) -> Enclosure:
        """The probability that a noise bit is 1."""
        chance = self.protocol.success
        return Enclosure.exactly(chance) if isinstance(chance, Fraction) else _refined(chance.ball)

    def to_json(self) -> dict[str, Any]:
        """For JSON; the variance is that with everyone present."""
        sent = self.protocol
        return {
            "noise_bits_per_user": sent.noise_bits,
            "noise_bits": sent.users * sent.noise_bits,
            "success": self.success,
            "messages_per_user": sent.messages_per_user,
            "bits_per_user": sent.bits_per_user,
            "variance": sent.error_variance(),
            "delta": self.delta,
            "epsilon": self.epsilon,
        }


def rarest(given: ShufflePreset, least: LeastNoiseBits, missing: int = 0) -> Sent | None:
    """One bit of each user, as rare as is enough for those left; None where they are too few."""
    left = given.batch - missing
    if left < least.total:
        return None
    found = least_rare_bits(given.epsilon, given.delta, left)
    return Sent.of(found.protocol(given.batch), given, missing)


def shuffled(parsed: Spec, failure: str | None, dropout: Sequence[str]) -> Result:
    """Measure what a binary sum in the shuffle model spends; find the least noise bits."""
    given = parsed.shuffled
    if given is None:
        raise ParameterError("SPEC must name a sum of shuffled bits: shuffle-sum:...")
    if parsed.derived.get("users") != given.batch:
        raise ParameterError("SPEC must not take bits out: users who drop out go to --dropout")
    level = exact(FAILURE if failure is None else failure, "--failure", above=0, at_most=1)
    larger = {
        whole(text, "dropout"): shuffled_sum(given.epsilon, given.delta, given.batch, text)
        for text in dropout
    }
    figures = Figures()

    def sent(protocol: ShuffleSum, missing: int = 0) -> Sent | None:
        return figures.find(lambda: Sent.of(protocol, given, missing), None)

    def fewer(missing: int = 0) -> dict[str, Sent | None]:
        if least is None:
            return {"least": None, "rare": None}
        rare = figures.find(partial(rarest, given, least, missing), None)
        return {"least": sent(least.protocol(missing), missing), "rare": rare}

    with output.working("measuring the protocol"):
        quantiles = {
            chance: figures.find(partial(given.protocol.error_quantile, chance), None)
            for chance in sorted({*map(Fraction, LEVELS), level}, reverse=True)
        }
        stated = sent(given.protocol)
        least = figures.find(
            lambda: least_noise_bits(given.epsilon, given.delta, given.batch), None
        )
        ways = {"remaining": stated, **fewer()}
        left = [
            {
                "missing": missing,
                "remaining": sent(given.protocol, missing),
                "over_provisioned": sent(protocol, missing),
                **fewer(missing),
            }
            for missing, protocol in larger.items()
        ]
    data = {
        "mechanism": parsed,
        "users": given.batch,
        "epsilon": given.epsilon,
        "delta": given.delta,
        "tau": _refined(given.tau.ball),
        "paper": ways["remaining"],
        "failure": level,
        "quantiles": [
            {"failure": chance, "noise": None if t is None else Enclosure.exactly(t)}
            for chance, t in quantiles.items()
        ],
        "least": None if least is None else _least(least, ways["least"]),
        "rare": ways["rare"],
    }
    data |= ({"dropout": left} if left else {}) | figures.note
    told = _told(parsed, given, ways, least, quantiles, left, figures.note)
    return Result(data, told, figures.code)


def _least(least: LeastNoiseBits, sent: Sent | None) -> dict[str, Any]:
    return {
        "fair_bits": least.total,
        "verdict": least.verified.verdict.name,
        "neighbour": {"fair_bits": least.total - 1, "verdict": least.refuted.verdict.name},
        **({} if sent is None else sent.to_json()),
    }


def _told(
    parsed: Spec,
    given: ShufflePreset,
    ways: dict[str, Sent | None],
    least: LeastNoiseBits | None,
    quantiles: dict[Fraction, int | None],
    left: Sequence[dict[str, Any]],
    note: Mapping[str, str],
) -> Iterator[Part]:
    epsilon, delta = short(given.epsilon), short(given.delta)
    facts = {
        "mechanism": parsed.text,
        "users": str(given.batch),
        "τ": f"96 log(2/δ)/ε² = {_refined(given.tau.ball)}",
        "a user sends": f"{given.protocol.messages_per_user} messages of one bit",
        "least noise": "not found"
        if least is None
        else f"{least.total} fair bits in all are ({epsilon}, {delta})-private, "
        f"{least.total - 1} are not",
        "ε, δ": f"ε at δ = {delta}, δ at ε = {epsilon}: exact",
    }
    rows = [
        (f"at most {short(chance)}", "not found" if t is None else str(t))
        for chance, t in quantiles.items()
    ]
    columns = ("error exceeded with probability", "noise")
    yield facts
    yield _sent("each sends", ways)
    yield Table(columns, rows, right=("noise",))
    yield from (_sent(f"{each['missing']} dropouts", each) for each in left)
    if note:
        yield note


def _sent(title: str, ways: dict[str, Any]) -> Table:
    columns = ("noise bits", "in all", "sent", "variance", "ε", "δ")
    rows = []
    for key, name in _WAYS.items():
        if (way := ways.get(key)) is None:
            continue
        sent, fair = way.protocol, way.protocol.success == Fraction(1, 2)
        rows.append(
            (
                name,
                f"{sent.noise_bits} {'fair' if fair else f'of {shown(way.success, 4)}'}",
                str(sent.users * sent.noise_bits),
                str(sent.bits_per_user),
                *map(shown, (sent.error_variance(), way.epsilon, way.delta)),
            )
        )
    return Table((title, *columns), rows, right=columns[1:])
