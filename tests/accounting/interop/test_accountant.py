"""dp_accounting's interface, its own tests, and events of every kind."""

import itertools
import json
import math
import random
from fractions import Fraction

import attr
import dp_accounting
import numpy as np
import pytest
from dp_accounting import dp_event, privacy_accountant_test
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from flint import arb

import exactdp
from exactdp import ParameterError
from exactdp.accounting.interop.profiles import NormalMixtures
from exactdp.accounting.interop.reading import read
from exactdp.exact.precision import working_precision
from exactdp.interop import ExactAccountant, UnsupportedEventError, from_dp_event

Relation = dp_accounting.NeighboringRelation
ADD, ONE, SPECIAL = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE, Relation.REPLACE_SPECIAL
GAUSSIAN, SAMPLED = dp_event.GaussianDpEvent, dp_event.PoissonSampledDpEvent
WITHOUT = dp_event.SampledWithoutReplacementDpEvent
DELTA = 1e-6


def event(name, **fields):
    """dp_accounting's event, or one of this name where the installed version has none."""
    known = getattr(dp_event, name, None)
    if known is None:
        known = attr.make_class(name, list(fields), bases=(dp_event.DpEvent,), frozen=True)
    return known(**fields)


def epsilon(one, relation=ADD, count=1, delta=DELTA):
    return ExactAccountant(relation).compose(one, count).get_epsilon(delta)


class TheirTest(privacy_accountant_test.PrivacyAccountantTest):
    """dp_accounting's own tests of accountants, of ours."""

    def _make_test_accountants(self):
        return [ExactAccountant(relation) for relation in Relation]


EVERY = [  # all classes of dp_accounting's head, and a relation that each is accounted for under
    (event("NoOpDpEvent"), ADD),
    (event("NonPrivateDpEvent"), ADD),
    (event("RandomizedResponseDpEvent", noise_parameter=0.4, num_buckets=5), ONE),
    (event("EpsilonDeltaDpEvent", epsilon=0.5, delta=1e-8), ADD),
    (GAUSSIAN(2.0), ADD),
    (event("LaplaceDpEvent", noise_multiplier=2.0), ADD),
    (event("DiscreteLaplaceDpEvent", noise_parameter=0.5, sensitivity=2), ADD),
    (event("DiscreteGaussianDpEvent", sigma=3.0, sensitivity=2.0, dimension=None), ADD),
    (event("SelfComposedDpEvent", event=GAUSSIAN(2.0), count=3), ADD),
    (event("ComposedDpEvent", events=[GAUSSIAN(2.0), GAUSSIAN(3.0)]), ADD),
    (event("PoissonSampledDpEvent", sampling_probability=0.1, event=GAUSSIAN(2.0)), ADD),
    (dp_event.SampledWithReplacementDpEvent(1000, 2, GAUSSIAN(8.0)), ONE),
    (dp_event.SampledWithoutReplacementDpEvent(1000, 10, GAUSSIAN(8.0)), ONE),
    (event("SingleEpochTreeAggregationDpEvent", noise_multiplier=3.0, step_counts=[3, 8]), SPECIAL),
    (event("RepeatAndSelectDpEvent", event=GAUSSIAN(4.0), mean=3.0, shape=1.0), ADD),
    (dp_event.MixtureOfGaussiansDpEvent(4.0, [0.0, 1.0], [0.5, 0.5]), ADD),
    (event("ZCDpEvent", rho=0.1, xi=0.01), ADD),
    (event("ExponentialMechanismDpEvent", epsilon=0.5), ADD),
    (event("PermuteAndFlipDpEvent", epsilon=0.5), ADD),
    (dp_event.TruncatedSubsampledGaussianDpEvent(8, 0.05, 6, 4.0), ADD),
]
BY_PROFILE = (
    "SampledWithReplacementDpEvent",
    "MixtureOfGaussiansDpEvent",
    "TruncatedSubsampledGaussianDpEvent",
)


@pytest.mark.contract
@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(("one", "relation"), EVERY, ids=lambda one: type(one).__name__)
def test_every_event_has_a_figure(one, relation):
    accountant = ExactAccountant(relation)
    assert accountant.supports(one) and accountant.get_epsilon(DELTA) == 0
    found = accountant.compose(one).get_epsilon(DELTA)
    free = type(one).__name__ in ("NoOpDpEvent", "NonPrivateDpEvent")
    assert found in (0, math.inf) if free else 0 < found < 5
    if not free:
        assert accountant.get_delta(found) <= DELTA * 1.001
        assert accountant.get_delta(found * 0.99) > accountant.get_delta(found)
    if not free and type(one).__name__ not in BY_PROFILE:  # of these a grid takes seconds
        assert accountant.compose(one).get_epsilon(DELTA) > found


