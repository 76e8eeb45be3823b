"""Lists that mix continuous with discrete mechanisms, against conditioning on discrete outcomes."""

from fractions import Fraction

import mpmath
import pytest
from continuous_truth import closed
from mpmath import mp, mpf

import exactdp
from exactdp import Enclosure
from exactdp.accounting.composition.composed import compose
from exactdp.accounting.losses import mixed
from exactdp.accounting.losses.continuous.composed import sampled_gaussian
from exactdp.accounting.losses.mixed import delta as composed_delta
from exactdp.mechanisms.pair import FinitePair


@pytest.fixture(params=["conditioned", "inverted"])
def narrow(request, monkeypatch):
    """Both ways to measure, and the width that either has quickly."""
    if request.param == "inverted":
        monkeypatch.setattr(mixed, "_MOST_VALUES", 0)
        return Fraction(1, 10**5)
    return Fraction(1, 10**11)


def number(end) -> mpf:
    value = Fraction(end)
    return mpf(value.numerator) / value.denominator


def holds(found: Enclosure, truth: mpf) -> bool:
    slack = abs(truth) * mpf(10) ** -30
    return number(found.lower) <= truth + slack and truth - slack <= number(found.upper)


def response(epsilon):
    odds = mpmath.exp(epsilon)
    return [odds / (1 + odds), 1 / (1 + odds)], [1 / (1 + odds), odds / (1 + odds)]


def noise(weight, reach, shift=1):
    """Noise on the integers of these weights, and its shift."""
    total = mpmath.fsum(weight(x) for x in range(-reach, reach + 1))
    p = [weight(x) / total for x in range(-reach, reach + 1)]
    q = [weight(x - shift) / total for x in range(-reach, reach + 1)]
    return p, q


def laplace(scale, shift=1):
    return noise(lambda x: mpmath.exp(-mpf(abs(x)) / scale), int(80 * scale), shift)


def gaussian(sigma):
    return noise(lambda x: mpmath.exp(-(mpf(x) ** 2) / (2 * sigma**2)), int(14 * sigma))


def sampled(pair, rate, removing):
    p, q = pair
    mixture = [rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True)]
    return (mixture, q) if removing else (q, mixture)


def twice(pair):
    p, q = pair
    return [a * b for a in p for b in p], [a * b for a in q for b in q]


def given(pair, rate, sigma, level, removing):
    """delta(level) of a sampled Gaussian and a discrete pair: the mean over the latter's loss."""
    total = mpf(0)
    for p, q in zip(*pair, strict=True):
        if not q:
            total += p
        elif p:
            total += p * closed(rate, sigma, level - mpmath.log(p / q), removing)
    return total


ADD = "neighbours=add-remove"
CASES = [  # the discrete spec, its pair (P with the user), its rate
    ("randomized-response:epsilon=1", response(1), "1"),
    (f"randomized-response:epsilon=2,{ADD},poisson=0.3", response(2), "0.3"),
    (f"discrete-laplace:epsilon=0.5,{ADD},poisson=0.1", laplace(2), "0.1"),
    (f"discrete-laplace:scale=2,sensitivity=3,{ADD}", laplace(2, 3), "1"),
    (f"discrete-gaussian:sigma=3,{ADD},poisson=0.2", gaussian(3), "0.2"),
    (f"discrete-gaussian:sigma=3,{ADD}", gaussian(3), "1"),
]


@pytest.mark.quick_cases(4)
@pytest.mark.slow_cases(
    "conditioned-discrete-gaussian:sigma=3,neighbours=add-remove,poisson=0.2-pair4-0.2",
    "inverted-discrete-gaussian:sigma=3,neighbours=add-remove,poisson=0.2-pair4-0.2",
)
@pytest.mark.parametrize(("spec", "pair", "rate"), CASES)
def test_a_gaussian_use_beside_a_discrete_one(spec, pair, rate, narrow):
    check(spec, pair, rate, "1", "1.5", "1.2", narrow)


@pytest.mark.slow_cases("discrete-gaussian:sigma=3,neighbours=add-remove,poisson=0.2-pair4-0.2")
@pytest.mark.parametrize(("spec", "pair", "rate"), CASES)
def test_a_sampled_gaussian_use_beside_a_discrete_one(spec, pair, rate):
    check(spec, pair, rate, "0.1", "1", "0.4", Fraction(1, 10**11))


def check(spec, pair, rate, q, sigma, level, narrow):
    if ADD not in spec:
        spec += f",{ADD}"
    continuous = f"gaussian:sigma={sigma},{ADD}" + ("" if q == "1" else f",poisson={q}")
    uses = compose(exactdp.mechanism(continuous), exactdp.mechanism(spec))
    with mp.workdps(40):
        truth = max(
            given(sampled(pair, mpf(rate), side), mpf(q), mpf(sigma), mpf(level), side)
            for side in (True, False)
        )
        found = uses.delta(level, narrow, work=0.3)
        assert holds(found, truth) and found.is_within(10 * narrow)
        back = uses.epsilon(Fraction(found.upper), narrow, work=0.3)
        assert number(back.lower) <= mpf(level) and back.is_within(10 * narrow)
        forth = uses.epsilon(Fraction(found.lower), narrow, work=0.3)
        assert mpf(level) <= number(forth.upper)


