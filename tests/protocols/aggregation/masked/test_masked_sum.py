"""Whole rounds: the plain sum of those whose input arrived, whoever vanishes when."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import ParameterError
from exactdp.mechanisms.samplers.bits import SeededBits, SimulatedInt, SystemBits
from exactdp.protocols.aggregation import AggregationError
from exactdp.protocols.aggregation.masked import MaskedSum, Stage, graph_failure

LOOSE = {"corrupt": 0, "failure": 1}  # nothing is promised of graphs small enough to see through
STAGES = [stage for stage in Stage if stage is not Stage.DONE]
LATE = [Stage.CONFIRMATION, Stage.UNMASKING]  # the input has arrived by then
MODULI = st.one_of(
    st.integers(1, 9), st.integers(2, 2**70), st.sampled_from([3 * 2**20, 2**64, 2**64 + 1, 10**50])
)


@st.composite
def shapes(draw):
    """Users, neighbours, threshold."""
    users = draw(st.integers(2, 14))
    degrees = [*range(2, users, 2), users - 1]
    neighbours = draw(st.sampled_from(degrees))
    return users, neighbours, draw(st.integers(neighbours // 2 + 1, neighbours))


@given(shapes(), MODULI, st.integers(0, 2**32), st.data())
def test_whoever_vanishes_when(shape, modulus, seed, data):
    users, neighbours, threshold = shape
    draw = random.Random(seed)
    messages = {user: (draw.randrange(modulus), modulus - 1) for user in range(users)}
    most = neighbours - threshold  # of anyone's neighbours, if they stand together
    gone = draw.sample(range(users), data.draw(st.integers(0, most)))
    vanish = {user: data.draw(st.sampled_from(STAGES)) for user in gone}
    masked = MaskedSum(modulus, neighbours, threshold, SeededBits(seed), dropout=len(gone), **LOOSE)
    played = masked.play(messages, vanish)
    there = {user for user in messages if user not in gone or vanish[user] in LATE}
    assert played.summed == there
    columns = zip(*(messages[user] for user in there), strict=True)
    assert played.sums == tuple(sum(column) % modulus for column in columns)
    for stage in STAGES:
        left = sum(when.value <= stage.value for when in vanish.values())
        assert played.present[stage] == users - left


@pytest.mark.parametrize("stage", STAGES)
def test_too_few_remain(stage):
    messages = dict.fromkeys(range(12), 1)
    vanish = dict.fromkeys(range(6), stage)
    with pytest.raises(AggregationError, match=r"\d+ of .* needed"):
        MaskedSum(100, 8, 7, SeededBits(5), dropout=10, **LOOSE).aggregate(messages, vanish)


def test_the_threshold_is_exact():
    messages = dict.fromkeys(range(9), 3)
    masked = MaskedSum(101, 8, 6, SeededBits(6), dropout=7, **LOOSE)
    for stage in STAGES:
        assert masked.aggregate(messages, dict.fromkeys((0, 1), stage)) in (21, 27)
        with pytest.raises(AggregationError, match=r"6 of 9 users|5 of the 8 neighbours"):
            masked.aggregate(messages, dict.fromkeys((0, 1, 2), stage))


def test_all_neighbours_of_one_user_vanish():
    # An ordinary user then cannot be unmasked, and must not be: the sum would be its message.
    messages = dict.fromkeys(range(20), 1)
    masked = MaskedSum(100, 2, 2, SeededBits(7), dropout=1, **LOOSE)
    with pytest.raises(AggregationError, match=r"of the 2 neighbours of user \d+ .*2 are needed"):
        masked.aggregate(messages, {3: Stage.INPUT})


def test_the_defaults_are_the_operating_systems_bits_and_what_the_failure_asks_for():
    first, second = (
        MaskedSum("7", dropout=8).play(dict.fromkeys(range(40), (3,))) for _ in range(2)
    )
    assert first.sums == second.sums == (120 % 7,)
    terms = first.terms
    assert (terms.dropout, terms.floor, terms.corrupt) == (8, 32, 4)
    risk = graph_failure(40, terms.neighbours, terms.threshold, 4, 8)
    assert risk.lying_server.at_most(terms.failure)
    assert risk.aborted.at_most(Fraction(1, 10**6))
    assert terms.round_id != second.terms.round_id
    assert not first.simulated


def test_nobody_may_vanish_unless_the_terms_say_so():
    messages = dict.fromkeys(range(12), 1)
    assert MaskedSum(100, 11).aggregate(messages, {3: Stage.UNMASKING}) == 12
    with pytest.raises(AggregationError, match=r"11 of 12 users .* at least 12 are needed"):
        MaskedSum(100, 11).aggregate(messages, {3: Stage.INPUT})


def test_sums_from_a_seed_are_marked():
    messages = dict.fromkeys(range(5), 1)
    for bits, marked in ((SeededBits(1), True), (SystemBits(), False), (None, False)):
        found = MaskedSum(100, bits=bits).aggregate(messages)
        assert found == 5
        assert (type(found) is SimulatedInt) == marked
        played = MaskedSum(100, bits=bits).play(dict.fromkeys(range(5), (1,)))
        assert played.simulated == marked


@pytest.mark.parametrize(
    ("shape", "named"),
    [
        ({"neighbours": 32, "threshold": 22}, "failure is stated as at most 1e-09.*up to 1"),
        ({"neighbours": 8}, "failure"),
        ({"dropout": 120}, "dropout = 120 and corrupt = 20 are too many of 200 users"),
        ({"corrupt": 185}, "too many"),
        ({"failure": 0}, "failure"),
    ],
)
def test_rounds_that_miss_the_failure_probability_are_refused(shape, named):
    with pytest.raises(ParameterError, match=named):
        MaskedSum(100, **{"dropout": 10, **shape}).aggregate(dict.fromkeys(range(200), 1))


@pytest.mark.parametrize(
    ("arguments", "messages", "vanish", "named"),
    [
        ((0,), {0: 0, 1: 0}, {}, "modulus"),
        ((5,), {0: 0, 1: 5}, {}, "message of user 1"),
        ((5,), {0: True, 1: 1}, {}, "message of user 0"),
        ((5,), {0: 1}, {}, "users"),
        ((5,), {-1: 1, 2: 1}, {}, "users"),
        ((5, 3), dict.fromkeys(range(9), 1), {}, "neighbours"),
        ((5, 8, 4), dict.fromkeys(range(9), 1), {}, "threshold"),
        ((5, 8, 9), dict.fromkeys(range(9), 1), {}, "threshold"),
        ((5,), {0: 0, 1: 0}, {2: Stage.KEYS}, "vanish"),
    ],
)
def test_bad_input_is_named(arguments, messages, vanish, named):
    with pytest.raises(ParameterError, match=named):
        MaskedSum(*arguments).aggregate(messages, vanish)


def test_messages_are_of_one_length():
    with pytest.raises(ParameterError, match="one length"):
        MaskedSum(5).play({0: (1,), 1: (1, 2)})


@pytest.mark.parametrize("length", [1, 2])
def test_vectors_may_be_of_one_number_and_not_of_none(length):
    made = {user: lambda user=user: np.full(length, user, dtype=np.uint64) for user in range(5)}
    masked = MaskedSum(2**16, 4, 3, SeededBits(1), **LOOSE)
    assert [*masked.play_vectors(made, length).sums] == [10] * length
    with pytest.raises(ParameterError, match="length"):
        masked.play_vectors(made, 0)
