"""Adversaries who choose at every use, against every way to play, in fractions."""

from fractions import Fraction
from functools import cache
from random import Random

import pytest
from flint import arb

from exactdp import Enclosure
from exactdp.accounting.losses.law import Atoms
from exactdp.accounting.losses.of_pair import listed_law
from exactdp.exact import working_precision
from exactdp.exact.errors import DoesNotApplyError
from exactdp.exact.number import Logarithm, ball
from exactdp.exact.precision import enclose
from exactdp.losses.choices import (
    adaptive_delta,
    adaptive_epsilon,
)
from exactdp.mechanisms.pairs.pair import FinitePair

F = Fraction
ROUGH = F(1, 10**4)
Masses = tuple[tuple[Fraction, Fraction], ...]  # (P, Q) of every outcome

SKEWED: Masses = ((F(1, 2), F(1, 5)), (F(3, 10), F(3, 10)), (F(1, 5), F(1, 2)))
LEANING: Masses = ((F(9, 10), F(7, 10)), (F(1, 10), F(3, 10)))
MIRRORED: Masses = tuple((q, p) for p, q in LEANING)
LEAKING: Masses = (
    (F(1, 100), F(0)),
    (F(89, 100), F(9, 10)),
    (F(1, 10), F(1, 20)),
    (F(0), F(1, 20)),
)
SPARSE: Masses = ((F(1, 10**60), F(1, 10**160)), (1 - F(1, 10**60), 1 - F(1, 10**160)))
SAME: Masses = ((F(1), F(1)),)
DISJOINT: Masses = ((F(1), F(0)), (F(0), F(1)))
# powers of 2, on a lattice of different origins
TWOS: Masses = ((F(2, 3), F(1, 3)), (F(1, 3), F(2, 3)))
FOURS: Masses = ((F(1, 5), F(1, 20)), (F(4, 5), F(4, 5)), (F(0), F(3, 20)))
UNFAIR: Masses = ((F(4, 7), F(1, 7)), (F(3, 7), F(6, 7)))
FAR: Masses = ((1 - F(1, 10**30), F(1, 10**40)), (F(1, 10**30), 1 - F(1, 10**40)))
RARE: Masses = ((F(1, 10**20), F(1, 10**22)), (1 - F(1, 10**20), 1 - F(1, 10**22)))


def law(masses: Masses) -> Atoms:
    p, q = zip(*masses, strict=True)
    with working_precision(128):
        return listed_law(FinitePair(tuple(map(str, range(len(p)))), p, q), -150.0)


def truth(menus, x: Fraction) -> Fraction:
    """The best an adversary can do who also picks what comes next, in fractions."""

    @cache
    def value(left: tuple[int, ...], x: Fraction) -> Fraction:
        if not any(left):
            return max(1 - x, F(0))
        best = F(0)
        for kind, (laws, _) in enumerate(menus):
            if left[kind]:
                after = (*left[:kind], left[kind] - 1, *left[kind + 1 :])
                for masses in laws:
                    gain = sum(p * value(after, x * q / p) for p, q in masses if p)
                    best = max(best, gain)
        return best

    return value(tuple(times for _, times in menus), x)


def cost(menus, x: Fraction, width: Fraction = ROUGH, work: float = 0.5) -> Enclosure:
    """delta at level log x."""
    listed = [([law(masses) for masses in laws], times) for laws, times in menus]
    level = Logarithm(x) if x != 1 else F(0)
    return adaptive_delta(listed, level, width, work)


def relative(found: Enclosure) -> Fraction:
    lower, upper = F(found.lower), F(found.upper)
    return (upper - lower) / upper if upper else F(0)


