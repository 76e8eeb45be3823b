"""The error of the analyzed sum that noise and reduction mod m make, for the worst data.

Let s be the sum of the encodings of the k users present (0 <= s <= k g), eta the total noise and D
the representative of s + eta mod m in the window -tau, ..., m - 1 - tau, so that A = D/g. D - s is
the representative of eta mod m in the shifted window -tau - s, ..., m - 1 - tau - s. Hence

    |D - s| <= t  if and only if  eta mod m lies in [max(-t, -tau - s), min(t, m - 1 - tau - s)],

a run of fewer than m residues. For t <= tau and m >= k g + tau + t + 1 it is [-t, t] whatever s:
how likely A is off by more than t/g does then not depend on the data.

*The worst data* otherwise. As s grows, the run first only gains outcomes (its lower end falls; its
upper end falls only where the run is already complete, of probability 1), then is constant, then
only loses them. So its probability rises and then falls: it is least at s = 0 or s = k g.
"""

from __future__ import annotations

from fractions import Fraction

from flint import acb, arb, ctx

from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, exact, whole
from ...exact.precision import WIDTH, refine, working_precision
from ..laws.floats import to_float
from ..laws.law import Law
from ..laws.search import first_within
from .protocol import SumProtocol

_MOST_PERIODS = 10_000  # beyond, what is left is only known to lie between 0 and the tail
_FAR, _DEVIATIONS, _STEEPEST = 10**15, 50, 1.0  # keep the s of Chernoff's bound small
_ZERO = Enclosure.exactly(0)


def off_probability(
    protocol: SumProtocol,
    threshold: ExactInput | None = None,
    missing: ExactInput = 0,
    width: Fraction = WIDTH,
) -> Enclosure:
    """max over data of P(|A - S/g| > t/g): noise and wrap-around, not the rounding.

    S: the sum of the encodings of those present. threshold: t in units of 1/g, the protocol's
    accuracy tau if None. missing: users whose messages are not in the sum.
    """
    absent = _missing(protocol, missing)
    t = protocol.accuracy if threshold is None else whole(threshold, "threshold", at_least=0)
    if t >= (largest_error(protocol, absent) or t + 1):
        return _ZERO
    found = refine(lambda: off_ball(protocol, t, absent), width=width)
    return found.intersection(Enclosure.probability())


def off_ball(protocol: SumProtocol, t: int, missing: int) -> arb:
    """`off_probability` at the working precision."""
    law, m = protocol.total_noise(missing), protocol.modulus
    if m is None:
        return outside(law, -t, t, None)
    runs = {
        (max(-t, -protocol.accuracy - s), min(t, m - 1 - protocol.accuracy - s))
        for s in (0, _most(protocol, missing))
    }
    worst = arb(0)
    for low, high in runs:
        worst = worst.max(outside(law, low, high, m))
    return worst


def wrap_probability(
    protocol: SumProtocol, missing: ExactInput = 0, width: Fraction = WIDTH
) -> Enclosure:
    """max over data of P(the noisy sum is outside the window), where A is off by about m/g.

    P(eta in [-tau - s, m - 1 - tau - s]) is that of a window of m outcomes, which slides down as s
    grows. From s - 1 to s it changes by p(-tau - s) - p(m - tau - s). For log-concave p the ratio
    of the two falls in s, for symmetric unimodal p the second outcome comes nearer to 0 than the
    first: the probability rises, then falls, and is least at s = 0 or s = k g. For noise of no
    proved shape each of the two tails is taken at its own worst s: an upper bound.

    protocol: with its noise and modulus. missing: users whose shares are not in it. width: the
    relative width of the answer. Raises ParameterError for what is out of range.

    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.protocols import SumProtocol
    >>> protocol = SumProtocol(100, 8, accuracy=48, modulus=897, noise=Skellam(variance=1))
    >>> wrap_probability(protocol) <= "1e-6"
    True
    """
    absent = _missing(protocol, missing)
    law, m, tau = protocol.total_noise(absent), protocol.modulus, protocol.accuracy
    if m is None:
        return _ZERO
    top, most = m - 1 - tau, _most(protocol, absent)

    def compute() -> arb:
        spots = [(-tau - 1, -1), (-tau - most - 1, -1), (top + 1, 1), (top - most + 1, 1)]
        nearest = min(spots, key=lambda spot: spot[0] * spot[1])
        most_likely = _tail(law, *nearest)
        below, above = (
            [
                most_likely if spot == nearest else tail_beside(law, *spot, most_likely)
                for spot in side
            ]
            for side in (spots[:2], spots[2:])
        )
        worst = (below[0] + above[0]).max(below[1] + above[1])
        return worst if law.shape_is_proved else worst.union(below[0] + above[1])

    return refine(compute, width=width).intersection(Enclosure.probability())


