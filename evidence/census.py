"""The Census Bureau's published configurations of the 2020 disclosure avoidance system, as uses.

A configuration (.ini under configs/production) names a strategy, a global scale and each geographic
level's share of the budget; the strategy, a class in *strategies.py, each query's share of its
level. 1/sigma2 of a query is the product of both shares, divided by the scale's square. Nothing of
these files is run: configurations are read as text, strategies as syntax. Neighbours differ in one
record, which takes 1 from a cell of each query and adds 1 to another (`docs/census.md`).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from configparser import ConfigParser, Error
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from ..exact.number import ParameterError, decimal_text, exact
from ..mechanisms.pairs.pair_file import read_text
from .stated import Deployment

_MOST_FILES = 500
_DEEPEST = 10  # files that include each other
_SHARES, _DEFAULT = "QUERIESPROP", "default"
_ASSUMED = (
    "neighbours differ in one record, which moves two cells of each query by 1",
    "the noise that was drawn is that of this configuration",
)

Shares: TypeAlias = Mapping[str, tuple[Fraction, ...]]  # of the queries of each level, or of all


class _UnknownError(Exception):
    """Something that is not published, or is written in another way; the message says what."""


def read_census(folder: Path) -> list[Deployment]:
    """Every configuration for production below a folder, as far as it is published.

    Raises ParameterError where there is none.
    """
    files = sorted(folder.glob("**/configs/production/**/*.ini"))
    if not files or len(files) > _MOST_FILES:
        raise ParameterError(
            f"--census: {folder} must have from 1 to {_MOST_FILES} configurations, "
            f"**/configs/production/**/*.ini, got {len(files)}"
        )
    strategies = _Strategies(folder)
    rows = [_deployment(file, folder, strategies) for file in files]
    return [row for row in rows if row is not None]


def _deployment(file: Path, folder: Path, strategies: _Strategies) -> Deployment | None:
    """What a file configures; None for one that others include."""
    settings = _settings(file)
    budget = settings["budget"] if settings.has_section("budget") else {}
    if "geolevel_budget_prop" not in budget:
        return None
    name = str(file.relative_to(folder))
    scale = budget.get("global_scale", "")
    told = f"strategy {budget.get('strategy', '')}, global scale {scale or 'not published'}"
    try:
        spread = _number(scale, "global_scale")
        spec = _uses(settings, spread, strategies)
    except _UnknownError as why:
        return Deployment(name, name, told, (), "", (f"{why}: unknown",))
    claim = f"zcdp:{decimal_text(1 / spread**2)}"
    return Deployment(name, name, told, spec, claim, _ASSUMED)


def _uses(settings: ConfigParser, scale: Fraction, strategies: _Strategies) -> tuple[str, ...]:
    budget = settings["budget"]
    if budget.get("dp_mechanism", "").strip() != "discrete_gaussian_mechanism":
        raise _UnknownError(f"dp_mechanism is {budget.get('dp_mechanism', 'not published')}")
    if budget.get("epsilon_budget_total", "").strip():
        raise _UnknownError("epsilon_budget_total is of an earlier version, without a global scale")
    names = settings.get("geodict", "geolevel_names", fallback="").replace(" ", "")
    levels = [each for each in names.split(",") if each][::-1]  # they are listed from the smallest
    parts = [each for each in budget["geolevel_budget_prop"].split(",") if each.strip()]
    if not levels or len(levels) != len(parts):
        raise _UnknownError("geolevel_names and geolevel_budget_prop do not go together")
    shares = [_number(part, "geolevel_budget_prop") for part in parts]
    queries = strategies.shares(budget.get("strategy", "").strip())
    found: Counter[Fraction] = Counter()
    for level, share in zip(levels, shares, strict=True):
        each = queries.get(level) or queries.get(_DEFAULT)
        if each is None or sum(each) != 1:
            raise _UnknownError(f"the queries' shares of {level} do not add up to 1")
        found.update(scale**2 / (share * query) for query in each if share * query)
    if sum(shares) != 1:
        raise _UnknownError("geolevel_budget_prop does not add up to 1")
    return tuple(
        f"discrete-gaussian:sigma2={sigma2},l1=2,linf=1" + (f"*{times}" if times > 1 else "")
        for sigma2, times in found.items()
    )


def _settings(file: Path) -> ConfigParser:
    """A configuration, over those that it includes."""
    chain = [file]
    while len(chain) <= _DEEPEST:
        above = _parsed(chain[-1]).defaults().get("include")
        if above is None or not (following := chain[-1].parent / above).is_file():
            break
        chain.append(following)
    found = ConfigParser(interpolation=None, strict=False)
    for each in reversed(chain):
        found.read_dict(_parsed(each))
    return found


def _parsed(file: Path) -> ConfigParser:
    parser = ConfigParser(interpolation=None, strict=False, default_section="DEFAULT")
    try:
        parser.read_string(read_text(file))
    except Error as error:
        raise ParameterError(f"{file}: not a configuration: {error.message}") from error
    return parser


def _number(text: str, name: str) -> Fraction:
    try:
        return exact(text.strip(), name, above=0)
    except ParameterError:
        raise _UnknownError(f"{name} is not published") from None


class _Strategies:
    """The strategies of *strategies.py files: which class each name stands for, and its shares."""

    def __init__(self, folder: Path) -> None:
        self._classes: dict[str, ast.ClassDef] = {}
        self._named: dict[str, str] = {}
        for file in sorted(folder.glob("**/*strategies.py"))[:_MOST_FILES]:
            try:
                tree = ast.parse(read_text(file))
            except (SyntaxError, ValueError, RecursionError) as error:
                raise ParameterError(f"{file}: not Python: {error}") from error
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self._classes[node.name] = node
                elif isinstance(node, ast.Dict):
                    self._named |= _names(node)

    def shares(self, name: str) -> Shares:
        """Each level's queries' shares."""
        made = self._classes.get(self._named.get(name, name))
        if made is None:
            raise _UnknownError(f"strategy {name[:80]} is not there")
        return dict(_shares(made, _DEFAULT))


def _names(node: ast.Dict) -> dict[str, str]:
    """'name': Class, or 'name': module.Class."""
    return {
        key.value: value.id if isinstance(value, ast.Name) else value.attr
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant)
        and isinstance(key.value, str)
        and isinstance(value, ast.Name | ast.Attribute)
    }


def _shares(node: ast.AST, level: str) -> Iterator[tuple[str, tuple[Fraction, ...]]]:
    """Tuples of numbers that are given to [...QUERIESPROP][level], or stand beside it in a dict."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and (named := _level(child.test)) is not None:
            for each in child.body:
                yield from _shares(ast.Module([each], []), named)
            for each in child.orelse:
                yield from _shares(ast.Module([each], []), level)
            continue
        if isinstance(child, ast.Assign) and isinstance(target := child.targets[0], ast.Subscript):
            found = _fractions(child.value)
            if found is not None and _is_shares(target.value):
                place = target.slice
                yield (str(place.value) if isinstance(place, ast.Constant) else level), found
        elif isinstance(child, ast.Dict):
            for key, value in zip(child.keys, child.values, strict=True):
                found = _fractions(value)
                if key is not None and found is not None and _is_shares(key):
                    yield level, found
        yield from _shares(child, level)


def _level(test: ast.expr) -> str | None:
    """level == "US": which."""
    if isinstance(test, ast.Compare) and len(test.comparators) == 1:
        right = test.comparators[0]
        if isinstance(test.ops[0], ast.Eq) and isinstance(right, ast.Constant):
            return str(right.value)
    return None


def _is_shares(node: ast.AST) -> bool:
    """Does it name the queries' shares, not those of units?"""
    return any(isinstance(each, ast.Attribute) and each.attr == _SHARES for each in ast.walk(node))


def _fractions(node: ast.expr) -> tuple[Fraction, ...] | None:
    """(Fr(1, 2), 1, ...): exact numbers; None for anything else."""
    if not isinstance(node, ast.Tuple | ast.List) or not node.elts:
        return None
    found = []
    for each in node.elts:
        parts = each.args if isinstance(each, ast.Call) else [each]
        numbers = [n for part in parts if (n := _integer(part)) is not None]
        if len(numbers) != len(parts) or not 1 <= len(numbers) <= 2:
            return None
        above, below = (*numbers, 1)[:2]
        if not below:
            return None
        found.append(Fraction(above, below))
    return tuple(found)


def _integer(node: ast.expr) -> int | None:
    """What is written with digits alone."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