@pytest.mark.contract
@pytest.mark.slow_cases(
    "one5-NeighboringRelation.REPLACE_ONE-gaussian:sigma=8,sensitivity=2,fixed-size=10/1000",
    "one7-NeighboringRelation.REPLACE_ONE-guarantee:zcdp:0.1",
)
@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(
    ("one", "relation", "spec"),
    [
        (GAUSSIAN(2.0), ONE, "gaussian:sigma=2,sensitivity=2"),
        (GAUSSIAN(2.0), SPECIAL, "gaussian:sigma=2,neighbours=add-remove"),
        (EVERY[3][0], ADD, "guarantee:approx:0.5,1e-8"),
        (EVERY[6][0], ADD, "discrete-laplace:scale=2,sensitivity=2,neighbours=add-remove"),
        (EVERY[7][0], ADD, "discrete-gaussian:sigma=3,l2=2,neighbours=add-remove"),
        (EVERY[12][0], ONE, "gaussian:sigma=8,sensitivity=2,fixed-size=10/1000"),
        (EVERY[13][0], SPECIAL, "gaussian:sigma=3,neighbours=add-remove*4"),
        (event("ZCDpEvent", rho=0.1, xi=0), ONE, "guarantee:zcdp:0.1"),
        (EVERY[18][0], ADD, "laplace:scale=2"),
        (
            dp_event.PoissonSampledDpEvent(0.1, EVERY[9][0]),
            ADD,
            "gaussian:sigma2=36/13,neighbours=add-remove,poisson=0.1",
        ),
        (
            dp_event.PoissonSampledDpEvent(0.1, event("LaplaceDpEvent", noise_multiplier=2.0)),
            ADD,
            "laplace:scale=2,neighbours=add-remove,poisson=0.1",
        ),
        (
            dp_event.PoissonSampledDpEvent(0.1, event("ExponentialMechanismDpEvent", epsilon=1)),
            ADD,
            "randomized-response:epsilon=1,neighbours=add-remove,poisson=0.1",
        ),
    ],
)
def test_what_events_mean(one, relation, spec):
    for times in (1, 7):
        known = (times * exactdp.mechanism(spec)).epsilon(str(DELTA))
        found = Fraction(epsilon(one, relation, times))
        assert known.lower <= found <= Fraction(known.upper) * (1 + Fraction(1, 10**5))


@pytest.mark.contract
def test_blank_records_of_randomized_response():
    """One is replaced by nothing: P = (1 - p + p/k, ...) against the uniform law."""
    one = event("RandomizedResponseDpEvent", noise_parameter=0.4, num_buckets=5)
    assert epsilon(one, SPECIAL, delta=0) == pytest.approx(math.log(0.68 * 5))
    assert epsilon(one, ONE, delta=0) == pytest.approx(math.log(0.68 / 0.08))
    assert epsilon(one, ONE, count=10, delta=0) == pytest.approx(10 * math.log(0.68 / 0.08))
    assert epsilon(event("DiscreteLaplaceDpEvent", noise_parameter=math.inf, sensitivity=1)) > 1e9


@pytest.mark.contract
@pytest.mark.parametrize(
    ("one", "relation"),
    [
        (event("ZCDpEvent", rho=0.1, xi=0.01), ADD),
        (dp_event.PoissonSampledDpEvent(0.01, event("ZCDpEvent", rho=0.5, xi=0)), ADD),
        (WITHOUT(1000, 16, event("ZCDpEvent", rho=0.5, xi=0)), ONE),
        (event("RepeatAndSelectDpEvent", event=GAUSSIAN(4.0), mean=5.0, shape=0.5), ADD),
        (event("RepeatAndSelectDpEvent", event=GAUSSIAN(4.0), mean=5.0, shape=math.inf), ADD),
        (event("RepeatAndSelectDpEvent", event=EVERY[10][0], mean=2.0, shape=0.0), ADD),
    ],
)  # fmt: skip
def test_what_is_known_by_divergences_alone(one, relation):
    """Near dp_accounting's own figure, by the same theorems."""
    if not RdpAccountant(neighboring_relation=relation).supports(one):
        pytest.skip("an event of later versions")
    for count in (1, 10):
        theirs = RdpAccountant(neighboring_relation=relation).compose(one, count)
        ours = ExactAccountant(relation).compose(one, count)
        assert ours.get_epsilon(DELTA) <= theirs.get_epsilon(DELTA) * 1.02
        assert ours.get_delta(2.0) <= theirs.get_delta(2.0) * 1.1


