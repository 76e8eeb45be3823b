"""Users who return, charged in a ledger before anything of theirs is drawn."""

import pickle
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from exactdp import Ledger, ParameterError
from exactdp.bandit import source as playing
from exactdp.bandit.accounts import Accounts
from exactdp.bandit.algorithms import (
    CDP_SE,
    DIST_CDP_SE,
    DIST_DP_KLUCB_DOUBLING,
    DIST_DP_SE,
    DIST_RDP_KLUCB,
    DIST_RDP_SE,
    LDP_SE,
    SE,
    SHUFFLE_DP_SE,
    VB_SDP_AE,
)
from exactdp.bandit.environments.environment import Environment
from exactdp.bandit.environments.rewards import Bernoulli
from exactdp.bandit.instances import Fixed
from exactdp.bandit.plan import prepare
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting
from exactdp.bandit.simulation import Released, play
from exactdp.bandit.source import Aggregator, Faithful
from exactdp.ledger import RefusedError

ENVIRONMENT = Environment("two", (Bernoulli("0.9"), Bernoulli("0.1")))
SETTING = Setting(2, 120, "0.9", delta="0.1", scaling=2)
SLOW = pytest.param(DIST_CDP_SE, marks=pytest.mark.slow)
INDEXED = [DIST_DP_KLUCB_DOUBLING, DIST_RDP_KLUCB]
FINITE = [DIST_DP_SE, *INDEXED, DIST_RDP_SE, CDP_SE, LDP_SE, SHUFFLE_DP_SE, SLOW]


def _config(algorithm=CDP_SE) -> Config:
    return Config(algorithm, SETTING, Fixed(ENVIRONMENT), faithful=Aggregator.PLAIN)


def _ledger(path: Path, limit: str = "zcdp:1000") -> str:
    Ledger.create(str(path), limit).close()
    return str(path)


def _account(url: str) -> tuple[dict[str, Fraction], Counter[tuple[str, ...]]]:
    """What everybody has spent, and for which releases."""
    with Ledger.open(url) as ledger:
        assert ledger.check().valid
        spent = {each.user: each.charged[0] for each in ledger.balances()}
        return spent, Counter((each.key, each.user, each.mechanism) for each in ledger.entries())


@pytest.mark.quick_cases(3)
@pytest.mark.slow_cases("dist-rdp-se")
@pytest.mark.parametrize("algorithm", FINITE, ids=lambda each: each.name)
def test_every_user_of_a_release_is_charged_for_it(algorithm, tmp_path: Path) -> None:
    url = _ledger(tmp_path / "a.db", "approx:1000,1e-3")
    done = run(_config(algorithm), 2, transcript=True, accounts=Accounts(url, 60, "who "))
    released = [line for line in done.lines if "released" in line]
    _, entries = _account(url)
    assert len({entry[:2] for entry in entries}) == sum(line["users"] for line in released) > 0
    assert set(entries.values()) == {1}
    assert len({key for key, *_ in entries}) == len(released)
    assert {user for _, user, _ in entries} <= {f"who {number}" for number in range(60)}


def test_releases_that_may_tell_everything_fit_no_limit(tmp_path: Path) -> None:
    """Binomial noise is (epsilon, delta)-DP alone: everything that adds up is infinite."""
    url = _ledger(tmp_path / "a.db", "approx:1000,1e-3")
    with pytest.raises(RefusedError, match="fits is 0"):
        run(_config(VB_SDP_AE), 1, accounts=Accounts(url, 120))
    assert _account(url) == ({}, Counter())


def test_permits_are_of_the_rounds_in_which_arms_are_pulled() -> None:
    plan = prepare(CDP_SE, SETTING)
    asked: list[tuple[int, ...]] = []
    released: list[Released] = []
    play(
        plan,
        ENVIRONMENT,
        2,
        Faithful.seeded(np.random.default_rng(1), Aggregator.PLAIN),
        released.append,
        lambda run, batch, arm, first: asked.append((run, batch.number, arm, first, batch.users)),
    )
    for run_ in range(2):
        rounds = 0
        own = [each for each in released if each.run == run_]
        expected = []
        for batch in own:
            for arm in batch.arms:
                expected.append((run_, batch.batch.number, arm, rounds, batch.batch.users))
                rounds += batch.batch.users
        assert [each for each in asked if each[0] == run_] == expected
        assert len(expected) >= 4


