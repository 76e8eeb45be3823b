"""Where users' contexts and rewards come from.

The published linear experiments' instances (Chowdhury, Zhou, ICML 2022, arXiv 2202.05567).

As in the code that comes with the paper (github.com/sayakrc/Differentially-Private-Bandits,
`LinBanditPrivate.py`): 100 arms whose features (u, 1) are the same for all users, u a unit vector
of R^(d-1) or, of the first d arms, a vector of the standard basis or 0; a reward is 1 with
probability <theta, (u, 1)>, theta = (t, 1/2), |t| = 1/2. Fifty instances, one after another from
NumPy's generator seeded with 2, whose stream never changes. Here

    x = (u, 1)/sqrt 2,    E[2y - 1 | x] = 2 <theta, (u, 1)> - 1 = <x, (2 sqrt 2 t, 0)>,

so that |x| <= 1, and |theta*| = sqrt 2.

How much of every direction the contexts of *chosen* arms show, in the unit ball.

A user has K contexts, independent and uniform in the unit ball of R^d, and takes the arm of the
largest f(x), f convex and fixed before: as <theta^, x> + width(x) is. Then for every unit vector w

    E <w, x>^2  >=  E[min over arms of L_a^2]/4,    L_a^2 = 1 - |x_a|^2 + <w, x_a>^2.

*Proof.* Write x_a = s_a w + y_a, y_a orthogonal to w. Given y_a, s_a is uniform in [-L_a, L_a].
Given all y and the other arms' s as well, arm a is taken where f(s_a w + y_a) is larger than the
others' (or as large, of a tie that she wins). As f is convex, s_a is *not* taken in an interval
(p, q), with or without its ends; so that where it is, it is uniform in [-L_a, p] and [q, L_a]. The
mean of s^2 over [q, L], |q| <= L, is (L^2 + qL + q^2)/3 = L^2/4 + (q + L/2)^2/3 >= L^2/4; likewise
over [-L, p], and so over both. Hence E[s_a^2 | a is taken, all y] >= L_a^2/4. QED.

L_a^2 has the law Beta(3/2, (d - 1)/2) (y is a projection of a uniform vector); for d = 1 it is 1.
So E min = integral of P(L^2 > t)^K over [0, 1], from below by steps, as this falls in t.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from attrs import evolve, field, frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, ball, exact, whole
from ...exact.precision import enclose, working_precision
from .setting import MOST_DIMENSIONS

Floats = NDArray[np.float64]

_MOST_ARMS = 1000
_KEYS = {"unit": ("dimension", "arms", "norm"), "published": ("dimension",)}


class LinearEnvironment(Protocol):
    """Arms with a context each, for every user, and the mean rewards of these."""

    @property
    def name(self) -> str:
        """For tables."""

    @property
    def dimension(self) -> int:
        """d."""

    @property
    def arms(self) -> int:
        """K."""

    @property
    def norm(self) -> float:
        """What |theta*| is taken to be at most."""

    @property
    def theta(self) -> Floats | None:
        """theta*, with E[2y - 1 | x] = <x, theta*>; None where no such is known to exist."""

    @property
    def diversity(self) -> Fraction | None:
        """What no eigenvalue of E[mean of x x' over the arms] is below, of contexts that are drawn
        independently of all before, from one law; None where no such is known."""

    @property
    def chosen_diversity(self) -> Fraction | None:
        """The same of x x' of the arm of the largest convex index, whichever that is."""

    def linear_regret(self) -> float | None:
        """A round's regret, of who follows the least-squares fit to all data; None without any."""

    def draw(self, rng: np.random.Generator, users: int) -> tuple[Floats, Floats]:
        """So many users' contexts (users x K x d, of norm at most 1) and means (users x K)."""


@frozen(init=False, eq=False, slots=False)
class UnitBall:
    """Contexts uniform in the unit ball, for each user and arm anew; coins of mean (1 + <x, t>)/2.

    seed: of theta*, uniform on the sphere of radius `norm`, which is at most 1.
    """

    dimension: int
    arms: int
    norm: float
    seed: int

    def __init__(
        self,
        dimension: ExactInput = 5,
        arms: ExactInput = 20,
        norm: ExactInput = 1,
        seed: ExactInput = 0,
    ) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("dimension", whole(dimension, "dimension", at_least=1, at_most=MOST_DIMENSIONS))
        put("arms", whole(arms, "arms", at_least=2, at_most=_MOST_ARMS))
        put("norm", float(exact(norm, "norm", above=0, at_most=1)))
        put("seed", whole(seed, "seed", at_least=0))

    @property
    def name(self) -> str:
        norm = repr(self.norm).removesuffix(".0")
        return f"unit:dimension={self.dimension},arms={self.arms},norm={norm}"

    @cached_property
    def theta(self) -> Floats:
        drawn = np.random.default_rng(self.seed).standard_normal(self.dimension)
        scaled: Floats = drawn * (self.norm / np.linalg.norm(drawn))
        return scaled

    @property
    def diversity(self) -> Fraction:
        return Fraction(1, self.dimension + 2)  # E |x|^2 = d/(d + 2), the same in all directions

    @cached_property
    def chosen_diversity(self) -> Fraction:
        return chosen_in_ball(self.dimension, self.arms)

    def linear_regret(self) -> None:
        return None

    def draw(self, rng: np.random.Generator, users: int) -> tuple[Floats, Floats]:
        contexts = rng.standard_normal((users, self.arms, self.dimension))
        lengths = rng.random((users, self.arms)) ** (1 / self.dimension)
        contexts *= (lengths / np.sqrt((contexts**2).sum(axis=2)))[:, :, None]
        return contexts, np.clip((1 + contexts @ self.theta) / 2, 0, 1)


def linear_environment(text: str, seed: ExactInput = 0) -> LinearEnvironment:
    """`unit:dimension=5,arms=20,norm=1`, `published:dimension=5` (see above), or data:
    `digits:components=3,classes=3` (see `tables`), or a CSV file, whose name ends
    with .csv.

    seed: of theta*, and of which half of the data is public. Raises ParameterError for anything
    else, ImportError where the data's package is missing.
    """
    from .tables import SETS, classification, read_recorded

    if text.lower().endswith(".csv"):
        return read_recorded(text)
    name, _, rest = text.partition(":")
    keys = _KEYS.get(name, ("components", "classes"))
    if name not in _KEYS and name not in SETS:
        known = ", ".join((*_KEYS, *SETS, "FILE.csv"))
        raise ParameterError(f"instance must be one of {known}, got {text[:40]!r}")
    values: dict[str, str] = {}
    for part in rest.split(",") if rest else ():
        key, equals, value = part.partition("=")
        if not equals or key not in keys or key in values:
            raise ParameterError(
                f"instance {name} takes {', '.join(keys)}, as KEY=VALUE, got {part[:40]!r}"
            )
        values[key] = value
    if name == "unit":
        return UnitBall(**values, seed=seed)
    if name == "published":
        return Published(whole(values.get("dimension", 5), "dimension"))
    return classification(name, **values, seed=seed)


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


_STEPS, _BITS = 256, 64


def chosen_in_ball(dimension: int, arms: int) -> Fraction:
    """What no eigenvalue of E[x x'] is below, of the arm of the largest convex index.

    >>> chosen_in_ball(1, 20), float(chosen_in_ball(10, 20)) > 0.0075
    (Fraction(1, 4), True)
    """
    if dimension == 1:
        return Fraction(1, 4)
    places = [Fraction(step, _STEPS) ** 2 for step in range(_STEPS + 1)]  # finer where it is likely
    with working_precision(_BITS):
        total, shape = arb(0), (arb(3) / 2, arb(dimension - 1) / 2)
        for before, after in pairwise(places[:-1]):
            all_above = (1 - ball(after).beta_lower(*shape, regularized=True)) ** arms
            total += ball(after - before) * all_above
        return max(Fraction(enclose(total / 4).lower), Fraction(0))
