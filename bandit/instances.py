"""In which environments runs take place: one for all, one drawn for each, or some in turn.

The instances of the published experiments are some in turn: the scripts that come with Chowdhury
and Zhou (ICLR 2023; github.com/sayakrc/Differentially-Private-Bandits, MABPrivate.py) have 20 runs,
each on an instance of its own. Before run r the generator of numpy is seeded with r, and the K = 10
means are then (1 - D)/2 + D U, U uniform: D = 0.5 easy, D = 0.1 hard. Rewards are Gaussian of
standard deviation 0.1 about them, clipped to [0, 1]. numpy keeps the stream of its legacy generator
(MT19937) fixed for good, so that these are their instances, to the last bit of the means. Rewards
and noise are drawn anew: theirs come from a generator without a seed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np
from attrs import frozen

from .environments.environment import EASY, HARD, Environment, drawn_instance
from .environments.gaussian import DEFAULT_SIGMA, ClippedGaussian

PUBLISHED_GROWTH = 4  # of the batches in the published runs: 4^b users an arm
_PUBLISHED_RUNS, _PUBLISHED_ARMS = 20, 10


@frozen
class Drawn:
    """A new instance for each run: Gaussian rewards clipped to [0, 1], or coins (sigma None).

    name   for tables
    arms   how many
    means  the range that the arms' means are uniform in
    sigma  of the rewards, before they are clipped

    >>> place = Drawn("middle", 3, (0.4, 0.6)).environment(np.random.SeedSequence(0))
    >>> all(0.4 <= arm.mean <= 0.6 for arm in place.arms)
    True
    """

    name: str
    arms: int
    means: tuple[float, float]
    sigma: Fraction | None = Fraction(DEFAULT_SIGMA)

    own = True  # does every run have an instance of its own?

    def environment(self, seed: np.random.SeedSequence, run: int = 0) -> Environment:
        """The instance of a run."""
        return drawn_instance(seed, self.arms, self.means, self.sigma, self.name)


@frozen
class Fixed:
    """The same instance for all runs. given: it.

    >>> from exactdp.bandit.environments.instance import instance
    >>> Fixed(instance("coins:0.75,0.7,0.25")).arms
    3
    """

    given: Environment

    own = False

    @property
    def name(self) -> str:
        return self.given.name

    @property
    def arms(self) -> int:
        return len(self.given.arms)

    @property
    def labels(self) -> tuple[str, ...]:
        """What its file calls the arms, if it does."""
        return self.given.labels

    def environment(self, seed: np.random.SeedSequence, run: int = 0) -> Environment:
        """The instance of every run."""
        return self.given


@frozen
class InTurn:
    """Run r takes place in the r-th of these, and after the last one in the first one again.

    name: for tables. given: the instances, of equally many arms.

    >>> from exactdp.bandit.environments.instance import instance
    >>> two = InTurn("two", (instance("coins:0.75,0.25"), instance("coins:0.5,0.25")))
    >>> two.environment(np.random.SeedSequence(0), run=3).arms[0].mean
    0.5
    """

    name: str
    given: tuple[Environment, ...]

    own = True

    @property
    def arms(self) -> int:
        return len(self.given[0].arms)

    def environment(self, seed: np.random.SeedSequence, run: int = 0) -> Environment:
        """The instance of a run."""
        return self.given[run % len(self.given)]


Instances: TypeAlias = Drawn | Fixed | InTurn


def easy(arms: int = 10, sigma: Fraction | None = Fraction(DEFAULT_SIGMA)) -> Drawn:
    """Means in [0.25, 0.75], as in Chowdhury and Zhou (ICLR 2023), section 7.

    arms: how many. sigma: of the rewards; None for coins. Raises
    ParameterError of both, when an instance is drawn.

    >>> easy(5).arms
    5
    """
    return Drawn("easy", arms, EASY, sigma)


def hard(arms: int = 10, sigma: Fraction | None = Fraction(DEFAULT_SIGMA)) -> Drawn:
    """Means in [0.45, 0.55], as there.

    arms: how many. sigma: of the rewards; None for coins. Raises
    ParameterError of both, when an instance is drawn.

    >>> hard(5).means
    (0.45, 0.55)
    """
    return Drawn("hard", arms, HARD, sigma)


def published(hard: bool = False) -> InTurn:
    """The 20 instances that the published experiments ran on, the easy or the hard ones.

    hard: the hard ones? Raises nothing.

    >>> published().name, len(published().given)
    ('published', 20)
    """
    name, width = ("published-hard", 0.1) if hard else ("published", 0.5)

    def instance(run: int) -> Environment:
        uniform = np.random.RandomState(run).random_sample(_PUBLISHED_ARMS)
        means = (width * uniform + (0.5 - width / 2)).tolist()
        return Environment(name, tuple(ClippedGaussian(mean) for mean in means))

    return InTurn(name, tuple(instance(run) for run in range(_PUBLISHED_RUNS)))
