"""The least decimal whose mechanism is verified by what dominates it: of vectors, of rounds."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

from attrs import define, field

from ..accounting.composition.composed import Composition, Use
from ..accounting.solve import Query, from_above
from ..exact.budget import OutOfTimeError, spend, time_left
from ..exact.enclosure import Enclosure
from ..exact.number import ParameterError
from ..exact.search import Grid, Search
from ..mechanisms.mechanism import Mechanism
from .guarantee import Guarantee


@define
class LeastDominated:
    """What is known of the values that were tried, also where the time ended first.

    build: the mechanism with a value, whose cost falls as it grows. digits: of values. widths: at
    which costs are asked for, one after the other, until the verdict is certain; what then stays
    open is not verified. room: how many times as long as the longest so far must be left for
    another one to be begun. by_both: are costs measured from both sides, and not by what dominates
    alone? good, bad: the least that is verified, the largest that is not; None
    where there is none yet. done: are they next to each other?
    """

    build: Callable[[Fraction], Mechanism]
    uses: int
    claim: Guarantee
    digits: int
    widths: tuple[Fraction, ...]
    near: float
    room: float = 0.0
    by_both: bool = False
    good: Fraction | None = field(default=None, init=False)
    bad: Fraction | None = field(default=None, init=False)
    done: bool = field(default=False, init=False)
    known: dict[Fraction, Enclosure] = field(factory=dict, init=False)
    _found: dict[tuple[Fraction, Fraction], Enclosure] = field(factory=dict, init=False)
    _longest: float = field(default=0.0, init=False)

    def run(
        self, parameter: str, start: Fraction, ends: tuple[Fraction, Fraction], named: str
    ) -> None:
        """Find `good` and `bad`, a unit of the last digit apart, between these ends.

        named: the ends in words. Raises ParameterError where all values are verified, or none, and
        OutOfTimeError where the time ends first.
        """

        def refuse(value: Fraction, met: bool | None) -> None:
            which = "every" if met else "no"
            raise ParameterError(
                f"target {self.claim} is verified for {which} {parameter} between {named}"
            )

        search = Search(self.met, Grid(*ends, self.digits), refuse, parameter)
        if bound := self.claim.bound:
            widths, near = self.widths[:2], self.near / 100
            about = search.located(self._upper, bound, float(start), widths, near)
            bad, self.good = search.around(*about)
        else:  # where costs vanish they tell nothing of how far it is
            bad, self.good = search.narrowed(*search.bracketed(start))
        self.bad, self.done = bad or None, True

    def met(self, value: Fraction) -> bool:
        """Does what dominates meet the claim? False where it is too close to tell."""
        for width in self.widths:
            if (answer := self._asked(value, width).at_most(self.claim.bound)) is not None:
                break
        if not answer:
            self.bad = value if self.bad is None else max(self.bad, value)
        return bool(answer)

    def _upper(self, value: Fraction, width: Fraction) -> Enclosure:
        upper = self._asked(value, width).upper
        return Enclosure(upper, upper)

    def _asked(self, value: Fraction, width: Fraction) -> Enclosure:
        self.known[value] = found = self._measured(value, width)
        if found.at_most(self.claim.bound):
            self.good = value if self.good is None else min(self.good, value)
        return found

    def _measured(self, value: Fraction, width: Fraction) -> Enclosure:
        if (known := self._found.get((value, width))) is not None:
            return known
        if time_left() < self.room * self._longest:
            raise OutOfTimeError("the time allowed is over")
        spend()
        start = time.monotonic()
        uses = [Use(self.build(value), self.uses)]
        if self.by_both:
            found = self.claim.measure(Composition(uses), width)
        else:
            found = from_above(uses, Query(self.claim.figure, width))
        spend()
        self._longest = max(self._longest, time.monotonic() - start)
        self._found[value, width] = found
        return found
