"""The exact epsilon of Theorem 1 after mod m, and the least tau, by brute force."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import discrete_laplace, exactly, real

from exactdp.mechanisms import papers
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.registry import find
from exactdp.verify.claims.theorem1 import least_tau, spared


def test_verdicts() -> None:
    for claim in find(["D-thm1-privacy", "D-thm1-tau"]):
        found = claim.check()
        assert (found.truth, found.scope) == (Truth.HOLDS, Scope.PROVED)
        assert len(found.evidence) > 5


@pytest.mark.parametrize(
    ("epsilon", "users", "rounds"), [("1/10", 2, 10), ("1", 3, 5), ("3", 4, 7)]
)
def test_exact_epsilon_is_the_largest_ratio_of_residues(
    epsilon: str, users: int, rounds: int
) -> None:
    preset = papers.theorem1(epsilon, users, rounds)
    g, m = preset.precision, preset.mechanism.modulus
    assert m is not None
    with mpmath.workdps(60):
        law = discrete_laplace(g / Fraction(epsilon))
        reach = 60 * m
        masses = [mpmath.fsum(law(x) for x in range(c - reach, reach, m)) for c in range(m)]
        truth = max(
            mpmath.log(masses[c] / masses[(c - d) % m]) for c in range(m) for d in range(1, g + 1)
        )
        gap = spared(Fraction(epsilon), g, m)
        difference = exactly(real(epsilon) - truth)
        assert abs(Fraction(gap.lower) - difference) < Fraction(1, 10**17)
        assert gap.lower > 0


@pytest.mark.parametrize(
    ("epsilon", "g", "rounds"), [("1/10", 4, 1000), ("2", 5, 10), ("30", 1, 2)]
)
def test_least_tau_by_brute_force(epsilon: str, g: int, rounds: int) -> None:
    with mpmath.workdps(30):
        law = discrete_laplace(g / Fraction(epsilon))
        inside, t = law(0), 0
        while 1 - inside > mpmath.mpf(1) / rounds:
            t += 1
            inside += 2 * law(t)
    assert least_tau(Fraction(epsilon), g, rounds) == t


@given(
    st.fractions(Fraction(1, 20), 5, max_denominator=20), st.integers(2, 200), st.integers(1, 10**5)
)
def test_theorem_1_is_strictly_below_epsilon(epsilon: Fraction, users: int, rounds: int) -> None:
    preset = papers.theorem1(epsilon, users, rounds)
    m = preset.mechanism.modulus
    assert m is not None and m >= 2 * preset.precision
    assert spared(epsilon, preset.precision, m).greater_than(0) is True
