"""Files that specs name: read once, their content kept beside what was made of it.

What names a file means another mechanism when the file is another. So whoever writes a spec down
(a ledger) writes the content with it, and reads it back from there: `only_from` gives the contents,
and no path is opened then, whatever the text says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path

from attrs import frozen

from ...common.regular_file import read_at_most
from ...exact.number import ParameterError, located

_given: ContextVar[Mapping[str, bytes] | None] = ContextVar("given", default=None)
_noted: ContextVar[dict[str, bytes] | None] = ContextVar("noted", default=None)


@frozen
class Held:
    """A spec with the SHA-256 of its file's content in the place of the path, and that content."""

    text: str
    name: str  # what stands in the path's place; its suffix tells the format
    content: bytes

    @staticmethod
    def of(name: str, values: Mapping[str, str], content: bytes) -> Held:
        """The spec of this name and these keys, of which `file` names the file."""
        suffix = Path(values["file"]).suffix
        stands = sha256(content).hexdigest() + (suffix if suffix == ".npy" else "")
        said = sorted({**values, "file": stands}.items())
        return Held(f"{name}:{','.join(map('='.join, said))}", stands, content)


def read_named(path: Path, most: int) -> bytes:
    """The content of a file of at most so many bytes. Raises ParameterError, with the path."""
    if (given := _given.get()) is None:
        with located(path):
            content = read_at_most(path, most)
    elif str(path) in given:
        content = given[str(path)]
    else:
        raise ParameterError(f"an entry must not name a file: {str(path)[:60]!r}")
    if (noted := _noted.get()) is not None:
        noted[str(path)] = content
    return content


@contextmanager
def noting() -> Iterator[dict[str, bytes]]:
    """What is read in the block, by path."""
    found: dict[str, bytes] = {}
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


@contextmanager
def only_from(contents: Mapping[str, bytes]) -> Iterator[None]:
    """In the block these are all the files that there are."""
    token = _given.set(contents)
    try:
        yield
    finally:
        _given.reset(token)
