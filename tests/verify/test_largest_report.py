"""`calibrate --find epsilon0`: the largest epsilon of users' own reports."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from exactdp import ZCDP, ApproxDP, ParameterError, PureDP
from exactdp.verify import calibrate as calibrated
from exactdp.verify.families import choose


def _largest(text, claim, times=1):
    found = calibrated(choose(text, None, None, None, "epsilon0").family, claim, times)
    assert found.verified.verified and found.refuted.refuted
    assert found.value < found.neighbour
    return found


@pytest.mark.parametrize(
    ("text", "bound"), [("unary-encoding", 600), ("one-bit-mean", 5000), ("unary-encoding", "1e-9")]
)
def test_the_whole_range_of_the_key_is_searched(text, bound):
    goal = Fraction(bound)
    found = _largest(text, PureDP(goal))
    assert found.value <= goal < found.neighbour <= goal * Fraction(1001, 1000)


@pytest.mark.parametrize("text", ["one-bit-mean", "randomized-response:categories=4"])
def test_the_largest_epsilon_of_one_report_is_the_claimed_one(text):
    found = _largest(text, PureDP("0.7"))
    assert found.value <= Fraction(7, 10) < found.neighbour <= Fraction(7001, 10**4)


def test_at_a_delta_it_is_that_of_the_closed_form():
    """delta = (e^e0 - e^epsilon)/(e^e0 + 1)."""
    found = _largest("randomized-response", ApproxDP("1", "0.01"))
    truth = math.log((math.exp(1) + 0.01) / 0.99)
    assert found.value <= truth <= found.neighbour <= 1.0002 * truth


@pytest.mark.slow
def test_shuffled_reports_may_tell_more():
    found = _largest("randomized-response:categories=3,shuffled=1000", ApproxDP("0.3", "1e-6"))
    assert found.value > 1 and found.neighbour < Fraction(101, 100) * found.value


@pytest.mark.slow
def test_the_largest_range_of_losses():
    """Of pure epsilon it is that epsilon; rho is at most epsilon^2/8."""
    for claim, least in ((PureDP("0.7"), 0.7), (ZCDP("0.1"), math.sqrt(0.8))):
        found = calibrated(choose("exponential", None, None).family, claim)
        assert found.verified.verified and found.refuted.refuted
        assert 0.9999 * least <= found.value < found.neighbour <= 1.01 * least


def test_what_cannot_be_found_is_refused():
    for text, sensitivity in (
        ("discrete-laplace", None),
        ("randomized-response:epsilon=1", None),
        ("randomized-response", "2"),
        ("subset-selection:categories=5", None),
        ("randomized-response:shuffled=0", None),
    ):
        with pytest.raises(ParameterError):
            choose(text, sensitivity, None, None, "epsilon0")
    family = choose("one-bit-mean", None, None, None, "epsilon0").family
    with pytest.raises(ParameterError, match="every epsilon"):
        calibrated(family, ApproxDP("20000", "0.5"))
