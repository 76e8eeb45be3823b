"""Another ledger in the place of the one that is open: nothing is recorded in either."""

import os
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from exactdp import Ledger
from exactdp.ledger import LedgerError, ReplacedError

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"  # 1/200-zCDP


def _copy(path: Path) -> Path:
    """As a backup is made."""
    copy = path.with_name("copy.db")
    with sqlite3.connect(path) as connection:
        connection.execute(f"VACUUM INTO '{copy}'")
    connection.close()
    return copy


def _removed(path: Path, copy: Path) -> None:
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink()


def _renamed(path: Path, copy: Path) -> None:
    os.replace(copy, path)


def _removed_and_copied(path: Path, copy: Path) -> None:
    _removed(path, copy)
    shutil.copy(copy, path)


def _without_its_log(path: Path, copy: Path) -> None:
    Path(f"{path}-wal").unlink()


def _without_the_index_of_its_log(path: Path, copy: Path) -> None:
    Path(f"{path}-shm").unlink()


def _restored_in_place(path: Path, copy: Path) -> None:
    """By SQLite itself, into the file that is open."""
    source, target = sqlite3.connect(copy), sqlite3.connect(path)
    source.backup(target)
    source.close()
    target.close()


def _by_another_ledger(path: Path, copy: Path) -> None:
    copy.unlink()
    Ledger.create(str(copy), "zcdp:100").close()
    _restored_in_place(path, copy)


WAYS = [_removed, _renamed, _removed_and_copied, _without_its_log, _without_the_index_of_its_log]
WAYS += [_restored_in_place, _by_another_ledger]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("link", [False, True])
def test_what_is_charged_after_a_restore_is_in_no_lost_file(way, link, tmp_path) -> None:
    path = tmp_path / "a.db"
    opened = tmp_path / "link.db" if link else path
    if link:
        opened.symlink_to(path)
    Ledger.create(str(path), "zcdp:0.1").close()
    with Ledger.open(str(opened)) as ledger:
        ledger.charge(f"{ONE}*10", "ada", "1")
        copy = _copy(path)
        ledger.charge(f"{ONE}*10", "ada", "2")
        way(path, copy)
        for _ in range(2):
            with pytest.raises(ReplacedError, match="nothing is recorded"):
                ledger.charge(ONE, "bob", "3")
        with pytest.raises(LedgerError):
            ledger.reserve(ONE, "bob", "4")
    if way is _removed:
        assert not path.exists()
    elif "log" not in way.__name__ and way is not _renamed:  # its log was left beside the copy
        with Ledger.open(str(opened)) as ledger:
            assert [entry.key for entry in ledger.entries() if entry.key in "34"] == []
            ledger.charge(ONE, "ada", "3")
            assert ledger.check().valid


def test_a_link_that_is_turned_to_another_file_is_another_ledger(tmp_path) -> None:
    link = tmp_path / "link.db"
    for name in ("a.db", "b.db"):
        Ledger.create(str(tmp_path / name), "zcdp:0.1").close()
    link.symlink_to(tmp_path / "a.db")
    with Ledger.open(str(link)) as ledger:
        ledger.charge(ONE, "ada", "1")
        link.unlink()
        link.symlink_to(tmp_path / "b.db")
        with pytest.raises(ReplacedError):
            ledger.charge(ONE, "ada", "2")
        with pytest.raises(ReplacedError):
            ledger.balances()


def test_a_folder_that_is_moved_away_is_noticed(tmp_path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with Ledger.create(str(folder / "a.db"), "zcdp:0.1") as ledger:
        ledger.charge(ONE, "ada", "1")
        folder.rename(tmp_path / "away")
        for again in (folder.touch, folder.unlink):  # a file in its place, and nothing
            again()
            with pytest.raises(ReplacedError, match="removed"):
                ledger.charge(ONE, "ada", "2")


def test_a_file_that_is_replaced_while_a_charge_is_recorded_is_noticed(tmp_path) -> None:
    path = tmp_path / "a.db"
    with Ledger.create(str(path), "zcdp:0.1") as ledger:
        ledger.charge(ONE, "ada", "1")
        copy = _copy(path)
        with pytest.raises(ReplacedError), ledger._database.write():
            os.replace(copy, path)


def test_reservations_are_not_closed_in_a_lost_file(tmp_path) -> None:
    path = tmp_path / "a.db"
    with Ledger.create(str(path), "zcdp:0.1") as ledger:
        permit = ledger.reserve(ONE, "ada", "1")
        _renamed(path, _copy(path))
        for close in (permit.settle, permit.cancel):
            with pytest.raises(ReplacedError):
                close()
    with Ledger.open(str(path)) as ledger:
        assert [entry.state for entry in ledger.entries()] == ["reserved"]
        ledger.settle("1")


def test_a_database_that_is_restored_under_an_open_ledger_is_noticed(postgresql) -> None:
    import psycopg

    with Ledger.create(postgresql.url(), "zcdp:0.1") as ledger:
        ledger.charge(ONE, "ada", "1")
        url = postgresql.url()
        Ledger.create(url, "zcdp:0.1").close()
        with pytest.raises(LedgerError):
            ledger.charge(ONE, "ada", "2")  # its connection was cut
        with pytest.raises(ReplacedError, match="another ledger"):
            ledger.charge(ONE, "ada", "2")
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM charges").fetchone() == (1,)


@pytest.mark.contract
@pytest.mark.parametrize("mask", [0o022, 0o000, 0o077])
def test_files_are_for_their_owner_alone(mask, tmp_path) -> None:
    before = os.umask(mask)
    try:
        with Ledger.create(str(tmp_path / "a.db"), "zcdp:0.1") as ledger:
            ledger.charge(ONE, "ada", "1")
            found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert found == dict.fromkeys(("a.db", "a.db-wal", "a.db-shm"), 0o600)


@pytest.mark.contract
def test_an_empty_file_that_was_left_becomes_a_ledger(tmp_path) -> None:
    path = tmp_path / "a.db"
    path.touch(0o640)
    with Ledger.create(str(path), "zcdp:0.1") as ledger:
        ledger.charge(ONE, "ada", "1")
        assert ledger.check().valid
