"""The page of vectors: the settings are what the heuristic asks for, the figures what they cost."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest

from exactdp.accounting import compose
from exactdp.accounting.interop.distributed import TFF
from exactdp.cli.main import main
from exactdp.cli.pages import vectors

DOCS = Path(__file__).parents[3] / "docs"


def test_scale_and_noise_meet_the_heuristic_and_the_target() -> None:
    for one in (vectors.SETTINGS[0], vectors.SETTINGS[13]):
        made = vectors.chosen(one)
        assert made is not None
        scale, noise = float(made.encoding.scale), float(made.deviation / made.encoding.scale)
        spread = (10 * one.clients) ** 2 / 256 + one.clients * (1 / scale**2 / 4 + noise**2)
        assert 2 * one.deviations * math.sqrt(spread) * scale == pytest.approx(
            2**one.bits, rel=1e-3
        )
        told = TFF.epsilon(compose(made.released()), Fraction(one.delta), Fraction(1, 1000))
        assert float(told) == pytest.approx(float(one.target), rel=1e-3)


def test_a_row_is_certified_and_below_what_is_published() -> None:
    text = vectors.published(vectors.SETTINGS[:1])
    *_, told, once, random, share = [cell.strip() for cell in text.splitlines()[2].split("|")[1:-1]]
    assert float(told) == pytest.approx(1, rel=1e-3)
    assert 0.8 < float(random) < 0.9 and float(once) < 1
    assert 0 < float(share.strip("%")) < 90


def test_where_the_bits_do_not_suffice() -> None:
    assert vectors.chosen(vectors.SETTINGS[0]._replace(bits=2)) is None
    text = vectors.few_bits(bits=(2,))
    assert "| 2 | none | none | none | none |" in text


def test_the_command_takes_nothing_else(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = str(tmp_path / "p.md")
    assert main(["protocol", "federated", "--markdown", place, "--rounds", "3"]) == 2
    assert "take no SPEC (or just federated)" in capsys.readouterr().err


@pytest.mark.slow
def test_the_page_is_what_the_command_writes(tmp_path: Path) -> None:
    place = tmp_path / "vectors.md"
    assert main(["protocol", "federated", "--markdown", str(place)]) == 0
    written = (DOCS / "vectors.md").read_text(encoding="utf-8")
    sections = written.partition("## Published")[2]
    assert place.read_text(encoding="utf-8").partition("## Published")[2] == sections
