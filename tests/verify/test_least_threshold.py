"""`calibrate --find threshold`: against the closed form of what a user alone shows."""

import math

import pytest

import exactdp
from exactdp import ParameterError

pytestmark = pytest.mark.contract


@pytest.mark.parametrize(("keys", "scale", "delta"), [(1, 2, 1e-6), (2, 3, 1e-6), (5, 1, 1e-9)])
def test_the_least_threshold_is_that_of_the_closed_form(keys, scale, delta):
    """At an epsilon that the noise of all keys alone meets, only keys that nobody shares count."""
    spec = f"discrete-laplace:scale={scale},keys={keys}"
    found = exactdp.calibrate(spec, f"approx:{keys},{delta:.0e}", find="threshold")

    def shown(threshold: int) -> float:
        alone = math.exp(-(threshold - 1) / scale) / (1 + math.exp(-1 / scale))
        return -math.expm1(keys * math.log1p(-alone))

    least = next(k for k in range(1, 1000) if shown(k) <= delta)
    assert (found.value, found.neighbour) == (least, least - 1)
    assert found.verified.verified and found.refuted.refuted


@pytest.mark.parametrize(
    ("text", "sensitivity", "claim", "told"),
    [
        ("discrete-laplace:scale=2,threshold=5", None, "approx:1,1e-6", "threshold"),
        ("discrete-laplace:scale=2,sensitivity=2", "2", "approx:1,1e-6", "sensitivity"),
        ("randomized-response:epsilon=1", None, "approx:1,1e-6", "threshold"),
        ("discrete-laplace:scale=2,keys=0", None, "approx:1,1e-6", "keys"),
        ("discrete-laplace:scale=2", None, "approx:0.1,1e-6", "no threshold"),
        ("discrete-laplace:scale=2", None, "approx:1,0.9", "every threshold"),
    ],
)
def test_what_cannot_be_found_is_refused(text, sensitivity, claim, told):
    with pytest.raises(ParameterError, match=told):
        exactdp.calibrate(text, claim, sensitivity, find="threshold")
