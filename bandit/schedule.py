"""Which batches there may be, and what radii may depend on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, count

from ..exact.number import ParameterError, Real
from ..mechanisms.laws.binomial import Binomial
from .algorithms.algorithm import Algorithm
from .radius.plan import Noise, Plan
from .release import Release
from .setting import Setting

__all__ = ["radius_plan", "schedule"]

_MOST_BATCHES = 20_000


def schedule(algorithm: Algorithm, setting: Setting) -> dict[tuple[int, int], int]:
    """Users an arm, by batch and active arms, as far as the horizon can reach.

    Who is active in a batch was so in every batch before, which for more active arms were no
    smaller: that many users at least are gone by then.
    """
    sizes: dict[tuple[int, int], int] = {}
    for active in range(2, setting.arms + 1):
        used = 0
        for number in count(1):
            known = None if algorithm.adapts else sizes.get((number, 2))
            users = known or algorithm.schedule(setting, number, active)
            used += users
            if active * used > setting.horizon:
                break
            if number > _MOST_BATCHES:
                raise ParameterError(
                    f"horizon and growth make more than {_MOST_BATCHES} batches: lower the "
                    "horizon, or let batches grow faster"
                )
            sizes[number, active] = users
    return sizes


def radius_plan(algorithm: Algorithm, setting: Setting, chosen: Sequence[Release]) -> Plan:
    """What radii may depend on. chosen: the releases of batches 1, 2, ..., one each."""
    sizes, noises = [release.users for release in chosen], [each.noise for each in chosen]
    decodings = [each.decoding for each in chosen]
    if not algorithm.forgets:
        sizes = list(accumulate(sizes))
        noises = list(_running(noises))
    return Plan(
        setting.arms,
        setting.horizon,
        setting.confidence,
        sizes,
        noises,
        [release.precision for release in chosen],
        decodings,
        cumulative=not algorithm.forgets,
    )


def _running(noises: Sequence[Noise | None]) -> Iterator[Noise]:
    """The laws of the sums so far, of as few terms as there are success probabilities."""
    trials: dict[Real, int] = {}
    for law in noises:
        assert isinstance(law, Binomial)
        trials[law.success] = trials.get(law.success, 0) + law.trials
        laws = tuple(Binomial(count, chance) for chance, count in trials.items())
        yield laws[0] if len(laws) == 1 else laws
