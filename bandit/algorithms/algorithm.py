"""What algorithms differ in: batches, their release and claim, and the rule that decides.

One runner plays them all (`simulation`), by the policy of each rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from ...exact.number import ParameterError
from ..evidence import Demand
from ..lower_bound import Barrier
from ..policy import Policy
from ..radius.plan import RadiusPlan
from ..release import Release
from ..setting import Setting

Radii: TypeAlias = Callable[[Setting, RadiusPlan, Sequence[Release]], NDArray[np.float64]]
USUAL = Fraction(1, 10)  # p, where none is given


@frozen
class Elimination:
    """Arms leave whose estimate, of the last batch alone, is more than 2 beta below the best one.

    radius: the paper's beta[b - 1, active], by setting, plan and releases.
    """

    radius: Radii = field(eq=False)
    cumulative: ClassVar[bool] = False  # do estimates rest on all batches so far?
    adaptive: ClassVar[bool] = False  # do batches and radii depend on how many arms are active?
    loss: ClassVar[str] = "best arm eliminated"  # of runs; "" where none is known


@frozen
class CumulativeElimination(Elimination):
    """The same, with estimates of all batches so far."""

    cumulative = True


@frozen
class AdaptiveElimination(Elimination):
    """The same, with batches and radii that depend on how many arms are active."""

    adaptive = True


@frozen
class LargestIndex:
    """The arm with the largest upper confidence bound has the next batch (`radius.index`)."""

    cumulative: ClassVar[bool] = True
    adaptive: ClassVar[bool] = False
    chernoff: ClassVar[bool] = False  # are bounds Chernoff's alone?
    loss: ClassVar[str] = "best index below mean"


@frozen
class ChernoffIndex(LargestIndex):
    """The same, of Chernoff's bounds alone, at one level for all batches."""

    chernoff = True


@frozen
class OwnPolicy:
    """A policy of its own decides. create: that of so many runs."""

    create: Callable[[Setting, int], Policy] = field(eq=False)
    cumulative: ClassVar[bool] = True
    adaptive: ClassVar[bool] = False
    loss: ClassVar[str] = ""


Rule: TypeAlias = Elimination | LargestIndex | OwnPolicy


@frozen
class Algorithm:
    """Batched arms, and what is particular about them.

    name        on the command line. source: the paper, with its theorem
    schedule    (setting, batch = 1, 2, ..., active arms): users an arm
    release     (setting, users): how the sum of one arm's batch is released
    demand      (setting): what each batch must be certified for; None: there is no such thing
    rule        what decides
    barrier     which lower bound of regret is one for it
    usual_confidence  (horizon): p where none is given

    >>> from exactdp.bandit.algorithms import DIST_DP_SE
    >>> DIST_DP_SE.name, DIST_DP_SE.private
    ('dist-dp-se', True)
    >>> DIST_DP_SE.schedule(Setting(arms=4, horizon=1000), 5, 4)  # batch 5 of 4 arms
    32
    """

    name: str
    source: str
    schedule: Callable[[Setting, int, int], int] = field(eq=False)
    release: Callable[[Setting, int], Release] = field(eq=False)
    demand: Callable[[Setting], Demand] | None = field(eq=False)
    rule: Rule
    barrier: Barrier = Barrier.NONE
    usual_confidence: Callable[[int], Fraction] = field(default=lambda horizon: USUAL, eq=False)

    def deciding(
        self, name: str, source: str, policy: Callable[[Setting, int], Policy]
    ) -> Algorithm:
        """The same releases, batches and claim, and decisions of this policy.

        Raises ParameterError where batches depend on which arms are eliminated.
        """
        if self.rule.adaptive:
            raise ParameterError(f"batches of {self.name} are those of its own eliminations")
        confidence = self.usual_confidence
        if isinstance(self.rule, Elimination):
            confidence = one_by_horizon()
        rule = OwnPolicy(policy)
        return evolve(self, name=name, source=source, rule=rule, usual_confidence=confidence)

    @property
    def private(self) -> bool:
        """Is there noise, proved or not, so that epsilon matters?"""
        return self.demand is not None or self.barrier is not Barrier.NONE


def one_by_horizon(losses: int = 0) -> Callable[[int], Fraction]:
    """p = 1/T, or so many times log(T)/T; at most what is usual.

    Indices come close to losing a best arm as often as p allows, and that costs T times a gap.
    """

    def confidence(horizon: int) -> Fraction:
        return min(USUAL, Fraction(max(1, math.ceil(losses * math.log(horizon))), horizon))

    return confidence
