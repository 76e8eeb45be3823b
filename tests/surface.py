"""Which tests use nothing but the command line, its JSON and what `import exactdp` gives.

A test qualifies if neither it nor anything that it reaches (fixtures, helpers, constants of the
files in `tests/`) imports or names another module of the package, and if it does use one of these.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import exactdp
import exactdp.interop

TESTS = Path(__file__).parent
PUBLIC = {"exactdp", "exactdp.cli.main", *(f"exactdp.{name}" for name in exactdp.__all__)}
PUBLIC |= {"exactdp.__version__", "exactdp.cli.main.main", "exactdp.cli.main.app"}
PUBLIC |= {"exactdp.interop", *(f"exactdp.interop.{name}" for name in exactdp.interop.__all__)}
PUBLIC |= {"exactdp.cli", "exactdp.verify.checker", "exactdp.verify.checker.__main__.main"}
_INTERNAL = re.compile(
    r"^exactdp\.[a-z_]+\.\w+|(?<=import )exactdp\.[\w.]+|(?<=from )exactdp\.[\w.]+"
)
_PROGRAM = re.compile(
    r"^exactdp(\.cli|\.verify\.checker)?$|import exactdp$|import exactdp[;\n]|/exactdp$"
)
Names = dict[str, tuple[str, ast.stmt | None]]


@cache
def _module(path: Path) -> tuple[Names, frozenset[str]]:
    """What each name of a file stands for, an origin or a statement; its autouse fixtures."""
    names: Names = {}
    every: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for origin, name in _imported(node):
            names[name] = (origin, None)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names[node.name] = ("", node)
            if any("autouse" in ast.unparse(one) for one in node.decorator_list):
                every.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for one in ast.walk(node):
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                    names[one.id] = ("", node)
    return names, frozenset(every)


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for one in node.names:
            yield one.name, (one.asname or one.name).split(".")[0]
    elif isinstance(node, ast.ImportFrom):
        for one in node.names:
            yield f"{node.module}.{one.name}", one.asname or one.name


def _file(origin: str) -> tuple[Path, str] | None:
    """The file of tests that a dotted name is from, and the name in it."""
    module, _, name = origin.rpartition(".")
    for dotted, rest in ((origin, ""), (module, name)):
        path = TESTS / (dotted.replace(".", "/") + ".py")
        if dotted and path.exists():
            return path, rest
    return None


def _fixture(path: Path, name: str) -> Path | None:
    for folder in path.relative_to(TESTS).parents if TESTS in path.parents else ():
        found = TESTS / folder / "conftest.py"
        if found.exists() and name in _module(found)[0]:
            return found
    return None


def _reached(path: Path, node: ast.AST, seen: set[tuple[Path, str]]) -> Iterator[str]:
    """The modules and names of the package that a piece of code reaches, and `main` of commands."""
    names, told, own = _module(path)[0], set[int](), _own(node)
    for one in ast.walk(node):
        for origin, _ in _imported(one):
            yield from _origin(origin, seen)
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield from _INTERNAL.findall(one.value)  # what is patched, what scripts import
            if _PROGRAM.search(one.value):
                yield "exactdp"
        elif isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
            module, _ = names.get(one.value.id, ("", None))
            if module == "exactdp" or (TESTS / f"{module.replace('.', '/')}.py").exists():
                told.add(id(one.value))
                yield from _origin(f"{module}.{one.attr}", seen)
        elif isinstance(one, ast.Name) and id(one) not in told and one.id not in own:
            yield from _named(path, one.id, seen)
    if isinstance(node, ast.FunctionDef) and _has_fixtures(node):
        for each in (*node.args.args, *node.args.kwonlyargs):
            yield from _named(path, each.arg, seen)


def _own(node: ast.AST) -> set[str]:
    """Names of a function itself: its arguments, what it assigns."""
    if not isinstance(node, ast.FunctionDef):
        return set()
    own = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    stored = (one for one in ast.walk(node) if isinstance(one, ast.Name))
    return own | {one.id for one in stored if isinstance(one.ctx, ast.Store)}


def _has_fixtures(node: ast.FunctionDef) -> bool:
    marks = (ast.unparse(one) for one in node.decorator_list)
    return node.name.startswith("test") or any("fixture" in one for one in marks)


def _named(path: Path, name: str, seen: set[tuple[Path, str]]) -> Iterator[str]:
    if not name or (path, name) in seen:
        return
    seen.add((path, name))
    origin, node = _module(path)[0].get(name, ("", None))
    if node is not None:
        yield from _reached(path, node, seen)
    elif origin:
        yield from _origin(origin, seen)
    elif (found := _fixture(path, name)) is not None:
        yield from _named(found, name, seen)


def _origin(origin: str, seen: set[tuple[Path, str]]) -> Iterator[str]:
    if origin.split(".")[0] == "exactdp":
        yield origin
    elif (found := _file(origin)) is not None:
        path, name = found
        if name:
            yield from _named(path, name, seen)
        else:  # a module of helpers as a whole: all that is in it
            for each in _module(path)[0]:
                yield from _named(path, each, seen)


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """The test functions of a file."""
    for name, (_, node) in _module(path)[0].items():
        if name.startswith("test") and isinstance(node, ast.FunctionDef):
            yield node


def internals(path: Path, test: ast.FunctionDef) -> list[str] | None:
    """What a test uses beside the public surface; None if it does not use the surface at all."""
    seen: set[tuple[Path, str]] = set()
    every = _module(path)[1]
    reached = set(_reached(path, test, seen))
    for name in every:
        reached |= set(_named(path, name, seen))
    if not reached:
        return None
    return sorted(reached - PUBLIC)


def marked(path: Path, test: ast.FunctionDef) -> bool:
    """Whether a test has the marker `contract`, or its file has it."""
    whole = _module(path)[0].get("pytestmark", ("", None))[1]
    marks = [*test.decorator_list, *([whole] if whole is not None else [])]
    return any("mark.contract" in ast.unparse(one) for one in marks)
