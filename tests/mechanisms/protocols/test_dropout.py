"""Pólya shares with users missing, mod m, against every shift and every residue in mpmath.

What is left of the noise is not log-concave, and wrapped: nothing but the full list is trusted.
"""

from fractions import Fraction

import mpmath
import pytest
from oracles import assert_holds, exactly, polya_difference

from exactdp import PureDP, RenyiDP, Verdict
from exactdp.accounting import compose, pure_epsilon
from exactdp.mechanisms import PolyaDifference
from exactdp.mechanisms.papers import InvertedScale, published
from exactdp.mechanisms.protocols import SumProtocol
from exactdp.verify import audit

NEAR = Fraction(1, 10**9)


def wrapped(shape, scale, m, reach=160):
    """P(X = c mod m), c = 0, ..., m - 1."""
    p = polya_difference(shape, scale)
    one_side = [p(x) for x in range(reach)]
    return [
        mpmath.fsum(one_side[abs(x)] for x in range(-reach + 1, reach) if x % m == c)
        for c in range(m)
    ]


def costs(masses, shift, epsilon):
    """Pure epsilon, the Rényi divergence of order 2, and delta at epsilon, of one shift."""
    m = len(masses)
    pairs = [(masses[c], masses[(c - shift) % m]) for c in range(m)]
    return (
        max(mpmath.log(p / q) for p, q in pairs),
        mpmath.log(mpmath.fsum(p * p / q for p, q in pairs)),
        mpmath.fsum(max(p - mpmath.exp(epsilon) * q, 0) for p, q in pairs),
    )


@pytest.mark.slow_cases("2-5-5-2", "5-5-7-3", "7-3-41-3")
@pytest.mark.parametrize(
    ("missing", "g", "m", "worst"),
    [
        pytest.param(1, 3, 41, 3, marks=pytest.mark.slow),
        (7, 3, 41, 3),
        (5, 5, 7, 3),  # 5 = -2 mod 7: a smaller shift than the sensitivity is worse
        pytest.param(7, 4, 5, 2, marks=pytest.mark.slow),
        (2, 5, 5, 2),  # 5 = 0 mod 5 tells nothing at all
    ],
)
def test_all_shifts_count(missing, g, m, worst):
    protocol = SumProtocol(8, g, 0, m, PolyaDifference("1/8", 2))
    mechanism = protocol.released(missing)
    with mpmath.workdps(50):
        masses = wrapped(Fraction(8 - missing, 8), 2, m)
        every = {d: costs(masses, d, mpmath.mpf("0.3")) for d in range(1, g + 1)}
        truth = [max(cost[k] for cost in every.values()) for k in range(3)]
        for k in range(3):
            # the named shift attains it, or its mirror image mod m
            assert mpmath.almosteq(every[worst][k], truth[k], 1e-30)
            if worst < g and (g - worst) % m:
                assert every[g][k] < truth[k] or (g + worst) % m == 0
        composition = compose(mechanism)
        assert_holds(composition.pure(), truth[0])
        assert_holds(composition.renyi(2), truth[1])
        assert_holds(composition.delta("0.3"), truth[2])
    pure, renyi, delta = map(exactly, truth)
    for factor, verdict in ((1 + NEAR, Verdict.VERIFIED), (1 - NEAR, Verdict.REFUTED)):
        assert audit(mechanism, PureDP(pure * factor)).verdict is verdict
        assert audit(mechanism, RenyiDP(2, renyi * factor)).verdict is verdict
        met = composition.delta("0.3").at_most(delta * factor)
        assert met is (verdict is Verdict.VERIFIED)


def test_the_published_noise_with_users_missing():
    preset = published("0.1", 1024)
    left = preset.released(dropout=256).law
    assert left == PolyaDifference("3/4", InvertedScale(Fraction(40)))
    with mpmath.workdps(50):
        scale = exactly(left.scale.mpf())
        p = polya_difference("3/4", scale)
        for x in (0, 1, 4, 30):
            assert_holds(left.probability(x), p(x))
            assert mpmath.almosteq(left.pmf(x, 40), p(x), 1e-35)
        assert_holds(left.sf(3), mpmath.fsum(p(x) for x in range(4, 120)))
        assert_holds(pure_epsilon(preset.released(dropout=256)), mpmath.log(p(0) / p(4)))
        assert_holds(compose(preset.released(512)).delta(3), _delta(left.scale))
    assert preset.released(0, 0) == preset.mechanism


def _delta(scale):
    p = polya_difference("1/2", exactly(scale.mpf()))
    growth = mpmath.exp(3)
    return mpmath.fsum(max(p(x) - growth * p(x - 4), 0) for x in range(-120, 120))
