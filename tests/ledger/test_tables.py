"""Tables that are not those which the migrations make are refused, and told by the check."""

import sqlite3

import pytest
from sqlalchemy import Connection, text

from exactdp import Ledger
from exactdp.cli.main import main
from exactdp.ledger import DamagedError
from exactdp.ledger.checking import check_at
from exactdp.ledger.database import Database

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"  # 1/200-zCDP

SQLITE = {
    "trigger": "CREATE TRIGGER again AFTER UPDATE ON balances BEGIN "
    "UPDATE balances SET spent = '0/1' WHERE user = new.user; END",
    "view": "CREATE VIEW more AS SELECT * FROM users",
    "table": "CREATE TABLE more (id)",
    "index": "CREATE INDEX more ON users (name COLLATE NOCASE)",
    "dropped": "DROP INDEX entries_by_user",
    "column": "ALTER TABLE users ADD COLUMN more TEXT",
    "renamed": 'ALTER TABLE users RENAME COLUMN name TO "Name"',
}
POSTGRESQL = {
    "trigger": "CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS "
    "$$BEGIN new.spent := '0/1'; RETURN new; END$$; "
    "CREATE TRIGGER again BEFORE UPDATE ON balances FOR EACH ROW EXECUTE FUNCTION again()",
    "rule": "CREATE RULE again AS ON UPDATE TO balances DO INSTEAD NOTHING",
    "policy": "ALTER TABLE entries ENABLE ROW LEVEL SECURITY",
    "view": "ALTER TABLE users RENAME TO others; CREATE VIEW users AS SELECT * FROM others",
    "inherited": "CREATE TABLE more () INHERITS (users)",
    "index": "CREATE INDEX more ON users (lower(name))",
    "dropped": "DROP INDEX entries_by_user",
    "unlinked": "ALTER TABLE users DROP CONSTRAINT users_name_key",
    "foreign": "ALTER TABLE entries DROP CONSTRAINT entries_user_fkey",
    "disabled": "ALTER TABLE entries DISABLE TRIGGER ALL",
    "column": "ALTER TABLE users ADD COLUMN more text",
    "default": "ALTER TABLE balances ALTER COLUMN spent SET DEFAULT '0/1'",
    "collation": 'ALTER TABLE users ALTER COLUMN name TYPE text COLLATE "C"',
    "type": "ALTER TABLE uses ALTER COLUMN times TYPE numeric",
    "unlogged": "ALTER TABLE balances SET UNLOGGED",
}


def _is_told(url: str, change: str) -> None:
    Ledger.create(url, "zcdp:0.1").close()
    with Ledger.open(url) as ledger:
        ledger.charge(ONE, "ada", "1")
        assert ledger.check().valid
    database = Database(url)
    with database.engine.begin() as connection:
        _run(connection, change)
    database.close()
    found = check_at(url)
    assert not found.valid
    assert found.reason.startswith("schema: ") or "users" in found.reason
    with pytest.raises(DamagedError, match="schema"):
        Ledger.open(url)
    assert main(["ledger", "migrate", url]) == 2


def _run(connection: Connection, change: str) -> None:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(change)
    else:
        connection.execute(text(change.replace(":=", r"\:=")))


@pytest.mark.parametrize("change", SQLITE)
def test_what_else_is_in_a_file_is_told(change, tmp_path, capsys) -> None:
    _is_told(str(tmp_path / "a.db"), SQLITE[change])
    error = capsys.readouterr().err
    assert error.startswith("exactdp: URL: schema: ") and error.count("\n") == 1


@pytest.mark.parametrize("change", POSTGRESQL)
def test_what_is_done_to_tables_of_postgresql_is_told(change, postgresql) -> None:
    _is_told(postgresql.url(), POSTGRESQL[change])


@pytest.mark.contract
def test_other_tables_beside_those_of_postgresql_are_none_of_ours(postgresql) -> None:
    import psycopg

    url = postgresql.url()
    Ledger.create(url, "zcdp:0.1").close()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE more (name text)")
        connection.execute("CREATE VIEW audited AS SELECT * FROM balances")
    with Ledger.open(url) as ledger:
        ledger.charge(ONE, "ada", "1")
        assert ledger.check().valid


@pytest.mark.contract
def test_statistics_and_a_file_that_was_vacuumed_are_right(tmp_path) -> None:
    url = str(tmp_path / "a.db")
    with Ledger.create(url, "zcdp:0.1") as ledger:
        ledger.charge(ONE, ["ada", "bob"], "1")
    with sqlite3.connect(url) as connection:
        for statement in ("ANALYZE", "VACUUM", "REINDEX"):
            connection.execute(statement)
    with Ledger.open(url) as ledger:
        assert ledger.check().valid


def test_indices_of_postgresql_are_held_against_their_tables(postgresql) -> None:
    """Where amcheck is there: a row that its index lacks, as damage leaves it."""
    import psycopg

    url = postgresql.url()
    with Ledger.create(url, "zcdp:0.1") as ledger:
        ledger.charge(ONE, ["ada", "bob"], "1")
    with psycopg.connect(url, autocommit=True) as connection:
        try:
            connection.execute("CREATE EXTENSION amcheck")
        except psycopg.Error:
            pytest.skip("amcheck is not installed beside PostgreSQL")
        assert check_at(url).valid
        connection.execute(
            "UPDATE pg_index SET indisready = false WHERE indrelid = 'users'::regclass"
        )
        connection.execute("INSERT INTO users VALUES (2, 'ada')")
        connection.execute(
            "UPDATE pg_index SET indisready = true WHERE indrelid = 'users'::regclass"
        )
    found = check_at(url)
    assert not found.valid
    assert "index" in found.reason


def test_a_name_that_is_there_twice_is_found_without_its_index(postgresql) -> None:
    import psycopg

    url = postgresql.url()
    with Ledger.create(url, "zcdp:0.1") as ledger:
        ledger.charge(f"{ONE}*20", "ada", "1")
    ready = "UPDATE pg_index SET indisready = {} WHERE indexrelid = 'users_name_key'::regclass"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE users SET name = 'bob'")
        connection.execute(ready.format("false"))
        connection.execute("UPDATE users SET name = 'ada'")  # the index still says bob
        connection.execute(ready.format("true"))
    with Ledger.open(url) as ledger:
        ledger.charge(f"{ONE}*20", "ada", "2")
    found = check_at(url)
    assert (found.valid, found.reason) == (False, "users: a name is there twice")
