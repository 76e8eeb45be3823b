"""Every divergence of every law against brute force."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import brute_force as truth
import mpmath
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

import exactdp
from exactdp import Enclosure, ParameterError
from exactdp.accounting import (
    delta,
    epsilon,
    pure_epsilon,
    renyi_curve,
    renyi_divergence,
    total_variation,
    zcdp,
)
from exactdp.accounting.divergences.renyi_sums import highest
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    FinitePair,
    Law,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)

# law, its PMF written apart from the library, a reach beyond which nothing shows at 25 digits
_SUMS = oracles.convolution(oracles.discrete_gaussian("1/2"), 4, 40)
LAWS: list[tuple[Law, Callable[[int], mpf], int]] = [
    (DiscreteLaplace(3), oracles.discrete_laplace(3), 400),
    (DiscreteLaplace("0.4"), oracles.discrete_laplace("0.4"), 120),
    (Skellam(10), oracles.skellam(10), 120),
    (Skellam("0.3"), oracles.skellam("0.3"), 60),
    (DiscreteGaussian(7), oracles.discrete_gaussian(7), 120),
    (DiscreteGaussianSum(4, "1/2"), lambda x: _SUMS.get(x, mpf(0)), 34),
    (PolyaDifference("0.6", 2), oracles.polya_difference("0.6", 2), 300),
    (PolyaDifference("2.5", 2), oracles.polya_difference("2.5", 2), 320),
]
NAMES = [f"{type(law).__name__}-{index}" for index, (law, _, _) in enumerate(LAWS)]
every_law = pytest.mark.parametrize(("law", "pmf", "reach"), LAWS, ids=NAMES)
each_law = pytest.mark.parametrize(  # Pólya differences and sums take long
    ("law", "pmf", "reach"),
    [
        pytest.param(*each, id=name, marks=[pytest.mark.slow] if index >= 5 else [])
        for index, (each, name) in enumerate(zip(LAWS, NAMES, strict=True))
    ],
)


def holds(found: Enclosure, value: mpf, relative: float = 1e-11) -> None:
    """The enclosure contains the truth (known to about 1e-20 here) and is narrow."""
    with mpmath.workdps(40):
        blur = abs(value) * mpf("1e-19") + mpf("1e-40")
        low, high = mpf(str(found.to_json()["lower"])), mpf(str(found.to_json()["upper"]))
        assert low <= value + blur
        assert value - blur <= high
        assert high - low <= abs(value) * relative + mpf("1e-38")


@pytest.mark.slow_cases(
    "1-PolyaDifference-6", "1-PolyaDifference-7", "3-PolyaDifference-6", "3-PolyaDifference-7"
)
@every_law
@pytest.mark.parametrize("shift", [1, 3])
def test_renyi(law: Law, pmf: Callable[[int], mpf], reach: int, shift: int) -> None:
    orders = ["1.1", "2", "3.7"]
    pair = truth.shifted(pmf, shift, reach)
    for order, found in zip(orders, renyi_curve(AdditiveNoise(law, shift), orders), strict=True):
        holds(found, truth.renyi(pair, order))


@pytest.mark.slow_cases("DiscreteGaussian-4", "Skellam-2", "Skellam-3")
@each_law
def test_profile_and_its_inverse(law: Law, pmf: Callable[[int], mpf], reach: int) -> None:
    mechanism, pair = AdditiveNoise(law, 2), truth.shifted(pmf, 2, reach)
    holds(total_variation(mechanism), truth.delta(pair, mpf(0)))
    for level in ("0.05", "0.3"):
        holds(delta(mechanism, level), truth.delta(pair, mpf(level)))
    for goal in ("0.1", "1e-3", "1e-9"):
        holds(epsilon(mechanism, goal), truth.epsilon(pair, goal))


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["1e-15", "1e-30", "1e-100", "1e-300"])
def test_tiny_delta_is_on_the_right_side(goal: str) -> None:
    for law in (Skellam(10), DiscreteGaussian(7), DiscreteLaplace(3)):
        mechanism = AdditiveNoise(law, 1)
        found = epsilon(mechanism, goal)
        above = delta(mechanism, Fraction(found.upper) * (1 + Fraction(1, 10**9)))
        below = delta(mechanism, Fraction(found.lower) * (1 - Fraction(1, 10**9)))
        assert above.at_most(Fraction(goal)) is True
        assert below.greater_than(Fraction(goal)) is True


@pytest.mark.slow
@pytest.mark.parametrize("shift", [1, 2])
def test_pure_epsilon_by_a_proof_about_the_tails(shift: int) -> None:
    for law, pmf, reach in LAWS:
        found = pure_epsilon(AdditiveNoise(law, shift))
        if law.loss_limit(shift) is None:
            assert found == Enclosure.infinite()
            continue
        with mpmath.workdps(40):
            near = truth.pure(truth.shifted(pmf, shift, reach // 4))
            assert mpf(str(found.to_json()["upper"])) >= near * (1 - mpf("1e-20"))
            assert mpf(str(found.to_json()["lower"])) <= near * mpf("1.2")
    holds(
        pure_epsilon(AdditiveNoise(PolyaDifference("0.6", 2), shift)),
        truth.pure(truth.shifted(oracles.polya_difference("0.6", 2), shift, 60)),
    )


@pytest.mark.slow_cases(
    "23-DiscreteGaussian-4",
    "23-Skellam-2",
    "23-Skellam-3",
    "5-DiscreteGaussian-4",
    "5-Skellam-2",
    "5-Skellam-3",
)
@each_law
@pytest.mark.parametrize("modulus", [5, 23])
def test_wrapped(law: Law, pmf: Callable[[int], mpf], reach: int, modulus: int) -> None:
    mechanism = AdditiveNoise(law, 2, modulus)
    pairs = [truth.wrapped(pmf, shift, modulus, reach) for shift in (1, 2)]
    holds(pure_epsilon(mechanism), max(truth.pure(pair) for pair in pairs))
    holds(renyi_divergence(mechanism, 2), max(truth.renyi(pair, 2) for pair in pairs))
    holds(delta(mechanism, "0.01"), max(truth.delta(pair, mpf("0.01")) for pair in pairs))
    holds(epsilon(mechanism, "1e-3"), max(truth.epsilon(pair, "1e-3") for pair in pairs))


@each_law
@pytest.mark.slow
def test_reduction_never_raises_epsilon(law: Law, pmf: Callable[[int], mpf], reach: int) -> None:
    free = AdditiveNoise(law, 2)
    for modulus in (3, 40, 10**9 + 7):
        bound = AdditiveNoise(law, 2, modulus)
        assert renyi_divergence(bound, 3).lower <= renyi_divergence(free, 3).upper
        assert epsilon(bound, "1e-4").lower <= epsilon(free, "1e-4").upper
        assert pure_epsilon(bound).lower <= pure_epsilon(free).upper
    # a modulus too large to enumerate takes nothing visible away
    assert renyi_divergence(bound, 3).is_within(Fraction(1, 10**11))
    assert epsilon(bound, "1e-4").is_within(Fraction(1, 10**11))


@pytest.mark.slow_cases("Skellam-2")
@each_law
def test_the_full_sensitivity_is_the_worst(law: Law, pmf: Callable[[int], mpf], reach: int) -> None:
    pairs = [truth.shifted(pmf, shift, reach) for shift in (1, 2, 3, 4)]
    for value in ("0.01", "0.1"):
        profile = [truth.delta(pair, mpf(value)) for pair in pairs]
        assert profile == sorted(profile)
    curve = [truth.renyi(pair, 2) for pair in pairs]
    assert curve == sorted(curve)


@pytest.mark.parametrize("success", ["1/2", "0.3"])
def test_binomial_counts_both_directions(success: str) -> None:
    pmf = oracles.binomial(60, Fraction(success))
    mechanism = AdditiveNoise(Binomial(60, success), 2)
    pair = [(pmf(x), pmf(x - 2)) for x in range(63)]
    both = [pair, [(q, p) for p, q in pair]]
    for level in ("0", "0.4"):
        holds(delta(mechanism, level), max(truth.delta(each, mpf(level)) for each in both))
    holds(epsilon(mechanism, "1e-4"), max(truth.epsilon(each, "1e-4") for each in both))
    assert pure_epsilon(mechanism) == renyi_divergence(mechanism, 2) == zcdp(mechanism)
    assert pure_epsilon(mechanism) == Enclosure.infinite()
    residues = [sum((pmf(x) for x in range(c, 61, 9)), mpf(0)) for c in range(9)]
    around = [[(residues[x], residues[(x - d) % 9]) for x in range(9)] for d in (1, 2, 7, 8)]
    holds(
        renyi_divergence(AdditiveNoise(Binomial(60, success), 2, 9), 2),
        max(truth.renyi(each, 2) for each in around),
    )


def test_discrete_gaussian_is_exact_at_integer_orders_and_below_elsewhere() -> None:
    mechanism = AdditiveNoise(DiscreteGaussian("0.5"), 1)
    assert renyi_divergence(mechanism, 2) == Enclosure.exactly(2)
    assert renyi_divergence(mechanism, "2.5").less_than(Fraction(5, 2)) is True
    assert zcdp(mechanism) == Enclosure.exactly(1)


def test_sum_of_discrete_gaussians_exceeds_the_gaussian_formula() -> None:
    mechanism = AdditiveNoise(DiscreteGaussianSum(128, "0.25"), 1)
    assert renyi_divergence(mechanism, 2).greater_than(Fraction(1, 32)) is True


def test_wide_noise_costs_no_more() -> None:
    # for a wide law delta(epsilon) is that of the Gaussian mechanism up to O(1/sigma)
    found = epsilon(AdditiveNoise(DiscreteGaussian(10**10), 1), "1e-6")
    assert found.is_within(Fraction(1, 10**12))
    with mpmath.workdps(40):
        level, sigma = mpf(str(found.to_json()["lower"])), mpf(10) ** 5
        gaussian = mpmath.ncdf(1 / (2 * sigma) - level * sigma) - mpmath.exp(level) * mpmath.ncdf(
            -1 / (2 * sigma) - level * sigma
        )
        assert abs(gaussian / mpf("1e-6") - 1) < 1e-3


@pytest.mark.parametrize("scale", ["0.3", "1", "10", "1000"])
def test_zcdp_of_the_discrete_laplace_is_its_kl(scale: str) -> None:
    with mpmath.workdps(40):
        rate = 1 / mpf(scale)
        holds(zcdp(AdditiveNoise(DiscreteLaplace(scale), 1)), rate * mpmath.tanh(rate / 2))


@each_law
def test_zcdp_is_above_every_order(law: Law, pmf: Callable[[int], mpf], reach: int) -> None:
    found = zcdp(AdditiveNoise(law, 2))
    pair = truth.shifted(pmf, 2, reach)
    samples = [truth.renyi(pair, order) / mpf(order) for order in ("1.001", "1.5", "2", "3")]
    samples.append(truth.kl(pair))
    with mpmath.workdps(40):
        assert mpf(str(found.to_json()["upper"])) >= max(samples) * (1 - mpf("1e-19"))
        assert mpf(str(found.to_json()["lower"])) <= max(samples) * mpf("1.01")
    assert found.is_within(Fraction(1, 10**9))


def test_randomized_response() -> None:
    mechanism = RandomizedResponse("1.3")
    with mpmath.workdps(40):
        e = mpf("1.3")
        pair = [(mpmath.exp(e), mpf(1)), (mpf(1), mpmath.exp(e))]
        pair = [(p / (1 + mpmath.exp(e)), q / (1 + mpmath.exp(e))) for p, q in pair]
        assert pure_epsilon(mechanism) == Enclosure.exactly(Fraction(13, 10))
        holds(renyi_divergence(mechanism, "2.5"), truth.renyi(pair, "2.5"))
        holds(delta(mechanism, "0.2"), truth.delta(pair, mpf("0.2")))
        holds(epsilon(mechanism, "1e-30"), truth.epsilon(pair, "1e-30"))
        holds(zcdp(mechanism), e * mpmath.tanh(e / 2))


@given(
    weights=st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=2, max_size=6),
    goal=st.sampled_from(["0.2", "1e-2", "1e-6"]),
)
def test_finite_pairs(weights: list[tuple[int, int]], goal: str) -> None:
    p_total, q_total = (sum(each[side] for each in weights) for side in (0, 1))
    p = tuple(Fraction(each[0], p_total) for each in weights)
    q = tuple(Fraction(each[1], q_total) for each in weights)
    mechanism = FinitePair(tuple(map(str, range(len(p)))), p, q)
    with mpmath.workdps(60):
        there = [(oracles.real(a), oracles.real(b)) for a, b in zip(p, q, strict=True)]
        both = [there, [(b, a) for a, b in there]]
        holds(pure_epsilon(mechanism), max(truth.pure(each) for each in both))
        holds(delta(mechanism, "0.1"), max(truth.delta(each, mpf("0.1")) for each in both))
        holds(epsilon(mechanism, goal), max(truth.epsilon(each, goal) for each in both))
        if p != q:
            holds(renyi_divergence(mechanism, 3), max(truth.renyi(each, 3) for each in both))


def test_slack_is_charged_on_both_sides() -> None:
    exact = FinitePair(("a", "b"), ("0.5", "0.5"), ("0.2", "0.8"))
    vague = FinitePair(("a", "b"), ("0.5", "0.4999"), ("0.2", "0.8"), slack="1e-3")
    assert pure_epsilon(vague, cap=96).upper == Enclosure.infinite().upper
    assert pure_epsilon(vague, cap=96).lower <= pure_epsilon(exact).lower
    for level in ("0", "0.3"):
        assert delta(vague, level, cap=96).lower <= delta(exact, level).lower
        assert delta(vague, level, cap=96).upper >= delta(exact, level).upper
    with pytest.raises(ParameterError, match="column p must sum to 1 exactly"):
        FinitePair(("a", "b"), ("0.5", "0.4999"), ("0.2", "0.8"))


def test_finite_noise_of_no_shape_counts_every_shift() -> None:
    law = FiniteLaw({0: "0.5", 1: "0.1", 2: "0.4"})
    assert law.log_concave is None
    found = delta(AdditiveNoise(law, 2), 0)
    by_hand = max(sum(max(law.pmf(x) - law.pmf(x - d), 0) for x in range(-2, 6)) for d in (1, 2))
    holds(found, by_hand)


@pytest.mark.parametrize("bad", ["nan", "-1", "2", "", "1e99999999", True, None])
def test_bad_delta(bad: object) -> None:
    with pytest.raises(ParameterError, match="delta must be"):
        epsilon(AdditiveNoise(Skellam(1)), bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["1", "0.5", "inf", "-2"])
def test_bad_order(bad: str) -> None:
    with pytest.raises(ParameterError, match="order must be"):
        renyi_divergence(AdditiveNoise(Skellam(1)), bad)


def test_terms_that_no_float_finds_are_not_known():
    with pytest.raises(ArithmeticError, match="not known in floats"):
        highest(lambda grid: np.full(len(grid), np.nan), 10, 10)


@pytest.mark.parametrize("epsilon", ["50", "60", "1e6", "1e15"])
@pytest.mark.parametrize("spec", ["skellam:variance=9", "gaussian:sigma=3"])
def test_delta_is_small_however_large_epsilon_is(spec, epsilon):
    """Beyond what a decimal's exponent holds as well."""
    found = exactdp.compose(spec).delta(epsilon)
    assert 0 <= found.lower <= found.upper < Decimal("1e-100")


@pytest.mark.contract
def test_a_pure_claim_without_a_witness_near_is_refuted_all_the_same():
    for claim in ("approx:1000,0", "pure:1000"):
        assert exactdp.audit("skellam:variance=9", claim).verdict.name == "REFUTED"
