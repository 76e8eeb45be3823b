"""Closed forms of one use, and the relation of sampling, against quadrature and brute force."""

from fractions import Fraction
from itertools import product

import mpmath
import pytest
from flint import arb
from mpmath import mp

from exactdp.accounting.composition.composed import compose
from exactdp.accounting.divergences import gaussian
from exactdp.accounting.losses.continuous import laplace
from exactdp.accounting.losses.continuous.composed import (
    composed_renyi,
    sampled_gaussian,
    sampled_laplace,
)
from exactdp.accounting.sampling import added, pure_added, pure_removed, removed
from exactdp.exact import working_precision
from exactdp.mechanisms import FinitePair
from exactdp.mechanisms.continuous import ContinuousNoise, Shape

P = (Fraction(5, 10), Fraction(3, 10), Fraction(2, 10))
Q = (Fraction(1, 10), Fraction(3, 10), Fraction(6, 10))
LEVELS = ["-2.5", "-0.7", "-0.1", "0", "0.05", "0.4", "1.3", "3"]


def ball_of(value) -> arb:
    number = Fraction(value)
    return arb(number.numerator) / number.denominator


def mixed(p, q, rate):
    """The law with the user."""
    return FinitePair(map(str, range(len(p))), p, q).sampled(rate, removing=True).p


def divergence(p, q, gamma: arb) -> arb:
    """sum of (P - gamma Q)^+."""
    return sum(
        ((ball_of(a) - gamma * ball_of(b)).max(arb(0)) for a, b in zip(p, q, strict=True)), arb(0)
    )


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 3), Fraction(99, 100)])
def test_sampling_maps_profiles_as_brute_force_does(rate, level):
    with working_precision(128):
        here, q = ball_of(level), ball_of(rate)
        with_user = mixed(P, Q, rate)
        assert sum(with_user) == 1
        ways = [
            (removed(q, here, lambda at: divergence(P, Q, at.exp())), with_user, Q),
            (added(q, here, lambda at: divergence(Q, P, at.exp())), Q, with_user),
        ]
        for found, first, second in ways:
            assert abs(found - divergence(first, second, here.exp())) < 1e-30


@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1, 2), Fraction(1)])
def test_pure_epsilon_is_the_largest_ratio(rate):
    with working_precision(128):
        with_user = mixed(P, Q, rate)
        largest = ball_of(max(a / b for a, b in zip(with_user, Q, strict=True))).log()
        smallest = ball_of(max(b / a for a, b in zip(with_user, Q, strict=True))).log()
        q = ball_of(rate)
        assert abs(pure_removed(q, arb(5).log()) - largest) < 1e-30
        assert abs(pure_added(q, arb(3).log()) - smallest) < 1e-30


def test_a_level_that_cannot_be_told_from_the_edge_stays_inside():
    with working_precision(128):
        q = ball_of(Fraction(1, 3))
        wide = (1 - q).log() + arb(0, 1e-9)
        found = removed(q, wide, lambda at: divergence(P, Q, at.exp()))
        assert found.contains(1 - (1 - q).mid())
        assert added(q, -wide, lambda at: arb(1)).contains(0)


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("mu", ["0.1", "1", "4"])
def test_gaussian_profile_holds_quadrature(mu, level):
    with mp.workdps(30), working_precision(128):
        m, gamma = mpmath.mpf(mu), mpmath.exp(mpmath.mpf(level))
        cut = mpmath.mpf(level) / m + m / 2
        points = mpmath.linspace(cut, max(cut, m) + 14, 30)
        truth = mpmath.quad(lambda x: mpmath.npdf(x, m) - gamma * mpmath.npdf(x), points)
        found = gaussian.delta(ball_of(mu), ball_of(level))
        assert abs(found - arb(mpmath.nstr(truth, 28))) < 1e-20


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "2"])
def test_laplace_profile_holds_quadrature(epsilon, level):
    with mp.workdps(30), working_precision(128):
        e, gamma = mpmath.mpf(epsilon), mpmath.exp(mpmath.mpf(level))

        def gain(x):
            return max(mpmath.exp(-abs(x)) - gamma * mpmath.exp(-abs(x - e)), 0) / 2

        cut = (e - mpmath.mpf(level)) / 2
        points = sorted(
            {-70, -20, -5, mpmath.mpf(0), min(max(cut, 0), e), e, e + 5, e + 20, e + 70}
        )
        truth = mpmath.quad(gain, points)
        found = laplace.delta(ball_of(epsilon), ball_of(level))
        assert abs(found - arb(mpmath.nstr(truth, 28))) < 1e-18


