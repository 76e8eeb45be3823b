"""Check statements, several at a time; what is found does not depend on how many at a time."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager

from attrs import frozen

from ...exact.budget import OutOfTimeError, spend, time_limit
from ...exact.number import whole
from .finding import Finding, PaperClaim
from .registry import REGISTRY


@frozen
class Settled:
    """A statement and what was found; finding is None, and note says why, where it stayed open."""

    claim: PaperClaim
    finding: Finding | None
    note: str | None = None


def settle(
    claims: Sequence[PaperClaim],
    workers: int = 1,
    done: Callable[[PaperClaim], None] = lambda claim: None,
    seconds: float = math.inf,
) -> list[Settled]:
    """Check each statement of the registry; results in the order given.

    workers: processes, at least 1. done: told of each statement as soon as it is settled. seconds:
    for all of them; what is not settled by then stays open.
    """
    end = time.time() + seconds
    count = min(whole(workers, "workers", at_least=1), len(claims))
    if count <= 1:
        return [_told(_checked(claim, end), done) for claim in claims]
    # spawned, not forked: a progress display may run a thread
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent) as pool:
        with _interrupts_ignored():
            futures = {pool.submit(_named, claim.id, end): claim for claim in claims}
        found: dict[str, Settled] = {}
        for future in as_completed(futures):
            claim = futures[future]
            finding, note = future.result()
            found[claim.id] = _told(Settled(claim, finding, note), done)
    return [found[claim.id] for claim in claims]


def available_workers() -> int:
    """How many processes may run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _checked(claim: PaperClaim, end: float) -> Settled:
    try:
        with time_limit(max(end - time.time(), 0.0)):
            spend()
            finding = claim.check()
            spend()  # what was cut short tells nothing
            return Settled(claim, finding)
    except (OutOfTimeError, ArithmeticError, NotImplementedError) as error:  # stays open
        return Settled(claim, None, f"{type(error).__name__}: {error}")


def _named(name: str, end: float) -> tuple[Finding | None, str | None]:
    settled = _checked(REGISTRY[name], end)
    return settled.finding, settled.note


def _told(settled: Settled, done: Callable[[PaperClaim], None]) -> Settled:
    done(settled.claim)
    return settled


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """While workers start: they keep to it, so that an interrupt is for the parent alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end_with_parent() -> None:
    """In a worker: end at once when the parent has ended, however it did."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
