"""What a certificate is to show, and what helps to show it: ends, the step of a grid, directions.

Hints: nothing rests on them. What they mean, and what the checker proves: `checker/hints.py`; those
that are not named here the checker finds (`checker/choices.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from ..accounting.composition.composed import Use, compose
from ..accounting.composition.rounding import rounded_at_random
from ..exact.enclosure import Endpoint
from ..exact.number import decimal_text
from ..exact.rounding import to_digits
from ..mechanisms.additive.vector import VectorNoise, vector
from ..mechanisms.continuous import ContinuousNoise, Shape, continuous
from ..mechanisms.laws.gaussian_envelope import NoEnvelopeError
from ..mechanisms.laws.rounded_envelope import rounded_distance
from ..mechanisms.local.shuffled import Shuffled
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.sampling.allocation import allocation
from ..mechanisms.selection.candidates import Exponential
from .audit import Audit, Verdict
from .guarantee import ZCDP, ApproxDP

Hints: TypeAlias = dict[str, Any]

_NARROW, _COVERED, _COARSE = Fraction(1, 10**9), Fraction(1, 10**5), Fraction(1, 10**3)
_GRID, _CLOSE = Fraction(1, 100), Fraction(1, 50)
_DIGITS = (20, 60, 200)  # of an end
_INFINITY = Decimal("Infinity")
_WIDTH, _WORK = Fraction(1, 10**4), 0.3  # to which bounds are compared, by so much work
_SHARES = [Fraction(1, 10**n) for n in (1, 2, 3)]  # of delta, for what is missed
_UNIT = {1: 1}  # what a shorter vector is rounded to by chance, where no other direction is known
_MOST_STEPS = 20_000  # that are named
_MOST_USES = 10**9  # that compose


def ends(audit: Audit, on_grid: bool) -> list[str]:
    """Ends from which the verdict follows: the audit's and a little wider, at last the widest."""
    widths = sorted({_width(audit, on_grid), _GRID})
    if audit.claim.of_losses and rounded_at_random(compose(audit.mechanism).uses):
        widths = []  # some bounds are the prover's alone
    return list(dict.fromkeys([*(_end(audit, width) for width in widths), _widest(audit)]))


def _end(audit: Audit, relative: Fraction) -> str:
    bound, low, high = audit.claim.bound, audit.measured.lower, audit.measured.upper
    if audit.verdict is Verdict.VERIFIED:
        goal = min(Fraction(high) * (1 + relative), bound)
        return _in_few_digits(goal, ROUND_CEILING, bound.__ge__)
    if low == _INFINITY:
        return "inf"
    least = (Fraction(low) + bound) / 2
    return _in_few_digits(max(Fraction(low) * (1 - relative), least), ROUND_FLOOR, least.__le__)


def _widest(audit: Audit) -> str:
    bound, low = audit.claim.bound, audit.measured.lower
    if audit.verdict is Verdict.VERIFIED or low == _INFINITY:
        return decimal_text(bound) if audit.verdict is Verdict.VERIFIED else "inf"
    goal = bound + (Fraction(low) - bound) / 1000
    return _in_few_digits(goal, ROUND_CEILING, lambda end: bound < end <= Fraction(low))


def _in_few_digits(goal: Fraction, rounding: str, fits: Callable[[Fraction], bool]) -> str:
    """In few digits, as many as it takes to be allowed."""
    rounded = (to_digits(goal, digits, rounding) for digits in _DIGITS)
    return decimal_text(next(filter(fits, rounded), goal))


