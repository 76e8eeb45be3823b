"""Runs of a transcript, played again from what was released: every decision must follow.

Verify a transcript: certificates, schedule, radii, and that every decision follows.

From the header alone the schedule is derived again: which batches there are, how each is released,
and by which radius arms leave, or by which bounds the next arm is chosen. Then

- every certificate is proved again by the independent checker, and is of the very protocol that
  the schedule uses; what had only been audited is audited again;
- every line shows that protocol and that radius;
- estimates follow from the released values, decisions from the estimates, and who is active in a
  batch from the decisions before it; the horizon is kept, and the pulls add up (`Replay`);
- no line has a field too many or too few, all runs are there, and together they have the digest
  that the header names; each run's chain is that of the header and of the run's lines.

What it cannot see is whether the released values came from the users, nor, without `head`, whether
header and runs were written anew together, whole runs left out: `unchecked` says so. Keep the
header's digest elsewhere (the SHA-256 of the first line) to notice that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from ..common.regular_file import open_regular
from ..exact.budget import OutOfTimeError
from ..exact.number import ParameterError, decimal_text, whole
from ..mechanisms.additive.protocol import SumProtocol
from ..verify.certificate import Certificate, CertificateError, MismatchError
from ..verify.checker.shape import LONGEST_TEXT, read_readable
from .algorithms import ALGORITHMS
from .algorithms.algorithm import Algorithm, OwnPolicy
from .evidence import Demand, Evidence, NotVerifiedError, admit, audited, identity, to_json
from .plan import Plan, Radius, prepare
from .policies import LargestBound
from .radius.index import agrees
from .release import Batch
from .setting import Setting
from .simulation import Due, Rounds, as_released, policy_of
from .transcript import (
    FORMAT,
    OLD_NAMES,
    OPTIONAL,
    READ,
    REQUIRED,
    UNCHAINED,
    VERSION,
    Chain,
    batch_lines,
    protocol_line,
)

if TYPE_CHECKING:
    from hashlib import _Hash as Hash


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


_LONGEST_LINE = 10_000_000  # bytes
_LONGEST_REASON = 1_000  # characters
_UNCHECKED = (
    "whether header and runs were written anew together, whole runs left out (--head tells, with "
    "the head that was kept elsewhere)"
)
_UNTIED = (
    f"that its runs are of this number and instance, which version 2 ties to none; {_UNCHECKED}"
)

if TYPE_CHECKING:
    from hashlib import _Hash as Hash


class TranscriptError(ValueError):
    """A file that is no transcript of this version; the message says why."""


@frozen
class Checked:
    """Is a transcript valid, in one line why, and of what: algorithm, epsilon, number of runs.

    head: SHA-256 of its first line, in hexadecimal digits, which holds that of all others.
    unchecked: what a valid one was not checked for, in words; "" for nothing.
    """

    valid: bool
    reason: str
    head: str
    about: dict[str, Any] = field(factory=dict)
    unchecked: str = ""

    def __bool__(self) -> bool:
        raise TypeError("the outcome of a check is not true or false: ask .valid")


def check_transcript(path: Path, kept: str | None = None, own: Sequence[Algorithm] = ()) -> Checked:
    """Verify a transcript file. Raises TranscriptError for what is none.

    kept: the head that it must have. own: algorithms that may have been played beside those of
    `bandit.algorithms`, found by their names.
    """
    top, below = hashlib.sha256(), hashlib.sha256()
    lines = _lines(path, top, below)
    head = next(lines, None)
    digest = top.hexdigest()
    version = None if head is None or head.get("format") != FORMAT else head.get("version")
    if head is None or not any(same(version, each) for each in READ):
        raise TranscriptError(f"{path}: not a transcript of version {min(READ)} to {VERSION}")
    about: dict[str, Any] = {}
    if kept is not None and kept.lower() != digest:
        return Checked(False, f"its head is {digest}, not the one that was kept", digest)
    try:
        check_fields(head.keys() - OPTIONAL, REQUIRED, "header")
        plan = _prepared(head, own)
        runs = whole(head["runs"], "runs", at_least=1)
        _look_at_where(head)
        about = _about(plan, runs)
        ended: set[int] = set()
        ending = {"run", "pulls"} | (set() if version == UNCHAINED else {"chain"})
        chain, unchained = Chain(head), ""
        current: Replay | None = None
        released = 0
        for line in lines:
            number = line.get("run")
            if type(number) is not int:
                raise NotValidError(f"run {number}: must be a whole number")
            if current is None or current.number != number:
                if current is not None or number in ended:
                    raise NotValidError(f"run {number}: out of order")
                current = Replay(plan, number, head.get("seed", 0))
            found = chain.after(line)
            if "pulls" in line:
                check_fields(line.keys(), ending, f"run {number}, end")
                current.end(line["pulls"])
                ended.add(current.number)
                if "chain" in ending and line["chain"] != found and not unchained:
                    unchained = f"run {number}: its chain is not of this header and these lines"
                current = None
            else:
                current.take(line)
                released += 1
        if current is not None or len(ended) != runs or not all(0 <= run < runs for run in ended):
            raise NotValidError(f"{len(ended)} complete runs of the {runs} that the header names")
        if below.hexdigest() != head["sha256"]:
            raise NotValidError(f"sha256 of all runs is {below.hexdigest()}, not the header's")
        if unchained:
            raise NotValidError(unchained)
    except (TranscriptError, OutOfTimeError):
        raise
    except (NotValidError, NotVerifiedError, MismatchError, ParameterError) as error:
        return Checked(False, _seen(str(error)), digest, about)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        reason = f"a line does not read: {type(error).__name__}: {error}"
        return Checked(False, _seen(reason), digest, about)
    reason = f"{released} releases in {runs} runs follow; {_counted(plan)}"
    unchecked = "" if kept is not None else _UNTIED if version == UNCHAINED else _UNCHECKED
    return Checked(True, reason, digest, about, unchecked)


def _look_at_where(head: dict[str, Any]) -> None:
    """Where it was run is told, and proved by nothing: a text that is seen, and a whole number."""
    try:
        read_readable(head.get("instance", ""), "instance", 0, LONGEST_TEXT)
    except CertificateError as error:
        raise NotValidError(str(error)) from error
    if type(head.get("seed", 0)) is not int:
        raise NotValidError("seed must be a whole number")


def _seen(text: str) -> str:
    """A line that quotes what somebody else wrote, as any terminal shows it."""
    shown = (each if each.isprintable() else ascii(each)[1:-1] for each in text[:_LONGEST_REASON])
    return "".join(shown)


def _about(plan: Plan, runs: int) -> dict[str, Any]:
    private = plan.algorithm.demand is not None
    epsilon = decimal_text(plan.setting.epsilon) if private else None
    return {"algorithm": plan.algorithm.name, "epsilon": epsilon, "runs": runs}


def _counted(plan: Plan) -> str:
    held = [each for _, each in plan.releases() if each is not None]
    proved = sum(isinstance(each, Certificate) for each in held)
    shown = f"{proved} certificates re-established"
    return shown if proved == len(held) else f"{shown}, {len(held) - proved} audits repeated"


def _prepared(head: dict[str, Any], own: Sequence[Algorithm]) -> Plan:
    """The schedule again, its evidence taken from the header and proved again."""
    name = head["algorithm"]
    if head["version"] != VERSION:
        name = OLD_NAMES.get(name, name)
    algorithm = next((each for each in (*ALGORITHMS, *own) if each.name == name), None)
    if algorithm is None:
        raise NotValidError(f"unknown algorithm {head['algorithm']!r}")
    shown = {entry["id"]: entry for entry in head["evidence"]}
    if len(shown) != len(head["evidence"]):
        raise NotValidError("evidence is given twice")
    for name, entry in shown.items():
        kind = "certificate" if "certificate" in entry else "audit"
        check_fields(entry.keys(), {"id", kind}, f"evidence {name}")
    used: set[str] = set()

    def prove(protocol: SumProtocol, demand: Demand) -> Evidence:
        held = _held(shown, protocol, demand)
        used.add(identity(held))
        return held

    setting = Setting(**head["setting"])
    if setting.to_json().keys() != head["setting"].keys():
        raise NotValidError("setting must name every number, also those that are usual")
    plan = prepare(algorithm, setting, Radius(head["radius"]), prove)
    if plan.radius.value != head["radius"]:
        raise NotValidError(f"radius is {head['radius']}, it must be {plan.radius.value}")
    if used != shown.keys():
        raise NotValidError(f"evidence of nothing that is released: {sorted(shown.keys() - used)}")
    return plan


def _held(shown: dict[str, Any], protocol: SumProtocol, demand: Demand) -> Evidence:
    """What the header shows of this protocol, once it is proved again."""
    users = str(protocol.users)
    for name, entry in shown.items():
        if "certificate" in entry and entry["certificate"]["protocol"]["users"] == users:
            certificate = Certificate(json.dumps(entry["certificate"]))
            if identity(certificate) != name:
                raise NotValidError(f"certificate {name} is not what its name says")
            outcome = certificate.check()
            if outcome.undecided:
                raise OutOfTimeError(f"certificate {name}: {outcome.reason}")
            if not outcome.valid:
                raise NotValidError(f"certificate {name} is not valid: {outcome.reason}")
            admit(protocol, demand, certificate)
            return certificate
        if "audit" in entry and entry["audit"]["protocol"]["users"] == users:
            again = audited(protocol, demand)
            if to_json(again) != entry:
                raise NotValidError(f"audit {name} does not come out again")
            return again
    raise NotValidError(f"no evidence of a batch of {users} users")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise TranscriptError("a field is given twice")
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def _lines(path: Path, top: Hash, below: Hash) -> Iterator[dict[str, Any]]:
    """One line after the other; the first goes into one digest, all others into another."""
    try:
        with open_regular(path) as file:
            for number, raw in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
                (below if number > 1 else top).update(raw)
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