@pytest.mark.parametrize("rate", ["0.2", "1"])
def test_many_sampled_uses_beside_a_response(rate):
    """Given the response's loss, what the sampled uses alone cost at another level."""
    uses = compose(
        exactdp.mechanism(f"gaussian:sigma=1,{ADD},poisson=0.1*50"),
        exactdp.mechanism(f"randomized-response:epsilon=0.5,{ADD},poisson={rate}"),
    )
    found, best = uses.delta(2, Fraction(1, 10**8)), mpf(0)
    with mp.workdps(30):
        for removing in (True, False):
            noise = sampled_gaussian("0.1", 1, 1, "remove" if removing else "add")
            low = high = mpf(0)
            for p, q in zip(*sampled(response(mpf("0.5")), mpf(rate), removing), strict=True):
                level = Fraction(2) - Fraction(float(mpmath.log(p / q)))
                part = composed_delta([(noise, 50)], level, Fraction(1, 10**10))
                low, high = low + p * number(part.lower), high + p * number(part.upper)
            best = max(best, low)
        slack = best * mpf(10) ** -9  # the levels are floats
        assert number(found.lower) <= best + slack and best - slack <= number(found.upper)
        assert found.is_within(Fraction(1, 10**8))


def test_two_uses_of_each(narrow):
    """Two Gaussians are one of half the variance."""
    uses = compose(
        (exactdp.mechanism("gaussian:sigma=2"), 2),
        (exactdp.mechanism("randomized-response:epsilon=0.7"), 2),
    )
    with mp.workdps(40):
        truth = given(twice(response(mpf(7) / 10)), mpf(1), mpmath.sqrt(2), mpf("0.9"), True)
        found = uses.delta("0.9", narrow)
        assert holds(found, truth) and found.is_within(narrow)


TENTH = Fraction(1, 10)
ESCAPING = FinitePair("abc", (2 * TENTH, 5 * TENTH, 3 * TENTH), (0, 7 * TENTH, 3 * TENTH))


def test_infinite_losses_add(narrow):
    uses = compose(exactdp.mechanism("gaussian:sigma=1"), ESCAPING)
    p, q = ([number(value) for value in side] for side in (ESCAPING.p, ESCAPING.q))
    with mp.workdps(40):
        truth = max(given(pair, mpf(1), mpf(1), mpf("0.5"), True) for pair in ((p, q), (q, p)))
        found = uses.delta("0.5", narrow)
        assert holds(found, truth) and found.is_within(narrow)
    assert uses.epsilon("0.19").lower == uses.epsilon("0.19").upper == float("inf")
    assert uses.epsilon("0.21").is_finite()


def test_all_losses_infinite(narrow):
    uses = compose(exactdp.mechanism("gaussian:sigma=1"), FinitePair("ab", (1, 0), (0, 1)))
    assert uses.delta(3).lower == uses.delta(3).upper == 1
    assert uses.epsilon("0.5").lower == float("inf")


@pytest.mark.slow_cases("inverted")
def test_slack_is_charged_for(narrow):
    """Pairs within the slack: what is certified of the set holds for each of them."""
    p, q = (Fraction(7, 10), Fraction(3, 10)), (Fraction(4, 10), Fraction(6, 10))
    hair = Fraction(1, 1000)
    noise = exactdp.mechanism("gaussian:sigma=2")
    found = compose(noise, FinitePair("ab", p, q, slack=2 * hair)).delta("0.3", narrow)
    for move in (-hair, 0, hair):
        member = compose(noise, FinitePair("ab", (p[0] + move, p[1] - move), q)).delta(
            "0.3", narrow
        )
        assert found.lower <= member.lower and member.upper <= found.upper
    level = compose(noise, FinitePair("ab", p, q, slack=2 * hair)).epsilon("0.01", narrow)
    exact = compose(noise, FinitePair("ab", p, q)).epsilon("0.01", narrow)
    assert level.lower <= exact.lower <= exact.upper <= level.upper


def test_reduction_is_no_dearer():
    plain = exactdp.mechanism("discrete-laplace:scale=2")
    noise = exactdp.mechanism("gaussian:sigma=2")
    reduced = exactdp.mechanism("discrete-laplace:scale=2,modulus=5")
    most = compose(noise, plain).delta("0.3")
    least = compose(noise).delta("0.3")
    found = compose(noise, reduced).delta("0.3")
    assert least.lower <= found.upper and found.lower <= most.upper
    huge = compose(noise, exactdp.mechanism("discrete-laplace:scale=2,modulus=1000001"))
    assert huge.delta("0.3").upper >= most.lower and huge.delta("0.3").lower <= most.upper


@pytest.mark.slow
def test_more_uses_cost_more():
    noise = exactdp.mechanism(f"gaussian:sigma=1,{ADD},poisson=0.05")
    count = exactdp.mechanism(f"skellam:variance=30,{ADD},poisson=0.5")
    each = [(noise, 20)], [(noise, 20), (count, 1)], [(noise, 20), (count, 3)]
    costs = [compose(*uses).epsilon("1e-6", Fraction(1, 10**6)) for uses in each]
    assert costs[0].upper < costs[1].lower and costs[1].upper < costs[2].lower
    again = compose((count, 3), (noise, 20)).epsilon("1e-6", Fraction(1, 10**6))
    assert again.lower <= costs[2].upper and costs[2].lower <= again.upper


def test_nothing_released_costs_nothing():
    noise = exactdp.mechanism("gaussian:sigma=1")
    found = compose(noise, exactdp.mechanism("discrete-laplace:scale=2,modulus=1")).delta(1)
    alone = compose(noise).delta(1)
    assert found.lower <= alone.upper and alone.lower <= found.upper
    assert compose(noise, exactdp.mechanism("randomized-response:epsilon=1")).epsilon(1).upper == 0
