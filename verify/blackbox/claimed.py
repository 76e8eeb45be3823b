"""The laws that a mechanism claims for its outputs on two given inputs."""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...exact.number import ParameterError, whole
from ...mechanisms.laws.finite import FiniteLaw
from ...mechanisms.laws.law import Law
from ...mechanisms.mechanism import AdditiveNoise, Mechanism
from ...mechanisms.pairs.pair import FinitePair

_POINTS = 1 << 18  # a wider window is looked at in strides
_FARTHEST = 1 << 50
_SUPPORTED = "additive noise on integer inputs, or two distributions whose outcomes are integers"


@frozen
class Output:
    """The law of offset + X, reduced mod `modulus` if given, where X follows `law`."""

    law: Law
    offset: int = 0
    modulus: int | None = None

    def noise(self, outcomes: NDArray[np.int64]) -> NDArray[np.int64]:
        """X from the outcome; reduced mod m, the one of them that is closest to 0."""
        if self.modulus is None:
            return outcomes - self.offset
        half = self.modulus // 2
        return (outcomes - self.offset + half) % self.modulus - half

    @property
    def origin(self) -> int:
        """Where residues start to be counted, so that the bulk of the outputs is not cut in two."""
        return 0 if self.modulus is None else self.offset - self.modulus // 2

    def reach(self, samples: int) -> tuple[int, int]:
        """An interval that noise leaves with probability near 1e-3/samples (not certified)."""
        mean, variance = self.law.moments()
        centre = math.floor((float(mean.lower) + float(mean.upper)) / 2)
        start = 1 + math.ceil(8 * math.sqrt(float(variance.upper)))
        sides = (-1, 1) if not self.law.symmetric else (1,)
        ends = [self._end(side, centre, start, samples) for side in sides]
        return (ends[0], ends[1]) if len(ends) == 2 else (2 * centre - ends[0], ends[0])

    def _end(self, side: int, centre: int, step: int, samples: int) -> int:
        end = self.law.support[(1 + side) // 2]
        while step < _FARTHEST and (end is None or side * (end - centre) > step):
            mass = math.exp(self.law.log_pmf(np.array([centre + side * step]))[0])
            if mass * step * samples < 1e-3:
                break
            step *= 2
        reached = centre + side * step
        return reached if end is None else side * min(side * end, side * reached)

    def window(self, other: Output, samples: int) -> NDArray[np.int64]:
        """Points y that cover what both laws are likely to give, in strides where they are many.

        Without a modulus y is the outcome; with one, (outcome - centre_origin) mod m.
        """
        ends = [o.offset + end for o in (self, other) for end in o.reach(samples)]
        low, high = min(ends), max(ends)
        if self.modulus is not None:
            low, high = low - self.origin, high - self.origin
            low, high = max(low, 0), min(high, self.modulus - 1)
        return np.arange(low, high + 1, max(1, (high - low) // _POINTS), dtype=np.int64)

    def masses(self, outcomes: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(outcome) in floats, as far as wrapping can be left out: to choose events by."""
        return np.exp(self.law.log_pmf(self.noise(outcomes)))


def claimed_outputs(mechanism: Mechanism, inputs: tuple[object, object]) -> tuple[Output, Output]:
    """What the mechanism claims to put out on these two inputs.

    Raises ParameterError where that is not known, or where the inputs are no neighbours.
    """
    if isinstance(mechanism, AdditiveNoise):
        first, second = (whole(value, "input") for value in inputs)
        if not 1 <= abs(first - second) <= mechanism.sensitivity:
            raise ParameterError(
                f"inputs must differ, by at most the sensitivity {mechanism.sensitivity}, "
                f"got {first} and {second}"
            )
        return (
            Output(mechanism.law, first, mechanism.modulus),
            Output(mechanism.law, second, mechanism.modulus),
        )
    if isinstance(mechanism, FinitePair) and not mechanism.slack:
        outcomes = [whole(outcome, "outcome") for outcome in mechanism.outcomes]
        p, q = (
            FiniteLaw(dict(zip(outcomes, column, strict=True)))
            for column in (mechanism.p, mechanism.q)
        )
        return Output(p), Output(q)
    raise ParameterError(f"law must be {_SUPPORTED}, got {type(mechanism).__name__}")
