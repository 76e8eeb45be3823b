"""Streams under masks: what one client moves, how often a sum wraps, which noise is left."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpz_mat
from scipy import stats

from exactdp import ParameterError
from exactdp.mechanisms import Skellam
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from exactdp.mechanisms.matrices.columns import Table, Tree
from exactdp.mechanisms.matrices.participation import Participation
from exactdp.mechanisms.samplers import SeededBits
from exactdp.mechanisms.specs.spec import parse
from exactdp.mechanisms.specs.stream import PrefixSums
from exactdp.protocols.aggregation.stream import play_stream

SPEC = "tree:steps={},sigma={},noise={},clients={},bits={}"


def stream_of(text):
    return parse(text).stream


def patterns(steps, times, apart, first=0):
    yield ()
    for step in range(first, steps if times else 0):
        yield from ((step, *rest) for rest in patterns(steps, times - 1, apart, step + apart))


@pytest.mark.parametrize(("steps", "restart"), [(8, 8), (13, 13), (13, 5), (7, 1)])
def test_a_release_is_the_longest_interval_that_ends_there(steps, restart):
    tree = Tree(steps, restart)
    for at in range(steps):
        inside = [step for step in range(steps) if tree.weight(at, step)]
        place, width = at % restart + 1, 1
        while place % (2 * width) == 0:
            width *= 2
        assert inside == list(range(at + 1 - width, at + 1))


@pytest.mark.parametrize("restart", [11, 4])
def test_what_a_user_moves_is_the_most_of_all_patterns(restart):
    tree = Tree(11, restart)
    entries = [
        [3, 0, 0, 0, 0],
        [-1, 2, 0, 0, 0],
        [0, 5, 1, 0, 0],
        [1, -1, 1, -1, 0],
        [0, 0, 0, 0, 7],
    ]
    table = Table(fmpz_mat(entries))
    for times, apart in itertools.product((1, 2, 3), (1, 2, 3)):
        if (times - 1) * apart >= 5:
            continue
        for matrix in (tree, table):
            steps = matrix.steps
            truth = Counter(
                max(
                    sum(abs(matrix.weight(at, step)) for step in one)
                    for one in patterns(steps, times, apart)
                )
                for at in range(steps)
            )
            assert matrix.moved(Participation(steps, times, apart)) == +truth
            pattern = Participation(steps, times, apart).earliest
            moved = (abs(sum(matrix.weight(at, s) for s in pattern)) for at in range(steps))
            assert matrix.released(pattern) == Counter(size for size in moved if size)


def test_wrapping_against_the_law():
    """Two clients of at most 2, 4 steps, every one of them with both: sums mod 2^5."""
    shared = stream_of(SPEC.format(4, 3, "skellam", 2, 5) + ",l2=2,participations=4")
    assert dict(shared.rows()) == {1: 2, 2: 1, 4: 1}
    noise = stats.skellam(4.5, 4.5)
    each = {}
    for moved in (1, 2, 4):
        each[moved] = max(
            noise.sf(15 - v) + noise.cdf(-17 - v) for v in range(-4 * moved, 4 * moved + 1)
        )
        found = shared.wrap(moved, 5)
        assert float(found.lower) <= each[moved] * (1 + 1e-9)
        assert each[moved] * (1 - 1e-9) <= float(found.upper)
    attained = 1 - (1 - each[1]) ** 2 * (1 - each[2]) * (1 - each[4])
    found = shared.any_wrap(5)
    assert float(found.lower) <= attained <= float(found.upper)
    bits = shared.fewest_bits(Fraction(1, 10**6))
    assert float(shared.any_wrap(bits).upper) <= 1e-6 < float(shared.any_wrap(bits - 1).upper)


def test_shares_add_up_to_the_noise_or_to_what_they_are():
    shared = stream_of(SPEC.format(8, 3, "skellam", 10, 8))
    assert shared.share == Skellam(Fraction(9, 10))
    assert shared.missing(4).law == Skellam(Fraction(54, 10))
    assert parse(SPEC.format(8, 3, "skellam", 10, 8) + ",dropout=4").mechanism == shared.missing(4)
    gaussians = stream_of(SPEC.format(8, 3, "discrete-gaussian", 10, 8))
    assert gaussians.missing(4).law == DiscreteGaussianSum(6, Fraction(9, 10))


def test_how_far_off_prefix_sums_are_but_rarely():
    shared = stream_of(SPEC.format(7, 3, "skellam", 10, 8) + ",dimension=5")
    found = shared.prefix_error(Fraction(1, 100))
    noise = stats.skellam(27 / 2, 27 / 2)  # of three intervals, in all seven steps
    assert 35 * 2 * noise.sf(found) <= 1 / 100 < 35 * 2 * noise.sf(found - 1)


def rows_of(shared, seed):
    draw, who = np.random.default_rng(seed), shared.noise.stream.who
    return [
        {
            first + place: [int(draw.integers(2)) for _ in range(shared.dimension)]
            for first in [int(draw.integers(who.steps - who.span + 1))]
            for place in range(0, who.span, who.separation)
        }
        for _ in range(shared.clients)
    ]


@pytest.mark.parametrize("masks", [False, True])
@pytest.mark.parametrize("text", ["tree:steps=6,restart=4", "matrix:file=C.csv,dimension=2"])
def test_without_noise_worth_the_name_sums_are_the_truth(text, masks, tmp_path, monkeypatch):
    """Masks cancel, residues are read with their sign, intervals add up."""
    if masks:
        pytest.importorskip("cryptography")
    monkeypatch.chdir(tmp_path)
    entries = [[1], [-2, 1], [0, 3, -1], [1, 0, 0, 1], [1, 1, 1, 1, 1], [0, 0, 5, 0, 2, 1]]
    lines = (",".join(map(str, row + [0] * (6 - len(row)))) for row in entries)
    (tmp_path / "C.csv").write_text("\n".join(lines) + "\n")
    shared = stream_of(
        f"{text},l2=2,sigma=1e-3,noise=skellam,clients=5,bits=12,participations=2,separation=2"
    )
    rows = rows_of(shared, 1)
    steps = list(play_stream(shared, rows, SeededBits(1), lambda _: {}, dropout=0, masks=masks))
    total = np.zeros(shared.dimension, dtype=int)
    for at, step in enumerate(steps):
        total += sum(np.array(each.get(at, [0] * shared.dimension)) for each in rows)
        assert step.found == step.truth == step.complete == tuple(total)
        assert step.summed == 5 and step.simulated


def test_who_vanishes_is_not_in_that_sum():
    shared = stream_of(SPEC.format(4, "1e-3", "skellam", 3, 10) + ",participations=4")
    rows = [{step: [1] for step in range(4)} for _ in range(3)]
    gone = {2: {0: None}}  # in the third step
    played = play_stream(shared, rows, SeededBits(1), lambda at: gone.get(at, {}), 1, masks=False)
    steps = list(played)
    assert [step.summed for step in steps] == [3, 3, 2, 3]
    assert [step.found for step in steps] == [(3,), (6,), (8,), (12,)]
    assert [step.complete for step in steps] == [(3,), (6,), (9,), (12,)]


def test_rows_that_a_user_may_not_send_are_refused():
    shared = stream_of(SPEC.format(4, 1, "skellam", 2, 10) + ",participations=2,separation=2")
    for rows in ({0: [2]}, {0: [1], 1: [1]}, {4: [1]}, {0: [1, 0]}):
        with pytest.raises(ParameterError, match="rows"):
            next(play_stream(shared, [rows, {}], SeededBits(1), lambda _: {}, 0, masks=False))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("tree:steps=4,sigma=1,clients=3", "noise"),
        ("tree:steps=4,sigma=1,noise=skellam,bits=3", "clients"),
        ("tree:steps=4,sigma=1,noise=skellam,dropout=1", "clients"),
        ("tree:steps=4,sigma=1,noise=skellam,clients=1", "clients"),
        ("tree:steps=4,sigma=1,noise=skellam,clients=3,bits=61", "bits"),
        ("tree:steps=4,sigma=1,noise=skellam,clients=3,dropout=3", "dropout"),
        ("sqrt-toeplitz:steps=4,sigma=1,clients=3", "clients"),
    ],
)
def test_bad_keys_are_one_line(text, named):
    with pytest.raises(ParameterError, match=named) as error:
        parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("rows", [["1,0", "2,2"], ["1,0", "2,0"]])
def test_sums_that_are_no_whole_numbers_are_refused(rows, tmp_path):
    (tmp_path / "C.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(ParameterError, match="diagonal"):
        PrefixSums(f"matrix:file={tmp_path}/C.csv,sigma=1,noise=skellam", SeededBits(1))


@pytest.mark.slow
def test_sums_of_too_many_digits_are_refused(tmp_path):
    size = 600
    rows = [["0"] * size for _ in range(size)]
    for i in range(size):
        rows[i][i] = "1"
        if i:
            rows[i][i - 1] = "1000000000000"
    (tmp_path / "C.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    with pytest.raises(ParameterError, match="digits"):
        PrefixSums(f"matrix:file={tmp_path}/C.csv,sigma=1,noise=skellam", SeededBits(1))
