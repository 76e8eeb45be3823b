"""How narrow vectors and lists with them are: as narrow as they were, not merely right."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exactdp import Composition, Enclosure
from exactdp.accounting import compose
from exactdp.accounting.composition.vectors import sides_of
from exactdp.mechanisms.spec import parse

MANY = "discrete-gaussian:sigma2=100,l2=5,l1=15,dimension=20"
FEW = "discrete-laplace:scale=10,l2=3,l1=6"
ALONE = "skellam:variance=100,l2=2,l1=2,dimension=3"
SVT = "sparse-vector:epsilon=1,answers=2"
RESPONSE = "randomized-response:epsilon=0.1"
PLAIN = "discrete-laplace:scale=7,sensitivity=2"


def composition(*specs: str) -> Composition:
    parts = (spec.partition("*") for spec in specs)
    return compose(*((parse(spec).mechanism, int(times or 1)) for spec, _, times in parts))


FIGURES = {
    "epsilon": lambda it: it.epsilon("1e-6"),
    "delta": lambda it: it.delta("1/2"),
    "renyi": lambda it: it.renyi(3),
    "rho": lambda it: it.zcdp(),
    "mu": lambda it: it.gdp(),
}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("specs", "widths"),  # upper/lower - 1 of each figure, and a little more
    [
        ((f"{MANY}*4",), ("0.0005", "0.0012", "0", "0", "0.0004")),
        ((f"{FEW}*5", f"{RESPONSE}*2"), ("0.34", "0.71", "0.102", "0.054", "0.28")),
        ((FEW, MANY), ("0.165", "0.22", "0.026", "0.015", "0.079")),
        ((FEW, PLAIN), ("0.0002", "0.83", "0.056", "0.03", "0.165")),
        ((FEW,), ("0.0001", "9.3", "0.107", "0.057", "0.064")),
        ((ALONE,), ("1e-9", "1e-9", "1e-9", "1e-9", "1e-9")),
        ((SVT, FEW), ("0.085", "39", "6.7", "9.2", "2.5")),
    ],
)
def test_no_wider_than_they_were(specs: tuple[str, ...], widths: tuple[str, ...]) -> None:
    whole = composition(*specs)
    for (name, figure), width in zip(FIGURES.items(), widths, strict=True):
        found: Enclosure = figure(whole)
        assert found.is_within(Fraction(width)), (name, found)


def test_every_list_of_every_use_is_asked() -> None:
    """Where one has fewer lists than another, its last one goes with the rest of the other's."""
    several, one, both = (
        sides_of(composition(*each).uses) for each in ((SVT,), (FEW,), (SVT, FEW))
    )
    assert several is not None and one is not None and both is not None
    assert len(several.below) > len(one.below) > 1
    for i, uses in enumerate(both.below):
        assert uses == several.below[i] + one.below[min(i, len(one.below) - 1)]
    assert len(both.below) == len(several.below)
    assert len(both.above) == max(len(several.above), len(one.above))


def test_only_a_single_use_is_known_by_the_dearest_of_its_lists() -> None:
    """Complete: all that neighbours can do in one use, and in one use only."""
    noisy, plain = "laplace:scale=2,threshold=10,keys=2", "gaussian:sigma=3,neighbours=add-remove"
    for specs, complete in (
        ((noisy,), True),
        ((f"{noisy}*2",), False),
        ((noisy, plain), False),
        ((noisy, f"{plain}*3"), False),
        ((f"{plain}*3", noisy), False),
    ):
        sides = sides_of(composition(*specs).uses)
        assert sides is not None and sides.complete is complete, specs
