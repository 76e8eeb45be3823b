"""`exactdp protocol shuffle-sum:...`: its figures against mpmath, its table, its refusals."""

import contextlib
import io
import json
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from commands import refused

from exactdp.accounting import compose
from exactdp.cli.main import main
from exactdp.mechanisms import AdditiveNoise, Binomial

SPEC = "shuffle-sum:epsilon=0.9,delta=0.01,users=100"


@pytest.fixture(scope="module")
def few() -> dict[str, Any]:
    return told(SPEC, "--dropout", "40", "--failure", "0.001")


def told(*arguments: str) -> dict[str, Any]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["protocol", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def spent(bits: int, epsilon: str) -> mpmath.mpf:
    """The least delta of one bit plus Bin(bits, 1/2), from its definition."""
    growth = mpmath.exp(mpmath.mpf(epsilon))
    p = [mpmath.binomial(bits, k) / mpmath.mpf(2) ** bits for k in range(bits + 1)]
    p = [mpmath.mpf(0), *p, mpmath.mpf(0)]
    return mpmath.fsum(max(a - growth * b, 0) for a, b in zip(p[1:], p[:-1], strict=True))


def holds(shown: dict[str, str], truth: mpmath.mpf) -> bool:
    return bool(
        mpmath.mpf(shown["lower"]) <= truth * (1 + mpmath.mpf("1e-15"))
        and truth * (1 - mpmath.mpf("1e-15")) <= mpmath.mpf(shown["upper"])
        and mpmath.mpf(shown["upper"]) <= truth * (1 + mpmath.mpf("1e-9"))
    )


@pytest.mark.slow
def test_few_users(few: dict[str, Any]) -> None:
    paper, least = few["paper"], few["least"]
    with mpmath.workdps(60):
        tau = 96 * mpmath.log(200) / mpmath.mpf("0.9") ** 2
        assert holds(few["tau"], tau)
        each = int(mpmath.ceil(tau / 100))
        assert paper["noise_bits_per_user"] == each == 7
        assert paper["noise_bits"] == 700
        assert paper["messages_per_user"] == paper["bits_per_user"] == 8
        assert holds(paper["delta"], spent(700, "0.9"))
        fair = least["fair_bits"]
        assert spent(fair, "0.9") <= mpmath.mpf("0.01") < spent(fair - 1, "0.9")
    assert (least["verdict"], least["neighbour"]["verdict"]) == ("VERIFIED", "REFUTED")
    assert least["neighbour"]["fair_bits"] == fair - 1
    assert least["noise_bits_per_user"] == -(-fair // 100)
    assert Fraction(paper["variance"]["lower"]) == 175
    (left,) = few["dropout"]
    with mpmath.workdps(60):
        assert left["missing"] == 40
        assert holds(left["remaining"]["delta"], spent(420, "0.9"))
        each = int(mpmath.ceil(tau / 60))
        assert left["over_provisioned"]["noise_bits_per_user"] == each == 11
        assert holds(left["over_provisioned"]["delta"], spent(60 * each, "0.9"))
        kept = left["least"]["noise_bits_per_user"]
        assert kept == -(-fair // 60)
        assert holds(left["least"]["delta"], spent(60 * kept, "0.9"))
    assert found_rare(few["rare"], 100) and found_rare(left["rare"], 60)
    for each in ("over_provisioned", "least", "rare"):
        assert Fraction(left[each]["epsilon"]["upper"]) <= Fraction("0.9")


def found_rare(rare: dict[str, Any], present: int) -> bool:
    """Is one bit of this chance of each of those present barely enough?"""
    chance, delta = Fraction(rare["success"]["lower"]), Fraction(rare["delta"]["upper"])
    below = compose(AdditiveNoise(Binomial(present, chance - Fraction(1, 1000 * present))))
    return delta <= Fraction("0.01") and bool(below.delta("0.9").greater_than(Fraction("0.01")))


@pytest.mark.contract
def test_quantiles(few: dict[str, Any]) -> None:
    assert few["failure"] == "0.001"
    assert [each["failure"] for each in few["quantiles"]] == ["0.5", "0.1", "0.01", "0.001"]
    with mpmath.workdps(60):
        masses = [mpmath.binomial(700, k) / mpmath.mpf(2) ** 700 for k in range(701)]
        for each in few["quantiles"]:
            assert each["noise"]["lower"] == each["noise"]["upper"]
            level, t = mpmath.mpf(each["failure"]), int(each["noise"]["lower"])
            beyond, nearer = (
                mpmath.fsum(p for k, p in enumerate(masses) if abs(k - 350) > far)
                for far in (t, t - 1)
            )
            assert beyond <= level < nearer


@pytest.mark.contract
@pytest.mark.slow
def test_many_users_send_one_rare_bit() -> None:
    found = told("shuffle-sum:epsilon=0.9,delta=0.01,users=5000", "--dropout", "1000")
    with mpmath.workdps(40):
        tau = 96 * mpmath.log(200) / mpmath.mpf("0.9") ** 2
        assert holds(found["paper"]["success"], tau / 10000)
        assert found["paper"]["noise_bits_per_user"] == 1
        (left,) = found["dropout"]
        assert holds(left["over_provisioned"]["success"], tau / 8000)
        assert holds(left["over_provisioned"]["variance"], tau / 2 * 5 / 4 * (1 - tau / 8000))


@pytest.mark.contract
@pytest.mark.slow
def test_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["protocol", SPEC, "--dropout", "40"]) == 0
    shown = capsys.readouterr().out
    for word in ("τ", "least fair", "for those left", "fair bits in all", "8 messages"):
        assert word in shown


@pytest.mark.contract
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([f"{SPEC},dropout=3"], "--dropout"),
        ([f"{SPEC},collusion=3"], "--dropout"),
        ([SPEC, "--failure", "0"], "--failure"),
        ([SPEC, "--dropout", "100"], "dropout"),
        ([SPEC, "--dropout", "1.5"], "dropout"),
        (["skellam:variance=2,users=4"], "says nothing of what users send"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    refused(capsys, ["protocol", *arguments], message)
