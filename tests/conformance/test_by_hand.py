"""Parts of mechanisms and protocols that few specs reach hold, against truth by hand."""

import math
from fractions import Fraction
from itertools import combinations

import brute_force
import mpmath
import numpy as np
import oracles
import pytest
from flint import arb
from mpmath import mpf

import exactdp
from exactdp.exact.number import Linear, Logarithm
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.additive.shuffle import ShuffleSum
from exactdp.mechanisms.local.shuffled_crowd import Crowd
from exactdp.mechanisms.selection.key_lists import WorstCounts, groups
from exactdp.protocols.aggregation.masked.graph import graph_failure
from exactdp.protocols.federated import Settings
from exactdp.protocols.rounding import worst_rounding_quantile

# -- names of keys --------------------------------------------------------------------------------


def _rule(spec: str):
    (use,) = exactdp.mechanism(spec).uses
    return use.mechanism.rule


@pytest.mark.parametrize("bits", [64, 256])
def test_groups_of_counts_tell_as_much_as_a_count_of_theirs(bits: int) -> None:
    """A user's 1 at a distance t raises P(released) by e^(-t)(1 - e^(-1/scale))/2, or so."""
    scale, threshold = Fraction(10) ** 60, Fraction(10) ** 63
    rule = _rule("laplace:scale=1e60,threshold=1e63,names=yes")
    with working_precision(bits):
        cells, found = rule.cells(), [(one.first, one.masses()) for one in groups(rule)]
    for place, ((p, _), (q, _)) in found[1:]:
        t = oracles.real(abs(threshold - cells[place].count) / scale)
        truth = mpmath.exp(-t) * -mpmath.expm1(-1 / oracles.real(scale)) / 2
        assert oracles.exactly(truth) * Fraction(999, 1000) <= Fraction(float((p - q).abs_upper()))


def test_lists_of_counts_cost_no_less_than_a_key_that_nobody_else_holds() -> None:
    """It is released with P(Z >= 4), Z of deviation 2, and never without the user."""
    worst = WorstCounts(_rule("gaussian:sigma=2,threshold=5,names=yes"), 2)
    alone = oracles.exactly(1 - mpmath.ncdf(2) ** 2)
    assert alone <= worst.delta_at_most(Fraction(0), 1e-3)
    assert not worst.costs_at_most(Fraction(0), alone / 2)


# -- sums -----------------------------------------------------------------------------------------


def test_sums_of_bits_whose_chance_is_a_logarithm() -> None:
    """Five noise bits with chance log(4)/4: one more or less is seen as of any binomial law."""
    protocol = ShuffleSum(5, 1, Linear(Fraction(0), Fraction(1, 4), Logarithm(Fraction(4))))
    pair = brute_force.shifted(oracles.binomial(5, oracles.exactly(mpmath.log(4) / 4)), 1, 6)
    answer = exactdp.compose(protocol.released()).delta("1/2")
    oracles.assert_holds(answer, brute_force.delta(pair, mpf(1) / 2))
    assert protocol.error_quantile(1) == 0


def test_how_far_off_many_rounded_numbers_are_by_the_normal_law() -> None:
    """The least t with Phi(-2(t-1)/100) + Phi(-2t/100) <= 1/100 is no more than that."""
    beyond = (mpmath.ncdf(-mpf(t - 1) / 50) + mpmath.ncdf(-mpf(t) / 50) for t in range(1, 300))
    least = next(t for t, tail in enumerate(beyond, 1) if tail <= mpf(1) / 100)
    assert worst_rounding_quantile(10_000, "1/100").upper <= least


@pytest.mark.parametrize("count", [250, 1000])
def test_positive_parts_of_long_sums(count: int) -> None:
    """Of 1 with chance 1/8 and -1 with chance 1/4: all sums, by convolution."""
    chances, zero, one = [arb(1) / 8, arb(1) / 4], arb(0), arb(1)
    crowd = Crowd([chances[0], zero], [zero, chances[1]], chances, False)
    found = crowd.measured(count, one, 1e-3)
    lower, upper = (float(end * count) for end in (found.attained(one), found.bound(one)))
    law = np.ones(1)
    for _ in range(count):
        law = np.convolve(law, [1 / 4, 5 / 8, 1 / 8])
    truth = float(law @ np.maximum(np.arange(-count, count + 1), 0))
    assert lower <= truth * (1 + 1e-9) and truth * (1 - 1e-9) <= upper
    assert upper - lower <= truth / 100


# -- graphs of neighbours -------------------------------------------------------------------------


