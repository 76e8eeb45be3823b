"""`exactdp calibrate --l2`: its JSON, and what it found audited again on the command line."""

import json
from fractions import Fraction

import pytest

import exactdp
from exactdp.cli.main import main
from exactdp.verify.checker import check
from exactdp.verify.checker.implied import Expected, difference
from exactdp.verify.checker.specs import claim_fields, spec_fields
from exactdp.verify.checker.statement import read

GIVEN = ["calibrate", "discrete-gaussian", "--l2", "4", "--dimension", "100"]
GIVEN += ["--target", "zcdp:0.05"]


def test_what_is_found_is_audited_the_same(capsys):
    assert main([*GIVEN, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    shown = json.loads(captured.out)
    assert (shown["mechanism"], shown["times"], shown["parameter"]) == (
        "discrete-gaussian", 1, "sigma2",
    )  # fmt: skip
    value, below, failing = (
        Fraction(one["value"]) for one in (shown, shown["neighbour"], shown["failing"])
    )
    assert shown["verdict"] == "VERIFIED"
    assert shown["failing"]["verdict"] == "REFUTED"
    assert shown["neighbour"]["verdict"] != "VERIFIED"
    assert failing <= below < value <= below * (1 + Fraction(2, 10**9))
    proof = shown["certificate"]
    assert proof["verdict"] == "VERIFIED" and check(proof).valid
    expected = Expected([spec_fields(shown["spec"])], claim_fields("zcdp:0.05"))
    assert difference(read(proof), expected) is None
    for found, code in ((shown, 0), (shown["failing"], 1)):
        assert main(["audit", found["spec"], "--claim", "zcdp:0.05"]) == code
        capsys.readouterr()


@pytest.mark.contract
def test_the_table_shows_all_verdicts(capsys):
    assert main(GIVEN) == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("VERIFIED", "REFUTED", "sigma2", "l2=4"))


@pytest.mark.contract
@pytest.mark.parametrize(
    "more",
    [
        ["--sensitivity", "4"],
        ["--poisson", "2"],
        ["--rounding", "up"],
        ["--rounding", "stochastic", "--l2", "0.1", "--dimension", "0"],
        ["--find", "times"],
        ["--l2", "-1"],
        ["--l2", "1"],
        ["--dimension", "0"],
    ],
)
def test_what_does_not_go_with_vectors_is_refused(capsys, more):
    assert main([*GIVEN, *more]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.contract
def test_a_dimension_needs_a_norm(capsys):
    given = ["calibrate", "skellam", "--sensitivity", "4", "--dimension", "9"]
    assert main([*given, "--target", "gdp:1"]) == 2
    assert "--l2" in capsys.readouterr().err


@pytest.mark.contract
def test_where_hardly_anybody_is_sampled_every_noise_will_do(capsys):
    given = ["calibrate", "skellam", "--l2", "2", "--poisson", "1e-5"]
    assert main([*given, "--target", "approx:1,1e-3"]) == 2
    assert "every variance between 1e-9 and 1e15" in capsys.readouterr().err


@pytest.mark.contract
def test_l1_is_as_good_as_l2(capsys):
    given = ["calibrate", "discrete-laplace", "--l1", "4", "--target", "pure:0.5", "--json"]
    assert main(given) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["spec"] == "discrete-laplace:scale=8,l1=4"
    assert exactdp.calibrate("discrete-laplace", "pure:0.5", l1=4).value == 8
    assert main([*given[:4], "--sensitivity", "1", "--target", "pure:1"]) == 2
    assert "--sensitivity must not be given with --l1" in capsys.readouterr().err
