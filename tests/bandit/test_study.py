"""Studies: rows are those of the runs themselves, and what is finished is never played again."""

import csv
import json

import pytest

from exactdp import ParameterError
from exactdp.bandit import study as studies
from exactdp.bandit.algorithms import DIST_DP_KLUCB_DOUBLING, DIST_DP_SE, DP_SE, KL_UCB_DOUBLING, SE
from exactdp.bandit.environments.instance import instance
from exactdp.bandit.instances import Fixed, easy
from exactdp.bandit.plan import Radius
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting
from exactdp.bandit.study import COLUMNS, Cell, check, study, write_rows
from exactdp.verify.checker import check as check_certificate

COINS = Fixed(instance("coins:0.75,0.25"))


def cell(algorithm, place=COINS, epsilon=1, horizon=600, runs=4, seed=3, radius=Radius.PAPER):
    numbers = {"confidence": algorithm.usual_confidence(horizon)}
    setting = Setting(place.arms, horizon, epsilon, **numbers)
    return Cell(Config(algorithm, setting, place, radius), runs, seed, algorithm.name)


CELLS = [
    cell(DIST_DP_SE),
    cell(DIST_DP_KLUCB_DOUBLING),
    cell(KL_UCB_DOUBLING, runs=1),
    cell(SE, easy(3)),
]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return study(CELLS, folder), folder


def test_a_row_is_what_its_runs_give(done):
    rows = done[0].rows
    for each, row, result in zip(CELLS, rows, done[0].results, strict=True):
        alone = run(each.config, each.runs, each.seed)
        assert row["regret"] == alone.total_regret().mean
        assert result.regret == alone.regret[:, -1].tolist()
        assert row["best_arm_eliminated"] == alone.eliminated.sum()
        assert [point[:2] for point in result.curve] == [
            [rounds, mean.mean] for rounds, mean in alone.time_average()
        ]
    assert rows[0]["standard_error"] == run(CELLS[0].config, 4, 3).total_regret().standard_error
    assert rows[2]["standard_error"] is None  # of one run
    assert rows[0]["lower_bound"] * rows[0]["regret_over_bound"] == pytest.approx(rows[0]["regret"])
    assert rows[3]["lower_bound"] is None  # rewards are no coins
    assert (rows[0]["claim"], rows[0]["trust"], float(rows[0]["once"])) == (
        "pure:1", "distributed", 1.0,
    )  # fmt: skip
    assert rows[2]["epsilon"] is rows[2]["claim"] is None


def test_the_certificates_behind_a_row_are_there_and_valid(done):
    study_, folder = done
    for row in study_.rows[:2]:
        stems = row["evidence"].split()
        assert stems
        for stem in stems[:2]:
            text = json.loads((folder / "evidence" / f"{stem}.json").read_text())
            assert check_certificate(text).valid
    assert not study_.rows[2]["evidence"]


def test_finished_cells_are_found_again_whatever_their_order(done, monkeypatch):
    study_, folder = done
    monkeypatch.setattr(studies, "run", None)  # nothing is played
    again = study(CELLS[::-1], folder)
    assert (study_.played, again.played) == (4, 0)
    assert again.rows[::-1] == study_.rows
    assert again.curves and sorted(map(str, again.curves)) == sorted(map(str, study_.curves))


@pytest.mark.parametrize("lost", ["cell", "evidence", "half"])
def test_what_is_missing_or_does_not_read_is_played_again(lost, tmp_path):
    first = study(CELLS[:2], tmp_path)
    file = tmp_path / "cells" / f"{first.rows[0]['cell']}.json"
    if lost == "cell":
        file.unlink()
    elif lost == "evidence":
        (tmp_path / "evidence" / f"{first.rows[0]['evidence'].split()[0]}.json").unlink()
    else:
        file.write_text(file.read_text()[:-40])
    again = study(CELLS[:2], tmp_path)
    assert (again.played, again.rows) == (1, first.rows)
    assert study(CELLS[:2], tmp_path).played == 0


def test_another_number_is_another_cell(tmp_path):
    study([cell(SE)], tmp_path)
    others = [cell(SE, seed=4), cell(SE, runs=5), cell(SE, horizon=601), cell(SE, easy(2))]
    assert study(others, tmp_path).played == len(others)


def test_files_read_back_exactly(done, tmp_path):
    rows_file, curves_file = write_rows(tmp_path, done[0])
    with rows_file.open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    for read, row in zip(rows, done[0].rows, strict=True):
        assert read == {name: "" if value is None else str(value) for name, value in row.items()}
        assert float(read["regret"]) == row["regret"]
    with curves_file.open() as file:
        assert [float(each["mean"]) for each in csv.DictReader(file)] == [
            each["mean"] for each in done[0].curves
        ]


def test_parquet_has_the_same_rows(done, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    *_, file = write_rows(tmp_path, done[0], parquet=True)
    assert parquet.read_table(file).to_pylist() == done[0].rows


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([], "at least one"),
        ([CELLS[0], CELLS[1], CELLS[0]], "comes twice"),
        (
            [cell(DIST_DP_KLUCB_DOUBLING, horizon=10)],
            "dist-dp-klucb-doubling on .* horizon must be at least",
        ),
        ([cell(DP_SE, radius=Radius.CERTIFIED)], "certified is not available"),
    ],
)
def test_cells_that_cannot_run_are_refused_before_anything_is_written(cells, why, tmp_path):
    with pytest.raises(ParameterError, match=why):
        check(cells)
    with pytest.raises(ParameterError, match=why):
        study(cells, tmp_path / "out")
    assert not list(tmp_path.iterdir())
