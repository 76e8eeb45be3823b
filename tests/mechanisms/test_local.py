"""Local randomizers against their whole tables, written out value by value and report by report."""

import itertools
from collections import Counter
from fractions import Fraction

import mpmath
import pytest
from conformance import truth
from sampler_fit import fit_counts

import exactdp
from exactdp import ParameterError
from exactdp.mechanisms.local import local_file
from exactdp.mechanisms.local.local_file import read_table, weight_of
from exactdp.mechanisms.samplers import SeededBits, SystemBits, release, simulated_release
from exactdp.mechanisms.specs.spec import parse

DIGITS = 40


def exp(value):
    return mpmath.exp(mpmath.mpf(Fraction(value).numerator) / Fraction(value).denominator)


def holds(found, truth):
    slack = Fraction(1, 10**30)
    exactly = Fraction(int(mpmath.nint(truth * 10**36)), 10**36)
    return Fraction(found.lower) - slack <= exactly <= Fraction(found.upper) + slack


@pytest.mark.contract
def test_equal_chances_cost_nothing():
    assert exactdp.audit("unary-encoding:p=1/3,q=1/3*9", "pure:0").verified


@pytest.mark.contract
def test_large_domains_cost_no_more_time():
    for spec in (
        "randomized-response:epsilon=6,categories=1000000000",
        "hadamard-response:epsilon=6,categories=1000000000",
        "subset-selection:epsilon=1,categories=4096",
        "rappor:f=1/2,hashes=16",
    ):
        assert exactdp.mechanism(spec).epsilon(delta="1e-3").is_finite()


# -- tables from files ---------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    def write(*lines):
        path = tmp_path / "table.csv"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def test_a_table_may_be_as_large_as_is_compared_in_time_and_no_larger(written, monkeypatch):
    """Pairs of values times reports: of three values and two reports, 18."""
    path = written("value,u,v", *(f"{name},1/2,1/2" for name in "abc"))
    monkeypatch.setattr(local_file, "_MOST_COMPARED", 18)
    assert read_table(path).values == ("a", "b", "c")
    monkeypatch.setattr(local_file, "_MOST_COMPARED", 17)
    with pytest.raises(ParameterError, match="values squared times reports exceed 17"):
        read_table(path)


@pytest.mark.contract
def test_a_table_is_read_and_costs_its_worst_pair(written):
    path = written("value,u,v,w", "a,1/2,0.25,1/4", "b,1/4,1/2,1/4", "", "c,1/3,1/3,1/3")
    found = exactdp.mechanism(f"local:file={path}")
    assert found.pure().contains(0) is not True
    assert exactdp.audit(f"local:file={path}", "approx:1/100,1/4").verified
    assert exactdp.audit(f"local:file={path}", "approx:1/1000,0.2497").refuted
    with mpmath.workdps(DIGITS):
        assert holds(found.pure(), mpmath.log(2))


def test_weights_with_exponentials_are_exact(written):
    path = written("x,0,1,2", "a,exp(1),1,1", "b,1,exp(1),1", "c,1,1,exp(1)")
    spec = f"local:file={path},normalise=yes"
    assert exactdp.audit(spec, "pure:1").verified
    assert exactdp.audit(f"{spec}*2", "pure:2").verified
    (pair,) = parse(spec).mechanism.pairs()
    assert pair.steps().unit == 1
    mixed = written("x,0,1", "a,2*exp(1/2),1", "b,exp(3/2)+1,3")
    with mpmath.workdps(DIGITS):
        first, second = [2 * exp("1/2"), 1], [exp("3/2") + 1, 3]
        laws = [[w / sum(row) for w in row] for row in (first, second)]
        truth = max(mpmath.log(max(a / b, b / a)) for a, b in zip(*laws, strict=True))
        assert holds(exactdp.mechanism(f"local:file={mixed},normalise=yes").pure(), truth)


@pytest.mark.contract
def test_a_report_of_one_value_alone_is_infinite_one_way(written):
    path = written("x,0,1", "a,1,0", "b,9/10,1/10")
    found = exactdp.mechanism(f"local:file={path}")
    assert str(found.pure().lower) == "Infinity"
    value = (3 * found).delta(0)
    assert value.lower <= 1 - Fraction(9, 10) ** 3 <= value.upper


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((), "empty"),
        (("value,a,b",), "no values"),
        (("value,a,a", "x,1/2,1/2"), "twice"),
        (("value,a,b", "x,1/2,1/2", "x,1/2,1/2"), "twice"),
        (("value,a,b", "x,1/2"), "cells"),
        (("value,a,b", "x,1/2,1/3"), "exactly 1"),
        (("value,a,b", "x,exp(1),1"), "exactly 1"),
        (("value,a,b", "x,-1/2,3/2"), "at least 0"),
        (("value,a,b", "x,exp(exp(1)),1"), "not an exact number"),
        (("value,a,b", "x,exp(nan),1"), "exponent"),
        (("value,a,b", "x,exp(1e9),1"), "exponents"),
        (("value,a,b", "x,0,0"), "all entries are 0"),
        (("value,a,b", "x,__import__('os'),1"), "exact number"),
    ],
)
def test_what_is_no_table_is_refused(written, lines, said):
    with pytest.raises(ParameterError, match=said):
        read_table(written(*lines))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("1e+1", ((0, 10),)),
        ("2 * exp(1/2) + 1", ((0, 1), (Fraction(1, 2), 2))),
        ("exp(+1)+exp(1)", ((1, 2),)),
        ("exp(-0.5)", ((Fraction(-1, 2), 1),)),
        ("0*exp(3)", ()),
    ],
)
def test_entries_are_read_exactly(text, terms):
    assert weight_of(text).terms == terms


