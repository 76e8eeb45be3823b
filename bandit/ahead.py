"""Index policies of hundreds of arms and more, played many batches at a time.

Of arms whose bounds are I_1 >= I_2 >= ... an index policy plays the first, then the second unless
the first one's new bound is above I_2, and so on. So the next batches of the first arms are drawn
together, and those are kept, up to the first that is not next: batch j where every new bound of
batches 1, ..., j - 1 is below I_j. The others are thrown away, and drawn anew when their turn
comes.

Why runs have the same law. Whether draw j is kept depends on the draws before it and on what was
released, not on itself. So, given all that was kept before, whatever is kept has the law of rewards
and noise of its batch, and the arm is the one that the policy asks for: what `Playing.play` does
batch by batch, from other random numbers.
"""

from __future__ import annotations

from itertools import count, takewhile

import numpy as np

from .index_policy import IndexPolicy
from .played import Released
from .playing import Playing

FROM_ARMS = 256  # fewer are played batch by batch
_AT_ONCE = 1 << 12  # batches that are drawn together, of all runs
_LEAST = 4  # of each run


def play_ahead(game: Playing, policy: IndexPolicy) -> None:
    """Until no run goes on, as `game.play` does. policy: the one that game asks."""
    prepared, history = game.prepared, game.history
    runs, arms = game.pulls.shape
    found = (prepared.phase(number, 1) for number in count(1))
    phases = [phase for phase in takewhile(lambda it: it is not None, found) if phase is not None]
    sizes = np.array([*(phase.users for phase in phases), prepared.setting.horizon + 1])
    going, most = np.arange(runs), arms
    while len(going):
        order = policy.ahead(going, max(1, min(most, _AT_ONCE // len(going))))
        rows = going[:, None]
        done = np.minimum(history.batches[rows, order], len(phases))
        users = sizes[done]
        room = prepared.setting.horizon - history.rounds[going]
        keep = np.cumsum(users, axis=1) <= room[:, None]
        values, bounds = np.zeros(order.shape, dtype=game.totals.dtype), np.zeros(order.shape)
        for number in np.unique(done[keep]).tolist():
            at = np.nonzero(keep & (done == number))
            chosen, phase = (going[at[0]], order[at]), phases[number]
            values[at] = game.draw(phase, *chosen)
            totals = game.totals[chosen] + phase.release.decoded(values[at])
            bounds[at] = policy.index.of(np.full(len(totals), phase.number), totals)
        largest = np.maximum.accumulate(bounds, axis=1)[:, :-1]
        keep[:, 1:] &= largest < policy.bounds[rows, order[:, 1:]]
        keep = np.logical_and.accumulate(keep, axis=1)
        noted: list[tuple[int, int, Released]] = []
        for number in np.unique(done[keep]).tolist():
            at = np.nonzero(keep & (done == number))
            told = game.tell(phases[number], going[at[0]], order[at], values[at])
            noted += [(*place, one) for *place, one in zip(*at, told, strict=False)]
        for *_, one in sorted(noted, key=lambda each: each[:2]):
            assert game.record is not None
            game.record(one)
        kept = keep.sum(axis=1)
        width = max(1, int(kept.max()))
        game.pull_each(going, order[:, :width], (users * keep)[:, :width])
        game.released[going] += kept
        game.end(going[kept == 0])
        going, most = going[kept > 0], min(arms, max(_LEAST, 2 * width))
