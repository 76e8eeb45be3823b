from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import oracles
import pytest
from flint import acb, arb

from exactdp.exact.number import ball
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.laws import binomial
from exactdp.mechanisms.laws.binomial import Binomial


def probabilities(n: int, q: Fraction) -> list[Fraction]:
    return [comb(n, x) * q**x * (1 - q) ** (n - x) for x in range(n + 1)]


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
