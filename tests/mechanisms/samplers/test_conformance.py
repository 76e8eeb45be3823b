"""Every sampler against the exact law that it draws from, and wrong samplers that must be found."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from sampler_fit import fit, fit_counts, fit_low_bits

from exactdp.exact.number import Logarithm
from exactdp.mechanisms import (
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    Polya,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.additive.papers import InvertedScale
from exactdp.mechanisms.laws.skellam import poisson_envelope
from exactdp.mechanisms.samplers import (
    SeededBits,
    bernoulli_real,
    draw,
)
from exactdp.mechanisms.samplers.coins import bernoulli

INVERTED = InvertedScale(Fraction(10))
LOG2 = Logarithm(Fraction(2))
LAWS = [
    *(DiscreteLaplace(scale) for scale in ("1/3", 1, 10, "22/7", 10**6, INVERTED)),
    *(DiscreteGaussian(sigma2) for sigma2 in ("1/10", 1, "7/3", 100, 10**6)),
    *(Skellam(variance) for variance in ("1/10", 1, 100, 10**6)),
    *(Polya(*law) for law in (("1/3", 10), ("1/1000", 1000), (1, 3), ("5/2", 20), (1000, 5))),
    *(PolyaDifference(*law) for law in (("9/10", 10), ("1/100", 1000), (3, 2), ("1/2", INVERTED))),
    *(DiscreteGaussianSum(*law) for law in ((5, "1/4"), (128, "1/4"), (1000, 100), (20, 2))),
    *(Binomial(*law) for law in ((1, "1/3"), (1000, "1/2"), (10**6, "1/2"), (37, "9/10"))),
    *(Binomial(1000, "1/1000"), Binomial(10**6, "1/3"), Binomial(200, LOG2)),
    FiniteLaw({-3: "1/7", 0: "2/7", 5: "1/2", 6: "1/14"}),
]
WIDE = [
    *(DiscreteLaplace(10**9), DiscreteGaussian("1e15"), Skellam("1e15"), Polya("1/2", 10**9)),
    *(PolyaDifference("9/10", 10**9), Binomial(10**14, "1/3"), DiscreteGaussianSum(10**6, 10**6)),
]
SHARED = [
    (DiscreteLaplace(10), 4),
    (DiscreteLaplace(10), 50),
    (DiscreteLaplace(INVERTED), 3),
    (PolyaDifference("9/10", 10), 9),
    (Polya("1/2", 20), 5),
    (Skellam(100), 7),
    (DiscreteGaussianSum(12, "1/4"), 12),
    (DiscreteGaussianSum(12, "1/4"), 4),
    (Binomial(1000, "1/2"), 10),
]


@pytest.mark.quick_cases(12)
@pytest.mark.slow_cases(
    "Binomial(trials=1000000, success=Fraction(1, 2))",
    "Binomial(trials=1000000, success=Fraction(1, 3))",
    "Binomial(trials=100000000000000, success=Fraction(1, 3))",
    "DiscreteGaussian(sigma2=Fraction(1, 10))",
    "DiscreteGaussian(sigma2=Fraction(1000000, 1))",
    "DiscreteGaussian(sigma2=Fraction(1000000000000000, 1))",
    "DiscreteGaussianSum(count=1000, sigma2=Fraction(100, 1))",
    "DiscreteGaussianSum(count=1000000, sigma2=Fraction(1000000, 1))",
    "DiscreteGaussianSum(count=5, sigma2=Fraction(1, 4))",
    "Polya(shape=Fraction(1, 2), scale=Fraction(1000000000, 1))",
    "PolyaDifference(shape=Fraction(9, 10), scale=Fraction(1000000000, 1))",
    "Skellam(variance=Fraction(1000000, 1))",
    "Skellam(variance=Fraction(1000000000000000, 1))",
)
@pytest.mark.parametrize("law", [*LAWS, *WIDE], ids=str)
def test_exact_draws(law):
    assert fit(law, draw(law, SeededBits(1), 12_000)).passes


@pytest.mark.slow
@pytest.mark.parametrize("law", [*LAWS, *WIDE], ids=str)
def test_many_exact_draws(law):
    assert fit(law, draw(law, SeededBits(12), 400_000)).passes
    assert fit(law, law.simulate(np.random.default_rng(12), 4_000_000)).passes


@pytest.mark.parametrize("law", WIDE, ids=str)
def test_exact_draws_fill_every_residue(law):
    draws = [x for x in draw(law, SeededBits(2), 8000) if x]
    assert fit_low_bits(draws).passes


@pytest.mark.quick_cases(12)
@pytest.mark.slow_cases(
    "Binomial(trials=100000000000000, success=Fraction(1, 3))",
    "DiscreteGaussianSum(count=1000000, sigma2=Fraction(1000000, 1))",
    "PolyaDifference(shape=Fraction(9, 10), scale=Fraction(1000000000, 1))",
)
@pytest.mark.parametrize("law", [*LAWS, *WIDE], ids=str)
def test_simulated_draws(law):
    assert fit(law, law.simulate(np.random.default_rng(1), 60_000)).passes


@pytest.mark.slow_cases(
    "DiscreteGaussianSum(count=12, sigma2=Fraction(1, 4))-12",
    "DiscreteGaussianSum(count=12, sigma2=Fraction(1, 4))-4",
    "DiscreteLaplace(scale=Fraction(10, 1))-50",
    "PolyaDifference(shape=Fraction(9, 10), scale=Fraction(10, 1))-9",
)
@pytest.mark.parametrize(("law", "users"), SHARED, ids=str)
def test_shares_and_their_sums(law, users):
    bits, rng, share = SeededBits(3), np.random.default_rng(3), law.share(users)
    one = share.sampler()
    shares = np.array([one(bits) for _ in range(1500 * users)])
    assert fit(share, shares).passes
    assert fit(law, shares.reshape(-1, users).sum(axis=1)).passes
    simulated = share.simulate(rng, 20_000 * users)
    assert fit(share, simulated).passes
    assert fit(law, simulated.reshape(-1, users).sum(axis=1)).passes
    assert fit(share, [law.share(users).sampler()(bits) for _ in range(500)]).passes


def coins(flip, probability, size=20_000):
    bits = SeededBits(4)
    heads = sum(flip(bits) for _ in range(size))
    return fit_counts([heads, size - heads], [probability, 1 - probability])


@pytest.mark.slow_cases("1.001", "2.7")
@pytest.mark.parametrize("argument", ["1.001", "3/2", 2, "2.7"])
def test_coins_of_a_probability_known_by_its_formula(argument):
    chance = Logarithm(Fraction(argument))
    assert coins(lambda bits: bernoulli_real(chance, bits), math.log(Fraction(argument))).passes


@pytest.mark.parametrize("rate", ["1/100", "1/2", 1, "17/3", 400])
def test_poisson_variables(rate):
    bits, mean = SeededBits(8), float(Fraction(rate))
    size = 12_000
    one = poisson_envelope(Fraction(rate)).draw
    draws = [one(bits) for _ in range(size)]
    cut = [x for x in range(1000) if float(_poisson(x, mean)) * size >= 25]
    low, high = cut[0], cut[-1]
    middle = [float(_poisson(x, mean)) for x in range(low, high)]
    below = float(mpmath.fsum(_poisson(x, mean) for x in range(low)))
    masses = np.array([below, *middle, 1 - sum(middle) - below])
    counts = np.bincount(np.clip(draws, low - 1, high) - low + 1, minlength=len(masses))
    kept = masses * size > 5
    assert counts[~kept].sum() <= 20
    masses[kept] /= masses[kept].sum()
    assert fit_counts(counts[kept], masses[kept]).passes


def _poisson(x, mean):
    return mpmath.exp(-mean) * mpmath.mpf(mean) ** x / mpmath.factorial(x)


# -- wrong samplers -------------------------------------------------------------------------------


@pytest.mark.slow_cases("1000")
@pytest.mark.parametrize("scale", [2, 10, 1000])
def test_the_published_scale_is_found(scale):
    """Gamma scale (1 - b)/b where b/(1 - b) is needed: as Pólya share and as the sum of shares."""
    rng, b, users = np.random.default_rng(10), math.exp(-1 / scale), 16
    rates = rng.gamma(1 / users, (1 - b) / b, (2, 3000, users))
    shares = np.subtract(*rng.poisson(rates))
    assert not fit(DiscreteLaplace(scale).share(users), shares.ravel()).passes
    assert not fit(DiscreteLaplace(scale), shares.sum(axis=1)).passes
    law = DiscreteLaplace(InvertedScale(Fraction(scale)))
    assert fit(law, shares.sum(axis=1)).passes  # it is this one
    assert not fit(DiscreteLaplace(scale), draw(law, SeededBits(10), 3000)).passes
    assert not fit(DiscreteLaplace(scale), law.simulate(rng, 3000)).passes


def test_slightly_wrong_samplers_are_found():
    rng, size = np.random.default_rng(11), 60_000
    twice_zero = rng.geometric(1 - math.exp(-1 / 3), size) - 1  # with a sign, -0 not refused
    twice_zero *= rng.choice([-1, 1], size)
    assert not fit(DiscreteLaplace(3), twice_zero).passes
    assert not fit(DiscreteGaussian(1), np.rint(rng.normal(0, 1, size))).passes
    assert not fit(
        DiscreteGaussianSum(5, "1/4"), DiscreteGaussian("5/4").simulate(rng, size)
    ).passes
    assert not fit(DiscreteLaplace(10), DiscreteLaplace("10.5").simulate(rng, size)).passes
    assert not fit(Skellam(100), DiscreteGaussian(95).simulate(rng, size)).passes
    assert not fit(Skellam(100), 1 + Skellam(100).simulate(rng, 10 * size)).passes
    assert not fit(PolyaDifference("9/10", 10), DiscreteLaplace(10).simulate(rng, size)).passes
    assert not fit_low_bits(2 * Skellam(10**6).simulate(rng, 2000)).passes
    assert not coins(lambda bits: bernoulli("0.35", bits), 1 / 3, 40_000).passes
