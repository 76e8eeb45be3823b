"""Vectors between other mechanisms: what a certificate says of them follows from what it costs to
use single numbers and Gaussian noise.

*From above*, each vector by what its hint says:

    gaussian     the Gaussian that dominates, of the distance mu_1 |v|_2 (`unit`); of discrete
                 Gaussian noise Rényi divergences are at most those at |v|_2/sigma (`releases`);
                 so of one number, whose noise may be too wide to sum up
    one number   all of |v|_1 in one coordinate: T_d, the trade-off function of (X + d, X), d >= 0,
                 is linear between its points (P(X >= k), 1 - P(X >= k - d)) where p is log-concave,
                 so that T_(d+e) is T_e after 1 - T_d. Moving one coordinate after the other no test
                 does better than this chain; Blackwell (1953)
    by one       where no coordinate moves by more than 1: as many uses of a number that moves by 1
                 as coordinates can. A vector that moves fewer is what is left of that one when
                 further noise is added to what is seen, which does not depend on the data; the
                 noise is symmetric, so that signs change nothing
    squares      if c(k) <= a k^2 for every k within reach, c(k) the cost of one number that moves
                 by k: Rényi divergences add up over coordinates, rho is at most their sum, so that
                 it is at most a |v|_2^2
    missed       of real vectors rounded at random: a Gaussian again, shorter than the longest that
                 they may become, but for this probability in each use (`rounded_distance`)

What real vectors are rounded to is as short as `rounded` proves, which all but the last rest on.

*From below*: coordinates of one vector within reach, which the hint names, as so many uses of one
number; sampled only one coordinate, since the user is in all of them or in none. All coordinates of
smaller size are within reach as well, so that a number moved by at most k may stand for one that
moves by k. A vector that a real one is rounded to with some probability only is moved by in a
sample, then. What no hint names counts as nothing.

*What is known by others* (`Family`) is in their place: the list that the hint names.

*Random allocation* of several steps to each user. From above: deal floor(t/k) of the t steps to
each of k groups at random, then choose one step in each: by symmetry all sets of k steps are as
likely, and given the groups that is k uses of one step of floor(t/k); divergences are jointly
convex. By the same, k uses of the Gaussian in which all users take part. From below: the sum of all
steps is post-processing. One step each is listed (`allocation`) where (epsilon, delta) is claimed.

Where one coordinate moves alone, only its noise tells anything: it is a number, seen mod `modulus`,
on both sides. Without a hint any other vector is bounded by the Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from .arithmetic import OpenError
from .hints import Above, Hints, Missed
from .laws import DiscreteGaussian
from .mechanisms import (
    Additive,
    Allocation,
    Continuous,
    Curve,
    Family,
    Mechanism,
    Parts,
    Sampled,
    Vector,
)
from .reach import Reach
from .rounded import Rounded
from .rounded_distance import lost, mostly
from .scenarios import Uses
from .unit import distance

_MOST_MOVES = 64
_FINE = 10**20  # units of a root


class Dominated(NamedTuple):
    """Uses that cost at least as much, at what is left of delta, and what is lost of epsilon."""

    uses: Uses
    missed: Fraction
    lost: Fraction


def dominated(uses: Uses, hints: Hints, kind: str, is_approx: bool) -> Dominated:
    """By what each use is dominated. is_approx: is it a claim at a delta above 0?"""
    found: list[tuple[Mechanism, int]] = []
    missed = Fraction(0)
    for (one, times), hint in zip(uses, _each(hints.above, uses, None), strict=True):
        if isinstance(one, Family):
            found += _chosen(one.above(), hint if isinstance(hint, int) else 0, times)
        elif isinstance(one, Allocation) and not (is_approx and one.is_listed):
            found.append(_each_step(one, times, is_approx))
        elif hint == "gaussian" and isinstance(one, Additive | Sampled):
            found.append((_gaussian_of_number(one), times))
        elif not isinstance(one, Vector):
            found.append((one, times))
        elif isinstance(hint, Missed):
            missed += times * hint.chance
            found.append((_mostly(one, hint.chance), times))
        else:
            part, count = _of_vector(one, hint, kind)
            found.append((part, count * times))
    return Dominated(found, missed, lost(missed) if missed else missed)


def attained(uses: Uses, hints: Hints, is_approx: bool) -> Uses:
    """Uses that cost at most as much."""
    found: list[tuple[Mechanism, int]] = []
    each = zip(uses, _each(hints.below, uses, 0), _each(hints.along, uses, ()), strict=True)
    for (one, times), which, moves in each:
        if isinstance(one, Family):
            found += _chosen(one.below(moves), which, times)
        elif isinstance(one, Allocation) and not (is_approx and one.is_listed):
            found.append((_sum(one), times))
        elif not isinstance(one, Vector):
            found.append((one, times))
        elif _is_one_number(one) and isinstance(one.reach, Reach):
            found.append((_moved(one, one.reach.farthest, one.modulus), times))
        elif moves:
            counts, chance = _counts(one, moves)
            found += [
                (_moved(one, move, one.modulus, chance), k * times) for move, k in counts.items()
            ]
    if not found:
        raise OpenError("no use is left that would cost what is measured")
    return found


def squares(uses: Uses, hints: Hints, kind: str) -> list[tuple[Additive, Fraction]] | None:
    """Numbers, and which share of the whole each may cost, where a vector is bounded by squares."""
    if "squares" not in hints.above:
        return None
    one, times = uses[0]
    if len(uses) > 1 or not isinstance(one, Vector) or one.rate < 1:
        raise OpenError("squares bound one kind of vector that is alone, and no samples")
    if kind not in ("pure", "rdp", "zcdp"):
        raise OpenError("squares bound what adds up over coordinates only")
    if one.reach.farthest > _MOST_MOVES:
        raise OpenError(f"squares are checked of moves up to {_MOST_MOVES} only")
    whole = times * one.reach.largest_square
    moves = range(1, one.reach.farthest + 1)
    return [(Additive(one.law, k, one.modulus), Fraction(k * k, whole)) for k in moves]


def _each(listed: Sequence[Any], uses: Uses, usual: Any) -> Sequence[Any]:
    return listed or [usual] * len(uses)


def _chosen(lists: Sequence[Parts], which: int, times: int) -> list[tuple[Mechanism, int]]:
    if which >= len(lists):
        raise OpenError("no list has the number that is named")
    return [(part, count * times) for part, count in lists[which]]


def _of_vector(one: Vector, hint: Above, kind: str) -> tuple[Mechanism, int]:
    """What dominates it, and how often."""
    if hint == "gaussian" or (hint is None and not _is_one_number(one)):
        if kind in ("rdp", "zcdp") and one.rate == 1 and isinstance(one.law, DiscreteGaussian):
            return Curve(one.reach.largest_square / (2 * one.law.sigma2), None), 1
        return _hidden_by(one, distance(one.law, one.reach.largest_square)), 1
    if _is_one_number(one):
        return _moved(one, one.reach.farthest, one.modulus), 1
    if hint == "by one":
        if not isinstance(one.reach, Reach) or one.reach.farthest > 1 or one.rate < 1:
            raise OpenError("by one is of integer vectors moved by 1 at most, and no samples")
        return _moved(one, 1, one.modulus), one.reach.largest_sum
    return _moved(one, one.reach.largest_sum, None), 1


def _is_one_number(one: Vector) -> bool:
    return one.reach.dimension == 1 or one.reach.largest_square == 1


def _counts(one: Vector, moves: Sequence[tuple[int, int]]) -> tuple[Mapping[int, int], Fraction]:
    """How many coordinates move by how much, and with which probability."""
    counts = dict(moves)
    chance = one.reach.chance(counts)
    if len(counts) != len(moves) or not chance:
        raise OpenError("the vector that is named is not within reach")
    if one.rate < 1 and sum(counts.values()) > 1:
        raise OpenError("of users who are sampled only one coordinate may be named")
    return counts, chance


def _moved(
    one: Vector, move: int, modulus: int | None, chance: Fraction = Fraction(1)
) -> Mechanism:
    noise, rate = Additive(one.law, move, modulus), one.rate * chance
    return noise if rate == 1 else Sampled(noise, rate)


def _gaussian_of_number(one: Additive | Sampled) -> Mechanism:
    noise = one.mechanism if isinstance(one, Sampled) else one
    if not isinstance(noise, Additive):
        raise OpenError("gaussian bounds vectors, and numbers with noise on the integers")
    rate = one.rate if isinstance(one, Sampled) else Fraction(1)
    far = distance(noise.law, noise.shift**2)
    neighbours = "add-remove" if isinstance(one, Sampled) else "replace"
    return Continuous("gaussian", Fraction(1), far, neighbours, rate)


def _each_step(one: Allocation, times: int, is_approx: bool) -> tuple[Mechanism, int]:
    steps = one.steps // one.taken
    if is_approx and steps > 1:
        return replace(one, taken=1, steps=steps), one.taken * times
    return _always(one, Fraction(1)), one.taken * times


def _sum(one: Allocation) -> Mechanism:
    squared = one.taken**2 * _FINE**2 // one.steps
    return _always(one, Fraction(math.isqrt(squared), _FINE))


def _always(one: Allocation, share: Fraction) -> Mechanism:
    moved = one.sensitivity * share
    return Continuous("gaussian", one.scale, moved, one.neighbours)


def _mostly(one: Vector, chance: Fraction) -> Mechanism:
    if not isinstance(one.reach, Rounded):
        raise OpenError("missed is of vectors that are rounded")
    return _hidden_by(one, mostly(one.law, one.reach, chance))


def _hidden_by(one: Vector, far: Fraction) -> Mechanism:
    return Continuous("gaussian", Fraction(1), far, one.neighbours, one.rate)
