"""An instance of tables as a JSON file: for sharing, and for what takes long to build.

    {"format": "exactdp bandit instance", "version": 1, "name": "ratings",
     "arms": [{"0": 3, "1/4": 10, "1": 2}, {"0": 1, "0.75": 6}]}

Each arm is the empirical law of its rewards: how often each exact reward in [0, 1] was seen.

Rewards that a user has recorded, from a CSV file.

    arm,reward
    red,0.25
    blue,1

The header names the two columns, in any order; every other line is one reward, an exact decimal or
ratio in 0..1, or in the range that the header states: `reward 1..5` is scaled to [0, 1]. Arms are
numbered as they appear, and keep their names. Blank lines are skipped.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from ...common.atomic_write import write_atomically
from ...common.content_cache import ContentCache
from ...common.regular_file import open_regular
from ...exact.number import ParameterError, decimal_text, exact, located, whole
from ...mechanisms.pairs.pair_file import read_text
from .environment import Environment
from .rewards import empirical

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


_REWARD = re.compile(r"reward(?:\s+(\S+?)\s*\.\.\s*(\S+))?")
_MOST_ARMS = 10_000
_LONGEST_LINE = 200_000  # characters, more than the reader takes in a cell
_MOST_VALUES = 100_000  # distinct rewards


def read_rewards(path: str | Path) -> Environment:
    """The instance whose arms pay one of the rewards recorded for them, at random.

    Raises ParameterError, with the file and the line, for anything but such a table: a missing
    column, an empty arm, a reward that is not an exact number in its range, fewer than 2 arms,
    more than 10,000 arms or 100,000 different rewards.
    """
    arms: dict[str, dict[Fraction, int]] = {}
    known: dict[str, Fraction] = {}  # rewards repeat themselves
    column: RewardColumn | None = None
    for line, cells in csv_lines(Path(path)):
        where = f"{path}, line {line}"
        if column is None:
            column = reward_column(cells, where, "arm", 2)
            continue
        if len(cells) != 2:
            raise ParameterError(f"{where}: 2 cells are needed, got {len(cells)}")
        arm, text = cells[1 - column.place], cells[column.place]
        if not arm:
            raise ParameterError(f"{where}: the arm has no name")
        if text not in known:
            known[text] = column.scaled(text, where)
            if len(known) > _MOST_VALUES:
                raise ParameterError(f"{where}: more than {_MOST_VALUES} different rewards")
        counts = arms.setdefault(arm, {})
        counts[known[text]] = counts.get(known[text], 0) + 1
        if len(arms) > _MOST_ARMS:
            raise ParameterError(f"{where}: more than {_MOST_ARMS} arms")
    if column is None:
        raise ParameterError(f"{path}: the file is empty; its header must be arm,reward")
    if len(arms) < 2:
        raise ParameterError(f"{path}: at least 2 arms are needed, got {len(arms)}")
    return evolve(environment(Path(path).stem, list(arms.values())), labels=tuple(arms))


@frozen
class RewardColumn:
    """Which column has rewards, and from where to where these may go."""

    place: int
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(1)

    def scaled(self, text: str, where: str) -> Fraction:
        """This reward, in [0, 1]. Raises ParameterError where it is none."""
        with located(where):
            reward = exact(text, "reward")
        if not self.low <= reward <= self.high:
            raise ParameterError(
                f"{where}: reward must be between {decimal_text(self.low)} and "
                f"{decimal_text(self.high)}, got {text!r}"
            )
        return (reward - self.low) / (self.high - self.low)


def reward_column(cells: list[str], where: str, other: str, most: int) -> RewardColumn:
    """The header's: one of rewards, one called `other`, and at most so many. See above for ranges.

    Raises ParameterError for any other header.
    """
    found = [
        (place, match) for place, cell in enumerate(cells) if (match := _REWARD.fullmatch(cell))
    ]
    if not 2 <= len(cells) <= most or cells.count(other) != 1 or len(found) != 1:
        raise ParameterError(
            f"{where}: the header must name the columns {other} and reward (or, say, reward 1..5), "
            f"got {','.join(cells)[:60]!r}"
        )
    ((place, match),) = found
    if match[1] is None:
        return RewardColumn(place)
    with located(where):
        low, high = (exact(text, "the range of rewards") for text in match.groups())
    if low >= high:
        raise ParameterError(f"{where}: the range of rewards is empty: {match[0]!r}")
    return RewardColumn(place, low, high)


def csv_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Lines with their numbers, cells stripped, blank ones left out. Raises ParameterError."""
    try:
        with located(path), open_regular(path) as raw:
            file = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
            reader = csv.reader(iter(lambda: file.readline(_LONGEST_LINE), ""), strict=True)
            for cells in reader:
                stripped = [cell.strip() for cell in cells]
                if any(stripped):
                    yield reader.line_num, stripped
    except csv.Error as error:
        raise ParameterError(f"{path}, line {reader.line_num}: {error}") from error
    except UnicodeDecodeError as error:
        raise ParameterError(f"{path}: not text in UTF-8") from error
