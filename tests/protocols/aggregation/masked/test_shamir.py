"""Shamir's secret sharing: known answers, any threshold shares, nothing from fewer."""

import random
from itertools import combinations

import pytest
import sympy

from exactdp import ParameterError
from exactdp.mechanisms.samplers.bits import SeededBits
from exactdp.protocols.aggregation.masked.keys import PRIME, combine, split


class Fixed:
    """Bits that spell these numbers."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def take(self, count):
        return self.numbers.pop(0)


def test_the_field_is_the_largest_below_2_to_257():
    assert sympy.isprime(PRIME)
    assert not any(sympy.isprime(PRIME + step) for step in range(1, 93))


def test_known_answers():
    # Shamir's construction by hand: 1234 + 166 x + 94 x^2.
    shares = split(1234, 3, range(1, 7), Fixed(94, 166))
    assert shares == {1: 1494, 2: 1942, 3: 2578, 4: 3402, 5: 4414, 6: 5614}
    assert combine({2: 1942, 4: 3402, 5: 4414}) == 1234
    top = 2**256 - 1
    assert split(top, 2, [1, 3], Fixed(PRIME, PRIME + 5, PRIME - 1)) == {1: top - 1, 3: top - 3}


def test_every_threshold_of_the_shares_gives_the_secret_and_no_fewer():
    secret = 2**256 - 12345
    shares = split(secret, 3, range(1, 7), SeededBits(1))
    for chosen in combinations(shares.items(), 3):
        assert combine(dict(chosen)) == secret
    for chosen in combinations(shares.items(), 2):
        assert combine(dict(chosen)) != secret
    assert combine(shares) == secret  # of all of them as well


def test_fewer_fit_every_secret_equally_well():
    # For any two shares and any secret exactly one third share completes them.
    shares = split(7, 3, (1, 2, 3), SeededBits(2))
    del shares[3]
    for secret in (0, 7, 2**256 - 1):
        # Lagrange at 3 of the parabola through (0, secret) and the two shares.
        third = (secret - 3 * shares[1] + 3 * shares[2]) % PRIME
        assert combine({**shares, 3: third}) == secret


def test_against_interpolation_by_fractions():
    draw = random.Random(3)
    points = draw.sample(range(1, 60), 17)
    coefficients = [draw.randrange(PRIME) for _ in range(17)]
    shares = {x: sum(c * x**i for i, c in enumerate(coefficients)) % PRIME for x in points}
    assert combine(shares) == coefficients[0]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((2**256, 1, [1]), "secret"),
        ((-1, 1, [1]), "secret"),
        ((1, 0, [1]), "threshold"),
        ((1, 3, [1, 2]), "threshold"),
        ((1, 1, [0, 1]), "points"),
        ((1, 1, [1, 1]), "points"),
        ((1, 1, [PRIME]), "points"),
    ],
)
def test_bad_input_is_named(arguments, named):
    with pytest.raises(ParameterError, match=named):
        split(*arguments, SeededBits(0))
