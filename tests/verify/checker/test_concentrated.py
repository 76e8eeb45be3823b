"""No rho below the truth is proved, and hardly more than the truth is."""

from fractions import Fraction

import brute_force
import mpmath
import oracles
import pytest

from exactdp.verify.checker import concentrated, divergences, laws
from exactdp.verify.checker.arithmetic import precision
from exactdp.verify.checker.mechanisms import Additive, Response

_GAUSSIAN = Additive(laws.DiscreteGaussian(Fraction(4)), 2, None)
_SUM = Additive(laws.DiscreteGaussianSum(2, Fraction(1, 3)), 1, None)
_LAPLACE = Additive(laws.DiscreteLaplace(Fraction(3)), 1, None)
_RESPONSE = Response(Fraction(1), Fraction(0))


def _response(order):
    e, a = mpmath.mpf(1), oracles.real(order)
    return mpmath.log((mpmath.exp(a * e) + mpmath.exp((1 - a) * e)) / (1 + mpmath.exp(e))) / (a - 1)


def _of(pmf, shift, reach):
    pair = brute_force.shifted(pmf, shift, reach)
    return lambda order: brute_force.renyi(pair, order)


_TABLE = oracles.convolution(oracles.discrete_gaussian("1/3"), 2, 24)
_TRUTH = {
    _GAUSSIAN: _of(oracles.discrete_gaussian(4), 2, 90),
    _SUM: _of(lambda x: _TABLE.get(x, mpmath.mpf(0)), 1, 18),
    _LAPLACE: _of(oracles.discrete_laplace(3), 1, 400),
    _RESPONSE: _response,
}


_ORDERS = [Fraction(n, 100) for n in (101, 110, 150, 200, 300, 450, 800)]


@pytest.mark.parametrize("mechanism", _TRUTH)
def test_what_bounds_all_orders_from_one_on_does(mechanism):
    truth = _TRUTH[mechanism]
    with precision(96):
        [pair] = divergences.listings(mechanism, 96, Fraction(2), True, True)
        tail = concentrated.tail_share(mechanism, pair)
        for first in (Fraction(101, 100), Fraction(3, 2), Fraction(2), Fraction(5)):
            bound = tail(first)
            for order in (first, *(a for a in _ORDERS if a >= first)):
                share = oracles.exactly(truth(order) / oracles.real(order))
                assert share <= bound * (1 + Fraction(1, 10**15))
