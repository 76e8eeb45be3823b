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


_THEOREMS, _SWEEPS = "tests/verify/kernel/", "tests/cli/test_time.py"
_WHOLE = ("tests/golden/", "tests/conformance/test_conformance.py")  # `make slow` runs every row


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """`slow_cases` names those cases of a test that take seconds.

    Of a slow test with many cases `make slow` runs three, far apart; all of them `make marathon`.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        named = item.get_closest_marker("slow_cases")
        if named and item.callspec.id in named.args:
            item.add_marker(pytest.mark.slow)
        if item.nodeid.startswith(_THEOREMS) and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.marathon)  # Coq compiles the library: make kernel as well
        elif item.get_closest_marker("slow") and not item.nodeid.startswith((_SWEEPS, *_WHOLE)):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for each in cases.values():
        kept = {0, len(each) // 2, len(each) - 1}
        for index, item in enumerate(each):
            if index not in kept:
                item.add_marker(pytest.mark.marathon)


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(DIGITS):
        yield
