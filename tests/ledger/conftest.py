"""Where the tests keep ledgers: SQLite in a file, and a PostgreSQL server of their own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def _binaries() -> Path | None:
    """Where Debian puts the server, or wherever it is on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    other = shutil.which("initdb")
    return found[-1].parent if found else Path(other).parent if other else None


def _someone() -> str | None:
    """Who the server is run as: it refuses root."""
    if os.getuid() != 0:
        return None
    known = {each.pw_name for each in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


class Server:
    """A private server in a folder that is removed with it; it listens on a socket there only."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self.folder, self._binaries, self._user = folder, binaries, _someone()
        if self._user is not None:
            shutil.chown(folder, self._user)
        data = folder / "data"
        self._run("initdb", "-D", str(data), "-U", "tests", "-A", "trust", "-E", "UTF8", "-N")
        self._data = str(data)
        options = f"-k {folder} -h '' -c fsync=off -c max_connections=150"
        self._run("pg_ctl", "-D", self._data, "-w", "-o", options, "-l", f"{folder}/log", "start")
        psycopg = pytest.importorskip("psycopg")
        self._admin = psycopg.connect(self._url("postgres"), autocommit=True)

    def _run(self, name: str, *arguments: str) -> None:
        subprocess.run(
            [self._binaries / name, *arguments],
            user=self._user,
            cwd=self.folder,
            check=True,
            capture_output=True,
        )

    def url(self) -> str:
        """A database with nothing in it: whatever was there before is gone."""
        self._admin.execute("DROP DATABASE IF EXISTS ledger WITH (FORCE)")
        self._admin.execute("CREATE DATABASE ledger")
        return self._url("ledger")

    def _url(self, name: str) -> str:
        return f"postgresql://tests@/{name}?host={self.folder}"

    def stop(self) -> None:
        """At once."""
        self._admin.close()
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A server, where PostgreSQL is installed."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed: no initdb in /usr/lib/postgresql or on the path")
    pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="exactdp-"))
    try:
        server = Server(folder, binaries)
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a new ledger, on either database."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    server: Server = request.getfixturevalue("postgresql")
    return server.url()
