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

*To infinity*, D_a/a <= (sup L)/a where the loss is bounded; else `ZCDPTail`.

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

from flint import arb, arb_series, ctx

from ...exact.budget import SECOND, OutOfTimeError, within
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import enclose
from ...mechanisms.laws.closed_forms import ClosedZCDP, RationalRenyi, ZCDPTail
from ...mechanisms.pair import MixturePair, Pair, ResponsePair, SampledPair, TwoWayPair
from ...mechanisms.shift_pair import ShiftPair, WrappedPair
from .finite_sums import is_listed, listed, renyi_sums
from .largest_loss import largest_loss
from .renyi import CLOSE, bracket, divergences, is_infinite, takes_long
from .renyi_sums import shared_sums

_ENOUGH = 1 + 2.0**-44  # the search stops when nothing exceeds the best by more
_MOST_ORDERS = 4000
_NARROW = Fraction(1, 10**12)
_SEARCH = 4 * SECOND  # units of work, for each search
_NARROWEST = Fraction(1, 1 << 18)
_WIDE = 100_000  # variance beyond which searches take longer than they are worth
_LARGEST_ORDER = Fraction(1 << 40)
_FEW_ORDERS = 64  # up to which those of a mixture are tried


class Supremum(NamedTuple):
    """sup D_a/a, and an order at which it is nearly attained (1: in the limit)."""

    value: Enclosure
    order: Fraction


class _Sums(NamedTuple):
    """What the search needs of a pair: M, M', M'' at an order, a bound of D_a/a from one on."""

    derivatives: Callable[[Fraction], tuple[arb, arb, arb]]
    tail: Callable[[Fraction], arb]


class _Point(NamedTuple):
    """M, M', M'' of each part at an order, and K, K' of all together."""

    order: arb
    parts: list[tuple[arb, arb, arb]]
    k: arb
    slope: arb


_Parts: TypeAlias = "Sequence[tuple[_Sums, int]]"  # so many uses of each


def supremum(pair: Pair) -> Supremum:
    """Enclose sup over a > 1 of D_a(P || Q)/a at the working precision."""
    if isinstance(pair, TwoWayPair):  # between what neighbours attain, and the pair unsampled
        found, most = supremum(pair.pair), supremum(pair.pair.pair).value.upper
        return Supremum(Enclosure(found.value.lower, most), found.order)
    if isinstance(pair, ResponsePair):
        if pair.delta:
            return Supremum(Enclosure.infinite(), Fraction(2))
        # K(a) = log cosh(u epsilon)/cosh(epsilon/2), u = a - 1/2. log cosh is concave in u^2 (its
        # product formula), so K/(u^2 - 1/4) falls: the supremum is its limit at a = 1, K'(1).
        epsilon = ball(pair.epsilon)
        return Supremum(enclose(epsilon * (epsilon / 2).tanh()), Fraction(1))
    if isinstance(pair, ShiftPair):
        return _of_shift(pair)
    if is_listed(pair):
        return _of_listed(pair)
    if isinstance(pair, MixturePair):
        return _of_mixture(pair)
    if isinstance(pair, WrappedPair):
        return _of_large_modulus(pair)
    assert isinstance(pair, SampledPair)
    return _of_sampled(pair)


def _of_sampled(pair: SampledPair) -> Supremum:
    """At most that of the pair it faces, by quasi-convexity of divergences.

    (1-q) Q + q P >= q P makes D_a at least that of (P, Q) less a log(1/q)/(a - 1), which vanishes
    against a: where the supremum is met at orders without end, as the discrete Gaussian's is at
    all whole ones, it stays the same.
    """
    plain = pair.facing
    if pair.removing and is_infinite(plain):
        return Supremum(Enclosure.infinite(), Fraction(2))
    if (known := _met_without_end(pair)) is not None:
        return Supremum(Enclosure.exactly(known), _LARGEST_ORDER)
    try:
        sums = _sums(pair)
        if sums is None:
            raise ArithmeticError("the outcomes are too many")
        found = _search([(sums, 1)])
    except (ArithmeticError, OutOfTimeError):
        least = divergences(pair, [Fraction(2)])[0].lower
        found = Supremum(Enclosure(_shared(least, Fraction(2)), Decimal("Infinity")), Fraction(2))
    if found.value.is_within(_NARROW):
        return found
    most = supremum(plain).value.upper
    return Supremum(found.value.intersection(Enclosure(Fraction(0), most)), found.order)


