"""The outcomes cut into cells, with how often each input lands in a cell: where events come from.

Cells come from samples that are used for nothing else (training), or from the laws that a mechanism
claims for its outputs on two given inputs. They decide only which event is tested, never whether a
bound holds.
"""

from __future__ import annotations

import math

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from ...exact.number import ParameterError, whole
from ...mechanisms.laws.finite import FiniteLaw
from ...mechanisms.laws.law import Law
from ...mechanisms.mechanism import AdditiveNoise, Mechanism
from ...mechanisms.pairs.pair import FinitePair
from .event import PLAIN, Event, Ints, Outputs, View, views_of

_CELLS = 192
_MODULI = (2, 3, 4, 5, 7, 8, 16)  # residues catch outputs on a coarser lattice
_OFTEN = 8  # so many training samples of one value are a cell
_HALF_CELL = 0.5  # smooths ratios of small counts
_POINTS = 1 << 18  # a wider window is looked at in strides
_FARTHEST = 1 << 50
_SUPPORTED = "additive noise on integer inputs, or two distributions whose outcomes are integers"

Floats = NDArray[np.float64]


@frozen
class Output:
    """The law of offset + X, reduced mod `modulus` if given, where X follows `law`."""

    law: Law
    offset: int = 0
    modulus: int | None = None

    def noise(self, outcomes: Ints) -> Ints:
        """X from the outcome; reduced mod m, the one of them that is closest to 0."""
        if self.modulus is None:
            return outcomes - self.offset
        half = self.modulus // 2
        return (outcomes - self.offset + half) % self.modulus - half

    @property
    def origin(self) -> int:
        """Where residues start to be counted, so that the bulk of the outputs is not cut in two."""
        return 0 if self.modulus is None else self.offset - self.modulus // 2

    def reach(self, samples: int) -> tuple[int, int]:
        """An interval that noise leaves with probability near 1e-3/samples (not certified)."""
        mean, variance = self.law.moments()
        centre = math.floor((float(mean.lower) + float(mean.upper)) / 2)
        start = 1 + math.ceil(8 * math.sqrt(float(variance.upper)))
        sides = (-1, 1) if not self.law.symmetric else (1,)
        ends = [self._end(side, centre, start, samples) for side in sides]
        return (ends[0], ends[1]) if len(ends) == 2 else (2 * centre - ends[0], ends[0])

    def _end(self, side: int, centre: int, step: int, samples: int) -> int:
        end = self.law.support[(1 + side) // 2]
        while step < _FARTHEST and (end is None or side * (end - centre) > step):
            mass = math.exp(self.law.log_pmf(np.array([centre + side * step]))[0])
            if mass * step * samples < 1e-3:
                break
            step *= 2
        reached = centre + side * step
        return reached if end is None else side * min(side * end, side * reached)

    def window(self, other: Output, samples: int) -> Ints:
        """Points y that cover what both laws are likely to give, in strides where they are many.

        Without a modulus y is the outcome; with one, (outcome - centre_origin) mod m.
        """
        ends = [o.offset + end for o in (self, other) for end in o.reach(samples)]
        low, high = min(ends), max(ends)
        if self.modulus is not None:
            low, high = low - self.origin, high - self.origin
            low, high = max(low, 0), min(high, self.modulus - 1)
        return np.arange(low, high + 1, max(1, (high - low) // _POINTS), dtype=np.int64)

    def masses(self, outcomes: Ints) -> Floats:
        """P(outcome) in floats, as far as wrapping can be left out: to choose events by."""
        return np.exp(self.law.log_pmf(self.noise(outcomes)))


def claimed_outputs(mechanism: Mechanism, inputs: tuple[object, object]) -> tuple[Output, Output]:
    """What the mechanism claims to put out on these two inputs.

    Raises ParameterError where that is not known, or where the inputs are no neighbours.
    """
    if isinstance(mechanism, AdditiveNoise):
        first, second = (whole(value, "input") for value in inputs)
        if not 1 <= abs(first - second) <= mechanism.sensitivity:
            raise ParameterError(
                f"inputs must differ, by at most the sensitivity {mechanism.sensitivity}, "
                f"got {first} and {second}"
            )
        return (
            Output(mechanism.law, first, mechanism.modulus),
            Output(mechanism.law, second, mechanism.modulus),
        )
    if isinstance(mechanism, FinitePair) and not mechanism.slack:
        outcomes = [whole(outcome, "outcome") for outcome in mechanism.outcomes]
        p, q = (
            FiniteLaw(dict(zip(outcomes, column, strict=True)))
            for column in (mechanism.p, mechanism.q)
        )
        return Output(p), Output(q)
    raise ParameterError(f"law must be {_SUPPORTED}, got {type(mechanism).__name__}")


@frozen
class Partition:
    """Cell i holds edges[i-1] <= y < edges[i], the first and last ones without end.

    first, second: how many of `trials` outcomes of each input fall into each cell (expected
    counts for a claimed law). order: the cells from the likeliest for the first input to the
    likeliest for the second, found from other samples than the counts. certain: the counts are
    expectations, no samples.
    """

    edges: Ints
    first: Floats
    second: Floats
    trials: float
    order: Ints
    modulus: int | None = None
    origin: int = 0
    certain: bool = False
    view: View = PLAIN

    @property
    def residues(self) -> bool:
        """Are the cells residues for a trial, not for the claimed modulus?"""
        return self.modulus is not None and not self.certain

    def event(self, cells: Ints) -> Event:
        """The event of these cells."""
        chosen = np.zeros(len(self.first) + 2, dtype=bool)
        chosen[cells + 1] = True
        starts = np.flatnonzero(chosen[1:] & ~chosen[:-1])
        stops = np.flatnonzero(chosen[:-1] & ~chosen[1:])
        last = len(self.first)
        return Event(
            tuple(
                (
                    None if start == 0 else int(self.edges[start - 1]),
                    None if stop == last else int(self.edges[stop - 1]) - 1,
                )
                for start, stop in zip(starts, stops, strict=True)
            ),
            self.modulus,
            self.origin,
            self.view,
        )


def trained_partitions(first: Outputs, second: Outputs) -> list[Partition]:
    """Cells from training samples, in each view of them (`event`)."""
    return [
        evolve(partition, view=view)
        for view in views_of(first, second)
        for partition in _partitions(view.of(first), view.of(second), view != PLAIN)
    ]


def _partitions(first: Ints, second: Ints, frequent: bool) -> list[Partition]:
    """Cells by value, and by residues; frequent: the likeliest values have cells of their own.

    One half of the training samples cuts and orders the cells, the other half counts them, so
    that an order is judged by samples that did not make it.
    """
    halves = [(values[::2], values[1::2]) for values in (first, second)]
    shaping, counting = zip(*halves, strict=True)
    edges = _sample_edges(np.concatenate(shaping), shaping, frequent)
    found = [_trained(edges, shaping, counting, None)]
    pooled = np.concatenate(shaping)
    if len(edges) + 1 < _CELLS and len(np.unique(pooled)) <= _CELLS:
        return found  # each value has a cell of its own: residues add nothing
    for modulus in _MODULI:
        reduced = [tuple(values % modulus for values in half) for half in (shaping, counting)]
        found.append(_trained(np.arange(1, modulus), reduced[0], reduced[1], modulus))
    return found


def claimed_partition(first: Output, second: Output, trials: int) -> Partition:
    """Cells from the claimed laws of both outputs, with the counts that they lead one to expect."""
    points = first.window(second, trials)
    p, q = (output.masses(points + first.origin) for output in (first, second))
    edges = points[1:]
    if len(points) > _CELLS:
        both = np.cumsum(p + q)
        cuts = np.searchsorted(both, levels(both[-1], both[-1] / (2 * trials), _CELLS // 3))
        edges = np.unique(points[np.clip(cuts, 1, len(points) - 1)])
    sums = [cell_counts(edges, points, masses) for masses in (p, q)]
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.nan_to_num(np.log(sums[0]) - np.log(sums[1]), nan=0.0)
    order = np.argsort(-loss.round(9), kind="stable")
    counts = [trials * m / max(m.sum(), 1e-300) for m in sums]
    return Partition(edges, counts[0], counts[1], trials, order, first.modulus, first.origin, True)


def _trained(
    edges: Ints, shaping: tuple[Ints, ...], counting: tuple[Ints, ...], modulus: int | None
) -> Partition:
    shape = [cell_counts(edges, values) / max(len(values), 1) for values in shaping]
    smooth = _HALF_CELL / max(min(map(len, shaping)), 1)
    order = np.argsort((shape[1] + smooth) / (shape[0] + smooth), kind="stable")
    trials = min(map(len, counting))
    counts = [cell_counts(edges, values[:trials]) for values in counting]
    return Partition(edges, counts[0], counts[1], trials, order, modulus)


def cell_counts(edges: Ints, values: Ints, weights: Floats | None = None) -> Floats:
    """How many values, or how much weight, each cell has."""
    cells = np.searchsorted(edges, values, side="right")
    found = np.bincount(cells, weights=weights, minlength=len(edges) + 1)
    return found.astype(np.float64)


def _sample_edges(pooled: Ints, each: tuple[Ints, ...], frequent: bool) -> Ints:
    """The values themselves where they are few; else quantiles, ever finer towards both ends."""
    distinct, counts = np.unique(pooled, return_counts=True)
    if len(distinct) <= _CELLS:
        return distinct[1:]
    cuts = []
    for values in each:
        ranked = np.sort(values)
        places = levels(len(ranked), 1.0, _CELLS // 3).astype(np.int64)
        cuts.append(ranked[np.clip(places, 0, len(ranked) - 1)])
    if frequent:
        often = distinct[counts >= _OFTEN][np.argsort(-counts[counts >= _OFTEN])[: _CELLS // 3]]
        cuts += [often, often + 1]
    return np.unique(np.concatenate(cuts))


def levels(total: float, least: float, steps: int) -> Floats:
    """Levels of a cumulated mass: equal steps, and tails of least, 2 least, 4 least, ..."""
    equal = np.linspace(0, total, steps + 1)[1:-1]
    doublings = max(0, int(np.log2(max(equal[0] / least, 1))))
    tails = least * 2.0 ** np.arange(doublings + 1)
    return np.unique(np.concatenate([tails, equal, total - tails]))
