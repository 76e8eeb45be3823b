"""Runs of a prepared algorithm, by the core that it is of: elimination, or an index."""

from __future__ import annotations

from collections.abc import Sequence

from ..exact.number import ParameterError
from .elimination import Elimination
from .environments.environment import Environment
from .index_play import play_index
from .played import Permit, Played, Record
from .prepare import Prepared
from .source import Simulated, Source


def play(
    prepared: Prepared,
    environment: Environment | Sequence[Environment],
    runs: int,
    source: Source,
    record: Record | None = None,
    permit: Permit | None = None,
) -> Played:
    """Run the algorithm in this environment, `runs` times independently, or once in each of these.

    Environments of their own are for simulated sums. record, permit: of `played`.
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
    if prepared.index is not None:
        return play_index(prepared, prepared.index, places, runs, source, record, permit)
    return Elimination(prepared, places, runs, source, record, permit).played()
