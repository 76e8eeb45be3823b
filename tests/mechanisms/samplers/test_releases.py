"""What is released beside single numbers, against laws that are computed without the samplers."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest
from exhaustive import exhaust
from sampler_fit import fit_counts

import exactdp
from exactdp import ParameterError
from exactdp.cli.main import main
from exactdp.mechanisms import AdditiveNoise, FiniteLaw, Skellam
from exactdp.mechanisms.local import reports
from exactdp.mechanisms.local.local_families import Reports
from exactdp.mechanisms.matrices.release import DiscreteMatrixNoise
from exactdp.mechanisms.samplers import (
    NoSamplerError,
    SeededBits,
    SystemBits,
    release,
    share_of_noise,
    simulated_release,
)
from exactdp.mechanisms.samplers.bits import SimulatedInt
from exactdp.mechanisms.selection.threshold import Thresholded
from exactdp.mechanisms.specs.spec import parse


def of(text):
    return parse(text).mechanism


def drawn(mechanism, query, size=4000, seed=3):
    one, bits = simulated_release(of(mechanism), query), SeededBits(seed)
    return [one(bits) for _ in range(size)]


def agree(found, law):
    """Outcomes against their probabilities, where all others have what is missing to 1."""
    seen, rest = Counter(found), max(1 - float(sum(law.values())), 0)
    others = sum(count for outcome, count in seen.items() if outcome not in law)
    counts = [*(seen[outcome] for outcome in law), others]
    expected = [*map(float, law.values()), rest]
    if not rest:
        assert not others
        counts, expected = counts[:-1], expected[:-1]
    assert fit_counts(counts, expected).passes


def masses(law, reach):
    return {x: float(law.pmf(x)) for x in range(-reach, reach + 1)}


# -- vectors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [
    "skellam:variance=2", "discrete-gaussian:sigma2=2", "discrete-laplace:scale=1",
    "binomial:trials=8,probability=1/2",
])  # fmt: skip
def test_every_coordinate_of_a_vector_has_its_own_noise(noise):
    found = drawn(f"{noise},l2=4,dimension=3", [10, 0, "-5"])
    law = masses(of(noise).law, 8)
    for place, value in enumerate((10, 0, -5)):
        agree((vector[place] - value for vector in found), law)
    signs = [(a >= 10, b >= 0) for a, b, _ in found]
    low = sum(p for x, p in law.items() if x < 0)
    both = {True: 1 - low, False: low}
    agree(signs, {(a, b): both[a] * both[b] for a in both for b in both})


def test_a_vector_is_as_long_as_its_dimension_or_the_query():
    assert len(release(of("skellam:variance=9,l2=1,dimension=20"))(SystemBits())) == 20
    assert len(release(of("skellam:variance=9,l2=1"), [1, 2])(SystemBits())) == 2
    assert isinstance(release(of("skellam:variance=9,l2=1"), 5)(SystemBits()), int)
    federated = "federated:clip=1,scale=64,clients=9,local-stddev=2,dimension=10,bits=16"
    vector = release(of(federated))(SystemBits())
    assert len(vector) == 16 and all(0 <= number < 65536 for number in vector)
    reduced = release(of("skellam:variance=9,l2=1,modulus=5"), [1, 2, 3])(SystemBits())
    assert set(reduced) <= set(range(5))
    for query in ([1, 2], [1, 2, 3, 4], 1, [1, 2, "x"], [1, 2, 1.5]):
        with pytest.raises(ParameterError, match="query"):
            release(of("skellam:variance=9,l2=1,dimension=3"), query)
    with pytest.raises(ParameterError, match="dimension"):
        release(of("skellam:variance=9,l2=1,dimension=1e9"))


def test_shares_of_vectors_add_up_to_the_noise():
    share = share_of_noise(of("skellam:variance=4,l2=3,dimension=2"), 4)
    assert share.noise.law == Skellam(1)
    one, bits = simulated_release(share), SeededBits(1)
    sums = [tuple(map(sum, zip(*(one(bits) for _ in range(4)), strict=True))) for _ in range(2000)]
    for place in (0, 1):
        agree((vector[place] for vector in sums), masses(Skellam(4), 6))


def test_all_that_is_made_of_a_seed_is_marked():
    one = simulated_release(of("tree:steps=2,sigma=2,noise=skellam,dimension=2"))
    assert all(isinstance(x, SimulatedInt) for row in one(SeededBits(1)) for x in row)
    assert not any(isinstance(x, SimulatedInt) for row in one(SystemBits()) for x in row)
    counts = simulated_release(of("randomized-response:epsilon=1,categories=3,shuffled=4"))
    assert all(isinstance(count, SimulatedInt) for count in counts(SeededBits(1)).values())


# -- counts and names of keys ----------------------------------------------------------------------

COUNTS = "discrete-laplace:scale=1,threshold=5,keys=3"


def test_counts_of_several_keys():
    found = drawn(COUNTS, [4, 0, 6])
    law = masses(of("discrete-laplace:scale=1").law, 12)
    for place, count in enumerate((4, 0, 6)):
        seen = {count + x: p for x, p in law.items() if count and count + x >= 5}
        agree((each[place] for each in found), seen | {"withheld": 1 - sum(seen.values())})
    named = drawn(f"{COUNTS},names=yes", [4, 0, 6])
    assert [tuple("withheld" if x == "withheld" else "released" for x in each) for each in found] \
        == named  # fmt: skip


def test_counts_by_key_are_released_in_alphabetical_order():
    given = {"z": 400, "b": 0, "a": 300, "k": 1}
    found = release(of("discrete-laplace:scale=1,threshold=100"), given)(SystemBits())
    assert list(found) == ["a", "z"] and abs(found["a"] - 300) < 60
    names = release(of("discrete-laplace:scale=1,threshold=100,names=yes"), given)(SystemBits())
    assert names == ("a", "z")
    with pytest.raises(ParameterError, match="text"):
        release(of(COUNTS), {1: 3})
    for query in (-1, [-1], {"a": -1}, ["x"], 1.5):
        with pytest.raises(ParameterError, match="query"):
            release(of(COUNTS), query)


def test_names_by_the_optimal_rule():
    mechanism = of("partition-selection:epsilon=1,delta=1/100")
    counts = [0, 1, 3, 5, 40]
    found = drawn("partition-selection:epsilon=1,delta=1/100", counts)
    pi, e, delta = [0.0], math.e, 0.01
    while len(pi) < 41:  # the recurrence of the paper, not the closed form
        pi.append(min(e * pi[-1] + delta, 1 - (1 - pi[-1] - delta) / e, 1))
    for place, count in enumerate(counts):
        law = {"released": pi[count], "withheld": 1 - pi[count]}
        agree((each[place] for each in found), {key: p for key, p in law.items() if p})
    assert mechanism.rule.chances(40)[0] == 1


def test_counts_through_all_choices():
    """With finite noise a draw has few outcomes: their probabilities exactly, by every path."""
    law = FiniteLaw({-1: "1/4", 0: "1/2", 1: "1/4"})
    one = simulated_release(Thresholded(AdditiveNoise(law), 2, 2), [2, 1])
    found, left = exhaust(lambda path: one(path), 0)
    truth = {
        (2 + x if x >= 0 else "withheld", 2 if y == 1 else "withheld"): 0
        for x, y in itertools.product((-1, 0, 1), repeat=2)
    }
    for x, y in itertools.product((-1, 0, 1), repeat=2):
        key = (2 + x if x >= 0 else "withheld", 2 if y == 1 else "withheld")
        truth[key] += law.masses[x + 1] * law.masses[y + 1]
    assert left == 0
    assert found == {outcome: float(p) for outcome, p in truth.items()}


# -- reports ---------------------------------------------------------------------------------------


def memoised(half, p, q, count, true):
    """All reports of one bit: the permanent one is drawn once."""
    law = dict.fromkeys(itertools.product("01", repeat=count), Fraction(0))
    for kept in (True, False):
        share, on = (half, 1 - half)[kept], (q, p)[kept == true]
        for told in law:
            law[told] += share * math.prod(on if one == "1" else 1 - on for one in told)
    return law


@pytest.mark.parametrize("true", [0, 1])
def test_memoised_reports_through_all_choices(monkeypatch, true):
    """Coins of probability n/d as one choice each: every outcome's probability exactly."""
    monkeypatch.setattr(reports, "coin", lambda n, d, path: path.coin(n / d))
    half, p, q = Fraction(1, 4), Fraction(3, 4), Fraction(1, 8)
    one = simulated_release(Reports(half, p, q, 1, 2, 2), true)
    found, left = exhaust(one, 0, runs=10**4)
    assert left == 0
    set_, other = (memoised(half, p, q, 2, bit) for bit in (True, False))
    for (a, mass), (b, mass_) in itertools.product(set_.items(), other.items()):
        pairs = zip(b, a, strict=True) if true else zip(a, b, strict=True)
        assert found[tuple(x + y for x, y in pairs)] == mass * mass_


