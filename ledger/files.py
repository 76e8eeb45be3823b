"""The file of a ledger on SQLite: for its owner only, and the same one for as long as it is open.

Whoever restores a copy puts another file in the place of the one that is open, which has no name
any more: what is written there is lost. SQLite does not look. So a writer compares what stands at
the path, and beside it the log and its index, with what its connection has opened, by device and
inode: an open file keeps its inode from being given to another.

*One name.* SQLite names the log after the path, so that under a second name (a hard link; the file
alone mounted elsewhere, as containers do) the same file has a second log, and locks of its own: two
processes charge, and one charge is lost. So a file of several links is refused; and who opens it
holds, for as long, a read lock on the one byte of the file's inode that its name picks (`Hold`).
Whoever finds another byte locked is refused. What a log holds after a crash must continue what the
file itself says, by its mark (`mark`), or the log is of another history and nothing is read.

*Forks.* SQLite keeps the locks of a process in its memory, and a child inherits that memory but not
the locks: forked while its parent wrote, it would wait for itself for ever. It is told so.
"""

from __future__ import annotations

import os
import stat
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from attrs import frozen

from ..exact import ParameterError
from .errors import ReplacedError, UnavailableError

try:
    import fcntl

    _LOCKS = hasattr(fcntl, "F_OFD_SETLK")  # Linux: locks of an open file, not of a process
except ImportError:  # pragma: no cover
    _LOCKS = False

Inode = tuple[int, int] | None  # None where there is no file
Mark = tuple[int, int]  # the header's user_version and application_id

_NAMES, _MOST = 2**61, 2**57  # bytes that names pick: far beyond what a file of SQLite's has
MARKS = "user_version", "application_id"
_MARKED = slice(60, 72)
_SEVERAL = (
    "the file has another name (a hard link): SQLite keeps a log for each name, and charges by one "
    "would not be seen by the other; leave it one name"
)


@frozen
class Files:
    """What stands at the path of a ledger; of one that is written, its log and the log's index."""

    ledger: Inode
    log: tuple[Inode, ...] = ()
    links: int = 1

    def demand(self, now: Files) -> None:
        """Raise ReplacedError unless the same stands there now, UnavailableError for two names."""
        log = all(one in (None, other) for one, other in zip(self.log, now.log, strict=True))
        if self.ledger != now.ledger or not log:
            state = "was removed" if now.ledger is None else "is another than was opened"
            raise ReplacedError(
                f"the file of the ledger {state}: nothing is recorded; open it again"
            )
        if now.links > 1:
            raise UnavailableError(_SEVERAL)


