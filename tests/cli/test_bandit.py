"""`exactdp bandit run`: the shape of its JSON, its exit codes, transcripts that check."""

import hashlib
import json
import math

import pytest
from typer.testing import CliRunner

from exactdp import Certificate, Enclosure
from exactdp.bandit.environments.instance import instance
from exactdp.bandit.lower_bound import lower_bound
from exactdp.cli.main import app, main

SMALL = ("--horizon", "2e3", "--arms", "3", "--runs", "4", "--epsilon", "0.9")
OWN = (
    *("dist-dp-imed", "dist-dp-ts", "dist-dp-klucb-log", "dist-adap-klucb"),
    *("kl-ucb", "kl-ucb-log-batched"),
)
ALGORITHMS = (
    *("dist-dp-se", "dist-rdp-se", "dist-cdp-se", "cdp-se", "ldp-se", "shuffle-dp-se"),
    *("dp-se", "sdp-ae", "vb-sdp-ae", "se", "dist-dp-klucb-doubling", "dp-klucb"),
    *("dist-rdp-klucb", "dist-cdp-klucb", "dist-gauss-klucb", "kl-ucb-doubling"),
    "dist-dp-klucb",
    *OWN,
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EXACTDP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(*arguments, algorithm="dist-dp-se"):
    return CliRunner().invoke(app, ["bandit", "run", "--algorithm", algorithm, *arguments])


def run_json(*arguments, algorithm="dist-dp-se"):
    result = run(*arguments, "--json", algorithm=algorithm)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.contract
def test_json_is_that_of_the_contract():
    shown = run_json(*SMALL, "--seed", "3")
    assert shown["algorithm"] == "dist-dp-se"
    assert shown["horizon"] == 2000
    assert shown["runs"] == 4
    assert set(shown["regret"]) == {"mean", "standard_error"}
    assert shown["checkpoints"][-1]["round"] == 2000
    for checkpoint in shown["checkpoints"]:
        assert set(checkpoint["time_average_regret"]) == {"mean", "standard_error"}
    end = shown["checkpoints"][-1]["time_average_regret"]
    assert end["mean"] == pytest.approx(shown["regret"]["mean"] / 2000)
    assert [sum(each) for each in shown["pulls"]] == [2000] * 4
    assert shown["best_arm_eliminated"] in range(5)
    assert isinstance(shown["bits_per_user"], int)
    once = Enclosure.from_json(shown["privacy"]["once"])
    assert float(once.upper) <= 0.9
    assert shown["certificates"]
    for entry in shown["certificates"]:
        assert Certificate(json.dumps(entry["certificate"])).check().valid


@pytest.mark.quick_cases(6)
@pytest.mark.contract
@pytest.mark.slow_cases("dist-rdp-se", "vb-sdp-ae")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_runs(algorithm):
    arguments = (*SMALL, "--horizon", "300", "--delta", "0.1")
    # grids for few users are coarse, and long to certify
    if algorithm.endswith(("klucb", "-log", "-batched", "-tight", "imed", "-ts")):
        arguments = (*arguments, "--horizon", "5000", "--growth", "30")
    shown = run_json(*arguments, algorithm=algorithm)
    assert shown["algorithm"] == algorithm
    assert all(sum(each) == shown["horizon"] for each in shown["pulls"])
    assert (
        shown["privacy"]["note"]
        if algorithm in ("se", "dp-se", "kl-ucb-doubling", "kl-ucb", "kl-ucb-log-batched")
        else shown["certificates"]
    )
    result = run(*arguments, algorithm=algorithm)
    assert result.exit_code == 0
    lost = (
        "best index below mean"
        if "klucb" in algorithm or algorithm == "kl-ucb-doubling"
        else "best arm eliminated"
    )
    assert (lost in result.stdout) == (algorithm not in OWN)


@pytest.mark.contract
def test_the_same_seed_gives_the_same_numbers_for_any_workers():
    one = run_json(*SMALL, "--runs", "12")
    assert run_json(*SMALL, "--runs", "12", "--workers", "2") == one
    assert run_json(*SMALL, "--runs", "12", "--seed", "1") != one


@pytest.mark.contract
def test_evidence_is_kept_and_changes_nothing(cache):
    one = run_json(*SMALL)
    assert list((cache / "evidence").iterdir())
    assert run_json(*SMALL) == one


@pytest.mark.contract
def test_se_needs_no_epsilon():
    shown = run_json("--horizon", "100", "--arms", "2", algorithm="se")
    assert shown["certificates"] == []
    assert shown["bits_per_user"] is None


@pytest.mark.contract
def test_a_certified_radius_says_how_likely_it_fails():
    shown = run_json(*SMALL, "--radius", "certified")
    assert float(shown["radius"]["failure"]["upper"]) <= 0.1
    assert run_json(*SMALL)["radius"] == {"kind": "paper", "failure": None}


@pytest.mark.contract
def test_users_who_return_spend_more():
    shown = run_json(*SMALL, "--horizon", "100", "--returning", "2", "--delta", "1e-3")
    returning = shown["privacy"]["returning"]
    assert returning["batches"] == 2
    assert 1.7 < float(returning["one_sum"]["upper"]) <= 1.8
    table = run(*SMALL, "--horizon", "100", "--returning", "2").stdout
    assert "2 places in one sum" in " ".join(table.split())
    assert float(returning["epsilon"]["upper"]) <= float(returning["together"]["upper"]) <= 1.8


@pytest.mark.contract
def test_options_reach_the_setting():
    shown = run_json(
        *("--epsilon", "0.5", "--horizon", "500", "--arms", "4", "--growth", "3"),
        *("--confidence", "0.2", "--scaling", "3", "--delta", "1e-3", "--instance", "hard"),
        *("--sigma", "0", "--runs", "1"),
    )
    assert shown["setting"] == {
        "arms": "4",
        "horizon": "500",
        "epsilon": "0.5",
        "delta": "0.001",
        "scaling": "3",
        "confidence": "0.2",
        "growth": "3",
    }
    assert shown["instance"] == "hard"
    assert shown["regret"]["standard_error"] is None


@pytest.mark.contract
def test_an_instance_may_be_a_file(tmp_path):
    file = tmp_path / "arms.csv"
    file.write_text("arm,reward\na,1\na,0\nb,0\nb,0\n")
    shown = run_json("--epsilon", "0.9", "--horizon", "5000", "--instance", str(file))
    assert len(shown["pulls"][0]) == 2
    assert shown["regret"]["mean"] < 2500
    assert "by arm" in run("--epsilon", "0.9", "--horizon", "50", "--instance", str(file)).stdout


@pytest.mark.contract
def test_faithful_runs_take_every_user(monkeypatch):
    shown = run_json(*SMALL, "--horizon", "60", "--faithful")
    assert [sum(each) for each in shown["pulls"]] == [60] * 4
    pytest.importorskip("cryptography")
    masked = run_json(*SMALL, "--horizon", "20", "--runs", "1", "--faithful", "--masked")
    assert sum(masked["pulls"][0]) == 20


@pytest.mark.contract
def test_a_transcript_checks_and_a_changed_one_does_not(tmp_path):
    file = tmp_path / "run.jsonl"
    printed = run(*SMALL, "--transcript", str(file))
    assert printed.exit_code == 0
    head = hashlib.sha256(file.read_bytes().splitlines(keepends=True)[0]).hexdigest()
    assert printed.stdout.splitlines()[-1].endswith(head)
    result = CliRunner().invoke(app, ["check", str(file), "--head", head])
    assert (result.exit_code, result.stdout.partition(":")[0]) == (0, "valid")
    assert result.stdout.splitlines()[-1] == f"  head: {head}"
    assert CliRunner().invoke(app, ["check", str(file), "--head", "0" * 64]).exit_code == 1
    assert main(["check", str(file), "--head", head[:-1]]) == 2
    assert main(["check", str(file), "--claim", "pure:1"]) == 2
    lines = file.read_text().splitlines()
    line = json.loads(lines[3])
    line["released"] += 1
    file.write_text("\n".join([*lines[:3], json.dumps(line), *lines[4:]]) + "\n")
    result = CliRunner().invoke(app, ["check", str(file), "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["valid"] is False
    file.write_text("\n".join([lines[0], "nonsense"]))
    assert main(["check", str(file)]) == 2


@pytest.mark.contract
def test_interrupted_sweeps_are_resumed(tmp_path):
    one = run_json(*SMALL, "--runs", "7", "--resume", str(tmp_path / "cache"))
    assert len(list((tmp_path / "cache").glob("*.json"))) == 2
    assert run_json(*SMALL, "--runs", "7", "--resume", str(tmp_path / "cache")) == one


@pytest.mark.contract
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--algorithm", "ucb"), "did you mean 'dp-klucb'"),
        (("--algorithm", "thompson"), "did you mean 'dist-dp-ts'"),
        (("--epsilon", "0"), "epsilon must be"),
        (("--epsilon", "1e-7"), "epsilon must be at least 1e-6"),
        (("--horizon", "0"), "horizon must be"),
        (("--horizon", "1.5"), "horizon must be a whole number"),
        (("--arms", "1"), "arms must be"),
        (("--runs", "0"), "runs must be"),
        (("--seed", "-1"), "seed must be"),
        (("--delta", "1"), "delta must be"),
        (("--scaling", "0.5"), "scaling must be"),
        (("--confidence", "0"), "confidence must be"),
        (("--growth", "1"), "growth must be"),
        (("--growth", "1.001"), "growth must be at least 1.01"),
        (("--radius", "wide"), "radius must be paper or certified"),
        (("--workers", "0"), "workers must be"),
        (("--instance", "nowhere.csv"), "instance must be easy, hard, fair or a file"),
        (("--sigma", "-1"), "sigma must be"),
        (("--masked",), "--masked must be given together with --faithful"),
        (("--faithful", "--horizon", "1e7"), "horizon must be at most"),
        (("--transcript", "/"), "transcript must be a file in a folder that exists, got /"),
        (("--returning", "0"), "returning must be"),
        (("--transcript", "/nowhere/all"), "transcript must be a file in a folder that exists"),
    ],
)
def test_bad_input_is_named_in_one_line(arguments, named, capsys):
    given = ["bandit", "run", "--algorithm", "dist-dp-se", *SMALL, *arguments]
    assert main(given) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert named in err


@pytest.mark.contract
def test_epsilon_must_be_given(capsys):
    assert main(["bandit", "run", "--algorithm", "dist-dp-se", "--horizon", "10"]) == 2
    assert "--epsilon must be given for dist-dp-se" in capsys.readouterr().err


@pytest.mark.contract
def test_what_is_refuted_does_not_run(capsys):
    """Theorem A.1 is for epsilon < 1: beyond, its noise may be none at all."""
    arguments = ["--horizon", "1000", "--epsilon", "20", "--delta", "0.01"]
    assert main(["bandit", "run", "--algorithm", "sdp-ae", *arguments]) == 1
    assert "REFUTED" in capsys.readouterr().err


@pytest.mark.contract
@pytest.mark.slow
def test_users_who_return_are_charged_once_and_within_their_limit(tmp_path, capsys):
    url = str(tmp_path / "a.db")
    assert main(["ledger", "init", url, "--limit", "zcdp:3"]) == 0
    words = [*("bandit", "run", "--algorithm", "cdp-se", "--horizon", "60", "--arms", "2")]
    words += ["--epsilon", "0.9", "--runs", "1", "--faithful"]
    more = ["--ledger", url, "--users", "40", "--user-prefix", "who "]
    exports = []
    for _ in range(2):
        capsys.readouterr()
        assert main([*words, *more]) == 0
        capsys.readouterr()
        assert main(["ledger", "export", url]) == 0
        exports.append(capsys.readouterr().out)
    assert exports[0].count("who 0,") > 1
    assert exports[1].startswith(exports[0]) and exports[1].count("who 0,") > 2
    assert main(["ledger", "check", url]) == 0
    assert main([*words, *more, "--runs", "9"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("exactdp: refused: user 'who ")
    assert error.count("\n") == 1
    for wrong in (more[2:], [*more[:2], "--users", "3"], ["--ledger", str(tmp_path / "none")]):
        assert main([*words, *wrong]) == 2
    assert main([*words[:-1], *more]) == 2
    capsys.readouterr()
    assert main(["ledger", "export", url]) == 0
    before = capsys.readouterr().out
    for seed in ("0", "1"):
        assert main([*words, *more, "--seed", seed]) == 2
        error = capsys.readouterr().err
        assert "leave --seed away" in error and error.count("\n") == 1
    assert main(["ledger", "export", url]) == 0
    assert capsys.readouterr().out == before
    assert main(["ledger", "check", url]) == 0


def test_regret_is_held_against_what_is_known():
    arms = "coins:0.75,0.7,0.4"
    given = ("--horizon", "3e4", "--runs", "8", "--epsilon", "0.9", "--instance", arms)
    shown = run_json(*given, "--confidence", "1/30000", algorithm="dist-dp-klucb-doubling")
    bound = Enclosure.from_json(shown["lower_bound"]["regret"])
    assert shown["lower_bound"]["for"] == "global DP"
    truth = lower_bound(instance(arms), "0.9")
    assert float(bound) == pytest.approx(float(truth) * math.log(30000), rel=1e-9)
    ratio = shown["regret_over_bound"]["mean"]
    assert ratio == pytest.approx(shown["regret"]["mean"] / float(bound))
    assert float(shown["expected_regret"]["upper"]) > shown["regret"]["mean"] / 2
    plain = run_json(*given, algorithm="dist-dp-se")
    assert plain["lower_bound"] == shown["lower_bound"]
    assert plain["expected_regret"] is None  # of the paper's radius nothing is certified
    unasked = run_json(*given, algorithm="dist-dp-klucb-doubling")
    assert unasked["setting"] == shown["setting"] and unasked["regret"] == shown["regret"]
    assert plain["setting"]["confidence"] == "0.1"
    table = run(*given, algorithm="dist-dp-klucb-doubling").stdout
    assert "lower bound" in table and "proved" in table


# What the published code gives (time-average regret after 10^5 rounds), and its standard error for
# given instances: that of its rewards and noise, in 20 runs.
@pytest.mark.contract
@pytest.mark.parametrize(
    ("epsilon", "algorithm", "theirs", "error"),
    [
        ("0.5", "dist-dp-se", 0.0483, 0.00075),
        ("0.1", "dist-dp-se", 0.109, 0.0021),
        pytest.param("0.1", "dist-rdp-se", 0.0760, 0.0014, marks=pytest.mark.slow),
    ],
)
def test_published_instances_give_the_published_regret(epsilon, algorithm, theirs, error):
    given = ("--horizon", "1e5", "--epsilon", epsilon, "--instance", "published", "--runs", "200")
    shown = run_json(*given, algorithm=algorithm)
    ours = shown["checkpoints"][-1]["time_average_regret"]["mean"]
    assert abs(ours - theirs) <= 2 * error
    assert shown["best_arm_eliminated"] == 0


@pytest.mark.contract
def test_published_instances_are_as_they_are(capsys):
    given = ("--horizon", "1e3", "--epsilon", "1")
    asked = run_json(*given, "--instance", "published-hard", "--runs", "2", algorithm="se")
    assert asked["instance"] == "published-hard"
    same = run_json(
        *given, "--instance", "published-hard", "--runs", "2", "--growth", "4", algorithm="se"
    )
    other = run_json(
        *given, "--instance", "published-hard", "--runs", "2", "--growth", "2", algorithm="se"
    )
    assert asked["regret"] == same["regret"] != other["regret"]
    for wrong, named in (("--arms=9", "arms must be 10"), ("--sigma=0.2", "--sigma")):
        asking = ("bandit", "run", "--algorithm", "se", *given, "--instance", "published", wrong)
        assert main(list(asking)) == 2
        assert named in capsys.readouterr().err


@pytest.mark.contract
@pytest.mark.parametrize("algorithm", ["dist-dp-se", "dist-dp-klucb"])
def test_regret_is_drawn_and_a_wide_radius_is_warned_of(algorithm, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    file = tmp_path / "regret.svg"
    words = ["bandit", "run", "--algorithm", algorithm, "--epsilon", "1", "--horizon", "3000"]
    assert main([*words, "--instance", "coins:0.9,0.1", "--runs", "3", "--plot", str(file)]) == 0
    assert file.read_text().startswith("<?xml")
    error = capsys.readouterr().err
    assert ("--radius certified has less regret" in error) == (algorithm == "dist-dp-se")
    assert main([*words, "--plot", str(tmp_path / "regret.txt")]) == 2
    assert "must end with .png, .svg or .pdf" in capsys.readouterr().err


@pytest.mark.contract
def test_older_spellings_are_read_with_the_new_one(capsys):
    words = ["bandit", "run", "--horizon", "300", "--instance", "coins:0.9,0.1", "--json"]
    found = []
    for name, now in (("kl-ucb-log", "kl-ucb"), ("kl-ucb", "")):
        assert main([*words, "--algorithm", name]) == 0
        out, error = capsys.readouterr()
        found.append(json.loads(out))
        assert error == (f"exactdp: algorithm `{name}` is now `{now}`\n" if now else "")
    assert found[0] == found[1]
