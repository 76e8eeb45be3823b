"""What an installation has to bring: every folder, its marker of types, a light command."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.resources import files
from itertools import chain
from pathlib import Path

import pytest
from lowest import lowest

from exactdp.cli.main import _TOGETHER, _VERBS

ROOT = Path(__file__).parent.parent
HEAVY = {"flint", "mpmath", "numpy", "scipy", "sympy"}


def _settings():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.contract
def test_every_folder_with_code_is_a_subpackage():
    setup = _settings()["tool"]["setuptools"]
    found = chain.from_iterable(ROOT.glob(f"{'*/' * depth}__init__.py") for depth in (1, 2, 3))
    folders = {path.parent.relative_to(ROOT) for path in found if path.parts[-2] != "tests"}
    folders = {folder for folder in folders if folder.parts[0] not in ("build", "tests", ".venv")}
    names = {f"exactdp.{'.'.join(folder.parts)}": str(folder) for folder in folders}
    names["exactdp"] = names.pop("exactdp.api")  # what `import exactdp` gives
    assert set(names) == set(setup["packages"])
    assert names == setup["package-dir"]
    assert _settings()["tool"]["mypy"]["packages"] == ["exactdp"]  # and all below


def test_every_subpackage_imports_and_is_marked_as_typed():
    for name in _settings()["tool"]["setuptools"]["packages"]:
        import_module(name)
        assert files(name).joinpath("py.typed").is_file()


def test_one_version_everywhere():
    """In the metadata, in what is cited, and as the newest of the changes."""
    version = _settings()["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    newest = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest[1] in ("Unreleased", version)


def _pins():
    files = ("constraints.txt", "constraints-flower.txt")
    lines = chain.from_iterable((ROOT / name).read_text().splitlines() for name in files)
    return [line for line in lines if not line.startswith("#")]


def test_every_pin_is_one_version():
    assert [line for line in _pins() if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


@pytest.mark.contract
def test_every_dependency_is_pinned():
    project = _settings()["project"]
    needed = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    pinned = {line.partition("==")[0] for line in _pins()}
    names = {re.split(r"\[|>=", requirement)[0] for requirement in needed}
    assert names - {"exactdp"} <= pinned
    extras = {name for one in needed for name in re.findall(r"^exactdp\[(.*)\]$", one)}
    known = project["optional-dependencies"].keys()
    assert {name for names in extras for name in names.split(",")} <= known


@pytest.mark.contract
def test_every_dependency_has_a_lowest_version():
    project = _settings()["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    names = {re.split(r"\[|>=", requirement)[0] for requirement in needed} - {"exactdp"}
    assert names <= {line.partition("==")[0] for line in lowest()}


@pytest.mark.contract
def test_help_loads_nothing_heavy():
    code = (
        "import sys; from exactdp.cli.main import main; code = main(['--help']);"
        f"sys.exit(code or ' '.join({HEAVY!r} & sys.modules.keys()) or 0)"
    )
    for folder in (ROOT, "/"):
        result = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, check=False
        )
        assert (result.returncode, result.stderr) == (0, b"")
        assert b"audit" in result.stdout


def test_no_command_imports_another_command():
    commands = {verb.replace("-", "_") for verb in _VERBS}
    assert {"audit", "check", "compose"} <= commands
    for name in {_TOGETHER.get(name, name) for name in commands}:
        text = (ROOT / "cli" / f"{name}.py").read_text()
        assert not commands & set(re.findall(r"^ *from \.(\w+) import", text, re.MULTILINE)), name
