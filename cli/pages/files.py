"""Write a page, and the figure that it shows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from ...exact.canvas import load
from .. import output
from ..claims_page import write

__all__ = ["write_page"]

Sections = Mapping[str, Callable[[], str]]


def write_page(
    markdown: Path | None,
    figure: Path | None,
    sections: Sections,
    page: Callable[[Sections, str | None, Callable[[str], None]], str],
    svg: Callable[[], str],
) -> None:
    """Write either or both; the places are looked at before the work, not after it."""
    from ...exact.atomic_write import check_target

    if markdown is not None:
        check_target(markdown, "--markdown")
    place = None
    if figure is not None:
        check_target(figure, "--figure")
        load()
        place = Path(os.path.relpath(figure, None if markdown is None else markdown.parent))
    chosen = {} if markdown is None else sections
    with output.progress("writing", len(chosen) + (figure is not None)) as done:

        def begin(title: str) -> None:
            done(1, title)

        if markdown is not None:
            text = page(chosen, None if place is None else place.as_posix(), begin)
        if figure is not None:
            begin("the figure")
            write(figure, svg(), "--figure")
    if markdown is not None:
        write(markdown, text)
