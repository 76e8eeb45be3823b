"""Shuffled reports against all datasets, written out in Fractions, and against what is known."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import mpmath
import pytest

import exactdp
from exactdp import ParameterError
from exactdp.accounting import compose
from exactdp.exact.number import ball
from exactdp.exact.precision import working_precision
from exactdp.mechanisms import shuffled_bits, shuffled_counts, shuffled_many_bits, shuffled_sums
from exactdp.mechanisms.local import Weight
from exactdp.mechanisms.local_families import Categories
from exactdp.mechanisms.local_file import Table
from exactdp.mechanisms.shuffled import Shuffled
from exactdp.mechanisms.shuffled_counts import Holders
from exactdp.mechanisms.shuffled_pairs import ProfilePair
from exactdp.mechanisms.shuffled_sums import Summand, excess
from exactdp.mechanisms.spec import parse

F = Fraction


def table(rows):
    made = tuple(tuple(Weight.of(entry) for entry in row) for row in rows)
    names = tuple(map(str, range(len(rows[0]))))
    return Table(made, tuple(map(str, range(len(rows)))), names)


def response(k, odds):
    return [[F(odds if x == y else 1, odds + k - 1) for y in range(k)] for x in range(k)]


def histograms(rows, values):
    """The law of how often each report is made by users who hold these values."""
    law = {(0,) * len(rows[0]): F(1)}
    for value in values:
        following = Counter()
        for seen, mass in law.items():
            for y, share in enumerate(rows[value]):
                if share:
                    counts = (*seen[:y], seen[y] + 1, *seen[y + 1 :])
                    following[counts] += mass * share
        law = following
    return law


def truth(rows, users, level):
    """The largest delta of any two neighbouring datasets, one of them or the other first."""
    k = len(rows)
    worst = F(0)
    for others in itertools.combinations_with_replacement(range(k), users - 1):
        laws = [histograms(rows, (*others, value)) for value in range(k)]
        for one, other in itertools.permutations(laws, 2):
            gain = sum(max(mass - level * other.get(seen, 0), 0) for seen, mass in one.items())
            worst = max(worst, gain)
    return worst


TABLES = {
    "three": response(3, 3),
    "four": response(4, 5),
    "two": response(2, 8),
    "lopsided": [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 5), F(3, 5), F(1, 5)], [F(1, 3)] * 3],
    "one alone": [[F(1, 2), F(1, 2), F(0)], [F(1, 4), F(1, 2), F(1, 4)]],
}


def between(found, value):
    with working_precision(256):
        exact = ball(value)
        return not found[0] > exact and not found[1] < exact


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("users", [1, 2, 4])
def test_it_holds_what_the_worst_datasets_cost(name, users):
    rows = TABLES[name]
    one = Shuffled(table(rows), users)
    for level in (F(1), F(3, 2), F(2), F(4), F(9)):
        with working_precision(128):
            found = one.at(ball(level), 1e-6)
        assert between(found, truth(rows, users, level))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "users"), [("three", 8), ("four", 7), ("lopsided", 7)])
def test_it_holds_what_the_worst_datasets_of_more_users_cost(name, users):
    rows = TABLES[name]
    one = Shuffled(table(rows), users)
    for level in (F(1), F(3, 2), F(3)):
        with working_precision(128):
            found = one.at(ball(level), 1e-6)
        assert between(found, truth(rows, users, level))


def test_a_known_case_is_attained():
    rows = TABLES["four"]
    with working_precision(128):
        lower, upper = Shuffled(table(rows), 5).at(ball(2), 1e-6)
    assert truth(rows, 5, F(2)) == F(5001, 32768)
    assert between((lower, upper), F(5001, 32768))
    assert abs(float(lower) - 5001 / 32768) < 1e-9
    assert abs(float(upper) - 0.15295) < 1e-5


def test_one_report_alone_is_the_local_one():
    spec = "randomized-response:epsilon=1,categories=4"
    alone = compose(Shuffled(parse(spec).mechanism, 1))
    for level in ("0", "1/2", "1"):
        one = exactdp.mechanism(spec).delta(level)
        found = alone.delta(level)
        assert found.lower <= one.upper and one.lower <= found.upper
        assert found.is_within(F(1, 10**6)) or found.upper < F(1, 10**6)


@pytest.mark.contract
@pytest.mark.parametrize(
    "spec",
    [
        "randomized-response:epsilon=2,categories=3",
        "randomized-response:epsilon=2",
        "unary-encoding:epsilon=1,bits=4",
        "rappor:f=1/2",
        "count-mean-sketch:epsilon=4",
        "subset-selection:epsilon=1,categories=10",
        "hadamard-response:epsilon=1,categories=10",
        "hadamard-response:epsilon=1,categories=3",
        "one-bit-mean:epsilon=1",
    ],
)
def test_pure_epsilon_is_the_local_one_exactly(spec):
    local, shuffled = exactdp.mechanism(spec), exactdp.mechanism(f"{spec},shuffled=1e6")
    assert local.pure() == shuffled.pure()
    assert (3 * local).pure() == (3 * shuffled).pure()
    assert shuffled.epsilon("1e-3").upper < local.epsilon("1e-3").lower


def test_the_families_tables_give_the_same_as_the_families():
    """By the table of all values and reports, which knows no symmetry."""
    cases = {
        "subset-selection:epsilon=1,categories=5,size=2": [
            [Weight.of(1, int(x in held)) for held in itertools.combinations(range(5), 2)]
            for x in range(5)
        ],
        "hadamard-response:epsilon=1,categories=5": [
            [Weight.of(1, 1 - (y & row).bit_count() % 2) for y in range(8)] for row in range(1, 6)
        ],
        "randomized-response:epsilon=1,categories=5": [
            [Weight.of(1, int(x == y)) for y in range(5)] for x in range(5)
        ],
    }
    for spec, rows in cases.items():
        names = tuple(map(str, range(len(rows[0]))))
        whole = Table(tuple(map(tuple, rows)), tuple("abcde"), names)
        for users in (1, 3):
            with working_precision(128):
                level = ball(F(4, 3))
                found = Shuffled(parse(spec).mechanism, users).at(level, 1e-3)
                other = Shuffled(whole, users).at(level, 1e-3)
                for one, two in zip(found, other, strict=True):
                    assert abs(float(one / two) - 1) < 4e-3


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("k", [3, 100])
@pytest.mark.parametrize("users", [1000, 10**6])
def test_ends_are_near_from_a_thousand_users_on(k, epsilon, users):
    one = Shuffled(Categories(epsilon, k), users)
    for level in (F(1), F(21, 20)):
        with working_precision(128):
            lower, upper = one.at(ball(level), 1e-3)
        assert upper - lower < 1e-3


@pytest.mark.contract
@pytest.mark.slow
def test_a_million_users_are_told_within_a_percent():
    spec = "randomized-response:epsilon=6,categories=100,shuffled=1e6"
    found = exactdp.mechanism(spec).epsilon("1e-6")
    assert found.is_within(F(1, 1000))
    assert F(9, 100) < found.lower < F(1, 10)
    assert exactdp.audit(spec, "approx:0.1,1e-6").verified
    assert exactdp.audit(spec, "approx:0.09,1e-6").refuted


# -- sums ----------------------------------------------------------------------------------------


def listed(values, masses, marks, count):
    """E(S)^+ of so many, in 40 digits."""
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        last = len(values) - 1
        for cut in itertools.combinations(range(count + last), last):
            ends = (-1, *cut, count + last)
            times = [b - a - 1 for a, b in itertools.pairwise(ends)]
            value = sum(v * k for v, k in zip(values, times, strict=True))
            if value > 0:
                ways = mpmath.factorial(count)
                for m, k in zip(masses, times, strict=True):
                    ways *= mpmath.mpf(m.numerator) ** k / m.denominator**k / mpmath.factorial(k)
                total += ways * value.numerator / value.denominator
        return total


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("count", [3, 30])
@pytest.mark.parametrize("width", [1e-2, 1e-4])
@pytest.mark.parametrize(
    ("values", "masses"),
    [
        ([F(3), F(-2), F(-1, 3)], [F(1, 5), F(2, 5), F(2, 5)]),
        ([F(7), F(-2), F(0)], [F(1, 50), F(1, 10), F(44, 50)]),
        ([F(1), F(-1)], [F(1, 2), F(1, 2)]),
        ([F(1, 10), F(-3)], [F(9, 10), F(1, 10)]),
    ],
)
def test_smoothed_sums_hold_the_exact_ones(monkeypatch, values, masses, width, count):
    exact = listed(values, masses, [F(0)] * len(values), count)
    for most in (0, 10**6):
        monkeypatch.setattr(shuffled_sums, "_MOST_SUMS", most)
        with working_precision(160):
            one = Summand(*([ball(x) for x in each] for each in (values, masses, [F(1)] * 9)))
            one = Summand(one.values, one.masses, one.marks[: len(values)])
            found = excess(one, count, width)
            low, high = (
                mpmath.mpf(str(end.str(40, radius=False))) for end in (found.lower, found.upper)
            )
            slack = abs(exact) * mpmath.mpf(10) ** -30 + mpmath.mpf(10) ** -36
        assert low - slack <= exact <= high + slack


@pytest.mark.parametrize("name", ["three", "two"])
@pytest.mark.parametrize("above", [False, True])
def test_pairs_lie_on_their_side_of_the_profile(above, name):
    rows = TABLES[name]
    pair = ProfilePair(Shuffled(table(rows), 4), above)
    with working_precision(128):
        p, q = pair.masses()
        assert abs(float(sum(p)) - 1) < 1e-12 and abs(float(sum(q)) - 1) < 1e-12
        for level in (F(1, 3), F(1), F(5, 4), F(3, 2), F(2), F(29, 10), F(4)):
            own = sum(((a - ball(level) * b).max(0) for a, b in zip(p, q, strict=True)), ball(0))
            if level >= 1:
                real = truth(rows, 4, level)
            else:
                real = 1 - level + level * truth(rows, 4, 1 / level)
            assert (own >= ball(real) - 1e-12) if above else (own <= ball(real) + 1e-12)


@pytest.mark.slow
def test_rounds_of_two_values_rest_on_what_others_hold():
    """Not on their blanket, which is loose: by half at this epsilon."""
    one = Shuffled(Categories(2, 2), 2000)
    with working_precision(128):
        odds = ball(F(1, 10)).exp()
        p, q = ProfilePair(one, True, near=True).masses()
        own = sum(((a - odds * b).max(0) for a, b in zip(p, q, strict=True)), ball(0))
        least, blanket = one._attained(odds, 1e-3), one.at_most(odds, 1e-3)
    assert least < own < least * 1.15 < blanket


def test_two_rounds_hold_what_two_rounds_cost():
    """All others hold the third value: what certainly may happen."""
    rows = TABLES["three"]
    level = F(3, 2)
    one, other = (histograms(rows, (x, 2, 2)) for x in (0, 1))
    real = sum(
        max(one[a] * one[b] - level * other[a] * other[b], 0)
        for a, b in itertools.product(one, repeat=2)
    )
    pair = Shuffled(table(rows), 3)
    rounds = compose((pair, 2))
    at = F(int(math.log(level) * 10**12), 10**12)  # a little less than the logarithm
    assert rounds.delta(at).upper >= real
    assert (
        rounds.delta(at).lower
        <= rounds.delta(at).upper
        <= (2 * compose(table(rows))).delta(at).upper
    )


@pytest.mark.parametrize(
    "spec",
    [
        "randomized-response:epsilon=1,shuffled=0",
        "randomized-response:epsilon=1,shuffled=1e10",
        "randomized-response:epsilon=1,delta=0.1,shuffled=10",
        "randomized-response:epsilon=1,shuffled=10,neighbours=add-remove",
        "randomized-response:epsilon=1,shuffled=10,neighbours=add-remove,poisson=1/2",
        "rappor:f=1/2,p=3/4,q=1/2,reports=2,shuffled=10",
        "discrete-laplace:scale=1,shuffled=10",
        "rappor:f=1/2,hashes=2,shuffled=10",
        "unary-encoding:epsilon=1,bits-differ=4,shuffled=10",
    ],
)
def test_what_is_not_shuffled_is_refused(spec):
    with pytest.raises(ParameterError):
        parse(spec)


def test_unary_encoding_holds_what_the_worst_datasets_cost():
    """All values of three bits and all reports, others at any of them."""
    mass = (F(1, 4), F(3, 4))
    rows = [
        [
            math.prod(mass[at == x] if bit else 1 - mass[at == x] for at, bit in enumerate(report))
            for report in itertools.product((0, 1), repeat=3)
        ]
        for x in range(3)
    ]
    one = parse("unary-encoding:p=3/4,q=1/4,shuffled=3").mechanism
    for level in (F(1), F(2), F(5)):
        with working_precision(128):
            found = one.at(ball(level), 1e-6)
        assert between(found, truth(rows, 3, level))


# -- two values, two reports ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        TABLES["two"],
        [[F(3, 4), F(1, 4)], [F(2, 5), F(3, 5)]],
    ],
)
@pytest.mark.parametrize("users", [1, 2, 5, 8])
def test_bits_cost_what_the_worst_count_of_others_makes_of_them(rows, users):
    one = Shuffled(table(rows), users)
    for level in (F(1), F(3, 2), F(3)):
        real = truth(rows, users, level)
        with working_precision(128):
            found = one.at(ball(level), 1e-3)
        assert between(found, real)
        assert real == 0 or abs(float(found[0] / ball(real)) - 1) < 1e-9
        assert real == 0 or float(found[1] / ball(real)) - 1 < 3e-3


def test_others_of_both_values_hide_less_than_those_of_one():
    """Eight users, odds 8 to 1: with one of seven others at the other value."""
    with working_precision(128):
        found = Shuffled(table(TABLES["two"]), 8).at(ball(F(3, 2)), 1e-3)
    assert abs(float(found[0]) - 0.31895) < 1e-5


def test_bits_of_many_users_are_bounded_near_what_is_attained():
    with working_precision(128):
        lower, upper = Shuffled(Categories(2, 2), 400).at(ball(F(11, 10)), 1e-3)
    assert 0 < lower <= upper < lower * 1.2


def test_intervals_of_counts_are_bounded_by_their_reports_told(monkeypatch):
    """The same with few intervals: wider, and right."""
    rows = TABLES["two"]
    monkeypatch.setattr(shuffled_bits, "_FEW", 0)
    for turns in (0, 2, 6, 14):
        monkeypatch.setattr(shuffled_bits, "_MOST_TURNS", turns)
        with working_precision(128):
            found = Shuffled(table(rows), 8).at(ball(F(3, 2)), 1e-3)
        assert between(found, truth(rows, 8, F(3, 2)))


@pytest.mark.parametrize("local", ["randomized-response:epsilon=0", "unary-encoding:p=1/2,q=1/2"])
def test_reports_that_tell_nothing_still_tell_nothing_in_several_rounds(local):
    rounds = compose((parse(f"{local},shuffled=5").mechanism, 2))
    assert rounds.delta(0).upper < F(1, 10**30) and rounds.pure().upper == 0


def test_a_table_of_equal_laws_tells_nothing_whatever_its_rows_are_multiples_of(tmp_path):
    file = tmp_path / "equal.csv"
    file.write_text("value,a,b\nx,2*exp(1),2*exp(1)\ny,exp(1/2),exp(1/2)\n")
    rounds = compose((parse(f"local:file={file},normalise=yes,shuffled=2").mechanism, 2))
    assert rounds.delta(0).upper < F(1, 10**30) and rounds.renyi(2).upper < F(1, 10**30)


# -- categories whose counts are listed ----------------------------------------------------------


def of_odds(k, odds):
    """With weights that are these odds to 15 digits."""
    return Categories(F(math.log(odds)), k)


def crowd_truth(k, odds, values, level):
    """delta where the others hold these values and hers is the first or the second one."""
    rows = response(k, odds)
    one, other = (histograms(rows, (*values, x)) for x in (0, 1))
    return sum(max(mass - level * other.get(seen, 0), 0) for seen, mass in one.items())


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("values", [(0, 1, 2), (2, 2, 2), (0, 0, 0, 2), (1,), (0, 1, 1, 2, 2)])
def test_listed_counts_cost_what_the_crowd_costs(k, values):
    for odds, level in ((F(5), F(3, 2)), (F(9), F(6)), (F(2), F(1))):
        real = crowd_truth(k, odds, values, level)
        crowd = Holders(*(values.count(x) for x in range(3)))
        found = shuffled_counts.attained(of_odds(k, odds), crowd, ball(level), 1e-12)
        assert found <= float(real) * (1 + 1e-9)
        assert found >= float(real) * (1 - 1e-6) - 1e-9


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(("k", "users"), [(3, 2), (3, 5), (3, 8), (4, 2), (4, 5), (5, 4)])
def test_no_bound_of_listed_counts_is_below_the_worst_datasets(k, users):
    for odds, level in (
        (F(5), F(3, 2)),
        (F(30), F(12)),
        (F(30), F(29)),
        (F(8), F(1)),
        (F(2), F(2)),
    ):
        real = float(truth(response(k, odds), users, level))
        for share in (0.0, 0.5, 0.999, 0.999999):
            assert not shuffled_counts.costs_at_most(
                of_odds(k, odds), users, ball(level), real * share - 1e-12, 1.0
            )
        wide = 1.001 if k == 3 else 1.2
        assert shuffled_counts.costs_at_most(
            of_odds(k, odds), users, ball(level), real * wide + 1e-9, 1.0
        )


def test_third_values_that_differ_cost_no_more_than_equal_ones():
    """What the bound rests on, where others hold her two values as well."""
    for mixed in ((), (0,), (1,), (0, 1)):
        a, b = mixed.count(0), mixed.count(1)
        for level in (F(1), F(2), F(4)):
            goal = shuffled_counts._at_most(
                of_odds(5, F(6)), (a, a, b, b), a + b + 3, ball(level), 1.0, 0.0
            )
            for third in itertools.combinations_with_replacement((2, 3, 4), 3):
                assert crowd_truth(5, F(6), (*mixed, *third), level) <= goal * (1 + 1e-9)


@pytest.mark.parametrize("box", [(0, 4, 0, 4), (1, 2, 0, 1), (0, 1, 1, 2), (2, 4, 0, 0)])
def test_boxes_bound_all_that_others_may_hold(box):
    a, last_a, b, last_b = box
    local = of_odds(4, F(5))
    for level in (F(1), F(2), F(9, 2)):
        worst = max(
            crowd_truth(4, F(5), others, level)
            for others in itertools.combinations_with_replacement(range(4), 4)
            if a <= others.count(0) <= last_a and b <= others.count(1) <= last_b
        )
        most = shuffled_counts._at_most(local, box, 4, ball(level), 1.0, 1.0)
        assert worst <= most * (1 + 1e-9) and most <= 2 * worst + F(1, 100)
        known = float(worst) * (1 + 1e-9)  # says nothing of each number of those who are told of
        again = shuffled_counts._at_most(local, box, 4, ball(level), known, 1.0)
        assert worst <= again * (1 + 1e-6)


@pytest.mark.quick_cases(1)
@pytest.mark.contract
@pytest.mark.parametrize(
    "spec",
    [
        "epsilon=5,categories=3",
        "epsilon=4.58,categories=3",
        "epsilon=5.1,categories=4",
        "epsilon=4.51,categories=10",
    ],
)
def test_ends_are_near_where_few_reports_are_random(spec):
    """3 to 10 users report a value by chance."""
    found = exactdp.mechanism(f"randomized-response:{spec},shuffled=1000").epsilon("1e-6")
    assert found.lower < found.upper <= found.lower * (1 + F(1, 1000))


@pytest.mark.contract
@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", ["epsilon=6,categories=10,shuffled=1000", "epsilon=8,categories=10,shuffled=10000"]
)
def test_ends_are_near_with_ten_categories(spec):
    found = exactdp.mechanism(f"randomized-response:{spec}").epsilon("1e-6")
    assert found.lower < found.upper <= found.lower * (1 + F(1, 1000))


# -- bits of many users --------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [TABLES["two"], [[F(3, 4), F(1, 4)], [F(2, 5), F(3, 5)]]])
@pytest.mark.parametrize("users", [2, 5, 8])
def test_blocks_of_numbers_bound_the_worst_one(rows, users):
    rates = shuffled_bits.Rates(*(ball(row[1]) for row in rows))
    for level in (F(1), F(11, 10), F(3, 2), F(3)):
        real = truth(rows, users, level)
        with working_precision(128):
            least = shuffled_many_bits.attained_bits(rates, users, ball(level), -10.0)
            assert not least > ball(real)
            for share in (F(1, 2), F(999999, 10**6)):
                goal = ball(real * share)
                if real:
                    assert not shuffled_many_bits.costs_at_most(rates, users, ball(level), goal)


@pytest.mark.parametrize("zeros", [0, 10, 33, 49])
@pytest.mark.parametrize("level", [F(1), F(21, 20), F(3, 2), F(3)])
def test_sums_by_roots_of_unity_are_those_of_the_laws_written_out(zeros, level):
    rates, others = (F(1, 5), F(3, 4)), 49
    law = [F(1)]
    for rate in [rates[0]] * zeros + [rates[1]] * (others - zeros):
        law = [
            (law[w] if w < len(law) else 0) * (1 - rate) + (law[w - 1] * rate if w else 0)
            for w in range(len(law) + 1)
        ]
    one, other = (
        [
            (law[w] if w < len(law) else 0) * (1 - rate) + (law[w - 1] * rate if w else 0)
            for w in range(len(law) + 1)
        ]
        for rate in (rates[1], rates[0])
    )
    real = sum(max(a - level * b, 0) for a, b in zip(one, other, strict=True))
    with working_precision(128):
        found = shuffled_bits.Rates(*map(ball, rates))
        groups = [
            shuffled_many_bits.Group(zeros, found.zero),
            shuffled_many_bits.Group(others - zeros, found.one),
        ]
        cost = shuffled_many_bits._excess(found, groups, ball(level), math.log(real))
        assert cost is not None and cost.overlaps(ball(real))
        assert float(cost.rad()) < 1e-6 * float(real)


@pytest.mark.quick_cases(1)
@pytest.mark.contract
@pytest.mark.parametrize("spec", ["epsilon=2,shuffled=1000", "epsilon=2,shuffled=1e6"])
def test_ends_of_two_values_are_near(spec):
    found = exactdp.mechanism(f"randomized-response:{spec}").epsilon("1e-6")
    assert found.lower < found.upper <= found.lower * (1 + F(1, 1000))


def test_many_bits_cost_what_the_binomial_laws_say():
    """All others hold 1: in 30 digits by mpmath, far from where floats would see it."""
    users, odds, level = 10**4, 9, mpmath.mpf("1.03")
    with mpmath.workdps(30):
        p, q = mpmath.mpf(9) / 10, mpmath.mpf(1) / 10
        mass, real, before = q ** (users - 1), mpmath.mpf(0), mpmath.mpf(0)
        for w in range(users + 1):
            real += max((p - level * q) * before + (q - level * p) * mass, 0)
            before = mass
            mass = mass * (users - 1 - w) / (w + 1) * 9
    with working_precision(128):
        rates = shuffled_bits.Rates(1 / ball(odds + 1), ball(odds) / (odds + 1))
        groups = [shuffled_many_bits.Group(users - 1, rates.one)]
        cost = shuffled_many_bits._excess(rates, groups, ball(F(103, 100)), float(mpmath.log(real)))
        assert abs(mpmath.mpf(float(cost.mid())) / real - 1) < 1e-12


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("epsilon", ["12", "30"])
def test_probabilities_too_small_for_floats_are_not_divided_by(epsilon):
    spec = f"randomized-response:epsilon={epsilon},categories=1000000,shuffled=2"
    found = compose(parse(spec).mechanism).epsilon("1e-6")
    assert 0 <= found.lower <= found.upper <= Fraction(epsilon)


def test_sums_of_one_hot_reports_tell_what_shuffled_ones_do():
    both = (
        f"randomized-response:epsilon=2,categories=5,{key}=100" for key in ("summed", "shuffled")
    )
    assert len({parse(spec).mechanism for spec in both}) == 1


@pytest.mark.parametrize("epsilon", [700, 10_000])
def test_reports_that_all_but_tell_the_value_have_a_bracket(epsilon):
    one = compose(parse(f"randomized-response:epsilon={epsilon},shuffled=1000").mechanism)
    found = one.epsilon("1e-6")
    assert found.lower <= found.upper <= epsilon  # what one report tells bounds them all
