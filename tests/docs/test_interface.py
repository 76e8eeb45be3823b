"""What users may rely on, and that it says how: arguments, errors, an example that runs.

The pages of docs/api are the list (`docstrings.public`); examples are run by tests/api.
"""

import inspect
import re
import sys
from enum import Enum
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import docstrings

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module, names in docstrings.public()
    for name in names
}
CALLABLE = {
    name: what
    for name, what in PUBLIC.items()
    if inspect.isfunction(what)
    or (inspect.isclass(what) and not issubclass(what, BaseException | Enum))
}


def test_what_is_public_is_a_short_list():
    """A name more is a promise more: it was 542 of modules, and 1,743 with those of classes."""
    assert len(PUBLIC) <= 205
    assert not [name for name in PUBLIC if re.search(r"\._", name)]


@pytest.mark.parametrize("name", CALLABLE)
def test_arguments_errors_and_an_example_are_told(name):
    what = CALLABLE[name]
    told = inspect.getdoc(what) or ""
    named = {*re.findall(r"\w+", told)} | {*docstrings.EVERYWHERE}
    if not getattr(what, "_is_protocol", False):
        assert {*docstrings.arguments(what)} <= named
    assert ">>> " in told
    if inspect.isfunction(what) and docstrings.arguments(what):
        assert "aises" in told


def test_a_docstring_is_taken_apart():
    text = """What it is.

    first: of two. second, third: numbers; fourth: text: with a colon. Returns a sum. Raises
    ParameterError for others.

    fifth    of a table,
             told in two lines

    Source: a paper.

    >>> 1 + 1
    2"""
    names = ["first", "second", "third", "fourth", "fifth"]
    found = docstrings.parts(inspect.cleandoc(text).split("\n"), names)
    assert found.arguments == {
        "first": "of two.",
        "second": "numbers",
        "third": "numbers",
        "fourth": "text: with a colon.",
        "fifth": "of a table, told in two lines",
    }
    assert found.returns == ["a sum."]
    assert found.raises == ["ParameterError for others."]
    assert found.sources == ["Source: a paper."]
    assert found.paragraphs == [["What it is."], [">>> 1 + 1", "2"]]
