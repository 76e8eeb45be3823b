"""What a linear bandit is told beforehand: public numbers, exact."""

from __future__ import annotations

import math
from fractions import Fraction

from attrs import asdict, frozen

from ...common.suggest import one_of
from ...exact.number import ExactInput, ParameterError, decimal_text, exact, whole

MOST_DIMENSIONS = 64  # a user sends d(d + 1)/2 + d numbers
RELEASES = ("skellam", "discrete-laplace")
_LONGEST_HORIZON = 10**8


@frozen(init=False)
class LinearSetting:
    """The numbers that a run may depend on.

    dimension   d, of the contexts, 1 to 64
    horizon     T, the number of users, one a round
    norm        S: what |theta*| is at most
    epsilon     of every batch; None: nothing is hidden
    delta       of every batch
    confidence  p: with which probability the radius may fail, ever
    first       users of the first batch
    growth      eta: after b batches there have been first eta^(b-1) users
    release     whose noise: "skellam" for (epsilon, delta), "discrete-laplace" for pure epsilon

    Raises ParameterError for numbers out of range.

    >>> LinearSetting(dimension=2, horizon=1000, epsilon=8).batches
    (8, 16, 32, 64, 128, 256, 512, 1000)
    """

    dimension: int
    horizon: int
    norm: Fraction
    epsilon: Fraction | None
    delta: Fraction
    confidence: Fraction
    first: int
    growth: Fraction
    release: str

    def __init__(
        self,
        dimension: ExactInput,
        horizon: ExactInput,
        epsilon: ExactInput | None = 1,
        *,
        norm: ExactInput = 1,
        delta: ExactInput = "1e-6",
        confidence: ExactInput = "0.05",
        first: ExactInput | None = None,
        growth: ExactInput = 2,
        release: str = "skellam",
    ) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("dimension", whole(dimension, "dimension", at_least=1, at_most=MOST_DIMENSIONS))
        put("horizon", whole(horizon, "horizon", at_least=1, at_most=_LONGEST_HORIZON))
        put("norm", exact(norm, "norm", above=0, at_most=1000))
        given = None if epsilon is None else _at_least("1e-2", epsilon, "epsilon", at_most=100)
        put("epsilon", given)
        put("delta", _at_least("1e-15", delta, "delta", below=1))
        put("confidence", _at_least("1e-15", confidence, "confidence", below=1))
        if first is None:  # fewer are lost in the noise
            first = min(self.horizon, math.ceil(32 * self.dimension / min(given or 8, 8)))
        put("first", whole(first, "first", at_least=1, at_most=self.horizon))
        put("release", one_of(release, RELEASES, "release"))
        put("growth", _at_least("1.1", growth, "growth", at_most=1000))

    @property
    def batches(self) -> tuple[int, ...]:
        """How many users there have been after each batch; the last number is the horizon."""
        ends, real = [self.first], Fraction(self.first)
        while ends[-1] < self.horizon:
            real *= self.growth
            ends.append(min(self.horizon, max(math.ceil(real), ends[-1] + 1)))
        return tuple(ends)

    def without_privacy(self) -> LinearSetting:
        """The same, with nothing hidden."""
        names = ("norm", "delta", "confidence", "first", "growth", "release")
        kept = {name: getattr(self, name) for name in names}
        return LinearSetting(self.dimension, self.horizon, None, **kept)

    def to_json(self) -> dict[str, str | None]:
        """Every number as exact text; `LinearSetting(**...)` reads it back."""
        return {
            name: value if value is None or isinstance(value, str) else decimal_text(value)
            for name, value in asdict(self, recurse=False).items()
        }


def _at_least(least: str, value: ExactInput, name: str, **most: int) -> Fraction:
    found = exact(value, name, above=0, **most)
    if found < Fraction(least):
        raise ParameterError(f"{name} must be at least {least}, got {decimal_text(found)}")
    return found
