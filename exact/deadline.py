"""A limit of time: what is computed inside it ends with what is known by then, and never hangs.

Whoever searches or sums calls `check_time` now and then, or asks `time_left`. In the main thread of
a POSIX system an interval timer raises the same error between any two steps of this package as
well, but for imports, so that no loop can be forgotten; elsewhere the calls of `check_time` have to
do. Whoever calls the package is not interrupted, and gets the timer and its handler back.

What is quick comes first, in a `grace` of processor time that a busy machine does not shorten.

Everything inside is a pure function of its arguments, so that one that ends early leaves nothing
half done; whoever has a narrower answer than "anything" catches `OutOfTimeError` and gives that.
"""

from __future__ import annotations

import contextlib
import gc
import math
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, TypeVar, cast

from attrs import frozen

from .clock import clock, held, now
from .errors import OutOfTimeError as OutOfTimeError
from .number import ExactInput, exact

_Answer = TypeVar("_Answer")
_Other = TypeVar("_Other")
_CLOSE = 0.005  # seconds before the end that are as good as none
_AGAIN = 0.5  # seconds after which the timer speaks up again, if somebody went on
_OFTEN = 0.02  # the same where it counts processor time, of which it knows no more than to look
_SOON = 0.0005  # seconds in which a limit is set or taken back
_LONGEST = 10**9  # seconds: no timer counts many more, and whoever allows them sets no limit
_LATE = 2.0  # seconds of the processor that all graces of one answer may take after its limit
_LEAST = 0.05  # seconds that each has all the same: what is cheapest is known in them
_OVER = 0.5  # of what such little shares add up to besides, before there is all but none
_EACH = 0.3  # seconds that each answer has, though others under the same limit took theirs
_PACKAGE = f"{__name__.partition('.')[0]}."
_LIMITS = (__file__, contextlib.__file__)
_end: ContextVar[float] = ContextVar("exactdp_deadline", default=math.inf)
_rings: ContextVar[float] = ContextVar("exactdp_timer", default=math.inf)
_late: ContextVar[list[float] | None] = ContextVar("exactdp_late", default=None)
_pool: ContextVar[list[float] | None] = ContextVar("exactdp_pool", default=None)


def time_left() -> float:
    """How many seconds are left; infinite without a limit, never negative.

    >>> time_left()
    inf
    """
    return max(_end.get() - now(), 0.0)


def check_time() -> None:
    """Raise OutOfTimeError where the limit is over."""
    if now() > _end.get():
        raise OutOfTimeError("the time allowed is over")


@contextmanager
def time_limit(seconds: ExactInput, *, rings: bool = True) -> Iterator[None]:
    """Allow so many seconds for the block; a limit inside another one can only shorten it.

    What this package computes inside ends with what it knows by then; the caller's own code in the
    block is never interrupted. A timer of the caller's is stopped meanwhile, and then goes on.

    rings: whether the timer interrupts the block; if not, the limit is one to share out by
    `time_left` among limits inside.

    seconds: how many, at least 0; of the clock. Raises ParameterError for anything else.

    >>> import exactdp
    >>> with time_limit(10):
    ...     exactdp.mechanism("discrete-laplace:epsilon=0.1").pure()
    Enclosure(0.1, 0.1)
    """
    if not (isinstance(seconds, int | float) and seconds >= 0):
        seconds = exact(seconds, "seconds", at_least=0)
    end = min(_end.get(), now() + float(seconds) if seconds <= _LONGEST else math.inf)
    outer = _rings.get()
    if now() > outer and not held.get():
        raise OutOfTimeError("the time allowed is over")
    first = math.isinf(_end.get()) and math.isfinite(end) and _late.get() is None
    pool = _pool.set([_LATE] if first else _pool.get())
    token, ringing = _end.set(end), _rings.set(min(outer, end) if rings else outer)
    armed, theirs = rings and math.isfinite(end) and _has_timer(), None
    try:
        if armed:
            theirs = _taken()
            _ring_at(end)
        yield
    finally:
        _rings.reset(ringing)
        _end.reset(token)
        _pool.reset(pool)
        if armed and theirs is None:
            _ring_at(outer)
        elif theirs is not None:
            theirs.give_back()


@contextmanager
def grace(seconds: float) -> Iterator[None]:
    """Allow the block so many seconds of this thread's processor time, and no limit outside of it.

    For what takes little, so that it is known before a limit ends, however busy the machine is and
    also where the limit is over. Limits inside count processor time as well. Those of `one_answer`
    share what they take after the limit's end: each has at most half of what is left of that.
    """
    left, late = time_left(), _late.get() or [math.inf]
    known = late[0]
    outer, before = _rings.get(), clock.set(time.thread_time)
    started = now()
    tokens = _end.set(math.inf), _rings.set(math.inf), held.set(False)
    try:
        least = _LEAST if known > -_OVER else _CLOSE
        with time_limit(min(seconds, left + max(known / 2, least))):
            yield
    finally:
        late[0] = min(late[0], known - max(now() - started - left, 0.0))
        held.reset(tokens[2])
        _rings.reset(tokens[1])
        _end.reset(tokens[0])
        clock.reset(before)
        if math.isfinite(outer) and _has_timer():
            _ring_at(outer)
            _noticed()  # what was found in it is not lost to a limit that is over


