"""The bound of the stopping time, against simulation and one pair of arms looked at by itself."""

import numpy as np
import pytest
from small_bandits import coins, unproved

from exactdp.bandit.algorithms import named
from exactdp.bandit.identification.identify import identify, ready
from exactdp.bandit.instances import Fixed
from exactdp.bandit.run import Config
from exactdp.bandit.setting import Setting


def config(name, means, most="1e6", **options):
    given = {"epsilon": "0.5", "confidence": "0.01", "growth": "1.5"} | options
    return Config(named(name), Setting(len(means), most, **given), Fixed(coins(*means)))


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("name", "means", "options"),
    [
        ("dist-dp-lucb", ("0.9", "0.5", "0.3"), {}),
        ("dist-dp-lucb", ("0.9", "0.5", "0.4", "0.3"), {"epsilon": "0.1", "confidence": "1e-4"}),
        ("dist-gauss-lucb", ("0.2", "0.8"), {}),
        ("lucb", ("0.6", "0.5", "0.1", "0.1"), {}),
        ("dp-lucb", ("0.7", "0.6", "0.6", "0.6"), {"growth": "2"}),
    ],
)
def test_runs_stop_before_their_bound_which_is_near(name, means, options):
    given = config(name, means, **options)
    found = identify(given, 100, 3, ready_made=ready(given, unproved))
    times = found.results.pulls.sum(axis=1)
    sure = 3 * float(given.setting.confidence)
    late = int((times > found.most).sum())
    assert late <= 100 * sure + 6 * (100 * sure) ** 0.5  # and never, as it is far from tight:
    assert late == 0 and found.undecided == 0
    assert times.mean() < found.most < 10 * times.mean()


@pytest.mark.slow
def test_the_sure_rule_is_monotone_below_the_exact_one_and_not_far():
    shared = ready(config("dist-dp-lucb", ("0.5", "0.5")), unproved)
    process, rng = shared.process, np.random.default_rng(1)
    batches, others = rng.integers(4, 12, (2, 400))
    units = process.users * float(process.precision)
    gaps = rng.uniform(0, 0.5, 400)
    sums, theirs = (0.5 + gaps) * units[batches - 1], 0.5 * units[others - 1]
    none = np.zeros(400)
    sure = process.surely(batches, sums, others, theirs, none)
    points = np.broadcast_to(np.linspace(0, 1, 2001), (400, 2001))
    exact = process.larger(batches, sums, points) + process.smaller(others, theirs, points)
    least = exact.min(axis=1)
    assert not (sure & (least < process.threshold)).any()  # a grid's least is above the truth
    assert sure[least > process.threshold + 0.2].all() and 50 < sure.sum() < 350
    more = process.surely(batches, sums + 0.01 * units[batches - 1], others, theirs, none)
    less = process.surely(batches, sums, others, theirs, none + 1)
    assert more[sure].all() and sure[less].all() and less.sum() < sure.sum() < more.sum()
