"""What the figures show is what the paper says that they show."""

from fractions import Fraction

import pytest

from exactdp.bandit.plots.pictures import CERTIFIED, FIGURES, INDICES, Place
from exactdp.bandit.prepare import Radius

ALL = (*FIGURES, CERTIFIED, INDICES)
HIGH, LOW = [Fraction(1, 10), Fraction(1, 2), Fraction(1)], [Fraction(e) for e in (1, 5, 10)]


def shown(figure):
    return [(panel.place, panel.epsilon) for panel in figure.panels]


def test_the_names_are_those_of_the_files():
    assert [each.name for each in FIGURES] == [f"figure{number}" for number in range(1, 6)]
    assert len({each.name for each in ALL}) == len(ALL)


@pytest.mark.parametrize(
    ("number", "place", "epsilons"),
    [(2, Place.EASY, HIGH), (3, Place.HARD, HIGH), (4, Place.EASY, HIGH), (5, Place.RATINGS, LOW)],
)
def test_three_levels_of_privacy(number, place, epsilons):
    assert shown(FIGURES[number - 1]) == [(place, epsilon) for epsilon in epsilons]


def test_figure_1_has_two_easy_instances_a_hard_one_and_three_real_ones():
    top, bottom = FIGURES[0].rows
    assert [panel.place for panel in top] == [Place.EASY, Place.EASY, Place.HARD]
    assert [panel.epsilon for panel in bottom] == LOW
    assert {panel.place for panel in bottom} == {Place.RATINGS}


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_distributed_against_central_privacy(number):
    labels = FIGURES[number - 1].labels
    assert labels == ("Dist-DP-SE", "Dist-RDP-SE, s = 10", "Dist-RDP-SE, s = 100", "DP-SE")


def test_figure_4_shows_all_trust_models():
    names = {line.algorithm.name for line in FIGURES[3].lines}
    assert names == {"cdp-se", "ldp-se", "dist-dp-se", "dist-rdp-se", "dist-cdp-se"}


def test_only_the_last_one_has_a_certified_radius():
    assert all(line.radius is Radius.PAPER for each in FIGURES for line in each.lines)
    assert [line.radius for line in CERTIFIED.lines] == [Radius.PAPER, Radius.CERTIFIED]
    assert len({line.algorithm for line in CERTIFIED.lines}) == 1
    assert CERTIFIED.labels == ("Dist-DP-SE, the paper's radius", "Dist-DP-SE, certified radius")
    assert INDICES.labels[2:] == ("Dist-DP-SE, certified radius", "Dist-DP-KLUCB", "KL-UCB")


def test_curves_of_a_large_s_can_be_left_out():
    kept = FIGURES[0].up_to(10)
    assert kept.labels == ("Dist-DP-SE", "Dist-RDP-SE, s = 10", "DP-SE")
    assert kept.rows == FIGURES[0].rows
    assert FIGURES[0].up_to(100) == FIGURES[0]
