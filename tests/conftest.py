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
    Of a test with `quick_cases` so many, far apart, are quick; `make slow` runs all of them.
    """
    many: dict[str, list[pytest.Item]] = {}
    few: dict[str, list[pytest.Item]] = {}
    for item in items:
        test, named = item.nodeid.partition("[")[0], item.get_closest_marker("slow_cases")
        if named and item.callspec.id in named.args:
            item.add_marker(pytest.mark.slow)
        if not item.get_closest_marker("slow"):
            if item.get_closest_marker("quick_cases"):
                few.setdefault(test, []).append(item)
        elif item.nodeid.startswith(_THEOREMS):
            item.add_marker(pytest.mark.marathon)  # Coq compiles the library: make kernel as well
        elif not item.nodeid.startswith((_SWEEPS, *_WHOLE)):
            many.setdefault(test, []).append(item)
    for each in many.values():
        _mark(each, {0, len(each) // 2, len(each) - 1}, pytest.mark.marathon)
    for each in few.values():
        (count,) = each[0].get_closest_marker("quick_cases").args
        kept = {len(each) * (2 * k + 1) // (2 * count) for k in range(count)}
        _mark(each, kept, pytest.mark.slow)


def _mark(cases, kept, mark):
    for index, item in enumerate(cases):
        if index not in kept:
            item.add_marker(mark)


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(DIGITS):
        yield
