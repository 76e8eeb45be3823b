"""Running Coq: `coqc` as found on the path, within the time and the memory allowed.

The library that the theorems are about, `theory/`, is compiled once, its files in order.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from attrs import frozen

from ...common.content_cache import default_cache
from ...exact import OutOfTimeError, ParameterError, time_left

MEMORY = 6 * 2**30  # bytes of address space that a proof may take
_LARGEST_FILE = 2**28  # bytes that it may write
_INSTALL = "apt install coq (Debian, Ubuntu), brew install coq, or opam install coq"
_LONGEST_MESSAGE = 300
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
_EXHAUSTED = re.compile(r"out of memory|stack overflow", re.I)
_PACKAGE = "exactdp.verify.kernel"
_REQUIRED = re.compile(r"^From ExactDP Require Import ([\w ]+)\.$", re.M)


class CoqError(RuntimeError):
    """Coq did not do what it has to; the message says what it said."""


@frozen
class Coq:
    """The compiler that is there, and what it says of itself."""

    path: str
    version: str


@frozen
class Run:
    """What came of compiling a file."""

    compiled: bool
    output: str
    message: str


def find_coq() -> Coq:
    """The compiler on the path. Raises ParameterError, with how to get it, where there is none."""
    path = shutil.which("coqc")
    if path is None:
        raise ParameterError(f"FILE: a theorem needs the Coq compiler coqc: {_INSTALL}")
    return Coq(path, _version(path))


@lru_cache(maxsize=4)
def _version(path: str) -> str:
    asked = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def run(arguments: Sequence[str], folder: Path) -> Run:
    """Compile in this folder, without any start-up file or search path of the user's.

    Nothing of it outlives this call, nor (on Linux) this process, however either ends.
    Raises OutOfTimeError where the time, or the memory, ends first.
    """
    return run_program([find_coq().path, "-q", "-noglob", "-w", "none", *arguments], folder)


def run_program(command: Sequence[str], folder: Path) -> Run:
    """Run a program of one's own in the same way; all that it says it says within the bounds."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    seconds = time_left()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=kept | {"HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=_confined(seconds),
    )
    try:
        output, errors = process.communicate(timeout=None if math.isinf(seconds) else seconds)
    except subprocess.TimeoutExpired:
        raise OutOfTimeError("it did not finish in the time allowed") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode < 0 or _EXHAUSTED.search(errors):
        raise OutOfTimeError("it needs more memory than it may take")
    message = " ".join(errors.split())[-_LONGEST_MESSAGE:]
    return Run(process.returncode == 0, output, message or f"exit code {process.returncode}")


def _confined(seconds: float) -> Callable[[], None]:
    """What the new process does first: it bounds its own memory, writing, time and life.

    A process killed outright ends nothing that it started. So the system is asked to: on Linux when
    the parent dies, elsewhere when the processor time, never more than the time allowed, is used.
    """
    import resource  # POSIX alone has it

    limits = {resource.RLIMIT_AS: MEMORY, resource.RLIMIT_FSIZE: _LARGEST_FILE}
    if math.isfinite(seconds):
        limits[resource.RLIMIT_CPU] = math.ceil(max(seconds, 0)) + 1
    # before the fork: a library may not be loaded safely after it
    control = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None
    parent = os.getpid()

    def confine() -> None:
        for kind, most in limits.items():
            _, hard = resource.getrlimit(kind)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, hard))
        if control is not None:
            control(_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:  # it died before it was asked
                os._exit(1)

    return confine


@lru_cache(maxsize=1)
def sources() -> dict[str, str]:
    """The text of each file by its name, each after those that it requires."""
    texts = {
        entry.name.removesuffix(".v"): entry.read_text(encoding="utf-8")
        for entry in files(_PACKAGE).joinpath("theory").iterdir()
        if entry.name.endswith(".v")
    }
    ordered: dict[str, str] = {}

    def add(name: str) -> None:
        for required in required_by(texts[name]):
            if required not in ordered:
                add(required)
        ordered[name] = texts[name]

    for name in sorted(texts):
        add(name)
    return ordered


def required_by(text: str) -> list[str]:
    """The files of the library that a Coq text requires."""
    return [name for found in _REQUIRED.findall(text) for name in found.split()]


def compiled(needed: list[str]) -> Path:
    """A folder with these files and those that they require compiled; takes half a minute once.

    It is kept under the hash of all sources and the version of Coq, and believed as the code is.
    Files that are ready stay ready when the time ends. Raises CoqError where one does not compile.
    """
    coq = find_coq()
    kept = hashlib.sha256(repr((coq.version, sources())).encode()).hexdigest()
    folder = default_cache() / "coq" / kept[:32]
    folder.mkdir(parents=True, exist_ok=True)
    wanted = _closure(needed)
    for name, text in sources().items():
        if name in wanted and not (folder / f"{name}.vo").exists():
            _compile(folder, name, text)
    return folder


def _closure(needed: list[str]) -> set[str]:
    found: set[str] = set()
    while needed:
        name = needed.pop()
        if name not in found:
            found.add(name)
            needed = [*needed, *required_by(sources()[name])]
    return found


def _compile(folder: Path, name: str, text: str) -> None:
    """Beside the folder first, then renamed: what is in the folder is whole."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
        made = Path(beside)
        (made / f"{name}.v").write_text(text, encoding="utf-8")
        for ready in folder.glob("*.vo"):
            shutil.copy(ready, made)
        outcome = run(["-R", str(made), "ExactDP", f"{name}.v"], made)
        if not outcome.compiled:
            raise CoqError(f"the library's {name}.v does not compile: {outcome.message}")
        (made / f"{name}.vo").rename(folder / f"{name}.vo")
