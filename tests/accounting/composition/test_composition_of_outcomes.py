"""Compositions of losses off every lattice, and of several pairs, against all their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import composed_truth as truth
import mpmath
import oracles
import pytest
from mpmath import mpf

from exactdp import Composition
from exactdp.accounting.composition.composed import compose
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    FinitePair,
    Law,
    Mechanism,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)

NARROW = Fraction(1, 500)  # held to off every lattice, also at level 0, where losses pile up
LITTLE = Fraction(1, 10**9)
NOTHING = Fraction(1, 10**100)
LEVELS = [Fraction(0), LITTLE, Fraction(1, 3), Fraction(2)]
ONE = [(mpf(1), mpf(1))]


def holds(
    composition: Composition,
    goals: Sequence[str],
    low: truth.Profile,
    high: truth.Profile | None = None,
    levels: Sequence[Fraction] = LEVELS,
    narrow: Fraction = NARROW,
) -> None:
    """Both directions of the profile, known to lie between `low` and `high` (default: is `low`)."""
    with mpmath.workdps(truth.DIGITS):
        hair, least = 1 + mpf(10) ** -25, mpf(10) ** -40
        for level in levels:
            found = composition.delta(level, narrow / 20)
            lower, upper = truth.real(Fraction(found.lower)), truth.real(Fraction(found.upper))
            bottom, top = low(level), (high or low)(level)
            assert lower <= top * hair + least, (str(found), float(level))
            assert upper * hair + least >= bottom, (str(found), float(level))
            if high is None:
                assert upper - lower <= truth.real(narrow) * upper + least, str(found)
    for goal in goals:
        found = composition.epsilon(goal, narrow / 20)
        ends = Fraction(found.lower), Fraction(found.upper)
        truth.assert_level_holds(ends, Fraction(goal), low, high)
        if high is None:
            assert ends[1] - ends[0] <= max(narrow * ends[1], NOTHING), str(found)


def profile_of(*each: truth.Atoms) -> truth.Profile:
    """All combinations of these outcomes, half of them on either side."""
    half = len(each) // 2
    left, right = truth.product(*each[:half]), truth.product(*each[half:])
    return lambda level: truth.outcomes_delta(left, right, level)


def sum_of_gaussians() -> dict[int, mpf]:
    with mpmath.workdps(truth.DIGITS):
        return oracles.convolution(oracles.discrete_gaussian("1/2"), 3, 22)


_SUM = sum_of_gaussians()
LAWS: dict[str, tuple[Law, Callable[[], oracles.Pmf], int]] = {
    "skellam": (Skellam("0.5"), lambda: oracles.skellam("0.5"), 32),
    "skellam-wide": (Skellam("3"), lambda: oracles.skellam("3"), 48),
    "polya-below-1": (
        PolyaDifference("0.6", 1),
        lambda: oracles.polya_difference("0.6", 1),
        75,
    ),
    "polya-above-1": (
        PolyaDifference("1.7", 1),
        lambda: oracles.polya_difference("1.7", 1),
        80,
    ),
    "sum-of-gaussians": (DiscreteGaussianSum(3, "1/2"), lambda: lambda x: _SUM.get(x, mpf(0)), 22),
}
QUICK = ["skellam", "skellam-wide", "sum-of-gaussians"]


def listed(name: str, shift: int) -> tuple[Law, truth.Atoms]:
    law, pmf, reach = LAWS[name]
    with mpmath.workdps(truth.DIGITS):
        return law, truth.of_shift(pmf(), shift, -reach, reach + shift)


@pytest.mark.quick_cases(2)
@pytest.mark.slow_cases(
    "1-2-skellam-wide",
    "1-3-skellam-wide",
    "1-3-skellam",
    "1-3-sum-of-gaussians",
    "2-2-skellam-wide",
)
@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize(("shift", "times"), [(1, 2), (2, 2), (1, 3)])
def test_additive_noise(name: str, shift: int, times: int) -> None:
    law, each = listed(name, shift)
    composition, levels = (
        compose((AdditiveNoise(law, shift), times)),
        LEVELS[times - 2 :: times - 1],
    )
    holds(composition, ["1e-1", "1e-6"][times - 2 :], profile_of(*[each] * times), levels=levels)


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "times"), [(1, 2), (2, 2), (1, 3)])
def test_polya_difference(shift: int, times: int) -> None:
    for name in set(LAWS) - set(QUICK):
        law, each = listed(name, shift)
        composition = compose((AdditiveNoise(law, shift), times))
        holds(composition, ["1e-1", "1e-6"], profile_of(*[each] * times))


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_additive_noise_four_times(name: str) -> None:
    law, each = listed(name, 1)
    composition = compose((AdditiveNoise(law, 1), 4))
    holds(composition, ["1e-1", "1e-6", "1e-12"], profile_of(*[each] * 4))


@pytest.mark.parametrize("goal", ["1e-30", "1e-300"])
def test_tiny_delta(goal: str) -> None:
    with mpmath.workdps(truth.DIGITS):
        each = truth.of_shift(oracles.skellam("0.5"), 1, -160, 160)
    composition = compose((AdditiveNoise(Skellam("0.5"), 1), 2))
    holds(composition, [goal], profile_of(each, each), levels=[])


# -- a user's pairs -------------------------------------------------------------------------------

PAIRS = {
    "one-sided": (("0.5", "0.3", "0.2", "0"), ("0.2", "0.3", "0", "0.5")),
    "only-p-escapes": (("0.4", "0.35", "0.25"), ("0.6", "0.4", "0")),
    "apart": (("1", "0"), ("0", "1")),
    "the-same": (("0.4", "0.6"), ("0.4", "0.6")),
    "skewed": (("0.9", "0.0999", "0.0001"), ("0.1", "0.2", "0.7")),
    "tiny": (("0.999999999", "1e-9"), ("0.9999999999", "1e-10")),
    "primes": (("1/2", "1/3", "1/6"), ("1/5", "2/5", "2/5")),
}


def finite(name: str) -> tuple[FinitePair, truth.Atoms, truth.Atoms]:
    p, q = PAIRS[name]
    there = [(truth.real(a), truth.real(b)) for a, b in zip(p, q, strict=True)]
    back = [(b, a) for a, b in there]
    pair = FinitePair(tuple(map(str, range(len(p)))), p, q)
    return pair, [each for each in there if each[0]], [each for each in back if each[0]]


def larger(*profiles: truth.Profile) -> truth.Profile:
    return lambda level: max(profile(level) for profile in profiles)


@pytest.mark.parametrize("times", [2, 3, 6])
@pytest.mark.parametrize("name", PAIRS)
def test_finite_pair_counts_both_directions(name: str, times: int) -> None:
    pair, there, back = finite(name)
    profile = larger(profile_of(*[there] * times), profile_of(*[back] * times))
    composition = compose((pair, times))
    goals = [goal for goal in ("1e-1", "1e-6", "1e-12") if profile(Fraction(200)) < float(goal)]
    holds(composition, goals, profile, narrow=Fraction(1, 10**11))
    if profile(Fraction(200)) > 1e-6:
        assert (
            composition.epsilon("1e-9").lower
            == composition.pure().lower
            == Fraction(0) + mpmath.inf
        )


def test_slack_is_charged_each_time() -> None:
    slack = Fraction(1, 10**4)
    pair = FinitePair(("a", "b"), ("0.5", "0.4999"), ("0.2", "0.8"), slack=slack)
    composition = compose((pair, 2))
    for p in ("0.5", "0.50005", "0.5001"):
        for q in ("0.2", "0.19995", "0.2001"):
            a, b = truth.real(p), truth.real(q)
            each = [(a, b), (1 - a, 1 - b)]
            both = [profile_of(each, each), profile_of(*[[(y, x) for x, y in each]] * 2)]
            for level in (Fraction(0), Fraction(1, 3), Fraction(1)):
                found = composition.delta(level)
                value = oracles.exactly(larger(*both)(level))
                assert Fraction(found.lower) <= value <= Fraction(found.upper)


@pytest.mark.parametrize(
    ("slack", "times", "level"), [("0.3", 2, 1), ("0.3", 1000, 1), ("1e-9", 1000, 300)]
)
def test_delta_with_slack_is_a_probability(slack: str, times: int, level: int) -> None:
    pair = FinitePair(("a", "b"), ("0.5", "0.5"), ("0.01", "0.99"), slack=slack)
    found = compose((pair, times)).delta(level)
    assert 0 <= found.lower <= found.upper <= 1


# -- unlike mechanisms together -------------------------------------------------------------------


def shifted(name: str, shift: int = 1) -> tuple[AdditiveNoise, truth.Atoms, truth.Atoms]:
    law, atoms = listed(name, shift)
    return AdditiveNoise(law, shift), atoms, atoms


def response(size: str) -> tuple[RandomizedResponse, truth.Atoms, truth.Atoms]:
    atoms = truth.two_points(Fraction(size))
    return RandomizedResponse(size), atoms, atoms


def laplace(scale: str, shift: int) -> tuple[AdditiveNoise, truth.Atoms, truth.Atoms]:
    with mpmath.workdps(truth.DIGITS):
        pmf = oracles.discrete_laplace(scale)
        beta = mpmath.exp(-1 / truth.real(scale))
        left = 1 / (1 + beta)
        inner = [(pmf(x), pmf(x - shift)) for x in range(1, shift)]
        atoms = [(left, left * beta**shift), *inner, (left * beta**shift, left)]
    return AdditiveNoise(DiscreteLaplace(scale), shift), atoms, atoms


MIXED: dict[str, list[tuple[Mechanism, truth.Atoms, truth.Atoms]]] = {
    "incommensurable-lattices": [laplace("2", 3), finite("primes"), finite("primes")],
    "lattice-and-pair": [response("0.7"), response("0.7"), finite("one-sided")],
    "two-pairs": [finite("skewed"), finite("primes"), finite("only-p-escapes")],
    "laplace-and-skellam": [laplace("2", 3), laplace("2", 3), shifted("skellam")],
    "laplace-and-sums": [laplace("1", 1), shifted("sum-of-gaussians"), shifted("skellam", 2)],
    "response-and-skellams": [response("1"), shifted("skellam"), shifted("skellam-wide", 2)],
    "pair-and-skellam": [finite("only-p-escapes"), shifted("skellam")],
    "everything": [finite("primes"), response("0.5"), laplace("3", 1), shifted("skellam")],
}


@pytest.mark.slow_cases("laplace-and-sums", "response-and-skellams")
@pytest.mark.parametrize("name", MIXED)
def test_unlike_mechanisms(name: str) -> None:
    parts = MIXED[name]
    profile = larger(
        profile_of(*(there for _, there, _ in parts)), profile_of(*(back for _, _, back in parts))
    )
    goals = ["1e-6"] if profile(Fraction(200)) < 1e-6 else ["0.6"]
    composition = compose(*(mechanism for mechanism, _, _ in parts))
    holds(composition, goals, profile, levels=[Fraction(0), Fraction(1, 3)])


# -- several pairs: between the best fixed mixture and the composed largest profile ---------------


def around(
    pmf: Callable[[], oracles.Pmf], reach: int, shift: int, modulus: int
) -> list[truth.Atoms]:
    with mpmath.workdps(truth.DIGITS):
        return [truth.wrapped(pmf(), d, modulus, reach) for d in range(-shift, shift + 1) if d]


def both_ways(trials: int, success: str, shift: int) -> list[truth.Atoms]:
    with mpmath.workdps(truth.DIGITS):
        pmf = oracles.binomial(trials, success)
        mass = {x: pmf(x) for x in range(-shift, trials + shift + 1)}
        there = [(mass[x], mass[x - shift]) for x in range(trials + 1)]
        back = [(mass[x], mass[x + shift]) for x in range(trials + 1)]
        return [there, back]


def bent() -> list[truth.Atoms]:
    mass = {0: truth.real("0.5"), 1: truth.real("0.1"), 2: truth.real("0.4")}
    return [[(mass[x], mass.get(x - d, mpf(0))) for x in mass] for d in (1, 2, -1, -2)]


def distinct(pairs: Sequence[truth.Atoms]) -> list[truth.Atoms]:
    """Pairs whose losses have different laws."""
    found: dict[tuple[tuple[str, str], ...], truth.Atoms] = {}
    for atoms in pairs:
        key = sorted((mpmath.nstr(p, 25), mpmath.nstr(q, 25)) for p, q in atoms)
        found[tuple(key)] = atoms
    return list(found.values())


SEVERAL: dict[str, tuple[Mechanism, list[truth.Atoms]]] = {
    "skellam-mod-7": (
        AdditiveNoise(Skellam(2), 3, 7),
        around(lambda: oracles.skellam(2), 45, 3, 7),
    ),
    "laplace-mod-10": (
        AdditiveNoise(DiscreteLaplace(3), 2, 10),
        around(lambda: oracles.discrete_laplace(3), 330, 2, 10),
    ),
    "gaussian-mod-8": (
        AdditiveNoise(DiscreteGaussian(2), 1, 8),
        around(lambda: oracles.discrete_gaussian(2), 30, 1, 8),
    ),
    "binomial-mod-9": (
        AdditiveNoise(Binomial(20, "0.3"), 2, 9),
        around(lambda: oracles.binomial(20, "0.3"), 20, 2, 9),
    ),
    "binomial": (AdditiveNoise(Binomial(24, "0.2"), 1), both_ways(24, "0.2", 1)),
    "binomial-even": (AdditiveNoise(Binomial(24, "1/2"), 2), both_ways(24, "1/2", 2)),
    "finite-noise": (AdditiveNoise(FiniteLaw({0: "0.5", 1: "0.1", 2: "0.4"}), 2), bent()),
}


@pytest.mark.slow_cases(
    "binomial-2", "binomial-mod-9-2", "finite-noise-2", "gaussian-mod-8-2", "skellam-mod-7-2"
)
@pytest.mark.parametrize("times", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SEVERAL)
def test_several_pairs(name: str, times: int) -> None:
    mechanism, listed = SEVERAL[name]
    pairs = distinct(listed)
    top = profile_of(*[truth.envelope(pairs)] * times)

    def bottom(level: Fraction) -> mpf:
        return truth.best_mixture(pairs, times, level)

    composition = compose((mechanism, times))
    goals = [goal for goal in ("1e-1", "1e-6") if top(Fraction(200)) < float(goal)]
    holds(composition, goals, bottom, top)
    for level in LEVELS:
        assert composition.delta(level).upper <= 1
        # basic composition: (level/K, delta/K) each time
        share = oracles.exactly(truth.outcomes_delta(ONE, truth.envelope(pairs), level / times))
        assert Fraction(composition.delta(level).upper) <= times * share * (1 + LITTLE) + LITTLE**3
    pure = composition.pure()
    if pure.is_finite():
        assert composition.delta(Fraction(pure.upper)).upper <= Fraction(1, 10**9)
