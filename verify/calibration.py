"""Calibration: the least noise that meets a claim, as an exact decimal, and proof that it is least.

The value found is verified; a value smaller by at most 1e-9 of it is refuted, or by at most 1e-6
where the cost is not known so narrowly. Where to look is found in floats; both verdicts are
certified. A cost need not fall as the noise grows (that of the discrete Gaussian does not): that
every smaller value fails, and from where on every larger one meets the claim, is proved apart
(`order`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import NoReturn

from attrs import evolve, frozen

from ..accounting.composition.composed import Composition, compose
from ..common.rows import Rows
from ..exact.budget import SECOND, OutOfTimeError, is_over, spend, within
from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, decimal_text, whole
from ..exact.precision import CAP
from ..exact.search import Grid, Search
from ..mechanisms.laws.law import UndecidedError
from ..mechanisms.mechanism import Mechanism
from .audit import Audit, Verdict, audit
from .guarantee import Bounded, Guarantee
from .order import Cover, Monotone, fails_down_to, meets_up_to

_DIGITS, _SHORT = 12, 6
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
_LATE = "not proved in the time allowed"
_UNKNOWN = "it is not known how this family's cost depends on the value"


@frozen
class Family:
    """Mechanisms that differ in one number.

    build: the mechanism for a value, or all uses of it. start: where to look first. is_whole: only
    whole numbers count. falls: the value is a noise, so that the cost falls as it grows, at least
    on the whole; or else a cost. order: for a claim and so many uses, what is proved of all smaller
    and all larger noises; None where nothing is. least, largest: no value beyond is looked at.
    halved: verdicts alone are asked for, of a cost that may jump, or stay open between the last
    value that is verified and the first that is refuted.

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

    def end(self, met: bool | None) -> Fraction:
        """The end of the range that meets the target last, or fails to meet it last."""
        least = Fraction(1) if self.is_whole else _LOWEST if self.halved else self.least
        return least if self.falls == bool(met) else self.largest

    def refuse(
        self, claim: Guarantee, met: bool, verdict: str = "met by", beside: str = ""
    ) -> NoReturn:
        """Say that the edge lies beyond the range. Raises ParameterError."""
        low, high = (
            f"{float(end):g}".replace("e-0", "e-").replace("e+", "e")
            if end in (_LOWEST, self.least, MOST_NOISE)
            else decimal_text(end)
            for end in sorted((self.end(True), self.end(False)))
        )
        which = "every" if met else "no"
        raise ParameterError(
            f"target {claim} is {verdict} {which} {self.parameter} between {low} and {high}, the "
            f"range that is searched{beside}"
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

    def rows(self) -> list[dict[str, object]]:
        """The values on both sides of each edge, least first: value, verdict and measured."""
        edges = {edge.value: edge for edge in (self.from_on, self.least)}
        return [
            {
                self.parameter: decimal_text(value),
                "verdict": found.verdict.name,
                "measured": found.measured,
            }
            for edge in reversed(edges.values())
            for value, found in ((edge.value, edge.verified), (edge.neighbour, edge.refuted))
        ]

    def __repr__(self) -> str:
        least, more = decimal_text(self.value), decimal_text(self.from_on.value)
        return f"Calibration({self.parameter}: least {least}, from {more} on)"


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


def _by_verdicts(family: Family, claim: Guarantee, times: int) -> Calibration:
    """Where verified ends and refuted begins: the same place, or what is between them is open."""
    audits: dict[Fraction, Audit] = {}

    def verdict(value: Fraction) -> Verdict:
        spend()
        if value not in audits:
            audits[value] = audit(compose((family.build(value), times)), claim)
        return audits[value].verdict

    def unverified(value: Fraction, met: bool | None) -> None:
        beside = ""
        if not met and not family.falls:
            with suppress(ParameterError):  # where no such key is allowed
                if audit(compose((family.build(Fraction(0)), times)), claim).verified:
                    beside = f"; {family.parameter} = 0 meets it"
        family.refuse(claim, bool(met), "met by" if met else "verified for", beside)

    def unrefuted(value: Fraction, met: bool | None) -> None:
        family.refuse(claim, bool(met), "not refuted for" if met else "refuted for")

    cover = None if family.order is None else family.order(claim, times)
    grid = Grid(_LOWEST, family.largest, 6, _VERDICTS_APART, rounding=ROUND_FLOOR)
    grid = _HALVED if family.is_whole else grid
    meeting, failing = (
        Search(met, grid, refuse, family.parameter, family.falls)
        for met, refuse in (
            (lambda value: verdict(value) is Verdict.VERIFIED, unverified),
            (lambda value: verdict(value) is not Verdict.REFUTED, unrefuted),
        )
    )
    start = Fraction(family.start)
    try:
        good = meeting.narrowed(*meeting.bracketed(start))[1]
        bad = failing.narrowed(*failing.bracketed(start))[0]
    except OutOfTimeError:
        known = failing.nearest()[0], meeting.nearest()[1]
        raise UnfinishedError(family.parameter, *known) from None
    proved, why = isinstance(cover, Monotone), cover.why[0] if cover else _UNKNOWN
    edge = Edge(good, audits[good], bad, audits[bad], proved, why)
    if family.is_whole and abs(good - bad) == 1:
        return Calibration(family.parameter, edge, edge)
    between = f"between {decimal_text(good)} and {decimal_text(bad)} it is open"
    return Calibration(family.parameter, evolve(edge, proved=False, why=between), edge)


def calibrate(family: Family, claim: Guarantee, times: ExactInput = 1) -> Calibration:
    """The least noise with which so many uses meet the claim together.

    Where verdicts near the least one stay open: the least that is verified, and the largest below
    it that is refuted. Raises ParameterError where no value between 1e-9 and the largest, or every
    one, meets it, UndecidedError where all verdicts stay open, and UnfinishedError where a limit of
    time ends before they are there.
    """
    if family.halved:
        return _by_verdicts(family, claim, whole(times, "times", at_least=1))
    costs = _Costs(family, claim, times)
    try:
        try:
            edges = costs.search.around(*costs.located())
        except _InsideError as inside:
            edges = costs.search.narrowed(*costs.search.bracketed(inside.value))
        edge = costs.edge(*edges)
    except OutOfTimeError:
        raise UnfinishedError(family.parameter, *costs.search.nearest()) from None
    except UndecidedError:
        if is_over():
            raise UnfinishedError(family.parameter, *costs.search.nearest()) from None
        return _by_verdicts(evolve(family, halved=True), claim, costs.times)
    if costs.cover is None:
        return Calibration(family.parameter, edge, edge)
    least, from_on = (_walked(costs, costs.cover, edge, side) for side in (-1, 1))
    return Calibration(family.parameter, least, from_on)


def _walked(costs: _Costs, cover: Cover, edge: Edge, side: int) -> Edge:
    """The edge beyond which nothing is left, as far as the work allows.

    side: 1 towards more noise, -1 towards less.
    """
    search, up, why = costs.search, side > 0, "the cost crosses the target too often"
    try:
        with within(_PROVING):
            for _ in range(_MOST_EDGES):
                stuck = (
                    meets_up_to(cover, edge.value) if up else fails_down_to(cover, edge.neighbour)
                )
                if not stuck:
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


class _InsideError(UndecidedError):
    """The search came to an end of its range, but the other end answers otherwise."""

    def __init__(self, value: Fraction) -> None:
        super().__init__(f"the search came to an end of its range, {value}")
        self.value = value


class _Costs:
    """What is known of the costs of values on the grid, and the search among them."""

    def __init__(self, family: Family, claim: Guarantee, times: ExactInput) -> None:
        self.family, self.claim = family, claim
        self.times = whole(times, "times", at_least=1)
        least, digits = (Fraction(1), None) if family.is_whole else (family.least, _DIGITS)
        near, blurred = (Fraction(0),) * 2 if family.is_whole else (_APART, _BLURRED)
        grid = Grid(least, family.largest, digits, near, _SHORT, blurred=blurred)
        self.search = Search(self.met, grid, self.refuse, family.parameter, family.falls)
        self.found: dict[Fraction, Enclosure] = {}
        self.cover = family.order(claim, self.times) if family.order else None
        # delta rather than epsilon(delta), which is flat at 0, where no pure epsilon is near
        other = claim.other_way
        either = claim.bound == 0 or not isinstance(self.cover, Monotone | None)
        self.asked: Bounded = claim if other is None or not either else other
        self.bound = self.asked.bound
        if self.bound == 0:
            raise ParameterError(f"target {claim} cannot be met by any noise of this kind")
        if claim.is_void:
            family.refuse(claim, True)

    def composition(self, value: Fraction) -> Composition:
        return compose(self.family.build(value)) * self.times

    def cost(self, value: Fraction, width: Fraction) -> Enclosure:
        """What the claim bounds, at this value; intersected with all that was found before."""
        spend()
        found = self.asked.measure(self.composition(value), width, CAP, _WORK)
        if value in self.found:
            found = found.intersection(self.found[value])
        self.found[value] = found
        if (answer := found.at_most(self.bound)) is not None:
            self.search.answers[value] = answer
        return found

    def met(self, value: Fraction) -> bool | None:
        """Does this value meet the claim? As narrow as it takes; None where it cannot be told."""
        for width in (*_WIDTHS, *_FINER) if self.family.is_whole else _FINER:
            found = self.cost(value, width)
            answer = found.at_most(self.bound)
            if answer is not None or not found.is_within(width):
                return answer
        return None

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
        verdict = Verdict.VERIFIED if self.search.ask(value) else Verdict.REFUTED
        return Audit(self.composition(value), claim, verdict, measured)

    def located(self) -> tuple[Fraction, Fraction]:
        """About where the cost is the bound, and the doubt about it."""
        return self.search.located(self.cost, self.bound, self.family.start, _WIDTHS, _NEAR)

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
        self.family.refuse(self.claim, met)