def least_level_holds(menus, found: Enclosure, delta: Fraction) -> None:
    """Whether delta(level) crosses delta within these ends, told in fractions."""
    if found.lower == Enclosure.infinite().lower:
        assert truth(menus, F(10**300)) > delta
    elif found.lower > 0:
        with working_precision(200):
            x = ball(F(found.lower)).exp() * (1 - arb(10) ** -40)
        assert truth(menus, _fraction(x)) >= delta
    if found.is_finite():
        with working_precision(200):
            x = ball(F(found.upper)).exp() * (1 + arb(10) ** -40)
        assert truth(menus, _fraction(x)) <= delta


def _fraction(x: arb) -> Fraction:
    mantissa, exponent = x.mid().man_exp()
    return F(int(mantissa)) * F(2) ** int(exponent)


GAMES = [
    [([LEANING, MIRRORED], 1)],
    [([LEANING, MIRRORED], 4)],
    [([SKEWED, LEANING, MIRRORED], 3)],
    [([LEANING, MIRRORED], 3), ([SKEWED], 2)],
    [([SKEWED], 1), ([LEANING, MIRRORED], 2), ([LEAKING], 1)],
    [([LEANING, MIRRORED], 2), ([LEAKING, SKEWED], 2)],
    [([LEANING, MIRRORED], 1), ([LEAKING, SKEWED], 1), ([UNFAIR, LEANING], 1), ([SKEWED], 1)],
    [([LEAKING, LEANING], 4)],
    [([LEANING, LEANING], 4)],
    [([SAME, LEANING], 3)],
    [([RARE, LEANING], 2)],
    [([SPARSE, LEANING], 2)],  # a loss that counts as infinite
    [([LEANING], 4)],
]
ON_LATTICE = [
    [([TWOS, FOURS], 5)],
    [([FOURS, UNFAIR], 4)],
    [([TWOS, UNFAIR], 3), ([FOURS], 2)],
    [([TWOS, UNFAIR], 2), ([FOURS, SAME], 2)],
    [([SAME, SAME], 3)],
    [([TWOS], 5)],
]
LEVELS = [F(1), F(11, 10), F(3, 2), F(2), F(5), F(40)]


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("x", LEVELS)
@pytest.mark.parametrize("menus", GAMES)
def test_delta_is_that_of_the_best_play(menus, x):
    found, exact = cost(menus, x), truth(menus, x)
    assert found.contains(exact)
    assert relative(found) < F(1, 10**3) or exact < F(1, 10**12)


@pytest.mark.slow_cases("menus6-delta0")
@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("delta", [F(1, 2), F(1, 10), F(1, 50), F(1, 1000)])
@pytest.mark.parametrize("menus", GAMES + ON_LATTICE)
def test_epsilon_is_where_delta_is_reached(menus, delta):
    listed = [([law(masses) for masses in laws], times) for laws, times in menus]
    found = adaptive_epsilon(listed, delta, F(1, 10**4), 0.5)
    least_level_holds(menus, found, delta)
    if found.upper == 0 or not found.is_finite():
        assert found.lower == found.upper
    else:
        assert relative(found) < F(1, 100)


def masses_of(rng: Random) -> Masses:
    """Some outcomes, of some masses or on powers of 2."""
    weights = [[rng.choice((0, 1, 1, 2, 3, 5, 30)) for _ in range(rng.randint(2, 3))]]
    if rng.random() < 0.3:
        weights.append([w << rng.randint(0, 5) for w in weights[0]])
    else:
        weights.append([rng.choice((0, 1, 1, 2, 3, 5, 30)) for _ in weights[0]])
    p, q = ([F(w, sum(some) or 1) for w in some] for some in weights)
    return tuple(zip(p, q, strict=True)) if sum(p) == sum(q) == 1 else SKEWED


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("seed", range(60))
def test_random_games(seed):
    """Any menus, in any order, with whatever width and work: both ends hold."""
    rng = Random(seed)
    menus = [
        ([masses_of(rng) for _ in range(rng.randint(1, 3))], rng.randint(1, 3))
        for _ in range(rng.randint(1, 2))
    ]
    x, width = rng.choice((F(1), F(3, 2), F(4), F(37))), F(1, 10 ** rng.choice((1, 4, 9, 14)))
    exact = truth(menus, x)
    assert cost(menus, x, width, rng.choice((0.02, 0.1))).contains(exact)
    delta = rng.choice((F(1, 2), F(1, 10), F(1, 997), exact if 0 < exact < 1 else F(1, 3)))
    listed = [([law(masses) for masses in laws], times) for laws, times in menus]
    least_level_holds(menus, adaptive_epsilon(listed, delta, width, 0.05), delta)


