"""What runs gave: regret over time, pulls, and whether the best arm was kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict, frozen
from numpy.typing import NDArray

from ..common.content_cache import ContentCache
from ..exact.number import located
from .plan import Plan
from .policy import Whole

VERSION = 6  # of the numbers that a configuration gives: to be raised when these change


@frozen
class Mean:
    """A mean over runs and its standard error; NaN where there is one run only."""

    mean: float
    standard_error: float

    @staticmethod
    def of(values: NDArray[np.float64]) -> Mean:
        """The mean of these."""
        count = len(values)
        if count == 1:
            return Mean(float(values[0]), math.nan)
        same = np.ptp(values) == 0  # of which floats make a little more than no spread
        spread = 0.0 if same else float(np.std(values, ddof=1)) / math.sqrt(count)
        return Mean(float(np.mean(values)), spread)

    def to_json(self) -> dict[str, float | None]:
        """The standard error is null where there is none."""
        error = None if math.isnan(self.standard_error) else self.standard_error
        return {"mean": self.mean, "standard_error": error}


@frozen
class Share:
    """Some consecutive runs, as they are kept on disk; one entry a run in each list.

    regret: after each of the checkpoints' rounds. eliminated: has every best arm left?
    lines: the transcript's, if one is kept. answers: the arms that are found to be the best, -1
    where none is; empty where nothing is asked.
    """

    first: int
    regret: list[list[float]]
    pulls: list[list[int]]
    eliminated: list[bool]
    batches: list[int]
    lines: list[dict[str, Any]]
    answers: list[int]

    @staticmethod
    def from_json(data: Any) -> Share:
        """What `to_json` has written, floats exactly. Raises TypeError for anything else."""
        share = Share(**data)
        ok = (
            _is_list(share.regret, lambda row: _is_list(row, _is_number))
            and _is_list(share.pulls, lambda row: _is_list(row, _is_count))
            and _is_list(share.eliminated, lambda each: isinstance(each, bool))
            and _is_list(share.batches, _is_count)
            and _is_list(share.lines, lambda each: isinstance(each, dict))
            and _is_list(share.answers, lambda each: type(each) is int)
        )
        if not ok:
            raise TypeError("not a share of runs")
        return share

    def fits(self, rounds: int, arms: int) -> bool:
        """Has every run so many checkpoints and arms?"""
        return all(len(row) == rounds for row in self.regret) and all(
            len(row) == arms for row in self.pulls
        )

    def to_json(self) -> dict[str, Any]:
        """`from_json` reads it back."""
        return asdict(self, recurse=False)


@frozen
class Results:
    """All runs of a configuration.

    rounds      the checkpoints, the last one is the horizon
    regret      pseudo-regret after these many rounds, runs x checkpoints
    pulls       runs x arms
    eliminated  by run: has every best arm left?
    batches     by run: how many were released, of identification of all arms
    answers     by run: as of `Share`
    """

    plan: Plan
    rounds: NDArray[np.int64]
    regret: NDArray[np.float64]
    pulls: NDArray[np.int64]
    eliminated: NDArray[np.bool_]
    batches: NDArray[np.int64]
    lines: Sequence[dict[str, Any]] = ()
    answers: Sequence[int] = ()

    @staticmethod
    def joined(plan: Plan, rounds: NDArray[np.int64], shares: Sequence[Share]) -> Results:
        """All the shares together, in order."""
        ordered = sorted(shares, key=lambda share: share.first)
        return Results(
            plan,
            rounds,
            np.array([row for share in ordered for row in share.regret]),
            np.array([row for share in ordered for row in share.pulls], dtype=np.int64),
            np.array([gone for share in ordered for gone in share.eliminated], dtype=bool),
            np.array([count for share in ordered for count in share.batches], dtype=np.int64),
            [line for share in ordered for line in share.lines],
            [arm for share in ordered for arm in share.answers],
        )

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.regret)

    def total_regret(self) -> Mean:
        """Pseudo-regret after the horizon."""
        return Mean.of(self.regret[:, -1])

    def time_average(self) -> list[tuple[int, Mean]]:
        """Regret by rounds, at each checkpoint."""
        return [
            (int(rounds), Mean.of(self.regret[:, index] / rounds))
            for index, rounds in enumerate(self.rounds)
        ]


def _is_list(value: object, holds: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(holds, value))


def _is_number(value: object) -> bool:
    return type(value) is float and math.isfinite(value)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def checkpoints(horizon: int, count: int = 40) -> NDArray[np.int64]:
    """Rounds 1, ..., horizon at about equal ratios: `count` of them, fewer where these coincide."""
    rounds = np.rint(np.geomspace(1, horizon, count)).astype(np.int64)
    rounds[-1] = horizon
    return np.unique(rounds)


class RegretCurve:
    """Which arms runs pulled for how long, in order; at most one entry an arm and batch.

    Pseudo-regret after t rounds is the sum of the gaps of the arms pulled so far: piecewise linear
    in t, with a corner where one arm's users end and the next one's begin.
    """

    def __init__(self, gaps: NDArray[np.float64], runs: int) -> None:
        self._gaps = np.broadcast_to(gaps, (runs, gaps.shape[-1]))
        self._rounds = [np.zeros((runs, 1), dtype=np.int64)]
        self._regret = [np.zeros((runs, 1))]

    def add(self, rows: Whole, arms: Whole, users: Whole) -> None:
        """In these runs so many further pulls of each of these arms (runs x arms), in order."""
        pulled = np.zeros((len(self._gaps), users.shape[1]), dtype=np.int64)
        gained = np.zeros(pulled.shape)
        pulled[rows], gained[rows] = users, users * self._gaps[rows[:, None], arms]
        self._rounds.append(self._rounds[-1][:, -1:] + np.cumsum(pulled, axis=1))
        self._regret.append(self._regret[-1][:, -1:] + np.cumsum(gained, axis=1))

    def at(self, rounds: NDArray[np.int64]) -> NDArray[np.float64]:
        """The regret of each run after each of these many rounds (runs x rounds)."""
        corners, regret = np.hstack(self._rounds), np.hstack(self._regret)
        pairs = zip(corners, regret, strict=True)
        return np.array([np.interp(rounds, xs, ys) for xs, ys in pairs])


class RunCache:
    """A folder of shares, each under its configuration and its runs; None keeps nothing."""

    def __init__(self, folder: Path | None, identity: dict[str, Any]) -> None:
        self._identity = {"version": VERSION, **identity}
        self._cache = None if folder is None else ContentCache(folder)
        if folder is not None:
            with located(f"resume: {folder}"):
                folder.mkdir(parents=True, exist_ok=True)

    def find(self, first: int, count: int) -> Share | None:
        """The share of these runs; None where it is not there, or does not read."""

        def read(kept: Any) -> Share | None:
            share = Share.from_json(kept)
            lists = (share.regret, share.pulls, share.eliminated, share.batches)
            whole = share.first == first and all(len(each) == count for each in lists)
            return share if whole else None

        return None if self._cache is None else self._cache.find(self._asked(first, count), read)

    def keep(self, share: Share) -> None:
        """Put a share into the cache. Raises ParameterError where it cannot be written."""
        if self._cache is not None:
            asked = self._asked(share.first, len(share.regret))
            with located(f"resume: {self._cache.path(asked)}"):
                self._cache.keep(asked, share.to_json())

    def _asked(self, first: int, count: int) -> dict[str, Any]:
        return {**self._identity, "runs": [first, count]}
