"""The loss law of a sampled pair whose outcomes are too many to be listed: those of a window.

With A, B the laws of the pair that is faced and l = log A/B, each outcome of the mixture is an atom
(`SampledPair`): removing, it has the mass (1-q) B + q A and the loss log(1 - q + q e^l), where B
has none the loss is infinite, where A has none log(1 - q); adding, the mass A and the loss
-log(1 - q + q e^-l), where B has none -log(1 - q).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from ...exact.budget import spend
from ...exact.number import ball
from ...mechanisms.pair import SampledPair
from ...mechanisms.shift_pair import ShiftPair
from .law import Atoms

MOST_OUTCOMES = 4_000_000  # that are listed
OUTCOME = 2  # units of work


def sampled_law(pair: SampledPair, window: tuple[int, int]) -> Atoms:
    """The atoms, at the working precision. window: outcomes outside which A has little mass."""
    return _atoms(pair, *window, ctx.prec)


def two_way(law: Atoms) -> Atoms:
    """The law of a `TwoWayPair`: what is missing is counted at the loss 0 as well, an upper end.

    A loss that may be 0 counts as it is, and its reflection; that it may be negative, next to 0,
    moves mass from one to the other only.
    """
    masses, losses = [], []
    rest = 1 - law.escaping()
    for mass, loss in zip(law.masses, law.losses, strict=True):
        if loss <= 0:
            continue
        loss = loss.max(arb(0))
        other = mass * (-loss).exp()
        masses += [mass, other]
        losses += [loss, -loss]
        rest -= mass + other
    masses.append(rest.max(arb(0)))
    losses.append(arb(0))
    return Atoms(masses, losses, law.escaping(), law.missing(), None, law.exactly_escaping)


@lru_cache(maxsize=8)
def _atoms(pair: SampledPair, low: int, high: int, bits: int) -> Atoms:
    facing, rate = pair.facing, ball(pair.rate)
    assert isinstance(facing, ShiftPair)
    law, shift = facing.law, facing.shift
    least, most = law.support
    if pair.removing:  # where B has its mass as well
        high += shift
    low = low if least is None else max(low, least)
    high = high if most is None else min(high, most + shift * pair.removing)
    if high - low > MOST_OUTCOMES:
        raise ArithmeticError(
            f"composing {law} needs {high - low} outcomes, more than {MOST_OUTCOMES}"
        )
    spend(OUTCOME * (high - low + shift))
    missing = law.lower_tail(low - 1) + law.upper_tail(high + 1)
    if pair.removing:
        other = law.lower_tail(low - 1 - shift) + law.upper_tail(high + 1 - shift)
        missing = (1 - rate) * other + rate * missing
    masses, losses, escaping = [], [], arb(0)
    balls = law.balls(low - shift, high)
    for x, (a, b) in enumerate(zip(balls[shift:], balls, strict=False), start=low):
        has_a, has_b = (_within(y, least, most) for y in (x, x - shift))
        if pair.removing and not has_b:
            escaping += rate * a
            continue
        if not (has_a and has_b):
            edge = (-rate).log1p()
            masses.append((1 - rate) * b if pair.removing else a)
            losses.append(edge if pair.removing else -edge)
            continue
        loss = a.log() - b.log()
        if pair.removing:
            masses.append((1 - rate) * b + rate * a)
            losses.append((rate * loss.expm1()).log1p())
        else:
            masses.append(a)
            losses.append(-(rate * (-loss).expm1()).log1p())
    exactly = None if pair.removing and least is not None else Fraction(0)
    return Atoms(masses, losses, escaping, missing.max(arb(0)), exactly_escaping=exactly)


def _within(x: int, least: int | None, most: int | None) -> bool:
    return (least is None or x >= least) and (most is None or x <= most)
