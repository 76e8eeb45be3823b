"""The report of mechanisms: all of its sections, in the time that is allowed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from ..exact import ExactInput, OutOfTimeError, ParameterError, exact
from ..exact.budget import SECOND, share, within
from ..mechanisms.specs.spec import parse_use
from ..verify import Audit, parse_claim
from ..verify.certificate import Certificate
from . import costs, evidence, scope, shares
from .measured import NOT_COMPUTED
from .page import Page, Section
from .subject import Subject

Decided = Sequence[tuple[Audit, Certificate | str]]
DELTAS = ("1e-6", "1e-9", "1e-5")  # where epsilon is shown, unless somebody says
SECONDS = 60  # of work
_FIGURES, _SHARE = 0.6, 0.95  # of what is left


def made() -> dict[str, str]:
    """Who made a page and when: now, or at SOURCE_DATE_EPOCH, for the same bytes each time."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(given), UTC) if given.isdigit() else datetime.now(UTC)
    return {"by": f"exactdp {version('exactdp')}", "at": now.strftime("%Y-%m-%d %H:%M UTC")}


def report_html(
    specs: str | Sequence[str],
    claims: Sequence[str] = (),
    deltas: Sequence[ExactInput] = DELTAS,
    *,
    title: str | None = None,
    owner: str | None = None,
) -> str:
    """The page that `exactdp report` writes, as the text of one HTML file.

    specs: what is released, as the command line reads it ("discrete-laplace:epsilon=0.1*20"), or
    several. claims: to be decided ("approx:2,1e-6"). deltas: where epsilon is shown. title, owner:
    in its head. Raises ParameterError for bad input, and ImportError without jinja2 or matplotlib.

    >>> page = report_html("discrete-laplace:epsilon=0.1", ["pure:0.1"], title="Counts")
    >>> "<h1>Counts</h1>" in page
    True
    """
    uses = [parse_use(spec) for spec in ([specs] if isinstance(specs, str) else specs)]
    levels = [exact(delta, "deltas", above=0, below=1) for delta in deltas]
    if not uses or not levels:
        raise ParameterError("specs and deltas must each have at least one")
    subject = Subject(uses, [parse_claim(claim) for claim in claims], levels, title, owner)
    with within(SECONDS * SECOND):
        return report(subject, evidence.decided(subject)).html()


def report(subject: Subject, found: Decided) -> Page:
    """The page of these mechanisms, their claims decided already."""
    with share(_FIGURES):
        subject.find()
    sections = [scope.plainly(subject), scope.audited(subject), evidence.verdicts(found)]
    sections += [*_measured(subject), *scope.questions(subject)]
    held = evidence.certificates(subject, found)
    sections += [held] if held is not None else []
    return Page(subject.title, _summary(subject, found), made(), sections, subject.owner)


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
