"""Pictures by matplotlib, the same bytes each time: no user's settings, no dates, no pyplot."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .extra import bring

FONT = 9.5
_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": FONT,
    "axes.titlesize": FONT + 1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "svg.hashsalt": "exactdp",
    "svg.fonttype": "path",
}
_NO_METADATA = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None},
}


def load() -> Any:
    """matplotlib, which takes a second. Raises ImportError that says how to get it."""
    return bring("matplotlib", "figures")


@contextmanager
def canvas(
    size: tuple[float, float], settings: Mapping[str, object] | None = None, **layout: Any
) -> Iterator[Any]:
    """An empty figure of this size in inches, to be drawn and `rendered` inside the context."""
    matplotlib = load()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_SETTINGS, **(settings or {})})
        yield Figure(figsize=size, layout=ConstrainedLayoutEngine(**layout))


def rendered(figure: Any, kind: str, **options: Any) -> bytes:
    """The file, svg, png or pdf."""
    file = io.BytesIO()
    figure.savefig(file, format=kind, metadata=_NO_METADATA[kind], **options)
    return file.getvalue()
