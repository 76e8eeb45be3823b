"""`exactdp bandit figures`: files, what is shown, what is refused, and what is not run again."""

import importlib
import json
import sys

import pytest

from exactdp.bandit.plots import files
from exactdp.bandit.plots.pictures import Place, Scale
from exactdp.cli import bandit_figures as command
from exactdp.cli.main import main

pytest.importorskip("matplotlib")

TINY = Scale(2, dict.fromkeys(Place, 2000), growth=4, scaling=1, arms=3)


@pytest.fixture(autouse=True)
def _tiny(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("EXACTDP_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(command, "QUICK", TINY)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "coins.csv"
    path.write_text("arm,reward\n" + "".join(f"{arm},{x}\n" for arm in "ab" for x in (0, 1, 1)))
    return str(path)


def figure(*arguments):
    return main(["bandit", "figures", "--quick", "--workers", "1", *map(str, arguments)])


@pytest.mark.slow
def test_picture_and_data_of_what_was_asked_for(tmp_path, capsys):
    assert figure("--out", tmp_path / "new", "--figure", "4", "--figure", "2", "--json") == 0
    shown = json.loads(capsys.readouterr().out)["figures"]
    assert [each["name"] for each in shown] == ["figure2", "figure4"]
    files = {file for each in shown for file in each["files"]}
    assert files == {str(file) for file in (tmp_path / "new").glob("*.*")}
    assert len(files) == 6
    algorithms = [curve["algorithm"] for curve in shown[1]["curves"][:3]]
    assert algorithms == ["ldp-se", "dist-dp-se", "cdp-se"]
    assert shown[1]["curves"][0].keys() >= {"epsilon", "runs", "time_average_regret", "horizon"}


def test_published_instances(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(files, "draw", lambda *_: {"png": b"", "svg": b""})
    assert figure("--out", tmp_path, "--figure", "2", "--instances", "published", "--json") == 0
    (shown,) = json.loads(capsys.readouterr().out)["figures"]
    assert {curve["instance"] for curve in shown["curves"]} == {"published"}
    assert {curve["arms"] for curve in shown["curves"]} == {10}


@pytest.mark.slow
def test_all_figures_with_ratings_of_the_users_own(tmp_path, capsys, table):
    assert figure("--out", tmp_path / "all", "--ratings", table) == 0
    assert len(list((tmp_path / "all").glob("*.png"))) == 7
    shown = capsys.readouterr().out
    assert "Figure 5: real ratings" in shown and "certified radius" in shown
    assert str(tmp_path / "all" / "figure1") in shown


def test_what_is_finished_is_used_again_if_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "draw", lambda *_: {"png": b"", "svg": b""})
    module = importlib.import_module("exactdp.bandit.plots.sweep")
    asked, real = [], module.run
    monkeypatch.setattr(
        module, "run", lambda *given, **more: asked.append(given) or real(*given, **more)
    )
    assert figure("--out", tmp_path, "--figure", "2") == 0
    first, content = len(asked), (tmp_path / "figure2.csv").read_bytes()
    assert first == 6
    assert figure("--out", tmp_path, "--figure", "2", "--resume") == 0
    assert len(asked) == first
    assert (tmp_path / "figure2.csv").read_bytes() == content
    assert figure("--out", tmp_path, "--figure", "2") == 0
    assert len(asked) == 2 * first
    assert (tmp_path / "figure2.csv").read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--instances", "fair"], "instances must be drawn or published"),
        (["--figure", "6"], "figure must be one of 1, 2, 3, 4, 5, certified, indices"),
        (["--workers", "0"], "workers"),
        (["--seed", "-1"], "seed"),
        (["--ratings", "easy"], "ratings must be fair or a file"),
        (["--ratings", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_bad_input_is_one_line(tmp_path, capsys, arguments, reason):
    assert figure("--out", tmp_path / "new", *arguments) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1
    assert not list(tmp_path.glob("new/*.*"))


def test_a_file_is_no_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("kept")
    assert figure("--out", tmp_path / "file", "--figure", "2") == 2
    assert "out:" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "kept"


def test_without_matplotlib_nothing_is_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert figure("--out", tmp_path / "new", "--figure", "2") == 2
    assert 'pip install "exactdp[figures]"' in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
