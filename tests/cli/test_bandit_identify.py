"""`exactdp bandit identify`: the shape of its JSON, its exit codes."""

import json

import pytest
from commands import refused
from typer.testing import CliRunner

from exactdp import Certificate, Enclosure
from exactdp.bandit.environments.instance import instance
from exactdp.bandit.identification.characteristic_time import least_time
from exactdp.bandit.lower_bound import Barrier
from exactdp.cli.main import app

EASY = ("--instance", "coins:0.9,0.3,0.1", "--epsilon", "1", "--runs", "5", "--most", "1e5")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EXACTDP_CACHE", str(tmp_path / "cache"))


def identify(*arguments):
    return CliRunner().invoke(app, ["bandit", "identify", *arguments])


def identify_json(*arguments):
    result = identify(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_json_says_what_was_found_what_it_took_and_what_it_cost():
    shown = identify_json(*EASY, "--confidence", "0.001")
    assert (shown["algorithm"], shown["most"], shown["runs"]) == ("dist-dp-lucb", 100_000, 5)
    assert shown["error_at_most"] == "0.001"
    assert shown["chosen"] == [0] * 5 and shown["right"] == [True] * 5
    assert (shown["wrong"], shown["undecided"]) == (0, 0)
    times = [sum(pulls) for pulls in shown["pulls"]]
    assert shown["stopping_time"]["mean"] == pytest.approx(sum(times) / 5)
    least = Enclosure.from_json(shown["lower_bound"]["users"])
    truth = least_time(instance("coins:0.9,0.3,0.1"), 1, "0.001")
    assert least.lower <= truth.upper and truth.lower <= least.upper
    ratio = shown["time_over_bound"]["mean"]
    assert ratio == pytest.approx(shown["stopping_time"]["mean"] / float(least)) and ratio > 1
    assert shown["upper_bound"]["probability"] == "0.997"
    assert max(times) <= shown["upper_bound"]["users"] <= 10 * shown["stopping_time"]["mean"]
    assert all(count >= 3 for count in shown["batches"])
    assert float(Enclosure.from_json(shown["privacy"]["once"]).upper) <= 1
    for entry in shown["certificates"]:
        assert Certificate(json.dumps(entry["certificate"])).check().valid


@pytest.mark.contract
def test_arms_keep_the_names_of_a_file(tmp_path):
    file = tmp_path / "clicks.csv"
    file.write_text("arm,reward\nred,0\nred,0.2\nblue,0.9\nblue,1\n", encoding="utf-8")
    options = ("--instance", str(file), "--epsilon", "1", "--most", "1e5")
    assert "blue (arm 1, counted from 0)" in identify(*options, "--runs", "1").stdout
    assert "blue (arm 1, counted from 0) in 2 runs" in identify(*options, "--runs", "2").stdout
    shown = identify_json(*options, "--runs", "1")
    assert (shown["arms"], shown["chosen"]) == (["red", "blue"], [1])
    assert "arms" not in identify_json(*EASY)


@pytest.mark.contract
def test_a_fixed_budget_always_answers_and_shows_its_error_beside_what_is_proved():
    given = (*EASY[:4], "--runs", "200", "--most", "40", "--algorithm", "dist-dp-halving")
    shown = identify_json(*given)
    assert shown["undecided"] == 0 and None not in shown["chosen"]
    measured, bound = shown["error_measured"], Enclosure.from_json(shown["error_bound"])
    assert measured["mean"] == shown["wrong"] / 200 and measured["level"] == 0.99
    low, high = measured["interval"]
    assert low <= measured["mean"] <= high and low <= bound.upper <= 1
    assert shown["error_at_most"] is None and shown["lower_bound"] is None
    assert len(shown["certificates"]) == 2
    assert "proved for these means; measured" in " ".join(identify(*given).stdout.split())


@pytest.mark.contract
def test_users_who_trust_nobody_send_reports_that_are_verified():
    shown = identify_json(*EASY, "--algorithm", "local-lucb")
    assert shown["right"] == [True] * 5 and shown["privacy"]["trust"] == "local"
    mechanism = "randomized-response:epsilon=1"
    assert shown["reports"] == {"mechanism": mechanism, "verdict": "VERIFIED"}
    assert shown["lower_bound"]["for"] == "every algorithm that sees such reports"
    assert f"{mechanism}, VERIFIED" in identify(*EASY, "--algorithm", "local-lucb").stdout
    assert identify_json(*EASY)["reports"] is None


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("algorithm", ["dp-lucb", "dist-rdp-lucb", "dist-cdp-lucb", "lucb"])
def test_whom_users_trust_is_chosen(algorithm):
    shown = identify_json(*EASY, "--algorithm", algorithm)
    assert shown["right"] == [True] * 5
    assert bool(shown["certificates"]) == (algorithm != "lucb")
    barrier = Barrier.GLOBAL if algorithm == "dp-lucb" else Barrier.NONE
    assert shown["lower_bound"]["for"] == barrier.value


@pytest.mark.contract
def test_delta_is_that_of_its_releases():
    given = (*EASY, "--algorithm", "dist-gauss-lucb", "--growth", "50", "--most", "5e3")
    shown = identify_json(*given, "--delta", "1e-3")
    assert shown["right"] == [True] * 5
    assert shown["privacy"]["claim"] == "approx:1,0.001"
    assert 0.9 < float(Enclosure.from_json(shown["privacy"]["once"]).upper) <= 1


@pytest.mark.contract
def test_the_same_seed_gives_the_same_numbers():
    arguments = (*EASY, "--instance", "easy", "--sigma", "0", "--arms", "2", "--most", "1e4")
    one = identify(*arguments, "--json")
    assert identify(*arguments, "--json").stdout == one.stdout
    assert identify(*arguments, "--json", "--seed", "1").stdout != one.stdout


@pytest.mark.contract
def test_a_run_that_needs_more_users_is_undecided():
    arguments = ("--instance", "coins:0.51,0.5", "--epsilon", "1", "--most", "500", "--runs", "3")
    result = identify(*arguments, "--json")
    assert result.exit_code == 3
    shown = json.loads(result.stdout)
    assert shown["chosen"] == [None] * 3 and shown["undecided"] == 3 and shown["wrong"] == 0
    assert all(sum(pulls) <= 500 for pulls in shown["pulls"])
    assert shown["time_over_bound"] is None
    result = identify(*arguments)
    assert result.exit_code == 3
    assert "undecided" in result.stdout


@pytest.mark.contract
def test_one_run_names_the_arm_and_equal_arms_have_no_bound():
    result = identify(*EASY, "--runs", "1")
    assert result.exit_code == 0
    assert "arm 0, counted from 0" in result.stdout
    assert "arm 0, counted from 0 in 5 runs" in identify(*EASY).stdout
    result = identify(*EASY, "--instance", "coins:0.5,0.5", "--most", "300", "--json")
    assert json.loads(result.stdout)["lower_bound"] is None


@pytest.mark.contract
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--epsilon", "1", "--confidence", "0.5"), "confidence must be below 1/2"),
        (("--epsilon", "1", "--most", "50"), "most must be at least"),
        (("--epsilon", "1", "--most", "many"), "most"),
        (("--epsilon", "1", "--algorithm", "dp-se"), "did you mean 'dp-lucb'"),
        (("--epsilon", "1", "--algorithm", "dist-dp-se"), "algorithm must be one of dist-dp-lucb"),
        ((), "--epsilon must be given"),
        (("--algorithm", "dp-halving"), "--epsilon must be given"),
        (
            ("--epsilon", "1", "--algorithm", "dp-halving", "--confidence", "0.1"),
            "--confidence must not be given for dp-halving",
        ),
        (("--epsilon", "1", "--algorithm", "dp-halving", "--most", "5"), "one user of each arm"),
        (("--epsilon", "1", "--instance", "fair", "--sigma", "0"), "--sigma is of the instances"),
    ],
)
def test_bad_input_ends_with_one_line_and_code_2(capsys, arguments, named):
    refused(capsys, ["bandit", "identify", *arguments], named)


@pytest.mark.slow
@pytest.mark.contract
def test_users_who_return_pay_for_every_batch(capsys):
    returning = identify_json(*EASY, "--returning", "3")["privacy"]["returning"]
    assert returning["batches"] == 3
    assert float(Enclosure.from_json(returning["together"]).upper) == 3
    assert "3 batches" in identify(*EASY, "--returning", "3").stdout
    refused(capsys, ["bandit", "identify", *EASY, "--returning", "0"], "returning must be")
