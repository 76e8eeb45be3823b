"""The bound of the decoded mean's error, against laws that are computed in another way."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.stats import binom

from exactdp import ParameterError
from exactdp.exact.precision import working_precision
from exactdp.mechanisms import DiscreteGaussian, DiscreteLaplace, Polya, Skellam
from exactdp.protocols.federated import Encoding, error_bound
from exactdp.protocols.federated.error import _least

SHARES = [Skellam("0.4"), DiscreteGaussian("0.5"), DiscreteLaplace("0.8"), None]
CLIENTS, FAR = 6, 150


def law_of_one(share, fraction):
    """The exact law, in floats, of what rounding and noise add to one coordinate of the sum."""
    masses = np.zeros(2 * FAR + 1)
    masses[FAR : FAR + CLIENTS + 1] = binom.pmf(np.arange(CLIENTS + 1), CLIENTS, float(fraction))
    if share is not None:
        noise = np.exp(share.log_pmf(np.arange(-FAR, FAR + 1)))
        for _ in range(CLIENTS):
            masses = np.convolve(masses, noise, "same")
    return np.arange(-FAR, FAR + 1) - CLIENTS * float(fraction), masses


@pytest.mark.parametrize("share", SHARES, ids=str)
@pytest.mark.parametrize("fraction", [Fraction(1, 10), Fraction(1, 2)])
@pytest.mark.parametrize("failure", ["1/2", "1e-2", "1e-5"])
def test_the_error_is_above_its_bound_no_more_often_than_stated(share, fraction, failure):
    """Two coordinates, each with the same fraction for all clients, enumerated."""
    encoding = Encoding(1, 4, 2, 16, "stochastic", b"x")
    bound = float(error_bound(encoding, share, CLIENTS, failure).l2.upper) * 4 * CLIENTS
    values, masses = law_of_one(share, fraction)
    above = values[:, None] ** 2 + values[None, :] ** 2 > bound**2
    assert (masses[:, None] * masses[None, :])[above].sum() <= float(Fraction(failure)) + 1e-12


@pytest.mark.parametrize("share", SHARES, ids=str)
def test_wrapping_is_no_likelier_than_stated(share):
    """One coordinate at its largest, so that its rotation is no matter, and 5 bits."""
    for scale in ("1.5", "2"):
        encoding = Encoding(1, scale, 1, 5, "stochastic", b"x")
        values, masses = law_of_one(share, Fraction(1, 2))
        wrapped = np.abs(values + CLIENTS * float(scale)) >= 16
        stated = error_bound(encoding, share, CLIENTS).wrap
        assert masses[wrapped].sum() <= stated.upper


def test_shares_with_a_bias_are_refused():
    with pytest.raises(ParameterError, match="symmetric"):
        error_bound(Encoding(1, 4, 2, 8, "nearest"), Polya(1, 2), 5)


def test_the_least_of_several_bounds_is_still_one():
    """Bounds are balls: the upper end counts, whatever else is in them."""
    balls = iter([arb(9), arb(5, 2), arb(6, 0.5), arb("nan"), *[arb(8)] * 60])
    with working_precision(64):
        assert _least(lambda t: next(balls), arb(1)) >= 6.5
