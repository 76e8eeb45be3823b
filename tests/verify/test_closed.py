"""The checker's closed bounds for wide laws, against sums by mpmath and full listings."""

from fractions import Fraction

import brute_force
import mpmath
import pytest
from conformance.checks import nothing_false_is_proved

import exactdp
from exactdp import ZCDP, ApproxDP, RenyiDP, Verdict
from exactdp.mechanisms import AdditiveNoise, Binomial, Skellam
from exactdp.mechanisms.additive.shuffle import ShuffleSum, shuffled_sum
from exactdp.protocols import SumProtocol, Trust
from exactdp.verify import audit
from exactdp.verify.certificate import MismatchError
from exactdp.verify.protocol import certify

from certificates import check, edited  # isort: skip


def _skellam(variance, reach):
    """I_k(v)/I_0(v) by Miller's recurrence."""
    v, values = mpmath.mpf(variance), [mpmath.mpf(0), mpmath.mpf(1)]
    for k in range(reach + 4000, 0, -1):
        values.append(values[-2] + 2 * k / v * values[-1])
    return [one / values[-1] for one in reversed(values)]


def _wide(shift, order):
    """A spec, and the divergence of this order: a sum over 16,000 outcomes."""
    with mpmath.workdps(40):
        half = _skellam(250_000, 12_000)
        pair = [(half[abs(x)], half[abs(x - shift)]) for x in range(-8_000, 8_000)]
        total = mpmath.fsum(p for p, _ in pair)
        truth = brute_force.renyi([(p / total, q / total) for p, q in pair], order)
    return exactdp.mechanism(f"skellam:variance=250000,sensitivity={shift}"), truth


@pytest.mark.contract
@pytest.mark.slow
@pytest.mark.parametrize("order", ["1.01", "2", "5.5"])
@pytest.mark.parametrize("shift", [5, 1000])
def test_nothing_false_is_proved_of_noise_too_wide_to_list(shift, order):
    of, truth = _wide(shift, order)
    nothing_false_is_proved(of, f"rdp:{order},{{}}", truth)


@pytest.mark.contract
@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("order", ["1.01", "2", "5.5"])
@pytest.mark.parametrize("shift", [5, 1000])
def test_no_false_rho_is_proved_of_noise_too_wide_to_list(shift, order):
    of, truth = _wide(shift, order)
    nothing_false_is_proved(of, "zcdp:{}", truth / mpmath.mpf(order), False)


SHUFFLE = shuffled_sum(Fraction(2), Fraction(1, 10**3), 1000)  # one bit of irrational probability


def test_shuffled_sums_are_certified():
    truth = audit(SHUFFLE.released(), ApproxDP(2, "1e-3")).measured
    certificate = certify(SHUFFLE, ApproxDP(2, "1e-3"))
    assert certificate.check().valid and certificate.verdict is Verdict.VERIFIED
    assert certificate.measured.lower <= truth.lower and truth.upper <= certificate.measured.upper
    certificate.matches(SHUFFLE)
    with pytest.raises(MismatchError, match="share"):
        certificate.matches(shuffled_sum(Fraction(3), Fraction(1, 10**3), 1000))
    with pytest.raises(MismatchError, match="users"):
        certificate.matches(shuffled_sum(Fraction(2), Fraction(1, 10**3), 999))
    place = ("protocol", "share", "probability", "log")
    assert not check(edited(certificate.content, place, "2001")).valid
    for field, other in (("trust", "central"), ("trust", "distributed"), ("modulus", "5000")):
        changed = check(edited(certificate.content, ("protocol", field), other))
        assert changed.valid == (other == "distributed")  # the same sum of the same shares


def test_shuffled_fair_bits_near_the_boundary():
    protocol = ShuffleSum(100, 6, "1/2")
    truth = audit(AdditiveNoise(Binomial(600, "1/2")), ApproxDP(1, "1e-6")).measured
    for factor, verdict in (("1.000000001", Verdict.VERIFIED), ("0.999999999", Verdict.REFUTED)):
        bound = Fraction(truth.upper) * Fraction(factor)
        certificate = certify(protocol, ApproxDP(bound, "1e-6"))
        assert certificate.verdict is verdict and certificate.check().valid


WIDE = SumProtocol(2**20, 512, 10**5, None, Skellam(1), Trust.DISTRIBUTED)  # epsilon = 1/2


@pytest.mark.contract
def test_a_sum_too_long_to_multiply_out_is_certified_by_its_closed_form():
    spec = "discrete-gaussian-sum:count=1000000,sigma2=4,sensitivity=3"
    assert exactdp.certify(spec, "rdp:2,2.26e-6").verdict is Verdict.VERIFIED


def test_wide_sums_are_certified_without_listing():
    gaussian = Fraction(1, 8)
    for claim in (ZCDP(gaussian * Fraction("1.01")), RenyiDP(2, gaussian * Fraction("2.001"))):
        certificate = certify(WIDE, claim)
        assert certificate.check().valid and certificate.verdict is Verdict.VERIFIED
        certificate.matches(WIDE)
        for share in ("0.98", "1/2"):
            place = ("protocol", "share", "variance")
            assert not check(edited(certificate.content, place, share)).valid
            both = edited(certificate.content, place, share)
            place = ("uses", 0, "mechanism", "law", "variance")
            whole = str(Fraction(share) * 2**20)
            assert not check(edited(both, place, whole)).valid
