"""The least number of fair bits, against the hockey-stick divergence of a binomial in mpmath."""

from fractions import Fraction

import mpmath
import pytest

from exactdp.exact import ParameterError
from exactdp.mechanisms import papers
from exactdp.verify import ApproxDP, Verdict, audit
from exactdp.verify.shuffle_noise import least_noise_bits


def spent(bits, epsilon):
    """The least delta of one bit plus Bin(bits, 1/2), from its definition."""
    with mpmath.workdps(60):
        growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        p = [mpmath.binomial(bits, k) / mpmath.mpf(2) ** bits for k in range(bits + 1)]
        p = [mpmath.mpf(0), *p, mpmath.mpf(0)]
        # the law is symmetric: both directions are the same
        return mpmath.fsum(max(a - growth * b, 0) for a, b in zip(p[1:], p[:-1], strict=True))


@pytest.mark.parametrize(
    ("epsilon", "delta", "least"), [("0.5", "1e-6", 268), ("0.99", "1e-3", 31), ("0.3", "0.1", 15)]
)
def test_one_bit_less_is_too_few(epsilon, delta, least):
    found = least_noise_bits(epsilon, delta)
    assert found.total == found.each == least
    level = mpmath.mpf(Fraction(delta).numerator) / Fraction(delta).denominator
    assert spent(least, Fraction(epsilon)) <= level < spent(least - 1, Fraction(epsilon))
    assert found.verified.verdict is Verdict.VERIFIED
    assert found.refuted.verdict is Verdict.REFUTED


def test_the_paper_spends_twenty_times_as_much():
    found = least_noise_bits("0.5", "1e-6", 10)
    assert (found.total, found.each, found.stated) == (268, 27, 558)
    alone = papers.shuffle_sum("0.5", "1e-6", 10).released(dropout=9)
    assert alone.law.trials == 558  # of a single user's bits: already enough
    assert audit(alone, ApproxDP("0.5", "1e-6")).verdict is Verdict.VERIFIED


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.5", "0"), ("0.9", "0.9")])
def test_out_of_range_is_refused(epsilon, delta):
    with pytest.raises(ParameterError):
        least_noise_bits(epsilon, delta)
