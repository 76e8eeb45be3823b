"""A whole batch of a protocol (R, S, A), played: rewards in, the estimate of their sum out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from attrs import field, frozen

from ...exact.number import ExactInput, ParameterError, exact
from ...mechanisms.additive.protocol import SumProtocol
from ...mechanisms.samplers.bits import RandomBits, is_simulated
from ...mechanisms.samplers.coins import below
from ..parties import analyze, randomize
from .aggregation import PlainSum, Stage

if TYPE_CHECKING:
    from .masked import Terms


@frozen
class Batch:
    """What a batch came to.

    estimate  what A made of the aggregate
    truth     the sum of the rewards of those whose messages are in it
    summed    how many these are
    present   how many took part in each stage
    seconds   for R, each stage of S, and A
    bits      that one user sent at most
    simulated whether its bits were a seed's: then it is no release
    terms     of the masks; None without masks
    """

    estimate: Fraction
    truth: Fraction
    summed: int
    present: Mapping[str, int]
    seconds: Mapping[str, float] = field(eq=False)
    bits: int
    simulated: bool
    terms: Terms | None = None


def play_batch(
    protocol: SumProtocol,
    rewards: Sequence[ExactInput],
    bits: RandomBits,
    vanish: Mapping[int, Stage],
    neighbours: ExactInput | None = None,
    dropout: ExactInput | None = None,
    corrupt: ExactInput | None = None,
    failure: ExactInput | None = None,
    plain: bool = False,
) -> Batch:
    """Play it over real masks. vanish: users, and the first stage at which they send nothing.

    dropout: the most that may, by default as many as do. This, neighbours, corrupt and failure are
    as in `masked.MaskedSum`, whose errors this raises. plain: over the plain modular sum instead,
    to which those who vanish send nothing.
    """
    modulus = _modulus(protocol, rewards)
    start = time.perf_counter()
    sent = {
        user: (randomize(protocol, each, bits),)
        for user, each in enumerate(rewards)
        if not (plain and user in vanish)
    }
    seconds = {"R": time.perf_counter() - start}
    if plain:
        played = PlainSum(modulus).play(sent, {})
        seconds["S"] = played.seconds[Stage.INPUT]
    else:
        from .masked import FAILURE, MaskedSum

        masked = MaskedSum(
            modulus,
            neighbours,
            bits=bits,
            dropout=len(vanish) if dropout is None else dropout,
            corrupt=corrupt,
            failure=FAILURE if failure is None else failure,
        )
        played = masked.play(sent, vanish)
        seconds |= {f"S {stage.name}": each for stage, each in played.seconds.items()}
    start = time.perf_counter()
    estimate = analyze(protocol, played.sums[0], bits)
    return Batch(
        estimate,
        sum((exact(rewards[user], "reward") for user in played.summed), Fraction(0)),
        len(played.summed),
        played.present_by_name,
        seconds | {"A": time.perf_counter() - start},
        played.bits,
        is_simulated(bits),
        played.terms,
    )


def some_of(population: int, count: int, bits: RandomBits) -> list[int]:
    """A uniformly random choice of `count` of 0, ..., population - 1 (Fisher and Yates)."""
    if not 0 <= count <= population:
        raise ParameterError(f"count must be between 0 and {population}, got {count}")
    everyone = list(range(population))
    for place in range(count):
        other = place + below(population - place, bits)
        everyone[place], everyone[other] = everyone[other], everyone[place]
    return everyone[:count]


def some_stages(users: Iterable[int], bits: RandomBits) -> dict[int, Stage]:
    """For each of these users a stage of the masked sum, at random: where it vanishes."""
    stages = [stage for stage in Stage if stage is not Stage.DONE]
    return {user: stages[below(len(stages), bits)] for user in users}


def _modulus(protocol: SumProtocol, rewards: Sequence[ExactInput]) -> int:
    if protocol.modulus is None:
        raise ParameterError("the protocol has no modulus: its sum cannot be aggregated securely")
    if not protocol.decodes:
        least = protocol.users * protocol.precision + protocol.accuracy + 1
        raise ParameterError(f"modulus must be at least {least} for sums to be decoded")
    if len(rewards) != protocol.users:
        raise ParameterError(f"there must be {protocol.users} rewards, got {len(rewards)}")
    return protocol.modulus
