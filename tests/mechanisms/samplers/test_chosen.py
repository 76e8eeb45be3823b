"""Counts that reach a threshold, and who is chosen: frequencies against exact probabilities."""

import itertools
import math
from collections import Counter

import pytest

from exactdp import ParameterError
from exactdp.cli.main import main
from exactdp.mechanisms.samplers import SeededBits, SystemBits
from exactdp.mechanisms.specs.released import release, simulated_release
from exactdp.mechanisms.specs.spec import parse

SIZE = 20_000


def agree(text, query, expected):
    """At a significance of 1e-6 for each outcome, about; the seed is fixed."""
    draw, bits = simulated_release(parse(text).mechanism, query), SeededBits(5)
    seen = Counter(draw(bits) for _ in range(SIZE))
    assert set(seen) <= set(expected)
    for outcome, p in expected.items():
        assert abs(seen[outcome] - SIZE * p) <= 5 * math.sqrt(SIZE * p * (1 - p)) + 1


def laplace(scale, reach=60):
    decay = math.exp(-1 / scale)
    return {x: (1 - decay) / (1 + decay) * decay ** abs(x) for x in range(-reach, reach + 1)}


def test_the_exponential_mechanism_has_its_proportions():
    scores = [0, 3, 1]
    weights = [math.exp(score / 2) for score in scores]
    agree("exponential:epsilon=1", scores, {i: w / sum(weights) for i, w in enumerate(weights)})


def test_permute_and_flip_has_its_law():
    scores, expected = [0, 3, 1], dict.fromkeys(range(3), 0.0)
    keep = [math.exp((score - 3) / 2) for score in scores]
    for order in itertools.permutations(range(3)):
        skipped = 1 / 6
        for one in order:
            expected[one] += skipped * keep[one]
            skipped *= 1 - keep[one]
    agree("permute-and-flip:epsilon=1", scores, expected)


def test_the_first_of_the_largest_wins():
    law, scores = laplace(1, 40), (1, 0)
    expected = {0: 0.0, 1: 0.0}
    for (x, p), (y, q) in itertools.product(law.items(), repeat=2):
        expected[0 if scores[0] + x >= scores[1] + y else 1] += p * q
    agree("noisy-max:scale=1,candidates=2", scores, expected)


def test_releases_take_the_systems_bits_alone():
    draw = release(parse("noisy-max:scale=1,candidates=3").mechanism, [5, 0, 900])
    assert draw(SystemBits()) == 2


@pytest.mark.parametrize(("text", "query"), [
    ("exponential:epsilon=1", 0),
    ("exponential:epsilon=1", []),
    ("exponential:epsilon=1", "12"),
    ("noisy-max:scale=1,candidates=3", [1, 2]),
    ("permute-and-flip:epsilon=1", [1, "x"]),
    ("discrete-laplace:scale=1,threshold=5", -1),
    ("laplace:scale=1,threshold=5", 3),
])  # fmt: skip
def test_queries_that_are_none_are_refused(text, query):
    with pytest.raises(ParameterError):
        release(parse(text).mechanism, query)


@pytest.mark.contract
def test_the_command_takes_a_query(capsys):
    assert main(["sample", "permute-and-flip:epsilon=9", "--size", "2", "--query", "1,900"]) == 0
    assert capsys.readouterr().out == "1\n1\n"
    assert main(["sample", "exponential:epsilon=9", "--size", "2", "--query", "1,x"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
