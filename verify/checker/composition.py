"""delta(epsilon) of several uses: what their losses log P/Q, rounded to a grid, add up to.

*From above.* An outcome between two points of the grid is split among them so that its P- and its
Q-mass stay the same: merging the two again gives the outcome back, so the split pair dominates.
More mass, or mass moved to larger losses, dominates as well.
*From below.* Any event S has delta >= P(S) - e^epsilon Q(S): here that all partial sums of the
rounded losses stay in a window and the last is at least a threshold. Rounded to the nearest, only
outcomes beside the threshold are on the wrong side, which costs little.
Losses that lie on the grid are not rounded at all. Where several pairs count (the shifts of an
additive mechanism, either way), an adversary may pick among them each time: one pair that dominates
them all bounds that from above, one of them throughout from below. A user's own pair is taken the
way round that it is given: `scenarios` says which ways there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from mpmath import iv

from .arithmetic import (
    INFINITY,
    Enclosure,
    End,
    Interval,
    OpenError,
    at_least,
    ceiling,
    certainly,
    exp,
    floor,
    interval,
    log,
    middle,
    power,
    precision,
    upper,
    value,
)
from .binomial import Binomial
from .continuous import cells
from .deadline import check_time
from .divergences import Listed, as_listed, larger, listings
from .laws import DiscreteGaussian, DiscreteLaplace, FiniteLaw, convolve
from .mechanisms import (
    Additive,
    Continuous,
    FixedSize,
    Mechanism,
    Response,
    Sampled,
    TwoLaws,
    Vector,
)
from .scenarios import Uses

NO_LATTICE = "losses that share no lattice need the step of a grid to be rounded to"

_SPARE = 45  # bits by which what is left out is smaller than delta
_MOST_LISTED = 3000  # values of the losses of users' own pairs
_MOST_PRODUCTS = 300_000  # of them, for one use more
_LONGEST_FRACTION = 20_000  # bits
_MOST_POINTS = 40_000
_LONGEST = 12_000_000  # bits of a polynomial that is multiplied


_BELOW, _ABOVE = 0, 1


@dataclass(frozen=True)
class _Sum:
    """Masses in fixed point at the losses (low + k) step, k = 0, 1, ..., and at infinity."""

    low: int
    columns: tuple[list[int], ...]  # P from above; or P from below and Q from above
    infinite: int


@dataclass(frozen=True)
class _Use:
    """A pair of laws that is used so often, its outcomes placed at origin + place * step.

    Of several pairs, one that dominates them all is meant.
    """

    pairs: Sequence[Listed]
    times: int
    places: Sequence[int] | None  # None: off the grid
    origin: Interval
    step: Interval


def profile(
    uses: Uses,
    goal: Fraction,
    largest: Fraction,
    step: Fraction | None,
    full: bool,
) -> Callable[[End], Enclosure]:
    """delta(level) of one scenario: a function of levels up to `largest`, for values about `goal`.

    step: of the grid, for losses that lie on none.
    """
    if not uses:
        return lambda level: (Fraction(0), Fraction(0))
    count = sum(times for _, times in uses)
    size = goal.denominator.bit_length() - goal.numerator.bit_length()
    bits = size + _SPARE + 40 + 2 * count.bit_length() + math.ceil(1.5 * float(largest))
    if bits > 4000:
        raise OpenError("the level is too high to compose")
    with precision(bits + 24):
        tail = size + _SPARE + count.bit_length()
        listed = _listed(uses)
        if listed is not None:
            return partial(_single, listed, bits)
        chosen = [_pairs(mechanism, tail, full, step) for mechanism, _ in uses]
        below = []
        for choice in range(2 if any(len(pairs[_BELOW]) > 1 for pairs in chosen) else 1):
            first = [(pairs[_BELOW][min(choice, len(pairs[_BELOW]) - 1)],) for pairs in chosen]
            below.append(_Product(_placed(uses, first, step, _BELOW), bits, goal, _BELOW))
        every = [pairs[_ABOVE] for pairs in chosen]
        above = _Product(_placed(uses, every, step, _ABOVE), bits, goal, _ABOVE)

    def delta(level: End) -> Enclosure:
        with precision(bits + 24):
            return max(product.at_least(level) for product in below), above.at_most(level)

    return delta


def _single(pair: Listed, bits: int, level: End) -> Enclosure:
    with precision(bits + 24):
        return pair.delta(level)


def _listed(uses: Uses) -> Listed | None:
    """Users' own pairs outcome by outcome, where those are few."""
    if not all(isinstance(mechanism, TwoLaws) and times <= 64 for mechanism, times in uses):
        return None
    ratios = [(_ratios(mechanism), times) for mechanism, times in uses]
    if sum(_size(one) * times for one, times in ratios) > _LONGEST_FRACTION:
        return None
    masses = {Fraction(1): Fraction(1)}  # P of each value of Q/P; P where that is 0
    slack = whole = Fraction(1)
    for (mechanism, times), (one, _) in zip(uses, ratios, strict=True):
        assert isinstance(mechanism, TwoLaws)
        whole *= sum(mechanism.q, Fraction(0)) ** times
        slack *= (1 + mechanism.slack) ** times
        for _ in range(times):
            if len(one) * len(masses) > _MOST_PRODUCTS:
                return None
            found: dict[Fraction, Fraction] = {}
            for change, p in one.items():
                for ratio, mass in masses.items():
                    check_time()
                    both = ratio * change
                    found[both] = found.get(both, Fraction(0)) + mass * p
            masses = found
            if len(masses) > _MOST_LISTED:
                return None
    # where P = 0 < Q: what Q has besides
    rest = whole - sum((mass * ratio for ratio, mass in masses.items()), Fraction(0))
    p_side = [*masses.values(), Fraction(0)]
    q_side = [*(mass * ratio for ratio, mass in masses.items()), rest]
    return as_listed(p_side, q_side, slack - 1)


