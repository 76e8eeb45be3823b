"""The file of a ledger on SQLite: for its owner only, and the same one for as long as it is open.

Whoever restores a copy puts another file in the place of the one that is open, which has no name
any more: what is written there is lost. SQLite does not look. So a writer compares what stands at
the path, and beside it the log and its index, with what its connection has opened, by device and
inode: an open file keeps its inode from being given to another.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from ..exact import ParameterError
from .errors import ReplacedError, UnavailableError

Inode = tuple[int, int] | None  # None where there is no file


@frozen
class Files:
    """What stands at the path of a ledger; of one that is written, its log and the log's index."""

    ledger: Inode
    log: tuple[Inode, ...] = ()

    def demand(self, now: Files) -> None:
        """Raise ReplacedError unless the same stands there now."""
        log = all(one in (None, other) for one, other in zip(self.log, now.log, strict=True))
        if self.ledger != now.ledger or not log:
            state = "was removed" if now.ledger is None else "is another than was opened"
            raise ReplacedError(
                f"the file of the ledger {state}: nothing is recorded; open it again"
            )


def standing(path: Path, writes: bool) -> Files:
    """What stands there."""
    real = os.path.realpath(path) if writes else ""
    return Files(
        _inode(path), tuple(_inode(f"{real}-{end}") for end in ("wal", "shm")) if writes else ()
    )


def find(path: str, shown: str, new: bool) -> Path:
    """The file of a ledger; of a new one it is made, if there is none.

    For its owner alone to read and to write; so are SQLite's files beside it, which have its mode.
    """
    try:
        if new:
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise UnavailableError(f"{shown!r}: {error.strerror}") from error
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError as error:
        raise ParameterError(f"URL: there is no ledger at {shown!r}") from error
    except OSError as error:
        raise ParameterError(f"URL: {shown!r}: {error.strerror}") from error
    if not stat.S_ISREG(kind):
        raise ParameterError(f"URL: not a regular file: {shown!r}")
    return Path(path)


def _inode(path: str | Path) -> Inode:
    try:
        found = os.stat(path)
    except OSError:  # also where its folder is gone, or is none any more
        return None
    return found.st_dev, found.st_ino
