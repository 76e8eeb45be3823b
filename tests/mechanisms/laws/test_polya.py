from fractions import Fraction

import mpmath
import numpy as np
import oracles
import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from exactdp import ParameterError
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.laws.discrete_laplace import DiscreteLaplace, PolyaDifference
from exactdp.mechanisms.laws.polya import Polya

SHAPES = ["1e-6", "0.1", "1/2", "1", "3/2", "8", "17", "700"]
SCALES = ["0.2", "1", "7/2", "20"]


@pytest.mark.slow_cases("1/2-20", "17-20", "3/2-20", "700-20", "700-7/2", "8-20")
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("shape", SHAPES)
def test_probabilities_contain_the_defining_sums(shape: str, scale: str) -> None:
    law, share = PolyaDifference(shape, scale), Polya(shape, scale)
    with mpmath.workdps(45):
        truth, single = oracles.polya_difference(shape, scale), oracles.polya(shape, scale)
        far = int(float(Fraction(scale)) * 20) + 3
        for x in (0, 1, -7, far):
            oracles.assert_holds(law.probability(x), truth(x))
            assert mpmath.almosteq(law.pmf(x), truth(x), mpf(10) ** -38)
            if x >= 0:
                oracles.assert_holds(share.probability(x), single(x))
                assert mpmath.almosteq(share.pmf(x), single(x), mpf(10) ** -38)


@pytest.mark.slow_cases("1/2-0.2", "1/2-5/3", "17-5/3", "1e-6-0.2", "1e-6-5/3", "3/2-5/3")
@pytest.mark.parametrize("scale", ["0.2", "5/3"])
@pytest.mark.parametrize("shape", ["1e-6", "1/2", "3/2", "17"])
def test_tails_contain_the_sums(shape: str, scale: str) -> None:
    law, share = PolyaDifference(shape, scale), Polya(shape, scale)
    with mpmath.workdps(40):
        reach = 280
        truth, single = oracles.polya_difference(shape, scale), oracles.polya(shape, scale)
        wide = [truth(x) for x in range(reach)]
        ones = [single(x) for x in range(reach)]
        for t in (1, 2, 9, 40):
            upper = mpmath.fsum(wide[t:])
            oracles.assert_tails(law, t, upper)
            oracles.assert_holds(share.sf(t - 1), mpmath.fsum(ones[t:]))
            oracles.assert_holds(share.cdf(t - 1), mpmath.fsum(ones[:t]))
        with working_precision(150):
            oracles.assert_ball_holds(law.upper_tail(0), (1 + wide[0]) / 2)
            oracles.assert_ball_holds(law.lower_tail(0), (1 + wide[0]) / 2)
        assert law.support == (None, None) and share.cdf(-1).upper == 0


@pytest.mark.parametrize("scale", ["10", "1e4", "7e7"])
def test_large_scales_against_closed_forms(scale: str) -> None:
    with mpmath.workdps(60):
        beta = mpmath.exp(-1 / oracles.real(scale))
        ground = (1 - beta) / (1 + beta)
        half = PolyaDifference("1/2", scale).probability(0)
        oracles.assert_holds(half, (1 - beta) * 2 / mpmath.pi * mpmath.ellipk(beta**2))
        one, two = PolyaDifference(1, scale), PolyaDifference(2, scale)
        for k in (0, 1, int(float(scale)), 50 * int(float(scale))):
            oracles.assert_holds(one.probability(k), ground * beta**k)
            oracles.assert_holds(one.sf(k), beta ** (k + 1) / (1 + beta))
            convolved = ground**2 * beta**k * ((1 + beta**2) / (1 - beta**2) + k)
            oracles.assert_holds(two.probability(k), convolved)


