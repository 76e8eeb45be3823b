""""""

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest
from attrs import evolve

from exactdp import ParameterError
from exactdp.bandit.environments.files import cached, read_json, read_rewards, write_json
from exactdp.bandit.environments.rewards import RewardTable
from exactdp.common.content_cache import ContentCache

ARMS = [{Fraction(0): 3, Fraction(1, 3): 10}, {Fraction(3, 4): 1, Fraction(1): 0}]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    write_json(path, "two", ARMS)
    assert [entry.name for entry in tmp_path.iterdir()] == ["two.json"]
    found = read_json(path)
    assert found.name == "two"
    assert found.arms == (
        RewardTable((0, "1/3"), ("3/13", "10/13")),
        RewardTable(("0.75",), (1,)),
    )


def test_a_file_is_whole_or_not_there(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "two.json"
    write_json(path, "two", ARMS)
    before = path.read_bytes()

    def fails(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="no space"):
        write_json(path, "other", ARMS)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_kept_instances_are_built_once(tmp_path: Path) -> None:
    built = []

    def build():
        built.append(1)
        return ARMS

    folder = tmp_path / "a" / "b"
    first = cached(folder, {"key": 1}, "name", build)
    assert first == cached(folder, {"key": 1}, "name", build)
    assert len(built) == 1
    cached(folder, {"key": 2}, "name", build)
    assert len(built) == 2
    kept = ContentCache(folder).path({"key": 1})
    kept.write_text(kept.read_text()[:-5])  # cut short: built again
    assert cached(folder, {"key": 1}, "name", build) == first
    assert len(built) == 3
    assert cached(folder, {"key": 1}, "name", build) == first
    assert len(built) == 3
    cached(None, {"key": 1}, "name", build)
    assert len(built) == 4


def test_a_folder_that_cannot_be_written_does_not_matter(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert len(cached(blocked / "cache", {"key": 1}, "name", lambda: ARMS).arms) == 2


def _file(arms: object, **more: object) -> str:
    return json.dumps({"format": "exactdp bandit instance", "version": 1, "arms": arms} | more)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: not JSON"),
        ('{"format":\n', "line 2: not JSON"),
        ("[]", "not an instance"),
        (_file([{"0": 1}, {"1": 1}], version=2), "not an instance"),
        (_file([{"0": 1}]), "at least 2"),
        (_file([{"0": 1}, {"1": 1}], name=[3]), '"name" must be text'),
        (_file([{"0": 1}, [1]]), "arm 1: must be an object"),
        (_file([{"0": 1}, {"1.5": 1}]), "arm 1: reward must be an exact number at least 0"),
        (_file([{"0": -1}, {"1": 1}]), "arm 0: count must be"),
        (_file([{"0": 1.5}, {"1": 1}]), "arm 0: count must be a whole number"),
        (_file([{"0": True}, {"1": 1}]), "arm 0: count must be"),
        (_file([{"0": float("nan")}, {"1": 1}]), "arm 0: count must be"),
        (_file([{"0": 1}, {"1": 0}]), "arm 1: no rewards"),
        (_file([{"0.5": 1, "1/2": 2}, {"1": 1}]), "arm 0: reward 1/2 stands there twice"),
        (_file([{"0": 1}, {"1": 1}]).replace('"1": 1}', '"1": 1, "1": 2}'), "stands twice"),
        (_file([{"0": 1}, {"1": 1}]).replace(": 1}", ": " + "1" * 6000 + "}"), "arm 0: count must"),
        ("[" * 100_000, "two.json"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "two.json"
    path.write_text(text)
    with pytest.raises(ParameterError) as caught:
        read_json(path)
    assert message in str(caught.value) and "\n" not in str(caught.value)


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
