"""Whatever is changed in the tables of a ledger is found by its check."""

import shutil
import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from exactdp import Ledger, ParameterError
from exactdp.cli.main import main
from exactdp.ledger import Limit
from exactdp.ledger.checking import check, check_at
from exactdp.ledger.database import Database
from exactdp.ledger.levels import Level
from exactdp.ledger.schema import metadata
from exactdp.verify import parse_claim

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with something in every table and column."""
    path = tmp_path_factory.mktemp("whole") / "a.db"
    limits = [
        Limit.of("zcdp:1", "life"),
        Limit.of("approx:9,1e-6", "year", days=365),
        Limit.of("gdp:3", "study", project="study"),
    ]
    with Ledger.create(str(path), limits) as ledger:
        ledger.charge([ONE, "gaussian:sigma=10*2"], ["ada", "bob"], "1", "study", "ab" * 32)
        ledger.reserve(f"{ONE}*3", ["bob", "eve"], "2").settle()
        ledger.reserve(ONE, ["ada"], "3").cancel()
        ledger.reserve(ONE, ["ada", "eve"], "4")
        ledger.charge("gaussian:sigma=10", ["zoe", "ada"], "5", "study")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    assert check_at(str(path)).valid
    return path


@pytest.fixture(scope="module")
def database(whole: Path) -> Iterator[Database]:
    """The same, to be changed and restored."""
    opened = Database(str(whole))
    yield opened
    opened.close()


def _is_found(database: Database, *statements: str) -> bool:
    """Does the check find what these statements do? They are undone."""
    with database.engine.connect() as connection:
        try:
            for statement in ("PRAGMA foreign_keys=OFF", "BEGIN", *statements):
                connection.exec_driver_sql(statement)
            found = check(connection)
        finally:
            connection.rollback()
    assert not any(word in found.reason for word in ("cannot be read", "object", "argument"))
    return not found.valid and bool(found.reason)


COLUMNS = [
    (table.name, column.name) for table in metadata.sorted_tables for column in table.columns
] + [("alembic_version", "version_num")]


def _rows(path: Path, table: str) -> list[tuple[int, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute(f"SELECT rowid FROM {table}").fetchall()


def _values(path: Path, table: str, column: str, row: int) -> list[str]:
    """Other values: near the true one, of another row, of another type, and none."""
    with sqlite3.connect(path) as connection:
        [true] = connection.execute(f'SELECT "{column}" FROM {table} WHERE rowid={row}').fetchone()
        others = connection.execute(
            f'SELECT DISTINCT "{column}" FROM {table} WHERE "{column}" IS NOT ?', (true,)
        ).fetchall()
    values = [*(other for (other,) in others[:2]), "", "x", "1/2", -1, 0, 7, 0.5]
    if isinstance(true, int):
        values += [true + 1, 10 * true + 10]
    else:
        values += [f"{true} ", f"{true}0", true[:-1], true[::-1]]
    different = {str(value): value for value in values if str(value) != str(true)}
    quoted = ["'" + str(value).replace("'", "''") + "'" for value in different.values()]
    return [*quoted, "x'fffe'", "2.5", "'inf'"]


@pytest.mark.parametrize("rows", [1, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_every_changed_column_is_found(
    whole: Path, database: Database, table: str, column: str, rows: int | None
) -> None:
    tried = 0
    for (row,) in _rows(whole, table)[-2:][:rows]:
        for value in _values(whole, table, column, row):
            change = f'UPDATE {table} SET "{column}" = {value} WHERE rowid = {row}'
            try:
                assert _is_found(database, change), change
                tried += 1
            except IntegrityError:  # the table itself refuses it
                pass
    assert tried


@pytest.mark.parametrize(
    ("claim", "level"),
    [
        ("zcdp:1", Level("rho", Fraction(2))),
        ("zcdp:1", Level("pure", Fraction(1))),
        ("approx:1,1e-6", Level("pure", Fraction(1) + Fraction(1, 10**30))),
        ("approx:1,1e-6", Level("renyi", Fraction(1), Fraction(20), Fraction(1, 10**6))),
    ],
)
def test_limits_that_do_not_prove_their_claim_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, claim: str, level: Level
) -> None:
    """Made so from the start: every hash, cost and sum is right."""
    url = str(tmp_path / "forged.db")
    with monkeypatch.context() as forger:
        forger.setattr(Limit, "objection", lambda self: None)
        with Ledger.create(url, Limit(parse_claim(claim), (level,), "life")) as ledger:
            ledger.charge("randomized-response:epsilon=0.5", "ada", "1")
        assert check_at(url).valid
    found = check_at(url)
    assert (found.valid, found.rows) == (False, 0)
    assert found.reason.startswith("limit life: ")


@pytest.mark.parametrize("table", [*metadata.tables, "alembic_version"])
def test_every_dropped_row_is_found(
    whole: Path, database: Database, tmp_path: Path, table: str
) -> None:
    for (row,) in _rows(whole, table):
        drop = f"DELETE FROM {table} WHERE rowid = {row}"
        assert _is_found(database, drop), drop
    path = tmp_path / "without.db"
    shutil.copy(whole, path)
    with sqlite3.connect(path) as connection:
        connection.execute(f"DROP TABLE {table}")
    assert not check_at(str(path)).valid


def test_every_row_that_is_dropped_with_all_that_belongs_to_it_is_found(
    whole: Path, database: Database
) -> None:
    for charge in range(1, len(_rows(whole, "charges")), 2):
        drops = [f"DELETE FROM {table} WHERE charge = {charge}" for table in ("uses", "entries")]
        assert _is_found(database, *drops, f"DELETE FROM charges WHERE id = {charge}")


@pytest.mark.parametrize(("one", "other"), [(1, 2), (2, 4), (4, 6), (1, 7)])
def test_reordered_rows_are_found(database: Database, one: int, other: int) -> None:
    swaps = [
        f"UPDATE {table} SET {name} = CASE {name} WHEN {one} THEN -1 ELSE -2 END "
        f"WHERE {name} IN ({one}, {other})"
        for table, name in (("charges", "id"), ("uses", "charge"), ("entries", "charge"))
    ]
    back = [
        f"UPDATE {table} SET {name} = CASE {name} WHEN -1 THEN {other} ELSE {one} END "
        f"WHERE {name} < 0"
        for table, name in (("charges", "id"), ("uses", "charge"), ("entries", "charge"))
    ]
    assert _is_found(database, *swaps, *back)


def test_duplicated_rows_are_found(whole: Path, database: Database) -> None:
    columns = "action, stage, project, neighbours, certificate, at, hash"
    copy = (
        f"INSERT INTO charges (id, key, {columns}) SELECT {{id}}, 'new', {columns} "
        "FROM charges WHERE id = 1"
    )
    last = len(_rows(whole, "charges"))
    of_it = (
        f"INSERT INTO uses SELECT {last}, position, mechanism, times, costs FROM uses "
        "WHERE charge = 1",
        f'INSERT INTO entries SELECT {last}, "user" FROM entries WHERE charge = 1',
        f"UPDATE head SET charges = {last + 1}, at = (SELECT at FROM charges WHERE id = {last}), "
        "hash = (SELECT hash FROM charges WHERE id = 1)",
    )
    assert _is_found(database, copy.format(id=last))
    assert _is_found(database, copy.format(id=last), *of_it)
    assert _is_found(database, "INSERT INTO users VALUES (4, 'new')")
    assert _is_found(database, "INSERT INTO entries VALUES (1, 3)")
    assert _is_found(database, "INSERT INTO balances VALUES (2, 2, '1/2')")
    assert _is_found(database, "INSERT INTO limits VALUES (3, 'new', 'zcdp:9', 'rho:9', 0, '')")
    assert _is_found(database, "INSERT INTO head SELECT 1, charges, users, at, "
                     "neighbours, hash FROM head")  # fmt: skip


def test_tables_that_were_unlocked_to_be_changed_are_no_way_round_it(
    database: Database,
) -> None:
    """As if the database refused nothing: rows of other types, twice the same key."""
    for table in metadata.tables:
        rebuilt = (
            f"CREATE TABLE copy AS SELECT * FROM {table}",
            f"DROP TABLE {table}",
            f"ALTER TABLE copy RENAME TO {table}",
            f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1",
        )
        assert _is_found(database, *rebuilt), table


def test_a_chain_that_was_written_again_has_another_head(whole: Path, tmp_path: Path) -> None:
    kept = check_at(str(whole)).head
    path = str(tmp_path / "other.db")
    with Ledger.create(path, "zcdp:1") as ledger:
        ledger.charge(ONE, "ada", "1")
        early = ledger.head()
        ledger.charge(ONE, "ada", "2")
        assert ledger.check().valid
        assert ledger.check(early).valid
        assert ledger.check(ledger.head()).valid
        found = ledger.check(kept)
        assert not found.valid
        assert "rewritten" in found.reason
        with pytest.raises(TypeError, match=r"\.valid"):
            bool(found)


def test_costs_below_the_true_ones_are_found_whatever_the_hashes_say(tmp_path: Path) -> None:
    """The ledger of somebody who charges too little, and hashes that correctly."""
    path = str(tmp_path / "a.db")

    class Cheap(Ledger):
        def _costs(self, mechanism: object) -> str:
            return '[["1/201"]]'

    with Ledger.create(path, "zcdp:0.1"):
        pass
    with Cheap.open(path) as ledger:
        Cheap(ledger._database).charge(ONE, "ada", "1")
    found = check_at(path)
    assert not found.valid
    assert "costs more rho than is recorded" in found.reason


def test_a_user_beyond_the_limit_is_found_whatever_the_hashes_say(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")

    class Generous(Ledger):
        def _fitting(self, connection, link, members, held):  # type: ignore[no-untyped-def]
            return {(user, 0): "21/200" for user in members.values()}

    with Ledger.create(path, "zcdp:0.1"):
        pass
    with Ledger.open(path) as ledger:
        Generous(ledger._database).charge(f"{ONE}*21", "ada", "1")
    found = check_at(path)
    assert not found.valid
    assert "user 'ada' exceeds the limit" in found.reason


def test_a_name_that_two_users_have_is_found(tmp_path: Path, monkeypatch) -> None:
    """Hashes cover names: charges of one person, shared out to two numbers, keep every hash."""
    path = str(tmp_path / "a.db")
    with Ledger.create(path, "zcdp:1") as ledger:
        ledger.charge(ONE, "ada", "1")
        ledger.charge(ONE, "ada", "2")
    with sqlite3.connect(path) as connection:
        for statement in (
            "CREATE TABLE copy AS SELECT * FROM users",
            "DROP TABLE users",
            "ALTER TABLE copy RENAME TO users",
            "INSERT INTO users VALUES (1, 'ada')",
            'UPDATE entries SET "user" = 1 WHERE charge = 2',
            "UPDATE balances SET spent = '1/200'",
            "INSERT INTO balances VALUES (1, 0, '1/200')",
            "UPDATE head SET users = 2",
        ):
            connection.execute(statement)
    assert "schema: " in check_at(path).reason
    for look in ("difference", "damage"):
        monkeypatch.setattr(f"exactdp.ledger.tables.{look}", lambda connection: None)
    found = check_at(path)
    assert (found.valid, found.reason) == (False, "users: a name is there twice")


def test_missing_tables_are_told_by_name(tmp_path: Path, whole: Path) -> None:
    path = shutil.copy(whole, tmp_path / "less.db")
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE balances")
    found = check_at(str(path))
    assert (found.valid, found.reason) == (False, "tables are missing: balances")
    assert (found.rows, found.head) == (0, "")


def test_another_database_is_no_ledger_rather_than_a_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    with pytest.raises(ParameterError, match="there is no ledger"):
        check_at(str(path))


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("balances", "spent", ["check"]),
        ("balances", "spent", ["charge", ONE, "--user", "ada", "--user", "eve", "--key", "9"]),
        ("uses", "costs", ["show"]),
        ("uses", "times", ["export"]),
        ("uses", "times", ["check"]),
        ("charges", "action", ["cancel", "--key", "4"]),
        ("limits", "claim", ["show"]),
        ("limits", "name", ["check"]),
        ("users", "name", ["check"]),
    ],
)
@pytest.mark.parametrize("value", ["inf", b"\xff", 2.5, ""])
def test_what_is_damaged_is_said_in_one_line(
    table, column, words, value, whole, tmp_path, capsys
) -> None:
    path = shutil.copy(whole, tmp_path / "a.db")
    with sqlite3.connect(path) as connection:
        which = "rowid = 2" if column == "name" else "rowid > 1"
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {which}", (value,))
    connection.close()
    code = main(["ledger", words[0], str(path), *words[1:]])
    said = capsys.readouterr()
    line = said.out.partition("\n")[0] if words[0] == "check" else said.err
    assert code == (1 if words[0] == "check" else 2)
    assert len(line.splitlines()) == 1
    assert any(said in line for said in (table, "not as it was written", "row 1 "))
    for python in ("object", "argument", "attribute", "supported", "cannot be read"):
        assert python not in line
