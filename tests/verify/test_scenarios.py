"""Certificates of lists agree with every pair taken out by brute force, and never contradict."""

import random
from fractions import Fraction
from itertools import product

import pytest
from mpmath import mp, mpf

from exactdp import check

mp.dps = 40
INF = mpf("inf")


def pair(p, q, slack="0"):
    names = [str(index) for index in range(len(p))]
    return {"kind": "pair", "outcomes": names, "p": list(p), "q": list(q), "slack": slack}


def additive(law, sensitivity, modulus=None):
    return {"kind": "additive", "law": law, "sensitivity": sensitivity, "modulus": modulus}


def response(epsilon, delta="0"):
    return {"kind": "randomized-response", "epsilon": epsilon, "delta": delta}


def certificate(uses, claim, verdict, low, high):
    kind, *numbers = claim
    names = {"pure": ["epsilon"], "approx": ["epsilon", "delta"], "rdp": ["order", "epsilon"]}
    return {
        "format": "exactdp certificate",
        "version": 1,
        "uses": [{"mechanism": mechanism, "times": str(times)} for mechanism, times in uses],
        "claim": {"kind": kind, **dict(zip(names.get(kind, ["rho"]), numbers, strict=True))},
        "verdict": verdict,
        "measured": {"lower": low, "upper": high},
        "hints": {},
    }


def verified(uses, claim, low="0"):
    bound = claim[1] if claim[0] in ("approx", "pure", "zcdp") else claim[2]
    return check(certificate(uses, claim, "VERIFIED", low, bound))


def refuted(uses, claim, low, high="inf"):
    return check(certificate(uses, claim, "REFUTED", low, high))


A = pair(["0.5", "0.5"], ["0.01", "0.99"])
B = pair(["0.01", "0.99"], ["0.5", "0.5"])


@pytest.mark.contract
def test_a_list_keeps_its_way_round():
    # log 50 + log 0.99/0.5 = 4.595..., both ways round; each pair's own worst would add up to 7.8
    both = [(A, 1), (B, 1)]
    assert verified(both, ("pure", "6")).valid
    assert not refuted(both, ("pure", "6"), "7.8", "7.9").valid
    assert not refuted(both, ("pure", "6"), "6.1").valid
    assert refuted(both, ("pure", "4.5"), "4.595", "4.5952").valid
    assert verified(both, ("approx", "6", "1e-30")).valid
    assert not refuted(both, ("rdp", "1000", "6"), "7.8", "7.9").valid
    assert verified(both, ("rdp", "1000", "4.6")).valid


@pytest.mark.contract
def test_two_ways_round_of_a_pair_are_not_summed_at_different_orders():
    # D_a/a of A is largest near order 1, of B elsewhere: the supremum of the sum, in mpmath
    both = [(A, 1), (B, 1)]
    orders = [1 + mpf(2) ** (mpf(k) / 8) for k in range(-80, 60)]
    best = max(_renyi([A, B], order, 0) / order for order in orders)
    low, high = best * mpf("0.999999"), best * mpf("1.02")
    assert verified(both, ("zcdp", mp.nstr(high, 10))).valid
    assert not refuted(both, ("zcdp", mp.nstr(high, 10)), mp.nstr(high * mpf("1.001"), 10)).valid
    assert refuted(
        both, ("zcdp", mp.nstr(best * mpf("0.98"), 10)), mp.nstr(low * mpf("0.99"), 10)
    ).valid


@pytest.mark.contract
def test_laws_that_slack_may_make_the_same_are_not_told_apart():
    """0.5 and 0.49, each up to 0.02 off: no divergence above 0 is proved; of 0.5 and 0.2 one is."""
    near, apart = (pair(["0.5", "0.5"], q, "0.02") for q in (["0.49", "0.51"], ["0.2", "0.8"]))
    for order in ("2", "20"):
        assert not refuted([(near, 1)], ("rdp", order, "0.0005"), "0.001").valid
        assert not refuted([(near, 1)], ("rdp", order, "0"), "1e-9").valid
        assert refuted([(apart, 1)], ("rdp", order, "0.1"), "0.2").valid


@pytest.mark.contract
def test_what_is_impossible_within_slack_cannot_be_proved():
    apart = pair(["1", "0"], ["0", "1"], "0.01")
    for times in (1, 2, 3):
        assert not refuted([(apart, times)], ("approx", "100", "0.9"), "inf").valid
        assert not refuted([(apart, times)], ("pure", "100"), "inf").valid
    # (.99, .01)/(.01, .99) twice costs 6.686 at 0.9, so 6.687 is not exceeded by all
    assert not refuted([(apart, 2)], ("approx", "6.687", "0.9"), "6.7").valid
    assert refuted([(apart, 2)], ("approx", "0.5", "0.9"), "1").valid
    assert not verified([(apart, 2)], ("approx", "100", "0.9")).valid
    mixed = [(apart, 1), (response("1"), 1)]
    assert not refuted(mixed, ("approx", "100", "0.5"), "inf").valid


