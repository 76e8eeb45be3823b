"""Runs: what is released, what holds in each of them.
Runs of a linear bandit: any workers, and what is counted.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.bandit.linear import simulation as module
from exactdp.bandit.linear.contexts import UnitBall
from exactdp.bandit.linear.contribution import Contribution
from exactdp.bandit.linear.radius import radius
from exactdp.bandit.linear.release import certified_release
from exactdp.bandit.linear.setting import LinearSetting
from exactdp.bandit.linear.simulation import (
    ExactSums,
    NoisySums,
    play_linear,
    prepare_linear,
    run_linear,
)
from exactdp.mechanisms.laws import Skellam
from exactdp.mechanisms.samplers import SeededBits


@pytest.fixture(scope="module")
def setting():
    return LinearSetting(2, 6000, 2)


@pytest.fixture(scope="module")
def release(setting):
    return certified_release(setting)


def _users(count):
    rng = np.random.default_rng(count)
    contexts = rng.standard_normal((count, 2))
    contexts /= np.linalg.norm(contexts, axis=1)[:, None]
    return contexts, rng.integers(2, size=count).astype(float)


def test_released_sums_are_the_sums_and_noise_of_the_said_size(release):
    sums, exact = NoisySums(release, np.random.default_rng(0)), ExactSums(2)
    batches, found = 300, []
    before = np.zeros((2, 2)), np.zeros(2)
    for number in range(1, batches + 1):
        contexts, rewards = _users(20)
        for each in (sums, exact):
            each.add(contexts, rewards)
        gram, vector = sums.release()
        found.append(
            (gram[0, 0] - before[0][0, 0], gram[0, 1] - before[0][0, 1], vector[1] - before[1][1])
        )
        before = gram, vector
        assert number * 20 == pytest.approx(np.trace(exact.release()[0]))
    truth_gram, truth_vector = exact.release()
    last_gram, last_vector = before
    off = release.deviation * np.sqrt(batches)
    assert np.abs(last_gram - truth_gram).max() < 5 * off * 5 / 3
    assert np.abs(last_vector - truth_vector).max() < 5 * off * 5 / 4
    contexts, rewards = _users(20)
    means = contexts[:, 0] @ contexts[:, 0], contexts[:, 0] @ contexts[:, 1]
    noise = np.array(found) - [*means, (2 * rewards - 1) @ contexts[:, 1]]
    weights = np.array([5 / 3, 5 / 3 / np.sqrt(2), 5 / 4])
    assert np.allclose(noise.std(axis=0), release.deviation * weights, rtol=0.15)


def test_rounding_has_no_bias_and_adds_what_the_radius_counts_on():
    users, little = 20_000, Skellam(variance="1e-9")
    one = Contribution(2, 16, 40)
    sums = NoisySums(SimpleNamespace(contribution=one, noise=little), np.random.default_rng(2))
    context, reward = np.array([0.31, 0.72]), 0.9
    sums.add(np.tile(context, (users, 1)), np.full(users, reward))
    gram, vector = sums.release()
    most = 6 * np.sqrt(users / 4) / 16 * 5 / 3
    assert np.abs(gram - users * np.outer(context, context)).max() <= most
    assert np.abs(vector - users * 0.8 * context).max() <= most


def test_users_one_by_one_release_the_same(release):
    """Messages with shares, as clients send them, are read as the simulation's sums are."""
    contexts, rewards = _users(30)
    bits, share = SeededBits(5), release.share(30)
    total = np.zeros(release.contribution.size, dtype=np.uint64)
    for context, reward in zip(contexts, rewards, strict=True):
        total += release.contribution.message(context, reward, bits, share)
    modulus = np.uint64(release.contribution.modulus - 1)
    gram, vector = release.contribution.read(total & modulus)
    off = 6 * release.deviation
    assert np.abs(gram - contexts.T @ contexts).max() < off * 5 / 3
    assert np.abs(vector - contexts.T @ (2 * rewards - 1)).max() < off * 5 / 4
    assert np.abs(gram - contexts.T @ contexts).max() > 0.01


