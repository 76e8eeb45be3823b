"""The core of identification, against one written again run by run, and the error that it keeps."""

import numpy as np
import pytest
from small_bandits import coins, unproved

from exactdp.bandit.algorithms import DIST_DP_LUCB, IDENTIFIERS
from exactdp.bandit.identification.eprocess import e_process
from exactdp.bandit.identification.identify import UntilSure
from exactdp.bandit.plan import prepare
from exactdp.bandit.setting import Setting
from exactdp.bandit.simulation import play
from exactdp.bandit.source import Simulated


def play_until_sure(plan, process, environment, runs, source):
    """The policy, and what it played."""
    policy = UntilSure(plan, process, runs)
    return policy, play(plan, environment, runs, source, policy=policy)


class Kept:
    """A source that keeps what it has released, of one run: arm, users, value."""

    def __init__(self, seed, environment):
        self.inner = Simulated(np.random.default_rng(seed))
        self.arms, self.seen = environment.arms, []

    def released(self, release, laws, counts):
        values = self.inner.released(release, laws, counts)
        self.seen.append((self.arms.index(laws[0]), release, values[0]))
        return values


@pytest.mark.quick_cases(6)
@pytest.mark.slow_cases("100000-lucb")
@pytest.mark.parametrize("algorithm", IDENTIFIERS, ids=lambda each: each.name)
@pytest.mark.parametrize("most", [1500, 10**5])
def test_every_run_does_what_is_said(algorithm, most):
    environment = coins("0.3", "0.6", "0.52", "0.1")
    plan = prepare(algorithm, Setting(4, most, 1, growth=2), prove=unproved)
    process, index = e_process(plan), plan.index
    ends = set()
    for seed in range(4):
        kept = Kept(seed, environment)
        found, played = play_until_sure(plan, process, environment, 1, kept)
        users, sums, batches = [0] * 4, [0] * 4, [0] * 4
        leader = first = 0
        open_: dict[int, float] = {}
        for step, (arm, release, value) in enumerate(kept.seen):
            if step < 4:
                assert arm == step
            else:
                assert open_ and arm == (leader if users[leader] <= users[first] else first)
            batches[arm] += 1
            users[arm] += release.users
            assert release.users == plan.batch(batches[arm], 1).users
            sums[arm] += release.decoded(np.array([value]))[0]
            means = [total / max(count, 1) for total, count in zip(sums, users, strict=True)]
            leader, open_ = means.index(max(means)), {}
            for other in {*range(4)} - {leader} if step >= 3 else ():
                ours, theirs = [
                    (np.array([batches[e]]), np.array([float(sums[e])])) for e in (leader, other)
                ]
                if process.log_e_values(*ours, *theirs)[0] < process.threshold:
                    open_[other] = index.of(*theirs)[0]
            first = min(open_, key=lambda each: (-open_[each], each), default=None)
        assert found.leader[0] == leader and found.decided[0] == (not open_)
        assert played.pulls[0].tolist() == users and found.batches[0].tolist() == batches
        assert sum(users) <= most
        ends.add(not open_)
    assert (False in ends) == (most < 10**5)


def test_the_best_of_equal_arms_is_hardly_ever_named():
    """Each might be just below the other, in a limit: it is named with probability at most p."""
    environment = coins("0.5", "0.5")
    setting = Setting(2, 3000, 1, confidence="0.2", growth=2)
    plan = prepare(DIST_DP_LUCB, setting, prove=unproved)
    source = Simulated(np.random.default_rng(5))
    found, _ = play_until_sure(plan, e_process(plan), environment, 500, source)
    for arm in (0, 1):  # 6 standard deviations: 1e-6 would do
        named = int((found.decided & (found.leader == arm)).sum())
        assert named <= 500 * 0.2 + 6 * (500 * 0.2 * 0.8) ** 0.5


@pytest.mark.slow
def test_the_error_of_many_near_ties_is_at_most_p():
    """If p holds their count is above p + 5 sigma with probability below 1e-6."""
    runs, p = 100_000, 0.1
    environment = coins("0.5005", "0.5")
    setting = Setting(2, 20_000, "0.5", confidence="0.1", growth=2)
    plan = prepare(DIST_DP_LUCB, setting, prove=unproved)
    process, wrong = e_process(plan), 0
    for share in range(100):
        source = Simulated(np.random.default_rng([7, share]))
        found, _ = play_until_sure(plan, process, environment, runs // 100, source)
        wrong += int((found.decided & (found.leader == 1)).sum())
    assert wrong <= runs * p + 5 * (runs * p * (1 - p)) ** 0.5
