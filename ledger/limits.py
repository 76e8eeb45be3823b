"""What a user may spend: a claim, the currency in which its costs add up, and how much of it.

*One level.* pure:epsilon counts pure epsilon, zcdp:rho counts rho, gdp:mu counts mu^2, and rdp:a,e
the Rényi divergence of order a. These are the filters of `accounting.participation.filters`, whose
proofs cover mechanisms that are chosen from earlier outputs: spent <= room, and the claim holds of
all that a user ever takes part in. With costs rounded up it holds all the more.

*Several levels.* approx:epsilon,delta counts pure epsilon, and Rényi divergences of a few orders
a_j, each with a share delta_j of delta, all fixed when the ledger is made. A charge fits if it fits
at one level at least: R_j <= epsilon - surcharge(a_j, delta_j). Then the least of the R_j +
surcharge(a_j, delta_j) is at most epsilon whenever the user stops; this is the report of
`accounting.participation.odometer`, valid for the sum of the delta_j: all uses together are
(epsilon, delta)-DP. (To go on while *any* order has room, each with the whole delta, is another
rule, which nothing covers.)

*A plan.* A list of uses that is fixed beforehand counts uses, and fits at every level (`planned`).

*A window.* With `days` only what was charged in the last so many days counts: the claim holds of
what a user takes part in during any such period. *A project.* With `project` only charges of that
project count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from attrs import field, frozen

from ..accounting.composition.composed import compose
from ..accounting.divergences.gaussian_dp import squared
from ..accounting.participation.charges import MOST_USES, best_order, surcharge
from ..exact import (
    Enclosure,
    ExactInput,
    ParameterError,
    decimal_text,
    refine,
    spend,
    whole,
)
from ..mechanisms.mechanism import Mechanism
from ..verify.guarantee import ApproxDP, GaussianDP, Guarantee, parse_claim
from . import amounts, planned
from .amounts import Amount
from .levels import MU2, PURE, RENYI, RHO, USES, Level

_NEAR = [Fraction(1, 4), Fraction(1, 2), Fraction(2), Fraction(4)]  # times a - 1 of the best order
_MOST_DAYS = 10**6
_SPARE = Fraction(4, 10**12)

Amounts = tuple[Amount, ...]  # one for each level


def _days(value: ExactInput | None) -> int | None:
    return None if value is None else whole(value, "days", at_least=1, at_most=_MOST_DAYS)


@frozen
class Limit:
    """What every user may spend. days: a rolling window; project: only its charges count.

    claim, levels, name: what may be spent, at which levels, and what it is called.

    >>> Limit.of("zcdp:0.5").name
    'limit'
    """

    claim: Guarantee
    levels: tuple[Level, ...]
    name: str = "limit"
    days: int | None = field(default=None, converter=_days)
    project: str = ""

    @staticmethod
    def of(
        claim: Guarantee | str,
        name: str = "limit",
        days: ExactInput | None = None,
        project: str = "",
        plan: object = None,
    ) -> Limit:
        """The limit of this claim. Raises ParameterError where nothing counts towards one.

        plan: of approx, all that will ever be used, fixed now: a spec, SPEC*K, a mechanism, a
        composition, or a list of these, verified to keep the claim together (`planned`).
        """
        stated = parse_claim(claim) if isinstance(claim, str) else claim
        levels = _levels(stated) if plan is None else planned.levels_of(stated, plan)
        return Limit(stated, levels, name, days, project)

    @property
    def nothing(self) -> Amounts:
        """The balance of who has spent nothing."""
        return (amounts.ZERO,) * len(self.levels)

    @property
    def is_planned(self) -> bool:
        """Does it count the uses of a list that is fixed beforehand?"""
        return any(level.kind == USES for level in self.levels)

    def costs(self, mechanism: Mechanism) -> tuple[Enclosure, ...]:
        """What one use costs at each level."""
        if self.is_planned:
            return planned.costs(self.levels, mechanism)
        return _costs(self.levels, mechanism)  # type: ignore[arg-type]  # frozen: it has a hash

    def fits(self, spent: Sequence[Amount]) -> bool:
        """Is so much within the limit: at one level at least, of a plan at all of them?"""
        pairs = zip(spent, self.levels, strict=True)
        within = (amount is not None and amount <= level.room for amount, level in pairs)
        return all(within) if self.is_planned else any(within)

    def most(self, spent: Sequence[Amount], each: Sequence[Amount]) -> int:
        """How many more uses of this cost fit (at most 10^9)."""
        fitting = map(_most, self.levels, spent, each)
        return min(fitting) if self.is_planned else max(fitting)

    def report(self, lower: Sequence[Amount], upper: Sequence[Amount]) -> Enclosure:
        """What was spent in the number that the claim bounds: epsilon, rho, or mu^2."""
        if self.is_planned:
            assert isinstance(self.claim, ApproxDP)
            return planned.report(self.claim, self.levels, tuple(upper))
        costs = [amounts.enclosure(*both) for both in zip(lower, upper, strict=True)]
        reports = map(_reported, self.levels, costs)
        least = next(reports)
        for other in reports:
            least = least.minimum(other)
        return least

    @property
    def amount(self) -> Fraction:
        """How much of that number there is."""
        return self.claim.bound**2 if isinstance(self.claim, GaussianDP) else self.claim.bound

    def to_json(self) -> dict[str, Any]:
        """As `exactdp ledger show --json` lists it."""
        levels = {level.title: decimal_text(level.room) for level in self.levels}
        shown: dict[str, Any] = {"name": self.name, "claim": str(self.claim), "room": levels}
        shown |= {"days": self.days} if self.days is not None else {}
        return shown | ({"project": self.project} if self.project else {})

    def objection(self) -> str | None:
        """Why its levels do not prove its claim; None where they do."""
        claim = self.claim
        if self.is_planned:
            doubt = planned.objection(claim, self.levels)
            return None if doubt is None else f"its plan {doubt}"
        if not isinstance(claim, ApproxDP):
            return None if self.levels == _levels(claim) else "not the currency of its claim"
        if sum(level.delta for level in self.levels) > claim.delta:
            return "the shares of delta add up to more than delta"
        for level in self.levels:
            if level.kind == PURE and level.room == claim.epsilon and level.delta == 0:
                continue
            if level.kind != RENYI or level.order is None or not 0 < level.delta < 1:
                return f"{level.title} proves nothing of its claim"
            if _room(claim.epsilon, level.order, level.delta).less_than(level.room) is not False:
                return f"{level.title} has more room than its claim allows"
        return None


def _levels(claim: Guarantee) -> tuple[Level, ...]:
    if claim.kind not in _LEVELS:
        raise ParameterError(f"limit must be {', '.join(_LEVELS)}, got {claim}")
    return _LEVELS[claim.kind](claim)


def _approx(epsilon: Fraction, delta: Fraction) -> tuple[Level, ...]:
    """Pure, the order that suits Gaussian noise with half of delta, and some orders around it."""
    if delta >= 1:
        raise ParameterError("delta of a limit must be below 1: everything is (epsilon, 1)-DP")
    levels = [Level(PURE, epsilon)]
    if delta > 0 and epsilon > 0:
        best = best_order(epsilon, delta / 2)
        shares = [(best, delta / 2)]
        shares += [(1 + (best - 1) * near, delta / (2 * len(_NEAR))) for near in _NEAR]
        for order, share in shares:
            room = _room(epsilon, order, share)
            if room.lower > 0:
                levels.append(Level(RENYI, _shortened(Fraction(room.lower)), order, share))
    return tuple(levels)


_LEVELS: dict[str, Callable[[Any], tuple[Level, ...]]] = {
    "pure": lambda claim: (Level(PURE, claim.epsilon),),
    "approx": lambda claim: _approx(claim.epsilon, claim.delta),
    "rdp": lambda claim: (Level(RENYI, claim.epsilon, claim.order),),
    "zcdp": lambda claim: (Level(RHO, claim.rho),),
    "gdp": lambda claim: (Level(MU2, claim.mu**2),),
}


def _room(epsilon: Fraction, order: Fraction, delta: Fraction) -> Enclosure:
    return refine(lambda: surcharge(order, delta)).negated().plus(epsilon)


def _shortened(room: Fraction) -> Fraction:
    """A little below, in few digits."""
    return Fraction(int(room * (1 - _SPARE) * 10**24), 10**24)


@lru_cache(maxsize=4096)
def _costs(levels: tuple[Level, ...], mechanism: Mechanism) -> tuple[Enclosure, ...]:
    use = compose(mechanism)
    orders = [level.order for level in levels if level.order is not None]
    curve = dict(zip(orders, use.renyi_curve(orders) if orders else [], strict=True))
    found = []
    for level in levels:
        if level.order is not None:
            found.append(curve[level.order])
        elif level.kind == PURE:
            found.append(use.pure())
        else:
            found.append(use.zcdp() if level.kind == RHO else squared(use.gdp()))
    spend()  # what is charged for good is not cut short
    return tuple(found)


def _most(level: Level, spent: Amount, each: Amount) -> int:
    if spent is None or each is None or spent > level.room:
        return 0
    if each == 0:
        return MOST_USES
    return min(int((level.room - spent) / each), MOST_USES)


def _reported(level: Level, cost: Enclosure) -> Enclosure:
    if level.delta == 0 or cost.upper == 0:  # what was never charged has cost nothing
        return cost
    share = level.order, level.delta
    return cost.plus(_surcharge(*share)).maximum(Enclosure.exactly(0))


@lru_cache(maxsize=256)
def _surcharge(order: Fraction, delta: Fraction) -> Enclosure:
    return refine(lambda: surcharge(order, delta))
