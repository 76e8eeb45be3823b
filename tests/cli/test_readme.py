"""What the README and the documentation show is what the commands and the library print."""

import contextlib
import io
import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from exactdp.cli.main import main

ROOT = Path(__file__).parents[2]
# Notebooks have cells in place of such blocks, and are run by `tests/docs/test_site.py`.
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(console|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(*pages: Path) -> Iterator[tuple[str, str]]:
    """Each `$ command` of a console block, and what is shown below it."""
    for kind, text in (block for page in pages for block in blocks_of(page)):
        if kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield command, shown


def plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


SHOWN = [(command, shown) for command, shown in commands(*PAGES) if shown.strip()]
EXIT_CODES = {
    before: int(shown) for (before, _), (command, shown) in pairwise(SHOWN) if command == "echo $?"
}
RUN = list(dict.fromkeys(pair for pair in SHOWN if pair[0].startswith("exactdp ")))
FRONT = (PAGES[0], ROOT / "docs" / "index.md")  # both begin with the same lines to type
FIGURES = ("ε = 1.78860911", "ε = 2.38159692", "ε ≤ 3.99", "`VERIFIED`")  # in this order
WITH_PYTHON = [page for page in PAGES if any(kind == "python" for kind, _ in blocks_of(page))]


FIRST = [command for command, _ in commands(FRONT[0])][:4]


@pytest.mark.contract
@pytest.mark.parametrize(("command", "figure"), [*zip(FIRST, FIGURES, strict=True)])
def test_the_first_lines_give_the_figures_below_them(capsys, command, figure):
    for page in FRONT:
        shown = [typed for typed, _ in commands(page)]
        assert command in shown and figure in page.read_text(encoding="utf-8")
    assert main([*shlex.split(command)[1:], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    if "verdict" in found:
        assert found["verdict"] == figure.strip("`")
    else:
        (row,) = found["results"]
        name, sign, value = figure.split()
        assert (row["quantity"], name) == ("epsilon", "ε")
        assert float(row["upper"]) <= float(value) + (1e-8 if sign == "=" else 0)
        assert sign == "≤" or float(row["lower"]) >= float(value) - 1e-8


@pytest.mark.contract
@pytest.mark.slow_cases(
    "exactdp audit theorem1:epsilon=0.5,batch=1024,horizon=1e6,dropout=102 --claim pure:0.5",
    "exactdp audit theorem1:epsilon=0.5,batch=1024,horizon=1e6,dropout=512 --claim pure:0.5",
    "exactdp calibrate discrete-gaussian --sensitivity 32 --target approx:1,1e-6 --times 64",
    "exactdp report discrete-laplace:epsilon=0.5 --claim pure:0.5 --claim approx:0.4,1e-6 --out report.html",  # noqa: E501
)
@pytest.mark.parametrize(("command", "shown"), RUN, ids=[command for command, _ in RUN])
def test_a_command_prints_what_is_shown(monkeypatch, capsys, tmp_path, command, shown):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)  # for what it writes
    code = main(shlex.split(command)[1:])
    assert plain(capsys.readouterr().out) == plain(shown)
    assert code == EXIT_CODES.get(command, 0)


@pytest.mark.slow_cases(
    "certificates1", "enclosures", "mechanisms", "python", "shuffling", "vectors"
)
@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.stem)
def test_the_python_examples_print_what_is_shown(page):
    scope: dict[str, object] = {}
    for (kind, code), (next_kind, shown) in pairwise([*blocks_of(page), ("end", "")]):
        if kind == "python":
            assert next_kind == "text"
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, scope)
            assert plain(printed.getvalue()) == plain(shown)


def test_there_are_examples_to_run():
    assert len(RUN) >= 20
    assert len(WITH_PYTHON) >= 10