def test_two_outcomes_of_sampled_zcdp():
    """Randomized response of epsilon is epsilon^2/2-zCDP: its divergences lie below the bound."""
    from exactdp.accounting.interop.account import Concentrated

    for size in ("0.5", "2"):
        bound = Concentrated(Fraction(1, 10), Fraction(size) ** 2 / 2)
        spec = f"randomized-response:epsilon={size},neighbours=add-remove,poisson=0.1"
        for order in ("1.5", "2", "3.7", "20"):
            most = bound.renyi(Fraction(order))
            assert exactdp.mechanism(spec).renyi(order).upper <= Fraction(float(most.upper())) * 2
            assert float(exactdp.mechanism(spec).renyi(order).lower) <= float(most.upper())


@pytest.mark.contract
@pytest.mark.parametrize(
    ("one", "relation", "said"),
    [
        (EVERY[2][0], ADD, "REPLACE_ONE"),
        (event("LaplaceDpEvent", noise_multiplier=1.0), ONE, "ADD_OR_REMOVE_ONE"),
        (EVERY[13][0], ADD, "REPLACE_SPECIAL"),
        (EVERY[12][0], ADD, "REPLACE_ONE"),
        (SAMPLED(0.1, EVERY[5][0]), ONE, "ADD_OR"),
        (SAMPLED(0.1, SAMPLED(0.1, GAUSSIAN(1.0))), ADD, "PoissonSampledDpEvent of"),
        (dp_event.UnsupportedDpEvent(), ADD, "UnsupportedDpEvent"),
    ],
)  # fmt: skip
def test_what_is_not_supported(one, relation, said):
    accountant = ExactAccountant(relation)
    with pytest.raises(dp_accounting.UnsupportedEventError, match=said):
        accountant.compose(dp_event.ComposedDpEvent([GAUSSIAN(1.0), one]))
    assert accountant.get_epsilon(DELTA) == 0 and not accountant.supports(one)


@pytest.mark.contract
def test_bad_numbers_are_refused():
    accountant = ExactAccountant()
    for bad in (GAUSSIAN(-1.0), dp_event.PoissonSampledDpEvent(1.5, GAUSSIAN(1.0)),
                dp_event.MixtureOfGaussiansDpEvent(1.0, [1.0], [0.5]),
                event("ExponentialMechanismDpEvent", epsilon=-1.0)):  # fmt: skip
        with pytest.raises(ParameterError):
            accountant.compose(bad)
    with pytest.raises(ParameterError, match="target_delta"):
        accountant.compose(GAUSSIAN(1.0)).get_epsilon(2)
    with pytest.raises(ParameterError, match="target_epsilon"):
        accountant.get_delta(-1)
    with pytest.raises(ParameterError, match="relation"):
        from_dp_event(GAUSSIAN(1.0), "NEIGHBOURS")
    with pytest.raises(UnsupportedEventError, match="MixtureOfGaussians"):
        from_dp_event(EVERY[15][0])
    assert json.loads(json.dumps({"class_name": "NoOpDpEvent"})) and accountant.get_epsilon(1) == 0


@pytest.mark.contract
def test_calibration_by_their_function():
    found = dp_accounting.calibrate_dp_mechanism(
        ExactAccountant,
        lambda sigma: dp_event.SelfComposedDpEvent(
            dp_event.PoissonSampledDpEvent(0.1, GAUSSIAN(sigma)), 512
        ),
        1.0,
        1e-6,
        tol=1e-4,
    )
    assert found == pytest.approx(9.66, abs=0.01)


def random_event(seed):
    """A list of up to three kinds of events that PLDAccountant composes, and a relation."""
    draw, relation = random.Random(seed), list(Relation)[seed % 3]
    sigma = round(draw.uniform(0.8, 5), 2)
    kinds = [GAUSSIAN(sigma), dp_event.PoissonSampledDpEvent(0.05, GAUSSIAN(sigma))]
    if relation is not ONE:
        discrete = {"noise_parameter": 0.3, "sensitivity": draw.randint(1, 3)}
        kinds.append(event("LaplaceDpEvent", noise_multiplier=sigma))
        kinds.append(event("DiscreteLaplaceDpEvent", **discrete))
    chosen = draw.sample(kinds, draw.randint(1, 2))
    return dp_event.ComposedDpEvent(
        [dp_event.SelfComposedDpEvent(one, draw.choice([1, 5, 40])) for one in chosen]
    ), relation


