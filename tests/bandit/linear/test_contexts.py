"""Contexts and rewards, drawn and real.
The published instances: drawn again as the paper's code describes them.
What chosen arms show of a direction: against integrals, and against indices made to hide it.
"""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from exactdp import ParameterError
from exactdp.bandit.linear.contexts import Published, UnitBall, chosen_in_ball, linear_environment
from exactdp.bandit.linear.setting import LinearSetting
from exactdp.bandit.linear.simulation import prepare_linear, run_linear
from exactdp.bandit.linear.tables import SETS, classification


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("text", ["unit", "unit:dimension=1,arms=2,norm=1/3", *SETS])
def test_contexts_are_no_longer_than_1_and_means_are_means(text):
    place = linear_environment(text, 3)
    contexts, means = place.draw(np.random.default_rng(0), 200)
    assert contexts.shape == (200, place.arms, place.dimension)
    assert means.shape == (200, place.arms)
    assert np.linalg.norm(contexts, axis=2).max() <= 1 + 1e-12
    assert means.min() >= 0 and means.max() <= 1
    again = linear_environment(place.name, 3)
    assert (again.name, again.norm) == (place.name, place.norm)


def test_drawn_contexts_fill_the_ball_and_rewards_are_linear():
    place = UnitBall(3, 4, "0.5", 1)
    assert np.linalg.norm(place.theta) == pytest.approx(0.5)
    contexts, means = place.draw(np.random.default_rng(0), 5000)
    lengths = np.linalg.norm(contexts, axis=2) ** 3  # uniform
    assert lengths.mean() == pytest.approx(0.5, abs=0.01)
    assert np.allclose(2 * means - 1, contexts @ place.theta)
    assert not np.array_equal(place.theta, UnitBall(3, 4, "0.5", 2).theta)


def test_real_users_have_one_right_class_each_and_a_block_for_each_arm():
    place = classification("digits", 2, 4)
    assert (place.arms, place.dimension) == (4, 12)
    contexts, means = place.draw(np.random.default_rng(0), 50)
    assert (means.sum(axis=1) == 1).all()
    blocks = contexts.reshape(50, 4, 4, 3)
    for arm in range(4):
        others = np.delete(blocks[:, arm], arm, axis=1)
        assert (others == 0).all()
        assert np.array_equal(blocks[:, arm, arm], blocks[:, 0, 0])
    assert (blocks[:, 0, 0, 2] == 1 / np.sqrt(2)).all()
    assert 0 < place.linear_regret() < 0.5


def test_public_rows_are_no_users():
    from sklearn.datasets import load_iris

    place = classification("iris", 2, seed=5)
    rows, labels = load_iris(return_X_y=True)
    found = place.means.argmax(axis=1)
    assert len(found) == len(rows) - len(rows) // 2
    order = np.random.default_rng(5).permutation(len(rows))
    assert np.array_equal(found, labels[order[len(rows) // 2 :]])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("moon", "instance must be one of unit, published, digits"),
        ("unit:components=2", "dimension, arms, norm"),
        ("unit:arms", "KEY=VALUE"),
        ("unit:arms=2,arms=3", "KEY=VALUE"),
        ("unit:norm=2", "norm"),
        ("unit:dimension=65", "dimension"),
        ("digits:components=30", "components must be at most"),
        ("wine:classes=4", "classes"),
    ],
)
def test_what_is_no_instance_is_refused(text, named):
    with pytest.raises(ParameterError, match=named):
        linear_environment(text)


@pytest.mark.parametrize("dimension", [2, 5])
def test_means_are_those_of_the_published_experiments(dimension):
    stream, d = np.random.RandomState(2), dimension
    for run in range(4):
        sphere = stream.randn(100, d - 1)
        arms = np.ones((100, d))
        arms[:, :-1] = sphere / np.linalg.norm(sphere, axis=1, keepdims=True)
        arms[:d, :-1] = np.eye(d)[:, :-1]
        weights = stream.randn(d - 1)
        weights = np.append(0.5 * weights / np.linalg.norm(weights), 0.5)
        contexts, means = Published(d).of_run(run).draw(np.random.default_rng(0), 3)
        assert contexts.shape == (3, 100, d) and means.shape == (3, 100)
        assert np.allclose(means, arms @ weights, rtol=0, atol=1e-15)
        assert np.allclose(contexts, arms / np.sqrt(2), rtol=0, atol=1e-15)
        assert np.allclose(2 * means[0] - 1, contexts[0] @ Published(d, run).theta, atol=1e-15)


def test_every_run_has_its_own_and_they_come_round():
    place = linear_environment("published:dimension=3")
    assert place == Published(3) and place.of_run(53) == place.of_run(3) != place.of_run(4)
    assert np.linalg.norm(place.theta) <= place.norm < np.sqrt(2) + 1e-7
    ready = prepare_linear(LinearSetting(3, 300, None, norm=place.norm))
    found = run_linear(place, ready, 3)
    assert len(set(found.regret[:, -1])) == 3 and not found.outside.any()
    with pytest.raises(ParameterError, match="published takes dimension"):
        linear_environment("published:arms=3")


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
