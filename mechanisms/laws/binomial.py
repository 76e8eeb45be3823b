"""Binomial noise: the number of successes in independent trials.

p(x) = C(n, x) q^x (1-q)^(n-x) on 0 <= x <= n; E e^(zX) = (1 - q + q e^z)^n, entire.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from operator import mul
from typing import Any, cast

import numpy as np
from attrs import field, frozen
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.lazy import special
from ...exact.number import (
    ExactInput,
    Formula,
    ParameterError,
    Real,
    ball,
    exact,
    linear,
    log_about,
)
from ...exact.precision import refine, working_precision
from ..fields import parameters
from ..fields.schema import key
from ..samplers.bits import RandomBits
from ..samplers.coins import near_floor
from ..samplers.envelope import Envelope, envelope
from . import floats
from .contour import any_log, vertical_path
from .finite import FiniteLaw
from .law import Calibrated, Law, Moments, UndecidedError

_MOST_COINS = 4096  # that are counted one by one
_MOST_TERMS = 2000  # of a tail that is summed
_GUARD = 16
_TINY = Fraction(1, 10**250)
_FEW, _SHORT = 32, 1024  # trials, and bits of a probability, of a table that is quick


def _chance(value: ExactInput | Formula) -> Real:
    """A number between 0 and 1; a formula is taken as it is."""
    if not hasattr(value, "ball"):
        chance = exact(value, "probability", at_least=0, at_most=1)
        if chance in (0, 1):
            raise ParameterError(f"probability must be strictly between 0 and 1, got {chance}")
        return chance
    formula = cast("Formula", value)
    inside = refine(
        lambda: abs(2 * formula.ball() - 1),
        width=Fraction(0),
        enough=lambda found: found.less_than(1) is not None,
    ).less_than(1)
    if inside is None:
        raise UndecidedError("probability cannot be told from 0 or 1")
    if not inside:
        raise ParameterError(f"probability must be strictly between 0 and 1, got {value}")
    return formula


@frozen
class Binomial(Law):
    """`trials` independent trials, each a success with the same exact probability in (0, 1).

    The probability is a rational, or a formula.

    Raises ParameterError for anything else.

    >>> Binomial(2, "1/2").probability(1)
    Enclosure(0.4999999999999999999999999, 0.5000000000000000000000001)
    """

    trials: int = field(converter=parameters.trials, metadata=key("how many coins are thrown"))
    success: Real = field(alias="probability", converter=_chance, metadata=key("of each coin"))

    name = "binomial"
    says = "an integer query plus Bin(trials, probability)"
    example = "trials=1000,probability=1/2"
    additive = "trials"
    falls_off_axis = True
    calibrated = Calibrated(
        "trials",
        2,
        "more noise is a post-processing of less: a trial more is an independent coin added",
        {"probability": "1/2"},
        start=100,
        is_whole=True,
    )
    log_concave = "p(x)/p(x-1) = (n - x + 1)/x q/(1-q) falls in x"
    symmetric = False

    @property
    def balanced(self) -> bool:
        return self.success == self._failure

    @property
    def support(self) -> tuple[int, int]:
        return 0, self.trials

    def moments(self) -> Moments:
        n, q = self.trials, self.success
        if isinstance(q, Fraction):
            return Moments(Enclosure.exactly(n * q), Enclosure.exactly(n * q * (1 - q)))
        return Moments(
            refine(lambda: n * ball(q)), refine(lambda: n * ball(q) * ball(self._failure))
        )

    def listed(self) -> FiniteLaw | None:
        n, q = self.trials, self.success
        if not isinstance(q, Fraction) or n > _FEW or n * q.denominator.bit_length() > _SHORT:
            return None
        return FiniteLaw({x: math.comb(n, x) * q**x * (1 - q) ** (n - x) for x in range(n + 1)})

    def mirrored(self) -> Binomial:
        return Binomial(self.trials, self._failure)

    def ball(self, x: int) -> arb:
        n = self.trials
        if not 0 <= x <= n:
            return arb(0)
        with working_precision(ctx.prec + n.bit_length() + 16):
            success, failure = ball(self.success), ball(self._failure)
            if x in (0, n):
                return failure**n if x == 0 else success**n
            ways = arb(n + 1).lgamma() - arb(x + 1).lgamma() - arb(n - x + 1).lgamma()
            result = (ways + x * success.log() + (n - x) * failure.log()).exp()
        return +result

    def _run(self, first: int, last: int) -> list[arb]:
        # p(x+1)/p(x) = (n - x)/(x + 1) q/(1-q): one product a step, relative radii add up
        odds = ball(self.success) / ball(self._failure)
        ratios = (odds * (self.trials - x) / (x + 1) for x in range(first, last))
        return list(accumulate(ratios, mul, initial=self.ball(first)))

    def upper_tail(self, t: int) -> arb:
        if not 0 < t < self.trials or self._spread() * math.sqrt(1.4 * ctx.prec) > _MOST_TERMS:
            return super().upper_tail(t)
        if self._left_of_centre(t):
            return 1 - self.mirrored()._summed(self.trials - t + 1)
        return self._summed(t)

    def lower_tail(self, t: int) -> arb:
        return self.mirrored().upper_tail(self.trials - t)

    def _summed(self, t: int) -> arb:
        """P(X >= t), t above the mean: p(x+1)/p(x) falls, so the rest is below a geometric sum."""
        n, negligible = self.trials, arb(2) ** -ctx.prec
        with working_precision(ctx.prec + _GUARD):
            odds = ball(self.success) / ball(self._failure)
            total = term = self.ball(t)
            for x in range(t, n):
                ratio = odds * (n - x) / (x + 1)
                term *= ratio
                if ratio < 1 and term / (1 - ratio) < total * negligible:
                    total += arb(0).union(term / (1 - ratio))
                    break
                total += term
        return +total

    def _spread(self) -> float:
        q = float(_near(self.success))
        return math.sqrt(self.trials * q * (1 - q))

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        return self.trials * self._one_trial(z).log(analytic=analytic)

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        return self.trials * any_log(self._one_trial(z)), acb(1)

    def slope(self, z: acb) -> acb:
        return self.trials / (1 + ball(self._failure) / ball(self.success) * (-z).exp())

    def path(self, t: int, side: int) -> Sequence[acb]:
        # K'(s) = n q e^s/(1 - q + q e^s) = t
        n, q = self.trials, _near(self.success)
        inside = min(max(t, 0.5), n - 0.5)
        saddle = math.log(inside / (n - inside)) + _log_float((1 - q) / q)
        variance = n * q * (1 - q)
        return vertical_path(saddle, side, spread=math.sqrt(variance))

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Loader's saddle-point form (2000), whose terms are all small: no logs of n! cancel."""
        n, q, x = self.trials, _near(self.success), np.asarray(xs, dtype=np.int64)
        inner = np.clip(x, 1, max(n - 1, 1))
        successes = inner.astype(np.float64)
        failures = (n - inner).astype(np.float64) if n > 1 else successes
        mean = n * q
        off = (inner - math.floor(mean)).astype(np.float64) - float(mean % 1)
        values = _stirling_rest(np.float64(n)) - _stirling_rest(successes)
        values = values - _stirling_rest(failures)
        values = values - _deviance(successes, off, mean)
        values = values - _deviance(failures, -off, n - mean)
        values = values + 0.5 * np.log(n / (2 * np.pi * successes * failures))
        values = np.where(x == 0, n * _log_float(1 - q), values)
        values = np.where(x == n, n * _log_float(q), values)
        return np.where((x < 0) | (x > n), -np.inf, values)

    def sampler(self) -> Callable[[RandomBits], int]:
        """Few fair coins are counted among as many bits."""
        if self.success == Fraction(1, 2) and self.trials <= _MOST_COINS:
            return lambda bits: bits.take(self.trials).bit_count()
        return lambda bits: histogram(self).draw(bits)

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        floats.check_width(floats.spread(self.trials))
        return rng.binomial(self.trials, floats.to_float(self.success), size)

    def fields(self) -> dict[str, Any] | None:
        written = getattr(self.success, "fields", None)
        if written is None or (chance := written()) is None:
            return super().fields()
        return {"name": self.name, "trials": str(self.trials), "probability": chance}

    def _one_trial(self, z: acb) -> acb:
        return ball(self._failure) + ball(self.success) * z.exp()

    @property
    def _failure(self) -> Real:
        return linear(Fraction(1), Fraction(-1), self.success)


