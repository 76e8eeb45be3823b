"""Algorithm 3 of the shuffle paper: both regimes, its messages, and the law of its error."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from oracles import assert_holds, binomial, exactly, known
from scipy import stats

from exactdp import Enclosure, ParameterError, UndecidedError
from exactdp.accounting import compose
from exactdp.exact import refine, working_precision
from exactdp.exact.number import Linear, Logarithm
from exactdp.exact.square_root import SquareRoot
from exactdp.mechanisms import Binomial
from exactdp.mechanisms.additive.papers import shuffle_sum
from exactdp.mechanisms.additive.shuffle import shuffle, shuffled_sum
from exactdp.mechanisms.samplers import SeededBits
from exactdp.protocols import ShuffleSum

RARE = 1e-6


def tau(epsilon, delta):
    return 96 * mpmath.log(2 / mpmath.mpf(delta)) / mpmath.mpf(epsilon) ** 2


@pytest.mark.parametrize("users", [5572, 10**6])
def test_many_users_add_one_bit_of_irrational_probability(users):
    preset = shuffle_sum("0.5", "1e-6", users)
    law = preset.mechanism.law
    assert (law.trials, preset.protocol.noise_bits, preset.protocol.bits_per_user) == (users, 1, 2)
    with mpmath.workdps(50):
        stated = tau("0.5", "1e-6")
        chance = stated / (2 * users)
        assert mpmath.almosteq(known(law.success), chance, 1e-45)
        assert mpmath.almosteq(known(preset.tau), stated, 1e-45)
        assert mpmath.almosteq(known(preset.protocol.mean()), stated / 2, 1e-45)
    with working_precision(160):
        assert arb(exactly_text(chance)).overlaps(law.success.ball() + arb(0, "1e-44"))


def exactly_text(value):
    return mpmath.nstr(value, 48)


def test_the_irrational_binomial_is_the_binomial():
    law = shuffle_sum("0.5", "1e-6", 6000).mechanism.law
    with mpmath.workdps(60):
        chance = exactly(tau("0.5", "1e-6") / 12000)
        pmf = binomial(6000, chance)
        for x in (0, 1, 2600, 2785, 3000, 6000):
            assert_holds(law.probability(x), pmf(x), 1e-11)
            assert_holds(law.mirrored().probability(6000 - x), pmf(x), 1e-11)
            assert mpmath.almosteq(law.pmf(x, 40), pmf(x), 1e-35)
        tail = mpmath.fsum(pmf(x) for x in range(2950, 6001))
        assert_holds(law.sf(2949), tail, 1e-11)
        mean = mpmath.mpf(6000) * chance.numerator / chance.denominator
        assert_holds(law.moments().mean, mean)
        assert_holds(law.moments().variance, mean * (1 - mean / 6000))
    assert law.mirrored().mirrored() == law
    assert law.log_pmf([2785])[0] == pytest.approx(float(mpmath.log(pmf(2785))), abs=1e-9)


@pytest.mark.parametrize(("users", "epsilon"), [(1000, "0.0933618447"), (10**6, "0.0687147731")])
def test_what_is_really_spent_at_the_stated_delta(users, epsilon):
    """The hockey-stick divergence from its definition, both directions, near the bulk of B."""
    mechanism = shuffle_sum("0.5", "1e-6", users).mechanism
    found = compose(mechanism).epsilon("1e-6")
    assert str(found).startswith(epsilon)
    with mpmath.workdps(40):
        law = mechanism.law
        chance = exactly(mpmath.mpf(1) / 2 if users == 1000 else tau("0.5", "1e-6") / (2 * users))
        pmf, centre = binomial(law.trials, chance), round(law.trials * chance)
        p = [pmf(k) for k in range(centre - 900, centre + 901)]  # beyond: less than 1e-50
        for factor, answer in ((1 + mpmath.mpf("1e-9"), True), (1 - mpmath.mpf("1e-9"), False)):
            growth = mpmath.exp(mpmath.mpf(str(found.lower)) * factor)
            up = mpmath.fsum(max(a - growth * b, 0) for a, b in pairwise(p))
            down = mpmath.fsum(max(b - growth * a, 0) for a, b in pairwise(p))
            assert (max(up, down) < mpmath.mpf("1e-6")) is answer


def test_dropped_and_colluding_users_take_their_bits_with_them():
    few, many = shuffle_sum("0.5", "1e-6", 1000), shuffle_sum("0.5", "1e-6", 10**6)
    assert few.protocol.released(dropout=100, collusion=50).law == Binomial(5100, "1/2")
    left = many.protocol.released(dropout=1000).law
    assert left == Binomial(999_000, many.mechanism.law.success)
    for preset in (few, many):
        with pytest.raises(ParameterError, match="dropout"):
            preset.protocol.released(preset.batch)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=6), st.integers(1, 70))
def test_the_estimate_is_the_sum_plus_the_centred_noise(own, noise_bits):
    protocol, bits = ShuffleSum(len(own), noise_bits, "1/2"), SeededBits(1)
    sent = [protocol.randomize(bit, bits) for bit in own]
    assert all(len(messages) == protocol.messages_per_user for messages in sent)
    assert [messages[0] for messages in sent] == own
    ones = sum(map(sum, sent))
    assert protocol.analyze(shuffle(sent, bits)) == ones - Fraction(len(own) * noise_bits, 2)


def test_an_irrational_mean_is_subtracted_exactly():
    protocol = shuffle_sum("0.9", "0.5", 500).protocol
    bits = SeededBits(2)
    sent = [protocol.randomize(k % 2, bits) for k in range(500)]
    found = protocol.analyze(message for messages in sent for message in messages)
    assert isinstance(found, Linear)
    with mpmath.workdps(40):
        ones = sum(map(sum, sent))
        assert mpmath.almosteq(known(found), ones - tau("0.9", "0.5") / 2, 1e-35)
    # with users missing, so much less of the mean
    fewer = protocol.analyze([message for messages in sent[:400] for message in messages], 100)
    with mpmath.workdps(40):
        ones = sum(map(sum, sent[:400]))
        assert mpmath.almosteq(known(fewer), ones - tau("0.9", "0.5") / 2 * 400 / 500, 1e-35)


@pytest.mark.parametrize("success", [Fraction(1, 2), Fraction(1, 7), "irrational"])
def test_noise_bits_have_their_probability(success):
    protocol = ShuffleSum(10, 400, success) if success != "irrational" else None
    if protocol is None:
        stated = shuffle_sum("0.9", "0.5", 500).protocol.success
        protocol, success = ShuffleSum(10, 400, stated), float(known(stated))
    bits = SeededBits(4)
    ones = sum(sum(protocol.randomize(0, bits)) for _ in range(10))
    assert stats.binomtest(ones, 4000, float(success)).pvalue > RARE


def test_the_shuffle_is_uniform():
    bits, draws = SeededBits(5), 6000
    seen = {}
    for _ in range(draws):
        order = shuffle([(0, 1), (2,)], bits)
        seen[order] = seen.get(order, 0) + 1
    assert len(seen) == 6
    assert stats.chisquare(list(seen.values())).pvalue > RARE


def error_beyond(protocol: ShuffleSum, distance: int | str) -> Enclosure:
    return refine(protocol._beyond(Fraction(distance), 0)).intersection(Enclosure.probability())


@pytest.mark.parametrize("distance", [0, "1/2", 3, "3.5", 40])
def test_the_law_of_the_error(distance):
    far = Fraction(distance)
    fair, pmf = ShuffleSum(3, 5, "1/2"), binomial(15, "1/2")
    with mpmath.workdps(50):
        masses = {k: pmf(k) for k in range(16)}
        truth = mpmath.fsum(p for k, p in masses.items() if abs(k - Fraction(15, 2)) > far)
        found = error_beyond(fair, distance)
        assert found.contains(0) if not truth else True
        if truth:
            assert_holds(found, truth)
    assert fair.error_variance().contains(Fraction(15, 4))
    assert fair.error_variance(dropout=1).contains(Fraction(10, 4))


def test_the_law_of_the_error_of_many_users():
    protocol = shuffle_sum("0.9", "0.5", 500).protocol
    with mpmath.workdps(60):
        mean = tau("0.9", "0.5") / 2
        pmf = binomial(500, exactly(mean / 500))
        truth = mpmath.fsum(pmf(k) for k in range(501) if abs(k - mean) > 25)
        assert_holds(error_beyond(protocol, 25), truth)
        truth = mpmath.fsum(pmf(k) for k in range(501) if abs(k - mean) > mpmath.mpf("0.2"))
        assert_holds(error_beyond(protocol, "0.2"), truth)


@pytest.mark.parametrize("bit", [-1, 2, "1/2", True, float("nan")])
def test_what_is_no_bit_is_refused(bit):
    with pytest.raises(ParameterError, match="bit"):
        ShuffleSum(2, 3, "1/2").randomize(bit, SeededBits(0))


@pytest.mark.parametrize(
    ("messages", "named"),
    [([0] * 7, "8, 4 of each user, got 7"), ([0] * 9, "got 9"), ([0] * 7 + [2], "bits")],
)
def test_messages_that_nobody_sent_are_refused(messages, named):
    with pytest.raises(ParameterError, match=named):
        ShuffleSum(2, 3, "1/2").analyze(messages)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("0", "1e-6", 10), "epsilon"),
        (("1", "1e-6", 10), "epsilon"),
        (("0.5", "0", 10), "delta"),
        (("0.5", "1", 10), "delta"),
        (("0.5", "1e-6", 0), "users"),
        (("0.5", "1e-6", "1.5"), "users"),
    ],
)
def test_out_of_range_is_refused_by_name(arguments, named):
    with pytest.raises(ParameterError, match=named):
        shuffle_sum(*arguments)


def test_a_probability_outside_0_to_1_is_refused():
    half = shuffle_sum("0.5", "1e-6", 6000).protocol.success
    for factor in (Fraction(3), Fraction(-1)):
        with pytest.raises(ParameterError, match="probability"):
            Binomial(10, Linear(Fraction(0), factor, half))
    with pytest.raises((ParameterError, UndecidedError), match="probability"):
        Binomial(10, Linear(Fraction(1), Fraction(0), half))


@pytest.mark.parametrize("dropout", [0, 90, 300])
def test_larger_shares_make_the_noise_of_those_left(dropout):
    epsilon, delta = Fraction("0.9"), Fraction("0.01")
    for users in (301, 3000):
        larger = shuffled_sum(epsilon, delta, users, dropout)
        alone = shuffled_sum(epsilon, delta, users - dropout)
        assert larger.users == users
        assert larger.total_noise(dropout) == alone.total_noise()


def test_larger_shares_need_somebody_left():
    with pytest.raises(ParameterError, match="dropout"):
        shuffled_sum(Fraction("0.9"), Fraction("0.01"), 10, 10)


def test_a_certificate_is_told_only_what_says_all_of_the_probability():
    log = Logarithm(Fraction(3, 2))
    assert Linear(Fraction(0), Fraction(1, 2), log).fields() == {"factor": "0.5", "log": "1.5"}
    assert Linear(Fraction(1, 10), Fraction(1, 2), log).fields() is None
    assert Linear(Fraction(0), Fraction(1, 2), SquareRoot(Fraction(2))).fields() is None
