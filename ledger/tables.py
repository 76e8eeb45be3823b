"""Whether the tables of a database are those that the migrations make, and whether it is whole.

A trigger changes balances behind a charge, a view or a rule stands in for a table, a row policy
hides rows, and an index may be partial: so nothing but what the migrations make may be there. On
SQLite the whole file is the ledger's; on PostgreSQL other tables of the same schema, and views of
ours, are not looked at, nor are event triggers and who may write.

SQLite says what it has been told to make, word for word: that is held against the same words, told
to an empty database. PostgreSQL's catalogue is held against what stands in `schema`.

*Whole.* A damaged index hides a row that is there, and the row is then made a second time. SQLite
compares every index with its table (`PRAGMA integrity_check`), and so does PostgreSQL where its
extension amcheck is installed and may be used.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, text
from sqlalchemy import ForeignKeyConstraint as ForeignKeys
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from .schema import metadata

VERSION = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
_TABLES = (VERSION, *metadata.sorted_tables)
_STATISTICS = (("table", "sqlite_stat1"), ("table", "sqlite_stat4"))  # of ANALYZE

Facts = frozenset[tuple[str, str]]  # the name of a table, or of what is of one, and what it is


def difference(connection: Connection) -> str | None:
    """What is not as the migrations make it; None where everything is."""
    is_sqlite = connection.dialect.name == "sqlite"
    found = _in_sqlite(connection) if is_sqlite else _in_postgresql(connection)
    made = _made_in_sqlite() if is_sqlite else _made_in_postgresql()
    if not (odd := sorted(found ^ made)):
        return None
    name, what = odd[0]
    state = "is not as the migrations make it" if (name, what) in found else "is missing or changed"
    return f"schema: {name[:60]}: {what[:80]!r} {state}"


def damage(connection: Connection) -> str | None:
    """What the database finds wrong with its own files; None where it finds nothing."""
    if connection.dialect.name == "sqlite":
        said = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one())
        if said != "ok":
            return f"the file is damaged: {' '.join(said.split())[:200]}"
        if (row := connection.exec_driver_sql("PRAGMA foreign_key_check").first()) is not None:
            return f"{row[0]}: a row of it belongs to a row of {row[2]} that is missing"
    elif connection.execute(_AMCHECK).scalar_one():
        connection.execute(_CHECK_INDICES, {"names": [table.name for table in _TABLES]}).all()
    return None


def odd_value(connection: Connection) -> str | None:
    """Which table has a value of another type than its column; None where none has.

    SQLite holds any value in any column; PostgreSQL does not.
    """
    if connection.dialect.name != "sqlite":
        return None
    for table in metadata.sorted_tables:
        for column in table.columns:
            kind = "text" if isinstance(column.type, String) else "integer"
            asked = f'SELECT 1 FROM "{table.name}" WHERE typeof("{column.name}") <> \'{kind}\''
            if connection.exec_driver_sql(f"{asked} LIMIT 1").first() is not None:
                return f"{table.name}: a value of {column.name} is damaged: it must be {kind}"
    return None


def _in_sqlite(connection: Connection) -> Facts:
    listed = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master")
    return _worded(map(tuple, listed))


@lru_cache(maxsize=1)
def _made_in_sqlite() -> Facts:
    dialect = sqlite.dialect()
    connection = sqlite3.connect(":memory:")
    try:
        for table in _TABLES:
            connection.execute(str(CreateTable(table).compile(dialect=dialect)))
            for index in table.indexes:
                connection.execute(str(CreateIndex(index).compile(dialect=dialect)))
        return _worded(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))
    finally:
        connection.close()


def _worded(listed: Iterator[tuple[object, ...]]) -> Facts:
    """Each of these, without what two spellings of the same may differ in."""
    return frozenset(
        (str(name), f"{kind} of {table}: {_clauses(str(sql))}")
        for kind, name, table, sql in listed
        if (kind, name) not in _STATISTICS
    )


def _clauses(sql: str) -> str:
    """What a statement says, its clauses in alphabetical order, without spaces and quotes."""
    plain = " ".join(sql.replace('"', "").split())
    start, _, rest = plain.partition("(")
    inner, _, end = rest.rpartition(")")
    clauses, depth = [""], 0
    for letter in inner:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            clauses.append("")
        else:
            clauses[-1] += letter
    own = sorted(clause.strip().replace(" (", "(") for clause in clauses)
    return f"{start.strip()}({', '.join(own)}){end}" if rest else plain


# PostgreSQL. What is quoted depends on its version's keywords: quotes are taken away.
_CATALOGUE = text("""
WITH own AS (
    SELECT c.oid, c.relname, c.relkind, c.relpersistence, c.relrowsecurity, n.nspname
    FROM unnest(CAST(:names AS text[])) AS asked(name)
    JOIN pg_class c ON c.oid = to_regclass(quote_ident(asked.name))
    JOIN pg_namespace n ON n.oid = c.relnamespace)
