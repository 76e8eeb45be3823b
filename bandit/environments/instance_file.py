"""An instance of tables as a JSON file: for sharing, and for what takes long to build.

    {"format": "exactdp bandit instance", "version": 1, "name": "ratings",
     "arms": [{"0": 3, "1/4": 10, "1": 2}, {"0": 1, "0.75": 6}]}

Each arm is the empirical law of its rewards: how often each exact reward in [0, 1] was seen.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from ...common.atomic_write import write_atomically
from ...common.content_cache import ContentCache
from ...exact.number import ParameterError, decimal_text, exact, located, whole
from ...mechanisms.pairs.pair_file import read_text
from .environment import Environment
from .table import empirical

Counts = list[dict[Fraction, int]]  # for each arm, how often each reward was seen

_FORMAT, _VERSION = "exactdp bandit instance", 1


def environment(name: str, arms: Counts) -> Environment:
    """The instance whose arms pay a reward picked at random among those seen."""
    return Environment(name, tuple(empirical(counts) for counts in arms))


def read_json(path: str | Path) -> Environment:
    """Read an instance. Raises ParameterError, with the file and the arm, for anything else."""
    name, arms = _read(Path(path))
    return environment(name, arms)


def write_json(path: str | Path, name: str, arms: Counts) -> None:
    """Write an instance, whole or not at all: to a temporary name first, then renamed."""
    content = {"format": _FORMAT, "version": _VERSION, "name": name, "arms": _told(arms)}
    write_atomically(Path(path), json.dumps(content))


def cached(
    cache: Path | None, asked: Mapping[str, Any], name: str, build: Callable[[], Counts]
) -> Environment:
    """The instance kept in this folder under `asked`, which must name all that it depends on.

    Without a folder, without such a file, or where it does not read, the instance is built; and
    kept, where the folder can be written.
    """
    if cache is None:
        return environment(name, build())
    kept = ContentCache(cache)
    arms = kept.find(asked, lambda found: [_counts(arm, "arm") for arm in found])
    if arms is None:
        arms = build()
        with contextlib.suppress(OSError):
            kept.keep(asked, _told(arms))
    return environment(name, arms)


def _read(path: Path) -> tuple[str, Counts]:
    text = read_text(path)
    try:
        found = json.loads(
            text, object_pairs_hook=_distinct, parse_float=str, parse_int=str, parse_constant=str
        )
    except json.JSONDecodeError as error:
        raise ParameterError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from error
    except (RecursionError, ParameterError) as error:
        raise ParameterError(f"{path}: {error}") from error
    if (
        not isinstance(found, dict)
        or found.get("format") != _FORMAT
        or found.get("version") != str(_VERSION)
    ):
        raise ParameterError(
            f'{path}: not an instance: it needs "format": "{_FORMAT}", "version": {_VERSION}'
        )
    name, arms = found.get("name", path.stem), found.get("arms")
    if not isinstance(name, str) or not isinstance(arms, list) or len(arms) < 2:
        raise ParameterError(f'{path}: "name" must be text and "arms" a list of at least 2')
    return name, [_counts(arm, f"{path}, arm {index}") for index, arm in enumerate(arms)]


def _counts(arm: object, where: str) -> dict[Fraction, int]:
    if not isinstance(arm, dict):
        raise ParameterError(f"{where}: must be an object of rewards and how often each was seen")
    found: dict[Fraction, int] = {}
    with located(where):
        for text, count in arm.items():
            reward = exact(text, "reward", at_least=0, at_most=1)
            if reward in found:
                raise ParameterError(f"reward {text} stands there twice")
            found[reward] = whole(count, "count", at_least=0)
    if not any(found.values()):
        raise ParameterError(f"{where}: no rewards")
    return found


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ParameterError("a key stands twice in one object")
    return found


def _told(arms: Counts) -> list[dict[str, int]]:
    """As a file says it; `_counts` reads each arm."""
    return [
        {decimal_text(reward): count for reward, count in sorted(counts.items())} for counts in arms
    ]
