"""One run of batched LinUCB: all users of a batch follow what was released before it.

A user takes the arm of the largest <theta^, x> + width(x); before anything is released, one at
random. Contexts, arms and rewards stay with the user: she sends her `contribution`, of which the
server gets the batch's noisy sum. (LinUCB: Abbasi-Yadkori, Pal, Szepesvari 2011; in batches under
local and shuffled privacy, and with federated users: Shariff, Sheffet 2018; Zhou, Chowdhury, arXiv
2302.13945.)

Simulated: rounding and noise are drawn by NumPy, of a whole batch, with the law of `contribution`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...exact.number import ParameterError
from ..environments.rewards import checked
from .contribution import Contribution
from .environments import LinearEnvironment
from .law import drawn
from .radius import Estimate, Radius
from .regret import cap_of, released_regret
from .release import LinearRelease

_TINY = 1e-9  # that floats may be off
_AT_ONCE = 1 << 14  # users at most, and
_NUMBERS = 1 << 21  # numbers of their contexts, about

Floats = NDArray[np.float64]


class Sums(Protocol):
    """What the server knows of G and u after each batch."""

    def add(self, contexts: Floats, rewards: Floats) -> None:
        """Some users of the batch."""

    def release(self) -> tuple[Floats, Floats]:
        """End the batch: G~ and u~ of all so far."""


class ExactSums:
    """Without privacy."""

    def __init__(self, dimension: int) -> None:
        self.gram, self.rewards = np.zeros((dimension, dimension)), np.zeros(dimension)

    def add(self, contexts: Floats, rewards: Floats) -> None:
        self.gram += contexts.T @ contexts
        self.rewards += contexts.T @ (2 * rewards - 1)

    def release(self) -> tuple[Floats, Floats]:
        return (self.gram + self.gram.T) / 2, self.rewards


class NoisySums:
    """Rounded, with noise, mod 2^bits: batch by batch, then read and added up."""

    def __init__(self, release: LinearRelease, rng: np.random.Generator) -> None:
        self.contribution: Contribution = release.contribution
        self._noise, self._rng = release.noise, rng
        self._batch = np.zeros(self.contribution.size, dtype=np.int64)
        self._total = np.zeros(self.contribution.size, dtype=np.int64)

    def add(self, contexts: Floats, rewards: Floats) -> None:
        most = max(1, _NUMBERS // self.contribution.size)
        for start in range(0, len(rewards), most):
            some = slice(start, start + most)
            scaled = self.contribution.vectors(contexts[some], rewards[some])
            scaled += self._rng.random(scaled.shape)
            self._batch += np.floor(scaled).astype(np.int64).sum(axis=0)

    def release(self) -> tuple[Floats, Floats]:
        size = self.contribution.size
        sent = self.contribution.residues(self._batch + drawn(self._noise, self._rng, size))
        self._batch = np.zeros(size, dtype=np.int64)
        self._total += self.contribution.centred(sent)
        return self.contribution.unscaled(self._total / self.contribution.scale)


@frozen(eq=False)
class LinearRun:
    """One run, after each batch.

    regret     pseudo-regret so far
    certified  what it is at most, in the event of the radius
    known      likewise, from what was released alone
    outside    contexts so far, of all arms, whose mean was outside the radius; None where no
               linear truth is known
    shift      lambda of the estimate that the batch gave
    """

    regret: Floats
    certified: Floats
    known: Floats
    outside: NDArray[np.int64] | None
    shift: Floats
    last: Estimate


def _checked(contexts: Floats, means: Floats) -> tuple[Floats, Floats]:
    """What an environment, which may be anybody's own, has drawn."""
    longest = float(np.sqrt(np.einsum("ukd,ukd->uk", contexts, contexts).max()))
    if not longest < 1 + _TINY:
        raise ParameterError(f"contexts must be of norm at most 1, got one of norm {longest:g}")
    return contexts, checked(means)


def play_linear(
    environment: LinearEnvironment,
    radius: Radius,
    release: LinearRelease | None,
    seed: np.random.SeedSequence,
) -> LinearRun:
    """Play it. The same seed has the same users, whatever is released of them."""
    users, noise = (np.random.default_rng(each) for each in seed.spawn(2))
    sums: Sums = ExactSums(radius.dimension) if release is None else NoisySums(release, noise)
    theta, cap = environment.theta, float(cap_of(radius.norm))
    most = max(1, min(_AT_ONCE, _NUMBERS // (environment.arms * environment.dimension)))
    known: Estimate | None = None
    regret, certified, bound, outside, rows = 0.0, 0.0, 0.0, 0, []
    before = 0
    for batch, after in enumerate(radius.users, 1):
        for start in range(before, after, most):
            count = min(most, after - start)
            contexts, means = _checked(*environment.draw(users, count))
            luck = users.random(count)
            every = np.arange(count)
            if known is None:
                chosen = users.integers(environment.arms, size=count)
                certified += count * cap
            else:
                centre, width = known.means(contexts), known.widths(contexts)
                chosen = (centre + width).argmax(axis=1)
                certified += float(np.minimum(width[every, chosen], cap).sum())
                if theta is not None:
                    outside += int((np.abs(centre - contexts @ theta) > width).sum())
            regret += float((means.max(axis=1) - means[every, chosen]).sum())
            rewards = (luck < means[every, chosen]).astype(np.float64)
            sums.add(contexts[every, chosen], rewards)
        latest = radius.estimate(batch, *sums.release())
        size = after - before
        if known is None:
            bound += size * cap
        else:
            bound += released_regret(known, latest, size, radius.norm)
        known, before = latest, after
        rows.append((regret, certified, bound, outside, known.shift))
    assert known is not None
    first, second, third, fourth, fifth = (np.array(each) for each in zip(*rows, strict=True))
    return LinearRun(first, second, third, None if theta is None else fourth, fifth, known)
