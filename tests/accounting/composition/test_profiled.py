"""A profile that is known from both sides: what is found of it holds the truth and is as near."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from attrs import frozen

from exactdp import Enclosure
from exactdp.accounting.composition.profiled import own_delta, own_epsilon, own_epsilon_below


@frozen
class _Fading:
    """delta(epsilon) = e^-epsilon, told up to this share and to what is asked."""

    gap: float = 0.0
    floor: float = 0.0  # the bound from above does not fall below it

    def delta_at_most(self, epsilon, precise):
        told = math.exp(-float(epsilon)) * (1 + self.gap) * (1 + precise)
        return min(Fraction(max(told, self.floor)), Fraction(1))

    def delta_at_least(self, epsilon, precise):
        return Fraction(math.exp(-float(epsilon)) * (1 - self.gap) * (1 - precise))

    def costs_at_most(self, epsilon, delta):
        return max(math.exp(-float(epsilon)) * (1 + self.gap / 2), self.floor) <= delta


@pytest.mark.parametrize("gap", [0.0, 1e-3, 0.2])
@pytest.mark.parametrize("epsilon", ["0.1", "2", "9"])
def test_delta(gap, epsilon):
    found = own_delta(_Fading(gap), Fraction(epsilon), Fraction(1, 10**4))
    truth = math.exp(-float(epsilon))
    assert found.lower <= truth <= found.upper
    assert float(found.upper) <= min(truth * (1 + gap + 3e-3), 1)
    assert float(found.lower) >= truth * (1 - gap - 2e-3)


@pytest.mark.parametrize("gap", [0.0, 1e-3, 0.2])
@pytest.mark.parametrize("delta", ["0.3", "0.01", "1e-5"])
def test_epsilon(gap, delta):
    truth = -math.log(float(Fraction(delta)))
    for most in (Enclosure(Fraction(1), Fraction(40)), Enclosure.infinite()):
        found = own_epsilon(_Fading(gap), Fraction(delta), most)
        assert found.lower <= truth <= found.upper
        assert float(found.upper) <= truth + gap + 0.02 * truth
        assert float(found.lower) >= truth - 2 * gap - 0.02 * truth
    assert own_epsilon_below(_Fading(gap), Fraction(delta)).contains(Fraction(truth))


def test_what_is_never_met_is_at_most_what_is_pure():
    open_one = _Fading(floor=0.5)
    found = own_epsilon(open_one, Fraction(1, 100), Enclosure(Fraction(3), Fraction(40)))
    assert found.lower <= -math.log(0.01) <= found.upper == 40
    assert own_epsilon_below(open_one, Fraction(1, 100)) == Enclosure.unknown()
