"""Many writers at once, and writers that are killed: never a unit over, nothing half written."""

import multiprocessing
import os
import random
import signal
import time
from fractions import Fraction
from pathlib import Path

import pytest

from exactdp import Ledger
from exactdp.ledger import RefusedError
from exactdp.ledger.checking import check_at

ONE = "randomized-response:epsilon=1/1000"
_fork = multiprocessing.get_context("fork")  # nothing has to be loaded again


def _write(url: str, name: int, charges: int) -> tuple[int, int]:
    """Charge as often as that, each time for two users; how many were recorded, and refused."""
    recorded = refused = 0
    with Ledger.open(url, timeout=600) as ledger:
        for number in range(charges):
            try:
                ledger.charge(ONE, ["all", f"writer {name % 3}"], f"{name} {number}")
                recorded += 1
            except RefusedError:
                refused += 1
    return recorded, refused


def _all_at_once(url: str, writers: int, charges: int, room: int) -> float:
    """Writers charge one user 1/1000 each, until no more fits; how many were tried a second."""
    Ledger.create(url, f"pure:{room}/1000").close()
    with _fork.Pool(min(writers, 64)) as pool:
        pool.map(abs, range(writers))  # they have started
        start = time.monotonic()
        jobs = [(url, writer, charges) for writer in range(writers)]
        done = pool.starmap(_write, jobs, chunksize=1)
        seconds = time.monotonic() - start
    assert sum(recorded for recorded, _ in done) == room
    assert sum(map(sum, done)) == writers * charges
    with Ledger.open(url) as ledger:
        assert ledger.balance("all").charged == (Fraction(room, 1000),)
        assert len(list(ledger.entries("all"))) == room
        assert ledger.check().valid
    return writers * charges / seconds


@pytest.mark.slow
def test_processes_that_write_at_once_never_overspend(tmp_path: Path) -> None:
    _all_at_once(str(tmp_path / "a.db"), writers=4, charges=10, room=25)


@pytest.mark.slow
def test_eight_processes_that_write_at_once_never_overspend(url: str) -> None:
    _all_at_once(url, writers=8, charges=10, room=50)


@pytest.mark.slow
@pytest.mark.marathon
def test_64_writers_with_10_000_charges_on_each_side_of_the_limit(url: str) -> None:
    rate = _all_at_once(url, writers=64, charges=313, room=10_000)
    print(f"{url.partition(':')[0]}: {rate:.0f} charges a second by 64 writers")


def test_threads_share_a_ledger(url: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with Ledger.create(url, "pure:1/100") as ledger:

        def charge(number: int) -> bool:
            try:
                ledger.charge(ONE, "ada", f"{number // 2}")  # every key twice
            except RefusedError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            done = list(pool.map(charge, range(40)))
        assert sum(done) == 20
        assert ledger.balance("ada").left.upper == 0
        assert ledger.check().valid


@pytest.mark.contract
def test_a_forked_process_has_connections_of_its_own(url: str) -> None:
    with Ledger.create(url, "pure:1") as ledger:
        ledger.charge(ONE, "ada", "parent")
        if (child := os.fork()) == 0:
            code = 1
            try:
                ledger.charge(ONE, "ada", "child")
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        ledger.charge(ONE, "ada", "parent again")
        assert [entry.key for entry in ledger.entries()] == ["parent", "child", "parent again"]
        assert ledger.check().valid


def _kill(url: str, times: int, seed: int, out: Path) -> None:
    """Processes that reserve, release into a file and settle, killed whenever; nothing is free."""
    rng = random.Random(seed)
    Ledger.create(url, "pure:1000").close()
    out.touch()
    for number in range(times):
        here, there = os.pipe()
        if (child := os.fork()) == 0:
            try:
                with Ledger.open(url) as ledger, out.open("a", buffering=1) as released:
                    os.write(there, b".")
                    for each in range(10**6):
                        key = f"{number} {each}"
                        with ledger.permit(ONE, ["ada", key], key):
                            released.write(f"{key}\n")
            finally:
                os._exit(1)
        os.close(there)
        assert os.read(here, 1)  # it has begun
        os.close(here)
        while number == 0 and not out.stat().st_size and not os.waitpid(child, os.WNOHANG)[0]:
            time.sleep(0.01)  # on a busy machine others may release nothing
        time.sleep(rng.uniform(0, 0.08))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    lines = out.read_text().splitlines()
    with Ledger.open(url) as ledger:
        charged = [entry.key for entry in ledger.entries("ada")]
        assert len(charged) == len(set(charged))
        assert set(lines) <= set(charged)
        assert len(charged) <= len(lines) + times  # killed between reserve and release
        assert ledger.balance("ada").charged == (Fraction(len(charged), 1000),)
        assert lines
    assert check_at(url).valid


@pytest.mark.slow
def test_writers_that_are_killed_release_nothing_that_is_not_charged(tmp_path: Path) -> None:
    _kill(str(tmp_path / "a.db"), 10, 1, tmp_path / "released")


@pytest.mark.slow
@pytest.mark.marathon
def test_a_thousand_writers_that_are_killed(url: str, tmp_path: Path) -> None:
    _kill(url, 1000, 2, tmp_path / "released")
