"""Scenarios: verdicts within slack, shifts beyond half a modulus, and where the truth is plain."""

from fractions import Fraction

import pytest

import exactdp
from exactdp.cli.main import main

pytestmark = pytest.mark.contract


def test_with_slack_a_verdict_comes_from_delta_where_epsilon_is_open(tmp_path):
    (tmp_path / "pair.csv").write_text("outcome,p,q\na,0.5,0.25\nb,0.5,0.75\n")
    spec = f"pmf:file={tmp_path / 'pair.csv'},slack=0.001"
    assert exactdp.audit(spec, "approx:0.5,0.2").verdict.name == "VERIFIED"
    assert exactdp.audit(spec, "approx:0.1,0.01").verdict.name == "REFUTED"


def test_shifts_beyond_half_the_modulus_are_mirror_images():
    farther, half = (f"discrete-laplace:scale=10000,sensitivity={shift},modulus=70001"
                     for shift in (60_000, 35_000))  # fmt: skip
    costs = [exactdp.mechanism(spec).pure() for spec in (farther, half)]
    assert costs[0] == costs[1] and float(costs[1].lower) > 2.8
    assert exactdp.audit(farther, "pure:2").verdict.name == "REFUTED"


TINY = "outcome,p,q\na,{p},{q}\nb,{p},{r}\n".format(
    p=Fraction(1, 2), q=Fraction(1, 2) + Fraction(1, 2**130), r=Fraction(1, 2) - Fraction(1, 2**130)
)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["binomial:trials=2,probability=1/2,sensitivity=3*2", "--epsilon", "1"], "1"),
        (["randomized-response:epsilon=1,delta=1*2", "--epsilon", "1"], "1"),
        (["binomial:trials=2,probability=0.01,sensitivity=9", "--epsilon", "1"], "1"),
        (["binomial:trials=1,probability=1/2,sensitivity=3,modulus=4*2", "--epsilon", "1"], "1"),
        (["randomized-response:epsilon=0,delta=0.1*3", "--delta", "0.271"], "0"),
        (["discrete-laplace:epsilon=5*4", "--delta", "0.999999"], "0"),
    ],
)
def test_where_the_truth_is_plain(capsys, words, value):
    assert main(["compose", *words]) == 0
    assert float(capsys.readouterr().out.split()[-1]) == float(value)


@pytest.mark.parametrize("times", [1, 3])
def test_ratios_as_near_to_one_as_can_be(capsys, tmp_path, times):
    file = tmp_path / "tiny.csv"
    file.write_text(TINY)
    words = ["--pure", "--order", "2", "--epsilon", "0", "--delta", "1e-50"]
    assert main(["compose", f"pmf:file={file}*{times}", *words]) == 0
    assert "inf" not in capsys.readouterr().out
