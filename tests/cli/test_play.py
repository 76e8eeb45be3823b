"""`exactdp protocol --play`: whole batches over masks, and what remains."""

import json
from fractions import Fraction

import pytest
from commands import answer, refused

from exactdp import Enclosure
from exactdp.accounting import compose
from exactdp.cli.main import main
from exactdp.mechanisms import AdditiveNoise
from exactdp.mechanisms.additive import papers

SMALL = "theorem1:epsilon=0.5,batch=40,horizon=1000"


def play(capsys, *arguments, code=0):
    return answer(capsys, "protocol", "--play", *arguments, code=code)


@pytest.mark.quick_cases(2)
@pytest.mark.contract
@pytest.mark.parametrize("plain", [[], ["--plain"]])
@pytest.mark.parametrize("seed", range(1, 5))
def test_as_many_drop_out_as_was_asked(capsys, plain, seed):
    options = ["--dropout", "3", "--seed", str(seed), *plain]
    found = play(capsys, SMALL, *options)
    assert found["dropped_out"] == 3 >= found["missing"]
    assert not plain or found["missing"] == 3
    assert main(["protocol", "--play", SMALL, *options]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"{found['summed']} of 40 users; 3 dropped out" in said
    late = 3 - found["missing"]
    assert (f", {late} of them after what they sent was in the sum" in said) == bool(late)


@pytest.mark.contract
def test_a_thousand_users_and_the_certificate(capsys, tmp_path):
    file = tmp_path / "certificate.json"
    spec = "theorem1:epsilon=0.5,batch=1000,horizon=1000000"
    options = ["--dropout", "0.05", "--seed", "5", "--plain", "--certificate", str(file)]
    found = play(capsys, spec, *options)
    assert found["missing"] == 50
    assert found["within"]
    privacy = found["privacy"]
    remains = Enclosure.from_json(privacy["value"])
    assert privacy["quantity"] == "pure"
    assert remains.greater_than(Fraction(1, 2))  # with shares missing it is not epsilon any more
    claimed = Fraction(privacy["claim"]["epsilon"])
    assert remains.at_most(claimed)
    assert claimed < Fraction(remains.upper) * (1 + Fraction(1, 10**5))
    assert privacy["verdict"] == "VERIFIED"
    assert main(["check", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["protocol"]["dropout"] in (50, "50")


@pytest.mark.contract
@pytest.mark.slow
def test_colluders_cost_what_dropouts_cost(capsys, tmp_path):
    file = tmp_path / "certificate.json"
    options = ["--seed", "2", "--certificate", str(file)]
    both = play(capsys, SMALL, "--dropout", "3", "--plain", "--colluding", "5", *options)
    alone = play(capsys, SMALL, "--dropout", "8", "--plain", *options)
    assert both["privacy"]["value"] == alone["privacy"]["value"]
    assert (both["missing"], both["colluding"], both["graph"]) == (3, 5, None)


@pytest.mark.slow_cases("way0")
@pytest.mark.parametrize("way", [(), ("--plain",)])
def test_epsilon_is_that_of_the_fewest_users_that_are_accepted(capsys, way):
    privacy = [
        play(capsys, SMALL, "--dropout", str(gone), "--floor", floor, "--seed", "3", *way)[
            "privacy"
        ]
        for gone, floor in ((0, "34"), (6, "34"), (6, "0.85"))
    ]
    assert privacy[0] == privacy[1] == privacy[2]
    assert privacy[0]["floor"] == 34
    assert privacy[0]["of"] == "the sum before the reduction mod m"
    worst = Enclosure.from_json(privacy[0]["value"])
    least = papers.theorem1("0.5", 40, 1000).protocol.released(dropout=6)
    truth = compose(AdditiveNoise(least.law, least.sensitivity)).pure()
    assert worst.lower <= truth.upper and truth.lower <= worst.upper
    assert worst.greater_than(Fraction(1, 2))


@pytest.mark.contract
def test_a_sum_of_fewer_users_is_refused(capsys):
    for way in ((), ("--plain",)):
        arguments = [SMALL, "--dropout", "9", "--floor", "37", "--seed", "1", *way]
        assert main(["protocol", "--play", *arguments]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "needed" in captured.err
        assert not way or "below the floor of 37" in captured.err


@pytest.mark.contract
def test_the_certificate_names_the_masks(capsys, tmp_path):
    file = tmp_path / "certificate.json"
    options = ("--dropout", "3", "--floor", "35", "--seed", "1", "--certificate", str(file))
    found = play(capsys, SMALL, *options)
    protocol = json.loads(file.read_text())["protocol"]
    graph = found["graph"]
    assert protocol["dropout"] == "5" and protocol["floor"] == "35"
    assert protocol["mask-neighbours"] == str(graph["neighbours"])
    assert protocol["mask-threshold"] == str(graph["threshold"])
    reduced = json.loads(file.read_text())["uses"][0]["mechanism"]["modulus"] is not None
    told = "the sum reduced mod m" if reduced else "the sum before the reduction mod m"
    assert found["privacy"]["certificate_of"] == told
    assert main(["check", str(file)]) == 0
    assert "floor 35" in capsys.readouterr().out


@pytest.mark.contract
def test_where_no_pure_epsilon_is_finite(capsys):
    spec = "theorem2:epsilon=0.5,batch=40,horizon=1000,scaling=2"
    found = play(capsys, spec, "--dropout", "2", "--seed", "1", "--delta", "1e-5")
    assert (found["privacy"]["quantity"], found["privacy"]["delta"]) == ("epsilon", "1e-5")
    assert Enclosure.from_json(found["privacy"]["value"]).is_finite()


@pytest.mark.contract
@pytest.mark.parametrize("theorem", ["theorem5", "theorem6"])
def test_noise_that_is_whole_whoever_drops_out(capsys, theorem):
    spec = f"{theorem}:epsilon=0.5,batch=40,horizon=1000"
    found = play(capsys, spec, "--dropout", "4", "--plain", "--seed", "1")
    assert found["missing"] == 4
    assert Enclosure.from_json(found["privacy"]["value"]).contains(Fraction(1, 2))


@pytest.mark.contract
@pytest.mark.slow
def test_seeded_rounds_repeat_and_say_so(capsys):
    runs = [play(capsys, SMALL, "--dropout", "3", "--seed", "9") for _ in range(2)]
    for run in runs:
        run.pop("seconds")
    assert runs[0] == runs[1]
    assert runs[0]["simulation"]
    assert not play(capsys, SMALL, "--plain")["simulation"]


@pytest.mark.contract
def test_rewards_off_the_grid(capsys, tmp_path):
    rewards = tmp_path / "rewards"
    rewards.write_text("\n".join(["0.3", "1/7"] * 20))
    found = play(capsys, SMALL, "--rewards", str(rewards), "--seed", "2", "--mask-degree", "16")
    assert Fraction(found["truth"]) == 20 * (Fraction(3, 10) + Fraction(1, 7))
    assert found["within"]


@pytest.mark.contract
def test_the_table(capsys):
    assert main(["protocol", "--play", SMALL, "--dropout", "2", "--seed", "4"]) == 0
    out = capsys.readouterr().out
    for part in (
        "sum found",
        "true sum",
        "within the bound",
        "S SHARES",
        "not a release",
        "(pure)",
        "before the reduction mod m",
    ):
        assert part in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.contract
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["skellam:variance=3"], "SPEC must be the preset"),
        (["shuffle-sum:epsilon=0.5,delta=1e-6,users=10"], "SPEC must be the preset"),
        ([f"{SMALL},dropout=2"], "--dropout"),
        ([f"{SMALL},modulus=none"], "modulus"),
        ([f"{SMALL},modulus=7"], "modulus"),
        (["published:epsilon=0.5,batch=40"], "SPEC must have a modulus"),
        ([SMALL, "--dropout", "-1"], "dropout"),
        ([SMALL, "--dropout", "2.5"], "dropout"),
        ([SMALL, "--dropout", "30", "--seed", "1"], "needed"),
        ([SMALL, "--failure", "0"], "failure"),
        ([SMALL, "--floor", "41"], "floor"),
        ([SMALL, "--floor", "0"], "dropout"),
        ([SMALL, "--mean", "2"], "mean"),
        ([SMALL, "--colluding", "40"], "colluding"),
        ([SMALL, "--plain", "--dropout", "1", "--colluding", "39"], "collusion"),
        ([SMALL, "--delta", "0"], "delta"),
        ([SMALL, "--rewards", "/nowhere/at/all"], "/nowhere/at/all"),
        (["theorem1:epsilon=0.5,batch=1000000,horizon=10"], "batch"),
        ([SMALL, "--plain", "--certificate", "/nowhere/at/all"], "certificate"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, named):
    refused(capsys, ["protocol", "--play", *arguments], named)


@pytest.mark.contract
def test_rewards_are_checked(capsys, tmp_path):
    rewards = tmp_path / "rewards"
    for content, named in (("1\n0", "must hold 40 rewards"), ("2\n" * 40, "reward must be")):
        rewards.write_text(content)
        assert main(["protocol", "--play", SMALL, "--rewards", str(rewards)]) == 2
        assert named in capsys.readouterr().err
