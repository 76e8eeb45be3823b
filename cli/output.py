"""What comes besides results: certificates, and on stderr that work goes on.

A spinner where nobody knows how much there is, a bar where it is known; on a terminal only.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..common.moment import now
from ..exact import ParameterError
from ..exact.number import located

if TYPE_CHECKING:
    from ..verify.certificate import Certificate

_PATIENCE = 1.0  # seconds before the spinner appears


def written(make: Callable[[], Certificate], file: Path, note: str | None = None) -> Certificate:
    """Make a certificate, note when, and write it. Raises ParameterError where that cannot be."""
    from ..verify.certificate import NotCertifiedError

    try:
        return kept(make(), file, note)
    except NotCertifiedError as error:
        raise ParameterError(f"--certificate: {error}") from error


def kept(certificate: Certificate, file: Path, note: str | None = None) -> Certificate:
    """Write it, with the note and the time. Raises ParameterError where that cannot be."""
    noted = certificate.noted(note, now())
    with located(f"--certificate: {file}"):
        noted.write(file)
    return noted


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show on stderr that work goes on, once it has taken a second; only on a terminal."""
    if not _is_terminal():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(f"{label} ...")
    lock, done = threading.Lock(), False

    def show() -> None:
        with lock:
            if not done:
                status.start()

    timer = threading.Timer(_PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            done = True
        timer.cancel()
        status.stop()


@contextmanager
def progress(label: str, total: int, hidden: bool = False) -> Iterator[Callable[..., None]]:
    """A bar on stderr, on a terminal only.

    Call it with how many more are done (1), and with what is under way, if that has a name.
    """
    if hidden or not _is_terminal():
        yield lambda more=1, name="": None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    text = TextColumn("{task.description}")
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), text)
    shown = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
    with shown:
        task = shown.add_task("", total=total)
        yield lambda more=1, name="": shown.update(task, advance=more, description=name)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
