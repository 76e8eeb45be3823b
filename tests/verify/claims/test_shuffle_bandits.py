"""The shuffle paper's regret bounds: each step of the proofs by numbers."""

import math

import pytest

from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.registry import REGISTRY
from exactdp.verify.claims.shuffle_bandits import kept_phases, most_pulls


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("S-thm3.1", Truth.HOLDS),
        ("S-thm3.3", Truth.HOLDS_CORRECTED),
        ("S-cor3.2", Truth.HOLDS_CORRECTED),
    ],
)
def test_the_findings(name, truth):
    finding = REGISTRY[name].check()
    assert (finding.truth, finding.scope) == (truth, Scope.PROVED)
    assert (finding.correction is None) == (truth is Truth.HOLDS)


def test_phases_exceed_the_natural_logarithm_but_not_the_binary_one():
    for phases in range(1, 60):
        assert phases <= math.log2(2 * most_pulls(phases))
        assert most_pulls(phases + 1) <= 4 * most_pulls(phases)
    assert most_pulls(10) == 2046 and math.log(2 * 2046) < 10


@pytest.mark.parametrize("sigma", [10, 100])
def test_the_bad_arm_is_kept_that_long(sigma):
    phases = kept_phases(sigma, sigma * sigma, sigma)
    m = sigma

    def radius(t):
        noise = 2 * math.sqrt(t) * sigma / (m * t)
        return (noise + 1 / math.sqrt(m * t)) * math.sqrt(2 * sigma * sigma)

    assert radius(phases) >= 1
    assert phases * m >= 8 * sigma**3 - m
