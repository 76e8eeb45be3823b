"""Verdicts at the decision boundary, and witnesses that hold on their own."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exactdp import (
    ZCDP,
    ApproxDP,
    Audit,
    Enclosure,
    ParameterError,
    PureDP,
    RenyiDP,
    Verdict,
    time_limit,
)
from exactdp.accounting import compose, epsilon, pure_epsilon, renyi_divergence, zcdp
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FinitePair,
    Mechanism,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.papers import theorem1, theorem2
from exactdp.mechanisms.spec import parse
from exactdp.verify import Claim, audit, parse_claim

BILLIONTH = Fraction(1, 10**9)

MECHANISMS: list[Mechanism] = [
    AdditiveNoise(DiscreteLaplace(10), 1),
    AdditiveNoise(Skellam(100), 1),
    AdditiveNoise(DiscreteGaussian(100), 1),
    AdditiveNoise(DiscreteGaussianSum(8, "0.25"), 1),
    AdditiveNoise(PolyaDifference("0.9", 4), 1),
    AdditiveNoise(Skellam(100), 2, 31),
    AdditiveNoise(Binomial(50, "0.4"), 1, 20),
    RandomizedResponse(1),
    FinitePair(("a", "b", "c"), ("0.2", "0.3", "0.5"), ("0.25", "0.3", "0.45")),
]


def _boundary(mechanism: Mechanism) -> list[tuple[Enclosure, type[Claim], tuple[str, ...]]]:
    return [
        (pure_epsilon(mechanism), PureDP, ()),
        (epsilon(mechanism, "1e-5"), ApproxDP, ("1e-5",)),
        (renyi_divergence(mechanism, "2.5"), RenyiDP, ("2.5",)),
        (zcdp(mechanism), ZCDP, ()),
    ]


@pytest.mark.slow_cases("2", "5")
@pytest.mark.parametrize(
    "index",
    [
        pytest.param(index, marks=[pytest.mark.slow] if index in (1, 3, 4) else [])
        for index in range(len(MECHANISMS))
    ],
)
def test_a_billionth_either_side_of_the_truth(index: int) -> None:
    mechanism = MECHANISMS[index]
    for measured, kind, given in _boundary(mechanism):
        if not measured.is_finite():
            assert audit(mechanism, kind(100, *given)).verdict is Verdict.REFUTED
            continue
        above = Fraction(measured.upper) * (1 + BILLIONTH)
        below = Fraction(measured.lower) * (1 - BILLIONTH)
        claims = [
            RenyiDP(given[0], bound) if kind is RenyiDP else kind(bound, *given)
            for bound in (above, below)
        ]
        assert audit(mechanism, claims[0]).verdict is Verdict.VERIFIED
        refuted = audit(mechanism, claims[1])
        assert refuted.verdict is Verdict.REFUTED
        if refuted.witness is not None:
            assert refuted.witness.excess.greater_than(0) is True
            assert set(refuted.witness.to_json()) == {"where", "quantity", "value", "excess"}


def test_claims_that_hold_with_equality() -> None:
    gaussian = AdditiveNoise(DiscreteGaussian(100), 1)
    assert audit(gaussian, RenyiDP(2, "0.01")).verdict is Verdict.VERIFIED
    assert audit(gaussian, ZCDP("0.005")).verdict is Verdict.VERIFIED
    assert audit(AdditiveNoise(DiscreteLaplace(3), 1), PureDP("1/3")).verdict is Verdict.VERIFIED
    assert audit(RandomizedResponse("0.7"), PureDP("0.7")).verdict is Verdict.VERIFIED


def test_an_unbounded_loss_is_refuted_by_an_outcome() -> None:
    found = audit(AdditiveNoise(Skellam(100), 1), PureDP(1))
    assert found.verdict is Verdict.REFUTED
    assert found.measured == Enclosure.infinite()
    assert found.witness is not None
    assert found.witness.where.startswith("outcome -")


def test_an_event_refutes_an_approximate_claim() -> None:
    found = audit(AdditiveNoise(Skellam(100), 1), ApproxDP("0.3", "1e-6"))
    assert found.verdict is Verdict.REFUTED
    assert found.witness is not None
    assert found.witness.where.startswith("the event {outcome <= -")


def test_the_naive_formula_for_sums_is_refuted() -> None:
    mechanism = AdditiveNoise(DiscreteGaussianSum(128, "0.25"), 1)
    assert audit(mechanism, RenyiDP(2, "1/32")).verdict is Verdict.REFUTED


def test_too_little_precision_is_undecided() -> None:
    mechanism = AdditiveNoise(Skellam(100), 1)
    measured = renyi_divergence(mechanism, 2)
    inside = (Fraction(measured.lower) + Fraction(measured.upper)) / 2
    found = audit(mechanism, RenyiDP(2, inside), cap=96)
    assert found.verdict is Verdict.UNDECIDED
    assert found.note is not None


def test_the_papers_mechanisms_at_real_sizes() -> None:
    first = theorem1("0.5", 2**20, 10**9)
    assert audit(first.mechanism, PureDP("0.5")).verdict is Verdict.VERIFIED
    assert audit(first.mechanism, PureDP("0.4999999")).verdict is Verdict.REFUTED
    second = theorem2("0.5", 1024, 10**6, 10)
    assert audit(second.mechanism, RenyiDP(2, "0.25")).verdict is Verdict.VERIFIED
    assert audit(second.mechanism, RenyiDP(2, "0.2499")).verdict is Verdict.REFUTED


@pytest.mark.parametrize("text", ["pure:0.1", "approx:1,0.000001", "rdp:2,0.01", "zcdp:0.005"])
def test_claims_read_back(text: str) -> None:
    assert str(parse_claim(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pure",
        "pure:",
        "pure:x",
        "pure:nan",
        "pure:-1",
        "pure:1,2",
        "approx:1",
        "approx:1,2",
        "approx:1,-1e-6",
        "rdp:1,1",
        "rdp:2",
        "rdp:2,-1",
        "zcdp:inf",
        "foo:1",
    ],
)
def test_bad_claims(text: str) -> None:
    with pytest.raises(ParameterError):
        parse_claim(text)


def test_an_excess_without_upper_end_is_still_measured_from_the_claim() -> None:
    vague = FinitePair(("a", "b"), ("0.5", "0.5"), ("0.2", "0.8"), slack="1e-3")
    found = audit(vague, PureDP("0.5"))
    assert found.verdict is Verdict.REFUTED
    assert found.witness is not None
    assert found.witness.value.upper == Enclosure.infinite().upper
    excess = Fraction(found.witness.value.lower) - Fraction(found.witness.excess.lower)
    assert excess == Fraction(1, 2)


def test_no_audit_is_interrupted_once_it_can_answer() -> None:
    """A limit that ends anywhere in an audit leaves an audit."""
    uses = compose((parse("discrete-gaussian:sigma2=7/3,neighbours=add-remove").mechanism, 3))
    for step in range(0, 60, 3):
        with time_limit(0.0005 * 1.15**step / 4):
            found = audit(uses, ApproxDP(Fraction(step + 1, 20), "1e-3"))
        assert isinstance(found, Audit)
