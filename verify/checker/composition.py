"""delta(epsilon) of several uses: what their losses log P/Q add up to (`cells`, `grid`).

On that of the losses, where all share one, and exact but for the last bits; else on a grid that is
as fine as the hint `step` asks, or as there is room for: what is checked takes a bounded time.

Where several pairs count (the shifts of an additive mechanism, either way), an adversary may pick
among them each time: one pair that dominates them all bounds that from above, one of them
throughout from below. A user's own pair is taken the way round that it is given: `scenarios` says
which ways there are. Users' own pairs of few values are listed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from mpmath import iv

from .allocation import allocated
from .arithmetic import (
    INFINITY,
    End,
    Interval,
    OpenError,
    gathered,
    interval,
    log,
    middle,
    power,
    precision,
)
from .binomial import Binomial
from .cells import Range, off_lattice, on_lattice
from .continuous import cells
from .divergences import Listed, alone, as_listed, listings, two_way
from .grid import Grid, Sum
from .laws import FiniteLaw
from .mechanisms import (
    Additive,
    Allocation,
    Continuous,
    Finite,
    FixedSize,
    Key,
    Mechanism,
    Response,
    TwoLaws,
)
from .noise import Lattice
from .scenarios import Uses

NO_LATTICE = "losses that share no lattice need the step of a grid to be rounded to"

_SPARE = 45  # bits by which what is left out is smaller than delta
_CLOSE = 30  # fewer of them for random allocation
_MOST_LISTED = 3000  # values of the losses of users' own pairs
_MOST_PRODUCTS = 300_000  # of them, for one use more
_LONGEST_FRACTION = 20_000  # bits
_HIGHEST = 4000  # bits
_BEYOND = 40  # nats: losses so far above the level count as infinite


def delta(
    uses: Uses, level: End, goal: Fraction, step: Fraction | None, above: bool, full: bool
) -> End:
    """delta(level) of one scenario, from above or from below, for values about `goal`.

    step: of a grid that is fine enough for one use, for losses that lie on no lattice.
    """
    if not uses:
        return Fraction(0)
    merged = gathered(uses)
    count = sum(merged.values())
    largest = 0.0 if level == INFINITY else float(level)
    size = goal.denominator.bit_length() - goal.numerator.bit_length()
    bits = size + _SPARE + 40 + 2 * count.bit_length() + math.ceil(1.5 * largest)
    if bits > _HIGHEST:
        raise OpenError("the level is too high to compose")
    if step is not None:  # as fine, and exact in binary
        step = Fraction(2) ** math.floor(math.log2(step))
    elif _common([found for found in map(_known_step, merged) if found]) is None:
        raise OpenError(NO_LATTICE)
    with precision(bits + 24):
        listed = _listed(uses)
        if listed is not None:
            return listed.delta(level)[above]
        tail = size + _SPARE + count.bit_length()
        chosen = [_pairs(mechanism, tail, above, full, step) for mechanism in merged]
        slack = iv.mpf(1)
        for pairs, times in zip(chosen, merged.values(), strict=True):
            if pairs[0].slack:
                slack *= power(1 + interval(pairs[0].slack), times)
        within = Range(-0.7 * tail, largest + _BEYOND)
        tiny = (goal.numerator << bits - _SPARE) // (goal.denominator * count)
        on = _Lattices(list(merged.items()), step, within, bits, tiny)
        if above:
            whole, grid, origin = on.summed(chosen, below=False)
            return whole.at_most(level, origin, grid, slack - 1)
        choices = 2 if any(len(pairs) > 1 for pairs in chosen) else 1
        each = ([[p[min(choice, len(p) - 1)]] for p in chosen] for choice in range(choices))
        sums = (on.summed(firsts, below=True) for firsts in each)
        return max(whole.at_least(level, grid, slack - 1) for whole, grid, _ in sums)


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
            both = product(one.items(), masses.items())
            masses = gathered((ratio * change, mass * p) for (change, p), (ratio, mass) in both)
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
    return gathered((q / p, p) for p, q in zip(mechanism.p, mechanism.q, strict=True) if p)


def _size(masses: dict[Fraction, Fraction]) -> int:
    """Bits of the longest ratio, or of the masses' common denominator."""
    longest = max((max(one.numerator, one.denominator) for one in masses), default=1)
    return max(longest, math.lcm(*(mass.denominator for mass in masses.values()))).bit_length()


