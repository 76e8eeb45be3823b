"""`exactdp claims`: its JSON, its page, its exit codes."""

import json

import pytest
from commands import refused

from exactdp import OutOfTimeError
from exactdp.cli.main import main
from exactdp.evidence.claims import PaperClaim

QUICK = "S-thmA1-subgauss"


def failing(error):
    def check():
        raise error

    return check


CHECKS = {
    "holds": lambda: {"range": "for all a | b"},
    "corrected": lambda: {"x": 1},
    "undecided": failing(ArithmeticError("20 pieces do not suffice")),
    "endless": failing(OutOfTimeError("the time allowed is over")),
}


def row(name, *rest):
    return PaperClaim(f"D-{name}", "A paper, Lemma 1", f"It {name}.", *rest)


HOLDS = row("holds", "HOLDS", "proved", "holds", {"proved": "{range}"})
CORRECTED = row(
    "corrected", "HOLDS_CORRECTED", "witness", "corrected", {"witness": "x = {x}"}, "take x > 1"
)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr("exactdp.evidence.claims.check_named", CHECKS.__getitem__)
    rows = [HOLDS, CORRECTED, row("undecided", "HOLDS", "proved", "undecided", {})]
    monkeypatch.setattr("exactdp.cli.evidence.read_claims", lambda: rows)


def test_json_is_a_list_in_the_order_of_the_papers(few, capsys):
    assert main(["claims", "D-corrected", "D-holds", "--json", "--workers", "1"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""  # no progress where stderr is no terminal
    assert json.loads(captured.out) == [
        {
            "id": "D-holds",
            "source": "A paper, Lemma 1",
            "statement": "It holds.",
            "verdict": "HOLDS",
            "scope": "proved",
            "correction": None,
            "evidence": {"proved": "for all a | b"},
        },
        {
            "id": "D-corrected",
            "source": "A paper, Lemma 1",
            "statement": "It corrected.",
            "verdict": "HOLDS_CORRECTED",
            "scope": "witness",
            "correction": "take x > 1",
            "evidence": {"witness": "x = 1"},
        },
    ]


def test_what_stays_open_is_told_and_ends_with_3(few, capsys):
    assert main(["claims", "--json", "--workers", "1"]) == 3
    last = json.loads(capsys.readouterr().out)[-1]
    assert last["verdict"] == "UNDECIDED"
    assert last["evidence"] == {"undecided": "ArithmeticError: 20 pieces do not suffice"}


def test_what_is_not_settled_in_time_stays_open(few, monkeypatch, capsys):
    rows = [HOLDS, row("endless", "HOLDS", "proved", "endless", {})]
    monkeypatch.setattr("exactdp.cli.evidence.read_claims", lambda: rows)
    words = ["claims", "--json", "--workers", "1", "--time"]
    assert main([*words, "100"]) == 3
    found = {each["id"]: each["verdict"] for each in json.loads(capsys.readouterr().out)}
    assert found == {"D-holds": "HOLDS", "D-endless": "UNDECIDED"}
    assert main([*words, "1e-9"]) == 3
    assert {each["verdict"] for each in json.loads(capsys.readouterr().out)} == {"UNDECIDED"}


@pytest.mark.contract
def test_a_failing_statement_is_no_error(capsys):
    assert main(["claims", QUICK, "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert (shown["id"], shown["verdict"]) == (QUICK, "FAILS")
    assert shown["correction"] and shown["evidence"]


def test_a_table_for_people(few, capsys):
    assert main(["claims", "D-holds", "D-corrected", "--workers", "1"]) == 0
    out = capsys.readouterr().out
    assert "HOLDS_CORRECTED" in out and "take x > 1" in out and "for all a | b" in out


@pytest.mark.contract
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["D-lem99"], "ID"),
        ([QUICK, "D-lem99"], "ID"),
        (["--workers", "0"], "workers"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, arguments, named):
    refused(capsys, ["claims", *arguments], named)
