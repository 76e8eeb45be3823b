"""What regret is held against: the known lower bound before, the certified upper bound after."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from attrs import frozen

from ..exact.budget import OutOfTimeError, spend
from ..exact.enclosure import Enclosure
from .expected_regret import expected_regret
from .lower_bound import Barrier, at_horizon, lower_bound
from .results import Mean, Results
from .run import Config, environments


@frozen
class Yardsticks:
    """Beside the mean regret of runs.

    barrier      which algorithms the lower bound is for
    lower_bound  times log T, its mean over runs where each has an instance of its own; None for
                 rewards other than coins, and where time ends before
    expected     the upper bound that is proved, from 0; None where nothing is certified of the
                 decisions, where each run has an instance of its own, and where time ends before
    """

    barrier: Barrier
    lower_bound: Enclosure | None
    expected: Enclosure | None

    def ratio(self, regret: Mean) -> Mean | None:
        """Regret by the lower bound; None where there is none, or no arm falls short."""
        if self.lower_bound is None or self.lower_bound.lower <= 0:
            return None
        by = float(self.lower_bound)
        return Mean(regret.mean / by, regret.standard_error / by)

    def to_json(self, regret: Mean) -> dict[str, Any]:
        """The keys that they have in the JSON of runs."""
        bound = self.lower_bound
        return {
            "lower_bound": None if bound is None else {"for": self.barrier.value, "regret": bound},
            "regret_over_bound": self.ratio(regret),
            "expected_regret": self.expected,
        }


def yardsticks(config: Config, results: Results, seed: int) -> Yardsticks:
    """Of these runs, from this seed; within `time_limit`."""
    bound = expected = None
    with suppress(OutOfTimeError):
        bound = _lower_bound(config, results.runs, seed)
    with suppress(OutOfTimeError):
        if not config.instances.own:
            expected = expected_regret(results.plan, next(environments(config, 1, seed)))
    return Yardsticks(config.algorithm.barrier, bound, expected)


def _lower_bound(config: Config, runs: int, seed: int) -> Enclosure | None:
    bounds: list[Enclosure] = []
    for place in environments(config, runs, seed):
        spend()
        found = lower_bound(place, config.setting.epsilon, config.algorithm.barrier)
        if found is None and not bounds:  # other rewards than coins
            return None
        bounds += [] if found is None else [found]
    return at_horizon(bounds, config.setting.horizon)
