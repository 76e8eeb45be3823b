"""One ledger under two names: no charge is lost, and none is recorded twice."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from exactdp import Ledger, ParameterError
from exactdp.ledger import LedgerError, ReplacedError, UnavailableError

ONE = "randomized-response:epsilon=1/1000"

_WRITER = f"""
import json, random, sys, time
from exactdp.ledger import Ledger, LedgerError
url, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
recorded, refused = [], 0
for number in range(rounds):
    while True:
        try:
            with Ledger.open(url) as ledger:
                assert ledger.charge("{ONE}", "ada", f"{{name}} {{number}}").new
            recorded.append(f"{{name}} {{number}}")
            time.sleep(random.uniform(0, 0.04))  # the other one's turn
            break
        except LedgerError:
            refused += 1
            time.sleep(random.uniform(0, 0.005))
print(json.dumps([recorded, refused]))
"""


@pytest.mark.slow
def test_a_file_with_a_hard_link_is_refused_by_both_names(tmp_path: Path) -> None:
    one, other = tmp_path / "a.db", tmp_path / "b.db"
    Ledger.create(str(one), "pure:0.1").close()
    with Ledger.open(str(one)) as ledger:
        ledger.charge(ONE, "ada", "1")
        os.link(one, other)
        with pytest.raises(UnavailableError, match="hard link"):
            ledger.charge(ONE, "ada", "2")
        with pytest.raises(UnavailableError, match="hard link"):
            ledger.balances()
    for name in (one, other):
        with pytest.raises(ParameterError, match="hard link"):
            Ledger.open(str(name))
        done = subprocess.run(
            [sys.executable, "-m", "exactdp.cli", "ledger", "check", str(name)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "hard link" in done.stderr
        assert done.stderr.count("\n") == 1
    other.unlink()
    with Ledger.open(str(one)) as ledger:
        ledger.charge(ONE, "ada", "2")
        assert [entry.key for entry in ledger.entries()] == ["1", "2"]


def _by_two_names(folder: Path, rounds: int) -> None:
    """Two processes charge by two names, one of them a mount of the file alone."""
    for name in ("one", "other"):
        (folder / name).mkdir()
    url = folder / "one/ledger.db"
    Ledger.create(str(url), "pure:1000").close()
    (folder / "other/ledger.db").touch()
    writer = folder / "writer.py"
    writer.write_text(_WRITER)
    script = f"""
        mount --bind one/ledger.db other/ledger.db || exit 99
        {sys.executable} writer.py one/ledger.db one {rounds} > one.json & first=$!
        {sys.executable} writer.py other/ledger.db other {rounds} > other.json || exit 1
        wait $first
    """
    tool = shutil.which("unshare")
    own = [] if os.getuid() == 0 else ["-r"]
    if tool is None:
        pytest.skip("nothing here mounts a file")
    done = subprocess.run(
        [tool, *own, "-m", "sh", "-c", script], cwd=folder, capture_output=True, text=True
    )
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip(f"a file cannot be mounted here: {done.stderr}")
    assert (done.returncode, done.stderr) == (0, "")
    told = [json.loads((folder / f"{name}.json").read_text()) for name in ("one", "other")]
    recorded = [key for keys, _ in told for key in keys]
    with Ledger.open(str(url)) as ledger:
        held = [entry.key for entry in ledger.entries()]
        assert sorted(held) == sorted(recorded) == sorted(set(held))
        assert len(held) == 2 * rounds
        assert ledger.check().valid
    print(f"{rounds} rounds, refused: {told[0][1]} and {told[1][1]}")


@pytest.mark.slow
def test_two_processes_by_two_names_lose_nothing(tmp_path: Path) -> None:
    _by_two_names(tmp_path, 10)


@pytest.mark.slow
@pytest.mark.marathon
def test_two_processes_by_two_names_lose_nothing_in_2000_rounds(tmp_path: Path) -> None:
    _by_two_names(tmp_path, 2000)


def test_what_a_log_of_another_history_holds_is_not_written_into_the_file(tmp_path: Path) -> None:
    """A log that a crash has left, beside a file that was written by its other name since."""
    path, away = tmp_path / "a.db", tmp_path / "away.db"
    Ledger.create(str(path), "pure:1").close()
    shutil.copy(path, away)
    with Ledger.open(str(path)) as ledger:  # somebody reads: the log is not written back
        reader = sqlite3.connect(path)
        reader.execute("BEGIN").execute("SELECT * FROM head").fetchall()
        ledger.charge(ONE, "ada", "in the log")
        left = Path(f"{path}-wal").read_bytes()
        assert left
        reader.close()
    with Ledger.open(str(away)) as ledger:
        ledger.charge(ONE, "bob", "by the other name")
    shutil.copy(away, path)
    Path(f"{path}-wal").write_bytes(left)
    for read_only in (True, False):
        with pytest.raises(ReplacedError, match="different histories"):
            Ledger.open(str(path), read_only=read_only)
    Path(f"{path}-wal").unlink()
    with Ledger.open(str(path)) as ledger:
        assert [entry.key for entry in ledger.entries()] == ["by the other name"]
        assert ledger.check().valid


@pytest.mark.contract
def test_what_is_recorded_is_in_the_file_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Ledger.create(str(path), "pure:1") as ledger:
        ledger.charge(ONE, "ada", "1")
        copy = tmp_path / "copy.db"
        shutil.copy(path, copy)  # without its log
        with Ledger.open(str(copy)) as copied:
            assert [entry.key for entry in copied.entries()] == ["1"]


@pytest.mark.filterwarnings("ignore:This process")
def test_a_child_that_is_forked_in_a_transaction_is_told_so(tmp_path: Path) -> None:
    """SQLite in the child believes that it holds the locks of its parent, and waits for itself."""
    path = tmp_path / "a.db"
    with Ledger.create(str(path), "pure:1") as ledger:
        begun, ended = threading.Event(), threading.Event()

        def hold() -> None:
            with ledger._database.write():
                begun.set()
                ended.wait()

        writer = threading.Thread(target=hold)
        writer.start()
        begun.wait()
        here, there = os.pipe()
        if (child := os.fork()) == 0:
            said = []
            try:
                time.sleep(0.2)  # the parent has ended its transaction
                for make in (lambda: ledger, lambda: Ledger.open(str(path), timeout=1)):
                    try:
                        make().charge(ONE, "ada", "child")
                    except LedgerError as error:
                        said.append(str(error))
            finally:
                os.write(there, json.dumps(said).encode())
                os._exit(0)
        ended.set()
        writer.join()
        os.waitpid(child, 0)
        told = json.loads(os.read(here, 10**5))
        assert len(told) == 2
        assert all("was forked while its parent wrote" in line for line in told)
        ledger.charge(ONE, "ada", "parent")
        assert [entry.key for entry in ledger.entries()] == ["parent"]


def test_a_log_that_does_not_fit_its_file_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    Ledger.create(str(path), "pure:1").close()
    before = path.read_bytes()
    with Ledger.open(str(path)) as ledger:
        reader = sqlite3.connect(path)
        reader.execute("BEGIN").execute("SELECT * FROM head").fetchall()
        ledger.charge(ONE, [f"user {number}" for number in range(300)], "in the log")
        left = Path(f"{path}-wal").read_bytes()
        reader.close()
    path.write_bytes(before[:60] + b"\0\0\0\7" + before[64:4096] + bytes(len(before) - 4096))
    Path(f"{path}-wal").write_bytes(left)
    with pytest.raises(LedgerError, match="-wal"):
        Ledger.open(str(path))
