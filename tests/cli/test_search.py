"""`exactdp search`: ranges and formulas, its JSON, its exit codes."""

import json
from fractions import Fraction

import pytest
from commands import refused

from exactdp import Enclosure, ParameterError
from exactdp.cli.main import main
from exactdp.cli.search import value_of

SUM = "discrete-gaussian-sum:count=4..6,sigma2=1/4,sensitivity=1"


def run_json(capsys, code, *arguments):
    assert main(["search", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.contract
def test_the_naive_bound_for_sums_of_discrete_gaussians(capsys):
    shown = run_json(capsys, 1, SUM, "--claim", "rdp:2,2*sensitivity**2/(2*count*sigma2)")
    assert shown["violations"] == "VIOLATED"
    assert shown["violation"]["mechanism"].startswith("discrete-gaussian-sum:")
    assert "count=4" in shown["violation"]["mechanism"]
    assert shown["violation"]["claim"] == "rdp:2,1"
    assert Enclosure.from_json(shown["violation"]["ratio"]).greater_than(1) is True


@pytest.mark.contract
def test_a_true_claim(capsys):
    spec = "discrete-laplace:scale=1..2:5,sensitivity=1"
    shown = run_json(capsys, 0, spec, "--claim", "pure:1/scale + 1e-9")
    assert (shown["violations"], shown["covered"], shown["points"]) == ("NONE", 5, 5)
    ratio = Enclosure.from_json(shown["largest_ratio"])
    assert ratio.less_than(1) is True and ratio.greater_than(Fraction(99, 100)) is True


@pytest.mark.contract
def test_what_is_not_reached_is_told(capsys):
    spec = "discrete-laplace:scale=1..9,sensitivity=1"
    shown = run_json(capsys, 3, spec, "--claim", "pure:2/scale", "--seconds", "0")
    assert (shown["violations"], shown["covered"], shown["points"]) == ("OPEN", 1, 9)


@pytest.mark.contract
def test_a_table_for_people(capsys):
    assert main(["search", SUM, "--claim", "rdp:2,4/count"]) == 1
    out = capsys.readouterr().out
    assert "VIOLATED" in out and "count=4" in out


@pytest.mark.contract
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["discrete-laplace:scale=1", "--claim", "pure:1"], "range"),
        (["discrete-laplace:scale=2..1", "--claim", "pure:1"], "scale"),
        (["discrete-laplace:scale=1..x", "--claim", "pure:1"], "scale"),
        (["discrete-laplace:scale=1..2:1", "--claim", "pure:1"], "scale"),
        (["discrete-laplace:scale=1..2,scale=3", "--claim", "pure:1"], "twice"),
        (["discrete-laplace:scale=0..3", "--claim", "pure:1"], "scale"),
        (["laplacian:scale=1..2", "--claim", "pure:1"], "laplace"),
        (["discrete-laplace:scale=1..2", "--claim", "pure:1/x"], "'x'"),
        (["discrete-laplace:scale=1..2", "--claim", "pure:1/(scale-1)"], "zero"),
        (["discrete-laplace:scale=1..2", "--claim", "pure"], "claim"),
        (["discrete-laplace:scale=1..2", "--claim", "pure:1", "--seconds", "-1"], "seconds"),
        (["discrete-laplace:scale=1..2"], "--claim"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, arguments, named):
    refused(capsys, ["search", *arguments], named)


def test_formulas_are_exact():
    known = {"n": Fraction(3), "x": Fraction(1, 7)}
    assert value_of("0.1 + 1/n - x*2**-2", known) == Fraction(1, 10) + Fraction(1, 3) - Fraction(
        1, 28
    )
    assert value_of("-(1e-30)", {}) == -Fraction(1, 10**30)
    assert value_of("0.1234567890123456789", {}) == Fraction("0.1234567890123456789")


@pytest.mark.parametrize(
    "text",
    [
        *("", "1 +", "__import__('os')", "n.real", "2**n", "2**1000", "1 if n else 2", "True"),
        *("'1'", "9**64**2", "1//2", "n(1)", "1j", "(" * 600, "[1][0]", "0x10"),
    ],
)
def test_nothing_else_is_a_formula(text):
    with pytest.raises(ParameterError):
        value_of(text, {"n": Fraction(1, 2)})
