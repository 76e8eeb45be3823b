"""Counts per key with a threshold, against enumeration of what neighbours release."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from exactdp import ApproxDP, Enclosure, ParameterError, Verdict
from exactdp.accounting import compose
from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
from exactdp.mechanisms.spec import parse
from exactdp.mechanisms.threshold import Thresholded
from exactdp.verify import audit


def _of(text: str):
    return parse(text).mechanism


def _law(scale: float, reach: int = 400) -> dict[int, float]:
    decay = math.exp(-1 / scale)
    return {x: (1 - decay) / (1 + decay) * decay ** abs(x) for x in range(-reach, reach + 1)}


def _released(law: dict[int, float], count: int, held: bool, threshold: int) -> np.ndarray:
    """The law of what one key shows: nothing, or a value from the threshold on."""
    found = np.zeros(600)
    if not held:
        found[0] = 1
        return found
    for x, mass in law.items():
        seen = count + x
        found[seen - threshold + 1 if seen >= threshold else 0] += mass
    return found


def _delta(p: list[np.ndarray], q: list[np.ndarray], level: float) -> float:
    """Of the product over keys."""
    first, second = np.ones(1), np.ones(1)
    for a, b in zip(p, q, strict=True):
        kept = (a > 1e-13) | (b > 1e-13)
        first, second = np.outer(first, a[kept]).ravel(), np.outer(second, b[kept]).ravel()
    return float(np.maximum(first - math.exp(level) * second, 0).sum())


def _worst(scale, threshold, sensitivity, keys, level, counts):
    """Over all neighbours whose other users hold these counts in the user's keys."""
    law, found = _law(scale), 0.0
    states = [(n, d) for n in counts for d in range(1, sensitivity + 1)]
    pairs = {
        (n, d): (
            _released(law, n + d, True, threshold),
            _released(law, n, n > 0, threshold),
        )
        for n, d in states
    }
    for size in range(1, keys + 1):
        for chosen in itertools.combinations_with_replacement(states, size):
            p, q = zip(*(pairs[one] for one in chosen), strict=True)
            found = max(found, _delta(p, q, level), _delta(q, p, level))
    return found


@pytest.mark.parametrize(
    ("scale", "threshold", "sensitivity", "keys", "level"),
    [
        (1, 5, 1, 1, 1.0),
        (1, 5, 1, 1, 0.5),
        (2, 4, 2, 1, 0.3),
        (2, 3, 3, 1, 0.0),
        (1, 4, 1, 2, 1.0),
        (1, 2, 1, 2, 1.0),
    ],
)
def test_no_neighbours_cost_more_and_some_as_much(scale, threshold, sensitivity, keys, level):
    text = f"discrete-laplace:scale={scale},threshold={threshold},sensitivity={sensitivity}"
    found = compose(_of(f"{text},keys={keys}")).delta(str(level))
    few = _worst(scale, threshold, sensitivity, keys, level, (0, 1, threshold, 40))
    assert found.is_within(Fraction(1, 10**12))
    assert few <= float(found) + 1e-9
    assert few >= float(found.lower) - 1e-9  # 40 hides all but nothing below the threshold


def test_a_laplace_count_at_a_hundred():
    found = compose(_of("laplace:epsilon=0.66,threshold=100,keys=1")).delta("0.66")
    truth = mpmath.exp(mpmath.mpf("-0.66") * 99) / 2
    assert abs(float(found) / float(truth) - 1) < 1e-12
    assert f"{found.lower:.5e}" == "2.09975e-29"


def test_the_tail_is_inclusive():
    """What is stated of count + noise > threshold is not true of count + noise >= threshold."""
    one = _of("discrete-laplace:scale=1,threshold=5")
    stated = audit(one, ApproxDP("1", "0.00493"))
    assert stated.verdict is Verdict.REFUTED
    assert stated.witness is not None and stated.witness.excess.greater_than(0)
    truth = math.exp(-4) / (1 + math.exp(-1))
    found = compose(one).delta("1")
    assert abs(float(found) / truth - 1) < 1e-12
    assert audit(one, ApproxDP("1", "0.0133899")).verdict is Verdict.VERIFIED
    assert audit(_of("discrete-laplace:scale=1,threshold=6"), ApproxDP("1", "0.00493")).verified


@pytest.mark.parametrize(
    "text",
    [
        "gaussian:sigma=10,threshold=40,keys=2",
        "discrete-gaussian:sigma=5,threshold=20,keys=2",
        "binomial:trials=60,probability=1/3,threshold=42,sensitivity=2,keys=2",
        "skellam:variance=20,threshold=15,keys=2",
    ],
)
def test_every_noise_costs_between_its_parts_and_their_sum(text):
    one = _of(text)
    plain = compose(one._shared()) * one.keys
    alone = float(one._alone().mechanism.masses()[0][0].mid())
    found = compose(one).delta("0.4")
    least = max(float(plain.delta("0.4").lower), 1 - (1 - alone) ** 2)
    most = float(plain.delta("0.4")) + 1 - (1 - alone) ** 2
    assert least * (1 - 1e-9) <= float(found) <= most * (1 + 1e-9)
    assert found.is_within(Fraction(1, 10**9))


