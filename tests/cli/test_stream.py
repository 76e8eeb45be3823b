"""`exactdp protocol` and `exactdp protocol --play` of streams with clients."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest

from exactdp.accounting import compose
from exactdp.cli.main import main
from exactdp.mechanisms.specs.spec import parse

SPEC = "tree:steps=8,sigma=6,noise={},l2=2,participations=2,separation=3,clients=6,bits=12"


def shown(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow_cases("discrete-gaussian")
@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("noise", ["skellam", "discrete-gaussian"])
def test_protocol_tells_what_is_sent_and_what_is_left(capsys, noise):
    spec = SPEC.format(noise)
    found = shown(capsys, "protocol", spec, "--dropout", "2", "--delta", "1e-5")
    assert (found["clients"], found["bits"], found["dimension"]) == (6, 12, 1)
    assert [(row["moved"], row["count"]) for row in found["rows"]] == [(2, 2), (1, 6)]
    assert float(found["wrap"]["lower"]) <= float(found["wrap"]["upper"]) <= 1e-6
    (lacking,) = found["dropout"]
    assert Fraction(lacking["variance_left"]) == Fraction(2, 3)
    assert Fraction(lacking["sigma"]) ** 2 * 4 / 6 >= 36
    for key, text in (("epsilon", f"{spec},dropout=2"), ("epsilon_provided", spec)):
        one = compose(parse(text).mechanism).epsilon("1e-5", "1e-3")
        assert Decimal(lacking[key]["lower"]) <= Decimal(float(one.upper) * 1.001)
        assert Decimal(lacking[key]["upper"]) >= Decimal(float(one.lower) * 0.999)
    assert float(lacking["epsilon"]["lower"]) > float(found["epsilon"]["lower"])


@pytest.mark.contract
@pytest.mark.slow
def test_the_bound_of_prefix_sums_counts_overflow(capsys):
    """With 6 bits sums overflow more often than the failure that is allowed: a warning."""
    spec = SPEC.format("skellam").replace("bits=12", "bits={}")
    for bits, warned in ((6, True), (12, False)):
        found = shown(capsys, "protocol", spec.format(bits), "--dropout", "1")
        assert found["overflow"] == found["wrap"] and ("warning" in found) == warned
    assert main(["protocol", spec.format(6), "--dropout", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "except with probability 1e-6 and that of modular overflow (at most" in said


@pytest.mark.contract
@pytest.mark.slow
def test_the_fewest_bits_are_named_where_none_are_given(capsys):
    found = shown(capsys, "protocol", SPEC.format("skellam").replace(",bits=12", ""))
    assert found["bits"] is None and found["fewest_bits"] < 12
    assert float(found["wrap"]["upper"]) <= 1e-6
    assert main(["protocol", SPEC.format("skellam"), "--dropout", "1"]) == 0
    assert "fewest bits" in capsys.readouterr().out


@pytest.mark.contract
@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("noise", ["skellam", "discrete-gaussian"])
def test_a_round_recovers_prefix_sums(capsys, noise):
    pytest.importorskip("cryptography")
    given = (
        "protocol",
        "--play",
        SPEC.format(noise),
        "--dropout",
        "1",
        "--seed",
        "3",
        "--delta",
        "1e-5",
    )
    found = shown(capsys, *given)
    assert found["simulation"] and len(found["found"]) == 8
    errors = [
        abs(a - b)
        for one, other in zip(found["found"], found["truth"], strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    assert max(errors) == found["error"]["largest"] < 6 * 8
    assert min(found["summed"]) >= 5
    assert [each["missing"] for each in found["privacy"]] == [1] or min(found["summed"]) == 6
    again = shown(capsys, *given)
    assert again["found"] == found["found"]
    assert main([*given, "--plain"]) == 0
    assert "prefix sum found" in capsys.readouterr().out


@pytest.mark.contract
@pytest.mark.slow
def test_a_matrix_is_played(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "C.csv").write_text("1,0,0\n1,1,0\n2,1,-1\n")
    spec = "matrix:file=C.csv,sigma=1e-3,noise=skellam,clients=4,bits=10,dimension=3"
    found = shown(capsys, "protocol", "--play", spec, "--plain", "--seed", "1")
    assert found["found"] == found["truth"] == found["complete"]
    assert found["error"]["largest"] == 0
    assert shown(capsys, "protocol", spec)["fewest_bits"] < 10


@pytest.mark.contract
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["protocol", "tree:steps=8,sigma=6,noise=skellam"], "clients"),
        (["protocol", "tree:steps=8,sigma=6"], "clients"),
        (["protocol", SPEC.format("skellam") + ",dropout=1"], "--dropout"),
        (["protocol", SPEC.format("skellam"), "--dropout", "6"], "--dropout"),
        (["protocol", SPEC.format("skellam"), "--target", "pure:1"], "federated"),
        (["protocol", SPEC.format("skellam"), "--delta", "1"], "--delta"),
        (["protocol", "--play", SPEC.format("skellam").replace(",bits=12", "")], "bits"),
        (["protocol", "--play", SPEC.format("skellam") + ",dropout=1"], "--dropout"),
        (["protocol", "--play", SPEC.format("skellam"), "--mean", "1/3"], "is not for"),
        (["protocol", "--play", SPEC.format("skellam"), "--dropout", "7"], "dropout"),
        (["protocol", "--play", SPEC.format("skellam"), "--dropout", "6", "--plain"], "dropout"),
        (
            ["protocol", "--play", SPEC.format("skellam").replace("steps=8", "steps=1e6")],
            "clients times steps",
        ),
        (["protocol", "--play", SPEC.format("skellam") + ",dimension=1e7"], "dimension"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, named):
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == "" and named in said.err and said.err.count("\n") == 1
