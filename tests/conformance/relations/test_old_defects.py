"""The relations find defects that answers have had: each is put back, and must be contradicted."""

from fractions import Fraction

import pytest
from conformance.relations.accounts import returning_user
from conformance.relations.engine import Tally, examine
from conformance.relations.ladders import all_methods_meet
from conformance.relations.least import least_noise
from conformance.relations.monotone import sensitivity_grows
from conformance.relations.notions import inverse
from conformance.relations.slack import members
from conformance.relations.truths import files
from conformance.relations.vectors import part_of_a_vector

from exactdp.accounting import solve
from exactdp.accounting.losses.product import Product
from exactdp.accounting.participation.choices import Choices
from exactdp.losses.lattice import Charged
from exactdp.mechanisms import AdditiveNoise
from exactdp.mechanisms.additive.reach import Reach
from exactdp.verify import calibration


def only_the_largest_shift(monkeypatch):
    """Reduced mod m, the full sensitivity was taken for the worst shift."""
    every = AdditiveNoise.pairs

    def pairs(self):
        found = list(every(self))
        if self.modulus is None or not found:
            return found
        farthest = self.sensitivity % self.modulus
        shift = min(farthest, self.modulus - farthest)
        return [pair for pair in found if getattr(pair, "shift", shift) == shift] or found[-1:]

    monkeypatch.setattr(AdditiveNoise, "pairs", pairs)


def each_use_its_worst_way(monkeypatch):
    """Pure epsilon and Rényi divergences added up directions that no two datasets have at once."""
    monkeypatch.setattr(solve, "dearest", lambda uses: (tuple(uses),))


def no_slack_of_several_uses(monkeypatch):
    """Of two uses or more, what the file says was taken for certain whatever its slack."""
    charges = Product.charges

    def of_one_use(self):
        several = sum(factor.times for factor in self.factors) > 1
        return Charged() if several else charges(self)

    monkeypatch.setattr(Product, "charges", of_one_use)


def the_first_crossing(monkeypatch):
    """The least noise was where one bisection ended."""
    monkeypatch.setattr(calibration, "_walked", lambda costs, cover, edge, side: edge)


def dearest_by_pure_epsilon(monkeypatch):
    """A returning user was charged for the batches of largest pure epsilon, also at a delta."""

    def epsilon(self, delta, width=Fraction(1, 10**6)):
        pure = [offer.composition.pure().upper for offer in self.offers]
        order = sorted(range(len(pure)), key=pure.__getitem__)[::-1]
        return self._chosen(order).epsilon(delta, width)

    monkeypatch.setattr(Choices, "epsilon", epsilon)


def a_direction_cut_short(monkeypatch):
    """The dearest of vectors whose coordinates move by 1 was taken to have 64 of them at most."""

    def dearest(self):
        return {1: min(64, self.largest_sum)} if self.farthest == 1 else None

    monkeypatch.setattr(Reach, "dearest", dearest)


@pytest.mark.slow_cases("each_use_its_worst_way-files-seeds1")
@pytest.mark.parametrize(
    ("put_back", "relation", "seeds"),
    [
        (only_the_largest_shift, sensitivity_grows, range(100, 110)),
        (each_use_its_worst_way, files, range(20)),
        (no_slack_of_several_uses, members, range(4)),
        (a_direction_cut_short, part_of_a_vector, (23, 31, 47)),
        (a_direction_cut_short, all_methods_meet, [126]),
        pytest.param(the_first_crossing, least_noise, [129], marks=pytest.mark.slow),
        pytest.param(dearest_by_pure_epsilon, returning_user, [1275], marks=pytest.mark.slow),
    ],
)
def test_a_defect_that_is_put_back_is_contradicted(monkeypatch, put_back, relation, seeds):
    put_back(monkeypatch)
    for seed in seeds:
        if examine(relation, [seed], 60, Tally()).counts["contradiction"]:
            return
    pytest.fail(f"{relation.__name__} finds nothing")


def test_a_lattice_that_no_float_chooses_is_left_to_the_other_way():
    """All losses but those of weight 1e-9 are infinite: seed 26 ended with a ValueError."""
    tally = examine(inverse, [26], 60, Tally())
    assert not tally.failures and tally.counts["statements"]
