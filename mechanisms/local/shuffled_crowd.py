"""Two values of one user, and what all others report: what shuffling them costs (`shuffled`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flint import arb

from .shuffled_sums import Summand, excess


class Crowd(NamedTuple):
    """The laws of two values, and v: a law that all others have, or what they all have at least.

    mirrored: the same with the two values exchanged and reports renamed.
    """

    p: Sequence[arb]
    q: Sequence[arb]
    v: Sequence[arb]
    mirrored: bool

    def swapped(self) -> Crowd:
        """With the two values exchanged."""
        return Crowd(self.q, self.p, self.v, self.mirrored)

    def measured(self, users: int, odds: arb, width: float) -> Measured:
        """delta at e^epsilon = odds >= 1, at the working precision."""
        alone_p = alone_q = arb(0)
        values, masses, marks = list[arb](), list[arb](), list[arb]()
        for p, q, v in zip(self.p, self.q, self.v, strict=True):
            if v == 0:
                if not p - odds * q <= 0:
                    alone_p, alone_q = alone_p + p, alone_q + q
            else:
                values.append((p - odds * q) / v)
                masses.append(v)
                marks.append(q / v)
        found = excess(Summand(values, masses, marks), users, width)
        alone = alone_p - odds * alone_q
        least, most = found.marked
        return Measured(
            (alone + found.lower / users).lower().max(arb(0)),
            (alone.max(arb(0)) + found.upper / users).upper().min(arb(1)),
            (alone_p + (found.lower + odds * least) / users).lower().max(arb(0)).min(arb(1)),
            (alone_q + most / users).upper().min(arb(1)),
        )


class Measured(NamedTuple):
    """Bounds of delta, and a test that attains the lower one.

    power: at least what it has, level: at most what it has.
    """

    lower: arb
    upper: arb
    power: arb
    level: arb
