"""Theorem 3: the leak of a relaxed SecAgg, by convolving the shares themselves."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf
from oracles import exactly, polya_difference, real

from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.theorem3 import CLAIMS, leak_of_relaxed, parameters


def test_verdict() -> None:
    found = CLAIMS[0].check()
    assert (found.truth, found.scope) == (Truth.HOLDS_CORRECTED, Scope.PROVED)
    assert found.correction == "shares Pólya(1/n, e^(-epsilon/(2g)))"
    assert "3.5555556" in found.evidence["e^(-epsilon/9) as printed"]


def test_parameters() -> None:
    assert parameters(Fraction(1), 4096, 10_000).precision == 32
    assert parameters(Fraction(1), 4096, 10_000).modulus == 4096 * 32 + 2 * 679 + 1


@pytest.mark.parametrize("noise", ["2", "1"])
def test_the_leak_is_below_the_loss_of_the_outcome_computed_directly(noise: str) -> None:
    epsilon, users, rounds = Fraction(2), 4, 10
    setting = parameters(epsilon, users, rounds)
    g = setting.precision
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
