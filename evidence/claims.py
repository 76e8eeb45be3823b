"""The papers' statements: what each says, what is certain about it, and the check that shows it.

A row of `claims.toml` holds the words, a function below `papers` the check: it returns the
certified figures that the words tell, and raises NotProvedError unless all that they say is
certain. A grid is never called a proof: the scope says what was shown.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from itertools import chain
from string import Formatter
from typing import Any, Literal

from attrs import frozen

from ..exact.budget import OutOfTimeError, spend, time_limit
from ..exact.enclosure import Enclosure
from ..exact.number import whole
from .papers.proofs import Figures
from .stated import read_rows

Truth = Literal["HOLDS", "HOLDS_CORRECTED", "FAILS"]
Scope = Literal["proved", "certified at points", "witness"]


@frozen
class PaperClaim:
    """What is known of a statement, once its check has passed.

    id, source, statement  its name, where it stands, and what it says
    verdict                HOLDS, HOLDS_CORRECTED (false as written) or FAILS
    scope                  proved (symbolically, or in intervals over a whole continuous range);
                           certified at points (of a stated grid, and nothing beyond); witness
    check                  MODULE:FUNCTION below `papers`
    evidence               what was shown; {name} stands for a figure of the check, and a line that
                           names a list of figures stands once for each of its elements
    correction             the smallest change that makes it true, itself checked, where one is
                           needed and known
    """

    id: str
    source: str
    statement: str
    verdict: Truth
    scope: Scope
    check: str
    evidence: Mapping[str, str]
    correction: str | None = None

    def checked(self) -> dict[str, str]:
        """The evidence, every figure computed now. Raises where the check does not pass."""
        figures = check_named(self.check)() or {}
        lines = (_filled(name, text, figures) for name, text in self.evidence.items())
        return dict(chain.from_iterable(lines))


@frozen
class Settled:
    """A statement and its evidence; None, and a note that says why, where it stayed open."""

    claim: PaperClaim
    evidence: Mapping[str, str] | None
    note: str = ""


class _Words(Formatter):
    """Texts with figures; all digits of an enclosure are certain, 8 where no number is given."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Enclosure):
            return _certain_digits(value, int(format_spec or 8))
        if isinstance(value, Fraction) and format_spec:
            value = float(value)
        return format(value, format_spec)


def _certain_digits(value: Enclosure, digits: int) -> str:
    """At most this many significant digits, rounded to nearest; in brackets what is not certain."""
    text = str(value)
    return text if text.startswith("[") else f"{Decimal(text):.{digits}g}".lower()


def _filled(name: str, text: str, figures: Figures) -> Iterator[tuple[str, str]]:
    """A line of evidence with its figures, once for each element of the list that it names."""
    words = _Words()
    fields = (field for _, field, *_ in words.parse(name + text) if field)
    named = {re.split(r"[.\[]", field)[0] for field in fields}
    several = next((each for each in named if isinstance(figures[each], list)), "")
    for element in figures[several] if several else [None]:
        values = {**figures, several: element}
        yield words.vformat(name, (), values), words.vformat(text, (), values)


def check_named(name: str) -> Callable[[], Figures | None]:
    """The function MODULE:FUNCTION below `papers`."""
    module, _, function = name.partition(":")
    found: Callable[[], Figures | None] = getattr(
        import_module(f".papers.{module}", __package__), function
    )
    return found


def read_claims() -> list[PaperClaim]:
    """All of them, in the order of the papers.

    >>> read_claims()[0].id
    'D-fact1'
    """
    return read_rows("claims", PaperClaim)


def settle(
    claims: Sequence[PaperClaim],
    workers: int = 1,
    done: Callable[[PaperClaim], None] = lambda claim: None,
    seconds: float = math.inf,
) -> list[Settled]:
    """Check each of these statements, several at a time, which changes nothing that is found.

    workers: processes, at least 1. done: told of each statement as soon as it is settled. seconds:
    for all of them; what is not settled by then stays open.
    """
    end = time.time() + seconds
    count = min(whole(workers, "workers", at_least=1), len(claims))
    if count <= 1:
        found = []
        for claim in claims:
            found.append(_settled(claim, end))
            done(claim)
        return found
    # spawned, not forked: a progress display may run a thread
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context, initializer=_end_with_parent) as pool:
        with _interrupts_ignored():
            futures = [pool.submit(_settled, claim, end) for claim in claims]
        for future in as_completed(futures):
            done(future.result().claim)
    return [future.result() for future in futures]


def available_workers() -> int:
    """How many processes may run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _settled(claim: PaperClaim, end: float) -> Settled:
    try:
        with time_limit(max(end - time.time(), 0.0)):
            spend()
            evidence = claim.checked()
            spend()  # what was cut short tells nothing
            return Settled(claim, evidence)
    except (OutOfTimeError, ArithmeticError, NotImplementedError) as error:  # stays open
        return Settled(claim, None, f"{type(error).__name__}: {error}")


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
