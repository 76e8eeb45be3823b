"""Where what was computed is kept."""

from pathlib import Path

from exactdp.common.content_cache import default_cache


def test_default_cache(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("EXACTDP_CACHE", raising=False)
    assert default_cache() == tmp_path / "exactdp"
    monkeypatch.setenv("EXACTDP_CACHE", str(tmp_path / "x"))
    assert default_cache() == tmp_path / "x"
