"""Cells of blocks of outcomes: what they say of masses and losses holds of every outcome listed."""

import random
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb

import exactdp
from exactdp import time_limit
from exactdp.accounting import compose
from exactdp.accounting.figure import Figure
from exactdp.accounting.grid.blocks import BlockLoss
from exactdp.accounting.losses import product, sums
from exactdp.accounting.losses.of_pair import listed_law
from exactdp.accounting.scenario import scenarios
from exactdp.accounting.solve import lists_of
from exactdp.exact.number import ball
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.pairs.pair import Pair

_FEW = [  # of which all outcomes are listed as well
    "skellam:variance=400,sensitivity=7",
    "skellam:variance=1/10",
    "discrete-gaussian:sigma2=900,sensitivity=40",
    "discrete-gaussian-sum:count=9,sigma2=30,sensitivity=3",
    "discrete-laplace:scale=30,sensitivity=11",
    "polya-difference:shape=1/2,scale=20,sensitivity=1",
    "polya-difference:shape=1/3,scale=30,sensitivity=9",
    "polya-difference:shape=7/2,scale=12,sensitivity=5",
    "binomial:trials=3000,probability=1/2,sensitivity=20",
    "binomial:trials=2000,probability=1/3,sensitivity=6",
    "binomial:trials=200,probability=1/50,sensitivity=2",
]
_ALL = ["", ",neighbours=add-remove,poisson=0.3", ",neighbours=add-remove,poisson=0.001"]


def _pairs(spec: str) -> list[Pair]:
    (use,) = exactdp.mechanism(spec).uses
    return [pair for (one,) in scenarios([use]) for pair in one.mechanism.pairs()]


@pytest.mark.slow_cases(
    "polya-difference:shape=1/3,scale=30,sensitivity=9-",
    "polya-difference:shape=1/3,scale=30,sensitivity=9-,neighbours=add-remove,poisson=0.3",
)
@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("sampled", _ALL)
@pytest.mark.parametrize("spec", _FEW)
def test_cells_hold_the_masses_and_losses_of_all_outcomes(spec: str, sampled: str) -> None:
    step = Fraction(1, 2**6)
    for pair in _pairs(spec + sampled):
        with working_precision(128):
            listed = listed_law(pair, -200.0)
            block = BlockLoss.of(pair, -60.0, 10)
            assert block is not None
            cells = block.enclosed(ball(step), 3.0, 512)
            outcomes = [*zip(listed.masses, listed.losses, strict=True)]
            known = listed.escaping()
            assert known.lower() <= block.escaping().upper()
            assert block.escaping().lower() <= (known + listed.missing()).upper()
            assert all(loss < block.largest() + arb("1e-20") for loss in listed.losses)
            beyond = block.escaping().upper() + cells.missing + arb("1e-60")
            ends = sorted({end for cell in cells.cells for end in (cell.low, cell.high)})
            for t in random.Random(1).sample(ends, min(len(ends), 60)):
                level = t * arb(step.numerator) / step.denominator
                for of_q in (False, True):
                    masses = [(m * (-x).exp() if of_q else m, x) for m, x in outcomes]
                    above = sum((m for m, x in masses if x > level), arb(0))
                    surely = sum((m for m, x in masses if x > level - arb("1e-20")), arb(0))
                    most = [c.q if of_q else c.p for c in cells.cells if c.high > t]
                    least = [c.q if of_q else c.p for c in cells.cells if t <= c.low < c.high]
                    most_mass = sum((m.upper() for m in most), arb(0))
                    least_mass = sum((m.lower() for m in least), arb(0))
                    # Q's outcomes that P has not are in no list
                    assert not above > most_mass + (beyond if not of_q else arb("1e-20"))
                    assert not least_mass > surely + arb("1e-20")
            for cell in cells.cells:
                assert cell.excess is not None
                exactly = cell.p - cell.q * (cell.low * ball(step)).exp()
                assert cell.excess.overlaps(exactly)
            tested = block.cells(ball(step), 3.0, 512).attained
            assert tested is not None
            for part, cell in zip(tested, cells.cells, strict=True):  # an equal share of P and Q
                assert not part.p > cell.p.upper()
                assert not part.p * cell.q > part.q * cell.p


