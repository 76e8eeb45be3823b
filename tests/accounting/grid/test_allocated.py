"""Random allocation on the coarse grid, against convolutions of lognormals on a linear lattice."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from exactdp.accounting.composition.composed import compose
from exactdp.accounting.figure import Figure
from exactdp.accounting.grid.average import averaged
from exactdp.accounting.grid.rung import coarse, grid_delta, grid_epsilon
from exactdp.accounting.scenario import Scenario, Use
from exactdp.mechanisms.allocation import Allocation
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.fixed_size import FixedSize
from exactdp.mechanisms.spec import parse

BOTH = (True, False)
Floats = NDArray[np.float64]


def linear(sigma: float, steps: int, width: float, count: int) -> tuple[Floats, Floats]:
    """The points of S and their masses under Q: each ratio is split between multiples of `width`.

    That raises the variance of S by less than width^2/(4 steps).
    """
    mu = 1 / sigma
    edges = width * np.arange(count + 1)
    with np.errstate(divide="ignore"):
        z = np.log(edges) / mu
    masses, means = np.diff(ndtr(z + mu / 2)), np.diff(ndtr(z - mu / 2))
    up = means / width - np.arange(count) * masses
    one = np.zeros(count)
    one += masses - up
    one[1:] += up[:-1]
    total = np.fft.irfft(np.fft.rfft(one) ** steps, count)
    return edges[:-1] / steps, np.maximum(total, 0)


def hockey_stick(points: Floats, masses: Floats, level: float, removing: bool) -> float:
    g = math.exp(level)
    gains = points - g if removing else 1 - g * points
    return float(masses @ np.maximum(gains, 0))


def uses_of(sigma: str, steps: int, removing: bool, times: int = 1) -> Scenario:
    return (Use(Allocation(sigma, 1, 1, steps, removing), times),)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("removing", BOTH)
@pytest.mark.parametrize(
    ("sigma", "steps", "width", "count", "levels"),
    [
        ("1", 2, 0.004, 1 << 18, (0.0, 0.5, 2.0)),
        ("1", 7, 0.01, 1 << 18, (0.0, 0.5, 1.5)),
        ("2", 100, 0.05, 1 << 14, (0.0, 0.1, 0.2)),
        pytest.param("0.5", 1000, 0.2, 1 << 21, (0.0, 0.5, 4.0), marks=pytest.mark.slow),
    ],
)
def test_one_epoch_holds_a_convolution_of_lognormals(
    sigma: str, steps: int, width: float, count: int, levels: tuple[float, ...], removing: bool
) -> None:
    finer, coarser = (linear(float(sigma), steps, w, count) for w in (width, 2 * width))
    for level in levels:
        # both are above, by the square of the width
        truth, more = (hockey_stick(*one, level, removing) for one in (finer, coarser))
        if truth < 1e-9:  # below what transforms in floats tell
            continue
        found = grid_delta(uses_of(sigma, steps, removing), Fraction(str(level)), 1024)
        assert float(found.lower) <= truth * (1 + 1e-6)
        assert truth * (1 - 1e-6) - (more - truth) / 2 <= float(found.upper)
        assert found.is_within(Fraction(1, 5))


@pytest.mark.parametrize("removing", BOTH)
def test_two_epochs_hold_a_convolution_of_their_losses(removing: bool) -> None:
    points, masses = linear(1.0, 5, 0.04, 1 << 12)
    kept = (points > 0) & (masses > 1e-18)
    points, masses = points[kept], masses[kept]
    level = 0.7
    truth = 0.0
    for ratio, mass in zip(points, masses, strict=True):  # given one, the other has its own level
        if removing:
            truth += mass * ratio * hockey_stick(points, masses, level - math.log(ratio), True)
        else:
            truth += mass * hockey_stick(points, masses, level + math.log(ratio), False)
    found = grid_delta(uses_of("1", 5, removing, 2), Fraction("0.7"), 1024)
    assert float(found.lower) <= truth * (1 + 1e-3)
    assert truth * (1 - 1e-3) <= float(found.upper)
    assert found.is_within(Fraction(1, 50))


@pytest.mark.parametrize("seed", range(6))
def test_what_dominates_and_what_is_certain_hold_quantiles_of_one_ratio(seed: int) -> None:
    """Any call and put of one lognormal, in closed form."""
    rng = random.Random(seed)
    noise, step = Fraction(rng.randrange(3, 30), 10), Fraction(1, 1 << rng.randrange(3, 8))
    mu = 1 / float(noise)
    found = averaged(noise, 1, step, -40.0, 500)
    points = np.exp(found.points)
    for g in (0.1, 0.5, 1.0, 3.0):
        d = math.log(g) / mu
        truth = float(ndtr(mu / 2 - d) - g * ndtr(-mu / 2 - d))
        above = float(found.above @ np.maximum(points - g, 0)) + found.missing
        assert truth <= above * (1 + 1e-12)
        tails = np.cumsum((found.p - g * found.q)[::-1])
        assert float(tails.max()) <= truth * (1 + 1e-12)


def test_sums_keep_means_and_masses_from_above() -> None:
    """A split may raise neither by more than floats are off, nor lower any."""
    for steps in (2, 3, 5, 12, 37):
        found = averaged(Fraction(1), steps, Fraction(1, 64), -40.0, 600)
        mass = float(found.above.sum()) + found.zero + found.missing
        mean = float(found.above @ np.exp(found.points)) + found.missing
        for total in (mass, mean):
            assert 1 <= total * (1 + found.off) < 1 + 1e-8
        assert abs(float(found.q.sum()) - 1) < 1e-10
        assert abs(float(found.p.sum()) - 1) < 1e-10


def test_the_statistic_tells_about_the_loss() -> None:
    found = averaged(Fraction(1), 6, Fraction(1, 32), -40.0, 600)
    heavy = found.q > 1e-6
    gap = np.log(found.p[heavy] / found.q[heavy]) - found.points[heavy]
    assert float(gap.max() - gap.min()) < 0.1


@pytest.mark.parametrize("removing", BOTH)
def test_beside_other_mechanisms_it_costs_what_both_do(removing: bool) -> None:
    """A Gaussian's profile, moved by each loss of the epoch."""
    sigma, level = 2.0, 0.6
    points, masses = linear(1.0, 4, 0.01, 1 << 17)
    kept = (points > 0) & (masses > 1e-18)
    points, masses = points[kept], masses[kept]
    losses = np.log(points) if removing else -np.log(points)
    weights = masses * points if removing else masses
    rest = level - losses
    mu = 1 / sigma
    profile = ndtr(mu / 2 - rest / mu) - np.exp(rest) * ndtr(-mu / 2 - rest / mu)
    truth = float(weights @ profile)
    gaussian = ContinuousNoise(Shape.GAUSSIAN, 2, 1, "add-remove")
    uses = (Use(Allocation(1, 1, 1, 4, removing), 1), Use(gaussian, 1))
    found = grid_delta(uses, Fraction("0.6"), 1024)
    assert float(found.lower) <= truth * (1 + 1e-3)
    assert truth * (1 - 1e-3) <= float(found.upper)
    assert found.is_within(Fraction(1, 50))


