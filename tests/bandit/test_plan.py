"""What runs share: schedule, evidence, radii; and that nothing unverified gets in."""

from fractions import Fraction

import pytest
from attrs import evolve

from exactdp import Certificate, Enclosure, ParameterError, PureDP
from exactdp.bandit.algorithms import (
    ALGORITHMS,
    DIST_DP_SE,
    LDP_SE,
    SE,
    SHUFFLE_DP_SE,
)
from exactdp.bandit.algorithms.algorithm import OwnPolicy
from exactdp.bandit.evidence import Audited, Demand, NotVerifiedError, evidence
from exactdp.bandit.plan import Plan, Radius, prepare
from exactdp.bandit.release import ModularRelease
from exactdp.bandit.setting import Setting
from exactdp.mechanisms.additive import papers
from exactdp.mechanisms.laws import PolyaDifference
from exactdp.protocols import SumProtocol
from exactdp.verify.certificate import MismatchError

SETTING = Setting(3, 2000, "0.5")


def test_batches_reach_as_far_as_the_horizon():
    plan = prepare(SE, SETTING)
    for active in (2, 3):
        used = 0
        for number in range(1, 20):
            used += active * 2**number
            batch = plan.batch(number, active)
            assert (batch is not None) == (used <= 2000)
            if batch is not None:
                assert batch.users == 2**number
    assert plan.batch(1, 1) is None


def test_every_batch_has_evidence_of_its_own_protocol():
    plan = prepare(SHUFFLE_DP_SE, SETTING)
    demand = SHUFFLE_DP_SE.demand(SETTING)
    assert len(plan.releases()) == 8
    for release, held in plan.releases():
        assert isinstance(held, Certificate)
        held.matches(release.protocol, relaxation=demand.relaxation)
        assert held.check().valid
        assert held.measured.at_most(Fraction(1, 2))


def test_a_run_cannot_be_prepared_with_evidence_of_something_else():
    good = prepare(DIST_DP_SE, SETTING)
    batch = good.batch(3, 3)
    other = prepare(DIST_DP_SE, Setting(3, 2000, "0.4")).batch(3, 3)
    for changed in (
        evolve(batch, evidence=other.evidence),
        evolve(batch, release=other.release),
        evolve(batch, evidence=good.batch(4, 3).evidence),
    ):
        with pytest.raises(MismatchError):
            Plan(DIST_DP_SE, SETTING, Radius.PAPER, {(3, 3): changed}, None)
    weaker = evidence(batch.release.protocol, Demand(PureDP(5)))
    with pytest.raises(MismatchError, match="claim"):
        Plan(
            *(DIST_DP_SE, SETTING, Radius.PAPER),
            *({(3, 3): evolve(batch, evidence=weaker)}, None),
        )
    with pytest.raises(ParameterError, match="batch 3 comes without evidence"):
        Plan(DIST_DP_SE, SETTING, Radius.PAPER, {(3, 3): evolve(batch, evidence=None)}, None)


def test_a_published_scale_would_not_run():
    """Laplace noise of half the scale, as if sensitivity were halved."""

    def release(setting, users):
        made = DIST_DP_SE.release(setting, users).protocol
        share = PolyaDifference(Fraction(1, users), made.noise.scale / 2)
        parts = (made.precision, made.accuracy, made.modulus)
        return ModularRelease(SumProtocol(users, *parts, share))

    with pytest.raises(NotVerifiedError):
        prepare(evolve(DIST_DP_SE, release=release), SETTING)


_SLOW = ("ldp-se", "dist-rdp-se", "dist-cdp-se", "sdp-ae", "vb-sdp-ae", "shuffle-dp-se")


@pytest.mark.slow_cases("dist-gauss-klucb", "dist-cdp-klucb")
@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "algorithm",
    [
        pytest.param(each, marks=[pytest.mark.slow] if each.name in _SLOW else [])
        for each in ALGORITHMS
        if not each.rule.adaptive and not isinstance(each.rule, OwnPolicy)
    ],
    ids=lambda each: each.name,
)
def test_confidence_may_be_one_in_the_horizon(algorithm):
    """tau is for p: wrong decoding costs a part of it, whoever adds the noise."""
    horizon = 10**5

    def unproved(protocol, demand):
        return Audited(protocol, demand, Enclosure.exactly(0))

    for confidence in (Fraction(1, horizon), Fraction(1, 10**12)):
        setting = Setting(10, horizon, "0.5", confidence=confidence, growth=4)
        plan = prepare(algorithm, setting, Radius.CERTIFIED, unproved)
        assert plan.failure.at_most(confidence) is True


@pytest.mark.parametrize(("confidence", "rounds"), [("0.1", 1), ("0.01", 1), ("1e-6", 1280)])
def test_tau_is_the_papers_for_usual_confidences(confidence, rounds):
    """And never less; the other parameters stay."""
    setting = Setting(10, 10**6, "0.5", confidence=confidence)
    for algorithm, theorem in ((DIST_DP_SE, papers.theorem1), (LDP_SE, papers.theorem6)):
        more = {} if algorithm is DIST_DP_SE else {"stated": False}
        stated = theorem("0.5", 64, rounds * 10**6, **more).protocol
        found = algorithm.release(setting, 64).protocol
        assert found == stated or (
            algorithm is LDP_SE and rounds > 1 and found.accuracy > stated.accuracy
        )
        assert (found.noise, found.precision) == (stated.noise, stated.precision)


def test_the_tau_of_local_noise_holds_for_few_users():
    setting = Setting(10, 10**6, "0.5", confidence="1e-6")
    for users in (1, 2, 16, 1000):
        protocol = LDP_SE.release(setting, users).protocol
        beyond = protocol.total_noise().upper_tail(protocol.accuracy + 1)
        assert float(beyond.upper()) <= 1 / (2 * 1280 * 10**6)
