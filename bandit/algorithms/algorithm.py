"""What algorithms differ in: one runner plays them all, by a policy of each (`play`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from ...exact.number import ParameterError
from ..evidence import Demand
from ..lower_bound import Barrier
from ..policy import Policy
from ..radius.plan import Plan
from ..release import Release
from ..setting import Setting


@frozen
class Algorithm:
    """Batched arms, and what is particular about them.

    name      on the command line. source: the paper, with its theorem
    schedule  (setting, batch = 1, 2, ..., active arms): users an arm
    release   (setting, users): how the sum of one arm's batch is released
    radius    (setting, plan, releases): the paper's radii, beta[b - 1, active]; None: no arm is
              eliminated, but the one with the largest index has the next batch (`radius.index`)
    demand    (setting): what each batch must be certified for; None: there is no such thing
    forgets   estimates use the last batch only; otherwise all batches so far
    adapts    the schedule and the radius depend on how many arms are active
    plain     its indices are Chernoff's bounds alone (`radius.index.index`)
    losses    where no confidence is given p is so many times log(T)/T; 0: 1/T at most
    barrier   which lower bound of regret is one for it
    policy    (setting, runs): what decides so many runs, in place of an index (`bandit.policy`)
    usual     p where none is given; None: as `usual_confidence` says

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
    radius: Callable[[Setting, Plan, Sequence[Release]], NDArray[np.float64]] | None = field(
        eq=False
    )
    demand: Callable[[Setting], Demand] | None = field(eq=False)
    forgets: bool = True
    adapts: bool = False
    plain: bool = False
    losses: int = 0
    barrier: Barrier = Barrier.NONE
    policy: Callable[[Setting, int], Policy] | None = field(default=None, eq=False)
    usual: Fraction | None = field(default=None, eq=False)

    def deciding(
        self, name: str, source: str, policy: Callable[[Setting, int], Policy]
    ) -> Algorithm:
        """The same releases, batches and claim, and decisions of this policy.

        Raises ParameterError where batches depend on which arms are eliminated.
        """
        if self.adapts:
            raise ParameterError(f"batches of {self.name} are those of its own eliminations")
        return evolve(self, name=name, source=source, radius=None, forgets=False, policy=policy)

    @property
    def indexed(self) -> bool:
        """Does the largest index decide, and not elimination or a policy of its own?"""
        return self.radius is None and self.policy is None

    @property
    def private(self) -> bool:
        """Is there noise, proved or not, so that epsilon matters?"""
        return self.demand is not None or self.barrier is not Barrier.NONE

    def usual_confidence(self, horizon: int, usual: Fraction = Fraction(1, 10)) -> Fraction:
        """p where none is given: its own; or what is usual, but of indices at most about 1/T.

        They come close to losing a best arm as often as p allows, and that costs T times a gap.
        """
        if self.usual is not None:
            return self.usual
        least = Fraction(max(1, math.ceil(self.losses * math.log(horizon))), horizon)
        return min(usual, least) if self.radius is None else usual


def growing(setting: Setting, batch: int, active: int) -> int:
    """l(b) = eta^b, rounded up where it is not a whole number (Remark 4; eta = 2 in the paper)."""
    size = setting.growth**batch
    return -(-size.numerator // size.denominator)
