"""Which tests reach the lines that are changed: one run of the quick tests, with a mark at each.

`python tests/mutation/reach.py FILE [OPTION ...]`, in a copy whose source is marked, runs the tests
(with these options of pytest) and writes for every mark those that reach it, as [seconds, name].
"""

import ast
import builtins
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time

import pytest

Reached = Mapping[str, Sequence[tuple[float, str]]]

_MARK = "__import__('builtins').__dict__.setdefault('_reached', set()).add({!r})"
_ELSEWHERE = ("docs", "report", "evidence", "bandit", "mutation", "cli/pages")  # slow, seldom first
_QUICK = [f"--ignore=tests/{each}" for each in _ELSEWHERE]
SLOW = ("-m", "(slow or not slow) and not marathon")  # what the suite is run with
SUITE = (*SLOW, "tests/conformance", "tests/golden/test_figures.py")
_ALIKE = 6  # cases of one test that are run
_LIKELIEST = 3, 12  # so many files come first, and so many next


def _lines(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _mark(node: ast.AST, path: str, lines: set[int], within: bool) -> None:
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        found: list[ast.AST] = []
        for one in getattr(node, name, ()):
            inside = within or isinstance(node, ast.FunctionDef)
            if isinstance(one, ast.stmt) and inside:
                deeper = [each for each in ast.walk(one) if isinstance(each, ast.stmt)]
                own = _lines(one).difference(*(_lines(each) for each in deeper if each is not one))
                for line in sorted(own & lines):
                    found += ast.parse(_MARK.format(f"{path}:{line}")).body
            _mark(one, path, lines, inside)
            found.append(one)
        if found:
            setattr(node, name, found)


def _outside(tree: ast.Module, path: str, lines: set[int]) -> None:
    """Marks for lines outside of functions: in those that begin there or use what is named there.

    Where nothing uses it by its name, in all functions of the file.
    """
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    bodies = [(one.body[0].lineno, one.end_lineno or one.lineno) for one in functions]
    for line in sorted(line for line in lines if not any(a <= line <= b for a, b in bodies)):
        begun = [one for one in functions if one.lineno <= line < one.body[0].lineno]
        names = {
            name.id
            for node in ast.walk(tree)
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and line in _lines(node)
            for name in ast.walk(node)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        }
        using = [
            one
            for one in functions
            if any(getattr(n, "id", getattr(n, "attr", "")) in names for n in ast.walk(one))
        ]
        for one in begun or using or functions:
            place = int(ast.get_docstring(one) is not None)
            one.body[place:place] = ast.parse(_MARK.format(f"{path}:{line}")).body


def marked(path: str, code: str, lines: set[int]) -> str:
    """The source with a mark before each statement of a function that has one of the lines."""
    tree = ast.parse(code)
    _outside(tree, path, lines)
    _mark(tree, path, lines, within=False)
    return ast.unparse(tree)


def reached(root: Path, places: Mapping[str, set[int]], suite: bool) -> Reached:
    """The tests that reach these lines of files, as `path:line`; marks the copy at `root`.

    suite: of the conformance suite and the golden figures alone, slow ones too.
    """
    for path, lines in places.items():
        file = root / path
        file.write_text(marked(path, file.read_text(encoding="utf-8"), lines), encoding="utf-8")
    told = root / "reached.json"
    options = SUITE if suite else _QUICK
    command = [sys.executable, "-B", "tests/mutation/reach.py", str(told), *options]
    environment = os.environ | {"PYTHONPATH": str(root)}
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    found: Reached = json.loads(told.read_text(encoding="utf-8"))
    return found


def chosen(found: Sequence[tuple[float, str]], near: Sequence[str], seconds: float) -> list[str]:
    """Of the tests that reach a line, those that take so long together: of likely files first."""
    ranks, cases, spent = {name: i for i, name in enumerate(near)}, Counter[str](), 0.0

    def key(each: tuple[float, str]) -> tuple[int, float]:
        rank = ranks[each[1].partition("::")[0]]
        return sum(rank >= few for few in _LIKELIEST), each[0]

    files: dict[str, list[str]] = {}
    for time, test in sorted(found, key=key):
        cases[test.partition("[")[0]] += 1
        if cases[test.partition("[")[0]] <= _ALIKE and spent + time <= seconds:
            spent += time
            files.setdefault(test.partition("::")[0], []).append(test)
    return [test for tests in files.values() for test in tests]


def quickest(found: Sequence[tuple[float, str]], seconds: float) -> list[str]:
    """Of the tests that reach a line those that take so long together, the quickest first."""
    tests, spent = [], 0.0
    for time, test in sorted(found):
        spent += time
        if spent <= seconds:
            tests.append(test)
    return tests


class _Record:
    """Notes which marks each test reaches."""

    def __init__(self) -> None:
        self.found: dict[str, list[tuple[float, str]]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        marks: set[str] = builtins.__dict__.setdefault("_reached", set())
        marks.clear()
        begun = process_time()
        result = yield
        for place in marks:
            self.found.setdefault(place, []).append((process_time() - begun, item.nodeid))
        return result


if __name__ == "__main__":
    record = _Record()
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    pytest.main([*options, *sys.argv[2:]], plugins=[record])
    Path(sys.argv[1]).write_text(json.dumps(record.found), encoding="utf-8")
