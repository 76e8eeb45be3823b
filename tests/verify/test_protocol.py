"""Certificates name the protocol: what differs from it is refused, by the field's name."""

import json
from dataclasses import dataclass
from fractions import Fraction

import pytest
from attrs import evolve
from certificates import check, edited

from exactdp import ZCDP, ApproxDP, NotCertifiedError, ParameterError, PureDP, RenyiDP, Verdict
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.additive import papers
from exactdp.protocols import SumProtocol, Trust
from exactdp.protocols.aggregation import Masking, PlainSum
from exactdp.verify import audit
from exactdp.verify.certificate import MismatchError, certificate_of
from exactdp.verify.protocol import certify, through

LAPLACE = SumProtocol(4, 2, 10, 19, PolyaDifference("1/4", 2))
CASES = {
    "laplace": (LAPLACE, PureDP(1)),
    "skellam": (SumProtocol(4, 2, 10, 19, Skellam(2)), RenyiDP(2, "0.6")),
    "gaussian": (SumProtocol(4, 2, 10, 19, DiscreteGaussian(2)), RenyiDP("5/2", "0.7")),
    "binomial": (SumProtocol(4, 1, 40, None, Binomial(10, "1/2")), ApproxDP(2, "1e-3")),
    "central": (SumProtocol(4, 2, 10, 19, DiscreteLaplace(2), Trust.CENTRAL), PureDP(1)),
    "local": (SumProtocol(4, 2, 10, 19, DiscreteLaplace(2), Trust.LOCAL), PureDP(1)),
}


@pytest.fixture(scope="module")
def laplace():
    return certify(LAPLACE, PureDP(1))


@pytest.mark.parametrize("name", CASES)
def test_certifies_and_matches_every_kind(name):
    protocol, claim = CASES[name]
    certificate = certify(protocol, claim)
    assert certificate.check().valid and certificate.verdict is Verdict.VERIFIED
    assert certificate.measured.contains(audit(protocol.released(), claim).measured.upper)
    certificate.matches(protocol)


@pytest.mark.parametrize(
    ("other", "field"),
    [
        (SumProtocol(3, 2, 10, 19, PolyaDifference("1/4", 2)), "users"),
        (SumProtocol(4, 1, 10, 19, PolyaDifference("1/4", 2)), "precision"),
        (SumProtocol(4, 2, 9, 19, PolyaDifference("1/4", 2)), "accuracy"),
        (SumProtocol(4, 2, 10, 20, PolyaDifference("1/4", 2)), "modulus"),
        (SumProtocol(4, 2, 10, None, PolyaDifference("1/4", 2)), "modulus"),
        (SumProtocol(4, 2, 10, 19, PolyaDifference("1/3", 2)), "share"),
        (SumProtocol(4, 2, 10, 19, PolyaDifference("1/4", 2), Trust.LOCAL), "trust"),
    ],
)
def test_names_the_field_that_differs(laplace, other, field):
    with pytest.raises(MismatchError, match=f"^{field} is"):
        laplace.matches(other)


def test_no_other_certificate_matches():
    with pytest.raises(MismatchError, match="names no protocol"):
        certificate_of(audit(LAPLACE.released(), PureDP(1))).matches(LAPLACE)
    refuted = certify(LAPLACE, PureDP("0.9"))
    assert refuted.verdict is Verdict.REFUTED and refuted.check().valid
    with pytest.raises(MismatchError, match="REFUTED"):
        refuted.matches(LAPLACE)


@pytest.mark.slow
def test_covers_fewer_missing_users_only():
    certificate = certify(LAPLACE, PureDP(2), dropout=1)
    assert certificate.check().valid
    certificate.matches(LAPLACE)
    certificate.matches(LAPLACE, dropout=1)
    certificate.matches(LAPLACE, collusion=1)
    with pytest.raises(MismatchError, match="dropout and collusion are 2 together"):
        certificate.matches(LAPLACE, dropout=1, collusion=1)
    with pytest.raises(ParameterError, match="users - 1"):
        certify(LAPLACE, PureDP(1), dropout=4)


def test_a_relaxed_aggregation_costs_twice_its_epsilon(laplace):
    relaxed = certify(LAPLACE, PureDP("1.5"), relaxation="1/4")
    assert relaxed.check().valid
    assert abs(relaxed.measured.upper - laplace.measured.upper - 1 / 2) < 1e-8
    assert certify(LAPLACE, PureDP("1.49"), relaxation="1/4").verdict is Verdict.REFUTED
    with pytest.raises(MismatchError, match="relaxation"):
        relaxed.matches(LAPLACE)
    relaxed.matches(LAPLACE, relaxation="0.25")
    with pytest.raises(NotCertifiedError, match="pure"):
        certify(LAPLACE, RenyiDP(2, 5), relaxation="1/4")


def test_the_sum_before_the_reduction_carries_what_is_verified_only():
    plain = AdditiveNoise(DiscreteLaplace(2), 2)
    fields = certify(LAPLACE, PureDP(1)).content["protocol"]
    assert certificate_of(audit(plain, PureDP(1)), fields).check().valid
    with pytest.raises(NotCertifiedError, match="may hold"):
        certificate_of(audit(plain, PureDP("0.9999")), fields)  # mod 19 it is 0.99927: true
    with pytest.raises(NotCertifiedError, match="another"):
        certificate_of(audit(AdditiveNoise(DiscreteLaplace(2), 2, 18), PureDP(1)), fields)


