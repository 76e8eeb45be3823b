"""The published linear experiments' instances (Chowdhury, Zhou, ICML 2022, arXiv 2202.05567).

As in the code that comes with the paper (github.com/sayakrc/Differentially-Private-Bandits,
`LinBanditPrivate.py`): 100 arms whose features (u, 1) are the same for all users, u a unit vector
of R^(d-1) or, of the first d arms, a vector of the standard basis or 0; a reward is 1 with
probability <theta, (u, 1)>, theta = (t, 1/2), |t| = 1/2. Fifty instances, one after another from
NumPy's generator seeded with 2, whose stream never changes. Here

    x = (u, 1)/sqrt 2,    E[2y - 1 | x] = 2 <theta, (u, 1)> - 1 = <x, (2 sqrt 2 t, 0)>,

so that |x| <= 1, and |theta*| = sqrt 2.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from ...exact.number import ExactInput, whole
from .setting import MOST_DIMENSIONS

Floats = NDArray[np.float64]

RUNS = 50
_SEED = 2


def _dimension(value: ExactInput) -> int:
    return whole(value, "dimension", at_least=2, at_most=MOST_DIMENSIONS)


@frozen(slots=False)
class Published:
    """The instance of a run: number r mod 50.

    dimension: d, 5 in the code. Raises ParameterError out of range.

    >>> Published().of_run(1).draw(np.random.default_rng(0), 3)[0].shape
    (3, 100, 5)
    """

    dimension: int = field(converter=_dimension, default=5)
    number: int = 0

    arms = 100
    norm = 1.4142136  # sqrt 2, rounded up
    diversity = chosen_diversity = None

    @property
    def name(self) -> str:
        return f"published:dimension={self.dimension}"

    def of_run(self, run: int) -> Published:
        """Where this run takes place."""
        return evolve(self, number=run % RUNS)

    @cached_property
    def _drawn(self) -> tuple[Floats, Floats]:
        rng, rest = np.random.RandomState(_SEED), self.dimension - 1
        for _ in range(self.number + 1):
            features, theta = rng.randn(self.arms, rest), rng.randn(rest)
        features /= np.sqrt(np.square(features).sum(axis=1))[:, None]
        features[: self.dimension] = np.eye(self.dimension)[:, :-1]
        bias = np.ones((self.arms, 1))
        contexts = np.hstack((features, bias)) / np.sqrt(2)
        theta *= np.sqrt(2) / np.sqrt(np.square(theta).sum())
        return contexts, np.append(theta, 0.0)

    @property
    def theta(self) -> Floats:
        return self._drawn[1]

    def linear_regret(self) -> None:
        return None

    def draw(self, rng: np.random.Generator, users: int) -> tuple[Floats, Floats]:
        contexts, theta = self._drawn
        means = np.clip((1 + contexts @ theta) / 2, 0, 1)
        shape = (users, self.arms)
        return np.broadcast_to(contexts, (*shape, self.dimension)), np.broadcast_to(means, shape)
