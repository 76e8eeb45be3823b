"""The composed loss on its lattice: tails without discretisation error, at a cost that grows
neither with the number of uses nor with the noise.

Let the losses be L_k = origin + step k. On the line s = c + iy, c > 0, the function

    M(s) e^(-s L_k) / (1 - e^(-step s)),    M(s) = E e^(sL),

is periodic in y. Its mean over N equidistant nodes of one period is, expanding the geometric
series,

    sum over integers r of e^(c step N r) P(L >= L_(k + rN)):

the tail that is wanted (r = 0) and aliases, all positive. With Lambda = step N Chernoff's bound
P(L >= t) <= M(b) e^(-bt) bounds those with r > 0 by M(b) e^(-b L_k) sum_r e^(-(b-c) Lambda r) for
some b > c, those with r < 0 likewise for some 0 <= b < c. With e^(-step (s+1)) in the denominator
it is e^(L_k) Q(L >= L_k), with smaller aliases: Q has the density e^(-L) <= e^(-L_k) there.

Only the nodes near the real axis matter. Elsewhere M is bounded on whole blocks of nodes, by
evaluating it on a ball that contains them, and what is skipped is charged.
"""

from __future__ import annotations

import math
from collections.abc import Sized
from fractions import Fraction

from flint import acb, arb, ctx

from ...exact.budget import OutOfTimeError, spend
from ...exact.number import ball
from ...exact.precision import floor_of
from ...losses.planning import Saddle
from ..divergences.privacy_profile import Event, overlooked, shortfall
from .composite import Together, aliases, period

_BLOCK = 16  # so few nodes are evaluated one by one
_CLOSED = 30  # units of work that a transform takes; a listed one takes one an outcome


class LatticeTail:
    """Tails of the composed loss near one level, at the working precision of its creation."""

    def __init__(self, composite: Together, saddle: Saddle) -> None:
        lattice = composite.lattice()
        assert lattice is not None
        self.composite, self.lattice = composite, lattice
        unit = ball(lattice.unit)
        self.step = unit * ball(lattice.step)
        self.origin = unit * ball(lattice.origin) + composite.shift()
        # exact losses can be told from an exact level
        self.is_exact = isinstance(lattice.unit, Fraction) and composite.shift() == 0
        self.escaping, self.missing = ball(composite.infinite), composite.missing()
        # below the mean no small c is needed, which many nodes are
        _, mean, variance = composite.cumulant(saddle.c)
        c = max(saddle.c, 1 / (1 + abs(mean - saddle.level) + math.sqrt(variance)))
        # beyond this c one step already weighs more than the precision can tell
        c = min(c, 0.7 * ctx.prec / float(self.step.mid()))
        self.c = arb(c)
        length, sides = period(composite, c, saddle.level, 0.7 * ctx.prec + 10)
        if not math.isfinite(length):  # no float tells where to look: no time is enough
            raise OutOfTimeError("where the losses are to be looked at closely is not known")
        self.count = max(3, math.ceil(length / float(self.step.mid()))) | 1
        summit = lattice.summit  # as an index, the largest one
        self.top = None if summit is None else (summit - lattice.origin) / lattice.step
        self._sizes = {b: composite.size(acb(b)) for b in sides}
        self._evaluate()

    def exceeding(self, level: arb, exact_level: Fraction | None = None) -> Event:
        """The event {L > level}."""
        lattice = self.lattice
        if exact_level is not None and self.is_exact:
            assert isinstance(lattice.unit, Fraction)
            first = math.floor((exact_level / lattice.unit - lattice.origin) / lattice.step) + 1
        else:
            first = floor_of((level - self.origin) / self.step) + 1
        if self.top is not None and first > self.top:
            return Event(self.escaping, arb(0), self.missing.upper())
        loss = self._loss(first)
        p, q = self._tails(loss)
        excess = shortfall(p, level, loss) + overlooked(level, self._loss(first - 1))
        if exact_level is not None and self.is_exact:
            excess = arb(0)
        return Event(p + self.escaping, q, excess + self.missing.upper(), first, None)

    def _loss(self, index: int) -> arb:
        return self.origin + self.step * index

    def _tails(self, loss: arb) -> tuple[arb, arb]:
        """P(L >= loss) and Q(L >= loss), both finite."""
        spend(len(self.nodes) * ctx.prec / 30)  # microseconds, as measured
        p, q = arb(0), arb(0)
        for s, value_p, value_q in self.nodes:
            wave = (s * -loss).exp()
            p += (value_p * wave).real
            q += (value_q * wave).real
        error = (self.skipped * (-self.c * loss).exp()).upper()
        added = aliases(self._sizes, self.c, self.step * self.count, loss).upper()
        p, q = ((value - added).union(value) + arb(0, error) for value in (p, q))
        return p.max(arb(0)), q.max(arb(0)) * (-loss).exp()

    def _evaluate(self) -> None:
        """The nodes that matter, with M(s) over either denominator and 1/N, and what is skipped."""
        self.nodes: list[tuple[acb, acb, acb]] = []
        self.skipped = arb(0)
        spacing = 2 * arb.pi() / (self.step * self.count)
        centre = self.composite.transform(acb(self.c)).real
        floor = centre.lower() * arb(2) ** -(ctx.prec + 20)
        self._add(0, acb(self.c), 1)
        pending = [(1, self.count // 2)]
        laws = [law for law, _ in self.composite.parts]
        work = sum(len(law) if isinstance(law, Sized) else _CLOSED for law in laws)
        while pending:
            spend(work)
            first, last = pending.pop()
            if last - first < _BLOCK:
                spend(work * (last - first))
                for j in range(first, last + 1):
                    self._add(j, acb(self.c, spacing * j), 2)
                continue
            block = acb(self.c, (spacing * first).union(spacing * last))
            size = self.composite.size(block)
            if size * (last - first + 1) < floor:
                # |1/(1 - e^(-step s))| <= 1/(1 - e^(-step c)); both sides of the real axis
                size *= 2 * (last - first + 1)
                self.skipped += size / self.count / (1 - (-self.step * self.c).exp())
                continue
            middle = (first + last) // 2
            pending += [(middle + 1, last), (first, middle)]

    def _add(self, index: int, s: acb, weight: int) -> None:
        value = self.composite.transform(s) * weight / self.count
        fall = (-self.step * s).exp()
        value_q = value / (1 - fall * (-self.step).exp())
        self.nodes.append((s, value / (1 - fall), value_q))
