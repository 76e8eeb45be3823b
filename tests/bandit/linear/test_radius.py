"""The radius: its theorem at the worst that its events allow, and how often these fail.
Norms of noise: against enumerations and draws, never below, seldom much above.
"""

import itertools
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb
from scipy.stats import binom, skellam

from exactdp.bandit.linear import radius as module
from exactdp.bandit.linear.contribution import Contribution
from exactdp.bandit.linear.radius import (
    FLOOR,
    Radius,
    _log_sphere,
    error_bound,
    matrix_bound,
    radius,
)
from exactdp.bandit.linear.release import certified_release
from exactdp.bandit.linear.setting import LinearSetting
from exactdp.bandit.linear.simulation import ExactSums
from exactdp.mechanisms.laws import DiscreteLaplace, Skellam
from exactdp.verify.certificate import MismatchError


@pytest.fixture(scope="module")
def setting():
    return LinearSetting(3, 2000, 1, first=200, confidence="0.02", norm=2)


@pytest.fixture(scope="module")
def release(setting):
    return certified_release(setting)


def _length(vector, matrix):
    return float(np.sqrt(vector @ matrix @ vector))


@pytest.mark.parametrize("users", [40, 4000, 10**6])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_worst_that_the_events_allow_is_within_and_reaches_the_radius(users, seed, sign):
    """Rewards, noise and theta* chosen against one context: each at the end of what is allowed."""
    d, c, c_e, ridge, norm, p = 4, 30.0, 25.0, 7.0, 1.5, Fraction(1, 50)
    rng = np.random.default_rng(seed)
    seen = rng.standard_normal((200, d)) * [1.0, 0.5, 0.2, 0.05]
    seen /= np.linalg.norm(seen, axis=1).max()
    gram = seen.T @ seen * (users / 200)
    noisy = gram + sign * c * np.eye(d)
    given = Radius(d, (users,), (c,), (c_e,), p, ridge, Fraction(norm), p, 0.0)
    shift = max(0.0, FLOOR * c - np.linalg.eigvalsh(noisy)[0])
    context = rng.standard_normal(d)
    context /= np.linalg.norm(context)
    z = np.linalg.solve(noisy + shift * np.eye(d), context)
    regular = gram + ridge * np.eye(d)
    log_det = np.linalg.slogdet(regular / ridge)[1]
    beta = np.sqrt(2 * np.log(1 / float(p)) + log_det)
    rewards = beta * regular @ z / _length(z, regular)
    error = c_e * z / np.linalg.norm(z)
    theta = -norm * z / np.linalg.norm(z)
    found = given.estimate(1, noisy, gram @ theta + rewards + error + sign * c * theta)
    off = found.means(context) - context @ theta
    width = found.widths(context)
    assert found.shift == pytest.approx(shift)
    assert off == pytest.approx(
        beta * _length(z, regular) + (c_e + shift * norm) * _length(z, np.eye(d))
    )
    assert off <= width
    if sign < 0:  # nothing is lost then: H is G + rho I
        assert off >= 0.9999 * width
    more = rng.standard_normal((1000, d))
    more /= np.linalg.norm(more, axis=1)[:, None]
    assert (np.abs(found.means(more) - more @ theta) <= found.widths(more)).all()


def test_any_noise_within_its_norm_keeps_the_matrix_above():
    rng, d, c, ridge = np.random.default_rng(0), 3, 5.0, 5.0
    given = Radius(d, (50,), (c,), (c,), Fraction(1, 10), ridge, Fraction(1), Fraction(1, 10), 0.0)
    for _ in range(50):
        seen = rng.standard_normal((50, d))
        seen /= np.linalg.norm(seen, axis=1)[:, None]
        noise = rng.standard_normal((d, d))
        noise += noise.T
        noise *= c / np.linalg.norm(noise, 2)
        found = given.estimate(1, seen.T @ seen + noise, np.zeros(d))
        below = found.shape - seen.T @ seen - ridge * np.eye(d)
        assert np.linalg.eigvalsh(below)[0] > -1e-9
        truth = np.linalg.slogdet(np.eye(d) + seen.T @ seen / ridge)[1]
        assert found.beta >= np.sqrt(2 * np.log(10) + truth)
        assert found.beta <= np.sqrt(2 * np.log(10) + d * np.log(1 + 50 / (d * ridge))) * (
            1 + 1e-12
        )


