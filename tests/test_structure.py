"""Who imports whom: downwards only, from folder to folder and from file to file."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# each folder may import those before it
FLOORS = ("exact", "common", "losses", "mechanisms", "protocols", "accounting", "verify", "ledger")
FLOORS += ("bandit", "report", "cli")


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
# what is named through a door (`__init__`) of a folder above, still to go: the round of a spec
STILL_UP = {("mechanisms", "specs", "catalogue"): {"protocols"}}


def folders_named(place):
    """The folders at the top that a file imports from, through their doors too."""
    tree = ast.parse((ROOT / Path(*place)).with_suffix(".py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = (*place[: -node.level], *(node.module or "").split("."))
            yield from (base[0] or alias.name for alias in node.names)


def test_no_files_import_each_other_in_a_circle():
    assert len(IMPORTS) > 400
    TopologicalSorter(IMPORTS).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize("folder", FLOORS)
def test_a_folder_imports_those_below_it(folder):
    above = set(FLOORS[FLOORS.index(folder) + 1 :])
    for place, named in IMPORTS.items():
        if place[0] == folder:
            assert not {one[0] for one in named} & above, "/".join(place)
            through_doors = set(folders_named(place)) & above
            assert through_doors == STILL_UP.get(place, set()), "/".join(place)


# the rooms of `mechanisms`, likewise; "" holds what every mechanism is, beside the rooms
ROOMS = ("fields", "samplers", "laws", "pairs", "", "sampling", "additive", "selection", "local")
ROOMS += ("matrices", "specs")


def room(place):
    return place[1] if len(place) > 2 else ""


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_of_mechanisms_imports_those_below_it(name):
    """But for doors (`__init__`), which only say again what stands elsewhere."""
    above = set(ROOMS[ROOMS.index(name) + 1 :])
    for place, named in IMPORTS.items():
        if place[0] == "mechanisms" and room(place) == name and place[-1] != "__init__":
            rooms = {room(one) for one in named if one[0] == "mechanisms"}
            assert not rooms & above, "/".join(place)


def test_every_folder_of_mechanisms_is_a_room():
    assert {room(place) for place in IMPORTS if place[0] == "mechanisms"} == set(ROOMS)
