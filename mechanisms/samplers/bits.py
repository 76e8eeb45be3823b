"""Where random bits come from. The type says which: nothing else tells a release from a simulation.

`SystemBits` draws from the operating system's CSPRNG: for real releases. `SeededBits` repeats
itself: for tests and simulation only, never for a release.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np

from ...exact.number import ParameterError

__all__ = ["RandomBits", "SeededBits", "SystemBits"]

_BUFFER = 256  # bytes fetched at a time: shifting a longer pool costs more than fetching


class RandomBits(Protocol):
    """A source of independent fair bits."""

    def take(self, count: int) -> int:
        """`count` >= 0 fresh fair bits, as an integer in 0, ..., 2^count - 1."""
        ...


class _Buffered:
    """Bits from a source of bytes, fetched in blocks; a bit is handed out once."""

    def __init__(self) -> None:
        self._pool, self._left = 0, 0

    def _bytes(self, count: int) -> bytes:
        raise NotImplementedError

    def take(self, count: int) -> int:
        if count < 0:
            raise ParameterError(f"count must be an integer >= 0, got {count}")
        while self._left < count:
            size = max(_BUFFER, (count - self._left + 7) // 8)
            self._pool |= int.from_bytes(self._bytes(size), "little") << self._left
            self._left += 8 * size
        found = self._pool & ((1 << count) - 1)
        self._pool >>= count
        self._left -= count
        return found


class SystemBits(_Buffered):
    """Bits of the operating system's CSPRNG, for real releases."""

    def _bytes(self, count: int) -> bytes:
        return os.urandom(count)


class SeededBits(_Buffered):
    """Bits that a seed determines, for tests and simulation only."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = np.random.default_rng(seed)

    def _bytes(self, count: int) -> bytes:
        return self._generator.bytes(count)
