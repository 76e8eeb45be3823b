"""Where random bits come from. The type says which: nothing else tells a release from a simulation.

`SystemBits` draws from the operating system's CSPRNG: for real releases. `SeededBits` repeats
itself: for tests and simulation only, never for a release. What makes a release asks `for_release`
and so takes no others; what may be either marks what it made of others (`is_simulated`).
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Final, Protocol

import numpy as np

from ...exact.number import ParameterError, whole

_BUFFER = 256  # bytes fetched at a time: shifting a longer pool costs more than fetching


class RandomBits(Protocol):
    """A source of independent fair bits.

    >>> class Coins:  # for a simulation: a release is drawn from `SystemBits` alone
    ...     def __init__(self):
    ...         self.rng = np.random.default_rng(0)
    ...     def take(self, count):
    ...         return int("0" + "".join(map(str, self.rng.integers(2, size=count))), 2)
    >>> from exactdp.mechanisms import DiscreteLaplace
    >>> from exactdp.mechanisms.samplers import draw
    >>> len(draw(DiscreteLaplace(10), Coins(), 3))
    3
    """

    def take(self, count: int) -> int:
        """`count` >= 0 fresh fair bits, as an integer in 0, ..., 2^count - 1."""


class _Buffered:
    """Bits from a source of bytes, fetched in blocks; a bit is handed out once.

    One lock: two threads that read the pool at the same time would get the same bits.
    """

    def __init__(self) -> None:
        self._pool, self._left, self._lock = 0, 0, threading.Lock()

    def _bytes(self, count: int) -> bytes:
        raise NotImplementedError

    def take(self, count: int) -> int:
        if count < 0:
            raise ParameterError(f"count must be an integer >= 0, got {count}")
        with self._lock:
            if self._left < count:
                size = max(_BUFFER, (count - self._left + 7) // 8)
                self._pool |= int.from_bytes(self._bytes(size), "little") << self._left
                self._left += 8 * size
            found = self._pool & ((1 << count) - 1)
            self._pool >>= count
            self._left -= count
            return found


class SystemBits(_Buffered):
    """Bits of the operating system's CSPRNG, for real releases.

    What is buffered is never handed out twice: a forked process and a copy (a pickled one as well)
    start with an empty buffer, and threads may share one source.

    >>> 0 <= SystemBits().take(8) < 256
    True
    """

    def __init__(self) -> None:
        super().__init__()
        _SOURCES.add(self)

    def _bytes(self, count: int) -> bytes:
        return os.urandom(count)

    def __reduce__(self) -> tuple[type[SystemBits], tuple[()]]:
        return SystemBits, ()


class SeededBits(_Buffered):
    """Bits that a seed determines, for tests and simulation only.

    seed: an integer >= 0. Raises ParameterError for anything else.

    >>> SeededBits(1).take(8) == SeededBits(1).take(8)
    True
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = np.random.default_rng(whole(seed, "seed", at_least=0))

    def _bytes(self, count: int) -> bytes:
        return self._generator.bytes(count)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("SeededBits cannot be copied: make another one from another seed")


class SimulationError(ParameterError):
    """Bits that are good for a simulation only were given for a release."""


class NoSamplerError(ParameterError):
    """Nothing draws from this mechanism, whatever is asked of it."""


class SimulatedInt(int):
    """An integer that was drawn in a simulation: equal to the number, and never a release."""

    def __repr__(self) -> str:
        return f"SimulatedInt({int(self)})"

    def __str__(self) -> str:
        return int.__repr__(self)


def is_simulated(bits: RandomBits) -> bool:
    """Is this anything but the operating system's CSPRNG?"""
    return not isinstance(bits, SystemBits)


def for_release(bits: RandomBits) -> SystemBits:
    """The same bits, if a release may be made of them. Raises SimulationError for all others."""
    if not isinstance(bits, SystemBits):
        raise SimulationError(
            f"bits must be SystemBits() for a release, got {type(bits).__name__}: "
            "use simulated_release"
        )
    return bits


_SOURCES: Final[weakref.WeakSet[SystemBits]] = weakref.WeakSet()


def _forget() -> None:
    """In a forked process: its parent hands out what is in the buffers, and may hold the locks."""
    for source in _SOURCES:
        _Buffered.__init__(source)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
