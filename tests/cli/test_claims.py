"""`exactdp claims`: its JSON, its page, its exit codes."""

import json

import pytest
from commands import refused

from exactdp import OutOfTimeError
from exactdp.cli.main import main
from exactdp.verify.claims.finding import Finding, PaperClaim, Scope, Truth

QUICK = "S-thmA1-subgauss"


def holds():
    return Finding(Truth.HOLDS, Scope.PROVED, {"proved": "for all a | b"})


def corrected():
    return Finding(Truth.HOLDS_CORRECTED, Scope.WITNESS, {"witness": "x = 1"}, "take x > 1")


def undecided():
    raise ArithmeticError("20 pieces do not suffice")


def registry(*checks):
    claims = [
        PaperClaim(f"D-{check.__name__}", "A paper, Lemma 1", f"It {check.__name__}.", check)
        for check in checks
    ]
    return {claim.id: claim for claim in claims}


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(
        "exactdp.verify.claims.registry.REGISTRY", registry(holds, corrected, undecided)
    )


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


def test_what_is_not_settled_in_time_stays_open(few, capsys, monkeypatch):
    def endless():
        raise OutOfTimeError("the time allowed is over")

    slow = registry(holds, endless)
    monkeypatch.setattr("exactdp.verify.claims.registry.REGISTRY", slow)
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
