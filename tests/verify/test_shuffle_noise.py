"""The least number of fair bits, against the hockey-stick divergence of a binomial in mpmath."""

from fractions import Fraction

import mpmath
import pytest
from attrs import evolve

from exactdp import ApproxDP, OutOfTimeError, ParameterError, UndecidedError, Verdict, time_limit
from exactdp.mechanisms.additive import papers
from exactdp.verify import audit
from exactdp.verify.shuffle_noise import least_noise_bits, least_rare_bits


def spent(bits, epsilon):
    """The least delta of one bit plus Bin(bits, 1/2), from its definition."""
    with mpmath.workdps(60):
        growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        p = [mpmath.binomial(bits, k) / mpmath.mpf(2) ** bits for k in range(bits + 1)]
        p = [mpmath.mpf(0), *p, mpmath.mpf(0)]
        # the law is symmetric: both directions are the same
        return mpmath.fsum(max(a - growth * b, 0) for a, b in zip(p[1:], p[:-1], strict=True))


@pytest.mark.slow_cases("0.5-1e-6-268")
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


@pytest.mark.slow
def test_the_paper_spends_twenty_times_as_much():
    found = least_noise_bits("0.5", "1e-6", 10)
    assert (found.total, found.each, found.stated) == (268, 27, 558)
    alone = papers.shuffle_sum("0.5", "1e-6", 10).protocol.released(dropout=9)
    assert alone.law.trials == 558  # of a single user's bits: already enough
    assert audit(alone, ApproxDP("0.5", "1e-6")).verdict is Verdict.VERIFIED


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.5", "0"), ("0.9", "0.9")])
def test_out_of_range_is_refused(epsilon, delta):
    with pytest.raises(ParameterError):
        least_noise_bits(epsilon, delta)


def rare_spent(users, chance, epsilon):
    """The least delta of one bit plus Bin(n, q), both ways, from its definition."""
    with mpmath.workdps(60):
        growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        q = mpmath.mpf(chance.numerator) / chance.denominator
        p = [mpmath.binomial(users, k) * q**k * (1 - q) ** (users - k) for k in range(users + 1)]
        one, two = [*p, mpmath.mpf(0)], [mpmath.mpf(0), *p]
        return max(
            mpmath.fsum(max(a - growth * b, 0) for a, b in zip(*pair, strict=True))
            for pair in ((one, two), (two, one))
        )


@pytest.mark.parametrize(
    ("epsilon", "delta", "users"),
    [
        pytest.param("0.9", "0.01", 60, marks=pytest.mark.slow),
        pytest.param("0.5", "0.05", 200, marks=pytest.mark.slow),
        ("0.99", "0.5", 9),
    ],
)
def test_a_rarer_bit_of_each_is_too_rare(epsilon, delta, users):
    found = least_rare_bits(epsilon, delta, users)
    assert found.success - found.neighbour == Fraction(1, 1000 * users)
    level = mpmath.mpf(Fraction(delta).numerator) / Fraction(delta).denominator
    assert rare_spent(users, found.success, Fraction(epsilon)) <= level
    assert rare_spent(users, found.neighbour, Fraction(epsilon)) > level
    assert found.verified.verdict is Verdict.VERIFIED
    assert found.refuted.verdict is Verdict.REFUTED


def test_as_many_users_as_fair_bits_add_a_bit_each():
    least = least_noise_bits("0.9", "0.01")
    assert least_rare_bits("0.9", "0.01", least.total).success <= Fraction(1, 2)
    with pytest.raises(ParameterError, match="users must be so many"):
        least_rare_bits("0.9", "0.01", least.total - 1)


@pytest.mark.slow
def test_rare_bits_of_users_who_may_vanish():
    found = least_rare_bits("0.9", "0.01", 60)
    assert found.protocol(80).total_noise(20) == found.verified.mechanism.law
    with pytest.raises(ParameterError, match="users"):
        found.protocol(59)


def test_a_delta_so_large_that_hardly_any_bit_is_needed():
    with pytest.raises(ParameterError, match="delta must be smaller"):
        least_rare_bits("0.9", "0.99999", 10)


def test_fair_bits_of_users_who_may_vanish():
    least = least_noise_bits("0.9", "0.01", 50)
    left = least.protocol(dropout=20).total_noise(20)
    assert left.trials == 30 * -(-least.total // 30) >= least.total
    with pytest.raises(ParameterError, match="dropout"):
        least.protocol(dropout=50)


def test_a_delta_for_which_one_fair_bit_is_enough():
    assert spent(1, Fraction("0.9")) <= mpmath.mpf("0.6")
    with pytest.raises(ParameterError, match="a single fair bit is enough"):
        least_noise_bits("0.9", "0.6")


@pytest.mark.parametrize("find", [least_noise_bits, least_rare_bits])
def test_a_verdict_that_stays_open_is_no_bad_input(find, monkeypatch):
    def open_audit(mechanism, claim):
        return evolve(audit(mechanism, claim), verdict=Verdict.UNDECIDED)

    monkeypatch.setattr("exactdp.verify.shuffle_noise.audit", open_audit)
    with pytest.raises(UndecidedError):
        find("1/2", "1e-2", 100)
    with pytest.raises(OutOfTimeError), time_limit(0):
        find("1/2", "1e-2", 100)
