"""The ladder: the coarse grid and what is narrow agree, and stand in for each other."""

from __future__ import annotations

from fractions import Fraction

import composed_truth as truth
import mpmath
import pytest
from mpmath import mpf

import exactdp
from exactdp import Enclosure, OutOfTimeError, time_limit
from exactdp.accounting.composition import composed_profile
from exactdp.accounting.composition.composed import compose
from exactdp.exact.enclosure import ContradictionError
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    FinitePair,
    Skellam,
)
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.sampled import Sampled
from exactdp.verify import audit, parse_claim

MANY = compose((AdditiveNoise(Skellam(100)), 20))  # off every lattice; epsilon(1e-6) = 1.9920265...
SKEWED = compose((AdditiveNoise(Binomial(300, "1/3")), 5))
DELTA = Fraction(1, 10**6)


def late(*_: object) -> Enclosure:
    raise OutOfTimeError("the time allowed is over")


@pytest.fixture
def out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is narrow comes too late."""
    monkeypatch.setattr(composed_profile, "narrowly", late)
    monkeypatch.setattr(composed_profile, "fine", late)


@pytest.mark.usefixtures("out_of_time")
def test_without_time_the_coarse_grid_answers() -> None:
    found = MANY.epsilon(DELTA)
    assert found.lower <= Fraction("1.9920266") and Fraction("1.9920265") <= found.upper
    assert found.is_within(Fraction(1, 1000))
    assert composed_profile.COARSE in found.why
    level = MANY.delta(2)
    assert level.lower <= DELTA and level.lower > 0 and level.upper < 2 * DELTA


@pytest.mark.usefixtures("out_of_time")
def test_so_it_does_where_the_rest_is_quick() -> None:
    found = compose((AdditiveNoise(DiscreteGaussian(100)), 20)).epsilon(DELTA)
    assert found.is_within(Fraction(1, 1000))


@pytest.mark.usefixtures("out_of_time")
def test_choices_are_bounded_as_well() -> None:
    found = SKEWED.epsilon(DELTA)
    assert found.is_finite() and found.is_within(Fraction(1, 10))


def test_a_finer_grid_stands_for_what_the_work_would_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composed_profile, "narrowly", late)
    found = MANY.epsilon(DELTA)
    assert found.lower <= Fraction("1.9920266") and Fraction("1.9920265") <= found.upper
    assert found.is_within(Fraction(1, 10**7)) and composed_profile.COARSE not in found.why
    many = compose((AdditiveNoise(Skellam(100)), 200))  # smoothing is narrower than any grid
    assert not many.epsilon(DELTA).is_within(Fraction(1, 10**7))


def test_a_limit_that_is_over_at_once_still_leaves_bounds() -> None:
    with time_limit(0.01):
        found = MANY.epsilon(DELTA)
    assert found.is_finite()


def test_one_use_has_the_first_rung_as_well() -> None:
    """Its own way takes seconds: each probability of such a sum is a contour integral."""
    with time_limit(0.05):
        found = compose(AdditiveNoise(DiscreteGaussianSum(4, "0.25"), 1)).epsilon(DELTA)
    one = [mpmath.exp(-2 * mpf(k) ** 2) for k in range(-10, 11)]
    law = [mpf(1)]
    for _ in range(4):
        law = [
            sum(law[j] * one[k - j] for j in range(len(law)) if 0 <= k - j < len(one))
            for k in range(len(law) + len(one) - 1)
        ]

    def delta(level: Fraction) -> mpf:
        odds = mpmath.exp(mpf(level.numerator) / level.denominator)
        pairs = zip([*law, 0], [0, *law], strict=True)
        return sum(max(q - odds * p, 0) for p, q in pairs) / sum(law)

    target = mpf(1) / 10**6
    assert delta(Fraction(found.lower)) >= target >= delta(Fraction(found.upper))
    assert found.is_within(Fraction(1, 100))


def test_every_figure_has_it_also_where_the_limit_is_over() -> None:
    """Two tables, each the same way round throughout, whose losses add up off any lattice."""
    uses = compose(
        (FinitePair(["a", "b"], ["0.3", "0.7"], ["0.62", "0.38"]), 100),
        (FinitePair(["a", "b"], ["0.11", "0.89"], ["0.5", "0.5"]), 150),
    )
    with time_limit(0.02):
        found = [uses.epsilon(delta) for delta in ("1e-6", "1e-20", "1e-3")]
    exact = [uses.epsilon(delta) for delta in ("1e-6", "1e-20", "1e-3")]
    for quick, narrow in zip(found, exact, strict=True):
        assert quick.lower <= narrow.lower and narrow.upper <= quick.upper <= 300


@pytest.mark.parametrize("answer", [("5", "6"), ("0.1", "0.2")])
def test_answers_that_do_not_meet_are_an_alarm(
    monkeypatch: pytest.MonkeyPatch, answer: tuple[str, str]
) -> None:
    wrong = Enclosure(*map(Fraction, answer))
    monkeypatch.setattr(composed_profile, "coarse", lambda uses, figure: wrong)
    few = compose((AdditiveNoise(Skellam(100)), 3))
    with pytest.raises(ContradictionError, match=r"epsilon.*Skellam") as error:
        few.epsilon(DELTA, work=0.1)
    assert all(text in str(error.value) for text in answer)


@pytest.mark.usefixtures("out_of_time")
@pytest.mark.parametrize(("claim", "holds"), [("approx:2,1e-6", True), ("approx:1.99,1e-6", False)])
def test_a_claim_is_decided_by_the_first_rung_that_decides_it(claim: str, holds: bool) -> None:
    found = audit(MANY, parse_claim(claim))
    assert found.verified is holds and found.refuted is not holds


@pytest.mark.usefixtures("out_of_time")
def test_and_left_open_where_it_does_not() -> None:
    found = audit(MANY, parse_claim("approx:1.9920265,1e-6"))
    assert not found.verified and not found.refuted


@pytest.mark.usefixtures("out_of_time")
def test_noise_too_wide_to_list_is_measured_by_blocks_of_outcomes() -> None:
    """30.57887 to all digits shown: with so much noise it costs what the Gaussian costs."""
    found = compose((AdditiveNoise(Skellam(10**8), 10**4), 20)).epsilon(DELTA)
    assert Fraction("30.57") < found.lower < Fraction("30.57888")
    assert Fraction("30.57886") < found.upper < Fraction("30.59")


@pytest.mark.slow
@pytest.mark.usefixtures("out_of_time")
def test_where_no_grid_applies_noise_has_the_envelope_of_its_law(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(composed_profile, "_coarsely", lambda *_: None)
    wide = compose((AdditiveNoise(Skellam(10**8), 10**4), 20))
    found = wide.epsilon(DELTA)
    assert Fraction("30.57886") < found.upper < Fraction("30.5790")
    assert 0 < wide.delta(30).upper < 2 * DELTA
    sampled = compose((Sampled(AdditiveNoise(Skellam(10**8), 10**4), "1/100"), 20))
    assert 0 < sampled.epsilon(DELTA).upper < Fraction("4.5")


@pytest.mark.usefixtures("out_of_time")
def test_what_has_no_envelope_has_renyi_divergences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composed_profile, "_coarsely", lambda *_: None)
    noise = AdditiveNoise(Binomial(20, "1/2"), 1, 7)
    found = compose((noise, 5)).epsilon(DELTA)
    assert found.is_finite() and found.lower == 0
    for pair in noise.pairs():
        one = [(truth.real(p), truth.real(q)) for p, q in zip(pair.p, pair.q, strict=True)]
        two, three = truth.product(one, one), truth.product(one, one, one)
        assert truth.outcomes_delta(two, three, Fraction(found.upper)) <= mpf("1e-6")


@pytest.mark.slow
def test_what_is_measured_too_wide_is_met_by_the_grid() -> None:
    """Three rare uses of a Gaussian with so little noise that one line does not tell all of them.

    A user who takes part in k of them has the loss N(50 k, 100 k) + k log q + (3 - k) log(1 - q)
    but for some 1e-4 of it.
    """

    def delta(epsilon: mpf) -> mpf:
        q, total = mpf("0.01"), mpf(0)
        for k in (1, 2, 3):
            mean, deviation = 50 * k, 10 * mpmath.sqrt(k)
            level = epsilon - k * mpmath.log(q) - (3 - k) * mpmath.log(1 - q)
            above = mpmath.ncdf((mean - level) / deviation)
            lost = mpmath.exp(level - mean + deviation**2 / 2)
            above -= lost * mpmath.ncdf((mean - deviation**2 - level) / deviation)
            total += mpmath.binomial(3, k) * q**k * (1 - q) ** (3 - k) * above
        return total

    noise = ContinuousNoise(Shape.GAUSSIAN, "0.1", 1, "add-remove", "0.01")
    found = compose((noise, 3)).epsilon("1e-6", work=1)
    assert found.is_within(Fraction(1, 100))
    low, high = (truth.real(Fraction(end)) for end in (found.lower, found.upper))
    assert delta(high) * (1 - mpf("1e-3")) <= mpf("1e-6") <= delta(low) * (1 + mpf("1e-3"))


@pytest.mark.contract
def test_a_tiny_delta_has_a_bound_from_above_where_the_grid_has_none() -> None:
    text = "discrete-gaussian-sum:count=1000,sigma2=700.2,sensitivity=1,modulus=1048576*20"
    found = exactdp.compose(text).delta(1)
    assert found.upper < Fraction(1, 10**7000)


def test_long_lists_of_different_noise_have_both_ends_in_little_time() -> None:
    levels = [exactdp.mechanism(f"discrete-gaussian:sigma2={(3 + 15 * i) ** 2}") for i in range(90)]
    many = compose(*((one, 1) for one in levels))
    with time_limit(0.01):
        found = many.epsilon(DELTA)
    # Gaussian noise of the same mu: what whole numbers hide is little beside it
    mu2 = sum(mpf(1) / (3 + 15 * i) ** 2 for i in range(90))
    near = compose(ContinuousNoise(Shape.GAUSSIAN, 1, str(mpmath.sqrt(mu2)))).epsilon(DELTA)
    assert found.lower <= near.upper <= found.upper
    assert found.is_within(Fraction(1, 100)) and composed_profile.FROM_SOME in found.why
