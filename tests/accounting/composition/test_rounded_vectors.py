"""Real vectors that are rounded, against sums over all that they may be rounded to."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from exactdp import ParameterError, time_limit
from exactdp.accounting import compose
from exactdp.accounting.composition.vectors import sides_of
from exactdp.mechanisms import Mechanism
from exactdp.mechanisms.laws import DiscreteGaussian, DiscreteLaplace, Law, Skellam
from exactdp.mechanisms.rounded import RoundedReach
from exactdp.mechanisms.spec import parse
from exactdp.mechanisms.vector import VectorNoise
from exactdp.verify import parse_claim
from exactdp.verify.audit import audit
from exactdp.verify.certificate import certificate_of

_ERROR = 1e-9  # of the sums below, in floats
_EDGE = 22
_HALF = Fraction(1, 2)
Vector = tuple[Fraction, ...]
LONG = "skellam:variance=1e5,l2=10,dimension=10000,rounding=stochastic,neighbours=add-remove"

LAWS = st.sampled_from([DiscreteGaussian("1/2"), Skellam(2), DiscreteLaplace("1/2")])
NORMS = st.sampled_from([Fraction(1, 2), Fraction(3, 4), Fraction(5, 4), Fraction(2)])
ROUNDING = st.sampled_from(["stochastic", "conditional:1/2", "conditional:0.8", "nearest"])


def tried(norm: Fraction, dimension: int) -> list[Vector]:
    """Real vectors within the norm, those among them that may be the worst."""
    grid = [Fraction(k, 4) for k in range(int(4 * norm) + 1)]
    return [y for y in product(grid, repeat=dimension) if sum(x * x for x in y) <= norm**2]


def rounded(y: Vector, reach: RoundedReach) -> dict[tuple[int, ...], float]:
    """What y is rounded to, and how likely: from the definition, with no bound on the length."""
    if reach.rounding.text == "nearest":
        return {tuple(math.floor(x + _HALF) for x in y): 1.0}
    law: dict[tuple[int, ...], float] = {}
    for ups in product((0, 1), repeat=len(y)):
        parts = [x - math.floor(x) for x in y]
        chance = math.prod(f if up else 1 - f for f, up in zip(parts, ups, strict=True))
        if chance:
            law[tuple(math.floor(x) + up for x, up in zip(y, ups, strict=True))] = float(chance)
    if reach.rounding.text == "stochastic":
        return law
    most = reach.rounding.squared_bound(reach.norm, reach.dimension)
    kept = {r: mass for r, mass in law.items() if sum(x * x for x in r) <= most}
    total = sum(kept.values())
    return {r: mass / total for r, mass in kept.items()}


def masses(law: Law, dimension: int, move: tuple[int, ...]) -> NDArray:
    half = [float(law.pmf(x)) for x in range(_EDGE + 1)]
    line = np.concatenate([half[:0:-1], half, np.zeros(4)])
    found = np.ones(1)
    for shift in move:
        found = np.multiply.outer(found, np.roll(line, shift))
    return found.ravel()


def worst(law: Law, reach: RoundedReach, rate: Fraction, odds: float) -> tuple[float, float]:
    """The largest delta and the largest sum of order 2, either way round."""
    still = masses(law, reach.dimension, (0,) * reach.dimension)
    seen = still > 0
    delta = order = 0.0
    for y in tried(reach.norm, reach.dimension):
        moved = sum(
            chance * masses(law, reach.dimension, move)
            for move, chance in rounded(y, reach).items()
        )
        mixed = float(rate) * moved + (1 - float(rate)) * still
        delta = max(delta, np.maximum(mixed - odds * still, 0).sum())
        delta = max(delta, np.maximum(still - odds * mixed, 0).sum())
        order = max(order, math.log((mixed[seen] ** 2 / still[seen]).sum()))
    return delta, order


@pytest.mark.slow
@settings(max_examples=3)
@given(
    LAWS,
    NORMS,
    st.integers(1, 2),
    ROUNDING,
    st.sampled_from([Fraction(1), Fraction(1, 3)]),
    st.sampled_from(["0", "0.3", "1.5"]),
)
def test_every_real_vector(
    law: Law, norm: Fraction, dimension: int, rounding: str, rate: Fraction, epsilon: str
) -> None:
    reach = RoundedReach(norm, dimension, rounding)
    mechanism = VectorNoise(law, reach, None, "add-remove", rate)
    truth, order = worst(law, reach, rate, math.exp(float(epsilon)))
    found = compose(mechanism).delta(epsilon)
    assert float(found.lower) <= truth + _ERROR and truth - _ERROR <= float(found.upper)
    assert order - 1e-6 <= float(compose(mechanism).renyi(2).upper)


@settings(max_examples=30)
@given(NORMS, st.integers(1, 3), ROUNDING)
def test_all_that_is_sent_is_within_reach(norm: Fraction, dimension: int, rounding: str) -> None:
    reach = RoundedReach(norm, dimension, rounding)
    for y in tried(norm, dimension):
        for sent in rounded(y, reach):
            assert max(sent) <= reach.farthest
            assert sum(sent) <= reach.largest_sum
            assert sum(x * x for x in sent) <= reach.largest_square


@given(NORMS, st.integers(1, 3), ROUNDING)
def test_directions_are_what_some_vector_is_rounded_to(
    norm: Fraction, dimension: int, rounding: str
) -> None:
    reach = RoundedReach(norm, dimension, rounding)
    certain = set()
    for y in tried(norm, dimension):
        sent = rounded(y, reach)
        if len(sent) == 1:
            certain.add(tuple(sorted(*sent)))
    for direction in (*reach.directions(), reach.alone()):
        moved = [move for move, count in direction.items() for _ in range(count)]
        assert tuple([0] * (dimension - len(moved)) + sorted(moved)) in certain


def test_one_unit_at_random_is_a_sampled_user() -> None:
    vector = parse(
        "skellam:variance=4,l2=1/2,dimension=1,rounding=stochastic,neighbours=add-remove"
    )
    sampled = parse("skellam:variance=4,sensitivity=1,neighbours=add-remove,poisson=1/2")
    lower = compose(vector.mechanism).renyi(2).lower
    assert lower == compose(sampled.mechanism).renyi(2).lower > 0


def test_both_orders_of_the_datasets_count() -> None:
    spec = "skellam:variance=4,l2=3/2,dimension=2,rounding={},neighbours=add-remove"
    for rounding, oriented in (("stochastic", True), ("nearest", False)):
        mechanism: Mechanism = parse(spec.format(rounding)).mechanism
        assert (mechanism.reversed() != mechanism) is oriented


def test_no_certificate_leaves_the_rounding_out() -> None:
    spec = "discrete-laplace:scale=10,l2=3,dimension=4,rounding=stochastic,neighbours=add-remove"
    found = audit(parse(spec).mechanism, parse_claim("pure:1"))
    assert found.verified
    certificate = certificate_of(found)
    (use,) = certificate.content["uses"]
    assert use["mechanism"]["kind"] == "rounded-vector"
    assert use["mechanism"]["rounding"] == "stochastic"
    assert certificate.check().valid


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("l2=4,dimension=8,rounding=stochastic", "rounding needs neighbours=add-remove"),
        ("l2=4,rounding=stochastic,neighbours=add-remove", "dimension is missing"),
        ("dimension=4,rounding=nearest,neighbours=add-remove", "l2 is missing"),
        ("l2=4,l1=9,dimension=8,rounding=nearest,neighbours=add-remove", "l1 must not be given"),
        ("l2=4,dimension=8,rounding=up,neighbours=add-remove", "rounding must be stochastic"),
        (
            "l2=0,dimension=8,rounding=nearest,neighbours=add-remove",
            "l2 must be an exact number",
        ),
        ("l2=2/5,dimension=8,rounding=nearest,neighbours=add-remove", "not every vector is round"),
        ("sensitivity=2,rounding=nearest,neighbours=add-remove", "sensitivity is of single"),
    ],
)
def test_what_is_refused(keys: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        parse(f"skellam:variance=4,{keys}")


def test_both_ends_are_known_however_little_time_there_is() -> None:
    spec = "federated:mechanism=skellam,clip=1,scale=100,clients=1000,local-stddev=10,"
    one = parse(spec + "dimension=100,bits=16,rounding=stochastic,poisson=0.01").mechanism
    with time_limit("0.1"):
        found = compose((one, 100)).epsilon("1e-6")
    # the sum's noise has 1000 * 10^2 of variance: at least what a shift of 100 costs, at most
    # what one of 100 and a unit at random in every of 128 coordinates does
    assert Fraction("0.1") < found.lower < found.upper < Fraction("0.2")


def test_the_mixture_is_nearer_than_the_longest_vector_where_that_is_much_longer() -> None:
    sides = sides_of(compose(parse(LONG).mechanism).uses)
    assert sides is not None and sides.is_nearer_mixed(Fraction(1, 10**6))
    assert not any(map(sides.is_nearer_mixed, map(Fraction, (0, 1, 2))))
    plain = sides_of(compose(parse("skellam:variance=100,l2=10").mechanism).uses)
    assert plain is not None and not plain.is_nearer_mixed(Fraction(1, 10**6))
