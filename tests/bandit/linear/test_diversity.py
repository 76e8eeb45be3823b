"""What chosen arms show of a direction: against integrals, and against indices made to hide it."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from exactdp.bandit.linear.contexts import UnitBall, chosen_in_ball


@pytest.mark.parametrize(("dimension", "arms"), [(2, 2), (3, 6), (10, 20), (50, 3), (64, 1000)])
def test_it_is_the_integral_from_below(dimension, arms):
    law = beta(1.5, (dimension - 1) / 2)
    truth = quad(lambda v: law.isf(v ** (1 / arms)), 0, 1)[0] / 4  # by the least one's quantiles
    assert 0.8 * truth < chosen_in_ball(dimension, arms) <= truth
    assert chosen_in_ball(1, arms) == 0.25


def _indices(rng, d):
    """Linear, one of LinUCB, of long ones, and two of |y|, y orthogonal to the last axis."""
    theta, turned = rng.standard_normal(d), rng.standard_normal((d, d)) * 3.0 ** -np.arange(d)
    yield lambda x: x @ theta
    yield lambda x: x @ theta + np.linalg.norm(x @ turned, axis=-1)
    yield lambda x: np.linalg.norm(x, axis=-1)
    yield lambda x: np.linalg.norm(x[..., :-1], axis=-1)
    yield lambda x: np.linalg.norm(x[..., :-1], axis=-1) + x[..., -1] / 2  # one side is cut off


@pytest.mark.parametrize(("dimension", "arms"), [(2, 3), (4, 8), (10, 20)])
def test_no_convex_index_hides_a_direction(dimension, arms):
    rng, proved = np.random.default_rng(arms), float(chosen_in_ball(dimension, arms))
    contexts = UnitBall(dimension, arms).draw(rng, 20_000)[0]
    least = []
    for index in _indices(rng, dimension):
        chosen = contexts[np.arange(len(contexts)), index(contexts).argmax(axis=1)]
        least.append(np.linalg.eigvalsh(chosen.T @ chosen / len(chosen))[0])
    assert min(least) > proved
    assert min(least) < 2 * proved  # what is proved is nearly attained
