"""Sums of shuffled bits: what they really spend, and how few noise bits are enough."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...exact import Enclosure
from ...exact.precision import refine
from ...mechanisms import papers
from ...verify import least_noise_bits
from ..protocol_shuffle import Sent, rarest
from ..render import shown
from .markdown import table

__all__ = ["shuffled"]


def shuffled(
    epsilon: str = "0.5", delta: str = "1e-6", batches: Sequence[int] = (1, 1000, 10**6)
) -> str:
    """Algorithm 3 of the shuffle paper: exact epsilon and delta, and the least bits."""
    rows = []
    for users in batches:
        given = papers.shuffle_sum(epsilon, delta, users)
        least = least_noise_bits(epsilon, delta, users)
        stated = Sent.of(given.protocol, given)
        enough = rarest(given, least) or Sent.of(least.protocol(), given)
        variance, needed = (each.protocol.error_variance() for each in (stated, enough))
        ratio = Enclosure(
            Fraction(variance.lower) / Fraction(needed.upper),
            Fraction(variance.upper) / Fraction(needed.lower),
        )
        rows.append(
            [
                str(users),
                _bits(stated),
                shown(stated.epsilon),
                shown(stated.delta),
                shown(variance),
                str(least.total),
                _bits(enough),
                shown(needed),
                shown(ratio),
            ]
        )
    columns = (
        "users",
        "noise bits of a user",
        f"ε at δ = {delta}",
        f"δ at ε = {epsilon}",
        "variance",
        "least fair bits in all",
        "enough of a user",
        "its variance",
        "the paper's ×",
    )
    tau = refine(papers.shuffle_sum(epsilon, delta, 1).tau.ball)
    return f"""\
Algorithm 3 of the shuffle paper at ({epsilon}, {delta}), a sum of bits: τ = 96 log(2/δ)/ε² =
{shown(tau)} noise bits together, fair up to τ users, rare ones beyond. It claims ε = {epsilon};
what it spends is the exact figure, and the least number of fair bits is certified from both sides:
so many are ({epsilon}, {delta})-private, one bit fewer is not.

{table(columns, rows)}

**What to do.** Add what is enough: the least fair bits divided among the users, or, with more users
than that, one bit of each that is as rare as it may be (1/(1000 n) less is refuted). The last
column is how many times as much variance the paper's noise has. Where users may vanish,
`exactdp protocol shuffle-sum:... --dropout D` gives what each has to send."""


def _bits(sent: Sent) -> str:
    bits, chance = sent.protocol.noise_bits, sent.protocol.success
    return f"{bits} fair" if chance == Fraction(1, 2) else f"{bits} of P(1) = {shown(sent.success)}"