@pytest.mark.contract
@pytest.mark.slow_cases("1")
@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_random_events_lie_between_the_truth_and_a_pessimistic_distribution(seed):
    one, relation = random_event(seed)
    ours, theirs = epsilon(one, relation), PLDAccountant(relation).compose(one).get_epsilon(DELTA)
    assert ours <= theirs * (1 + 1e-6)
    try:
        assert from_dp_event(one, relation.name).epsilon(str(DELTA)).lower <= Fraction(ours)
    except UnsupportedEventError:
        assert relation is ONE and ours > theirs * (1 - 1e-3)


def delta_of(first, second, level):
    """Of mixtures of N(m, 1), {m: weight}, by a plain sum in floats."""
    x, width = np.linspace(-30, 30, 600_001, retstep=True)

    def density(mixture):
        parts = [weight * np.exp(-((x - m) ** 2) / 2) for m, weight in mixture.items()]
        return sum(parts) * width / math.sqrt(2 * math.pi)

    return float(np.maximum(density(first) - math.exp(level) * density(second), 0).sum())


TRUNCATED = dp_event.TruncatedSubsampledGaussianDpEvent(2, 0.4, 1, 1.0)
TWO_DRAWS = dp_event.SampledWithReplacementDpEvent(2, 2, GAUSSIAN(1.0))
DATASETS = [  # two records, the other of which is -1, under one relation: their outputs
    (TRUNCATED, ADD, {0: 0.36, 1: 0.32, -1: 0.32}, {0: 0.6, -1: 0.4}),
    (TRUNCATED, ONE, {0: 0.36, 1: 0.32, -1: 0.32}, {0: 0.36, -1: 0.64}),
    (TRUNCATED, SPECIAL, {0: 0.36, 1: 0.32, -1: 0.32}, {0: 0.68, -1: 0.32}),
    (dp_event.TruncatedSubsampledGaussianDpEvent(2, 1.0, 2, 1.0), ONE, {0: 1.0}, {-2: 1.0}),
    (TWO_DRAWS, ONE, {-2: 0.25, 0: 0.5, 2: 0.25}, {-2: 1.0}),
    (SAMPLED(0.4, GAUSSIAN(1.0)), ONE, {0: 0.6, 1: 0.4}, {0: 0.6, -1: 0.4}),
    (
        dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 2.0, 4.0], [0.5, 0.3, 0.2]),
        ADD,
        {0: 0.5, 1: 0.3, 2: 0.2},
        {0: 1.0},
    ),
]


@pytest.mark.parametrize(("one", "relation", "first", "second"), DATASETS)
def test_what_datasets_attain_is_no_more(one, relation, first, second):
    """The bound of the profile of either direction, from which all else follows."""
    ((part, times, _),) = read(one, relation.name)
    assert times == 1
    for level in (0.0, 0.3, 1.0, 2.5):
        for way, pair in ((part.ahead, (first, second)), (part.back, (second, first))):
            with working_precision(128):
                most = float(way.profile(arb(level)).upper())
            truth = delta_of(*pair, level)
            assert truth <= most + 1e-9
            if isinstance(way, NormalMixtures):  # the pair itself
                assert most <= truth + 1e-8


@pytest.mark.contract
def test_permute_and_flip_is_no_more_than_laplace_noise():
    for size in ("0.1", "1", "5"):
        one = event("PermuteAndFlipDpEvent", epsilon=float(size))
        known = exactdp.mechanism(f"permute-and-flip:epsilon={size}")
        for delta in (1e-6, 0.01, 0.2):
            assert known.epsilon(str(delta)).lower <= Fraction(epsilon(one, delta=delta))


def test_the_order_of_events_changes_no_digit() -> None:
    events = [
        event("SelfComposedDpEvent", event=SAMPLED(0.01, GAUSSIAN(1.0)), count=100),
        event("SelfComposedDpEvent", event=SAMPLED(0.02, GAUSSIAN(2.0)), count=50),
        event("SelfComposedDpEvent", event=SAMPLED(0.05, GAUSSIAN(3.0)), count=20),
    ]
    orders = itertools.permutations(events)
    assert len({epsilon(dp_event.ComposedDpEvent(list(order))) for order in orders}) == 1
