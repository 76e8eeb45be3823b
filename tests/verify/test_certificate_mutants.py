"""Mutants of certificates of every kind: no false one is accepted, none raises or takes long."""

import json

import pytest
from certificate_mutants import falsehood, sources, survey, tried
from certificates import edited

EACH = 300  # of each of 43: more than 12,000


def test_what_is_false_is_found_out():
    """Else the survey below could find no fault."""
    held = sources()
    for name in ("additive", "pair 2", "protocol-plain 2"):
        assert falsehood(held[name]) is None
        low = edited(held[name], ("measured",), {"lower": "0", "upper": "1e-9"})
        assert falsehood(low) is not None
    wrong = edited(held["protocol-plain 2"], ("protocol", "users"), "1000")
    assert "protocol" in falsehood(wrong)
    assert tried(json.dumps(held["pair 2"]).encode(), 5) == ("accepted", None)
    assert tried(json.dumps(wrong).encode(), 5)[0] == "not valid"


@pytest.mark.slow_cases("pair", "vector")
@pytest.mark.parametrize("name", ["pair", "additive 2", "response", "vector", "rounded 2"])
def test_no_mutant_does_what_none_may_do(name):
    found, faults = survey(name, 30, 5, 1)
    assert found.total() == 30 and not faults


@pytest.mark.slow
@pytest.mark.parametrize("name", sources())
def test_no_mutant_of_any_kind_does_what_none_may_do(name):
    found, faults = survey(name, EACH, 5, 0)
    assert found.total() == EACH and not faults
