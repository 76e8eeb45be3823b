"""Appendix B: the modulus grows with epsilon, but for tiny ones."""

from __future__ import annotations

from fractions import Fraction

from exactdp.mechanisms import papers
from exactdp.verify.claims.communication import CLAIMS, SCALING, USERS, bits, modulus, prove_rises
from exactdp.verify.claims.finding import Scope, Truth


def test_verdict() -> None:
    prove_rises()
    found = CLAIMS[0].check()
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
