"""Sums of losses on a lattice, against sums over all outcomes: both ends, every branch."""

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from flint import arb
from mpmath import mpf

from exactdp.exact.precision import working_precision
from exactdp.losses import fourier, lattice
from exactdp.losses.cells import Cell, Cells, listed_cells, on_lattice
from exactdp.losses.lattice import Charged, Rare, compose, refined

DIGITS = 50


class Table:
    """A pair of a few outcomes, in exact masses; None in place of Q's: an infinite loss."""

    def __init__(self, p, q):
        self.p, self.q = [Fraction(x) for x in p], [Fraction(x) for x in q]
        both = [(a, b) for a, b in zip(self.p, self.q, strict=True) if a and b]
        self.masses = [arb(a.numerator) / a.denominator for a, _ in both]
        self.losses = [
            (arb(a.numerator * b.denominator) / (a.denominator * b.numerator)).log()
            for a, b in both
        ]

    def escaping(self):
        lost = sum((a for a, b in zip(self.p, self.q, strict=True) if a and not b), Fraction(0))
        return arb(lost.numerator) / lost.denominator

    def largest(self):
        return max(loss.upper() for loss in self.losses)

    def cells(self, step, tilt, points):
        return Cells(listed_cells(self.masses, self.losses, step), arb(0), len(self.masses))

    def sketch(self):
        return tuple(
            np.array([float(x) for x in some])
            for some in (self.losses, [one.log() for one in self.masses])
        )

    def power(self, times):
        """All outcomes of so many uses, those of equal counts together: (P, Q)."""
        found = Counter({(0,) * len(self.p): 1})
        for _ in range(times):
            more = Counter()
            for counts, ways in found.items():
                for i in range(len(self.p)):
                    more[(*counts[:i], counts[i] + 1, *counts[i + 1 :])] += ways
            found = more
        with mpmath.workdps(DIGITS):
            return [
                tuple(
                    ways * mpmath.fprod(_real(m) ** n for m, n in zip(some, counts, strict=True))
                    for some in (self.p, self.q)
                )
                for counts, ways in found.items()
            ]


def _real(x):
    return mpf(x.numerator) / x.denominator


def together(parts):
    """(P, Q) of all combinations."""
    each = [table.power(times) for table, times in parts]
    with mpmath.workdps(DIGITS):
        return [
            (mpmath.fprod(p for p, _ in some), mpmath.fprod(q for _, q in some))
            for some in product(*each)
        ]


def delta_of(pairs, level):
    with mpmath.workdps(DIGITS):
        odds = mpmath.exp(level)
        return mpmath.fsum(max(p - odds * q, mpf(0)) for p, q in pairs)


def drawn(rng, infinite=0.3):
    count = rng.choice((2, 2, 3, 4))
    p = [rng.choice((1, 1, 2, 5, 30, 1000)) for _ in range(count)]
    q = [rng.choice((1, 1, 2, 5, 30, 1000)) for _ in range(count)]
    if rng.random() < infinite and count > 2:
        q[rng.randrange(count)] = 0
    return Table([Fraction(x, sum(p)) for x in p], [Fraction(x, sum(q)) for x in q])


def assert_holds(parts, points, rng):
    pairs = together(parts)
    with working_precision(lattice.BITS):
        for level in ("0", "0.3", "2", str(rng.uniform(0, 5))):
            low, high = compose(parts, points, epsilon=arb(level))[:2]
            truth = delta_of(pairs, mpf(level))
            assert mpf(str(low.lower().str(40, radius=False))) <= truth * (1 + mpf(10) ** -25)
            assert truth <= mpf(high.upper().str(40, radius=False)) * (1 + mpf(10) ** -25)
        for delta in ("1e-9", "1e-3", "0.2"):
            target = arb(delta)
            if sum((1 for p, q in pairs if p and not q), 0) and not (
                mpmath.fsum(p for p, q in pairs if not q) < mpf(delta)
            ):
                continue
            low, high = compose(parts, points, delta=target)[:2]
            if low > 0:
                assert delta_of(pairs, _below(low)) >= mpf(delta) * (1 - mpf(10) ** -25)
            if high.is_finite():
                assert delta_of(pairs, _above(high)) <= mpf(delta) * (1 + mpf(10) ** -25)


def _below(end):
    return mpf(end.lower().str(40, radius=False)) * (1 - mpf(10) ** -30)


def _above(end):
    return mpf(end.upper().str(40, radius=False)) * (1 + mpf(10) ** -30)


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(s, marks=pytest.mark.slow) for s in range(12, 400))]
)
def test_both_ends_hold_sums_over_all_outcomes(seed):
    rng = random.Random(seed)
    parts = [(drawn(rng), rng.choice((1, 2, 3))) for _ in range(rng.choice((1, 1, 2, 3)))]
    assert_holds(parts, rng.choice((64, 256, 1024)), rng)


class WideCells(Table):
    """The same in cells of several steps, and the least losses counted at one end."""

    def cells(self, step, tilt, points):
        found, width = {}, 5
        for cell in super().cells(step, tilt, points).cells:
            low = cell.low // width * width
            p, q = found.get(low, (arb(0), arb(0)))
            found[low] = p + cell.p, q + cell.q
        least = min(found)
        p, q = found.pop(least)
        ends = [Cell(least + width, least + width, p, q)]
        ends += [Cell(low, low + width, p, q) for low, (p, q) in found.items()]
        return Cells(ends, arb(0), 1)


