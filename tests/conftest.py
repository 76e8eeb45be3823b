"""Settings for all tests: one hypothesis profile, the same examples on every machine; one
precision of mpmath, whatever other tests have set.
"""

from pathlib import Path

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


_THEOREMS = "tests/verify/kernel/"
SLOW = Path(__file__).with_name("slow.txt")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests that were measured to take seconds are listed, in place of a mark at each case."""
    slow = set(SLOW.read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)
        if item.nodeid.startswith(_THEOREMS) and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.marathon)  # Coq compiles the library: make kernel as well


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(DIGITS):
        yield
