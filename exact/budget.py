"""Limits of work and of time: what is computed inside one ends with what is known by then.

Whoever searches or sums says by `spend` how much work comes next, in units of about a microsecond.
`within` allows a block so many units: it ends at the same step on every machine, however busy.
`time_limit` is a limit of the clock besides, read where work is spent: only where it ends a
computation do digits depend on the machine. `share` gives a block a part of what is left of both.
What is quick is known in any case (`quickly`).

Limits live in context variables: no signal, no thread, and nothing global. Everything inside is a
pure function of its arguments, so that one that ends early leaves nothing half done; whoever has a
narrower answer than none catches `OutOfTimeError` and gives that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import update_wrapper
from typing import ParamSpec, TypeVar

from .errors import OutOfTimeError as OutOfTimeError
from .number import ExactInput, exact

_P = ParamSpec("_P")
_Answer = TypeVar("_Answer")
_Other = TypeVar("_Other")
SECOND = 1_000_000  # units, on the machine where they were measured
QUICK = 300_000  # units of what is quick
_LONGEST = 10**9  # seconds; whoever allows more sets no limit


class _Allowance:
    """Units that are left of a block's, and those of the block around it."""

    def __init__(self, left: float, outer: _Allowance | None, by_user: bool) -> None:
        self.left, self.outer, self.by_user = left, outer, by_user


_end: ContextVar[float] = ContextVar("exactdp_end", default=math.inf)
_last: ContextVar[float] = ContextVar(
    "exactdp_last", default=math.inf
)  # of a backstop, which nothing shares out
_allowance: ContextVar[_Allowance | None] = ContextVar("exactdp_allowance", default=None)


def spend(units: float = 1000) -> None:
    """Count the work that comes next. Raises OutOfTimeError where it, or the time, is not left."""
    allowance, is_done = _allowance.get(), False
    while allowance is not None:
        allowance.left -= units
        is_done |= allowance.left < 0
        allowance = allowance.outer
    if is_done:
        raise OutOfTimeError("the work allowed is done")
    if not time_left():
        raise OutOfTimeError("the time allowed is over")


def time_left() -> float:
    """How many seconds are left; infinite without a limit, never negative.

    >>> time_left()
    inf
    """
    return max(min(_end.get(), _last.get()) - time.monotonic(), 0.0)


def is_over() -> bool:
    """Has a limit of work or of time ended?"""
    allowance = _allowance.get()
    while allowance is not None and allowance.left >= 0:
        allowance = allowance.outer
    return allowance is not None or not time_left()


@contextmanager
def within(units: float, by_user: bool = False) -> Iterator[None]:
    """Allow the block so many units of work; one inside another can only have less.

    by_user: a user says how many: what is quick is known beside them.
    """
    token = _allowance.set(_Allowance(units, _allowance.get(), by_user))
    try:
        yield
    finally:
        _allowance.reset(token)


def budgeted(figure: Callable[_P, _Answer]) -> Callable[_P, _Answer]:
    """A function that ends with what it knows after so many units of work as its `budget` says."""

    def answered(*args: _P.args, **named: _P.kwargs) -> _Answer:
        budget = named.get("budget")
        if budget is None:
            return figure(*args, **named)
        units = exact(budget, "budget", at_least=1, at_most=_LONGEST * SECOND)
        with within(float(units), by_user=True):
            return figure(*args, **named)

    return update_wrapper(answered, figure)


@contextmanager
def time_limit(seconds: ExactInput) -> Iterator[None]:
    """Allow so many seconds for the block; a limit inside another one can only shorten it.

    What this package computes inside ends with what it knows by then; the caller's own code in the
    block is never interrupted.

    seconds: how many, at least 0; of the clock. Raises ParameterError for anything else.

    >>> import exactdp
    >>> with time_limit(10):
    ...     exactdp.mechanism("discrete-laplace:epsilon=0.1").pure()
    Enclosure(0.1, 0.1)
    """
    if not (isinstance(seconds, int | float) and seconds >= 0):
        seconds = exact(seconds, "seconds", at_least=0)
    with _until(_end, float(seconds) if seconds <= _LONGEST else math.inf):
        yield


@contextmanager
def backstop(seconds: float) -> Iterator[None]:
    """End the block after so many seconds, though nobody asked for a limit of time.

    It stops work that is counted badly, which a limit of work would let go on; `share` ignores it.
    """
    with _until(_last, seconds):
        yield


@contextmanager
def share(part: float) -> Iterator[None]:
    """Allow the block this part of the work that is left, and of the time if that has a limit.

    part: above 0, at most 1. Others have the rest, and what the block leaves.
    """
    around, left = _allowance.get(), max(_end.get() - time.monotonic(), 0.0)
    units = math.inf if around is None else part * max(around.left, 0.0)
    with _until(_end, part * left), within(units, around is not None and around.by_user):
        yield


@contextmanager
def _until(end: ContextVar[float], seconds: float) -> Iterator[None]:
    token = end.set(min(end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        end.reset(token)


@contextmanager
def unhurried() -> Iterator[None]:
    """Let the block end, whatever is left: it is short, and nothing is known without it."""
    end, last, around = _end.set(math.inf), _last.set(math.inf), _allowance.get()
    work = _allowance.set(None if around is not None and around.by_user else around)
    try:
        yield
    finally:
        _end.reset(end)
        _last.reset(last)
        _allowance.reset(work)


def in_time(ask: Callable[[], _Answer], nothing: _Other) -> _Answer | _Other:
    """What is asked for; nothing, where a limit ends first."""
    try:
        return ask()
    except OutOfTimeError:
        return nothing


def quickly(ask: Callable[[], _Answer], nothing: _Other, units: float = QUICK) -> _Answer | _Other:
    """What is asked for, in so many units, whatever else is left; nothing, where they end first."""
    with suppress(OutOfTimeError), unhurried(), within(units):
        return ask()
    return nothing


def in_any_case(ask: Callable[[], _Answer], nothing: _Other) -> _Answer | _Other:
    """What is asked for; where a limit ends first, what is quick of it."""
    try:
        return ask()
    except OutOfTimeError:
        return quickly(ask, nothing)
