"""rho of zero-concentrated DP: that D_a/a <= rho for every order a > 1.

K(a) = (a-1) D_a = log sum P^a Q^(1-a) is convex with K(1) = 0 and K'(1) = KL(P, Q). From an order
a on, Taylor: K(a+t) <= K(a) + K'(a) t + k t^2/2 as long as k bounds K'', and that is to stay below
rho (a+t)(a+t-1). K'' is a variance of the loss L, at most its second moment about any c:
K'' <= N''/N with N(x) = sum Q e^(x(L-c)) = e^(K(x) - xc). N'' is convex, so largest at an end of an
interval; and K lies above its tangent, so N does not fall below N(a) for c = K'(a).
So the orders are covered, interval by interval, up to one from which on the tail is settled.

Of several mechanisms, in one scenario, rho is the supremum over the orders of the sum of D_a/a: at
most the sum of their suprema, which bounds it from above; from below one order must do for all.
Their K add up to one that is convex with K(1) = 0 as well, and so do K' and bounds of K'': the
orders are covered for all of them together where the shares do not add up to the goal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial
from itertools import product

from mpmath import iv

from . import continuous_renyi, divergences
from .arithmetic import (
    INFINITY,
    End,
    Interval,
    OpenError,
    at_least,
    certainly,
    exp,
    interval,
    log,
    lower,
    middle,
    total,
    upper,
    value,
)
from .closed import WIDE, covered_by_chords
from .deadline import check_time
from .divergences import Listed, listings
from .laws import Skellam
from .mechanisms import Additive, Continuous, Curve, FixedSize, Mechanism, Response, Sampled
from .scenarios import Uses
from .selection import Exponential
from .unit import distance

_ORDERS = ("2", "101/100", "3/2", "4", "16", "64")  # where a lower bound is sought
_MOST_INTERVALS = 400
_MOST_CHORDS = 80
_MOST_TERMS = 1_500_000  # of all sums of one pair together
_MOST_CHOICES = 8  # of pairs, one of each mechanism
_LARGEST_ORDER = 1 << 20

Parts = Sequence[tuple[Callable[[int], Listed], int]]  # a pair, listed up to an order; how often


def rho_at_least(uses: Uses, goal: End, full: bool, search: bool) -> bool:
    """Is rho of this scenario >= goal, by some order, the same for all mechanisms?

    Of discrete Gaussians and their sums D_a/a tends to d^2/(2 n sigma2), w(x) being bounded.
    """
    uses = [(_attained(one), count) for one, count in uses]
    limits = [count * limit for one, count in uses if (limit := _gaussian_rho(one)) is not None]
    if len(limits) == len(uses):
        if sum(limits) >= goal:
            return True
        search = False  # hardly more than this limit
    for order in _candidates(uses, full, search):
        share: End = Fraction(0)
        for mechanism, count in uses:
            share += count * _share(mechanism, order, full)
        if share >= goal:
            return True
    return False


def _attained(mechanism: Mechanism) -> Mechanism:
    """What costs no more, of batches under continuous noise."""
    if isinstance(mechanism, FixedSize) and isinstance(mechanism.mechanism, Continuous):
        return mechanism.attained
    return mechanism


def _gaussian_rho(mechanism: Mechanism) -> Fraction | None:
    if isinstance(mechanism, Continuous) and mechanism.is_gaussian:
        # what it costs the other way round, sampled, is known by single orders only
        limit = mechanism.rate == 1 or mechanism.removing
        return 1 / (2 * mechanism.variance) if limit else None
    law = mechanism.law_seen
    return None if law is None else law.rho_limit(mechanism.shift)


def _is_wide(mechanism: Mechanism) -> bool:
    """Is it left to closed bounds?"""
    law = mechanism.law_seen
    return isinstance(law, Skellam) and law.variance > WIDE


def _candidates(uses: Uses, full: bool, search: bool) -> Iterator[Fraction]:
    """Orders to look at: 1 for the limit, a few, and with `search` the best by trial."""
    yield Fraction(1)
    yield from map(Fraction, _ORDERS)
    if not search:
        return
    low, high = -8.0, 12.0  # log2(order - 1)

    def share(at: float) -> tuple[Fraction, float]:
        order = 1 + Fraction(math.ldexp(1.0, 24) * 2.0**at // 1) / (1 << 24)
        return order, float(sum(count * _share(one, order, full) for one, count in uses))

    for _ in range(24):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        try:
            (one, first), (two, second) = share(left), share(right)
        except OpenError:  # too large an order
            high = right
            continue
        low, high = (left, high) if first < second else (low, right)
        yield two if first < second else one


def _share(mechanism: Mechanism, order: Fraction, full: bool) -> End:
    """A lower bound of D_a/a; in the limit, of KL(P, Q)."""
    if order > 1:
        return divergences.renyi(mechanism, order, full and not _is_wide(mechanism))[0] / order
    if isinstance(mechanism, Continuous):
        return continuous_renyi.relative_entropy_at_least(mechanism)
    if isinstance(mechanism, Response):  # (2p - 1) log(p/(1-p)) with p = e^epsilon/(1+e^epsilon)
        return Fraction(0) if mechanism.delta else value(_response_rho(mechanism))[0]
    if _is_wide(mechanism):
        return Fraction(0)
    pairs = listings(mechanism, iv.prec, None, full).attained
    check_time()
    return max((value(_relative_entropy(pair))[0] for pair in pairs), default=Fraction(0))


def _relative_entropy(pair: Listed) -> Interval:
    """From below: the outcomes left out have sum P log P/Q >= p log p (log-sum), p their P.

    That falls in p up to 1/e, so the bound of p will do.
    """
    if pair.slack or not pair.is_complete or not certainly(4 * pair.rest < 1):
        return iv.mpf(0)
    rest, listed = pair.rest, pair.sums(Fraction(1), 1)[1]
    return lower(listed + rest * log(rest) if certainly(rest > 0) else listed)


def _response_rho(mechanism: Response) -> Interval:
    e = exp(interval(mechanism.epsilon))
    return interval(mechanism.epsilon) * (e - 1) / (e + 1)


# -- from above -----------------------------------------------------------------------------------


def rho_at_most(uses: Uses, goal: End, full: bool) -> bool:
    """Is rho of this scenario <= goal?"""
    if goal == INFINITY or not uses:
        return True
    goal = Fraction(goal)
    if curves := [(one, times) for one, times in uses if isinstance(one, Curve)]:
        if any(one.order for one, _ in curves):
            raise OpenError("rho of what is known at some orders only is not known")
        left = goal - sum((times * one.bound for one, times in curves), Fraction(0))
        others = [each for each in uses if not isinstance(each[0], Curve)]
        return left >= 0 and rho_at_most(others, left, full)
    if any(isinstance(one, FixedSize) for one, _ in uses):  # D is quasi-convex in both laws
        plain = [(one.mechanism if isinstance(one, FixedSize) else one, k) for one, k in uses]
        if not rho_at_most(plain, goal, full):
            raise OpenError("rho of batches of a fixed size was not proved")
        return True
    continuous = [(one, times) for one, times in uses if isinstance(one, Continuous)]
    if len(continuous) == len(uses):
        if not continuous_renyi.rho_at_most(continuous, goal):
            raise OpenError("rho of continuous noise was not proved")
        return True
    if len(uses) == 1 and _closed_at_most(uses[0][0], goal / uses[0][1]):
        return True
    shares = [[_share(one, Fraction(order), full) for order in (1, 2)] for one, _ in uses]
    for index in range(2):  # at one order, all of them
        least = [times * share[index] for (_, times), share in zip(uses, shares, strict=True)]
        if INFINITY in least or sum(least) > goal:
            return False
    if len(uses) == 1:
        return _at_most(uses[0][0], goal / uses[0][1], full)
    found = [Fraction(max(share)) for share in shares]
    whole = sum((times * each for (_, times), each in zip(uses, found, strict=True)), Fraction(0))
    if not whole:
        raise OpenError("rho of several mechanisms does not split evenly enough")
    split = [each * goal / whole for each in found]
    each_its_own = list(zip((one for one, _ in uses), split, strict=True))
    if all(_closed_at_most(one, rho) for one, rho in each_its_own):
        return True
    with suppress(OpenError):
        if goal and _all_covered(uses, goal, full):
            return True
    if not all(_at_most(one, rho, full) for one, rho in each_its_own):
        raise OpenError("rho of several mechanisms does not split evenly enough")
    return True


def _all_covered(uses: Uses, rho: Fraction, full: bool) -> bool:
    """The same by covering the orders, for all uses at once and every choice of their pairs."""
    if any(_is_wide(one) for one, _ in uses):
        raise OpenError("rho of noise this wide is known by its Gaussian alone")

    @cache
    def listed(index: int, top: int) -> Sequence[Listed]:
        return listings(uses[index][0], iv.prec, Fraction(top), full).dominating

    def covered(choice: Sequence[int]) -> bool:
        def part(index: int) -> Callable[[int], Listed]:
            return lambda top: listed(index, top)[choice[index]]

        parts = [(part(index), times) for index, (_, times) in enumerate(uses)]
        settled = _settled(uses, [pair(2) for pair, _ in parts], rho)
        try:
            if covered_by_chords(partial(_k_at_most, parts), rho, settled, _MOST_CHORDS):
                return True
        except OpenError:
            pass
        return _covered(parts, settled, rho)

    counts = [len(listed(index, 2)) for index in range(len(uses))]
    if len(uses) > 1 and math.prod(counts) > _MOST_CHOICES:
        return False
    return all(covered(choice) for choice in product(*map(range, counts)))


def _settled(uses: Uses, pairs: Sequence[Listed], rho: Fraction) -> Callable[[Fraction], bool]:
    """Does sum D_x/x <= rho hold for all orders x from this one on?"""
    one, times = uses[0]
    alone = len(uses) == 1 and not pairs[0].reduced
    if alone and isinstance(one, Additive) and isinstance(one.law, Skellam):
        return partial(_skellam_tail, one.law, one.shift, rho=rho / times)
    tails = [_tail_share(one, pair) for (one, _), pair in zip(uses, pairs, strict=True)]

    def settled(order: Fraction) -> bool:
        shares = [times * tail(order) for (_, times), tail in zip(uses, tails, strict=True)]
        return INFINITY not in shares and sum(shares) <= rho

    return settled


def _tail_share(mechanism: Mechanism, pair: Listed) -> Callable[[Fraction], End]:
    """Bound D_x/x for all orders x from this one on."""
    largest = pair.pure()[1]  # D_x <= sup L
    law = mechanism.law if isinstance(mechanism, Additive) else None
    if law is not None and (limit := law.rho_limit(mechanism.shift)) is not None:
        # the reduction mod m is post-processing
        spread = law.rho_spread()
        return lambda order: min(limit + spread / (order - 1), largest / order)
    return lambda order: largest / order


def _closed_at_most(mechanism: Mechanism, rho: Fraction) -> bool:
    """The same, where a closed form tells; False says nothing."""
    if isinstance(mechanism, Response):
        # K(a) = log cosh(u e)/cosh(e/2), u = a - 1/2; log cosh is concave in u^2, so that
        # K/(u^2 - 1/4) falls: its supremum is its limit at a = 1, e tanh(e/2)
        return not mechanism.delta and value(_response_rho(mechanism))[1] <= rho
    if isinstance(mechanism, Continuous):
        return continuous_renyi.rho_at_most([(mechanism, 1)], rho)
    if isinstance(mechanism, Exponential):
        return mechanism.epsilon**2 / 8 <= rho
    if isinstance(mechanism, Sampled):  # D is quasi-convex in both laws together
        return _closed_at_most(mechanism.mechanism, rho)
    if not isinstance(mechanism, Additive) or not rho:
        return False
    law, d = mechanism.law, mechanism.shift
    if (rho0 := law.rho_limit(d)) is not None:
        # Completing the square; sum_x e^(-(x-t)^2/(2 sigma2)) is largest at t = 0. Of a sum the
        # same with w(x) besides: K(a) <= a(a-1) rho0 + a spread, so D_a/a <= D_b for a <= b,
        # and D_a/a <= rho0 + spread/(a-1) for a >= b; with b = 1 + sqrt(spread/rho0):
        spread = law.rho_spread()
        whole = (iv.sqrt(interval(rho0)) + iv.sqrt(interval(spread))) ** 2
        if (value(whole)[1] if spread else rho0) <= rho:
            return True
    if isinstance(law, Skellam):
        with suppress(OpenError):
            return distance(law, d**2) ** 2 / 2 <= rho  # its Gaussian's
    return False


def _at_most(mechanism: Mechanism, rho: Fraction, full: bool) -> bool:
    if (closed := _closed_at_most(mechanism, rho)) or isinstance(mechanism, Response):
        return closed
    if not rho:
        raise OpenError("rho = 0 was not proved")
    return _all_covered([(mechanism, 1)], rho, full)


def _k_at_most(parts: Parts, order: Fraction) -> Fraction:
    """Bound K of all parts together at this order."""
    if order > _LARGEST_ORDER:
        raise OpenError("the order is too large")
    whole = Fraction(0)
    for listed, times in parts:
        high = listed(2 << math.ceil(order).bit_length()).power_sum(order)[1]
        if high is None:
            raise OpenError("not all outcomes are known well enough")
        whole += times * Fraction(value(log(at_least(high, 1)))[1])
    return whole


def _skellam_tail(law: Skellam, shift: int, order: Fraction, rho: Fraction) -> bool:
    """Write order - 1 = (v/d) s cosh s, larger orders having larger s.

    log I_k/I_{k+1} < asinh((k+1)/v) (Amos 1974; Segura, J. Math. Anal. Appl. 374 (2011) 516-528)
    and the tangent of asinh at sinh s give, for y >= 0,
      L(-y) <= d (s - tanh s) + (d y + d(d+1)/2)/(v cosh s);
    so these y contribute at most e^B to sum P e^((a-1)L), by E e^(sX) = e^(v (cosh s - 1)):
      B = v (s^2 cosh s - s sinh s + cosh s - 1) + s (d+1)/2.
    For x > 0, L <= L(0) <= d(d+1)/(2v): at most e^C/2, C = (a-1) d(d+1)/(2v). s sinh s - cosh s + 1
    is the integral of x cosh x up to s, by Jensen at least (s^2/2) c, c = cosh(2s/3). So with
    h = 1/cosh s and f = (d^2/v) (h - h^2 c/2)
      B <= (a-1)^2 f + (a-1) d(d+1) h/(2v),    (a-1) f = d s (1 - h c/2), which rises as h c falls;
    once that is at least d(d+1)/(2v) the bound of B is at least C, and K <= it + log(3/2). That is
    at most rho a (a-1) if (a-1) (f - rho) + d(d+1) h/(2v) + log(3/2)/(a-1) <= rho. Once f <= rho,
    all of the left side falls in s, as f and h do: f' = (d^2/v) (h' (1 - h c) - h^2 c'/2).
    """
    v, d = interval(law.variance), shift
    low, high = 0.0, 700.0
    for _ in range(60):
        between = (low + high) / 2
        below = between * math.cosh(between) < float(d * (order - 1) / law.variance)
        low, high = (between, high) if below else (low, between)
    s = interval(Fraction(low * (1 - 1e-9)))
    if not certainly(s > 0):
        return False
    cosh, other = ((exp(x) + exp(-x)) / 2 for x in (s, 2 * s / 3))
    above = v / d * s * cosh
    if not certainly(above <= interval(order - 1)):
        return False
    f = d**2 / v * (1 / cosh - other / (2 * cosh**2))
    centre = d * (d + 1) / (2 * v)
    if not (certainly(above * f >= centre) and certainly(f <= interval(rho))):
        return False
    left = above * (f - interval(rho)) + centre / cosh + log(interval(Fraction(3, 2))) / above
    return certainly(left <= interval(rho))


def _covered(parts: Parts, settled: Callable[[Fraction], bool], rho: Fraction) -> bool:
    """Go from order 1 upward, by the longest intervals that can be proved."""

    terms = 0

    @cache
    def at(order: Fraction) -> _Together:
        nonlocal terms
        pairs = [listed(2 << math.ceil(order).bit_length()) for listed, _ in parts]
        terms += sum(len(pair.p) for pair in pairs)
        if terms > _MOST_TERMS:
            raise OpenError("covering all orders takes too many sums")
        return _Together(
            order, [(_At(pair, order), n) for pair, (_, n) in zip(pairs, parts, strict=True)]
        )

    order, width = Fraction(1), Fraction(1, 8)
    for _ in range(_MOST_INTERVALS):
        if order > 1 and settled(order):
            return True
        if order > _LARGEST_ORDER or width < Fraction(1, 1 << 20):
            break
        if at(order).exceeds(rho):
            return False
        if _stays_below(at(order), at(order + width), rho):
            order, width = order + width, 2 * width
        else:
            width /= 2
    raise OpenError("the orders could not be covered")


class _At:
    """K and K' at an order, and the second moment of the loss about any c, unnormalised."""

    def __init__(self, pair: Listed, order: Fraction) -> None:
        if not pair.is_complete or pair.far is None or pair.slack:
            raise OpenError("not all outcomes are known well enough")
        self.order = order
        # Left out are L >= 0, where L^j <= j! e^L, and L <= 0, where P |L|^j <= j! Q.
        self._far = 0 if pair.rest == 0 else pair.far(order + 1) + pair.rest_q
        left_out = 0 if pair.rest == 0 else pair.far(order)
        mass, first, second = pair.sums(order, 2)
        self._moments = mass, first, second
        whole = iv.mpf(1) if order == 1 else mass + _up_to(left_out)
        self.k = iv.mpf(0) if order == 1 else log(whole)
        self.slope = (first + _up_to(self._far) - _up_to(self._far)) / whole
        self._left_out = left_out

    def second(self, c: Fraction) -> Interval:
        """e^(-ac) sum P^a Q^(1-a) (L - c)^2 from above."""
        mass, first, second = self._moments
        point = interval(c)
        found = second - 2 * point * first + point**2 * mass
        found += 2 * (2 * self._far + point**2 * self._left_out)
        return upper(found * exp(-interval(self.order * c)))


