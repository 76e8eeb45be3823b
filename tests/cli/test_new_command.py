"""A new command is one file and one line; the renderer gives it every form of output."""

import csv
import importlib
import json
import sys

import pytest

import exactdp.cli
from exactdp.cli import main

TOY = '''
"""`exactdp halves`: the first halves of a number."""

from typing import Annotated

import typer

from exactdp.cli.result import Line, Result, printed
from exactdp.exact import Enclosure, exact
from exactdp.common.table import Bar, Table


@printed
def halves(number: Annotated[str, typer.Argument(metavar="X")]) -> Result:
    """The first halves of a number."""
    given = exact(number, "X", above=0)
    found = [(str(k), Enclosure.exactly(given / 2**k), Bar(1 / 2**k)) for k in range(3)]
    table = Table(("k", "X/2^k", "", "note"), [(*row, "=1|2") for row in found], right=("k",))
    parts = ({"X": number, "verdict": "VERIFIED"}, table, Line("and so on", strong="<more>: "))
    return Result({"x": given, "halves": [value for _, value, _ in found]}, parts, 3)
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    (tmp_path / "halves.py").write_text(TOY)
    monkeypatch.setattr(exactdp.cli, "__path__", [*exactdp.cli.__path__, str(tmp_path)])
    monkeypatch.setitem(main._VERBS, "halves", "The first halves of a number.")
    importlib.invalidate_caches()
    yield
    sys.modules.pop("exactdp.cli.halves", None)


def test_help_names_it(toy, capsys):
    assert main.main(["--help"]) == 0 and "halves" in capsys.readouterr().out
    assert main.main(["halves", "--help"]) == 0
    out = capsys.readouterr().out
    assert "--json" in out and "--format" in out


def test_a_table(toy, capsys):
    assert main.main(["halves", "3"]) == 3
    out = capsys.readouterr().out
    assert "verdict  VERIFIED" in out and "<more>: and so on" in out
    last = out[: out.index("<more>")].split("\n")[-3]
    assert last.split() == ["2", "0.75", "█████", "=1|2"]


@pytest.mark.parametrize("form", [["--json"], ["--format", "json"], ["--json", "--format", "csv"]])
def test_json_has_both_ends(toy, capsys, form):
    assert main.main(["halves", "3", *form]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["x"] == "3"
    assert found["halves"][1] == {"lower": "1.5", "upper": "1.5"}


def test_csv_has_no_formulas_and_no_bars(toy, capsys):
    assert main.main(["halves", "3", "--format", "csv"]) == 3
    lines = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert lines[:2] == [["X", "3"], ["verdict", "VERIFIED"]]
    assert lines[3:6] == [
        ["k", "X/2^k", "", "note"],
        ["0", "3", "", "'=1|2"],
        ["1", "1.5", "", "'=1|2"],
    ]
    assert lines[-1] == ["<more>: and so on"]


def test_html_is_escaped_and_holds_both_ends(toy, capsys):
    assert main.main(["halves", "3", "--format", "html"]) == 3
    out = capsys.readouterr().out
    assert '<dt>verdict</dt><dd><span class="VERIFIED">VERIFIED</span></dd>' in out
    assert 'data-lower="1.5" data-upper="1.5">1.5</span></td>' in out
    assert "<p>&lt;more&gt;: and so on</p>" in out and "<more>" not in out


@pytest.mark.parametrize("words", [["0"], ["3", "--format", "xml"], ["3", "--format", ""]])
def test_bad_input(toy, capsys, words):
    assert main.main(["halves", *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1) and "must be" in err
