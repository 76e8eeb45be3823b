"""Audits of samplers with a known epsilon: what is found, what is not, how often, and why."""

import math

import numpy as np
import pytest
from known_samplers import laplace, modulo, of_law

from exactdp import ApproxDP, ParameterError, PureDP, RenyiDP
from exactdp.accounting import compose
from exactdp.mechanisms import AdditiveNoise, DiscreteGaussian, DiscreteLaplace, Skellam
from exactdp.mechanisms.additive import papers
from exactdp.mechanisms.mechanism import RandomizedResponse
from exactdp.mechanisms.pairs.pair import FinitePair
from exactdp.verify.blackbox import Guessing, SampleVerdict, audit_sampler

HALF = PureDP("0.5")
CLAIMED = AdditiveNoise(DiscreteLaplace(2))
VIOLATION, NONE = SampleVerdict.VIOLATION, SampleVerdict.NONE


# -- the figures that the docs state ------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [None, CLAIMED])
@pytest.mark.parametrize("claim", [HALF, ApproxDP("0.5", "1e-6")])
@pytest.mark.parametrize(("true", "samples"), [(0.55, 100_000), (0.525, 1_000_000)])
def test_a_little_too_much_is_found(true, samples, claim, mechanism):
    found = audit_sampler(laplace(true), claim, samples=samples, rng=1, mechanism=mechanism)
    assert found.verdict is VIOLATION
    assert 0.5 < found.epsilon <= true
    assert found.detectable_epsilon < true


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("claim", [PureDP("0.3"), ApproxDP("0.3", "1e-6")])
def test_few_samples_still_have_power(claim, seed):
    found = audit_sampler(laplace(0.3), claim, samples=2000, rng=seed)
    assert found.verdict is NONE
    assert 0.3 < found.detectable_epsilon < 1.5


@pytest.mark.parametrize("mechanism", [None, CLAIMED])
@pytest.mark.parametrize("samples", [100, 1000, 100_000, 1_000_000])
def test_the_truth_is_not_rejected(samples, mechanism):
    found = audit_sampler(laplace(0.5), HALF, samples=samples, rng=1, mechanism=mechanism)
    assert found.verdict is NONE
    assert found.epsilon < 0.5 < found.detectable_epsilon
    assert (found.samples, found.error) == (samples, 1e-6)


@pytest.mark.parametrize("known", [False, True])
def test_the_published_noise_is_found_with_ten_thousand_samples(known):
    released = papers.published("0.1", 1024).mechanism
    sampler, inputs = of_law(released.law), (0, released.sensitivity)
    claimed = papers.theorem1("0.1", 1024, 10**6, modulus=None).mechanism
    found = audit_sampler(
        sampler, PureDP("0.1"), inputs, 10_000, rng=1, mechanism=claimed if known else None
    )
    assert found.verdict is VIOLATION
    assert 5 < found.epsilon < 14.9  # the truth is 14.8...


# -- how often it is wrong, and how often right -------------------------------------------------


def false_alarms(sampler, claim, inputs, samples, repetitions, error, **known):
    rng = np.random.default_rng(11)
    return sum(
        audit_sampler(sampler, claim, inputs, samples, rng=rng, error=error, **known).verdict
        is VIOLATION
        for _ in range(repetitions)
    )


GAUSS = AdditiveNoise(DiscreteGaussian(4))
EXACT = [
    (laplace(0.5), HALF, None),
    (laplace(0.5), HALF, CLAIMED),
    (
        of_law(DiscreteGaussian(4), 60),
        ApproxDP("0.5", str(float(compose(GAUSS).delta("0.5").upper))),
        GAUSS,
    ),
    (lambda x, size, rng: rng.random(size) < (0.622 if x else 0.378), PureDP(0.49816), None),
    (lambda x, size, rng: np.where(rng.random(size) < 0.02, x, 2), ApproxDP(0, "0.02"), None),
]


@pytest.mark.slow_cases("<lambda>-claim1-mechanism1", "<lambda>-claim2-mechanism2")
@pytest.mark.parametrize(("sampler", "claim", "mechanism"), EXACT)
def test_false_alarms_stay_below_the_error(sampler, claim, mechanism):
    alarms = false_alarms(sampler, claim, (0, 1), 1000, 100, 0.05, mechanism=mechanism)
    assert alarms <= 15  # P(Bin(100, 0.05) > 15) = 3e-5


