"""A ledger that is checked in parts, by anybody, is found to be what it is in one."""

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import Ledger
from exactdp.ledger import Limit, check_rows, check_users
from exactdp.ledger.chain import Used
from exactdp.ledger.checking import Checked, check_at

ONE = "randomized-response:epsilon=1/100"


def _filled(url: str) -> None:
    """Groups and single users, cancelled and settled; several limits."""
    limits = [Limit.of("pure:1"), Limit.of("zcdp:9", "year", days=365)]
    with Ledger.create(url, limits) as ledger:
        for number in range(12):
            people = [f"user {each}" for each in range(number, 40, 1 + number % 3)]
            ledger.charge(f"{ONE}*{1 + number % 2}", people, f"group {number}")
            permit = ledger.reserve(ONE, f"user {number}", f"one {number}")
            (permit.settle, permit.cancel, lambda: None)[number % 3]()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few rows and users."""
    monkeypatch.setattr(check_rows, "_MANY", 20)
    monkeypatch.setattr(check_users, "_MANY", 7)


def _both(url: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Checked, Checked]:
    """Whole and in parts."""
    with monkeypatch.context() as patch:
        patch.setattr(check_rows, "_MANY", 10**9)
        patch.setattr(check_users, "_MANY", 10**9)
        whole = check_at(url)
    return whole, check_at(url)


@pytest.mark.slow_cases("postgresql")
def test_the_answer_is_the_same_in_parts(url: str, small: None, monkeypatch) -> None:
    _filled(url)
    whole, parts = _both(url, monkeypatch)
    assert whole.valid
    assert whole == parts


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE charges SET at = '2020' WHERE id = 9",
        "UPDATE charges SET hash = 'x' WHERE id = 20",
        "UPDATE uses SET times = 3 WHERE charge >= 10",
        "DELETE FROM entries WHERE charge > 7 AND charge < 13",
        "UPDATE balances SET spent = '1/3' WHERE \"user\" > 17",
        'DELETE FROM balances WHERE "user" = 30',
        "INSERT INTO entries VALUES (10, 5000)",
        "UPDATE head SET charges = 5",
    ],
)
def test_parts_find_the_same_first_break(
    tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    _filled(path := str(tmp_path / "a.db"))
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    whole, parts = _both(path, monkeypatch)
    assert not whole.valid
    assert whole == parts


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"workers": 2}, {"workers": 2, "cluster": "local"}])
def test_workers_and_a_cluster_find_the_same(url: str, monkeypatch, how) -> None:
    _filled(url)
    assert check_at(url, **how) == check_at(url)
    with Ledger.open(url) as ledger:
        Ledger.charge(ledger, ONE, "late", "late")
        with ledger._database.write() as connection:
            connection.exec_driver_sql("UPDATE balances SET spent = '1/3' WHERE spent <> '1/3'")
    found = check_at(url, **how)
    assert not found.valid
    assert found == check_at(url)


@pytest.mark.slow
def test_a_part_whose_worker_sees_another_ledger_is_checked_by_us(
    url: str, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody charges while it is checked: on SQLite workers see it, we do not."""
    _filled(url)
    from exactdp.ledger import checking

    def each(do, tasks, workers, cluster):
        with Ledger.open(url) as ledger:
            ledger.charge(ONE, "late", "late")
        return (do(task) for task in reversed(tasks))

    before = check_at(url)
    monkeypatch.setattr(checking, "each", each)
    assert check_at(url, workers=2) == before
    monkeypatch.undo()
    after = check_at(url)
    assert after.valid
    assert after.rows == before.rows + 1


@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["1/3", "1/7", "inf"])), min_size=1),
    st.integers(0, 9),
)
def test_a_window_holds_the_sum_of_what_is_in_it(steps: list[tuple[int, str]], width: int) -> None:
    """Kept from charge to charge, it is what adding up anew gives."""
    window, now, charged = check_users._Window(0, 1), 5000, []
    for later, cost in steps:
        now += later
        charged.append((now, cost))
        window.add(f"{now}", [Used("", 2, json.dumps([[cost]]))])
        own = [cost for at, cost in charged if at > now - width - 1]
        total = None if "inf" in own else sum((2 * Fraction(cost) for cost in own), Fraction(0))
        assert window.total(f"{now - width - 1}") == (total,)
