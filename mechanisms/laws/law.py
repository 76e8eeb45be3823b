"""A probability law on the integers: the noise that a mechanism adds.

A new law is one new file, and one line in `families`. It says what its PMF is (in balls), what
its cumulant function is, where that may be integrated, and which shape is proved.
Everything else (tails, quantiles, divergences, audits) works for it at once; how it is summed,
shared, enlarged, drawn and calibrated, and closed forms, it says where it can.

Methods that return `arb` compute at the working precision (`exact.precision`); those that return
`Enclosure` choose the precision themselves.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure, UndecidedError
from ...exact.lazy import mpmath
from ...exact.number import ExactInput, ParameterError, Real, ball, decimal_text, exact, whole
from ...exact.precision import CAP, START, WIDTH, refine, working_precision
from ..fields.schema import Calibrated
from ..samplers.bits import RandomBits
from . import contour
from .search import first_within

__all__ = ["Calibrated", "Law", "Moments", "UndecidedError", "divided"]


class Moments(NamedTuple):
    """The mean and the variance of a law.

    mean, variance: enclosures.

    >>> from exactdp.mechanisms import Skellam
    >>> Skellam(100).moments().variance
    Enclosure(100, 100)
    """

    mean: Enclosure
    variance: Enclosure


class Law(ABC):
    """A probability law on the integers with exact parameters. Subclasses are frozen attrs values.

    The parameters of the constructor are the keys of specs and certificates.

    >>> from exactdp.mechanisms import Skellam
    >>> law = Skellam(100)
    >>> law.probability(0) > "0.039", law.tail_quantile("1e-6"), law.symmetric
    (True, 49, True)
    """

    name: ClassVar[str] = ""  # in specs and certificates
    calibrated: ClassVar[Calibrated | None] = None
    attains_limit: ClassVar[bool] = False  # is `loss_limit` the loss of the outcome 0?
    # The parameter that adds up: of n independent copies the sum has n times as much of it, and
    # more of it is the law plus independent noise.
    additive: ClassVar[str | None] = None

    # Proved shape. At most one is proved; each says why, for readers and certificates.

    @property
    def log_concave(self) -> str | None:
        """p(x)^2 >= p(x-1) p(x+1) on all of Z."""
        return None

    @property
    def log_convex_sides(self) -> str | None:
        """Symmetric, and log-convex on x >= 0."""
        return None

    @property
    def curvature_falls(self) -> str | None:
        """2 log p(k) - log p(k-1) - log p(k+1) does not rise in k >= 0, for symmetric p."""
        return None

    @property
    def curvature_peaks(self) -> str | None:
        """The same expression is nowhere larger than at k = 0, for symmetric p."""
        return self.curvature_falls

    @property
    def symmetric(self) -> bool:
        """p(-x) = p(x)."""
        return True

    @property
    def balanced(self) -> bool:
        """p(c - x) = p(x) for some c: the shifted pair is itself, swapped and reflected."""
        return self.symmetric

    @property
    def shape_is_proved(self) -> bool:
        """Do divergences of shifted pairs grow with the shift? (See `AdditiveNoise.pairs`.)"""
        return bool(self.log_concave or self.log_convex_sides)

    # -- what a law must say ------------------------------------------------------------------

    @abstractmethod
    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        """log E e^(zX), for z in the strip of `mgf_domain`; `analytic` as in `acb.integral`."""

    @property
    def falls_off_axis(self) -> bool:
        """Does |E e^((s + i theta) X)| fall in theta on [0, pi], for all real s of the domain?

        As every product does (and every limit of products) of numerators |1 + c e^(+-i theta)|,
        c > 0, and denominators |1 - c e^(+-i theta)|, 0 < c < 1.
        """
        return False

    def path(self, t: int, side: int) -> Sequence[acb]:
        """Where to integrate for the outcome t: corners from the real axis to Im z = pi.

        side: +1 starts right of 0 (upper tails), -1 left of 0 (lower tails), 0 anywhere. Laws
        that give their probabilities and tails in another way need none.
        """
        raise NotImplementedError(f"{type(self).__name__} is not integrated")

    @abstractmethod
    def moments(self) -> Moments:
        """The mean and the variance of X."""

    @property
    def support(self) -> tuple[int | None, int | None]:
        """The least and the largest outcome; None where there is none."""
        return None, None

    @property
    def mgf_domain(self) -> tuple[Real | None, Real | None]:
        """The open interval of t with E e^(tX) finite; None where unbounded."""
        return None, None

    def loss_limit(self, shift: int) -> Real | None:
        """lim of log p(x)/p(x - shift) as x -> -infinity; None where it is infinite."""
        return None

    def loss(self, x: int, shift: int) -> arb:
        """The privacy loss log p(x)/p(x - shift)."""
        return (self.ball(x) / self.ball(x - shift)).log()

    # -- closed forms that some have, at the working precision; shift: of one pair ---------------

    def listed(self) -> Law | None:
        """The same law as a `FiniteLaw`; None where its table is not short."""
        return None

    def wrapped_loss(self, shift: int, modulus: int) -> arb | None:
        """The largest loss of X mod modulus, where it is that of 0; else None."""
        return None

    def steepening(self, x: int, shift: int) -> arb:
        """Bound s(y - shift) - s(y) for all y <= x, s(y) = log p(y)/p(y-1), where x <= 0.

        How fast the privacy loss may still grow beyond x: what tails of Rényi sums need where
        `loss_limit` is None.
        """
        raise NotImplementedError(f"{self} has no bound on its second differences")

    def renyi_sum(self, order: arb, shift: int) -> arb | None:
        """sum p(x)^order p(x - shift)^(1 - order); None where it is no one expression."""
        return None

    def renyi_exact(self, order: Fraction, shift: int) -> Fraction | None:
        """The Rényi divergence itself, where it is known to be this rational."""
        return None

    def gaussian_rho(self, shift: int) -> Fraction:
        """What (Rényi divergence)/order tends to at infinity, at least."""
        return Fraction(0)

    def zcdp_closed(self, shift: int) -> Enclosure | None:
        """sup over order > 1 of (Rényi divergence)/order; None where it has to be looked for."""
        return None

    def zcdp_tail(self, order: Fraction, shift: int) -> arb:
        """Bound (Rényi divergence)/order for all orders from this one on."""
        return arb.pos_inf()

    def mirrored(self) -> Law:
        """The law of -X, up to a translation (which no divergence of a pair feels)."""
        if not self.symmetric:
            raise NotImplementedError(f"{type(self).__name__} does not say what its mirror is")
        return self

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        """(K, F) with E e^(zX) = e^K F, z in the strip; to be overridden where F has zeros there.

        Both are analytic, and K counts up to multiples of 2 pi i.
        """
        return self.cumulant(z, analytic), acb(1)

    @property
    def lost_bits(self) -> int:
        """K may cancel as if the outcome that is asked for had so many bits, at least."""
        return 0

    def slope(self, z: acb) -> acb | None:
        """K'(z) for the K of `transform`, non-finite on balls where it is not analytic.

        It spares the integration work where K is large; None: do without.
        """
        return None

    def derivative(self, z: acb) -> acb | None:
        """K'(z) also where integration is better off without it; None where no formula is known."""
        return self.slope(z)

    # -- how it is made of others, drawn, read and written ------------------------------------

    def simplest(self) -> Law:
        """The same law by its simplest name."""
        return self

    def _sum(self, count: int) -> Law:
        if self.additive is None:
            raise NotImplementedError(f"{type(self).__name__} has no closed form for sums")
        return self._with(self.additive, count * getattr(self, self.additive))

    def _share(self, users: int) -> Law:
        if self.additive is None:
            name = type(self).__name__
            raise ParameterError(f"users must be 1: {name} noise has no exact equal shares")
        total = getattr(self, self.additive)
        each = divided(total, users, self.additive) if isinstance(total, int) else total / users
        return self._with(self.additive, each)

    def enlarged(self, ratio: Fraction) -> tuple[str, Law]:
        """Shares of which 1/ratio as many do at least as much: what is raised, and the law.

        Raises ParameterError for a law of which there are none. (See `protocols.provision`.)
        """
        if self.additive is None:
            raise ParameterError(f"noise {self} cannot be made of larger shares")
        each = getattr(self, self.additive)
        more = math.ceil(each * ratio) if isinstance(each, int) else each * ratio
        return self.additive, self._with(self.additive, more)

    def sampler(self) -> Callable[[RandomBits], int]:
        """The function that makes one exact draw from random bits.

        Raises ParameterError for a law that has none.
        """
        raise ParameterError(f"noise {type(self).__name__} has no exact sampler")

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """`size` independent draws in floats: for simulation only, never for a release.

        Right to about 1e-12 in total variation. Raises ParameterError for a law that has no such
        sampler, and for one so wide that its outcomes do not fit (deviations beyond 7e13).
        """
        raise ParameterError(f"noise {type(self).__name__} has no sampler for simulation")

    # as `exactdp list` shows it: a few words, and the values of a spec
    says: ClassVar[str] = ""
    example: ClassVar[str] = ""

    @classmethod
    def needs(cls) -> tuple[str, ...]:
        """The keys that a spec of this law must give."""
        keys = (each.alias for each in attrs.fields(cls))  # type: ignore[arg-type]
        return tuple(key for key in keys if key not in cls.allows())

    @classmethod
    def allows(cls) -> tuple[str, ...]:
        """The keys that it may give besides."""
        return ()

    @classmethod
    def from_spec(cls, values: Mapping[str, ExactInput]) -> Law:
        """The law of a spec with these keys. Raises ParameterError for values out of range."""
        return cls(**{key: values[key] for key in cls.needs()})

    def fields(self) -> dict[str, Any] | None:
        """Name and parameters, as certificates write them; None where one is another formula."""
        parts = self._parameters()
        if not all(isinstance(value, int | Fraction) for value in parts.values()):
            return None
        return {"name": self.name} | {key: decimal_text(value) for key, value in parts.items()}

    def _parameters(self) -> dict[str, Any]:
        return {each.alias: getattr(self, each.name) for each in attrs.fields(type(self))}  # type: ignore[arg-type]

    def _with(self, parameter: str, value: Any) -> Law:
        return type(self)(**self._parameters() | {parameter: value})

    # -- what follows -------------------------------------------------------------------------

    def sum_of(self, count: ExactInput) -> Law:
        """The law of the sum of `count` >= 1 independent copies of X.

        Raises NotImplementedError where it has no closed form.
        """
        return self._sum(whole(count, "count", at_least=1)).simplest()

    def share(self, users: ExactInput) -> Law:
        """The law of one of `users` independent equal shares: their sum has exactly this law.

        Raises ParameterError where there is no such law.
        """
        count = whole(users, "users", at_least=1)
        return self if count == 1 else self._share(count).simplest()

    def ball(self, x: int) -> arb:
        """Enclose P(X = x) at the working precision."""
        low, high = self.support
        if (low is not None and x < low) or (high is not None and x > high):
            return arb(0)
        return contour.probability(self, x, self.path(x, 0))

    def balls(self, low: int, high: int) -> list[arb]:
        """Enclose P(X = x) for x = low, ..., high."""
        if self.symmetric:
            near, far = max(low, -high, 0), max(-low, high)
            half = self._run(near, far)
            return [half[abs(x) - near] for x in range(low, high + 1)]
        least, greatest = self.support
        first = low if least is None else max(low, least)
        last = high if greatest is None else min(high, greatest)
        if first > last:
            return [arb(0)] * (high - low + 1)
        return [arb(0)] * (first - low) + self._run(first, last) + [arb(0)] * (high - last)

    def _run(self, first: int, last: int) -> list[arb]:
        """The same within the support; of a symmetric law, where 0 <= first."""
        return [self.ball(x) for x in range(first, last + 1)]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        """log P(X = x) in floats, elementwise, also in the far tail; -inf off the support."""
        places, index = np.unique(np.asarray(xs, dtype=np.int64), return_inverse=True)
        with working_precision(START):
            masses = [self.ball(int(x)) for x in places]
        logs = [-math.inf if mass.is_zero() else float(mass.log().mid()) for mass in masses]
        return np.array(logs)[index].reshape(np.shape(xs))

    def upper_tail(self, t: int) -> arb:
        """Enclose P(X >= t) at the working precision."""
        low, high = self.support
        if low is not None and t <= low:
            return arb(1)
        if high is not None and t >= high:
            return self.ball(t)
        if self.symmetric and t <= 0:
            return 1 - self.upper_tail(1 - t)
        if self._left_of_centre(t):
            return 1 - contour.lower_tail(self, t - 1, self.path(t - 1, -1))
        return contour.upper_tail(self, t, self.path(t, 1))

    def lower_tail(self, t: int) -> arb:
        """Enclose P(X <= t) at the working precision."""
        if self.symmetric:
            return self.upper_tail(-t)
        low, high = self.support
        if low is not None and t <= low:
            return self.ball(t)
        if high is not None and t >= high:
            return arb(1)
        if self._left_of_centre(t):
            return contour.lower_tail(self, t, self.path(t, -1))
        return 1 - contour.upper_tail(self, t + 1, self.path(t + 1, 1))

    def probability(self, x: int, width: Fraction = WIDTH) -> Enclosure:
        """P(X = x)."""
        point = whole(x, "x")
        return refine(lambda: self.ball(point), width=width).intersection(_UNIT)

    def pmf(self, x: int, digits: int = 50) -> mpmath.mpf:
        """P(X = x) for mpmath, to this many significant digits.

        Raises UndecidedError where it is not known as narrowly.
        """
        width = Fraction(1, 10 ** (digits + 2))
        if not (found := self.probability(x, width)).is_within(width):
            raise UndecidedError(f"P(X = {x}) is only known to be in {found}")
        return mpmath.mpf(str(found.lower), dps=digits + 15)

    def cdf(self, x: int, width: Fraction = WIDTH) -> Enclosure:
        """P(X <= x)."""
        point = whole(x, "x")
        return refine(lambda: self.lower_tail(point), width=width).intersection(_UNIT)

    def sf(self, x: int, width: Fraction = WIDTH) -> Enclosure:
        """P(X > x)."""
        point = whole(x, "x")
        return refine(lambda: self.upper_tail(point + 1), width=width).intersection(_UNIT)

    def two_sided_tail(self, t: int, width: Fraction = WIDTH) -> Enclosure:
        """P(|X| > t), t >= 0."""
        point = whole(t, "t", at_least=0)
        return refine(lambda: self._outside(point), width=width).intersection(_UNIT)

    def tail_quantile(self, p: ExactInput, cap: int = CAP) -> int:
        """The smallest t >= 0 with P(|X| > t) <= p.

        Raises UndecidedError where some P(|X| > t) cannot be told from p with `cap` bits.
        """
        level = exact(p, "p", above=0, at_most=1)
        return first_within(self._outside, level, "P(|X| > {})", cap=cap)

    def mgf(self, t: ExactInput, width: Fraction = WIDTH) -> Enclosure:
        """E e^(tX), +infinity outside `mgf_domain`."""
        point = exact(t, "t")
        for end, sign in zip(self.mgf_domain, (-1, 1), strict=True):
            if end is not None and self._beyond(point, end, sign):
                return Enclosure.infinite()
        return refine(lambda: self.cumulant(acb(ball(point)), False).real.exp(), width=width)

    def _outside(self, t: int) -> arb:
        if self.symmetric:
            return 2 * self.upper_tail(t + 1)
        return self.upper_tail(t + 1) + self.lower_tail(-t - 1)

    def _left_of_centre(self, t: int) -> bool:
        """Is t below the mean? Decides only which of two exact formulas is used."""
        return not self.symmetric and t < float(self.moments().mean.lower)

    @staticmethod
    def _beyond(point: Fraction, end: Real, sign: int) -> bool:
        """Is the point at or outside this end of the open domain?"""
        if isinstance(end, Fraction):
            return sign * (point - end) >= 0
        answer = refine(
            lambda: sign * (ball(point) - ball(end)),
            width=Fraction(0),
            enough=lambda gap: gap.less_than(0) is not None,
        ).less_than(0)
        if answer is None:
            raise UndecidedError(f"t = {point} cannot be told from the end of the domain")
        return not answer


def divided(total: int, users: int, name: str) -> int:
    """total/users, which must be whole."""
    each, rest = divmod(total, users)
    if rest:
        raise ParameterError(
            f"users must divide {name} = {str(total)[:30]}, so that each has as many, "
            f"got {str(users)[:30]}"
        )
    return each


_UNIT = Enclosure(Decimal(0), Decimal(1))
