"""Guarantees: what can be claimed of a mechanism, small frozen values.

A notion of privacy is one class here, listed in `NOTIONS`: its numbers and its text, the one
number that it bounds, how that number is measured of a composition, and what refutes it. Audits,
calibration, searches, certificates and accounts ask the guarantee, never which one it is.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, TypeAlias

import attrs
from attrs import field, frozen

from ..accounting.composition.composed import Composition
from ..accounting.figure import Figure, read_delta, read_epsilon, read_mu, read_order, read_rho
from ..accounting.losses.sums import WORK
from ..common.suggest import meant
from ..exact import CAP, WIDTH, Enclosure, ParameterError, brief_text, decimal_text
from ..mechanisms.pairs.pair import Pair
from .witness import Witness, at_event, at_order, at_outcome, at_separation, steepest_order

_LARGE_DELTA = Fraction(1, 10)  # a delta that nobody means


@frozen
class Bounded(ABC):
    """A number of a composition, and what it must not exceed. bounds: the name of the number."""

    bounds: ClassVar[str] = "epsilon"

    @property
    @abstractmethod
    def figure(self) -> Figure:
        """What it bounds, by the name under which figures of a composition are known."""

    @property
    def bound(self) -> Fraction:
        """The number that must not be exceeded."""
        found = getattr(self, self.bounds)
        assert isinstance(found, Fraction)
        return found

    def measure(
        self, of: Composition, width: Fraction = WIDTH, cap: int = CAP, work: float = WORK
    ) -> Enclosure:
        """The smallest bound for which it would hold; width, cap and work as in `Composition`."""
        more = (work,) if self.figure.quantity in ("delta", "epsilon") else ()
        return of.figure(self.figure, width, cap, *more)

    def deciding(self, of: Composition, width: Fraction = WIDTH, cap: int = CAP) -> Enclosure:
        """As `measure`, but wider where that takes less time and tells whether it would hold."""
        return self.measure(of, width, cap)

    def is_decided(self, found: Enclosure) -> bool:
        """Does the bound lie outside of what is known of the number?"""
        return found.at_most(self.bound) is not None


@frozen
class Guarantee(Bounded):
    """What is claimed of a mechanism. Subclasses' fields are its numbers, in the order of the text.

    kind       its name in texts and certificates
    adds_up    the worst of several uses is the sum of the worst of each, at whatever order
    of_losses  to compose it takes the law of all losses: no curve adds up

    >>> from exactdp.verify import PureDP
    >>> claim = PureDP("0.1")
    >>> claim.kind, isinstance(claim, Claim)
    ('pure', True)
    """

    kind: ClassVar[str]
    adds_up: ClassVar[bool] = False
    of_losses: ClassVar[bool] = False

    @property
    def quantity(self) -> str:
        """What the number is that it bounds."""
        return self.bounds

    @property
    def other_way(self) -> Bounded | None:
        """Another number whose bound holds if and only if this one's does, if there is one."""
        return None

    @property
    def is_void(self) -> bool:
        """Does everything have it?"""
        return False

    @property
    def as_approx(self) -> ApproxDP | None:
        """The (epsilon, delta)-DP that it is, if it is one."""
        return None

    @abstractmethod
    def witness(self, pair: Pair, measured: Enclosure) -> Witness | None:
        """What may refute it in this pair; None where nothing can be named."""

    def remark(self, times: int) -> str | None:
        """What must be said beside what one batch costs, and beside the sum of so many."""
        return None

    @classmethod
    def names(cls) -> list[str]:
        """The names of its numbers."""
        return [each.name for each in attrs.fields(cls)]

    def fields(self) -> dict[str, str]:
        """Its kind and numbers, as certificates have them."""
        return {"kind": self.kind} | {n: decimal_text(getattr(self, n)) for n in self.names()}

    def __str__(self) -> str:
        return self._with(decimal_text)

    def brief(self) -> str:
        """The same as people write it: 1e-6 for 0.000001."""
        return self._with(brief_text)

    def _with(self, written: Callable[[Fraction], str]) -> str:
        return f"{self.kind}:{','.join(written(getattr(self, n)) for n in self.names())}"


@frozen
class PureDP(Guarantee):
    """(epsilon, 0)-differential privacy.

    epsilon: at least 0. Raises ParameterError for anything else.

    >>> PureDP("0.1")
    PureDP(epsilon=Fraction(1, 10))
    """

    kind = "pure"
    adds_up = True

    epsilon: Fraction = field(converter=read_epsilon)

    @property
    def as_approx(self) -> ApproxDP:
        return ApproxDP(self.epsilon, 0)

    @property
    def figure(self) -> Figure:
        return Figure("epsilon", Fraction(0))

    def witness(self, pair: Pair, measured: Enclosure) -> Witness | None:
        return at_outcome(pair, self.epsilon)


@frozen
class ApproxDP(Guarantee):
    """(epsilon, delta)-differential privacy; what it bounds is epsilon, at this delta.

    epsilon: at least 0. delta: at least 0, at most 1. Raises ParameterError for anything else.

    >>> ApproxDP(1, "1e-6")
    ApproxDP(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
    """

    kind = "approx"
    of_losses = True

    epsilon: Fraction = field(converter=read_epsilon)
    delta: Fraction = field(converter=read_delta)

    @property
    def other_way(self) -> Bounded:
        return _Delta(self.epsilon, self.delta)

    @property
    def is_void(self) -> bool:
        return self.delta == 1

    @property
    def as_approx(self) -> ApproxDP:
        return self

    @property
    def figure(self) -> Figure:
        return Figure("epsilon", self.delta)

    def deciding(self, of: Composition, width: Fraction = WIDTH, cap: int = CAP) -> Enclosure:
        return of.epsilon(self.delta, width, cap, enough=self.is_decided)

    def witness(self, pair: Pair, measured: Enclosure) -> Witness | None:
        return at_event(pair, self.epsilon, self.delta)

    def remark(self, times: int) -> str:
        note = f"epsilon of one batch is at delta = {decimal_text(self.delta)}"
        if times == 1:
            return note
        return (
            f"{note}, together at delta = {decimal_text(self.delta * times)} by basic composition"
        )


