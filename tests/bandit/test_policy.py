"""Policies of one's own: what they see, what they are refused; all else is theirs."""

import ast
import json
import math
from pathlib import Path

import numpy as np
import pytest
from small_bandits import coins, unproved

from exactdp import ParameterError
from exactdp.bandit import Decision, policies
from exactdp.bandit.algorithms import (
    DIST_ADAP_KLUCB,
    DIST_DP_IMED,
    DIST_DP_KLUCB_DOUBLING,
    DIST_DP_KLUCB_LOG,
    DIST_DP_SE,
    DIST_DP_TS,
    DP_SE,
    KL_UCB_DOUBLING,
)
from exactdp.bandit.instances import Fixed, easy
from exactdp.bandit.lower_bound import Barrier, hardness
from exactdp.bandit.plan import prepare
from exactdp.bandit.privacy import privacy
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting
from exactdp.bandit.simulation import play
from exactdp.bandit.source import Simulated
from exactdp.bandit.transcript import write_transcript
from exactdp.bandit.transcript_check import check_transcript

HORIZON = 4000
SETTING = Setting(3, HORIZON, "0.8", confidence="1e-3")


PLACE = coins("0.3", "0.6", "0.55")


class Told:
    """Answers with what it is told to, and keeps what it sees."""

    def __init__(self, answer):
        self.answer, self.states, self.seen = answer, [], []

    def next_batch(self, state):
        return self.answer(state)

    def observe(self, state, released):
        self.states.append((state.runs, state.users, state.batches, state.sums, state.variances))
        self.seen.append(released)


def deciding(policy, like=DIST_DP_KLUCB_DOUBLING):
    return like.deciding("mine", "told", lambda setting, runs: policy)


def played(answer, runs=1, like=DIST_DP_KLUCB_DOUBLING, record=None, setting=SETTING):
    policy = Told(answer)
    plan = prepare(deciding(policy, like), setting, prove=unproved)
    source = Simulated(np.random.default_rng(4))
    return play(plan, PLACE, runs, source, record), policy, plan


def least_used(state):
    return state.users.argmin(axis=1)


@pytest.mark.parametrize(
    "like", [DIST_DP_KLUCB_DOUBLING, KL_UCB_DOUBLING, DIST_DP_SE], ids=lambda each: each.name
)
def test_a_state_is_what_was_released(like):
    found = []
    _, policy, _ = played(least_used, 5, like, found.append)
    users, batches = np.zeros((2, 5, 3), dtype=np.int64)
    sums, variances = np.zeros((2, 5, 3))
    lines = iter(found)
    for (rows, *state), seen in zip(policy.states, policy.seen, strict=True):
        release = seen.batch.release
        for place, run_ in enumerate(rows.tolist()):
            line = next(lines)
            arm = int(seen.arms[place])
            assert (line.run, line.arms.tolist(), line.batch) == (run_, [arm], seen.batch)
            batches[run_, arm] += 1
            assert seen.batch.number == batches[run_, arm]
            users[run_, arm] += release.users
            value = release.decoded(line.values)[0]
            assert seen.sums[place] == value
            sums[run_, arm] += (value - float(release.centre)) / release.precision
            noise = 0 if release.noise is None else float(release.noise.moments().variance)
            variances[run_, arm] += noise / release.precision**2
        due = (users[rows], batches[rows], sums[rows], variances[rows])
        for shown, expected in zip(state, due, strict=True):
            assert np.allclose(shown, expected, rtol=1e-12)
    assert len(found) > 20


def test_every_round_is_played_and_the_last_batch_is_cut():
    done, _, plan = played(lambda state: np.zeros(len(state.runs), dtype=int), 3)
    assert done.pulls.tolist() == [[HORIZON, 0, 0]] * 3
    assert done.released.tolist() == [len(plan.batches)] * 3  # as far as they fit
    assert sum(batch.users for batch in plan.batches.values()) <= HORIZON


def test_a_run_may_stop():
    def twice(state):
        return np.where(state.batches.sum(axis=1) < 2 + state.runs, 1, -1)

    done, _, plan = played(twice, 3)
    sizes = [plan.batch(number, 1).users for number in (1, 2, 3, 4)]
    assert done.pulls[:, 1].tolist() == [sum(sizes[:count]) for count in (2, 3, 4)]
    assert done.pulls[:, [0, 2]].sum() == 0


def mask(*rows):
    return lambda state: np.array(rows * len(state.runs), dtype=bool).reshape(len(state.runs), -1)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda state: np.array([3]), "arm 3"),
        (lambda state: np.array([-2]), "arm -2"),
        (lambda state: np.array([0, 1]), "neither an arm for each run"),
        (lambda state: np.array([0.0]), "neither an arm for each run"),
        (lambda state: np.array([True]), "neither an arm for each run"),
        (lambda state: None, "neither an arm for each run"),
        (mask(True, True), "neither an arm for each run"),
        (
            lambda state: np.array([[True, True, False]] if state.rounds[0] == 0 else [[True] * 3]),
            "batches of different numbers",
        ),
    ],
)
def test_what_a_release_does_not_cover_is_refused(answer, why):
    with pytest.raises(ParameterError, match=f"mine asks for .*{why}.* does not cover"):
        played(answer)


