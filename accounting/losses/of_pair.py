"""From a pair (P, Q) to its privacy-loss law.

Of sampled noise whose outcomes are too many to be listed, those of a window; A and B are the laws
of the pair that is faced (`pairs.sampling`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import evolve
from flint import arb, ctx, fmpz

from ...exact.budget import spend
from ...exact.errors import DoesNotApplyError
from ...exact.number import Logarithm, Real, ball
from ...exact.precision import floor_of
from ...exact.roots import first_met_near
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.law import Law
from ...mechanisms.pairs.pair import (
    FinitePair,
    ListedPair,
    MixturePair,
    Pair,
    ResponsePair,
    ShiftPair,
    TwoWayPair,
    faced,
)
from ...mechanisms.pairs.sampling import Sampling
from ..divergences.finite_sums import is_listed, listed
from .law import Atoms, GaussianLoss, LaplaceLoss, Lattice, Probability

MOST_OUTCOMES = 4_000_000  # that are listed
_OUTCOME = 2  # units of work
_MOST_KNOWN = 1 << 60  # whose numbers fit into machine words
_NEARLY = 1e-9  # of the largest logarithm, what is taken for 0 among their differences


def closed_law(pair: Pair) -> LaplaceLoss | GaussianLoss | None:
    """The loss law where its transform is a formula."""
    if isinstance(pair, ResponsePair):
        return LaplaceLoss(pair.epsilon, infinite=pair.delta)
    if not isinstance(pair, ShiftPair):
        return None
    law = pair.law.simplest()
    if isinstance(law, DiscreteLaplace):
        return LaplaceLoss(law.loss_limit(1), pair.shift)
    return GaussianLoss(law, pair.shift) if isinstance(law, DiscreteGaussian) else None


def listed_law(pair: Pair, log_tail: float) -> Atoms:
    """The loss law of this pair at the working precision, loss by loss.

    log_tail: where outcomes must be left out, their P-mass has about this logarithm.
    """
    if isinstance(pair, FinitePair):
        return _finite(pair)
    if isinstance(pair, MixturePair):
        return _mixed(pair, log_tail)
    if isinstance(pair, TwoWayPair):
        law = listed_law(pair.pair, log_tail)
        masses, losses = two_way(law.masses, law.losses, law.escaping())
        return evolve(law, masses=masses, losses=losses, lattice=None)
    plain, sampling = faced(pair)
    if isinstance(plain, ShiftPair) and not is_listed(plain):
        if plain.is_disjoint and plain == pair:
            return Atoms([], [], Fraction(1), arb(0))
        law = listed_between(plain, *window_of(plain, log_tail, sampling), sampling)
    else:
        law = _whole(pair, ctx.prec)
    if isinstance(plain, ResponsePair):
        law = evolve(law, infinite=plain.delta * sampling.rate * sampling.removing)
    if (closed := closed_law(pair)) is None:
        return law
    # each loss as the multiple that it is, where that is nearest for certain
    unit, lattice = ball(closed.lattice.unit), closed.lattice
    first, step = unit * ball(lattice.origin), unit * ball(lattice.step)
    if step == 0:
        return law
    exact = [first + step * floor_of(((x - first) / step).mid() + arb(0.5)) for x in law.losses]
    pairs = zip(law.losses, exact, strict=True)
    return evolve(law, losses=[one if abs(x - one) < step / 4 else x for x, one in pairs])


@lru_cache(maxsize=8)
def _whole(pair: Pair, bits: int) -> Atoms:
    """All outcomes. Kept, since one answer asks for them several times at the same precision."""
    p, q, _ = listed(pair)
    steps = pair.steps() if isinstance(pair, ListedPair) else None
    spend(_OUTCOME * len(p))
    if steps is None:
        return _from_balls(p, q)
    pairs = [(mass, k) for mass, k in zip(p, steps.multiples, strict=True) if k is not None]
    escapes = [a for a, b in zip(p, q, strict=True) if b == 0 and a != 0]
    return _on_multiples(pairs, steps.unit, sum(escapes, arb(0)) if escapes else Fraction(0))


def _mixed(pair: MixturePair, log_tail: float) -> Atoms:
    """Their masses, as likely as each; and no loss."""
    masses, losses = ([ball(pair.rest)], [arb(0)]) if pair.rest else ([], [])
    escaping, missing, exactly = arb(0), arb(0), list[Fraction]()
    for weight, one in pair.parts:
        law, share = listed_law(one, log_tail), ball(weight)
        masses += [share * mass for mass in law.masses]
        losses += law.losses
        escaping, missing = escaping + share * law.escaping(), missing + share * law.missing()
        exactly += [weight * law.infinite] if isinstance(law.infinite, Fraction) else []
    is_exact = len(exactly) == len(pair.parts)
    return Atoms(masses, losses, sum(exactly, Fraction(0)) if is_exact else escaping, missing)


def _on_multiples(pairs: Sequence[tuple[arb, int]], unit: Real, infinite: Probability) -> Atoms:
    """Of masses of losses that are these multiples of the unit, which are its lattice."""
    multiples = [k for _, k in pairs]
    first = min(multiples, default=0)
    step = math.gcd(*(k - first for k in multiples))
    lattice = Lattice(unit, Fraction(first), Fraction(step), Fraction(max(multiples, default=0)))
    losses = [k * ball(unit) for k in multiples]
    return Atoms([mass for mass, _ in pairs], losses, infinite, arb(0), lattice)


def two_way(
    masses: Sequence[arb], losses: Sequence[arb], infinite: arb
) -> tuple[list[arb], list[arb]]:
    """Masses and losses of a `TwoWayPair`, from one way round; infinite: P of infinite losses.

    What is missing is counted at the loss 0 as well, an upper end. A loss that may be 0 counts as
    it is, and its reflection; that it may be negative, next to 0, moves mass from one to the other.
    """
    both = [
        (mass, loss.max(arb(0))) for mass, loss in zip(masses, losses, strict=True) if not loss <= 0
    ]
    p, q = [mass for mass, _ in both], [mass * (-loss).exp() for mass, loss in both]
    left = (1 - infinite - sum(p, arb(0)) - sum(q, arb(0))).max(arb(0))
    higher = [loss for _, loss in both]
    return [*p, *q, left], [*higher, *(-loss for loss in higher), arb(0)]


def window_of(pair: ShiftPair, log_tail: float, sampling: Sampling) -> tuple[int, int]:
    """The outcomes low, ..., high of a window that leaves out P-mass of about this logarithm on
    either side, of the sampled pair that faces this one.
    """
    (low, high), (least, most), removing = (
        window(pair.law, log_tail),
        pair.law.support,
        sampling.removing,
    )
    moved = pair.shift if removing and sampling.rate < 1 else 0  # where B has its mass as well
    low = low if least is None else max(low, least + pair.shift * removing)
    return low, high + moved if most is None else min(high + moved, most + moved)


def listed_between(pair: ShiftPair, low: int, high: int, sampling: Sampling) -> Atoms:
    """The outcomes low, ..., high; what lies outside is missing, but for what is infinite: what Q
    has not.
    """
    law, shift, part = pair.law, pair.shift, ball(sampling.rate)
    if high - low > MOST_OUTCOMES:
        raise DoesNotApplyError(
            f"{pair.law} takes {high - low} outcomes, more than the {MOST_OUTCOMES} that are listed"
        )
    hidden = law.support[0] is not None and sampling.removing
    infinite: Probability = part * pair.escaping() if hidden else Fraction(0)
    if high < low:
        return Atoms([], [], infinite, (1 - ball(infinite)).max(arb(0)))
    spend(_OUTCOME * (high - low + shift))
    beyond = law.lower_tail(low - 1) + law.upper_tail(high + 1)
    if sampling.removing and sampling.rate < 1:
        other = law.lower_tail(low - 1 - shift) + law.upper_tail(high + 1 - shift)
        beyond = (1 - part) * other + part * beyond
    balls = law.balls(low - shift, high)
    left = _from_balls(*sampling.mixed(balls[shift:], balls[: high - low + 1]))  # of A and B
    lost = left.missing() + (beyond - ball(infinite)).max(arb(0))
    return evolve(left, infinite=infinite, missing=lost)


def _from_balls(ps: Sequence[arb], qs: Sequence[arb]) -> Atoms:
    masses, losses, escaping, missing = [], [], arb(0), arb(0)
    for p, q in zip(ps, qs, strict=True):
        if p == 0:
            continue
        if q == 0:
            escaping += p
        elif p > 0 and q > 0:
            masses.append(p)
            losses.append((p / q).log())
        else:  # too small to tell at this precision
            missing += p.abs_upper()
    return Atoms(masses, losses, Fraction(0) if escaping == 0 else escaping, missing)


def _finite(pair: FinitePair) -> Atoms:
    """Outcomes of equal ratio together; on a lattice if their ratios are powers of one number."""
    mass_of, escaping = dict[Fraction, Fraction](), Fraction(0)
    for p, q in zip(pair.p, pair.q, strict=True):
        if p and q:
            mass_of[p / q] = mass_of.get(p / q, Fraction(0)) + p
        else:
            escaping += p
    ratios = sorted(mass_of)
    masses = [ball(mass_of[ratio]) for ratio in ratios]
    common = common_ratio(ratios)
    if common is None:
        losses = [Logarithm(ratio).ball() for ratio in ratios]
        return Atoms(masses, losses, escaping, arb(0))
    base, exponents = common
    return _on_multiples([*zip(masses, exponents, strict=True)], Logarithm(base), escaping)


def common_ratio(ratios: Sequence[Fraction]) -> tuple[Fraction, list[int]] | None:
    """Some base > 1 of which all ratios are integer powers, and the powers; None if none is found.

    The Euclidean algorithm of their logarithms, in floats; what it finds is checked exactly.
    """
    logs, unit = [float(Logarithm(ratio).ball().mid()) for ratio in ratios], 0.0
    nothing = _NEARLY * max(map(abs, logs), default=0.0)
    for rest in map(abs, logs):
        while rest > nothing:
            unit, rest = rest, abs(unit - round(unit / rest) * rest)
    if not unit:
        return Fraction(2), [0] * len(ratios)
    powers = [round(log / unit) for log in logs]
    found = zip(map(abs, powers), ratios, strict=True)
    least, root = min((power, max(ratio, 1 / ratio)) for power, ratio in found if power)
    for power, ratio in zip(powers, ratios, strict=True):
        if abs(power) > max(part.bit_length() for part in ratio.as_integer_ratio()):
            return None  # a power has more bits than its exponent
    base = Fraction(*(int(fmpz(part).root(least)) for part in root.as_integer_ratio()))
    if any(base**power != ratio for ratio, power in zip(ratios, powers, strict=True)):
        return None
    return base, powers


@lru_cache(maxsize=256)
def window(law: Law, log_tail: float) -> tuple[int, int]:
    """Outcomes beyond which log p is below log_tail less that of the spread, in floats."""
    moments = law.moments()
    centre = round(float(moments.mean.lower))
    spread = float(moments.variance.upper) ** 0.5 + 1
    least = log_tail - math.log(10 * spread)

    def beyond(side: int) -> int:
        def small(distance: int) -> bool:
            if distance > _MOST_KNOWN:
                raise ArithmeticError(f"composing {law} needs too many outcomes")
            return bool(law.log_pmf(np.array([centre + side * distance]))[0] < least)

        return int(centre + side * first_met_near(small, round(4 * spread) + 4, 0))

    return beyond(-1), beyond(1)
