"""`exactdp round federated:...`: a whole round of vectors from the command line."""

import json
import time
from fractions import Fraction

import pytest

pytest.importorskip("cryptography")

from exactdp.accounting import compose
from exactdp.cli import play_federated
from exactdp.cli.main import main
from exactdp.exact import spend
from exactdp.mechanisms.specs.spec import parse

SPEC = "federated:mechanism={},clip=1,scale=256,clients=30,local-stddev=0.5,dimension=100,bits=16"


def play(capsys, *arguments, code=0):
    assert main(["protocol", "--play", *arguments]) == code
    return capsys.readouterr()


@pytest.mark.slow
def test_what_is_missing_is_charged(capsys):
    spec = SPEC.format("skellam").replace("scale=256", "scale=1")
    arguments = ("--dropout", "3", "--floor", "20", "--delta", "1e-5", "--seed", "4", "--json")
    found = json.loads(play(capsys, spec, *arguments).out)
    assert [row["missing"] for row in found["privacy"]] == [found["missing"], 10]
    for row in found["privacy"]:
        released = parse(f"{spec},dropout={row['missing']}").mechanism
        again = compose(released).epsilon("1e-5", Fraction(1, 1000))
        assert row["upper"] == again.to_json()["upper"] != "inf"
        assert float(row["lower"]) <= float(row["upper"])
    actual, accepted = found["privacy"]
    assert float(actual["upper"]) < float(accepted["upper"])


SLOW = pytest.mark.slow
NOISY = "federated:mechanism=skellam,clip=1,scale=2,clients=10,local-stddev=1,bits=6"


@pytest.mark.contract
@pytest.mark.parametrize(
    ("dimension", "rounding"),
    [
        pytest.param(1, "stochastic", marks=SLOW),
        pytest.param(1, "nearest", marks=SLOW),
        pytest.param(3, "stochastic", marks=SLOW),
    ],
)
def test_what_remains_is_certified(capsys, tmp_path, dimension, rounding):
    spec, file = f"{NOISY},dimension={dimension},rounding={rounding}", tmp_path / "round.json"
    arguments = (spec, "--dropout", "2", "--floor", "7", "--seed", "1", "--delta", "1e-5")
    arguments += ("--plain", "--certificate", str(file), "--time", "60")
    found = json.loads(play(capsys, *arguments, "--json").out)
    assert found["verdict"] == "VERIFIED" and found["certificate"] == str(file)
    assert found["certificate_of"] == f"{spec},dropout=3"  # the fewest that the floor accepts
    claim = found["claim"]
    assert (claim["kind"], Fraction(claim["delta"])) == ("approx", Fraction(1, 10**5))
    assert float(claim["epsilon"]) >= float(found["privacy"][-1]["lower"])
    expected = ["--expect", found["certificate_of"], "--claim", f"approx:{claim['epsilon']},1e-5"]
    assert main(["check", str(file), *expected]) == 0
    assert "rounded" in capsys.readouterr().out
    assert main(["check", str(file), "--expect", spec]) == 1


@pytest.mark.contract
@pytest.mark.slow
def test_a_claim_is_certified_or_refuted(capsys, tmp_path):
    spec, file = f"{NOISY},dimension=1,rounding=nearest", tmp_path / "round.json"
    given = (spec, "--plain", "--seed", "1")
    for claim, verdict in (("rdp:2,9", "VERIFIED"), ("rdp:2,0.01", "REFUTED")):
        shown = play(capsys, *given, "--certificate", str(file), "--claim", claim).out
        assert f"{claim} {verdict}" in shown
        assert main(["check", str(file), "--claim", claim, "--verdict", verdict]) == 0
        capsys.readouterr()
    assert "--certificate is missing" in play(capsys, *given, "--claim", "rdp:2,9", code=2).err
    nowhere = ("--certificate", str(tmp_path / "none" / "round.json"))
    assert "--certificate" in play(capsys, *given, *nowhere, code=2).err


@pytest.mark.parametrize("claim", [(), ("--claim", "approx:9,1e-5")])
def test_a_certificate_that_comes_late_is_not_written(capsys, tmp_path, monkeypatch, claim):
    spec, file = f"{NOISY},dimension=1,rounding=nearest", tmp_path / "round.json"

    def late(audit):
        time.sleep(0.3)
        spend()
        raise AssertionError("the time allowed was over")

    monkeypatch.setattr(play_federated, "certificate_of", late)
    given = (spec, "--plain", "--seed", "1", "--delta", "1e-5", "--time", "0.25", *claim)
    shown = play(capsys, *given, "--certificate", str(file), "--json", code=3)
    found = json.loads(shown.out)
    assert "time" in found["note"] and "verdict" not in found and found["summed"] == 10
    assert not shown.err and not file.exists()


@pytest.mark.slow
def test_a_round_of_clients_from_options(capsys):
    spec = SPEC.format("skellam").replace(",clients=30", "").replace("dimension=100,", "")
    options = ["--clients", "3", "--dimension", "4", "--plain", "--seed", "4", "--json"]
    found = json.loads(play(capsys, spec, *options).out)
    assert (found["clients"], found["coordinates"]) == (3, 4)
    assert parse(found["mechanism"]).federated.clients == 3


@pytest.mark.contract
@pytest.mark.slow
def test_tables_and_the_system_s_bits(capsys):
    shown = play(capsys, SPEC.format("skellam"), "--plain").out
    assert "CSPRNG" in shown and "within the bound" in shown and "30 of 30" in shown


@pytest.mark.contract
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["federated:clip=1"], "scale, clients, local-stddev, dimension, bits"),
        ([SPEC.format("laplace")], "mechanism must be skellam or discrete-gaussian"),
        ([SPEC.format("skellam") + ",rounding=up"], "rounding must be"),
        ([SPEC.format("skellam") + ",colour=red"], "colour"),
        ([SPEC.format("skellam").replace("stddev=0.5", "stddev=0")], "local-stddev"),
        ([SPEC.format("skellam"), "--colluding", "1"], "is not for"),
        ([SPEC.format("skellam"), "--dropout", "31"], "dropout"),
        ([f"{NOISY},dimension=1".replace("scale=2", "scale=1e9")], "clip times scale"),
        ([SPEC.format("skellam") + ",dropout=2"], "leave dropout and poisson out"),
        ([SPEC.format("skellam"), "--delta", "0"], "delta"),
        ([SPEC.format("skellam"), "--clients", "31"], "clients of SPEC, 30, got 31"),
        ([SPEC.format("skellam"), "--dimension", "99"], "dimension of SPEC, 100, got 99"),
        ([SPEC.format("skellam"), "--clients", "1/2"], "clients"),
        (["federated", "--clients", "3"], "federated needs clip, scale"),
        (
            ["theorem1:epsilon=1,batch=4,horizon=100", "--clients", "4"],
            "is not for a sum",
        ),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, named):
    shown = play(capsys, *arguments, code=2)
    assert shown.out == "" and named in shown.err and shown.err.count("\n") == 1
