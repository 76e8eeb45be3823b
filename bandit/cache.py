"""Finished shares of runs on disk, so that an interrupted sweep goes on where it stopped."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from ..exact.atomic_write import write_atomically
from ..exact.number import ParameterError
from ..exact.regular_file import read_at_most
from .results import Share

__all__ = ["RunCache"]

_VERSION = 1  # of the numbers that a configuration gives: to be raised when these change
_LARGEST = 30_000_000  # bytes of a share


class RunCache:
    """A folder of shares, in one subfolder for each configuration; None keeps nothing."""

    def __init__(self, folder: Path | None, identity: dict[str, Any]) -> None:
        text = json.dumps({"version": _VERSION, **identity}, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:24]
        self._folder = None if folder is None else folder / digest
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                write_atomically(self._folder / "configuration.json", text + "\n")
            except OSError as error:
                raise ParameterError(f"resume: {folder}: {error.strerror or error}") from error

    def find(self, first: int, count: int) -> Share | None:
        """The share of these runs; None where it is not there, or does not read."""
        if self._folder is None:
            return None
        with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
            share = Share.from_json(json.loads(read_at_most(self._path(first, count), _LARGEST)))
            lists = (share.regret, share.pulls, share.eliminated, share.batches)
            if share.first == first and all(len(each) == count for each in lists):
                return share
        return None

    def keep(self, share: Share) -> None:
        """Put a share into the cache. Raises ParameterError where it cannot be written."""
        if self._folder is not None:
            path = self._path(share.first, len(share.regret))
            try:
                write_atomically(path, json.dumps(share.to_json()))
            except OSError as error:
                raise ParameterError(f"resume: {path}: {error.strerror or error}") from error

    def _path(self, first: int, count: int) -> Path:
        assert self._folder is not None
        return self._folder / f"runs-{first}-{first + count - 1}.json"
