"""Gaussian noise whose user takes part with probability q: the transform of the privacy loss.

Units of the sensitivity: Q = N(0, t^2), P = N(1, t^2), t the noise; dP/dQ(x) = e^((2x-1)/(2 t^2)),

    r(x) = 1 - q + q e^((2x-1)/(2 t^2))    the ratio of (1-q) Q + q P to Q.

A dataset that has the user against one that has not ("remove"): L = log r under (1-q) Q + q P; the
other way round ("add"): L = -log r under Q. Both are M(s) = int phi_t(x) r(x)^(p(s)) dx with
p(s) = s + 1 or p(s) = -s. Write p = p(c), s = c + iy, y >= 0, and f_c = phi_t r^p > 0.

*Analytic.* r has no zero with |Im x| < pi t^2. For |v| < pi t^2 and theta = v/t^2:

    |phi_t(x + iv)| = phi_t(x) e^(v^2/(2 t^2)),
    r(x) cos(theta/2) <= |r(x + iv)| <= r(x)      (|A + B e^(i theta)|, A, B >= 0),
    arg r(x + iv) lies in [0, theta] for v >= 0, and rises in v as long as theta <= pi/2
                                          (its derivative is Re(z/(A + z)), z = B e^(i theta)).

*The rule.* The trapezoidal rule with step h of a function analytic for |Im x| < b errs by at most
2A/(e^(2 pi b/h) - 1), A a bound of its integrals of absolute values along the lines in the strip
(Trefethen and Weideman 2014, Theorem 5.1). We take it along the line Im x = +-a, on the side where
|r^(iy)| = e^(-y |arg r|) <= 1, with a strip of half-width b <= a, which does not leave that side:
so the same rule holds for every y >= 0, with A = e^growth M(c),

    growth = v^2/(2 t^2) + (-p)^+ (-log cos(v/(2 t^2))),    v = a + b < pi t^2.

Nodes outside a window fall geometrically: with S = t^2 (log r)', which rises from 0 to 1, the slope
of log f_c is (p S(x) - x)/t^2. Below the low end it is at least (min(p, 0) S(low) - low)/t^2,
above the high end at most (max(p, 0) + min(p, 0) S(high) - high)/t^2.

*Decay.* On the line Im x = a, |M(c + iy)| <= int |f(x + ia)| dx, which falls in y. Its integrand is
e^(a^2/(2 t^2)) phi_t(x) (r(x + ia) r(x - ia))^(p/2) e^(iy/2 (log r(x + ia) - log r(x - ia)))
(remove), analytic itself; at height v' <= b its last factor is e^(-y/2 (arg r(x + i(v'+a)) - arg
r(x + i(v'-a)))) <= 1 while a + b <= pi t^2/2. So the same rule applies to it with the same growth,
again for all y.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import frozen
from flint import acb, acb_mat, arb, ctx

from ....exact.budget import spend
from ....exact.errors import DoesNotApplyError
from ....exact.number import ball
from ....exact.roots import halved
from ....exact.square_root import SquareRoot
from ....losses.cells import Reals
from ....losses.planning import Cumulant, cumulant_of
from ....mechanisms.laws.normal import upper
from ....mechanisms.pairs.sampling import EVERYBODY, Sampling
from .sampled_noise import SampledNoise, Tail

_WIDEST, _SQUARE = 3.0, 1.55  # of the strip, in units of t^2: below pi and below pi/2
_FLOAT_NODES = 4000
_FAR, _SEEN = 10.0, 4000  # deviations below which nothing is told apart; losses to choose a tilt by
_ROOT = math.sqrt(2 * math.pi)
_STEEP = 2000.0  # 8 times how far a strip of the turn grows, about: of more it takes many nodes

# One matrix product, between two looks at the clock: FLINT multiplies as integer matrices, ten
# times faster, where every side is above 120 (60 beyond 128 bits).
_ROWS, _NODES = 128, 512
_POWER = 2  # units of work
_LARGEST = 1_500_000  # entries of two tables: less than 500 MB


@frozen
class Line:
    """M(s) = E e^(sL) on a half-line s = c + iy, y >= 0, as a finite sum with a proved error.

    A quadrature rule for M, made once for a line, serves all its points: its nodes are losses l_k,
    real or above the real axis (where a contour was moved), its weights w_k their masses times
    e^(c l_k); at y = 0 the sum is about M(c):

        | M(c + iy) - sum of w_k e^(iy l_k) | <= error    for all 0 <= y <= top.

    Powers of M are taken of balls of that radius, so that nothing more has to be proved of them.
    """

    weights: list[acb]
    losses: list[acb]
    error: arb

    def transforms(self, spacing: arb, count: int) -> list[acb]:
        """M(c + i spacing j) for j = 0, ..., count - 1, as products of two tables of e^(iyl).

        Raises DoesNotApplyError where these tables are too large.
        """
        columns = 1 << (count.bit_length() // 2)
        rows = -(-count // columns)
        if (rows + columns) * len(self.losses) > _LARGEST:
            raise DoesNotApplyError("the transform takes too many nodes")
        steps = [(acb(0, spacing) * loss).exp() for loss in self.losses]
        error = acb(arb(0, self.error.upper()), arb(0, self.error.upper()))
        within = powers(steps, columns)
        strides = [one * other for one, other in zip(within[-1], steps, strict=True)]
        table = powers(strides, rows)
        nodes = [slice(first, first + _NODES) for first in range(0, len(steps), _NODES)]
        right = [_matrix([row[part] for row in within]).transpose() for part in nodes]
        found = []
        for first in range(0, rows, _ROWS):
            total = acb_mat(min(_ROWS, rows - first), columns)
            for part, turned in zip(nodes, right, strict=True):
                weights = self.weights[part]
                left = [
                    [value * weight for value, weight in zip(row[part], weights, strict=True)]
                    for row in table[first : first + _ROWS]
                ]
                total += _matrix(left) * turned
                spend()
            found += total.entries()
        return [value + error for value in found[:count]]


def _matrix(rows: list[list[acb]]) -> acb_mat:
    return acb_mat(len(rows), len(rows[0]), [value for row in rows for value in row])


def powers(factors: list[acb], count: int) -> list[list[acb]]:
    """Row k: the k-th powers, each from two of half the exponent, so that radii hardly grow."""
    rows = [[acb(1)] * len(factors), factors][:count]
    for k in range(2, count):
        spend(_POWER * len(factors))
        halves = zip(rows[k // 2], rows[k - k // 2], strict=True)
        rows.append([one * other for one, other in halves])
    return rows


@frozen
class SampledGaussian(SampledNoise):
    """The privacy loss of one use, in one direction."""

    noise: Fraction | SquareRoot  # t = sigma/sensitivity
    sampling: Sampling = EVERYBODY

    @property
    def move(self) -> Fraction | SquareRoot:
        return Fraction(1) / self.noise

    def plain_tails(self, at: arb) -> Tail:  # u is N(+-mu^2/2, mu^2)
        mu = 1 / ball(self.noise)
        return upper(at / mu - mu / 2), upper(at / mu + mu / 2)

    def plain_sketch(self, log_tail: float) -> tuple[Reals, Reals]:
        # without the largest: improbable beyond all measure, they outweigh all else from some tilt
        mu = 1 / float(self.noise)
        last = math.sqrt(2 * max(-log_tail, _FAR))
        z, width = np.linspace(-_FAR - mu, last, _SEEN, retstep=True)
        return mu * (z + mu / 2), math.log(float(width) / _ROOT) - z**2 / 2

    def transform(self, s: acb) -> acb:
        """M(s), Im s = 0."""
        c, at = s.real, _at if s.real.is_exact() else _at.__wrapped__  # only exact balls hash
        return acb(at(self, c, ctx.prec))

    def log_unsampled(self, c: arb) -> arb:
        return c * (c + 1) / (2 * ball(self.noise) ** 2)

    def cumulant(self, c: float) -> Cumulant:
        log_weights, log_ratio = self._floats(c)
        return cumulant_of(log_weights, log_ratio if self.sampling.removing else -log_ratio)

    def line(self, c: arb, log_error: float) -> Line:
        power, goal = self._power(c), -log_error
        a = arb(self._strip(float(power.mid()), goal)) / 2
        nodes, step, relative, absolute = self._rule(power, a, a, goal)
        weights, losses = [], []
        for x in nodes:
            weight, loss = self._node(power, x, a)
            weights.append(weight * step)
            losses.append(loss)
        spend()
        peak = self.transform(acb(c)).real
        return Line(weights, losses, (relative * peak + absolute).upper())

    def terms(self, c: float, log_error: float) -> float:
        power = c + 1 if self.sampling.removing else -c
        width = self._strip(power, -log_error)
        reach = -log_error + float(self._growth(arb(power), arb(width)).mid()) + 3
        low, high = self._window(power, reach)
        return (high - low) * reach / (math.pi * width)

    def decay(self, c: arb, y: float) -> arb:
        peak = self.transform(acb(c)).real
        shift = self.log_decay(float(c.mid()), y)[1]
        if shift == 0:
            return peak.upper()
        power, goal = self._power(c), 60.0
        room = max(shift, self._strip(float(power.mid()), goal))
        room = min(_SQUARE * float(self.noise) ** 2 - shift, room)
        nodes, step, relative, absolute = self._rule(power, arb(shift), arb(room), goal)
        total = arb(0)
        for x in nodes:
            weight, loss = self._node(power, x, arb(shift))
            total += abs(weight) * (-loss.imag * y).exp()
        found = total * step + relative * peak + absolute
        return found.upper().min(peak.upper())

    # -- the rule -----------------------------------------------------------------------------

    def _power(self, c: arb) -> arb:
        return c + 1 if self.sampling.removing else -c

    def _node(self, power: arb, x: arb, a: arb) -> tuple[acb, acb]:
        """phi r^p on the line Im = +-a above or below x, and the loss there, Im loss >= 0."""
        noise2 = ball(self.noise) ** 2
        z = acb(x, a if self.sampling.removing else -a)
        odds = ((2 * z - 1) / (2 * noise2)).expm1()
        log_ratio = (1 + ball(self.sampling.rate) * odds).log()
        weight = (power * log_ratio - z * z / (2 * noise2)).exp() / (2 * arb.pi() * noise2).sqrt()
        return weight, log_ratio if self.sampling.removing else -log_ratio

    def _strip(self, power: float, goal: float) -> float:
        """The width of a strip that grows by about `goal`: v^2/(2 t^2), or |p| v^2/(8 t^4)."""
        noise = float(self.noise)
        scale = noise * math.sqrt(2 * goal) * min(1.0, 2 * noise / math.sqrt(max(-power, 1e-300)))
        return min(_WIDEST * noise**2, scale)

    def _growth(self, power: arb, v: arb) -> arb:
        noise2 = ball(self.noise) ** 2
        half = v / (2 * noise2)
        assert half < arb.pi() / 2
        return v * v / (2 * noise2) + (-power).max(arb(0)) * -half.cos().log()

    def _rule(self, power: arb, a: arb, b: arb, goal: float) -> tuple[list[arb], arb, arb, arb]:
        """Along the line Im x = a with a strip of half-width b: nodes and their step.

        It errs by at most relative * M(c) + absolute, the last two, about e^-goal M(c).
        """
        growth = self._growth(power, a + b)
        reach = goal + float(growth.mid()) + 3
        step = (2 * arb.pi() * b / reach).mid()
        relative = 2 * growth.exp() / (2 * arb.pi() * b / step).expm1()
        low, high = map(arb, self._window(float(power.mid()), reach))
        count = math.ceil(float(((high - low) / step).mid())) + 1
        absolute, noise2, less = arb(0), ball(self.noise) ** 2, power.min(arb(0))
        for x, room in (
            (low - step, less * self._share(low) - low),
            (low + step * count, high - power.max(arb(0)) - less * self._share(high)),
        ):
            assert room > 0
            weight, _ = self._node(power, x, arb(0))
            absolute += weight.real * step * growth.exp() / -(-step * room / noise2).expm1()
        return [low + step * k for k in range(count)], step, relative.upper(), absolute.upper()

    def _share(self, x: arb) -> arb:
        """S(x)."""
        turned = ball(self.sampling.rate) * ((2 * x - 1) / (2 * ball(self.noise) ** 2)).exp()
        return turned / (1 - ball(self.sampling.rate) + turned)

    def _window(self, power: float, reach: float) -> tuple[float, float]:
        """Beyond which log f_c is by about `reach` below its largest value.

        For p < 0 it is as concave as the Gaussian, around where its slope is 0.
        """
        spread = float(self.noise) * math.sqrt(2 * reach)
        if power >= 0:
            return -spread, power + spread
        q, noise2 = float(self.sampling.rate), float(self.noise) ** 2

        def falls(x: float) -> bool:
            other = (1 - q) / q * math.exp(min((1 - 2 * x) / (2 * noise2), 700.0))
            return power / (1 + other) <= x

        mode, _ = halved(falls, power, 0.0, 60)
        return mode - spread, mode + spread

    # -- floats -------------------------------------------------------------------------------

    def _floats(self, c: float) -> tuple[Reals, Reals]:
        """Logarithms of weights of the rule on the real axis, and log r."""
        noise, power = float(self.noise), c + 1 if self.sampling.removing else -c
        low, high = self._window(power, 40.0)
        count = int(min(_FLOAT_NODES, max(60.0, (high - low) / (0.3 * min(noise, noise**2)))))
        x, step = np.linspace(low, high, count, retstep=True)
        ratio = self.sampling.log_ratio((2 * x - 1) / (2 * noise**2))
        log_weights = power * ratio - x * x / (2 * noise**2)
        return log_weights + math.log(float(step) / noise / _ROOT), ratio

    def log_decay(self, c: float, y: float) -> tuple[float, float]:
        """log of int |f(x + ia)| dx/M(c), and the a at which it is least, about."""
        noise2, power = float(self.noise) ** 2, c + 1 if self.sampling.removing else -c
        log_weights, log_ratio = self._floats(c)
        log_rest = math.log1p(-float(self.sampling.rate)) if self.sampling.rate < 1 else -math.inf
        share = -np.expm1(np.minimum(log_rest - log_ratio, 0.0))  # of r, of what turns
        base, best = _log_sum(log_weights), (0.0, 0.0)
        largest = min(0.8 * _SQUARE, 12 / math.sqrt(noise2), math.sqrt(_STEEP / max(-power, 1e-9)))
        for turn in np.geomspace(largest * 1e-6, largest, 60):
            moved = np.log1p(share * np.expm1(1j * turn))  # log r(x + ia)/r(x)
            logs = log_weights + power * moved.real - y * moved.imag
            best = min(best, (_log_sum(logs) + turn**2 * noise2 / 2 - base, float(turn) * noise2))
        return best


@lru_cache(maxsize=256)
def _at(law: SampledGaussian, c: arb, bits: int) -> arb:
    """M(c), by the rule on the real axis: S = M (1 +- relative) +- absolute."""
    power, goal = law._power(c), 0.7 * bits
    strip = arb(law._strip(float(power.mid()), goal))
    nodes, step, relative, absolute = law._rule(power, arb(0), strip, goal)
    total = sum((law._node(power, x, arb(0))[0].real for x in nodes), arb(0)) * step
    return (total + arb(0, absolute)) / (1 + arb(0, relative))


def _log_sum(logs: Reals) -> float:
    """log of the sum of e^logs, about; far quicker than numpy's own, which goes pair by pair."""
    peak = float(logs.max())
    return peak + math.log(float(np.exp(logs - peak).sum()))
