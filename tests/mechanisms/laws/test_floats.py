"""Draws in floats: their type, their range, and what is refused. Their laws: `test_conformance`."""

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.mechanisms import (
    Binomial,
    DiscreteLaplace,
    FiniteLaw,
    PolyaDifference,
)


def test_what_floats_cannot_hold_is_refused():
    for law in (
        DiscreteLaplace("1e15"),
        PolyaDifference("1e15", 10**3),
        Binomial(10**400, "1/2"),
        FiniteLaw({10**20: 1}),
    ):
        with pytest.raises(ParameterError, match="too wide"):
            law.simulate(np.random.default_rng(0), 3)
    assert Binomial(10**13, "1/2").simulate(np.random.default_rng(0), 3).min() > 0