SELECT relname, 'kind ' || CAST(relkind AS text) || CAST(relpersistence AS text)
    || CASE WHEN relrowsecurity THEN ', row security' ELSE '' END FROM own
UNION ALL
SELECT relname, attname || ' ' || format_type(atttypid, atttypmod)
    || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
    || CASE WHEN atthasdef OR attidentity <> '' THEN ' DEFAULT' ELSE '' END
    || CASE WHEN attcollation NOT IN (0, 100) THEN ' COLLATE' ELSE '' END
    FROM own JOIN pg_attribute ON attrelid = own.oid AND attnum > 0 AND NOT attisdropped
UNION ALL
SELECT relname, pg_get_constraintdef(k.oid) FROM own
    JOIN pg_constraint k ON conrelid = own.oid AND contype <> 'n'
UNION ALL
SELECT relname, replace(pg_get_indexdef(indexrelid), quote_ident(nspname) || '.', '')
    || CASE WHEN indisvalid AND indisready THEN '' ELSE ', not valid' END FROM own
    JOIN pg_index ON indrelid = own.oid
    WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND conrelid = own.oid)
UNION ALL
SELECT relname, 'trigger ' || tgname FROM own
    JOIN pg_trigger ON tgrelid = own.oid AND (NOT tgisinternal OR tgenabled <> 'O')
UNION ALL
SELECT relname, 'rule ' || rulename FROM own JOIN pg_rewrite ON ev_class = own.oid
UNION ALL
SELECT relname, 'inherited by others' FROM own JOIN pg_inherits ON inhparent = own.oid
""")
_AMCHECK = text("""
SELECT EXISTS (SELECT FROM pg_extension e JOIN pg_depend d ON d.refobjid = e.oid
    JOIN pg_proc p ON p.oid = d.objid AND d.classid = CAST('pg_proc' AS regclass)
    WHERE extname = 'amcheck' AND p.oid = to_regprocedure('bt_index_check(regclass,boolean)')
    AND has_function_privilege(p.oid, 'EXECUTE'))
""")
_CHECK_INDICES = text("""
SELECT bt_index_check(indexrelid, true) FROM unnest(CAST(:names AS text[])) AS asked(name)
    JOIN pg_index ON indrelid = to_regclass(quote_ident(asked.name)) AND NOT indcheckxmin
""")


def _in_postgresql(connection: Connection) -> Facts:
    names = [table.name for table in _TABLES]
    listed = connection.execute(_CATALOGUE, {"names": names}).all()
    return frozenset((str(name), str(what).replace('"', "")) for name, what in listed)


@lru_cache(maxsize=1)
def _made_in_postgresql() -> Facts:
    return frozenset((table.name, what) for table in _TABLES for what in _facts(table))


def _facts(table: Table) -> Iterator[str]:
    """What `_CATALOGUE` says of a table that is as it should be."""
    yield "kind rp"
    for column in table.columns:
        kind = column.type.compile(dialect=postgresql.dialect()).lower()  # type: ignore[no-untyped-call]
        yield f"{column.name} {kind.replace('varchar', 'character varying')} NOT NULL"
    for constraint in table.constraints:
        names = ", ".join(column.name for column in constraint.columns)  # type: ignore[attr-defined]
        if isinstance(constraint, ForeignKeys):
            [other] = constraint.elements
            target = other.column
            yield f"FOREIGN KEY ({names}) REFERENCES {target.table.name}({target.name})"
        else:
            yield f"{'UNIQUE' if isinstance(constraint, Unique) else 'PRIMARY KEY'} ({names})"
    for index in table.indexes:
        names = ", ".join(column.name for column in index.columns)
        yield f"CREATE INDEX {index.name} ON {table.name} USING btree ({names})"
