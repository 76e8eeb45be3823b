"""What it costs: epsilon and other notions, the curves, more uses, other methods, groups."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from ..accounting.composition.composed import compose
from ..accounting.composition.curves import Curve, rising
from ..accounting.composition.group import group_epsilons, has_groups
from ..accounting.composition.tradeoff import Tradeoff
from ..accounting.figure import Figure, as_shown
from ..common.table import Cell, Table
from ..exact import Enclosure, OutOfTimeError, brief_text, decimal_text
from ..exact.budget import share
from ..mechanisms.additive.protocol import Trust
from .measured import NARROW, NOT_COMPUTED, measured, part_of
from .page import Picture, Section
from .pictures import profile_svg, tradeoff_svg, uses_svg
from .subject import Subject

STEPS, _SHOWN = 240, 4  # of the trade-off curve as it is drawn, and every so many in the table
_MORE = (1, 10, 100, 1000)
_MULTIPLES = (1, 2, 5, 10)
_GROUPS = (2, 5, 10)
_TWO_DIRECTIONS = {
    True: (),
    False: (
        "Errors differ with the dataset that is wrongly ruled out at the rate α: D (the one with "
        "the user, or the first of two), or D′. β is the smaller of the two, what an adversary "
        "gets; the symmetric convex hull is less than that: it says what δ(ε) says at all ε.",
    ),
}


def notions(subject: Subject) -> list[Section]:
    """epsilon at every delta; pure epsilon, rho and mu."""
    shown = [
        (f"ε at δ = {brief_text(delta)}", Figure("epsilon", delta)) for delta in subject.deltas
    ]
    shown += [
        ("pure ε (δ = 0)", Figure("epsilon", Fraction(0))),
        ("ρ of ρ-zCDP", Figure("zcdp")),
        ("μ of μ-GDP", Figure("gdp")),
    ]
    waiting = range(len(shown), 0, -1)
    rows: list[Sequence[Cell]] = [
        (name, subject.figure(figure, part_of(left)))
        for left, (name, figure) in zip(waiting, shown, strict=True)
    ]
    section = Section(
        "notions",
        "How much privacy it costs",
        text=(
            "Each figure is the least number for which the guarantee holds. Where two numbers "
            "stand in brackets, the true one certainly lies between them; “inf” is infinite.",
        ),
        tables=(Table(("notion", "certified value"), rows, "Privacy loss in several notions"),),
    )
    return [section]


def curves(subject: Subject) -> list[Section]:
    """The profile and the trade-off curve, as pictures and point by point."""
    known = subject.profile
    with share(part_of(2)):
        errors = subject.composition.tradeoff(points=STEPS, known=known)
    return [
        Section(
            "profile",
            "The privacy profile",
            text=(
                "δ(ε) is the least δ for which (ε, δ)-differential privacy holds. The shaded band "
                "between the two lines certainly contains the true curve; where the bounds are "
                "closer than a pixel they are one line.",
            ),
            picture=Picture(profile_svg(known), _ends("δ falls", known)),
            tables=(_points("The privacy profile, point by point", ("ε", "δ(ε)"), known),),
        ),
        Section(
            "tradeoff",
            "What an adversary can tell",
            text=(
                "Somebody who sees everything that is released guesses which of two neighbouring "
                "datasets it was. A test that is wrong about one of them with probability α is "
                "wrong about the other with probability β or more. Perfect privacy is the dotted "
                "line: nothing better than guessing.",
                *_TWO_DIRECTIONS[errors.forward == errors.backward],
            ),
            picture=Picture(tradeoff_svg(errors), _ends("β falls", errors)),
            tables=(_errors(errors),),
        ),
    ]


def more_uses(subject: Subject) -> list[Section]:
    """epsilon as uses add up: of one mechanism by their number, of a list by its multiples."""
    of = subject.composition
    if len(of.uses) == 1:
        ((mechanism, times),) = of.uses
        counts = sorted({times, *(k for k in _MORE if k < times or times == 1)})
        lists = [compose((mechanism, k)) for k in counts]
        what = "releases of the mechanism"
    else:
        counts, what = list(_MULTIPLES), "times the whole list"
        lists = [of * k for k in counts]
    found = []
    for waiting, several in zip(range(len(lists), 0, -1), lists, strict=True):
        compute = partial(several.epsilon, subject.deltas[0], NARROW)
        known = several == of
        found.append(subject.epsilon if known else measured(compute, part_of(waiting)))
    found = rising(found)  # leaving uses out costs no more
    shown = [(k, value) for k, value in zip(counts, found, strict=True) if _drawable(value)]
    label = f"ε at δ = {subject.delta}"
    picture = None
    if len(shown) > 1:
        svg = uses_svg([k for k, _ in shown], [value for _, value in shown], label)
        picture = Picture(svg, f"{label} from {shown[0][0]} to {shown[-1][0]} {what}.")
    rows = [(str(k), value) for k, value in zip(counts, found, strict=True)]
    section = Section(
        "uses",
        "K-fold composition",
        text=(
            "What is enclosed is the true cost of all releases together, which may be adaptive: no "
            "theorem about composition is between.",
        ),
        picture=picture,
        tables=(Table((what, label), rows, "K-fold composition"),),
    )
    return [section]


def methods(subject: Subject) -> list[Section]:
    """What the usual methods of accounting would report."""
    reported = subject.reported
    rows: list[Sequence[Cell]] = [("exact composition (this report)", subject.epsilon, "")]
    for each in reported:
        value: Cell = "does not apply" if each.value is None else as_shown(each.value)
        if each.value is None and each.open:
            value = NOT_COMPUTED
        rows.append((each.method.title, value, each.remark))
    columns = ("method", f"ε at δ = {subject.delta}", "remark")
    section = Section(
        "methods",
        "What other methods would report",
        text=(
            "The same release, accounted for by the usual methods. A larger figure is no error: it "
            "is a bound that holds but is not tight. Figures of other accountants are computed in "
            "floats and prove nothing.",
        ),
        tables=(Table(columns, rows, "Methods side by side"),),
    )
    return [section]


def groups(subject: Subject) -> list[Section]:
    """What several users together lose; nothing where that is not what is audited.

    A table is of two named datasets; a local protocol's claim is of one user's message alone.
    """
    of, delta = subject.composition, subject.deltas[0]
    protocols = [spec.protocol for spec, _ in subject.uses if spec.protocol is not None]
    if not has_groups(of) or any(each.trust is Trust.LOCAL for each in protocols):
        return []
    try:
        found = group_epsilons(of, _GROUPS, delta)
    except OutOfTimeError:
        found = [Enclosure.unknown().because(NOT_COMPUTED)] * len(_GROUPS)
    sizes = ("1", *map(str, _GROUPS))
    rows = [*zip(sizes, rising([subject.epsilon, *found]), strict=True)]  # smaller ones are in it
    section = Section(
        "groups",
        "Groups of users",
        text=(
            "What is certified protects one user. A household of several who are all in the data "
            "has the guarantee below. (The lower end is what one of them loses, unless more is "
            "known.)",
        ),
        tables=(Table(("users", f"ε at δ = {subject.delta}"), rows, "Group privacy"),),
    )
    return [section]


def _drawable(value: Enclosure) -> bool:
    return value.is_finite() and value.lower > 0


def _points(caption: str, columns: Sequence[str], curve: Curve) -> Table:
    rows = [(decimal_text(at), value) for at, value in curve.points()]
    return Table(columns, rows, caption, folded=True)


def _errors(curve: Tradeoff) -> Table:
    """beta; where the directions differ, each of them and the symmetric hull as well."""
    caption, columns = "The trade-off curve, point by point", ["α", "β(α)"]
    values = [curve.betas]
    if curve.forward != curve.backward:
        columns += ["D ruled out", "D′ ruled out", "symmetric convex hull"]
        values += [curve.forward, curve.backward, curve.hull]
    rows = list(zip(map(decimal_text, curve.alphas), *values, strict=True))[::_SHOWN]
    return Table(columns, rows, caption, folded=True)


def _ends(what: str, curve: Curve) -> str:
    (first, start), (last, end) = curve.points()[0], curve.points()[-1]
    return (
        f"{what} from {start} at {decimal_text(first)} to {end} at {decimal_text(last)}; points of "
        "it are in the table below."
    )
