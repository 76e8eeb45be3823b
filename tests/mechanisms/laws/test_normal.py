"""The steps of the proofs in `docs/envelope.md`, run: in interval arithmetic on random boxes where
they say something of all reals, at random places where they are identities.
"""

from fractions import Fraction
from itertools import pairwise

import mpmath
import oracles
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from normal_quantiles import quantile as quantile_apart
from normal_quantiles import upper as upper_apart

from exactdp.exact import working_precision
from exactdp.mechanisms.laws.normal import curvature, mass, quantile, upper, widest

WIDTHS = st.floats(0.05, 6)
PLACES = st.floats(0.05, 8)  # right of the middle of the cell


@pytest.fixture(autouse=True)
def _bits():
    with working_precision(256):
        yield


def box(low: float) -> arb:
    return arb(low, 1e-20)


def density(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def cell_mean(left: arb, width: arb) -> arb:
    return (density(left) - density(left + width)) / mass(left, width)


@given(WIDTHS, PLACES)
def test_the_curvature_rises_away_from_the_middle(width, place):
    """Lemma 1: its derivative is the second difference of the means of the cells; it is even."""
    w, y = box(width), box(place - width / 2)
    assert cell_mean(y - w, w) - 2 * cell_mean(y, w) + cell_mean(y + w, w) > 0
    assert curvature(w, y).overlaps(curvature(w, -y - w))
    assert curvature(w, y) < w * w


@given(WIDTHS, st.floats(-8, 8))
def test_the_curvature_rises_with_the_width(width, left):
    """Lemma 2: its derivative, and the two inequalities that it is proved by."""
    w, y = box(width), box(left)

    def hazard(x: arb) -> arb:
        return density(x) / mass(x, w)

    bends = hazard(y - w) - 2 * hazard(y) + hazard(y + w)
    assert bends - 2 * (cell_mean(y + w, w) - cell_mean(y, w)) < 0
    offset = cell_mean(y, w) - y
    assert offset > 0 and w - offset > 0  # so 1 - V = l w + rho(al - w) >= l'


@given(st.floats(0.05, 5), st.floats(-6, 6))
def test_it_is_the_second_difference_of_the_logarithms(width, left):
    w, y = mpf(width), mpf(left)

    def log_mass(x):
        return mpmath.log(
            upper_apart(x) - upper_apart(x + w)
            if x > -w / 2
            else upper_apart(-x - w) - upper_apart(-x)
        )

    truth = 2 * log_mass(y) - log_mass(y - w) - log_mass(y + w)
    oracles.assert_ball_holds(curvature(arb(width), arb(left)), truth)


@settings(max_examples=15)
@given(st.floats(1e-12, 12))
def test_the_widest_cell_has_the_curvature(bend):
    found = widest(arb(bend))
    w = mpf(found.mid())
    half, far = mpmath.erf(w / mpmath.sqrt(8)), upper_apart(w / 2) - upper_apart(3 * w / 2)
    with mpmath.workdps(80):
        assert abs(2 * mpmath.log(half / far) - mpf(bend)) <= mpf(bend) * mpf(10) ** -15
    assert curvature(found, -found / 2) > arb(bend) * (1 - arb(2) ** -60)


def test_wider_cells_for_more_curvature():
    found = [widest(arb(bend)) for bend in ("1e-30", "1e-6", "0.1", "1", "7", "300", "1e6")]
    assert all(near < far for near, far in pairwise(found))
    assert widest(arb(0)) == arb.pos_inf()


@given(st.floats(1e-9, 0.49))
def test_quantiles_are_those_of_the_normal_law(tail):
    oracles.assert_ball_holds(quantile(arb(tail)), quantile_apart(mpf(tail)))
    assert upper(quantile(arb(tail))).overlaps(arb(tail))


@given(st.fractions(Fraction(1, 10), 20, max_denominator=20), st.integers(0, 6))
def test_ratios_of_bessel_functions_obey_their_equation(variance, k):
    def log_ratio(x):
        return mpmath.log(mpmath.besseli(k + 1, x) / mpmath.besseli(k, x))

    x = oracles.real(variance)
    value = log_ratio(x)
    truth = -2 * mpmath.sinh(value) - (2 * k + 1) / x
    assert abs(mpmath.diff(log_ratio, x) - truth) <= mpf(10) ** -15 * (1 + abs(truth))


@given(
    st.fractions(1, 9, max_denominator=10),
    st.fractions(Fraction(1, 5), 6, max_denominator=10),
    st.integers(0, 6),
)
def test_ratios_of_polya_differences_obey_their_equation(shape, scale, k):
    r, z = oracles.real(shape), mpmath.cosh(1 / oracles.real(scale))

    def log_ratio(z):
        beta = mpmath.exp(-mpmath.acosh(z))

        def mass(j):
            front = mpmath.rf(r, j) / mpmath.factorial(j) * beta**j
            return front * mpmath.hyp2f1(r, r + j, j + 1, beta**2)

        return mpmath.log(mass(k + 1) / mass(k))

    value = log_ratio(z)
    truth = (2 * k + 1) * (z - mpmath.cosh(value)) + (2 * r - 1) * mpmath.sinh(value)
    found = (z * z - 1) * mpmath.diff(log_ratio, z)
    assert abs(found - truth) <= mpf(10) ** -12 * (1 + abs(truth))


@given(st.floats(-9, -0.1), st.floats(0.01, 1), st.integers(1, 50), st.floats(1.001, 50))
def test_differences_of_curvature_cannot_reach_0(middle, share, k, shape):
    """The signs at a zero: `middle` is l(k), the mean of l(k-1) and l(k+1), all negative."""
    low = arb(middle)
    gap = -low * arb(share) * (1 - arb(2) ** -30)
    bends = (low + gap).sinh() - 2 * low.sinh() + (low - gap).sinh()
    assert -2 * bends > 0  # Skellam, in the variance
    assert 6 * low.sinh() - 2 * (3 * low).sinh() > 0  # at k = 0, l(1) = 3 l(0)
    r = arb(shape)

    def rises(k, x):  # (z^2 - 1) dl(k)/dz but for z, which cancels
        return -(2 * k + 1) * x.cosh() + (2 * r - 1) * x.sinh()

    assert rises(k - 1, low + gap) - 2 * rises(k, low) + rises(k + 1, low - gap) < 0
    assert -3 * rises(0, low) + rises(1, 3 * low) < 0


@settings(max_examples=10)
@given(st.lists(st.sampled_from(["0.04", "0.1", "0.25", "0.5", "1"]), min_size=1, max_size=4))
def test_the_curvature_of_sums_is_largest_at_0(sigma2s):
    """Of discrete Gaussians, also of different ones (Regev, Stephens-Davidowitz)."""
    reach = 12
    law = {0: mpf(1)}
    for sigma2 in sigma2s:
        one = oracles.discrete_gaussian(sigma2)
        law = {
            k: mpmath.fsum(law.get(j, 0) * one(k - j) for j in range(-reach, reach + 1))
            for k in range(-reach, reach + 1)
        }
    logs = [mpmath.log(law[k]) for k in range(-1, 7)]
    bends = [
        2 * here - left - right for left, here, right in zip(logs, logs[1:], logs[2:], strict=False)
    ]
    assert max(bends) <= bends[0] * (1 + mpf(10) ** -20)
