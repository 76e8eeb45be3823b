"""The published instances: drawn again as the paper's code describes them."""

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.bandit.linear.contexts import Published, linear_environment
from exactdp.bandit.linear.setting import LinearSetting
from exactdp.bandit.linear.simulation import prepare_linear, run_linear


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
