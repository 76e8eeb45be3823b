"""rho of zero-concentrated DP: the supremum of D_a/a over every order a > 1, proved.

K(a) = (a-1) D_a = log M(a), M(a) = sum P^a Q^(1-a) = E_Q e^(aL), is convex, and K(1) = 0. The
orders from 1 to infinity are covered completely, by intervals and a tail:

*On [a, b]*, Taylor: K(a+t) <= K(a) + K'(a) t + k t^2/2 with k >= sup K''. K'' is the variance of
the loss under the law tilted by a, so at most its second moment about any c: K'' <= N''/N for
N(a) = E_Q e^(a(L-c)) = e^(-ac) M(a). N'' is convex: it is largest at a or b. N is convex: it lies
above its tangents at a and b. With c near K' the bound is sharp as b -> a.

*The ratio* of this quadratic to (a+t)(a+t-1) is at most the largest ratio of their Bernstein
coefficients on [a, b] (those of the denominator are positive; where a = 1 both are divided by t).
Intervals are halved while that exceeds the best lower bound found.

*To infinity*, D_a/a <= (sup L)/a where the loss is bounded; else `Law.zcdp_tail`.

*In closed form.* Let M be an even entire function of order 1 in u = a - 1/2, with zeros iv, v real,
only. It is M(0) times the product of all 1 + u^2/v^2, so that K is concave in u^2 = a(a-1) + 1/4;
it is 0 at a = 1. So D_a/a = K/(a(a-1)) falls: the supremum is its limit at a = 1, K'(1).

Every sampled order, and the limit a -> 1, K'(1) = KL(P || Q), bound the supremum from below.

*Several pairs together*: K is the sum of theirs, and so are K', the bounds of K'' and of the tail.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from flint import arb, ctx

from ...exact.budget import SECOND, OutOfTimeError, within
from ...exact.enclosure import Enclosure
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import enclose
from ...mechanisms.pairs.pair import MixturePair, Pair, SampledPair, ShiftPair, TwoWayPair
from ..losses.law import LaplaceLoss
from ..losses.of_pair import closed_law
from .finite_sums import dominating, is_listed, unreduced
from .largest_loss import largest_loss
from .renyi import CLOSE, bracket, divergence, is_infinite
from .renyi_sums import listed_moments, shared_sums

_ENOUGH = 1 + 2.0**-44  # the search stops when nothing exceeds the best by more
_MOST_ORDERS = 4000
_NARROW = Fraction(1, 10**12)
_SEARCH = 4 * SECOND  # units of work, for each search
_ENDED = "the search for the order that costs most ended with its budget of work"
_NARROWEST = Fraction(1, 1 << 18)
_WIDE = 100_000  # variance beyond which searches take longer than they are worth
_LARGEST_ORDER = Fraction(1 << 40)
_FIRST, _FEW_ORDERS = 1 + Fraction(1, 1 << 20), 64  # between which those of others are tried


class Supremum(NamedTuple):
    """sup D_a/a, and an order at which it is nearly attained (1: in the limit)."""

    value: Enclosure
    order: Fraction


class _Sums(NamedTuple):
    """What the search needs of a pair: M, M', M'' at an order, a bound of D_a/a from one on."""

    derivatives: Callable[[Fraction], Sequence[arb]]
    tail: Callable[[Fraction], arb]


class _Point(NamedTuple):
    """M, M', M'' of each part at an order, and K, K' of all together."""

    order: arb
    parts: list[Sequence[arb]]
    k: arb
    slope: arb


_Parts: TypeAlias = "Sequence[tuple[_Sums, int]]"  # so many uses of each


def supremum(pair: Pair) -> Supremum:
    """Enclose sup over a > 1 of D_a(P || Q)/a at the working precision.

    Where the search does not end narrowly, between what few orders tell and what dominates.
    """
    if isinstance(pair, TwoWayPair):  # what neighbours attain, and the pair unsampled
        found, most = supremum(pair.pair), supremum(pair.pair.pair).value.upper
        return Supremum(Enclosure(found.value.lower, most), found.order)
    pair = unreduced(pair)
    closed = closed_law(pair)
    if isinstance(closed, LaplaceLoss) and not closed.infinite:
        return Supremum(enclose(_of_laplace(closed)), Fraction(1))
    if is_infinite(pair):
        return Supremum(Enclosure.infinite(), Fraction(2))
    each = [] if is_listed(pair) else [supremum(one) for one in dominating(pair)]
    most = max((one.value.upper for one in each), default=Decimal("Infinity"))
    known, order, narrow = Enclosure(_limit(pair), most), _LARGEST_ORDER, _NARROW
    if isinstance(pair, ShiftPair):
        known, order = known.intersection(_of_law(pair)), Fraction(2)
        narrow = CLOSE if pair.law.moments().variance.upper > _WIDE else _NARROW
    if known.is_within(narrow):
        return Supremum(known, order)
    try:
        found = _search([(_sums(pair), 1)])
        if is_listed(pair) and not found.value.is_finite():
            most = max((supremum(one).value.upper for one in dominating(pair)), default=most)
            known = known.intersection(Enclosure(known.lower, most))
        return found._replace(value=found.value.intersection(known))
    except (ArithmeticError, OutOfTimeError):  # no sums, too many terms, or too much work
        if isinstance(pair, ShiftPair):
            if not known.is_finite():
                raise
            return Supremum(known, order)
    orders = {Fraction(2), *(max(one.order, _FIRST) for one in each if one.order <= _FEW_ORDERS)}
    least, order = max((divergence(pair, a).times(1 / a).lower, a) for a in orders)
    return Supremum(Enclosure(min(least, most), most).intersection(known), order)


