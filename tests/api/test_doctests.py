"""The examples in docstrings show what is printed."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import exactdp
from exactdp import door

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "exact",
    "common",
    "mechanisms",
    "protocols",
    "accounting",
    "verify",
    "ledger",
    "evidence",
    "bandit",
    "cli",
)
FOLDERS += ("api",)


def _modules():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if ">>> " in path.read_text(encoding="utf-8"):
                parts = path.relative_to(ROOT).with_suffix("").parts
                named = parts[1:] if folder == "api" else parts
                yield ".".join(["exactdp", *(part for part in named if part != "__init__")])


MODULES = list(_modules())
# What stands in a library that the other tests do without: their own tests run these examples.
STANDS_IN = {
    "exactdp.protocols.flower": "flwr",
    "exactdp.accounting.interop.opacus": "opacus",
}


@pytest.mark.slow_cases("exactdp.accounting.interop.flower")
@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_is_shown(name):
    if name in STANDS_IN:
        pytest.importorskip(STANDS_IN[name])
    tried = doctest.testmod(import_module(name))
    assert tried.attempted and not tried.failed


def test_every_function_of_the_door_has_an_example():
    for name in door.__all__:
        assert ">>> " in getattr(exactdp, name).__doc__, name
