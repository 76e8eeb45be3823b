"""What lattices, coarse or fine, and what is exact tell are of one number: they meet."""

import random
from collections.abc import Iterator
from fractions import Fraction

from conformance.relations.draw import EPSILONS, level, scenario
from conformance.relations.engine import Statement, composition_of, equal

from exactdp.accounting.composition.together import narrowly
from exactdp.accounting.figure import Figure
from exactdp.accounting.losses.sums import composed
from exactdp.accounting.scenario import Use, scenarios
from exactdp.exact.errors import DoesNotApplyError
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.sampled import RandomRate
from exactdp.mechanisms.sampling.allocation import Allocation
from exactdp.mechanisms.sampling.fixed_size import FixedSize

_WIDTH, _CAP, _WORK = Fraction(1, 10**6), 6144, 0.1


def rungs_meet(rng: random.Random) -> Iterator[Statement]:
    """In every scenario, on fine grids and on grids so coarse that they hardly tell anything."""
    what, points = scenario(rng), rng.choice((64, 256, 2048))
    figure = rng.choice(
        (Figure("delta", Fraction(rng.choice(EPSILONS))), Figure("epsilon", level(rng, what)))
    )
    assert figure.at is not None
    if figure.quantity == "epsilon" and not 0 < figure.at < 1:
        return
    for uses in scenarios(composition_of(what).uses):
        why = f"{what}: {figure} on {points} points"
        try:
            coarse = composed(uses, figure, _WIDTH, _CAP, 0.0, points=points)
            narrow = narrowly(uses, figure, _WIDTH, _CAP, _WORK)
        except DoesNotApplyError:
            return
        yield from equal(coarse, narrow, why)


def one_use_is_exact_otherwise(rng: random.Random) -> Iterator[Statement]:
    """An epoch of random allocation by inversion, a batch by the pair that it attains, and rates
    that are told by the mixture of their profiles.
    """
    scale, steps = Fraction(rng.randrange(8, 60), 10), rng.choice((1, 2, 3, 5, 17, 100))
    size = rng.randrange(1, steps + 1)
    noise = ContinuousNoise(rng.choice(list(Shape)), scale, 1)
    share, rate = Fraction(rng.randrange(1, 10), 10), Fraction(rng.randrange(1, 101), 100)
    rates = rng.choice((((share, rate),), ((share, rate), (1 - share, rate**2))))
    mechanism = rng.choice(
        (
            Allocation(scale, 1, 1, steps, rng.random() < 0.5),
            FixedSize(noise, size, steps),
            RandomRate(noise, rates, rng.random() < 0.5),
        )
    )
    uses, points = (Use(mechanism, 1),), rng.choice((64, 256, 2048))
    level = Fraction(rng.choice(EPSILONS))
    delta = rng.choice((Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**12)))
    what, figures = (
        f"{mechanism} on {points} points",
        (Figure("delta", level), Figure("epsilon", delta)),
    )
    try:
        coarse = [composed(uses, one, _WIDTH, _CAP, 0.0, points=points) for one in figures]
    except DoesNotApplyError:
        return
    for figure, found in zip(figures, coarse, strict=True):
        yield from equal(found, narrowly(uses, figure, _WIDTH, _CAP, _WORK), f"{figure} of {what}")


RELATIONS = (rungs_meet, one_use_is_exact_otherwise)