def _ratios(mechanism: Mechanism) -> dict[Fraction, Fraction]:
    """P of each value of Q/P."""
    assert isinstance(mechanism, TwoLaws)
    found: dict[Fraction, Fraction] = {}
    for p, q in zip(mechanism.p, mechanism.q, strict=True):
        if p:
            check_time()
            found[q / p] = found.get(q / p, Fraction(0)) + p
    return found


def _size(masses: dict[Fraction, Fraction]) -> int:
    """Bits of the longest ratio, or of the masses' common denominator."""
    longest = max((max(one.numerator, one.denominator) for one in masses), default=1)
    return max(longest, math.lcm(*(mass.denominator for mass in masses.values()))).bit_length()


def _pairs(
    mechanism: Mechanism, tail: float, full: bool, step: Fraction | None
) -> tuple[Sequence[Listed], Sequence[Listed]]:
    """Pairs any of which may be chosen throughout, and those that together dominate a use."""
    if isinstance(mechanism, Continuous):
        if step is None:
            raise OpenError(NO_LATTICE)
        listed = [Listed(*cells(mechanism, step, tail))]
        return listed, listed
    pairs = listings(mechanism, tail, None, full)
    law = mechanism.law if isinstance(mechanism, Additive) else None
    even = isinstance(law, Binomial) and law.probability == Fraction(1, 2)
    if even and len(pairs.dominating) == 2:  # one shift either way: mirror images about trials/2
        return pairs.attained[:1], pairs.dominating[:1]
    if isinstance(law, FiniteLaw):  # the farthest shift first
        return pairs.attained[::-1], pairs.dominating
    return pairs.attained, pairs.dominating


# -- onto a grid ----------------------------------------------------------------------------------


def _placed(
    uses: Uses,
    pairs: Sequence[Sequence[Listed]],
    step: Fraction | None,
    side: int,
) -> list[_Use]:
    """Every use on the lattice that all of them share, if there is one; else on the grid asked."""
    lattices = [
        _lattice(one, pair[0], side == _BELOW and step is None) if len(pair) == 1 else None
        for (one, _), pair in zip(uses, pairs, strict=True)
    ]
    if all(lattices):
        common = _common([found[1] for found in lattices if found and found[1] is not None])
        if common is not None:
            width = _interval(common)
            result = []
            for (_, times), pair, found in zip(uses, pairs, lattices, strict=True):
                assert found is not None
                places, own, origin = found
                if own is None:
                    result.append(_Use(pair, times, places, iv.mpf(0), width))
                    continue
                factor = 1 if own is common else int(own / common)
                places = [factor * place for place in places]
                result.append(_Use(pair, times, places, interval(origin) * _interval(own), width))
            return result
    if step is None:
        raise OpenError(NO_LATTICE)
    zero = iv.mpf(0)
    return [
        _Use(pair, times, None, zero, interval(step))
        for (_, times), pair in zip(uses, pairs, strict=True)
    ]


