"""The least, or the largest, value that meets a condition, and the one beside it that does not.

Floats choose where to look (`Search.located`, `roots.float_root`) and decide nothing. A `Search`
asks of values on a grid, keeps each certain answer, and returns two values that were asked, next
to each other, one on either side. That all beyond them answer likewise is for the caller to prove.
Where an answer stays open, or the time ends, it raises, and `nearest` is what is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import product

from attrs import define, field, frozen

from .enclosure import Enclosure
from .errors import UndecidedError
from .number import decimal_text, log_about
from .rounding import to_digits

_MOST_TURNS = 60
_NEAR = 100  # times as far as a cost may be off is near enough to ask for it more narrowly
_FAR_OFF = 10_000  # decimal digits: a fraction would have as many
_SURELY = 30  # times as far apart as they may be off must two costs be, to tell a slope
_FIRST = Fraction(1, 10**12)  # the least step that grows


@frozen
class Grid:
    """The values that are asked.

    least, largest: nothing beyond is. digits: of decimals; None for whole numbers. near: how far
    apart, relative to the larger, two may be to count as next to each other. short: a decimal of so
    many digits that lies between the two is asked as well: what a person would have guessed.
    rounding: of what lies in the middle, as `decimal` names it. blurred: as `near`, of two between
    which the condition cannot be told.
    """

    least: Fraction
    largest: Fraction
    digits: int | None = None
    near: Fraction = Fraction(0)
    short: int = 0
    rounding: str = ROUND_CEILING
    blurred: Fraction = Fraction(0)

    def rounded(self, value: Fraction, rounding: str = ROUND_CEILING) -> Fraction:
        """The next value, which may lie beyond an end."""
        if self.digits is None:
            return Fraction((math.ceil if rounding == ROUND_CEILING else math.floor)(value))
        return to_digits(value, self.digits, rounding)

    def clipped(self, value: Fraction) -> Fraction:
        """The value, or the end that it lies beyond."""
        return min(max(value, self.least), self.largest)

    def between(self, one: Fraction, other: Fraction) -> Fraction | None:
        """A value in the middle; None of two that are next to each other."""
        if abs(one - other) <= self.near * max(one, other):
            return None
        middle = self.rounded((one + other) / 2, self.rounding)
        return None if middle in (one, other) else middle

    def simplest(self, one: Fraction, other: Fraction) -> Fraction | None:
        """The shortest decimal between the two, if there is a short one and `one` is none."""
        for digits in range(1, self.short + 1):
            value = to_digits(one, digits, ROUND_FLOOR if one > other else ROUND_CEILING)
            if value == one:
                return None
            if min(one, other) < value < max(one, other):
                return value
        return None


@define
class Search:
    """What is known of a condition that values beyond some edge meet, up to exceptions.

    met: whether a value does; None where that stays open. rises: do the larger ones meet it?
    at_end: raises where the end of the grid has been asked, and the edge lies beyond: given that
    value and its answer. name: of the value, in errors.
    """

    met: Callable[[Fraction], bool | None]
    grid: Grid
    at_end: Callable[[Fraction, bool | None], None]
    name: str
    rises: bool = True
    answers: dict[Fraction, bool] = field(factory=dict, init=False)

    def ask(self, value: Fraction) -> bool | None:
        """Is it met? Asked once where it is certain."""
        answer = self.answers.get(value)
        if answer is None and (answer := self.met(value)) is not None:
            self.answers[value] = answer
        return answer

    def bracketed(self, start: Fraction) -> tuple[Fraction, Fraction]:
        """(not met, met), a factor of 2 apart, outward from the start; what is open is not met."""
        value = self.grid.clipped(self.grid.rounded(start))
        first = bool(self.ask(value))
        while True:
            other = self.grid.rounded(value / 2, ROUND_FLOOR) if first == self.rises else 2 * value
            other = self.grid.clipped(other)
            if other == value:
                self.at_end(value, first)
            if bool(self.ask(other)) != first:
                return (other, value) if first else (value, other)
            value = other

    def around(self, guess: Fraction, doubt: Fraction) -> tuple[Fraction, Fraction]:
        """(not met, met), next to each other, on either side of the guess and as far as needed."""
        side = 1 if self.rises else -1
        good = self.first(guess, side, doubt, True)
        return self.narrowed(self.first(guess, -side, doubt, False), good)

    def first(self, start: Fraction, side: int, step: Fraction, wanted: bool) -> Fraction:
        """The first value above (side 1) or below the start, by growing steps, with this answer.

        step: the first, relative to the start. Raises UndecidedError where none has it that is
        nearer than as far as the start is from 0.
        """
        rounding = ROUND_CEILING if side > 0 else ROUND_FLOOR
        last: Fraction | None = None
        start = self.grid.clipped(start)
        for _ in range(_MOST_TURNS):
            value = self.grid.rounded(start * (1 + side * step), rounding)
            if self.grid.digits is None and last is not None and (value - last) * side <= 0:
                value = last + side
            end = self.grid.clipped(value)
            met = self.ask(end)
            if met is wanted:
                return end
            if end != value:
                self.at_end(end, met)
            last, step = value, max(3 * step, _FIRST)
            if step >= 1:
                break
        raise UndecidedError(f"the {self.name} near {float(start):.12g} could not be settled")

    def narrowed(self, bad: Fraction, good: Fraction) -> tuple[Fraction, Fraction]:
        """(not met, met) next to each other, from two that are not."""
        while (middle := self.grid.between(good, bad)) is not None:
            if (answer := self.ask(middle)) is None:
                if abs(good - bad) <= self.grid.blurred * max(good, bad):
                    break
                raise UndecidedError(f"{self.name} = {decimal_text(middle)} is too close to call")
            good, bad = (middle, bad) if answer else (good, middle)
        simple = self.grid.simplest(good, bad)
        if simple is not None and (answer := self.ask(simple)) is not None:
            good, bad = (simple, bad) if answer else (good, simple)
        return bad, good

    def nearest(self) -> tuple[Fraction | None, Fraction | None]:
        """(not met, met) of all that are known nearest to each other; else the last of one kind."""
        bad, good = (
            [value for value, met in self.answers.items() if met is kind] for kind in (False, True)
        )
        if bad and good:
            return min(product(bad, good), key=lambda pair: abs(pair[0] - pair[1]))
        return (bad[-1] if bad else None), (good[-1] if good else None)

    def located(
        self,
        cost: Callable[[Fraction, Fraction], Enclosure],
        bound: Fraction,
        start: float,
        widths: Sequence[Fraction],
        near: float,
        slope: float = 1.0,
    ) -> tuple[Fraction, Fraction]:
        """About the value whose cost is the bound, and the relative doubt about it, by secants.

        cost: positive, of this relative width; asked for at one width after the other. start: where
        to look first; slope: of log cost in log value there, about, but for its sign. near: how
        narrowly the value is to be found. Raises as `at_end` does.
        """
        grid, goal = self.grid, log_about(bound)
        log_value, slope = math.log(start), -slope if self.rises else slope
        last: tuple[float, float, float] | None = None
        below, above = math.log(float(grid.least)), math.log(float(grid.largest))
        doubt = 1.0
        for width in widths:
            for _ in range(_MOST_TURNS):
                value = grid.rounded(grid.clipped(Fraction(math.exp(log_value))))
                log_value = math.log(float(value))
                found = cost(value, width)
                height = _log_middle(found) - goal
                self._leave_ends(value, found.at_most(bound))
                if (height > 0) == self.rises:
                    below = max(below, log_value)
                else:
                    above = min(above, log_value)
                off = _relative(found)
                if (
                    last is not None
                    and abs(log_value - last[0]) > 1e-7
                    and (abs(height - last[1]) > _SURELY * (off + last[2]) or off == 1)
                ):
                    measured = (height - last[1]) / (log_value - last[0])
                    if measured * slope > 0 and math.isfinite(measured):
                        slope = math.copysign(min(max(abs(measured), 0.1), 50.0), slope)
                last = (log_value, height, off)
                step = -height / slope
                if not abs(step) < 3:
                    step = math.copysign(3.0, step)
                log_value = min(max(log_value + step, below - 1e-4), above + 1e-4)
                # where a figure takes long, another one is not worth what it would tell
                enough = max(min(off, float(width)), float(grid.near) if found.why else near)
                if abs(step) < _NEAR * enough or (grid.digits is None and abs(step) < 0.1):
                    break
            doubt = _relative(found) / abs(slope)
            if found.why:  # near enough for two verdicts, and far enough to tell both at once
                doubt = max(doubt, 0.45 * float(grid.near))
            if grid.digits is None:
                break
        return Fraction(math.exp(log_value)), Fraction(doubt)

    def _leave_ends(self, value: Fraction, met: bool | None) -> None:
        ends = self.grid.least, self.grid.largest
        first, last = ends if self.rises else ends[::-1]
        if (value == last and met is not True) or (value == first and met):
            self.at_end(value, met)


def _log_middle(found: Enclosure) -> float:
    if not found.is_finite():
        return 700.0
    if found.upper <= 0:
        return -700.0
    high = log_about(found.upper)
    share = math.exp(log_about(found.lower) - high) if found.lower > 0 else 0.0
    return high + math.log1p(share) - math.log(2)


def _relative(found: Enclosure) -> float:
    if not found.is_finite() or not found.upper:
        return 1.0
    if isinstance(found.upper, Decimal) and abs(found.upper.adjusted()) > _FAR_OFF:
        gap = log_about(found.lower) - log_about(found.upper) if found.lower > 0 else -math.inf
        return max(0.0, -math.expm1(gap))
    return float((Fraction(found.upper) - Fraction(found.lower)) / Fraction(found.upper))
