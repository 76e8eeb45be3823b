"""Where the tests keep ledgers: SQLite in a file, and a PostgreSQL server of their own."""

import os
import pwd
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _binaries() -> Path:
    """Where Debian puts the server, or wherever it is on the path; skips where it is not."""
    pytest.importorskip("psycopg")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if other := shutil.which("initdb"):
        found.insert(0, Path(other))
    if not found:
        pytest.skip("PostgreSQL is not installed: no initdb in /usr/lib/postgresql or on the path")
    return found[-1].parent


def _someone() -> str | None:
    """Who the server is run as: it refuses root."""
    if os.getuid() != 0:
        return None
    known = {each.pw_name for each in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


class Server:
    """A private server in a folder that is removed with it; it listens on a socket there only.

    most: how many bytes its files may have, if not as many as they like.
    """

    def __init__(self, folder: Path, binaries: Path, most: int | None = None) -> None:
        self.folder, self._binaries, self._user = folder, binaries, _someone()
        if self._user is not None:
            shutil.chown(folder, self._user)
        self._most, self._data = most, str(folder / "data")
        more = [] if most is None else ["--wal-segsize=1"]
        self._run(
            "initdb", "-D", self._data, "-U", "tests", "-A", "trust", "-E", "UTF8", "-N", *more
        )
        self.start()

    def start(self) -> None:
        """Again, after `kill`."""
        import psycopg

        options = f"-k {self.folder} -h '' -c fsync=off -c max_connections=150"
        log = f"{self.folder}/log"
        self._run("pg_ctl", "-D", self._data, "-w", "-o", options, "-l", log, "start")
        self._admin = psycopg.connect(self._url("postgres"), autocommit=True)

    def _run(self, name: str, *arguments: str) -> None:
        def limit() -> None:
            if self._most is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (self._most, self._most))

        subprocess.run(
            [self._binaries / name, *arguments],
            user=self._user,
            cwd=self.folder,
            check=True,
            capture_output=True,
            preexec_fn=limit,
        )

    def url(self) -> str:
        """A database with nothing in it: whatever was there before is gone."""
        self._admin.execute("DROP DATABASE IF EXISTS ledger WITH (FORCE)")
        self._admin.execute("CREATE DATABASE ledger")
        return self._url("ledger")

    def _url(self, name: str) -> str:
        return f"postgresql://tests@/{name}?host={self.folder}"

    def kill(self) -> None:
        """At once, as if it had crashed."""
        self._admin.close()
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")


@contextmanager
def _server(most: int | None = None) -> Iterator[Server]:
    found = _binaries()
    folder = Path(tempfile.mkdtemp(prefix="exactdp-"))
    try:
        server = Server(folder, found, most)
        yield server
        server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A server, where PostgreSQL is installed."""
    with _server() as server:
        yield server


@pytest.fixture
def narrow() -> Iterator[Server]:
    """A server for one test, none of whose files can have more than 3 MB."""
    with _server(3 * 2**20) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a new ledger, on either database."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    server: Server = request.getfixturevalue("postgresql")
    return server.url()
