"""The page of vectors: the settings are what the heuristic asks for, the figures what they cost."""

import math
from fractions import Fraction
from pathlib import Path

import pytest
from pages import vectors

from exactdp.accounting import compose
from exactdp.accounting.interop.foreign import TFF

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_page_is_what_is_written() -> None:
    written = (DOCS / "vectors.md").read_text(encoding="utf-8")
    assert vectors.page() == written
