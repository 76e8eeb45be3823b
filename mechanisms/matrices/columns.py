"""Matrices C by the products of their columns, and how sensitive C x is to one user.

*A tree* over n steps sums over all intervals [i 2^j, (i+1) 2^j) within them; with restarts, over
those of each part alone. c_s . c_t is the number of intervals that hold both, so that a pattern
with m steps in an interval costs the sum of all m^2. An interval of length w holds at most
M = 1 + (w-1) // b of steps that are b apart, whence the bound

    f_w(m) = m^2 + max over l + r = m, l, r <= M_(w/2), of f_(w/2)(l) + f_(w/2)(r),

and the largest sum over the intervals that are in no other. The densest patterns are tried, and all
by where they may stand (`blocks`). Where steps are exactly b apart one of `Participation.starts`
begins the worst pattern, since no product is negative: all of these are gone through.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from attrs import evolve, frozen
from flint import arb, arb_series, ctx, fmpz_mat
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.number import ParameterError, ball
from ...exact.precision import enclose, working_precision
from .blocks import STEP, Blocks, Joined, Rest, TooManyError
from .participation import MOST_STEPS, Participation, search

_BITS = 256
_TRIED = 4000  # steps of patterns that are tried, and places of each to which they are moved
_MOST_ADDED = 500_000_000  # entries that are gone through
_MOST_COUNTED = 1500  # participations of which all splits are compared
_ROOT_BITS = 300
_MOST_FIXED, _AT_ONCE = 100_000_000, 1_000_000  # entries of all patterns that are exactly apart
MOST_ROWS = 2048
MOST_COEFFICIENTS = 1_000_000

_Whole: TypeAlias = NDArray[np.int64]


@frozen
class Sensitivity:
    """The distance by which one user moves C x, vectors of norm 1: its square, from both sides.

    pattern: the steps that attain the lower end. shifts: by how much each row moves then, where C
    is of whole numbers: (size, how many rows).
    """

    square: Enclosure
    pattern: tuple[int, ...]
    shifts: tuple[tuple[int, int], ...] | None = None

    @property
    def lower(self) -> Fraction:
        """At most the distance, and exactly where it is rational and known."""
        return _root(Fraction(self.square.lower), up=False)

    @property
    def upper(self) -> Fraction:
        """At least the distance."""
        return _root(Fraction(self.square.upper), up=True)


def _root(square: Fraction, up: bool) -> Fraction:
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top**2 == square.numerator and bottom**2 == square.denominator:
        return Fraction(top, bottom)
    shifted = (square.numerator << (2 * _ROOT_BITS)) // square.denominator
    return Fraction(math.isqrt(shifted) + up * 2, 1 << _ROOT_BITS)


# -- trees ----------------------------------------------------------------------------------------


@frozen
class Tree:
    """A binary tree over so many steps, begun anew after every `restart` of them."""

    steps: int
    restart: int

    def sensitivity(self, who: Participation) -> Sensitivity:
        """From both sides; exactly mostly."""
        pattern, least = self._tried(who)
        bounds = _Bounds.of(self, who)
        most = bounds.most
        if least < most and who.fixed:
            if len(who.starts) * who.times * self.restart.bit_length() <= _MOST_FIXED:
                pattern = self._worst_start(who)
                most = self.cost(pattern)
        elif least < most:
            with suppress(TooManyError):
                found = bounds.best(least)
                pattern = pattern if found is None else tuple(found)
                most = self.cost(pattern)
        shifts = tuple(sorted(self.counts(pattern).items()))
        return Sensitivity(Enclosure(Fraction(self.cost(pattern)), Fraction(most)), pattern, shifts)

    def prefix_variance(self) -> int:
        """How many intervals the longest prefix sum is made of: its variance, that of one being 1.

        t steps are as many as t has binary digits 1: at most those of 2^k - 1 <= t.
        """
        parts, rest = divmod(self.steps, self.restart)
        each = self.restart.bit_count()
        last = (self.restart + 1).bit_length() - 1 + (parts - 1) * each
        return max(last, parts * each + (rest + 1).bit_length() - 1)

    def counts(self, pattern: Sequence[int], longest: bool = False) -> Counter[int]:
        """How many intervals hold so many of these steps; of the longest that end somewhere."""
        part, place, size = self._placed(np.array(pattern))
        found: Counter[int] = Counter()
        for level in range(self.restart.bit_length()):
            whole = ((place >> level) + 1) << level <= size
            if longest:
                whole &= (place >> level) % 2 == 0
            _, held = np.unique((part * self.restart + (place >> level))[whole], return_counts=True)
            sizes, times = np.unique(held, return_counts=True)
            for m, count in zip(sizes.tolist(), times.tolist(), strict=True):
                found[m] += count
        return found

    def weight(self, at: int, step: int) -> int:
        """Is this step in the longest interval that ends at that one?"""
        place = at % self.restart + 1
        return int(at - (place & -place) < step <= at)

    def released(self, pattern: Sequence[int]) -> Counter[int]:
        """How many of the longest intervals that end at a step hold so many of these."""
        return self.counts(pattern, longest=True)

    def moved(self, who: Participation) -> Counter[int]:
        """How many of these hold so many steps of a user's at most."""
        found: Counter[int] = Counter()
        parts, rest = divmod(self.steps, self.restart)
        for size, times in ((self.restart, parts), (rest, 1)):
            for level in range(size.bit_length()):
                most = min(who.times, 1 + ((1 << level) - 1) // who.separation)
                found[most] += times * ((size >> level) - (size >> (level + 1)))
        return +found

    def _placed(self, steps: _Whole) -> tuple[_Whole, _Whole, _Whole]:
        """In which part steps are, at which place, and how long that part is."""
        part, place = np.divmod(steps, self.restart)
        return part, place, np.minimum(self.restart, self.steps - part * self.restart)

    def cost(self, pattern: Sequence[int]) -> int:
        """The sum of all products of these steps' columns."""
        return sum(m * m * count for m, count in self.counts(pattern).items())

    def _worst_start(self, who: Participation) -> tuple[int, ...]:
        """Of all patterns of steps exactly so far apart one that costs most."""
        best, most = who.earliest, -1
        rows = max(1, _AT_ONCE // who.times)
        for first in range(0, len(who.starts), rows):
            starts = np.array(who.starts[first : first + rows])
            steps = starts[:, None] + np.arange(who.times) * who.separation
            inside = steps < self.steps
            part, place, size = self._placed(np.where(inside, steps, 0))
            row = np.arange(len(starts))[:, None] * who.times
            costs = np.zeros(len(starts), dtype=np.int64)
            for level in range(self.restart.bit_length()):
                whole = inside & (((place >> level) + 1) << level <= size)
                name = part * self.restart + (place >> level)
                changes = np.zeros(name.shape, dtype=np.int64)
                changes[:, 1:] = name[:, 1:] != name[:, :-1]
                run = row + np.cumsum(changes, axis=1)  # steps in one interval are neighbours
                held = np.bincount(run[whole], minlength=run.size).reshape(run.shape)
                costs += (held * held).sum(axis=1)
            at = int(costs.argmax())
            if costs[at] > most:
                best, most = tuple(steps[at][inside[at]].tolist()), int(costs[at])
        return best

    def _tried(self, who: Participation) -> tuple[tuple[int, ...], int]:
        levels = self.restart.bit_length()
        starts = max(1, _TRIED // (who.times * levels))
        patterns = [who.from_step(i) for i in range(min(starts, self.steps - who.span + 1))]
        if not who.fixed:
            patterns += self._packed(who)
        best = max(patterns, key=self.cost)
        return (best, self.cost(best)) if who.fixed else self._moved(best)

    def _moved(self, pattern: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
        """Better ones, by moving all steps from some on to where an interval begins."""
        best, most = pattern, self.cost(pattern)
        levels = range(self.restart.bit_length())
        if len(pattern) * len(levels) > _TRIED:
            return best, most
        for level in levels:
            for index in range(1, len(pattern)):
                ahead = -best[index] % (1 << level)
                if not ahead or best[-1] + ahead >= self.steps:
                    continue
                other = (*best[:index], *(step + ahead for step in best[index:]))
                if (cost := self.cost(other)) > most:
                    best, most = other, cost
        return best, most

    def _packed(self, who: Participation) -> list[tuple[int, ...]]:
        """As many as fit into each part, from its beginning on."""
        found: list[int] = []
        step = 0
        while len(found) < who.times and step < self.steps:
            found.append(step)
            after = step + who.separation
            parted = -(-after // self.restart) * self.restart
            step = parted if after // self.restart > step // self.restart else after
        return [tuple(found)] if len(found) == who.times else []

    def intervals(self) -> tuple[tuple[Sequence[int], int], ...]:
        """The levels of those that are in no other, in order; of all parts, and of what is left."""
        parts, rest = divmod(self.steps, self.restart)
        return tuple(
            ([level for level in reversed(range(size.bit_length())) if size >> level & 1], times)
            for size, times in ((self.restart, parts), (rest, 1 if rest else 0))
        )


@frozen
class _Bounds:
    """What patterns cost at most, by how many steps each interval holds, wherever they stand.

    costs: f_w(m), by level. sizes: how many intervals of each level are in no other.
    """

    tree: Tree
    who: Participation
    costs: Sequence[_Whole]
    sizes: Counter[int]
    most: int

    @staticmethod
    def of(tree: Tree, who: Participation) -> _Bounds:
        sizes: Counter[int] = Counter()
        for levels, times in tree.intervals():
            for level in levels:
                sizes[level] += times
        highest, k = max(level for level, times in sizes.items() if times), who.times
        held = [min(k, 1 + ((1 << level) - 1) // who.separation) for level in range(highest + 1)]
        if k > _MOST_COUNTED:
            return _Bounds(tree, who, (), sizes, sum(k * most for most in held))
        costs = [np.array([0, 1])]
        for level in range(1, highest + 1):
            joined = _joined(costs[-1], costs[-1], held[level])
            costs.append(joined + np.arange(len(joined)) ** 2)
        found = _Bounds(tree, who, costs, sizes, 0)
        return evolve(found, most=int(found._together(sizes).max()))

    def _together(self, sizes: Mapping[int, int]) -> _Whole:
        """Of so many intervals of each level, by how many steps they hold."""
        total: _Whole = np.array([0])
        for level, times in sizes.items():
            total = _joined(total, _power(self.costs[level], times, self.who.times), self.who.times)
        return total

    def best(self, least: int) -> Sequence[int] | None:
        """A pattern that costs most, of those that cost more than this; None if none does.

        Raises TooManyError.
        """
        if not self.costs:
            raise TooManyError
        k, joined = self.who.times, Joined(self.who.separation, self.who.times, least)
        levels: list[Blocks] = [STEP]
        for level, rest in enumerate(self._rests(), start=1):
            half = 1 << (level - 1)
            levels.append(joined(levels[-1], half, levels[-1], half, rest, True))

        def beside(sizes: Mapping[int, int]) -> Rest:
            """All intervals but those of so many that are already joined."""
            others = np.maximum.accumulate(self._together(self.sizes - Counter(sizes)))
            return lambda m: int(others[min(k - m, len(others) - 1)])

        whole: Blocks = {}
        width, done = 0, Counter[int]()
        for order, times in self.tree.intervals():
            part: Blocks = {}
            size, used = 0, Counter[int]()
            for level in order:
                used[level] += 1
                part = joined(part, size, levels[level], 1 << level, beside(used), False)
                size += 1 << level
            while times:
                if times & 1:
                    done += used
                    whole = joined(whole, width, part, size, beside(done), False)
                    width += size
                times >>= 1
                if times:
                    used += used
                    part, size = joined(part, size, part, size, beside(used), False), 2 * size
        blocks = [block for some in whole.values() for block in some]
        if not blocks:
            return None
        return max(blocks, key=lambda block: block.cost).steps(joined.gap)

    def _rests(self) -> list[Rest]:
        """What all else adds at most to an interval with so many steps, from level 1 on."""
        highest, k = len(self.costs) - 1, self.who.times
        found: list[_Whole] = []
        for level in reversed(range(1, highest + 1)):
            here = np.zeros(len(self.costs[level]), dtype=np.int64)
            if found:  # the parent, and what is beside it there
                parent = found[-1] + np.arange(len(found[-1])) ** 2
                for m in range(len(here)):
                    sides = self.costs[level][: max(len(parent) - m, 0)]
                    if len(sides):
                        here[m] = (parent[m : m + len(sides)] + sides).max()
            if self.sizes[level]:
                others = np.maximum.accumulate(self._together(self.sizes - Counter([level])))
                alone = others[np.minimum(k - np.arange(len(here)), len(others) - 1)]
                here = np.maximum(here, alone)
            found.append(here)

        def at(rest: _Whole) -> Rest:
            return lambda m: int(rest[min(m, len(rest) - 1)])

        return [at(rest) for rest in reversed(found)]


def _joined(one: _Whole, other: _Whole, most: int) -> NDArray[np.int64]:
    """The largest sums of a term of each, by the sum of their places, up to this one."""
    size = min(len(one) + len(other) - 1, most + 1)
    found = np.zeros(size, dtype=np.int64)
    for place, cost in enumerate(one[:size]):
        end = min(size, place + len(other))
        np.maximum(found[place:end], cost + other[: end - place], out=found[place:end])
    return found


def _power(cost: _Whole, times: int, most: int) -> NDArray[np.int64]:
    found = np.array([0])
    while times:
        if times & 1:
            found = _joined(found, cost, most)
        cost, times = _joined(cost, cost, most), times >> 1
    return found


# -- Toeplitz matrices ----------------------------------------------------------------------------


@frozen(eq=False)
class Toeplitz:
    """Lower-triangular, its coefficients not negative and never rising (`coefficients` has to be).

    coefficients: as balls at the working precision. terms: of a BLT, its scales and decays; None of
    the root of prefix sums.
    """

    steps: int
    coefficients: Callable[[], Sequence[arb]]
    terms: tuple[tuple[Fraction, Fraction], ...] | None = None

    def prefix_variance(self) -> Enclosure:
        """Of the last prefix sum, that of each entry of z being 1: b_0^2 + ... + b_(n-1)^2.

        The sums are those of B (C x + z), B = A C^-1 of coefficients b, 1/((1 - x) r(x)).
        """
        with working_precision(_BITS):
            before, ctx.cap = ctx.cap, self.steps
            try:
                sums = arb_series([arb(1)]) / arb_series([1, -1]) / arb_series(self.coefficients())
            finally:
                ctx.cap = before
            return enclose(sum((b * b for b in sums.coeffs()), arb(0)))

    def sensitivity(self, who: Participation) -> Sensitivity:
        """That of the earliest pattern (`participation`): |v|, v = the sum of its columns."""
        b, span = who.separation, who.span + who.separation - 1
        with working_precision(_BITS):
            r = self.coefficients()
            v: list[arb] = []
            square = arb(0)
            for t in range(self.steps):
                here = r[t]
                if who.times > 1 and t >= b:
                    here = here + v[t - b]
                    if t >= span:
                        here = here - r[t - span]
                v.append(here)
                square += here * here
            return Sensitivity(enclose(square), who.earliest)


def prefix_root(steps: int) -> Toeplitz:
    """C with C^2 = the matrix of prefix sums: r_0 = 1, r_j = r_(j-1) (2j-1)/(2j)."""

    def coefficients() -> list[arb]:
        found = [arb(1)]
        for j in range(1, steps):
            found.append(found[-1] * (2 * j - 1) / (2 * j))
        return found

    return Toeplitz(steps, coefficients)


def buffered(steps: int, scales: Sequence[Fraction], decays: Sequence[Fraction]) -> Toeplitz:
    """r_0 = 1, r_j = the sum of scale decay^(j-1) (BLT; McMahan, Xu, Zhang, arXiv 2408.08868).

    Raises ParameterError where that is not known to be falling: it is for scales >= 0 of a sum of
    at most 1 and decays from 0 to 1.
    """
    _check_falling(scales, decays)

    def coefficients() -> list[arb]:
        found, terms = [arb(1)], [ball(scale) for scale in scales]
        factors = [ball(decay) for decay in decays]
        for _ in range(1, steps):
            found.append(sum(terms, arb(0)))
            terms = [term * factor for term, factor in zip(terms, factors, strict=True)]
        return found

    return Toeplitz(steps, coefficients, tuple(zip(scales, decays, strict=True)))


def _check_falling(scales: Sequence[Fraction], decays: Sequence[Fraction]) -> None:
    if any(scale < 0 for scale in scales) or sum(scales) > 1:
        raise ParameterError("omega must be numbers at least 0 whose sum is at most 1")
    if any(not 0 <= decay <= 1 for decay in decays):
        raise ParameterError("theta must be numbers from 0 to 1")


@frozen(eq=False)
class Endless:
    """A BLT for streams of any length: the supremum over all of them.

    Columns, and so all that users move, only grow with the number of steps, to the sums over all t:
    with r_0 = 1, r_j = the sum of omega theta^(j-1), c_s . c_(s+d) tends to

        r_d + the sum over i, j of omega_i omega_j theta_j^d/(1 - theta_i theta_j),

    1 in place of r_d where d = 0. It does not depend on s, and falls in d: all patterns that are as
    dense as may be cost the same, and most.
    """

    terms: tuple[tuple[Fraction, Fraction], ...]
    steps = MOST_STEPS

    def sensitivity(self, who: Participation) -> Sensitivity:
        """k (c . c) + 2 ((k - 1) c_0 . c_b + ... + c_0 . c_((k-1)b))."""
        if who.times * max(len(self.terms), 1) > MOST_COEFFICIENTS:
            raise ParameterError(
                f"participations must be at most {MOST_COEFFICIENTS // len(self.terms)} of "
                f"{len(self.terms)} buffers without steps, got {who.times}"
            )
        with working_precision(_BITS):
            balls = [(ball(scale), ball(decay)) for scale, decay in self.terms]
            shared = [
                b * sum((a / (1 - other * decay) for a, other in balls), arb(0))
                for b, decay in balls
            ]
            square = who.times * (1 + sum(shared, arb(0)))
            for d in range(1, who.times):
                lag = d * who.separation
                beside = sum(
                    (
                        scale * decay ** (lag - 1) + both * decay**lag
                        for (scale, decay), both in zip(balls, shared, strict=True)
                    ),
                    arb(0),
                )
                square += 2 * (who.times - d) * beside
            return Sensitivity(enclose(square), who.earliest)


def endless(scales: Sequence[Fraction], decays: Sequence[Fraction]) -> Endless:
    """As `buffered`, without steps; decays below 1, but of scales 0."""
    _check_falling(scales, decays)
    terms = [(a, decay) for a, decay in zip(scales, decays, strict=True) if a]
    if any(decay == 1 for _, decay in terms):
        raise ParameterError("theta must be below 1 in a stream of any length: give steps")
    return Endless(tuple(terms))


# -- tables ---------------------------------------------------------------------------------------


@frozen(eq=False)
class Table:
    """Any lower-triangular matrix: whole numbers times a unit, to within that unit if `rounded`."""

    rows: fmpz_mat
    unit: Fraction = Fraction(1)
    rounded: bool = False

    @property
    def steps(self) -> int:
        """How many rows and columns there are."""
        return int(self.rows.ncols())

    def sensitivity(self, who: Participation) -> Sensitivity:
        """From both sides; exactly where no product is negative and the search comes to its end."""
        products = self.rows.transpose() * self.rows
        n = self.steps
        exact = [[int(entry) for entry in row] for row in products.tolist()]
        unit = self.unit**2
        signed = any(value < 0 for row in exact for value in row)
        if not signed and _is_falling(exact):
            pattern = who.earliest
            most = Fraction(_summed(exact, pattern)) * unit
        else:
            largest = max(exact[t][t] for t in range(n)) or 1
            floats = np.array([[abs(value) / largest for value in row] for row in exact])
            pattern, bound = search(floats, who)
            most = Fraction(bound) * largest
            most = (most if signed else math.floor(most)) * unit  # sums of products are whole
        least = Fraction(_summed(exact, pattern, signed)) * unit
        if not signed and who.times == 1:
            most = least
        square = Enclosure(least, max(least, most))
        return self._widened(square, pattern, who.times)

    def weight(self, at: int, step: int) -> int:
        """An entry of C, where these are whole numbers."""
        return int(self.rows[at, step]) * int(self.unit)

    def released(self, pattern: Sequence[int]) -> Counter[int]:
        """How many rows a user moves by so much, by the same number in all of these steps."""
        return Counter(dict(self._shifts(tuple(pattern)) or ()))

    def moved(self, who: Participation) -> Counter[int]:
        """How many rows a user moves by so much at most, by numbers up to 1.

        The most that j + 1 steps up to t add is that up to t - 1, or |entry| and that of j steps up
        to t - b.
        """
        n, b = self.steps, who.separation
        if n * n * who.times > _MOST_ADDED:
            raise ParameterError(
                f"participations must be at most {max(_MOST_ADDED // n**2, 1)} of a matrix of {n} "
                f"steps where its rows are gone through, got {who.times}"
            )
        sizes = [[abs(int(entry)) * int(self.unit) for entry in row] for row in self.rows.tolist()]
        small = max(map(max, sizes)) * n < 1 << 62
        entries = np.array(sizes, dtype=np.int64 if small else object)
        best = np.zeros_like(entries)
        for _ in range(who.times):
            found = entries.copy()
            found[:, b:] += best[:, : max(n - b, 0)]
            best = np.maximum.accumulate(found, axis=1)
        return +Counter(best[:, -1].tolist())

    def _widened(self, square: Enclosure, pattern: tuple[int, ...], times: int) -> Sensitivity:
        """What was rounded away, e, adds |sum of e_t u_t^T| <= times sqrt(n) units."""
        if not self.rounded:
            return Sensitivity(square, pattern, self._shifts(pattern))
        known = Sensitivity(square, pattern)
        off = times * (math.isqrt(self.steps) + 1) * self.unit
        low = max(known.lower - off, Fraction(0))
        return Sensitivity(Enclosure(low**2, (known.upper + off) ** 2), pattern)

    def _shifts(self, pattern: tuple[int, ...]) -> tuple[tuple[int, int], ...] | None:
        if self.unit.denominator != 1:
            return None
        whole = int(self.unit)
        moved = (abs(sum(int(self.rows[i, t]) for t in pattern)) * whole for i in range(self.steps))
        return tuple(sorted((size, count) for size, count in Counter(moved).items() if size))


def _summed(products: Sequence[Sequence[int]], pattern: Sequence[int], signed: bool = False) -> int:
    """The sum over a pattern; with signs that make it large, one after the other, where asked."""
    total, signs = 0, dict[int, int]()
    for t in pattern:
        beside = sum(sign * products[s][t] for s, sign in signs.items())
        signs[t] = -1 if signed and beside < 0 else 1
        total += products[t][t] + 2 * signs[t] * beside
    return total


def _is_falling(products: Sequence[Sequence[int]]) -> bool:
    """Does none rise as both steps move on, nor as the earlier one moves away from the later?"""
    n = len(products)
    return all(
        (t + 1 == n or products[s][t] >= products[s + 1][t + 1])
        and (s == 0 or products[s][t] >= products[s - 1][t])
        for t in range(n)
        for s in range(t + 1)
    )
