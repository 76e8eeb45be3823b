"""delta(epsilon) and epsilon(delta) of independent losses together, on one lattice, from both
sides.

W is the sum of the losses as their coins leave them (`cells`). With A(t) = P(W >= t), B(t) = E_P
e^(-W) 1{W >= t} and h the step, for a level in [(t - 1) h, t h],

    P(W >= t) - e^level Q(W >= t) <= delta(level) <= A(t) - e^level B(t)   (in units: t h for t).

**Tilt.** P's masses times e^(c W), Q's times e^((c + 1) W), scaled to add up to about 1, are
convolved by Fourier transforms modulo N points. Let the computed masses m' and the true ones m
satisfy |m - m'|_1 <= stray. Then sums of m e^(s - c k h) over k >= t are off by at most stray e^(s
- c t h), and sums of m e^(s - c k h) f(k h), f(x) = (1 - e^(level - x))^+, by stray e^(s - c level)
C with C = max_x e^(-c x) (1 - e^(-x)) = c^c/(1 + c)^(1 + c). Factors of masses at most B_i with
strays r_i make a product off by prod B_i sum r_i/B_i. An error `noise` in the 2-norm instead puts
sums from t on off by at most noise e^(s - c t h)/sqrt(1 - e^(-2 c h)) (Cauchy and Schwarz), or
counts as stray noise sqrt(N).

**Aliases.** The window is first, ..., first + N - 1, and mass at x comes back at x + r N. Of a sum
from t on, t in the window, at most e^(s - c t h) (P(X >= t + N) + E[e^(-c h (X + N - t)^+); X <
first]) is too much, X the tilted W in steps, and sum_{x >= first + N} m_x e^(s - c x h) is missing.
By Chernoff, with u > 0: P(X >= t + N) <= e^(-u (t + N) h) E e^(u X h). With 0 < v <= c: E e^(-c h
(X + N - t)^+) <= e^(-v (N - t) h) E e^(-v X h); with any v > 0: P(X < first) <= e^(v (first - 1) h)
E e^(-v X h). What is missing is at most e^(s - (c + u)(first + N) h) E e^(u X h). An upper bound of
delta needs only what is missing. For a sum that is composed further, all that leaves the window
counts twice as stray.

**Moments.** log E e^(s W) of one use is bounded above by its gathered masses (`cells.gathered`).
Coarsening to a step H adds at most (s^2 + s^+) H^2/8: given the finer W the move D has a range of H
and E e^(-D) = 1, so that 0 <= E D <= H^2/8 and log E e^(s D) <= s E D + s^2 H^2/8 (Hoeffding,
twice).

**Rare large losses.** The measure of W of one use is near + large, large its large losses. Of K
uses more than m have a large one with tilted mass at most binom(K, m + 1) |large|^(m + 1) |near +
large|^(K - m - 1), a stray. The rest is near^(K - m) sum_{J <= m} binom(K, J) near^(m - J) large^J:
only near^(K - m) needs fine lattices.

The error of a transform is in `fourier`; what floats choose, in `planning`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from flint import arb
from numpy.typing import NDArray

from ..exact.budget import SECOND, spend
from ..exact.precision import floor_of
from ..exact.roots import first_met
from .cells import Cells, Loss, Pair, Reals, gathered, log_about, on_lattice
from .fourier import SAFE, TINY, Spectrum, U, as_floats, backward, forward, series
from .planning import LEAST_STEP, Plan, Sketch, Sketches, Window, planned

Parts: TypeAlias = Sequence[tuple[Loss, int]]

BITS = 128  # of the balls that masses and answers are computed in
FOLD = 8  # uses that are added up before the lattice is coarsened
_FINEST = 2.0**16  # by so much finer than the last is the first lattice, at most
_NEAR = 0.7  # rare losses are told apart where the others need so much less of a window
A_SECOND = 2e7  # of steps, about, is a second of the processor
_PLAN = 200_000  # what a plan costs, in steps of a transform
_TOO_OFF = 1e-3  # of tilted mass
_STAYS, _MOST_FINER, _DEARER = 0.8, 16, 1.25  # of a gap; of points; what more points cost more
# Of the last sum, and of any on the way: up to there the bounds of rounding are proved (`fourier`).
MOST_POINTS, _MOST_ROOM = 1 << 20, 1 << 22


@frozen(eq=False)
class Weights:
    """Tilted masses of W at lattice points, P's over e^scale[0], Q's over e^scale[1].

    stray: how far off in the 1-norm; noise: besides, in the 2-norm. moments(s): upper bounds of
    log E_P e^(s W) and of log E_Q e^((s + 1) W).
    """

    indices: NDArray[np.int64]
    p: Reals
    q: Reals
    scale: Pair
    stray: float
    noise: float
    moments: Callable[[arb], Pair]

    @property
    def error(self) -> float:
        """All of it in the 1-norm."""
        return (self.stray + self.noise * math.sqrt(len(self.indices))) * SAFE

    @property
    def most(self) -> float:
        """Not below the 1-norms of the true and of the computed masses, P's and Q's."""
        return max(float(np.abs(term).sum()) for term in (self.p, self.q)) * SAFE + self.error

    @property
    def least(self) -> float:
        """Not above the 1-norms of the true masses."""
        return min(float(np.abs(term).sum()) for term in (self.p, self.q)) / SAFE - self.error

    def coarsened(self, step: arb, size: int, tilt: arb) -> Weights:
        """On a lattice of `size` times this step: a coin for every point between two."""
        if size == 1:
            return self
        wide, first = step * size, int(self.indices[0]) // size
        below, remainder = self.indices // size - first, self.indices % size
        count = int(below[-1]) + 2
        coins = [((-step * i).expm1() / (-wide).expm1()).upper().min(arb(1)) for i in range(size)]

        def moved(masses: Reals, s: arb) -> Reals:
            low, _ = as_floats([(1 - c) * (-s * step * i).exp() for i, c in enumerate(coins)])
            high, _ = as_floats([c * (s * (wide - step * i)).exp() for i, c in enumerate(coins)])
            return np.asarray(
                np.bincount(below, masses * low[remainder], count)
                + np.bincount(below + 1, masses * high[remainder], count),
                dtype=np.float64,
            )

        stretch = float(((tilt + 1) * wide).exp().upper())  # no mass grows by more
        stray = stretch * (self.error + (2 * size + 8) * U * self.most) * SAFE

        def grown(s: arb) -> arb:
            return (wide * wide * (s * s + s.max(arb(0))) / 8).upper() * SAFE  # coins round up

        def moments(s: arb) -> Pair:
            p, q = self.moments(s)
            return p + grown(s), q + grown(s + 1)

        indices = np.arange(first, first + count)
        p, q = moved(self.p, tilt), moved(self.q, tilt + 1)
        return Weights(indices, p, q, self.scale, stray, 0.0, moments)


def weights_of(masses: Sequence[tuple[int, Pair]], step: arb, tilt: arb, scale: arb) -> Weights:
    """Of one use, or a part of it; masses in the order of their places."""
    waves = [((tilt * step * k - scale).exp(), (step * k).exp()) for k, _ in masses]
    p = [mass * wave for (_, (mass, _)), (wave, _) in zip(masses, waves, strict=True)]
    q = [mass * wave * more for (_, (_, mass)), (wave, more) in zip(masses, waves, strict=True)]
    (p_floats, p_off), (q_floats, q_off) = as_floats(p), as_floats(q)
    indices = np.array([k for k, _ in masses], dtype=np.int64)
    mean = float((p_floats * indices).sum()) / (float(p_floats.sum()) or 1.0)
    spread = math.sqrt(float((p_floats * (indices - mean) ** 2).sum()))
    knots = gathered(indices, p, q, max(int(spread / 16), 1) if spread < math.inf else 1)

    def moments(s: arb) -> Pair:
        moved = [((s - tilt) * step * k).exp() for k, *_ in knots]
        p, q = (
            sum((term[i] * x for term, x in zip(knots, moved, strict=True)), arb(0)) for i in (1, 2)
        )
        return scale + p.log(), scale + q.log()

    return Weights(indices, p_floats, q_floats, (scale, scale), max(p_off, q_off), 0.0, moments)


@frozen(eq=False)
class Power:
    """So many uses of the same weights."""

    term: Weights
    count: int

    @property
    def scale(self) -> Pair:
        """Of the product."""
        p, q = self.term.scale
        return self.count * p, self.count * q

    @property
    def bounds(self) -> tuple[float, float]:
        """Of its mass, and of its error in the 1-norm."""
        most = self.term.most
        error = self.count * self.term.error * _raised(most, self.count - 1)
        return _raised(most, self.count) * SAFE, error * SAFE

    def moments(self, s: arb) -> Pair:
        p, q = self.term.moments(s)
        return self.count * p, self.count * q

    def spectra(self, size: int) -> tuple[Spectrum, Spectrum]:
        """Transforms of P's and of Q's masses."""
        p, q = forward(self.term.indices, self.term.p, self.term.q, size)
        return p.power(self.count), q.power(self.count)


@frozen(eq=False)
class Rare:
    """sum_{J <= most} binom(count, J) near^(most - J) large^J: of at most so many large losses.

    others: not above the mass of near^(count - most), which it is multiplied with.
    """

    near: Weights
    large: Weights
    most: int
    count: int
    others: float

    @property
    def scale(self) -> Pair:
        """Of every term."""
        p, q = self.near.scale
        return self.most * p, self.most * q

    @property
    def _terms(self) -> list[tuple[int, int, int]]:
        return [(math.comb(self.count, j), self.most - j, j) for j in range(self.most + 1)]

    @property
    def bounds(self) -> tuple[float, float]:
        """As of `Power`; more than `most` large losses are part of the error."""
        near, large, more = self.near, self.large, self.most + 1
        a, b = near.most, large.most
        each = [c * _raised(a, i) * _raised(b, j) for c, i, j in self._terms]
        shares = (i * near.error / a + j * large.error / b for _, i, j in self._terms)
        error = sum(term * share for term, share in zip(each, shares, strict=True))
        left_out = (
            math.comb(self.count, more) * _raised(b, more) * _raised(a + b, self.count - more)
        )
        stray = (error + left_out / self.others) * SAFE if self.others > 0 else math.inf
        return sum(each) * SAFE, stray

    def moments(self, s: arb) -> Pair:
        near, large = self.near.moments(s), self.large.moments(s)
        p, q = (
            sum((c * (i * a + j * b).exp() for c, i, j in self._terms), arb(0)).log()
            for a, b in zip(near, large, strict=True)
        )
        return p, q

    def spectra(self, size: int) -> tuple[Spectrum, Spectrum]:
        """By Horner's scheme in near."""
        near, large = (
            forward(term.indices, term.p, term.q, size) for term in (self.near, self.large)
        )

        def total(a: Spectrum, b: Spectrum) -> Spectrum:
            terms = self._terms
            result, raised = a.plus(b.scaled(terms[1][0])), b
            for c, _, _ in terms[2:]:
                raised = raised.times(b)
                result = result.times(a).plus(raised.scaled(c))
            return result

        return total(near[0], large[0]), total(near[1], large[1])


