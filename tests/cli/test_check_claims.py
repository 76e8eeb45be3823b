"""`exactdp check-claims`: all claims of a file, and what calls it in continuous integration."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from exactdp.cli.main import main

ROOT = Path(__file__).parents[2]
GOOD = """
[[claims]]
spec = "discrete-laplace:epsilon=0.1"
claim = "pure:0.1"

[[claims]]
name = "both queries"
spec = ["discrete-laplace:epsilon=0.1*3", "randomized-response:epsilon=1"]
claim = "pure:1.3"
"""
FALSE = """# a comment
[[claims]]
spec = "discrete-laplace:epsilon=0.1"
claim = "pure:0.1"

[[claims]]
name = "50%: of all"
spec = "skellam:variance=100*10"
claim = "pure:1"
"""


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(text, *options):
        Path("claims.toml").write_text(text)
        code = main(["check-claims", "claims.toml", *options])
        return code, capsys.readouterr()

    return run


@pytest.mark.contract
def test_all_verified(check):
    code, shown = check(GOOD)
    assert (code, shown.err) == (0, "")
    assert shown.out.splitlines() == [
        "VERIFIED  1. discrete-laplace:epsilon=0.1: pure:0.1 (tightest epsilon 0.1)",
        "VERIFIED  2. both queries: pure:1.3 (tightest epsilon 1.3)",
        "2 of 2 claims verified",
    ]


@pytest.mark.contract
def test_one_that_is_not(check):
    code, shown = check(FALSE)
    assert (code, shown.err) == (1, "")
    first, second, last = shown.out.splitlines()
    assert first.startswith("VERIFIED  1.")
    assert second.startswith("REFUTED  2. 50%: of all: pure:1 (tightest epsilon inf")
    assert last == "1 of 2 claims verified; not verified: 2"


@pytest.mark.contract
def test_what_stays_open_is_not_verified(check):
    within = "skellam:variance=4,l2=5,dimension=1000000"  # mu of these lies in [2.5617, 2.6242]
    text = f'{GOOD}\n[[claims]]\nspec = "{within}"\nclaim = "gdp:2.6"\n'
    code, shown = check(text, "--time", "10", "--json")
    found = json.loads(shown.out)
    assert (code, found["not_verified"]) == (1, [3])
    assert found["claims"][-1]["verdict"] == "UNDECIDED"
    assert set(found["claims"][-1]["measured"]) == {"lower", "upper"}


@pytest.mark.contract
@pytest.mark.parametrize("seconds", ["1e-9", "0.1"])
def test_a_limit_of_time_is_no_verdict(check, seconds):
    code, shown = check(FALSE, "--time", seconds, "--json")
    first, second = json.loads(shown.out)["claims"]
    assert code == 1
    assert first["verdict"] in ("VERIFIED", "UNDECIDED")
    assert second["verdict"] in ("REFUTED", "UNDECIDED")


@pytest.mark.contract
def test_json(check):
    code, shown = check(FALSE, "--json")
    found = json.loads(shown.out)
    assert (code, found["file"], found["not_verified"]) == (1, "claims.toml", [2])
    first, second = found["claims"]
    assert (first["line"], second["line"], second["name"]) == (2, 6, "50%: of all")
    assert second["mechanisms"][0]["spec"] == "skellam:variance=100"
    assert second["mechanisms"][0]["times"] == 10
    assert (first["verdict"], second["verdict"]) == ("VERIFIED", "REFUTED")
    assert (first["neighbours"], second["measured"]["upper"]) == ("replace", "inf")


@pytest.mark.contract
def test_several_files(tmp_path, check, capsys):
    check(GOOD)
    (tmp_path / "false.toml").write_text(FALSE)
    assert main(["check-claims", "claims.toml", "false.toml", "claims.toml"]) == 1
    told = [line for line in capsys.readouterr().out.splitlines() if ".toml" in line]
    assert [line.partition(":")[0] for line in told] == ["claims.toml", "false.toml"]
    assert main(["check-claims", "claims.toml", "false.toml", "--json"]) == 1
    assert [len(each["not_verified"]) for each in json.loads(capsys.readouterr().out)] == [0, 1]


@pytest.mark.contract
def test_annotations_name_file_and_line(check):
    code, shown = check(FALSE, "--annotations")
    (told,) = [line for line in shown.out.splitlines() if line.startswith("::")]
    assert code == 1
    assert told.startswith(
        "::error file=claims.toml,line=6,title=exactdp%3A REFUTED::pure:1 of 50%25: of all: "
    )


@pytest.mark.contract
def test_lines_are_told_only_where_they_are_certain(check):
    text = FALSE.replace('"50%: of all"', '"""\\\n[[claims]]\\\n"""')  # one header too many
    code, shown = check(text, "--json")
    assert code == 1 and {each["line"] for each in json.loads(shown.out)["claims"]} == {None}


@pytest.mark.contract
def test_the_documentation_shows_it(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["check-claims", "docs/privacy-claims.toml"]) == 1
    page = (ROOT / "docs" / "commands.md").read_text()
    assert f"```text\n{capsys.readouterr().out}```" in page


@pytest.mark.contract
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "claims.toml: must have [[claims]] tables"),
        ("claims = 3", "claims.toml: must have [[claims]] tables"),
        ("claims = [3]", "claims.toml: claim 1: must be a table"),
        ("[claims]", "claims.toml: must have [[claims]] tables"),
        ("x = 1", "claims.toml: 'x' is not known"),
        ("[[claims]", "claims.toml: not TOML"),
        ("[[claims]]", "claims.toml: claim 1, line 1: spec, claim missing"),
        (GOOD.replace("pure:0.1", "pur:0.1"), "claim 1, line 2: claim must be pure:EPSILON"),
        (GOOD.replace("laplace", "laplac"), "claim 1, line 2: SPEC names no known mechanism"),
        (GOOD.replace("name", "nam"), "claim 2, line 6: 'nam' is not known (did you mean 'name'?)"),
        (GOOD.replace('"pure:0.1"', "0.1"), "claim 1, line 2: claim must be text"),
        (
            GOOD.replace('["discrete-laplace:epsilon=0.1*3", ', "[1, "),
            "spec must be text or a list",
        ),
        ('[[claims]]\nspec = []\nclaim = "pure:1"', "claim 1, line 1: spec must be text or a list"),
        (GOOD.replace("both queries", "both\\nqueries"), "claim 2, line 6: name must be printable"),
    ],
)
def test_bad_files(check, text, told):
    code, shown = check(text)
    assert (code, shown.out) == (2, "")
    assert shown.err.count("\n") == 1 and told in shown.err


@pytest.mark.contract
def test_a_bad_file_is_annotated(check):
    code, shown = check("x = 1", "--annotations")
    assert code == 2 and shown.out.startswith("::error file=claims.toml,title=exactdp%3A not ")
    assert "claims.toml: 'x'" in shown.err


@pytest.mark.contract
def test_annotations_are_not_of_json(check):
    code, shown = check(GOOD, "--annotations", "--json")
    assert (code, shown.out) == (2, "") and "--annotations" in shown.err


# -- what calls it --------------------------------------------------------------------------------


def ours(folder: Path) -> Path:
    """A command `exactdp` in a folder, as an installation has it."""
    folder.mkdir(parents=True)
    (folder / "exactdp").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m exactdp.cli "$@"\n')
    (folder / "exactdp").chmod(0o755)
    return folder


@pytest.mark.contract
@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (FALSE, 1), ("x", 2)])
def test_the_action_runs_it(tmp_path, text, code):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    step = action["runs"]["steps"][-1]
    given = {"inputs.files": "a file.toml\n\n", "inputs.time": "30"}
    names = {each.removeprefix("inputs.") for each in given}
    assert names <= action["inputs"].keys()
    env = {key: given[value.strip("${ }")] for key, value in step["env"].items()}
    ours(tmp_path / "exactdp" / "bin")
    (tmp_path / "a file.toml").write_text(text)
    ended = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env=os.environ | env | {"RUNNER_TEMP": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code
    assert ("::error file=a file.toml" in ended.stdout) == (code != 0)


def test_what_the_action_installs_is_there():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert "constraints.txt" in action["runs"]["steps"][0]["run"]
    assert (ROOT / "constraints.txt").is_file()


@pytest.mark.contract
@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (FALSE, 1)])
def test_the_hook_runs_it(tmp_path, text, code):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    path = f"{ours(tmp_path / 'bin')}{os.pathsep}{os.environ['PATH']}"
    (tmp_path / "privacy-claims.toml").write_text(text)
    ended = subprocess.run(
        [*hook["entry"].split(), "privacy-claims.toml"],
        env=os.environ | {"PATH": path},
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == code
