"""Names of keys alone, against enumeration; and the optimal rule against its recurrence."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb

from exactdp import ApproxDP, ParameterError, Verdict
from exactdp.accounting import compose
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.key_lists import groups
from exactdp.mechanisms.key_names import Optimal
from exactdp.mechanisms.spec import parse
from exactdp.verify import audit


def _chance(scale: float, threshold: int, count: int) -> float:
    """P(count + discrete Laplace >= threshold)."""
    if count <= 0:
        return 0.0
    decay, short = math.exp(-1 / scale), threshold - count
    if short > 0:
        return decay**short / (1 + decay)
    return 1 - decay ** (1 - short) / (1 + decay)


def _delta(pairs: list[tuple[float, float]], level: float) -> float:
    worst = 0.0
    for turned in (False, True):
        total = 0.0
        for seen in itertools.product((True, False), repeat=len(pairs)):
            p = math.prod(a if yes else 1 - a for yes, (a, _) in zip(seen, pairs, strict=True))
            q = math.prod(b if yes else 1 - b for yes, (_, b) in zip(seen, pairs, strict=True))
            p, q = (q, p) if turned else (p, q)
            total += max(p - math.exp(level) * q, 0)
        worst = max(worst, total)
    return worst


@pytest.mark.parametrize("sensitivity", [1, 2, 3])
@pytest.mark.parametrize("keys", [1, 2])
@pytest.mark.parametrize("level", [0.0, 0.2, 0.9])
def test_names_of_noisy_counts_cost_what_the_worst_counts_do(sensitivity, keys, level):
    scale, threshold = 2, 7
    found = compose(
        parse(
            f"discrete-laplace:scale={scale},threshold={threshold},keys={keys},"
            f"sensitivity={sensitivity},names=yes"
        ).mechanism
    ).delta(str(level))
    each = [
        (_chance(scale, threshold, n + d), _chance(scale, threshold, n))
        for n in range(40)
        for d in range(1, sensitivity + 1)
    ]
    worst = max(
        _delta(list(pairs), level) for pairs in itertools.combinations_with_replacement(each, keys)
    )
    assert found.is_within(Fraction(1, 10**9))
    assert float(found) == pytest.approx(worst, rel=1e-9)


def _worst(chances: list[float], step: int, keys: int, level: float) -> float:
    pairs = [(chances[n + step], chances[n]) for n in range(len(chances) - step)]
    lists = itertools.combinations_with_replacement(pairs, keys)
    return max(_delta(list(one), level) for one in lists)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("text", "level"), [
    ("discrete-gaussian:sigma2=4,threshold=6,keys=2,names=yes", "0.1"),
    ("discrete-gaussian:sigma2=4,threshold=6,keys=3,names=yes", "0.5"),
    ("discrete-gaussian:sigma2=2,threshold=5,keys=2,sensitivity=3,names=yes", "1"),
    ("binomial:trials=6,probability=1/2,threshold=8,keys=3,names=yes", "0.2"),
    ("partition-selection:epsilon=1,delta=1/1000,keys=3", "0.4"),
])  # fmt: skip
def test_several_keys_cost_what_the_worst_list_of_counts_does(text, level):
    mechanism = parse(text).mechanism
    step, high = int(mechanism.rule.step), 24
    with working_precision(100):
        chances = [float(mechanism.rule.chances(n)[0].mid()) for n in range(high)]
    worst = _worst(chances, step, mechanism.keys, float(level))
    found = compose(mechanism).delta(level)
    assert float(found.lower) <= worst * (1 + 1e-9) and worst <= float(found) * (1 + 1e-9)
    assert found.is_within(Fraction(1, 10**4))


@pytest.mark.slow
def test_an_epsilon_of_several_keys_is_where_their_delta_is():
    mechanism = parse("discrete-gaussian:sigma=3,threshold=12,keys=2,names=yes").mechanism
    found = compose(mechanism).epsilon("1e-3")
    assert found.is_within(Fraction(1, 10**3))
    assert compose(mechanism).delta(Fraction(found.upper)).lower <= Fraction(1, 1000)
    assert compose(mechanism).delta(Fraction(found.lower)).upper >= Fraction(1, 1000)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("text", [
    "discrete-gaussian:sigma2=4,threshold=6,sensitivity=2,names=yes",
    pytest.param(  # not log-concave
        "polya-difference:shape=0.9,scale=2,threshold=7,names=yes", marks=pytest.mark.slow
    ),
    pytest.param(  # several counts in each cell
        "discrete-laplace:scale=2000,threshold=5000,names=yes", marks=pytest.mark.slow
    ),
    "laplace:scale=2,threshold=7,names=yes",
    "gaussian:sigma=2,threshold=7,sensitivity=3/2,names=yes",
    "partition-selection:epsilon=1/1000,delta=1e-9",
])  # fmt: skip
def test_cells_and_their_groups_dominate_their_counts(text):
    """r and s of a cell bound those of the counts in it, and of all beyond, of groups too."""
    rule = parse(text).mechanism.rule
    with working_precision(100):
        cells, seen = rule.cells(), groups(rule)
        assert [group.first for group in seen][1:] == [group.last + 1 for group in seen][:-1]
        assert (seen[0].first, seen[-1].last) == (0, len(cells) - 1)
        for at in {*range(0, len(cells), max(1, len(cells) // 40)), len(cells) - 1}:
            cell, group = cells[at], next(each for each in seen if each.first <= at <= each.last)
            if rule.whole:  # from its count up to that of the next
                end = cells[at + 1].count - 1 if at + 1 < len(cells) else cell.count + 5
            else:  # beyond that of the one before, up to its count
                end = (cells[max(at, 1) - 1].count + cell.count) / 2
            for count in {cell.count, max(cell.count, end) if rule.whole else end} if at else {0}:
                (p, less), (q, more) = rule.chances(count + rule.step), rule.chances(count)
                assert not p > cell.odds * q or not cell.odds.is_finite()
                assert not less < cell.withheld * more
                (g_p, _), (g_q, _) = group.masses()
                for odds in (0.5, 0.9, 1.0, 1.1, 3.0):
                    ours = (p - odds * q).max(arb(0)) + (less - odds * more).max(arb(0))
                    theirs = (g_p - odds * g_q).max(arb(0))
                    theirs += ((1 - g_p) - odds * (1 - g_q)).max(arb(0))
                    assert not ours > theirs


@pytest.mark.slow
def test_many_keys_and_uses_are_bounded_by_groups_of_counts():
    counts = parse("skellam:variance=4,threshold=8,keys=2").mechanism
    names = parse("skellam:variance=4,threshold=8,keys=2,names=yes").mechanism
    found, dearer = (compose((one, 2)).delta("0.5") for one in (names, counts))
    assert found.lower <= found.upper < dearer.lower


NOISES = ["discrete-gaussian:sigma=3", "laplace:scale=3", "skellam:variance=9"]


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
def test_names_tell_no_more_than_counts(noise):
    for keys in (1, 3):
        counts = compose(parse(f"{noise},threshold=12,keys={keys}").mechanism).delta("0.1")
        names = compose(parse(f"{noise},threshold=12,keys={keys},names=yes").mechanism).delta("0.1")
        assert names.lower <= counts.upper
        if keys == 1 and not noise.startswith("laplace"):
            assert float(names) <= float(counts) * (1 + 1e-9)


@pytest.mark.slow
def test_every_count_of_discrete_gaussian_noise_is_looked_at():
    found = compose(parse("discrete-gaussian:sigma=3,threshold=12,names=yes").mechanism).delta(
        "0.2"
    )
    weights = {x: math.exp(-x * x / 18) for x in range(-80, 81)}
    total = sum(weights.values())

    def chance(count: int) -> float:
        return count and sum(w for x, w in weights.items() if count + x >= 12) / total

    worst = max(_delta([(chance(n + 1), chance(n))], 0.2) for n in range(60))
    assert float(found.lower) <= worst * (1 + 1e-9) and worst <= float(found) * (1 + 1e-9)
    assert found.is_within(Fraction(1, 100))


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("1", "1e-6"), ("1/10", "1e-3"), ("3", "1e-9"), ("1/2", "1/2"), ("2", "9/10")],
)
def test_the_rule_is_its_recurrence(epsilon, delta):
    rule = Optimal(epsilon, delta)
    with mpmath.workdps(60):
        odds = mpmath.exp(mpmath.mpf(rule.epsilon.numerator) / rule.epsilon.denominator)
        gain, value = mpmath.mpf(rule.delta.numerator) / rule.delta.denominator, mpmath.mpf(0)
        for count in range(1, rule.turns()[1] + 3):
            value = min(odds * value + gain, 1 - (1 - value - gain) / odds, mpmath.mpf(1))
            ours, withheld = rule.chances(count)
            assert abs(mpmath.mpf(ours.mid().str(30, radius=False)) - value) < 1e-12
            assert (value == 1) == (count >= rule.turns()[1]) == (withheld == 0)
            assert ours + withheld == 1 or (ours + withheld).contains(1)


@pytest.mark.slow_cases("1")
@pytest.mark.parametrize("keys", [1, 2, 3])
def test_the_rule_meets_its_claim_and_nothing_less(keys):
    names = parse(f"partition-selection:epsilon=1,delta=1e-6,keys={keys}").mechanism
    assert audit(names, ApproxDP("1", "1e-6")).verdict is Verdict.VERIFIED
    found = audit(names, ApproxDP("1", "0.99e-6"))
    assert found.verdict is Verdict.REFUTED
    assert audit(names, ApproxDP("0.9", "1e-6")).verdict is Verdict.REFUTED
    if keys == 1:
        assert found.witness is not None


def test_the_rule_tells_more_than_noise_of_the_same_cost():
    told = parse("partition-selection:epsilon=1,delta=1e-6,keys=3").derived
    assert told["half_from"] < told["half_from_with_laplace"] < told["certain_from"]


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.3", "1e-3"), ("2", "0.2")])
def test_the_threshold_of_laplace_noise_is_the_least_that_hides_a_key(epsilon, delta):
    """P(1 + Z >= t) = a^(t-1)/(1 + a), a = e^-epsilon, for whole t >= 1."""
    told = parse(f"partition-selection:epsilon={epsilon},delta={delta}").derived
    a, level, least = math.exp(-float(epsilon)), float(delta), told["half_from_with_laplace"]
    assert a ** (least - 1) / (1 + a) <= level < a ** (least - 2) / (1 + a)


def test_what_is_wrong_is_refused():
    for wrong in (
        "partition-selection:epsilon=1,delta=0",
        "partition-selection:epsilon=0,delta=1e-6",
        "partition-selection:epsilon=1,delta=1e-6,keys=0",
        "discrete-laplace:scale=1,threshold=5,names=maybe",
        "discrete-laplace:scale=1,names=yes",
        "discrete-laplace:scale=1,threshold=5,names=yes,poisson=1/2",
    ):
        with pytest.raises(ParameterError):
            parse(wrong)