Factor: TypeAlias = Power | Rare


def _raised(mass: float, count: int) -> float:
    try:
        return mass**count
    except OverflowError:
        return math.inf


class Sum(NamedTuple):
    """Weights of a sum before what leaves the window is charged.

    up: u and log E e^(u X h); down: v and log E e^(-v X h); for P and for Q.
    """

    weights: Weights
    up: tuple[arb, Pair]
    down: tuple[arb, Pair]

    def closed(self, step: arb) -> Weights:
        """To be composed further: what leaves the window counts twice."""
        w, outside = self.weights, arb(0)
        (u, above), (v, below) = self.up, self.down
        outside += (above[0].max(above[1]) - u * (int(w.indices[-1]) + 1) * step).exp()
        outside += (below[0].max(below[1]) + v * (int(w.indices[0]) - 1) * step).exp()
        return evolve(w, stray=(w.stray + 2 * float(outside.upper())) * SAFE)


def added(factors: Sequence[Factor], step: arb, tilt: arb, window: Window, size: int) -> Sum:
    """The sum of all of these, in a window of so many points."""
    spectra, whole, share = factors[0].spectra(size), 1.0, 0.0
    for factor in factors[1:]:
        p, q = factor.spectra(size)
        spectra = spectra[0].times(p), spectra[1].times(q)
    for mass, error in (factor.bounds for factor in factors):
        whole, share = whole * mass, share + (error / mass if mass else math.inf)
    first = math.floor(window.first / float(step))
    p_masses, q_masses, noise = backward(*spectra, size)
    p_rolled, q_rolled = (np.roll(masses, -(first % size)) for masses in (p_masses, q_masses))
    scale = _total(factor.scale for factor in factors)

    def moments(s: arb) -> Pair:
        return _total(factor.moments(s) for factor in factors)

    def beyond(t: arb) -> Pair:
        p, q = moments(tilt + t)
        return p - scale[0], q - scale[1]

    up, down = arb(window.up), arb(window.down)
    indices = np.arange(first, first + size)
    stray = whole * share * SAFE
    weights = Weights(indices, p_rolled, q_rolled, scale, stray, noise, moments)
    return Sum(weights, (up, beyond(up)), (down, beyond(-down)))


