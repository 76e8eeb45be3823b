"""Sampled continuous noise: closed forms of one release in mpmath, sums on a fine grid of two."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
from conformance.truth import Gaussian, Laplace, Truth
from mpmath import mpf
from oracles import real
from scipy.special import ndtr


@dataclass(frozen=True)
class Mixed(Truth):
    """(1 - r) Q + r P against Q, and the other way round; Q is P seen from the other side."""

    base: Gaussian | Laplace
    rate: Fraction

    def _excess(self, odds: mpf) -> mpf:
        """P - odds Q of the best event."""
        if odds <= 0:
            return 1 - odds
        level = mpmath.log(odds)
        return self.base.delta(level) if level >= 0 else 1 - odds + odds * self.base.delta(-level)

    def delta(self, level: mpf) -> mpf:
        r, odds = real(self.rate), mpmath.exp(level)
        rest = 1 - odds * (1 - r)
        adding = rest * self._excess(odds * r / rest) if rest > 0 else mpf(0)
        return max(r * self._excess((odds - 1 + r) / r), adding)

    def pure(self) -> mpf:
        largest = self.base.pure()
        return largest if mpmath.isinf(largest) else mpmath.log1p(
            real(self.rate) * mpmath.expm1(largest))  # fmt: skip

    def _moment(self, power: mpf) -> mpf:
        """The mean under Q of ((1 - r) + r P/Q)^power."""
        r = real(self.rate)
        if isinstance(self.base, Laplace):
            e = real(self.base.ratio)
            ends = ((mpf(1), -e), (mpmath.exp(-e), e))
            outside = sum(m / 2 * (1 - r + r * mpmath.exp(loss)) ** power for m, loss in ends)
            return outside + mpmath.quad(
                lambda x: mpmath.exp(-x) / 2 * (1 - r + r * mpmath.exp(2 * x - e)) ** power, [0, e]
            )
        mu, step = self.base.mu, mpf(1) / 12  # the error of such a sum falls as e^(-2 pi^2/step^2)
        low, high = min(power, 0) * mu - 13, max(power, 0) * mu + 13
        places = (low + step * k for k in range(int((high - low) / step) + 1))
        return step * mpmath.fsum(
            mpmath.npdf(x) * (1 - r + r * mpmath.exp(mu * x - mu * mu / 2)) ** power for x in places
        )

    def renyi(self, order: Fraction) -> mpf:
        a = real(order)
        return mpmath.log(max(self._moment(a), self._moment(1 - a))) / (a - 1)

    def twice(self) -> Twice:
        return Twice(self)


@dataclass(frozen=True)
class Twice(Truth):
    """Two such releases, the same way round: one's delta is averaged over the other's loss."""

    one: Mixed

    def _excess(self, odds: Any) -> Any:
        level = np.log(np.maximum(odds, 1e-300))
        if isinstance(self.one.base, Gaussian):
            mu = float(self.one.base.mu)
            found = ndtr(mu / 2 - level / mu) - odds * ndtr(-mu / 2 - level / mu)
        else:
            e, far = float(self.one.base.ratio), np.abs(level)
            found = np.where(far < e, 1 - np.exp((far - e) / 2), 0.0)
            found = np.where(level >= 0, found, 1 - odds + odds * found)
        return np.where(odds <= 0, 1 - odds, found)

    def _delta(self, level: Any, removing: bool) -> Any:
        r, odds = float(self.one.rate), np.exp(level)
        if removing:
            return r * self._excess((odds - 1 + r) / r)
        rest = 1 - odds * (1 - r)
        some = np.where(rest > 0, rest, 1.0)
        return np.where(rest > 0, some * self._excess(odds * r / some), 0.0)

    @cached_property
    def _losses(self) -> tuple[Any, Any]:
        """Masses under Q, and P/Q there."""
        r = float(self.one.rate)
        if isinstance(self.one.base, Gaussian):
            mu = float(self.one.base.mu)
            x, step = np.linspace(-9, 9 + mu, 400_001, retstep=True)
            mass, odds = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * step, np.exp(mu * x - mu**2 / 2)
        else:
            e = float(self.one.base.ratio)
            x, step = np.linspace(0, e, 200_001, retstep=True)
            mass = np.exp(-x) / 2 * step
            mass[[0, -1]] /= 2
            mass = np.concatenate([mass, [0.5, np.exp(-e) / 2]])
            odds = np.concatenate([np.exp(2 * x - e), [np.exp(-e), np.exp(e)]])
        return mass, 1 - r + r * odds

    def delta(self, level: mpf) -> mpf:
        mass, odds = self._losses
        removing = (mass * odds * self._delta(float(level) - np.log(odds), True)).sum()
        adding = (mass * self._delta(float(level) + np.log(odds), False)).sum()
        return mpf(float(max(removing, adding)))
