import pytest

from exactdp.exact.whole_file import whole_file, write_whole


def test_the_text_is_there_and_nothing_else(tmp_path):
    path = tmp_path / "found.txt"
    write_whole(path, "ε = 1\n")
    write_whole(path, "ε = 2\n")
    assert path.read_bytes() == "ε = 2\n".encode()
    assert [file.name for file in tmp_path.iterdir()] == ["found.txt"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_what_fails_half_way_leaves_what_was_there(tmp_path):
    path = tmp_path / "found.txt"
    write_whole(path, "before")
    with pytest.raises(ZeroDivisionError), whole_file(path) as temporary:
        temporary.write_text("half of")
        raise ZeroDivisionError
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["found.txt"]


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(OSError):
        write_whole(tmp_path / "nowhere" / "found.txt", "text")
