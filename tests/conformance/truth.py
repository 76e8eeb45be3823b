"""What releases cost, by enumeration in mpmath: ordered pairs of what neighbours release, listed.

Nothing here imports the library. A pair is a list of (P, Q), one for each outcome; of integer noise
the outcomes that are left out weigh less than 1e-50 together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

import brute_force
import mpmath
import numpy as np
from mpmath import mpf
from scipy.special import ndtri

Pair = list[tuple[mpf, mpf]]
Row = Sequence[mpf]  # the probabilities of all reports, of one value
Pmf = Callable[[int], mpf]


class Truth:
    """The figures of an ordered pair, or the largest over several."""

    def delta(self, level: mpf) -> mpf:
        raise NotImplementedError

    def epsilon(self, target: Fraction) -> mpf:
        """The least level >= 0 with delta(level) <= target, by halving."""
        goal, low, high = brute_force_number(target), mpf(0), mpf(1)
        if self.delta(low) <= goal:
            return low
        while self.delta(high) > goal:
            low, high = high, 2 * high
            if high > 10**6:
                return mpmath.inf
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > goal else (low, middle)
        return high

    def renyi(self, order: Fraction) -> mpf:
        raise NotImplementedError

    def pure(self) -> mpf:
        raise NotImplementedError

    def twice(self) -> Truth:
        """Two releases, the same pair in both."""
        raise NotImplementedError


def brute_force_number(value: Fraction | int | str) -> mpf:
    """An exact number at the current precision."""
    number = Fraction(value)
    return mpf(number.numerator) / number.denominator


@dataclass(frozen=True)
class Listed(Truth):
    """The largest over these ordered pairs."""

    ways: tuple[Pair, ...]
    is_bounded: bool = True  # else the largest loss lies beyond all that is listed

    def delta(self, level: mpf) -> mpf:
        return max(brute_force.delta(pair, level) for pair in self.ways)

    def epsilon(self, target: Fraction) -> mpf:
        return max(_epsilon(pair, target) for pair in self.ways)

    def renyi(self, order: Fraction) -> mpf:
        return max(_renyi(pair, order) for pair in self.ways)

    def pure(self) -> mpf:
        if not self.is_bounded or any(map(_is_infinite, self.ways)):
            return mpmath.inf
        return max(map(brute_force.pure, self.ways))

    def mu(self) -> mpf:
        """The least mu of Gaussian privacy, from tests that reject the likeliest outcomes first.

        Between two of them errors lie on a line, and the Gaussian's curve is convex: if it is below
        the ends it is below the line.
        """
        return max(map(_mu, self.ways))

    def twice(self) -> Doubled:
        def floats(pair: Pair, which: int) -> Any:
            return np.array([float(one[which]) for one in pair if max(one) > mpf(10) ** -17])

        return Doubled(tuple((floats(pair, 0), floats(pair, 1)) for pair in self.ways))


@dataclass(frozen=True)
class Doubled(Truth):
    """Two releases of each pair, summed in floating point: right to 1e-9."""

    ways: tuple[tuple[Any, ...], ...]

    @cached_property
    def _products(self) -> list[tuple[Any, Any]]:
        return [(np.outer(p, p).ravel(), np.outer(q, q).ravel()) for p, q in self.ways]

    def delta(self, level: mpf) -> mpf:
        odds = float(mpmath.exp(level))
        return mpf(max(float(np.maximum(p - odds * q, 0).sum()) for p, q in self._products))


def _mu(pair: Pair) -> mpf:
    best, alpha, beta = mpf(0), mpf(0), mpf(1)
    for p, q in sorted(pair, key=lambda each: each[1] / each[0] if each[0] else mpmath.inf):
        alpha, beta = alpha + q, beta - p
        if not (p and q) and max(p, q) > mpf(10) ** -30:
            return mpmath.inf
        if mpf(10) ** -12 < min(alpha, beta, 1 - alpha, 1 - beta):
            best = max(best, mpf(float(ndtri(float(1 - alpha)) - ndtri(float(beta)))))
    return best


def _is_infinite(pair: Pair) -> bool:
    return any(p and not q for p, q in pair)


def _epsilon(pair: Pair, target: Fraction) -> mpf:
    certain = mpmath.fsum(p for p, q in pair if not q)
    return mpmath.inf if certain > brute_force_number(target) else brute_force.epsilon(pair, target)


def _renyi(pair: Pair, order: Fraction) -> mpf:
    return mpmath.inf if _is_infinite(pair) else brute_force.renyi(pair, order)


# -- integer noise --------------------------------------------------------------------------------


def _masses(pmf: Pmf, radius: int) -> dict[int, mpf]:
    with mpmath.workdps(brute_force.DIGITS):
        return {x: pmf(x) for x in range(-radius, radius + 1)}


def _moved(masses: dict[int, mpf], shift: int, modulus: int | None) -> dict[int, mpf]:
    found: dict[int, mpf] = {}
    for x, mass in masses.items():
        at = x + shift if modulus is None else (x + shift) % modulus
        found[at] = found.get(at, mpf(0)) + mass
    return found


def _paired(p: dict[int, mpf], q: dict[int, mpf]) -> Pair:
    zero = mpf(0)
    return [(p.get(x, zero), q.get(x, zero)) for x in {*p, *q}]


def _inside(pair: Pair) -> Pair:
    """Without the ends that a cut of the window leaves impossible on one side only."""
    return [(p, q) for p, q in pair if (p and q) or max(p, q) > mpf(10) ** -45]


def shifts(pmf: Pmf, radius: int, sensitivity: int = 1, modulus: int | None = None) -> Listed:
    """Noise against its shifts by 1, ..., sensitivity, up and down."""
    masses = _masses(pmf, radius)
    return Listed(tuple(
        _inside(_paired(masses if modulus is None else _moved(masses, 0, modulus),
                        _moved(masses, sign * d, modulus)))
        for d in range(1, sensitivity + 1) for sign in (1, -1)
    ))  # fmt: skip


def vectors(pmf: Pmf, radius: int, *moves: tuple[int, int]) -> Listed:
    """Two coordinates of noise, both of which move; outcomes of equal ratio are merged."""
    masses, ways = _masses(pmf, radius), []
    for move in moves:
        pair: Pair = [(mpf(1), mpf(1))]
        for d in move:
            one = _paired(masses, _moved(masses, d, None))
            one = merged([each for each in one if min(each) > mpf(10) ** -20])
            pair = merged([(p * a, q * b) for p, q in pair for a, b in one])
        ways += [pair, [(q, p) for p, q in pair]]
    return Listed(tuple(ways))


def merged(pair: Pair) -> Pair:
    """One outcome for all of the same ratio, which cost the same."""
    found: dict[str, tuple[mpf, mpf]] = {}
    for p, q in pair:
        ratio = mpmath.nstr(p / q, 30) if q else "inf"
        a, b = found.get(ratio, (mpf(0), mpf(0)))
        found[ratio] = a + p, b + q
    return list(found.values())


def sampled(one: Listed, rate: Fraction | str) -> Listed:
    """Poisson sampling: with the user at this rate against without, and the other way round."""
    r = brute_force_number(rate)
    ways = []
    for pair in one.ways:
        mixed = [((1 - r) * q + r * p, q) for p, q in pair]
        ways += [mixed, [(q, p) for p, q in mixed]]
    return Listed(tuple(ways))


def thresholded(pmf: Pmf, radius: int, threshold: int, sensitivity: int, names: bool) -> Listed:
    """One key's count, shown from the threshold on; with a user who moves it, and without.

    A key that nobody else holds is not shown without the user, whatever the noise. Where others
    hold it, what is shown is made from the noisy count, as it is where they are many.
    """
    masses, zero, ways = _masses(pmf, radius), {threshold - 1: mpf(1)}, list[Pair]()
    for d in range(1, sensitivity + 1):
        pairs = [_paired(_shown(masses, d, threshold, names), zero)]
        if names:
            counts = range(1, threshold + radius + 2)
            shown = {n: _shown(masses, n, threshold, names) for n in range(1, counts[-1] + d + 1)}
            pairs += [_paired(shown[n + d], shown[n]) for n in counts]
        for pair in map(_inside, pairs):
            ways += [pair, [(q, p) for p, q in pair]]
    return Listed(tuple(ways) if names else (*ways, *shifts(pmf, radius, sensitivity).ways))


def _shown(masses: dict[int, mpf], count: int, threshold: int, names: bool) -> dict[int, mpf]:
    found: dict[int, mpf] = {}
    for x, mass in masses.items():
        at = count + x if count + x >= threshold else threshold - 1
        at = min(at, threshold) if names else at
        found[at] = found.get(at, mpf(0)) + mass
    return found


# -- reports of users -----------------------------------------------------------------------------


def rows_of(rows: Sequence[Row]) -> Listed:
    """One report: any value against any other."""
    return Listed(tuple(list(zip(p, q, strict=True)) for p, q in permutations(rows, 2)))


def shuffled(rows: Sequence[Row], users: int) -> Listed:
    """The multiset of all users' reports: one user changes the value, the others hold any."""
    ways = []
    for others in combinations_with_replacement(range(len(rows)), users - 1):
        laws = [_multisets([rows[v], *(rows[o] for o in others)]) for v in range(len(rows))]
        for p, q in permutations(laws, 2):
            ways.append([(p.get(x, mpf(0)), q.get(x, mpf(0))) for x in {*p, *q}])
    return Listed(tuple(ways))


