"""What runs gave: regret over time, pulls, and whether the best arm was kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .prepare import Prepared

__all__ = ["Mean", "Results", "Share"]


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Share:
    """Some consecutive runs, as they are kept on disk; one entry a run in each list.

    regret: after each of the checkpoints' rounds. eliminated: has every best arm left?
    lines: the transcript's, if one is kept.
    """

    first: int
    regret: list[list[float]]
    pulls: list[list[int]]
    eliminated: list[bool]
    batches: list[int]
    lines: list[dict[str, Any]]

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
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Results:
    """All runs of a configuration.

    rounds      the checkpoints, the last one is the horizon
    regret      pseudo-regret after these many rounds, runs x checkpoints
    pulls       runs x arms
    eliminated  by run: has every best arm left?
    batches     by run: how many were released
    """

    prepared: Prepared
    rounds: NDArray[np.int64]
    regret: NDArray[np.float64]
    pulls: NDArray[np.int64]
    eliminated: NDArray[np.bool_]
    batches: NDArray[np.int64]
    lines: Sequence[dict[str, Any]] = ()

    @staticmethod
    def joined(prepared: Prepared, rounds: NDArray[np.int64], shares: Sequence[Share]) -> Results:
        """All the shares together, in order."""
        ordered = sorted(shares, key=lambda share: share.first)
        return Results(
            prepared,
            rounds,
            np.array([row for share in ordered for row in share.regret]),
            np.array([row for share in ordered for row in share.pulls], dtype=np.int64),
            np.array([gone for share in ordered for gone in share.eliminated], dtype=bool),
            np.array([count for share in ordered for count in share.batches], dtype=np.int64),
            [line for share in ordered for line in share.lines],
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
