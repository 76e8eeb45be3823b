"""What a list of parts costs at most (`accountant`): mechanisms, profiles and Rényi bounds.

Where Rényi divergences alone are bounded of some parts, those of all are added up and converted,
losses that are infinite apart. All else is a composition, what is known by its privacy profile
(`profiles`) included.

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
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import TypeAlias

from attrs import evolve, frozen
from flint import arb

from ...exact import Enclosure, Endpoint, ball, enclose, working_precision
from ...exact.roots import halved
from ...mechanisms.mechanism import Mechanism, RandomizedResponse
from ...mechanisms.sampled import Sampled
from ...mechanisms.sampling.guaranteed import Guaranteed, dominating_pair
from ..composition.composed import Composition, Use
from ..divergences.conversion import renyi_to_delta, renyi_to_epsilon
from ..figure import Figure
from ..losses.sums import OFF_LATTICE
from .profiles import ProfiledPair

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
_WIDTH, _ROUGH = Fraction(1, 10**9), Fraction(1, 10**7)
_INFINITY = Decimal("Infinity")
_ZERO, _ONE = Fraction(0), Fraction(1)


class RenyiBound:
    """One use: a family is a subclass that bounds D, both ways round."""

    def renyi(self, order: Fraction) -> arb:
        """D at an order > 1, at most."""
        raise NotImplementedError


Part: TypeAlias = Mechanism | RenyiBound | None  # None: nothing is private
Parts: TypeAlias = tuple[tuple[Part, int], ...]


def at_most(parts: Parts, figure: Figure) -> Endpoint:
    """Epsilon at a delta, or delta at an epsilon >= 0, at most."""
    of_delta, at = figure.quantity == "delta", figure.at
    assert at is not None
    if any(part is None for part, _ in parts):
        return _ONE if of_delta else _INFINITY
    if not parts or (at == 1 and not of_delta):
        return _ZERO
    if listed := _composition(parts, _ONE if of_delta else at):
        composition, width = listed
        return composition.figure(figure, width).upper
    with working_precision(_BITS):
        lost, curve = _lost(parts), partial(_curve, parts)
        if of_delta:
            return min(lost + Fraction(renyi_to_delta(curve, at, None, _ROUGH)[0].upper), _ONE)
        if lost >= at:
            return _INFINITY
        return renyi_to_epsilon(curve, at - lost, None, _ROUGH)[0].upper


def _composition(parts: Parts, delta: Fraction) -> tuple[Composition, Fraction] | None:
    """The parts as uses of mechanisms, where all are, the same in whatever order they come; and how
    narrowly it is known.

    delta: where it is looked at.
    """
    by_profile = any(isinstance(part, ProfiledPair) for part, _ in parts)
    tail, uses = min(_TAIL, delta * _LEFT_OUT) / max(sum(n for _, n in parts), 1), list[Use]()
    for part, count in parts:
        if part is None or isinstance(part, RenyiBound):
            return None
        if isinstance(part, ProfiledPair):
            part = evolve(part, tail=tail)
        elif by_profile and isinstance(part, Guaranteed):
            part = part.alike(dominating_pair(part.curve))
        uses.append(Use(part, count))
    return Composition(sorted(uses, key=repr)), OFF_LATTICE if by_profile else _WIDTH


# -- by Rényi divergences -------------------------------------------------------------------------


def _finite(part: Mechanism | RenyiBound) -> tuple[Mechanism | RenyiBound, Fraction]:
    """The part without its infinite losses, and how likely these are, at most.

    (epsilon, delta)-DP tells all with probability delta, and is epsilon-DP otherwise.
    """
    if isinstance(part, ProfiledPair):
        return evolve(part, is_finite=True), part.lost()
    if isinstance(part, Sampled) and part.rate == 1:
        plain, lost = _finite(part.mechanism)
        return evolve(part, mechanism=plain) if lost else part, lost  # type: ignore[arg-type]
    if isinstance(part, RandomizedResponse) and part.delta:
        return evolve(part, delta=_ZERO), part.delta
    return part, _ZERO


def _lost(parts: Parts) -> Fraction:
    """How likely some loss is infinite, at most."""
    with working_precision(_BITS):
        kept = arb(1)
        for part, times in parts:
            kept *= ball(1 - _finite(part)[1]) ** times  # type: ignore[arg-type]
        return Fraction(enclose(1 - kept).upper)


def _curve(parts: Parts, orders: Sequence[Fraction]) -> list[Enclosure]:
    """Rényi divergences of what has no infinite loss, at most: the sums of order a are of that."""
    finite = [(_finite(part)[0], count) for part, count in parts]  # type: ignore[arg-type]
    bounds = [(part, count) for part, count in finite if isinstance(part, RenyiBound)]
    uses = [Use(part, count) for part, count in finite if not isinstance(part, RenyiBound)]
    found = [
        enclose(sum((count * part.renyi(order) for part, count in bounds), arb(0)).upper())
        for order in orders
    ]
    if not uses:
        return found
    more = Composition(uses).renyi_curve(orders, _ROUGH)
    return [one.plus(other) for one, other in zip(found, more, strict=True)]


@lru_cache(maxsize=64)
def _inner(parts: Parts, orders: tuple[Fraction, ...]) -> list[arb]:
    """Of what is repeated: infinite where a loss may be."""
    if any(part is None for part, _ in parts) or _lost(parts):
        return [arb.pos_inf()] * len(orders)
    ends = [value.upper for value in _curve(parts, orders)]
    return [arb.pos_inf() if end == _INFINITY else ball(Fraction(end)) for end in ends]


@frozen
class Concentrated(RenyiBound):
    """(xi, rho)-zCDP of users who are sampled at this rate; fixed: in batches of one size."""

    rate: Fraction
    rho: Fraction
    xi: Fraction = Fraction(0)
    fixed: bool = False

    def renyi(self, order: Fraction) -> arb:
        plain = ball(self.xi + self.rho * order)  # a sample is post-processing of all
        if order > _MOST_SUMMED or self.rate == 1:
            return plain
        low = math.floor(order)
        part = ball(order - low)
        chord = _moment(self, low) * (1 - part)
        if part > 0:
            chord += _moment(self, low + 1) * part
        return (chord / ball(order - 1)).min(plain)


@lru_cache(maxsize=4096)
def _moment(one: Concentrated, a: int) -> arb:
    """(a - 1) D_a; powers: E_Q R^k, at most."""
    if a == 1:
        return arb(0)
    more = (((k - 1) * ball(one.xi + one.rho * k)).exp() for k in range(2, a + 1))
    q, powers = ball(one.rate), [arb(1), arb(1), *more]
    if one.fixed:
        total = 1 + math.comb(a, 2) * q**2 * (4 * (powers[2] - 1)).min(2 * powers[2])
        more = (2 * math.comb(a, k) * q**k * powers[k] for k in range(3, a + 1))
        return sum(more, total).log()
    terms = (math.comb(a, k) * (1 - q) ** (a - k) * q**k * powers[k] for k in range(a + 1))
    added = 1 - q + q * powers[a]
    bent = (a - 1) * a * q**2 * (1 - q) ** (-a - 1) * (powers[2] - 1) / 2
    return sum(terms, arb(0)).max(added.min(1 + bent)).log()


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
            lost = at_most(self.inner, Figure("delta", level))
            return one + mean * ball(lost) + mean.log() / rest
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
        g, eta = ball(gamma), ball(shape)
        share = (1 - g**eta) / eta if shape else -g.log()
        return not (1 - g) / (g * share) >= ball(mean)

    return ball(halved(falls_short, Fraction(0), Fraction(1), 60)[0])
