"""Files that are written whole or not at all: under a temporary name, then renamed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["whole_file", "write_whole"]


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary name beside the path; in the end renamed to it, or removed where work fails.

    Raises OSError where the folder cannot be written.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield Path(name)
        with open(name, "rb") as written:
            os.fsync(written.fileno())  # a rename must not outlive what it names
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def write_whole(path: Path, text: str) -> None:
    """Write this text to the file, in UTF-8. Raises OSError where that cannot be done."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
