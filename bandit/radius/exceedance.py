"""E (W - u)^+ for W = Bin(2n, 1/2) - n: what rewards of unknown law are compared with.

x_1, ..., x_n and x'_1, ..., x'_n independent in [0, 1], the means of the x summing to no more than
those of the x'. Then for every convex non-decreasing f

    E f(sum x_i - sum x'_i) <= E f(W)

(Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 1963, section 5,
and "On the distribution of the number of successes in independent trials", Ann. Math. Stat. 1956).
Proof. sum x_i + sum (1 - x'_i) is a sum of 2n independent variables in [0, 1] with mean at most n.
On [0, 1] a convex function lies below its chord, so each variable may be replaced by a Bernoulli
one of its mean. Of two of these, with success probabilities q and r, E f(s + B + B') =
f(s) + (q + r) (f(s+1) - f(s)) + q r (f(s+2) - 2 f(s+1) + f(s)): for q + r fixed, averaging them can
only raise it; so all become equal, and raising them all to 1/2 raises it as f does not fall.

By de Moivre's formula sum_{j >= m} (j - n) P(B = j) = (m/2) P(B = m), for B = W + n:

    E (W - u)^+ = (m/2) P(B = m) - u P(B >= m),     m = n + u + 1.

From there downward tail sums are simply added up: E (W - u)^+ at u - 1 is that at u plus
P(W >= u), and it is linear between integers. Of many users only the stretches that are asked for
are tabulated so, each from its upper end.

How likely an arm looks better by k than one that is at least as good: a certified bound.

D = (sum of n encoded rewards of arm a) - (the same for arm a*) + Y in units of 1/g, where the mean
of a is at most that of a*, and Y is the difference of their noises (`noise`). For any convex psi
with psi(w) >= G(k - w) for all w,

    P(D >= k) = E G(k - X) <= E psi(X) <= E psi(g W),      X the difference of the rewards,

the last step for psi non-decreasing (`stop_loss`). psi is taken piecewise linear. With nodes
t_0 < ... < t_r and w_i = k - t_i (falling in i) it is

    constant = G(t_r)              for w <= w_r,
    the chord of G                 for w_{i+1} <= w <= w_i, i >= j (G is convex there),
    a line of slope s from w_j on  where s is at least every slope from (t_j, G(t_j)) to
                                   (t, G(t)), t < t_j.

For 0 <= t < t_j that slope is largest at t = 0 (convexity); for t = -x < 0, G(t) is at most
min(1, G(0) + (1 - G(0)) x/d) (`Tails.saturation`), up to x = d the slope lies between those at
x = 0 and x = d (it is monotone in x), and beyond it falls. So s = max of (G(0) - G(t_j))/t_j and
(1 - G(t_j))/(t_j + d) will do; for t_j = 0 the second alone, which is the largest step of G. The
slopes rise in w, so psi is convex, and with non-negative coefficients

    E psi(g W) = G(t_r) + sum over i > j of (s_i - s_{i+1}) C(w_i) + (s - s_{j+1}) C(w_j),

s_i the slope of the chord between w_i and w_{i-1}, s_{r+1} = 0, C(w) = g E (W - w/g)^+.

The break w_j is free; the best one is taken. Where noise dominates it sits near k, and the bound is
nearly the exact P(gW + Y >= k). Without noise it is min over w of C(w)/(k - w), which is the best
that convex order gives (Bentkus, "On Hoeffding's inequalities", Ann. Probab. 2004: at most e times
the binomial tail, and so of Gaussian order, where Hoeffding's bound lacks a factor). For breaks
beyond t_r, as sampling alone may ask for, psi is G(t_r) up to w_j and the line after it, with
G(t_r) in place of G(t_j): max(G, G(t_r)) is convex on t >= 0 as well.

Rewards that are bits: the worst means are known, and the tail needs no convex order.

Bits x_1, ..., x_n of mean q and x'_1, ..., x'_n of mean q' >= q, all independent; Y symmetric and
unimodal; k > 0. With W = Bin(2n, 1/2) - n,

    P(g (sum x - sum x') + Y >= k) <= P(g W + Y >= k).

Proof. Raising q to q' raises sum x stochastically, so let q = q'. Then the d_i = x_i - x'_i are
-1, 0, 1 with probabilities v, 1 - 2v, v, v = q (1 - q) <= 1/4: symmetric and unimodal, and |d_i| is
stochastically largest at q = 1/2, where their sum is W. Now for R symmetric and unimodal (a sum of
such is one: mixtures of uniform laws on {-j, ..., j}), P(|R + z| >= t) does not fall as |z| grows,
for an interval that moves away from 0 loses mass. Apply this to R = the sum of all d_i but one, z =
the one that is left: replacing it by its law at q = 1/2 raises P(|sum d| >= t) for every t
(Birnbaum, "On random variables with comparable peakedness", Ann. Math. Stat. 1948). Apply it to
R = Y, z = g sum d: P(|g sum d + Y| >= k) rises as well; by symmetry that is twice what is asked.

Randomized rounding on the grid 0, 1 makes bits of any rewards: for g = 1 this always applies.

P(g W + Y >= k) = E f(g W - k), f(x) = G(-x), is bounded by E of a piecewise linear majorant of f:
between the nodes x = -t_i its chords, f being convex on x <= 0; between x = t_i - 1 its chords plus
the largest gap, f being concave there: f(t_i - 1) = 1 - G(t_i) by symmetry (for a continuous Y this
is f(t_i), more), and with slopes a before, b on and c after an interval of length l, f is below the
prolonged chords on both sides, which cross (a - b) (b - c) l/(a - c) above the one between.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from attrs import frozen
from flint import arb, fmpq
from numpy.typing import NDArray

from ...exact.precision import working_precision
from ...mechanisms.laws.binomial import Binomial
from .noise import BITS, Tails, tails
from .plan import Noise

_WIDTH = 60  # as far as e^-WIDTH by Hoeffding's inequality: u = sqrt(WIDTH n)
_STRETCH = 1 << 12  # values of u that are tabulated together
_KNOTS = 1 << 15  # in floats, where there are more of u
_HALF = Fraction(1, 2)


@frozen(eq=False)
class StopLoss:
    """E (W - u)^+ of so many users: in balls narrowly for 0 <= u <= width, and in floats.

    floats: at `places`, from 0 to width; only to choose with.
    """

    users: int
    width: int
    places: NDArray[np.float64]
    floats: NDArray[np.float64]

    def ball(self, u: Fraction) -> arb:
        """Enclose E (W - u)^+, narrowly within width; for any u of either sign."""
        whole = u.denominator
        index, part = divmod(abs(u.numerator), whole)
        if index < self.width:
            value = self._at(index)
            if part:
                value = value + (self._at(index + 1) - value) * part / whole
        else:
            value = arb(0).union(self._at(self.width))
        # W is symmetric: E (W + d)^+ = d + E (W - d)^+
        return value if u.numerator >= 0 else value - arb(fmpq(u.numerator, whole))

    def at_least(self, w: int) -> arb:
        """P(W >= w), w >= 1."""
        if w <= self.width:
            return self._at(w - 1) - self._at(w)
        return arb(0).union(self._at(self.width - 1) - self._at(self.width))

    def approximately(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same in floats."""
        near = np.interp(np.abs(u), self.places, self.floats)
        return np.where(u >= 0, near, near - u)

    def _at(self, index: int) -> arb:
        number, place = divmod(index, _STRETCH)
        return _stretch(self.users, self.width, number)[place]


