"""The runs behind figures: every curve once, whatever the number of figures that show it.

A curve is one configuration: its mechanisms are verified and its runs done by one worker, from the
same seed for all. Finished curves are kept in the cache of runs, and found there again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...common.parallel import each
from ...exact.number import ExactInput, ParameterError, decimal_text, whole
from ...verify.guarantee import RenyiDP
from ..environments.instance import instance
from ..evidence import Proof, evidence
from ..instances import Fixed, Instances, easy, hard, published
from ..results import RunCache, Share
from ..run import Config, run
from ..setting import Setting
from .pictures import Figure, Line, Panel, Place, Scale

_COINS = "coins:0.75,0.7,0.7,0.7,0.7"


@frozen(slots=False)
class Curve:
    """Time-average regret of one configuration, at its checkpoints.

    average: regret by rounds, runs x checkpoints. eliminated: how many runs lost every best arm.
    """

    config: Config
    rounds: NDArray[np.int64]
    average: NDArray[np.float64]
    eliminated: int

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(self.average)

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """At each checkpoint."""
        return np.asarray(self.average.mean(axis=0))

    @cached_property
    def error(self) -> NDArray[np.float64]:
        """The standard error of the mean, at each checkpoint; NaN where there is one run only."""
        if self.runs == 1:
            return np.full(len(self.rounds), np.nan)
        return np.asarray(self.average.std(axis=0, ddof=1) / np.sqrt(self.runs))


@frozen
class Sweep:
    """All curves of some figures: where they ran, on what scale, from which seed."""

    scale: Scale
    places: Mapping[Place, Instances]
    curves: Mapping[tuple[Panel, Line], Curve]

    def paired(self, figure: Figure, panel: Panel, line: Line) -> NDArray[np.float64] | None:
        """The standard error of how far a curve is from the one of its panel that is the reference.

        Curves of a panel meet the same instances, run by run, so that easy and difficult ones do
        not count: what is left is the chance of rewards and noise. None where there is nothing to
        pair: one instance for all runs, one run, or one curve.
        """
        own = self.curves[panel, line]
        if not own.config.instances.own or own.runs == 1 or len(figure.lines) == 1:
            return None
        apart = own.average - self.curves[panel, figure.reference].average
        return np.asarray(apart.std(axis=0, ddof=1) / np.sqrt(own.runs))

    def about(self, panel: Panel, line: Line) -> dict[str, object]:
        """Of what configuration a curve is."""
        config = self.curves[panel, line].config
        return {
            "algorithm": config.algorithm.name,
            "epsilon": decimal_text(panel.epsilon),
            "scaling": line.scaling,
            "radius": config.radius.value,
            "instance": config.instances.name,
            "arms": config.setting.arms,
            "horizon": config.setting.horizon,
        }


def sweep(
    figures: Iterable[Figure],
    scale: Scale,
    ratings: Fixed | None = None,
    *,
    seed: ExactInput = 0,
    workers: ExactInput = 1,
    cache: Path | None = None,
    resume: bool = True,
    prove: Proof = evidence,
    progress: Callable[[int], None] = lambda done: None,
) -> Sweep:
    """Run what these figures show.

    ratings: the instance of real ratings, where a figure needs one. cache: a folder in which
    finished curves are kept, and looked for if `resume`. prove: as for `prepare`. progress: is told
    of every curve that is done. Raises ParameterError, NotVerifiedError as runs do.
    """
    start = whole(seed, "seed", at_least=0)
    crew = whole(workers, "workers", at_least=1, at_most=1024)
    shown = dict.fromkeys(
        (panel, line) for figure in figures for panel in figure.panels for line in figure.lines
    )
    needed = dict.fromkeys(panel.place for panel, _ in shown)
    places = {place: _instances(place, scale, ratings) for place in needed}
    configs = [_config(panel, line, scale, places[panel.place]) for panel, line in shown]
    tasks = [
        _Task(index, config, start, scale.runs, tuple(scale.rounds(panel.place).tolist()))
        for index, (config, (panel, _)) in enumerate(zip(configs, shown, strict=True))
    ]
    found: dict[int, Share] = {}
    if resume:
        for task in tasks:
            kept = task.cache(cache).find(0, scale.runs)
            if kept is not None and kept.fits(len(task.rounds), task.config.setting.arms):
                found[task.index] = kept
                progress(1)
    groups = _groups(task for task in tasks if task.index not in found)
    for done in each(partial(_done, cache, prove), groups, crew):
        found |= done
        progress(len(done))
    curves = {
        where: Curve(
            task.config,
            np.array(task.rounds),
            np.array(found[task.index].regret) / np.array(task.rounds),
            sum(found[task.index].eliminated),
        )
        for where, task in zip(shown, tasks, strict=True)
    }
    return Sweep(scale, places, curves)


@frozen
class _Task:
    """One curve to run, and its place among all."""

    index: int
    config: Config
    seed: int
    runs: int
    rounds: tuple[int, ...]

    def cache(self, folder: Path | None) -> RunCache:
        """Where it is kept, under all that its numbers depend on."""
        return RunCache(folder, {"curve": True} | self.config.identity(self.seed, self.rounds))


def _groups(tasks: Iterable[_Task]) -> list[list[_Task]]:
    """Curves whose mechanisms are the same, together; first those that take long, so that workers
    end together: certificates of Rényi divergences take seconds each."""
    groups: dict[Any, list[_Task]] = {}
    for task in tasks:
        algorithm, setting = task.config.algorithm, task.config.setting
        same = (algorithm, setting.horizon, setting.epsilon, setting.scaling)
        groups.setdefault(same, []).append(task)

    def is_fast(group: list[_Task]) -> bool:
        config = group[0].config
        demand = config.algorithm.demand
        return demand is None or not isinstance(demand(config.setting).claim, RenyiDP)

    return sorted(groups.values(), key=is_fast)


def _done(cache: Path | None, prove: Proof, tasks: Sequence[_Task]) -> dict[int, Share]:
    """Verify the mechanisms of these curves, run them, and keep them; by their indices."""
    found = {}
    for task in tasks:
        prepared, rounds = task.config.prepared(prove), np.array(task.rounds)
        results = run(task.config, task.runs, task.seed, prepared=prepared, rounds=rounds)
        found[task.index] = Share(
            0,
            results.regret.tolist(),
            results.pulls.tolist(),
            results.eliminated.tolist(),
            results.batches.tolist(),
            [],
        )
        task.cache(cache).keep(found[task.index])
    return found


def _instances(place: Place, scale: Scale, ratings: Fixed | None) -> Instances:
    if place is Place.RATINGS:
        if ratings is None:
            raise ParameterError("ratings must be given: a figure shows real ratings")
        return ratings
    if place is Place.COINS:
        return Fixed(instance(_COINS))
    if scale.published:
        return published(place is Place.HARD)
    return (easy if place is Place.EASY else hard)(scale.arms)


def _config(panel: Panel, line: Line, scale: Scale, instances: Instances) -> Config:
    horizon = scale.horizons[panel.place]
    setting = Setting(
        instances.arms,
        horizon,
        panel.epsilon,
        scaling=10 if line.scaling is None else line.scaling,
        confidence=line.algorithm.usual_confidence(horizon, scale.confidence),
        growth=scale.growth if panel.growth is None else panel.growth,
    )
    return Config(line.algorithm, setting, instances, line.radius)