def test_rewards_leave_the_ellipsoid_as_seldom_as_is_said():
    """Fair signs as rewards, one context: Ville's event, at every time of 2000."""
    p, runs, users = Fraction(1, 4), 4000, 2000
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (runs, users)).cumsum(axis=1)
    count = np.arange(1, users + 1)
    given = Radius(1, (1,) * users, (0.0,) * users, (0.0,) * users, p, 1.0, Fraction(1), p, 0.0)
    at = (1, 10, 100, 1000, 2000)
    for n in at:  # the radius' own beta
        assert given.estimate(1, np.array([[float(n)]]), np.zeros(1)).beta == pytest.approx(
            np.sqrt(2 * np.log(4) + np.log(1 + min(n, 1))), rel=1e-9
        )
    beta = np.sqrt(2 * np.log(4) + np.log(1 + count))
    outside = (np.abs(signs) / np.sqrt(count + 1) > beta).any(axis=1).mean()
    assert 0.02 < outside <= 0.25


def test_an_inverse_that_is_none_costs_what_it_is_off(monkeypatch):
    """W may be anything: what is lost by it is in the rest."""
    given = Radius(2, (100,), (1.0,), (1.0,), Fraction(1, 10), 1.0, Fraction(2), Fraction(1), 0.0)
    gram, theta = np.diag([60.0, 40.0]), np.array([2.0, 0.0])
    good = given.estimate(1, gram, gram @ theta)
    assert good.rest < 1e-6 and np.allclose(good.theta, theta)
    inverse = np.linalg.inv
    monkeypatch.setattr(np.linalg, "inv", lambda matrix: inverse(matrix) * (1 - 1e-5))
    bad = given.estimate(1, gram, gram @ theta)
    assert bad.rest == pytest.approx(1e-5 * np.sqrt(2) * 2, rel=5e-3)
    assert np.allclose(bad.theta, (1 - 1e-5) * theta, rtol=1e-9)
    monkeypatch.setattr(np.linalg, "inv", lambda matrix: inverse(matrix) * 0.9)
    with pytest.raises(ArithmeticError, match="too large for an inverse"):
        given.estimate(1, gram, gram @ theta)


def test_the_shift_is_never_more_than_the_least_eigenvalue_asks_for(monkeypatch):
    """Whatever eigenvectors floats find."""
    rng = np.random.default_rng(5)
    seen = rng.standard_normal((9, 4))
    gram = seen.T @ seen
    least = np.linalg.eigvalsh(gram)[0]
    given = Radius(4, (9,), (least,), (0.0,), Fraction(1, 2), 0.1, Fraction(1), Fraction(1), 0.0)
    assert given.estimate(1, gram, seen[0]).shift == pytest.approx(least, rel=1e-9)
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (None, rng.standard_normal((4, 4))))
    for _ in range(20):
        assert given.estimate(1, gram, seen[0]).shift < least


def test_failures_add_up_to_p(setting, release, monkeypatch):
    spent = []

    def bound(release, batches, users, *more):
        assert setting.batches[batches - 1] == users
        spent.append(more[-1])
        return 1.0

    monkeypatch.setattr(module, "matrix_bound", bound)
    monkeypatch.setattr(module, "error_bound", bound)
    found = radius(setting, release)
    assert len(spent) == 2 * len(setting.batches)
    assert sum(spent) + found.rewards + release.overflows == setting.confidence == found.failure