def _width(audit: Audit, on_grid: bool) -> Fraction:
    """How narrow the checker's bounds are about, relative to the truth."""
    claim, high = audit.claim, audit.measured.upper
    ones = [use.mechanism for use in compose(audit.mechanism).uses]
    if on_grid:
        close = high != _INFINITY and abs(Fraction(high) - claim.bound) <= Fraction(high) * _CLOSE
        return _GRID / 10 if close else _GRID
    noises = [noise for one in ones if (noise := continuous(one)) is not None]
    if not claim.of_losses and any(each.shape is Shape.LAPLACE for each in noises):
        return _COARSE if any(each.rate < 1 for each in noises) else _COVERED
    if any(isinstance(one, Shuffled) and claim.of_losses for one in ones):
        return _COARSE
    if isinstance(claim, ZCDP) and any(isinstance(one, Exponential) for one in ones):
        return _GRID  # between some scores, and a theorem about all
    if isinstance(claim, ZCDP) or any(map(vector, ones)):
        return _COVERED
    return _NARROW


def step(audit: Audit, end: str) -> str:
    """A grid on which composed losses are known narrowly enough to prove this end.

    The rounding of one loss has a variance of at most step^2/4; what all of them together move
    epsilon by is a few times that. Few large outcomes need a finer one.
    """
    both = (audit.measured.lower, audit.measured.upper)
    known = [Fraction(each) for each in both if each != _INFINITY] or [Fraction(1)]
    near, own = max(known), known[-1 if audit.verdict is Verdict.VERIFIED else 0]
    room = min(near * _GRID, abs(Fraction(end) - own) or near * _GRID)
    count = compose(audit.mechanism).times
    return decimal_text(to_digits(Fraction(math.sqrt(float(room) / count * 0.6)), 2, ROUND_FLOOR))


def directions(audit: Audit) -> list[Hints]:
    """In which steps a user of a stream moves most, or which coordinates of vectors cost most."""
    uses = compose(audit.mechanism).uses
    each = [_of_one(use.mechanism) for use in uses]
    turns = range(max(map(len, each)))
    ways = [[found[min(turn, len(found) - 1)] for found in each] for turn in turns]
    return [{"along": way} if any(way) else {} for way in ways]


def _of_one(mechanism: Mechanism) -> Sequence[Any]:
    stream = getattr(mechanism, "stream", None)
    if stream is not None:
        usual = stream.pattern == stream.who.earliest or stream.who.times > _MOST_STEPS
        return [None if usual else [str(step) for step in stream.pattern]]
    if not isinstance(mechanism, VectorNoise):
        return [None]
    found = mechanism.directions()
    kept = [each for each in found if sum(each.values()) <= _MOST_USES] or found[:1]
    return [
        [{"move": str(move), "count": str(count)} for move, count in (moved or _UNIT).items()]
        for moved in kept
    ]


def has_cells(use: Use) -> bool:
    """Are its losses known by cells of a grid only?"""
    one = getattr(use.mechanism, "mechanism", use.mechanism)
    return allocation(use.mechanism) is not None or continuous(one) is not None


def provable_epsilon(mechanism: VectorNoise, delta: Fraction) -> Endpoint:
    """What the bounds that certificates name show epsilon of one use to be at most, at delta."""
    found = [_epsilon(one, delta) for one in mechanism.dominating()]
    return min([*found, *_mostly(mechanism, delta)])


def _epsilon(mechanism: Mechanism, delta: Fraction) -> Endpoint:
    return ApproxDP(0, delta).measure(compose(mechanism), _WIDTH, work=_WORK).upper


def _mostly(mechanism: VectorNoise, delta: Fraction) -> Iterator[Endpoint]:
    """Of a vector rounded at random: Gaussians that dominate but for a share of delta."""
    found = rounded_at_random([Use(mechanism, 1)])
    if found is None or mechanism.is_one_number:
        return
    reach, rate = found[1], mechanism.rate
    for share in _SHARES if rate == 1 else _SHARES[1:2]:
        missed = to_digits(delta * share, 2, ROUND_FLOOR)
        if not missed:
            continue
        try:
            far = rounded_distance(mechanism.law, reach.norm, reach.dimension, missed)
        except NoEnvelopeError:
            return
        noise = ContinuousNoise(Shape.GAUSSIAN, 1, far, mechanism.neighbours, rate)
        upper = _epsilon(noise, delta - missed)
        if upper != _INFINITY:
            yield Fraction(upper) + 2 * missed  # at least -log(1 - missed)
