"""The report of mechanisms: all of its sections, in the time that is allowed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from ..exact import OutOfTimeError
from ..exact.budget import share
from ..verify import Audit
from ..verify.certificate import Certificate
from . import costs, evidence, scope, shares
from .measured import NOT_COMPUTED
from .page import Page, Section
from .subject import Subject

Decided = Sequence[tuple[Audit, Certificate | str]]
_FIGURES, _SHARE = 0.6, 0.95  # of what is left


def made() -> dict[str, str]:
    """Who made a page and when: now, or at SOURCE_DATE_EPOCH, for the same bytes each time."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(given), UTC) if given.isdigit() else datetime.now(UTC)
    return {"by": f"exactdp {version('exactdp')}", "at": now.strftime("%Y-%m-%d %H:%M UTC")}


def report(subject: Subject, found: Decided) -> Page:
    """The page of these mechanisms, their claims decided already."""
    with share(_FIGURES):
        subject.find()
    sections = [scope.audited(subject), evidence.verdicts(found)]
    sections += [*_measured(subject), *scope.questions(subject)]
    held = evidence.certificates(subject, found)
    sections += [held] if held is not None else []
    return Page(subject.title, _summary(subject, found), made(), sections)


_Part = Callable[[Subject], list[Section]]
# With a share of the work each; what is found before anything is shown has taken most of it.
_PARTS: Sequence[tuple[str, float, _Part]] = (
    ("How much privacy it costs", 1, costs.notions),
    ("The privacy profile, and what an adversary can tell", 2, costs.curves),
    ("K-fold composition", 1, costs.more_uses),
    ("What other methods would report", 1, costs.methods),
    ("Groups of users", 1, costs.groups),
    ("What dropouts cost", 1, shares.missing_shares),
    ("The federated round", 1, shares.rounds),
)


def _measured(subject: Subject) -> Iterator[Section]:
    for k, (title, weight, make) in enumerate(_PARTS):
        rest = sum(each for _, each, _ in _PARTS[k:])
        try:
            with share(_SHARE * weight / rest):
                yield from make(subject)
        except OutOfTimeError:
            yield Section(f"late-{k}", title, text=(f"It was {NOT_COMPUTED}.",))


def _summary(subject: Subject, found: Decided) -> str:
    verdicts = "; ".join(f"{result.claim.brief()} {result.verdict.name}" for result, _ in found)
    stated = f"Claims: {verdicts}. " if verdicts else ""
    return (
        f"{stated}Neighbouring datasets: {subject.differing}. Every figure is a certified "
        "enclosure: the true value lies between the bounds that are shown."
    )
