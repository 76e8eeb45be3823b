"""The schema: what the migrations make is what the code uses; forward, back, nothing lost."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from exactdp import Ledger
from exactdp.ledger.database import _MIGRATIONS, Database
from exactdp.ledger.schema import REVISIONS, metadata

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"


def test_the_migrations_are_those_that_are_listed() -> None:
    script = ScriptDirectory(str(_MIGRATIONS))
    assert tuple(each.revision for each in script.walk_revisions())[::-1] == REVISIONS
    assert script.get_heads() == [REVISIONS[-1]]


def test_they_make_the_tables_that_the_code_uses(url: str) -> None:
    Ledger.create(url, "zcdp:1").close()
    database = Database(url)
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    database.close()


def test_forward_and_back_keep_every_row(url: str) -> None:
    with Ledger.create(url, "zcdp:1") as ledger:
        ledger.charge(ONE, ["ada", "bob"], "1")
        ledger.reserve(ONE, ["ada"], "2").cancel()
        before = list(ledger.entries()), ledger.head()
    database = Database(url)
    for revision in (*reversed(REVISIONS), *REVISIONS):
        with database.write() as connection:
            database.migrate(connection, revision)
            assert database.revision(connection) == revision
    with Ledger.open(url) as ledger:
        assert (list(ledger.entries()), ledger.head()) == before
        assert ledger.check().valid
    with database.write() as connection:
        database.migrate(connection, "base")
        assert set(inspect(connection).get_table_names()) == {"alembic_version"}
    database.close()
