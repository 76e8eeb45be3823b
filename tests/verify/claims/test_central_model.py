"""Theorem 5: holds; the tail and the privacy mod m in closed form."""

import mpmath

from exactdp.accounting.divergences.divergence import pure_epsilon
from exactdp.mechanisms.papers import theorem5
from exactdp.verify.claims.central_model import CLAIMS, _slack
from exactdp.verify.claims.figures import figure
from exactdp.verify.claims.finding import Scope, Truth


def test_the_slack_is_what_the_reduction_mod_m_gains():
    preset = theorem5("1/10", 4, 10)
    found = figure(lambda: _slack(preset))
    measured = pure_epsilon(preset.mechanism)
    with mpmath.workdps(40):
        g, m = preset.precision, preset.mechanism.modulus
        beta = mpmath.exp(-mpmath.mpf(1) / (10 * g))
        masses = [beta**x + beta ** (m - x) for x in range(m)]
        worst = max(mpmath.log(masses[x] / masses[(x - g) % m]) for x in range(m))
        truth = mpmath.mpf(1) / 10 - worst
        assert abs(mpmath.mpf(str(found.lower)) - truth) < 1e-15
        assert abs(mpmath.mpf(str(measured.lower)) - worst) < 1e-13


def test_the_finding():
    finding = CLAIMS[0].check()
    assert (finding.truth, finding.scope, finding.correction) == (Truth.HOLDS, Scope.PROVED, None)
