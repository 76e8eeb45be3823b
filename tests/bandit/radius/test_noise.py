"""The tails of differences of noises against sums and integrals by mpmath."""

import math
from fractions import Fraction
from itertools import accumulate

import mpmath
import pytest
from oracles import real

from exactdp import ParameterError
from exactdp.bandit.radius.noise import tails
from exactdp.bandit.radius.plan import ContinuousLaplace
from exactdp.exact.number import Logarithm, Quotient
from exactdp.exact.precision import enclose
from exactdp.mechanisms.laws.binomial import Binomial
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum
from exactdp.mechanisms.laws.discrete_laplace import DiscreteLaplace, PolyaDifference
from exactdp.mechanisms.laws.finite import FiniteLaw
from exactdp.mechanisms.laws.polya import Polya
from exactdp.mechanisms.laws.skellam import Skellam

DEPTH = 24
CASES = [
    (DiscreteLaplace(3), 180),
    (PolyaDifference(4, 2), 160),
    (PolyaDifference("1/2", 3), 160),
    (Skellam(30), 110),
    (DiscreteGaussian(20), 90),
    (DiscreteGaussianSum(3, "3/2"), 50),
    (Binomial(40, "1/2"), 40),
    (Binomial(60, "1/10"), 60),
    (Binomial(60, Quotient(Fraction(1, 10), Logarithm(Fraction(3)))), 60),
    (Polya(20, "1/2"), 60),
    (FiniteLaw({-1: "1/4", 0: "1/2", 1: "1/4"}), 3),
    (FiniteLaw({0: "1/2", 1: "1/3", 2: "1/6"}), 3),
    ((Binomial(20, "1/2"), Binomial(30, "1/5")), 50),
    ((DiscreteLaplace("1/2"), Skellam(10)), 60),
]


def masses(law, reach):
    """P(X = x), x = -reach, ..., reach."""
    if isinstance(law, tuple):
        first, second = (masses(part, reach) for part in law)
        return convolved(first, second, reach)
    if isinstance(law, DiscreteGaussianSum):
        one = found = masses(DiscreteGaussian(law.sigma2), reach)
        for _ in range(law.count - 1):
            found = convolved(found, one, reach)
        return found
    return [law.pmf(x, 30) for x in range(-reach, reach + 1)]


def convolved(first, second, reach):
    size = 2 * reach + 1
    found = [mpmath.mpf(0)] * size
    for i, p in enumerate(first):
        if p > 1e-40:
            for j in range(max(0, reach - i), min(size, size + reach - i)):
                found[i + j - reach] += p * second[j]
    return found


@pytest.mark.parametrize(("noise", "reach"), CASES, ids=lambda case: str(case)[:40])
def test_tails_of_the_difference_enclose_the_sum(noise, reach):
    with mpmath.workdps(30):
        law = masses(noise, reach)
        above = list(accumulate(reversed(law)))[::-1]  # P(X >= x)
        slack = mpmath.mpf(10) ** -20  # what is beyond reach
        found = tails(noise, DEPTH)
        chosen = list(zip(found.nodes, found.values, strict=True))
        for t, value in chosen[:: len(chosen) // 12 + 1]:
            if t >= reach:
                continue
            truth = mpmath.fsum(p * q for p, q in zip(law, above[t:], strict=False))
            got = enclose(value)
            assert real(Fraction(got.lower)) <= truth + slack
            assert real(Fraction(got.upper)) >= truth - slack
            assert real(Fraction(got.upper) - Fraction(got.lower)) <= 1e-5 * truth
        at_zero = mpmath.fsum(p * p for p in law)
        assert float(found.peak.mid()) == pytest.approx(float(at_zero), rel=1e-5)


def test_nodes_reach_the_depth_and_are_close():
    for noise, _ in CASES:
        found = tails(noise, DEPTH)
        assert found.nodes[0] == 0
        assert found.floats[-1] < 2.0**-DEPTH
        inner = found.floats[found.floats > 0]
        steps = [
            math.log(a / b)
            for a, b, s, t in zip(inner, inner[1:], found.nodes, found.nodes[1:], strict=False)
            if t - s > 1
        ]
        assert max(steps, default=0) < 1.2


def test_continuous_laplace_by_quadrature():
    scale = mpmath.mpf(5) / 2
    found = tails(ContinuousLaplace("5/2"), DEPTH)

    def survival(x):
        tail = mpmath.exp(-abs(x) / scale) / 2
        return tail if x > 0 else 1 - tail

    for t, value in list(zip(found.nodes, found.values, strict=True))[:20:5]:
        truth = mpmath.quad(
            lambda x, t=t: mpmath.exp(-abs(x) / scale) / (2 * scale) * survival(x + t),
            sorted({-150, -t, 0, 150}),
        )
        assert float(value.mid()) == pytest.approx(float(truth), rel=1e-9)
    at_zero = mpmath.quad(lambda x: mpmath.exp(-2 * abs(x) / scale), [-150, 0, 150])
    assert float(found.peak.mid()) == pytest.approx(float(at_zero / (4 * scale**2)), rel=1e-9)


def test_a_law_of_unknown_shape_is_refused():
    law = FiniteLaw({0: "1/2", 1: "1/8", 2: "3/8"})
    assert not law.log_concave
    with pytest.raises(ParameterError, match="shape"):
        tails(law, DEPTH)
