"""Scenarios: the same neighbours for every quantity, whatever is composed with what."""

import math
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from exactdp import ApproxDP, ParameterError, PureDP, RenyiDP, Verdict
from exactdp.accounting import compose
from exactdp.accounting.scenario import Use, is_oriented, scenarios
from exactdp.cli.main import main
from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace, FinitePair, RandomizedResponse
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.verify import audit
from exactdp.verify.certificate import certificate_of

A = FinitePair(("a", "b"), ("0.5", "0.5"), ("0.01", "0.99"))
BOTH = compose(A, A.swapped())  # the product pair is its own mirror image, by renaming
LARGEST = math.log(0.5 * 0.99 / (0.01 * 0.5))


def contains(found, truth, near=1e-9):
    assert float(found.lower) - near <= truth <= float(found.upper) + near


def test_every_quantity_keeps_one_way_round():
    contains(BOTH.pure(), LARGEST)
    contains(BOTH.epsilon("1e-30"), LARGEST)
    mp.dps = 30
    p, q = (mpf("0.5"), mpf("0.5")), (mpf("0.01"), mpf("0.99"))
    atoms = [(x * y, u * v) for x, u in zip(p, q, strict=True) for y, v in zip(q, p, strict=True)]
    for order in (2, 5, 1000):
        truth = mp.log(sum(x**order * y ** (1 - order) for x, y in atoms)) / (order - 1)
        contains(BOTH.renyi(order), float(truth))


@pytest.mark.parametrize("claim", [PureDP(6), ApproxDP(6, "1e-30"), RenyiDP(1000, 6)])
def test_no_two_certificates_contradict_each_other(claim):
    found = audit(BOTH, claim)
    assert found.verdict is Verdict.VERIFIED
    certificate = certificate_of(found)
    assert certificate.content["orientation"] == "fixed" and certificate.check().valid


def test_a_swapped_list_costs_the_same():
    some = compose((A, 3), (RandomizedResponse(1), 2))
    swapped = compose((A.swapped(), 3), (RandomizedResponse(1), 2))
    assert some.pure() == swapped.pure() and some.epsilon("0.01") == swapped.epsilon("0.01")
    assert is_oriented(some.uses) and len(scenarios(some.uses)) == 2


def test_shifts_beyond_half_the_modulus_are_mirror_images():
    law = DiscreteLaplace(10_000)
    farther = compose(AdditiveNoise(law, 60_000, 70_001))
    half = compose(AdditiveNoise(law, 35_000, 70_001))
    assert farther.pure() == half.pure() and float(half.pure().lower) > 2.8
    assert audit(farther, PureDP(2)).verdict is Verdict.REFUTED


@pytest.mark.parametrize("times", [1, 2, 5])
def test_slack_never_proves_infinity(times):
    apart = compose((FinitePair(("a", "b"), (1, 0), (0, 1), "0.01"), times))
    member = FinitePair(("a", "b"), ("0.99", "0.01"), ("0.01", "0.99"))
    truth = compose((member, times)).epsilon("0.5")
    found = apart.epsilon("0.5")
    assert found.lower <= truth.upper and found.upper >= truth.lower
    assert apart.pure().lower < math.inf and apart.renyi(2).lower < math.inf


def test_with_slack_a_verdict_comes_from_delta_where_epsilon_is_open():
    slack = compose(FinitePair(("a", "b"), ("0.5", "0.5"), ("0.25", "0.75"), "0.001"))
    assert audit(slack, ApproxDP("0.5", "0.2")).verdict is Verdict.VERIFIED
    assert audit(slack, ApproxDP("0.1", "0.01")).verdict is Verdict.REFUTED


TINY = "outcome,p,q\na,{p},{q}\nb,{p},{r}\n".format(
    p=Fraction(1, 2), q=Fraction(1, 2) + Fraction(1, 2**130), r=Fraction(1, 2) - Fraction(1, 2**130)
)


@pytest.mark.contract
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


@pytest.mark.contract
@pytest.mark.parametrize("times", [1, 3])
def test_ratios_as_near_to_one_as_can_be(capsys, tmp_path, times):
    file = tmp_path / "tiny.csv"
    file.write_text(TINY)
    words = ["--pure", "--order", "2", "--epsilon", "0", "--delta", "1e-50"]
    assert main(["compose", f"pmf:file={file}*{times}", *words]) == 0
    assert "inf" not in capsys.readouterr().out


def test_neighbours_must_agree():
    added = ContinuousNoise(Shape.GAUSSIAN, 1, 1, "add-remove")
    with pytest.raises(ParameterError, match="neighbours"):
        compose(added, A).pure()
    one_way = scenarios([Use(ContinuousNoise(Shape.GAUSSIAN, 1, 1, "add-remove", "0.5"), 2)])
    assert len(one_way) == 2
