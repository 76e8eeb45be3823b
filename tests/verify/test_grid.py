"""The checker's lattices against enumeration in fractions, and against figures known otherwise."""

import itertools
import random
from fractions import Fraction

import mpmath
import pytest
from mpmath import iv

from exactdp import check
from exactdp.verify.checker.arithmetic import interval, precision
from exactdp.verify.checker.cells import Range, off_lattice
from exactdp.verify.checker.divergences import as_listed
from exactdp.verify.checker.grid import Grid, Sum

BITS = 100
WIDE = Range(-40.0, 40.0)
LEVELS = ("0", "0.1", "0.5", "1", "2.5")


def drawn(rng, nothing):
    """A pair of two to six outcomes, some of which one law may not have."""
    count = rng.randint(2, 6)
    sides = []
    for _ in range(2):
        masses = [rng.choice((0, rng.randint(1, 99))) if nothing else rng.randint(1, 99)
                  for _ in range(count)]  # fmt: skip
        masses[0] += 1
        sides.append([Fraction(mass, sum(masses)) for mass in masses])
    return tuple(sides)


def product(pairs):
    p, q = [Fraction(1)], [Fraction(1)]
    for pair in pairs:
        p, q = ([a * b for a in one for b in each] for one, each in zip((p, q), pair, strict=True))
    return p, q


def truth(pairs, level):
    """delta of independent pairs: about, to 40 digits."""
    with mpmath.workdps(40):
        odds = mpmath.exp(mpmath.mpf(level))
        both = zip(*product(pairs), strict=True)
        found = (mpmath.mpf(a.numerator) / a.denominator
                 - odds * b.numerator / b.denominator for a, b in both)  # fmt: skip
        return mpmath.fsum(max(each, mpmath.mpf(0)) for each in found)


def bounds(points, grid, level):
    below, above = points[0].below(grid), points[0].above(grid)
    for one in points[1:]:
        below, above = below.plus(one.below(grid), grid), above.plus(one.above(grid), grid)
    zero, at = iv.mpf(0), Fraction(level)
    return below.at_least(at, grid, zero), above.at_most(at, zero, grid, zero)


def holds(low, high, exact):
    with mpmath.workdps(40):
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in (low, high))
        return low - mpmath.mpf(10) ** -35 <= exact <= high + mpmath.mpf(10) ** -35


@pytest.mark.quick_cases(25)
@pytest.mark.parametrize("seed", range(60))
def test_three_random_pairs_at_coarse_steps(seed):
    rng = random.Random(seed)
    pairs = [drawn(rng, nothing=seed % 2) for _ in range(3)]
    with precision(BITS + 24):
        step = interval(Fraction(rng.randint(1, 10), 20))
        grid = Grid.of(step, BITS, 1 << rng.choice((0, 60)), rng.choice((None, 0.1, 1.0)))
        points = [off_lattice([as_listed(*pair)], WIDE, grid) for pair in pairs]
        for level in LEVELS:
            assert holds(*bounds(points, grid, level), truth(pairs, level))


@pytest.mark.quick_cases(15)
@pytest.mark.parametrize("seed", range(40))
def test_what_an_adversary_picks_at_every_use_is_dominated(seed):
    """Between two pairs, whatever was seen before: at most the envelope's."""
    rng = random.Random(seed)
    pairs = [drawn(rng, nothing=seed % 2) for _ in range(2)]
    with precision(BITS + 24):
        grid = Grid.of(interval(Fraction(rng.randint(1, 10), 20)), BITS, 1, None)
        both = off_lattice([as_listed(*pair) for pair in pairs], WIDE, grid)
        for level in LEVELS:
            most = bounds([both, both], grid, level)[1]
            for choice in itertools.product(pairs, repeat=2):
                assert holds(Fraction(0), most, truth(choice, level))
            assert holds(Fraction(0), most, adaptive(pairs, level))


def adaptive(pairs, level):
    """The most that an adversary gets of two uses who picks the second by what the first showed."""
    with mpmath.workdps(40):

        def gain(p, q, odds):
            return mpmath.fsum(max(mpmath.mpf(a.numerator) / a.denominator
                               - odds * b.numerator / b.denominator, 0)
                               for a, b in zip(p, q, strict=True))  # fmt: skip

        odds, best = mpmath.exp(mpmath.mpf(level)), mpmath.mpf(0)
        for first in pairs:
            whole = mpmath.mpf(0)
            for a, b in zip(*first, strict=True):
                if a:
                    seen = mpmath.mpf(a.numerator) / a.denominator
                    ratio = mpmath.mpf(b.numerator) / b.denominator / seen
                    whole += seen * max(gain(p, q, odds * ratio) for p, q in pairs)
            best = max(best, whole)
        return best


def test_no_mass_at_infinity_is_too_little_for_being_rounded_up():
    """1 - (1 - a)(1 - b) falls in a where b is above 1."""
    with precision(BITS + 24):
        grid = Grid.of(interval(Fraction(1, 10)), BITS, 1, None)
        most = Sum(0, ([0],), (1 << BITS) + (1 << 60), 0, 1)
        assert most.plus(most, grid).infinite >= 1 << BITS


@pytest.mark.contract
def test_uses_that_tell_nothing_are_checked_as_any_others():
    alike = {"kind": "pair", "outcomes": ["a"], "p": ["1"], "q": ["1"], "slack": "0"}
    content = {
        "format": "exactdp certificate",
        "version": 1,
        "uses": [{"mechanism": alike, "times": "3"}],
        "claim": {"kind": "approx", "epsilon": "1", "delta": "0.1"},
        "verdict": "VERIFIED",
        "measured": {"lower": "0", "upper": "1"},
        "hints": None,
    }
    assert check(content).valid
