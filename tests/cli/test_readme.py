"""What the README and the documentation show is what the commands and the library print."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from exactdp.cli.main import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md"]
PAGES += [ROOT / "docs" / f"{page}.md" for page in ("commands", "python", "envelope", "rounding")]
PAGES += [ROOT / "docs" / "ledger.md"]
BLOCK = re.compile(r"^```(console|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    texts = (page.read_text(encoding="utf-8") for page in PAGES)
    return [(kind, text) for page in texts for kind, text in BLOCK.findall(page)]


def commands() -> Iterator[tuple[str, str]]:
    """Each `$ command` of a console block, and what is shown below it."""
    for kind, text in blocks():
        if kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield command, shown


def plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


SHOWN = [(command, shown) for command, shown in commands() if shown.strip()]
EXIT_CODES = {
    before: int(shown) for (before, _), (command, shown) in pairwise(SHOWN) if command == "echo $?"
}
RUN = [pair for pair in SHOWN if pair[0].startswith("exactdp ")]


@pytest.mark.parametrize(("command", "shown"), RUN, ids=[command for command, _ in RUN])
def test_a_command_prints_what_is_shown(monkeypatch, capsys, tmp_path, command, shown):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)  # for what it writes
    code = main(shlex.split(command)[1:])
    assert plain(capsys.readouterr().out) == plain(shown)
    assert code == EXIT_CODES.get(command, 0)


def test_the_python_examples_print_what_is_shown():
    found = blocks()
    scope: dict[str, object] = {}
    examples = 0
    for (kind, code), (next_kind, shown) in pairwise(found):
        if kind == "python":
            assert next_kind == "text"
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, scope)
            assert plain(printed.getvalue()) == plain(shown)
            examples += 1
    assert examples >= 2
