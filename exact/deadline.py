"""A limit of time: what is computed inside it ends with what is known by then, and never hangs.

Whoever searches or sums calls `check_time` now and then, or asks `time_left`. In the main thread of
a POSIX system an interval timer raises the same error between any two steps of Python as well, so
that no loop can be forgotten; elsewhere the calls of `check_time` have to do.

Everything inside is a pure function of its arguments, so that one that ends early leaves nothing
half done; whoever has a narrower answer than "anything" catches `OutOfTimeError` and gives that.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

__all__ = ["OutOfTimeError", "check_time", "time_left", "time_limit", "uninterrupted"]

_AGAIN = 0.5  # seconds after which the timer speaks up again, if somebody went on
_held: ContextVar[bool] = ContextVar("exactdp_uninterrupted", default=False)
_end: ContextVar[float] = ContextVar("exactdp_deadline", default=math.inf)
_rings: ContextVar[float] = ContextVar("exactdp_timer", default=math.inf)


class OutOfTimeError(ArithmeticError):
    """The time allowed is over; the message says how much it was."""


def time_left() -> float:
    """How many seconds are left; infinite without a limit, never negative."""
    return max(_end.get() - time.monotonic(), 0.0)


def check_time() -> None:
    """Raise OutOfTimeError where the limit is over."""
    if time.monotonic() > _end.get():
        raise OutOfTimeError("the time allowed is over")


@contextmanager
def time_limit(seconds: float, *, rings: bool = True) -> Iterator[None]:
    """Allow so many seconds for the block; a limit inside another one can only shorten it.

    rings: whether the timer interrupts the block; if not, the limit is one to share out by
    `time_left` among limits inside.
    """
    end = min(_end.get(), time.monotonic() + seconds)
    outer = _rings.get()
    token, ringing = _end.set(end), _rings.set(min(outer, end) if rings else outer)
    before = _arm(end) if rings else None
    try:
        yield
    finally:
        _end.reset(token)
        _rings.reset(ringing)
        _disarm(before, outer)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold the timer back while C code calls Python, which an error must not cross.

    The block must be short, or ask `time_left` itself; afterwards the limit counts again.
    """
    token = _held.set(True)
    try:
        yield
    finally:
        _held.reset(token)
    check_time()


def _arm(end: float) -> object:
    """Set the timer; the handler that was there before, None where there is no timer."""
    if (
        not math.isfinite(end)
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        return None
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, max(end - time.monotonic(), 1e-6), _AGAIN)
    return before if before is not None else signal.SIG_DFL


def _disarm(before: object, outer: float) -> None:
    if before is None:
        return
    if math.isfinite(outer):
        signal.setitimer(signal.ITIMER_REAL, max(outer - time.monotonic(), 1e-6), _AGAIN)
    else:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)  # type: ignore[arg-type]


def _ring(number: int, frame: FrameType | None) -> None:
    if not _held.get():
        check_time()