def test_sums_in_floats_are_within_what_is_counted_for_them():
    """Many users, then more one by one: each is cut off by half a unit in the sum's last place."""
    many, more = 1 << 20, 40_000
    sums, one = ExactSums(1), np.array([[np.sqrt(1 - 2.0**-33 - 2.0**-42)]])
    sums.add(np.ones((many, 1)), np.ones(many))
    for _ in range(more):
        sums.add(one, np.ones(1))
    off = many + more * Fraction(one[0, 0]) ** 2 - Fraction(sums.release()[0][0, 0])
    users = many + more
    assert off > Fraction(users, 2**38)  # far more than a user alone is off by
    assert off <= users * Fraction(radius(LinearSetting(1, users, None), None).drift)


@pytest.mark.parametrize(("dimension", "horizon"), [(3, 10**7), (2, 2000)])
def test_a_release_whose_sums_may_wrap_or_are_of_other_vectors_is_refused(
    dimension, horizon, release
):
    other = LinearSetting(dimension, horizon, 1, first=200)
    with pytest.raises(MismatchError, match="another setting"):
        radius(other, release)


VARIANCE, SCALE = 9, 4


def _release(dimension, variance=VARIANCE):
    return SimpleNamespace(contribution=Contribution(dimension, SCALE, 40), noise=Skellam(variance))


def _coordinate(batches, users):
    """The law of one coordinate of W: noise, and rounding halves up or down."""
    reach = 12 * int((batches * VARIANCE + users) ** 0.5)
    noise = skellam.pmf(
        np.arange(-reach, reach + 1), batches * VARIANCE / 2, batches * VARIANCE / 2
    )
    rounding = binom.pmf(np.arange(users + 1), users, 0.5)
    places = np.arange(-reach, reach + users + 1) - users / 2
    return places, np.convolve(noise, rounding)


def _quantile(values, masses, failure):
    order = np.argsort(-values)
    beyond = np.cumsum(masses[order])
    return values[order][np.searchsorted(beyond, failure)]


@pytest.mark.parametrize(("batches", "users"), [(1, 0), (1, 20), (3, 40)])
@pytest.mark.parametrize("failure", [Fraction(1, 1000), Fraction(1, 10**8)])
def test_one_dimension_is_enumerated(batches, users, failure):
    places, masses = _coordinate(batches, users)
    truth = _quantile(np.abs(places), masses, float(failure)) * 5 / (3 * SCALE)
    found = matrix_bound(_release(1), batches, users, failure)
    assert truth <= found <= 1.35 * truth
    first, second = np.meshgrid(places, places)
    both = np.outer(masses, masses).ravel()
    for norm in (Fraction(1, 2), Fraction(2)):
        errors = np.abs(5 / 4 * first - 5 / 3 * float(norm) * second).ravel() / SCALE
        truth = _quantile(errors, both, float(failure))
        assert truth <= error_bound(_release(1), batches, users, norm, failure) <= 1.35 * truth


@pytest.mark.parametrize("batches", [1, 4])
@pytest.mark.parametrize("failure", [Fraction(1, 1000), Fraction(1, 10**8)])
def test_one_dimension_of_heavier_noise_is_enumerated(batches, failure):
    """Its tails are as heavy as e^(-|x|/scale): two batches and more by convolution."""
    law = DiscreteLaplace(3)
    one = masses = np.exp(law.log_pmf(np.arange(-150, 151)))
    for _ in range(batches - 1):
        masses = np.convolve(masses, one)
    places = np.arange(len(masses)) - len(masses) // 2
    release = SimpleNamespace(contribution=Contribution(1, SCALE, 40), noise=law)
    truth = _quantile(np.abs(places), masses, float(failure)) * 5 / (3 * SCALE)
    assert truth <= matrix_bound(release, batches, 0, failure) <= 1.6 * truth
    first, second = np.meshgrid(places, places)
    both = np.outer(masses, masses).ravel()
    for norm in (Fraction(1, 2), Fraction(2)):
        errors = np.abs(5 / 4 * first - 5 / 3 * float(norm) * second).ravel() / SCALE
        truth = _quantile(errors, both, float(failure))
        assert truth <= error_bound(release, batches, 0, norm, failure) <= 1.6 * truth


