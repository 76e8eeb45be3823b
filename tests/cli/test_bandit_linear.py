"""`exactdp bandit linear`: the shape of its JSON, its exit codes."""

import json

import pytest
from commands import refused
from typer.testing import CliRunner

import exactdp
from exactdp import Certificate
from exactdp.bandit.linear import release
from exactdp.cli.main import app, main

SMALL = ("--horizon", "600", "--instance", "unit:dimension=2,arms=3", "--runs", "2")
PRIVATE = (*SMALL, "--epsilon", "1")


def linear(*arguments):
    return CliRunner().invoke(app, ["bandit", "linear", *arguments])


@pytest.mark.contract
def test_json_says_what_was_found_proved_and_spent():
    result = linear(*PRIVATE, "--json")
    assert result.exit_code == 0, result.output
    shown = json.loads(result.stdout)
    assert (shown["algorithm"], shown["horizon"], shown["runs"]) == ("dist-dp-linucb", 600, 2)
    assert shown["seed"] == 0
    assert shown["instance"] == "unit:dimension=2,arms=3,norm=1"
    assert shown["radius"]["runs_outside"] == 0 and shown["radius"]["model_holds"] is True
    assert shown["radius"]["failure"] == "0.05"
    assert shown["regret"]["mean"] <= shown["regret_certified"]["mean"] <= 600
    known, prior = shown["regret_bound_released"]["mean"], shown["regret_bound_prior"]
    assert shown["regret_certified"]["mean"] <= known <= 600 <= prior["bound"] < 600.01
    assert prior["failure"] == "0.0505" and 0 < prior["first"] <= 600
    assert shown["regret_without_privacy"]["mean"] <= shown["regret"]["mean"]
    last = shown["checkpoints"][-1]
    assert last["round"] == 600 and last["regret"] == shown["regret"]
    privacy = shown["privacy"]
    assert privacy["claim"] == "approx:1,0.000001" and privacy["neighbours"] == "add-remove"
    assert float(privacy["measured"]["upper"]) <= 1
    (entry,) = shown["certificates"]
    assert Certificate(json.dumps(entry["certificate"])).check().valid
    assert exactdp.mechanism(privacy["mechanism"]).uses[0].mechanism.reach.dimension == 5
    assert shown["bits_per_user"] % 5 == 0


@pytest.mark.slow
@pytest.mark.contract
def test_pure_releases_and_users_who_return_are_said():
    arguments = (*PRIVATE, "--release", "discrete-laplace", "--returning", "3")
    shown = json.loads(linear(*arguments, "--json").stdout)
    privacy = shown["privacy"]
    assert privacy["claim"] == "pure:1" and privacy["mechanism"].startswith("discrete-laplace:")
    spent = privacy["returning"]
    assert spent["batches"] == 3 and spent["delta"] == "0.000001"
    assert float(spent["epsilon"]["upper"]) < float(spent["together"]["upper"]) <= 3
    once, thrice = (Certificate(json.dumps(one["certificate"])) for one in shown["certificates"])
    assert once.check().valid and thrice.check().valid
    assert thrice.content["uses"][0]["times"] == "3"
    said = " ".join(linear(*arguments).stdout.split())
    assert "discrete Laplace noise" in said and "a user of 3 batches epsilon [" in said


@pytest.mark.contract
def test_tables_and_json_of_the_algorithm_without_privacy():
    result = linear(*SMALL, "--algorithm", "linucb")
    assert result.exit_code == 0 and "not private" in result.stdout
    shown = json.loads(linear(*SMALL, "--algorithm", "linucb", "--json").stdout)
    assert shown["privacy"] is None and shown["certificates"] == []


@pytest.mark.contract
@pytest.mark.slow
def test_real_data_are_said_not_to_follow_the_model():
    arguments = ("--horizon", "300", "--instance", "iris", "--epsilon", "5", "--runs", "1")
    result = linear(*arguments)
    assert result.exit_code == 0, result.output
    assert "is an assumption, and hardly true of data" in " ".join(result.stdout.split())
    shown = json.loads(linear(*arguments, "--json").stdout)
    assert shown["radius"]["runs_outside"] is None and shown["radius"]["model_holds"] is False
    assert shown["regret_bound_prior"] is None
    assert 0 < shown["regret_of_linear_fit"] < 300


@pytest.mark.contract
def test_what_is_proved_of_regret_before_anything_runs_is_said():
    instance = ("--instance", "unit:dimension=2,arms=3", "--runs", "1", "--algorithm", "linucb")
    long = linear("--horizon", "4e4", "--first", "3000", *instance, "--json")
    shown = json.loads(long.stdout)
    prior = shown["regret_bound_prior"]
    assert shown["regret"]["mean"] <= prior["bound"] <= prior["mean"] < 2e4
    said = " ".join(linear("--horizon", "500", *instance).stdout.split())
    assert "nothing is proved of these batches; with a first one (--first) of about" in said


@pytest.mark.contract
@pytest.mark.parametrize(("norm", "holds"), [("0.1", True), ("0.0999999", False), ("2", True)])
def test_the_model_holds_where_theta_is_as_short_as_is_assumed(norm, holds):
    instance = ("--horizon", "50", "--instance", "unit:dimension=2,arms=3,norm=0.1", "--runs", "1")
    arguments = (*instance, "--algorithm", "linucb", "--norm", norm)
    shown = json.loads(linear(*arguments, "--json").stdout)
    assert shown["radius"]["model_holds"] is holds
    assert ("does not hold" in linear(*arguments).stdout) is not holds


@pytest.mark.contract
@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers():
    one = linear(*PRIVATE, "--json").stdout
    assert linear(*PRIVATE, "--json").stdout == one
    assert linear(*PRIVATE, "--seed", "1", "--json").stdout != one


def test_what_is_not_verified_does_not_run(monkeypatch, capsys):
    monkeypatch.setattr(release, "provable_epsilon", lambda mechanism, delta: 2)
    assert main(["bandit", "linear", *PRIVATE]) == 3
    shown = capsys.readouterr()
    assert shown.out == "" and "no noise was verified" in shown.err


@pytest.mark.contract
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (SMALL, "--epsilon must be given"),
        ((*PRIVATE, "--algorithm", "linucb"), "--epsilon is of dist-dp-linucb"),
        ((*PRIVATE, "--algorithm", "ucb"), "algorithm must be one of dist-dp-linucb"),
        ((*PRIVATE, "--delta", "0"), "delta"),
        ((*PRIVATE, "--norm", "none"), "norm"),
        ((*PRIVATE, "--first", "3000"), "first"),
        ((*PRIVATE, "--runs", "0"), "runs"),
        ((*SMALL, "--epsilon", "1000"), "epsilon"),
        ((*PRIVATE, "--confidence", "1"), "confidence"),
        ((*PRIVATE, "--growth", "1"), "growth"),
        ((*PRIVATE, "--release", "laplace"), "release must be one of skellam, discrete-laplace"),
        ((*PRIVATE, "--returning", "99"), "returning"),
        ((*SMALL, "--algorithm", "linucb", "--returning", "2"), "are of dist-dp-linucb"),
        ((*PRIVATE, "--instance", "moon"), "instance must be one of"),
        ((*PRIVATE, "--instance", "unit:dimension=99"), "dimension"),
    ],
)
def test_bad_input_ends_with_one_line_and_code_2(capsys, arguments, named):
    refused(capsys, ["bandit", "linear", *arguments], named)