@frozen
class _Delta(Bounded):
    """(epsilon, delta)-differential privacy; what it bounds is delta, at this epsilon."""

    bounds = "delta"

    epsilon: Fraction
    delta: Fraction

    @property
    def figure(self) -> Figure:
        return Figure("delta", self.epsilon)

    def deciding(self, of: Composition, width: Fraction = WIDTH, cap: int = CAP) -> Enclosure:
        return of.delta(self.epsilon, width, cap, enough=self.is_decided)


@frozen
class RenyiDP(Guarantee):
    """(order, epsilon)-Rényi differential privacy, any real order above 1.

    order: above 1. epsilon: at least 0. Raises ParameterError for anything else.

    >>> RenyiDP(2, "0.01")
    RenyiDP(order=Fraction(2, 1), epsilon=Fraction(1, 100))
    """

    kind = "rdp"
    adds_up = True

    order: Fraction = field(converter=read_order)
    epsilon: Fraction = field(converter=read_epsilon)

    @property
    def quantity(self) -> str:
        return f"Rényi divergence of order {decimal_text(self.order)}"

    @property
    def figure(self) -> Figure:
        return Figure("renyi", self.order)

    def witness(self, pair: Pair, measured: Enclosure) -> Witness | None:
        return at_order(pair, self.order, self.epsilon)


@frozen
class ZCDP(Guarantee):
    """rho-zero-concentrated differential privacy (Bun and Steinke 2016).

    rho: at least 0. Raises ParameterError for anything else.

    >>> ZCDP("0.005")
    ZCDP(rho=Fraction(1, 200))
    """

    kind = "zcdp"
    bounds = "rho"

    rho: Fraction = field(converter=read_rho)

    @property
    def figure(self) -> Figure:
        return Figure("zcdp")

    def witness(self, pair: Pair, measured: Enclosure) -> Witness | None:
        order = steepest_order(pair) if measured.is_finite() else Fraction(2)
        return at_order(pair, order, self.rho * order)


@frozen
class GaussianDP(Guarantee):
    """mu-Gaussian differential privacy (Dong, Roth, Su 2022): no test of neighbours, either way
    round, is better than the best one of N(mu, 1) against N(0, 1).

    mu: at least 0. Raises ParameterError for anything else.

    >>> GaussianDP("0.5")
    GaussianDP(mu=Fraction(1, 2))
    """

    kind = "gdp"
    bounds = "mu"

    mu: Fraction = field(converter=read_mu)

    @property
    def figure(self) -> Figure:
        return Figure("gdp")

    def witness(self, pair: Pair, measured: Enclosure) -> Witness | None:
        return at_separation(pair, self.mu)


Claim: TypeAlias = Guarantee  # of a mechanism; what papers claim is `claims.finding.PaperClaim`

NOTIONS: dict[str, type[Guarantee]] = {
    notion.kind: notion for notion in (PureDP, ApproxDP, RenyiDP, ZCDP, GaussianDP)
}
_FORMS = [f"{kind}:{','.join(notion.names()).upper()}" for kind, notion in NOTIONS.items()]
CLAIMS = f"{', '.join(_FORMS[:-1])} or {_FORMS[-1]}"  # how claims are written


class ClaimWarning(UserWarning):
    """A claim is read as it is typed, and hardly meant so."""


def _hint(text: str, kind: str) -> str:
    """What was probably meant: bare numbers are (epsilon, delta)."""
    numbers = [each.strip() for each in text[:60].strip().strip("()").split(",")]
    if all(each[:1].isdigit() for each in numbers) and len(numbers) <= 2:
        return f" (did you mean '{('pure', 'approx')[len(numbers) - 1]}:{','.join(numbers)}'?)"
    return meant(kind.partition("=")[0], NOTIONS)


def parse_claim(text: str) -> Guarantee:
    """Read "pure:0.1", "approx:1,1e-6", "rdp:2,0.01", "zcdp:0.005" or "gdp:0.1".

    Warns (ClaimWarning) of an approximate claim whose delta is large and above its epsilon.

    text: KIND:NUMBERS. Raises ParameterError for anything else.

    >>> parse_claim("approx:1,1e-6")
    ApproxDP(epsilon=Fraction(1, 1), delta=Fraction(1, 1000000))
    """
    kind, colon, rest = text.strip().partition(":")
    if not colon or kind not in NOTIONS:
        raise ParameterError(f"claim must be {CLAIMS}, got {text[:60]!r}{_hint(text, kind)}")
    notion, values = NOTIONS[kind], rest.split(",")
    count = len(notion.names())
    if len(values) != count:
        form = ",".join(notion.names()).upper()
        raise ParameterError(f"claim must be {kind}:{form}, got {text[:60]!r}")
    claim = notion(*values)
    if isinstance(claim, ApproxDP) and claim.delta >= max(_LARGE_DELTA, claim.epsilon):
        warnings.warn(
            f"{text.strip()} says epsilon = {values[0]} and delta = {values[1]}: approx:EPSILON,"
            f"DELTA may be meant the other way, approx:{values[1]},{values[0]}",
            ClaimWarning,
            stacklevel=2,
        )
    return claim
