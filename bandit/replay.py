"""Runs of a transcript, played again from what was released: every decision must follow."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from ..mechanisms.additive.protocol import SumProtocol
from .algorithms.algorithm import OwnPolicy
from .batch import Batch
from .plan import Plan
from .policies import LargestBound
from .radius.index import agrees
from .simulation import Due, Rounds, as_released, policy_of
from .transcript import batch_lines, protocol_line

_OF_A_RELEASE = {"run", "batch", "arm", "released", "estimate"}


class NotValidError(ValueError):
    """Why a transcript is not valid."""


class Replay:
    """One run, line by line, decided by the policy that played it.

    Methods raise NotValidError for what does not follow. A bound may differ by the floats of
    another machine (`radius.index.agrees`); what an index policy chooses follows from the bounds as
    they are written. seed: of a policy's own lots.
    """

    def __init__(self, plan: Plan, number: int, seed: int = 0) -> None:
        self.plan, self.number = plan, number
        self.policy = policy_of(plan, 1)
        # whatever was released, no sum of numbers of Python overflows
        self.runner = Rounds(plan, self.policy, 1, object, seed, number)
        self.waiting = list[dict[str, Any]]()
        self.due = self._next()

    def take(self, line: dict[str, Any]) -> None:
        """One arm's release; the last one of a batch completes it."""
        where = f"run {self.number}, batch {line['batch']}, arm {line['arm']}"
        batch, arms = self._batch(), self._arms()
        if batch is None or not same(
            [line["batch"], line["arm"]], [batch.number, arms[len(self.waiting)]]
        ):
            raise NotValidError(f"{where}: this release is not due")
        due = {*_OF_A_RELEASE, *protocol_line(batch)}
        if not isinstance(self.plan.algorithm.rule, OwnPolicy):
            due.add("stays" if self.plan.index is None else "index")
            check_fields(line.keys(), due, where)
        self.waiting.append(line)
        if len(self.waiting) == len(arms):
            self._decide(batch, arms)

    def end(self, pulls: list[int]) -> None:
        """The pulls of the whole run: what the horizon leaves goes to the arms in order."""
        if self.waiting or self._batch() is not None:
            batch = int(self.due.number[0])
            raise NotValidError(f"run {self.number}: ends although batch {batch} is due")
        due, found = self.runner.pulls[0].tolist(), self.plan.setting.horizon
        room = found - sum(due)
        for arm in self._arms():
            users = min(int(self.due.users[0]), room)
            due[arm] += users
            room -= users
        if not same(pulls, due):
            raise NotValidError(f"run {self.number}: pulls are {pulls}, they must be {due}")

    def _next(self) -> Due:
        return self.runner.due(np.zeros(1, dtype=np.int64))

    def _arms(self) -> list[int]:
        """Which are due."""
        arms = self.due.arms
        if arms.ndim == 1:
            return [each for each in arms.tolist() if each >= 0]
        return [int(arm) for arm in np.flatnonzero(arms[0])]

    def _batch(self) -> Batch | None:
        """The batch that is due; None where nothing is released any more."""
        due = self.due
        return self.plan.batch(int(due.number[0]), int(due.active[0])) if due.fits[0] else None

    def _decide(self, batch: Batch, arms: list[int]) -> None:
        where = f"run {self.number}, batch {batch.number}"
        run = np.zeros(1, dtype=np.int64)
        of_arms = decoded(batch, self.waiting, where)
        values = np.array([line["released"] for line in self.waiting])
        sums, shown = np.array(of_arms, dtype=object), values
        if self.due.arms.ndim == 2:
            sums, shown = np.zeros((2, 1, self.plan.setting.arms), dtype=object)
            sums[0, arms], shown[0, arms] = of_arms, values
        self.runner.pull(run, self.due.arms, batch.users * (self.due.arms if shown.ndim > 1 else 1))
        seen, decision = self.runner.observe(run, self.due.arms, batch, sums)
        follows = as_released(seen, decision, 0, 0, shown)
        if follows.index is not None:
            follows = evolve(follows, index=self._written(follows.index, where))
        for line, due in zip(self.waiting, batch_lines(self.number, follows), strict=True):
            check_fields(line.keys(), due.keys(), f"{where}, arm {line['arm']}")
            agree(line, due, where)
        self.waiting = []
        self.due = self._next()

    def _written(self, index: NDArray[np.float64], where: str) -> NDArray[np.float64]:
        """The bound as it is written, which must agree with the one that follows."""
        (line,), (due,) = self.waiting, index.tolist()
        found = line.get("index")
        if type(found) is not float or not agrees(found, due):
            raise NotValidError(f"{where}, arm {line['arm']}: index is {found}, it must be {due}")
        if isinstance(self.policy, LargestBound):
            self.policy.bounds[0, line["arm"]] = found
        return np.array([found])


def decoded(batch: Batch, lines: list[dict[str, Any]], where: str) -> list[Any]:
    """What these lines released, in units of the grid: numbers of Python, which do not overflow."""
    if not all(type(line["released"]) in (int, float) for line in lines):
        raise NotValidError(f"{where}: released values must be numbers")
    values = np.array([line["released"] for line in lines])
    if batch.release.protocol is not None:
        in_range(values, batch.release.protocol, where)
    found: list[Any] = batch.release.decoded(values).tolist()
    return found


def agree(line: dict[str, Any], due: dict[str, Any], where: str) -> None:
    """Raise NotValidError unless the line is the one that is due."""
    for name, value in due.items():
        if not same(line[name], value):
            raise NotValidError(
                f"{where}, arm {line['arm']}: {name} is {line[name]}, it must be {value}"
            )


def in_range(values: Any, protocol: SumProtocol, where: str) -> None:
    """Raise NotValidError unless the protocol could have released these."""
    if values.dtype.kind != "i":
        raise NotValidError(f"{where}: released values must be whole numbers")
    if protocol.modulus is not None and not ((values >= 0) & (values < protocol.modulus)).all():
        raise NotValidError(
            f"{where}: released values must be between 0 and {protocol.modulus - 1}"
        )


def check_fields(found: Set[str], due: Set[str], where: str) -> None:
    """Raise NotValidError, naming them, where fields are missing or too many."""
    if found != due:
        wrong = ", ".join(sorted(found ^ due))
        raise NotValidError(f"{where}: fields that are not known, or missing: {wrong}")


def same(found: object, due: object) -> bool:
    """Equal, and of one type: 1, 1.0 and true are three values."""
    if isinstance(found, list) and isinstance(due, list):
        return len(found) == len(due) and all(map(same, found, due))
    return type(found) is type(due) and found == due
