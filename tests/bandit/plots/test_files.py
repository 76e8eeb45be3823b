"""Files of figures: all of them, whole, and only where they may be."""

import pytest

from exactdp import ParameterError
from exactdp.bandit.plots import files as module
from exactdp.bandit.plots.files import write

from .conftest import RADII, TRUST

pytest.importorskip("matplotlib")


@pytest.mark.slow
def test_a_file_is_whole_or_as_it_was(tmp_path, small, monkeypatch):
    (tmp_path / "radii.png").write_bytes(b"before")

    def full(self, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.Path, "write_bytes", full)
    with pytest.raises(ParameterError, match="No space left"):
        write((RADII,), small, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["radii.png"]
    assert (tmp_path / "radii.png").read_bytes() == b"before"


@pytest.mark.slow
def test_any_number_of_workers_draws_the_same(tmp_path, small):
    pytest.importorskip("joblib")
    drawn = []
    for workers in (1, 2):
        (tmp_path / str(workers)).mkdir()
        files = write((TRUST, RADII), small, tmp_path / str(workers), workers)
        drawn.append([file.read_bytes() for file in files])
    assert drawn[0] == drawn[1]
