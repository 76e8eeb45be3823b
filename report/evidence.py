"""Verdicts on claims, and the certificates that prove them again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..exact import OutOfTimeError, time_left, time_limit
from ..verify import Audit, Verdict, audit
from ..verify.certificate import Certificate, NotCertifiedError, certificate_of
from ..verify.kernel import NotWrittenError, theorem_of
from .page import Cell, File, Section, Table
from .subject import Subject, used

_VERDICT = 0.4  # of the time for a claim; the rest is for its certificate
_BARE = "python -m exactdp.verify.checker"


def decided(subject: Subject) -> list[tuple[Audit, Certificate | str]]:
    """Each claim's verdict, with its certificate, or why it has none; each in its time."""
    found: list[tuple[Audit, Certificate | str]] = []
    for waiting, claim in zip(range(len(subject.claims), 0, -1), subject.claims, strict=True):
        with time_limit(time_left() / waiting, rings=False):
            with time_limit(_VERDICT * time_left(), rings=False):
                result = audit(subject.composition, claim)
            found.append((result, _certified(result)))
    return found


def _certified(result: Audit) -> Certificate | str:
    if result.verdict is Verdict.UNDECIDED:
        return "an undecided claim has no certificate"
    try:
        with time_limit(time_left()):
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
        rows.append((str(claim), result.verdict.name, claim.quantity, result.measured, remark))
    columns = ("claim", "verdict", "what is measured", "the least for which it holds", "remark")
    return Section(
        "verdicts",
        "Verdicts",
        text=(
            "VERIFIED: proved true for all neighbouring datasets. REFUTED: proved false. "
            "UNDECIDED: it cannot be told with the time and precision allowed; it says nothing.",
        ),
        tables=(Table("Claims and verdicts", columns, rows),),
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
            claim = shlex.quote(str(result.claim))
            check = f"exactdp check {name} {expected} --claim {claim}"
            files.append(File(name, made.text, check))
        else:
            missing.append(f"{result.claim}: {made}")
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
    claim = shlex.quote(str(result.claim))
    return [File(name, text, f"exactdp check {name} {expected} --claim {claim}")]
