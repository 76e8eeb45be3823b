from fractions import Fraction
from pathlib import Path

import pytest
from attrs import evolve

from exactdp import ParameterError
from exactdp.bandit.environments.files import read_rewards
from exactdp.bandit.environments.rewards import RewardTable


def _write(folder: Path, text: str) -> Path:
    path = folder / "clicks.csv"
    path.write_bytes(text.encode())
    return path


def test_each_arm_pays_what_was_recorded(tmp_path: Path) -> None:
    text = "arm,reward\nred,0\nblue,1/4\nred, 1e0 \n\nred,0.5\r\nblue,0.250\n"
    found = read_rewards(_write(tmp_path, text))
    assert found.name == "clicks"
    assert found.arms == (
        RewardTable((0, "0.5", 1), ("1/3",) * 3),
        RewardTable(("0.25",), (1,)),
    )
    assert found.best == (0,)
    assert found.labels == ("red", "blue")
    assert found == evolve(found, labels=()) and "red" not in repr(found)  # no part of its value


def test_a_stated_range_is_scaled(tmp_path: Path) -> None:
    found = read_rewards(_write(tmp_path, "\ufeffreward 1..5,arm\n1,a\n5,a\n4,b\n"))
    assert [arm.mean for arm in found.arms] == [0.5, 0.75]
    found = read_rewards(_write(tmp_path, "arm,reward -1/3 .. 2/3\na,0\nb,2/3\n"))
    assert found.arms[0] == RewardTable((Fraction(1, 3),), (1,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("arm,score\na,1\n", "line 1: the header must name the columns arm and reward"),
        ("arm,reward,when\na,1,2\n", "line 1: the header"),
        ("arm,reward 5..1\na,1\n", "line 1: the range of rewards is empty"),
        ("arm,reward x..1\na,1\n", "line 1: the range of rewards must be an exact number"),
        ("arm,reward\na,1\nb,2\n", "line 3: reward must be between 0 and 1, got '2'"),
        ("arm,reward\na,1\nb,nan\n", "line 3: reward must be an exact number"),
        ("arm,reward\na,1\n\nb,\n", "line 4: reward must be an exact number"),
        ("arm,reward\na,1\n,1\n", "line 3: the arm has no name"),
        ("arm,reward\na,1\nb,0,1\n", "line 3: 2 cells are needed, got 3"),
        ('arm,reward\na,1\n"b,0\n', "line 3: unexpected end of data"),
        ("arm,reward\na,1\na,0\n", "at least 2 arms are needed, got 1"),
        ("arm,reward 1..5\na,1\nb,0.5\n", "line 3: reward must be between 1 and 5, got '0.5'"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        read_rewards(_write(tmp_path, text))
    assert message in str(caught.value) and "clicks.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="No such file"):
        read_rewards(tmp_path / "none.csv")
    path = tmp_path / "binary.csv"
    path.write_bytes(b"arm,reward\n\xff\xfe,1\n")
    with pytest.raises(ParameterError, match="not text in UTF-8"):
        read_rewards(path)
