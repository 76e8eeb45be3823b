"""One run of tests in a process of its own, with the processor's time limited."""

import contextlib
import os
import resource
import signal
import sys
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from mutation.reach import SLOW

HUNG, PASSED = "hung", "passed"
_PATIENCE = 20  # seconds of the processor that a single test may take, and then it is endless
_WALL = 20  # times as long by the clock: other processes are at work
_IMPORTED = (  # by the server, once: what tests import and what is never mutated
    *("pytest", "hypothesis", "numpy", "scipy.special", "scipy.optimize", "scipy.stats"),
    *("mpmath", "sympy", "flint", "attrs", "sqlalchemy", "alembic", "typer.testing", "rich"),
)
_SERVER = get_context("forkserver")
_SERVER.set_forkserver_preload(list(_IMPORTED))


class _Watch:
    """Tells of the first test that fails, and ends the run when its seconds are over."""

    def __init__(self, seconds: float, over: str, told: Connection) -> None:
        self._seconds, self._over, self._told = seconds, over, told
        self._session: pytest.Session

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._told.send(report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._told.send(report.nodeid)
        if sum(os.times()[:4]) > self._seconds:  # of those that it started as well
            self._told.send(self._over)
            self._session.shouldstop = "time is over"


def _run(
    root: Path, tests: list[str], seconds: float, over: str, slow: bool, told: Connection
) -> None:
    os.setsid()
    limit = int(seconds + _PATIENCE)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    os.chdir(root)
    os.environ |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += SLOW if slow else ()
    code = pytest.main([*options, *tests], plugins=[_Watch(seconds, over, told)])
    broken = code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)
    told.send(tests[0] if broken else PASSED)  # where nothing else was told before


def outcome(
    root: Path, tests: list[str], seconds: float, over: str = PASSED, slow: bool = False
) -> str:
    """PASSED, HUNG, or the first test that fails; `over` where they take more than the seconds.

    slow: slow tests are run as well.
    """
    told, teller = _SERVER.Pipe(duplex=False)
    process = _SERVER.Process(target=_run, args=(root, tests, seconds, over, slow, teller))
    process.start()
    teller.close()
    try:
        if told.poll(_WALL * (seconds + _PATIENCE)):
            return str(told.recv())
        return HUNG
    except EOFError:  # ended by the limit on its time
        return HUNG
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.join()
