"""Files of studies, for `exactdp bandit study`: which algorithms, where, at which numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from ..bandit.algorithms import ALGORITHMS
from ..bandit.instances import Instances
from ..bandit.plan import Radius
from ..bandit.run import Config, read_counts
from ..bandit.setting import Setting
from ..bandit.study import Cell
from ..common.suggest import check_keys, meant
from ..exact.number import ExactInput, ParameterError, located, whole
from ..mechanisms.pairs.pair_file import read_text
from .bandit_options import is_drawn, read_algorithm, read_growth, read_instances

_NUMBERS = ("delta", "scaling", "confidence", "growth")  # of an algorithm, or of all of them
_ALGORITHM = ("algorithm", "label", "radius", *_NUMBERS)
_INSTANCE = ("instance", "arms", "sigma")
_KEYS = ("algorithms", "epsilon", "horizon", "arms", "instances", "runs", "seed", "radius")
_MOST = 10_000
_PACKAGED = Path(__file__).parent.parent / "bandit" / "studies"  # where they are kept
_QUICK_RUNS, _QUICK_HORIZON, _QUICK_SCALING = 5, 10**5, 10


def packaged() -> list[str]:
    """The names of the studies that come with the package."""
    return sorted(path.stem for path in _PACKAGED.glob("*.toml"))


def read_study(name: str | Path, quick: bool = False, seed: str | None = None) -> list[Cell]:
    """All cells of a TOML file, its first list varying slowest: instances, arms, horizons, epsilon,
    algorithms.

    name: of a study that comes with the package, else of a file. quick: a preview, of few short
    runs. seed: in place of the file's. Raises ParameterError, naming the file and the key, before
    anything is computed.
    """
    import tomllib

    path = _PACKAGED / f"{name}.toml" if str(name) in packaged() else Path(name)
    if path.suffix != ".toml" and not path.exists():
        raise ParameterError(
            f"FILE: there is no study {str(name)[:40]!r}{meant(str(name), packaged())}: "
            f"a file, or one of {', '.join(packaged())}"
        )
    text = read_text(path)
    try:
        table = tomllib.loads(text, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{path}: not TOML: {error}") from error
    with located(path):
        check_keys(table, (*_KEYS, *_NUMBERS))
        shared = {key: table[key] for key in ("radius", *_NUMBERS) if key in table}
        algorithms = [
            {**shared, **_table(each, "algorithms", "algorithm", _ALGORITHM)}
            for each in _listed(table, "algorithms")
        ]
        places = _places(table)
        horizons = [_number(each, "horizon") for each in _listed(table, "horizon")]
        if quick:
            table["runs"] = min(_QUICK_RUNS, whole(table.get("runs", "20"), "runs"))
            short = (min(_QUICK_HORIZON, whole(each, "horizon")) for each in horizons)
            horizons = list(dict.fromkeys(short))
            algorithms = [each for each in algorithms if not _is_slow(each)]
        epsilons = [_number(each, "epsilon") for each in _listed(table, "epsilon", ["1"])]
        if seed is not None:
            table["seed"] = seed
        runs, first = (_number(table.get(key, usual), key) for key, usual in _COUNTS.items())
        count, start, _ = read_counts(runs, first, 1)
        size = len(places) * len(horizons) * len(epsilons) * len(algorithms)
        if size > _MOST:
            raise ParameterError(f"must have at most {_MOST} cells, got {size}")
        cells: list[Cell] = []
        for place, horizon, epsilon, (number, one) in product(
            places, horizons, epsilons, enumerate(algorithms, start=1)
        ):
            with located(f"algorithm {number}"):
                cell = _cell(one, place, horizon, epsilon, "epsilon" in table, count, start)
            if cell is not None and (cell.config.algorithm.private or epsilon == epsilons[0]):
                cells.append(cell)
    return cells


def _is_slow(table: Mapping[str, Any]) -> bool:
    """Do the certificates of its releases take minutes?"""
    return whole(table.get("scaling", _QUICK_SCALING), "scaling") > _QUICK_SCALING


_COUNTS = {"runs": "20", "seed": "0"}


def _cell(
    table: Mapping[str, Any],
    place: Instances,
    horizon: ExactInput,
    epsilon: ExactInput,
    given: bool,
    runs: int,
    seed: int,
) -> Cell:
    """given: does the file say an epsilon?"""
    algorithm = read_algorithm(table["algorithm"], ALGORITHMS)
    if algorithm.private and not given:
        raise ParameterError(f"epsilon must be given for {algorithm.name}")
    radii = {each.value: each for each in Radius}
    asked = str(table.get("radius", "paper"))
    if (radius := radii.get(asked)) is None:
        raise ParameterError(f"radius must be paper or certified, got {asked[:40]!r}")
    numbers = {key: _number(table[key], key) for key in _NUMBERS if key in table}
    usual: dict[str, ExactInput] = {"growth": read_growth(None, place)}
    setting = Setting(place.arms, horizon, epsilon, **{**usual, **numbers})
    return Cell(Config(algorithm, setting, place, radius), runs, seed, _label(table))


def _label(table: Mapping[str, Any]) -> str:
    """As it says, or the algorithm and what is said of it."""
    said = (f"{key} {table[key]}" for key in ("radius", *_NUMBERS) if key in table)
    label = table.get("label", ", ".join([table["algorithm"], *said]))
    if not (isinstance(label, str) and 0 < len(label) <= 100 and label.isprintable()):
        raise ParameterError("label must be printable text of 1 to 100 characters")
    return label


def _places(table: Mapping[str, Any]) -> list[Instances]:
    """The instances; those that are drawn for each number of arms."""
    arms = [_number(each, "arms") for each in _listed(table, "arms", ["10"])]
    found: list[Instances] = []
    for number, each in enumerate(_listed(table, "instances", ["easy"]), start=1):
        one = _table(each, "instances", "instance", _INSTANCE)
        name = one["instance"]
        own = [_number(value, "arms") for value in _listed(one, "arms", [])]
        sigma = None if "sigma" not in one else _number(one["sigma"], "sigma")
        with located(f"instance {number}"):
            usual: list[ExactInput | None] = [*arms] if is_drawn(name) else [None]
            found += [read_instances(name, count, sigma) for count in own or usual]
    return found


def _listed(table: Mapping[str, Any], key: str, usual: Sequence[Any] | None = None) -> list[Any]:
    """What stands there, one or a list of them; what is usual where nothing does."""
    if key not in table and usual is None:
        raise ParameterError(f"{key} is missing")
    found = table.get(key, usual)
    listed = list(found) if isinstance(found, list | tuple) else [found]
    if key in table and not 0 < len(listed) <= _MOST:
        raise ParameterError(f"{key} must be 1 to {_MOST} values, got {len(listed)}")
    return listed


def _table(value: Any, what: str, key: str, known: Sequence[str]) -> dict[str, Any]:
    """A table with this key, or its text alone."""
    table = {key: value} if isinstance(value, str) else value
    if not isinstance(table, dict) or not isinstance(table.get(key), str):
        raise ParameterError(f"{what} must be names, or tables with {key} = a name")
    check_keys(table, known)
    for name in ("label", "radius"):
        if not isinstance(table.get(name, ""), str):
            raise ParameterError(f"{name} must be text")
    return table


def _number(value: Any, name: str) -> ExactInput:
    """A number, or its text: what it may be is told where it is used."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ParameterError(f"{name} must be a number, got a {type(value).__name__}")
    return value
