"""Batches of a protocol: both aggregations give the analyzer the same."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from scipy.stats import chisquare

from exactdp import ParameterError
from exactdp.mechanisms.additive import papers
from exactdp.mechanisms.samplers.bits import SeededBits
from exactdp.protocols.aggregation.batch import play_batch, some_of
from exactdp.protocols.aggregation.masked import Stage

PROTOCOL = papers.theorem1("0.5", 24, 1000).protocol
REWARDS = [Fraction(user % 5, 4) for user in range(24)]


def test_masks_and_the_plain_sum_agree():
    # The same seed draws the same messages; whoever sends no input is in neither sum.
    plain = play_batch(PROTOCOL, REWARDS, SeededBits(3), {}, plain=True)
    masked = play_batch(PROTOCOL, REWARDS, SeededBits(3), {})
    assert (plain.estimate, plain.truth) == (masked.estimate, masked.truth)
    assert plain.truth == sum(REWARDS)
    assert plain.summed == masked.summed == 24
    assert plain.bits == PROTOCOL.bits_per_user < masked.bits


def test_who_vanishes_late_is_in_the_sum():
    vanish = {1: Stage.INPUT, 2: Stage.CONFIRMATION, 3: Stage.UNMASKING}
    batch = play_batch(PROTOCOL, REWARDS, SeededBits(3), vanish)
    assert batch.summed == 23
    assert batch.truth == sum(REWARDS) - REWARDS[1]
    assert batch.present == {
        "KEYS": 24, "SHARES": 24, "INPUT": 23, "CONFIRMATION": 22, "UNMASKING": 21
    }  # fmt: skip


def test_who_is_gone_is_in_no_plain_sum():
    batch = play_batch(PROTOCOL, REWARDS, SeededBits(3), {1: Stage.KEYS, 2: Stage.KEYS}, plain=True)
    assert batch.truth == sum(REWARDS) - REWARDS[1] - REWARDS[2]
    assert batch.summed == 22


def test_a_float_reward_is_the_decimal_that_it_prints_as():
    batch = play_batch(PROTOCOL, [0.1] * 24, SeededBits(3), {}, plain=True)
    assert batch.truth == Fraction(24, 10)
    assert play_batch(PROTOCOL, ["0.1"] * 24, SeededBits(3), {}).truth == batch.truth


def test_a_choice_is_uniform():
    bits = SeededBits(8)
    counts = Counter(tuple(sorted(some_of(5, 2, bits))) for _ in range(3000))
    assert counts.keys() == set(combinations(range(5), 2))
    assert chisquare(list(counts.values())).pvalue > 1e-6
    assert sorted(some_of(4, 4, bits)) == [0, 1, 2, 3]
    assert some_of(4, 0, bits) == []


@pytest.mark.parametrize(
    ("protocol", "rewards", "named"),
    [
        (PROTOCOL, REWARDS[1:], "24 rewards"),
        (papers.theorem1("0.5", 24, 1000, None).protocol, REWARDS, "no modulus"),
        (papers.theorem1("0.5", 24, 1000, 9).protocol, REWARDS, "modulus must be at least"),
    ],
)
def test_bad_input_is_named(protocol, rewards, named):
    for plain in (True, False):
        with pytest.raises(ParameterError, match=named):
            play_batch(protocol, rewards, SeededBits(1), {}, plain=plain)
    with pytest.raises(ParameterError, match="count"):
        some_of(3, 4, SeededBits(1))