@pytest.mark.parametrize("norm", [1, 4])
def test_noise_that_is_far_from_gaussian_is_enumerated(norm):
    """Of variance 1/50 an outcome of 3 is far likelier than e^(-9/(2/50))."""
    places, failure = np.arange(-12, 13), Fraction(1, 10**9)
    masses = skellam.pmf(places, 0.01, 0.01)
    first, second = np.meshgrid(places, places)
    errors = np.abs(5 / 4 * first - 5 / 3 * norm * second).ravel() / SCALE
    truth = _quantile(errors, np.outer(masses, masses).ravel(), float(failure))
    found = error_bound(_release(1, Fraction(1, 50)), 1, 0, Fraction(norm), failure)
    assert truth <= found <= 2 * truth


def test_a_matrix_is_enumerated():
    places, masses = _coordinate(1, 4)
    kept = masses > 1e-12
    triples = itertools.product(zip(places[kept], masses[kept], strict=True), repeat=3)
    found = np.array([(a * a + b * b + c * c, p * q * r) for (a, p), (b, q), (c, r) in triples])
    norms = np.sqrt(found[:, 0]) * 5 / (3 * SCALE)
    for failure in (Fraction(1, 1000), Fraction(1, 10**6)):
        truth = _quantile(norms, found[:, 1], float(failure))
        assert truth <= matrix_bound(_release(2), 1, 4, failure) <= 1.3 * truth


@pytest.mark.parametrize("law", [Skellam(VARIANCE), DiscreteLaplace(2)], ids=["skellam", "laplace"])
@pytest.mark.parametrize(("dimension", "norm"), [(2, 1), (5, 3), (12, 1)])
def test_more_dimensions_are_drawn(dimension, norm, law):
    rng, count, failure = np.random.default_rng(dimension), 6000, Fraction(1, 50)
    release = SimpleNamespace(contribution=Contribution(dimension, SCALE, 40), noise=law)
    batches, users = 2, 10
    size = release.contribution.size
    drawn = sum(law.simulate(rng, count * size) for _ in range(batches)).reshape(count, size)
    noise = drawn + rng.binomial(users, 0.5, (count, size)) - users / 2
    theta = rng.standard_normal(dimension)
    theta *= norm / np.linalg.norm(theta)
    read = [release.contribution.unscaled(row) for row in noise / SCALE]
    matrices = np.array([np.linalg.norm(matrix) for matrix, _ in read])
    errors = np.array([np.linalg.norm(vector - matrix @ theta) for matrix, vector in read])
    for values, bound in (
        (matrices, matrix_bound(release, batches, users, failure)),
        (errors, error_bound(release, batches, users, Fraction(norm), failure)),
    ):
        assert (values > bound).mean() <= float(failure)
        most = 1.4 if isinstance(law, Skellam) else 3  # s ends where the moments do
        assert bound <= most * np.quantile(values, 1 - float(failure))


def test_means_over_the_sphere_are_from_below():
    for x in (0.1, 1.0, 10.0, 300.0):
        one, three = (float(_log_sphere(size, arb(x))) for size in (1, 3))
        assert one == pytest.approx(np.logaddexp(x, -x) - np.log(2), rel=1e-12)
        assert three == pytest.approx(x + np.log(-np.expm1(-2 * x)) - np.log(2 * x), rel=1e-12)
    drawn = np.random.default_rng(0).standard_normal((200_000, 6))
    first = drawn[:, 0] / np.linalg.norm(drawn, axis=1)
    assert float(_log_sphere(6, arb(3))) == pytest.approx(
        np.log(np.exp(3 * first).mean()), abs=0.01
    )
