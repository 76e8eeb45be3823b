"""Rényi divergences and rho of Gaussian and Laplace noise, each user sampled or not.

With r = 1 - q + q e^u (`continuous`) the divergence of order a is log M/(a - 1), M = E_Q r^p with
p = a where the user is removed, p = 1 - a the other way round.

*Gaussian.* M = int f, f = phi_t r^p, u = (2x - 1)/(2 t^2). f is analytic for |Im x| < pi t^2, and
for |Im x| = b, with o = b/t^2: |phi_t| grows by e^(b^2/2t^2), and r cos(o/2) <= |r(x + ib)| <= r.
So int |f| on that line is at most A M, A = e^(b^2/2t^2) cos(o/2)^-max(-p, 0), and the trapezoidal
rule of step s is off by at most 2 A M/(e^(2 pi b/s) - 1) (Trefethen and Weideman, "The
exponentially convergent trapezoidal rule", SIAM Review 2014, Theorem 5.1). (log r)' lies between 0
and 1/t^2, so (log f)' between -x/t^2 and (p - x)/t^2: beyond Z t to either side of both 0 and p,
the nodes fall by e^(-s Z/t) each.

*Laplace.* Q has 1/2 at u = -e, e^-e/2 at u = e and the density e^(-(e + u)/2)/4 between. log r is
convex in u, so for p >= 0 is e^(-u/2) r^p; for p < 0 so is w^(-3/2) (1 - q + q w)^p in w = e^u,
which is the same integral. What is convex lies below its chords and above its tangents: the
trapezoidal rule is too large, the midpoint rule too small.

*rho.* Of Gaussians D_a <= a/2t^2, sampled or not (D_a is quasi-convex); with the user removed
r^p >= q^a e^(au), so that D_a/a tends to 1/2t^2. Of Laplace noise the orders are covered.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from mpmath import iv

from .arithmetic import (
    Enclosure,
    End,
    Interval,
    OpenError,
    at_least,
    certainly,
    exp,
    hull,
    interval,
    log,
    lower,
    total,
    upper,
    value,
)
from .mechanisms import Continuous, FixedSize

_CELLS = 2000
_MOST_NODES = 100_000


def renyi(one: Continuous, order: Fraction) -> Enclosure:
    """The Rényi divergence of this order > 1."""
    if one.rate == 1 and one.is_gaussian:
        return (order / (2 * one.variance),) * 2
    if one.rate == 1:
        a, e = interval(order), interval(1 / one.noise)
        found = (a * exp((a - 1) * e) + (a - 1) * exp(-a * e)) / (2 * a - 1)
    else:
        power = order if one.removing else 1 - order
        found = (_gaussian if one.is_gaussian else _laplace)(one, power)
    low, high = value(log(at_least(found, 1)) / interval(order - 1))
    return low, high


def of_batches(batches: FixedSize, order: Fraction) -> Enclosure:
    """The same of batches of a fixed size: from that of what some neighbours attain.

    With that pair's r, M of the pair that dominates (`losses.of_pair.two_way`) is 1 + the integral
    over r > 1 of (r^a - r)(1 - r^-a), not negative elsewhere: at most E r^a + E r^(1-a) - 1.
    D is quasi-convex in both laws together, so that it is at most what it is of all users.
    """
    one = batches.attained
    assert isinstance(one, Continuous) and isinstance(batches.mechanism, Continuous)
    low, high = renyi(one, order)
    above = interval(order - 1)
    both = [high, renyi(replace(one, removing=False), order)[1]]
    whole = total(exp(above * interval(Fraction(each))) for each in both) - 1
    most = Fraction(value(log(whole))[1]) / (order - 1)
    return low, min(most, renyi(batches.mechanism, order)[1])


def relative_entropy_at_least(one: Continuous) -> End:
    """A lower bound of the divergence of order 1, 0 where nothing better is known."""
    if one.rate < 1:
        return Fraction(0)
    if one.is_gaussian:
        return 1 / (2 * one.variance)
    e = interval(1 / one.noise)
    return max(value(e + exp(-e) - 1)[0], Fraction(0))


def _gaussian(one: Continuous, power: Fraction) -> Interval:
    t, p, q = one.size(), interval(power), interval(one.rate)
    turn, step = _rule(float(one.noise), float(power))
    s, b = interval(step), interval(turn) * t**2
    grown = exp(b**2 / (2 * t**2))
    if power < 0:
        x2 = (turn / 2) ** 2
        grown *= exp(p * log(interval(1 - x2 / 2 + x2**2 / 24 - x2**3 / 720)))  # <= cos
    relative = upper(2 * grown / (exp(2 * iv.pi * b / s) - 1))
    if not certainly(relative < 1):
        raise OpenError("the order is too large")
    far = math.ceil(1.2 * math.sqrt(iv.prec) + 2) * one.noise
    first = math.floor((min(power, Fraction(0)) - far) / step)
    last = math.ceil((max(power, Fraction(0)) + far) / step)
    if last - first > _MOST_NODES:
        raise OpenError("too many nodes")

    def node(k: int) -> Interval:
        x = k * step
        ratio = 1 - q + q * exp(interval((2 * x - 1) / (2 * one.variance)))
        return exp(-interval(x**2 / (2 * one.variance)) + p * log(ratio))

    nodes = [node(k) for k in range(first, last + 1)]
    falls = exp(-s * interval(far / one.variance))
    beyond = upper((nodes[0] + nodes[-1]) * falls / (1 - falls))
    found = s * (total(nodes) + hull(iv.mpf(0), beyond)) / (t * iv.sqrt(2 * iv.pi))
    return found / hull(1 - relative, 1 + relative)


def _rule(noise: float, power: float) -> tuple[Fraction, Fraction]:
    """b/t^2 and a step with which the rule is about as good as the precision; floats choose."""
    best = (Fraction(1), Fraction(0))
    for k in range(1, 31):
        turn = k / 10
        size = (noise * turn) ** 2 / 2 - max(-power, 0) * math.log(math.cos(turn / 2))
        step = 2 * math.pi * turn * noise**2 / (size + 0.7 * iv.prec)
        if step > best[1]:
            best = (Fraction(k, 10), Fraction(math.ldexp(math.floor(math.ldexp(step, 40)), -40)))
    if not best[1]:
        raise OpenError("too many nodes")
    return best


def _laplace(one: Continuous, power: Fraction) -> Interval:
    e, p, q = interval(1 / one.noise), interval(power), interval(one.rate)
    half = exp(-e / 2) / 4

    def ratio(w: Interval) -> Interval:
        return exp(p * log(1 - q + q * w))

    found = (exp(-e) * ratio(exp(e)) + ratio(exp(-e))) / 2
    points = [Fraction(2 * k - _CELLS, _CELLS) / one.noise for k in range(_CELLS + 1)]
    edges = [interval(u) if power >= 0 else exp(interval(u)) for u in points]

    def density(at: Interval) -> Interval:  # in u, or in w
        if power >= 0:
            return exp(-at / 2) * ratio(exp(at))
        return exp(-3 * log(at) / 2) * ratio(at)

    heights = [density(edge) for edge in edges]
    most = least = iv.mpf(0)
    for (a, b), (left, right) in zip(pairwise(edges), pairwise(heights), strict=True):
        middle = density((a + b) / 2)
        least += lower((b - a) * middle)
        most += upper((b - a) * (left + right) / 2)
    return found + half * hull(least, most)