def test_nothing_is_drawn_without_a_permit(tmp_path: Path, monkeypatch) -> None:
    url = _ledger(tmp_path / "a.db", "pure:1000")
    drawn, charged = [], [0]
    plain, charge = playing.randomize, Ledger.charge

    def randomize(*given):
        drawn.append(1)
        assert len(drawn) <= charged[0]
        return plain(*given)

    def counted(self, released, users, key):
        charge(self, released, users, key)
        charged[0] += len(users)

    monkeypatch.setattr(playing, "randomize", randomize)
    monkeypatch.setattr(Ledger, "charge", counted)
    run(_config(DIST_DP_SE), 1, accounts=Accounts(url, 120))
    spent, entries = _account(url)
    assert len(drawn) == sum(entries.values()) > 0
    drawn.clear()
    url = _ledger(tmp_path / "small.db", f"pure:{min(spent.values()) / 2}")
    with pytest.raises(RefusedError, match="user") as refused:
        run(_config(DIST_DP_SE), 1, accounts=Accounts(url, 120))
    assert drawn == []
    again = pickle.loads(pickle.dumps(refused.value))  # as it comes from another process
    assert (str(again), again.user) == (str(refused.value), refused.value.user)


@pytest.mark.slow
def test_killed_and_resumed_what_was_drawn_is_charged(tmp_path: Path, monkeypatch) -> None:
    """Also what a killed share has drawn; what is kept is neither drawn nor charged again."""
    monkeypatch.setattr("exactdp.bandit.run._TOGETHER", 2)
    url, folder = _ledger(tmp_path / "a.db"), tmp_path / "kept"
    charge, charged, killed = Ledger.charge, [], []
    for least in (3, 20, 15, None):
        left = iter(range(least or 10**9))

        def some(self, released, users, key, left=left):
            if next(left, None) is None:
                raise KeyboardInterrupt
            charged.extend((key, user) for user in users)
            return charge(self, released, users, key)

        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "charge", some)
            try:
                run(_config(), 5, resume=folder, accounts=Accounts(url, 60))
            except KeyboardInterrupt:
                killed.append(least)
    assert killed[0] == 3 and len(charged) == len(set(charged))
    once = _account(url)
    assert {(key, user) for key, user, _ in once[1]} == set(charged)
    run(_config(), 5, resume=folder, accounts=Accounts(url, 60))
    assert _account(url) == once


def test_simulated_aggregates_charge_nobody(tmp_path: Path) -> None:
    url = _ledger(tmp_path / "a.db")
    with pytest.raises(ParameterError, match="simulated"):
        run(Config(CDP_SE, SETTING, Fixed(ENVIRONMENT)), 1, accounts=Accounts(url, 120))
    assert _account(url) == ({}, Counter())


def test_noise_of_a_release_is_of_no_seed(tmp_path: Path, monkeypatch) -> None:
    def seeded(*given):
        raise AssertionError("seeded")

    monkeypatch.setattr(Faithful, "seeded", seeded)
    monkeypatch.setattr("exactdp.mechanisms.samplers.bits.SeededBits.__init__", seeded)
    run(_config(), 1, accounts=Accounts(_ledger(tmp_path / "a.db"), 120))


def test_what_another_ledger_was_charged_for_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    run(_config(), 2, resume=folder)
    accounts = []
    for name in ("a.db", "b.db"):
        url = _ledger(tmp_path / name)
        run(_config(), 2, resume=folder, accounts=Accounts(url, 60))
        accounts.append(_account(url))
    assert all(entries for _, entries in accounts)


def test_too_few_users_and_releases_without_a_proof_are_refused(tmp_path: Path) -> None:
    url = _ledger(tmp_path / "a.db")
    largest = max(batch.users for batch in prepare(CDP_SE, SETTING).batches.values())
    with pytest.raises(ParameterError, match=f"users must be at least {largest}"):
        run(_config(), 1, accounts=Accounts(url, largest - 1))
    with pytest.raises(ParameterError, match="no release of se is proved"):
        run(_config(SE), 1, accounts=Accounts(url, 120))
    assert _account(url) == ({}, Counter())