def _limit(pair: Pair) -> Fraction:
    """What D_a/a comes near at orders without end, as far as it is known.

    Of a discrete Gaussian, and of sums of such. (1-q) Q + q P >= q P makes D_a at least that of (P,
    Q) less a log(1/q)/(a - 1), which vanishes against a; so does log(1/w)/(a - 1) of a part of a
    mixture, w how likely it is.
    """
    if isinstance(pair, MixturePair):
        return max(_limit(one) for _, one in pair.parts)
    plain = pair.facing if isinstance(pair, SampledPair) and pair.sampling.removing else pair
    return plain.law.gaussian_rho(plain.shift) if isinstance(plain, ShiftPair) else Fraction(0)


def _of_law(pair: ShiftPair) -> Enclosure:
    """What its law tells by itself."""
    closed = pair.law.zcdp_closed(pair.shift)
    return bracket(pair) if closed is None else closed


def joint(pairs: Sequence[tuple[Pair, int]]) -> Enclosure:
    """The same of independent pairs together, each so many times."""
    return _search([(_sums(pair), count) for pair, count in pairs]).value


def _of_laplace(law: LaplaceLoss) -> arb:
    """Of discrete Laplace noise and of randomized response, of rate r and shift d: K'(1) is the
    mean loss, r (d - 2 b (1 - b^d)/(1 - b^2)) with b = e^-r.

    M is e^(-r u d) times A + w + w^2 + ... + w^(d-1) + A w^d but for a constant, A = 1/(1 - b), w =
    e^(2 r u). Times w - 1 that is A w^(d+1) - (A-1) w^d + (A-1) w - A, at w = e^(i t) as much as
    A sin((d+1)t/2) - (A-1) sin((d-1)t/2) but for a factor that is not 0. Where its first sine is 1
    or -1, at d + 1 points between 0 and 2 pi, its signs alternate, as A > A - 1 >= 0: there are d
    zeros in between, all that the polynomial has. So |w| = 1, and u is imaginary.
    """
    rate, d = ball(law.rate), law.shift
    if rate == 0:
        return arb(0)
    return rate * (d - 2 * (-rate).exp() * (-rate * d).expm1() / (-2 * rate).expm1())


def of_laplace(epsilon: Fraction) -> arb:
    """The same of continuous Laplace noise, epsilon = sensitivity/scale: K'(1) = e + exp(-e) - 1.

    M(a) = (a e^((a-1)e) + (a-1) e^(-ae))/(2a - 1) is exp(-e/2) times cosh(u e) + sinh(u e)/(2u). It
    is 0 only at u = iv with v cos(v e) = -sin(v e)/2: y = sin(v x) solves -y'' = v^2 y, y(0) = 0,
    y'(e) = -y(e)/2, so that v^2 > 0.
    """
    return ball(epsilon) + (-ball(epsilon)).expm1()


def _sums(pair: Pair) -> _Sums:
    """Raises DoesNotApplyError where they are infinite, or only known between others."""
    pair = unreduced(pair)
    largest = ball(largest_loss(pair).value.upper)
    if is_listed(pair) and largest.is_finite():
        sums = listed_moments(pair)
        return _Sums(lambda order: sums(order, 2), lambda order: largest / ball(order))
    plain = pair.shifted
    is_whole = isinstance(pair, ShiftPair | SampledPair) and not pair.reduced
    if plain is None or not is_whole or is_infinite(pair):
        raise DoesNotApplyError("no sums of it are known")
    noise, most = plain.law, ball(_of_law(plain).upper)

    def tail(order: Fraction) -> arb:
        """Also at most that of the pair that is faced: its supremum, or the tail that is proved."""
        return (largest / ball(order)).min(most).min(noise.zcdp_tail(order, plain.shift))

    return _Sums(lambda order: shared_sums(pair, ctx.prec).summed(order, 2), tail)


