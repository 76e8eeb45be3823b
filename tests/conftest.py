"""Settings for all tests: one hypothesis profile, the same examples on every machine; one
precision of mpmath, whatever other tests have set.
"""

import mpmath
import pytest
from brute_force import DIGITS
from hypothesis import HealthCheck, settings

settings.register_profile(
    "exactdp",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("exactdp")


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(DIGITS):
        yield
