"""`exactdp protocol`: figures, errors and exit codes."""

from typing import Any

import pytest
from commands import answer, refused

from exactdp.cli.main import main

pytestmark = pytest.mark.contract

SPEC = "theorem1:epsilon=0.5,batch=64,horizon=1000"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return answer(capsys, "protocol", *arguments)


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