def test_a_batch_that_was_not_prepared_is_refused():
    """Nothing is proved of it, although the horizon has room."""
    policy = Told(lambda state: np.zeros(1, dtype=int))
    plan = prepare(deciding(policy), SETTING, prove=unproved)
    few = {place: batch for place, batch in plan.batches.items() if place[0] < 3}
    short = type(plan)(plan.algorithm, SETTING, plan.radius, few, None)
    with pytest.raises(ParameterError, match=r"asks for batch 3 of \d+ users"):
        play(short, PLACE, 1, Simulated(np.random.default_rng(0)))


def test_batches_of_other_eliminations_are_no_one_s_own():
    with pytest.raises(ParameterError, match="those of its own eliminations"):
        deciding(Told(least_used), DP_SE)


def test_privacy_is_that_of_the_releases():
    """Of a user who was once there, and of one who returns."""
    own = prepare(DIST_DP_IMED, SETTING)
    spent, like = privacy(own, 3), privacy(prepare(DIST_DP_KLUCB_DOUBLING, SETTING), 3)
    assert (spent.claim, spent.once, spent.together) == (like.claim, like.once, like.together)
    assert all(batch.evidence is not None for batch in own.batches.values())


class Half:
    """An elimination rule of its own: arms leave that are 0.2 below the best mean."""

    def __init__(self, runs):
        self.active = np.ones((runs, 3), dtype=bool)

    def next_batch(self, state):
        return self.active[state.runs]

    def observe(self, state, released):
        active = self.active[state.runs]
        best = np.where(active, state.means, -np.inf).max(axis=1, keepdims=True)
        self.active[state.runs] = active & (best - state.means <= 0.2)
        return Decision(stays=self.active[state.runs])


class Mean:
    """The largest mean, as if it were an upper confidence bound."""

    def next_batch(self, state):
        return np.where(state.users > 0, state.means, np.inf).argmax(axis=1)

    def observe(self, state, released):
        rows = np.arange(len(state.runs))
        return Decision(index=state.means[rows, released.arms])


HALF = DIST_DP_SE.deciding("half", "mine", lambda setting, runs: Half(runs))
MEAN = DIST_DP_KLUCB_DOUBLING.deciding("mean", "mine", lambda setting, runs: Mean())


def own_results(algorithm, instances=None, runs=9, seed=2):
    config = Config(algorithm, SETTING, instances or Fixed(PLACE))
    return run(config, runs, seed, plan=config.plan(unproved), transcript=True)


def test_an_elimination_rule_of_one_s_own_is_played_and_counted():
    done = own_results(HALF, runs=40)
    assert (done.pulls.sum(axis=1) == HORIZON).all()
    assert 0 < done.eliminated.sum() < 40  # a rule without room for the noise
    stays = [line["stays"] for line in done.lines if "stays" in line]
    assert set(stays) == {False, True}
    for number in range(40):
        lines = [line for line in done.lines if line["run"] == number and "stays" in line]
        gone = {line["arm"] for line in lines if not line["stays"]}
        assert done.eliminated[number] == (1 in gone)


OWN = DIST_DP_IMED, DIST_DP_TS, DIST_DP_KLUCB_LOG, DIST_ADAP_KLUCB


@pytest.fixture(scope="module")
def proved():
    """Of these batches, as they are played: certificates are proved again by a check."""
    return {each.name: Config(each, SETTING, Fixed(PLACE)).plan() for each in (HALF, MEAN, *OWN)}


@pytest.mark.parametrize("own", [HALF, MEAN, *OWN], ids=lambda it: it.name)
def test_transcripts_are_replayed_by_the_policy(own, proved, tmp_path):
    config = Config(own, SETTING, Fixed(PLACE))
    done = run(config, 3, 6, plan=proved[own.name], transcript=True)
    file = tmp_path / "run.jsonl"
    about = {"runs": 3, "seed": 6}
    write_transcript(file, done, about)
    checked = check_transcript(file, own=[own])
    assert checked.valid, checked.reason
    if own in (HALF, MEAN):
        assert "unknown algorithm" in check_transcript(file).reason
    lines = [dict(line) for line in done.lines]
    swapped = next(line for line in lines if "arm" in line and line["batch"] == 2)
    swapped["arm"] = (swapped["arm"] + 1) % 3
    write_transcript(file, evolve_lines(done, lines), about)
    assert "not due" in check_transcript(file, own=[own]).reason
    if own is DIST_DP_TS:  # its lots are those of the seed
        write_transcript(file, done, {"runs": 3, "seed": 7})
        assert not check_transcript(file).valid
    if own in (HALF, MEAN):
        name = "stays" if own is HALF else "index"
        lines = [dict(line) for line in done.lines]
        lines[0][name] = not lines[0][name] if own is HALF else lines[0][name] + 1e-3
        write_transcript(file, evolve_lines(done, lines), about)
        assert f"{name} is" in check_transcript(file, own=[own]).reason
    lines = [json.loads(json.dumps(line)) for line in done.lines]
    lines[0]["more"] = 1
    write_transcript(file, evolve_lines(done, lines), about)
    assert "fields that are not known" in check_transcript(file, own=[own]).reason


