"""Draws by the array: of exactly the law, whatever the table leaves open."""

from itertools import accumulate

import numpy as np
import pytest
from attrs import evolve
from flint import ctx
from sampler_fit import fit

from exactdp.mechanisms import (
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    Polya,
    Skellam,
)
from exactdp.mechanisms.laws.arrays import draw_array, inversion, uniform_words
from exactdp.mechanisms.samplers import SeededBits

LAWS = [
    Skellam("0.3"),
    Skellam(30),
    DiscreteGaussian("0.25"),
    DiscreteGaussian("12.5"),
    DiscreteGaussianSum(4, "0.5"),
    DiscreteLaplace(3),
    Polya("0.4", 5),
    Binomial(40, "1/3"),
    FiniteLaw({-3: "1/7", 0: "2/7", 5: "1/2", 6: "1/14"}),
]
NAMED = {"ids": str}


def short(law, digits):
    """A table that leaves much open; what it asks of the law is computed once."""
    table = inversion(law, digits)
    known = {}

    def cdf(x):
        if (x, ctx.prec) not in known:
            known[x, ctx.prec] = table.cdf(x)
        return known[x, ctx.prec]

    return evolve(table, cdf=cdf)


class Constant:
    """All digits alike: the least and the largest U that begins as it does."""

    def __init__(self, ones):
        self.ones = ones

    def take(self, count):
        return (1 << count) - 1 if self.ones else 0


@pytest.mark.slow_cases(
    "False-DiscreteGaussian(sigma2=Fraction(25, 2))",
    "False-DiscreteGaussianSum(count=4, sigma2=Fraction(1, 2))",
    "True-DiscreteGaussian(sigma2=Fraction(25, 2))",
    "True-DiscreteGaussianSum(count=4, sigma2=Fraction(1, 2))",
)
@pytest.mark.parametrize("law", LAWS[:7], **NAMED)
@pytest.mark.parametrize("ones", [False, True])
def test_every_beginning_of_u_is_inverted_rightly(law, ones):
    """F(x - 1) <= U < F(x), F summed from the PMF in floats; most of the few digits are open."""
    digits = 5
    table = short(law, digits)
    first = -200 if law.support[0] is None else law.support[0]
    masses = np.exp(law.log_pmf(np.arange(first, 201)))
    cdf = dict(enumerate(accumulate(masses.tolist()), start=first))
    cdf[first - 1] = 0
    tiny = 1e-9
    for u in range(0 if first == 0 else 1, (1 << digits) - 1):  # the ends lie infinitely far out
        x = int(table._some(np.array([u], dtype=np.uint64), Constant(ones))[0])
        end = (u + ones) / 2**digits
        assert cdf[x - 1] <= end + tiny and end <= cdf[x] + tiny, (u, x)


@pytest.mark.slow_cases("Polya(shape=Fraction(2, 5), scale=Fraction(5, 1))")
@pytest.mark.parametrize("law", LAWS, **NAMED)
def test_draws_follow_the_law(law):
    assert fit(law, inversion(law).draw(SeededBits(5), 50_000)).passes


def test_the_same_digits_give_the_same_draws_by_any_table():
    """A short table keeps the digits that it has: it must not draw others in their place."""

    class Recorded:
        def __init__(self, u):
            self.u, self.left = u, 63

        def take(self, count):
            top = (self.u << max(count - self.left, 0)) >> max(self.left - count, 0)
            self.left = max(self.left - count, 0)
            self.u &= (1 << self.left) - 1
            return top

    law = Skellam(7)
    coarse, fine = short(law, 5), inversion(law, 63)
    for u in uniform_words(150, 63, SeededBits(2)):
        start = np.array([int(u) >> 58], dtype=np.uint64)
        rest = Recorded(int(u) & ((1 << 58) - 1))
        rest.left = 58
        assert coarse._some(start, rest) == fine._some(np.array([u]), SeededBits(0))


def test_too_wide_for_a_table_is_drawn_one_by_one():
    law = DiscreteGaussian(10**12)
    assert inversion(law) is None
    assert fit(law, draw_array(law, SeededBits(3), 1000)).passes
