"""Calibration: the least noise that meets a claim, as an exact decimal, and proof that it is least.

The value found is verified; a value smaller by at most 1e-9 of it is refuted, or by at most 1e-6
where the cost is not known so narrowly. Where to look is found in floats; both verdicts are
certified. A cost need not fall as the noise grows (that of the discrete Gaussian does not): that
every smaller value fails, and from where on every larger one meets the claim, is proved apart
(`monotone`).

*Vectors* are known between two bounds only. The noise found is verified by what dominates them
(their bracket), and is the least such: 1e-9 below, the dominating cost is above the target or too
close to tell. Whether that noise fails as well is another matter: it does where a vector within
reach refutes it. The largest noise that is refuted so is looked for by growing steps; what lies
between is open.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import NoReturn, TypeAlias

from attrs import evolve, frozen

from ..accounting.composition.composed import Composition, compose
from ..accounting.solve import Query, from_above
from ..common.rows import Rows
from ..exact.budget import SECOND, OutOfTimeError, is_over, spend, time_left, within
from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, decimal_text, whole
from ..exact.precision import CAP
from ..exact.rounding import to_digits
from ..exact.search import Grid, Search
from ..mechanisms.laws.law import UndecidedError
from ..mechanisms.mechanism import Mechanism
from .audit import Audit, Verdict, audit
from .guarantee import Bounded, Guarantee
from .monotone import Cover

_DIGITS, _FEWER_DIGITS, _SHORT = 12, 10, 6  # of all values, of vectors, and of what is simple
# How far apart the two values may be, relative to the larger: where the cost is known so narrowly,
# and where it is not.
_APART, _BLURRED = Fraction(1, 10**9), Fraction(1, 10**6)
_LEAST, MOST_NOISE = Fraction(1, 10**9), Fraction(10**15)
_WIDTHS = (*(Fraction(1, 10**digits) for digits in (3, 7)), Fraction(3, 10**10))
_FINER = (_WIDTHS[-1], *(Fraction(1, 10**digits) for digits in (10, 11, 13, 16, 24)))
_NEAR = 1e-11
_WORK = 40.0  # about how many seconds one verdict may take where losses live on no lattice
_STEP, _STRIDE = Fraction(1, 10**9), Fraction(1, 10**3)  # of looking for the next edge
_MOST_EDGES = 20  # crossings of the bound that are looked at
_PROVING = 5 * SECOND  # units of work that each proof about all other values may take
_INFINITY = Decimal("Infinity")
_HALVED = Grid(Fraction(0), Fraction(10**7))
_LOWEST, _VERDICTS_APART = Fraction(1, 10**15), Fraction(1, 10**4)
_SHOWN = Fraction(1, 1000)  # width of what a vector costs, in a verdict
_BELOW = (*(Fraction(1, 10**digits) for digits in (4, 3, 2, 1)), Fraction(1, 2))  # the least
_LATE = "not proved in the time allowed"
_UNKNOWN = "it is not known how this family's cost depends on the value"
_OPEN = "which noises between the refuted and the verified one meet the target is open"
_ALL_OPEN = "whether less noise meets the target is open: none was refuted in the time allowed"
_NOISE = "how the cost depends on this noise is not known: other values may differ"

Measure: TypeAlias = Callable[[Composition, Fraction], Enclosure]  # to this relative width


@frozen
class Family:
    """Mechanisms that differ in one number.

    build: the mechanism for a value, or all uses of it. start: where to look first. is_whole: only
    whole numbers count. falls: the value is a noise, so that the cost falls as it grows, at least
    on the whole; or else a cost. order: for a claim and so many uses, what is proved of all smaller
    and all larger noises; None where nothing is. least, largest: no value beyond is looked at.
    halved: verdicts alone are asked for, of a cost that may jump, or stay open between the last
    value that is verified and the first that is refuted. by_bracket: what dominates is asked, and
    what is attained of single values only: vectors.

    parameter: the number's name.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> import exactdp
    >>> family = Family("scale", lambda scale: AdditiveNoise(DiscreteLaplace(scale), 7))
    >>> exactdp.calibrate(family, "pure:0.1").value
    Fraction(70, 1)
    """

    parameter: str
    build: Callable[[Fraction], Mechanism | Composition]
    start: float = 1.0
    is_whole: bool = False
    falls: bool = True
    order: Callable[[Guarantee, int], Cover | None] | None = None
    largest: Fraction = MOST_NOISE
    halved: bool = False
    least: Fraction = _LEAST
    by_bracket: bool = False

    def end(self, met: bool | None) -> Fraction:
        """The end of the range that meets the target last, or fails to meet it last."""
        least = Fraction(1) if self.is_whole else _LOWEST if self.halved else self.least
        return least if self.falls == bool(met) else self.largest

    def refuse(
        self,
        claim: Guarantee,
        met: bool,
        verdict: str = "met by",
        beside: str = "",
        proved: bool = True,
    ) -> NoReturn:
        """Say that the edge lies beyond the range, as far as is proved. Raises ParameterError."""
        low, high = (
            f"{float(end):g}".replace("e-0", "e-").replace("e+", "e")
            if end in (_LOWEST, self.least, MOST_NOISE)
            else decimal_text(end)
            for end in sorted((self.end(True), self.end(False)))
        )
        which = f"{'every' if met else 'no'} {self.parameter}"
        if not proved:
            tried = "every value" if met else "no value"
            which = f"{tried} of {self.parameter} that was tried"
            beside = f"{beside}; what others do is open"
        raise ParameterError(
            f"target {claim} is {verdict} {which} between {low} and {high}, the range that is "
            f"searched{beside}"
        )


@frozen
class Edge:
    """A value that meets the claim, and a neighbour of less noise that fails: see above how near.

    proved: all noises on the side in question do as they should; why: the proof, or why there is
    none. late: was the time over before there was one?
    """

    value: Fraction
    verified: Audit
    neighbour: Fraction
    refuted: Audit
    proved: bool
    why: str
    late: bool = False


@frozen
class Calibration(Rows):
    """The least noise that meets the claim, and the least from which on every larger one does.

    least: if proved, every noise up to the neighbour's fails. from_on: if proved, every noise from
    the value's on meets the claim.

    parameter: its name.

    >>> import exactdp
    >>> found = exactdp.calibrate("discrete-laplace", "pure:0.1", sensitivity=1)
    >>> found.parameter, found.value, found.verified.verified
    ('scale', Fraction(10, 1), True)
    """

    parameter: str
    least: Edge
    from_on: Edge

    @property
    def value(self) -> Fraction:
        return self.least.value

    @property
    def verified(self) -> Audit:
        return self.least.verified

    @property
    def neighbour(self) -> Fraction:
        return self.least.neighbour

    @property
    def refuted(self) -> Audit:
        return self.least.refuted

    @property
    def audits(self) -> list[tuple[Fraction, Audit]]:
        """The values on both sides of each edge, least first."""
        edges = {edge.value: edge for edge in (self.from_on, self.least)}
        return [
            side
            for edge in reversed(edges.values())
            for side in ((edge.value, edge.verified), (edge.neighbour, edge.refuted))
        ]

    def rows(self) -> list[dict[str, object]]:
        """The values on both sides of each edge, least first: value, verdict and measured."""
        return [
            {
                self.parameter: decimal_text(value),
                "verdict": found.verdict.name,
                "measured": found.measured,
            }
            for value, found in self.audits
        ]

    def __repr__(self) -> str:
        least, more = decimal_text(self.value), decimal_text(self.from_on.value)
        return f"Calibration({self.parameter}: least {least}, from {more} on)"


@frozen(repr=False)
class VectorCalibration(Calibration):
    """The least noise that what dominates the vector verifies, and what is known of smaller ones.

    neighbour: 1e-9 below, whose audit (`below`) may be UNDECIDED. failing: the largest noise that
    was found refuted, with its audit; None where none was, in the time allowed. why: what is open,
    and how the cost depends on the noise.
    """

    failing: tuple[Fraction, Audit] | None

    @property
    def audits(self) -> list[tuple[Fraction, Audit]]:
        """The least, its neighbour, and what is refuted besides."""
        other = self.failing is not None and self.failing[0] != self.neighbour
        return [*super().audits, *([self.failing] if self.failing and other else [])]

    @property
    def below(self) -> Audit:
        return self.refuted

    @property
    def why(self) -> str:
        return self.least.why

    def __repr__(self) -> str:
        return f"VectorCalibration({self.parameter}: least verified {decimal_text(self.value)})"


class UnfinishedError(OutOfTimeError):
    """The time was over before the two verdicts were there; what was found by then.

    refuted, verified: of the values tried, those nearest to each other with these verdicts.
    """

    def __init__(self, parameter: str, refuted: Fraction | None, verified: Fraction | None) -> None:
        self.parameter, self.refuted, self.verified = parameter, refuted, verified
        known = [
            f"{parameter} = {decimal_text(value)} {what} the target"
            for value, what in ((refuted, "does not meet"), (verified, "meets"))
            if value is not None
        ]
        super().__init__(f"the time is over; so far {' and '.join(known) or 'nothing is known'}")


def calibrate(family: Family, claim: Guarantee, times: ExactInput = 1) -> Calibration:
    """The least noise with which so many uses meet the claim together.

    Where verdicts near the least one stay open: the least that is verified, and the largest below
    it that is refuted; of a family known by a bracket a VectorCalibration. Raises ParameterError
    where no value between 1e-9 and the largest, or every one, meets it, UndecidedError where all
    verdicts stay open, and UnfinishedError where a limit of time ends before they are there.
    """
    costs = Costs(family, claim, times)
    if family.halved:
        return _by_verdicts(costs)
    try:
        edges = costs.edges()
        if family.by_bracket:
            return _by_bracket(costs, *edges)
        edge = costs.edge(*edges)
    except OutOfTimeError:
        raise UnfinishedError(family.parameter, *costs.nearest()) from None
    except UndecidedError:
        if is_over():
            raise UnfinishedError(family.parameter, *costs.nearest()) from None
        return _by_verdicts(costs)
    if costs.cover is None:
        return Calibration(family.parameter, edge, edge)
    least, from_on = (_walked(costs, costs.cover, edge, up) for up in (False, True))
    return Calibration(family.parameter, least, from_on)


def _walked(costs: Costs, cover: Cover, edge: Edge, up: bool) -> Edge:
    """The edge beyond which nothing is left, as far as the work allows; up: towards more noise."""
    search, side, why = costs.search, 1 if up else -1, "the cost crosses the target too often"
    try:
        with within(_PROVING):
            for _ in range(_MOST_EDGES):
                stuck = cover.stuck(edge.value if up else edge.neighbour, up)
                if stuck is None:
                    return evolve(edge, proved=True, why=cover.why[up])
                near = search.first(stuck, side, _STEP, not up)
                far = search.first(near, side, _STRIDE, up)
                edge = costs.edge(*search.narrowed(*((near, far) if up else (far, near))))
    except OutOfTimeError:
        return evolve(edge, why=_LATE, late=True)
    except UndecidedError as error:
        if is_over():
            return evolve(edge, why=_LATE, late=True)
        why = f"not proved: {error}"
    return evolve(edge, why=why)


def _by_verdicts(costs: Costs) -> Calibration:
    """Where verified ends and refuted begins: the same place, or what is between them is open."""
    family, audits = costs.family, dict[Fraction, Audit]()

    def audited(value: Fraction) -> Audit:
        spend()
        if value not in audits:
            audits[value] = audit(costs.composition(value), costs.claim)
        return audits[value]

    def unverified(value: Fraction, met: bool | None) -> None:
        beside = ""
        if not met and not family.falls:
            with suppress(ParameterError):  # where no such key is allowed
                if audit(costs.composition(Fraction(0)), costs.claim).verified:
                    beside = f"; {family.parameter} = 0 meets it"
        verdict = "met by" if met else "verified for"
        family.refuse(costs.claim, bool(met), verdict, beside, costs.ends_decide)

    def unrefuted(value: Fraction, met: bool | None) -> None:
        family.refuse(costs.claim, bool(met), "not refuted for", proved=costs.ends_decide)

    grid = Grid(_LOWEST, family.largest, 6, _VERDICTS_APART, rounding=ROUND_FLOOR)
    grid = _HALVED if family.is_whole else grid
    meeting, failing = (
        Search(met, grid, refuse, family.parameter, family.falls)
        for met, refuse in (
            (lambda value: audited(value).verified, unverified),
            (lambda value: not audited(value).refuted, unrefuted),
        )
    )
    start = Fraction(family.start)
    try:
        good = meeting.narrowed(*meeting.bracketed(start))[1]
        bad = failing.narrowed(*failing.bracketed(start))[0]
    except OutOfTimeError:
        known = failing.nearest()[0], meeting.nearest()[1]
        raise UnfinishedError(family.parameter, *known) from None
    cover = costs.cover
    proved, why = cover is not None and cover.is_monotone, cover.why[0] if cover else _UNKNOWN
    edge = Edge(good, audits[good], bad, audits[bad], proved, why)
    if family.is_whole and abs(good - bad) == 1:
        return Calibration(family.parameter, edge, edge)
    between = f"between {decimal_text(good)} and {decimal_text(bad)} it is open"
    return Calibration(family.parameter, evolve(edge, proved=False, why=between), edge)


def _by_bracket(costs: Costs, bad: Fraction, good: Fraction) -> VectorCalibration:
    """Given the least that what dominates verifies, and its neighbour: what else is refuted."""
    below = costs.between(bad)
    if below.verified:  # by more than what dominates the vector
        family = evolve(costs.family, start=float(good))
        closer = Costs(family, costs.claim, costs.times, measure=costs.claim.measure)
        with suppress(OutOfTimeError, ParameterError):
            (bad, good), costs = closer.edges(), closer
            below = costs.between(bad)
    failing = (bad, below) if below.refuted else None
    for step in _BELOW:
        if failing is not None or not time_left():
            break
        value = to_digits(good * (1 - step), _FEWER_DIGITS, ROUND_FLOOR)
        found = costs.between(value)
        failing = (value, found) if found.refuted else None
    why = _NOISE if costs.cover is None else costs.cover.why[0]
    if not below.refuted:
        why = f"{_OPEN if failing else _ALL_OPEN}; {why}"
    edge = Edge(good, costs.between(good), bad, below, False, why)
    return VectorCalibration(costs.family.parameter, edge, edge, failing)


class _InsideError(UndecidedError):
    """The search came to an end of its range, but the other end answers otherwise."""

    def __init__(self, value: Fraction) -> None:
        super().__init__(f"the search came to an end of its range, {value}")
        self.value = value


class Costs:
    """What is known of the costs of values on the grid, and the search among them.

    measure: of so many uses; by default what the claim bounds, and of a family that is known by a
    bracket what dominates it: then what is not verified does not meet the claim here, and the lower
    end of what is found bounds nothing. digits: of values. widths: at which costs are asked for,
    one after the other, until the verdict is certain. room: how many times as long as the longest
    cost so far must be left for another one to be begun.
    """

    def __init__(
        self,
        family: Family,
        claim: Guarantee,
        times: ExactInput,
        digits: int | None = None,
        widths: Sequence[Fraction] | None = None,
        room: float = 0.0,
        measure: Measure | None = None,
    ) -> None:
        self.family, self.claim = family, claim
        self.times = whole(times, "times", at_least=1)
        self.measure: Measure = measure or self._measured
        self.locating, self.telling = (widths, widths) if widths else (_WIDTHS, _FINER)
        grid = Grid(family.least, family.largest, _DIGITS, _APART, _SHORT, blurred=_BLURRED)
        if family.by_bracket:
            grid = Grid(family.least, family.largest, digits or _FEWER_DIGITS)
        if family.is_whole:
            grid, self.telling = Grid(Fraction(1), family.largest, short=_SHORT), _WIDTHS + _FINER
        self.search = Search(self.met, grid, self.refuse, family.parameter, family.falls)
        self.found: dict[Fraction, Enclosure] = {}
        self.measured: set[tuple[Fraction, Fraction]] = set()
        self.room, self.longest = room, 0.0
        self.cover = family.order(claim, self.times) if family.order else None
        # delta rather than epsilon(delta), which is flat at 0, where no pure epsilon is near
        other = None if family.by_bracket else claim.other_way
        either = claim.bound == 0 or (self.cover is not None and not self.cover.is_monotone)
        self.asked: Bounded = claim if other is None or not either else other
        self.bound = self.asked.bound

    def _measured(self, of: Composition, width: Fraction) -> Enclosure:
        if self.family.by_bracket:
            return from_above(of.uses, Query(self.asked.figure, width))
        return self.asked.measure(of, width, CAP, _WORK)

    def composition(self, value: Fraction) -> Composition:
        return compose(self.family.build(value)) * self.times

    def cost(self, value: Fraction, width: Fraction) -> Enclosure:
        """What the claim bounds, at this value; intersected with all that was found before."""
        spend()
        if (value, width) not in self.measured:
            if time_left() < self.room * self.longest:
                raise OutOfTimeError("the time allowed is over")
            start = time.monotonic()
            found = self.measure(self.composition(value), width)
            if self.family.by_bracket:
                spend()  # what was cut short is not verified, and no more
            self.longest = max(self.longest, time.monotonic() - start)
            if value in self.found and not self.family.by_bracket:
                found = found.intersection(self.found[value])
            self.found[value] = found
            self.measured.add((value, width))
        found = self.found[value]
        if (answer := found.at_most(self.bound)) is not None:
            self.search.answers[value] = answer
        return found

    def _above(self, value: Fraction, width: Fraction) -> Enclosure:
        upper = self.cost(value, width).upper
        return Enclosure(upper, upper)

    def met(self, value: Fraction) -> bool | None:
        """Does this value meet the claim? As narrow as it takes; None where it cannot be told."""
        answer = None
        for width in self.telling:
            found = self.cost(value, width)
            answer = found.at_most(self.bound)
            if answer is not None or not found.is_within(width):
                break
        return bool(answer) if self.family.by_bracket else answer

    def edges(self) -> tuple[Fraction, Fraction]:
        """(not met, met), next to each other. Raises ParameterError where all are met, or none."""
        if self.bound == 0 and not self.family.by_bracket:
            raise ParameterError(f"target {self.claim} cannot be met by any noise of this kind")
        if self.claim.is_void:
            self.family.refuse(self.claim, True)
        start, search = Fraction(self.family.start), self.search
        if self.bound:  # where costs vanish they tell nothing of how far it is
            cost = self._above if self.family.by_bracket else self.cost
            try:
                return search.around(
                    *search.located(cost, self.bound, float(start), self.locating, _NEAR)
                )
            except _InsideError as inside:
                start = inside.value
        return search.narrowed(*search.bracketed(start))

    @property
    def ends_decide(self) -> bool:
        """Does what holds at both ends of the range hold of all values in between?"""
        is_monotone = self.cover is not None and self.cover.is_monotone
        return is_monotone or self.family.by_bracket

    def nearest(self) -> tuple[Fraction | None, Fraction | None]:
        """(refuted, verified): as near to each other as any that are known."""
        bad, good = self.search.nearest()
        return (None if self.family.by_bracket else bad), good

    def edge(self, bad: Fraction, good: Fraction) -> Edge:
        """Of two that were asked; that all beyond them answer likewise is not proved yet."""
        return Edge(good, self.audited(good), bad, self.audited(bad), False, _UNKNOWN)

    def audited(self, value: Fraction) -> Audit:
        """The verdict on one of the two values, as it was found."""
        claim = self.claim
        measured = self.found[value]
        if self.asked is not claim:  # an audit measures what the claim bounds
            at = Enclosure.exactly(claim.bound)
            if claim.bound or not self.search.ask(value):
                measured = claim.measure(self.composition(value))
                if measured.at_most(claim.bound) is None:  # the other way has told
                    met = self.search.ask(value)
                    half = evolve(at, lower=Fraction(0)) if met else evolve(at, upper=_INFINITY)
                    measured = measured.intersection(half)
            else:
                measured = at
        return self._judged(value, measured, self.search.ask(value))

    def between(self, value: Fraction) -> Audit:
        """The verdict on one that is known by a bracket, between both of its bounds."""
        measured = Enclosure.unknown()
        with suppress(OutOfTimeError):
            measured = self.claim.measure(self.composition(value), _SHOWN)
        if value in self.found:
            above = Enclosure(Fraction(0), self.found[value].upper)
            measured = measured.intersection(above)
        return self._judged(value, measured, measured.at_most(self.bound))

    def _judged(self, value: Fraction, measured: Enclosure, met: bool | None) -> Audit:
        verdict = {True: Verdict.VERIFIED, False: Verdict.REFUTED, None: Verdict.UNDECIDED}[met]
        return Audit(self.composition(value), self.claim, verdict, measured)

    def refuse(self, value: Fraction, met: bool | None) -> None:
        """Say what an end of what is tried tells of all others, where it is the last to change."""
        spend()  # what is measured when it is over tells nothing
        last = value
        if met is not None and (last := self.family.end(met)) != value:
            answer = self.search.ask(last)
            if answer is not None and answer is not met:
                raise _InsideError(value)
            met = answer
        if met is None:
            raise UndecidedError(
                f"whether {self.family.parameter} = {decimal_text(last)}, the last that is tried, "
                f"meets {self.claim} cannot be told"
            )
        verdict = "verified for" if self.family.by_bracket else "met by"
        self.family.refuse(self.claim, met, verdict, proved=self.ends_decide)
