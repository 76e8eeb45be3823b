"""`exactdp protocol federated:...`: bounds, wrapping, vanished clients, least noise."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve
from commands import answer, refused
from scipy import stats

from exactdp import Enclosure, OutOfTimeError
from exactdp.accounting import compose
from exactdp.accounting.composition.rounding import mixed
from exactdp.accounting.figure import Figure
from exactdp.cli import protocol_federated
from exactdp.cli.federated_least import least_deviation
from exactdp.cli.main import main
from exactdp.mechanisms.samplers import SeededBits
from exactdp.mechanisms.specs.spec import parse
from exactdp.protocols.federated import run_round
from exactdp.verify import parse_claim
from exactdp.verify.calibration import Costs

SPEC = "federated:mechanism={},clip=1,scale=2,clients=4,local-stddev=4,dimension=3,bits={}"


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    return answer(capsys, "protocol", *arguments)


def gaussian_epsilon(mu: float, delta: float) -> float:
    low, high = 0.0, 1e4
    for _ in range(200):
        e = (low + high) / 2
        found = stats.norm.cdf(mu / 2 - e / mu) - math.exp(
            min(e + stats.norm.logcdf(-mu / 2 - e / mu), 0)
        )
        low, high = (low, e) if found <= delta else (e, high)
    return high


@pytest.mark.contract
@pytest.mark.slow
def test_wrapping_is_the_tail_of_the_noise(capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, SPEC.format("skellam", 6), "--dropout", "1")["wrap"]
    noise, most = stats.skellam(32, 32), 4 * 2  # four clients of at most 2 in a coordinate
    truth = noise.sf(31 - most) + noise.cdf(-33 - most)
    assert float(found["coordinate"]["lower"]) <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= float(found["coordinate"]["upper"])


@pytest.mark.contract
def test_provision_makes_up_for_who_vanishes(capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, SPEC.format("skellam", 16), "--dropout", "1", "--rounds", "3")
    (row,) = found["dropout"]
    assert 3 * Fraction(row["local-stddev"]) ** 2 >= 4 * 4**2
    whole = float(found["epsilon"]["upper"])
    assert float(row["epsilon_provided"]["upper"]) <= whole < float(row["epsilon"]["upper"])
    # in 4 coordinates no vector of norm 2 becomes longer than 4; the noise has deviation 8
    assert whole <= gaussian_epsilon(1.01 * math.sqrt(3) * 4 / 8, 1e-6)


@pytest.mark.contract
@pytest.mark.slow
def test_the_least_noise_and_the_fewest_bits(capsys: pytest.CaptureFixture[str]) -> None:
    spec, claim = SPEC.format("skellam", 16), "approx:2,1e-5"
    least = shown(capsys, spec, "--dropout", "1", "--target", claim)["least"]
    value, neighbour = Fraction(least["value"]), Fraction(least["neighbour"]["value"])
    assert 0 < value - neighbour <= value / 10**4 and least["verdict"] == "VERIFIED"
    chosen = spec.replace("local-stddev=4", f"local-stddev={least['value']}")
    assert main(["audit", chosen, "--claim", claim, "--time", "5"]) == 0
    capsys.readouterr()
    fits = shown(capsys, chosen.replace("bits=16", f"bits={least['bits']}"), "--dropout", "1")
    assert float(fits["wrap"]["any"]["upper"]) <= 1e-6


LARGE = SPEC.format("skellam", 16).replace("dimension=3", "dimension=1048576")
MIXED = {  # at most what rounding at random costs, taken as the mixture that it is
    "approx:1,1e-6": Figure("epsilon", Fraction(1, 10**6)),
    "rdp:4,1/2": Figure("renyi", Fraction(4)),
}


@pytest.mark.slow_cases("64-rdp:4,1/2")
@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("claim", ["approx:1,1e-6", "rdp:4,1/2"])
@pytest.mark.slow
@pytest.mark.parametrize("scale", [2, 64])
def test_nothing_below_the_least_is_verified_by_what_is_known(claim: str, scale: int) -> None:
    settings = parse(LARGE.replace("scale=2", f"scale={scale}")).federated
    goal = parse_claim(claim)
    found = least_deviation(settings, 3, goal, Fraction(1, 10**6))
    assert found.settled and found.verdict == "NOT VERIFIED"
    known = {}
    for deviation in (found.deviation, found.neighbour):
        uses = compose((settings.with_deviation(deviation).released(), 3)).uses
        known[deviation] = mixed(uses, MIXED[claim]).upper
    assert known[found.deviation] <= goal.bound < known[found.neighbour]
    assert 0 < found.deviation - found.neighbour <= found.deviation / 10**4


@pytest.mark.slow
def test_what_is_not_next_to_another_is_not_called_the_least(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that time cut short tells what it verified, and no more."""

    def cut_short(costs: Costs) -> None:
        costs.search.ask(Fraction(64))
        raise OutOfTimeError("the time allowed is over")

    monkeypatch.setattr(Costs, "edges", cut_short)
    arguments = [SPEC.format("skellam", 16), "--dropout", "1", "--target", "approx:2,1e-5"]
    assert main(["protocol", *arguments]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "least local-stddev" not in said
    assert "local-stddev 64 VERIFIED, none NOT VERIFIED: the least is not known" in said
    assert main(["protocol", *arguments, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["least"]["is_least"] is False


@pytest.mark.contract
@pytest.mark.slow_cases("1")
@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("seconds", ["0.1", "1"])
def test_no_line_tells_less_than_another(capsys: pytest.CaptureFixture[str], seconds: str) -> None:
    """Fewer shares cost no less, larger ones no more, and something is known of each."""
    main(["protocol", SPEC.format("skellam", 16), "--json", "--time", seconds])
    found = json.loads(capsys.readouterr().out)
    costs = [found["epsilon"], *(row["epsilon"] for row in found["dropout"])]
    for side in ("lower", "upper"):
        ends = [Decimal(cost[side]) for cost in costs]
        assert ends == sorted(ends) and ends[0].is_finite()
        whole = Decimal(found["epsilon"]["upper"])
    assert all(Decimal(row["epsilon_provided"]["upper"]) <= whole for row in found["dropout"])


@pytest.mark.slow
def test_the_search_tells_the_cost_of_what_is_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bound at the given deviation is one of the same figure."""
    settings = parse(SPEC.format("skellam", 16)).federated
    goal = parse_claim("approx:2,1e-6")
    found = least_deviation(settings, 1, goal, Fraction(1, 10**6))
    assert settings.deviation in found.costs
    most = found.costs[settings.deviation]
    monkeypatch.setattr(protocol_federated, "epsilon_of", lambda *_: Enclosure.unknown())
    monkeypatch.setattr(protocol_federated, "least_deviation", lambda *_: found)
    arguments = [SPEC.format("skellam", 16), "--dropout", "1", "--target", "approx:2,1e-6"]
    main(["protocol", *arguments, "--json"])
    told = json.loads(capsys.readouterr().out)["epsilon"]
    assert Decimal(told["upper"]) <= Decimal(float(most) * (1 + 1e-9))


@pytest.mark.contract
@pytest.mark.slow_cases("arguments3-no local-stddev between")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([SPEC.format("skellam", 16) + ",dropout=1"], "--dropout"),
        ([SPEC.format("skellam", 16), "--rounds", "0"], "--rounds"),
        ([SPEC.format("skellam", 16), "--dropout", "4"], "--dropout"),
        ([SPEC.format("skellam", 16), "--target", "pure:1"], "no local-stddev between"),
        (["theorem1:epsilon=1,batch=8,horizon=100", "--rounds", "2"], "federated"),
    ],
)
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    refused(capsys, ["protocol", *arguments], named)


@pytest.mark.slow
def test_every_bound_of_the_error_counts_overflow(capsys: pytest.CaptureFixture[str]) -> None:
    """Played with equal vectors, few bits: every sum overflows, and the bound does not hold."""
    spec = (
        "federated:mechanism=skellam,clip=0.5,scale=100,clients=500,local-stddev=20,"
        "dimension={},bits={}"
    )
    for dimension, bits, certain in ((16, 6, True), (16, 16, False), (16, 20, False)):
        text = spec.format(dimension, bits)
        answered = answer(capsys, "protocol", text, "--dropout", "5")
        found = answered["error"]
        settings = parse(text).federated
        vector = np.full(dimension, 0.5 / math.sqrt(dimension))
        beyond = 0
        for seed in range(runs := 5):
            encoding = evolve(settings.encoding, seed=bytes([seed]))
            played = run_round(
                encoding, settings.share, [vector] * 500, bits=SeededBits(seed), masks=False
            )
            beyond += played.error > float(found["l2"]["upper"])
        assert (beyond == runs) == certain
        allowed = Fraction(found["exceeded"]["upper"])
        assert stats.binom.sf(beyond - 1, runs, min(float(allowed), 1)) > 1e-6
        overflow = Fraction(found["overflow"]["upper"])
        assert min(Fraction(found["failure"]) + overflow, 1) <= allowed <= 1
        assert found["overflow"] == answered["wrap"]["any"]
        assert ("warning" in answered) == (overflow > Fraction(found["failure"]))


@pytest.mark.contract
@pytest.mark.slow
def test_a_target_finds_the_noise_that_a_spec_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    claim, full = "approx:2,1e-5", SPEC.format("skellam", 16)
    found = shown(capsys, full.replace("local-stddev=4,", ""), "--dropout", "1", "--target", claim)
    assert found["mechanism"]["spec"].endswith(f",local-stddev={found['least']['value']}")
    assert main(["audit", found["mechanism"]["spec"], "--claim", claim, "--time", "5"]) == 0
