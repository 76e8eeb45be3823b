import os

import pytest

from exactdp import ParameterError
from exactdp.common.atomic_write import atomic_write, check_target, write_atomically


def test_the_text_is_there_and_nothing_else(tmp_path):
    path = tmp_path / "found.txt"
    write_atomically(path, "ε = 1\n")
    write_atomically(path, "ε = 2\n")
    assert path.read_bytes() == "ε = 2\n".encode()
    assert [file.name for file in tmp_path.iterdir()] == ["found.txt"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_what_fails_half_way_leaves_what_was_there(tmp_path):
    path = tmp_path / "found.txt"
    write_atomically(path, "before")
    with pytest.raises(ZeroDivisionError), atomic_write(path) as temporary:
        temporary.write_text("half of")
        raise ZeroDivisionError
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["found.txt"]


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(OSError):
        write_atomically(tmp_path / "nowhere" / "found.txt", "text")


def test_modes_are_kept(tmp_path):
    path = tmp_path / "found.txt"
    path.write_text("before")
    path.chmod(0o640)
    write_atomically(path, "after")
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o640


def test_only_regular_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    target = tmp_path / "target"
    target.write_text("kept")
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    before = {path: os.lstat(path) for path in tmp_path.iterdir()}
    for name in ("fifo", "link", "dangling", "folder", "/dev/null", "x" * 256, "a\0b", "\ud800"):
        with pytest.raises(OSError) as caught:
            write_atomically(tmp_path / name, "text")
        assert caught.value.strerror
        with pytest.raises(ParameterError, match="option must be a file"):
            check_target(tmp_path / name, "option")
    assert {path: os.lstat(path) for path in tmp_path.iterdir()} == before
    assert target.read_text() == "kept"


def test_names_as_long_as_the_system_allows_are_written(tmp_path):
    write_atomically(tmp_path / ("ε" * 127), "text")
    assert (tmp_path / ("ε" * 127)).read_text() == "text"


def test_targets_in_no_folder_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for name in ("nowhere/found.txt", "file/found.txt"):
        with pytest.raises(ParameterError, match="folder that exists"):
            check_target(tmp_path / name, "option")
    check_target(tmp_path / "found.txt", "option")
    check_target(tmp_path / "file", "option")