def test_uses_compose_between_the_same_lists_and_any_choice():
    """Two keys of one use against one key of two uses: the second may choose on the way."""
    scale, threshold, level = 2, 6, 0.7
    once = compose(_of(f"discrete-laplace:scale={scale},threshold={threshold},keys=2"))
    twice = compose((_of(f"discrete-laplace:scale={scale},threshold={threshold}"), 2))
    one, two = once.delta(str(level)), twice.delta(str(level))
    assert one.lower <= two.upper
    law = _law(scale)
    alone = (_released(law, 1, True, threshold), _released(law, 0, False, threshold))
    shared = (_released(law, 61, True, threshold), _released(law, 60, True, threshold))
    mixed = max(
        _delta([a[0], b[0]], [a[1], b[1]], level)
        for a, b in itertools.combinations_with_replacement((alone, shared), 2)
    )
    assert mixed <= float(two) + 1e-9
    assert float(one) == pytest.approx(mixed, rel=1e-7)


def test_sampled_users_of_one_key():
    rate, level, scale, threshold = 0.25, 0.4, 1, 5
    found = compose(
        _of(f"discrete-laplace:scale={scale},threshold={threshold},poisson={rate}")
    ).delta(str(level))
    law, worst = _law(scale), 0.0
    for n in (0, 1, 5, 60):
        p = _released(law, n + 1, True, threshold)
        q = _released(law, n, n > 0, threshold)
        mixture = rate * p + (1 - rate) * q
        worst = max(worst, _delta([mixture], [q], level), _delta([q], [mixture], level))
    assert float(found) == pytest.approx(worst, rel=1e-9)


def test_many_keys_and_many_uses_are_answered():
    for text, times in (
        ("discrete-laplace:scale=10,threshold=400,keys=200", 1),
        ("discrete-laplace:scale=10,threshold=400,keys=2", 500),
    ):
        found = compose((_of(text), times)).epsilon("1e-6")
        assert found.is_finite() and found.is_within(Fraction(1, 100))


def test_what_is_wrong_is_refused():
    count = AdditiveNoise(DiscreteLaplace(scale=1), sensitivity=3)
    for wrong in (
        lambda: Thresholded(count, 2),
        lambda: Thresholded(count, 5, keys=0),
        lambda: Thresholded(count, "5.5"),
        lambda: Thresholded(count, 5, keys=2, rate="1/2"),
        lambda: Thresholded(AdditiveNoise(DiscreteLaplace(scale=1), 1, modulus=64), 5),
        lambda: _of("laplace:scale=1,threshold=1/2"),
        lambda: _of("skellam:variance=9,keys=2"),
        lambda: _of("skellam:variance=9,threshold=5,neighbours=replace"),
        lambda: _of("skellam:variance=9,threshold=5,users=10"),
        lambda: _of("skellam:variance=9,threshold=5,l2=3"),
    ):
        with pytest.raises(ParameterError):
            wrong()


def test_pure_and_renyi_are_infinite_and_nothing_is_below_zero():
    composed = compose(_of("discrete-laplace:scale=1,threshold=5,keys=3"))
    assert composed.pure() == composed.renyi(2) == composed.zcdp() == Enclosure.infinite()
    assert composed.epsilon("0.9") == Enclosure.exactly(0)


@pytest.mark.parametrize(("threshold", "moved"), [(2, 2), (5, 1), (1, "1/2")])
def test_names_under_continuous_noise_are_of_counts_that_need_not_be_whole(threshold, moved):
    """Others hold any real number: the worst lies between whole ones, here near 0.987."""
    level, step = 0.026, float(Fraction(moved))

    def shown(short: float) -> float:
        return math.exp(-short) / 2 if short >= 0 else 1 - math.exp(short) / 2

    counts = (threshold * k / 1000 for k in range(1, 2000))
    truth = max(  # with others who hold n, and alone
        *(shown(threshold - step - n) - math.exp(level) * shown(threshold - n) for n in counts),
        shown(threshold - step),
    )
    spec = f"laplace:scale=1,sensitivity={moved},threshold={threshold},neighbours=add-remove"
    found = compose(parse(spec + ",names=yes").mechanism).delta(Fraction("0.026"))
    assert found.lower <= truth * (1 + 1e-12) and truth <= found.upper