def _multisets(rows: Sequence[Row]) -> dict[tuple[int, ...], mpf]:
    found = {(0,) * len(rows[0]): mpf(1)}
    for row in rows:
        more: dict[tuple[int, ...], mpf] = {}
        for counts, mass in found.items():
            for report, chance in enumerate(row):
                at = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                more[at] = more.get(at, mpf(0)) + mass * chance
        found = more
    return found


def response(epsilon: Fraction | str, categories: int = 2, told: Fraction | str = 0) -> list[Row]:
    """The truth with odds e^epsilon against each other value; with chance `told` for certain."""
    odds, d = mpmath.exp(brute_force_number(epsilon)), brute_force_number(told)
    total = odds + categories - 1
    return [
        [(1 - d) * (odds if v == r else 1) / total for r in range(categories)]
        + [d if v == r else mpf(0) for r in range(categories if d else 0)]
        for v in range(categories)
    ]


def bits(on: mpf, off: mpf, count: int, held: int = 1) -> list[Row]:
    """One-hot (or `held`-hot, no two values with a common bit) encodings, bit by bit."""
    values = [range(i * held, (i + 1) * held) for i in range(count // held)]
    rows = []
    for value in values:
        row = []
        for report in product((0, 1), repeat=count):
            chances = (on if bit in value else off for bit in range(count))
            row.append(
                mpmath.fprod(c if r else 1 - c for r, c in zip(report, chances, strict=True))
            )
        rows.append(row)
    return rows


def memoised(half: mpf, p: mpf, q: mpf, count: int) -> list[Row]:
    """So many reports of two bits, of one answer whose bits were turned at random before."""
    rows = []
    for value in range(2):
        row = []
        for seen in product((0, 1), repeat=2 * count):
            mass = mpf(1)
            for bit in range(2):
                ones, kept = sum(seen[bit::2]), ((q, p), (p, q))[bit == value]
                mass *= sum(share * on**ones * (1 - on) ** (count - ones)
                            for share, on in zip((1 - half, half), kept, strict=True))  # fmt: skip
            row.append(mass)
        rows.append(row)
    return rows


def subsets(epsilon: Fraction | str, categories: int, size: int) -> list[Row]:
    """Subsets of this size: those with the value have odds e^epsilon against the others."""
    odds, chosen = (
        mpmath.exp(brute_force_number(epsilon)),
        list(combinations(range(categories), size)),
    )
    rows = []
    for value in range(categories):
        weights = [odds if value in one else mpf(1) for one in chosen]
        total = mpmath.fsum(weights)
        rows.append([one / total for one in weights])
    return rows


def hadamard(epsilon: Fraction | str, categories: int) -> list[Row]:
    """Columns of a Sylvester matrix: those with 1 in the value's row have odds e^epsilon."""
    size = 1
    while size <= categories:
        size *= 2
    odds = mpmath.exp(brute_force_number(epsilon))
    rows = []
    for value in range(1, categories + 1):
        weights = [odds if bin(value & c).count("1") % 2 == 0 else mpf(1) for c in range(size)]
        total = mpmath.fsum(weights)
        rows.append([one / total for one in weights])
    return rows


def bounded_range(epsilon: Fraction | str, count: int = 400) -> Listed:
    """Two outcomes of losses t and t - epsilon, at so many t."""
    e, ways = brute_force_number(epsilon), []
    for i in range(1, count):
        t = e * i / count
        q = (1 - mpmath.exp(t - e)) / (mpmath.exp(t) - mpmath.exp(t - e))
        p = q * mpmath.exp(t)
        ways.append([(p, q), (1 - p, 1 - q)])
    return Listed(tuple(ways))


# -- continuous noise -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Gaussian(Truth):
    """N(mu, 1) against N(0, 1)."""

    square: Fraction  # mu^2

    @cached_property
    def mu(self) -> mpf:
        return mpmath.sqrt(brute_force_number(self.square))

    def delta(self, level: mpf) -> mpf:
        upper = mpmath.ncdf(self.mu / 2 - level / self.mu)
        return upper - mpmath.exp(level) * mpmath.ncdf(-self.mu / 2 - level / self.mu)

    def renyi(self, order: Fraction) -> mpf:
        return brute_force_number(order) * brute_force_number(self.square) / 2

    def pure(self) -> mpf:
        return mpmath.inf

    def twice(self) -> Gaussian:
        return Gaussian(2 * self.square)


@dataclass(frozen=True)
class Laplace(Truth):
    """Laplace noise of scale 1/epsilon against its shift by 1."""

    ratio: Fraction  # epsilon

    def delta(self, level: mpf) -> mpf:
        return max(1 - mpmath.exp((level - brute_force_number(self.ratio)) / 2), mpf(0))

    def renyi(self, order: Fraction) -> mpf:
        a, e = brute_force_number(order), brute_force_number(self.ratio)
        total = a * mpmath.exp((a - 1) * e) + (a - 1) * mpmath.exp(-a * e)
        return mpmath.log(total / (2 * a - 1)) / (a - 1)

    def pure(self) -> mpf:
        return brute_force_number(self.ratio)

    def twice(self) -> TwoLaplaces:
        return TwoLaplaces(self)


@dataclass(frozen=True)
class TwoLaplaces(Truth):
    """Two releases: the mean of one's delta(level - L) over the other's loss L.

    With e = 1/scale, L is e with probability 1/2, -e with e^(-e)/2, and has the density
    e^((l - e)/2)/4 between.
    """

    one: Laplace

    def delta(self, level: mpf) -> mpf:
        e = brute_force_number(self.one.ratio)

        def rest(loss: mpf) -> mpf:
            left = level - loss
            return 1 - mpmath.exp(left) if left <= -e else self.one.delta(left)

        def weighed(loss: mpf) -> mpf:
            return rest(loss) * mpmath.exp((loss - e) / 2) / 4

        inner = sorted({-e, *(x for x in (level - e, level + e) if -e < x < e), e})
        return rest(e) / 2 + rest(-e) * mpmath.exp(-e) / 2 + mpmath.quad(weighed, inner)


def patterns(steps: int, times: int, separation: int, fixed: bool) -> Iterator[tuple[int, ...]]:
    """All sets of steps in which a user may take part."""
    for count in range(1, times + 1):
        span = (count - 1) * separation + 1
        if fixed:
            for first in range(steps - span + 1):
                yield tuple(range(first, first + span, separation))
        else:
            for spread in combinations(range(steps - span + count), count):
                yield tuple(step + i * (separation - 1) for i, step in enumerate(spread))


def stream(rows: Sequence[Sequence[Fraction]], sigma: Fraction, who: Iterable[tuple[int, ...]],
           l2: Fraction = Fraction(1)) -> Gaussian:  # fmt: skip
    """C x + z: x moves by vectors of norm l2, all along one line, towards or against it.

    Of vectors u_i of norm at most 1 the sum |sum_i C_i u_i|^2 is largest at a corner of signs where
    they are numbers, which a matrix without negative entries attains with all of them equal.
    """
    most = Fraction(0)
    for chosen in who:
        total = sum((sum((row[i] for i in chosen), Fraction(0)) ** 2 for row in rows), Fraction(0))
        most = max(most, total)
    return Gaussian(most * l2**2 / sigma**2)


def tree(steps: int, restart: int | None = None) -> list[list[Fraction]]:
    """A row for each node of a binary tree over the steps, or of one for each run of `restart`."""
    rows, run = Counter[tuple[int, ...]](), restart or steps
    for start in range(0, steps, run):
        size = 1
        while size < 2 * min(run, steps - start):
            for first in range(start, min(start + run, steps), size):
                last = first + size
                if last <= min(start + run, steps):
                    rows[tuple(range(first, last))] += 1
            size *= 2
    return [[Fraction(i in node) for i in range(steps)] for node in rows]


def square_root(steps: int) -> list[list[Fraction]]:
    """The square root of the matrix of ones: entries binom(2k, k)/4^k below the diagonal."""
    entries = [Fraction(1)]
    for k in range(1, steps):
        entries.append(entries[-1] * (2 * k - 1) / (2 * k))
    return [[entries[i - j] if j <= i else Fraction(0) for j in range(steps)] for i in range(steps)]
