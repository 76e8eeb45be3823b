"""Noise seen by bins: masses against sums of the PMF, and never dearer than seen as it is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exactdp.accounting import compose
from exactdp.accounting.composition.binned import binned
from exactdp.mechanisms import AdditiveNoise
from exactdp.mechanisms.laws import DiscreteGaussian, DiscreteLaplace, Law, Skellam
from exactdp.mechanisms.mechanism import OneWay

CASES = [
    (DiscreteGaussian(400), 7, None),
    (Skellam(400), 5, 101),
    (DiscreteLaplace(20), 9, 333),
]


@pytest.mark.slow
@pytest.mark.parametrize(("law", "shift", "modulus"), CASES, ids=str)
def test_it_costs_a_little_less(law: Law, shift: int, modulus: int | None) -> None:
    seen = OneWay(binned(law, shift, modulus))
    one = AdditiveNoise(law, shift, modulus)
    for epsilon in ("0", "0.3"):
        full, found = compose(one).delta(epsilon), compose(seen).delta(epsilon)
        assert Fraction(full.lower) * Fraction(9, 10) <= found.lower <= full.upper


@pytest.mark.parametrize(("law", "shift", "modulus"), CASES[:1], ids=str)
def test_both_ways_round_are_the_same(law: Law, shift: int, modulus: int | None) -> None:
    pair = binned(law, shift, modulus)
    assert sorted(zip(pair.p, pair.q, strict=True)) == sorted(zip(pair.q, pair.p, strict=True))
    assert 0 <= 1 - sum(pair.p) <= pair.slack


def test_masses_are_those_of_bins() -> None:
    law, modulus = Skellam(400), 101
    pair = binned(law, 5, modulus)
    masses = [sum(law.pmf(x + k * modulus) for k in range(-3, 4)) for x in range(modulus)]
    left = sorted(pair.q)
    step = 20 // 6
    edges = sorted({*range(3, 3 + 49 + 1, step), *(6 - e for e in range(3, 3 + 49 + 1, step))})
    found = sorted(
        sum(masses[x % modulus] for x in range(low, high))
        for low, high in zip(edges, [*edges[1:], edges[0] + modulus], strict=True)
    )
    for one, other in zip(left, found, strict=True):
        assert float(one) == pytest.approx(float(other), rel=1e-12)
