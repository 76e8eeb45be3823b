"""Curves can be told apart, with colours and without."""

import itertools

import pytest

from exactdp.bandit.plots.drawing import STYLES
from exactdp.bandit.plots.pictures import CERTIFIED, FIGURES, INDICES


@pytest.mark.parametrize("figure", [*FIGURES, CERTIFIED, INDICES], ids=lambda figure: figure.name)
def test_curves_of_a_figure_differ_in_colour_dashes_and_marker(figure):
    for one, other in itertools.combinations([STYLES[line] for line in figure.lines], 2):
        assert one.colour != other.colour
        assert one.dashes != other.dashes
        assert one.marker != other.marker


def test_curves_look_the_same_in_every_figure():
    assert set(STYLES) == {
        line for figure in (*FIGURES, CERTIFIED, INDICES) for line in figure.lines
    }


def test_no_colour_is_too_pale_for_a_print_without_colours():
    """Contrast with white paper, as WCAG 2 defines it: at least 1.8 to 1."""
    for style in STYLES.values():
        parts = (int(style.colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        assert 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) > 1.8
