"""How often sequential halving errs at most, on an instance of known means.

Statement. Let m arms be best, of mean mu_*, and n not; N_b the users of an arm's first b batches, X
the sum that these release, Z the noise in it, k = K_(b+1). With Chernoff's bounds, t > 0,

    q_a    = min over t of (1 + mu_a (e^t - 1))^N_b E e^(tZ) (1 + mu_* (e^-t - 1))^N_b E e^(-tZ)
    p_a(x) = min over t of e^(-tx) (1 + mu_a (e^t - 1))^N_b E e^(tZ), and at most 1
    r(x)   = min over t of e^(tx) (1 + mu_* (e^-t - 1))^N_b E e^(-tZ)

the answer is not best with probability at most m * (sum over b of the least of all these) + w:

    (sum of all q_a but the s largest)/(k - s), 0 <= s < k, and
    r(x) + e^(-n kl(k/n, p(x))), p(x) < k/n the mean of the p_a(x), any x;

0 where n < k; w bounds the probability that some release is misread. It holds whatever the laws of
the rewards in [0, 1] (independent, with these means).

Proof. Imagine tapes: rewards and noise of each arm are drawn beforehand, batch by batch, and which
arms are left decides only how much of a tape is seen. If no best arm is the answer let b be the
batch after which the last one, *, leaves. All k arms that stay are not best, and X_a >= X_* for
each: so, on the tapes, at least k arms that are not best have this. Leave out s of these: at least
k - s others have it, by Markov's inequality with probability at most the sum of
P(X_a >= X_*) <= q_a over the others, by k - s. Or: X_* <= x, with probability at most r(x), or at
least k of n independent events X_a >= x take place, of probability p_a(x) at most each, to which
Chernoff's bound applies, e^(-n kl(k/n, p)) (Hoeffding 1963, Theorem 1), and it increases with p.
Where E e^(ts) occurs for a reward s in [0, 1] of mean mu, it is at most 1 + mu (e^t - 1), t of any
sign (as above). * is one of m arms. A release is misread by its own noise, fresh whichever arm it
is of: w is the sum over b of K_b times that of one release. QED.

Of many arms the means of some are raised to those of others, which raises q_a and p_a.

Rounding. Logarithms of noise's parts are rounded up; floats find the rest up to a few 2^-53 of
N_b e^t, t |x| and of noise's part: 2^-46 of each, and 2^-40, are put on top; p(x) and what comes
of it have 2^-30 for theirs.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.precision import enclose, upper_float, working_precision
from ..environments.environment import Environment
from ..plan import Plan
from ..policies import remaining
from ..radius.index import Look, overflow_chances
from ..radius.noise import BITS, cumulated_log_mgf, exponents, mgf_end

_STEP = 0.1  # of log(t/(end - t)) from one t to the next
_HIGHEST = 6.0
_LEVELS = 100  # x
_ALONE = 64  # of the nearest arms keep their own means, and as many groups of the others have one
_SLACK = 2.0**-46
_ROUNDED = 2.0**-30

Floats: TypeAlias = NDArray[np.float64]


@frozen(eq=False)
class _Batch:
    """k and N_b; the t, and there log E e^(tZ) and log E e^(-tZ), rounded up."""

    stay: int
    users: int
    exponents: Floats
    above: Floats
    below: Floats

    def error(self, means: Floats, counts: NDArray[np.int64], best: float) -> float:
        """Above the least of these. means: of the arms that are not best, descending, so many."""
        if (arms := int(counts.sum())) < self.stay:
            return 0.0
        t, users, growth = self.exponents, self.users, np.expm1(self.exponents)
        slack = _SLACK * (users * (1 + growth) + np.abs(self.above) + np.abs(self.below))
        own = users * np.log1p(means[:, None] * growth) + self.above + slack + _ROUNDED / 1024
        star = users * np.log1p(best * np.expm1(-t)) + self.below + slack + _ROUNDED / 1024
        pairs = np.repeat(np.exp(np.minimum((own + star).min(axis=1), 0)), counts)
        rest = np.cumsum(pairs[::-1])[::-1]  # but the 0, 1, ... largest
        found = float((rest[: self.stay] / np.arange(self.stay, 0, -1)).min())
        levels = users * np.linspace(means[-1], best, _LEVELS)
        down = np.exp(np.minimum((star[:, None] + t[:, None] * levels).min(axis=0), 0))
        part = np.zeros(_LEVELS)
        for row, count in zip(own, counts.tolist(), strict=True):
            exponent = (row[:, None] - t[:, None] * levels).min(axis=0)
            part += count / arms * np.exp(np.minimum(exponent, 0))
        part = np.clip(part * (1 + _ROUNDED), 1e-300, None)
        split = down + np.where(part < self.stay / arms, _tail(arms, self.stay, part), 1.0)
        return min(found, float(split.min())) * (1 + _ROUNDED)


def _tail(arms: int, stay: int, part: Floats) -> Floats:
    """Above P(Bin(arms, part) >= stay), where part < stay/arms."""
    share = stay / arms
    found = stay * np.log(share / part)
    if stay < arms:
        found += (arms - stay) * (np.log1p(-share) - np.log1p(-np.minimum(part, share)))
    return np.asarray(np.exp(-np.maximum(found * (1 - _ROUNDED) - _ROUNDED, 0)))


@frozen(eq=False)
class HalvingError:
    """What does not depend on the means: of each batch, and w."""

    batches: list[_Batch]
    overflow: Fraction

    def of(self, environment: Environment) -> Enclosure:
        """From 0 to the bound for this instance; exactly 0 where every arm is best."""
        means, counts = grouped(environment, _ALONE)
        if not len(means):
            return Enclosure.exactly(0)
        best = float(environment.means.max())
        total = sum(Fraction(each.error(means, counts, best)) for each in self.batches)
        total = len(environment.best) * total + self.overflow
        return Enclosure(Fraction(0), min(total, Fraction(1)))


def grouped(environment: Environment, alone: int) -> tuple[Floats, NDArray[np.int64]]:
    """Means of arms that are not best, descending, and how many each; of the nearest their own.

    As many groups of the others have one each, the largest of theirs.
    """
    best = environment.means.max()
    means = -np.sort(-environment.means[environment.means < best])
    ends = np.geomspace(alone, max(len(means), alone), alone).astype(np.int64)
    starts = np.unique(np.append(np.arange(alone), ends))
    starts = starts[starts < len(means)]
    return means[starts], np.diff(np.append(starts, len(means)))


def halving_error(plan: Plan) -> HalvingError:
    """Of an algorithm's batches."""
    left = remaining(plan.setting.arms)
    releases = [batch.release for batch in plan.batches.values()]
    precision, users = releases[0].precision, sum(each.users for each in releases)
    noises = [each.noise for each in releases]
    end = min(mgf_end(each, precision) for each in noises)
    points = exponents(end, math.sqrt(1 / users) / 8, _HIGHEST, _STEP)
    both = [*points.tolist(), *(-points).tolist()]
    above, below = np.split(cumulated_log_mgf(noises, precision, both, upper_float), 2, axis=1)
    total = accumulate(each.users for each in releases)
    batches = [
        _Batch(left[row + 1], users, points, above[row], below[row])
        for row, users in enumerate(total)
    ]
    with working_precision(BITS):
        wrong = arb(0)
        for arms, each in zip(left, releases, strict=False):
            look = Look(each.users, each.precision, each.noise, each.decoding)
            wrong += arms * sum(overflow_chances(look), arb(0))
        return HalvingError(batches, Fraction(enclose(wrong).upper))
