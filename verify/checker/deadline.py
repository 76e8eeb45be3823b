"""A limit of time for a check, so that no file can keep it busy for ever.

Whatever takes long goes through a few functions of `arithmetic`, which call `check_time`; numbers
and lists so large that a single step would take long are refused before. Its own, since the checker
shares no code with the prover; without signals, so that it works in any thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_end: ContextVar[float | None] = ContextVar("exactdp_checker_deadline", default=None)


class OutOfTimeError(Exception):
    """The time allowed is over: undecided. (No ArithmeticError: nothing was found out.)"""


def check_time() -> None:
    """Raise OutOfTimeError where the limit is over."""
    end = _end.get()
    if end is not None and time.monotonic() > end:
        raise OutOfTimeError("out of time: undecided")


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Allow so many seconds for the block, or what a block around it has left if that is less."""
    ends = (_end.get(), None if seconds is None else time.monotonic() + seconds)
    token = _end.set(min((end for end in ends if end is not None), default=None))
    try:
        yield
    finally:
        _end.reset(token)
