"""Binomial noise and its substitute: rebuilt here from the definition, apart from the library."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import oracles
import pytest
from mpmath import mpf
from normal_quantiles import quantile

from exactdp import ParameterError
from exactdp.mechanisms.laws import Binomial, Skellam
from exactdp.mechanisms.laws.gaussian_envelope import NoEnvelopeError, trimmed


def substitute(law: dict[int, mpf], low: int, high: int, far: int) -> dict[int, mpf]:
    """p on [low - 1, high + 1], beyond it the ratios fall by a constant factor; normalised."""
    made = {x: law[x] for x in range(low - 1, high + 2)}
    for edge, step in ((high, 1), (low, -1)):
        near, ratio = law[edge + step], law[edge + step] / law[edge]
        factor = law[edge - step] * law[edge + step] / law[edge] ** 2
        for x in range(edge + 2 * step, edge + far * step, step):
            ratio *= factor
            near *= ratio
            made[x] = near
    total = mpmath.fsum(made.values())
    return {x: p / total for x, p in made.items()}


def widest_step(law: dict[int, mpf]) -> mpf:
    """Of the quantiles, where both tails can be told from 0."""
    found: list[mpf] = []
    below = mpf(0)
    for x in sorted(law):
        below += law[x]
        if mpf(10) ** -30 < below < 1 - mpf(10) ** -30:
            found.append(-quantile(below))
    return max(right - left for left, right in pairwise(found))


@pytest.mark.slow_cases("200-1/2-1e-9")
@pytest.mark.parametrize(
    ("trials", "chance", "tail"), [(60, "1/2", "1e-4"), (200, "1/2", "1e-9"), (90, "0.4", "1e-5")]
)
def test_the_substitute_is_as_near_and_as_good_as_said(trials, chance, tail):
    found = trimmed(Binomial(trials, chance), tail)
    mu, tau = oracles.real(Fraction(found.mu)), oracles.real(Fraction(found.tau))
    assert 0 < found.tau <= Fraction(tail)
    pmf = oracles.binomial(trials, chance)
    law = {x: pmf(x) for x in range(trials + 1)}
    low, high = found.window
    made = substitute(law, low, high, 3 * trials)
    assert mpmath.fsum(abs(p - law.get(x, 0)) for x, p in made.items()) / 2 <= tau
    total = law[low] / made[low]  # of the substitute before it is normalised
    added = total * mpmath.fsum(p for x, p in made.items() if not low - 1 <= x <= high + 1)
    assert added <= tau <= 2 * added  # all of it is charged, as is proved
    assert min(made.values()) < mpf(10) ** -60
    assert widest_step(made) <= mu


def test_at_any_size():
    assert abs(float(trimmed(Binomial(10**15, "1/2"), "1e-30").mu) * (10**15 / 4) ** 0.5 - 1) < 1e-9


def test_bad_input_is_refused():
    with pytest.raises(NoEnvelopeError, match="tail"):
        trimmed(Binomial(10, "1/2"), "1e-9")
    with pytest.raises(NoEnvelopeError, match="tail"):
        trimmed(Binomial(2, "1/2"), "0.5")
    with pytest.raises(ParameterError, match="tail"):
        trimmed(Binomial(100, "1/2"), 0)
    with pytest.raises(ParameterError, match="binomial"):
        trimmed(Skellam(1), "0.1")  # type: ignore[arg-type]