def test_outcomes_so_far_out_that_the_saddle_point_rounds_onto_the_branch_point() -> None:
    # p(k) = Gamma(k+r)/(k! Gamma(r)) b^k ((1-b)/(1+b))^r (1 + O(1/k)), at r = 1 without the error
    far = 10**18
    with mpmath.workdps(60), working_precision(192):
        tanh = mpmath.tanh(mpf(1) / 6)
        one = PolyaDifference(1, 3).ball(far).log()
        oracles.assert_ball_holds(one, mpmath.log(tanh) - mpf(far) / 3)
        r = mpf(1) / 3
        third = PolyaDifference("1/3", 3).ball(far).log() + arb(far) / 3
        front = mpmath.loggamma(far + r) - mpmath.loggamma(far + 1) - mpmath.loggamma(r)
        assert abs(mpf(third.mid()) - (front + r * mpmath.log(tanh))) < 1e-15
        assert third.rad() < 1e-20


@pytest.mark.slow_cases("1/2-1", "1/2-1e4", "1e-6-1e4", "20-1", "20-1e4", "3/2-1", "3/2-1e4")
@pytest.mark.parametrize("scale", ["1", "1e4"])
@pytest.mark.parametrize("shape", ["1e-6", "1/2", "3/2", "20", "1e4"])
def test_windows_agree_with_single_probabilities(shape: str, scale: str) -> None:
    law = PolyaDifference(shape, scale)
    with working_precision(128):
        window = law.balls(-3, 1500)
        assert len(window) == 1504 and min(p.rel_accuracy_bits() for p in window) > 80
        for x in (-3, 0, 1, 700, 1500):
            assert window[x + 3].overlaps(law.ball(x))
        mirrored = law.balls(5, 9)[::-1]
        assert all(a.overlaps(b) for a, b in zip(law.balls(-9, -5), mirrored, strict=True))
        assert sum(law.balls(-800, 800), arb(0)) + 2 * law.upper_tail(801) - 1 < 1e-20
        share = Polya(shape, scale)
        ones = share.balls(-2, 900)
        assert ones[0] == 0 and ones[500].overlaps(share.ball(498))
        assert abs(sum(ones, arb(0)) + share.upper_tail(901) - 1) < 1e-20


@pytest.mark.slow
@given(
    st.fractions(Fraction(1, 1000), 30, max_denominator=1000),
    st.fractions(Fraction(1, 5), 200, max_denominator=20),
    st.integers(-3000, 3000),
)
def test_floats_follow_the_balls_into_the_tail(shape: Fraction, scale: Fraction, x: int) -> None:
    for law in (PolyaDifference(shape, scale), Polya(shape, scale)):
        quick = law.log_pmf(np.array([x, 5, 0]))[0]
        if law.support[0] == 0 and x < 0:
            assert quick == -np.inf
            continue
        with working_precision(128):
            exactly = float(law.ball(x).log().mid())
        assert quick == pytest.approx(exactly, rel=1e-11, abs=1e-11)


def test_floats_for_few_and_distant_outcomes() -> None:
    law = PolyaDifference("1/3", "1e5")
    xs = np.array([[0, -40_000], [30_000_000, 7]])
    values = law.log_pmf(xs)
    assert values.shape == xs.shape and law.log_pmf(np.array([], dtype=np.int64)).size == 0
    with working_precision(128):
        for x, value in zip(xs.ravel(), values.ravel(), strict=True):
            assert value == pytest.approx(float(law.ball(int(x)).log().mid()), rel=1e-12)


@pytest.mark.parametrize("scale", ["0.2", "1", "1e4", "7e7"])
@pytest.mark.parametrize("shape", ["1e-6", "3", "50", "1e5", "1e9"])
def test_every_size_is_integrated(shape: str, scale: str) -> None:
    law = PolyaDifference(shape, scale)
    deviation = float(law.moments().variance.upper) ** 0.5
    for t in (0, int(deviation) + 1, int(9 * deviation) + 1, int(9 * deviation + 40 * law.scale)):
        assert law.sf(t).is_within(Fraction(1, 10**12))
        assert law.probability(t).is_within(Fraction(1, 10**12))
    if deviation > 100 and shape not in ("1e-6", "3"):  # close to normal
        normal = mpmath.erfc((int(deviation) + 0.5) / deviation / mpmath.sqrt(2)) / 2
        assert float(law.sf(int(deviation)).upper) == pytest.approx(float(normal), rel=0.05)


