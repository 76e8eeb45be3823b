"""`exactdp deployments`: commands say what the page says, and what is unknown is called so."""

import json
import shlex
from pathlib import Path

import pytest
from commands import refused, said
from pages import deployments

from exactdp.evidence.stated import read_deployments

ROWS = read_deployments()
PAGE = Path(__file__).parents[2] / "docs" / "deployments.md"


@pytest.mark.parametrize("row", [row for row in ROWS if row.spec], ids=lambda row: row.id)
def test_the_command_says_what_the_page_says(row, capsys):
    words = shlex.split(row.stated.command)
    code, out = said(capsys, *words[1:], "--json")
    verdict = json.loads(out)["verdict"]
    assert code == {"VERIFIED": 0, "REFUTED": 1}[verdict]
    assert f"$ {row.stated.command}   # {verdict}" in PAGE.read_text()


def test_there_are_many_and_all_is_said():
    assert sum(bool(row.spec) for row in ROWS) >= 25
    for row in ROWS:
        assert row.assumed and row.source and row.deployment
        assert bool(row.spec) != any("unknown" in each for each in row.assumed)


@pytest.mark.contract
def test_json(capsys):
    code, out = said(capsys, "deployments", "google-symptoms", "linkedin-hiring", "--json")
    known, unknown = json.loads(out)
    assert code == 0
    for each in (known, unknown):
        keys = {"id", "source", "mechanism", "stated", "measured", "verdict", "assumed"}
        assert keys <= set(each)
    assert (known["verdict"], known["measured"]) == (
        "VERIFIED",
        {"lower": "1.659", "upper": "1.659"},
    )
    assert (unknown["verdict"], unknown["measured"], unknown["mechanism"]) == (
        "UNKNOWN",
        None,
        None,
    )


@pytest.mark.contract
def test_one_is_shown_with_what_is_assumed(capsys):
    code, out = said(capsys, "deployments", "linkedin-hiring")
    assert code == 0 and "UNKNOWN" in out and "not in the registry" in out


@pytest.mark.contract
def test_an_unknown_id_is_answered_with_the_known(capsys):
    refused(capsys, ["deployments", "apple-emojis"], "did you mean 'apple-emoji'?")


def test_the_page_is_what_is_written():
    assert deployments.page() == PAGE.read_text()
