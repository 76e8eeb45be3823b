"""How long identification takes at most, but with probability 3p, on an instance of known means.

Statement. Let one arm, *, be the only best one. By Chernoff's bounds, with probability at least
1 - p the sum of * after b batches is never below some L(b), and that of any other arm j never above
some V_j(b), for all b <= B at once (p/(2 B), and p/(2 B (K - 1)) each). Take some C <= B and for
each j the least numbers up to C + 1

    s_j   such that for s_j <= b, b' <= C sums of L(b) and V_j(b') tell j from * (by
          `EProcess.surely`), and make the estimate of * the larger one,
    u_j   such that for u_j <= b <= C the index of V_j(b) is below mu_*,
    v_j   such that for v_j <= b <= C the estimate of V_j(b) is below that of L(b'), any b' <= C,

S = max s and M_j = max(s_j, u_j, min(v_j, max u)). If these are at most C a run stops, with *,
after N(S) + sum over j of N(M_j) users, N(b) those of b batches, at most, with probability at least
1 - 3p, if the horizon has so many.

Proof. Imagine tapes: rewards and noise of each arm are drawn beforehand. Besides these bounds let
the index of * never be below mu_*, all be read rightly (1 - p: `radius.index`), and * never be told
from another arm (1 - p: `eprocess`). `surely`, indices and estimates are monotone in sums: what
these numbers say of L and V_j holds of the sums. No arm ever has more batches than S, or M_j: look
at the first time that one would, when * has b <= S and each j has b_j <= M_j; it is not the first
batch of an arm, so that of the leader or of the challenger, which of the two has had fewer users.
If * leads, the challenger j is not told from it, so that b or b_j, and the fewer of both, is less
than s_j. If i leads and * is the challenger, the estimate of * is not the larger one: again the
fewer are less than s_i. If i leads and j, no *, is the challenger, the index of j is at least that
of *, which is not told from i: so b_j < u_j. If i has the batch, b_i <= b_j < u_j; and b_i < v_i,
as its estimate is not below that of *. So who has a batch has had less than S, or M_j, before it:
a contradiction. The run ends, and with *, as * is told from no other arm. QED.

L(b) is the largest (log(p/(2 B)) - log E e^(-tX))/t over t > 0, with E e^(ts) <= 1 + mu (e^t - 1)
for a reward s in [0, 1] of mean mu, t of any sign (Hoeffding 1963); V_j(b) likewise. Of many arms
the means of some are raised to those of others, which raises V_j.

Rounding. Logarithms of noise's parts are rounded up; floats find the rest up to a few 2^-53 of
N e^t and of noise's part: 2^-44 of each, and 2^-38, are put on top. A sum is at most what is
decoded, m units of its grid: so the errors of `surely` and of the index are bounded beforehand.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...exact.precision import upper_float
from ..environments.environment import Environment
from ..plan import Plan
from ..radius.noise import cumulated_log_mgf, exponents, mgf_end
from ..release import ModularRelease
from .eprocess import EProcess
from .halving_error import grouped

_MOST_BATCHES = 140  # pairs of these are listed
_STEP = 0.1  # of log(t/(end - t)) from one t to the next
_HIGHEST = 6.0
_SLACK = 2.0**-44
_NEAR = 2.0**-38
_APART = (
    2.0**-19
)  # of estimates and bounds, above the errors of floats and what `log_e_values` asks for
_ALONE = 8  # as for `grouped`

Floats: TypeAlias = NDArray[np.float64]


def time_bound(plan: Plan, process: EProcess, environment: Environment) -> int | None:
    """Users, with probability 1 - 3p; None where there is no bound, or none within the horizon."""
    last, users = len(plan.batches), process.users
    if len(environment.best) > 1 or last > _MOST_BATCHES or 3 * plan.setting.confidence >= 1:
        return None
    assert plan.index is not None
    means, counts = grouped(environment, _ALONE)
    best, chance = float(environment.means.max()), float(plan.setting.confidence) / (2 * last)
    tails = _tails(plan, users)
    star = tails.below(best, math.log(chance) - _NEAR)
    ours, theirs = (each.ravel() + 1 for each in np.indices((last, last)))
    margin = _margin(plan, process, ours, theirs)
    found = []
    for mean in means.tolist():
        arm = tails.above(mean, math.log(chance / int(counts.sum())) - _NEAR)
        pairs = ours, star[ours - 1], theirs, arm[theirs - 1]
        tell = process.surely(*pairs, margin).reshape(last, last)
        tell &= (star / users)[:, None] > arm / users + _APART * process.precision
        below = plan.index.of(np.arange(1, last + 1), arm) < best - _APART
        found.append((tell, below, arm / users + _APART * process.precision))
    for cap in range(1, last + 1):
        least = (star / users)[:cap].min()
        beaten = [_first(_square(tell[:cap, :cap])) for tell, _, _ in found]
        low = [_first(each[:cap]) for _, each, _ in found]
        ahead = [_first(mean[:cap] < least) for _, _, mean in found]
        needed = [max(s, u, min(v, max(low))) for s, u, v in zip(beaten, low, ahead, strict=True)]
        if max(needed) <= cap:
            total = int(users[max(beaten) - 1])
            total += sum(
                n * int(users[b - 1]) for b, n in zip(needed, counts.tolist(), strict=True)
            )
            return total if total <= plan.setting.horizon else None
    return None


@frozen(eq=False)
class _Tails:
    """The t, and log E e^(tZ) and log E e^(-tZ) after each batch, rounded up; N and g."""

    exponents: Floats
    up: Floats
    down: Floats
    users: Floats
    precision: int

    def below(self, mean: float, level: float) -> Floats:
        """What sums are below with probability e^level at most, in units of 1/g, by batches."""
        found = (level - self._log_mgf(mean, -1, self.down)) / self.exponents
        return np.asarray(found.max(axis=1) * self.precision)

    def above(self, mean: float, level: float) -> Floats:
        """What they are above with this probability at most."""
        found = (self._log_mgf(mean, 1, self.up) - level) / self.exponents
        return np.asarray(found.min(axis=1) * self.precision)

    def _log_mgf(self, mean: float, sign: int, noise: Floats) -> Floats:
        growth, users = np.expm1(self.exponents), self.users[:, None]
        error = _SLACK * (users * (2 + growth) + np.abs(noise)) + _NEAR
        found = users * np.log1p(mean * np.expm1(sign * self.exponents))
        return np.asarray(found + noise + error)


def _tails(plan: Plan, users: NDArray[np.int64]) -> _Tails:
    noises = [batch.release.noise for batch in plan.batches.values()]
    precision = next(iter(plan.batches.values())).release.precision
    end = min(mgf_end(each, precision) for each in noises)
    points = exponents(end, math.sqrt(1 / int(users[-1])) / 8, _HIGHEST, _STEP)
    both = [*points.tolist(), *(-points).tolist()]
    up, down = np.split(cumulated_log_mgf(noises, precision, both, upper_float), 2, axis=1)
    return _Tails(points, up, down, users.astype(float), precision)


def _margin(
    plan: Plan, process: EProcess, ours: NDArray[np.int64], theirs: NDArray[np.int64]
) -> Floats:
    """Above what floats may make of `surely` for sums less than for their bounds."""
    releases = [batch.release for batch in plan.batches.values()]
    most = [
        each.largest / each.precision if isinstance(each, ModularRelease) else each.users
        for each in releases
    ]
    large = process.users + np.cumsum(most)
    parts = np.maximum(np.abs(process.above), np.abs(process.below)).max(axis=1)
    large = parts + 2 * process.exponents[-1] * large
    return np.asarray(4 * _SLACK * (1 + large[ours - 1] + large[theirs - 1]))


def _first(holds: NDArray[np.bool_]) -> int:
    """From which number on it holds; beyond the last one where it does not."""
    return len(holds) - int(np.logical_and.accumulate(holds[::-1]).sum()) + 1


def _square(holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of each number: does it hold for all pairs of which it is the smaller one?"""
    return np.array([holds[at, at:].all() and holds[at:, at].all() for at in range(len(holds))])
