"""Runs of a prepared algorithm, in lock step, in one environment or each in its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..exact.number import ParameterError
from .ahead import FROM_ARMS, play_ahead
from .elimination import Elimination
from .environments.environment import Environment
from .index_policy import IndexPolicy
from .played import Permit, Played, Record
from .playing import Playing
from .policy import Policy
from .prepare import Prepared
from .results import RegretCurve
from .source import Simulated, Source


def play(
    prepared: Prepared,
    environment: Environment | Sequence[Environment],
    runs: int,
    source: Source,
    record: Record | None = None,
    permit: Permit | None = None,
    *,
    seed: int = 0,
    first: int = 0,
) -> Played:
    """Run the algorithm in this environment, `runs` times independently, or once in each of these.

    Environments of their own are for simulated sums. record, permit: of `played`. seed, first: as
    for `Runner`.
    """
    arms = prepared.setting.arms
    places = [environment] if isinstance(environment, Environment) else environment
    for place in places:
        if len(place.arms) != arms:
            raise ParameterError(
                f"arms must be those of the environment, {len(place.arms)}, got {arms}"
            )
    if not isinstance(environment, Environment):
        if len(places) != runs:
            raise ParameterError(f"environments must be one a run, {runs}, got {len(places)}")
        if not isinstance(source, Simulated):
            raise ParameterError("environments must be one here, for all runs")
    policy = policy_of(prepared, runs)
    curve = RegretCurve(np.array([place.gaps for place in places]), runs)
    runner = Playing(prepared, policy, runs, places, source, record, permit, seed, first, curve)
    many = arms >= FROM_ARMS and isinstance(source, Simulated) and permit is None
    if many and isinstance(policy, IndexPolicy):
        play_ahead(runner, policy)
    else:
        runner.play(waits=prepared.algorithm.radius is None)
    return Played(runner.pulls, runner.kept, runner.released, curve)


def policy_of(prepared: Prepared, runs: int) -> Policy:
    """What decides so many runs of it."""
    if prepared.algorithm.policy is not None:
        return prepared.algorithm.policy(prepared.setting, runs)
    return (Elimination if prepared.index is None else IndexPolicy)(prepared, runs)