@lru_cache(maxsize=64)
def histogram(law: Binomial) -> Envelope:
    """What is drawn from; p(x)/p(x-1) = (n-x+1)/x q/(1-q) is at least 1 up to x = (n+1) q."""
    n, q = law.trials, law.success
    mode = near_floor(lambda: (n + 1) * ball(q))
    spread = near_floor(lambda: (n * ball(q) * (1 - ball(q))).sqrt()) + 1
    return envelope(law.ball, mode, spread, (0, n))


@lru_cache(maxsize=64)
def _near(chance: Real) -> Fraction:
    """The probability, or a rational very close to it: for paths and floats, not for bounds."""
    if isinstance(chance, Fraction):
        return chance
    return Fraction(refine(chance.ball, width=Fraction(1, 2**100)).lower)


def _log_float(number: Fraction) -> float:
    if Fraction(1, 2) < number < 2:
        return math.log1p(number - 1)
    return log_about(number)


def _stirling_rest(k: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    """log k! - log(sqrt(2 pi k) (k/e)^k), k >= 1."""
    small = np.minimum(k, 16.0)
    direct = special.gammaln(small + 1) - (small + 0.5) * np.log(small) + small
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * k * k)) / (k * k)) / (k * k)) / k
    return np.where(k < 16, direct - 0.5 * np.log(2 * np.pi), series)


def _deviance(
    k: NDArray[np.float64], off: NDArray[np.float64], mean: Fraction
) -> NDArray[np.float64]:
    """k log(k/mean) + mean - k, where off = k - mean."""
    v = off / (k + float(mean))
    near = np.where(np.abs(v) < 0.1, v, 0.0)
    # log(k/mean) = 2 artanh v
    series = sum(near ** (2 * j) / (2 * j + 1) for j in range(1, 9))
    is_tiny = mean < _TINY  # no float divides by it
    logs = np.log(k) - log_about(mean) if is_tiny else np.log(k / float(mean))
    return np.where(np.abs(v) < 0.1, off * near + 2 * k * near * series, k * logs - off)
