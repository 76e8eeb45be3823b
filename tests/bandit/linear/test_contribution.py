"""What a user sends, and how sums of it are read."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import ParameterError
from exactdp.bandit.linear.contribution import Contribution
from exactdp.mechanisms.additive.coordinate_rounding import fraction_bits, on_grid, squared_norm
from exactdp.mechanisms.additive.reach import RoundedReach
from exactdp.mechanisms.laws import Skellam
from exactdp.mechanisms.samplers import SeededBits

NUMBERS = st.floats(-1, 1, allow_nan=False)


def _in_ball(values):
    vector = np.array(values)
    return vector / max(1.0, float(np.linalg.norm(vector)))


@given(st.lists(NUMBERS, min_size=1, max_size=6), st.floats(0, 1))
def test_what_is_sent_is_read_back_and_is_no_longer_than_it_may_be(values, reward):
    context = _in_ball(values)
    one = Contribution(len(values), 64, 40)
    sent = one.vectors(context[None], np.array([reward]))
    assert sent.shape == (1, one.size)
    assert float(np.linalg.norm(sent)) <= 64 * (1 + 1e-12)
    gram, rewards = one.unscaled(sent[0] / 64)
    assert np.allclose(gram, np.outer(context, context), atol=1e-14)
    assert np.allclose(rewards, (2 * reward - 1) * context, atol=1e-14)


def test_the_norm_is_reached_by_a_context_of_norm_1():
    one = Contribution(3, 32, 40)
    context = np.array([[0.6, 0.0, 0.8]])
    assert np.linalg.norm(one.vectors(context, np.ones(1))) == pytest.approx(32, rel=1e-12)


@given(
    st.lists(st.floats(-1e300, 1e300, allow_nan=False), min_size=1, max_size=4),
    st.floats(0, 1),
    st.integers(0, 3),
)
def test_no_input_makes_a_longer_vector(values, reward, seed):
    """The point that is rounded, in exact integers, and what it is rounded to."""
    one = Contribution(len(values), 16, 30)
    found = one.integers(values, reward, SeededBits(seed))
    assert squared_norm(found) <= RoundedReach(16, one.size, "stochastic").largest_square
    bits = fraction_bits(Fraction(16))
    context = np.array(values) / max(1.0, float(np.abs(values).max()))
    point = on_grid(one.vectors(context[None], np.array([reward]))[0], Fraction(16), bits)
    assert squared_norm(point) <= 16**2 * 4**bits
    assert np.abs(found - point / 2.0**bits).max() < 1


def test_messages_add_up_to_matrix_and_vector():
    rng, bits = np.random.default_rng(0), SeededBits(0)
    one, users, share = Contribution(3, 1 << 12, 30), 40, Skellam(variance=4)
    contexts = rng.standard_normal((users, 3))
    contexts /= np.linalg.norm(contexts, axis=1)[:, None]
    rewards = rng.integers(2, size=users).astype(float)
    total = np.zeros(one.size, dtype=np.uint64)
    for context, reward in zip(contexts, rewards, strict=True):
        total += one.message(context, reward, bits, share)
    gram, vector = one.read(total & np.uint64(one.modulus - 1))
    assert np.array_equal(gram, gram.T)
    off = 100 / 2**12  # 6 deviations of noise and rounding, by 3/5
    assert np.allclose(gram, contexts.T @ contexts, atol=off)
    assert np.allclose(vector, contexts.T @ (2 * rewards - 1), atol=off)


@pytest.mark.parametrize(
    ("context", "reward", "named"),
    [([1, 2], 1, "context"), ([np.nan], 1, "context"), ([1], 1.5, "reward"), ([1], -1, "reward")],
)
def test_what_is_no_user_is_refused(context, reward, named):
    with pytest.raises(ParameterError, match=named):
        Contribution(1, 16, 30).integers(context, reward, SeededBits(0))


@pytest.mark.parametrize("values", [(0, 1, 8), (65, 1, 8), (1, 0, 8), (1, 1, 60)])
def test_what_is_out_of_range_is_refused(values):
    with pytest.raises(ParameterError):
        Contribution(*values)