@pytest.mark.slow
@pytest.mark.parametrize("samples", [500, 5000])
@pytest.mark.parametrize(("sampler", "claim", "mechanism"), EXACT)
def test_false_alarms_stay_below_the_error_in_2000_repetitions(sampler, claim, mechanism, samples):
    alarms = false_alarms(sampler, claim, (0, 1), samples, 2000, 0.05, mechanism=mechanism)
    assert alarms <= 139  # P(Bin(2000, 0.05) > 139) = 7e-5


@pytest.mark.slow
def test_what_is_detectable_is_detected():
    """True epsilon at the stated power: found in 95 of 100, in tests at 1e-6."""
    silent = audit_sampler(laplace(0.5), HALF, samples=20_000, rng=3, mechanism=CLAIMED)
    least = silent.detectable_epsilon
    hits = false_alarms(laplace(least), HALF, (0, 1), 20_000, 100, 1e-6, mechanism=CLAIMED)
    assert hits >= 86  # P(Bin(100, 0.95) < 86) = 1e-4
    weaker = laplace(0.5 + 0.5 * (least - 0.5))
    assert false_alarms(weaker, HALF, (0, 1), 20_000, 50, 1e-6, mechanism=CLAIMED) < 25


# -- violations of other kinds ------------------------------------------------------------------


def test_rare_outcomes_in_the_tail():
    """Gaussian noise has no pure epsilon; the excess sits in the tails."""
    found = audit_sampler(of_law(DiscreteGaussian(4)), PureDP(1), samples=100_000, rng=1)
    assert found.verdict is VIOLATION


@pytest.mark.parametrize("scale", [1, 10_000])
def test_outputs_on_a_coarse_lattice(scale):
    """Noise in even steps gives the input's parity away, however wide it is."""

    def even(x, size, rng):
        return x + 2 * np.rint(rng.laplace(0, scale, size)).astype(np.int64)

    found = audit_sampler(even, PureDP(1), samples=20_000, rng=1)
    assert found.verdict is VIOLATION
    assert found.epsilon > 5


@pytest.mark.parametrize("known", [False, True])
def test_reduced_outputs(known):
    """Mod m the outputs of both inputs lie on both ends of 0, ..., m - 1."""
    claimed = AdditiveNoise(DiscreteLaplace(2), 1, 1001)
    given = claimed if known else None
    found = audit_sampler(modulo(laplace(0.6), 1001), HALF, samples=100_000, rng=1, mechanism=given)
    assert found.verdict is VIOLATION
    assert 0.5 < found.epsilon < 0.6
    silent = audit_sampler(
        modulo(laplace(0.5), 1001), HALF, samples=100_000, rng=1, mechanism=given
    )
    assert silent.verdict is NONE


def test_a_small_delta_that_gives_the_input_away():
    def leaky(x, size, rng):
        return np.where(rng.random(size) < 0.003, 1000 + x, laplace(0.5)(x, size, rng))

    found = audit_sampler(leaky, ApproxDP("0.5", "0.001"), samples=100_000, rng=1)
    assert found.verdict is VIOLATION
    assert 0.001 < found.delta < 0.003
    silent = audit_sampler(leaky, ApproxDP("0.5", "0.003"), samples=100_000, rng=1)
    assert silent.verdict is NONE


def test_one_bad_pair_among_several():
    def careless(x, size, rng):
        return laplace(0.5 if x < 10 else 0.7)(x, size, rng)

    pairs = [(0, 1), (5, 6), (10, 11)]
    found = audit_sampler(careless, HALF, pairs, 100_000, rng=1)
    assert found.verdict is VIOLATION
    assert found.best.inputs == (10, 11)
    assert math.isclose(sum(test.bounds.error for test in found.tests), 1e-6, rel_tol=0.01)
    assert audit_sampler(careless, HALF, pairs[:2], 100_000, rng=1).verdict is NONE


@pytest.mark.parametrize("swap", [False, True])
def test_one_direction_only(swap):
    """P(1) = 0.5 against Q(1) = 0.25: log 2 one way, log 1.5 the other way."""

    def bit(x, size, rng):
        return rng.random(size) < (0.5 if bool(x) is swap else 0.25)

    found = audit_sampler(bit, HALF, samples=100_000, rng=1)
    assert found.verdict is VIOLATION
    assert 0.5 < found.epsilon < math.log(2)


def test_a_large_delta_is_charged_for():
    def bit(x, size, rng):
        return rng.random(size) < (0.75, 0.0)[x]

    found = audit_sampler(bit, ApproxDP("0.1", "0.6"), samples=20_000, rng=1)
    assert found.verdict is VIOLATION
    assert 0.6 < found.delta < 0.75
    assert audit_sampler(bit, ApproxDP(0, "0.75"), samples=20_000, rng=1).verdict is NONE