def test_a_value_that_sets_two_bits():
    found = drawn("rappor:f=1/4,hashes=2,p=3/4,q=1/8,reports=2,bits=5", [1, 4])
    for place in range(5):
        law = memoised(Fraction(1, 8), Fraction(3, 4), Fraction(1, 8), 2, place in (1, 4))
        agree((tuple(report[place] for report in each) for each in found), law)
    assert Counter(drawn("rappor:f=0,hashes=2,p=99/100,q=1/100,bits=5", 0)).most_common()[0][0] \
        == "11000"  # fmt: skip


@pytest.mark.parametrize("spec", ["randomized-response:epsilon=1,categories=3",
                                  "randomized-response:epsilon=1"])  # fmt: skip
def test_shuffled_reports_tell_how_many_users_sent_each(spec):
    categories = 3 if "categories" in spec else 2
    odds, values = math.e, [0, 1, 1]
    row = [[odds if x == y else 1 for y in range(categories)] for x in range(categories)]
    truth = Counter()
    for told in itertools.product(range(categories), repeat=3):
        chances = (row[x][y] / sum(row[x]) for x, y in zip(values, told, strict=True))
        truth[tuple(sorted(Counter(told).items()))] += math.prod(chances)
    found = drawn(f"{spec},shuffled=3", values)
    agree((tuple(each.items()) for each in found), truth)