def _total(pairs: Iterable[Pair]) -> Pair:
    p, q = zip(*pairs, strict=True)
    return sum(p, arb(0)), sum(q, arb(0))


def folded(
    loss: Loss, sketch: Sketch, plan: Plan, attained: bool, may_split: bool = True
) -> tuple[list[Factor], Cells, int]:
    """Sums of uses of one loss, on the lattice of the plan; the cells of one; what all cost.

    Sums of few uses are narrow, and live on finer lattices of as many points. So FOLD uses are
    added up at a time, then coarsened: the coins' error grows with the logarithm of the count.
    attained: of the statistic of what is attained. may_split: whether rare large losses may be told
    apart.
    """
    tilt, count, near, most, cut = arb(plan.tilt), sketch.releases, sketch, 0, math.inf
    left = count

    def window(releases: int) -> Window:
        nats = plan.nats + math.log(count / releases)
        return Sketches([near._replace(releases=releases)]).whole(plan.tilt, nats)

    if may_split and count > 4 * FOLD and (rare := sketch.rare(plan.tilt, plan.nats)) is not None:
        length, small = window(FOLD).length, sketch.losses < rare[0]
        if small.any() and count > 2 * rare[1]:
            near = Sketch(sketch.losses[small], sketch.logs[small], count)
            if window(FOLD).length < _NEAR * length:
                cut, most = (float(near.losses.max()) + rare[0]) / 2, rare[1]
                left = count - most
            else:
                near = sketch
    sums = [FOLD**i for i in range(1, 64) if 2 * FOLD**i <= left]  # uses added up, level by level
    finest = min(_FINEST, plan.step / (sketch.most * LEAST_STEP + TINY))
    finer = [1]  # by how much than the last lattice, from the last level to the first
    for releases in sums[::-1]:
        ideal = min(plan.step * (plan.points - 16) / window(releases).length, finest)
        finer.append(finer[-1] * max(math.floor(ideal / finer[-1]), 1))
    cost, step = 0, arb(plan.step) / finer[-1]
    log_mass = float(sketch.cumulant(plan.tilt)[0]) / count
    cells = loss.cells(step, plan.tilt, plan.points)
    some = cells.cells if cells.attained is None or not attained else cells.attained
    masses = sorted(on_lattice(some, step).items())
    cost += cells.cost
    split = sum(k * float(step) < cut for k, _ in masses)
    if split in (0, len(masses)):  # nothing to tell apart
        split, left = len(masses), count
    factors, scale = list[Factor](), arb(log_mass)
    here = weights_of(masses[:split], step, tilt, scale)
    if split < len(masses):
        large = weights_of(masses[split:], step, tilt, scale)
        others = _raised(max(here.least, 0.0), count - most)  # coarsening only adds to it
        near_wide, large_wide = (w.coarsened(step, finer[-1], tilt) for w in (here, large))
        factors.append(Rare(near_wide, large_wide, most, count, others))
        if not factors[0].bounds[1] < _TOO_OFF:  # on this lattice the cut parts what is not rare
            return folded(loss, sketch, plan, attained, may_split=False)

    def multiple(term: Weights, times: int, releases: int, ratio: int) -> Weights:
        nonlocal cost
        some = window(releases)
        room = 1 << math.ceil(some.length / float(step) + 16).bit_length()
        if room > _MOST_ROOM:
            raise ArithmeticError("a sum on the way spans more points than are kept")
        cost += 2 * room * room.bit_length()
        return (
            added([Power(term, times)], step, tilt, some, room)
            .closed(step)
            .coarsened(step, ratio, tilt)
        )

    for releases in sums:
        ratio, (left, remainder) = finer.pop(), divmod(left, FOLD)
        if remainder:
            factors.append(Power(multiple(here, remainder, releases // FOLD * remainder, ratio), 1))
        here = multiple(here, FOLD, releases, ratio // finer[-1])
        step = arb(plan.step) / finer[-1]
    return [*factors, Power(here, left)], cells, cost


# -- both ends -------------------------------------------------------------------------------------


@frozen
class Charged:
    """What is off besides: an event weighs so much less under P, so much more under Q, at most, and
    delta(level) slack (1 + e^level) more.
    """

    p: arb = field(factory=arb)
    q: arb = field(factory=arb)
    slack: arb = field(factory=arb)

    def above(self, odds: arb) -> arb:
        """How much more delta may be, odds = e^level."""
        return self.slack * (1 + odds)

    @property
    def are_none(self) -> bool:
        """Is nothing charged at all?"""
        return bool(self.p == 0 and self.q == 0)


@frozen(eq=False, slots=False)
class Composed:
    """The sum of all losses. infinite: P of an infinite one; lost: P-mass left out, at most."""

    sum: Sum
    step: arb
    tilt: arb
    infinite: arb
    lost: arb
    charged: Charged

    def delta(self, epsilon: arb) -> Pair:
        """Bounds of delta(level), level >= 0."""
        t = floor_of((epsilon / self.step).lower()) + 1  # (t - 1) h <= level
        upper = arb(1)
        if t > self._last:  # all that counts left the window at its upper end
            upper = self._extra(epsilon, self._last + 1)
        elif t >= self._first:
            a, b = self._tail(0, 0, t), self._tail(0, 1, t)
            late = (epsilon - self.step * t).expm1().upper().max(arb(0))  # if t h is below
            slip = a.upper() * late
            upper = a - epsilon.exp() * b + slip + self._extra(epsilon, t)
        odds = math.exp(min(float(epsilon - self._first * self.step), 700.0))
        p, q = self._event(self._best(lambda p, q: p - odds * q))
        lower = self._above_zero(p - epsilon.exp() * q)
        return lower, _certain(upper.upper(), arb(1)).min(arb(1))

    def epsilon(self, delta: arb) -> Pair:
        """Bounds of the least level >= 0 with delta(level) <= delta."""

        goal = float(((delta - self.infinite) / self._unit(0, self._first)).mid())
        p, q = self._event(self._best(lambda p, q: (p - goal) / q))
        gain = (p - delta).lower()
        lower = self._above_zero((gain / q).log() if gain > 0 and q > 0 else arb(0))
        return lower, _certain(self._beyond(delta).upper(), arb.pos_inf()).max(arb(0))

    @staticmethod
    def _above_zero(lower: arb) -> arb:
        return _certain(lower.lower(), arb(0)).max(arb(0))

    def _beyond(self, delta: arb) -> arb:
        """A level where delta is at most this: from (t - 1) h to t h, A - e^level B + const is."""

        def gain(t: int) -> arb:
            extra = self._extra((t - 1) * self.step, t)
            return (self._tail(0, 0, t) + extra - delta).upper()

        def met(t: int) -> bool:
            return bool(gain(t) <= (t * self.step).exp() * self._tail(0, 1, t).lower())

        t = first_met(met, max(self._first, 0), self._last + 1)
        if t > self._last:
            return arb.pos_inf()
        floor, rest, below = (t - 1) * self.step, gain(t), self._tail(0, 1, t)
        if rest <= 0 and below >= 0:
            return floor
        level = (rest / below).log().upper().max(floor)
        return level if below > 0 and level <= t * self.step else t * self.step

    def _event(self, t: int) -> Pair:
        """P of W >= t or an infinite loss, at least, and Q of it, at most; t in the window."""
        stray, off = self.sum.weights.stray, self.charged
        p = (
            self._tail(0, 0, t)
            - self._unit(0, t) * (stray + self._aliases(t))
            - self._missing(0, t)
        )
        q = self._tail(1, 0, t) + self._unit(1, t) * stray + self._missing(1, t)
        return (p.max(arb(0)) + self.infinite - off.p).lower(), (q + off.q).upper()

    def _extra(self, epsilon: arb, t: int) -> arb:
        """At most what is not computed adds to delta from this level to t h; (t - 1) h <= level."""
        w, c = self.sum.weights, self.tilt
        stray = (c * c.log() - (1 + c) * c.log1p() + w.scale[0] - c * epsilon).exp() * w.stray
        slack = self.charged.above((t * self.step).max(epsilon).exp())
        return (stray + self._missing(0, t) + self.infinite + self.lost + slack).upper()

    def _tail(self, which: int, more: int, t: int) -> arb:
        """Computed masses of P (0) or Q (1) from t on, their tilt undone, times e^(-more W)."""
        w, s = self.sum.weights, self.tilt + which + more
        values = (w.p, w.q)[which][t - self._first :]
        return series(values, (-s * self.step).exp()) * (w.scale[which] - s * self.step * t).exp()

    def _unit(self, which: int, t: int) -> arb:
        """A tilted mass of 1 at t."""
        return (self.sum.weights.scale[which] - (self.tilt + which) * self.step * t).exp()

    def _missing(self, which: int, t: int) -> arb:
        """At most what left the window at its upper end, and what noise adds from t on."""
        w, (u, logs) = self.sum.weights, self.sum.up
        end, fall = self._last + 1, -(-2 * (self.tilt + which) * self.step).expm1()
        left = self._unit(which, end) * (logs[which] - u * end * self.step).exp()
        return left + self._unit(which, t) * w.noise / fall.sqrt()

    def _aliases(self, t: int) -> arb:
        """At most what came back into P's window from t on, in units of a tilted mass at t."""
        w, (u, up), (v, down) = self.sum.weights, self.sum.up, self.sum.down
        size = len(w.indices)
        low = t - size if v <= self.tilt else self._first - 1
        return (up[0] - u * (t + size) * self.step).exp() + (down[0] + v * low * self.step).exp()

    @property
    def _first(self) -> int:
        return int(self.sum.weights.indices[0])

    @property
    def _last(self) -> int:
        return int(self.sum.weights.indices[-1])

    @np.errstate(all="ignore")
    def _best(self, gain: Callable[[Reals, Reals], Reals]) -> int:
        """Where P(W >= t) and e^f Q(W >= t) gain most, in P's unit at f = first h, about."""
        w, h, c = self.sum.weights, float(self.step), float(self.tilt)
        off, k = w.stray + w.noise / math.sqrt(max(-math.expm1(-2 * c * h), 1e-300)), len(w.p)

        def tails(values: Reals, s: float, log: float, sign: int) -> Reals:
            wave = np.exp(np.minimum(log - s * h * np.arange(k), 700.0))
            found: Reals = np.cumsum((values * wave)[::-1])[::-1] + sign * off * wave
            return found

        p = tails(w.p, c, 0.0, -1)
        q = tails(w.q, c + 1, float(w.scale[1] - w.scale[0]), 1)
        gains = gain(p, q)
        best = np.where(np.isfinite(gains) & (q > 0), gains, -np.inf)
        return self._first + int(np.argmax(best))


def _certain(value: arb, otherwise: arb) -> arb:
    """The value, or what holds anyway where floats chose so badly that there is none."""
    return otherwise if value.is_nan() else value


class Answer(NamedTuple):
    """Both ends; what all of it cost until now, and the cells of the last lattice."""

    lower: arb
    upper: arb
    cost: int
    cells_cost: int


@np.errstate(all="ignore")
def compose(
    parts: Parts,
    points: int,
    *,
    delta: arb | None = None,
    epsilon: arb | None = None,
    charged: Charged | None = None,
    near: tuple[float, float] | None = None,
    attained: bool = False,
) -> Answer:
    """epsilon(delta), or delta at this level, of the sum of all losses on so many points.

    near: between which levels epsilon(delta) is known to lie. attained: of the statistics that are
    attained, which bound it from below only.
    """
    infinite = -sum((times * (-term.escaping()).log1p() for term, times in parts), arb(0)).expm1()
    log_delta = None
    if delta is not None:
        log_delta = max(log_about(delta - infinite), log_about(delta) - 30)
    level = None if epsilon is None else float(epsilon.mid())
    sketches = [Sketch.of(*term.sketch(), times) for term, times in parts]
    plan = planned(sketches, points, log_delta, level, near if level is None else (level, level))
    each = [
        folded(term, sketch, plan, attained)
        for (term, _), sketch in zip(parts, plan.sketches, strict=True)
    ]
    factors = [factor for some, *_ in each for factor in some]
    step, tilt = arb(plan.step), arb(plan.tilt)
    whole = added(factors, step, tilt, plan.window, plan.points)
    missing = (n * cells.missing for (_, n), (_, cells, _) in zip(parts, each, strict=True))
    lost, cost = sum(missing, arb(0)).upper(), _PLAN + sum(some for *_, some in each)
    cost += (len(factors) + 1) * points * points.bit_length()
    total = Composed(whole, step, tilt, infinite, lost, charged or Charged())
    if epsilon is not None:
        ends = total.delta(epsilon)
    else:
        assert delta is not None
        ends = total.epsilon(delta)
    return Answer(*ends, cost, sum(cells.cost for _, cells, _ in each))


def refined(
    parts: Parts,
    *,
    delta: arb | None = None,
    epsilon: arb | None = None,
    attained: Parts | None = None,
    charged: Charged | None = None,
    width: float = 0.0,
    units: float = math.inf,
    points: int = 1 << 12,
) -> Iterator[Answer]:
    """Ever narrower bounds of epsilon(delta) or of delta(level), on ever more points.

    attained: where `parts` only dominate what is asked, losses by whose statistics (`Cells`) the
    lower end is. width: relative; units: of work, the same on every machine, and counted when the
    next is asked for. The last one is as narrow, or the next would cost more, or finer lattices
    make it no narrower.
    """
    lower, upper, gap, spent = arb(0), arb.pos_inf() if epsilon is None else arb(1), math.inf, 0
    stays = 1  # how often finer lattices may bring nothing
    composed = partial(compose, delta=delta, epsilon=epsilon, charged=charged)

    def next_cost(ratio: int) -> float:
        """Cells are of second order: twice as many for 4 times the points."""
        return _DEARER * (ratio * points_cost + math.sqrt(ratio) * cells_cost)

    while True:
        near = (float(lower), float(upper)) if upper.is_finite() else None
        sides = [(parts, False), (attained, True)] if attained else [(parts, False)]
        answers = [composed(some, points, near=near, attained=least) for some, least in sides]
        cells_cost = sum(answer.cells_cost for answer in answers)
        points_cost = sum(answer.cost for answer in answers) - cells_cost
        spent += points_cost + cells_cost
        lower, upper = lower.max(answers[-1].lower).lower(), upper.min(answers[0].upper).upper()
        yield Answer(lower, upper, spent, cells_cost)
        spend((points_cost + cells_cost) / A_SECOND * SECOND)
        before, gap = gap, float(((upper - lower) / upper).mid()) if upper.is_finite() else math.inf
        stays -= before < 1 and gap > _STAYS * before
        if not gap > width or stays < 0:
            return
        finer = min(math.sqrt(gap / width) * 1.2, _MOST_FINER) if width else _MOST_FINER
        ratio = 4 if gap == math.inf else 1 << max(math.ceil(math.log2(finer)), 2)
        while ratio > 1 and (points * ratio > MOST_POINTS or spent + next_cost(ratio) > units):
            ratio //= 2
        if ratio == 1:
            return
        points *= ratio
