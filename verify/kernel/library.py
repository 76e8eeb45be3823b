"""The Coq library that the theorems are about, compiled once: `theory/`, its files in order."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from ...common.content_cache import default_cache
from .coq import CoqError, find_coq, run

_PACKAGE = "exactdp.verify.kernel"
_REQUIRED = re.compile(r"^From ExactDP Require Import ([\w ]+)\.$", re.M)


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
