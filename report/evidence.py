"""Verdicts on claims, and the certificates that prove them again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TypeVar

from ..common.table import Cell, Table
from ..exact import OutOfTimeError
from ..exact.budget import share
from ..verify import Audit, Verdict, audit
from ..verify.audit import settled
from ..verify.certificate import Certificate, NotCertifiedError, certificate_of
from ..verify.kernel import NotWrittenError, theorem_of
from .page import File, Section
from .subject import Subject, used

_VERDICTS, _FIGURES, _CERTIFICATES = 0.15, 0.6, 0.5  # of what is left at each
_Each = TypeVar("_Each")
_BARE = "python -m exactdp.verify.checker"


def decided(subject: Subject) -> list[tuple[Audit, Certificate | str]]:
    """Each claim's verdict, with its certificate or why it has none; each by its share of work.

    What an audit leaves open may follow from the figures of the page: they are found here as well.
    """
    audits = []
    with share(_VERDICTS):
        for waiting, claim in _waiting(subject.claims):
            with share(1 / waiting):
                audits.append(audit(subject.composition, claim))
    for each in audits:
        subject.known.learn(each.claim.figure, each.measured)
    if audits:
        with share(_FIGURES):
            subject.find()
    found = []
    with share(_CERTIFICATES):
        for waiting, each in _waiting(audits):
            with share(1 / waiting):
                result = told(subject, each)
                found.append((result, _certified(result)))
    return found


def told(subject: Subject, found: Audit) -> Audit:
    """The audit, with all that is known by now of what it measured."""
    return settled(found, subject.known.of(found.claim.figure))


def _waiting(each: Sequence[_Each]) -> Iterable[tuple[int, _Each]]:
    """With how many there are from this one on."""
    return zip(range(len(each), 0, -1), each, strict=True)


def _certified(result: Audit) -> Certificate | str:
    if result.verdict is Verdict.UNDECIDED:
        return "an undecided claim has no certificate"
    try:
        return certificate_of(result)
    except OutOfTimeError:
        return "no certificate: not proved again in the time allowed"
    except NotCertifiedError as error:
        return str(error)


def verdicts(found: Sequence[tuple[Audit, Certificate | str]]) -> Section:
    """One row a claim: the verdict, what was measured, and where to look."""
    if not found:
        said = "No claim was stated: what does hold is below."
        return Section("verdicts", "Verdicts", text=(said,))
    rows: list[Sequence[Cell]] = []
    for result, _ in found:
        witness, claim = result.witness, result.claim
        where = ""
        if witness is not None:
            where = f"{witness.where}: {witness.quantity} {witness.value}"
        remark = "; ".join(each for each in (where, result.note) if each)
        rows.append((claim.brief(), result.verdict.name, claim.quantity, result.measured, remark))
    columns = ("claim", "verdict", "of what", "tightest", "remark")
    return Section(
        "verdicts",
        "Verdicts",
        text=(
            "VERIFIED: proved true for all neighbouring datasets. REFUTED: proved false. "
            "UNDECIDED: it cannot be told with the time and precision allowed; it says nothing.",
        ),
        tables=(Table(columns, rows, "Claims and verdicts"),),
    )


def certificates(
    subject: Subject, found: Sequence[tuple[Audit, Certificate | str]]
) -> Section | None:
    """The certificates themselves; None without a claim."""
    if not found:
        return None
    files, missing = [], []
    expected = " ".join(f"--expect {shlex.quote(used(*each))}" for each in subject.uses)
    for number, (result, made) in enumerate(found, 1):
        if isinstance(made, Certificate):
            name = f"certificate-{number}.json"
            check = check_with(name, result.claim.brief(), result.verdict, expected)
            files.append(File(name, made.text, check))
        else:
            missing.append(f"{result.claim.brief()}: {made}")
        files += _theorem(f"theorem-{number}.v", result, expected)
    return Section(
        "certificates",
        "Certificates",
        text=(
            "Each certificate proves a verdict again, by a checker that shares no numerical code "
            "with what found it. Save it under its name, compare its SHA-256 (sha256sum FILE), and "
            f"check it: with exactdp as shown, or with Python and mpmath alone, {_BARE} FILE. "
            "What ends in .v is a theorem that the kernel of Coq decides.",
        ),
        points=missing,
        files=files,
    )


def _theorem(name: str, result: Audit, expected: str) -> list[File]:
    """The verdict as a Coq theorem, where one can be written."""
    try:
        text = theorem_of(result)
    except NotWrittenError:
        return []
    return [File(name, text, check_with(name, result.claim.brief(), result.verdict, expected))]


def check_with(name: str, claim: str, verdict: Verdict, expected: str = "") -> str:
    """The command that checks this file, and that it says just this of the claim."""
    refuted = ("--verdict REFUTED",) if verdict is Verdict.REFUTED else ()
    words = (
        "exactdp check",
        shlex.quote(name),
        expected,
        f"--claim {shlex.quote(claim)}",
        *refuted,
    )
    return " ".join(filter(None, words))