def _met_without_end(pair: Pair) -> Fraction | None:
    """The supremum, where it is known to be met, or come near, at orders without end."""
    plain = pair.facing if isinstance(pair, SampledPair) and pair.removing else pair
    return _rational(plain) if isinstance(plain, ShiftPair) else None


def _of_mixture(pair: MixturePair) -> Supremum:
    """At most the largest of all parts (quasi-convexity); at least what a few orders tell.

    D_a is at least that of a part less log(1/w)/(a - 1), w how likely it is: as for sampled pairs.
    """
    each = [supremum(one) for _, one in pair.parts]
    most = max(one.value.upper for one in each)
    if most in [_met_without_end(one) for _, one in pair.parts]:
        return Supremum(Enclosure(most, most), _LARGEST_ORDER)
    orders = sorted({Fraction(2), *(one.order for one in each if 2 < one.order <= _FEW_ORDERS)})
    curve = zip(divergences(pair, orders), orders, strict=True)
    least, order = max((_shared(value.lower, order), order) for value, order in curve)
    return Supremum(Enclosure(min(least, most), most), order)


def _shared(end: Endpoint, order: Fraction) -> Endpoint:
    return end if end == Decimal("Infinity") else Fraction(end) / order


def _of_listed(pair: Pair) -> Supremum:
    sums = _sums(pair)
    if sums is not None:
        return _search([(sums, 1)])
    largest = largest_loss(pair).value
    least = enclose(renyi_sums(listed(pair), arb(2))[0].log() / 2) if pair.slack else largest
    return Supremum(Enclosure(least.lower, largest.upper), Fraction(2))


def joint(pairs: Sequence[tuple[Pair, int]]) -> Supremum | None:
    """The same of independent pairs together, each so many times; None where one has no sums."""
    parts = []
    for pair, times in pairs:
        sums = _sums(pair)
        if sums is None:
            return None
        parts.append((sums, times))
    return _search(parts)


def laplace_supremum(epsilon: Fraction) -> Supremum:
    """The same of continuous Laplace noise, epsilon = sensitivity/scale.

    M(a) = (a e^((a-1)e) + (a-1) e^(-ae))/(2a - 1) (`losses.continuous.sampled_laplace`); L <= e.
    """
    e = ball(epsilon)

    def derivatives(order: Fraction) -> tuple[arb, arb, arb]:
        a = arb_series([ball(order), 1], prec=3)
        near, far = ((a - 1) * e).exp(), (-a * e).exp()
        series = (a * near + (a - 1) * far) / (2 * a - 1)
        return series[0], series[1], 2 * series[2]

    return _search([(_Sums(derivatives, lambda order: e / ball(order)), 1)])


def _sums(pair: Pair) -> _Sums | None:
    """None where they are infinite, or of what is not listed only known between others."""
    largest = largest_loss(pair).value
    ceiling = ball(Fraction(largest.upper)) if largest.is_finite() else arb.pos_inf()
    if is_listed(pair) and not isinstance(pair, ShiftPair):
        outcomes = listed(pair)

        def derivatives(order: Fraction) -> tuple[arb, arb, arb]:
            first, second, third = renyi_sums(outcomes, ball(order), 2)
            return first, second, third

        sums = _Sums(derivatives, lambda order: ceiling / ball(order))
        return sums if largest.is_finite() else None
    if isinstance(pair, WrappedPair | SampledPair) and pair.reduced is not None:
        return _sums(pair.unwrapped) if pair.never_wraps else None
    plain = pair.shifted
    if plain is None or not isinstance(pair, ShiftPair | SampledPair):
        return None
    law, ends = plain.law, is_infinite(plain)
    if ends and (isinstance(pair, ShiftPair) or pair.removing):
        return None
    known, closed = _rational(plain), _closed(plain)

    def tail(order: Fraction) -> arb:
        """Also at most that of the pair that is faced: its supremum, or the tail that is proved."""
        bound = ceiling / ball(order)
        if isinstance(law, ZCDPTail) and not ends:
            bound = bound.min(law.zcdp_tail(order, plain.shift))
        if known is not None:
            bound = bound.min(ball(known))
        return bound if closed is None else bound.min(closed)

    return _Sums(shared_sums(pair, ctx.prec).derivatives, tail)