def _is_cut(remaining: tuple[int, ...], n: int, half: int) -> bool:
    """Do some of these places on a circle of n not reach others by steps of at most `half`?"""
    reached, seen = [remaining[0]], {remaining[0]}
    while reached:
        at = reached.pop()
        near = {other for other in remaining if min((at - other) % n, (other - at) % n) <= half}
        reached += near - seen
        seen |= near
    return len(seen) < len(remaining)


def test_graphs_fail_as_often_as_all_sets_of_users_say() -> None:
    """The bounds: how many honest users see 3 corrupt ones of 4; how often those left are cut."""
    n, corrupt, dropout = 12, 4, 2
    found = graph_failure(n, 4, 3, corrupt, dropout)
    near = [{(i + step) % n for step in (-2, -1, 1, 2)} for i in range(n)]
    exposed = sum(
        len(near[i].intersection(held)) >= 3
        for held in combinations(range(n), corrupt) for i in set(range(n)).difference(held)
    )  # fmt: skip
    left = list(combinations(range(n), n - corrupt - dropout))
    cut = Fraction(sum(_is_cut(some, n, 2) for some in left), len(left))
    for answer, truth in ((found.exposed, Fraction(exposed, math.comb(n, corrupt))),
                          (found.disconnected, cut)):  # fmt: skip
        assert answer.lower <= truth <= answer.upper <= truth + Fraction(1, 10**9)


# -- certificates ---------------------------------------------------------------------------------


@pytest.mark.contract
def test_a_certificate_says_that_scores_move_the_same_way() -> None:
    """Then pure epsilon is 1/scale, else 2/scale."""
    spec, claim = "noisy-max:scale=2,candidates=3,monotone=yes", "pure:1/2"
    assert exactdp.certify(spec, claim).verdict.name == "VERIFIED"


@pytest.mark.contract
@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("spec", ["binomial:trials=4e5,probability=1/3,sensitivity=50",
    "binomial:trials=4e6,probability=1/2,sensitivity=500"])  # fmt: skip
@pytest.mark.slow
def test_a_period_of_thirty_deviations_around_the_mean_loses_nothing(spec: str) -> None:
    """Noise whose mean is far from 0 is reduced as that around 0 is."""
    other = exactdp.mechanism("gaussian:sigma=100")
    plain, reduced = (
        (exactdp.mechanism(f"{spec}{more}") + other).epsilon("1e-6") for more in
        ("", ",modulus=65536")
    )  # fmt: skip
    assert plain.is_within(Fraction(1, 10**6)) and reduced.is_within(Fraction(1, 10**6))
    plain.intersection(reduced)  # or they contradict each other


@pytest.mark.contract
@pytest.mark.slow
def test_losses_on_a_lattice_too_long_are_moved_to_a_coarser_one() -> None:
    """Noise of scale 1e6 against a move by as much costs what Laplace noise does, to 1e-4."""
    specs = "discrete-laplace:scale=1000000,sensitivity=1000000", "laplace:scale=1"
    fine, limit = ((100 * exactdp.mechanism(spec)).epsilon("1e-3") for spec in specs)
    assert fine.is_within(Fraction(1, 10**3)) and limit.is_within(Fraction(1, 10**6))
    assert abs(Fraction(fine.upper) / Fraction(limit.upper) - 1) < Fraction(1, 10**4)


@pytest.mark.contract
def test_a_level_beyond_all_losses_has_no_delta() -> None:
    """Two releases lose at most 2 log(1 + 3/10 (e^1 - 1)) < 1, however seldom an outcome is."""
    spec = "polya-difference:shape=9/10,scale=1,neighbours=add-remove,poisson=3/10"
    assert (2 * exactdp.mechanism(spec)).delta(1) == exactdp.Enclosure(0, 0)


def test_a_round_of_vectors_has_no_other_key() -> None:
    keys = {"mechanism": "skellam", "clip": "1", "scale": "4", "clients": "5", "local-stddev": "1",
            "dimension": "4", "bits": "6", "rounding": "nearest"}  # fmt: skip
    assert Settings.read(keys).clients == 5
    with pytest.raises(exactdp.ParameterError, match="colour"):
        Settings.read(keys | {"colour": "1"})


@pytest.mark.contract
@pytest.mark.slow
def test_noise_with_a_peak_too_wide_to_list_is_known_narrowly() -> None:
    """Most of the loss is that of few outcomes around 0, which are looked at one by one."""
    releases = 12 * exactdp.mechanism("polya-difference:shape=1/2,scale=2e5")
    assert releases.epsilon("1e-5").is_within(Fraction(1, 10**4))
    assert releases.epsilon("1e-3").upper == 0
