"""Which clock limits of time are read on, and when nobody is interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

held: ContextVar[bool] = ContextVar("exactdp_uninterrupted", default=False)
clock: ContextVar[Callable[[], float]] = ContextVar("exactdp_clock", default=time.monotonic)
# seconds of each clock that went by while modules were loaded: no limit counts them
_loading = {time.monotonic: 0.0, time.thread_time: 0.0}


def now() -> float:
    """Seconds on the clock in force, but for those in which modules were loaded."""
    return clock.get()() - _loading[clock.get()]


@contextmanager
def off_the_clock() -> Iterator[None]:
    """Load a module: that is start-up wherever it happens, and no limit counts it.

    A timer that rings meanwhile is not heard, and rings again.
    """
    started, token = {each: each() for each in _loading}, held.set(True)
    try:
        yield
    finally:
        held.reset(token)
        for each, start in started.items():
            _loading[each] += each() - start
