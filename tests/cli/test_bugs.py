"""`exactdp bugs`: every row's command shows its defect, and its twin is not accused."""

import json
import math
import re
import shlex
from pathlib import Path

import pytest
from commands import refused, said
from pages import bugs

from exactdp import ParameterError
from exactdp.evidence.stated import Stated, read_bugs, settle

ROWS = read_bugs()
PAGE = Path(__file__).parents[2] / "docs" / "bugs.md"


@pytest.mark.quick_cases(12)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_command_shows_the_defect_and_the_twin_is_right(row, capsys):
    for stated, code, verdict in ((row.stated, 1, "REFUTED"), (row.twin, 0, "VERIFIED")):
        words = shlex.split(stated.command)
        assert words[0] == "exactdp"
        found, out = said(capsys, *words[1:], "--json")
        assert (found, json.loads(out)["verdict"]) == (code, verdict)


def test_there_are_many_and_all_is_said():
    assert len(ROWS) >= 25
    for row in ROWS:
        assert re.fullmatch(r"[a-z0-9-]+", row.id)
        assert (
            "http" in row.source
            or "arXiv:" in row.source
            or "PyPI" in row.source
            or (row.id.startswith("bandit-"))
        )
        assert row.stated != row.twin and len(row.defect) < 140


@pytest.mark.contract
def test_json(capsys):
    code, out = said(capsys, "bugs", "pategan-laplace", "flip-defaults", "--json")
    first, second = json.loads(out)
    assert (code, first["id"], second["id"]) == (0, "pategan-laplace", "flip-defaults")
    for each in (first, second):
        assert {"id", "source", "stated", "measured", "verdict", "command", "repaired"} <= set(each)
        assert (each["verdict"], each["repaired"]["verdict"]) == ("REFUTED", "VERIFIED")
        assert set(each["measured"]) == {"lower", "upper"}
        assert {"command", "verdict"} <= set(each["repaired"])
    assert first["measured"] == {"lower": "1000", "upper": "1000"}


@pytest.mark.contract
def test_one_is_shown_with_its_command(capsys):
    code, out = said(capsys, "bugs", "flip-defaults")
    assert code == 0 and "exactdp audit gaussian:sigma=4.845e-5 --claim approx:10,1e-5" in out


@pytest.mark.contract
def test_an_unknown_id_is_answered_with_the_known(capsys):
    refused(capsys, ["bugs", "flip-default"], "did you mean 'flip-defaults'?")


@pytest.mark.contract
def test_too_little_time_is_no_verdict(capsys):
    code, out = said(capsys, "bugs", "bandit-gaussian-sum", "--json", "--time", "1e-6")
    (found,) = json.loads(out)
    assert found["verdict"] in ("REFUTED", "UNDECIDED")
    assert found["repaired"]["verdict"] in ("VERIFIED", "UNDECIDED")
    assert code in (0, 3)


def test_the_page_is_what_is_written():
    assert bugs.page() == PAGE.read_text()


def test_what_cannot_be_read_is_refused():
    with pytest.raises(ParameterError):
        settle(Stated(("nothing:at=all",), "pure:1"))


def test_what_dp_accounting_says_of_ten_randomized_responses():
    dp_accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    event = dp_accounting.RandomizedResponseDpEvent(2 / (1 + math.e), 2)
    relation = dp_accounting.NeighboringRelation.REPLACE_ONE
    one = PLDAccountant(neighboring_relation=relation).compose(event, 10)
    ten = PLDAccountant(neighboring_relation=relation)
    for _ in range(10):
        ten.compose(event)
    assert one.get_epsilon(1e-6) <= 1.00001 and 9.99 <= ten.get_epsilon(1e-6) <= 10
