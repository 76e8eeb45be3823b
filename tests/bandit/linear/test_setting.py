"""The public numbers of a linear bandit."""

import itertools

from exactdp.bandit.linear.setting import LinearSetting


def test_batches_grow_and_end_at_the_horizon():
    setting = LinearSetting(2, 1000, 1, first=10, growth="1.5")
    ends = setting.batches
    assert ends[:4] == (10, 15, 23, 34) and ends[-1] == 1000
    assert all(before < after for before, after in itertools.pairwise(ends))
    assert LinearSetting(2, 7, 1).batches == (7,)


def test_text_reads_back():
    setting = LinearSetting("3", "1e4", "0.5", norm="1/3", delta="1e-9", confidence="0.01")
    assert LinearSetting(**setting.to_json()) == setting
    plain = setting.without_privacy()
    assert plain.epsilon is None and plain.batches == setting.batches
    assert LinearSetting(**plain.to_json()) == plain
