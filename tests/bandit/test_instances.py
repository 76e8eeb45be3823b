"""Where runs take place: the papers' two families, or one environment for all."""

from fractions import Fraction

import numpy as np
import pytest

from exactdp.bandit.environments.environment import EASY, HARD, Environment, drawn_instance
from exactdp.bandit.environments.gaussian import ClippedGaussian
from exactdp.bandit.environments.table import Bernoulli
from exactdp.bandit.instances import Fixed, easy, hard


@pytest.mark.parametrize(("family", "low", "high"), [(easy, 0.25, 0.75), (hard, 0.45, 0.55)])
def test_instances_are_drawn_as_in_the_paper(family, low, high):
    drawn = family(50)
    one, other = (drawn.environment(np.random.SeedSequence(seed)) for seed in (1, 2))
    for environment in (one, other):
        places = [arm.location for arm in environment.arms]
        assert low <= min(places) < max(places) <= high
        assert len(places) == drawn.arms == 50
    assert one != other
    assert one == drawn.environment(np.random.SeedSequence(1))


def test_rewards_are_gaussian_or_coins():
    seed = np.random.SeedSequence(1)
    wide = easy(2, Fraction(1, 2)).environment(seed)
    assert all(isinstance(arm, ClippedGaussian) and arm.sigma == 0.5 for arm in wide.arms)
    assert all(isinstance(arm, Bernoulli) for arm in easy(2, None).environment(seed).arms)


def test_they_are_drawn_from_the_seed_of_the_run():
    assert easy().environment(3).arms == drawn_instance(3, 10, EASY).arms
    assert hard(4).environment(3).arms == drawn_instance(3, 4, HARD).arms
    assert easy(sigma=Fraction(1, 5)).environment(3).arms == drawn_instance(3, 10, EASY, "0.2").arms
    assert hard(sigma=None).environment(3).arms == drawn_instance(3, 10, HARD, None).arms
    assert easy().environment(3).name == "easy"


def test_a_fixed_instance_is_the_same_for_every_run():
    given = Environment("two", (Bernoulli(0), Bernoulli(1)))
    fixed = Fixed(given)
    assert (fixed.name, fixed.arms) == ("two", 2)
    assert fixed.environment(np.random.SeedSequence(5)) is given
