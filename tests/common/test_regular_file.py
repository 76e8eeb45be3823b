"""Files that somebody else made: read within bounds, never waited for."""

import os

import pytest

from exactdp.common.regular_file import open_regular, read_at_most


def test_a_file_is_read_up_to_its_bound(tmp_path):
    path = tmp_path / "given"
    path.write_bytes(b"12345")
    assert read_at_most(path, 5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_at_most(path, 4)
    (tmp_path / "link").symlink_to(path)
    assert read_at_most(tmp_path / "link", 5) == b"12345"


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    for path in ("fifo", "link", "loop", ".", "none", "x" * 256, "a\0b", "\ud800"):
        with pytest.raises(OSError) as caught:
            open_regular(tmp_path / path)
        assert caught.value.strerror
