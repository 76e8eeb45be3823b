"""Several uses of Laplace noise: against quadrature of the definition, and other ways to sum."""

import math
from fractions import Fraction

import numpy as np
import pytest

from exactdp import compose, mechanism
from exactdp.accounting.losses.continuous.composed import by_takers, sampled_laplace
from exactdp.accounting.losses.continuous.laplace_sum import LaplaceSum, series
from exactdp.accounting.losses.mixed import delta as composed_delta
from exactdp.accounting.losses.mixed import epsilon as composed_epsilon
from exactdp.exact import working_precision
from exactdp.exact.number import ball

BOTH = ("remove", "add")
NARROW = Fraction(1, 10**12)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(30)


class OneUse:
    """The loss of one use, in floats."""

    def __init__(self, rate, epsilon, direction):
        self.rate, self.epsilon, self.removing = float(rate), float(epsilon), direction == "remove"
        self.ends = tuple(float(self.loss(u)) for u in (-self.epsilon, self.epsilon))

    def loss(self, u):
        ratio = np.log1p(self.rate * np.expm1(u))
        return ratio if self.removing else -ratio

    def points(self, kinks):
        """Losses and masses that integrate what is smooth between these losses."""
        splits = {-self.epsilon, self.epsilon}
        for kink in kinks:
            gain = 1 + math.expm1(kink if self.removing else -kink) / self.rate
            if math.exp(-self.epsilon) < gain < math.exp(self.epsilon):
                splits.add(math.log(gain))
        us, masses = [-self.epsilon, self.epsilon], [0.5, math.exp(-self.epsilon) / 2]
        for low, high in zip(sorted(splits), sorted(splits)[1:], strict=False):
            u = (low + high) / 2 + (high - low) / 2 * NODES
            us += list(u)
            masses += list((high - low) / 8 * WEIGHTS * np.exp(-self.epsilon / 2 - u / 2))
        us, masses = np.array(us), np.array(masses)
        losses = self.loss(us)
        return losses, masses * np.exp(losses) if self.removing else masses


def quadrature(uses, level):
    """delta(level), use by use: what the rest costs has kinks where all its losses are extreme."""
    if not uses:
        return max(-math.expm1(level), 0.0)
    first, rest = uses[0], uses[1:]
    kinks = {0.0}
    for use in rest:
        kinks = {round(kink + end, 14) for kink in kinks for end in use.ends}
    losses, masses = first.points([level - kink for kink in kinks])
    return sum(m * quadrature(rest, level - x) for x, m in zip(losses, masses, strict=True))


def laws(uses, direction):
    return [(sampled_laplace(rate, 1, epsilon, direction), 1) for rate, epsilon in uses]


@pytest.mark.slow_cases("uses5-0.1-add", "uses5-0.1-remove", "uses6-0-remove")
@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(
    ("uses", "level"),
    [
        ([("1", "1"), ("1", "1")], "0.7"),
        ([("1", "0.1"), ("1", "0.1"), ("1", "0.1")], "0.12"),
        ([("1", "1"), ("1", "0.25")], "1"),
        ([("0.1", "0.5"), ("0.1", "0.5")], "0.05"),
        ([("0.9", "3"), ("0.9", "3")], "2"),
        ([("0.3", "1"), ("0.2", "0.5"), ("0.3", "1")], "0.1"),
        ([("0.3", "1"), ("1", "0.5")], "0"),
    ],
)
def test_few_uses_hold_quadrature(uses, level, direction):
    truth = quadrature([OneUse(*one, direction) for one in uses], float(level))
    found = composed_delta(laws(uses, direction), level)
    assert float(found.lower) <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= float(found.upper)
    assert found.is_within(NARROW)
    back = composed_epsilon(laws(uses, direction), found.lower)
    assert Fraction(level) <= back.upper and back.is_within(Fraction(1, 10**9))
    assert composed_epsilon(laws(uses, direction), found.upper).lower <= Fraction(level)


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(("rate", "epsilon"), [(1, "2"), ("0.3", "1"), ("0.01", "0.1")])
def test_one_use_is_its_closed_form_at_every_level(rate, epsilon, direction):
    law = sampled_laplace(rate, 1, epsilon, direction)
    chosen = series([(law, 1)], -5.0, -40.0, 4.0)
    with working_precision(chosen.bits):
        summed = LaplaceSum(chosen)
        for level in ("-4.5", "-1", "-0.001", "0", "0.0001", "0.01", "0.2", "1", "3"):
            at = ball(Fraction(level))
            lower, upper = summed.bounds(at)
            truth = law.profile(at)
            assert lower <= truth.upper() and truth.lower() <= upper
            assert upper - lower <= 1e-15


@pytest.mark.contract
@pytest.mark.slow_cases("0")
@pytest.mark.parametrize("level", ["0", "0.7", "2.4"])
def test_with_a_discrete_use_it_is_conditioned_on_that_ones_loss(level):
    # the discrete loss is 1 where the noise is at most 0, else -1
    odds = math.exp(-1)
    plain = [OneUse("1", "0.5", "remove")] * 3
    truth = sum(
        mass * quadrature(plain, float(level) - loss)
        for mass, loss in ((1 / (1 + odds), 1), (odds / (1 + odds), -1))
    )
    uses = compose((mechanism("laplace:scale=2"), 3), mechanism("discrete-laplace:epsilon=1"))
    found = uses.delta(level)
    assert float(found.lower) <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= float(found.upper)
    assert found.is_within(NARROW)
    back = uses.epsilon(found.upper)
    assert back.lower <= Fraction(level) and back.is_within(Fraction(1, 10**9))


def test_where_few_uses_have_the_user_the_bound_by_their_number_holds():
    parts = [(sampled_laplace("0.1", 1, "0.5", "remove"), 4)]
    for target in (Fraction(1, 100), Fraction(1, 1000)):
        assert composed_epsilon(parts, target).lower <= by_takers(parts, target) < 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("epsilon", [100, 1000])
def test_nearly_no_noise_is_answered(epsilon):
    # near the top loss 4 epsilon, of probability 1/16, delta is (1 - e^-H)/16 and at most H^2 more
    found = composed_epsilon([(sampled_laplace(1, 1, epsilon, "remove"), 4)], "1e-6")
    height = 4 * epsilon - Fraction(found.lower)
    assert Fraction(1599, 10**8) < height < Fraction(1601, 10**8)
    assert found.is_within(NARROW)