def _of_shift(pair: ShiftPair) -> Supremum:
    law = pair.law
    if law.support[0] is not None:
        return Supremum(Enclosure.infinite(), Fraction(2))
    if (known := _rational(pair)) is not None:
        return Supremum(Enclosure.exactly(known), Fraction(2))
    if (closed := _closed(pair)) is not None:
        return Supremum(enclose(closed), Fraction(2))
    is_wide = takes_long(pair) or law.moments().variance.upper > _WIDE
    if is_wide and (near := bracket(pair)).is_within(CLOSE):
        return Supremum(near, Fraction(2))
    try:
        sums = _sums(pair)
        assert sums is not None
        found = _search([(sums, 1)])
    except (ArithmeticError, OutOfTimeError):  # too many terms, or too much work
        if not (near := bracket(pair)).is_finite():
            raise
        return Supremum(near, Fraction(2))
    if found.value.is_within(_NARROW):
        return found
    ceiling = Enclosure(Fraction(0), bracket(pair).upper)
    return Supremum(found.value.intersection(ceiling), found.order)


def _rational(pair: ShiftPair) -> Fraction | None:
    return pair.law.zcdp_exact(pair.shift) if isinstance(pair.law, RationalRenyi) else None


def _closed(pair: ShiftPair) -> arb | None:
    return pair.law.zcdp_closed(pair.shift) if isinstance(pair.law, ClosedZCDP) else None


def _of_large_modulus(pair: WrappedPair) -> Supremum:
    unwrapped = _of_shift(pair.unwrapped)
    if pair.never_wraps:
        return unwrapped
    order, ceiling = max(unwrapped.order, 1 + Fraction(1, 1 << 20)), unwrapped.value.upper
    least = _shared(divergences(pair, [order])[0].lower, order)
    return Supremum(Enclosure(min(least, ceiling), ceiling), order)


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
                    if not bound > best * _ENOUGH:
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
    for bound in (best * _ENOUGH, rest, *(bound for _, _, _, bound in heap)):
        upper = upper.max(bound)
    return Supremum(Enclosure(enclose(best).lower, enclose(upper.upper()).upper), best_order)


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
    return reduce(arb.max, ratios).upper()


def _largest_curvature(width: arb, left: tuple[arb, arb, arb], right: tuple[arb, arb, arb]) -> arb:
    """Bound K'' of one part between two orders so far apart, from M, M', M'' at both."""
    centre = ((left[1] / left[0] + right[1] / right[0]) / 2).mid()
    half = (centre * width / 2).exp()
    values, slopes, seconds = [], [], []
    for m, scale in ((left, half), (right, 1 / half)):  # N = e^(-(x - middle) c) M
        values.append(scale * m[0])
        slopes.append(scale * (m[1] - centre * m[0]))
        seconds.append(scale * (m[2] - 2 * centre * m[1] + centre * centre * m[0]))
    # N lies above its tangents
    falls = (slopes[0].min(arb(0)) * width, -slopes[1].max(arb(0)) * width)
    least = (values[0] + falls[0]).max(values[1] + falls[1])
    if not least > 0:
        return arb.pos_inf()
    return seconds[0].max(seconds[1]) / least
