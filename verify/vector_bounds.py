"""Which bounds of its vectors a certificate names, so that the checker need not look for them.

Hints: nothing rests on them. What they mean, and what the checker proves: `checker/vectors.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from attrs import evolve

from ..accounting.composition.composed import Composition, Use, compose
from ..accounting.composition.rounding import MOST_MOVES, least_tilt, rounded_at_random
from ..exact.enclosure import Enclosure, Endpoint
from ..exact.number import decimal_text
from ..exact.rounding import to_digits
from ..mechanisms.additive.reach import Direction
from ..mechanisms.additive.vector import VectorNoise, vector
from ..mechanisms.bracket import Bracketed
from ..mechanisms.continuous import ContinuousNoise, Shape
from ..mechanisms.laws.binomial import Binomial
from ..mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ..mechanisms.laws.gaussian_envelope import NoEnvelopeError
from ..mechanisms.laws.rounded_envelope import rounded_distance
from ..mechanisms.laws.skellam import Skellam
from ..mechanisms.mechanism import AdditiveNoise, Mechanism
from ..mechanisms.sampled import unsampled
from ..mechanisms.sampling.allocation import allocation
from .audit import Audit, Verdict
from .checker.closed import WIDE
from .guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP

Hints: TypeAlias = dict[str, Any]
Bounds: TypeAlias = list[Any]  # one for each use

_WIDTH, _WORK = Fraction(1, 10**4), 0.3  # to which bounds are compared, by so much work
_WIDE = Fraction(1, 10**3)
_WIDE_LOSSES = 4 * 10**6  # a variance
_ALIKE = 1 - Fraction(1, 10**4)
_ROOM = 1 + Fraction(1, 10**10)  # for the checker's own rounding
_SHARES = [Fraction(1, 10**n) for n in (1, 2, 3)]  # of delta, for what is missed
_UNIT = {1: 1}  # what a shorter vector is rounded to by chance, where no other direction is known
_INFINITY = Decimal("Infinity")
_MOST_STEPS = 20_000  # that are named
_MOST_USES = 10**9  # that compose


def bounded(audit: Audit) -> Iterator[tuple[Audit, Hints]]:
    """The audit with an enclosure that hints lead to, the narrowest first; itself without vectors.

    At last only with the end that the verdict rests on.
    """
    uses = compose(audit.mechanism).uses
    families = any(isinstance(unsampled(use.mechanism), Bracketed) for use in uses)
    if families or not any(vector(use.mechanism) for use in uses):
        hints = _steps(uses)
        enveloped = list(_enveloped(audit, uses))
        slow = any(isinstance(each.law, Skellam) for each in map(_number, uses) if each)
        yield from enveloped if slow else ()  # which is sought after for long
        yield audit, hints
        yield from () if slow else enveloped
        told = families or isinstance(audit.claim, GaussianDP)
        if told or any(allocation(use.mechanism) for use in uses):  # wider in the checker
            for wider in _wider(audit):
                yield evolve(audit, measured=wider), hints
        return
    measured, bound = audit.measured, audit.claim.bound
    verified = audit.verdict is Verdict.VERIFIED
    vectors = (use.mechanism for use in uses if isinstance(use.mechanism, VectorNoise))
    told = not (verified and audit.claim.of_losses and any(map(_is_wide, vectors)))
    along = _along(audit, uses) if told else []
    for upper, above in _above(audit, uses):
        if audit.verdict is Verdict.REFUTED or upper <= bound:
            high = max(measured.upper, upper)
            known = Enclosure(measured.lower if told else Fraction(0), high)
            hints = {"above": above, "along": along} if told else {"above": above}
            yield evolve(audit, measured=known), hints
            if verified:
                yield evolve(audit, measured=Enclosure(Fraction(0), bound)), {"above": above}
    if audit.verdict is Verdict.REFUTED:
        yield evolve(audit, measured=Enclosure(measured.lower, _INFINITY)), {"along": along}


def _enveloped(audit: Audit, uses: Sequence[Use]) -> Iterator[tuple[Audit, Hints]]:
    """By the Gaussians that dominate numbers whose noise is too wide to be summed up."""
    above = ["gaussian" if _number(use) else None for use in uses]
    if audit.verdict is Verdict.VERIFIED and any(above) and not isinstance(audit.claim, PureDP):
        if isinstance(audit.claim, RenyiDP | ZCDP):
            yield audit, {"above": above}
        yield evolve(audit, measured=Enclosure(Fraction(0), audit.claim.bound)), {"above": above}


def _number(use: Use) -> AdditiveNoise | None:
    """One number with such noise."""
    one = getattr(use.mechanism, "mechanism", use.mechanism)
    if not isinstance(one, AdditiveNoise) or isinstance(one.law, Binomial):
        return None
    return one if _is_wide(one) else None


def _is_wide(one: AdditiveNoise | VectorNoise) -> bool:
    """Is its noise too wide for the checker to sum up the losses?"""
    return one.law.moments().variance.greater_than(_WIDE_LOSSES) is True


def _steps(uses: Sequence[Use]) -> Hints:
    """In which steps a user of a stream moves most, where those are not the earliest."""
    streams = [getattr(use.mechanism, "stream", None) for use in uses]
    along = [
        [str(step) for step in one.pattern]
        if one is not None and one.pattern != one.who.earliest and one.who.times <= _MOST_STEPS
        else None
        for one in streams
    ]
    return {"along": along} if any(along) else {}


def _wider(audit: Audit) -> Iterator[Enclosure]:
    """Only the end that the verdict rests on, nearer and nearer to what is claimed."""
    bound, lower = audit.claim.bound, audit.measured.lower
    if audit.verdict is Verdict.VERIFIED:
        yield Enclosure(Fraction(0), bound)
    elif lower < _INFINITY:
        for share in (Fraction(1, 2), Fraction(1, 8), Fraction(1, 1000)):
            yield Enclosure(bound + share * (Fraction(lower) - bound), _INFINITY)


def provable_epsilon(mechanism: VectorNoise, delta: Fraction) -> Endpoint:
    """What the bounds that certificates name show epsilon of one use to be at most, at delta."""
    claim = ApproxDP(0, delta)
    audit = Audit(mechanism, claim, Verdict.UNDECIDED, Enclosure.unknown())
    return min(upper for upper, _ in _above(audit, compose(mechanism).uses))


def _along(audit: Audit, uses: Sequence[Use]) -> Bounds:
    """Of every vector the coordinates that cost most; of those alike, the fewest."""
    each = [_directions(use.mechanism) for use in uses]
    turns = range(max(map(len, each)))
    ways = [[found[min(turn, len(found) - 1)] for found in each] for turn in turns]
    if len(ways) > 1 and not isinstance(audit.claim, GaussianDP):  # mu is known of few numbers
        costs = [_attained(audit, uses, way) for way in ways]
        best = max(costs)
        ways = [way for way, cost in zip(ways, costs, strict=True) if cost >= best * _ALIKE]
    chosen = min(ways, key=lambda way: sum(sum((moved or {}).values()) for moved in way))
    return [None if moved is None else _hinted(moved or _UNIT) for moved in chosen]


def _hinted(moved: Direction) -> list[dict[str, str]]:
    return [{"move": str(move), "count": str(count)} for move, count in moved.items()]


def _directions(mechanism: object) -> Sequence[Direction | None]:
    if not isinstance(mechanism, VectorNoise):
        return [None]
    found = mechanism.directions()
    return [each for each in found if sum(each.values()) <= _MOST_USES] or found[:1]


def _attained(audit: Audit, uses: Sequence[Use], way: Sequence[Direction | None]) -> Fraction:
    found = []
    for use, moved in zip(uses, way, strict=True):
        if isinstance(use.mechanism, VectorNoise) and moved is not None:
            parts = use.mechanism.along(moved)
            found += [Use(part, count * use.times) for part, count in parts]
        else:
            found.append(use)
    claim = RenyiDP(2, 1) if isinstance(audit.claim, ZCDP) else audit.claim
    lower = _measured(claim, found).lower
    return Fraction(10**9) if lower == _INFINITY else Fraction(lower)


def _above(audit: Audit, uses: Sequence[Use]) -> list[tuple[Endpoint, Bounds]]:
    """What bounds every vector from above, and all of them together; the least first."""
    claim, lists = audit.claim, _dominating(uses)
    by_one = all(one is None or one.dearest() for one in (vector(use.mechanism) for use in uses))
    if isinstance(claim, GaussianDP):  # which of these the checker knows depends on the law
        ways = [[_named(use.mechanism, "gaussian") for use in uses]]
        ways.append([way and "gaussian" for way in ways[0]])
        upper = audit.measured.upper
        if not by_one:
            return [(upper, way) for way in ways]
        dominating = max(upper, min(_measured(claim, one).upper for one in lists))
        return [(upper, _by_one(uses)), *((dominating, way) for way in ways)]
    found = list(_mostly(claim, uses)) if isinstance(claim, ApproxDP) else []
    for listed in lists:
        upper = audit.measured.upper
        if len(lists) > 1 or found or upper == _INFINITY or by_one:
            upper = _measured(claim, listed).upper
        pairs = zip(uses, listed, strict=True)
        found.append((upper, [_named(use.mechanism, _kind(part)) for use, part in pairs]))
    if by_one:
        found.append((audit.measured.upper, _by_one(uses)))
    found += _by_squares(claim, uses)
    found.sort(key=lambda one: one[0])
    if claim.adds_up:
        return sorted([*_tilted(audit, uses, lists[0]), *found], key=lambda one: one[0])
    is_needed = audit.verdict is Verdict.VERIFIED and found[0][0] > claim.bound
    if isinstance(claim, ZCDP) and is_needed:  # to cover all orders takes long
        found = _tilted(audit, uses, lists[0]) + found
    return found


def _dominating(uses: Sequence[Use]) -> list[list[Use]]:
    """By Gaussians, and all in one coordinate where that may be less: a use for each of these."""
    found = []
    for turn in (0, 1):
        listed = []
        for use in uses:
            one, instead = vector(use.mechanism), use.mechanism
            if one is not None:
                ways = one.dominating()
                instead = ways[min(turn, len(ways) - 1)]
            listed.append(Use(instead, use.times))
        found += [] if listed in found else [listed]
    return found


def _by_squares(claim: Guarantee, uses: Sequence[Use]) -> list[tuple[Endpoint, Bounds]]:
    """Of discrete Gaussian noise: rho is at most |v|_2^2/(2 sigma2), and no root is drawn."""
    whole = Fraction(0)
    for one, times in uses:
        if not isinstance(one, VectorNoise) or not isinstance(one.law, DiscreteGaussian):
            return []
        if one.rate != 1 or one.is_one_number or not isinstance(claim, RenyiDP | ZCDP):
            return []
        whole += times * one.reach.largest_square / (2 * one.law.sigma2)
    whole *= claim.order if isinstance(claim, RenyiDP) else 1
    return [(whole, ["gaussian"] * len(uses))]


def _measured(claim: Guarantee, uses: Sequence[Use]) -> Enclosure:
    return claim.measure(Composition(uses), _WIDTH, work=_WORK)


def _by_one(uses: Sequence[Use]) -> Bounds:
    """Each vector by its coordinates, which move by 1."""
    return [_named(use.mechanism, "by one") for use in uses]


def _kind(instead: Use) -> str:
    return "gaussian" if isinstance(instead.mechanism, ContinuousNoise) else "one number"


def _named(mechanism: Mechanism, name: str) -> str | None:
    if not isinstance(mechanism, VectorNoise):
        return None
    return "one number" if mechanism.is_one_number else name


def _mostly(claim: ApproxDP, uses: Sequence[Use]) -> Iterator[tuple[Endpoint, Bounds]]:
    """Of vectors rounded at random: Gaussians that dominate but for a share of delta."""
    found = rounded_at_random(uses)
    if found is None or found[0].is_one_number:
        return
    mechanism, reach, times = found
    rate = mechanism.rate
    for share in _SHARES if rate == 1 else _SHARES[1:2]:
        missed = to_digits(claim.delta * share / times, 2, ROUND_FLOOR)
        if not missed:
            continue
        try:
            far = rounded_distance(mechanism.law, reach.norm, reach.dimension, missed)
        except NoEnvelopeError:
            return
        noise = ContinuousNoise(Shape.GAUSSIAN, 1, far, mechanism.neighbours, rate)
        left = ApproxDP(claim.epsilon, claim.delta - times * missed)
        upper = _measured(left, [Use(noise, times)]).upper
        if upper != _INFINITY:
            lost = 2 * times * missed  # at least -log(1 - times missed)
            yield Fraction(upper) + lost, [{"missed": decimal_text(missed)}]


def _tilted(
    audit: Audit, uses: Sequence[Use], others: Sequence[Use]
) -> list[tuple[Endpoint, Bounds]]:
    """By the costs of single coordinates, where they are known; others: instead of the rest."""
    claim, room = audit.claim, _ROOM
    if isinstance(claim, ZCDP) and 0 < audit.measured.upper < claim.bound:
        room += min((claim.bound / Fraction(audit.measured.upper) - 1) / 2, _WIDE)
    tilts = [_tilt(claim, use.mechanism, room) for use in uses]
    if not any(tilts):
        return []
    whole, rest = Fraction(0), []
    bounds: Bounds = []
    for tilt, use, other in zip(tilts, uses, others, strict=True):
        if tilt is None:
            bounds.append(_named(use.mechanism, "gaussian"))
            rest.append(other)
            continue
        assert isinstance(use.mechanism, VectorNoise)
        reach = use.mechanism.reach
        whole += use.times * (tilt[0] * reach.largest_square + tilt[1] * reach.largest_sum)
        bounds.append({"square": decimal_text(tilt[0]), "sum": decimal_text(tilt[1])})
    left = _measured(claim, rest).upper if rest else Fraction(0)
    return [(_INFINITY if left == _INFINITY else whole + Fraction(left), bounds)]


def _tilt(
    claim: Guarantee, mechanism: Mechanism, room: Fraction
) -> tuple[Fraction, Fraction] | None:
    """a, b with a k^2 + b k at least the cost of one coordinate that moves by k, within reach."""
    if not isinstance(mechanism, VectorNoise) or mechanism.is_one_number or mechanism.rate != 1:
        return None
    reach = mechanism.reach
    if reach.farthest > MOST_MOVES or mechanism.law.moments().variance.greater_than(WIDE):
        return None
    moves = (mechanism.along({move: 1})[0][0] for move in range(1, reach.farthest + 1))
    costs = [claim.measure(compose(moved)).upper for moved in moves]
    if _INFINITY in costs:
        return None
    asked = [Fraction(cost) * room for cost in costs]
    tilt = least_tilt(asked, reach.largest_square, reach.largest_sum)
    square, whole = (Fraction(to_digits(each, 20, ROUND_CEILING)) for each in tilt)
    return square, whole
