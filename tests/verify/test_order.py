"""Nothing below a calibrated least meets the claim, everything from the other figure on does.

Truth: sums of the definition in mpmath.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf

from exactdp import ZCDP, ApproxDP, Calibration, ParameterError, RenyiDP, time_limit
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    Skellam,
)
from exactdp.verify import Family, UnfinishedError, calibrate, gaussian_order
from exactdp.verify.order import Monotone, fails_down_to, meets_up_to

DIGITS = 40


def number(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def gaussian(s2: mpf) -> list[mpf]:
    """The masses of the discrete Gaussian, as far as DIGITS digits need them."""
    reach = int(mpmath.sqrt(2 * s2 * (DIGITS + 10) * mpmath.log(10))) + 2
    weights = [mpmath.exp(-mpf(x * x) / (2 * s2)) for x in range(-reach, reach + 1)]
    total = mpmath.fsum(weights)
    return [weight / total for weight in weights]


def summed(s2: mpf, count: int) -> list[mpf]:
    one, found = gaussian(s2), [mpf(1)]
    for _ in range(count):
        longer = [mpf(0)] * (len(found) + len(one) - 1)
        for (i, p), (j, q) in itertools.product(enumerate(found), enumerate(one)):
            longer[i + j] += p * q
        found = longer
    return found


def hockey_stick(masses: list[mpf], shift: int, epsilon: mpf) -> mpf:
    moved = [*[mpf(0)] * shift, *masses]
    padded = [*masses, *[mpf(0)] * shift]
    factor = mpmath.exp(epsilon)
    return mpmath.fsum(max(p - factor * q, mpf(0)) for p, q in zip(padded, moved, strict=True))


def delta(s2: mpf, count: int, shift: int, epsilon: mpf) -> mpf:
    """Of one use of the sum; of `count` uses of discrete Gaussians moved by d where shift is
    count times d, because their sum is a sufficient statistic."""
    return hockey_stick(summed(s2, count), shift, epsilon)


def renyi(s2: mpf, count: int, shift: int, order: mpf) -> mpf:
    masses = summed(s2, count)
    terms = []
    for x, p in enumerate(masses):
        q = masses[x - shift] if 0 <= x - shift < len(masses) else mpf(0)
        if p and q:
            terms.append(p**order * q ** (1 - order))
    return mpmath.log(mpmath.fsum(terms)) / (order - 1)


def family(count: int, shift: int) -> Family:
    return Family(
        "sigma2",
        lambda value: (
            AdditiveNoise(DiscreteGaussianSum(count, value), shift)
            if count > 1
            else AdditiveNoise(DiscreteGaussian(value), shift)
        ),
        float(shift * shift),
        order=lambda claim, times: gaussian_order(count, shift, claim, times),
    )


def smaller(found: Calibration, draw: random.Random) -> list[Fraction]:
    """Values below the least, near and far."""
    below = found.neighbour
    near = [below * (1 - Fraction(1, 10**digits)) for digits in (9, 6, 3, 2)]
    return [below, *near, *(below * Fraction(draw.randrange(1, 10**6), 10**6) for _ in range(25))]


def larger(found: Calibration, draw: random.Random) -> list[Fraction]:
    above = found.from_on.value
    near = [above * (1 + Fraction(1, 10**digits)) for digits in (9, 6, 3, 2)]
    return [
        above,
        *near,
        *(above * Fraction(draw.randrange(10**6, 10**7), 10**6) for _ in range(25)),
    ]


# -- where delta is not monotone --------------------------------------------------------------


@pytest.mark.slow
def test_an_island_of_smaller_values_is_found() -> None:
    found = calibrate(family(1, 1), ApproxDP(3, "0.05"))
    assert found.least.proved
    assert found.from_on.proved
    draw = random.Random(1)
    with mpmath.workdps(DIGITS):
        epsilon, bound = mpf(3), mpf(5) / 100
        # the definition has a first and a last crossing
        first = mpmath.findroot(
            lambda s: delta(s, 1, 1, epsilon) - bound, (0.166, 0.167), solver="anderson"
        )
        last = mpmath.findroot(
            lambda s: delta(s, 1, 1, epsilon) - bound, (0.462, 0.463), solver="anderson"
        )
        assert number(found.neighbour) < first <= number(found.value)
        assert number(found.from_on.neighbour) < last <= number(found.from_on.value)
        assert delta(mpf("0.3"), 1, 1, epsilon) > bound
        for value in smaller(found, draw):
            assert delta(number(value), 1, 1, epsilon) > bound
        for value in larger(found, draw):
            assert delta(number(value), 1, 1, epsilon) <= bound


@pytest.mark.slow_cases("1-1-1e-3", "2-5-0.1", "3-0-0.3")
@pytest.mark.parametrize(
    ("shift", "epsilon", "bound"),
    [
        pytest.param(1, "4", "1e-2", marks=pytest.mark.slow),
        (1, "1", "1e-3"),
        (2, "5", "0.1"),
        (3, "0", "0.3"),
    ],
)
def test_nothing_below_a_least_meets_an_approximate_claim(
    shift: int, epsilon: str, bound: str
) -> None:
    found = calibrate(family(1, shift), ApproxDP(epsilon, bound))
    assert found.least.proved
    assert found.from_on.proved
    draw = random.Random(f"{shift} {epsilon} {bound}")
    with mpmath.workdps(DIGITS):
        for value in smaller(found, draw):
            assert delta(number(value), 1, shift, mpf(epsilon)) > mpf(bound)
        for value in larger(found, draw):
            assert delta(number(value), 1, shift, mpf(epsilon)) <= mpf(bound)


@pytest.mark.slow_cases("2-1-2.5-0.05")
@pytest.mark.parametrize(
    ("count", "shift", "order", "bound"),
    [(1, 1, "1.5", "1"), (1, 2, "2.25", "3"), (1, 1, "1.01", "5"), (2, 1, "2.5", "0.05")],
)
def test_nothing_below_a_least_meets_a_renyi_claim(
    count: int, shift: int, order: str, bound: str
) -> None:
    found = calibrate(family(count, shift), RenyiDP(order, bound))
    assert found.least.proved
    assert found.from_on.proved
    draw = random.Random(f"{count} {shift} {order}")
    with mpmath.workdps(DIGITS):
        for value in smaller(found, draw)[:12]:
            if value > Fraction(1, 50):  # below it underflows
                assert renyi(number(value), count, shift, mpf(order)) > mpf(bound)
        for value in larger(found, draw)[:8]:
            assert renyi(number(value), count, shift, mpf(order)) <= mpf(bound)


def test_what_is_not_known_is_not_claimed() -> None:
    unknown = Family("sigma2", lambda value: AdditiveNoise(DiscreteGaussian(value), 1))
    found = calibrate(unknown, ZCDP("0.05"))
    assert not found.least.proved
    assert not found.from_on.proved
    assert "not known" in found.least.why


@pytest.mark.slow
def test_several_uses_are_proved_as_well() -> None:
    found = calibrate(family(1, 1), ApproxDP(2, "1e-2"), 3)
    assert found.least.proved
    assert found.from_on.proved
    draw = random.Random(3)
    with mpmath.workdps(DIGITS):
        for value in smaller(found, draw)[:12]:
            assert delta(number(value), 3, 3, mpf(2)) > mpf("1e-2")
        for value in larger(found, draw)[:6]:
            assert delta(number(value), 3, 3, mpf(2)) <= mpf("1e-2")


# -- what is proved of intervals --------------------------------------------------------------


@pytest.mark.slow
def test_covers_of_intervals_are_true() -> None:
    draw = random.Random(11)
    proved = {True: 0, False: 0}
    for _ in range(60):
        count, times = draw.choice([(1, 1), (1, 1), (1, 2), (2, 1), (3, 1)])
        shift = draw.choice([1, 2, 3])
        epsilon = Fraction(draw.randrange(0, 500), 100)
        low = Fraction(draw.randrange(3, 300), 100)
        high = low * (1 + Fraction(1, draw.choice([2, 10, 100, 1000])))
        inside = [low + (high - low) * Fraction(k, 4) for k in range(5)]
        n, moved = count * times, shift * times
        with mpmath.workdps(DIGITS):
            truths = [delta(number(value), n, moved, number(epsilon)) for value in inside]
        middle = Fraction(str(mpmath.nstr(truths[2], 8)))
        for factor in (Fraction(1, 2), Fraction(9, 10), 1, Fraction(11, 10), 2):
            bound = min(middle * factor, Fraction(99, 100))
            cover = gaussian_order(count, shift, ApproxDP(epsilon, bound), times)
            assert cover is not None
            if cover.fails(low, high):
                proved[False] += 1
                assert all(truth > number(bound) for truth in truths)
            if cover.meets(low, high):
                proved[True] += 1
                assert all(truth <= number(bound) for truth in truths)
            if cover.fails(None, low):
                assert truths[0] > number(bound)
            if cover.meets(high, None):
                assert truths[-1] <= number(bound)
    assert min(proved.values()) >= 20


def test_walks_stop_at_an_island() -> None:
    cover = gaussian_order(1, 1, ApproxDP(3, "0.05"), 1)
    assert cover is not None
    with mpmath.workdps(DIGITS):
        edge = mpmath.findroot(
            lambda s: delta(s, 1, 1, mpf(3)) - mpf(5) / 100, (0.173, 0.1735), solver="anderson"
        )
        down = number(fails_down_to(cover, Fraction("0.4625")))
        assert edge < down < edge * (1 + mpf("1e-8"))
        up = meets_up_to(cover, Fraction("0.17"))
        assert up is not None
        assert edge * (1 - mpf("1e-8")) < number(up) < edge
    assert fails_down_to(cover, Fraction("0.1663")) == 0
    assert meets_up_to(cover, Fraction("0.4626")) is None


def test_the_renyi_divergence_of_the_discrete_gaussian_falls() -> None:
    draw = random.Random(5)
    with mpmath.workdps(60):
        for _ in range(60):
            order = 1 + mpf(draw.randrange(1, 400)) / 100
            shift = draw.choice([1, 1, 2, 5])
            s2 = mpf(draw.randrange(4, 100)) / 100
            values = [renyi(s2 * mpf(101 + k) / 100, 1, shift, order) for k in range(2)]
            if order * shift < 8:  # else the sum is cut off too early
                assert values[1] < values[0]


# -- time ---------------------------------------------------------------------------------------


def test_no_time_gives_what_is_known() -> None:
    with pytest.raises(UnfinishedError, match="so far"), time_limit(0.3):
        calibrate(family(8, 1), ApproxDP(1, "1e-6"))


def test_monotone_families_say_so() -> None:
    skellam = Family(
        "variance",
        lambda value: AdditiveNoise(Skellam(value), 1),
        order=lambda *_: Monotone(Skellam.calibrated.proof),
    )
    found = calibrate(skellam, RenyiDP(2, "0.1"))
    assert found.least.proved
    assert found.from_on == found.least
    coins = Family(
        "trials",
        lambda n: AdditiveNoise(Binomial(n, "1/2"), 1),
        100,
        is_whole=True,
        order=lambda *_: Monotone(Binomial.calibrated.proof),
    )
    least = calibrate(coins, ApproxDP(2, "3e-2"))
    assert least.least.proved
    for trials in range(1, int(least.value)):
        with mpmath.workdps(DIGITS):
            p = mpf(1) / 2
            masses = [
                mpmath.binomial(trials, k) * p**k * (1 - p) ** (trials - k)
                for k in range(trials + 1)
            ]
            worst = max(hockey_stick(each, 1, mpf(2)) for each in (masses, masses[::-1]))
            assert worst > mpf("3e-2")


def test_the_claim_must_be_in_reach() -> None:
    with pytest.raises(ParameterError, match="every sigma2"):
        calibrate(family(1, 1), ApproxDP(1, 1))