@pytest.mark.parametrize("private", [True, False])
def test_the_radius_holds_and_regret_is_below_what_it_certifies(setting, release, private):
    given = radius(setting, release) if private else radius(setting.without_privacy(), None)
    for seed in range(8):
        place = UnitBall(2, 5, seed=seed)
        run = play_linear(place, given, release if private else None, np.random.SeedSequence(seed))
        assert run.outside[-1] == 0
        assert (run.regret <= run.certified).all() and (run.certified <= run.released).all()
        assert run.released[-1] < 1.6 * run.certified[-1]
        assert (np.diff(run.regret) >= 0).all() and run.certified[-1] < 6000
        grid = np.linspace(0, 2 * np.pi, 100)
        every = np.stack([np.cos(grid), np.sin(grid)], axis=1)
        off = np.abs(run.last.means(every) - every @ place.theta)
        assert (off <= run.last.widths(every)).all()


class _TwoArms:
    """Their contexts are e_1 and e_2, for everybody."""

    name, dimension, arms, norm, theta = "two", 2, 2, 1.0, np.array([0.0, 0.05])

    def draw(self, rng, users):
        contexts = np.broadcast_to(np.eye(2), (users, 2, 2))
        return contexts, (1 + contexts @ self.theta) / 2


class _Long(_TwoArms):
    def draw(self, rng, users):
        contexts, means = super().draw(rng, users)
        return 1.01 * contexts, means


class _Dear(_TwoArms):
    def draw(self, rng, users):
        contexts, means = super().draw(rng, users)
        return contexts, means + np.array([0.0, 0.5])


@pytest.mark.parametrize(
    ("place", "says"),
    [
        (_Long(), "contexts must be of norm at most 1, got one of norm 1.01"),
        (_Dear(), r"rewards must be in \[0, 1\], got some from 0.5 to 1.025"),
    ],
)
def test_users_beyond_what_is_certified_are_refused(place, says):
    given = radius(LinearSetting(2, 2000, None, first=8, growth="1.2"), None)
    with pytest.raises(ParameterError, match=says):
        play_linear(place, given, None, np.random.SeedSequence(0))


def test_noise_and_rounding_are_the_same_however_many_users_are_added_at_once(release, monkeypatch):
    contexts, rewards = _users(50)
    found = []
    for numbers in (1, 20, 1 << 21):  # one user, four, all
        monkeypatch.setattr(module, "_NUMBERS", numbers)
        sums = NoisySums(release, np.random.default_rng(4))
        sums.add(contexts, rewards)
        found.append(sums.release()[0].tolist())
    assert found[0] == found[1] == found[2]


PLACE = UnitBall(2, 4)


@pytest.fixture(scope="module")
def ready():
    return prepare_linear(LinearSetting(2, 2000, 1))


@pytest.mark.slow
def test_any_number_of_workers_finds_the_same(ready):
    one, two = (run_linear(PLACE, ready, 4, 3, workers) for workers in (1, 2))
    for name in ("regret", "certified", "outside", "plain"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_runs_depend_on_seed_and_number_alone(ready):
    ticks = []
    four = run_linear(PLACE, ready, 4, 3, progress=ticks.append)
    assert ticks == [1] * 4 and four.runs == 4
    two = run_linear(PLACE, ready, 2, 3)
    assert np.array_equal(four.regret[:2], two.regret)
    assert np.array_equal(four.plain[:2], two.plain)
    assert len(set(four.regret[:, -1])) > 1
    other = run_linear(PLACE, ready, 2, 4)
    assert not np.array_equal(two.regret, other.regret)
    assert four.total_regret().mean == pytest.approx(four.regret[:, -1].mean())
    assert four.certified_regret().mean >= four.total_regret().mean
    assert four.rounds[-1] == 2000 and not four.outside.any()


def test_another_dimension_is_refused(ready):
    with pytest.raises(ParameterError, match="dimension must be that of"):
        run_linear(UnitBall(3, 4), ready, 1)
