"""What a list of parts costs at most (`accountant`): mechanisms, profiles and Rényi bounds.

Where some parts are known by a bound of their privacy profile (`profiles`), the losses of all are
moved to a lattice (`losses.lattice`). Where Rényi divergences alone are bounded of some, those of
all are added up and converted, losses that are infinite apart.

*Rényi bounds*, of both ways round, by a formula.

*(xi, rho)-zCDP*: xi + rho a at every order a. *For users who are sampled at a rate q*: with R =
dP/dQ, M = (1-q) Q + q P and whole a,

    E_Q (M/Q)^a = sum over k of C(a, k) (1-q)^(a-k) q^k E_Q R^k,   E_Q R^k <= e^((k-1)(xi + rho k)),

the sum of a Gaussian of that rho. The other way round it is E_Q (1 + q (R - 1))^-(a-1). That
function of R is convex: at most 1 - q + q E_Q R^-(a-1) = 1 - q + q e^((a-1) D_a(Q, P)); and by
Taylor's theorem, its second derivative being (a-1) a q^2 (1 + q (R-1))^-(a+1) <= (a-1) a q^2
(1-q)^-(a+1), and E_Q (R - 1) = 0, at most 1 + (a-1) a q^2 (1-q)^-(a+1) (e^D_2(P, Q) - 1)/2.
*Batches of a fixed size*: Wang, Balle, Kasiviswanathan, "Subsampled Rényi differential privacy and
analytical moments accountant", AISTATS 2019, Theorem 9.

*The best of so many runs*: Papernot, Steinke, "Hyperparameter tuning with Rényi differential
privacy", ICLR 2022, Theorems 2 and 6.

(a - 1) D_a is convex in a and 0 at a = 1: between whole orders it is below chords.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from attrs import evolve, frozen
from flint import acb, arb

from ...exact import Enclosure, Endpoint, ball, enclose, working_precision
from ...exact.roots import halved
from ...losses.cells import Loss
from ...losses.lattice import refined
from ...mechanisms.guaranteed import Guaranteed
from ...mechanisms.mechanism import Mechanism, RandomizedResponse
from ...mechanisms.moment_profile import dominating_pair
from ...mechanisms.sampled import Sampled
from ...mechanisms.vector import vector
from ..composition.composed import Composition, Use
from ..divergences.conversion import renyi_to_delta, renyi_to_epsilon
from ..losses.law import LossLaw
from ..losses.product import product_of
from ..losses.sums import OFF_LATTICE
from ..scenario import scenarios
from .profiles import LossProfile, SampledShift, profile_law

# at which the least is taken of what is repeated
_ORDERS: tuple[Fraction, ...] = (
    *(1 + Fraction(k, 40) for k in range(1, 8)),
    *(1 + Fraction(k, 10) for k in range(2, 100)),
    *(Fraction(k) for k in range(11, 64)),
    *(Fraction(2**k) for k in range(6, 11)),
)

_BITS = 256
_MOST_SUMMED = 1024  # the order up to which moments are summed
_TAIL = Fraction(1, 10**24)  # of all uses, by what may be taken for an infinite loss
_LEFT_OUT = Fraction(1, 10**9)  # of delta, likewise
_UNITS = 8e7  # of work on lattices
_WIDTH, _ROUGH = Fraction(1, 10**9), Fraction(1, 10**7)
_INFINITY = Decimal("Infinity")
_ZERO, _ONE = Fraction(0), Fraction(1)


class RenyiBound:
    """One use: a family is a subclass that bounds D, both ways round."""

    def renyi(self, order: Fraction) -> arb:
        """D at an order > 1, at most."""
        raise NotImplementedError


Part: TypeAlias = Mechanism | LossProfile | RenyiBound | None  # None: nothing is private
Parts: TypeAlias = tuple[tuple[Part, int], ...]


def epsilon_at(parts: Parts, delta: Fraction) -> Endpoint:
    """Epsilon at this delta, at most."""
    if any(part is None for part, _ in parts):
        return _INFINITY
    if not parts or delta == 1:
        return _ZERO
    if (listed := _composition(parts)) is not None:
        return listed.epsilon(delta, _WIDTH).upper
    if delta == 0:
        return _INFINITY
    with working_precision(_BITS):
        if not any(isinstance(part, RenyiBound) for part, _ in parts):
            return _on_lattice(parts, delta, None)
        left = delta - _lost(parts)
        if not left > 0:
            return _INFINITY
        return renyi_to_epsilon(lambda orders: _curve(parts, orders), left, None, _ROUGH)[0].upper


def delta_at(parts: Parts, epsilon: Fraction) -> Endpoint:
    """Delta at this epsilon >= 0, at most."""
    if any(part is None for part, _ in parts):
        return _ONE
    if not parts:
        return _ZERO
    if (listed := _composition(parts)) is not None:
        return listed.delta(epsilon, _WIDTH).upper
    with working_precision(_BITS):
        if not any(isinstance(part, RenyiBound) for part, _ in parts):
            return min(_ONE, _on_lattice(parts, None, epsilon))
        left = renyi_to_delta(lambda orders: _curve(parts, orders), epsilon, None, _ROUGH)[0]
        return min(_lost(parts) + Fraction(left.upper), _ONE)


def _composition(parts: Parts) -> Composition | None:
    """The parts as uses of mechanisms, where all are; the same in whatever order they come."""
    uses = [Use(part, times) for part, times in parts if not isinstance(part, _Bounds) and part]
    return Composition(sorted(uses, key=repr)) if len(uses) == len(parts) else None


_Bounds = LossProfile | RenyiBound


# -- by losses on a lattice ------------------------------------------------------------------------


def _on_lattice(parts: Parts, delta: Fraction | None, epsilon: Fraction | None) -> Endpoint:
    """Epsilon at this delta, or delta at this epsilon: in whichever direction costs more."""
    counted, found = Counter[Mechanism | LossProfile](), arb(0)
    for part, times in parts:
        counted[_plain(part)] += times
    uses = [Use(part, n) for part, n in counted.items() if not isinstance(part, LossProfile)]
    profiles = [(part, n) for part, n in counted.items() if isinstance(part, LossProfile)]
    tail = _TAIL if delta is None else min(_TAIL, delta * _LEFT_OUT)
    log_tail = float(ball(tail).log().mid())
    ways = scenarios(uses) if uses else ((),)
    for way in range(2 if any(not p.two_way for p, _ in profiles) else len(ways)):
        product = product_of(ways[way % len(ways)], log_tail)
        losses: list[tuple[Loss, int]] = [
            *product.losses(log_tail),
            *((profile_law(p, tail / counted.total(), way == 1), n) for p, n in profiles),
        ]
        *_, last = refined(
            losses,
            delta=None if delta is None else ball(delta),
            epsilon=None if epsilon is None else ball(epsilon),
            charged=product.charges(),
            width=float(OFF_LATTICE),
            units=_UNITS,
        )
        found = found.max(last.upper)
    return enclose(found).upper


def _plain(part: Part) -> Mechanism | LossProfile:
    """What dominates it and has outcomes, or a profile."""
    assert part is not None and not isinstance(part, RenyiBound)
    if isinstance(part, LossProfile):
        return part
    if isinstance(part, Guaranteed):
        return part.alike(dominating_pair(part.curve))
    if vector(part) is not None:  # its Gaussian envelope
        mu = Fraction(Composition([Use(part, 1)]).gdp(_ROUGH).upper)
        return SampledShift(_ONE, mu**2, True)
    return part


# -- by Rényi divergences -------------------------------------------------------------------------


def _finite(part: Part) -> tuple[Part, list[LossLaw], Fraction]:
    """What has no infinite losses: a part, or laws on a grid; and how likely these are, at most.

    (epsilon, delta)-DP tells all with probability delta, and is epsilon-DP otherwise.
    """
    if isinstance(part, LossProfile):
        ways = (False,) if part.two_way else (False, True)
        laws = [profile_law(part, _TAIL / 10**6, way) for way in ways]
        return None, laws, max(Fraction(enclose(law.escaping().upper()).upper) for law in laws)
    if isinstance(part, Sampled) and part.rate == 1:
        plain, _, lost = _finite(part.mechanism)
        return evolve(part, mechanism=plain) if lost else part, [], lost  # type: ignore[arg-type]
    if isinstance(part, RandomizedResponse) and part.delta:
        return evolve(part, delta=_ZERO), [], part.delta
    return part, [], _ZERO


@lru_cache(maxsize=32)
def _lost(parts: Parts) -> Fraction:
    """How likely some loss is infinite, at most."""
    with working_precision(_BITS):
        kept = arb(1)
        for part, times in parts:
            kept *= ball(1 - _finite(part)[2]) ** times
        return Fraction(enclose(1 - kept).upper)


def _curve(parts: Parts, orders: Sequence[Fraction]) -> list[Enclosure]:
    """Rényi divergences of what has no infinite loss, at most: the sums of order a are of that."""
    uses, found = [], [arb(0)] * len(orders)
    for part, times in parts:
        plain, laws, _ = _finite(part)
        if isinstance(plain, RenyiBound):
            more = [plain.renyi(order) for order in orders]
        elif laws:
            more = [
                max(law.transform(acb(a - 1)).real.upper() for law in laws).log() / (a - 1)
                for a in map(ball, orders)
            ]
        else:
            uses.append(Use(plain, times))  # type: ignore[arg-type]
            continue
        found = [total + times * one for total, one in zip(found, more, strict=True)]
    bounds = [enclose(total.upper()) for total in found]
    if not uses:
        return bounds
    return [
        one.plus(more)
        for one, more in zip(bounds, Composition(uses).renyi_curve(orders, _ROUGH), strict=True)
    ]


@lru_cache(maxsize=64)
def _inner(parts: Parts, orders: tuple[Fraction, ...]) -> list[arb]:
    """Of what is repeated: infinite where a loss may be."""
    if any(part is None for part, _ in parts) or _lost(parts):
        return [arb.pos_inf()] * len(orders)
    ends = [value.upper for value in _curve(parts, orders)]
    return [arb.pos_inf() if end == _INFINITY else ball(Fraction(end)) for end in ends]


@frozen
class Concentrated(RenyiBound):
    """(xi, rho)-zCDP."""

    rho: Fraction
    xi: Fraction = Fraction(0)

    def renyi(self, order: Fraction) -> arb:
        return ball(self.xi + self.rho * order)


@frozen
class SampledConcentrated(RenyiBound):
    """The same of users who are sampled at this rate; fixed: in batches of one size."""

    rate: Fraction
    rho: Fraction
    xi: Fraction = Fraction(0)
    fixed: bool = False

    def renyi(self, order: Fraction) -> arb:
        plain = ball(self.xi + self.rho * order)  # a sample is post-processing of all
        if order > _MOST_SUMMED:
            return plain
        low = math.floor(order)
        below = arb(0) if low == 1 else self._moment(low)
        if order == low:
            return (below / (low - 1)).min(plain)
        part = ball(order - low)
        return ((below * (1 - part) + self._moment(low + 1) * part) / ball(order - 1)).min(plain)

    def _moment(self, order: int) -> arb:
        """(a - 1) D_a."""
        return _fixed_moment(self, order) if self.fixed else _moment(self, order)

    def power(self, order: int) -> arb:
        """E_Q R^a, at most."""
        return ((order - 1) * ball(self.xi + self.rho * order)).exp()


@lru_cache(maxsize=4096)
def _moment(one: SampledConcentrated, a: int) -> arb:
    q = ball(one.rate)
    terms = (
        math.comb(a, k) * (1 - q) ** (a - k) * q**k * (one.power(k) if k > 1 else 1)
        for k in range(a + 1)
    )
    removed = sum(terms, arb(0))
    added = 1 - q + q * one.power(a)
    if one.rate < 1:
        bent = (a - 1) * a * q**2 * (1 - q) ** (-a - 1) * (one.power(2) - 1) / 2
        added = added.min(1 + bent)
    return removed.max(added).log()


@lru_cache(maxsize=4096)
def _fixed_moment(one: SampledConcentrated, a: int) -> arb:
    q, second = ball(one.rate), one.power(2)
    total = 1 + math.comb(a, 2) * q**2 * (4 * (second - 1)).min(2 * second)
    for k in range(3, a + 1):
        total += 2 * math.comb(a, k) * q**k * one.power(k)
    return total.log()


@frozen
class Repeated(RenyiBound):
    """The best of K runs: K is a truncated negative binomial of this mean and shape, or Poisson."""

    inner: Parts
    mean: Fraction
    shape: Fraction | None

    def renyi(self, order: Fraction) -> arb:
        (one,) = _inner(self.inner, (order,))
        mean, rest = ball(self.mean), ball(order - 1)
        if self.shape is None:  # a delta at a level that is at most log(1 + 1/(order - 1))
            level = Fraction(enclose((1 / rest).log1p()).lower)
            return one + mean * ball(Fraction(delta_at(self.inner, level))) + mean.log() / rest
        surprise = -_success(self.mean, self.shape).log()
        more = [
            ((1 - 1 / ball(other)) * value + surprise / ball(other)).upper()
            for other, value in zip(_ORDERS, _inner(self.inner, _ORDERS), strict=True)
        ]
        return one + (1 + ball(self.shape)) * min(more) + mean.log() / rest


@lru_cache(maxsize=256)
def _success(mean: Fraction, shape: Fraction) -> arb:
    """gamma of the truncated negative binomial of this mean, or less: that costs more.

    The mean falls as gamma rises.
    """

    def falls_short(gamma: Fraction) -> bool:
        return not _mean(ball(gamma), ball(shape)) >= ball(mean)

    return ball(halved(falls_short, Fraction(0), Fraction(1), 60)[0])


def _mean(gamma: arb, shape: arb) -> arb:
    if shape == 0:
        return (1 / gamma - 1) / -gamma.log()
    return shape * (1 - gamma) / (gamma * (1 - gamma**shape))
