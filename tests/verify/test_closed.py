"""The checker's closed bounds for wide laws, against sums by mpmath and full listings."""

from fractions import Fraction

import mpmath
import pytest

from exactdp import ZCDP, ApproxDP, RenyiDP, Verdict
from exactdp.mechanisms import AdditiveNoise, Binomial, Skellam
from exactdp.mechanisms.protocols import SumProtocol, Trust
from exactdp.mechanisms.protocols.shuffle import ShuffleSum, shuffled_sum
from exactdp.verify import audit
from exactdp.verify.certificate import MismatchError
from exactdp.verify.checker import binomial, closed, concentrated, laws
from exactdp.verify.checker.arithmetic import interval, precision, value
from exactdp.verify.protocol import certify

from certificates import check, edited  # isort: skip


def divergence(weight, shift, order, reach):
    """From the definition: weights up to a factor."""
    with mpmath.workdps(40):
        p = {x: weight(x) for x in range(-reach, reach + 1)}
        total = mpmath.fsum(p.values())
        inside = [x for x in p if x - shift in p]
        a = mpmath.mpf(order.numerator) / order.denominator
        found = mpmath.fsum(p[x] ** a * p[x - shift] ** (1 - a) for x in inside) / total
        return exactly(mpmath.log(found) / (a - 1))


def exactly(number):
    """An mpf as a rational."""
    sign, man, exponent, _ = number._mpf_
    return (-1) ** sign * Fraction(int(man)) * Fraction(2) ** exponent


def skellam_weights(variance, reach):
    """I_k(v)/I_0(v) by Miller's recurrence, in mpmath."""
    with mpmath.workdps(40):
        v, values = mpmath.mpf(int(variance)), [mpmath.mpf(0), mpmath.mpf(1)]
        for k in range(2 * reach + 200, 0, -1):
            values.append(values[-2] + 2 * k / v * values[-1])
        values.reverse()
        return lambda x: values[abs(x)] / values[0]


@pytest.mark.parametrize("shift", [1, 10, 60])
@pytest.mark.parametrize("order", ["1.01", "2", "5.5"])
def test_skellam_divergences_are_enclosed(shift, order):
    variance, a = Fraction(900), Fraction(order)
    reach = 500 + int(float(a) * shift)
    truth = divergence(skellam_weights(variance, reach), shift, a, reach)
    with precision(96):
        low, high = closed.skellam_renyi(variance, shift, a)
    assert low <= truth <= high
    assert low >= truth * Fraction("0.97") and high <= truth * Fraction("1.15") + Fraction(1, 50)


def test_skellam_brackets_are_narrow_where_they_are_used():
    with precision(96):
        for order, width in (("2", "1e-4"), ("64", "1e-3")):
            low, high = closed.skellam_renyi(Fraction(10**7), 1000, Fraction(order))
            assert high - low <= Fraction(width) * high


def _covers(variance, shift, rho):
    def settled(order):
        return concentrated._skellam_tail(laws.Skellam(variance), shift, order, rho)

    with precision(96):
        return closed.skellam_rho_at_most(variance, shift, rho, settled)


def test_all_orders_are_covered_and_no_false_rho_is():
    variance, shift = Fraction(900), 15
    weight = skellam_weights(variance, 1200)
    truth = max(
        divergence(weight, shift, a, 1000) / a for a in map(Fraction, ("1.01", "2", "8", "32"))
    )
    rho = Fraction(shift**2) / (2 * variance)
    assert _covers(variance, shift, rho * Fraction("1.1"))
    false = truth * (1 - Fraction(1, 10**9))
    assert not _covers(variance, shift, false)


@pytest.mark.slow_cases("100-40", "900-15")
@pytest.mark.parametrize(("variance", "shift"), [(900, 15), (900, 2), (100, 40)])
def test_what_is_settled_from_an_order_on_holds_from_there_on(variance, shift):
    weight, law = skellam_weights(variance, 4000), laws.Skellam(Fraction(variance))
    rho = Fraction(shift**2, 2 * variance) * Fraction("1.01")
    orders = [Fraction(2**j) for j in range(1, 8)]
    with precision(96):
        settled = [a for a in orders if concentrated._skellam_tail(law, shift, a, rho)]
        assert settled and settled == orders[-len(settled) :]
        for a in orders:
            if a * shift > 3000:
                break
            truth = divergence(weight, shift, a, 900 + int(a) * shift) / a
            assert a not in settled or truth <= rho
            false = truth * (1 - Fraction(1, 10**9))
            assert not any(
                concentrated._skellam_tail(law, shift, b, false) for b in orders if b <= a
            )


@pytest.mark.parametrize("shift", [1, 2, 7])
@pytest.mark.parametrize("order", ["1.3", "2", "4"])
def test_sums_of_gaussians_are_enclosed(shift, order):
    count, sigma2, one = 4, Fraction("0.8"), 24
    with mpmath.workdps(40):
        share = [mpmath.exp(-mpmath.mpf(x * x) / (2 * 0.8)) for x in range(-one, one + 1)]
        whole = [mpmath.mpf(1)]
        for _ in range(count):
            whole = [
                mpmath.fsum(
                    whole[i] * share[k - i]
                    for i in range(max(0, k - len(share) + 1), min(k + 1, len(whole)))
                )
                for k in range(len(whole) + len(share) - 1)
            ]
        middle = len(whole) // 2
        truth = divergence(lambda x: whole[middle + x], shift, Fraction(order), 40)
    with precision(96):
        low, high = closed.gaussian_sum_renyi(count, sigma2, shift, Fraction(order))
        rest = value(closed.dual_rest(count, sigma2))[1]
    assert low <= truth <= high
    assert rest < Fraction(1, 100)
    v = count * 0.8
    w = [whole[middle + x] * mpmath.exp(mpmath.mpf(x * x) / (2 * v)) for x in range(count)]
    assert exactly(max(w) / min(w)) <= (1 + rest) / (1 - rest)


@pytest.mark.slow_cases("1/50-3000")
@pytest.mark.parametrize("trials", [700, 3000])
@pytest.mark.parametrize("chance", ["1/2", "1/50"])
def test_a_window_of_the_binomial_law_is_the_law(trials, chance):
    law = binomial.Binomial(trials, Fraction(chance))
    with precision(96):
        part, whole = law.pmf(60), law.pmf(None)
        assert part.low > 0 or part.high < trials
        for x in range(part.low, part.high + 1, 7):
            here, there = value(part.at(x)), value(whole.at(x))
            assert here[0] <= there[1] and there[0] <= here[1]
        left = sum((value(p)[0] for p in whole.masses[: part.low]), Fraction(0))
        right = sum((value(p)[0] for p in whole.masses[part.high + 1 :]), Fraction(0))
        most = value(part.beyond)[1]
    assert max(left, right) <= most < Fraction(1, 2**40)


def test_a_probability_may_be_a_logarithm():
    law = binomial.Binomial(5000, binomial.Logarithm(Fraction(1, 100), Fraction(7)))
    with precision(96):
        low, high = value(law.chance())
    with mpmath.workdps(60):
        truth = exactly(mpmath.log(7) / 100)
    assert low <= truth <= high < low + Fraction(1, 2**80)
    with precision(96):
        assert value(interval(Fraction(1, 2))) == (Fraction(1, 2), Fraction(1, 2))


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
