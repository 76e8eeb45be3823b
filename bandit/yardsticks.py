"""A bound of the expected regret on an instance, from what is certified of the decisions.

Let F be the failure that is certified (of the radii, or of the indices), a* a best arm. But for an
event of probability F the run is good: a* is never eliminated, or its index never below mu*, and no
sum is read wrongly to the advantage of another arm or the disadvantage of a*. Regret is at most
T max gap always, so that

    E Reg <= F T max gap
             + sum over arms of gap_a sum over b of n_b P(a has batch b, and the run is good),

where a batch that the horizon cuts short counts as a whole one (at most T), as does, where an index
decides, the rest of the horizon after the last batch. In a good run

- that eliminates: a has batch b + 1 only if in each batch up to b its estimate was no more than
  2 beta below that of a*: N 2 beta >= S* + Z* - S_a - Z_a, for the sums of N rewards and noise in
  units of rewards and the largest beta of any number of active arms;
- of indices: a has batch b + 1 only if its index after b was at least that of a*, so mu*: then
  S_a + Z_a >= x_t for every t of `radius.index`, x_t the number with q_t(x_t) = mu* - eta, eta more
  than what the index exceeds q_t by for its rounding.

Either has a Chernoff bound, for independent rewards in [0, 1] with these means (Hoeffding 1963):
E e^(sS) <= (1 - mu + mu e^s)^N for s of any sign. The s, and t, are chosen in floats; what is said
is evaluated in balls. Where an index decides F grows by the chance that any other arm is misread.

What regret is held against: the known lower bound before, the certified upper bound after.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

import numpy as np
from attrs import frozen
from flint import arb

from ..exact.budget import OutOfTimeError, spend
from ..exact.enclosure import Enclosure
from ..exact.number import ball
from ..exact.precision import enclose, working_precision
from .environments.environment import Environment
from .lower_bound import Barrier, at_horizon, lower_bound
from .plan import Plan
from .radius.index import Index
from .radius.noise import BITS, log_mgf, mgf_end
from .radius.plan import Noise
from .release import Batch
from .results import Mean, Results
from .run import Config, environments


def expected_regret(plan: Plan, environment: Environment) -> Enclosure | None:
    """From 0 to the bound that is proved; None where nothing is certified of the decisions."""
    if plan.failure is None or not plan.batches:
        return None
    horizon = plan.setting.horizon
    means = [Fraction(float(mean)) for mean in environment.means]
    best, worst = max(means), max(means) - min(means)
    with working_precision(BITS):
        failed, bounds = plan.failure, _bounds(plan)
        if plan.index is not None:
            failed = failed.plus(plan.index.overflow.times(plan.setting.arms - 1))
        total = ball(Fraction(failed.upper)) * horizon * ball(worst)
        for mean in means:
            if mean < best:
                total += ball(best - mean) * bounds.pulls(mean, best)
        total = total.min(horizon * ball(worst))
        return Enclosure(Decimal(0), enclose(total).upper)


class _Bounds(ABC):
    """The expected pulls of an arm in good runs."""

    def __init__(self, plan: Plan, batches: Mapping[int, Batch], rest: int) -> None:
        self.batches, self.horizon, self.rest = batches, plan.setting.horizon, rest
        releases = [batch.release for batch in batches.values()]
        cumulative = plan.algorithm.rule.cumulative
        sizes = [release.users for release in releases]
        self.users = list(accumulate(sizes)) if cumulative else sizes
        self.precision = releases[-1].precision
        noises = [(release.noise, release.precision) for release in releases]
        self._noises = [Counter([each]) for each in noises]
        if cumulative:
            self._noises = list(accumulate(self._noises))
        self._mgf: dict[tuple[Noise | None, int, float], arb] = {}

    def log_mgf(self, batch: int, s: float) -> arb:
        """Of the noise that decides after so many batches, in units of rewards, at s."""
        counts = self._noises[batch - 1].items()
        return sum((times * self._one(*noise, s) for noise, times in counts), arb(0))

    def _one(self, noise: Noise | None, precision: int, s: float) -> arb:
        key = noise, precision, s
        if key not in self._mgf:
            self._mgf[key] = log_mgf(noise, s, precision)
        return self._mgf[key]

    def pulls(self, mean: Fraction, best: Fraction) -> arb:
        """sum over b of n_b P(the arm has batch b), which no batch before may have prevented."""
        sizes = [batch.users for batch in self.batches.values()]
        total, still = arb(sizes[0]), arb(1)
        for batch, following in enumerate([*sizes[1:], self.rest], 1):
            spend()
            still = still.min(self.chance(batch, mean, best))
            total += min(following, self.horizon) * still
        return total

    @abstractmethod
    def chance(self, batch: int, mean: Fraction, best: Fraction) -> arb:
        """At most this: that batch b, all by itself, lets an arm of this mean go on."""


class _Elimination(_Bounds):
    def __init__(self, plan: Plan) -> None:
        self.radii: dict[int, float] = {}
        for (number, _), batch in plan.batches.items():
            assert batch.radius is not None
            self.radii[number] = max(batch.radius, self.radii.get(number, 0.0))
        batches = {number: plan.batches[number, 2] for number in self.radii}
        rest = plan.algorithm.schedule(plan.setting, max(self.radii) + 1, 2)
        super().__init__(plan, batches, rest)

    def chance(self, batch: int, mean: Fraction, best: Fraction) -> arb:
        # P(S_a + Z_a - S* - Z* >= -2 beta N)
        beta, users = self.radii[batch], self.users[batch - 1]
        if not np.isfinite(beta):
            return arb(1)

        def exponent(s: float) -> arb:
            rewards = _log_coin(mean, s) + _log_coin(best, -s)
            noise = self.log_mgf(batch, s) + self.log_mgf(batch, -s)
            return users * (2 * arb(s) * arb(beta) + rewards) + noise

        return _least(exponent, _end(self.batches[batch]))


class _Indexed(_Bounds):
    def __init__(self, plan: Plan, index: Index) -> None:
        self.index = index
        batches = {number: batch for (number, _), batch in plan.batches.items()}
        super().__init__(plan, batches, plan.setting.horizon)

    def chance(self, batch: int, mean: Fraction, best: Fraction) -> arb:
        # P(S_a + Z_a >= x_t) for the largest x_t
        users, t = self.users[batch - 1], self.index.exponents
        offsets = self.index.offsets[batch - 1]
        rest = np.log1p(float(best) * np.expm1(-t))
        place = int(np.argmax((offsets - users * rest) / t))
        one, offset = arb(float(t[place])), arb(float(offsets[place]))
        sure = 1 - (-one).exp()
        eta = (2 + (abs(offset) / users + 2 * one) / sure) * arb(2) ** -40
        least = (offset - users * (1 - (ball(best) - eta) * sure).log()) / one

        def exponent(s: float) -> arb:
            return users * _log_coin(mean, s) + self.log_mgf(batch, s) - arb(s) * least

        return _least(exponent, _end(self.batches[batch]))


def _bounds(plan: Plan) -> _Bounds:
    index = plan.index
    return _Elimination(plan) if index is None else _Indexed(plan, index)


def _log_coin(mean: Fraction, s: float) -> arb:
    """log(1 - mean + mean e^s)."""
    return (ball(mean) * arb(s).expm1()).log1p()


def _end(batch: Batch) -> float:
    """s stays below this, so that the noise has a moment generating function at s and -s."""
    return mgf_end(batch.release.noise, batch.release.precision)


def _least(exponent: Callable[[float], arb], end: float) -> arb:
    """e^(exponent(s)) at an s that about minimises it, by golden section: it is convex in s."""
    low, high = 0.0, end * (1 - 1e-6)
    ratio = (5**0.5 - 1) / 2
    points = [high - ratio * (high - low), low + ratio * (high - low)]
    values = [float(exponent(point).mid()) for point in points]
    for _ in range(24):
        if values[0] < values[1]:
            high = points[1]
            points = [high - ratio * (high - low), points[0]]
            values = [float(exponent(points[0]).mid()), values[0]]
        else:
            low = points[0]
            points = [points[1], low + ratio * (high - low)]
            values = [values[1], float(exponent(points[1]).mid())]
    best: arb = exponent(points[values.index(min(values))]).exp()
    return best if best.is_finite() else arb(1)


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
