"""What `--method zcdp` and `--method rdp` report, against dense minimisation at 50 digits."""

import json
from collections.abc import Callable
from fractions import Fraction

import mpmath
import oracles
import pytest
from mpmath import mpf

import exactdp
from exactdp import Enclosure
from exactdp.cli.main import main

pytestmark = pytest.mark.contract
Real = Callable[[mpf], mpf]
DELTAS = ["0.9", "0.1", "1e-6", "1e-15", "1e-300"]
LEVELS = ["0", "1e-3", "0.7", "20"]


def least(objective: Real, low: int = -60, high: int = 60) -> mpf:
    """The minimum over t = e^s, s in [low, high], of a function with one valley: golden section."""
    ratio = (mpmath.sqrt(5) - 1) / 2
    a, b = mpf(low), mpf(high)
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = objective(mpmath.exp(c)), objective(mpmath.exp(d))
    for _ in range(170):
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - ratio * (b - a)
            at_c = objective(mpmath.exp(c))
        else:
            a, c, at_c = c, d, at_d
            d = a + ratio * (b - a)
            at_d = objective(mpmath.exp(d))
    return min(at_c, at_d)


def best_epsilon(curve: Real, goal: str, **where: int) -> mpf:
    """min over a = 1 + t of D(a) + log(1/(a delta))/(a-1) + log(1 - 1/a), as the lemma has it."""
    d = oracles.real(goal)

    def objective(t: mpf) -> mpf:
        a = 1 + t
        return curve(a) + mpmath.log(1 / (a * d)) / t + mpmath.log(t / a)

    return max(least(objective, **where), mpf(0))


def best_delta(curve: Real, level: str) -> mpf:
    """min over a = 1 + t of e^((a-1)(D(a) - epsilon + log(1 - 1/a)))/a."""
    e = oracles.real(level)

    def objective(t: mpf) -> mpf:
        a = 1 + t
        return t * (curve(a) - e + mpmath.log(t / a)) - mpmath.log(a)

    return mpmath.exp(least(objective))


def response(level: str) -> Real:
    e = oracles.real(level)
    return lambda a: (
        mpmath.log((mpmath.exp(a * e) + mpmath.exp((1 - a) * e)) / (1 + mpmath.exp(e))) / (a - 1)
    )


def told(capsys: pytest.CaptureFixture[str], spec: str, *words: str) -> list[Enclosure]:
    assert main(["compose", spec, *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]
    return [Enclosure.from_json({end: one[end] for end in ("lower", "upper")}) for one in found]


def is_bound(value: Enclosure, truth: mpf) -> bool:
    """Is it an upper bound, and no more than a little above?"""
    low, high = 1 - mpf(10) ** -15, 1 + mpf(10) ** -12
    return value.lower == 0 and truth * low <= oracles.real(Fraction(value.upper)) <= truth * high


@pytest.mark.parametrize("rho", ["1e-12", "1e-4", "0.5", "30", "1e6"])
def test_zcdp(rho: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [word for goal in DELTAS for word in ("--delta", goal)]
    found = told(capsys, f"gaussian:rho={rho}", *asked, "--method", "zcdp")
    with mpmath.workdps(60):
        cost = oracles.real(rho)
        for goal, value in zip(DELTAS, found, strict=True):
            assert is_bound(value, best_epsilon(lambda a: cost * a, goal))
    asked = [word for level in LEVELS for word in ("--epsilon", level)]
    found = told(capsys, f"gaussian:rho={rho}", *asked, "--method", "zcdp")
    with mpmath.workdps(60):
        for level, value in zip(LEVELS, found, strict=True):
            truth = min(best_delta(lambda a: cost * a, level), mpf(1))
            if truth < mpf(10) ** -300:
                assert value.upper < 1e-299
                continue
            assert is_bound(value, truth)


@pytest.mark.parametrize("level", ["1e-5", "0.3", "4", "40"])
def test_renyi_divergences_of_bounded_losses(
    level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # for tiny deltas the infimum is approached as the order grows without bound
    asked = [word for goal in DELTAS for word in ("--delta", goal)]
    spec = f"randomized-response:epsilon={level}"
    found = told(capsys, spec, *asked, "--method", "rdp")
    with mpmath.workdps(320):
        for goal, value in zip(DELTAS, found, strict=True):
            truth = min(best_epsilon(response(level), goal, high=40), oracles.real(level))
            assert is_bound(value, truth)
            assert value.upper <= Fraction(level)
            assert exactdp.mechanism(spec).epsilon(goal).lower <= value.upper


@pytest.mark.slow_cases("1e-6", "1e-300")
@pytest.mark.parametrize("goal", ["0.1", "1e-6", "1e-300"])
def test_renyi_divergences_of_noise(goal: str, capsys: pytest.CaptureFixture[str]) -> None:
    with mpmath.workdps(40):
        pmf = oracles.discrete_gaussian(3)
        pair = [(pmf(x), pmf(x - 1)) for x in range(-450, 451)]

    def curve(a: mpf) -> mpf:
        return mpmath.log(mpmath.fsum(p**a * q ** (1 - a) for p, q in pair)) / (a - 1)

    spec = "discrete-gaussian:sigma2=3"
    (found,) = told(capsys, spec, "--delta", goal, "--method", "rdp")
    with mpmath.workdps(40):
        d, near = oracles.real(goal), []
        for k in range(-20, 61, 2):
            a = 1 + mpmath.exp(mpf(k) / 10)
            near.append(curve(a) + mpmath.log(1 / (a * d)) / (a - 1) + mpmath.log(1 - 1 / a))
    assert found.lower == 0 and Fraction(found.upper) <= oracles.exactly(min(near))
    assert exactdp.mechanism(spec).epsilon(goal).at_most(found.upper) is True


@pytest.mark.parametrize("level", ["1e-9", "0.1", "1", "7", "300"])
def test_pure_epsilon_implies_what_randomized_response_costs(level: str) -> None:
    known = exactdp.mechanism(f"guarantee:pure:{level}")
    with mpmath.workdps(400):
        e = oracles.real(level)
        oracles.assert_holds(known.zcdp(), e * mpmath.tanh(e / 2), 1e-12)
        for order in ("1.01", "2", "64"):
            truth = response(level)(oracles.real(order))
            oracles.assert_holds(known.renyi(order), truth, 1e-12)