FALSE = {
    "users": "5",
    "precision": "1",
    "modulus": "18",
    "trust": "local",
    "dropout": "1",
    "collusion": "1",
    "share": {"name": "polya-difference", "shape": "1/8", "scale": "2"},
    "relaxation": "0.1",
    "accuracy": "11",  # which the modulus leaves no room for
}


@pytest.mark.parametrize("field", FALSE)
def test_no_field_can_be_changed(laplace, field):
    assert set(FALSE) == set(laplace.content["protocol"])
    assert not check(edited(laplace.content, ("protocol", field), FALSE[field])).valid
    missing = edited(laplace.content, ("protocol", field), None)
    del missing["protocol"][field]
    assert "exactly the fields" in check(missing).reason


class _Sum:
    def __init__(self, modulus):
        self.modulus = modulus

    def aggregate(self, messages):
        return sum(messages.values()) % self.modulus


@dataclass(frozen=True)
class _Masked:
    modulus: int
    shape: Masking

    def masking(self, users):
        return self.shape


def test_masks_are_named_and_held_to():
    protocol = LAPLACE
    users, modulus = protocol.users, protocol.modulus
    masking = Masking(users - 1, users // 2 + 1, users - 1)
    certificate = certify(protocol, PureDP(5), dropout=1, masking=masking)
    assert certificate.check().valid
    certificate.matches(protocol, dropout=1)
    right = _Masked(modulus, masking)
    assert through(certificate, right) is right
    higher = _Masked(modulus, evolve(masking, floor=users))
    assert through(certificate, higher) is higher
    for other in (
        PlainSum(modulus),
        _Masked(modulus, evolve(masking, floor=users - 2)),
        _Masked(modulus, evolve(masking, neighbours=users - 2)),
        _Masked(modulus, evolve(masking, threshold=users // 2)),
    ):
        with pytest.raises(MismatchError, match=r"masks|floor"):
            through(certificate, other)
    forged = (("floor", users - 2), ("floor", users + 1), ("mask-threshold", users // 2 - 1),
              ("mask-neighbours", users))  # fmt: skip
    for name, value in forged:
        content = json.loads(certificate.text)
        content["protocol"][name] = str(value)
        assert not check(content).valid
    for name in ("floor", "mask-neighbours"):
        content = json.loads(certificate.text)
        del content["protocol"][name]
        assert not check(content).valid
    with pytest.raises(ParameterError, match="floor of at least"):
        certify(protocol, PureDP(5), dropout=0, masking=masking)


def test_aggregations_sum_in_the_certified_modulus(laplace):
    right = _Sum(19)
    assert through(laplace, right) is right
    with pytest.raises(MismatchError, match="modulus is 32, but was certified as 19"):
        through(laplace, _Sum(32))
    with pytest.raises(MismatchError, match="no protocol"):
        through(certificate_of(audit(LAPLACE.released(), PureDP(1))), right)


@pytest.mark.slow
def test_missing_shares_of_a_real_batch_are_certified_on_both_sides():
    protocol = papers.theorem1("0.5", 1024, 10**6).protocol
    truth = audit(AdditiveNoise(PolyaDifference("1014/1024", 32), 16), PureDP(1)).measured
    for factor, verdict in (("1.000001", Verdict.VERIFIED), ("0.999999", Verdict.REFUTED)):
        claim = PureDP(Fraction(truth.upper) * Fraction(factor))
        certificate = certify(protocol, claim, dropout=10)
        assert certificate.verdict is verdict and certificate.check().valid
        for dropout in ("9", "11", "0"):
            changed = edited(certificate.content, ("protocol", "dropout"), dropout)
            assert not check(changed).valid
    thousand = papers.theorem1("0.5", 1000, 10**6).protocol
    certify(thousand, PureDP("0.57"), dropout=50).matches(thousand, dropout=50)


def usual_claim(protocol):
    """What a privacy statement says of one batch, by the law of its noise."""
    released = protocol.released()
    law, d = released.law, released.sensitivity
    if isinstance(law, DiscreteLaplace):
        return PureDP(d / law.scale)
    if isinstance(law, Skellam):
        return ZCDP(d * d / (2 * law.variance) * Fraction(21, 20))
    return ZCDP(d * d / (2 * law.count * law.sigma2) * (1 + Fraction(1, 10**9)))


@pytest.mark.parametrize("users", [2, 2**12, 2**29])
def test_usual_claims_are_verified_at_every_size(users):
    for preset in (
        papers.theorem1("0.5", users, 10**9),
        papers.theorem2("0.5", users, 10**9, 100),
        papers.theorem4("0.5", users, 10**9, 10),
        papers.theorem5("0.5", users, 10**9),
        papers.theorem6("0.5", users, 10**9),
    ):
        if users == 2 and preset.source == "Theorem 2":
            continue  # seconds
        claim = usual_claim(preset.protocol)
        certificate = certify(preset.protocol, claim)
        assert certificate.verdict is Verdict.VERIFIED and certificate.check().valid
        certificate.matches(preset.protocol)
        assert claim.bound <= (Fraction(1, 2) if isinstance(claim, PureDP) else Fraction("0.1313"))