@contextmanager
def one_answer() -> Iterator[None]:
    """Let all graces in the block share a little time, however many are asked for.

    Else a limit would be kept to no more than the time of one, times their number. Inside of
    another one it is part of that answer. Of several under one limit each has half of what is left
    of the time of one, and a little in any case.
    """
    known, pool = _late.get(), _pool.get()
    late = known or [
        _LATE if pool is None else max(pool[0] / 2, _EACH if pool[0] > -_OVER else _LEAST)
    ]
    before, token = late[0], _late.set(late)
    try:
        yield
    finally:
        if known is None and pool is not None:
            pool[0] -= before - late[0]
        _late.reset(token)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold the timer back while C code calls Python, which an error must not cross.

    The block must be short, or ask `time_left` itself; afterwards the limit counts again. An error
    that crosses it all the same, the user's interrupt, is raised as what it was.
    """
    token = held.set(True)
    try:
        yield
    except Exception as error:
        origin: BaseException | None = error
        while isinstance(origin, Exception):
            origin = origin.__cause__ or origin.__context__
        if origin is None:
            raise
        raise origin from None
    finally:
        held.reset(token)
    check_time()


@contextmanager
def finishing() -> Iterator[None]:
    """Hold the timer back while an answer is put together: quick, and nothing raises at its end."""
    token = held.set(True)
    try:
        yield
    finally:
        _noticed()
        held.reset(token)


def told(ask: Callable[[], _Answer], nothing: _Other) -> _Answer | _Other:
    """What is asked for; nothing, where the time ends first. The caller is not interrupted."""
    before = held.get()
    outer, found = held.set(True), cast("_Answer | _Other", nothing)
    try:
        inner = held.set(before)  # only in here the timer is heard
        try:
            found = ask()
        finally:
            held.reset(inner)
    except OutOfTimeError:
        pass
    finally:
        _noticed()
        held.reset(outer)
    return found


@contextmanager
def where_possible() -> Iterator[None]:
    """Go on behind the block where it cannot be done so: an ArithmeticError, not the end of time.

    What comes instead is not what is found in too little time: that may be kept.
    """
    try:
        yield
    except OutOfTimeError:
        raise
    except ArithmeticError:
        pass


def _noticed() -> None:
    """Whoever answers because the time is all but over is not told so again at once."""
    if _has_timer() and now() > _rings.get() - _CLOSE:
        signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)


@frozen
class _Theirs:
    """Somebody else's handler of the timer's signal, and their timer as it stood when."""

    handler: Any  # None: of C code, which cannot be put back
    left: float
    again: float
    at: float

    def give_back(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self.handler is not None:
            # a last ring of ours that is on its way is dropped by this, and kills nobody
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            signal.signal(signal.SIGALRM, self.handler)
        if self.left:
            left = max(self.left - (time.monotonic() - self.at), _SOON)
            signal.setitimer(signal.ITIMER_REAL, left, self.again)


def _taken() -> _Theirs | None:
    """Hear the timer; None where that is done already."""
    if signal.getsignal(signal.SIGALRM) is _ring:
        return None
    left, again = signal.setitimer(signal.ITIMER_REAL, 0)
    return _Theirs(signal.signal(signal.SIGALRM, _ring), left, again, time.monotonic())


def _has_timer() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "setitimer")


def _ring_at(end: float) -> None:
    """Set the timer; not at all for an infinite end."""
    seconds = max(end - now(), _SOON) if math.isfinite(end) else 0.0
    again = _AGAIN if clock.get() is time.monotonic else _OFTEN
    signal.setitimer(signal.ITIMER_REAL, seconds, again if seconds else 0.0)


def _ring(number: int, frame: FrameType | None) -> None:
    if now() <= _rings.get() or held.get() or _imports(frame) or not _is_ours(frame):
        return
    if frame is not None and (frame.f_code.co_filename in _LIMITS or _is_lost_in(frame)):
        # a limit half set or half taken back would stay so: when that is done
        signal.setitimer(signal.ITIMER_REAL, _SOON, _AGAIN)
        return
    raise OutOfTimeError("the time allowed is over")


def _imports(frame: FrameType | None) -> bool:
    """Is a module being imported? Half of one may not load again, and its lock swallows errors."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _is_ours(frame: FrameType | None) -> bool:
    """Does this package compute? Whoever calls it between two figures would lose them all."""
    while frame is not None:
        if f"{frame.f_globals.get('__name__')}.".startswith(_PACKAGE):
            return True
        frame = frame.f_back
    return False


def _is_lost_in(frame: FrameType | None) -> bool:
    """Would an error be printed and forgotten? Of what the interpreter calls it is nobody's."""
    called = {getattr(each, "__code__", None) for each in gc.callbacks}
    hook = getattr(sys.unraisablehook, "func", sys.unraisablehook)  # may be a partial
    called.add(getattr(hook, "__code__", None))
    while frame is not None:
        if frame.f_code in called or frame.f_code.co_name == "__del__":
            return True
        if frame.f_code.co_filename == weakref.__file__:
            return True
        frame = frame.f_back
    return False
