"""What a sum of shuffled bits spends, how far off it is, and what keeps it private: shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..accounting import compose
from ..exact import Enclosure, ParameterError, decimal_text, exact
from ..exact.precision import refine
from ..mechanisms.papers import ShufflePreset
from ..mechanisms.protocols.shuffle import ShuffleSum, shuffled_sum
from ..mechanisms.spec import Spec
from ..verify import LeastNoiseBits, least_noise_bits, least_rare_bits
from . import output, render
from .protocol_sum import FAILURE, LEVELS

__all__ = ["Sent", "rarest", "shuffled"]


@dataclass(frozen=True)
class Sent:
    """A binary sum as it is sent, and what is left of it when `missing` users vanish."""

    protocol: ShuffleSum
    missing: int
    delta: Enclosure  # at the epsilon of the spec
    epsilon: Enclosure  # at the delta of the spec

    @staticmethod
    def of(protocol: ShuffleSum, given: ShufflePreset, missing: int = 0) -> Sent:
        """Measure it."""
        spent = compose(protocol.released(dropout=missing))
        delta, epsilon = spent.delta(given.epsilon), spent.epsilon(given.delta)
        return Sent(protocol, missing, delta, epsilon)

    @property
    def success(self) -> Enclosure:
        """The probability that a noise bit is 1."""
        chance = self.protocol.success
        return Enclosure.exactly(chance) if isinstance(chance, Fraction) else refine(chance.ball)

    def to_json(self) -> dict[str, Any]:
        """As `--json` shows it; the variance is that with everyone present."""
        sent = self.protocol
        return {
            "noise_bits_per_user": sent.noise_bits,
            "noise_bits": sent.users * sent.noise_bits,
            "success": self.success.to_json(),
            "messages_per_user": sent.messages_per_user,
            "bits_per_user": sent.bits_per_user,
            "variance": sent.error_variance().to_json(),
            "delta": self.delta.to_json(),
            "epsilon": self.epsilon.to_json(),
        }

    def cells(self) -> tuple[str, ...]:
        """As a row of a table shows it."""
        sent = self.protocol
        return (
            _kind(sent.noise_bits, self.success),
            str(sent.users * sent.noise_bits),
            str(sent.bits_per_user),
            render.shown(sent.error_variance()),
            render.shown(self.epsilon),
            render.shown(self.delta),
        )


def rarest(given: ShufflePreset, least: LeastNoiseBits, missing: int = 0) -> Sent | None:
    """One bit of each user, as rare as is enough for those left; None where they are too few."""
    left = given.batch - missing
    if left < least.total:
        return None
    found = least_rare_bits(given.epsilon, given.delta, left)
    return Sent.of(found.protocol(given.batch), given, missing)


_COLUMNS = ("noise bits", "in all", "sent", "variance", "ε", "δ")


def shuffled(parsed: Spec, failure: str | None, dropout: Sequence[str], as_json: bool) -> None:
    """Measure what a binary sum in the shuffle model spends; find the least noise bits."""
    given = parsed.shuffled
    if given is None:
        raise ParameterError("SPEC must name a sum of shuffled bits: shuffle-sum:...")
    if parsed.derived.get("users") != given.batch:
        raise ParameterError("SPEC must not take bits out: users who vanish go to --dropout")
    level = exact(FAILURE if failure is None else failure, "--failure", above=0, at_most=1)
    absent = [
        (text, shuffled_sum(given.epsilon, given.delta, given.batch, text)) for text in dropout
    ]
    with output.working("measuring the protocol"):
        stated = Sent.of(given.protocol, given)
        quantiles = [
            (chance, given.protocol.error_quantile(chance))
            for chance in sorted({*map(Fraction, LEVELS), level}, reverse=True)
        ]
        least = least_noise_bits(given.epsilon, given.delta, given.batch)
        fewer, rare = Sent.of(least.protocol(), given), rarest(given, least)
        left = [_Left.of(given, larger, least, int(text)) for text, larger in absent]
    if not as_json:
        _show(parsed, given, [stated, fewer, rare], least, quantiles, left)
        return
    output.as_json(
        {
            "mechanism": parsed.to_json(),
            "users": given.batch,
            "epsilon": decimal_text(given.epsilon),
            "delta": decimal_text(given.delta),
            "tau": refine(given.tau.ball).to_json(),
            "paper": stated.to_json(),
            "failure": decimal_text(level),
            "quantiles": [
                {"failure": decimal_text(chance), "noise": Enclosure.exactly(t).to_json()}
                for chance, t in quantiles
            ],
            "least": {
                "fair_bits": least.total,
                "verdict": least.verified.verdict.name,
                "neighbour": {"fair_bits": least.total - 1, "verdict": least.refuted.verdict.name},
                **fewer.to_json(),
            },
            "rare": None if rare is None else rare.to_json(),
        }
        | ({"dropout": [each.to_json() for each in left]} if left else {})
    )


@dataclass(frozen=True)
class _Left:
    """Some users vanish: what is left, and ways to keep the claim."""

    missing: int
    as_sent: Sent
    larger: Sent  # what the paper would have those send who are left
    least: Sent
    rare: Sent | None

    @staticmethod
    def of(given: ShufflePreset, larger: ShuffleSum, least: LeastNoiseBits, missing: int) -> _Left:
        return _Left(
            missing,
            Sent.of(given.protocol, given, missing),
            Sent.of(larger, given, missing),
            Sent.of(least.protocol(missing), given, missing),
            rarest(given, least, missing),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "missing": self.missing,
            "remaining": self.as_sent.to_json(),
            "over_provisioned": self.larger.to_json(),
            "least": self.least.to_json(),
            "rare": None if self.rare is None else self.rare.to_json(),
        }

    def ways(self) -> dict[str, Sent | None]:
        """As rows of a table."""
        return {
            "Algorithm 3": self.as_sent,
            "for those left": self.larger,
            "least fair": self.least,
            "least rare": self.rare,
        }


def _show(
    parsed: Spec,
    given: ShufflePreset,
    ways: Sequence[Sent | None],
    least: LeastNoiseBits,
    quantiles: Sequence[tuple[Fraction, int]],
    left: Sequence[_Left],
) -> None:
    out = render.console()
    claim = f"({decimal_text(given.epsilon)}, {decimal_text(given.delta)})"
    shown = {"mechanism": parsed.text, "users": str(given.batch)}
    shown["τ"] = f"96 log(2/δ)/ε² = {refine(given.tau.ball)}"
    shown["a user sends"] = f"{given.protocol.messages_per_user} messages of one bit"
    shown["least noise"] = (
        f"{least.total} fair bits in all are {claim}-private, {least.total - 1} are not"
    )
    shown["ε, δ"] = (
        f"ε at δ = {decimal_text(given.delta)}, δ at ε = {decimal_text(given.epsilon)}: exact"
    )
    out.print(render.facts(shown))
    table = render.grid("each sends", *_COLUMNS, right=_COLUMNS[1:])
    for name, way in zip(("Algorithm 3", "least fair", "least rare"), ways, strict=True):
        if way is not None:
            table.add_row(name, *way.cells())
    out.print(table)
    table = render.grid("error exceeded with probability", "noise", right=("noise",))
    for chance, t in quantiles:
        table.add_row(f"at most {decimal_text(chance)}", str(t))
    out.print(table)
    for each in left:
        table = render.grid(f"{each.missing} missing", *_COLUMNS, right=_COLUMNS[1:])
        for name, way in each.ways().items():
            if way is not None:
                table.add_row(name, *way.cells())
        out.print(table)


def _kind(bits: int, success: Enclosure) -> str:
    """So many fair bits, or bits that are 1 with this probability."""
    return (
        f"{bits} fair"
        if success == Enclosure.exactly(Fraction(1, 2))
        else (f"{bits} of {render.shown(success, 4)}")
    )
