"""Profiles at levels far beyond what anybody would call private."""

from fractions import Fraction

from mpmath import erfc, exp, mp, mpf, sqrt

import exactdp


def test_a_gaussian_of_almost_no_noise_is_as_narrow_as_any():
    """mu = 10^5, whose epsilon is about mu^2/2; delta in 60 digits on either side of it."""
    found = exactdp.mechanism("gaussian:sigma=1e-5").epsilon("1e-6")
    assert found.is_within(Fraction(1, 10**12))
    with mp.workdps(60):
        mu = mpf(10) ** 5

        def upper_tail(x):
            return erfc(x / sqrt(2)) / 2

        def delta(level):
            return upper_tail(level / mu - mu / 2) - exp(level) * upper_tail(level / mu + mu / 2)

        low, high = (mpf(end) for end in found.to_json().values())
        assert delta(low * (1 - mpf("1e-15"))) >= mpf("1e-6") >= delta(high * (1 + mpf("1e-15")))
