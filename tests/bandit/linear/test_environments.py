"""Contexts and rewards, drawn and real."""

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.bandit.linear.contexts import UnitBall, linear_environment
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
