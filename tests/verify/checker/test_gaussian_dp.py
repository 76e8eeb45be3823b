"""mu as the checker finds it, beside all half-lines of the laws."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import mpmath
import oracles
import pytest

from exactdp.verify.checker import laws
from exactdp.verify.checker.arithmetic import INFINITY, precision
from exactdp.verify.checker.gaussian_dp import gaussian_mu
from exactdp.verify.checker.keys import Thresholded
from exactdp.verify.checker.local import Categories
from exactdp.verify.checker.mechanisms import Additive, Continuous, Response, Sampled

_LAWS = {
    "gaussian": (laws.DiscreteGaussian(Fraction(5)), cache(oracles.discrete_gaussian(5))),
    "laplace": (laws.DiscreteLaplace(Fraction(2)), cache(oracles.discrete_laplace(2))),
    "skellam": (laws.Skellam(Fraction(5)), cache(oracles.skellam(5))),
}


def _quantile(tail):
    """-Phi^-1(tail)."""
    return mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * tail)


def _mu(pmf, shift):
    """The largest distance of t(k) = -Phi^-1(P(X >= k)), over half-lines near the middle."""
    last = 3 * shift + 3
    tail = {k: oracles.tail(pmf, k, 120) for k in range(-last - shift, last + 1)}
    step = {k: _quantile(mass) for k, mass in tail.items()}
    return max(step[k] - step[k - shift] for k in range(-last, last + 1))


def _response(epsilon):
    return 2 * _quantile(1 / (1 + mpmath.exp(epsilon)))


def _near(found, truth, relative="1e-9"):
    exact = oracles.exactly(truth)
    assert found[0] * (1 - Fraction(1, 10**15)) <= exact <= found[1] * (1 + Fraction(1, 10**15))
    assert found[1] - found[0] <= Fraction(relative) * exact


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("name", _LAWS)
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_noise(name, shift):
    law, pmf = _LAWS[name]
    truth = _mu(pmf, shift)
    with precision(96):
        _near(gaussian_mu([(Additive(law, shift, None), 1)]), truth)
        low, high = gaussian_mu([(Additive(law, shift, 16), 1)])
    assert low <= oracles.exactly(truth) <= high * (1 + Fraction(1, 10**15))


def test_closed_forms():
    real = Continuous("gaussian", Fraction(3), Fraction(2), "replace", Fraction(1))
    heavy = Continuous("laplace", Fraction(3), Fraction(2), "replace", Fraction(1))
    response = Response(Fraction(3, 2), Fraction(0))
    e = mpmath.mpf(2) / 3
    with precision(96):
        assert gaussian_mu([(real, 1)]) == (Fraction(2, 3), Fraction(2, 3))
        _near(gaussian_mu([(real, 2)]), mpmath.sqrt(2) * 2 / 3)
        _near(gaussian_mu([(heavy, 1)]), 2 * _quantile(mpmath.exp(-e / 2) / 2))
        _near(gaussian_mu([(response, 1)]), _response(mpmath.mpf("1.5")))
        assert gaussian_mu([(Response(Fraction(1), Fraction(1, 9)), 1)]) == (INFINITY, INFINITY)
        assert gaussian_mu([(Response(Fraction(0), Fraction(0)), 1)]) == (0, 0)
        plain = gaussian_mu([(Additive(_LAWS["gaussian"][0], 1, None), 1)])[1]
        sampled = Sampled(Additive(_LAWS["gaussian"][0], 1, None), Fraction(1, 3))
        assert gaussian_mu([(sampled, 1)])[1] == plain


def test_finite_pairs_are_known_by_their_largest_loss():
    with precision(96):
        low, high = gaussian_mu([(Categories(Fraction(1), 3), 1)])
    assert low == 0 or low < high
    assert oracles.exactly(_response(1)) <= high * (1 + Fraction(1, 10**15))
    assert high <= oracles.exactly(_response(1)) * (1 + Fraction(1, 10**9))


def test_what_reveals_a_key_has_no_mu():
    noise = Additive(_LAWS["laplace"][0], 1, None)
    [(key, _)] = Thresholded(noise, Fraction(4), 1, False, Fraction(1)).above()[0]
    with precision(96):
        assert gaussian_mu([(key, 1)]) == (INFINITY, INFINITY)
