"""`exactdp list`: what it says of mechanisms is what specs take, and commands do."""

import contextlib
import io
import json
import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

import exactdp
from exactdp import ParameterError
from exactdp.cli.main import main
from exactdp.mechanisms.specs.catalogue import entries
from exactdp.verify.families import calibrated_names

with contextlib.redirect_stdout(io.StringIO()) as _printed:
    assert main(["list", "--json"]) == 0
LISTED = json.loads(_printed.getvalue())
NOTIONS = [each["name"] for each in LISTED["claims"]]
ENTRIES = {
    one["name"]: SimpleNamespace(
        says=one["says"],
        example=one["example"].partition(":")[2],
        keys={key["key"]: SimpleNamespace(**key) for key in one["keys"]},
        needs=[key["key"] for key in one["keys"] if key["required"]],
    )
    for one in LISTED["mechanisms"]
}
FILES = {  # what the file may hold that an example names
    "local": "value,yes,no\na,3/5,2/5\nb,2/5,3/5\n",
    "pmf": "outcome,p,q\nyes,3/5,2/5\nno,2/5,3/5\n",
    "matrix": "1,0\n1,1\n",
    "blt": '{"omega": [0.5], "theta": [0.5]}\n',
}
EXAMPLES = {name: f"{name}:{entry.example}" for name, entry in ENTRIES.items()}
NUMBERS = [
    (name, key) for name, entry in ENTRIES.items() for key, meaning in entry.keys.items()
    if meaning.takes.startswith(("a number", "a whole number"))
]  # fmt: skip