# -- laws that are known ------------------------------------------------------------------------


def test_the_likelihood_ratio_event_needs_no_training():
    found = audit_sampler(laplace(0.5), HALF, samples=10_000, rng=1, mechanism=CLAIMED)
    by_law, trained = found.tests
    assert (by_law.chosen_by, trained.chosen_by) == ("claimed law", "training samples")
    assert isinstance(by_law.plan, Guessing)
    assert str(by_law.plan) == "guess the first input on x <= 0, the second input on x >= 1"
    assert by_law.bounds.detectable_epsilon < trained.bounds.detectable_epsilon
    assert by_law.counts["trials"] > trained.counts["trials"]


def test_wide_laws():
    claimed = AdditiveNoise(Skellam(10**8), 1000)
    found = audit_sampler(
        lambda x, size, rng: x + rng.poisson(5e7, size) - rng.poisson(5e7, size),
        PureDP(1),
        (0, 1000),
        10_000,
        rng=1,
        mechanism=claimed,
    )
    assert found.verdict is NONE


def test_a_pair_of_finite_laws():
    pair = FinitePair(("0", "1"), ("0.75", "0.25"), ("0.25", "0.75"))

    def sampler(x, size, rng):
        return rng.random(size) < (0.25, 0.75)[x]

    found = audit_sampler(sampler, PureDP(1), samples=10_000, rng=1, mechanism=pair)
    assert found.verdict is VIOLATION
    assert found.best.chosen_by == "claimed law"


# -- what is asked for and what is given --------------------------------------------------------


def test_the_same_seed_gives_the_same_answer():
    first, second = (audit_sampler(laplace(0.5), HALF, samples=1000, rng=5) for _ in range(2))
    assert first == second


def audit_samples(one, two, claim, rng):
    return audit_sampler(lambda x, *_: (one, two)[x], claim, samples=len(one), rng=rng)


def test_samples_that_were_drawn_before():
    rng = np.random.default_rng(1)
    one, two = laplace(0.6)(0, 100_000, rng), laplace(0.6)(1, 100_000, rng)
    assert audit_samples(one, two, HALF, rng=1).verdict is VIOLATION
    assert audit_samples(one.tolist(), one.tolist(), HALF, rng=1).verdict is NONE


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"claim": RenyiDP(2, 1)}, "claim"),
        ({"claim": PureDP(1000)}, "epsilon"),
        ({"samples": 99}, "samples"),
        ({"samples": "1e10"}, "samples"),
        ({"samples": 1.5}, "samples"),
        ({"error": 0}, "error"),
        ({"error": "1e-20"}, "error"),
        ({"error": 0.9}, "error"),
        ({"inputs": ()}, "inputs"),
        ({"inputs": (1, 2, 3)}, "inputs"),
        ({"inputs": [(1, 2), (1,)]}, "inputs"),
        ({"mechanism": CLAIMED, "inputs": (0, 2)}, "sensitivity"),
        ({"mechanism": CLAIMED, "inputs": (1, 1)}, "sensitivity"),
        ({"mechanism": RandomizedResponse(1)}, "law"),
        ({"sampler": lambda x, size, rng: rng.random(size), "mechanism": CLAIMED}, "of floats"),
        ({"sampler": lambda x, size, rng: np.zeros((size, 2, 2))}, "one length"),
        ({"sampler": lambda x, size, rng: np.zeros((size, x + 2), int)}, "same length"),
        ({"sampler": lambda x, size, rng: rng.random(size) if x else [2**60] * size}, "2.53"),
        ({"sampler": lambda x, size, rng: ["a"] * size}, "numbers"),
        ({"sampler": lambda x, size, rng: [2**70] * size}, "2^62"),
        ({"sampler": lambda x, size, rng: [None] * size}, "integers"),
        ({"sampler": lambda x, size, rng: 1}, "shape"),
        ({"sampler": lambda x, size, rng: [1] * (size - 1)}, "shape"),
        ({"sampler": lambda x, size, rng: 1 / 0}, "ZeroDivisionError"),
    ],
)
def test_bad_input_is_named(arguments, named):
    given = {"sampler": laplace(0.5), "claim": HALF, "samples": 100} | arguments
    with pytest.raises(ParameterError, match=named.replace("^", r"\^")):
        audit_sampler(**given)


def test_sorted_samples_are_shuffled_first():
    rng = np.random.default_rng(1)
    one, two = (np.sort(laplace(0.5)(x, 20_000, rng)) for x in (0, 1))
    assert audit_samples(one, two, HALF, rng=1).verdict is NONE
