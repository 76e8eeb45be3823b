"""Where users' contexts and rewards come from."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, exact, whole
from .diversity import chosen_in_ball
from .published import Published
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
    """`unit:dimension=5,arms=20,norm=1`, `published:dimension=5` (see `published`), or data:
    `digits:components=3,classes=3` (see `data`), or a CSV file (see `recorded`), whose name ends
    with .csv.

    seed: of theta*, and of which half of the data is public. Raises ParameterError for anything
    else, ImportError where the data's package is missing.
    """
    from .data import SETS, Classification
    from .recorded import read_recorded

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
    return Classification(name, **values, seed=seed)
