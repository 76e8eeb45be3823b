"""The dominating pair of (epsilon, delta)-DP, and the classical composition theorems."""

from __future__ import annotations

from fractions import Fraction

import brute_force as truth
import mpmath
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from exactdp.accounting import delta, epsilon, pure_epsilon, renyi_divergence, zcdp
from exactdp.exact import Enclosure, ParameterError
from exactdp.mechanisms import RandomizedResponse
from exactdp.verify import ApproxDP, PureDP, RenyiDP, Verdict, audit


def outcomes(level: str | Fraction, share: str | Fraction) -> list[tuple[mpf, mpf]]:
    """The four outcomes of randomized response with the bit revealed now and then."""
    d, odds = oracles.real(share), mpmath.exp(oracles.real(level))
    p = [d, (1 - d) * odds / (1 + odds), (1 - d) / (1 + odds), mpf(0)]
    return list(zip(p, reversed(p), strict=True))


@pytest.mark.parametrize("share", ["0.3", "1e-6", "1e-300"])
@pytest.mark.parametrize("level", ["1e-6", "0.7", "30"])
def test_profile_of_randomized_response_that_may_reveal(level: str, share: str) -> None:
    mechanism = RandomizedResponse(level, share)
    with mpmath.workdps(400):
        pair, e, d = outcomes(level, share), oracles.real(level), oracles.real(share)
        for part in ("0", "1/3", "999999999/1000000000"):
            at = Fraction(level) * Fraction(part)
            odds = mpmath.exp(oracles.real(at))
            value = mpmath.fsum(max(p - odds * q, mpf(0)) for p, q in pair)
            oracles.assert_holds(delta(mechanism, at), value)
        for part in ("1e-9", "1/3", "999/1000"):  # of the range between d and total variation
            goal = Fraction(share) + Fraction(part) * (1 - Fraction(share)) / (10**7)
            lost = (oracles.real(goal) - d) / (1 - d)
            value = max(mpmath.log(mpmath.exp(e) - lost * (1 + mpmath.exp(e))), mpf(0))
            oracles.assert_holds(epsilon(mechanism, goal), value)
    assert delta(mechanism, level) == delta(mechanism, 100)
    assert delta(mechanism, level).contains(Fraction(share))
    assert epsilon(mechanism, share).contains(Fraction(level))
    assert epsilon(mechanism, share).is_within(Fraction(1, 10**12))


def test_what_may_be_revealed_has_no_finite_loss() -> None:
    mechanism = RandomizedResponse("0.5", "1e-9")
    infinite = Enclosure.infinite()
    assert pure_epsilon(mechanism) == infinite
    assert epsilon(mechanism, 0) == epsilon(mechanism, "0.99e-9") == infinite
    assert renyi_divergence(mechanism, "1.001") == infinite
    assert zcdp(mechanism) == infinite


def test_extremes_of_randomized_response() -> None:
    assert delta(RandomizedResponse(3, 1), 1000) == Enclosure.exactly(1)
    assert epsilon(RandomizedResponse(3, 1), 1) == Enclosure.exactly(0)
    assert epsilon(RandomizedResponse(0, "0.1"), "0.1") == Enclosure.exactly(0)
    assert delta(RandomizedResponse(0, "0.1"), 0).contains(Fraction(1, 10))
    assert RandomizedResponse(1) == RandomizedResponse(1, 0)
    for bad in ("-1e-9", "1.1", "nan", True):
        with pytest.raises(ParameterError, match="delta must be"):
            RandomizedResponse(1, bad)


def test_audit_of_randomized_response_that_may_reveal() -> None:
    mechanism = RandomizedResponse(1, "1e-6")
    assert audit(mechanism, ApproxDP(1, "1e-6")).verdict is Verdict.VERIFIED
    for claim in (ApproxDP("0.999999999", "1e-6"), ApproxDP(9, "0.999999e-6"), PureDP(50)):
        found = audit(mechanism, claim)
        assert found.verdict is Verdict.REFUTED
        assert found.witness is not None
    assert audit(mechanism, RenyiDP(2, 50)).verdict is Verdict.REFUTED


@given(
    level=st.fractions(0, 5, max_denominator=50),
    share=st.fractions(0, 1, max_denominator=50),
    at=st.fractions(0, 6, max_denominator=50),
)
def test_profile_at_random(level: Fraction, share: Fraction, at: Fraction) -> None:
    found = delta(RandomizedResponse(level, share), at)
    with mpmath.workdps(60):
        oracles.assert_holds(found, truth.delta(outcomes(level, share), oracles.real(at)))
