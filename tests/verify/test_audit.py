"""Verdicts at the decision boundary, and witnesses that hold on their own."""

from fractions import Fraction
from pathlib import Path

import pytest

from exactdp import Audit, Enclosure, ParameterError, RenyiDP, Verdict, audit, mechanism, time_limit
from exactdp.verify import audit as audited

BILLIONTH = Fraction(1, 10**9)
PAIR = Path(__file__).parents[1] / "golden" / "tables" / "pair.csv"
SPECS = {
    "discrete-laplace:scale=10": False,
    "skellam:variance=100": True,  # seconds
    "discrete-gaussian:sigma2=100": True,
    "discrete-gaussian-sum:count=8,sigma2=0.25": True,
    "polya-difference:shape=0.9,scale=4": True,
    "skellam:variance=100,sensitivity=2,modulus=31": True,
    "binomial:trials=50,probability=0.4,modulus=20": False,
    "randomized-response:epsilon=1": False,
    f"pmf:file={PAIR}": False,
}


@pytest.mark.contract
@pytest.mark.parametrize(
    "spec", [pytest.param(s, marks=[pytest.mark.slow] * slow) for s, slow in SPECS.items()]
)
def test_a_billionth_either_side_of_the_truth(spec: str) -> None:
    one = mechanism(spec)
    for measured, claim in (
        (one.pure(), "pure:{}"),
        (one.epsilon("1e-5"), "approx:{},1e-5"),
        (one.renyi("2.5"), "rdp:2.5,{}"),
        (one.zcdp(), "zcdp:{}"),
    ):
        if not measured.is_finite():
            assert audit(one, claim.format(100)).verdict is Verdict.REFUTED
            continue
        above = Fraction(measured.upper) * (1 + BILLIONTH)
        below = Fraction(measured.lower) * (1 - BILLIONTH)
        assert audit(one, claim.format(above)).verdict is Verdict.VERIFIED
        refuted = audit(one, claim.format(below))
        assert refuted.verdict is Verdict.REFUTED
        if refuted.witness is not None:
            assert refuted.witness.excess.greater_than(0) is True
            assert set(refuted.witness.to_json()) == {"where", "quantity", "value", "excess"}


@pytest.mark.contract
@pytest.mark.parametrize(
    ("spec", "holds", "fails"),
    [  # with equality; a naive formula for sums; the papers' mechanisms at real sizes
        ("discrete-gaussian:sigma2=100", "rdp:2,0.01", "rdp:2,0.00999"),
        ("discrete-gaussian:sigma2=100", "zcdp:0.005", "zcdp:0.00499"),
        ("discrete-laplace:scale=3", "pure:1/3", "pure:0.3333"),
        ("randomized-response:epsilon=0.7", "pure:0.7", "pure:0.6999"),
        ("discrete-gaussian-sum:count=128,sigma2=0.25", "rdp:2,1", "rdp:2,1/32"),
        ("theorem1:epsilon=0.5,batch=1048576,horizon=1e9", "pure:0.5", "pure:0.4999999"),
        ("theorem2:epsilon=0.5,batch=1024,horizon=1e6,scaling=10", "rdp:2,0.25", "rdp:2,0.2499"),
    ],
)
def test_what_just_holds_and_what_does_not(spec: str, holds: str, fails: str) -> None:
    assert audit(spec, holds).verdict is Verdict.VERIFIED
    assert audit(spec, fails).verdict is Verdict.REFUTED


@pytest.mark.contract
@pytest.mark.parametrize(
    ("claim", "where"), [("pure:1", "outcome -"), ("approx:0.3,1e-6", "the event {outcome <= -")]
)
def test_an_outcome_or_an_event_refutes(claim: str, where: str) -> None:
    found = audit("skellam:variance=100", claim)
    assert found.verdict is Verdict.REFUTED and found.witness is not None
    assert found.witness.where.startswith(where)
    assert (found.measured == Enclosure.infinite()) is claim.startswith("pure")


def test_too_little_precision_is_undecided() -> None:
    one = mechanism("skellam:variance=100")
    measured = one.renyi(2)
    inside = (Fraction(measured.lower) + Fraction(measured.upper)) / 2
    found = audited(one, RenyiDP(2, inside), cap=96)
    assert found.verdict is Verdict.UNDECIDED and found.note is not None


@pytest.mark.contract
@pytest.mark.parametrize("text", ["pure:0.1", "approx:1,0.000001", "rdp:2,0.01", "zcdp:0.005"])
def test_claims_read_back(text: str) -> None:
    assert str(audit("randomized-response:epsilon=0.01", text).claim) == text


@pytest.mark.contract
@pytest.mark.parametrize(
    "text",
    ["", "pure", "pure:", "pure:x", "pure:nan", "pure:-1", "pure:1,2", "approx:1", "approx:1,2",
     "approx:1,-1e-6", "rdp:1,1", "rdp:2", "rdp:2,-1", "zcdp:inf", "foo:1", "gdp", "gdp:-1"],
)  # fmt: skip
def test_bad_claims(text: str) -> None:
    with pytest.raises(ParameterError):
        audit("randomized-response:epsilon=1", text)


@pytest.mark.contract
def test_an_excess_without_upper_end_is_still_measured_from_the_claim(tmp_path: Path) -> None:
    (tmp_path / "vague.csv").write_text("outcome,p,q\na,0.5,0.2\nb,0.5,0.8\n")
    found = audit(f"pmf:file={tmp_path / 'vague.csv'},slack=1e-3", "pure:0.5")
    assert found.verdict is Verdict.REFUTED and found.witness is not None
    assert found.witness.value.upper == Enclosure.infinite().upper
    excess = Fraction(found.witness.value.lower) - Fraction(found.witness.excess.lower)
    assert excess == Fraction(1, 2)


@pytest.mark.contract
def test_no_audit_is_interrupted_once_it_can_answer() -> None:
    """A limit that ends anywhere in an audit leaves an audit."""
    uses = mechanism("discrete-gaussian:sigma2=7/3,neighbours=add-remove*3")
    for step in range(0, 60, 3):
        with time_limit(0.0005 * 1.15**step / 4):
            found = audit(uses, f"approx:{Fraction(step + 1, 20)},1e-3")
        assert isinstance(found, Audit)
