"""The e-processes: their means are 1, and what is said of all l holds for all l."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from attrs import evolve
from scipy import special
from small_bandits import unproved

from exactdp import Enclosure, ParameterError
from exactdp.bandit.algorithms import DIST_DP_LUCB, IDENTIFIERS, LUCB
from exactdp.bandit.identification.eprocess import e_process
from exactdp.bandit.plan import prepare
from exactdp.bandit.setting import Setting
from exactdp.mechanisms.laws import DiscreteGaussian, Skellam


def made(algorithm=DIST_DP_LUCB, arms=3, most="1e6", epsilon="0.5", **options):
    plan = prepare(algorithm, Setting(arms, most, epsilon, **options), prove=unproved)
    return plan, e_process(plan)


def written_out(process, batch, total, mean, below=False):
    """log A(l) or log B(l) from its definition, to 40 digits, the laws' parts as they are held."""
    with mpmath.workdps(40):
        users, offsets = int(process.users[batch - 1]), process.above[batch - 1]
        if below:
            total, mean, offsets = users * process.precision - total, 1 - mean, process.below[-1]
            offsets = process.below[batch - 1]
        return mpmath.log(
            mpmath.fsum(
                mpmath.exp(
                    mpmath.mpf(float(offset))
                    + mpmath.mpf(float(t)) * total / process.precision
                    - users * mpmath.log(1 + mpmath.mpf(mean) * mpmath.expm1(mpmath.mpf(float(t))))
                )
                for offset, t in zip(offsets, process.exponents, strict=True)
            )
        )


@pytest.mark.parametrize("mean", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_floats_are_as_near_to_the_definition_as_is_said(mean):
    _, process = made()
    rng = np.random.default_rng(3)
    for batch in (1, 5, len(process.users)):
        units = int(process.users[batch - 1]) * process.precision
        total = int(units * rng.uniform(-0.1, 1.1))
        one, point = (np.array([batch]), np.array([float(total)])), np.array([[mean]])
        error = process._error(*one)[0]
        assert error < 1e-4
        for found, below in ((process.larger, False), (process.smaller, True)):
            truth = written_out(process, batch, total, mean, below)
            assert abs(found(*one, point)[0, 0] - float(truth)) <= error


def written_weights(release, noise):
    """The masses of the total noise."""
    share = release.protocol.noise
    if isinstance(share, Skellam):
        return special.ive(np.abs(noise), float(share.variance) * release.users)
    if isinstance(share, DiscreteGaussian):  # the sum of shares so wide is one, but for 1e-40
        assert share.sigma2 > 5
        weights = np.exp(-(noise**2) / (2 * float(share.sigma2) * release.users))
        return weights / weights.sum()
    decay = np.exp(-2.0 / release.precision)  # discrete Laplace of scale g/epsilon
    return decay ** np.abs(noise) * (1 - decay) / (1 + decay)


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("algorithm", IDENTIFIERS, ids=lambda each: each.name)
@pytest.mark.parametrize(("mean", "claimed"), [("0.3", "0.3"), ("0.3", "0.45"), ("0.8", "0.8")])
def test_an_e_process_has_mean_one_at_the_truth_and_less_below(algorithm, mean, claimed):
    """Summed over all outcomes of a first batch: a binomial sum, and the noise's own law."""
    plan, process = made(algorithm, most=3000, epsilon=2, scaling=1)
    release = plan.batches[1, 1].release
    users, grid = release.users, release.precision
    coin, claim = Fraction(mean), float(Fraction(claimed))
    binomial = [
        float(mpmath.binomial(users, k) * mpmath.mpf(float(coin)) ** k)
        * (1 - float(coin)) ** (users - k)
        for k in range(users + 1)
    ]
    if release.noise is None:
        noise, weights = np.array([0]), np.array([1.0])
    else:
        reach = 60 * grid
        noise = np.arange(-reach, reach + 1)
        weights = written_weights(release, noise)
    for below, sums in ((False, lambda k: k), (True, lambda k: users - k)):
        total = 0.0
        for successes, chance in enumerate(binomial):
            totals = (sums(successes) * grid + noise).astype(float)
            ones = np.ones(len(totals), dtype=np.int64)
            point = np.full((len(totals), 1), claim if not below else 1 - claim)
            found = (process.smaller if below else process.larger)(ones, totals, point)[:, 0]
            total += chance * float((weights * np.exp(found)).sum())
        if claimed == mean:
            assert total == pytest.approx(1, abs=1e-3 if release.noise else 1e-9)
        assert total <= 1 + 1e-9


def test_what_is_said_of_all_means_holds_at_each_and_is_nearly_reached():
    _, process = made(arms=2, confidence="0.1")
    rng = np.random.default_rng(0)
    count = 60
    batches, others = rng.integers(3, 14, size=(2, count))
    low = rng.uniform(0, 0.9, count)
    high = np.minimum(low + rng.choice([0.5, 0.1, 0.01], count), 1)
    units = process.users * float(process.precision)
    ours, theirs = np.rint(high * units[batches - 1]), np.rint(low * units[others - 1])
    found = process.log_e_values(batches, ours, others, theirs)
    grid = np.linspace(0, 1, 2001)
    points = np.sort(
        np.hstack([np.tile(grid, (count, 1)), low[:, None] + (high - low)[:, None] * grid])
    )
    sums = process.larger(batches, ours, points) + process.smaller(others, theirs, points)
    least = sums.min(axis=1)
    assert (found <= least).all()
    known = np.isfinite(found)
    assert known.mean() > 0.9 and known[least > 0].all()
    assert (least - found <= 0.2 + 0.06 * np.abs(least))[known].all()


def test_an_arm_is_not_apart_from_one_whose_estimate_is_as_large():
    _, process = made()
    one, two = np.array([3]), np.array([4])
    units = process.users * float(process.precision)
    same = process.log_e_values(one, units[[2]] / 2, two, units[[3]] / 2)
    assert same.tolist() == [-np.inf]
    assert process.log_e_values(one, units[[2]] / 4, two, units[[3]] / 2).tolist() == [-np.inf]


def test_the_threshold_is_for_what_misreading_leaves():
    plan, process = made(arms=5, confidence="0.05")
    assert 0 < process.overflow < Fraction(1, 20)
    assert Fraction(plan.index.overflow.upper) * 5 == process.overflow
    left = (
        mpmath.mpf("0.05") - mpmath.mpf(process.overflow.numerator) / process.overflow.denominator
    )
    assert mpmath.log(4 / left) <= process.threshold <= mpmath.log(4 / left) + 1e-12
    assert made(LUCB)[1].overflow == 0


def test_a_confidence_that_misreading_uses_up_is_refused():
    plan, _ = made(arms=2, confidence="0.05")
    spent = evolve(plan.index, overflow=Enclosure.exactly(Fraction(1, 40)))
    with pytest.raises(ParameterError, match=r"confidence must be above .* 0.05, got 0.05"):
        e_process(evolve(plan, index=spent))
