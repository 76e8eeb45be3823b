"""Verify a transcript: certificates, schedule, radii, and that every decision follows.

From the header alone the schedule is derived again: which batches there are, how each is released,
and by which radius arms leave. Then

- every certificate is proved again by the independent checker, and is of the very protocol that
  the schedule uses; what had only been audited is audited again;
- every line shows that protocol and that radius;
- estimates follow from the released values, decisions from the estimates, and who is active in a
  batch from the decisions before it; the horizon is kept, and the pulls add up;
- no line has a field too many or too few, all runs are there, and together they have the digest
  that the header names.

What it cannot see is whether the released values came from the users, nor whether header and runs
were written anew together: keep the header's digest elsewhere to notice that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..exact.deadline import OutOfTimeError
from ..exact.number import ParameterError, decimal_text, whole
from ..exact.regular_file import open_regular
from ..mechanisms.protocols.protocol import SumProtocol
from ..verify.certificate import Certificate, MismatchError
from .algorithms import named
from .algorithms.algorithm import Demand
from .evidence import Evidence, NotVerifiedError, admit, audited, identity, to_json
from .play import Released
from .prepare import Phase, Prepared, Radius, prepare
from .release import ModularRelease
from .setting import Setting
from .transcript import FORMAT, OPTIONAL, REQUIRED, VERSION, batch_lines, protocol_line

_LONGEST_LINE = 10_000_000  # bytes


if TYPE_CHECKING:
    from hashlib import _Hash as Hash

_OF_A_RELEASE = ("run", "batch", "arm", "released", "estimate", "stays")


class TranscriptError(ValueError):
    """A file that is no transcript of this version; the message says why."""


@dataclass(frozen=True)
class Checked:
    """Is a transcript valid, in one line why, and of what: algorithm, epsilon, number of runs."""

    valid: bool
    reason: str
    about: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        raise TypeError("the outcome of a check is not true or false: ask .valid")


class _NotValidError(ValueError):
    """Why a transcript is not valid."""


def check_transcript(path: Path) -> Checked:
    """Verify a transcript file. Raises TranscriptError for what is none."""
    below = hashlib.sha256()
    lines = _lines(path, below)
    head = next(lines, None)
    if head is None or head.get("format") != FORMAT or not _same(head.get("version"), VERSION):
        raise TranscriptError(f"{path}: not a transcript of version {VERSION}")
    about: dict[str, Any] = {}
    try:
        _fields(head.keys() - OPTIONAL, REQUIRED, "header")
        prepared = _prepared(head)
        runs = whole(head["runs"], "runs", at_least=1)
        about = _about(prepared, runs)
        ended: set[int] = set()
        current: _Run | None = None
        released = 0
        for line in lines:
            number = line.get("run")
            if type(number) is not int:
                raise _NotValidError(f"run {number}: must be a whole number")
            if current is None or current.number != number:
                if current is not None or number in ended:
                    raise _NotValidError(f"run {number}: out of order")
                current = _Run(prepared, number)
            if "pulls" in line:
                _fields(line.keys(), {"run", "pulls"}, f"run {number}, end")
                current.end(line["pulls"])
                ended.add(current.number)
                current = None
            else:
                current.take(line)
                released += 1
        if current is not None or len(ended) != runs or not all(0 <= run < runs for run in ended):
            raise _NotValidError(f"{len(ended)} complete runs of the {runs} that the header names")
        if below.hexdigest() != head["sha256"]:
            raise _NotValidError(f"sha256 of all runs is {below.hexdigest()}, not the header's")
    except (TranscriptError, OutOfTimeError):
        raise
    except (_NotValidError, NotVerifiedError, MismatchError, ParameterError) as error:
        return Checked(False, str(error), about)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        reason = f"a line does not read: {type(error).__name__}: {error}"
        return Checked(False, reason, about)
    reason = f"{released} releases in {runs} runs follow; {_counted(prepared)}"
    return Checked(True, reason, about)


def _about(prepared: Prepared, runs: int) -> dict[str, Any]:
    private = prepared.algorithm.demand is not None
    epsilon = decimal_text(prepared.setting.epsilon) if private else None
    return {"algorithm": prepared.algorithm.name, "epsilon": epsilon, "runs": runs}


def _counted(prepared: Prepared) -> str:
    held = [each for _, each in prepared.releases() if each is not None]
    proved = sum(isinstance(each, Certificate) for each in held)
    shown = f"{proved} certificates re-established"
    return shown if proved == len(held) else f"{shown}, {len(held) - proved} audits repeated"


@dataclass
class _Run:
    """One run, played again from what was released."""

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
        if phase is None or not _same([line["batch"], line["arm"]], [*due]):
            raise _NotValidError(f"{where}: this release is not due")
        _fields(line.keys(), {*_OF_A_RELEASE, *protocol_line(phase)}, where)
        self.waiting.append(line)
        if len(self.waiting) == len(self.active):
            self._decide(phase)

    def end(self, pulls: list[int]) -> None:
        """The pulls of the whole run: what the horizon leaves goes to the arms in order."""
        if self.waiting or self._phase() is not None:
            raise _NotValidError(f"run {self.number}: ends although batch {self.batch} is due")
        setting, algorithm = self.prepared.setting, self.prepared.algorithm
        room, one = setting.horizon - sum(self.pulls), len(self.active) == 1
        users = room if one else algorithm.schedule(setting, self.batch, len(self.active))
        for arm in self.active:
            self.pulls[arm] += min(users, room)
            room -= min(users, room)
        if not _same(pulls, self.pulls):
            raise _NotValidError(f"run {self.number}: pulls are {pulls}, they must be {self.pulls}")

    def _phase(self) -> Phase | None:
        """The batch that is due; None where one arm is left, or the horizon cuts it short."""
        phase = self.prepared.phase(self.batch, len(self.active))
        room = self.prepared.setting.horizon - sum(self.pulls)
        if phase is None or len(self.active) * phase.users > room:
            return None
        return phase

    def _decide(self, phase: Phase) -> None:
        where = f"run {self.number}, batch {self.batch}"
        if not all(type(line["released"]) in (int, float) for line in self.waiting):
            raise _NotValidError(f"{where}: released values must be numbers")
        values = np.array([line["released"] for line in self.waiting])
        if isinstance(phase.release, ModularRelease):
            _in_range(values, phase.release.protocol, where)
        # Python's integers: whatever was released, no sum of it overflows
        totals = np.array(phase.release.decoded(values).tolist(), dtype=object)
        if not self.prepared.algorithm.forgets:
            totals = totals + self.totals[self.active]
        self.totals[self.active] = totals
        stays = (totals.max() - totals <= phase.threshold).astype(bool)
        arms = np.array(self.active)
        seen = Released(0, phase, arms, values, totals, stays)
        for line, due in zip(self.waiting, batch_lines(self.number, seen), strict=True):
            for name, value in due.items():
                if not _same(line[name], value):
                    raise _NotValidError(
                        f"{where}, arm {line['arm']}: {name} is {line[name]}, it must be {value}"
                    )
        for arm in self.active:
            self.pulls[arm] += phase.users
        self.active, self.waiting = arms[stays].tolist(), []
        self.batch += 1


def _prepared(head: dict[str, Any]) -> Prepared:
    """The schedule again, its evidence taken from the header and proved again."""
    algorithm = named(head["algorithm"])
    if algorithm is None:
        raise _NotValidError(f"unknown algorithm {head['algorithm']!r}")
    shown = {entry["id"]: entry for entry in head["evidence"]}
    if len(shown) != len(head["evidence"]):
        raise _NotValidError("evidence is given twice")
    for name, entry in shown.items():
        kind = "certificate" if "certificate" in entry else "audit"
        _fields(entry.keys(), {"id", kind}, f"evidence {name}")
    used: set[str] = set()

    def prove(protocol: SumProtocol, demand: Demand) -> Evidence:
        held = _held(shown, protocol, demand)
        used.add(identity(held))
        return held

    setting = Setting(**head["setting"])
    if setting.to_json().keys() != head["setting"].keys():
        raise _NotValidError("setting must name every number, also those that are usual")
    prepared = prepare(algorithm, setting, Radius(head["radius"]), prove)
    if used != shown.keys():
        raise _NotValidError(f"evidence of nothing that is released: {sorted(shown.keys() - used)}")
    return prepared


def _held(shown: dict[str, Any], protocol: SumProtocol, demand: Demand) -> Evidence:
    """What the header shows of this protocol, once it is proved again."""
    users = str(protocol.users)
    for name, entry in shown.items():
        if "certificate" in entry and entry["certificate"]["protocol"]["users"] == users:
            certificate = Certificate(json.dumps(entry["certificate"]))
            if identity(certificate) != name:
                raise _NotValidError(f"certificate {name} is not what its name says")
            outcome = certificate.check()
            if not outcome.valid:
                raise _NotValidError(f"certificate {name} is not valid: {outcome.reason}")
            admit(protocol, demand, certificate)
            return certificate
        if "audit" in entry and entry["audit"]["protocol"]["users"] == users:
            again = audited(protocol, demand)
            if to_json(again) != entry:
                raise _NotValidError(f"audit {name} does not come out again")
            return again
    raise _NotValidError(f"no evidence of a batch of {users} users")


def _in_range(values: Any, protocol: SumProtocol, where: str) -> None:
    if values.dtype.kind != "i":
        raise _NotValidError(f"{where}: released values must be whole numbers")
    if protocol.modulus is not None and not ((values >= 0) & (values < protocol.modulus)).all():
        raise _NotValidError(
            f"{where}: released values must be between 0 and {protocol.modulus - 1}"
        )


def _fields(found: Set[str], due: Set[str], where: str) -> None:
    if found != due:
        wrong = ", ".join(sorted(found ^ due))
        raise _NotValidError(f"{where}: fields that are not known, or missing: {wrong}")


def _same(found: object, due: object) -> bool:
    """Equal, and of one type: 1, 1.0 and true are three values."""
    if isinstance(found, list) and isinstance(due, list):
        return len(found) == len(due) and all(map(_same, found, due))
    return type(found) is type(due) and found == due


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise TranscriptError("a field is given twice")
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def _lines(path: Path, below: Hash) -> Iterator[dict[str, Any]]:
    """One line after the other; all but the first go into this digest."""
    try:
        with open_regular(path) as file:
            for number, raw in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
                if number > 1:
                    below.update(raw)
                try:
                    line = json.loads(
                        raw.decode("utf-8"),
                        object_pairs_hook=_distinct,
                        parse_constant=_no_constant,
                    )
                except TranscriptError as error:
                    raise TranscriptError(f"{path}, line {number}: {error}") from error
                except (ValueError, RecursionError) as error:
                    raise TranscriptError(f"{path}, line {number}: not JSON") from error
                if not isinstance(line, dict):
                    raise TranscriptError(f"{path}, line {number}: not an object")
                yield line
    except OSError as error:
        raise TranscriptError(f"{path}: {error.strerror or error}") from error