@lru_cache(maxsize=64)
def stop_loss(users: int) -> StopLoss:
    """For n = users."""
    width = min(users, math.isqrt(_WIDTH * users) + 2)
    if width < _STRETCH:
        floats = np.array([float(value.mid()) for value in _stretch(users, width, 0)])
        return StopLoss(users, width, np.arange(width + 1, dtype=np.float64), floats)
    places = np.linspace(0, width, _KNOTS + 1)
    return StopLoss(users, width, places, _of_many(users, places))


@lru_cache(maxsize=64)
def _stretch(users: int, width: int, number: int) -> tuple[arb, ...]:
    """E (W - u)^+ at u = number _STRETCH and all that follow, to the next stretch or to width."""
    first = number * _STRETCH
    last = min(first + _STRETCH - 1, width)
    with working_precision(BITS + 40):
        p, tail, loss = _beyond(users, last) if last == width else _exactly(users, last)
        found = [loss]
        for u in range(last, first, -1):
            loss = loss + tail
            found.append(loss)
            p = p * (users + u) / (users - u + 1)
            tail = tail + p
    found.reverse()
    return tuple(found)


def _probability(users: int, u: int) -> arb:
    """P(W = u)."""
    ways = arb(2 * users + 1).lgamma() - arb(users + u + 1).lgamma()
    ways -= arb(users - u + 1).lgamma()
    return (ways - 2 * users * arb.const_log2()).exp()


def _exactly(users: int, u: int) -> tuple[arb, arb, arb]:
    """P(W = u), P(W >= u) and E (W - u)^+, u < n."""
    after = _probability(users, u + 1)
    above = Binomial(2 * users, _HALF).upper_tail(users + u + 1)
    here = after * (users + u + 1) / (users - u)
    return here, above + here, after * (users + u + 1) / 2 - u * above


def _beyond(users: int, u: int) -> tuple[arb, arb, arb]:
    """The same, the last two within a little: the ratio of terms falls, so that those beyond are
    below a geometric series.
    """
    p = _probability(users, u)
    ratio = arb(users - u) / (users + u + 1)
    above = p * ratio / (1 - ratio)  # P(W > u), at most
    return p, arb(0).union(above) + p, arb(0).union(above / (1 - ratio))