@pytest.mark.parametrize(
    "spec",
    [
        "skellam:variance=400,sensitivity=3",
        "polya-difference:shape=1/2,scale=20,sensitivity=4",
        "binomial:trials=300,probability=1/3,sensitivity=2",
        "skellam:variance=100",
    ],
)
def test_how_much_more_a_block_has_under_one_law_is_known_exactly(spec: str) -> None:
    (pair, *_) = _pairs(spec)
    with working_precision(128):
        block = BlockLoss.of(pair, -60.0, 10)
        assert block is not None
        law, shift = block.facing.law, block.facing.shift
        low, high = block._window
        xs = [low, low + 1, *range(low + 2, high - 1, 7), high - 1, high]
        for (y, z), (mass, _) in zip(pairwise(xs), block._blocks(xs), strict=True):
            truth = sum((law.ball(x) - law.ball(x - shift) for x in range(y + 1, z + 1)), arb(0))
            assert mass[2].overlaps(truth)
            assert mass[2].rad() < 1e-25


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "sampled", [_ALL[0], *(pytest.param(each, marks=pytest.mark.slow) for each in _ALL[1:])]
)
@pytest.mark.parametrize("spec", _FEW[:-1])  # the last has so few outcomes that no lattice fits
def test_a_grid_of_blocks_meets_what_is_exact(
    spec: str, sampled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    composition = compose((exactdp.mechanism(spec + sampled), 12))
    level = "0.01" if sampled else "1"
    with time_limit(20):
        exactly = composition.epsilon("1e-5", work=0.2), composition.delta(level, work=0.2)
    monkeypatch.setattr(product, "MOST_OUTCOMES", 0)
    figures = Figure("epsilon", Fraction(1, 10**5)), Figure("delta", Fraction(level))
    for figure, truth in zip(figures, exactly, strict=True):
        for uses in scenarios(composition.uses):
            found = sums.coarse(uses, figure)
            assert found.lower <= truth.upper
            if len(scenarios(composition.uses)) == 1:
                assert truth.lower <= found.upper
                found.intersection(truth)
                if truth.lower > 0 and "1/10" not in spec:
                    assert float(found.lower) > 0.9 * float(found.upper)


@pytest.mark.slow
@pytest.mark.contract
def test_wide_noise_that_is_reduced_is_told_within_its_period() -> None:
    wide = exactdp.compose("skellam:variance=1e10,sensitivity=100000*20")
    reduced = exactdp.compose("skellam:variance=1e10,sensitivity=100000,modulus=2097152*20")
    with time_limit(20):  # of a few seconds' worth
        whole = wide.epsilon("1e-6")
    with time_limit(20):
        found = reduced.epsilon("1e-6")
    assert found.lower <= whole.upper
    assert float(found.lower) > 0.999 * float(whole.lower)


@pytest.mark.parametrize("spec", ["skellam:variance=400,sensitivity=7", _FEW[4], _FEW[2]])
def test_batches_of_a_fixed_size_lie_between_the_same_ends(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = lists_of(compose((exactdp.mechanism(spec + ",fixed-size=3/10"), 9)).uses)
    assert lists is not None
    for some in (lists.attained[0], lists.dominating[0]):
        (uses,) = scenarios(some)
        for figure in (Figure("epsilon", Fraction(1, 10**5)), Figure("delta", Fraction(1, 2))):
            listed = sums.coarse(uses, figure)
            with monkeypatch.context() as blocks:
                blocks.setattr(product, "MOST_OUTCOMES", 0)
                found = sums.coarse(uses, figure)
            found.intersection(listed)
            assert float(found.upper) < 1.01 * float(listed.upper)
            if some == lists.attained[0]:
                assert float(found.lower) > 0.99 * float(listed.lower)


@pytest.mark.slow
@pytest.mark.contract
@pytest.mark.parametrize(
    "spec",
    [
        "skellam:variance=1e14,sensitivity=10000000",
        pytest.param(
            "discrete-gaussian-sum:count=100,sigma2=1e12,sensitivity=10000000",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "binomial:trials=4e14,probability=1/2,sensitivity=10000000", marks=pytest.mark.slow
        ),
    ],
)
def test_wide_noise_costs_what_a_gaussian_does(spec: str) -> None:
    """Of 10^7 deviations it is a Gaussian but for about 10^-14 of the figure."""
    gaussian = exactdp.compose("gaussian:sigma=1*20")
    found = exactdp.compose(spec + "*20")
    for figure in ("epsilon", "delta"):
        at = "1e-6" if figure == "epsilon" else "25"
        truth, one = float(getattr(gaussian, figure)(at)), getattr(found, figure)(at)
        assert float(one.lower) < truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) < float(one.upper)
        assert float(one.upper) < float(one.lower) * 1.01


@pytest.mark.contract
@pytest.mark.parametrize(
    ("releases", "figure", "at", "truth"),  # by sums over the table of integrals of the Gaussian
    [
        (("gaussian:sigma=1*50", "randomized-response:epsilon=1"), "delta", "1", 0.999415296),
        (("gaussian:sigma=1*50", "randomized-response:epsilon=1"), "epsilon", "0.5", 24.4707286),
        (("gaussian:sigma=200*5", "discrete-gaussian:sigma2=0.7,sensitivity=2"), "epsilon",
         "1e-15", 20.0186879),
    ],
)  # fmt: skip
def test_levels_far_below_the_mean_and_between_losses_far_apart(
    releases: tuple[str, ...], figure: str, at: str, truth: float
) -> None:
    answer = getattr(exactdp.compose(*releases), figure)(at)
    assert float(answer.lower) - 2e-7 < truth < float(answer.upper) + 2e-7
    assert float(answer.upper) < (1 + 1e-6) * float(answer.lower)
