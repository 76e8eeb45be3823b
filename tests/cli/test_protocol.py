"""`exactdp protocol`: figures, errors and exit codes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from commands import answer, refused

from exactdp.cli.main import main

pytestmark = pytest.mark.contract

SPEC = "theorem1:epsilon=0.5,batch=64,horizon=1000"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return answer(capsys, "protocol", *arguments)


@pytest.mark.slow
def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, SPEC, "--dropout", "6")
    assert (found["users"], found["precision"], found["trust"]) == (64, 4, "distributed")
    paper, least = found["paper"], found["least_accuracy"]
    assert paper["modulus"] == 64 * 4 + 2 * paper["accuracy"] + 1
    assert paper["bits_per_user"] == (paper["modulus"] - 1).bit_length()
    assert paper["claimed_failure"] == found["failure"] == "0.001"
    assert Fraction(paper["failure"]["upper"]) <= Fraction(1, 1000)
    assert least["accuracy"] < paper["accuracy"]
    assert Fraction(least["failure"]["upper"]) <= Fraction(1, 1000)
    assert Fraction(least["neighbour"]["failure"]["lower"]) > Fraction(1, 1000)
    assert least["neighbour"]["accuracy"] == least["accuracy"] - 1
    assert found["least_modulus"]["modulus"] <= least["modulus"]
    for level in found["quantiles"]:
        assert set(level) == {"failure", "noise", "rounding", "total"}
        assert Fraction(level["noise"]["lower"]) <= Fraction(level["total"]["upper"])
    (share,) = found["dropout"]
    assert share["missing"] == 6 and share["changed"] == "shape"
    lower, upper = (Fraction(end) for end in share["variance_ratio"].values())
    assert lower <= Fraction(64, 58) <= upper
    assert share["alternative"]["changed"] == "scale"
    assert Fraction(share["alternative"]["variance_ratio"]["lower"]) > upper


def test_theorem3_splits_its_failure(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "theorem3:epsilon=0.5,batch=64,horizon=1000")
    assert found["failure"] == found["paper"]["claimed_failure"] == "0.0005"


def test_failure_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, SPEC, "--failure", "1/20")
    assert found["failure"] == "0.05" and found["paper"]["claimed_failure"] == "0.001"


def test_without_shares_nothing_is_larger(capsys: pytest.CaptureFixture[str]) -> None:
    spec = "theorem5:epsilon=0.5,batch=64,horizon=1000"
    (share,) = told(capsys, spec, "--dropout", "6")["dropout"]
    assert (share["changed"], share["raised_to"], share["alternative"]) == ("nothing", None, None)
    assert main(["protocol", spec, "--dropout", "6"]) == 0
    assert "nothing" in capsys.readouterr().out


@pytest.mark.slow
def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protocol", SPEC, "--dropout", "6", "--dropout", "40"]) == 0
    shown = capsys.readouterr().out
    for word in ("claimed", "least τ", "least m", "rounding", "shape", "scale"):
        assert word in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["skellam:variance=2"], "SPEC must name a protocol"),
        ([f"{SPEC},dropout=3"], "--dropout"),
        ([SPEC, "--failure", "2"], "--failure"),
        ([SPEC, "--dropout", "64"], "dropout"),
        ([f"{SPEC},modulus=101"], "modulus must be at least"),
        (["theorem9:epsilon=1"], "theorem9"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    refused(capsys, ["protocol", *arguments], message)
