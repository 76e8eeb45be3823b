"""Which event to test: the one whose bound promises most on a partition's counts.

Candidates are half-lines, intervals, and the level sets of the likelihood ratio (first and last
cells of the partition's order): by Neyman and Pearson's lemma no event is better than the level
sets of the true ratio. A promise is the bound on epsilon at the claimed delta, made with Wilson's
score limits (JASA 1927), quick and approximate; the bound itself comes from samples that had no
say in the choice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.random import Generator
from scipy import stats

from .bounds import Bounds, Notion, from_excess, from_guesses
from .event import Event, Ints, Outputs
from .partition import Floats, Partition

# Standard errors taken off each promise made on samples: the best of many looks better than it is.
_LUCK = 2.5
_MORE_LUCK = 3.5  # for the many candidates that are not half-lines
_TIE = 1e-3  # expectations have no luck; what is as good as half-lines gives way to them


@frozen
class Guessing:
    """Guess the first input on one event, the second on the other: `bounds.from_guesses`."""

    first: Event
    second: Event

    def tested(
        self, first: Outputs, second: Outputs, notion: Notion, error: float, rng: Generator
    ) -> tuple[dict[str, int], Bounds]:
        """What is counted in samples of both inputs, and the bounds that follow."""
        spent = error / 1000
        size = min(len(first), len(second))
        trials = _fair_trials(size, spent)
        # The coins of the trials: as many first inputs as a fair coin says, up to what there is;
        # that it says more has probability at most `spent`, which is paid for.
        heads = min(max(int(rng.binomial(trials, 0.5)), trials - size), size)
        # Which samples these are is drawn as well: how many of them lie in which event.
        in_first, in_second = (
            rng.multivariate_hypergeometric([inside, other, len(values) - inside - other], chosen)
            for values, chosen in ((first, heads), (second, trials - heads))
            for inside, other in [(self.first.count(values), self.second.count(values))]
        )
        right = int(in_first[0] + in_second[1])
        made = right + int(in_first[1] + in_second[0])
        events = bool(self.first.intervals) + bool(self.second.intervals)
        bounds = from_guesses(right, made, trials, notion, error - spent, events)
        return {"right": right, "made": made, "trials": trials}, bounds

    def __str__(self) -> str:
        named = ((self.first, "first"), (self.second, "second"))
        guesses = [f"the {name} input on {event}" for event, name in named if event.intervals]
        return f"guess {', '.join(guesses)}" if guesses else "guess nothing"

    def to_json(self) -> dict[str, Any]:
        """Both events with all their intervals."""
        return {
            "text": str(self),
            "first": self.first.to_json(),
            "second": self.second.to_json(),
        }


@frozen
class Excess:
    """How much likelier an event is on one input than on the other: `bounds.from_excess`."""

    event: Event
    likelier: int  # 0: on the first input, 1: on the second

    def tested(
        self, first: Outputs, second: Outputs, notion: Notion, error: float, rng: Generator
    ) -> tuple[dict[str, int], Bounds]:
        """As `Guessing.tested`."""
        ordered = (first, second) if self.likelier == 0 else (second, first)
        more, less = (self.event.count(values) for values in ordered)
        sizes = len(ordered[0]), len(ordered[1])
        counts = {"likelier": more, "of": sizes[0], "other": less, "of other": sizes[1]}
        return counts, from_excess(more, sizes[0], less, sizes[1], notion, error)

    def __str__(self) -> str:
        return f"{self.event}, likelier on the {('first', 'second')[self.likelier]} input"

    def to_json(self) -> dict[str, Any]:
        """The event with all its intervals."""
        return {"text": str(self), "event": self.event.to_json(), "likelier": self.likelier}


Plan: TypeAlias = Guessing | Excess
_Promise: TypeAlias = tuple[float, Plan]  # the lower bound that it promises


def choose(partitions: Sequence[Partition], notion: Notion, error: float, samples: int) -> Plan:
    """The plan that promises most, over all candidates of all partitions, for a test at this error
    with this many samples of each input.
    """
    found = (p for partition in partitions for p in _promises(partition, notion, error, samples))
    return max(found, key=itemgetter(0))[1]


def _promises(
    partition: Partition, notion: Notion, error: float, samples: int
) -> Iterator[_Promise]:
    rising = np.arange(len(partition.first))
    # The counts stand for more samples than they are: so much smaller are the errors then.
    quantile = float(stats.norm.isf(error / 2)) * math.sqrt(partition.trials / samples)
    rough = quantile + (_TIE if partition.certain else _MORE_LUCK)
    smooth = rough if partition.residues else quantile + (0 if partition.certain else _LUCK)
    with np.errstate(divide="ignore", invalid="ignore"):
        for order in (rising, rising[::-1]):
            yield _guesses(partition, order, notion, smooth)
            yield from _excesses(partition, order, False, notion, smooth)
        yield _guesses(partition, partition.order, notion, rough)
        yield from _excesses(partition, partition.order, False, notion, rough)
        yield from _excesses(partition, rising, True, notion, rough)


def _guesses(partition: Partition, order: Ints, notion: Notion, quantile: float) -> _Promise:
    """Guess the first input on the first i cells of the order, the second from cell j on."""
    p, q = _cumulated(partition, order)
    i, j = np.triu_indices(len(p))
    right = p[i] + q[-1] - q[j]
    made = right + q[i] + p[-1] - p[j]
    limit = _wilson(right, made, quantile, -1)
    events = (i > 0) * 1 + (j < len(order))
    free = notion.delta * events * partition.trials / made
    value = np.log(limit - free) - np.log1p(-limit)
    best = _best(value)
    first, second = partition.event(order[: i[best]]), partition.event(order[j[best] :])
    return value[best], Guessing(first, second)


def _excesses(
    partition: Partition, order: Ints, intervals: bool, notion: Notion, quantile: float
) -> Iterator[_Promise]:
    """The first i cells (or the cells i, ..., j-1) and what is likelier there, either way."""
    p, q = _cumulated(partition, order)
    i, j = np.triu_indices(len(p)) if intervals else (np.zeros(len(p), np.int64), np.arange(len(p)))
    for likelier, (more, less) in enumerate(((p, q), (q, p))):
        low = _wilson(more[j] - more[i], partition.trials, quantile, -1)
        high = _wilson(less[j] - less[i], partition.trials, quantile, 1)
        value = np.log(low - notion.delta) - np.log(high)
        # An event so common that no count of it could break the claim is of no use.
        value[np.exp(notion.epsilon) * high + notion.delta >= 1] = -np.inf
        best = _best(value)
        yield value[best], Excess(partition.event(order[i[best] : j[best]]), likelier)


def _cumulated(partition: Partition, order: Ints) -> tuple[Floats, Floats]:
    p, q = (np.concatenate([[0], np.cumsum(c[order])]) for c in (partition.first, partition.second))
    return p, q


def _best(values: Floats) -> int:
    values[np.isnan(values)] = -np.inf
    return int(np.argmax(values))


def _wilson(counts: Floats, trials: Floats | float, quantile: float, side: int) -> Floats:
    """The score limit of a probability, below (side -1) or above (side 1) the frequency."""
    square = quantile**2
    spread = np.sqrt(np.maximum(counts * (1 - counts / trials), 0) + square / 4)
    limit: Floats = (counts + square / 2 + side * quantile * spread) / (trials + square)
    return np.clip(limit, 0, 1 - 1e-12)


def _fair_trials(size: int, error: float) -> int:
    """How many fair coins can be tossed so that neither side needs more than `size` samples,
    but for this probability.
    """
    trials = 2 * size - math.ceil(float(stats.norm.isf(error / 4)) * math.sqrt(2 * size))
    while trials > size and 2 * stats.binom.sf(size, trials, 0.5) > error:
        trials -= 1 + size // 1000
    return max(trials, size)
