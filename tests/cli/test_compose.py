"""`exactdp compose`: the shape of its JSON, its exit codes, and what it does not do yet."""

import json

import pytest
from typer.testing import CliRunner

from exactdp.cli.main import app, main, run
from exactdp.exact import Enclosure
from exactdp.mechanisms import UndecidedError

LAPLACE = "discrete-laplace:epsilon=0.5,sensitivity=1"


def run_json(*arguments):
    result = CliRunner().invoke(app, ["compose", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_results_come_in_the_order_of_the_contract():
    shown = run_json(
        LAPLACE,
        *("--delta", "1e-6", "--epsilon", "0.2", "--order", "2", "--pure"),
        *("--order", "3/2", "--delta", "1/10"),
    )
    assert shown["mechanisms"] == [{"spec": LAPLACE, "times": 1}]
    keys = [(r["quantity"], r.get("order") or r.get("epsilon") or r.get("delta")) for r in
            shown["results"]]  # fmt: skip
    assert keys == [
        ("pure", None),
        ("renyi", "2"),
        ("renyi", "3/2"),
        ("delta", "0.2"),
        ("epsilon", "1e-6"),
        ("epsilon", "1/10"),
    ]
    for result in shown["results"]:
        value = Enclosure.from_json({end: result[end] for end in ("lower", "upper")})
        assert value.is_finite()


def test_pure_epsilon_of_the_discrete_laplace_is_its_epsilon():
    (result,) = run_json(LAPLACE, "--pure")["results"]
    assert result == {"quantity": "pure", "lower": "0.5", "upper": "0.5"}


def test_infinity_is_written_as_inf():
    (result,) = run_json("skellam:variance=10", "--pure")["results"]
    assert (result["lower"], result["upper"]) == ("inf", "inf")


def test_once_is_the_same_as_nothing_said():
    plain = run_json(LAPLACE, "--pure")
    assert run_json(f"{LAPLACE}*1", "--pure") == plain


def test_a_table_without_json():
    result = CliRunner().invoke(app, ["compose", LAPLACE, "--pure", "--order", "2"])
    assert result.exit_code == 0
    assert "pure ε" in result.stdout
    assert "order = 2" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([LAPLACE], "at least one of"),
        ([f"{LAPLACE}*2", "--pure"], "not available yet"),
        ([LAPLACE, LAPLACE, "--pure"], "not available yet"),
        ([f"{LAPLACE}*0", "--pure"], "K"),
        ([f"{LAPLACE}*1.5", "--pure"], "K"),
        ([f"{LAPLACE}*", "--pure"], "K"),
        ([LAPLACE, "--order", "1"], "order"),
        ([LAPLACE, "--order", "nan"], "order"),
        ([LAPLACE, "--delta", "1.1"], "delta"),
        ([LAPLACE, "--delta", "-1e-6"], "delta"),
        ([LAPLACE, "--epsilon", "-1"], "epsilon"),
        ([LAPLACE, "--epsilon", "inf"], "epsilon"),
        ([LAPLACE, "--pure", "--width", "0"], "width"),
        ([LAPLACE, "--pure", "--width", "1"], "width"),
        (["--pure"], "SPEC"),
        ([LAPLACE, "--pure", "--certainly"], "--certainly"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, arguments, named):
    assert main(["compose", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert named in captured.err


def test_what_cannot_be_told_is_undecided(capsys, monkeypatch):
    def too_hard(*_):
        raise UndecidedError("out of reach")

    monkeypatch.setattr("exactdp.cli.measure.pure_epsilon", too_hard)
    assert main(["compose", LAPLACE, "--pure", "--order", "2", "--json"]) == 3
    pure, renyi = json.loads(capsys.readouterr().out)["results"]
    assert (pure["lower"], pure["upper"], pure["note"]) == ("0", "inf", "undecided: out of reach")
    assert "note" not in renyi


def test_a_crash_never_reads_as_refuted(capsys, monkeypatch):
    def broken(*_):
        raise IndexError("a defect")

    monkeypatch.setattr("exactdp.cli.measure.pure_epsilon", broken)
    monkeypatch.setattr("sys.argv", ["exactdp", "compose", LAPLACE, "--pure"])
    monkeypatch.setattr("signal.signal", lambda *_: None)  # leave the test runner's own alone
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 70
    assert "a defect" in capsys.readouterr().err
