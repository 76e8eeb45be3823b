"""The average S of t independent likelihood ratios of N(mu, 1) against N(0, 1).

S = (1/t) sum of e^(mu X_i - mu^2/2), X_i standard normal: the likelihood ratio of what random
allocation releases (`allocated`). E S = 1. With phi(u) = E e^(-u e^(mu X - mu^2/2)), Re u >= 0, its
Laplace transform is phi(u/t)^t.

*phi by a rule.* phi(u) = int n(x - ia) exp(-u e^(mu (x - ia) - mu^2/2)) dx, n the normal density,
for every a with |psi - mu v| <= pi/2, v between 0 and a, psi = arg u: the exponential is at most 1
there. With mu a = mu b <= pi/4 that holds for |v - a| <= b and all psi in [0, pi/2], and |n(x -
iv)| = n(x) e^(v^2/2), so that the trapezoidal rule of step h errs by at most 2 e^(2 b^2)/(e^(2 pi
b/h) - 1) (Trefethen and Weideman 2014, Theorem 5.1) and its nodes beyond |x| = w weigh at most
e^(a^2/2) P(|X| > w). One rule serves all u of the quadrant. For u >= 0 the same with a = 0, mu b <=
pi/2, e^(b^2/2).

*G(x) = E (x - S)^+.* By Bromwich's integral G(x) = (1/2 pi i) int phi(u/t)^t e^(ux)/u^2 du over Re
u = c > 0. Equidistant nodes of spacing 2 pi/Lambda give sum over integers r of e^(-c r Lambda) G(x
+ r Lambda), absolutely convergent on both sides; r < 0 gives 0 where Lambda >= x, since S > 0, and
0 <= G(y) <= y bounds what r > 0 gives. From height Y on

    |phi(c + iy)| <= e^(a^2/2) phi(c cos mu a + Y sin mu a),  0 <= mu a <= pi/2,

by the shifted integral, and the nodes weigh e^(cx) D/(pi (Y - spacing)), D that bound's t-th power.

*Moments.* E S^n = n! t^-n [z^n] (sum over j of e^(mu^2 j (j-1)/2) z^j/j!)^t for whole n. For b > 0,
Gamma(b) E S^-b = int e^(bv) phi_S(e^v) dv, phi_S = phi(./t)^t: along Im v = theta its absolute
value integrates to at most (cos theta)^-b times as much, |phi_S(u)| <= phi_S(Re u): the rule of
step h errs relatively by 2 (cos theta)^-b/(e^(2 pi theta/h) - 1). To the left of v0, 1 - e^v <=
phi_S(e^v) <= 1 (E S = 1) leaves a geometric sum. To the right of v1 the nodes weigh at most e^(-m
v1) times all of them for b + m, and E S^-(b+m) <= exp((b+m) mu^2/2 + (b+m)^2 mu^2/(2t)), as the
geometric mean is less than S.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import frozen
from flint import acb, acb_mat, arb, arb_mat, ctx
from numpy.typing import NDArray

from ....exact.budget import spend
from ....exact.errors import DoesNotApplyError
from ....exact.number import ball
from ....exact.precision import working_precision
from ....exact.roots import float_root
from .sampled_gaussian import Line, powers

_MOST_NODES = 60_000
_MOST_BITS = 1e8  # of nodes together, for one inverse moment
_NAT = math.log(2)
_HEIGHTS = np.geomspace(1e-15, 1e15, 600)


@frozen
class Average:
    """S, for t = steps and mu = 1/noise."""

    noise: Fraction
    steps: int

    @property
    def mu(self) -> arb:
        return 1 / ball(self.noise)

    # -- in balls ---------------------------------------------------------------------------------

    def line(self, c: arb, goal: float) -> Line:
        """phi(u/t) on Re u = c, Im u >= 0, as a sum over nodes, off by about e^-goal."""
        mu, size = self.mu, float(1 / self.noise)
        b = arb(min(math.pi / (4 * size) * (1 - 2**-40), math.sqrt(goal / 2)))
        h = (2 * arb.pi() * b / (goal + 2 * b**2 + 1)).mid()
        count = math.ceil(math.sqrt(2 * goal + float(b.mid()) ** 2) / float(h.mid()))
        error = 2 * (2 * b**2).exp() / ((2 * arb.pi() * b / h).exp() - 1)
        error += (b**2 / 2).exp() * (h * count / arb(2).sqrt()).erfc()
        weights, losses = [], []
        for k in range(-count, count + 1):
            x = acb(h * k, -b)
            one = (x * mu - mu**2 / 2).exp() / self.steps
            weights.append((-(x**2) / 2 - one * c).exp() * h / (2 * arb.pi()).sqrt())
            losses.append(-one)
        return Line(weights, losses, error.upper())

    def decay(self, c: arb, y: arb, a: float) -> arb:
        """An upper bound of |phi((c + iv)/t)|^t for all v >= y; 0 <= mu a <= pi/2."""
        turn = self.mu * arb(a)
        at = c * turn.cos() + y * turn.sin()
        phi = self._on_lattice(at.lower().log(), self.mu, 1)[0]
        return ((arb(a) ** 2 / 2 * self.steps).exp() * phi).upper()

    def moments(self, most: int) -> list[arb]:
        """E S^n for n = 0, ..., most, from coefficients of the t-th power of a series.

        From q = p^t: q' p = t p' q.
        """
        t, terms, powers = self.steps, [arb(1)], [arb(1)]
        for j in range(1, most + 1):
            terms.append(terms[-1] * (self.mu**2 * (j - 1)).exp() / j)
        for n in range(1, most + 1):
            terms_n = (((t * j - n + j) * terms[j] * powers[n - j]) for j in range(1, n + 1))
            powers.append(sum(terms_n, arb(0)) / n)
        return [arb(n).fac() * power / arb(t) ** n for n, power in enumerate(powers)]

    def inverse_moment(self, b: arb) -> arb:
        """E S^-b, b > 0."""
        goal, size = _NAT * ctx.prec + 5, float(b.mid())
        theta = math.pi / 2 - min(1.0, math.pi / 2 * size / (size + goal / 4))
        step = arb(2 * math.pi * theta / (goal - size * math.log(math.cos(theta)) + 1))
        (right, about), left = self._reach(size, goal), arb(-goal)
        m = arb(about)
        bits = ctx.prec + math.ceil(size * max(right, 0.0) / _NAT) + 20
        nodes = (right + goal) / float(step) * bits * max(1.0, float(self.mu.mid()))
        if nodes * bits > _MOST_BITS:
            raise DoesNotApplyError("the average of lognormals comes too close to 0")
        with working_precision(bits):
            count = math.ceil((right + goal) / float(step))
            values = self._on_lattice(left, step, count + 1)
            weighed = ((b * (left + step * k)).exp() * value for k, value in enumerate(values))
            total = sum(weighed, arb(0))
            before = (b * (left - step)).exp() / (1 - (-b * step).exp())
            total = (total + before * (1 - left.exp()).union(arb(1))) * step
            big, mu2 = b + m, self.mu**2
            beyond = (-m * (left + step * count)).exp() * big.gamma()
            beyond *= (big * mu2 / 2 + big**2 * mu2 / (2 * self.steps)).exp()
            tilt = math.atan(2 * math.pi / (float(step) * float(big.mid())))
            total += (beyond * (1 + _tilt_error(big, step, tilt))).union(arb(0))
            return total / b.gamma() / (1 + arb(0, _tilt_error(b, step, theta).upper()))

    def _on_lattice(self, left: arb, step: arb, count: int) -> list[arb]:
        """phi_S(e^(left + step k)), k < count: nodes in x of step/(mu r) meet those in v."""
        mu, goal = self.mu, _NAT * ctx.prec
        b = arb(min(math.pi / (2 * float(mu.mid())) * (1 - 2**-40), math.sqrt(goal)))
        widest = (2 * arb.pi() * b / (goal + b**2 / 2 + 1)).mid()
        finer = math.ceil(float((step / (mu * widest)).mid()) + 0.01)
        h = step / (mu * finer)
        half = math.ceil(math.sqrt(2 * goal) / float(h.mid()))
        error = 2 * (b**2 / 2).exp() / ((2 * arb.pi() * b / h).exp() - 1)
        error = (error + (h * half / arb(2).sqrt()).erfc()).upper()
        weights = [(-((h * j) ** 2) / 2).exp() * h for j in range(-half, half + 1)]
        start, table = left - mu**2 / 2 - arb(self.steps).log(), []
        for n in range(-half, (count - 1) * finer + half + 1):
            table.append((-(start + step * n / finer).exp()).exp())
        column = arb_mat(len(weights), 1, weights)
        found = []
        for k in range(count):
            spend()
            row = arb_mat(1, len(weights), table[k * finer : k * finer + len(weights)])
            value = (row * column)[0, 0] / (2 * arb.pi()).sqrt() + arb(0, error)
            found.append(value.max(arb(0)).min(arb(1)) ** self.steps)
        return found

    def _reach(self, b: float, goal: float) -> tuple[float, float]:
        """The least v1 beyond which nodes weigh e^-goal of E S^-b >= 1 at most, about; its m."""
        mu2 = float(1 / self.noise) ** 2

        def at(m: float) -> float:
            big = b + m
            height = math.lgamma(big) + big * mu2 / 2 + big**2 * mu2 / (2 * self.steps)
            return (height - math.lgamma(b) + goal) / m

        return min((at(m), m) for m in np.geomspace(1, 1e6, 120).tolist())

    # -- in floats, which choose and decide nothing -----------------------------------------------

    def log_transform(self, u: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """log phi(u/t)^t, about."""
        logs = np.log(np.maximum(np.asarray(u) / self.steps, 1e-300))
        phi = np.interp(logs, np.log(_HEIGHTS), _log_phi(float(1 / self.noise)), left=0.0)
        return np.asarray(self.steps * phi)

    def log_decay(self, c: float, y: float) -> tuple[float, float]:
        """The logarithm of `decay` and the a that makes it least, about."""
        size = float(1 / self.noise)
        turns = np.geomspace(1e-6, math.pi / 2 * (1 - 1e-9), 120)
        heights = self.steps * (turns / size) ** 2 / 2
        heights = heights + self.log_transform(c * np.cos(turns) + y * np.sin(turns))
        best = int(heights.argmin())
        return float(heights[best]), float(turns[best] / size)


def _tilt_error(b: arb, step: arb, theta: float) -> arb:
    """By how much the rule for Gamma(b) E S^-b errs, relatively."""
    return 2 * arb(theta).cos() ** -b / ((2 * arb.pi() * theta / step).exp() - 1)


class Below:
    """G(x) = E (x - S)^+ for 0 < x <= most, off by about e^log_error."""

    def __init__(self, average: Average, most: float, log_error: float) -> None:
        self.average = average
        c, length, height = _planned(average, most, log_error)
        need = c * most - log_error
        bits = (need + math.log(average.steps + 2) + 12) / _NAT + 60
        self.bits = math.ceil(bits + min(need, math.pi**2 / 8 * float(average.noise) ** 2) / _NAT)
        with working_precision(self.bits):
            self.c = arb(c)
            self.spacing = arb(2 * math.pi / length)
            self.length = 2 * arb.pi() / self.spacing
            self.most = self.length.lower()
            count = max(3, math.ceil(height / float(self.spacing.mid())))
            values = average.line(self.c, need + 15).transforms(self.spacing, count)
            share, weighed = self.spacing / arb.pi(), []
            for j, value in enumerate(values):
                u = acb(self.c, self.spacing * j)
                weighed.append(value**average.steps / u**2 * (share if j else share / 2))
            self.columns = 1 << (count.bit_length() // 2)
            rows = -(-count // self.columns)
            weighed += [acb(0)] * (rows * self.columns - count)
            self.sum = acb_mat(rows, self.columns, weighed)
            end = self.spacing * count
            turned = average.log_decay(c, float(end.mid()))[1]
            far = average.decay(self.c, end, turned)
            self.rest = (far / (arb.pi() * (end - self.spacing))).upper()

    def __call__(self, x: arb) -> arb:
        """G(x), a ball."""
        with working_precision(self.bits):
            if not x <= self.most:
                return (x - 1).max(arb(0)).union(x)
            # sum of w_j z^j by rows, powers from halves: in Horner's scheme complex balls swell
            wave = acb(0, self.spacing * x).exp()
            within = [power for (power,) in powers([wave], self.columns)]
            parts = (self.sum * acb_mat(self.columns, 1, within)).entries()
            turned = powers([within[-1] * wave], len(parts))
            terms = (part * power for part, (power,) in zip(parts, turned, strict=True))
            value = (self.c * x).exp() * (sum(terms, acb(0)).real + arb(0, self.rest))
            fall = (-self.c * self.length).exp()
            aliases = x * fall / (1 - fall) + self.length * fall / (1 - fall) ** 2
            return (value - aliases.union(arb(0))).max(x - 1).max(arb(0)).min(x)


@lru_cache(maxsize=32)
def _log_phi(size: float) -> NDArray[np.float64]:
    """log phi at _HEIGHTS, about."""
    x = np.linspace(-38, 38, 3001)
    logs = -(x**2) / 2 + math.log((x[1] - x[0]) / math.sqrt(2 * math.pi))
    growth = np.exp(np.minimum(size * x - size**2 / 2, 600))
    return np.array([np.logaddexp.reduce(logs - u * growth) for u in _HEIGHTS])


def _planned(average: Average, most: float, log_error: float) -> tuple[float, float, float]:
    """c, Lambda and the height of the last node for which the fewest nodes do, about."""
    best = (math.inf, 0.0, 0.0, 0.0)
    for c in np.geomspace(0.02, 3.0, 24) * (10 - log_error) / most:
        length = most * (1 + 1e-9)
        for _ in range(4):
            length = max(most * (1 + 1e-9), (4 - log_error + math.log(most + 2 * length)) / c)

        def excess(log_y: float, c: float = float(c)) -> float:
            weight = c * most + average.log_decay(c, math.exp(log_y))[0] - log_y
            return weight - log_error + 3

        height = math.exp(float_root(excess, math.log(1e-3), math.log(1e12), 1e-3)) * 1.05
        count = height * length / (2 * math.pi)
        best = min(best, (count, float(c), float(length), height))
    if best[0] > _MOST_NODES:
        raise DoesNotApplyError("the average of lognormals has a tail too long to invert")
    return best[1], best[2], best[3]