@pytest.mark.contract
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pure", "rdp", "zcdp", "approx"])
def test_shifts_beyond_half_the_modulus_are_those_below_it(kind):
    # the closed form of the largest shift that counts, m/2: sensitivity beyond it changes nothing
    law = {"name": "discrete-laplace", "scale": "3"}
    claims = {"pure": ("1.4",), "rdp": ("2", "1"), "zcdp": ("1",), "approx": ("1.3", "0.001")}
    answers = []
    for sensitivity in ("5", "6", "9", "10", "11", "1000"):
        uses = [(additive(law, sensitivity, "11"), 1)]
        answers.append(verified(uses, (kind, *claims[kind])).valid)
        top = max(_wrapped_loss(d) for d in range(1, 6))
        near = (mp.nstr(top * mpf("0.9999"), 12), mp.nstr(top * mpf("1.0001"), 12))
        assert refuted(uses, ("pure", "1"), *near).valid
    assert len(set(answers)) == 1


def _wrapped_loss(d):
    mass = [sum(mp.exp(-abs(mpf(x + 11 * k)) / 3) for k in range(-40, 41)) for x in range(11)]
    return max(mp.log(mass[x] / mass[(x - d) % 11]) for x in range(11))


@pytest.mark.contract
def test_a_mechanism_that_tells_nothing_costs_nothing():
    same = pair(["0.5", "0.5"], ["0.5", "0.5"])
    nothing = [
        (same, 3),
        (response("0"), 2),
        (additive({"name": "skellam", "variance": "9"}, "3", "1"), 4),
    ]
    for claim in (("pure", "0"), ("rdp", "2", "0"), ("zcdp", "0"), ("approx", "0", "1e-9")):
        assert verified(nothing, claim).valid
        assert not refuted(nothing, claim, "0.001").valid


# -- by brute force -------------------------------------------------------------------------------


def _sides(one, way):
    p, q = ([mpf(Fraction(x).numerator) / Fraction(x).denominator for x in one[k]] for k in "pq")
    return (p, q) if way == 0 else (q, p)


def _product(pairs, way):
    sides = [_sides(one, way) for one in pairs]
    p = [mp.fprod(each) for each in product(*(side[0] for side in sides))]
    q = [mp.fprod(each) for each in product(*(side[1] for side in sides))]
    return list(zip(p, q, strict=True))


def _pure(pairs, way):
    return max((mp.log(p / q) if q else INF for p, q in _product(pairs, way) if p), default=mpf(0))


def _renyi(pairs, order, way):
    both = _product(pairs, way)
    if any(p and not q for p, q in both):
        return INF
    return mp.log(mp.fsum(p**order * q ** (1 - order) for p, q in both if p)) / (order - 1)


def _delta(pairs, epsilon, way):
    return mp.fsum(max(p - mp.exp(epsilon) * q, 0) for p, q in _product(pairs, way))


def _random_pair(drawn):
    count = drawn.choice([2, 2, 3])

    def law():
        weights = [drawn.choice([0, 1, 1, 2, 5, 60]) for _ in range(count)]
        weights = weights if sum(weights) else [1] * count
        return [f"{each}/{sum(weights)}" for each in weights]

    return pair(law(), law())


@pytest.mark.contract
@pytest.mark.parametrize("seed", range(40))
def test_lists_of_pairs_cost_what_brute_force_says(seed):
    drawn = random.Random(seed)
    kinds = [_random_pair(drawn) for _ in range(drawn.choice([1, 2, 2]))]
    uses = [(one, drawn.choice([1, 1, 2])) for one in kinds]
    flat = [one for one, times in uses for _ in range(times)]
    order, level = drawn.choice(["3/2", "2", "7"]), drawn.choice(["0.1", "0.7", "2"])
    pure = max(_pure(flat, way) for way in (0, 1))
    renyi = max(_renyi(flat, mpf(Fraction(order).numerator) / Fraction(order).denominator, way)
                for way in (0, 1))  # fmt: skip
    _agrees(uses, pure, lambda bound: ("pure", bound))
    _agrees(uses, renyi, lambda bound: ("rdp", order, bound))
    delta = max(_delta(flat, mpf(level), way) for way in (0, 1))
    for factor, holds in (("0.999", False), ("1.001", True)):
        goal = delta * mpf(factor)
        if 0 < goal < 1:
            claim = ("approx", level, mp.nstr(goal, 20))
            assert verified(uses, claim).valid is holds
            above = mp.nstr(mpf(level) * (1 + mpf(10) ** -9), 20)
            assert not (holds and refuted(uses, claim, above).valid)


def _agrees(uses, truth, claim):
    """Just above the truth is verified and not refuted, just below it the other way round."""
    if truth == INF:
        assert refuted(uses, claim("100"), "inf").valid
        assert not verified(uses, claim("100")).valid
        return
    if not truth:
        assert verified(uses, claim("0")).valid
        return
    low, high = (mp.nstr(truth * mpf(factor), 20) for factor in ("0.9999", "1.0001"))
    assert verified(uses, claim(high)).valid
    assert not refuted(uses, claim(high), mp.nstr(truth * mpf("1.0002"), 20)).valid
    assert refuted(uses, claim(mp.nstr(truth * mpf("0.9998"), 20)), low, high).valid
    assert not verified(uses, claim(low)).valid
