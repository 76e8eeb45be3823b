"""Draws of a law: integers of any size, reproducible from a seed, and what is refused."""

import ast
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sampler_fit import fit_low_bits

from exactdp import ParameterError
from exactdp.exact.number import Logarithm
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    Polya,
    PolyaDifference,
    RandomizedResponse,
)
from exactdp.mechanisms.laws.skellam import poisson_envelope
from exactdp.mechanisms.samplers import (
    SeededBits,
    SimulatedInt,
    SimulationError,
    SystemBits,
    Table,
    draw,
    release,
    rounded,
    share_of_noise,
    simulated_release,
)
from exactdp.mechanisms.samplers.coins import below, bernoulli, coin_exp
from exactdp.mechanisms.samplers.geometric import (
    discrete_gaussian_ratio,
    discrete_laplace,
    geometric,
)

HUGE = Fraction(10**30, 7)


@pytest.mark.parametrize(
    ("one", "typical"),
    [
        (lambda bits: discrete_laplace(HUGE, bits), HUGE),
        (lambda bits: geometric(HUGE, bits), HUGE),
        (lambda bits: discrete_gaussian_ratio(*(HUGE**2).as_integer_ratio(), bits), HUGE),
        (poisson_envelope(HUGE).draw, HUGE),
        (poisson_envelope(HUGE**2 / 2).difference, HUGE),
        (Binomial(10**60, "1/3").sampler(), Fraction(10**60, 3)),
        (Binomial(10**60, Logarithm(Fraction(2))).sampler(), Fraction(10**60)),
        (PolyaDifference("1e15", "1e15").sampler(), Fraction(10**22)),
        (lambda bits: below(3 * 10**30, bits), HUGE),
    ],
)
def test_no_float_is_large_enough_for_these(one, typical):
    """Outcomes far beyond 2^53 whose last digits are still uniform: no float stood in between."""
    bits = SeededBits(3)
    draws = [one(bits) for _ in range(1200)]
    assert typical / 100 < max(map(abs, draws)) < typical * 100
    assert sum(abs(x) > 2**60 for x in draws) > 1100
    assert fit_low_bits(draws).passes


def test_probabilities_that_floats_cannot_tell_from_0_and_1():
    bits = SeededBits(4)
    for p in (Fraction(1, 10**400), 1 - Fraction(1, 10**400)):
        assert {bernoulli(p, bits) for _ in range(300)} == {p > Fraction(1, 2)}
    assert all(coin_exp(1, 10**400, bits) for _ in range(300))
    assert not any(coin_exp(10**9, 1, bits) for _ in range(300))
    assert poisson_envelope(Fraction(1, 10**300)).draw(bits) == 0
    assert Polya("1e-9", "1e15").sampler()(bits) == 0
    assert Binomial(10**9, Fraction(1, 10**300)).sampler()(bits) == 0
    assert rounded(Fraction(10**50 - 1, 10**50), 1, bits) == 1
    assert DiscreteGaussian(Fraction(1, 10**6)).sampler()(bits) == 0


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda bits: bernoulli("1.01", bits), "probability"),
        (lambda bits: geometric(Fraction(0), bits), "scale"),
        (lambda bits: discrete_laplace(Fraction(-1), bits), "scale"),
        (lambda bits: draw(Binomial(3, Logarithm(Fraction(3))), bits, 1), "probability"),
        (lambda bits: rounded(1.5, 3, bits), "reward"),
        (lambda bits: rounded(0.5, 0, bits), "precision"),
        (lambda bits: draw(DiscreteLaplace(1), bits, -1), "size"),
        (lambda bits: Table((Fraction(1, 2),)), "masses"),
        (lambda bits: release(RandomizedResponse(1), 2)(bits), "query"),
        (lambda bits: share_of_noise(RandomizedResponse(1), 2), "noise"),
    ],
)
def test_what_is_refused_is_named(call, named):
    with pytest.raises(ParameterError, match=named):
        call(SeededBits(1))


def test_what_a_mechanism_releases():
    bits = SeededBits(5)
    plain = simulated_release(AdditiveNoise(DiscreteLaplace(2)), 10**30)
    assert all(abs(plain(bits) - 10**30) < 100 for _ in range(50))
    wrapped = simulated_release(AdditiveNoise(DiscreteLaplace(2), 1, 5), 12)
    assert {wrapped(bits) for _ in range(300)} == set(range(5))
    share = simulated_release(share_of_noise(AdditiveNoise(DiscreteLaplace(2), 1, 5), 2))
    assert {share(bits) for _ in range(300)} == set(range(5))
    answered = simulated_release(RandomizedResponse(0, "1/2"), 1)
    assert 620 < sum(answered(bits) for _ in range(1000)) < 880  # 3/4, 9 deviations
    certain = simulated_release(RandomizedResponse(10_000), 1)
    assert {certain(bits) for _ in range(50)} == {1}
    pair = FinitePair(("a", "b"), (1, 0), ("1/2", "1/2"))
    assert simulated_release(pair)(bits) == "a"
    assert {simulated_release(pair, 1)(bits) for _ in range(50)} == {"a", "b"}
    with pytest.raises(ParameterError, match="slack"):
        simulated_release(FinitePair(("a", "b"), ("1/2", "0.499"), ("1/2", "1/2"), "0.01"))


def test_a_seed_s_bits_reach_no_release():
    class Own:
        def take(self, count):
            return 0

    noisy = AdditiveNoise(DiscreteLaplace(2), 1, 5)
    pair = FinitePair(("a", "b"), (1, 0), ("1/2", "1/2"))
    for one in (release(noisy), release(share_of_noise(noisy, 2)), release(RandomizedResponse(1)),
                release(pair)):  # fmt: skip
        for bits in (SeededBits(1), Own(), None, np.random.default_rng(1)):
            with pytest.raises(SimulationError, match=r"bits must be SystemBits\(\) for a release"):
                one(bits)
        one(SystemBits())
    assert issubclass(SimulationError, ParameterError)


def test_integers_drawn_from_a_seed_are_marked():
    one = simulated_release(AdditiveNoise(DiscreteLaplace(2), 1, 5), 3)
    drawn = one(SeededBits(1))
    assert type(drawn) is SimulatedInt
    assert (repr(drawn), str(drawn), f"{drawn}") == (
        f"SimulatedInt({drawn + 0})",
        *2 * (str(drawn + 0),),
    )
    assert type(one(SystemBits())) is int


def test_no_float_is_written_in_the_exact_samplers():
    """No float is made or imported between the bits and the outcome, `simulated` apart."""
    folder = Path(import_module("exactdp.mechanisms.samplers").__file__).parent
    checked = [file for file in folder.glob("*.py") if file.stem not in ("bits", "simulated")]
    drawing = "selection/chosen local/reports specs/released laws/arrays"
    checked += [folder.parent / f"{name}.py" for name in drawing.split()]
    assert len(checked) >= 8
    for file in checked:
        for node in ast.walk(ast.parse(file.read_text())):
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), file
            assert not (isinstance(node, ast.Call) and ast.unparse(node.func) == "float"), file
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                named = getattr(node, "module", None) or node.names[0].name
                integers = ("numpy",) if file.stem == "arrays" else ()  # arrays of 64-bit words
                barred = {"numpy", "random", "scipy", "mpmath"} - {*integers}
                assert named.split(".")[0] not in barred, file
