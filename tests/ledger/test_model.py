"""A ledger beside a plain model in memory: after any history both say the same."""

import atexit
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from fractions import Fraction
from functools import lru_cache

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from exactdp import Ledger
from exactdp.ledger import KeyConflictError, RefusedError, StateError, UnknownKeyError, UsedKeyError

COSTS = {"1/2": Fraction(1, 2), "1/3": Fraction(1, 3), "1e-400": Fraction(1, 10**400)}
LIMIT = Fraction(2)

keys = st.sampled_from("abcdef")
users = st.lists(st.sampled_from(["ada", "bob", "eve"]), min_size=1, unique=True)
costs = st.sampled_from(sorted(COSTS))
times = st.integers(1, 3)
rarely = st.sampled_from([False] * 7 + [True])


@lru_cache
def _places() -> tuple[str, str]:
    """Where histories are kept, one after the other, and an empty ledger with which each begins."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="exactdp-", dir=memory)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    empty = os.path.join(folder, "empty.db")
    Ledger.create(empty, f"pure:{LIMIT}").close()
    shutil.copy(empty, path := os.path.join(folder, "a.db"))
    return path, empty


class Histories(RuleBasedStateMachine):
    """Charges, reservations and what becomes of them, with few keys and users."""

    def __init__(self) -> None:
        super().__init__()
        self.path, empty = _places()
        with closing(sqlite3.connect(empty)) as source, closing(sqlite3.connect(self.path)) as here:
            source.backup(here)
        self.ledger = Ledger.open(self.path)  # one opened before notices that its file is another
        # key -> action, users, epsilon, times, state
        self.model: dict[str, tuple[str, frozenset[str], str, int, str]] = {}

    def teardown(self) -> None:
        assert self.ledger.check().valid
        self.ledger.close()

    def _spent(self, user: str) -> Fraction:
        live = (one for one in self.model.values() if one[4] != "cancelled" and user in one[1])
        return sum((COSTS[epsilon] * times for _, _, epsilon, times, _ in live), Fraction(0))

    def _expected(self, action: str, whom: list[str], key: str, cost: str, count: int) -> str:
        wanted = (action, frozenset(whom), cost, count)
        if key in self.model:
            if self.model[key][:4] != wanted:
                return "conflict"
            return "again" if action == "charge" else "used"
        if any(self._spent(user) + COSTS[cost] * count > LIMIT for user in whom):
            return "refused"
        state = "charged" if action == "charge" else "reserved"
        self.model[key] = (*wanted, state)
        return "new"

    @rule(whom=users, key=keys, cost=costs, n=times)
    def charge(self, whom: list[str], key: str, cost: str, n: int) -> None:
        self._open("charge", whom, key, cost, n)

    @rule(whom=users, key=keys, cost=costs, n=times)
    def reserve(self, whom: list[str], key: str, cost: str, n: int) -> None:
        self._open("reserve", whom, key, cost, n)

    @rule(key=keys)
    def repeat(self, key: str) -> None:
        if key in self.model:
            action, whom, cost, n, _ = self.model[key]
            self._open(action, sorted(whom), key, cost, n)

    def _open(self, action: str, whom: list[str], key: str, cost: str, n: int) -> None:
        left = {user: LIMIT - self._spent(user) for user in whom}
        expected = self._expected(action, whom, key, cost, n)
        make = self.ledger.charge if action == "charge" else self.ledger.reserve
        try:
            made = make(f"randomized-response:epsilon={cost}*{n}", whom, key)
            found = "new" if getattr(made, "new", True) else "again"
        except KeyConflictError:
            found = "conflict"
        except UsedKeyError:
            found = "used"
        except RefusedError as error:
            found = "refused"
            assert error.fits == min(int(left[user] / COSTS[cost]) for user in whom)
            assert left[error.user] == min(left.values()) == error.left.upper
        assert found == expected

    @rule(action=st.sampled_from(["settle", "cancel"]), key=keys, again=rarely)
    def close(self, action: str, key: str, again: bool) -> None:
        if again:
            self.ledger.close()
            self.ledger = Ledger.open(self.path)
        closed = {"settle": "settled", "cancel": "cancelled"}[action]
        try:
            getattr(self.ledger, action)(key)
            found = "done"
        except UnknownKeyError:
            found = "unknown"
        except StateError:
            found = "state"
        if key not in self.model:
            assert found == "unknown"
            return
        *charge, state = self.model[key]
        fine = state in ("reserved", closed) or (state, action) == ("charged", "settle")
        assert found == ("done" if fine else "state")
        if state == "reserved":
            self.model[key] = (*charge, closed)  # type: ignore[assignment]

    @invariant()
    def says_the_same(self) -> None:
        for balance in self.ledger.balances(["ada", "bob", "eve"]):
            assert balance.charged == (self._spent(balance.user),)
            assert balance.spent.upper <= LIMIT


def _run(histories: int) -> None:
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=histories,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
def test_histories() -> None:
    _run(4)


@pytest.mark.slow
@pytest.mark.marathon
def test_many_histories() -> None:
    _run(10_000)
