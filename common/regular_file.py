"""Reading files that somebody else may have made: regular ones only, and never more than allowed.

A fifo would be waited for and a device read for ever; both are refused like a file that is not
there, with an OSError whose `strerror` says why.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path


def open_regular(path: str | Path) -> BufferedReader:
    """Open a regular file to read its bytes. Raises OSError for anything else, without waiting."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except ValueError as error:  # a name that no file system can hold
        raise OSError(errno.EINVAL, "not a path", str(path)) from error
    mode = os.fstat(handle).st_mode
    try:
        refuse_others(mode, path)
    except OSError:
        os.close(handle)
        raise
    return open(handle, "rb")


def refuse_others(mode: int, path: str | Path) -> None:
    """Raise OSError for the mode of anything but a regular file."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_at_most(path: str | Path, size: int) -> bytes:
    """The whole content of a regular file. Raises OSError, also where it exceeds so many bytes."""
    with open_regular(path) as file:
        content = file.read(size + 1)
    if len(content) > size:
        raise OSError(errno.EFBIG, f"larger than {size} bytes", str(path))
    return content
