"""delta(level) of composed uses, continuous ones among them, from their transforms on one line.

With M the product of all uses' transforms and c > 0 (`losses.composite`),

    delta(level) = (1/2 pi i) int M(s) e^(-s level)/(s (s + 1)) ds,  Re s = c.

*Sums for integrals.* By Poisson summation, equidistant nodes of spacing h = 2 pi/Lambda give the
integral and its aliases e^(c Lambda r) delta(level + r Lambda), r != 0, which are positive and
bounded (`losses.periods`).

*The far nodes.* From y = Y on |M| is at most D, the product of the parts' `decay`; since |s (s +
1)| >= y^2 and the sum of h/y^2 from Y on is at most 1/(Y - h), they weigh at most e^(-c level)
D/(pi (Y - h)).

*Smoothing where that takes too many nodes.* Compose with a Gaussian mechanism of loss T ~
N(sigma^2/2, sigma^2): since E e^(-T) = 1 and (1 - e^(level - L))^+ is convex in e^(-L), delta can
only rise (Jensen). That is a factor e^(sigma^2 s(s+1)/2), at most e^(sigma^2 (c(c+1) - y^2)/2), and
an upper bound U of delta. For a fixed loss at distance a = L - level the rise is the price of an
option out of the money, spot e^(-a), strike 1, volatility sigma; its vega, integrated over the
volatility, is at most sigma/sqrt(2 pi) e^(-a/2 - a^2/(2 sigma^2)), whose expectation is W: the same
integral with sigma^2 e^(sigma^2/8) s (s + 1) in it. So delta >= U - W. sigma = 0 where none is
needed.

*Infinite losses and missing outcomes* are in none of this: M is the transform of what is left, a
measure of mass below 1, of which every step above holds. delta is more by P(L = infinity) and by at
most the mass that is missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from attrs import frozen
from flint import acb, arb

from ....exact.budget import spend
from ..composite import Composite, Saddle, aliases
from .mixture import LineLaw
from .sampled_gaussian import SampledGaussian

Parts: TypeAlias = Sequence[tuple[LineLaw, int]]
Gaussians: TypeAlias = Sequence[tuple[SampledGaussian, int]]


_PER_NODE, _PER_TERM = 3e-5, 6e-8  # what nodes and their terms cost, in about seconds
_FEWEST, _MANY, _MOST = 200, 1000, 1 << 26


@frozen
class Plan:
    """A line Re s = c and what to sum on it, chosen in floats: a poor one costs time or width."""

    c: float
    level: float
    length: float  # Lambda
    sides: tuple[float, float]  # to the left and right of c, for the aliases
    need: float  # how far, in logarithms, what is left out has to be below M(c)
    count: int  # of nodes until that is reached


def plan(parts: Gaussians, saddle: Saddle, log_delta: float, log_width: float) -> Plan:
    """Nodes for a relative width of delta(saddle.level), which is about e^log_delta.

    The saddle point's line, or one near it where that needs many nodes: beyond some order the
    transform of a sampled law rises so fast that aliases die out slowly on its left.
    """
    best = _planned(parts, saddle.c, saddle.level, log_delta, log_width)
    if best.count > _MANY:
        for factor in (0.95, 0.9, 0.8, 0.65, 0.5, 0.35, 1.3):
            other = _planned(parts, saddle.c * factor, saddle.level, log_delta, log_width)
            best = min(best, other, key=lambda one: one.count)
    return best


class Profile:
    """Bounds of delta(level) near one level, at the working precision of its creation."""

    def __init__(self, parts: Gaussians, chosen: Plan, work: float) -> None:
        """work: about how many seconds to take.

        `sigma` is positive where that made smoothing necessary.
        """
        self.parts, self.plan = parts, chosen
        self.composite = Composite(tuple(parts))
        self.escaping, self.missing = self.composite.escaping(), self.composite.missing()
        self.c = arb(chosen.c)
        self.spacing = arb(2 * math.pi / chosen.length)
        self.length = 2 * arb.pi() / self.spacing
        self.count, self.sigma = min(chosen.count, _affordable(parts, chosen, work)), 0.0
        if self.count < chosen.count:
            y = float(self.spacing.mid()) * self.count
            missing = chosen.need + _log_rest(parts, chosen.c, y) + 2
            self.sigma = math.sqrt(2 * max(missing, 1.0)) / y
        self._collect()

    def bounds(self, level: arb) -> tuple[arb, arb]:
        """A lower and an upper bound of delta(level)."""
        spend()
        above, gap = arb(0), arb(0)
        turn = acb(0, -self.spacing * level).exp()
        for wave, (value, value_gap) in zip(_turns(turn, len(self.nodes)), self.nodes, strict=True):
            above += (value * wave).real
            if self.sigma:
                gap += (value_gap * wave).real
        unit = (-self.c * level).exp()
        above = unit * above + arb(0, (unit * self.rest_above).upper())
        gap = unit * gap + arb(0, (unit * self.rest_gap).upper())
        added = aliases(self._sizes, self.c, self.length, level)
        lower = above - gap - added + self.escaping
        upper = above + self.escaping + self.missing
        return lower.max(arb(0)).lower(), upper.min(arb(1)).upper()

    def log_about(self, level: float) -> tuple[float, float]:
        """The logarithm of delta(level) by finite losses, and minus its slope, about."""
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is not used
            waves = np.exp(-1j * self._heights * level) * self._above
            value = max(float(waves.real.sum()), 1e-300)
            slope = float((waves * (self.plan.c + 1j * self._heights)).real.sum())
        return math.log(value) + self._log_peak - self.plan.c * level, slope / value

    def _collect(self) -> None:
        count, spacing, c = self.count, self.spacing, self.c
        top = float((spacing * count).mid()) * 1.01
        uses = sum(times for _, times in self.parts)
        totals, decay = [acb(1)] * count, arb(1)
        for law, times in self.parts:
            line = law.line(c, top, -self.plan.need - math.log(uses))
            values = line.transforms(spacing, count)
            totals = [total * value**times for total, value in zip(totals, values, strict=True)]
            far = float((spacing * count).mid()) * (1 - 2**-40)
            decay *= law.decay(c, far) ** times
            spend()
        sigma2 = arb(self.sigma) ** 2
        vega = sigma2 * (sigma2 / 8).exp()
        share = spacing / arb.pi()
        self.nodes: list[tuple[acb, acb]] = []
        for j, value in enumerate(totals):
            s = acb(c, spacing * j)
            square = s * (s + 1)
            if self.sigma:
                value *= (square * (sigma2 / 2)).exp()
            value *= share if j else share / 2
            self.nodes.append((value / square, value * vega))
        end = spacing * count
        swell, fall = (sigma2 * c * (c + 1) / 2).exp(), (-sigma2 * end**2 / 2).exp()
        self.rest_above = decay * swell * fall / (arb.pi() * (end - spacing))
        self.rest_gap = arb(0)
        if self.sigma:
            # the sum of h e^(-sigma^2 y^2/2) from Y on is below (h + 1/(sigma^2 Y)) of its first
            self.rest_gap = decay * swell * vega * fall * (spacing + 1 / (sigma2 * end)) / arb.pi()
        self._sizes = {
            b: self.composite.transform(acb(b)).real * (sigma2 * b * (arb(b) + 1) / 2).exp()
            for b in self.plan.sides
        }
        peak = self.composite.transform(acb(c)).real
        self._log_peak = float(peak.log().mid())
        self._heights = float(spacing.mid()) * np.arange(count)
        self._above = np.array([complex((value / peak).mid()) for value, _ in self.nodes])


def _planned(parts: Gaussians, c: float, level: float, log_delta: float, log_width: float) -> Plan:
    composite = Composite(tuple(parts))
    here = composite.cumulant(c)
    # delta is about M(c) e^(-c level) times e^scale
    scale = log_delta - here.value + c * level
    need = max(10.0, 3 - log_width - scale)
    goal = need + 9

    def apart(b: float) -> tuple[float, float]:
        """Lambda for which aliases, at most M(b) e^(-b level - |b - c| Lambda), do not count."""
        rise = composite.cumulant(b).value - here.value - (b - c) * level
        return (rise + goal) / abs(b - c), b

    reach = math.sqrt(2 * goal / max(here.curvature, 1e-300))
    reach = min(4 * reach, 10 * (c + goal))
    right, right_b = min(apart(c + reach * 2.0**-k) for k in range(16))
    left, left_b = min(apart(c - min(c, reach) * 2.0 ** (-k / 2)) for k in range(12))
    length = max(right, left)
    spacing = 2 * math.pi / length
    low, high = 1, 64
    while high < _MOST and _log_rest(parts, c, spacing * high) > -need:
        low, high = high, 2 * high
    while high - low > max(8, high // 20):
        middle = (low + high) // 2
        far = _log_rest(parts, c, spacing * middle) <= -need
        low, high = (low, middle) if far else (middle, high)
    return Plan(c, level, length, (left_b, right_b), need, high + 1)


def _affordable(parts: Gaussians, chosen: Plan, work: float) -> int:
    """The largest number of nodes, by halving from what is wanted, that this work is enough for."""
    count = chosen.count
    while count > _FEWEST:
        top = 2 * math.pi / chosen.length * count
        each = [law.terms(chosen.c, top, -chosen.need) for law, _ in parts]
        cost = count * (_PER_NODE * len(parts) + _PER_TERM * sum(each)) + _PER_NODE * sum(each)
        if cost <= work:
            break
        count = max(_FEWEST, int(count * min(0.9, max(work / cost, 0.3))))
    return count


def _log_rest(parts: Gaussians, c: float, y: float) -> float:
    """How far below M(c) what lies beyond y is, about."""
    return sum(times * law.log_decay(c, y) for law, times in parts) - math.log(y)


def _turns(turn: acb, count: int) -> list[acb]:
    """Powers 0, ..., count - 1, each from two of half the exponent."""
    powers = [acb(1), turn][:count]
    for k in range(2, count):
        powers.append(powers[k // 2] * powers[k - k // 2])
    return powers