def standing(path: Path, writes: bool) -> Files:
    """What stands there."""
    real = os.path.realpath(path) if writes else ""
    try:
        links = os.stat(path).st_nlink
    except OSError:
        links = 1
    log = tuple(_inode(f"{real}-{end}") for end in ("wal", "shm")) if writes else ()
    return Files(_inode(path), log, links)


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
        found = os.stat(path)
    except FileNotFoundError as error:
        raise ParameterError(f"URL: there is no ledger at {shown!r}") from error
    except OSError as error:
        raise ParameterError(f"URL: {shown!r}: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise ParameterError(f"URL: not a regular file: {shown!r}")
    if found.st_nlink > 1:
        raise ParameterError(f"URL: {shown!r}: {_SEVERAL}")
    return Path(path)


class Hold:
    """The lock that keeps a file to one name; all of a process share it, and its open file.

    Closing any open file of an inode drops what locks SQLite has there in this process. So there is
    one for each inode, closed when nobody in the process needs it any more.
    """

    def __init__(self, path: Path) -> None:
        """Raises UnavailableError where the file is open under another name."""
        self._key: Inode = None
        try:
            self._open(path)
        except OSError as error:
            if isinstance(error, UnavailableError):
                raise
            raise UnavailableError(f"the file cannot be read: {error.strerror}") from error

    def _open(self, path: Path) -> None:
        found = os.stat(path)
        self._key = found.st_dev, found.st_ino
        byte = _byte_of(path)
        with _guard:
            held = _open_files.get(self._key)
            self._handle, count, same = held or (os.open(path, os.O_RDONLY), 0, byte)
            _open_files[self._key] = self._handle, count + 1, same
        _keep_one_name(self._handle, byte, byte == same)

    def close(self) -> None:
        """It is needed no more."""
        key, self._key = self._key, None
        with _guard:
            handle, count, byte = _open_files.pop(key, (-1, 0, 0))
            if count > 1:
                _open_files[key] = handle, count - 1, byte
            elif count == 1:
                os.close(handle)

    __del__ = close

    def mark(self) -> Mark:
        """What the file itself says, whatever its log has."""
        return read_mark(os.pread(self._handle, 100, 0))


def _byte_of(path: Path) -> int:
    """Which byte is locked for a name: what SQLite calls the log by, the folder and the name in it.

    Of two names the bytes are the same with probability 2^-56.
    """
    real = os.path.realpath(path)
    folder = os.stat(os.path.dirname(real))
    name = f"{folder.st_dev}:{folder.st_ino}:".encode() + os.fsencode(os.path.basename(real))
    return _NAMES + 1 + int.from_bytes(sha256(name).digest()[:7], "big")


def _keep_one_name(handle: int, own: int, alone: bool) -> None:
    """Lock the byte of this name, then look whether another is locked: of two, one sees the other.

    alone: does this process use no other name? The kernel does not tell it of its own locks.
    """
    if not _LOCKS:  # pragma: no cover
        return
    try:
        fcntl.fcntl(handle, fcntl.F_OFD_SETLK, _lock(fcntl.F_RDLCK, own, 1))
        for start, end in ((_NAMES, own), (own + 1, _NAMES + _MOST)):
            asked = _lock(fcntl.F_WRLCK, start, end - start)
            found = fcntl.fcntl(handle, fcntl.F_OFD_GETLK, asked)
            alone = alone and struct.unpack_from("h", found)[0] == fcntl.F_UNLCK
    except OSError as error:
        raise UnavailableError(f"the file cannot be locked: {error.strerror}") from error
    if not alone:
        raise UnavailableError(
            "the file is open under another name (it is mounted elsewhere by itself): "
            "mount its folder instead, so that all use one log"
        )


def _lock(kind: int, start: int, length: int) -> bytes:
    """The C library's struct flock."""
    return struct.pack("hhqqi0q", kind, os.SEEK_SET, start, length, 0)


def read_mark(header: bytes) -> Mark:
    """The mark in the first bytes of a file of SQLite's; (0, 0) in a new one."""
    version, _, application = struct.unpack(">iii", header[_MARKED].ljust(12, b"\0"))
    return version, application


def mark_of(digest: str) -> Mark:
    """The mark of a chain that ends with this hash: its first 14 digits."""
    return int(digest[:7], 16), int(digest[7:14], 16)


def demand_history(execute: Callable[..., Any], own: Mark) -> None:
    """Raise ReplacedError unless what a connection sees continues what the file itself says.

    execute: of the connection, which sees its log as well. own: of the file, read before.
    """
    seen = tuple(execute(f"PRAGMA {name}").fetchone()[0] for name in MARKS)
    if own in ((0, 0), seen):  # nothing: written by a version that made no marks
        return
    asked = "SELECT 1 FROM charges WHERE substr(hash, 1, 14) = ?"
    if execute(asked, (f"{own[0]:07x}{own[1]:07x}",)).fetchone() is None:
        raise ReplacedError(
            "the file and its log (-wal) are of different histories: the file was written under "
            "another name, or replaced, while the log was not in it yet; nothing is recorded"
        )


@contextmanager
def writing(key: Inode) -> Iterator[None]:
    """While this process writes: a child that is forked meanwhile cannot use the file.

    Raises UnavailableError in such a child.
    """
    process = os.getpid()
    if key in _inherited:
        raise UnavailableError(_FORKED)
    with _guard:
        _written[key] += 1
    try:
        yield
        if os.getpid() != process:
            raise UnavailableError(_FORKED)
    finally:
        if os.getpid() == process:
            with _guard:
                _written[key] -= 1


_FORKED = (
    "this process was forked while its parent wrote into the ledger, and has no locks of its own: "
    "start another process, before a transaction or by multiprocessing's `spawn`"
)
_guard = threading.Lock()
_open_files: dict[Inode, tuple[int, int, int]] = {}  # the handle, its users, the byte
_written: Counter[Inode] = Counter()  # by inode: how many threads write
_inherited: set[Inode] = set()  # those that the parent wrote when it forked


def _in_child() -> None:
    global _guard
    _guard = threading.Lock()
    _inherited.update(key for key, count in _written.items() if count)
    _written.clear()


os.register_at_fork(after_in_child=_in_child)


def _inode(path: str | Path) -> Inode:
    try:
        found = os.stat(path)
    except OSError:  # also where its folder is gone, or is none any more
        return None
    return found.st_dev, found.st_ino