def _pairs(
    mechanism: Mechanism, tail: float, above: bool, full: bool, step: Fraction | None
) -> Sequence[Listed]:
    """Pairs that together dominate a use; or any of which may be chosen throughout."""
    if isinstance(mechanism, Continuous):
        if step is None:
            raise OpenError(NO_LATTICE)
        p, q, rest, rest_q, level = cells(mechanism, step, tail)
        return [Listed(p, q, rest, rest_q, level=level)]
    if isinstance(mechanism, Key) and isinstance(mechanism.noise, Continuous):
        return [alone(mechanism), *_pairs(mechanism.among_others, tail, above, full, step)]
    if isinstance(mechanism, FixedSize) and isinstance(mechanism.mechanism, Continuous):
        found = _pairs(mechanism.attained, tail, above, full, step)
        return [two_way(one) for one in found] if above else found
    if isinstance(mechanism, Allocation):
        if step is None or mechanism.taken > 1:
            raise OpenError(NO_LATTICE)
        return [allocated(mechanism, step, tail - _CLOSE)[above]]
    pairs = listings(mechanism, tail, None, above, full)
    law = mechanism.law if isinstance(mechanism, Additive) else None
    even = isinstance(law, Binomial) and law.is_fair
    if even and len(pairs) == 2:  # one shift either way: mirror images about trials/2
        return pairs[:1]
    # of finite laws the farthest shift first
    return pairs[::-1] if isinstance(law, FiniteLaw) and not above else pairs


# -- onto a lattice -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Lattices:
    """Mechanisms, each so many times, and on which grid they are where they share no lattice."""

    uses: Uses
    step: Fraction | None
    within: Range
    bits: int
    tiny: int

    def summed(self, pairs: Sequence[Sequence[Listed]], below: bool) -> tuple[Sum, Grid, Interval]:
        """What all losses add up to, from one side; and what is to be added to them.

        Every use on the lattice that all of them share, if there is one; else on the grid.
        """
        lattices = [
            _lattice(one, pair[0], below and self.step is None) if len(pair) == 1 else None
            for (one, _), pair in zip(self.uses, pairs, strict=True)
        ]
        common = None
        if all(lattices):
            common = _common([found.step for found in lattices if found and found.step is not None])
        origin, whole = iv.mpf(0), None
        if common is None and self.step is None:
            raise OpenError(NO_LATTICE)
        if common is None:
            assert self.step is not None
            grid = Grid.of(interval(self.step), self.bits, self.tiny, float(self.step) / 2)
        else:
            grid = Grid.of(_interval(common), self.bits, self.tiny, None)
        for (_, times), pair, found in zip(self.uses, pairs, lattices, strict=True):
            if common is None:
                points = off_lattice(pair, self.within, grid)
            else:
                assert found is not None
                places, own, start = found
                factor = 1 if own is None or own is common else int(own / common)
                points = on_lattice(pair[0], [factor * place for place in places], grid)
                if own is not None:
                    origin += times * interval(start) * _interval(own)
            part = (points.below(grid) if below else points.above(grid)).times(times, grid)
            whole = part if whole is None else whole.plus(part, grid)
        assert whole is not None
        return whole, grid, origin


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


def _known_step(mechanism: Mechanism) -> Fraction | None:
    """Of a lattice of losses that is known before anything is listed."""
    law = mechanism.law if isinstance(mechanism, Additive) else None
    return None if law is None else law.lattice_step(mechanism.shift)


def _interval(step: Fraction | Interval) -> Interval:
    return interval(step) if isinstance(step, Fraction) else step


def _lattice(mechanism: Mechanism, pair: Listed, roughly: bool) -> Lattice | None:
    """From below any places will do; roughly: those without the reduction mod m."""
    half = Fraction(1, 2)
    if isinstance(mechanism, Finite):
        if pair.outcomes is None:
            return None
        return Lattice([*pair.outcomes], pair.unit, Fraction(0))
    if not isinstance(mechanism, Additive | Response | TwoLaws):
        return None
    if isinstance(mechanism, Response) and mechanism.epsilon:
        places = [0, 0, -1, 0] if mechanism.delta else [0, -1]
        return Lattice(places, 2 * mechanism.epsilon, half)
    if isinstance(mechanism, Response) or pair.tells_all_or_nothing:
        return Lattice([0] * len(pair.p), None, half)
    if isinstance(mechanism, TwoLaws):
        return _ratio_lattice(pair)
    if pair.outcomes is None or (pair.reduced and not roughly):
        return None
    return mechanism.law.lattice(mechanism.shift, pair.outcomes)


def _ratio_lattice(pair: Listed) -> Lattice | None:
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
    return Lattice([places[ratio] for ratio in ratios], width, Fraction(0))
