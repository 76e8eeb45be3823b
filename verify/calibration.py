"""Calibration: the least noise that meets a claim, as an exact decimal, and proof that it is least.

The value found is verified; a value smaller by at most 1e-9 of it is refuted. Where to look is
found in floats; both verdicts are certified.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from ..accounting.budget import Budget, compose
from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, decimal_text
from ..exact.precision import CAP
from ..mechanisms.laws.law import UndecidedError
from ..mechanisms.mechanism import Mechanism
from .audit import Audit, Verdict
from .claim import ApproxDP, Claim, PureDP, RenyiDP

__all__ = ["Calibration", "Family", "calibrate"]

_DIGITS = 12
_APART = Fraction(1, 10**9)  # how far apart the two values may be, relative to the larger
_LEAST, _LARGEST = Fraction(1, 10**9), Fraction(10**15)
_WIDTHS = tuple(Fraction(1, 10**digits) for digits in (5, 7, 10))
_FINER = tuple(Fraction(1, 10**digits) for digits in (10, 11, 13, 16, 24))
_WORK = 40.0  # about how many seconds one verdict may take where losses live on no lattice
_MOST_TURNS = 60
_GRID = Fraction(1, 10**_DIGITS)
_SHORT = 6  # digits


@dataclass(frozen=True)
class Family:
    """Mechanisms that differ in one number.

    build: the mechanism for a value. start: where to look first. is_whole: only whole numbers
    count. falls: the cost falls as the value grows (a noise), or else grows with it.
    """

    parameter: str
    build: Callable[[Fraction], Mechanism]
    start: float = 1.0
    is_whole: bool = False
    falls: bool = True


@dataclass(frozen=True)
class Calibration:
    """The value that meets the claim with the least noise, and a neighbour that does not."""

    parameter: str
    value: Fraction
    verified: Audit
    neighbour: Fraction
    refuted: Audit


def calibrate(family: Family, claim: Claim, times: ExactInput = 1) -> Calibration:
    """The least noise with which so many uses meet the claim together.

    Raises ParameterError where no value between 1e-9 and 1e15, or every one, meets it, and
    UndecidedError where the verdicts near the least one stay open.
    """
    search = _Search(family, claim, times)
    guess, doubt = search.located()
    low, high = search.bracketed(guess, doubt)
    return Calibration(family.parameter, high, search.audited(high), low, search.audited(low))


class _Search:
    """Values on the grid of decimals of 12 digits, and what is known of them."""

    def __init__(self, family: Family, claim: Claim, times: ExactInput) -> None:
        self.family, self.claim, self.times = family, claim, times
        self.least, self.largest = (Fraction(1) if family.is_whole else _LEAST), _LARGEST
        self.found: dict[Fraction, Enclosure] = {}
        # delta(0) rather than epsilon(delta), which is flat at 0
        self.by_delta = isinstance(claim, ApproxDP) and claim.epsilon == 0
        self.bound = claim.delta if self.by_delta and isinstance(claim, ApproxDP) else claim.bound
        if self.bound == 0:
            raise ParameterError(f"target {claim} cannot be met by any noise of this kind")
        if isinstance(claim, ApproxDP) and claim.delta == 1:
            self._refuse("every")

    def budget(self, value: Fraction) -> Budget:
        return compose((self.family.build(value), self.times))

    def cost(self, value: Fraction, width: Fraction) -> Enclosure:
        """What the claim bounds, at this value; intersected with all that was found before."""
        found = self._measured(self.budget(value), width)
        if value in self.found:
            found = found.intersection(self.found[value])
        self.found[value] = found
        return found

    def _measured(self, budget: Budget, width: Fraction) -> Enclosure:
        claim = self.claim
        if isinstance(claim, PureDP):
            return budget.pure(width)
        if isinstance(claim, RenyiDP):
            return budget.renyi(claim.order, width)
        if isinstance(claim, ApproxDP):
            if self.by_delta:
                return budget.delta(0, width, CAP, _WORK)
            return budget.epsilon(claim.delta, width, CAP, _WORK)
        return budget.zcdp(width)

    def met(self, value: Fraction) -> bool | None:
        """Does this value meet the claim? As narrow as it takes; None where it cannot be told."""
        answer = None if value not in self.found else self.found[value].at_most(self.bound)
        for width in (*_WIDTHS, *_FINER) if self.family.is_whole else _FINER:
            if answer is not None:
                return answer
            answer = self.cost(value, width).at_most(self.bound)
            if not self.found[value].is_within(width):
                return answer
        return answer

    def audited(self, value: Fraction) -> Audit:
        """The verdict on one of the two values, as it was found."""
        claim = self.claim
        measured = self.found[value]
        if self.by_delta:  # what an audit measures is epsilon
            zero = Enclosure.exactly(0)
            measured = zero if self.met(value) else self.budget(value).epsilon(self.bound)
        verdict = Verdict.VERIFIED if self.met(value) else Verdict.REFUTED
        return Audit(self.budget(value), claim, verdict, measured)

    # -- where to look ------------------------------------------------------------------------

    def located(self) -> tuple[float, float]:
        """About the value at which the cost is the bound, and the relative doubt about it."""
        goal = math.log(float(self.bound))
        log_value, slope = math.log(self.family.start), -1.0 if self.family.falls else 1.0
        last: tuple[float, float] | None = None
        below, above = math.log(float(self.least)), math.log(float(self.largest))
        doubt = 1.0
        for width in _WIDTHS:
            for _ in range(_MOST_TURNS):
                value = self._grid(math.exp(log_value))
                log_value = math.log(float(value))
                found = self.cost(value, width)
                height = _log_middle(found) - goal
                self._refuse_ends(value, found)
                if (height > 0) == self.family.falls:
                    below = max(below, log_value)
                else:
                    above = min(above, log_value)
                if last is not None and abs(log_value - last[0]) > 1e-7:
                    measured = (height - last[1]) / (log_value - last[0])
                    if measured * slope > 0 and math.isfinite(measured):
                        slope = math.copysign(min(max(abs(measured), 0.1), 50.0), slope)
                last = (log_value, height)
                step = -height / slope
                if not abs(step) < 3:
                    step = math.copysign(3.0, step)
                log_value = min(max(log_value + step, below - 1e-4), above + 1e-4)
                if abs(step) < 30 * float(width) or (self.family.is_whole and abs(step) < 0.1):
                    break
            doubt = _relative(found) / abs(slope)
            if self.family.is_whole:
                break
        return math.exp(log_value), doubt

    def _refuse_ends(self, value: Fraction, found: Enclosure) -> None:
        ends = (self.least, self.largest) if self.family.falls else (self.largest, self.least)
        met = found.at_most(self.bound)
        if value == ends[1] and met is not True:
            self._refuse("no")
        if value == ends[0] and met is True:
            self._refuse("every")

    def _refuse(self, which: str) -> None:
        low = "1" if self.family.is_whole else "1e-9"
        raise ParameterError(
            f"target {self.claim} is met by {which} {self.family.parameter} between {low} and 1e15"
        )

    def _grid(self, value: float) -> Fraction:
        clipped = min(max(Fraction(value), self.least), self.largest)
        return self._rounded(clipped, ROUND_CEILING)

    def _rounded(self, value: Fraction, rounding: str) -> Fraction:
        if self.family.is_whole:
            up = rounding == ROUND_CEILING
            return Fraction(max(1, math.ceil(value) if up else math.floor(value)))
        return _decimal(value, _DIGITS, rounding)

    # -- the two values -----------------------------------------------------------------------

    def bracketed(self, guess: float, doubt: float) -> tuple[Fraction, Fraction]:
        """(refuted, verified), on either side of the guess and close together."""
        toward = 1 if self.family.falls else -1  # where the noise grows
        near = Fraction(guess)
        good = self._search(near, toward, Fraction(doubt), True)
        bad = self._search(near, -toward, Fraction(doubt), False)
        while not self._is_close(good, bad):
            middle = self._rounded((good + bad) / 2, ROUND_CEILING)
            if middle in (good, bad):
                break
            answer = self.met(middle)
            if answer is None:
                raise UndecidedError(
                    f"{self.family.parameter} = {decimal_text(middle)} is too close to call"
                )
            good, bad = (middle, bad) if answer else (good, middle)
        simple = self._simplest(good, bad)
        if simple is not None and (answer := self.met(simple)) is not None:
            good, bad = (simple, bad) if answer else (good, simple)
        return bad, good

    def _simplest(self, good: Fraction, bad: Fraction) -> Fraction | None:
        """A short decimal between the two, if there is one: what a person would have guessed."""
        for digits in range(1, _SHORT + 1):
            value = _decimal(good, digits, ROUND_FLOOR if good > bad else ROUND_CEILING)
            if value == good:
                return None
            if min(good, bad) < value < max(good, bad):
                return value
        return None

    def _search(self, start: Fraction, side: int, step: Fraction, wanted: bool) -> Fraction:
        """The first value on this side of the start, by growing steps, with this answer."""
        rounding = ROUND_CEILING if side > 0 else ROUND_FLOOR
        last: Fraction | None = None
        for _ in range(_MOST_TURNS):
            value = self._rounded(start * (1 + side * step), rounding)
            if self.family.is_whole and last is not None and (value - last) * side <= 0:
                value = last + side
            if value < self.least:
                self._refuse("every" if self.family.falls else "no")
            if self.met(value) is wanted:
                return value
            last = value
            step = max(3 * step, _GRID)
            if step >= 1:
                break
        raise UndecidedError(
            f"the {self.family.parameter} near {float(start):.12g} could not be settled"
        )

    def _is_close(self, one: Fraction, other: Fraction) -> bool:
        if self.family.is_whole:
            return abs(one - other) <= 1
        return abs(one - other) <= _APART * max(one, other)


def _decimal(value: Fraction, digits: int, rounding: str) -> Fraction:
    context = Context(prec=digits, rounding=rounding)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _log_middle(found: Enclosure) -> float:
    if not found.is_finite():
        return 700.0
    middle = (Fraction(found.lower) + Fraction(found.upper)) / 2
    if middle <= 0:
        return -700.0
    return math.log(middle.numerator) - math.log(middle.denominator)


def _relative(found: Enclosure) -> float:
    if not found.is_finite() or not found.upper:
        return 1.0
    return float((Fraction(found.upper) - Fraction(found.lower)) / Fraction(found.upper))
