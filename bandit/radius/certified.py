"""A confidence radius with a certified probability that the best arm is ever eliminated.

Statement. Fix an arm a* of the largest mean. With the radii `table`, whatever the laws of the
rewards in [0, 1] (independent, of one mean for each arm),

    P(a* is ever eliminated) <= failure.upper <= p.

Proof. Let A_b be the number of arms active in batch b. Everything up to batch b - 1 decides which
they are; users and noise of batch b are fresh. Given the past, a* is eliminated in batch b only if
the estimate of some other active arm a exceeds its own by more than 2 beta(b, A_b). Leave decoding
aside: then D > 2 beta n g for the difference D of the two noisy sums in units of 1/g. D is a whole
number, so that D >= k for k = floor(2 beta n g) + 1, and `exceedance` bounds that for each of the
A_b - 1 arms, since their means are not above that of a* (randomized rounding keeps means and
independence); more sharply where what is encoded is 0 or 1. Decoding mod m can only add
to this where the sum of an arm a is read too large, or that of a* too small: the one needs
noise < -tau, as rewards are not negative, the other noise > m - 1 - tau - n g, as they are at most
g each; n g <= m - 1 - tau. So

    P(a* leaves in batch b | past) <= f(b, A_b),
    f(b, A) = (A - 1) (P(D >= k) + P(noise < -tau)) + P(noise > m - 1 - tau - n g).

A batch that A arms complete took A (n_1 + ... + n_b) users, so A_b <= `RadiusPlan.most_active`;
only A_b >= 2 eliminates. Taking expectations and adding up over batches, P <= sum over b of the
largest f(b, A), 2 <= A <= most_active(b): that is `failure`.

Where estimates are cumulative they are not fresh. Imagine tapes: the i-th reward of an arm and the
noise of its b-th batch are drawn beforehand. For each b and each of the K - 1 other arms
P(D_b >= k) is bounded as above, k from the least beta(b, A); the union over all of them is
`failure`.

Rounding. A table made here puts 2 beta n g midway between whole numbers, and decisions are allowed
an error of 2^-44 (1 + beta) in the comparison of means: floats will do.

How the failure probability is shared out among the batches. A choice: no bound depends on it.

An arm of gap t is eliminated about when t_b = 2 beta(b) falls below t, t_b(L) as a function of
L = log(1/level). If it stays for another batch, that costs n_{b+1} users their gap. With gaps of
density t^-a, the regret that batch b leaves behind is of the order of n_{b+1} t_b^(2-a), as long
as t_b < 1; batches with t_b > 1 eliminate nothing that could be. Setting the derivatives by the
shares equal makes the level of b proportional to n_{b+1} t_b^(1-a) t_b'(L). a = 1/2 lies between
gaps spread evenly (best for easy instances) and gaps of every order of magnitude (best for hard
ones), and came within 5 % of the better of the two wherever it was simulated.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.number import ParameterError
from ...exact.precision import enclose, working_precision
from ...mechanisms.laws.law import Law
from .exceedance import Comparison, comparison
from .noise import BITS
from .plan import ContinuousLaplace, RadiusPlan

_SLACK = Fraction(1, 2**44)
_LEAST = Fraction(1, 10**15)
_ATTEMPTS = 8


@frozen(eq=False)
class CertifiedRadius:
    """beta[b - 1, active], and a bound of the probability that a best arm is ever eliminated.

    table    shape (B, K + 1); infinite for active = 0, for batches that no two arms complete, and
             for those that come too soon after another to be worth a share (`looks`)
    failure  encloses the bound that is proved (the probability itself is at most its upper end)
    shares   what each batch contributes to it, at most
    overflows    of that, what is due to sums that are decoded wrongly
    """

    table: NDArray[np.float64]
    failure: Enclosure
    shares: tuple[Enclosure, ...]
    overflows: tuple[Enclosure, ...]


@lru_cache(maxsize=64)
def certified_radius(plan: RadiusPlan) -> CertifiedRadius:
    """The radii of a plan, as narrow as is proved here.

    Raises ParameterError where wrong decoding alone exceeds the confidence asked for.
    """
    if plan.confidence < _LEAST:
        raise ParameterError(f"confidence must be at least 1e-15, got {float(plan.confidence):g}")
    numbers = looks(plan)
    spent = sum(float(_wrap(plan, b).upper()) for b in numbers)
    left = float(plan.confidence) * (1 - 2**-20) - spent
    if left <= 0:
        raise ParameterError(
            f"confidence must be above what wrong decoding costs, {spent:.3g}, "
            f"got {float(plan.confidence):g}"
        )
    compared = [_comparison(plan, b) for b in numbers]
    shared = levels(plan, numbers, compared, left)
    for _ in range(_ATTEMPTS):
        table = np.full((len(plan.batches), plan.arms + 1), np.inf)
        for b, one, level in zip(numbers, compared, shared, strict=True):
            table[b - 1, 1:] = _row(plan, b, one, level)
        failure, shares = _failure(plan, table)
        if failure.at_most(plan.confidence) is True:
            break
        shared = shared * 0.98  # the thresholds were chosen in floats
    else:
        raise ArithmeticError(f"the radii fail with probability {failure}, above {plan.confidence}")
    table.flags.writeable = False  # it is shared with whoever asks for the same plan again
    overflows = (
        _wrap(plan, b) if b in numbers else arb(0) for b in range(1, len(plan.batches) + 1)
    )
    return CertifiedRadius(table, failure, shares, tuple(map(enclose, overflows)))


def _failure(
    plan: RadiusPlan, table: NDArray[np.float64]
) -> tuple[Enclosure, tuple[Enclosure, ...]]:
    with working_precision(BITS):
        shares, total = [], arb(0)
        for b in range(1, len(plan.batches) + 1):
            share = _share(plan, b, table[b - 1])
            shares.append(enclose(share))
            total += share
        return enclose(total), tuple(shares)


def _share(plan: RadiusPlan, batch: int, radii: NDArray[np.float64]) -> arb:
    """max over A of f(batch, A); a batch whose radii are infinite eliminates nothing."""
    most = plan.most_active(batch)
    thresholds: dict[int, int] = {}  # k: the most active arms that have it
    for active in range(2, most + 1):
        if math.isfinite(radii[active]):
            k = _threshold(plan, batch, float(radii[active]))
            thresholds[k] = max(active, thresholds.get(k, 0))
    if not thresholds:
        return arb(0)
    if plan.cumulative:
        thresholds = {min(thresholds): plan.arms}
    compared = _comparison(plan, batch)
    worst = arb(0)
    for k, active in thresholds.items():
        worst = worst.max((active - 1) * compared.ball(k))
    return worst + _wrap(plan, batch)


def _threshold(plan: RadiusPlan, batch: int, beta: float) -> int:
    """The least k that D has reached where the means differ by more than 2 beta, errors included.

    For noise on the reals k = floor(2 beta n g): D > 2 beta n g implies D >= k.
    """
    scale = plan.batches[batch - 1] * plan.precisions[batch - 1]
    exact = Fraction(beta)
    return math.floor((2 * exact - _SLACK * (1 + exact)) * scale) + int(_whole(plan, batch))


def _row(plan: RadiusPlan, batch: int, compared: Comparison, share: float) -> NDArray[np.float64]:
    """beta for 1, ..., K active arms, from what each comparison may fail with."""
    scale = plan.batches[batch - 1] * plan.precisions[batch - 1]
    if plan.cumulative:
        rivals = np.full(plan.arms, plan.arms - 1)
    else:
        rivals = np.clip(np.arange(plan.arms), 1, max(plan.most_active(batch) - 1, 1))
        rivals = _coarser(rivals)
    kinds, places = np.unique(rivals, return_inverse=True)
    ks = compared.least(np.log(share / kinds))
    if _whole(plan, batch):
        radii = (ks - 0.5) / (2 * scale)
    else:
        radii = ks / (2 * scale) * (1 + 2.0**-40) + 2.0**-44
    return radii[places]


def _coarser(rivals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Few different numbers: above 32 they are rounded up to five binary digits."""
    digits = np.maximum(np.floor(np.log2(np.maximum(rivals, 1))).astype(np.int64) - 4, 0)
    unit = 1 << digits
    rounded: NDArray[np.int64] = -(-rivals // unit) * unit
    return rounded


def _wrap(plan: RadiusPlan, batch: int) -> arb:
    """(A - 1) P(noise < -tau) + P(noise > m - 1 - tau - n g) for the most active arms."""
    decoding, noise = plan.decodings[batch - 1], plan.noises[batch - 1]
    if decoding is None or noise is None:
        return arb(0)
    if plan.cumulative or not isinstance(noise, Law):
        raise ParameterError("decodings need discrete noise, of batches that stand alone")
    largest = plan.batches[batch - 1] * plan.precisions[batch - 1]
    room = decoding.modulus - 1 - decoding.accuracy - largest
    if room < 0:
        raise ParameterError(
            f"modulus must be at least n g + accuracy + 1 = {largest + decoding.accuracy + 1}, "
            f"got {decoding.modulus}"
        )
    with working_precision(BITS):
        rivals = plan.most_active(batch) - 1
        above = _beyond(noise, room + 1)
        same = noise.symmetric and room == decoding.accuracy
        below = above if same else noise.lower_tail(-decoding.accuracy - 1)
        return rivals * below + above


@lru_cache(maxsize=256)
def _beyond(noise: Law, t: int) -> arb:
    return noise.upper_tail(t)


def _whole(plan: RadiusPlan, batch: int) -> bool:
    """Is D a whole number? With integer noise, added to encoded rewards; of bits without noise."""
    noise = plan.noises[batch - 1]
    return plan.binary if noise is None else not isinstance(noise, ContinuousLaplace)


def _comparison(plan: RadiusPlan, batch: int) -> Comparison:
    index = batch - 1
    users, precision, noise = (
        entries[index] for entries in (plan.batches, plan.precisions, plan.noises)
    )
    # on the grid 0, 1 integer noise is added to bits
    bits = plan.binary or (precision == 1 and _whole(plan, batch))
    return comparison(users, precision, noise, _depth(plan), bits)


def _depth(plan: RadiusPlan) -> int:
    """How far tails are followed: to 2^-depth, small beside each comparison's least share."""
    comparisons = len(plan.batches) * plan.arms
    return 18 + math.ceil(math.log2(comparisons / plan.confidence))


_ROUNDS = 12
_LEAST_SHARE = 2.0**-12  # of an equal share: what a batch gets that is too early to eliminate
_GROWTH = 1.15  # batches that grow more slowly than this are not all looked at
_POWER = 0.5  # 1 - a


def looks(plan: RadiusPlan) -> list[int]:
    """The batches, 1, 2, ..., that may eliminate: each by a factor larger than the last one."""
    found: list[int] = []
    for batch in range(1, len(plan.batches) + 1):
        if plan.most_active(batch) < 2:
            break
        if not found or plan.batches[batch - 1] >= _GROWTH * plan.batches[found[-1] - 1]:
            found.append(batch)
    return found


def levels(
    plan: RadiusPlan, numbers: list[int], compared: list[Comparison], total: float
) -> NDArray[np.float64]:
    """What each of these batches may fail with; the sum is `total`."""
    count = len(numbers)
    if count == 0:
        return np.zeros(0)
    rivals = np.array([max(plan.most_active(b) - 1, 1) for b in numbers], dtype=np.float64)
    if plan.cumulative:
        rivals[:] = plan.arms - 1
    follow = _following(plan, numbers)
    least = total * _LEAST_SHARE / count
    shares = np.full(count, total / count)
    for _ in range(_ROUNDS):
        weights = np.zeros(count)
        for index, one in enumerate(compared):
            level = np.log(shares[index] / rivals[index])
            near, far = one.least(np.array([level, level - 0.5])) / (one.users * one.precision)
            if near < 1:
                weights[index] = follow[index] * near**_POWER * (far - near)
        if not weights.sum() > 0:
            break
        fresh = np.maximum(weights / weights.sum() * total, least)
        shares = fresh / fresh.sum() * total
    return shares


def _following(plan: RadiusPlan, numbers: list[int]) -> NDArray[np.float64]:
    """How many users an arm meets up to the next look, or to the end of the horizon."""
    sizes = np.array(plan.batches, dtype=np.float64)
    used = sizes if plan.cumulative else np.cumsum(sizes)
    ends = np.minimum(used[np.array(numbers) - 1], plan.horizon / 2)
    beyond = min(max(2 * ends[-1], 1.0), plan.horizon / 2)
    return np.maximum(np.diff(np.append(ends, beyond)), 1.0)
