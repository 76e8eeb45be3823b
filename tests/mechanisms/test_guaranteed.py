"""What is known by its guarantee only costs no less than any mechanism that has it."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest

from exactdp import ParameterError, Verdict
from exactdp.accounting import compose
from exactdp.accounting.composition.attained import two_outcomes
from exactdp.accounting.figure import Figure
from exactdp.mechanisms import AdditiveNoise, DiscreteGaussian, FinitePair
from exactdp.mechanisms.dominating import RenyiCurve
from exactdp.mechanisms.mechanism import RandomizedResponse
from exactdp.mechanisms.moment_profile import dominating_pair
from exactdp.mechanisms.spec import parse
from exactdp.verify import audit, parse_claim
from exactdp.verify.certificate import certificate_of

_BIT = RandomizedResponse("1/2")


def _of(text):
    return parse(f"guarantee:{text}").mechanism


def _renyi(p, q, order):
    """D_a(P || Q), by mpmath."""
    total = mpmath.fsum(
        mpmath.mpf(a) ** order * mpmath.mpf(b) ** (1 - order) for a, b in zip(p, q, strict=True)
    )
    return mpmath.log(total) / (order - 1)


def _rho(p, q):
    """About the least rho, both ways round: from below, by many orders."""
    orders = [1 + mpmath.mpf(10) ** (mpmath.mpf(k) / 4) for k in range(-12, 13)]
    return max(_renyi(*ways, a) / a for a in orders for ways in ((p, q), (q, p)))


def _law(drawn, count):
    weights = [math.exp(drawn.gauss(0, 1.5)) for _ in range(count)]
    return [mpmath.mpf(weight) / math.fsum(weights) for weight in weights]


@pytest.mark.parametrize(
    ("claim", "figures"),
    [
        ("pure:1/2", {"pure": Fraction(1, 2)}),
        ("gdp:2", {"zcdp": 2, "gdp": 2}),
        ("zcdp:1/10", {"zcdp": Fraction(1, 10)}),
        ("approx:1,1e-6", {}),
        ("rdp:4,1/3", {}),
    ],
)
def test_it_costs_what_it_says(claim, figures):
    verified = audit(_of(claim), parse_claim(claim))
    assert verified.verdict is Verdict.VERIFIED
    for name, truth in figures.items():
        found = getattr(compose(_of(claim)), name)()
        assert found.lower <= truth <= found.upper
        assert found.is_within(Fraction(1, 10**12))


@pytest.mark.parametrize(
    ("claim", "less"),
    [
        ("zcdp:0.1", "zcdp:0.0999"),
        ("pure:1", "pure:0.999"),
        ("gdp:1", "gdp:0.999"),
        ("approx:1,1e-6", "approx:0.999,1e-6"),
        ("rdp:4,1", "rdp:4,0.999"),
        ("rdp:4,1", "rdp:4.001,1000"),
        ("rdp:4,1", "zcdp:1000"),
    ],
)
def test_less_is_refuted(claim, less):
    assert audit(_of(claim), parse_claim(less)).verdict is Verdict.REFUTED


def test_renyi_divergences_add_up_in_lists():
    noise = AdditiveNoise(DiscreteGaussian(sigma2=3), 1)
    listed = compose((_of("zcdp:1/10"), 3), (noise, 2))
    assert listed.zcdp().lower <= Fraction(3, 10) + 2 * Fraction(1, 6) <= listed.zcdp().upper
    alone, found = compose((noise, 2)).renyi(3), listed.renyi(3)
    assert found.lower <= Fraction(9, 10) + Fraction(alone.upper)
    assert found.upper >= Fraction(9, 10) + Fraction(alone.lower)
    assert found.is_within(Fraction(1, 10**9))
    beyond = compose((_of("rdp:2,1/100"), 1), (noise, 1))
    assert beyond.renyi(3).lower == beyond.renyi(3).upper == math.inf


def test_no_pair_of_the_guarantee_costs_more():
    """Any pair has the guarantee of its own rho, or of its divergence of one order."""
    drawn = random.Random(1)
    for count in (2, 4):
        p, q = _law(drawn, count), _law(drawn, count)
        curves = [
            RenyiCurve(Fraction(float(_rho(p, q) * mpmath.mpf("1.02")))),
            RenyiCurve(
                Fraction(float(max(_renyi(p, q, 3), _renyi(q, p, 3)) * mpmath.mpf("1.000001"))),
                Fraction(3),
            ),
        ]
        for curve in curves:
            profile = compose(dominating_pair(curve))
            for level in (0, 0.1, 0.5, 1, 2, 3):
                odds = mpmath.e**level
                truth = mpmath.fsum(max(a - odds * b, 0) for a, b in zip(p, q, strict=True))
                assert truth <= mpmath.mpf(str(profile.delta(str(level), "1e-6").upper))


def test_the_pair_is_one_and_the_same_both_ways_round():
    for curve in (RenyiCurve(Fraction(1, 10)), RenyiCurve(Fraction(1, 2), Fraction(4))):
        pair = dominating_pair(curve)
        p, q = pair.masses()
        assert all(mass == 0 or mass > 0 for mass in (*p, *q))
        assert abs(sum(p) - 1) < 1e-12
        assert abs(sum(q) - 1) < 1e-12
        assert [str(mass) for mass in p] == [str(mass) for mass in reversed(q)]
        multiples = pair.steps().multiples[1:-1]
        assert all(left < right for left, right in pairwise(multiples))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("text", ["zcdp:1/10", "zcdp:2", "rdp:3,1/4", "rdp:101/100,1/1000"])
def test_one_use_is_known_from_both_sides(text):
    one = compose(_of(text))
    for delta in ("1e-3", "1e-6"):
        found = one.epsilon(delta)
        assert found.lower > 0
        assert Fraction(found.upper) < Fraction(found.lower) * Fraction(1005, 1000)
    if text == "zcdp:2":
        return  # a total variation so large is bounded by both ways round together
    assert float(one.delta("0.5").upper) < 1.05 * float(one.delta("0.5").lower)


@pytest.mark.parametrize(
    "curve", [RenyiCurve(Fraction(1, 10)), RenyiCurve(Fraction(1), Fraction(2))]
)
@pytest.mark.parametrize("figure", [("epsilon", Fraction(1, 10**5)), ("delta", Fraction(1))])
def test_what_is_attained_has_the_guarantee(curve, figure):
    pair = two_outcomes(curve, Figure(*figure))
    assert isinstance(pair, FinitePair)
    p, q = ([mpmath.mpf(x.numerator) / x.denominator for x in law] for law in (pair.p, pair.q))
    found = _rho(p, q) if curve.order is None else max(_renyi(p, q, 2), _renyi(q, p, 2))
    assert found <= float(curve.bound)
    assert found > 0.99 * float(curve.bound)


def _truth(order, bound, delta):
    """The largest log((p - delta)/q) of two outcomes with both divergences at most the bound."""
    with mpmath.workdps(60):
        a, most, delta = mpmath.mpf(order), mpmath.mpf(bound), mpmath.mpf(delta)

        def least_log_q(p):
            low, high = mpmath.mpf(-(10**6)), mpmath.log(p)
            for _ in range(90):
                q = mpmath.exp((low + high) / 2)
                ways = (((p, 1 - p), (q, 1 - q)), ((q, 1 - q), (p, 1 - p)))
                if max(_renyi(*way, a) for way in ways) <= most:
                    high = (low + high) / 2
                else:
                    low = (low + high) / 2
            return high

        def gain(step):
            p = delta * (1 + mpmath.mpf(10) ** (mpmath.mpf(step) / 8))
            return mpmath.log(p - delta) - least_log_q(p) if p < 1 else -mpmath.inf

        best = max(range(-32, 33), key=gain)
        return max(gain(best + mpmath.mpf(k) / 8) for k in range(-8, 9))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("order", "bound", "delta"),
    [
        ("1.001", "0.1", "1e-6"),
        ("1.01", "0.001", "1e-6"),
        ("1.000000000001", "1", "1e-2"),
        ("10000", "10000", "1e-6"),
    ],
)
def test_orders_near_1_and_large_ones_are_known_from_both_sides(order, bound, delta):
    found = compose(_of(f"rdp:{order},{bound}")).epsilon(delta)
    truth = _truth(order, bound, delta)
    assert mpmath.mpf(str(found.lower)) <= truth * (1 + mpmath.mpf("1e-3"))
    assert truth * (1 - mpmath.mpf("1e-9")) <= mpmath.mpf(str(found.upper))
    assert Fraction(found.upper) < Fraction(found.lower) * Fraction(105, 100)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "text",
    ["zcdp:10000", "zcdp:1e-300", "rdp:10000,1e-300", "rdp:2,1e-30", f"rdp:{1 + 1e-12},1e4"],
)
def test_numbers_of_any_size_have_a_bracket(text):
    one = compose(_of(text))
    assert one.epsilon("1e-6").upper < math.inf
    assert one.delta(20_000).upper < 1


@pytest.mark.parametrize("delta", ["1e-4"])
def test_in_a_list_it_costs_at_least_what_such_a_mechanism_does(delta):
    noise = AdditiveNoise(DiscreteGaussian(sigma2=5), 1)  # rho = 1/10
    real = compose(noise, (_BIT, 4)).epsilon(delta, "1e-3")
    found = compose(_of("zcdp:1/10"), (_BIT, 4)).epsilon(delta, "1e-3")
    assert found.upper >= real.lower
    assert float(found.upper) < 1.08 * float(found.lower)


def test_neighbours_are_those_of_the_list():
    text = "zcdp:1/10,neighbours=add-remove"
    listed = compose(_of(text), parse("gaussian:sigma=2,neighbours=add-remove").mechanism)
    assert listed.neighbours == "add-remove"
    with pytest.raises(ParameterError, match="neighbours"):
        compose(_of("zcdp:1/10"), parse("gaussian:sigma=2,neighbours=add-remove").mechanism)


def test_users_are_sampled_where_that_follows():
    whole = compose(_of("pure:1,neighbours=add-remove,poisson=1/2")).pure()
    truth = math.log((1 + math.e) / 2)  # log(1 - q + q e)
    assert abs(float(whole.lower) - truth) < 1e-9
    with pytest.raises(ParameterError, match="poisson"):
        _of("zcdp:1,neighbours=add-remove,poisson=1/2")


def test_nothing_is_released_by_what_costs_nothing():
    for text in ("pure:0", "zcdp:0", "gdp:0", "rdp:2,0"):
        assert compose(_of(text)).epsilon("1e-9").upper == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "zcdp",
        "zcdp:",
        "zcdp:-1",
        "zcdp:nan",
        "zcdp:1,2",
        "rdp:1,1",
        "rdp:2",
        "approx:1",
        "approx:1,2",
        "foo:1",
        "zcdp:1,neighbours=none",
        "zcdp:1,claim=pure:1",
        "zcdp:1e9",
        "gdp:-1",
    ],
)
def test_what_is_no_guarantee_is_refused(text):
    with pytest.raises(ParameterError):
        _of(text)


@pytest.mark.parametrize("text", ["foo", "approx:1", "zcdp:x", "rdp:1"])
def test_what_is_no_guarantee_is_told_by_its_key(text):
    with pytest.raises(ParameterError, match=r"^claim"):
        _of(f"claim={text}")


def test_it_has_a_certificate():
    found = certificate_of(audit(_of("zcdp:0.1"), parse_claim("zcdp:0.1")))
    assert found.check().valid
