"""Evidence: only what is verified, and of the very protocol that is used."""

from fractions import Fraction

import attrs
import pytest

from exactdp import Certificate, PureDP
from exactdp.bandit import evidence as proofs
from exactdp.bandit.algorithms import (
    ALGORITHMS,
    DIST_DP_SE,
    VB_SDP_AE,
)
from exactdp.bandit.algorithms.algorithm import LargestIndex
from exactdp.bandit.evidence import (
    Demand,
    NotVerifiedError,
    admit,
    audited,
    evidence,
    identity,
    to_json,
)
from exactdp.bandit.plan import prepare
from exactdp.bandit.setting import Setting
from exactdp.mechanisms.laws import PolyaDifference
from exactdp.protocols import SumProtocol, Trust
from exactdp.verify.certificate import MismatchError

SETTING = Setting(3, 2000, "0.5")
GOOD = DIST_DP_SE.release(SETTING, 16).protocol
DEMAND = Demand(PureDP("0.5"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("users", 17),
        ("precision", 3),
        ("accuracy", 5),
        ("modulus", 1000),
        ("noise", PolyaDifference(Fraction(1, 16), 5)),
        ("trust", Trust.CENTRAL),
    ],
)
def test_evidence_of_another_protocol_is_refused_by_name(name, value):
    parts = {part.name: getattr(GOOD, part.name) for part in attrs.fields(SumProtocol)} | {
        name: value
    }
    other = SumProtocol(**parts)
    shown = "share" if name == "noise" else name
    for held in (evidence(GOOD, DEMAND), audited(GOOD, DEMAND)):
        admit(GOOD, DEMAND, held)
        with pytest.raises(MismatchError, match=shown):
            admit(other, DEMAND, held)


@pytest.mark.parametrize("prove", [evidence, audited])
@pytest.mark.parametrize("epsilon", ["0.499999999", "0.1"])
def test_a_mechanism_that_spends_more_than_it_claims_does_not_run(prove, epsilon):
    with pytest.raises(NotVerifiedError, match="16 users is not verified for pure:0"):
        prove(GOOD, Demand(PureDP(epsilon)))


def test_audits_stand_in_where_the_checker_cannot_follow(monkeypatch):
    monkeypatch.setattr(proofs, "_WIDEST", 0.0)
    evidence.cache_clear()
    setting = Setting(2, 100, "0.9", delta="0.1")
    plan = prepare(VB_SDP_AE, setting)
    evidence.cache_clear()
    for _, held in plan.releases():
        assert not isinstance(held, Certificate)
        assert held.measured.at_most(Fraction(9, 10))
        assert to_json(held)["audit"]["verdict"] == "VERIFIED"
        assert to_json(held)["id"] == identity(held)


@pytest.mark.slow_cases("dist-rdp-se")
@pytest.mark.parametrize(
    "algorithm", [each for each in ALGORITHMS if each.demand], ids=lambda each: each.name
)
def test_every_protocol_is_proved_of_what_it_claims(algorithm):
    horizon = (
        5000 if isinstance(algorithm.rule, LargestIndex) else 100
    )  # on which an index policy's grid depends
    setting = Setting(2, horizon, "0.9", delta="0.1")
    demand = algorithm.demand(setting)
    for users in (2, 16):
        held = evidence(algorithm.release(setting, users).protocol, demand)
        assert held.measured.at_most(demand.claim.bound)
        if isinstance(demand.claim, PureDP):  # and little is wasted, though m is small
            assert held.measured.upper >= demand.claim.bound * Fraction(9, 10)


@pytest.mark.parametrize("prove", [evidence, audited])
def test_evidence_of_a_weaker_claim_is_refused(prove):
    weaker = prove(GOOD, Demand(PureDP("0.6")))
    with pytest.raises(MismatchError, match=r"claim is pure:0\.5"):
        admit(GOOD, DEMAND, weaker)


def test_evidence_for_a_stricter_aggregation_is_no_evidence_for_a_relaxed_one():
    held = evidence(GOOD, DEMAND)
    with pytest.raises(MismatchError, match="relaxation"):
        admit(GOOD, Demand(PureDP("0.5"), "0.1"), held)