def wrapping(law: Law, most: int, modulus: int) -> arb:
    """P(v + Z leaves [-m/2, m/2 - 1]) for the worst v within `most`, m even, Z symmetric, unimodal.

    That has m integers: with v >= 0 this interval of Z moves away from 0 as v grows, and for -v it
    is nearer. So the largest v is the worst.
    """
    half = modulus // 2
    near = law.upper_tail(half - most)
    return near + tail_beside(law, half + most + 1, 1, near)


def noise_quantile(protocol: SumProtocol, failure: ExactInput, missing: ExactInput = 0) -> int:
    """The least t such that A is off by more than t/g with probability at most `failure`.

    Raises UndecidedError where some probability cannot be told from it.
    """
    p = exact(failure, "failure", above=0, at_most=1)
    absent = _missing(protocol, missing)
    return first_within(
        lambda t: off_ball(protocol, t, absent),
        p,
        "P(off by more than {}/g)",
        guess=4 * max(1, int(float(protocol.total_noise(absent).moments().variance.upper) ** 0.5)),
        end=largest_error(protocol, absent),
    )


def largest_error(protocol: SumProtocol, missing: int = 0) -> int | None:
    """What g |A - S/g| never exceeds; None without a modulus. The encodings are in 0, ..., k g."""
    if protocol.modulus is None:
        return None
    top = protocol.modulus - 1 - protocol.accuracy
    return max(protocol.accuracy + _most(protocol, missing), top)


def outside(law: Law, low: int, high: int, period: int | None) -> arb:
    """P(X is in no [low + jm, high + jm], j whole), m = period; None: P(X is not in [low, high]).

    The gaps between the runs are summed outward, to both sides. P(X >= t) falls in t, so what the
    gaps from t on contain lies between 0 and P(X >= t).
    """
    if high < low:
        return arb(1)
    if period is None:
        tail = law.upper_tail(high + 1)
        return 2 * tail if law.symmetric and low == -high else tail + law.lower_tail(low - 1)
    gap = period - (high - low + 1)
    if gap <= 0:
        return arb(0)
    right = _gaps(law, high + 1, gap, period, 1)
    if law.symmetric and low == -high:
        return 2 * right
    return right + _gaps(law, low - 1, gap, period, -1)


def _gaps(law: Law, start: int, length: int, period: int, side: int) -> arb:
    total, place = arb(0), start
    reached = _tail(law, place, side)
    for _ in range(_MOST_PERIODS):
        if reached <= total * _negligible():
            break
        total += reached - tail_beside(law, place + side * length, side, total + reached)
        place += side * period
        reached = tail_beside(law, place, side, total)
    return total + arb(0).union(reached)


def tail_beside(law: Law, t: int, side: int, other: arb) -> arb:
    """P(X >= t) for side 1, P(X <= t) for side -1, to be added to `other`.

    Where that is negligible beside it, between 0 and Chernoff's bound E e^(s(X - t)), s > 0 for
    the upper tail and s < 0 for the lower one: far out an integral would take long, for nothing.
    """
    bound = chernoff(law, t, side)
    return arb(0).union(bound) if bound <= other * _negligible() else _tail(law, t, side)


def _tail(law: Law, t: int, side: int) -> arb:
    return law.upper_tail(t) if side > 0 else law.lower_tail(t)


def chernoff(law: Law, t: int, side: int) -> arb:
    """Chernoff's bound of P(X >= t) for side 1, P(X <= t) for side -1; 1 where it is no better.

    At about the best s for Gaussian noise, kept inside the strip.
    """
    mean, variance = (float(each.lower) for each in law.moments())
    far = min(side * t, _FAR) - side * mean
    if far <= 0 or variance <= 0:
        return arb(1)
    end = law.mgf_domain[side > 0]
    inside = _STEEPEST if end is None else abs(to_float(end)) * 15 / 16
    s = arb(side * min(far / variance, _DEVIATIONS / variance**0.5, inside, _STEEPEST))
    with working_precision(ctx.prec + 2 * abs(t).bit_length() + 24):
        exponent, factor = law.transform(acb(s))
        found: arb = ((exponent - t * s).exp() * factor).real
    return found if found.is_finite() else arb(1)


def _negligible() -> arb:
    return arb(2) ** -(ctx.prec + 8)


def _most(protocol: SumProtocol, missing: int) -> int:
    return (protocol.users - missing) * protocol.precision


def _missing(protocol: SumProtocol, missing: ExactInput) -> int:
    return whole(missing, "missing", at_least=0, at_most=protocol.users - 1)
