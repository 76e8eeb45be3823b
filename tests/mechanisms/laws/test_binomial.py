from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import oracles
import pytest
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st

from exactdp import ParameterError
from exactdp.exact.number import ball
from exactdp.exact.precision import enclose, working_precision
from exactdp.mechanisms.laws import binomial
from exactdp.mechanisms.laws.binomial import Binomial


def probabilities(n: int, q: Fraction) -> list[Fraction]:
    return [comb(n, x) * q**x * (1 - q) ** (n - x) for x in range(n + 1)]


@given(
    st.integers(1, 60),
    st.fractions(Fraction(1, 40), Fraction(39, 40), max_denominator=40),
    st.data(),
)
def test_everything_against_exact_fractions(n: int, q: Fraction, data: st.DataObject) -> None:
    law, truth = Binomial(n, q), probabilities(n, q)
    x = data.draw(st.integers(0, n))
    relative = Fraction(1, 10**11)
    for found, exactly in (
        (law.probability(x), truth[x]),
        (law.cdf(x), sum(truth[: x + 1])),
        (law.sf(x), sum(truth[x + 1 :])),
        (law.two_sided_tail(x), sum(truth[x + 1 :])),
    ):
        assert found.contains(Fraction(exactly)) and found.is_within(relative)
    assert float(law.pmf(x)) == pytest.approx(float(truth[x]), rel=1e-14)
    assert law.log_pmf(np.array([x]))[0] == pytest.approx(float(mpmath.log(law.pmf(x))), rel=1e-13)
    with working_precision(128):
        window = law.balls(-2, n + 3)
        assert window[:2] == [0, 0] and window[-3:] == [0, 0, 0]
        assert all(enclose(p).contains(t) for p, t in zip(window[2:-3], truth, strict=True))
        mirror = law.mirrored()
        assert mirror.ball(n - x).overlaps(law.ball(x))
        assert mirror.lower_tail(n - x).overlaps(law.upper_tail(x))


def test_outside_the_support() -> None:
    law = Binomial(9, "1/3")
    assert law.support == (0, 9) and not law.symmetric
    assert law.pmf(-1) == law.pmf(10) == 0
    assert law.probability(-1).upper == law.probability(10).upper == 0
    assert law.sf(9).upper == 0 and law.cdf(9).lower == 1 and law.cdf(-1).upper == 0
    assert list(law.log_pmf(np.array([-1, 10]))) == [-np.inf, -np.inf]
    assert law.balls(-3, -1) == [0, 0, 0] and law.balls(20, 21) == [0, 0]


@pytest.mark.slow_cases("1/2-1000000")
@pytest.mark.parametrize("trials", [10**6, 4 * 10**10])
@pytest.mark.parametrize("chance", ["1e-9", "0.1", "1/2", "0.999"])
def test_many_trials_against_the_incomplete_beta_function(trials: int, chance: str) -> None:
    law, q = Binomial(trials, chance), Fraction(chance)
    mean, deviation = float(trials * q), float(trials * q * (1 - q)) ** 0.5
    with mpmath.workdps(50):
        truth = oracles.binomial(trials, chance)
        for z in (-6, -1, 0, 1, 6):
            t = min(trials - 1, max(1, round(mean + z * deviation)))
            oracles.assert_holds(law.probability(t), truth(t))
            assert mpmath.almosteq(law.pmf(t), truth(t), mpmath.mpf(10) ** -35)
            quick = law.log_pmf(np.array([t]))[0]
            assert quick == pytest.approx(float(mpmath.log(truth(t))), rel=1e-11)
            assert law.sf(t - 1).is_within(Fraction(1, 10**12))
            if trials == 10**6 or mean < 1e3:  # P(X >= t) = I_q(t, n - t + 1)
                with working_precision(256):
                    beta = ball(q).beta_lower(arb(t), arb(trials - t + 1), 1)
                    assert beta.overlaps(law.upper_tail(t))


def test_many_trials_are_close_to_normal() -> None:
    law = Binomial(4 * 10**10, "1/2")
    deviation = 10**5
    for z in (0, 1, 5):
        normal = float(mpmath.erfc((z * deviation + 0.5) / deviation / mpmath.sqrt(2)) / 2)
        found = law.sf(2 * 10**10 + z * deviation)
        assert float(found.upper) == pytest.approx(normal, rel=1e-7)


def test_the_middle_outcome_where_the_path_ends_on_a_zero() -> None:
    # at t = n/2 the saddle line passes through the zero of 1 - q + q e^z at Im z = pi
    for n, q in ((2, "1/2"), (10, "1/3"), (1000, "1/2")):
        law = Binomial(n, q)
        truth = probabilities(n, Fraction(q))
        assert law.sf(n // 2 - 1).contains(sum(truth[n // 2 :]))
        with working_precision(96):
            at_zero = acb(law.path(n // 2, 0)[0].real, arb.pi())
            exponent, factor = law.transform(at_zero)
            value = exponent.exp() * factor
            assert abs(value.real) < 1e-20 and abs(value.imag) < 1e-20


def test_moments_sums_and_generating_function() -> None:
    law = Binomial(12, "0.3")
    assert law.moments().mean.lower == Fraction(18, 5)
    assert law.moments().variance.upper == Fraction(63, 25)
    assert law.sum_of(5) == Binomial(60, "0.3")
    truth = probabilities(12, Fraction(3, 10))
    with mpmath.workdps(50), working_precision(128):
        total = mpmath.fsum(
            oracles.real(p) * mpmath.exp(x * oracles.real("-0.7")) for x, p in enumerate(truth)
        )
        oracles.assert_holds(law.mgf("-0.7"), total)
        for z in (acb(-3), acb("0.4", 3), acb(1, -2)):
            terms = (ball(p) * (z * x).exp() for x, p in enumerate(truth))
            value = sum(terms, acb(0))
            assert value.overlaps(law.transform(z)[0].exp())


def test_bad_parameters_are_refused() -> None:
    for trials in (0, -3, "1.5", True, None):
        with pytest.raises(ParameterError, match="trials"):
            Binomial(trials, "1/2")  # type: ignore[arg-type]
    for chance in (0, 1, "1.1", "-0.1", "nan"):
        with pytest.raises(ParameterError, match="probability"):
            Binomial(3, chance)


@pytest.mark.parametrize(
    ("trials", "success", "t"),
    [(2100, "1/2", 1100), (2100, "1/2", 900), (100_000, "0.3", 30_100), (10**18, "1e-15", 1100)],
)
def test_tails_are_the_same_summed_and_inverted(monkeypatch, trials, success, t):
    law = Binomial(trials, success)
    summed = law.upper_tail(t), law.lower_tail(t - 1)
    monkeypatch.setattr(binomial, "_MOST_TERMS", 0)
    inverted = law.upper_tail(t), law.lower_tail(t - 1)
    for one, other in zip(summed, inverted, strict=True):
        assert one.overlaps(other)
        assert one.rad() <= arb("1e-10") * one.mid()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("power", [200, 260, 320, 400, 900])
def test_logarithms_where_no_float_holds_the_mean(power):
    """At 1e-400 numpy divided by 0, and what is a large negative number was minus infinity."""
    law, xs = Binomial(1000, f"1e-{power}"), np.array([1, 2, 500, 1000])
    for one in (law, law.mirrored()):
        truth = [float(one.ball(int(x)).log().mid()) for x in xs]
        assert np.allclose(one.log_pmf(xs), truth, rtol=1e-12, atol=1e-18)
