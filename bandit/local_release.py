"""Reports that users have randomised themselves: their sum, released as it is.

Every user rounds her reward at random to a bit, and reports that by randomised response: the other
bit with probability f = 1/(1 + e^epsilon) (Warner, JASA 1965). What she sends is epsilon-DP by
itself, whoever sees it. An arm of mean mu has independent reports in [0, 1] of mean
f + (1 - 2 f) mu: the best arm's is the largest, and what is proved of sums of rewards without noise
is proved of these.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..exact.number import ParameterError, decimal_text
from ..mechanisms.mechanism import RandomizedResponse
from ..verify.audit import Audit, Verdict, audit
from ..verify.guarantee import PureDP
from .environments.environment import Environment
from .environments.rewards import RewardLaw
from .environments.table import Bernoulli
from .evidence import NotVerifiedError
from .release import OpenRelease

_SLACK = Fraction(1, 1 << 50)  # above the error of a report's mean in floats


@frozen
class LocalRelease(OpenRelease):
    """How many of so many users report 1."""

    epsilon: Fraction

    @property
    def spec(self) -> str:
        """The mechanism of each user, as commands read it."""
        return f"randomized-response:epsilon={decimal_text(self.epsilon)}"

    def verified(self) -> Audit:
        """That what a user sends is epsilon-DP. Raises NotVerifiedError where it is not proved."""
        return _verified(self.epsilon)

    def sums(self, law: RewardLaw, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        return np.asarray(law.sums(rng, 1, self.users, size), dtype=np.float64)

    def released(self, sums: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Of so many bits that are 1."""
        ones = np.asarray(sums).astype(np.int64)
        if (ones != sums).any():
            raise ParameterError("rewards must be 0 or 1 where users take part one by one")
        flips = _flips(self.epsilon)
        kept = ones - rng.binomial(ones, flips)
        return np.asarray(kept + rng.binomial(self.users - ones, flips), dtype=np.float64)

    def reports(self, environment: Environment, apart: int) -> Environment:
        """The instance of reports; means moved apart (1) or together (-1) by what floats are off.

        Bounds that fall with the gaps are above those of the true means where it is -1.
        """
        flips = Fraction(_flips(self.epsilon))
        means = [Fraction(mean) for mean in environment.means.tolist()]
        moved = [
            flips + (1 - 2 * flips) * mean + apart * _SLACK * (1 if mean == max(means) else -1)
            for mean in means
        ]
        arms = tuple(Bernoulli(min(max(mean, Fraction(0)), Fraction(1))) for mean in moved)
        return Environment(f"reports of {environment.name}", arms)


def _flips(epsilon: Fraction) -> float:
    return 1 / (1 + math.exp(min(float(epsilon), 700.0)))


@lru_cache(maxsize=64)
def _verified(epsilon: Fraction) -> Audit:
    found = audit(RandomizedResponse(epsilon), PureDP(epsilon))
    if found.verdict is not Verdict.VERIFIED:
        raise NotVerifiedError(
            f"a report is not verified for {found.claim}: {found.verdict.name}", found.verdict
        )
    return found
