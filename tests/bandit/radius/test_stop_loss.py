"""E (W - u)^+ against exact sums, and the domination that it is for."""

import math
import random
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from exactdp.bandit.radius.exceedance import stop_loss
from exactdp.exact.precision import enclose


def truth(users, u):
    total = sum(
        math.comb(2 * users, users + w) * (w - u) for w in range(-users, users + 1) if w > u
    )
    return Fraction(total) / 4**users


@pytest.mark.parametrize("users", [1, 2, 3, 10, 57])
def test_small_cases_exactly(users):
    found = stop_loss(users)
    for u in [Fraction(k, 3) for k in range(-3 * users - 2, 3 * users)]:
        got, expected = enclose(found.ball(u)), truth(users, u)
        assert got.lower <= expected * (1 + Fraction(1, 10**15))
        assert got.upper >= expected
        assert got.upper <= expected * (1 + Fraction(1, 10**12)) + Fraction(1, 10**15)


def test_beyond_the_table_it_is_an_upper_bound():
    users = 1000
    found = stop_loss(users)
    assert found.width < users
    for u in (found.width, found.width + 1, users - 1, users, users + 5):
        assert enclose(found.ball(Fraction(u))).upper >= truth(users, Fraction(u))


def test_large_cases_by_de_moivres_formula():
    users = 2**20
    found = stop_loss(users)
    with mpmath.workdps(40):
        for u in (0, 1, 700, 3000):
            # E (W - u)^+ = ((n+u)/2) P(W = u) - u P(W >= u), the tail by an incomplete beta
            p = mpmath.binomial(2 * users, users + u) / mpmath.mpf(4) ** users
            ratio, term, tail = mpmath.mpf(0), p, p
            for w in range(u, u + 12000):
                ratio = mpmath.mpf(users - w) / (users + w + 1)
                term *= ratio
                tail += term
            expected = mpmath.mpf(users + u) / 2 * p - u * tail
            got = enclose(found.ball(Fraction(u)))
            assert float(got.lower) * (1 - 1e-12) <= float(expected)
            assert float(got.upper) * (1 + 1e-12) >= float(expected)
            assert float(got.upper - got.lower) <= 1e-10 * float(expected)


STRETCH = 1 << 12


def test_of_many_users_it_is_the_sum():
    users = 5 * 10**6
    found, p, tail, loss = stop_loss(users), mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)
    assert found.width > STRETCH
    with mpmath.workdps(40):
        for w in range(3 * found.width, 0, -1):  # P(W = w), P(W >= w) and the loss at w - 1
            if w == 3 * found.width:
                p = mpmath.binomial(2 * users, users + w) / mpmath.mpf(4) ** users
            tail += p
            loss += tail
            p *= mpmath.mpf(users + w) / (users - w + 1)
            if w - 1 in (0, 1, 1500, STRETCH - 1, STRETCH, STRETCH + 1):
                got = enclose(found.ball(Fraction(w - 1)))
                assert float(got.lower) * (1 - 1e-12) <= loss <= float(got.upper) * (1 + 1e-12)
                assert float(got.upper - got.lower) <= 1e-10 * float(loss) + 1e-20
                near = float(found.approximately(np.float64(w - 1)))
                assert near == pytest.approx(float(loss), rel=1e-3)


def test_rewards_of_any_law_are_dominated():
    """E (sum x - sum x' - u)^+ <= E (W - u)^+ wherever the mean of x' is not below that of x."""
    chance = random.Random(1)
    for users in (1, 2):
        for _ in range(40):
            arms = []
            for _ in range(2):
                points = [Fraction(chance.randrange(5), 4) for _ in range(3)]
                weights = [chance.randrange(1, 6) for _ in range(3)]
                arms.append(
                    [(x, Fraction(w, sum(weights))) for x, w in zip(points, weights, strict=True)]
                )
            arms.sort(key=lambda law: sum(x * w for x, w in law))
            worse, better = arms
            for u in (
                Fraction(-1, 2),
                Fraction(0),
                Fraction(1, 3),
                Fraction(users) - Fraction(1, 4),
            ):
                value = Fraction(0)
                for drawn in product(*([worse] * users + [better] * users)):
                    sign = [1] * users + [-1] * users
                    difference = sum(s * x for s, (x, _) in zip(sign, drawn, strict=True))
                    weight = math.prod(w for _, w in drawn)
                    value += weight * max(difference - u, 0)
                assert value <= truth(users, u)
