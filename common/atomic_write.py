"""Files that are written whole or not at all: under a temporary name, then renamed.

What is there already is replaced only if it is a regular file, and its mode is kept: a device, a
fifo, a folder or a link is nothing that a rename may take the place of.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from ..exact.number import ParameterError
from .regular_file import refuse_others

_TEMPORARY = ".exactdp-"


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A temporary name beside the path; in the end renamed to it, or removed where work fails.

    Raises OSError where the folder cannot be written, or the path is no place for a regular file.
    """
    mode = _mode(path)
    temporary = path.with_name(f"{_TEMPORARY}{secrets.token_hex(8)}")
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        yield temporary
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())  # a rename must not outlive what it names
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def write_atomically(path: Path, text: str) -> None:
    """Write this text to the file, in UTF-8. Raises OSError where that cannot be done."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def remove_unfinished(folder: Path) -> None:
    """Remove what a process that was killed left in the folder, of which no other one writes."""
    for path in folder.glob(f"{_TEMPORARY}*"):
        path.unlink(missing_ok=True)


def check_target(path: Path, option: str) -> None:
    """Refuse, before anything is computed, a file that could not be written.

    Raises ParameterError, naming the option.
    """
    try:
        _mode(path)
        if not stat.S_ISDIR(os.stat(path.parent).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise ParameterError(
            f"{option} must be a file in a folder that exists, got {path}: {error.strerror}"
        ) from error


def _mode(path: Path) -> int | None:
    """The permissions of the file that is there; None where there is none yet."""
    try:
        found = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    except ValueError as error:  # a name that no file system can hold
        raise OSError(errno.EINVAL, "not a path", str(path)) from error
    refuse_others(found, path)
    return stat.S_IMODE(found)
