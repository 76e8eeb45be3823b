"""Where runs take place: the papers' two families, or one environment for all."""

from fractions import Fraction

import numpy as np
import pytest

from exactdp.bandit.environments.environment import EASY, HARD, drawn_instance
from exactdp.bandit.instances import Fixed, easy, hard, published


def test_they_are_drawn_from_the_seed_of_the_run():
    assert easy().environment(3).arms == drawn_instance(3, 10, EASY).arms
    assert hard(4).environment(3).arms == drawn_instance(3, 4, HARD).arms
    assert easy(sigma=Fraction(1, 5)).environment(3).arms == drawn_instance(3, 10, EASY, "0.2").arms
    assert hard(sigma=None).environment(3).arms == drawn_instance(3, 10, HARD, None).arms
    assert easy().environment(3).name == "easy"


@pytest.mark.parametrize(("hard", "width"), [(False, 0.5), (True, 0.1)])
def test_published_instances_are_drawn_as_the_published_code_draws_them(hard, width):
    """As it does it: the global generator is seeded with the number of the run."""
    listed, state = published(hard), np.random.get_state()
    try:
        for run in range(45):
            np.random.seed(run % 20)
            means = width * np.random.rand(10) + (0.5 - width / 2)
            arms = listed.environment(np.random.SeedSequence(3), run).arms
            assert [arm.location for arm in arms] == means.tolist()
            assert {arm.sigma for arm in arms} == {0.1}
    finally:
        np.random.set_state(state)
    assert (len(listed.given), listed.arms) == (20, 10)


def test_all_kinds_are_asked_alike_for_the_instance_of_a_run():
    seed = np.random.SeedSequence(5)
    one, other = (easy(4).environment(seed, run) for run in (0, 7))
    assert one == other  # the seed decides, the number of a listed one only
    assert published().environment(seed, 3) == published().environment(seed, 23)
    assert published().own and easy().own and not Fixed(one).own
