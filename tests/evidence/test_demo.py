"""The last part of `make demo`, on a small scale."""

from fractions import Fraction

import pytest
from demo import bandit
from rich.console import Console

from exactdp.bandit.environments.environment import drawn_instance


@pytest.fixture
def shown(tmp_path, monkeypatch):
    coins = drawn_instance(3, 4, (0.1, 0.9), None, "coins")
    monkeypatch.setattr(bandit, "fair_instance", lambda cache: coins)
    monkeypatch.setattr(bandit, "_RUNS", 3)
    monkeypatch.setattr(bandit, "_HORIZON", 5000)
    monkeypatch.chdir(tmp_path)
    out = Console(record=True, width=100, highlight=False)
    return lambda: (bandit.bandit(out), out.export_text())[1]


@pytest.mark.slow
def test_all_that_it_promises(shown, tmp_path):
    pytest.importorskip("matplotlib")
    text = shown()
    for word in ("VERIFIED", "checked again, and valid", "stay", "certified", "spent ε ≤ 1"):
        assert word in text
    picture = tmp_path / "build" / "regret-1-coins-4-arms-5000.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in text


@pytest.mark.slow
def test_the_certified_probability_is_rounded_up(shown):
    text = shown()
    line = next(line for line in text.splitlines() if line.startswith("certified     "))
    assert 0 < Fraction(line.split()[-1]) <= Fraction("0.1")


def test_without_the_data_it_says_what_to_install(shown, monkeypatch):
    def missing(cache):
        raise ImportError('the data fair need statsmodels: pip install "exactdp[data]"')

    monkeypatch.setattr(bandit, "fair_instance", missing)
    assert 'pip install "exactdp[data]"' in shown()


def test_a_folder_that_cannot_be_written_costs_the_picture_only(shown, tmp_path):
    (tmp_path / "build").write_text("in the way")
    text = shown()
    assert "regret by round" in text and "left out: out:" in text
