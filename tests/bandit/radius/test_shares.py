import numpy as np

from exactdp.bandit.radius.certified import levels, looks
from exactdp.bandit.radius.exceedance import comparison
from exactdp.bandit.radius.plan import RadiusPlan
from exactdp.mechanisms.laws.discrete_laplace import DiscreteLaplace


def plan(sizes, **changed):
    told = {"arms": 4, "horizon": 10**6, "confidence": "0.1"} | changed
    return RadiusPlan(
        batches=sizes,
        noises=[DiscreteLaplace(10)] * len(sizes),
        precisions=[1] * len(sizes),
        **told,
    )


def test_levels_add_up_and_early_batches_get_little():
    made = plan([2**b for b in range(1, 15)])
    numbers = looks(made)
    assert numbers == list(range(1, 15))
    compared = [comparison(n, 1, DiscreteLaplace(10), 28) for n in made.batches]
    found = levels(made, numbers, compared, 0.08)
    assert np.isclose(found.sum(), 0.08)
    assert np.all(found > 0)
    assert found[0] < 1e-4 < found[-1]


def test_only_batches_that_grow_and_that_two_arms_complete_are_looked_at():
    assert looks(plan([10, 11, 12, 13, 20])) == [1, 3, 5]
    assert looks(plan([10, 20, 40], horizon=139)) == [1, 2]
    assert looks(plan([10, 20, 40], horizon=140)) == [1, 2, 3]
    assert looks(plan([10], horizon=5)) == []
    assert len(levels(plan([10], horizon=5), [], [], 0.1)) == 0