@pytest.mark.parametrize("order", ["1.01", "2", "7.5", "100"])
def test_laplace_renyi_without_sampling_is_the_published_one(order):
    with working_precision(128):
        alpha, epsilon = ball_of(order), ball_of("0.7")
        truth = laplace.renyi_sum(epsilon, alpha).log() / (alpha - 1)
    found = composed_renyi([(sampled_laplace(1, 10, 7, "add"), 1)], order)
    with working_precision(128):
        assert ball_of(found.lower) <= truth + arb(2) ** -100
        assert truth <= ball_of(found.upper) + arb(2) ** -100
    assert found.is_within(Fraction(1, 10**12))


def gaussian_curve(mu: arb, level: arb) -> arb:
    """Phi(Phi^-1(1 - a) - mu), Phi^-1(1 - a) = sqrt(2) erfcinv(2 a)."""
    return ((mu - arb(2).sqrt() * (2 * level).erfcinv()) / arb(2).sqrt()).erfc() / 2


def laplace_curve(epsilon: arb, level: arb) -> arb:
    """1 - e^e a, and from e^-e/2 on e^-e/(4a) up to 1/2, e^-e (1 - a) beyond."""
    shrunk = (-epsilon).exp()
    if level <= shrunk / 2:
        return 1 - level / shrunk
    return shrunk / (4 * level) if level <= 0.5 else shrunk * (1 - level)


@pytest.mark.parametrize(
    ("curve", "profile"),
    [(gaussian_curve, gaussian.delta), (laplace_curve, laplace.delta)],
)
def test_trade_off_and_profile_are_dual(curve, profile):
    """f(a) >= 1 - delta(level) - e^level a, with equality somewhere (duality)."""
    with working_precision(128):
        size = ball_of("1.2")
        grid = [ball_of(Fraction(k, 400)) for k in range(1, 400)]
        for level in (arb(0), ball_of("0.5"), ball_of("1.1"), ball_of("-0.4")):
            gaps = [curve(size, a) - (1 - profile(size, level) - level.exp() * a) for a in grid]
            assert not any(gap < 0 for gap in gaps)
            assert min(float(gap.mid()) for gap in gaps) < 1e-4


def test_rho_is_approached_and_never_passed():
    law = sampled_gaussian("0.1", 2, 1, "remove")
    noise = ContinuousNoise(Shape.GAUSSIAN, 2, 1, "add-remove", "0.1")
    assert compose((noise, 3)).zcdp().contains(Fraction(3, 8))
    ratios = [composed_renyi([(law, 3)], order).upper / order for order in (2, 20, 400)]
    assert ratios == sorted(ratios)
    assert Fraction(3, 8) * Fraction(9, 10) < ratios[-1] <= Fraction(3, 8)


def test_sampling_every_pair_of_bits_by_hand():
    """Two users' bits through a noisy count: sampling subsets is mixing the pair."""
    rate, flip = Fraction(1, 4), Fraction(1, 5)
    response = {0: (1 - flip, flip), 1: (flip, 1 - flip)}

    def law(bits):
        found = [Fraction(0)] * 2
        for chosen in product((0, 1), repeat=len(bits)):
            weight = Fraction(1)
            for taken in chosen:
                weight *= rate if taken else 1 - rate
            total = sum(bit for bit, taken in zip(bits, chosen, strict=True) if taken) % 2
            for outcome in (0, 1):
                found[outcome] += weight * response[total][outcome]
        return tuple(found)

    absent, present = law((1,)), law((1, 1))
    other = tuple(reversed(absent))  # the second user's bit turns the count
    assert present == mixed(other, absent, rate)
