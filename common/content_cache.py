"""What was computed, kept on disk as JSON under a hash of all that it depends on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from decimal import DecimalException
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen

from .atomic_write import write_atomically
from .regular_file import read_at_most

T = TypeVar("T")

_LARGEST = 30_000_000  # bytes of an entry
# what reading a file that holds something else may raise
_OTHER = (OSError, ValueError, LookupError, TypeError, AttributeError, DecimalException)


def default_cache() -> Path:
    """Where what was computed is kept: $EXACTDP_CACHE, else exactdp in the user's cache folder."""
    if chosen := os.environ.get("EXACTDP_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "exactdp"


@frozen
class ContentCache:
    """A folder with one file for each thing that was asked.

    Files are believed, as the code is: who can write to the folder can write to either.
    """

    folder: Path

    def find(self, asked: Mapping[str, Any], read: Callable[[Any], T]) -> T | None:
        """What was kept for this; None where it is not there, or does not read.

        asked: all that it depends on, for JSON. read: makes it of what the file holds; None, or any
        error that comes of other content, says that it is something else.
        """
        with contextlib.suppress(*_OTHER, RecursionError):
            return read(json.loads(read_at_most(self.path(asked), _LARGEST)))
        return None

    def keep(self, asked: Mapping[str, Any], found: object) -> None:
        """Keep it, as JSON. Raises OSError where it cannot be written."""
        path = self.path(asked)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(found))

    def path(self, asked: Mapping[str, Any]) -> Path:
        """The file of what was asked."""
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        return self.folder / f"{digest[:32]}.json"