def _common(steps: Sequence[Fraction | Interval]) -> Fraction | Interval | None:
    """The step of the lattice that holds them all."""
    if not steps:
        return Fraction(1)
    if len(steps) == 1:
        return steps[0]
    if not all(isinstance(step, Fraction) for step in steps):
        return None
    bottom = math.lcm(*(step.denominator for step in steps))
    found = Fraction(math.gcd(*(int(step * bottom) for step in steps)), bottom)
    return found if max(steps) <= 50 * found else None


def _interval(step: Fraction | Interval) -> Interval:
    return interval(step) if isinstance(step, Fraction) else step


def _lattice(
    mechanism: Mechanism, pair: Listed, roughly: bool
) -> tuple[list[int], Fraction | Interval | None, Fraction] | None:
    """Places, step and origin (in steps) with loss = (origin + place) step for each outcome.

    step None: any will do, the losses being 0 or infinite. From below any places will do; roughly:
    those without the reduction mod m.
    """
    half = Fraction(1, 2)
    if isinstance(mechanism, Continuous | FixedSize | Sampled | Vector):
        return None
    if isinstance(mechanism, Response) and mechanism.epsilon:
        places = [0, 0, -1, 0] if mechanism.delta else [0, -1]
        return places, 2 * mechanism.epsilon, half
    if isinstance(mechanism, Response) or pair.tells_all_or_nothing:
        return [0] * len(pair.p), None, half
    if isinstance(mechanism, TwoLaws):
        return _ratio_lattice(pair)
    law, d = mechanism.law, mechanism.shift
    outcomes = pair.outcomes
    if outcomes is None or (pair.reduced and not roughly):
        return None
    if isinstance(law, DiscreteGaussian):  # d (d - 2x)/(2 sigma2)
        return [-x for x in outcomes], d / law.sigma2, Fraction(d, 2)
    if isinstance(law, DiscreteLaplace):  # (|x - d| - |x|)/scale
        places = [(abs(x - d) - abs(x) - d) // 2 for x in outcomes]
        step = -2 * log(law.beta()) if law.inverted else 2 / law.scale
        return places, step, Fraction(d, 2)
    return None


def _ratio_lattice(pair: Listed) -> tuple[list[int], Interval, Fraction] | None:
    """Where every P/Q is a power of the ratio nearest to 1."""
    assert pair.exact is not None
    ratios = [p / q if p and q else Fraction(1) for p, q in zip(*pair.exact, strict=True)]
    unit = min((max(r, 1 / r) for r in ratios if r != 1), default=Fraction(2))
    size = max(unit.numerator.bit_length(), unit.denominator.bit_length())
    with precision(max(iv.prec, 2 * size + 64)):  # so that log(unit) is not 0
        width = log(interval(unit))
        places: dict[Fraction, int] = {Fraction(1): 0}
        for ratio in ratios:
            if ratio not in places:
                power = round(middle(log(interval(ratio)) / width))
                if abs(power) * size > _LONGEST_FRACTION or unit**power != ratio:
                    return None
                places[ratio] = power
    return [places[ratio] for ratio in ratios], width, Fraction(0)


def _above(use: _Use, bits: int) -> _Sum:
    """The pair split onto the grid: P from above."""
    if len(use.pairs) > 1:
        return _envelope(use, bits)
    step, infinite = use.step, use.pairs[0].rest
    points: dict[int, Interval] = {}
    shrunk = exp(-step)
    for index, (p, q) in enumerate(zip(use.pairs[0].p, use.pairs[0].q, strict=True)):
        if not certainly(p > 0):
            infinite += p if not certainly(p <= 0) else 0
        elif not certainly(q > 0):
            infinite += p
        elif use.places is not None:
            points[use.places[index]] = points.get(use.places[index], 0) + p
        else:
            low, high = value(log(p / q) / step)
            k = math.floor(low)
            span = math.ceil(high) - k or 1
            far = (p - q * exp(k * step)) / (1 - power(shrunk, span))
            points[k] = points.get(k, 0) + p - far
            points[k + span] = points.get(k + span, 0) + far
    return _in_fixed_point([points], [ceiling], ceiling(infinite, bits), bits)


def _envelope(use: _Use, bits: int) -> _Sum:
    """One pair that dominates several: connect the dots of their largest profile on the grid.

    H(g) = sup over the pairs of sum (P - g Q)+ is convex in g, so its chords between the points
    g = e^(k step), from H(0) = 1 on the left and flat on the right, lie above it: they are the
    profile of a pair with the losses k step, whose Q-masses are the changes of slope.
    """
    cells: list[dict[int, tuple[Interval, Interval]]] = []
    blurs: list[dict[int, Interval]] = []
    rests = []
    for pair in use.pairs:
        cell: dict[int, tuple[Interval, Interval]] = {}
        blur: dict[int, Interval] = {}
        rest = pair.rest
        for p, q in zip(pair.p, pair.q, strict=True):
            if not (certainly(p > 0) and certainly(q > 0)):
                rest += 0 if certainly(p <= 0) else p
                continue
            low, high = (math.floor(end) for end in value(log(p / q) / use.step))
            if high - low > _MOST_POINTS:
                raise OpenError("the grid is too fine to compose on")
            mass, other = cell.get(low, (iv.mpf(0), iv.mpf(0)))
            cell[low] = mass + p, other + q
            for k in range(low + 1, high + 1):  # on which side of k it lies is not certain
                blur[k] = blur.get(k, iv.mpf(0)) + abs(p - q * exp(k * use.step))
        cells.append(cell)
        blurs.append(blur)
        rests.append(rest)
    first = min(min(cell, default=0) for cell in cells)
    last = max(max(cell, default=0) for cell in cells) + 1
    if last - first > _MOST_POINTS:
        raise OpenError("the grid is too fine to compose on")
    sums = [(iv.mpf(0), iv.mpf(0))] * len(cells)
    heights: dict[int, Interval] = {}
    for k in range(last, first - 1, -1):
        g, best = exp(k * use.step), iv.mpf(0)
        for index, cell in enumerate(cells):
            p, q = cell.get(k, (iv.mpf(0), iv.mpf(0)))
            sums[index] = sums[index][0] + p, sums[index][1] + q
            blur_here = blurs[index].get(k, iv.mpf(0))
            found = at_least(sums[index][0] - g * sums[index][1], 0) + rests[index] + blur_here
            best = larger(best, found)
        heights[k] = upper(best) if k == last else best
    points, slope = {}, iv.mpf(0)  # the slope to the right of the point
    for k in range(last, first - 1, -1):
        g = exp(k * use.step)
        left, height = (exp((k - 1) * use.step), heights[k - 1]) if k > first else (0, iv.mpf(1))
        steeper = (heights[k] - height) / (g - left)
        points[k] = g * at_least(slope - steeper, 0)
        slope = steeper
    return _in_fixed_point([points], [ceiling], ceiling(heights[last], bits), bits)


def _below(use: _Use, bits: int) -> _Sum:
    """The pair rounded to the grid: P from below, Q from above."""
    infinite = iv.mpf(0)
    p_points: dict[int, Interval] = {}
    q_points: dict[int, Interval] = {}
    for index, (p, q) in enumerate(zip(use.pairs[0].p, use.pairs[0].q, strict=True)):
        if certainly(q <= 0):
            infinite += p
        elif certainly(p > 0):
            place = use.places[index] if use.places is not None else None
            if place is None:
                place = round(middle(log(p / q) / use.step)) if certainly(q > 0) else 0
            p_points[place] = p_points.get(place, 0) + p
            q_points[place] = q_points.get(place, 0) + q
    return _in_fixed_point([p_points, q_points], [floor, ceiling], floor(infinite, bits), bits)


def _in_fixed_point(
    columns: list[dict[int, Interval]],
    cuts: list[Callable[[Interval, int], int]],
    infinite: int,
    bits: int,
) -> _Sum:
    low, high = min(columns[0], default=0), max(columns[0], default=0)
    if high - low > _MOST_POINTS:
        raise OpenError("the grid is too fine to compose on")
    whole = tuple(
        [max(cut(column[k], bits), 0) if k in column else 0 for k in range(low, high + 1)]
        for column, cut in zip(columns, cuts, strict=True)
    )
    return _Sum(low, whole, infinite)


# -- sums -----------------------------------------------------------------------------------------


class _Product:
    """All uses together, from below or from above."""

    def __init__(self, uses: Sequence[_Use], bits: int, goal: Fraction, side: int) -> None:
        count = sum(use.times for use in uses)
        self._bits = bits
        self._tiny = (goal.numerator << bits - _SPARE) // (goal.denominator * count)
        self._step = uses[0].step
        self._origin = sum((use.times * use.origin for use in uses), iv.mpf(0))
        slack = iv.mpf(1)
        for use in uses:
            slack *= power(1 + interval(use.pairs[0].slack), use.times)
        self._slack = slack - 1  # what the probability of any event may be off by
        self._has_slack = any(use.pairs[0].slack for use in uses)
        rounded = _above if side == _ABOVE else _below
        self._sum = self._all([rounded(use, bits) for use in uses], uses)

    def _all(self, parts: Sequence[_Sum], uses: Sequence[_Use]) -> _Sum:
        columns = len(parts[0].columns)
        found = _Sum(0, ([1 << self._bits],) * columns, 0)
        for base, use in zip(parts, uses, strict=True):
            times = use.times
            while times:
                if times & 1:
                    found = self._add(found, base)
                times >>= 1
                if times:
                    base = self._add(base, base)
        return found

    def _add(self, a: _Sum, b: _Sum) -> _Sum:
        """The sum of two independent losses; P from above where there is one column only."""
        bits, up = self._bits, len(a.columns) == 1
        if min(len(a.columns[0]), len(b.columns[0])) * 2 * bits > _LONGEST:
            raise OpenError("the composed losses are too many")
        columns = [
            convolve(p, q, bits, up or index == 1)
            for index, (p, q) in enumerate(zip(a.columns, b.columns, strict=True))
        ]
        # 1 - (1 - a)(1 - b), rounded up or down
        both = a.infinite * b.infinite
        infinite = a.infinite + b.infinite - ((both if up else both + (1 << bits) - 1) >> bits)
        p = columns[0]
        first, last, lost, cut = 0, len(p), 0, 0
        while first < last - 1 and lost + p[first] <= self._tiny:
            lost += p[first]
            first += 1
        while last - 1 > first and cut + p[last - 1] <= self._tiny:
            last -= 1
            cut += p[last]
        kept = [column[first:last] for column in columns]
        if up:  # small losses count as the least one kept, large ones as infinite
            kept[0][0] += lost
            infinite += cut
        return _Sum(a.low + b.low + first, tuple(kept), max(infinite, 0))

    def at_most(self, level: End) -> End:
        """An upper bound of delta(level), level >= 0: of sum P (1 - e^(level - loss))+."""
        if level == INFINITY:
            return Fraction(1)
        here, masses = interval(Fraction(level)), self._sum.columns[0]
        above = self._origin + self._step * (self._sum.low + len(masses) - 1) - here
        bits = self._bits + 16 + max(0, math.ceil(1.5 * min(value(above)[1], 4000)))
        one, found = 1 << bits, 0
        weight, growth = floor(exp(-above), bits), floor(exp(self._step), bits)
        for mass in reversed(masses):  # from the largest loss down, e^(level - loss) from below
            if weight >= one:
                break
            found += mass * (one - weight)
            weight = weight * growth >> bits
        check_time()
        whole = iv.ldexp(iv.mpf(found), -bits) + self._sum.infinite
        return min(value(whole * self._unit() + self._slack * (1 + exp(here)))[1], Fraction(1))

    def at_least(self, level: End) -> End:
        """A lower bound of delta(level), level >= 0."""
        if level == INFINITY:
            low = value(self._sum.infinite * self._unit())[0]
            return Fraction(0) if self._has_slack else Fraction(low)
        odds = exp(interval(Fraction(level)))
        about, gain, best, start = ceiling(odds, 64), 0, 0, len(self._sum.columns[0])
        both = zip(*self._sum.columns, strict=True)
        for k, (p, q) in reversed(list(enumerate(both))):  # the threshold, about
            gain += (p << 64) - about * q
            if gain > best:
                best, start = gain, k
        check_time()
        p, q = (sum(column[start:]) for column in self._sum.columns)
        least = (iv.mpf(p + self._sum.infinite) - odds * q) * self._unit()
        return max(Fraction(value(least - self._slack * (1 + odds))[0]), Fraction(0))

    def _unit(self) -> Interval:
        return iv.ldexp(iv.mpf(1), -self._bits)