def test_shuffled_reports_of_every_family(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("x,u v,w\na,1/2,1/2\nb,1/4,3/4\n")
    for spec in ("unary-encoding:epsilon=1,bits=3", "subset-selection:epsilon=1,categories=4",
                 "hadamard-response:epsilon=1,categories=4", "one-bit-mean:epsilon=1",
                 "count-mean-sketch:epsilon=1,bits=3", f"local:file={table}",
                 "rappor:f=1/2,bits=3"):  # fmt: skip
        counts = release(of(f"{spec},shuffled=20"))(SystemBits())
        assert sum(counts.values()) == 20 and list(counts) == sorted(counts)
    for query in ([0, 1], 2, [0] * 21):
        with pytest.raises(ParameterError, match="query"):
            release(of("one-bit-mean:epsilon=1,shuffled=20"), query)


# -- by the command --------------------------------------------------------------------------------


@pytest.mark.contract
@pytest.mark.parametrize(("spec", "query", "line"), [
    ("discrete-laplace:scale=1e-3,l1=2,dimension=3", None, "0 0 0"),
    ("discrete-laplace:scale=1e-3,l1=2", "3,5,2", "3 5 2"),
    ("discrete-laplace:scale=1e-3,threshold=4", "3,5,0", "withheld 5 withheld"),
    ("discrete-laplace:scale=1e-3,threshold=4,names=yes", "3,5", "withheld released"),
    ("partition-selection:epsilon=1,delta=1e-6", "0,900", "withheld released"),
    ("sparse-vector:epsilon=1000", "-9,9,0", "below above"),
    ("tree:steps=3,sigma=1e-4,noise=skellam", "1,2,3", "1 3 6"),
    ("tree:steps=2,sigma=1e-4,noise=skellam,dimension=2", None, "0,0 0,0"),
    ("randomized-response:epsilon=1000,categories=9,shuffled=3", "8,1,8", '{"1": 1, "8": 2}'),
    ("rappor:f=0,p=1-1e-30,q=1e-30,reports=2,bits=3", "1", "010 010"),
])  # fmt: skip
def test_what_one_line_is(capsys, spec, query, line):
    asked = ["--query", query] if query else []
    assert main(["sample", spec.replace("1-1e-30", "0." + "9" * 30), "--size", "2", *asked]) == 0
    assert capsys.readouterr().out == f"{line}\n{line}\n"


@pytest.mark.parametrize("spec", [
    "laplace:scale=1,threshold=5", "laplace:scale=1,threshold=5,names=yes", "gaussian:sigma=1",
    "tree:steps=4,sigma=1", "sqrt-toeplitz:steps=4,sigma=1", "guarantee:zcdp:0.1",
])  # fmt: skip
def test_nothing_draws_from_what_is_for_accounting_only(spec, capsys):
    with pytest.raises(NoSamplerError):
        release(of(spec))
    assert main(["sample", spec, "--size", "1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_matrices_of_whole_numbers_are_drawn(tmp_path, capsys):
    """Prefix sums, whatever C is: without noise worth the name those of the query."""
    (tmp_path / "C.csv").write_text("1,0,0\n1,-1,0\n-3,7,1\n")
    mechanism = of(f"matrix:file={tmp_path}/C.csv,sigma=1e-4,noise=skellam")
    assert isinstance(mechanism, DiscreteMatrixNoise)
    assert release(mechanism, [5, -2, 4])(SystemBits()) == (5, 3, 7)
    rows = f"matrix:file={tmp_path}/C.csv,sigma=1e-4,noise=discrete-gaussian,dimension=2"
    assert main(["sample", rows, "--size", "2"]) == 0
    assert capsys.readouterr().out == "0,0 0,0 0,0\n0,0 0,0 0,0\n"


@pytest.mark.contract
def test_other_matrices_are_not_drawn(tmp_path, capsys):
    (tmp_path / "C.csv").write_text("2,0\n1,1\n")
    text = f"matrix:file={tmp_path}/C.csv,sigma=9"
    for spec in (text, f"{text},noise=skellam"):
        assert main(["sample", spec, "--size", "1"]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_noise_on_a_matrix_is_what_its_inverse_makes_of_it(tmp_path):
    """C = ((1, 0), (3, -1)): sums are off by z_1, and by z_1 + 3 z_1 - z_2."""
    (tmp_path / "C.csv").write_text("1,0\n3,-1\n")
    draw = simulated_release(of(f"matrix:file={tmp_path}/C.csv,sigma=3,noise=skellam"))
    bits, again = SeededBits(7), SeededBits(7)
    noise = Skellam(9).sampler()
    for _ in range(5):
        one, other = noise(again), noise(again)
        assert draw(bits) == (one, 4 * one - other)


@pytest.mark.contract
def test_a_query_that_is_none_is_charged_to_nobody(tmp_path, capsys):
    book = f"{tmp_path}/spent.db"
    assert main(["ledger", "init", book, "--limit", "pure:9"]) == 0
    charged = ("--ledger", book, "--user", "ada", "--key", "one")
    assert main(["sample", "noisy-max:scale=2,candidates=3", "--size", "1", "--query", "1,2",
                 *charged]) == 2  # fmt: skip
    capsys.readouterr()
    assert main(["ledger", "show", book, "--json"]) == 0
    assert "noisy-max" not in capsys.readouterr().out


def test_one_use_is_released_as_its_mechanism_is_and_no_list_of_them():
    once = exactdp.mechanism("discrete-laplace:epsilon=0.1,modulus=64")
    inner = once.uses[0].mechanism
    found, known = (simulated_release(one, 3)(SeededBits(5)) for one in (once, inner))
    assert found == known
    for several in (2 * once, once + exactdp.mechanism("skellam:variance=4,sensitivity=1")):
        with pytest.raises(NoSamplerError, match="one use"):
            simulated_release(several, 3)
