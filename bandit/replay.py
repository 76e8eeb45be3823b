"""Runs of a transcript, played again from what was released: every decision must follow."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..mechanisms.protocols.protocol import SumProtocol
from .played import Released
from .prepare import Phase, Prepared
from .radius.index import agrees
from .release import ModularRelease
from .transcript import batch_lines, protocol_line

_OF_A_RELEASE = {"run", "batch", "arm", "released", "estimate"}


class NotValidError(ValueError):
    """Why a transcript is not valid."""


class ReplayedRun(Protocol):
    """One run, line by line. Its methods raise NotValidError for what does not follow."""

    @property
    def number(self) -> int:
        """Which run it is."""

    def take(self, line: dict[str, Any]) -> None:
        """The next release."""

    def end(self, pulls: list[int]) -> None:
        """The pulls of the whole run."""


def replayed(prepared: Prepared, number: int) -> ReplayedRun:
    """The beginning of this run."""
    return Elimination(prepared, number) if prepared.index is None else Indexed(prepared, number)


@dataclass
class Elimination:
    """Arms leave by their estimates."""

    prepared: Prepared
    number: int

    def __post_init__(self) -> None:
        arms = self.prepared.setting.arms
        self.active, self.pulls = list(range(arms)), [0] * arms
        self.totals = np.zeros(arms, dtype=object)
        self.batch, self.waiting = 1, list[dict[str, Any]]()

    def take(self, line: dict[str, Any]) -> None:
        """One arm's release; the last one of a batch completes it."""
        where = f"run {self.number}, batch {line['batch']}, arm {line['arm']}"
        phase = self._phase()
        due = (self.batch, self.active[len(self.waiting)])
        if phase is None or not same([line["batch"], line["arm"]], [*due]):
            raise NotValidError(f"{where}: this release is not due")
        check_fields(line.keys(), {*_OF_A_RELEASE, "stays", *protocol_line(phase)}, where)
        self.waiting.append(line)
        if len(self.waiting) == len(self.active):
            self._decide(phase)

    def end(self, pulls: list[int]) -> None:
        """The pulls of the whole run: what the horizon leaves goes to the arms in order."""
        if self.waiting or self._phase() is not None:
            raise NotValidError(f"run {self.number}: ends although batch {self.batch} is due")
        setting, algorithm = self.prepared.setting, self.prepared.algorithm
        room, one = setting.horizon - sum(self.pulls), len(self.active) == 1
        users = room if one else algorithm.schedule(setting, self.batch, len(self.active))
        for arm in self.active:
            self.pulls[arm] += min(users, room)
            room -= min(users, room)
        if not same(pulls, self.pulls):
            raise NotValidError(f"run {self.number}: pulls are {pulls}, they must be {self.pulls}")

    def _phase(self) -> Phase | None:
        """The batch that is due; None where one arm is left, or the horizon cuts it short."""
        phase = self.prepared.phase(self.batch, len(self.active))
        room = self.prepared.setting.horizon - sum(self.pulls)
        if phase is None or len(self.active) * phase.users > room:
            return None
        return phase

    def _decide(self, phase: Phase) -> None:
        where = f"run {self.number}, batch {self.batch}"
        # whatever was released, no sum of it overflows
        totals = np.array(decoded(phase, self.waiting, where), dtype=object)
        if not self.prepared.algorithm.forgets:
            totals = totals + self.totals[self.active]
        self.totals[self.active] = totals
        stays = (totals.max() - totals <= phase.threshold).astype(bool)
        arms = np.array(self.active)
        values = np.array([line["released"] for line in self.waiting])
        seen = Released(0, phase, arms, values, totals, stays)
        for line, due in zip(self.waiting, batch_lines(self.number, seen), strict=True):
            agree(line, due, where)
        for arm in self.active:
            self.pulls[arm] += phase.users
        self.active, self.waiting = arms[stays].tolist(), []
        self.batch += 1


@dataclass
class Indexed:
    """The arm with the largest bound has the next batch.

    A bound may differ by the floats of another machine (`radius.index.agrees`); what is chosen
    follows from the bounds as they are written.
    """

    prepared: Prepared
    number: int

    def __post_init__(self) -> None:
        arms = self.prepared.setting.arms
        self.batches, self.pulls, self.totals = [0] * arms, [0] * arms, [0] * arms
        self.bounds = [np.inf] * arms

    def take(self, line: dict[str, Any]) -> None:
        """The next release."""
        where = f"run {self.number}, batch {line['batch']}, arm {line['arm']}"
        arm, phase = self._due()
        if phase is None or not same([line["batch"], line["arm"]], [phase.number, arm]):
            raise NotValidError(f"{where}: this release is not due")
        check_fields(line.keys(), {*_OF_A_RELEASE, "index", *protocol_line(phase)}, where)
        total = self.totals[arm] + decoded(phase, [line], where)[0]
        bound = self._bound(phase, total, line["index"], where)
        values = np.array([line["released"]])
        seen = Released(0, phase, np.array([arm]), values, np.array([total]), None, bound)
        agree(
            line, next(batch_lines(self.number, seen)), f"run {self.number}, batch {phase.number}"
        )
        self.totals[arm], self.bounds[arm] = total, line["index"]
        self.batches[arm] += 1
        self.pulls[arm] += phase.users

    def end(self, pulls: list[int]) -> None:
        """The pulls of the whole run: what the horizon leaves goes to the arm that is due."""
        arm, phase = self._due()
        if phase is not None:
            raise NotValidError(
                f"run {self.number}: ends although batch {phase.number} of arm {arm} is due"
            )
        self.pulls[arm] += self.prepared.setting.horizon - sum(self.pulls)
        if not same(pulls, self.pulls):
            raise NotValidError(f"run {self.number}: pulls are {pulls}, they must be {self.pulls}")

    def _due(self) -> tuple[int, Phase | None]:
        """The arm that is due, and its batch; None where the horizon cuts it short."""
        arm = int(np.argmax(self.bounds))
        phase = self.prepared.phase(self.batches[arm] + 1, 1)
        room = self.prepared.setting.horizon - sum(self.pulls)
        return arm, None if phase is None or phase.users > room else phase

    def _bound(self, phase: Phase, total: Any, found: Any, where: str) -> np.ndarray[Any, Any]:
        """The bound as it is written, which must agree with the one that follows."""
        assert self.prepared.index is not None
        due = float(self.prepared.index.of(np.array([phase.number]), np.array([float(total)]))[0])
        if type(found) is not float or not agrees(found, due):
            raise NotValidError(f"{where}: index is {found}, it must be {due}")
        return np.array([found])


def decoded(phase: Phase, lines: list[dict[str, Any]], where: str) -> list[Any]:
    """What these lines released, in units of the grid: numbers of Python, which do not overflow."""
    if not all(type(line["released"]) in (int, float) for line in lines):
        raise NotValidError(f"{where}: released values must be numbers")
    values = np.array([line["released"] for line in lines])
    if isinstance(phase.release, ModularRelease):
        in_range(values, phase.release.protocol, where)
    found: list[Any] = phase.release.decoded(values).tolist()
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
