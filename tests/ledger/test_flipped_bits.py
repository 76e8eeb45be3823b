"""A bit of a ledger's file flips, anywhere: no limit is exceeded that the check calls valid.

Every user of the file is asked for one use more than fits: what is recorded then exceeds a limit,
whatever the file says by then. Nothing raises but what the ledger's interface promises.
"""

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from exactdp import Ledger, ParameterError
from exactdp.cli.main import main
from exactdp.ledger import LedgerError, Limit, RefusedError
from exactdp.ledger.checking import check_at

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"  # 1/200-zCDP
LIMITS = [
    Limit.of("zcdp:0.1", "life"),  # 20 uses
    Limit.of("zcdp:0.075", "year", days=365),  # 15 uses
    Limit.of("zcdp:0.03", "study", project="study"),  # 6 uses
]
USERS = [f"{name} {'of a long name ' * 5}{n}" for n in range(5) for name in ("ada", "bob", "eve")]
COMMANDS = [
    *(["check"], ["show"], ["export"], ["export", "--format", "json"], ["migrate"]),
    *(["settle", "--key", "open"], ["cancel", "--key", "open"], ["show", "--user", USERS[0]]),
    ["charge", ONE, "--user", USERS[0], "--user", "zoe", "--key", "new"],
]
# Ada and Eve have 4 of life left, 9 of the year, and 2 of the study; Bob 7, 2 and 6.
ASKED = {"ada": (5, ""), "bob": (3, ""), "eve": (3, "study")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some users whose charges are old, some whose charges are new, some who were not charged."""
    path = tmp_path_factory.mktemp("whole") / "a.db"
    old = [user for user in USERS if not user.startswith("bob")]
    new = [user for user in USERS if user.startswith("bob")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exactdp.ledger.book.now", lambda: "2020-01-01T00:00:00.000000Z")
        with Ledger.create(str(path), LIMITS) as ledger:
            ledger.charge(f"{ONE}*7", old, "old")
            for user in old:
                ledger.charge(f"{ONE}*3", user, f"old of {user[:3]} {user[-2:]}")
    with Ledger.open(str(path)) as ledger:
        ledger.reserve(ONE, USERS, "no").cancel()
        ledger.reserve(f"{ONE}*4", old, "yes", "study").settle()
        ledger.reserve(f"{ONE}*2", old, "open")
        ledger.charge(f"{ONE}*12", new, "new")
        for user in new:
            ledger.charge(ONE, user, f"new of {user[-2:]}")
        assert ledger.check().valid
    return path


def _flipped(whole: Path, path: Path, byte: int, bit: int) -> None:
    for end in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    shutil.copy(whole, path)
    with path.open("r+b") as file:
        file.seek(byte)
        [old] = file.read(1)
        file.seek(byte)
        file.write(bytes([old ^ 1 << bit]))


def _overspent(url: str) -> int | None:
    """Of how many users a limit is exceeded, once all of them were asked; None: not opened."""
    beyond = 0
    try:
        with Ledger.open(url) as ledger:
            for user in USERS:
                times, project = ASKED[user[:3]]
                try:
                    ledger.charge(f"{ONE}*{times}", user, f"beyond {user}", project)
                except RefusedError:
                    continue
                except (LedgerError, ParameterError):
                    continue
                beyond += 1
    except (LedgerError, ParameterError):
        return None
    return beyond


def _state(url: str) -> str:
    try:
        return "valid" if check_at(url).valid else "found by the check"
    except (LedgerError, ParameterError):
        return "no ledger to the check"


def _outcome(url: str, again: Callable[[], None]) -> str:
    """What becomes of a file, which `again` makes anew."""
    again()
    beyond, after = _overspent(url), _state(url)
    if beyond:
        again()
        before = _state(url)
        assert "valid" not in (before, after), "overspent, and called valid"
        return f"overspent: {before}, and {after}"
    return f"{'refused on opening' if beyond is None else 'nothing overspent'}: {after}"


def _tried(whole: Path, path: Path, where: list[int], count: int, seed: int) -> Counter[str]:
    """What becomes of so many flips at these bytes; and one command of each file."""
    rng, found = random.Random(seed), Counter[str]()
    for _ in range(count):
        flip = partial(_flipped, whole, path, rng.choice(where), rng.randrange(8))
        name, *more = rng.choice(COMMANDS)
        try:
            found[_outcome(str(path), flip)] += 1
            assert main(["ledger", name, str(path), *more]) in (0, 1, 2)
        except BaseException as error:
            error.add_note(f"{name} after the flip {flip.args[2:]}")
            raise
    return found


def _page(whole: Path, name: str) -> list[int]:
    """The bytes of the root of an index or a table."""
    connection = sqlite3.connect(whole)
    [[size]] = connection.execute("PRAGMA page_size")
    asked = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    [[page]] = connection.execute(asked, (name,))
    connection.close()
    return list(range((page - 1) * size, page * size))


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("seed", range(12))
def test_flipped_bits_of_the_index_of_users(seed, whole, tmp_path, capsys) -> None:
    where = _page(whole, "sqlite_autoindex_users_2")
    found = _tried(whole, tmp_path / "a.db", where, 5, seed)
    assert found.total() == 5
    assert "Traceback" not in capsys.readouterr().err


def test_a_user_whom_the_index_hides_is_found(whole, tmp_path) -> None:
    """The name of a user, as the index has it, with another first letter."""
    data, where = whole.read_bytes(), _page(whole, "sqlite_autoindex_users_2")
    path = tmp_path / "a.db"
    at = data.index(USERS[-1].encode(), where[0], where[-1])
    found = _outcome(str(path), lambda: _flipped(whole, path, at, 0))
    assert found == "overspent: found by the check, and found by the check"


def test_a_time_of_the_head_that_is_ahead_opens_no_window(whole, tmp_path) -> None:
    data, where = whole.read_bytes(), _page(whole, "head")
    path = tmp_path / "a.db"
    at = data.index(b"-", where[0], where[-1]) - 4  # 2... becomes 6...
    _flipped(whole, path, at, 2)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT at FROM head").fetchone()[0].startswith("6")
    assert _overspent(str(path)) == 0


@pytest.mark.slow
@pytest.mark.marathon
@pytest.mark.parametrize("seed", range(8))
def test_two_thousand_flipped_bits(seed, whole, tmp_path, capsys) -> None:
    where = list(range(whole.stat().st_size))
    found = _tried(whole, tmp_path / "a.db", where, 250, seed)
    assert "Traceback" not in capsys.readouterr().err
    with capsys.disabled():
        print(f"\n{len(where)} bytes: {dict(found)}")
    assert found.total() == 250