def _of_many(users: int, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """About E (W - u)^+ for evenly spaced u, where P(W = u) is smooth: sums are integrals."""
    share = places / users
    logs = (users + places) * np.log1p(share) + (users - places) * np.log1p(-share)
    density = np.exp(-logs) / np.sqrt(np.pi * users * (1 - share**2))
    falls = 2 * share[-1]  # all of them, by this factor at the end
    tail = _integral(density, places[1], falls)
    return _integral(tail, places[1], falls)


def _integral(values: NDArray[np.float64], step: float, falls: float) -> NDArray[np.float64]:
    """Over all above each place."""
    parts = np.append(step * (values[:-1] + values[1:]) / 2, values[-1] / falls)
    summed: NDArray[np.float64] = np.cumsum(parts[::-1])[::-1]
    return summed


_CURVE = 160  # points of the curve that thresholds are read from
_FARTHER = 1.2  # the ratio of breaks beyond the last node


@frozen(eq=False, slots=False)
class Comparison:
    """Two arms' sums of n rewards on the grid 0..g, and their noises."""

    users: int
    precision: int
    tails: Tails
    rewards: StopLoss
    breaks: tuple[int, ...]  # the nodes, then breaks beyond them
    bits: Envelope | None  # where the rewards are encoded as bits: see the third part above

    def ball(self, k: int) -> arb:
        """Bound P(D >= k), k >= 1 a whole number, from above."""
        if k < 1:
            return arb(1)
        j = int(np.argmin(self._bounds(np.array([float(k)]))[0]))
        with working_precision(BITS):
            found = arb(1).min(self._bound(k, j))
            return found if self.bits is None else found.min(self._of_bits(self.bits, k))

    @property
    def _count(self) -> int:
        return len(self.tails.nodes)

    def least(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        """About the least whole k with log(bound) <= each of these; in floats, to choose with."""
        grid, found = self._curve
        # the bound falls in k; np.interp wants rising abscissae
        ks = np.interp(-logs, -found, grid)
        for _ in range(2):  # log(bound) is concave: chords leave k a little short
            slope = np.interp(ks, grid[:-1], np.diff(found) / np.diff(grid))
            ks = ks + np.maximum(self.logs(ks) - logs, 0.0) / np.maximum(-slope, 1e-300)
        rounded: NDArray[np.float64] = np.maximum(np.ceil(ks), 1.0)
        return rounded

    @cached_property
    def _curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A grid of k, and the logarithm of the bound there."""
        end = self.tails.nodes[-1] + 10 * self.precision * math.sqrt(self.users / 2)
        grid = end * np.linspace(0.0, 1.0, _CURVE) ** 1.5
        found = np.minimum.accumulate(self.logs(grid))
        steps = found - 1e-9 * np.arange(_CURVE)  # strictly falling
        return grid, steps

    def logs(self, ks: NDArray[np.float64]) -> NDArray[np.float64]:
        """The logarithm of the bound in floats, elementwise; only to choose k with."""
        found: NDArray[np.float64] = np.log(np.maximum(self._bounds(ks).min(axis=1), 1e-300))
        if self.bits is not None:
            found = np.minimum(found, self._logs_of_bits(self.bits, ks))
        return found

    def _bounds(self, ks: NDArray[np.float64]) -> NDArray[np.float64]:
        """The bound for each k (rows) and each break (columns)."""
        count, g = self._count, self.precision
        nodes = np.array(self.breaks, dtype=np.float64)
        near, values = nodes[:count], self.tails.floats
        losses = g * self.rewards.approximately((ks[:, None] - nodes[None, :]) / g)
        floor = np.concatenate([values, np.full(len(nodes) - count, values[-1])])
        chords = np.zeros(count + 1)  # s_1, ..., s_r, then s_{r+1} = 0; chords[i - 1] = s_i
        chords[: count - 1] = (values[:-1] - values[1:]) / np.diff(near)
        bends = (chords[:-1] - chords[1:])[: count - 1] * losses[:, 1:count]  # of nodes 1..r
        sums = np.zeros((len(ks), len(nodes)))  # over the nodes after each break
        sums[:, : count - 1] = np.cumsum(bends[:, ::-1], axis=1)[:, ::-1]
        following = np.zeros(len(nodes))
        following[:count] = chords[:count]
        following[count - 1 :] = 0.0
        distance = float(self.tails.saturation().mid())
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.where(nodes > 0, (values[0] - floor) / nodes, 0.0)
            outer = np.where(nodes + distance > 0, (1 - floor) / (nodes + distance), np.inf)
        steepest = np.maximum(inner, outer)
        with np.errstate(invalid="ignore"):
            found = values[-1] + sums + (steepest - following) * losses
        return np.where(np.isfinite(found), found, np.inf)

    def _of_bits(self, majorant: Envelope, k: int) -> arb:
        """E of the majorant at g W - k."""
        total = majorant.ground + majorant.gap * self.rewards.at_least(k // self.precision + 1)
        for knot, bend in zip(majorant.knots, majorant.bends, strict=True):
            total += bend * self._loss(k + knot)
        return total

    def _logs_of_bits(self, majorant: Envelope, ks: NDArray[np.float64]) -> NDArray[np.float64]:
        knots, g = np.array(majorant.knots, dtype=np.float64), self.precision
        losses = g * self.rewards.approximately((ks[:, None] + knots[None, :]) / g)
        above = np.floor(ks / g)
        beyond = self.rewards.approximately(above) - self.rewards.approximately(above + 1)
        gap, ground = float(majorant.gap.mid()), float(majorant.ground.mid())
        found = losses @ majorant.floats + gap * beyond + ground
        logs: NDArray[np.float64] = np.log(np.maximum(found, 1e-300))
        return logs

    def _bound(self, k: int, j: int) -> arb:
        """E psi(g W) for the break with number j."""
        nodes, values, last = self.tails.nodes, self.tails.values, self._count - 1
        start = self.breaks[j]
        ground = values[min(j, last)]
        steepest = (1 - ground) / (start + self.tails.saturation())
        if start > 0:
            steepest = steepest.max((values[0] - ground) / start)
        total = values[last] + steepest * self._loss(k - start)
        for i in range(min(j, last) + 1, last + 1):
            chord = (values[i - 1] - values[i]) / (nodes[i] - nodes[i - 1])
            # s_i turns up at node i with +, and at node i - 1 with -
            previous = start if i - 1 == j else nodes[i - 1]
            total += chord * (self._loss(k - nodes[i]) - self._loss(k - previous))
        return total

    def _loss(self, w: int) -> arb:
        return self.precision * self.rewards.ball(Fraction(w, self.precision))


@lru_cache(maxsize=256)
def comparison(
    users: int, precision: int, noise: Noise | None, depth: int, bits: bool = False
) -> Comparison:
    """The comparison of two arms with this many users each, encoded on 0..precision.

    bits: the rewards are 0 or 1 where they are encoded.
    """
    found = tails(noise, depth)
    deviation = precision * math.sqrt(users / 2)
    end = max(6 * deviation, found.nodes[-1])
    breaks = list(found.nodes)
    ahead = max(breaks[-1] * _FARTHER, deviation / 50)
    while ahead < end * _FARTHER:
        breaks.append(max(breaks[-1] + 1, round(ahead)))
        ahead *= _FARTHER
    return Comparison(
        users, precision, found, stop_loss(users), tuple(breaks), envelope(found) if bits else None
    )


@frozen(eq=False)
class Envelope:
    """The majorant: ground + sum of bends (x - knot)^+, and `gap` more for x > 0."""

    knots: tuple[int, ...]
    bends: tuple[arb, ...]
    ground: arb
    gap: arb
    floats: NDArray[np.float64]  # the bends


@lru_cache(maxsize=256)
def envelope(tails: Tails) -> Envelope:
    """The majorant of f for the tails of Y."""
    with working_precision(BITS):
        points = [(-t, value) for t, value in zip(tails.nodes, tails.values, strict=True)][::-1]
        right = [(t - 1, 1 - value) for t, value in zip(tails.nodes, tails.values, strict=True)]
        right = [(x, value) for x, value in right if x > 0]
        gap = _gap([points[-1], *right], tails.peak)
        if right:
            right[-1] = right[-1][0], arb(1)  # and from there on
        else:
            points[-1] = 0, arb(1)
        points += right
        slopes = [arb(0)]
        for (x, value), (beyond, farther) in pairwise(points):
            slopes.append((farther - value) / (beyond - x))
        slopes.append(arb(0))
        bends = tuple(after - before for before, after in pairwise(slopes))
        floats = np.array([float(bend.mid()) for bend in bends])
        return Envelope(tuple(x for x, _ in points), bends, points[0][1], gap, floats)


def _gap(points: list[tuple[int, arb]], steepest: arb) -> arb:
    """How far f may be above its chords between these points, where it is concave."""
    slopes = [steepest]
    for (x, value), (beyond, farther) in pairwise(points):
        slopes.append((farther - value) / (beyond - x))
    slopes.append(arb(0))
    worst = arb(0)
    for index in range(1, len(slopes) - 1):
        before, here, after = slopes[index - 1 : index + 2]
        length = points[index][0] - points[index - 1][0]
        if length > 1 and before > after:
            worst = worst.max((before - here) * (here - after) * length / (before - after))
        elif length > 1:
            worst = worst.max((before - here) * length)
    return arb(worst.upper())
