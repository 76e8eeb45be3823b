"""Nothing below a least meets the claim, all from the other figure on does: sums in mpmath."""

import random
from fractions import Fraction

import brute_force
import mpmath
import oracles
import pytest
from mpmath import mpf

import exactdp
from exactdp import Calibration, ParameterError

pytestmark = pytest.mark.contract
DIGITS = 40


def pair(s2: Fraction, count: int, shift: int) -> list[tuple[mpf, mpf]]:
    """Of `count` discrete Gaussians together, or as many uses moved by d where shift is count d."""
    reach = int(mpmath.sqrt(2 * oracles.real(s2) * (DIGITS + 10) * mpmath.log(10))) + 2
    masses = oracles.convolution(oracles.discrete_gaussian(s2), count, reach)
    return [(p, masses.get(x - shift, mpf(0))) for x, p in masses.items()]


def delta(s2: Fraction, count: int, shift: int, epsilon: str) -> mpf:
    return brute_force.delta(pair(s2, count, shift), mpf(epsilon))


def renyi(s2: Fraction, count: int, shift: int, order: str) -> mpf:
    return brute_force.renyi([(p, q) for p, q in pair(s2, count, shift) if q], order)


def least(claim: str, count: int = 1, shift: int = 1, times: int = 1) -> Calibration:
    name = f"discrete-gaussian-sum:count={count}" if count > 1 else "discrete-gaussian"
    found = exactdp.calibrate(name, claim, shift, times)
    assert found.least.proved and found.from_on.proved
    return found


def beyond(found: Calibration, up: bool, count: int = 12) -> list[Fraction]:
    """Values below the least, or above what all larger ones meet it from, near and far."""
    start, side, most = (found.from_on.value, 1, 10) if up else (found.neighbour, -1, 1)
    draw = random.Random(most)
    near = [start * (1 + side * Fraction(1, 10**digits)) for digits in (9, 6, 3, 2)]
    far = (Fraction(draw.randrange(most * 10**5, most * 10**6), 10**6) for _ in range(count))
    return [start, *near, *(start * share for share in far)]


@pytest.mark.slow
def test_an_island_of_smaller_values_is_found() -> None:
    found = least("approx:3,0.05")
    with mpmath.workdps(DIGITS):
        for figure, low, high in (
            (found, "0.166", "0.167"),  # the definition has a first and a last crossing
            (found.from_on, "0.462", "0.463"),
        ):
            low, high = Fraction(low), Fraction(high)
            assert low < figure.neighbour < figure.value < high
            assert delta(figure.neighbour, 1, 1, "3") > mpf(5) / 100
            assert delta(figure.value, 1, 1, "3") <= mpf(5) / 100
        assert delta(Fraction("0.3"), 1, 1, "3") > mpf(5) / 100
        assert all(delta(value, 1, 1, "3") > mpf(5) / 100 for value in beyond(found, False))
        assert all(delta(value, 1, 1, "3") <= mpf(5) / 100 for value in beyond(found, True))


@pytest.mark.slow_cases("1-4-1e-2-1", "2-5-0.1-1", "3-0-0.3-1", "1-2-1e-2-3", "1-1-1e-3-1")
@pytest.mark.parametrize(
    ("shift", "epsilon", "bound", "times"),
    [(1, "4", "1e-2", 1), (1, "1", "1e-3", 1), (2, "5", "0.1", 1), (3, "0", "0.3", 1),
     (1, "2", "1e-2", 3)],
)  # fmt: skip
def test_nothing_below_a_least_meets_an_approximate_claim(
    shift: int, epsilon: str, bound: str, times: int
) -> None:
    found = least(f"approx:{epsilon},{bound}", shift=shift, times=times)
    with mpmath.workdps(DIGITS):
        for value in beyond(found, False):
            assert delta(value, times, times * shift, epsilon) > mpf(bound)
        for value in beyond(found, True, 6):
            assert delta(value, times, times * shift, epsilon) <= mpf(bound)


@pytest.mark.slow_cases("2-1-2.5-0.05")
@pytest.mark.parametrize(
    ("count", "shift", "order", "bound"),
    [(1, 1, "1.5", "1"), (1, 2, "2.25", "3"), (1, 1, "1.01", "5"), (2, 1, "2.5", "0.05")],
)
def test_nothing_below_a_least_meets_a_renyi_claim(
    count: int, shift: int, order: str, bound: str
) -> None:
    found = least(f"rdp:{order},{bound}", count, shift)
    with mpmath.workdps(DIGITS):
        for value in beyond(found, False):
            if value > Fraction(1, 50):  # below it underflows
                assert renyi(value, count, shift, order) > mpf(bound)
        for value in beyond(found, True, 4):
            assert renyi(value, count, shift, order) <= mpf(bound)


def test_monotone_families_say_so() -> None:
    found = exactdp.calibrate("skellam", "rdp:2,0.1", 1)
    assert found.least.proved and found.from_on == found.least
    coins = exactdp.calibrate("binomial:probability=1/2", "approx:2,3e-2", 1)
    assert coins.least.proved
    for trials in range(1, int(coins.value)):
        with mpmath.workdps(DIGITS):
            law = brute_force.shifted(oracles.binomial(trials, "1/2"), 1, trials + 1)
            worst = max(brute_force.delta(way, mpf(2)) for way in (law, [(q, p) for p, q in law]))
            assert worst > mpf("3e-2")


def test_the_claim_must_be_in_reach() -> None:
    with pytest.raises(ParameterError, match="every sigma2"):
        least("approx:1,1")
