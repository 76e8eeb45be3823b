"""`calibrate --find epsilon0`: the largest epsilon of users' own reports."""

import math
from fractions import Fraction

import pytest

import exactdp
from exactdp import OutOfTimeError, ParameterError, time_limit

pytestmark = pytest.mark.contract


def _largest(text, claim, find="epsilon0"):
    found = exactdp.calibrate(text, claim, find=find)
    assert found.verified.verified and found.refuted.refuted
    assert found.value < found.neighbour
    return found


@pytest.mark.parametrize(
    ("text", "bound"), [("unary-encoding", 600), ("one-bit-mean", 5000), ("unary-encoding", "1e-9"),
                        ("one-bit-mean", "0.7"), ("randomized-response:categories=4", "0.7")]
)  # fmt: skip
def test_the_largest_epsilon_of_one_report_is_the_claimed_one(text, bound):
    goal = Fraction(bound)
    found = _largest(text, f"pure:{bound}")
    assert found.value <= goal < found.neighbour <= goal * Fraction(1001, 1000)


def test_at_a_delta_it_is_that_of_the_closed_form():
    """delta = (e^e0 - e^epsilon)/(e^e0 + 1)."""
    found = _largest("randomized-response", "approx:1,0.01")
    truth = math.log((math.exp(1) + 0.01) / 0.99)
    assert found.value <= truth <= found.neighbour <= 1.0002 * truth


@pytest.mark.slow
def test_shuffled_reports_may_tell_more():
    found = _largest("randomized-response:categories=3,shuffled=1000", "approx:0.3,1e-6")
    assert found.value > 1 and found.neighbour < Fraction(101, 100) * found.value


@pytest.mark.slow
def test_the_largest_range_of_losses():
    """Of pure epsilon it is that epsilon; rho is at most epsilon^2/8."""
    for claim, least in (("pure:0.7", 0.7), ("zcdp:0.1", math.sqrt(0.8))):
        found = _largest("exponential", claim, None)
        assert 0.9999 * least <= found.value < found.neighbour <= 1.01 * least


def test_in_too_little_time_it_tells_what_it_knows():
    with time_limit(0), pytest.raises(OutOfTimeError, match="the time"):
        exactdp.calibrate("randomized-response:shuffled=1000", "approx:1,1e-6", find="epsilon0")


@pytest.mark.parametrize(
    ("text", "sensitivity", "claim"),
    [
        ("discrete-laplace", None, "pure:1"),
        ("randomized-response:epsilon=1", None, "pure:1"),
        ("randomized-response", "2", "pure:1"),
        ("subset-selection:categories=5", None, "pure:1"),
        ("randomized-response:shuffled=0", None, "pure:1"),
        ("one-bit-mean", None, "approx:20000,0.5"),
    ],
)
def test_what_cannot_be_found_is_refused(text, sensitivity, claim):
    with pytest.raises(ParameterError):
        exactdp.calibrate(text, claim, sensitivity, find="epsilon0")