def test_work_ends_it_where_the_width_is_not_reached():
    menus = [([SKEWED, LEANING, MIRRORED], 4)]
    widths = []
    for work in (0.02, 0.5):
        found = cost(menus, F(2), F(1, 10**14), work)
        assert found.contains(truth(menus, F(2)))
        widths.append(relative(found))
    assert widths[0] > 4 * widths[1] > 0


@pytest.mark.parametrize("x", [F(1), F(3), F(10**9)])
def test_extremes(x):
    assert cost([([SAME, SAME], 4)], x) == Enclosure.exactly(0)
    assert cost([([DISJOINT, LEANING], 1)], x).contains(1)
    assert cost([([DISJOINT, LEANING], 3)], x).lower > F(999_999, 10**6)
    assert cost([([DISJOINT, DISJOINT], 2)], x) == Enclosure.exactly(1)
    far = cost([([FAR, LEANING], 2)], x)
    assert far.contains(truth([([FAR, LEANING], 2)], x))
    assert relative(far) < F(1, 10**3)
    assert adaptive_delta([], x) == Enclosure.exactly(0)


@pytest.mark.slow
def test_what_is_missing_is_charged():
    """Losses that are left out may have been any: either end holds for all of them."""
    with working_precision(128):
        masses, losses = [arb("0.7"), arb("0.1")], [arb("0.3"), arb("-0.4")]
        short = Atoms(masses, losses, arb(0), arb("0.2"))
    for weight in (F(0), F(1, 5), F(9, 100)):  # of the missing outcome under Q
        with working_precision(128):
            if weight:
                loss = (arb("0.2") / ball(weight)).log()
                full = Atoms([*masses, arb("0.2")], [*losses, loss], arb(0), arb(0))
            else:
                full = Atoms(masses, losses, arb("0.2"), arb(0))
        for level in (F(0), F(1, 2), F(1)):
            part = adaptive_delta([([short, short], 3)], level, F(1, 1000), 0.2)
            whole = adaptive_delta([([full, full], 3)], level, F(1, 1000), 0.2)
            assert part.lower <= whole.upper
            assert part.upper >= whole.lower


def test_what_is_missing_may_never_end():
    with working_precision(128):
        short = Atoms([arb("0.7"), arb("0.1")], [arb("0.3"), arb("-0.4")], arb(0), arb("0.2"))
    found = adaptive_epsilon([([short, short], 3)], F(1, 10), F(1, 10), 0.1)
    assert found.lower > 0
    assert found.upper == Enclosure.infinite().upper


def test_the_largest_loss_ends_all():
    menus = [([law(LEANING), law(MIRRORED)], 3)]
    found = adaptive_epsilon(menus, F(1, 10**12), F(1, 10**6), 1)
    with working_precision(128):
        largest = enclose((arb(3) * (1 + arb(10) ** -30)).log() * 3)
    assert found.upper <= largest.upper
    least_level_holds([([LEANING, MIRRORED], 3)], found, F(1, 10**12))
    assert adaptive_epsilon(menus, F(1)) == Enclosure.exactly(0)


def test_too_many_ways_to_interleave_are_refused():
    pair = [law(LEANING), law(MIRRORED)]
    with pytest.raises(DoesNotApplyError, match="1030301 ways"):
        adaptive_delta([(pair, 100)] * 3, F(1), F(1, 100), 0.1)
