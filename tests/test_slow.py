"""The list of slow cases names tests that exist."""

import re
from pathlib import Path

from conftest import SLOW

ROOT = Path(__file__).parents[1]


def test_the_list_of_slow_cases_is_of_tests_that_are_there():
    listed = SLOW.read_text(encoding="utf-8").splitlines()
    assert listed == sorted(set(listed))
    for one in listed:
        file, _, name = one.partition("::")
        function, text = name.partition("[")[0], (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"\ndef {re.escape(function)}\(", text), one
