"""Who imports whom: downwards only, from folder to folder and from file to file."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# each folder may import those before it
FLOORS = ("exact", "losses", "mechanisms", "accounting", "verify", "ledger", "bandit", "report")
FLOORS += ("cli",)


def imports():
    """Of every file of the package the other files that it names, wherever it does so."""
    files = {
        path.relative_to(ROOT).with_suffix("").parts: path
        for folder in FLOORS
        for path in (ROOT / folder).rglob("*.py")
    }
    found = {}
    for place, path in files.items():
        named = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = (*place[: -node.level], *(node.module.split(".") if node.module else ()))
                each = [(*base, alias.name) for alias in node.names]
                named |= {one if one in files else base for one in each}
        found[place] = {one for one in named if one in files and one[-1] != "__init__"} - {place}
    return found


IMPORTS = imports()


def test_no_files_import_each_other_in_a_circle():
    assert len(IMPORTS) > 400
    TopologicalSorter(IMPORTS).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize("folder", FLOORS)
def test_a_folder_imports_those_below_it(folder):
    above = set(FLOORS[FLOORS.index(folder) + 1 :])
    for place, named in IMPORTS.items():
        if place[0] == folder:
            assert not {one[0] for one in named} & above, "/".join(place)
