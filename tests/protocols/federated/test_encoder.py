"""Vectors to integers: what is promised holds for every input, in exact integers."""

import hashlib
import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampler_fit import fit_counts
from scipy.linalg import hadamard

from exactdp import ParameterError
from exactdp.mechanisms import Skellam
from exactdp.mechanisms.additive.coordinate_rounding import fraction_bits, on_grid, squared_norm
from exactdp.mechanisms.samplers import SeededBits
from exactdp.protocols.federated import Encoding, read_rounding
from exactdp.protocols.federated.encoder import rotate, signs, unrotate

ROUNDINGS = ["stochastic", "conditional:0.6065", "conditional:1/100", "nearest"]
EXTREME = [0.0, 1e-320, 1e-160, 1e-3, 1.0, 1.0 + 2**-52, 1e10, 1e160, 1.7e308]


def squares(values):
    return sum(int(each) ** 2 for each in values)


@given(
    st.lists(
        st.sampled_from([*EXTREME, *(-x for x in EXTREME)]) | st.floats(-2, 2),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from(["1e-6", "0.3", "1", "17.25", "1e6"]),
    st.sampled_from(["0.01", "1", "1000/7"]),
    st.sampled_from(ROUNDINGS),
)
def test_no_input_is_longer_than_stated(vector, clip, scale, rounding):
    encoding = Encoding(clip, scale, len(vector), 16, rounding, b"a seed")
    fraction = fraction_bits(encoding.bound)
    y = encoding.point(vector)
    assert squares(y) <= encoding.bound**2 * 4**fraction
    found = encoding.integers(vector, SeededBits(1))
    assert squares(found) <= encoding.squared_sensitivity
    apart = [
        abs(Fraction(int(each), 2**fraction) - int(near))
        for each, near in zip(y, found, strict=True)
    ]
    assert max(apart) <= (Fraction(1, 2) if rounding == "nearest" else 1)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(("clip", "size"), [("0.5", 16), ("10", 64), ("1000", 1024)])
def test_the_bound_is_the_published_one(rounding, clip, size):
    """KLS 2021, Proposition 22, as TensorFlow Federated computes it, in floats."""
    c, root = float(clip), math.sqrt(size)
    name, _, beta = rounding.partition(":")
    expected = c + root
    if name == "conditional":
        log = math.log(1 / float(Fraction(beta)))
        likely = c**2 + size / 4 + math.sqrt(2 * log) * (c + root / 2)
        expected = min(expected, math.sqrt(likely))
    if name == "nearest":
        expected = min(c + root / 2, 2 * c)
    found = read_rounding(rounding).squared_bound(Fraction(clip), size)
    assert found == math.floor(expected**2 * (1 + 1e-12))


def test_longest_inputs_reach_their_bounds():
    """Nearest: (1/2, ..., 1/2) doubles its norm; up or down: none gets beyond c + sqrt(d)."""
    encoding = Encoding(1, 1, 4, 8, "nearest")
    assert encoding.squared_sensitivity == 4  # (2 c)^2, exactly
    values = np.full(4, 1 << (fraction_bits(Fraction(1)) - 1))
    fraction = fraction_bits(Fraction(1))
    assert squares(encoding.rounding(values, fraction, 4, SeededBits(1))) == 4


@pytest.mark.parametrize("rounding", ROUNDINGS[:3])
def test_coordinates_are_rounded_up_with_exactly_their_fraction(rounding):
    """Joint law of three coordinates, given the norm bound where there is one."""
    law, fraction, bound = read_rounding(rounding), 3, 3
    values = np.array([5, -3, 8 + 2])  # 5/8, -3/8, 5/4
    limit = law.squared_bound(Fraction(bound), 3) if law.text == "stochastic" else 3
    weights = {}
    for ups in product((0, 1), repeat=3):
        point = tuple(int(v) // 8 + up for v, up in zip(values, ups, strict=True))
        chance = math.prod(
            v % 8 / 8 if up else 1 - v % 8 / 8 for v, up in zip(values, ups, strict=True)
        )
        if squares(point) <= limit:
            weights[point] = chance
    bits = SeededBits(7)
    size = 4000
    seen = Counter(tuple(law(values, fraction, limit, bits).tolist()) for _ in range(size))
    assert seen.keys() <= weights.keys()
    masses = np.array(list(weights.values())) / sum(weights.values())
    assert fit_counts([seen[point] for point in weights], masses).passes


@pytest.mark.parametrize("beta", ["0.6065", "0.1"])
def test_first_tries_are_accepted_often_enough(beta):
    """At the worst fractions, 1/2, the share accepted is not below what the error bound charges."""
    law, size, fraction = read_rounding(f"conditional:{beta}"), 64, 1
    values = np.ones(size, dtype=np.int64)  # all 1/2: norm 4
    limit = law.squared_bound(Fraction(4), size)
    bits = SeededBits(2)
    tries = [squared_norm(law._rounded(values, fraction, bits)) <= limit for _ in range(2000)]
    assert np.mean(tries) + 0.06 >= math.exp(law.log_acceptance())
    assert math.exp(law.log_acceptance()) >= 1 - float(beta)


@given(st.lists(st.integers(-(2**47) + 1, 2**47 - 1), max_size=50))
def test_squared_norms_are_exact(values):
    assert squared_norm(np.array(values, dtype=np.int64)) == squares(values)


def test_squared_norms_of_many_large_numbers_are_exact():
    values = np.full(100_003, 2**47 - 1)
    assert squared_norm(values) == 100_003 * (2**47 - 1) ** 2


def test_a_vector_on_the_bound_is_kept_and_one_beyond_is_shortened_a_little():
    bound = Fraction(5)
    fraction = fraction_bits(bound)
    assert on_grid(np.array([3.0, 4.0]), bound, fraction).tolist() == [3 << fraction, 4 << fraction]
    found = on_grid(np.array([3.0, 4.0 + 2**-20]), bound, fraction)
    assert 25 * 4**fraction * (1 - 2**-18) < squares(found) <= 25 * 4**fraction


def test_rotation_is_hadamard_with_signs_and_turns_back():
    seed, vector = b"s", np.random.default_rng(1).standard_normal(100)
    expected = hadamard(128) @ (np.concatenate((vector, np.zeros(28))) * signs(seed, 128))
    rotated = rotate(vector, seed)
    assert np.abs(rotated - expected / math.sqrt(128)).max() < 1e-13
    assert np.abs(unrotate(rotated, seed, 100) - vector).max() < 1e-13


def test_signs_are_the_same_everywhere():
    """By SHAKE-256, not by a generator that may change: other programs can draw them too."""
    octets = hashlib.shake_256(b"exactdp rotation seed").digest(2)
    expected = [-1 if octets[i // 8] >> (i % 8) & 1 else 1 for i in range(16)]
    assert signs(b"seed", 16).tolist() == expected
    assert abs(signs(b"other", 10**5).sum()) < 2200  # 7 deviations


def test_decoding_undoes_encoding_where_nothing_wraps():
    encoding = Encoding(4, 2**14, 37, 24, "nearest", b"x")
    vectors = np.random.default_rng(2).uniform(-0.5, 0.5, (5, 37))
    total = sum(encoding.encode(each, SeededBits(1)) for each in vectors) % 2**24
    error = encoding.decode(total, 5) - vectors.mean(axis=0)
    assert np.linalg.norm(error) <= math.sqrt(64) / 2 / 2**14 * (1 + 1e-9)


def test_shares_of_noise_are_added_to_every_coordinate():
    encoding = Encoding(1, 8, 4096, 16, "nearest", b"x")
    message = encoding.encode(np.zeros(4096), SeededBits(1), Skellam(9))
    noise = message.astype(np.int64) - 2**16 * (message >= 2**15)
    assert 8 < noise.var() < 10 and abs(noise.mean()) < 0.35


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"clip": 0}, "clip"),
        ({"scale": "-1"}, "scale"),
        ({"dimension": 0}, "dimension"),
        ({"bits": 33}, "bits"),
        ({"rounding": "conditional:1"}, "rounding"),
        ({"rounding": "up"}, "rounding"),
        ({"clip": "1e12", "scale": "1e12"}, "clip times scale"),
    ],
)
def test_parameters_out_of_range(changed, named):
    given = {"clip": 1, "scale": 8, "dimension": 4, "bits": 8, "rounding": "nearest"} | changed
    with pytest.raises(ParameterError, match=named):
        Encoding(**given)


@pytest.mark.parametrize("vector", [[1.0], [1.0, math.nan], [math.inf, 0.0], [[1.0, 2.0]]])
def test_vectors_that_are_none(vector):
    with pytest.raises(ParameterError, match="vector"):
        Encoding(1, 8, 2, 8, "nearest").integers(vector, SeededBits(1))


@pytest.mark.parametrize("total", [[0, 256], [-1, 0], [0], [0.5, 0.5]])
def test_totals_that_are_none(total):
    with pytest.raises(ParameterError, match="total"):
        Encoding(1, 8, 2, 8, "nearest").decode(total, 2)