def evolve_lines(done, lines):
    return type(done)(
        done.plan, done.rounds, done.regret, done.pulls, done.eliminated, done.batches, lines
    )


@pytest.mark.parametrize("own", OWN, ids=lambda each: each.name)
def test_runs_do_not_depend_on_those_beside_them(own):
    few, many = (own_results(own, easy(3), count) for count in (4, 11))
    assert few.regret.tolist() == many.regret[:4].tolist()
    other = own_results(own, easy(3), 4, seed=3)
    assert few.pulls.tolist() != other.pulls.tolist()


def test_lots_are_those_of_the_run_and_its_batches():
    drawn: dict[int, dict[int, set[float]]] = {}

    def draw(state):
        lots = state.normal(2)
        steps = state.batches.sum(axis=1).tolist()
        for run_, step, lot in zip(state.runs.tolist(), steps, lots[:, 0].tolist(), strict=True):
            drawn.setdefault(run_, {}).setdefault(step, set()).add(lot)
        return (lots[:, 0] > 0).astype(int)

    played(draw, 6)
    values = [lot for steps in drawn.values() for lots in steps.values() for lot in lots]
    assert all(len(lots) == 1 for steps in drawn.values() for lots in steps.values())
    assert len(set(values)) == len(values) > 30


def test_imed_takes_the_least_index():
    """Its index, by the enclosure of d, from what its transcript says."""
    done = own_results(DIST_DP_IMED, runs=3)
    for number in range(3):
        lines = [each for each in done.lines if each["run"] == number and "arm" in each]
        users, means = [0] * 3, [0.0] * 3
        for line in lines:
            if all(users):
                clipped = [min(max(mean, 0.0), 1.0) for mean in means]
                best = max(clipped)
                index = [
                    count * (float(hardness(mean, best, "0.8")) if mean < best else 0)
                    + math.log(count)
                    for count, mean in zip(users, clipped, strict=True)
                ]
                assert index[line["arm"]] <= min(index) + 1e-9
            else:
                assert line["arm"] == users.index(0)
            users[line["arm"]] += line["users"]
            means[line["arm"]] = line["estimate"]
        assert len(lines) > 5


def root(apart, mean, level):
    """The largest q with apart(q) <= level, by bisection of what an enclosure says."""
    if mean == 1 or float(apart(1)) <= level:
        return 1.0
    low, high = mean, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if float(apart(middle)) <= level else (low, middle)
    return low


def log_index(history, rounds):
    """DP-KLUCB's: d of the mean of all batches, at log t/N."""
    users = sum(size for size, _ in history)
    mean = min(max(sum(total for _, total in history) / users, 0.0), 1.0)
    return root(lambda q: hardness(mean, q, "0.8"), mean, math.log(rounds) / users)


def episode_index(history, rounds):
    """AdaP-KLUCB's: kl of the last episode's mean, made larger, with t = rounds + 1."""
    users, total = history[-1]
    level = 3.1 * math.log(rounds + 1) / users
    mean = min(max(total / users + level / 0.8, 0.0), 1.0)
    return root(lambda q: hardness(mean, q, 1, Barrier.NONE), mean, level)


@pytest.mark.parametrize(
    ("own", "index"), [(DIST_DP_KLUCB_LOG, log_index), (DIST_ADAP_KLUCB, episode_index)]
)
def test_the_largest_index_is_taken(own, index):
    """By the enclosures of d and kl, from what transcripts say; of several that are 1 the first."""
    done = own_results(own, runs=3)
    for number in range(3):
        lines = [each for each in done.lines if each["run"] == number and "arm" in each]
        histories, rounds = [[], [], []], 0
        for line in lines:
            arm = line["arm"]
            if all(histories):
                found = [index(history, rounds) for history in histories]
                assert found[arm] >= max(found) - 1e-9
                assert found[arm] < 1 or arm == found.index(1.0)
            else:
                assert arm == histories.index([])
            had = [sum(each) for each in zip(*histories[arm], strict=True)] or [0, 0.0]
            total = line["estimate"] * (had[0] + line["users"]) - had[1]
            histories[arm].append((line["users"], total))
            rounds += line["users"]
        assert len(lines) > 5


def test_they_are_built_on_the_public_protocol_alone():
    tree = ast.parse(Path(policies.__file__).read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            imported.add(("." * node.level) + (node.module or ""))
        elif isinstance(node, ast.Import):
            imported |= {each.name for each in node.names}
    allowed = {"__future__", "collections.abc", "typing", "numpy", "numpy.typing"}
    assert imported == allowed | {".policy", ".setting", ".plan"}  # the last for types alone
