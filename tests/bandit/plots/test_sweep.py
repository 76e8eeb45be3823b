"""The runs behind figures: each once, the same whatever is asked for beside it, kept on disk."""

import importlib
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from exactdp.bandit.algorithms import DIST_DP_SE, LDP_SE
from exactdp.bandit.instances import easy, published
from exactdp.bandit.plots.pictures import FIGURES, Figure, Line, Place
from exactdp.bandit.plots.sweep import sweep
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting

from .conftest import EASY, RADII, RATINGS, REAL, SMALL, TRUST

module = importlib.import_module("exactdp.bandit.plots.sweep")


def same(one, other):
    return one.curves.keys() == other.curves.keys() and all(
        (one.curves[key].average == other.curves[key].average).all() for key in one.curves
    )


def watched(monkeypatch):
    """The configurations that are run from now on."""
    asked = []

    def watching(config, *given, **more):
        asked.append(config)
        return run(config, *given, **more)

    monkeypatch.setattr(module, "run", watching)
    return asked


def test_curves_are_plain_runs(small):
    setting = Setting(3, 3000, "0.5", growth=4)
    rounds = SMALL.rounds(Place.EASY)
    for algorithm in (DIST_DP_SE, LDP_SE):
        plain = run(Config(algorithm, setting, easy(3)), 3, 0, rounds=rounds)
        curve = small.curves[EASY, Line(algorithm)]
        assert (curve.average == plain.regret / rounds).all()
        means = [mean for _, mean in plain.time_average()]
        assert curve.mean.tolist() == [each.mean for each in means]
        assert np.allclose(curve.error, [each.standard_error for each in means], rtol=1e-12)
        assert curve.eliminated == plain.eliminated.sum()


@pytest.mark.parametrize("change", [{"seed": 1}, {"scale": "confidence"}, {"scale": "runs"}])
def test_what_was_finished_for_other_numbers_is_not_used(tmp_path, monkeypatch, change):
    sweep((RADII,), SMALL, RATINGS, cache=tmp_path)
    asked = watched(monkeypatch)
    others = {"confidence": 0.2, "runs": 4}
    scale = SMALL
    if "scale" in change:
        scale = evolve(SMALL, **{change["scale"]: others[change["scale"]]})
    sweep((RADII,), scale, RATINGS, seed=change.get("seed", 0), cache=tmp_path)
    assert len(asked) == 2


def test_published_figures_run_on_the_published_instances_and_batches():
    """Figure 4 has batches of 2^b users, the others of 4^b; the rest is as it was."""
    panel = evolve(EASY, epsilon=Fraction(1))
    for name, growth in (("figure2", 4), ("figure4", 2)):
        figure = Figure(name, "Small", ((panel,),), (Line(LDP_SE),)).as_published()
        found = sweep([figure], evolve(SMALL, published=True, growth=3))
        (curve,) = found.curves.values()
        assert curve.config.instances == found.places[Place.EASY] == published()
        assert (curve.config.setting.growth, curve.config.setting.arms) == (growth, 10)


def test_paired_errors_are_those_of_differences(small):
    """From Dist-DP-SE, run by run, whatever is shown beside it; nothing of a single curve."""
    one, other = (small.curves[EASY, line].average for line in RADII.lines)
    expected = (one - other).std(axis=0, ddof=1) / np.sqrt(3)
    assert (small.paired(RADII, EASY, RADII.lines[0]) == 0).all()
    assert np.allclose(small.paired(RADII, EASY, RADII.lines[1]), expected, rtol=1e-9, atol=1e-12)
    assert FIGURES[3].reference == Line(DIST_DP_SE) != FIGURES[3].lines[0]
    assert small.paired(TRUST, REAL, TRUST.lines[0]) is None  # one instance for all runs
    assert small.paired(evolve(RADII, lines=RADII.lines[:1]), EASY, RADII.lines[0]) is None
