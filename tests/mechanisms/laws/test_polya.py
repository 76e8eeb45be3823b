from fractions import Fraction

import mpmath
import oracles
import pytest
from flint import arb
from mpmath import mpf

from exactdp.exact.precision import working_precision
from exactdp.mechanisms.laws.discrete_laplace import PolyaDifference
from exactdp.mechanisms.laws.polya import Polya


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
