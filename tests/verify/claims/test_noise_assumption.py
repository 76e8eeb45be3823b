"""Assumption 1: how often the sum wraps, against the closed form of the discrete Laplace."""

from fractions import Fraction

import mpmath
import pytest

from exactdp.mechanisms.papers import theorem1
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.noise_assumption import (
    ARMS,
    CLAIMS,
    EPSILON,
    HORIZON,
    asked_constant,
    level,
    wrapping,
)


@pytest.mark.parametrize("users", [2, 64, 2**16])
def test_wrapping_in_closed_form(users):
    preset = theorem1(EPSILON, users, HORIZON)
    found = wrapping(preset)
    with mpmath.workdps(40):
        beta = mpmath.exp(-mpmath.mpf(1) / (2 * preset.precision))
        tau = preset.accuracy
        truth = (beta ** (tau + 1) - beta ** (2 * tau + 1)) / (1 + beta)
        assert abs(mpmath.mpf(str(found.lower)) / truth - 1) < 1e-15
        assert abs(mpmath.mpf(str(found.upper)) / truth - 1) < 1e-15


def test_the_level_and_the_constant():
    assert level(4) == Fraction(1, 16 * ARMS * HORIZON)
    found = asked_constant(1024, Fraction(1, 1000))
    log = mpmath.log(2000)
    assert abs(mpmath.mpf(str(found.lower)) - 512 / (mpmath.sqrt(log) + log)) < 1e-10


@pytest.mark.parametrize("users", [2, 1024])
def test_the_accuracy_at_the_level_of_the_union_is_enough(users):
    b = users.bit_length() - 1
    preset = theorem1(EPSILON, users, HORIZON)
    law = preset.mechanism.law
    with mpmath.workdps(30):
        scale = mpmath.mpf(preset.precision) * 2
        tau = int(mpmath.ceil(scale * mpmath.log(1 / mpmath.mpf(float(level(b))))))
    assert law.two_sided_tail(tau).at_most(level(b)) is True
    assert tau > preset.accuracy


def test_the_finding():
    finding = CLAIMS[0].check()
    assert (finding.truth, finding.scope) == (Truth.FAILS, Scope.WITNESS)
    assert "b = 16: 318.4" in finding.evidence["Theorem 1"]
