"""The six variants of the sparse vector technique, as Lyu, Su and Li print them, by brute force.

Every noise of a window is tried, and the algorithm played as it is written; what a window leaves
out is charged. Nothing of exactdp is asked for the truth.
"""

import math
from collections import Counter
from functools import cache

import pytest
from sampler_fit import fit_counts

from exactdp import ParameterError
from exactdp.mechanisms.samplers import AboveThreshold, SeededBits, release, simulated_release
from exactdp.mechanisms.selection.sparse_vector import SparseVector
from exactdp.mechanisms.specs.spec import parse

VARIANTS = (1, 2, 3, 4, 5, 6)
WINDOW = 16
EPSILON = 6  # little noise, so that the window holds nearly all of it


def scales(variant, c):
    """Figure 1 of the paper, at sensitivity 1: of the threshold's noise, and of a query's."""
    first = EPSILON / 4 if variant == 4 else EPSILON / 2
    second = EPSILON - first
    own = c / first if variant == 2 else 1 / first
    return own, {1: 2 * c, 2: 2 * c, 3: c, 4: 1, 5: 0, 6: 1}[variant] / second


@cache
def law(scale):
    """Discrete Laplace noise in the window."""
    if not scale:
        return {0: 1.0}
    b = math.exp(-1 / scale)
    return {x: (1 - b) / (1 + b) * b ** abs(x) for x in range(-WINDOW, WINDOW + 1)}


@cache
def outputs(variant, c, queries):
    """The probability at least of all that may be said of these queries, and what is missing."""
    own, each = scales(variant, c)
    found = {}

    def play(place, level, left, said, mass):
        if mass < 1e-14:
            return
        if place == len(queries) or (left == 0 and variant not in (5, 6)):
            found[said] = found.get(said, 0.0) + mass
            return
        below = 0.0
        told = {}
        for x, p in law(each).items():
            seen = queries[place] + x
            if seen < level:
                below += p
            else:
                word = seen if variant == 3 else "above"
                told[word] = told.get(word, 0.0) + p
        play(place + 1, level, left, (*said, "below"), mass * below)
        for word, p in told.items():
            if variant == 2 and left > 1:
                for other, q in law(own).items():
                    play(place + 1, other, left - 1, (*said, word), mass * p * q)
            else:
                play(place + 1, level, left - 1, (*said, word), mass * p)

    for level, mass in law(own).items():
        play(0, level, c, (), mass)
    return found, 1 - sum(found.values())


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_drawn_has_the_law_of_the_algorithm(variant):
    queries, size = (0, 1, -1), 4000
    mechanism = parse(f"sparse-vector:epsilon={EPSILON},answers=2,variant={variant}").mechanism
    one, bits = simulated_release(mechanism, queries), SeededBits(11)
    seen = Counter(one(bits) for _ in range(size))
    found, missing = outputs(variant, 2, queries)
    assert missing < 1e-3 and seen.keys() <= found.keys()
    likely = {said: p for said, p in found.items() if p > 1e-3}
    counts = [
        *(seen[said] for said in likely),
        sum(seen[said] for said in found if said not in likely),
    ]
    assert fit_counts(counts, [*likely.values(), 1 - sum(likely.values())]).passes


def test_queries_are_asked_one_after_the_other():
    run = AboveThreshold(SparseVector(1000, 2), SeededBits(1))
    assert [run.ask(value) for value in (-5, 5, -5, 5)] == ["below", "above", "below", "above"]
    assert run.over
    with pytest.raises(ParameterError, match="all its answers"):
        run.ask(0)
    endless = AboveThreshold(SparseVector(1000, 1, None, 6), SeededBits(1))
    assert [endless.ask(5) for _ in range(4)] == ["above"] * 4 and not endless.over
    for query in ([], ["x"], [1.5]):
        with pytest.raises(ParameterError):
            release(SparseVector(1), query)
