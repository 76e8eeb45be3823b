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

from collections.abc import Sequence

from .deadline import check_time
from .mechanisms import Mechanism

Uses = Sequence[tuple[Mechanism, int]]


def neighbours_of(uses: Uses) -> set[str]:
    """How neighbouring datasets differ, of every use: what does not say so is of replaced data."""
    return {getattr(each, "neighbours", "replace") for each, _ in uses}


def scenarios(uses: Uses) -> list[Uses]:
    """The uses each way round, without those that tell nothing; one if both are the same.

    Sampled uses are settled: what is left of them is noise or randomized response, rate below 1.
    """
    check_time()  # tables may be long
    telling = [(mechanism.settled, times) for mechanism, times in uses if mechanism.tells]
    if all(mechanism.is_symmetric for mechanism, _ in telling):
        return [telling]
    return [telling, [(mechanism.turned, times) for mechanism, times in telling]]


def is_fixed(uses: Uses) -> bool:
    """Does some use name its two datasets, so that the same one comes first in every use?"""
    return any(mechanism.has_a_side for mechanism, _ in uses)
