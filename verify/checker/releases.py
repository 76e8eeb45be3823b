"""Streams released as C x + z, row t at time t: how far one user moves C x, and what that costs.

x has a row for every step; in each step that a user takes part in, hers moves by a vector u_t of
norm <= l2. c_t are the columns of C. What she moves is, squared, the sum over her steps s, t of
(c_s . c_t)(u_s . u_t): at most l2^2 times that of |c_s . c_t|, at least what vectors +-u make it.

*Noise.* Gaussian z of standard deviation sigma: exactly sens/sigma-Gaussian DP, also where x
depends on what was released before (Denisov, McMahan, Rush, Smith, Thakurta, NeurIPS 2022, Theorem
2.1). Discrete z, C and u of whole numbers: row i moves by a v_i that may depend on the rows before,
the |v_i|^2 adding up to at most sens^2 on every path. Given those, it is post-processing of a
Gaussian pair of distance mu_1 |v_i| (`unit`), and Gaussian DP whose mu^2 never add up to more than
m^2 is m-Gaussian DP together (Smith, Thakurta 2022; Koskela, Tobaben, Honkela, ICLR 2023). Of
discrete Gaussian z also D_a <= a sens^2/(2 sigma2): with w(t) the sum over whole x of
e^(-(x - t)^2/(2 sigma2)), at most w(0) by Poisson's formula, the a-th moment of the ratio of z + v
and z is e^(a (a - 1) v^2/(2 sigma2)) w(a v)/w(0) (Canonne, Kamath, Steinke, NeurIPS 2020), row by
row whatever was before, and the |v_i|^2 add up to at most sens^2 on every path.

*Tree*: C x are the sums over all [i 2^j, (i+1) 2^j) within n steps, or within each part of
`restart` of them. c_s . c_t is the number of intervals that hold both; a pattern costs the sum of
m^2 over the intervals, m its steps in each. One of 2^j steps holds M_j = 1 + (2^j - 1)//b at most:
    f_j(m) = m^2 + max over l + r = m, l, r <= M_(j-1), of f_(j-1)(l) + f_(j-1)(r).
*Toeplitz*, coefficients r_0 >= r_1 >= ... >= 0: c_s . c_t, the sum over j < n - t of r_j r_(j+t-s),
does not rise as both steps move on nor as they move apart. The j-th step of a pattern is at least
jb, and (j-i)b after the i-th, so that 0, b, 2b, ... is the worst. So it is of any table of which
this is seen.
*Tables*: with r_d(t) the largest |c_t . c_s|, s >= t + d b, m more steps from s on add at most
    V_m(s) = max over t >= s of |c_t|^2 + 2 (r_1(t) + ... + r_(m-1)(t)) + V_(m-1)(t + b).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from . import shape
from .arithmetic import OpenError, repeated
from .deadline import check_time
from .laws import SIZE, DiscreteGaussian, DiscreteGaussianSum, Law, Skellam, read_law
from .mechanisms import DIMENSION, NEIGHBOURS, Additive, Continuous, Curve, Family, Parts
from .reach import Reach
from .shape import CertificateError, number_text
from .unit import distance

_BITS = 256
_MOST_SPLIT = 300  # participations of which all splits are compared
_MOST_TIMES = 20_000
_MOST_PLACED = 5_000_000  # steps in intervals, of all patterns that are exactly apart
_MOST_STEPS, _MOST_ROWS = 1 << 40, 512  # steps of trees, and rows of tables
_LONGEST_ENTRY = 1100  # bits of a denominator: those of floats
Bounds = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Participation:
    """At most so many `times`, at least (or exactly) so many steps apart."""

    times: int
    separation: int
    exactly: bool

    def described(self) -> str:
        """In words."""
        if self.times == 1:
            return "one of them"
        exactly = "exactly" if self.exactly else "at least"
        return f"at most {self.times:,} of them, {exactly} {self.separation:,} apart"

    def allows(self, pattern: Sequence[int], steps: int) -> bool:
        """May a user take part in these steps?"""
        gaps = [b - a for a, b in pairwise(pattern)]
        if min(gaps, default=self.separation) < self.separation:
            return False
        if self.exactly and max(gaps, default=self.separation) > self.separation:
            return False
        return 0 < len(pattern) <= self.times and pattern[0] >= 0 and pattern[-1] < steps

    def earliest(self, steps: int) -> tuple[int, ...]:
        """0, b, 2b, ..."""
        if self.times > _MOST_TIMES:
            raise OpenError("a user takes part too often")
        return tuple(range(0, steps, self.separation)[: self.times])


class Matrix:
    """C: between what its square of sensitivity lies, for vectors of norm 1."""

    steps: int

    def described(self) -> str:
        """In words."""
        raise NotImplementedError

    def square(self, who: Participation, pattern: Sequence[int]) -> Bounds:
        """From below by the steps of this pattern."""
        raise NotImplementedError

    def shifts(self, pattern: Sequence[int]) -> Mapping[int, int]:
        """How many rows move by how much, where C is of whole numbers."""
        raise OpenError("noise on the integers needs a matrix of whole numbers")


@dataclass(frozen=True)
class Tree(Matrix):
    """A binary tree, begun anew after every `restart` steps."""

    steps: int
    restart: int

    def described(self) -> str:
        anew = f" begun anew every {self.restart:,}" if self.restart < self.steps else ""
        return f"a binary tree{anew}"

    def shifts(self, pattern: Sequence[int]) -> Mapping[int, int]:
        found: Counter[int] = Counter()
        for level in range(self.restart.bit_length()):
            held: Counter[tuple[int, int]] = Counter()
            for step in pattern:
                check_time()
                part, place = divmod(step, self.restart)
                size = min(self.restart, self.steps - part * self.restart)
                if ((place >> level) + 1) << level <= size:
                    held[part, place >> level] += 1
            found.update(Counter(held.values()))
        return found

    def square(self, who: Participation, pattern: Sequence[int]) -> Bounds:
        least, times = sum(m * m * count for m, count in self.shifts(pattern).items()), who.times
        parts = [(self.restart, self.steps // self.restart), (self.steps % self.restart, 1)]
        sizes: Counter[int] = Counter()  # levels of the intervals that are in no other
        for size, number in parts:
            for level in range(size.bit_length()):
                sizes[level] += number * (size >> level & 1)
        held = [min(times, 1 + ((1 << j) - 1) // who.separation) for j in range(max(sizes) + 1)]
        if times > _MOST_SPLIT:
            bound = sum(times * most for most in held)
        else:
            bound = max(_together([sizes[level] for level in range(len(held))], held, times))
        if least < bound and who.exactly:
            bound = self._worst(who) or bound
        return Fraction(least), Fraction(bound)

    def _worst(self, who: Participation) -> int | None:
        """Of all patterns that are exactly so far apart; None of too many.

        Steps only add: the worst has all that are allowed, or begins where none fits before it.
        """
        steps, times, b = self.steps, who.times, who.separation
        starts = range(max(steps - (times - 1) * b, min(b, steps)))
        if len(starts) * min(times, -(-steps // b)) * self.restart.bit_length() > _MOST_PLACED:
            return None
        each = (self.shifts(range(i, steps, b)[:times]) for i in starts)
        return max(sum(m * m * count for m, count in found.items()) for found in each)


def _together(sizes: Sequence[int], held: Sequence[int], times: int) -> Sequence[int]:
    """The most that so many intervals of each level cost, by how many of her steps they hold."""

    def join(one: Sequence[int], other: Sequence[int]) -> Sequence[int]:
        return _joined(one, other, times)

    whole: Sequence[int] = [0]
    cost: Sequence[int] = [0, 1]  # f_j
    for level, number in enumerate(sizes):
        if level:
            cost = [m * m + c for m, c in enumerate(_joined(cost, cost, held[level]))]
        if number:
            whole = join(whole, repeated(cost, number, join))
    return whole


def _joined(one: Sequence[int], other: Sequence[int], most: int) -> list[int]:
    """The largest sums of a term of each, by the sum of their places, up to this one."""
    found = [0] * min(len(one) + len(other) - 1, most + 1)
    for i, first in enumerate(one):
        check_time()
        for j, second in enumerate(other[: max(len(found) - i, 0)], start=i):
            if first + second > found[j]:
                found[j] = first + second
    return found


@dataclass(frozen=True)
class Toeplitz(Matrix):
    """Coefficients that do not rise: r_0 = 1 and r_j = the sum of scale decay^(j-1), scales of a
    sum <= 1 and decays <= 1; without any, those of which the square is the matrix of prefix sums:
    r_j = r_(j-1) (2j-1)/(2j).
    """

    steps: int
    terms: tuple[tuple[Fraction, Fraction], ...]

    def described(self) -> str:
        return "a BLT" if self.terms else "the root of prefix sums"

    def _coefficients(self, up: int) -> list[int]:
        """In units of 2^-_BITS, rounded down, or up."""
        found = [1 << _BITS]
        here = [_cut(scale.numerator << _BITS, scale.denominator, up) for scale, _ in self.terms]
        for j in range(1, self.steps):
            check_time()
            if self.terms:
                found.append(sum(here))
                here = [
                    _cut(each * decay.numerator, decay.denominator, up)
                    for each, (_, decay) in zip(here, self.terms, strict=True)
                ]
            else:
                found.append(_cut(found[-1] * (2 * j - 1), 2 * j, up))
        return found

    def square(self, who: Participation, pattern: Sequence[int]) -> Bounds:
        sides, b, ends = [self._coefficients(up) for up in (0, 1)], who.separation, []
        span = len(who.earliest(self.steps)) * b
        for one, other in (sides, sides[::-1]):
            moved = list(one)
            for t in range(b if span > b else self.steps, self.steps):
                check_time()
                moved[t] += moved[t - b] - (other[t - span] if t >= span else 0)
            ends.append(Fraction(sum(max(v, 0) ** 2 for v in moved), 1 << 2 * _BITS))
        return ends[0], ends[1]


def _cut(top: int, bottom: int, up: int) -> int:
    return -(-top // bottom) if up else top // bottom


@dataclass(frozen=True)
class Table(Matrix):
    """Any lower-triangular matrix, row by row up to the diagonal."""

    rows: tuple[tuple[Fraction, ...], ...]

    def described(self) -> str:
        return "a table"

    @property
    def steps(self) -> int:  # type: ignore[override]
        return len(self.rows)

    @cached_property
    def _whole(self) -> tuple[int, list[list[int]]]:
        """The common denominator, and the columns from the diagonal down, times it."""
        unit = math.lcm(*(entry.denominator for row in self.rows for entry in row))
        n = self.steps
        return unit, [[int(self.rows[i][t] * unit) for i in range(t, n)] for t in range(n)]

    @cached_property
    def _products(self) -> list[list[int]]:
        """c_s . c_t, s >= t, in a row for each t."""
        columns = self._whole[1]
        found: list[list[int]] = []
        for t, column in enumerate(columns):
            found.append([])
            for s in range(t, self.steps):
                check_time()
                found[t].append(sum(map(int.__mul__, column[s - t :], columns[s])))
        return found

    def shifts(self, pattern: Sequence[int]) -> Mapping[int, int]:
        unit, columns = self._whole
        if unit > 1:
            raise OpenError("noise on the integers needs a matrix of whole numbers")
        rows = (sum(columns[t][i - t] for t in pattern if t <= i) for i in range(self.steps))
        return Counter(abs(moved) for moved in rows if moved)

    def square(self, who: Participation, pattern: Sequence[int]) -> Bounds:
        products, n, b = self._products, self.steps, who.separation
        unit, signs, least = self._whole[0] ** 2, dict[int, int](), 0
        for t in pattern:  # signs that make it large
            beside = sum(sign * products[s][t - s] for s, sign in signs.items())
            signs[t] = -1 if beside < 0 else 1
            least += products[t][0] + 2 * abs(beside)
        sizes = [[abs(each) for each in row] for row in products]
        earliest = who.earliest(n)
        if min(map(min, products)) >= 0 and _falls(products):
            most = sum(_cost(sizes, earliest, at) for at in range(len(earliest)))
        elif who.exactly:
            starts = (tuple(range(i, n, b))[: who.times] for i in range(n))
            most = max(sum(_cost(sizes, one, at) for at in range(len(one))) for one in starts)
        else:
            most = _most(sizes, b, min(who.times, len(earliest)))
        return Fraction(least, unit), Fraction(most, unit)


def _falls(products: Sequence[Sequence[int]]) -> bool:
    n = len(products)
    return all(
        (t + 1 == n or products[s][t - s] >= products[s + 1][t - s])
        and (s == 0 or products[s][t - s] >= products[s - 1][t - s + 1])
        for s in range(n)
        for t in range(s, n)
    )


def _cost(sizes: Sequence[Sequence[int]], pattern: Sequence[int], at: int) -> int:
    check_time()
    t = pattern[at]
    return sizes[t][0] + 2 * sum(sizes[t][s - t] for s in pattern[at + 1 :])


def _most(sizes: Sequence[Sequence[int]], b: int, times: int) -> int:
    """V."""
    n = len(sizes)
    later = [list(row) for row in sizes]  # the largest from there on
    for row in later:
        for place in range(len(row) - 2, -1, -1):
            row[place] = max(row[place], row[place + 1])
    added, best = [row[0] for row in sizes], [0] * (n + b)
    for m in range(times):
        check_time()
        if m:
            added = [
                each + 2 * (later[t][m * b] if m * b < n - t else 0) for t, each in enumerate(added)
            ]
        found = [0] * (n + b)
        for t in range(n - 1, -1, -1):
            found[t] = max(found[t + 1], added[t] + best[t + b])
        best = found
    return best[0]


@dataclass(frozen=True)
class Stream(Family):
    """C x + z. scale: sigma of Gaussian noise; or the law of noise on the integers, and l2 of
    vectors of whole numbers in `dimension` coordinates.
    """

    matrix: Matrix
    who: Participation
    l2: Fraction
    noise: Fraction | Law
    dimension: int | None
    neighbours: str = "replace"

    def described(self) -> str:
        if isinstance(self.noise, Fraction):
            whole, noise = "", f"Gaussian noise (sigma {number_text(self.noise)})"
        else:
            whole, noise = "whole ", self.noise.described()
        return (
            f"a stream C x + z of {self.matrix.steps:,} steps, C {self.matrix.described()}, z "
            f"{noise}, x moved by {whole}vectors of at most {number_text(self.l2)} in L2 in "
            f"{self.who.described()}"
        )

    def above(self) -> Sequence[Parts]:
        most = self._square(())[1]
        if isinstance(self.noise, Fraction):
            return [self._gaussian(self.noise, most)]
        self.matrix.shifts(())  # of whole numbers?
        square = math.floor(most) * self._reach.largest_square
        farthest = distance(self.noise, square)
        gaussian = Continuous("gaussian", Fraction(1), farthest, self.neighbours)
        ways: list[Parts] = [((gaussian, 1),)]
        if isinstance(self.noise, DiscreteGaussian):
            ways.append(((Curve(square / (2 * self.noise.sigma2), None), 1),))
        return ways

    def below(self, hint: Sequence[int] = ()) -> Sequence[Parts]:
        if isinstance(self.noise, Fraction):
            return [self._gaussian(self.noise, self._square(hint)[0])]
        rows = self.matrix.shifts(self._pattern(hint)).items()
        reach, law, found = self._reach, self.noise, []
        for move in dict.fromkeys((reach.farthest, 1)):  # alike in each coordinate that moves
            count = min(reach.largest_square // move**2, reach.dimension or reach.largest_square)
            found.append(
                tuple((Additive(law, move * size, None), count * times) for size, times in rows)
            )
        return found

    @property
    def _reach(self) -> Reach:
        return Reach(self.l2, None, None, self.dimension)

    def _pattern(self, hint: Sequence[int]) -> Sequence[int]:
        if hint and not self.who.allows(hint, self.matrix.steps):
            raise OpenError("the steps that are named are not allowed")
        return hint or self.who.earliest(self.matrix.steps)

    def _square(self, hint: Sequence[int]) -> Bounds:
        return self.matrix.square(self.who, self._pattern(hint))

    def _gaussian(self, sigma: Fraction, square: Fraction) -> Parts:
        if not square:
            raise OpenError("nothing is moved")
        scale = sigma**2 / (square * self.l2**2)
        return ((Continuous("gaussian", scale, Fraction(1), self.neighbours, root=True), 1),)


# -- from the fields of a certificate -------------------------------------------------------------


def _rows(fields: Mapping[str, Any], name: str) -> tuple[tuple[Fraction, ...], ...]:
    listed = enumerate(shape.read_list(fields[name], name, _MOST_ROWS), start=1)
    rows = tuple(tuple(map(_entry, shape.read_list(row, "a row", i))) for i, row in listed)
    if any(len(row) != i for i, row in enumerate(rows, start=1)):
        raise CertificateError("row i of a table must have i entries, up to the diagonal")
    return rows


def _entry(text: object) -> Fraction:
    number = shape.read_number(text, "an entry", least=-(10**12), at_most=10**12)
    if number.denominator.bit_length() > _LONGEST_ENTRY:
        raise CertificateError("an entry has too long a denominator")
    return number


def _restart(fields: Mapping[str, Any], name: str) -> int:
    return shape.read_whole(fields[name], name, 1, shape.read_whole(fields["steps"], "steps", 1))


def _shares(fields: Mapping[str, Any], name: str) -> list[Fraction]:
    return [
        shape.read_number(each, name, at_most=1) for each in shape.read_list(fields[name], name, 64)
    ]


def _blt(steps: int, omega: list[Fraction], theta: list[Fraction]) -> Toeplitz:
    if len(omega) != len(theta) or sum(omega) > 1:
        raise CertificateError("omega and theta must be as many, the sum of omega at most 1")
    return Toeplitz(steps, tuple(zip(omega, theta, strict=True)))


_STEPS, _TREE_STEPS = shape.whole(1, 10**6), shape.whole(1, _MOST_STEPS)
_MATRIX = shape.one_of(
    "name",
    {
        "table": shape.plainly("matrix", Table, "name", rows=_rows),
        "tree": shape.plainly("matrix", Tree, "name", steps=_TREE_STEPS, restart=_restart),
        "sqrt-toeplitz": shape.plainly("matrix", partial(Toeplitz, terms=()), "name", steps=_STEPS),
        "blt": shape.plainly("matrix", _blt, "name", steps=_STEPS, omega=_shares, theta=_shares),
    },
    "matrix name must be tree, table, sqrt-toeplitz or blt",
)


def _noise(fields: Mapping[str, Any], name: str) -> Fraction | Law:
    if shape.held(fields[name]).get("name") == "gaussian":
        return shape.plainly(name, Fraction, "name", sigma=SIZE)(fields[name])
    law: Law = read_law(fields, name)
    if not isinstance(law, DiscreteGaussian | DiscreteGaussianSum | Skellam):
        raise CertificateError(
            "noise of streams must be gaussian, discrete-gaussian(-sum) or skellam"
        )
    return law


def _stream(
    matrix: Matrix, times: int, separation: int, exactly: bool, l2: Fraction,
    noise: Fraction | Law, dimension: int | None, neighbours: str,
) -> Stream:  # fmt: skip
    gaussian = isinstance(noise, Fraction)
    if (gaussian and dimension) or (not gaussian and l2 < 1):
        raise CertificateError("dimension is of noise on the integers, of which l2 is at least 1")
    who = Participation(times, separation, exactly)
    return Stream(matrix, who, l2, noise, dimension, neighbours)


read_stream = shape.plainly("stream", _stream, matrix=_MATRIX,
    participations=shape.whole(1, 10**5), separation=_TREE_STEPS,
    fixed=shape.read_yes, l2=shape.number(above=Fraction(0), at_most=10**9), noise=_noise,
    dimension=shape.optional(DIMENSION), neighbours=shape.choice(*NEIGHBOURS))  # fmt: skip
