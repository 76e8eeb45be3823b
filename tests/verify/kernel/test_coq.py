"""What a compiler that never ends leaves behind: nothing. The compiler is one of our own."""

import os
import signal
import subprocess
import sys
import time

import pytest

from exactdp import OutOfTimeError, time_limit
from exactdp.verify.kernel import coq

ASKED = '#!/bin/sh\n[ "$1" = --version ] && exit\n'
RUN = "from pathlib import Path; from exactdp.verify.kernel.coq import run; run([], Path({!r}))"


@pytest.fixture
def endless(tmp_path, monkeypatch):
    """A coqc that says which process it is, and waits."""
    compiler, told = tmp_path / "coqc", tmp_path / "told"
    compiler.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exit\necho $$ > {told}\nexec sleep 60\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return told


def _told(file):
    deadline = time.monotonic() + 30
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return int(file.read_text())


def _ends(process):
    """It is gone, or dead and not yet waited for by whoever has inherited it."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
            with open(f"/proc/{process}/stat") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells of a parent's death")
@pytest.mark.parametrize(
    "how", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_it_ends_with_whoever_started_it(endless, tmp_path, how):
    with subprocess.Popen(
        [sys.executable, "-c", RUN.format(str(tmp_path))], stderr=subprocess.DEVNULL
    ) as parent:
        compiler = _told(endless)
        os.kill(compiler, 0)  # it runs
        parent.send_signal(how)
    assert _ends(compiler)


def test_it_ends_with_the_time(endless, tmp_path):
    with pytest.raises(OutOfTimeError), time_limit(0.5):
        coq.run([], tmp_path)
    with pytest.raises(ProcessLookupError):  # it was waited for
        os.kill(_told(endless), 0)


def test_processor_time_is_bounded_by_the_time_allowed(endless, tmp_path):
    """Where nothing tells of a parent's death, what it started still ends."""
    compiler = tmp_path / "coqc"
    compiler.write_text(f"{ASKED}ulimit -t\n")
    with time_limit(100):
        limited = int(coq.run([], tmp_path).output)
    assert 90 < limited <= 101
