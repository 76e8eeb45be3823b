"""Shares on disk: whole or not there, each configuration for itself."""

import json
import os

import pytest

from exactdp import ParameterError
from exactdp.bandit.results import RunCache, Share

SHARE = Share(5, [[0.25, 1 / 3]], [[1, 2]], [False], [2], [], [])


def test_what_is_kept_is_found(tmp_path):
    cache = RunCache(tmp_path, {"seed": 1})
    assert cache.find(5, 1) is None
    cache.keep(SHARE)
    assert cache.find(5, 1) == SHARE
    assert RunCache(tmp_path, {"seed": 1}).find(5, 1) == SHARE
    assert RunCache(tmp_path, {"seed": 2}).find(5, 1) is None
    assert cache.find(5, 2) is None


@pytest.mark.parametrize("name", ["regret", "pulls", "eliminated", "batches"])
def test_a_share_that_lost_a_run_is_not_found(tmp_path, name):
    cache = RunCache(tmp_path, {})
    cache.keep(SHARE)
    (file,) = tmp_path.glob("*.json")
    file.write_text(json.dumps(SHARE.to_json() | {name: []}))
    assert cache.find(5, 1) is None


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ParameterError, match=r"resume: .*file"):
        RunCache(tmp_path / "file", {})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"null",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"first": ' + b"7" * 4301 + b"}",
        *(
            json.dumps(SHARE.to_json() | changed).encode()
            for changed in (
                {"regret": [["a", 1.0]]},
                {"regret": [[float("nan"), 1.0]]},
                {"regret": [1.0]},
                {"pulls": [[1.5, 2]]},
                {"pulls": [[True, 2]]},
                {"pulls": [[2**70, 2]]},
                {"eliminated": [0]},
                {"batches": [-1]},
                {"lines": [1]},
                {"answers": [0.5]},
                {"more": 1},
            )
        ),
    ],
)
def test_what_does_not_read_is_not_found(content, tmp_path):
    cache = RunCache(tmp_path, {})
    cache.keep(SHARE)
    (file,) = tmp_path.glob("*.json")
    file.write_bytes(content)
    assert cache.find(5, 1) is None
    cache.keep(SHARE)
    assert cache.find(5, 1) == SHARE


def test_what_is_no_regular_file_is_neither_read_nor_replaced(tmp_path):
    cache = RunCache(tmp_path, {})
    cache.keep(SHARE)
    (file,) = tmp_path.glob("*.json")
    file.unlink()
    os.mkfifo(file)
    assert cache.find(5, 1) is None
    with pytest.raises(ParameterError, match=r"resume: .*not a regular file"):
        cache.keep(SHARE)


def test_a_share_of_other_rounds_or_arms_does_not_fit():
    assert SHARE.fits(2, 2)
    assert not SHARE.fits(3, 2)
    assert not SHARE.fits(2, 1)