@pytest.mark.slow
def test_lists_with_discrete_noise_are_measured() -> None:
    allocated = parse("gaussian:sigma=1,allocation=1/20,neighbours=add-remove").mechanism
    sampled = parse("skellam:variance=100,neighbours=add-remove,poisson=0.1").mechanism
    batches = FixedSize(ContinuousNoise(Shape.GAUSSIAN, 1, 1), 1, 5)
    response = parse("randomized-response:epsilon=1").mechanism
    for one, other in (((allocated, 1), (sampled, 10)), ((batches, 2), (response, 1))):
        alone, second, both = (
            compose(*uses).epsilon("1e-5", width="0.1") for uses in ((one,), (other,), (one, other))
        )
        assert max(alone.lower, second.lower) <= both.lower
        half = compose(other).epsilon("5e-6").upper + compose(one).epsilon("5e-6", "0.1").upper
        assert both.lower <= half  # basic composition
        assert both.is_within(Fraction(1, 5))


def test_several_steps_lie_below_those_dealt_into_groups() -> None:
    several = (Use(Allocation(1, 1, 4, 40, True), 1),)
    dealt = uses_of("1", 10, True, 4)
    found = grid_epsilon(several, Fraction(1, 10**5), 512)
    more = grid_epsilon(dealt, Fraction(1, 10**5), 512)
    assert found.lower < more.lower and found.at_most(more.upper) is not False
    assert found.is_within(Fraction(1, 10))


@pytest.mark.parametrize("removing", BOTH)
@pytest.mark.parametrize(
    ("taken", "steps", "level", "nodes", "width"),
    [(2, 3, 1.0, 171, "0.2"), (2, 3, 0.0, 171, "0.1"), (3, 4, 2.0, 45, "0.4")],
)
def test_several_steps_hold_an_integral_over_all_of_them(
    removing: bool, taken: int, steps: int, level: float, nodes: int, width: str
) -> None:
    """S is the mean of products of `taken` ratios, on a fine lattice of noise."""
    z = np.linspace(-8, 9, nodes)
    weights = np.exp(-(z**2) / 2) * (z[1] - z[0]) / math.sqrt(2 * math.pi)
    x, ratio, mass = np.exp(z - 0.5), np.zeros((1,) * steps), np.ones((1,) * steps)
    axes = [tuple(-1 if i == j else 1 for j in range(steps)) for i in range(steps)]
    for axis in axes:
        mass = mass * weights.reshape(axis)
    for chosen in itertools.combinations(axes, taken):
        ratio = ratio + math.prod(x.reshape(axis) for axis in chosen) / math.comb(steps, taken)
    gains = ratio - math.exp(level) if removing else 1 - math.exp(level) * ratio
    truth = float((np.maximum(gains, 0) * mass).sum())
    uses = (Use(Allocation(1, 1, taken, steps, removing), 1),)
    found = grid_delta(uses, Fraction(level), 512)
    assert float(found.lower) <= truth * (1 + 5e-3)
    assert truth * (1 - 5e-3) <= float(found.upper)
    assert found.is_within(Fraction(width))


@pytest.mark.parametrize("removing", BOTH)
def test_what_several_steps_attain_is_what_a_sum_over_them_tells(removing: bool) -> None:
    """Any event of the statistic, against sums of normals: f is linear where noise is large."""
    noise, taken, steps, epochs = 40, 3, 17, 4
    uses = (Use(Allocation(noise, 1, taken, steps, removing), epochs),)
    mu = taken / noise * math.sqrt(epochs / steps)
    for level in (0.0, 0.05):
        truth = ndtr(mu / 2 - level / mu) - math.exp(level) * ndtr(-mu / 2 - level / mu)
        found = grid_delta(uses, Fraction(str(level)), 512)
        assert 0.98 * truth <= float(found.lower) <= float(found.upper) <= 1.04 * truth


def test_sums_rounded_to_one_point_have_no_fewer_points_than_split_ones() -> None:
    """Far below what is looked at, where every point is kept: such sums had one fewer."""
    uses = uses_of("1", 100_000, removing=False, times=100)
    found = coarse(uses, Figure("delta", Fraction(2)))
    assert found.lower < Fraction(1, 10**30)  # Poisson sampling as often: 1.8e-37
