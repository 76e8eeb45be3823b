"""`exactdp bandit study`: files, what they refuse, and a study that is killed and goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from exactdp.bandit.study import check
from exactdp.cli.main import app, main
from exactdp.cli.study_file import packaged, read_study

TINY = """
runs = 2
epsilon = [1, 2.5]
horizon = [300, 6e2]
instances = ["coins:0.75,0.25", {instance = "easy", arms = [2, 3], sigma = 0}]
algorithms = ["dist-dp-se", {algorithm = "dp-klucb", label = "mine"}, "se"]
"""
GRID = """
runs = 6
seed = 5
epsilon = [0.5, 1, 2]
horizon = [500, 1e3, 2e3]
instances = ["easy", "coins:0.8,0.5,0.2"]
arms = 3
algorithms = ["dist-dp-se", "cdp-se", "dp-klucb", {algorithm = "dist-dp-se", radius = "certified"}]
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EXACTDP_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(TINY)
    return path


def played(file, out, *more):
    arguments = ["bandit", "study", str(file), "--out", str(out), "--json", *more]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.contract
@pytest.mark.slow
def test_a_study_writes_rows_figures_cells_and_certificates(file, tmp_path):
    out = tmp_path / "out"
    file.write_text(TINY.replace("[300, 6e2]", "300"))
    shown = played(file, out, "--workers", "1")
    # two private algorithms at each epsilon, the other once; three places
    assert shown["cells"] == shown["played"] == (2 * 2 + 1) * 3 == len(shown["rows"])
    assert len([name for name in shown["files"] if name.endswith(".svg")]) == 3
    assert all(Path(name).stat().st_size for name in shown["files"])
    first = {name: shown["rows"][0][name] for name in ("label", "epsilon", "arms", "horizon")}
    assert first == {"label": "dist-dp-se", "epsilon": "1", "arms": 2, "horizon": 300}
    assert {row["label"] for row in shown["rows"]} == {"dist-dp-se", "mine", "se"}
    assert len(list((out / "cells").iterdir())) == 15
    again = played(file, out, "--workers", "1", "--no-figures")
    assert (again["played"], again["rows"]) == (0, shown["rows"])
    call = ["bandit", "study", str(file), "--out", str(out), "--no-figures"]
    table = CliRunner().invoke(app, call)
    assert "15, 0 of them played now" in table.stdout


@pytest.mark.contract
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("runs = 2", "runs = 0"), "runs must be"),
        (("runs = 2", "runs = ["), "not TOML"),
        (("runs = 2", "rums = 2"), "'rums' is not known (did you mean 'runs'?)"),
        (("runs = 2", "runs = true"), "runs must be a number"),
        (("[300, 6e2]", "[]"), "horizon must be 1 to"),
        (("[300, 6e2]", "20"), "horizon must be at least"),
        (("[300, 6e2]", "[300, 300]"), "comes twice"),
        (("[300, 6e2]", "nan"), "horizon"),
        (("horizon", "arms"), "horizon is missing"),
        (("epsilon = [1, 2.5]", ""), "epsilon must be given for dist-dp-se"),
        (("2.5", "-1"), "epsilon must be"),
        (("dp-klucb", "dp-klucp"), "did you mean 'dp-klucb'?"),
        (("label = ", "lable = "), "did you mean 'label'?"),
        (('"mine"', "7"), "label must be text"),
        (('"mine"', '"a", radius = "wide"'), "radius must be paper or certified"),
        (("algorithms = [", "radius = 5\nalgorithms = ["), "radius must be paper or certified"),
        (("coins:0.75,0.25", "coins:2"), "instance 1"),
        (("coins:0.75,0.25", "no such file"), "no such file"),
        (("[2, 3]", "[1]"), "arms"),
        (("sigma = 0", "sigma = []"), "sigma must be a number"),
        (("[2, 3]", "[" + ", ".join(map(str, range(2, 9000))) + "]"), "cells"),
    ],
)
def test_a_bad_file_is_one_line_and_nothing_is_written(change, why, file, tmp_path, capsys):
    assert change[0] in TINY
    file.write_text(TINY.replace(*change, 1))
    out = tmp_path / "out"
    assert main(["bandit", "study", str(file), "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1
    assert not out.exists()


@pytest.mark.contract
@pytest.mark.parametrize("wrong", [["--workers", "0"], ["--time", "0"]])
def test_bad_options_are_refused(wrong, file, tmp_path, capsys):
    assert main(["bandit", "study", str(file), "--out", str(tmp_path / "out"), *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.slow_cases("certified", "figure5")
@pytest.mark.parametrize("name", packaged())
def test_studies_that_come_with_the_package_read(name):
    """Every cell could run, and a preview is shorter."""
    cells, quick = read_study(name), read_study(name, quick=True)
    check(cells)
    assert 0 < len(quick) <= len(cells)
    assert {cell.runs for cell in quick} == {5}
    assert max(cell.config.setting.horizon for cell in quick) == 10**5


@pytest.mark.contract
def test_a_figure_of_the_older_spelling_comes_with_the_package(tmp_path, capsys):
    """Of bad input one line is told, which says what is wrong."""
    call = ["bandit", "figures", "--quick", "--out", str(tmp_path), "--figure"]
    for name in ("nothing", "7" * 300):
        assert main([*call, name]) == 2
        (error,) = capsys.readouterr().err.splitlines()
        assert "--figure must be one of certified, " in error


@pytest.mark.contract
@pytest.mark.slow
def test_a_study_that_is_killed_goes_on_where_it_was(tmp_path):
    """4 x 3 x 3 x 2 cells: alike on 1 worker, on 2 after a kill, and on a local cluster."""
    file = tmp_path / "grid.toml"
    file.write_text(GRID)
    whole = played(file, tmp_path / "one", "--workers", "1", "--no-figures")
    assert whole["cells"] == whole["played"] == 72
    out = tmp_path / "two"
    command = ["-m", "exactdp.cli", "bandit", "study", str(file), "--out", str(out)]
    running = subprocess.Popen(
        [sys.executable, *command, "--workers", "2", "--no-figures"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    cells = out / "cells"
    end = time.monotonic() + 300
    while running.poll() is None and not (cells.is_dir() and len(list(cells.glob("*.json"))) > 9):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert running.poll() is None
    os.killpg(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    (out / "evidence" / ".exactdp-0123456789abcdef").touch()  # as a writer that is killed leaves it
    kept = {each.name: each.stat().st_mtime_ns for each in cells.glob("*.json")}
    assert 9 < len(kept) < 72
    rest = played(file, out, "--workers", "2", "--no-figures")
    assert rest["played"] == 72 - len(kept)
    assert {each: (cells / each).stat().st_mtime_ns for each in kept} == kept
    spread = tmp_path / "cluster"
    pytest.importorskip("distributed")
    far = played(file, spread, "--workers", "2", "--cluster", "local", "--no-figures")
    assert whole["rows"] == rest["rows"] == far["rows"]
    for name in ("rows.csv", "curves.csv"):
        texts = {(tmp_path / each / name).read_bytes() for each in ("one", "two", "cluster")}
        assert len(texts) == 1
    names = [sorted(f.name for f in (tmp_path / each / "evidence").iterdir()) for each in
             ("one", "two", "cluster")]  # fmt: skip
    assert names[0] == names[1] == names[2]
