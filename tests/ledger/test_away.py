"""PostgreSQL that goes away, or whose disk is full: a typed error, and nothing is spent twice."""

import random
import threading
import time
from fractions import Fraction
from typing import Any

import pytest

from exactdp import Ledger
from exactdp.ledger import UnavailableError

ONE = "randomized-response:epsilon=1/1000"
COST = Fraction(1, 1000)


def _charge_until_told(ledger: Ledger, key: str) -> int:
    """Charge with this key until it is there; how often the database was away."""
    for away in range(1000):
        try:
            ledger.charge(ONE, ["ada", key], key)
        except UnavailableError:
            continue
        return away
    raise AssertionError(f"{key}: always away")


def _lose(url: str, charges: int, seed: int) -> None:
    """Connections are lost at any point of charges that are repeated until they are recorded."""
    import psycopg

    over, rng = threading.Event(), random.Random(seed)
    with Ledger.create(url, "pure:10") as ledger:
        ledger.charge(ONE, "eve", "before")
        start = time.monotonic()
        ledger.charge(ONE, "eve", "timed")
        pause = time.monotonic() - start  # so that about every second charge is hit

    def terminate() -> None:
        with psycopg.connect(url, autocommit=True) as other:
            while not over.wait(rng.expovariate(0.5 / pause)):
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )

    with Ledger.open(url) as ledger:
        thread = threading.Thread(target=terminate)
        thread.start()
        try:
            away = sum(_charge_until_told(ledger, f"key {number}") for number in range(charges))
        finally:
            over.set()
            thread.join()
    with Ledger.open(url) as ledger:
        assert [entry.key for entry in ledger.entries("ada")] == [
            f"key {n}" for n in range(charges)
        ]
        assert ledger.balance("ada").charged == (charges * COST,)
        assert ledger.check().valid
    assert away


def test_charges_whose_connection_is_lost_are_spent_once(postgresql: Any) -> None:
    _lose(postgresql.url(), 12, 1)


@pytest.mark.slow
def test_many_charges_whose_connection_is_lost_are_spent_once(postgresql: Any) -> None:
    _lose(postgresql.url(), 1000, 2)


@pytest.mark.slow
def test_a_server_that_dies_and_comes_back(narrow: Any) -> None:
    with Ledger.create(narrow.url(), "pure:1") as ledger:
        ledger.charge(ONE, "ada", "before")
        narrow.kill()
        with pytest.raises(UnavailableError):
            ledger.charge(ONE, "ada", "meanwhile")
        narrow.start()
        assert ledger.balance("ada").charged == (COST,)
        ledger.charge(ONE, "ada", "meanwhile")
        assert not ledger.charge(ONE, "ada", "before").new
        assert ledger.balance("ada").charged == (2 * COST,)
        assert ledger.check().valid


@pytest.mark.slow
def test_postgresql_whose_files_grow_no_more_is_told_and_leaves_it_whole(narrow: Any) -> None:
    """Its files may not grow beyond a few MB: as on a full disk, what it writes is refused."""
    many = [f"{number:06}".ljust(255, "x") for number in range(13_000)]
    with Ledger.create(narrow.url(), "pure:1") as ledger:
        ledger.charge(ONE, "ada", "before")
        with pytest.raises(UnavailableError, match="File too large"):
            ledger.charge(ONE, many, "much")
        assert [each.user for each in ledger.balances()] == ["ada"]
        assert ledger.check().valid
        ledger.charge(ONE, ["ada", *many[:50]], "much")
        assert ledger.balance("ada").charged == (2 * COST,)
        assert ledger.check().valid
