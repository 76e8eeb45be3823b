"""`exactdp profile`: certified points of both curves, as JSON, CSV and pictures."""

import csv
import json
from fractions import Fraction

import pytest
from typer.testing import CliRunner

import exactdp
from exactdp import Enclosure
from exactdp.cli.main import app, main

RESPONSE = "randomized-response:epsilon=1*2"


@pytest.fixture(scope="module")
def shown():
    result = CliRunner().invoke(app, ["profile", RESPONSE, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.contract
def test_points_are_those_of_the_library(shown):
    truth = exactdp.mechanism(RESPONSE)
    assert shown["mechanisms"] == [{"spec": "randomized-response:epsilon=1", "times": 2}]
    assert shown["neighbours"] == "replace"
    assert len(shown["profile"]) == 41
    for row in shown["profile"]:
        ends, exact = Enclosure.from_json(row["delta"]), truth.delta(row["epsilon"])
        assert ends.lower <= exact.upper and exact.lower <= ends.upper
    for row in shown["tradeoff"]:
        ends = Enclosure.from_json(row["type_2"])
        assert 0 <= ends.lower <= ends.upper <= 1 - Fraction(row["type_1"])
    mu, exact = Enclosure.from_json(shown["gdp"]), truth.gdp()
    assert mu.lower <= exact.upper and exact.lower <= mu.upper


@pytest.mark.contract
def test_a_table_says_the_same(shown, tmp_path):
    assert main(["profile", RESPONSE, "--csv", str(tmp_path / "curves.csv")]) == 0
    with open(tmp_path / "curves.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    due = [("profile", row["epsilon"], row["delta"]) for row in shown["profile"]]
    for name, key in (
        ("tradeoff", "type_2"),
        ("tradeoff-forward", "type_2_forward"),
        ("tradeoff-backward", "type_2_backward"),
        ("symmetric-hull", "symmetric_hull"),
    ):
        due += [(name, row["type_1"], row[key]) for row in shown["tradeoff"]]
    assert [(row["curve"], row["at"]) for row in rows] == [each[:2] for each in due]
    assert [{"lower": row["lower"], "upper": row["upper"]} for row in rows] == [
        each[2] for each in due
    ]


@pytest.mark.contract
@pytest.mark.slow_cases("a.PDF-%PDF", "a.svg-<?xml")
@pytest.mark.parametrize(
    ("name", "begins"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.PDF", b"%PDF")]
)
def test_pictures_are_of_the_kind_that_the_name_says(name, begins, tmp_path):
    assert main(["profile", RESPONSE, "--plot", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_bytes().startswith(begins)


@pytest.mark.contract
@pytest.mark.parametrize(
    "arguments",
    [
        ("--plot", "curves.gif"),
        ("--plot", "nowhere/curves.svg"),
        ("--csv", "nowhere/curves.csv"),
        ("--plot", "same.svg", "--csv", "same.svg"),
        ("--csv", "curves.csv", "--time", "0"),
        ("--csv", "curves.csv", "unknown:a=1"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(
    arguments, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["profile", RESPONSE, *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.contract
def test_one_that_ends_early_still_answers(capsys):
    code = main(["profile", "skellam:variance=100*1000", "--time", "0.3", "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert code in (0, 3)
    assert (code == 3) == any(row["delta"]["upper"] == "1" == row["delta"]["lower"] or
        row["delta"] == {"lower": "0", "upper": "1"} for row in shown["profile"])  # fmt: skip
