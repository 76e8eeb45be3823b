"""What neighbours may do over all uses: every cost is the largest over these scenarios.

A user's own pair names two datasets: the same one comes first in every use of a list, so that
there are two scenarios, and no quantity may mix them. Within one scenario everything else is free
at every use: additive mechanisms may be moved by any shift either way, randomized response is the
same both ways round, and what bounds batches of a fixed size bounds both. So there pure epsilon and
Rényi divergences of an order are sums of what each use costs at most, and delta is that of the
worst sequence of choices.

Sampling: the dataset with one user more is the same one in every use, so that there are two
scenarios as well.

Slack: the scenario stands for all pairs within it. What is verified holds of all of them, what is
refuted of none. Of several uses the probability of any event is off by at most
(1 + s)^K - 1 (replacing one factor after the other by the one written down). That a loss is
infinite can never be proved: a pair within the slack has a little mass everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from .deadline import check_time
from .mechanisms import (
    Additive,
    Allocation,
    Continuous,
    Curve,
    Family,
    Finite,
    FixedSize,
    Key,
    Mechanism,
    Response,
    Sampled,
    TwoLaws,
    Vector,
)

Uses = Sequence[tuple[Mechanism, int]]
NEIGHBOURS = ("replace", "add-remove")


def neighbours_of(uses: Uses) -> set[str]:
    """How neighbouring datasets differ, of every use: what does not say so is of replaced data."""
    return {getattr(each, "neighbours", "replace") for each, _ in uses}


def scenarios(uses: Uses) -> list[Uses]:
    """The uses each way round, without those that tell nothing; one if both are the same.

    Sampled uses are settled: what is left of them is noise or randomized response, rate below 1.
    """
    check_time()  # tables may be long
    telling = [(settled(mechanism), times) for mechanism, times in uses if _tells(mechanism)]
    if all(_is_symmetric(mechanism) for mechanism, _ in telling):
        return [telling]
    return [telling, [(_turned(mechanism), times) for mechanism, times in telling]]


def settled(mechanism: Mechanism) -> Mechanism:
    """A mechanism without sampling that changes nothing, and as a pair of laws where it is one."""
    return mechanism.settled if isinstance(mechanism, FixedSize | Sampled) else mechanism


def is_fixed(uses: Uses) -> bool:
    """Does some use name its two datasets, so that the same one comes first in every use?"""
    return any(_has_a_side(each) for each, _ in uses)


def _has_a_side(mechanism: Mechanism) -> bool:
    if isinstance(mechanism, TwoLaws):
        return mechanism.p != mechanism.q
    if isinstance(mechanism, Sampled):
        return mechanism.rate < 1 or _has_a_side(mechanism.mechanism)
    if isinstance(mechanism, Allocation | Key):
        return True
    if isinstance(mechanism, Family | Finite):
        return mechanism.has_a_side
    if isinstance(mechanism, Vector) and mechanism.reach.is_random:
        return True
    return isinstance(mechanism, Continuous | Vector) and mechanism.rate < 1


def _tells(mechanism: Mechanism) -> bool:
    if isinstance(mechanism, Additive):
        return mechanism.shift > 0
    if isinstance(mechanism, Response):
        return bool(mechanism.epsilon or mechanism.delta)
    if isinstance(mechanism, Allocation | Continuous | Curve | Family | Finite | Key | Vector):
        return True
    if isinstance(mechanism, FixedSize | Sampled):
        return _tells(mechanism.mechanism)
    return bool(mechanism.slack) or mechanism.p != mechanism.q


def _is_symmetric(mechanism: Mechanism) -> bool:
    if isinstance(mechanism, Continuous):
        return mechanism.rate == 1
    if isinstance(mechanism, Allocation | Key | Sampled):
        return False
    if isinstance(mechanism, Finite):
        return not mechanism.has_a_side
    if not isinstance(mechanism, TwoLaws):
        return True
    p, q = mechanism.p, mechanism.q
    return Counter(zip(p, q, strict=True)) == Counter(zip(q, p, strict=True))


def _turned(mechanism: Mechanism) -> Mechanism:
    if isinstance(mechanism, TwoLaws):
        return TwoLaws(mechanism.q, mechanism.p, mechanism.slack)
    if isinstance(mechanism, Continuous) and mechanism.rate == 1:
        return mechanism
    if isinstance(mechanism, Finite) and not mechanism.has_a_side:
        return mechanism
    if isinstance(mechanism, Allocation | Continuous | Finite | Key | Sampled):
        return replace(mechanism, removing=not mechanism.removing)  # type: ignore[type-var]
    return mechanism
