"""rho of zero-concentrated DP: that D_a/a <= rho for every order a > 1.

K(a) = (a-1) D_a = log sum P^a Q^(1-a) is convex with K(1) = 0 and K'(1) = KL(P, Q). A cover names
orders 1 = a_0 < a_1 < ...; between two of them K stays below rho a (a-1) by one of two lemmas:

*Chord.* K is below the chord of its bounds at both orders, and rho a (a-1) less a chord is a
parabola with its minimum at a known place.
*Taylor.* K(a+t) <= K(a) + K'(a) t + k t^2/2 as long as k bounds K''. K'' is a variance of the loss
L, at most its second moment about any c: K'' <= N''/N with N(x) = sum Q e^(x(L-c)) = e^(K(x) - xc).
N'' is convex, so largest at an end of an interval; and K lies above its tangent, so N does not fall
below N(a) for c = K'(a).

From the last order on the tail is settled: D_x is at most the largest loss, for instance.

Of several mechanisms, in one scenario, rho is the supremum over the orders of the sum of D_a/a: at
most the sum of their suprema, where closed forms tell those; from below one order must do for all.
Their K add up to one that is convex with K(1) = 0 as well, and so do K' and bounds of K''.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

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
from .deadline import check_time
from .divergences import Listed, listings
from .laws import Skellam
from .mechanisms import Additive, Continuous, Curve, FixedSize, Mechanism, Response, Sampled
from .scenarios import Uses
from .selection import Exponential
from .unit import distance

_MOST_ORDERS = 1000  # of one cover
_MOST_CHOICES = 8  # of pairs, one of each mechanism
_LARGEST_ORDER = 1 << 20


# -- from below -----------------------------------------------------------------------------------


def rho_at_least(uses: Uses, goal: End, order: Fraction, full: bool) -> bool:
    """Is rho of this scenario >= goal, by this order, or 1 for the limit?

    Of discrete Gaussians and their sums D_a/a tends to d^2/(2 n sigma2), w(x) being bounded.
    """
    uses = [(_attained(one), count) for one, count in uses]
    limits = [count * limit for one, count in uses if (limit := _gaussian_rho(one)) is not None]
    if len(limits) == len(uses) and sum(limits) >= goal:
        return True
    return share(uses, order, full) >= goal


def share(uses: Uses, order: Fraction, full: bool) -> End:
    """A lower bound of the sum of D_a/a; in the limit, of KL(P, Q)."""
    return sum((count * _share(_attained(one), order, full) for one, count in uses), Fraction(0))


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


def _share(mechanism: Mechanism, order: Fraction, full: bool) -> End:
    if order > 1:
        return divergences.renyi(mechanism, order, False, full) / order
    if isinstance(mechanism, Continuous):
        return continuous_renyi.relative_entropy_at_least(mechanism)
    if isinstance(mechanism, Response):  # (2p - 1) log(p/(1-p)) with p = e^epsilon/(1+e^epsilon)
        return Fraction(0) if mechanism.delta else value(_response_rho(mechanism))[0]
    pairs = listings(mechanism, iv.prec, None, False, full)
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


def rho_at_most(uses: Uses, goal: End, full: bool, covered: Callable[[Cover], bool]) -> bool:
    """Is rho of this scenario <= goal?"""
    if goal == INFINITY or not uses:
        return True
    left, rest = Fraction(goal), []
    closed = [(one, times, closed_rho(one)) for one, times in uses]
    if sum(times * rho for _, times, rho in closed) <= left:
        return True
    for one, times, rho in closed:
        if isinstance(one, FixedSize):  # D is quasi-convex in both laws together
            one = one.mechanism
        if isinstance(one, Curve | Continuous) and rho < INFINITY:
            left -= times * Fraction(rho)
        else:
            rest.append((one, times))
    if left <= 0:
        return False
    return all(covered(cover) for cover in _covers(rest, left, full))


def closed_rho(mechanism: Mechanism) -> End:
    """An upper bound of rho, where a closed form tells it; else infinite."""
    if isinstance(mechanism, Sampled | FixedSize):  # D is quasi-convex in both laws together
        return closed_rho(mechanism.mechanism)
    if isinstance(mechanism, Curve):
        return INFINITY if mechanism.order else mechanism.bound
    if isinstance(mechanism, Response):
        # K(a) = log cosh(u e)/cosh(e/2), u = a - 1/2; log cosh is concave in u^2, so that
        # K/(u^2 - 1/4) falls: its supremum is its limit at a = 1, e tanh(e/2)
        return INFINITY if mechanism.delta else value(_response_rho(mechanism))[1]
    if isinstance(mechanism, Continuous):
        return 1 / (2 * mechanism.variance) if mechanism.is_gaussian else INFINITY
    if isinstance(mechanism, Exponential):
        return mechanism.epsilon**2 / 8
    if not isinstance(mechanism, Additive):
        return INFINITY
    law, d = mechanism.law, mechanism.shift
    if (limit := law.rho_limit(d)) is not None:
        # Completing the square; sum_x e^(-(x-t)^2/(2 sigma2)) is largest at t = 0. Of a sum the
        # same with w(x) besides: K(a) <= a(a-1) limit + a spread, so D_a/a <= D_b for a <= b,
        # and D_a/a <= limit + spread/(a-1) for a >= b; with b = 1 + sqrt(spread/limit):
        spread = law.rho_spread()
        whole = (iv.sqrt(interval(limit)) + iv.sqrt(interval(spread))) ** 2
        return value(whole)[1] if spread else limit
    if isinstance(law, Skellam):
        return distance(law, d**2) ** 2 / 2  # its Gaussian's
    return INFINITY


def _covers(uses: Uses, rho: Fraction, full: bool) -> Iterator[Cover]:
    """What is to be covered: every choice of pairs, one of each mechanism."""
    each = [_parts(one, times, full) for one, times in uses]
    if len(uses) > 1 and math.prod(map(len, each)) > _MOST_CHOICES:
        raise OpenError("rho of so many pairs together is not covered")
    return (Cover(parts, rho) for parts in product(*each))


def _parts(one: Mechanism, times: int, full: bool) -> Sequence[_Part]:
    if isinstance(one, Continuous):
        return [_Part(one, times, None)]

    @cache
    def listed(top: int) -> Sequence[Listed]:
        return listings(one, iv.prec, Fraction(top), True, full)

    def pair(index: int) -> Callable[[int], Listed]:
        return lambda top: listed(top)[index]

    return [_Part(one, times, pair(index)) for index in range(len(listed(2)))]


@dataclass(frozen=True)
class _Part:
    """A mechanism, so many times; listed: its pair, up to an order; None of continuous noise."""

    one: Mechanism
    times: int
    listed: Callable[[int], Listed] | None

    def at(self, order: Fraction) -> _At | Interval:
        """K at this order, or a bound of it, where K'' is not known."""
        if self.listed is not None:
            pair = self.listed(2 << math.ceil(order).bit_length())
            if pair.is_complete and pair.far is not None and not pair.slack:
                return _At(pair, order)
            if order == 1:
                return iv.mpf(0)
            if (high := pair.power_sum(order)[1]) is None:
                raise OpenError("not all outcomes are known well enough")
            return log(at_least(high, 1))
        found = divergences.renyi(self.one, order, True, True) if order > 1 else Fraction(0)
        return interval((order - 1) * Fraction(found))

    def tail(self) -> Callable[[Fraction], End]:
        """Bound D_x/x for all orders x from one on."""
        if self.listed is None:
            largest = divergences.pure(self.one, True, True)
            return lambda order: largest / order
        return tail_share(self.one, self.listed(2))


class Cover:
    """That K of all parts together stays below rho a (a-1), from one order to the next."""

    def __init__(self, parts: Sequence[_Part], rho: Fraction) -> None:
        self._parts, self._rho, self._sums = parts, rho, 0
        self._at = cache(self._found)
        self._tails = cache(lambda: [(part.tail(), part.times) for part in parts])

    def along(self, orders: Sequence[Fraction]) -> bool:
        """Is all of it covered by these orders?"""
        steps = all(self.holds(a, b) for a, b in pairwise(orders))
        return steps and orders[0] == 1 and self.is_settled(orders[-1])

    def holds(self, order: Fraction, after: Fraction) -> bool:
        """Between these two?"""
        if not 1 <= order < after <= _LARGEST_ORDER:
            return False
        left, right = self._at(order), self._at(after)
        return _by_chord(left, right, self._rho) or _by_taylor(left, right, self._rho)

    def is_settled(self, order: Fraction) -> bool:
        """And for all orders from this one on?"""
        if order <= 1:
            return False
        first = self._parts[0]
        if len(self._parts) == 1 and isinstance(first.one, Additive) and first.listed is not None:
            law, shift = first.one.law, first.one.shift
            if isinstance(law, Skellam) and not first.listed(2).reduced:
                return _skellam_tail(law, shift, order, self._rho / first.times)
        shares = [times * tail(order) for tail, times in self._tails()]
        return INFINITY not in shares and sum(shares) <= self._rho

    def _found(self, order: Fraction) -> _Together:
        self._sums += 1
        if self._sums > _MOST_ORDERS:
            raise OpenError("covering all orders takes too many sums")
        return _Together(self._parts, order)


def tail_share(mechanism: Mechanism, pair: Listed) -> Callable[[Fraction], End]:
    """Bound D_x/x for all orders x from this one on."""
    largest = pair.pure()[1]  # D_x <= sup L
    law = mechanism.law if isinstance(mechanism, Additive) else None
    if law is not None and (limit := law.rho_limit(mechanism.shift)) is not None:
        # the reduction mod m is post-processing
        spread = law.rho_spread()
        return lambda order: min(limit + spread / (order - 1), largest / order)
    return lambda order: largest / order


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
    """All parts at one order: their K add up, and so do its derivatives, where all are known."""

    def __init__(self, parts: Sequence[_Part], order: Fraction) -> None:
        self.order, self.parts = order, [(part.at(order), part.times) for part in parts]
        self.highest = Fraction(0)  # K from above
        for at, times in self.parts:
            high = at.k if isinstance(at, _At) else at
            self.highest += times * Fraction(value(high)[1])

    @property
    def bent(self) -> list[tuple[_At, int]]:
        """Those of which K'' is bounded."""
        return [(at, times) for at, times in self.parts if isinstance(at, _At)]


def _up_to(bound: Interval) -> Interval:
    return iv.mpf([0, 1]) * bound


def _bend(left: _At, right: _At) -> Interval:
    """Bound K'' between two orders."""
    c = middle(left.slope)
    tilt = (left.slope - interval(c)) * interval(right.order - left.order)
    least = left.k - interval(left.order * c) + (tilt if certainly(tilt <= 0) else -abs(tilt))
    one, two = left.second(c), right.second(c)
    return upper((one if certainly(one >= two) else two) / exp(lower(least)))


def _by_chord(left: _Together, right: _Together, rho: Fraction) -> bool:
    a, b, here, there = left.order, right.order, left.highest, right.highest
    if there > rho * b * (b - 1):
        return False
    slope = (there - here) / (b - a)
    lowest = min(max((1 + slope / rho) / 2, a), b)
    return rho * lowest * (lowest - 1) >= here + slope * (lowest - a)


def _by_taylor(left: _Together, right: _Together, rho: Fraction) -> bool:
    if len(left.bent) < len(left.parts):
        return False
    a, width = left.order, interval(right.order - left.order)
    both = zip(left.bent, right.bent, strict=True)
    bend = upper(total(times * _bend(one, two) for (one, times), (two, _) in both))
    level, bound = a * (a - 1), interval(rho)
    g0 = lower(bound * interval(level) - total(times * at.k for at, times in left.bent))
    slope = total(times * at.slope for at, times in left.bent)
    g1 = lower(bound * interval(2 * a - 1) - slope)
    g2 = lower(bound - bend / 2)
    # g0 + g1 t + g2 t^2 >= 0 on [0, width]: at its ends, and at its vertex where that may be inside
    if not certainly(g0 >= 0) or not certainly(g0 + g1 * width + g2 * width**2 >= 0):
        return False
    return certainly(g1 >= 0) or certainly(g2 <= 0) or certainly(4 * g0 * g2 >= g1**2)