@settings(max_examples=15)
@given(st.integers(2, 5), st.fractions(Fraction(1, 2), 5, max_denominator=10))
def test_shares_sum_to_the_discrete_laplace(count: int, scale: Fraction) -> None:
    share = PolyaDifference(Fraction(1, count), scale)
    whole = share.sum_of(count)
    assert whole == DiscreteLaplace(scale)
    with mpmath.workdps(40):
        truth = oracles.discrete_laplace(scale)
        one = {x: share.pmf(x, 40) for x in range(-12, 13)}
        total = oracles.convolution(lambda x: one[x], count, 12)
        for x in (0, 1, 5):
            oracles.assert_holds(whole.probability(x), truth(x))
            missing = 1 - mpmath.fsum(one.values())  # mass cut off from each share
            assert total[x] <= truth(x) <= total[x] + count * missing
    with working_precision(128):
        for z in (acb("0.1"), acb(0, "2.5"), acb("-0.15", "1.1")):
            together, alone = whole.cumulant(z).exp(), share.cumulant(z).exp() ** count
            assert together.overlaps(alone)
            beta = (-arb(scale.denominator) / scale.numerator).exp()
            below = (1 - beta * z.exp()) * (1 - beta / z.exp())
            assert together.overlaps((1 - beta) ** 2 / below)


def test_moments_and_limits() -> None:
    with mpmath.workdps(50):
        beta = mpmath.exp(-1 / oracles.real("7/2"))
        r = oracles.real("0.3")
        share, law = Polya("0.3", "7/2"), PolyaDifference("0.3", "7/2")
        oracles.assert_holds(share.moments().mean, r * beta / (1 - beta))
        oracles.assert_holds(share.moments().variance, r * beta / (1 - beta) ** 2)
        oracles.assert_holds(law.moments().variance, 2 * r * beta / (1 - beta) ** 2)
        with working_precision(128):
            loss = (law.ball(-5000) / law.ball(-5002)).log()
        limit = law.loss_limit(2)
        assert limit == Fraction(4, 7) and abs(float(loss.mid()) - float(limit)) < 1e-3
        assert law.mgf("2/7").lower == law.mgf("-0.3").upper == mpmath.inf
        e = mpmath.exp(oracles.real("0.2"))
        oracles.assert_holds(share.mgf("0.2"), ((1 - beta) / (1 - beta * e)) ** r)


def test_shape_is_what_the_probabilities_show() -> None:
    for shape in ("0.2", "1", "2.5"):
        for law, low in ((PolyaDifference(shape, 3), -40), (Polya(shape, 3), 0)):
            with working_precision(128):
                p = law.balls(low, 40)
            bends = [b * b - a * c for a, b, c in zip(p, p[1:], p[2:], strict=False)]
            if law.log_concave:
                assert not any(bend < 0 for bend in bends)
            else:
                assert all(bend < 0 for bend in bends[-39:])
            assert (law.log_convex_sides is not None) == (shape == "0.2" and low < 0)
            assert (law.log_concave is not None) == (shape != "0.2")


@pytest.mark.slow
def test_quantile_is_the_first_crossing() -> None:
    law = PolyaDifference("1/10", 5)
    with mpmath.workdps(30):
        truth = oracles.polya_difference("1/10", 5)
        masses = [truth(x) for x in range(400)]
        for p in ("0.3", "1e-6"):
            t = law.tail_quantile(p)
            assert 2 * mpmath.fsum(masses[t + 1 :]) <= oracles.real(p)
            assert t == 0 or 2 * mpmath.fsum(masses[t:]) > oracles.real(p)


@pytest.mark.parametrize("law", [Polya, PolyaDifference])
def test_bad_parameters_are_refused(law: type[Polya] | type[PolyaDifference]) -> None:
    for bad in (0, "-1/2", True, "x"):
        with pytest.raises(ParameterError, match="shape"):
            law(bad, 1)
        with pytest.raises(ParameterError, match="scale"):
            law(1, bad)
    with pytest.raises(ParameterError, match="count"):
        law(1, 1).sum_of(0)
