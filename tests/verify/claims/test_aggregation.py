"""Rounding errors, the modulus by counting, and Theorem 3's leak by convolving the shares."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf
from oracles import exactly, polya_difference, real

from exactdp.mechanisms import papers
from exactdp.verify.claims.aggregation import (
    SCALING,
    USERS,
    bits,
    decoded,
    leak_of_relaxed,
    modulus,
    prove_rises,
)
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.registry import REGISTRY, find


def test_the_rounding_error_is_sub_gaussian_with_variance_a_quarter():
    for i in range(1, 100):
        f = i / 100
        for x in (-5, -1, -0.01, 0.01, 1, 5):
            assert math.log(1 - f + f * math.exp(x)) - f * x <= x * x / 8 + 1e-15
    x = 1e-2  # and with no less
    assert 2 * math.log(math.cosh(x / 2)) / x**2 > 0.2499


def test_every_sum_is_decoded_and_a_smaller_modulus_confuses_two():
    for encoded in (1, 2, 9):
        for accuracy in (1, 4):
            modulus = encoded + 2 * accuracy + 1
            sums = range(-accuracy, encoded + accuracy + 1)
            assert [decoded(x % modulus, encoded, accuracy, modulus) for x in sums] == list(sums)
            assert len({x % (modulus - 1) for x in sums}) < len(sums)


def test_the_encoding():
    for claim in find(["D-modulus", "D-rounding"]):
        finding = claim.check()
        assert (finding.truth, finding.scope) == (Truth.HOLDS, Scope.PROVED)


def test_appendix_b() -> None:
    prove_rises()
    found = REGISTRY["D-appB"].check()
    assert (found.truth, found.scope) == (Truth.FAILS, Scope.PROVED)


def test_m_rises_by_n_along_whole_precisions() -> None:
    steps = [Fraction(k) / (SCALING * 32) for k in (1, 2, 3, 50)]  # sqrt(1024) = 32
    found = [modulus(step) for step in steps]
    assert found[1] - found[0] == USERS and found[2] - found[1] == USERS
    assert found[3] - found[0] == 49 * USERS


def test_m_falls_with_epsilon_below_one_step() -> None:
    assert modulus(Fraction(1, 10**5)) > modulus(Fraction(1, 10**4)) > modulus(Fraction(1, 320))


def test_bits() -> None:
    assert [bits(m) for m in (1, 2, 3, 4, 5, 1024, 1025)] == [0, 1, 2, 2, 3, 10, 11]
    preset = papers.theorem2(1, USERS, 10**5, SCALING)
    assert 2 ** (bits(modulus(Fraction(1))) - 1) < (preset.mechanism.modulus or 0)


def test_theorem3() -> None:
    found = REGISTRY["D-thm3"].check()
    assert (found.truth, found.scope) == (Truth.HOLDS_CORRECTED, Scope.PROVED)
    assert found.correction == "shares Pólya(1/n, e^(-epsilon/(2g)))"
    assert "3.5555556" in found.evidence["e^(-epsilon/9) as printed"]


def test_parameters() -> None:
    assert papers.theorem3(1, 4096, 10_000).precision == 32
    assert papers.theorem3(1, 4096, 10_000).protocol.modulus == 4096 * 32 + 2 * 679 + 1


@pytest.mark.parametrize("noise", ["2", "1"])
def test_the_leak_is_below_the_loss_of_the_outcome_computed_directly(noise: str) -> None:
    epsilon, users, rounds = Fraction(2), 4, 10
    g = papers.theorem3(epsilon, users, rounds).precision
    with mpmath.workdps(20):
        h, q = real(epsilon) / 4, mpf(1) / 10
        share = polya_difference(Fraction(1, users), g / Fraction(noise))
        others = polya_difference(Fraction(users - 1, users), g / Fraction(noise))
        reach = 40

        def of(reward: int) -> mpf:
            """P(bit 1, sum g), user 1 sending reward * g; without mod m, which hardly matters."""
            total = mpf(0)
            for y in range(-reach, reach + 1):
                sent = reward * g + y
                bit = q * mpmath.exp(h if sent == g else -h)
                total += bit * share(y) * others(g - sent)
            return total

        truth = mpmath.log(of(1) / of(0))
    leak = leak_of_relaxed(epsilon, Fraction(noise), users, rounds)
    assert Fraction(leak.upper) <= exactly(truth) + Fraction(1, 10**4)
    assert float(leak.lower) > float(truth) - 0.9  # of the size of the truth