class _Together:
    """The same of all parts: their K add up, and so do its derivatives."""

    def __init__(self, order: Fraction, parts: Sequence[tuple[_At, int]]) -> None:
        self.order, self.parts = order, parts
        self.k = total(times * at.k for at, times in parts)
        self.slope = total(times * at.slope for at, times in parts)

    def exceeds(self, rho: Fraction) -> bool:
        """Is D_a/a > rho?"""
        return certainly(self.k > interval(rho * self.order * (self.order - 1)))


def _up_to(bound: Interval) -> Interval:
    return iv.mpf([0, 1]) * bound


def _bend(left: _At, right: _At) -> Interval:
    """Bound K'' between two orders."""
    c = middle(left.slope)
    tilt = (left.slope - interval(c)) * interval(right.order - left.order)
    least = left.k - interval(left.order * c) + (tilt if certainly(tilt <= 0) else -abs(tilt))
    one, two = left.second(c), right.second(c)
    return upper((one if certainly(one >= two) else two) / exp(lower(least)))


def _stays_below(left: _Together, right: _Together, rho: Fraction) -> bool:
    a, width = left.order, interval(right.order - left.order)
    both = zip(left.parts, right.parts, strict=True)
    bend = upper(total(times * _bend(one, two) for (one, times), (two, _) in both))
    level, bound = left.order * (left.order - 1), interval(rho)
    g0 = lower(bound * interval(level) - left.k)
    g1 = lower(bound * interval(2 * a - 1) - left.slope)
    g2 = lower(bound - bend / 2)
    # g0 + g1 t + g2 t^2 >= 0 on [0, width]: at its ends, and at its vertex where that may be inside
    if not certainly(g0 >= 0) or not certainly(g0 + g1 * width + g2 * width**2 >= 0):
        return False
    return certainly(g1 >= 0) or certainly(g2 <= 0) or certainly(4 * g0 * g2 >= g1**2)
