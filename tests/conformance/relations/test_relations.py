"""Every relation on drawn cases: a few of each here, 350 of each by `make relations`."""

from fractions import Fraction

import pytest
from conformance.relations.all import RELATIONS, SEARCHES
from conformance.relations.engine import AtMost, Held, Tally, examine

from exactdp import Enclosure

_QUICK, _MORE = 1, 6
_each = pytest.mark.parametrize("relation", RELATIONS, ids=lambda each: each.__name__)
_each_search = pytest.mark.parametrize("relation", SEARCHES, ids=lambda each: each.__name__)


def _hold(relation, seeds, seconds):
    tally = examine(relation, seeds, seconds, Tally())
    print(f"{relation.__name__}: {tally}")  # shown by `pytest -rA`
    assert not tally.failures, "\n".join(tally.failures)
    assert tally.counts["cases"] == len(seeds)


@pytest.mark.slow_cases("all_methods_meet", "always_there", "less_noise")
@_each
def test_a_few_cases(relation):
    _hold(relation, range(_QUICK), 0.4)


@pytest.mark.slow
def test_a_few_more_cases():
    for relation in RELATIONS:
        _hold(relation, range(_QUICK, _MORE), 0.4)


@pytest.mark.slow_cases("certificates", "least_noise")
@_each_search
def test_a_search(relation):
    _hold(relation, range(1), 5)


def test_only_what_is_certain_is_a_contradiction():
    one, two, between = (
        Enclosure(Fraction(low), Fraction(high)) for low, high in ((0, 1), (2, 3), (1, 2))
    )

    def relation(rng):
        yield from (AtMost(two, between, "touch"), AtMost(one, two, "apart"), Held(True, "so"))
        yield AtMost(two, one, "above")
        yield Held(False, "not so")

    tally = examine(relation, [0], 10, Tally())
    assert tally.counts["contradiction"] == 2
    assert tally.counts["statements"] == 5


def test_a_crash_is_a_failure_and_a_refusal_is_not():
    def crashing(rng):
        yield Held(True, "so")
        raise ZeroDivisionError

    assert examine(crashing, [0, 1], 10, Tally()).counts["crash"] == 2
