"""How a total delta is shared out, for theorems that see each use's (epsilon_i, delta_i) only.

The split is part of what such a theorem reports. As in Appendix I of the distributed-bandits paper,
half of delta goes to the K uses in equal shares, delta_i = delta/(2K), and half to the theorem,
delta' = delta/2. Where all pure epsilons are finite, delta_i = 0 and delta' = delta is tried too,
and the smaller result counts. Basic composition needs no delta': each use gets delta/K.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from ...exact import WIDTH, Enclosure
from ..composition.composed import Composition, compose
from . import classical
from .classical import DoesNotApplyError, Each
from .least_delta import least_delta

# uses, slack delta' and width to a bound
Theorem: TypeAlias = Callable[[list[Each], Fraction, Fraction], Enclosure]


def each_at(composition: Composition, delta: Fraction, width: Fraction = WIDTH) -> list[Each]:
    """What every use is at this delta_i: its exact epsilon_i."""
    return [
        Each(compose(use.mechanism).epsilon(delta, width), delta, use.times)
        for use in composition.uses
    ]


def basic(composition: Composition, delta: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """`classical.basic`, each use at delta/K."""
    return classical.basic(each_at(composition, delta / composition.times, width))


def basic_delta(composition: Composition, epsilon: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The least delta at which `basic` reports at most this epsilon."""
    if basic(composition, Fraction(0)).at_most(epsilon):
        return Enclosure.exactly(0)
    if epsilon == 0:
        return _where_all_are_zero(composition, composition.times, width)
    if len(composition.uses) > 1:
        return least_delta(lambda delta, width: (basic(composition, delta, width), epsilon), width)
    ((mechanism, times),) = composition.uses
    return _scaled(compose(mechanism).delta(epsilon / times, width), times)


def advanced(composition: Composition, delta: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """`classical.advanced`. Raises DoesNotApplyError at delta = 0."""
    return _reported(composition, delta, width, classical.advanced)


def advanced_delta(
    composition: Composition, epsilon: Fraction, width: Fraction = WIDTH
) -> Enclosure:
    """The least delta at which `advanced` reports at most this epsilon; 1 if there is none."""
    if epsilon == 0:
        return _where_all_are_zero(composition, 2 * composition.times, width)
    return least_delta(lambda delta, width: (advanced(composition, delta, width), epsilon), width)


def theorem7(composition: Composition, delta: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """`classical.theorem7`. Raises DoesNotApplyError also at delta = 0."""
    return _reported(composition, delta, width, classical.theorem7)


def theorem7_delta(
    composition: Composition, epsilon: Fraction, width: Fraction = WIDTH
) -> Enclosure:
    """The least delta at which `theorem7` reports at most this epsilon.

    Raises DoesNotApplyError where it does not apply there.
    """

    def number(delta: Fraction, width: Fraction) -> tuple[Enclosure, Fraction]:
        return _reported(composition, delta, width, classical.theorem7_number), epsilon

    if epsilon >= 1:
        raise DoesNotApplyError("stated for results below 1")
    if epsilon == 0:
        return _where_all_are_zero(composition, 2 * composition.times, width)
    found = least_delta(number, width)
    if found.upper == 1 or theorem7(composition, Fraction(found.upper)).at_most(epsilon) is False:
        raise DoesNotApplyError("false in general for so large a delta'")
    return found


def optimal(composition: Composition, delta: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """`classical.optimal`: no theorem can make more of the (epsilon_i, delta_i) of either split."""
    if delta == 0:
        return composition.pure(width)
    return _reported(
        composition, delta, width, lambda uses, _, width: classical.optimal(uses, delta, width)
    )


def optimal_delta(
    composition: Composition, epsilon: Fraction, width: Fraction = WIDTH
) -> Enclosure:
    """The least delta at which `optimal` reports at most this epsilon."""
    if composition.pure(width).at_most(epsilon):
        return Enclosure.exactly(0)

    def split(delta: Fraction, width: Fraction) -> tuple[Enclosure, Fraction]:
        uses = each_at(composition, delta / (2 * composition.times), width)
        return classical.optimal_delta(uses, epsilon, width), delta

    found = least_delta(split, width)
    pure = each_at(composition, Fraction(0), width)
    if all(each.epsilon.at_most(classical.LARGEST_EPSILON) for each in pure):
        found = found.minimum(classical.optimal_delta(pure, epsilon, width))
    return found


def _reported(
    composition: Composition, delta: Fraction, width: Fraction, theorem: Theorem
) -> Enclosure:
    """The smaller result of both splits."""
    if delta == 0:
        raise DoesNotApplyError("needs delta above 0")
    found: Enclosure | None = None
    reason = ""
    for share, slack in ((delta / (2 * composition.times), delta / 2), (Fraction(0), delta)):
        try:
            value = theorem(each_at(composition, share, width), slack, width)
        except DoesNotApplyError as error:
            reason = reason or str(error)
            continue
        found = value if found is None else found.minimum(value)
    if found is None:
        raise DoesNotApplyError(reason)
    return found


def _where_all_are_zero(composition: Composition, parts: int, width: Fraction) -> Enclosure:
    """The least delta at which each use is (0, delta/parts)-DP."""
    each = (compose(use.mechanism).delta(0, width) for use in composition.uses)
    return _scaled(reduce(Enclosure.maximum, each), parts)


def _scaled(delta: Enclosure, times: int) -> Enclosure:
    """min(times delta, 1)."""
    return delta.times(times).minimum(Enclosure.exactly(1))