@pytest.mark.contract
@pytest.mark.parametrize(
    "spec",
    [
        "randomized-response:epsilon=1,categories=1",
        "randomized-response:epsilon=1,categories=3,delta=0.1",
        "unary-encoding:p=1/2",
        "unary-encoding:p=1,q=1/2",
        "unary-encoding:epsilon=1,p=1/2,q=1/3",
        "unary-encoding:epsilon=1,bits-differ=3",
        "unary-encoding:epsilon=1,bits=1",
        "rappor:f=0",
        "rappor:f=1/2,p=1/2",
        "rappor:f=1/2,reports=2",
        "subset-selection:epsilon=1,categories=3,size=3",
        "hadamard-response:epsilon=1",
        "local:file=nowhere.csv",
    ],
)
def test_bad_parameters_are_refused(spec):
    with pytest.raises(ParameterError):
        exactdp.mechanism(spec)


# -- samples -------------------------------------------------------------------------------------


def bits(p, q):
    """Each report and its chance, of either value of four."""
    with mpmath.workdps(30):
        rows = truth.bits(mpmath.mpf(p), mpmath.mpf(q), 4)
    reports = ["".join(bits) for bits in itertools.product("01", repeat=4)]
    return [dict(zip(reports, row, strict=True)) for row in rows]


DRAWN = {
    "randomized-response:epsilon=1,categories=5": [
        {y: (exp(1) if x == y else 1) / (exp(1) + 4) for y in range(5)} for x in range(2)
    ],
    "unary-encoding:p=3/4,q=1/5,bits=4": bits("3/4", "1/5"),
    "unary-encoding:p=1/5,q=3/4,bits=4": bits("1/5", "3/4"),
    "unary-encoding:epsilon=2,bits=4": bits("1/2", 1 / (1 + exp(2))),
    "rappor:f=1/2,p=3/4,q=1/2,bits=4": bits("11/16", "9/16"),
    "count-mean-sketch:epsilon=2,bits=4": bits(1 / (1 + exp(-1)), 1 / (1 + exp(1))),
    "subset-selection:epsilon=1,categories=6,size=2": [
        dict(zip([f"{a} {b}" for a, b in itertools.combinations(range(6), 2)], row, strict=True))
        for row in truth.subsets(1, 6, 2)
    ],
    "hadamard-response:epsilon=1,categories=5": list(
        map(dict, map(enumerate, truth.hadamard(1, 5)))
    ),
    "one-bit-mean:epsilon=1": [{0: 1 - (p := 1 / (1 + exp(1))), 1: p}, {0: p, 1: 1 - p}],
}


@pytest.mark.parametrize("spec", DRAWN)
@pytest.mark.parametrize("value", [0, 1])
def test_reports_are_drawn_from_the_table(spec, value):
    law = DRAWN[spec][value]
    one, bits = simulated_release(parse(spec).mechanism, value), SeededBits(7)
    counts = Counter(one(bits) for _ in range(4000))
    assert counts.keys() <= law.keys()
    assert fit_counts([counts[y] for y in law], [float(law[y]) for y in law]).passes


def test_a_table_s_reports_are_drawn_by_name(written):
    path = written("x,u,v,w", "a,exp(1),0,1", "b,1,1,1")
    mechanism = parse(f"local:file={path},normalise=yes").mechanism
    one, bits = simulated_release(mechanism, 0), SeededBits(1)
    counts = Counter(one(bits) for _ in range(4000))
    kept = float(exp(1) / (1 + exp(1)))
    assert counts["v"] == 0
    assert fit_counts([counts["u"], counts["w"]], [kept, 1 - kept]).passes
    assert release(mechanism, 1)(SystemBits()) in ("u", "v", "w")


def test_values_that_there_are_not_are_refused():
    for spec, value in (
        ("randomized-response:epsilon=1,categories=5", 5),
        ("unary-encoding:epsilon=1", 0),
        ("rappor:f=1/2,hashes=2,bits=8", 1),
        ("rappor:f=1/2,hashes=2,bits=8", [3, 3]),
        ("rappor:f=1/2,hashes=2,bits=8", [3, 8]),
        ("one-bit-mean:epsilon=1", 2),
        ("rappor:f=1/2,p=3/4,q=1/2,reports=2", 0),
    ):
        with pytest.raises(ParameterError):
            release(parse(spec).mechanism, value)