def _search(parts: _Parts) -> Supremum:
    """What the orders leave open that so much work reaches stays in the enclosure."""
    best, best_order = arb(0), Fraction(1)
    points: dict[Fraction, _Point] = {}

    def point(order: Fraction) -> _Point:
        nonlocal best, best_order
        if order not in points:
            ms = [sums.derivatives(order) for sums, _ in parts]
            k = _weighted(parts, [m[0].log() for m in ms])
            found = _Point(ball(order), ms, k, _weighted(parts, [m[1] / m[0] for m in ms]))
            points[order] = found
            ratio = found.slope if order == 1 else found.k / ball(order * (order - 1))
            if ratio.lower() > best:
                best, best_order = ratio.lower(), order
        return points[order]

    def tail(order: Fraction) -> arb:
        return _weighted(parts, [sums.tail(order) for sums, _ in parts])

    heap: list[tuple[float, Fraction, Fraction, arb]] = []  # largest bound first
    upper = rest = arb.pos_inf()  # of what is settled, and of what is being split
    why = ""
    try:
        with within(_SEARCH / 2):
            steps = [Fraction(1), Fraction(2)]
            point(steps[0])
            point(steps[1])
            with suppress(OutOfTimeError, DoesNotApplyError):  # the tail begins here, then
                while tail(steps[-1]) > best * _ENOUGH and steps[-1] < _LARGEST_ORDER:
                    point(2 * steps[-1])
                    steps.append(2 * steps[-1])
        upper = tail(steps[-1]).upper()
        waiting = list(pairwise(steps))
        with within(_SEARCH / 2):
            while waiting:
                for low, high in waiting:
                    bound = _bound(parts, point(low), point(high))
                    if bound <= best * _ENOUGH:
                        continue
                    if high - low < _NARROWEST * low:  # the precision is what it lacks
                        upper = upper.max(bound)
                    else:
                        key = -float(bound) if bound.is_finite() else -math.inf
                        heapq.heappush(heap, (key, low, high, bound))
                waiting, rest = [], arb(0)
                if not heap or len(points) >= _MOST_ORDERS:
                    break
                if heap[0][3] > best * _ENOUGH and heap[0][3] > upper:
                    _, low, high, rest = heapq.heappop(heap)
                    waiting = [(low, (low + high) / 2), ((low + high) / 2, high)]
    except (OutOfTimeError, DoesNotApplyError):
        if best == 0:
            raise
        why = _ENDED
    for bound in (best * _ENOUGH, rest, *(bound for _, _, _, bound in heap)):
        upper = upper.max(bound)
    found = Enclosure(enclose(best).lower, enclose(upper.upper()).upper)
    return Supremum(found.because(why) if why else found, best_order)


def _weighted(parts: _Parts, values: Sequence[arb]) -> arb:
    each = zip(parts, values, strict=True)
    return sum((times * value for (_, times), value in each), arb(0))


def _bound(parts: _Parts, left: _Point, right: _Point) -> arb:
    """Bound D_x/x for x in [left, right]."""
    a, width = left.order, right.order - left.order
    curvature = _weighted(
        parts,
        [_largest_curvature(width, *ends) for ends in zip(left.parts, right.parts, strict=True)],
    )
    linear = left.slope * width
    last = left.k + linear + curvature * width * width / 2
    if left.order == 1:
        ratios = [left.slope, (linear + curvature * width * width / 2) / (width * right.order)]
    else:
        ratios = [
            left.k / (a * (a - 1)),
            (left.k + linear / 2) / (a * (a - 1) + (2 * a - 1) * width / 2),
            last / (right.order * (right.order - 1)),
        ]
    found = reduce(arb.max, ratios).upper()
    return arb.pos_inf() if found.is_nan() else found  # where the sums are not known


def _largest_curvature(width: arb, left: Sequence[arb], right: Sequence[arb]) -> arb:
    """Bound K'' of one part between two orders so far apart, from M, M', M'' at both."""
    centre = ((left[1] / left[0] + right[1] / right[0]) / 2).mid()

    def about(m: Sequence[arb], scale: arb) -> tuple[arb, arb, arb]:
        """N, N', N'' there, for N = e^(-(x - middle) c) M."""
        second = m[2] - 2 * centre * m[1] + centre * centre * m[0]
        return scale * m[0], scale * (m[1] - centre * m[0]), scale * second

    half, zero = (centre * width / 2).exp(), arb(0)
    (n, slope, second), (last, falling, other) = about(left, half), about(right, 1 / half)
    # N lies above its tangents
    least = (n + slope.min(zero) * width).max(last - falling.max(zero) * width)
    return second.max(other) / least if least > 0 else arb.pos_inf()