class Attained(Table):
    """A statistic: all of some outcomes' P- and Q-masses at one value, some of P's left out."""

    def cells(self, step, tilt, points):
        one = super().cells(step, tilt, points).cells
        return Cells([Cell(c.low, c.low, c.p * arb("0.99"), c.q) for c in one], arb(0), 1)


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("seed", range(20))
def test_wide_cells_and_statistics_hold_sums_over_all_outcomes(seed):
    rng = random.Random(seed)
    one, times = drawn(rng), rng.choice((1, 2, 5))
    wide = WideCells(one.p, one.q)
    assert_holds([(wide, times)], 1024, rng)
    pairs, level = together([(one, times)]), arb(rng.choice(("0", "0.5", "1")))
    with working_precision(lattice.BITS):
        parts = [(Attained(one.p, one.q), times)]
        answers = [*refined([(wide, times)], attained=parts, epsilon=level, width=1e-3)]
        truth = delta_of(pairs, mpf(level.str(40, radius=False)))
        for answer in answers:
            assert mpf(answer.lower.str(40, radius=False)) <= truth * (1 + mpf(10) ** -25)
            assert truth <= mpf(answer.upper.str(40, radius=False)) * (1 + mpf(10) ** -25)


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(s, marks=pytest.mark.slow) for s in range(6, 200))]
)
def test_many_uses_and_rare_large_losses(seed, monkeypatch):
    """Several levels, remainders, and losses told apart: few uses a level, so that all are met."""
    rng = random.Random(seed)
    monkeypatch.setattr(lattice, "FOLD", rng.choice((2, 3, 8)))
    rare = Fraction(1, rng.choice((300, 10_000, 10**6)))
    p = [Fraction(1, 2) - rare, Fraction(1, 2), rare]
    share = rng.choice((3, 8, 50))
    q = [Fraction(51, 100), Fraction(49, 100) - rare / share, rare / share]
    assert_holds([(Table(p, q), rng.choice((12, 25, 40, 60)))], rng.choice((256, 1024)), rng)


def test_rare_losses_are_met(monkeypatch):
    """The branch above is taken."""
    seen = []
    before = Rare.spectra
    monkeypatch.setattr(Rare, "spectra", lambda *args: seen.append(args) or before(*args))
    rare = Fraction(1, 10**5)
    table = Table(
        [Fraction(1, 2) - rare, Fraction(1, 2), rare],
        [Fraction(51, 100), Fraction(49, 100) - rare / 8, rare / 8],
    )
    with working_precision(lattice.BITS):
        compose([(table, 60)], 256, delta=arb("1e-2"))
    assert seen


def test_charges_widen_both_ends():
    table = Table(["0.5", "0.3", "0.2"], ["0.3", "0.3", "0.4"])
    off = Charged(arb("2e-4"), arb("2e-4"), arb("1e-4"))
    with working_precision(lattice.BITS):
        plain, wide = (
            compose([(table, 10)], 1 << 12, epsilon=arb(1), charged=one) for one in (None, off)
        )
    assert wide[0] < plain[0] and wide[1] > plain[1]
    assert abs(float(plain[0] - wide[0]) - 1e-4 * (2 + 2 * math.e)) < 1e-7
    assert abs(float(wide[1] - plain[1]) - 1e-4 * (1 + math.e)) < 1e-5


@pytest.mark.slow_cases("1e-60-1e-90-1024-1000", "1e-60-1e-90-64-1000")
@pytest.mark.parametrize("times", [1, 17, 1000])
@pytest.mark.parametrize("points", [64, 1024])
@pytest.mark.parametrize(
    "p, q", [("1", "1"), ("0.5", "1e-300"), ("1e-60", "1e-90"), ("1e-17", "1e-9")]
)
def test_losses_that_floats_hardly_hold_have_both_ends(p, q, points, times):
    """No number of a plan may end in an error: then nothing is known, which is true."""
    table = Table(*([x, 1 - x] for x in map(Fraction, (p, q))))
    with working_precision(lattice.BITS):
        low, high = compose([(table, times)], points, epsilon=arb(3))[:2]
        assert 0 <= low <= high <= 1
        low, high = compose([(table, times)], points, delta=arb("1e-9"))[:2]
        assert 0 <= low <= high


def test_coins_leave_nothing_out():
    table = Table(["0.5", "0.3", "0.2"], ["0.3", "0.3", "0.4"])
    with working_precision(lattice.BITS):
        step = arb(0.01)
        found = on_lattice(table.cells(step, 0.0, 0).cells, step)
        for which in (0, 1):
            assert sum((pair[which] for pair in found.values()), arb(0)).overlaps(arb(1))


# -- transforms ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 4, 8, 64, 1024])
def test_a_convolution_is_within_its_error(size):
    rng = np.random.default_rng(size)
    p, q = rng.random(size) - 0.3, rng.random(size) * 10.0 ** rng.integers(-12, 3, size)
    places = np.arange(size) - size // 3
    one = fourier.forward(places, p, q, size)
    got = fourier.backward(one[0].power(3), one[1].power(3), size)
    for values, found in ((p, got[0]), (q, got[1])):
        exact = [Fraction(0)] * size
        exact[0] = Fraction(1)
        for _ in range(3):
            exact = (
                _convolved(exact, [Fraction(float(x)) for x in values], size // 3)
                if size <= 64
                else None
            )
            if exact is None:
                return
        off = math.sqrt(
            sum(float(a - Fraction(float(b))) ** 2 for a, b in zip(exact, found, strict=True))
        )
        assert off <= got[2]


def _convolved(one, other, shift):
    size = len(one)
    found = [Fraction(0)] * size
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            found[(i + j - shift) % size] += a * b
    return found


def test_a_series_is_within_its_ball():
    values = np.random.default_rng(0).random(700) - 0.5
    with working_precision(128):
        x = (-arb("0.01")).exp()
        found = fourier.series(values, x)
        exact = sum((arb(float(v)) * x**k for k, v in enumerate(values)), arb(0))
    assert found.contains(exact.mid()) and float(found.rad()) < 1e-11
