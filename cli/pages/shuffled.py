"""Sums of shuffled bits: what they really spend, and how few noise bits are enough."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...exact.precision import refine
from ...mechanisms import papers
from ...verify import least_noise_bits
from ..protocol_shuffle import Sent
from .markdown import shown, table

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
        chance = given.protocol.success
        coin = "fair" if chance == Fraction(1, 2) else f"of P(1) = {shown(stated.success)}"
        variance = given.protocol.error_variance()
        rows.append(
            [
                str(users),
                f"{given.protocol.noise_bits} {coin}",
                shown(stated.epsilon),
                shown(stated.delta),
                shown(variance),
                str(least.total),
                str(least.each),
                shown(variance.times(Fraction(4, least.total))),
            ]
        )
    columns = (
        "users",
        "noise bits of a user",
        f"ε at δ = {delta}",
        f"δ at ε = {epsilon}",
        "variance",
        "least fair bits in all",
        "of a user",
        "variance × of the least",
    )
    tau = refine(papers.shuffle_sum(epsilon, delta, 1).tau.ball)
    return f"""\
Algorithm 3 of the shuffle paper at ({epsilon}, {delta}), a sum of bits: τ = 96 log(2/δ)/ε² =
{shown(tau)} noise bits together, fair up to τ users, rare ones beyond. It claims ε = {epsilon};
what it spends is the exact figure, and the least number of fair bits is certified from both sides:
so many are ({epsilon}, {delta})-private, one bit fewer is not.

{table(columns, rows)}

**What to do.** Add the least number of fair bits, divided among those users who will be there:
`exactdp protocol shuffle-sum:... --dropout D` gives what each has to send. The last column is how
much variance that saves."""
