"""Pólya noise: negative binomial variables of real shape.

Polya(r, scale) has E e^(zX) = ((1-b)/(1 - b e^z))^r with b = e^(-1/scale), so shares of shape r/n
sum to shape r; their differences are in `discrete_laplace`.

Laws with a branch point at z = 1/scale, this one and differences of it, share the rate 1/scale and
paths that end on it (`ray`). The scale may be irrational and known by its formula only
(`exact.number.Formula`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from operator import mul
from typing import cast

import numpy as np
from attrs import field, frozen
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ...exact.lazy import special
from ...exact.number import (
    ExactInput,
    Formula,
    ParameterError,
    Quotient,
    Real,
    ball,
    exact,
    positive,
)
from ...exact.precision import refine, working_precision
from ..samplers.bits import RandomBits
from ..samplers.coins import near_floor
from ..samplers.envelope import Envelope, envelope
from . import floats
from .law import Law, Moments

# ((1 - r)/(1 - rz))^a generates X, r = e^(-1/scale). For r < R its quotient has the logarithm
# const + a sum_k (R^k - r^k) z^k/k: nonnegative coefficients, so a compound Poisson law's.
LARGER_SCALE = (
    "more noise is a post-processing of less: Pólya noise of a larger scale is that of a smaller "
    "one plus independent compound Poisson noise"
)
_LEAST_SHAPE = Fraction(1, 10**20)
STEEP = 16  # above this shape the integrand falls off like a Gaussian all the way up


def read_scale(value: ExactInput | Formula) -> Real:
    """A number above 0; a formula is taken as it is."""
    return cast("Formula", value) if hasattr(value, "ball") else positive(value, "scale")


def read_shape(value: ExactInput) -> Fraction:
    """A number above 0; small enough for the share of one user of many."""
    shape = exact(value, "shape", above=0)
    if not _LEAST_SHAPE <= shape <= 10**15:
        raise ParameterError(f"shape must be between 1e-20 and 1e15, got {str(value)[:40]}")
    return shape


def variance_of(shape: Fraction, scale: Real) -> arb:
    """r b/(1-b)^2, the variance of one Pólya variable."""
    return ball(shape) / (4 * (rate_of(scale) / 2).sinh() ** 2)


def rate_of(scale: Real) -> arb:
    """1/scale."""
    return ball(1 / scale) if isinstance(scale, Fraction) else 1 / scale.ball()


@lru_cache(maxsize=64)
def rate_below(scale: Real) -> Fraction:
    """1/scale, or a rational just below it."""
    if isinstance(scale, Fraction):
        return 1 / scale
    return Fraction(refine(lambda: rate_of(scale), width=Fraction(1, 2**200)).lower)


def over(factor: int, scale: Real) -> Real:
    """factor/scale."""
    if isinstance(scale, Fraction):
        return factor / scale
    return Quotient(Fraction(factor), scale)


def ray(shape: Fraction, scale: Real, t: int, side: int, distance: float) -> Sequence[acb]:
    """A straight path from s, this far left of the branch point z = 1/scale, at 60 degrees.

    Near the saddle point the integrand falls off like a Gaussian in every direction steeper than
    45 degrees; further up, e^(-tz) falls off where a vertical line would only oscillate, which
    matters for small shapes, whose M is nearly constant. The corners grow geometrically away from
    the branch point. For small shapes the saddle point itself is needlessly close to it.
    """
    rate, r = float(rate_below(scale)), float(shape)
    distance = max(distance, min(rate / 2, max(1, r / 2) / max(t, 1)))
    clearance = min(rate / 2, 2 * math.sinh(min(rate, 600) / 2) / math.sqrt(r))  # 1/deviation
    # s itself is exact, so that it stays left of the branch point however close they are
    start = rate_below(scale) - Fraction(distance)
    if side:
        start = side * max(side * start, Fraction(clearance))
    places = 60 - math.frexp(min(distance, clearance))[1]
    s = arb((math.floor(start * Fraction(2) ** places), -places))
    if shape > STEEP:
        return [acb(s), acb(s, arb.pi())]
    height = max(distance, rate - float(start)) / max(1.0, math.sqrt(r))
    corners = [acb(s)]
    while height < 1.5:
        corners.append(acb(s + height / math.sqrt(3), height))
        height *= 8
    return [*corners, acb(s + arb.pi() / math.sqrt(3), arb.pi())]


@frozen(slots=False)
class Polya(Law):
    """p(x) = Gamma(x+r)/(x! Gamma(r)) b^x (1-b)^r on x >= 0, r = shape > 0, b = e^(-1/scale).

    Raises ParameterError for anything else.

    >>> Polya("1/2", 10).probability(0) < "0.31"
    True
    """

    shape: Fraction = field(converter=read_shape)
    scale: Real = field(converter=read_scale)

    symmetric = False
    additive = "shape"
    falls_off_axis = True

    @cached_property
    def log_concave(self) -> str | None:
        if self.shape < 1:
            return None
        return "p(x)/p(x-1) = b (x - 1 + shape)/x does not rise in x, since shape >= 1"

    @property
    def support(self) -> tuple[int, None]:
        return 0, None

    @property
    def mgf_domain(self) -> tuple[None, Real]:
        return None, over(1, self.scale)

    def moments(self) -> Moments:
        return Moments(
            refine(lambda: ball(self.shape) / rate_of(self.scale).expm1()),
            refine(lambda: variance_of(self.shape, self.scale)),
        )

    def ball(self, x: int) -> arb:
        if x < 0:
            return arb(0)
        size = x.bit_length() + sum(n.bit_length() for n in self.shape.as_integer_ratio())
        with working_precision(ctx.prec + 2 * size + 16):
            r, rate = ball(self.shape), rate_of(self.scale)
            logs = (x + r).lgamma() - (r.lgamma() + arb(x + 1).lgamma())
            found = (logs - x * rate + r * (-(-rate).expm1()).log()).exp()
        return +found

    def _run(self, first: int, last: int) -> list[arb]:
        # p(x+1)/p(x) = b (x + r)/(x + 1): one product a step, relative radii add up
        r, beta = ball(self.shape), (-rate_of(self.scale)).exp()
        ratios = (beta * (x + r) / (x + 1) for x in range(first, last))
        return list(accumulate(ratios, mul, initial=self.ball(first)))

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        x = np.asarray(xs, dtype=np.float64)
        k = np.maximum(x, 1)
        r, rate = float(self.shape), float(rate_below(self.scale))
        # Gamma(k+r)/(k! Gamma(r)) = 1/(k B(k, r))
        logs = -np.log(k) - special.betaln(k, r)
        values = np.where(x > 0, logs, 0.0) - x * rate + r * math.log(-math.expm1(-rate))
        return np.where(x >= 0, values, -np.inf)

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        # 1 - b e^z meets the cut of the logarithm exactly on the cut [1/scale, inf) of M
        rate = rate_of(self.scale)
        ground = (-(-rate).expm1()).log()
        return ball(self.shape) * (ground - (1 - (z - rate).exp()).log(analytic=analytic))

    def slope(self, z: acb) -> acb | None:
        if self.shape <= STEEP:
            return None
        return ball(self.shape) / ((rate_of(self.scale) - z).exp() - 1)

    def path(self, t: int, side: int) -> Sequence[acb]:
        # K'(s) = t where 1 - b e^s = r/(t + r)
        return ray(self.shape, self.scale, t, side, math.log1p(float(self.shape) / max(t, 0.5)))

    def sampler(self) -> Callable[[RandomBits], int]:
        return histogram(self).draw

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """A Poisson variable whose rate is Gamma: shape r, scale b/(1 - b), b = e^(-1/scale).

        Footnote 3 of Chowdhury and Zhou, "Distributed Differential Privacy in Multi-Armed Bandits"
        (ICLR 2023). Its generating function is (1 - (b/(1-b)) (z - 1))^(-r) = ((1-b)/(1-bz))^r. The
        implementation that was published with the paper has (1 - b)/b instead.
        """
        odds = 1 / math.expm1(min(700.0, 1 / floats.to_float(self.scale)))
        shape = float(self.shape)
        floats.check_width(shape * odds + 100 * odds)
        return floats.poisson(odds * rng.standard_gamma(shape, size), rng)


@lru_cache(maxsize=64)
def histogram(law: Polya) -> Envelope:
    """What is drawn from. With b = e^(-1/scale), p(x)/p(x-1) = b (x-1+r)/x.

    *r >= 1*: this ratio does not rise in x: log-concave, with the mode at floor(b (r-1)/(1-b)).
    *r < 1*: it rises to b, and is below 1: the mode is at 0, and p(x + 1) <= p(x) e^(-1/scale).
    For tiny r nearly all mass is at 0, and the rest nearly that of the logarithmic series b^x/x:
    the steps grow with x, so that a few hundred of them cover any scale.
    """
    shape, scale = law.shape, law.scale

    def odds() -> arb:
        return 1 / (1 / ball(scale)).expm1()  # b/(1 - b)

    if shape >= 1:
        mode = near_floor(lambda: ball(shape - 1) * odds())
        spread = near_floor(lambda: (ball(shape) * odds() * (1 + odds())).sqrt()) + 1
        return envelope(law.ball, mode, spread, law.support)
    spread = near_floor(lambda: ball(scale)) + 1
    small = shape.denominator.bit_length() + spread.bit_length()
    tail_scale = partial(ball, scale)
    return envelope(law.ball, 0, spread, law.support, tail_scale=tail_scale, extra=small)