@pytest.fixture
def called(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, held in FILES.items():
        file = ENTRIES[name].example.partition(",")[0].removeprefix("file=")
        (tmp_path / file).write_text(held)

    def run(*words):
        code = main(list(words))
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("name", ENTRIES)
def test_everything_is_said(name):
    entry = ENTRIES[name]
    assert 10 < len(entry.says) <= 100
    for meaning in entry.keys.values():
        assert meaning.takes and meaning.says and len(meaning.says) <= 80
    assert set(entry.needs) <= set(entry.keys)
    assert entry.example.partition("=")[0] in entry.keys


@pytest.mark.contract
@pytest.mark.parametrize("name", ENTRIES)
def test_examples_are_mechanisms(name, called):
    exactdp.mechanism(EXAMPLES[name])


def values(name, key, value):
    """The example with another value of one key."""
    given = dict(each.split("=") for each in ENTRIES[name].example.split(","))
    alone = {"sigma": "sigma2", "epsilon": "scale", "l2": "sensitivity", "l1": "sensitivity"}
    for one, other in [*alone.items(), *((b, a) for a, b in alone.items())]:
        if key == one and key not in ENTRIES[name].needs:
            given.pop(other, None)
    if key in ("poisson",) and name != "federated":
        given["neighbours"] = "add-remove"
    return f"{name}:" + ",".join(f"{k}={v}" for k, v in (given | {key: value}).items())


@pytest.mark.quick_cases(50)
@pytest.mark.contract
@pytest.mark.parametrize(("name", "key"), NUMBERS)
def test_numbers_out_of_range_are_refused(name, key, called):
    takes = ENTRIES[name].keys[key].takes
    bad = ["x", "-1"]
    if "whole" in takes:
        bad.append("1.5")
    if found := re.search(r"(?:from|above|number, |between) ?(\d[\de-]*)", takes):
        least = Fraction(found[1])
        bad.append(str(least if "above" in takes or "between" in takes else least - 1))
    if found := re.search(r"(?:, | and |to | below )(1e\d+|\d+)$", takes):
        most = Fraction(found[1])
        bad.append(str(most if "below" in takes or "between" in takes else most * 2))
    for value in bad:
        with pytest.raises(ParameterError):
            exactdp.mechanism(values(name, key, value))


FREE = re.compile("(epsilon|scale|sigma|sigma2|variance|trials)=")


@pytest.mark.contract
@pytest.mark.parametrize("name", ENTRIES)
def test_commands_take_what_they_are_said_to_take(name, called):
    listed = json.loads(called("list", name, "--json")[1])["commands"]
    kept = [key for key in EXAMPLES[name].partition(":")[2].split(",") if not FREE.match(key)]
    kept += ["size=3"] * (name == "subset-selection")
    free = f"{name}:{','.join(kept)}" if kept else name
    calls = {
        "sample": ("sample", EXAMPLES[name], "--size", "1"),
        "calibrate": ("calibrate", free, "--target", "approx:1,1e-3", "--time", "0.1"),
    }
    if name in ("exponential", "permute-and-flip"):
        calls["sample"] += ("--query", "3,5,2")
    for command, call in calls.items():
        assert (called(*call)[0] != 2) == (command in listed), command


@pytest.mark.contract
@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_protocols_and_rounds_take_what_they_are_said_to_take(name, called):
    listed = json.loads(called("list", name, "--json")[1])["commands"]
    for command, options in (
        ("protocol", ("--time", "5")),
        ("protocol --play", ("--plain", "--seed", "1")),
    ):
        words = (*command.split(), EXAMPLES[name], *options)
        assert (called(*words)[0] != 2) == (command in listed)


@pytest.mark.contract
def test_json_of_all(called):
    code, out, err = called("list", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert [each["name"] for each in found["mechanisms"]] == list(ENTRIES)
    assert [each["name"] for each in found["claims"]] == list(NOTIONS)
    keys = found["mechanisms"][0]["keys"][0].keys()
    assert keys == {"key", "required", "takes", "default", "says"}
    needed = {each["name"]: [k["key"] for k in each["keys"] if k["required"]]
              for each in found["mechanisms"]}  # fmt: skip
    assert needed["federated"][:2] == ["clip", "scale"]
    for each in found["claims"]:
        numbers = each["claim"].partition(":")[2].split(",")
        claim = f"{each['name']}:{','.join(['1.5'] * len(numbers))}".replace("1.5,1.5", "2,1")
        exactdp.audit("discrete-laplace:epsilon=1", claim)


@pytest.mark.contract
@pytest.mark.parametrize("name", [None, *ENTRIES, *NOTIONS])
def test_tables_fit_80_columns(name, called, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = called("list", *([] if name is None else [name]))
    assert (code, err) == (0, "")
    lines = [line for line in out.splitlines() if name != "federated" or "federated:" not in line]
    assert max(map(len, lines)) <= 80  # but for a spec, which is not broken
    for key in ENTRIES[name].keys if name in ENTRIES else ():
        assert f" {key} " in out


@pytest.mark.contract
def test_another_name_is_answered_with_what_was_meant(called):
    code, out, err = called("list", "geometric")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "did you mean 'discrete-laplace'?" in err


@pytest.mark.contract
def test_the_command_alone_points_at_it(called):
    assert "exactdp list" in " ".join(called()[1].split())
    assert "exactdp list" in " ".join(called("audit", "--help")[1].split())


def test_the_help_names_mechanisms_that_there_are(capsys):
    from exactdp.cli.main import MECHANISMS

    assert main([]) == 0
    shown = capsys.readouterr().out
    assert set(MECHANISMS) <= set(ENTRIES) and all(name in shown for name in MECHANISMS)
    assert main(["audit", "--help"]) == 0
    assert "exactdp list" in capsys.readouterr().out


DOCS = Path(__file__).parents[2] / "docs"
SPELLINGS = {"sigma"}  # besides keys: `mechanisms/specs/spec.py`
REFUSED = {("python.md", "skellam", "varience")}  # pages show how that is answered


def test_pages_name_every_mechanism_and_key_and_no_others():
    pages = {page: page.read_text() for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]}
    specs = (DOCS / "commands.md").read_text().partition("\n## Specs\n")[2].partition("\n## ")[0]
    whole, unknown = "\n".join(pages.values()), set()
    for name, entry in ENTRIES.items():
        assert f"`{name}" in specs, name
        for key in entry.keys:
            assert re.search(rf"(?<![\w-]){key}(=|`)", whole), (name, key)
        spelt = {other for key in entries()[name].keys.values() for other in key.spelt}
        for page, text in pages.items():
            for written in re.findall(rf"(?<![\w-]){name}:([a-z][\w-]*=[^\s`'\"|)]*)", text):
                for key in re.findall(r"([\w-]+)=", written.partition("*")[0]):
                    if key not in {*entry.keys, *SPELLINGS, *spelt}:
                        unknown.add((page.name, name, key))
    assert unknown == REFUSED


def test_help_names_all_that_can_be_calibrated(called):
    said = "".join(called("calibrate", "--help")[1].split())
    for name in calibrated_names():
        assert name in said
