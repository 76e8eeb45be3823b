"""No table breaks a number across lines, however narrow the terminal is."""

import random

import pytest

from exactdp.cli import render
from exactdp.common.table import Table


def drawn(rng):
    """A figure as tables show it, of one number or two."""
    one, other = (
        f"{rng.randrange(10**9) / 10**8}e-{rng.choice((4, 308, 30804274))}" for _ in range(2)
    )
    return rng.choice((one, f"[{one}, {other}]", f"{one} to {other}"))


@pytest.mark.parametrize("columns", [20, 40, 80])
@pytest.mark.parametrize("seed", range(12))
def test_a_number_stays_on_its_line(columns, seed, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    rng = random.Random(seed)
    head = f"\u03b5 at \u03b4 = 1e-{rng.randrange(10**9)}"
    cells = [[f"a method, {k}", drawn(rng), f"\u00d7 {drawn(rng)}"] for k in range(3)]
    rows = [*cells, ("later", "\u03c4 = 1/3", "1.5e-30804274")]
    table = Table(("method", head, "more words than fit here"), rows, right=(head,))
    render.show(table, {"measured": drawn(rng), "note": "1.5e-30804274 and " * 3})
    shown = capsys.readouterr().out.split()
    texts = [head, "1.5e-30804274", *(cell for row in cells for cell in row)]
    for word in (word for text in texts for word in text.split() if any(map(str.isdigit, word))):
        assert word in shown, word
