"""`calibrate --find threshold`: against the closed form of what a user alone shows."""

from __future__ import annotations

import math

import pytest

from exactdp import ApproxDP, ParameterError
from exactdp.verify import calibrate as calibrated
from exactdp.verify.families import choose


@pytest.mark.parametrize(("keys", "scale", "delta"), [(1, 2, 1e-6), (2, 3, 1e-6), (5, 1, 1e-9)])
def test_the_least_threshold_is_that_of_the_closed_form(keys, scale, delta):
    """At an epsilon that the noise of all keys alone meets, only keys that nobody shares count."""
    family = choose(f"discrete-laplace:scale={scale},keys={keys}", None, None, None, "threshold")
    found = calibrated(family.family, ApproxDP(str(keys), f"{delta:.0e}"))

    def shown(threshold: int) -> float:
        alone = math.exp(-(threshold - 1) / scale) / (1 + math.exp(-1 / scale))
        return -math.expm1(keys * math.log1p(-alone))

    least = next(k for k in range(1, 1000) if shown(k) <= delta)
    assert (found.value, found.neighbour) == (least, least - 1)
    assert found.verified.verified and found.refuted.refuted
    assert family.spec(found.value).endswith(f"keys={keys},threshold={least}")


def test_what_cannot_be_found_is_refused():
    for text, sensitivity in (
        ("discrete-laplace:scale=2,threshold=5", None),
        ("discrete-laplace:scale=2,sensitivity=2", "2"),
        ("randomized-response:epsilon=1", None),
        ("discrete-laplace:scale=2,keys=0", None),
    ):
        with pytest.raises(ParameterError):
            choose(text, sensitivity, None, None, "threshold")
    family = choose("discrete-laplace:scale=2", None, None, None, "threshold").family
    with pytest.raises(ParameterError, match="no threshold"):
        calibrated(family, ApproxDP("0.1", "1e-6"))
    with pytest.raises(ParameterError, match="every threshold"):
        calibrated(family, ApproxDP("1", "0.9"))
