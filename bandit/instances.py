"""In which environments runs take place: one for all of them, or one drawn for each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from .environments.environment import EASY, HARD, Environment, drawn_instance
from .environments.gaussian import DEFAULT_SIGMA


@dataclass(frozen=True)
class Drawn:
    """A new instance for each run: Gaussian rewards clipped to [0, 1], or coins (sigma None).

    means: the range that the arms' means are uniform in.
    """

    name: str
    arms: int
    means: tuple[float, float]
    sigma: Fraction | None = Fraction(DEFAULT_SIGMA)

    def environment(self, seed: np.random.SeedSequence) -> Environment:
        """The instance of a run."""
        return drawn_instance(seed, self.arms, self.means, self.sigma, self.name)


@dataclass(frozen=True)
class Fixed:
    """The same instance for all runs."""

    given: Environment

    @property
    def name(self) -> str:
        return self.given.name

    @property
    def arms(self) -> int:
        return len(self.given.arms)

    def environment(self, seed: np.random.SeedSequence) -> Environment:
        """The instance of every run."""
        return self.given


Instances: TypeAlias = Drawn | Fixed


def easy(arms: int = 10, sigma: Fraction | None = Fraction(DEFAULT_SIGMA)) -> Drawn:
    """Means in [0.25, 0.75], as in Chowdhury and Zhou (ICLR 2023), section 7."""
    return Drawn("easy", arms, EASY, sigma)


def hard(arms: int = 10, sigma: Fraction | None = Fraction(DEFAULT_SIGMA)) -> Drawn:
    """Means in [0.45, 0.55], as there."""
    return Drawn("hard", arms, HARD, sigma)
