"""Prefix sums by exact draws: which noise each of them holds."""

import pytest

from exactdp import ParameterError
from exactdp.mechanisms.matrices.columns import Tree, buffered, prefix_root
from exactdp.mechanisms.samplers import SystemBits
from exactdp.mechanisms.specs.released import release
from exactdp.mechanisms.specs.spec import parse
from exactdp.mechanisms.specs.stream import PrefixSums


def of(text):
    return parse(text).mechanism


@pytest.mark.parametrize(("steps", "restart"), [(16, 16), (13, 13), (13, 5), (12, 4), (7, 1)])
def test_every_sum_is_that_of_its_intervals(monkeypatch, steps, restart):
    """The i-th draw is 2^i, so that a sum tells which draws it holds."""
    given = of(f"tree:steps={steps},sigma=2,noise=skellam,restart={restart}")
    sums = PrefixSums(given, SystemBits())
    drawn = iter(range(10**6))
    monkeypatch.setattr(sums, "_draw", lambda _: 1 << next(drawn))
    for step in range(1, steps + 1):
        (found,) = sums.add([0])
        intervals = set()  # by their last step
        begin = (step - 1) // restart * restart
        for past in [*range(0, begin, restart), begin]:
            place = past
            left = min(step, past + restart) - past
            for level in reversed(range(left.bit_length())):
                if left >> level & 1:
                    place += 1 << level
                    intervals.add(place)
        assert found == sum(1 << (last - 1) for last in intervals)
    with pytest.raises(ParameterError, match="over"):
        sums.add([0])


def test_rows_are_added_up():
    sums = PrefixSums(of("tree:steps=3,sigma=1e-4,noise=discrete-gaussian"), SystemBits(), 2)
    assert [sums.add(row) for row in ([1, -1], [2, 5], [0, 1])] == [(1, -1), (3, 4), (3, 5)]


@pytest.mark.parametrize("restart", [1, 3, 4, 8, 13])
def test_how_far_off_sums_are(restart):
    for steps in (1, 4, 12, 13):
        tree = Tree(steps, min(restart, steps))
        truth = max(
            step // tree.restart * tree.restart.bit_count() + (step % tree.restart + 1).bit_count()
            for step in range(steps)
        )
        assert tree.prefix_variance() == truth


def test_how_far_off_toeplitz_sums_are():
    root = prefix_root(50).prefix_variance()  # B = C
    truth, r = 0.0, 1.0
    for j in range(50):
        truth, r = truth + r * r, r * (2 * j + 1) / (2 * j + 2)
    assert abs(float(root.lower) - truth) < 1e-12
    plain = buffered(50, [], []).prefix_variance()  # C = 1: every sum has all the noise so far
    assert plain.lower <= 50 <= plain.upper


def test_what_cannot_be_released_is_refused():
    with pytest.raises(ParameterError, match="discrete noise"):
        PrefixSums(of("tree:steps=4,sigma=2"), SystemBits())
    with pytest.raises(ParameterError):
        release(of("tree:steps=4,sigma=2"))
    with pytest.raises(ParameterError, match="at most"):
        release(of("tree:steps=1e9,sigma=2,noise=skellam"))
    for query in (1, [1, 2, 3], [1, 2, 3, "x"]):
        with pytest.raises(ParameterError, match="query"):
            release(of("tree:steps=4,sigma=2,noise=skellam"), query)
    with pytest.raises(ParameterError, match="every step"):
        release(of("tree:steps=2,sigma=2,noise=skellam,dimension=3"), [1, 2])
