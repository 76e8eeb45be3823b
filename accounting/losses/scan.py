"""Upper bounds of |M(s)|/M(c) at many nodes s = c + iy, from floats with a bound on their error.

M(s)/M(c) = sum of w e^(iyL) with weights w that add up to 1. On equidistant nodes e^(iyL) is the
product of an entry of each of two tables, and the sum a matrix product. It is wrong by at most

  * the weights that are left out, and the rounding of the others;
  * per entry: angles are integers, 2^64 to the turn, that wrap around exactly; a step is off by
    less than one such unit, hence node j by less than j of them; rounding the angle to a float
    costs at most pi u, u the unit roundoff, cosine and sine a few units in the last place;
  * 4 (n + 4) u for the sum of n products of complex numbers whose absolute values add up to 1, in
    any order of summation (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
    Sections 3.1 and 3.6).

Single precision does, unless so many uses multiply the error that nothing would be left out.

*Strides.* |M(c + iy)|/M(c) = |E e^(iy(L - m))| under the weights, m any number: it changes by at
most E|L - m| from y to y + 1. Where many uses make nodes negligible as soon as |M| is a little
below M(c), one node bounds all within half a stride of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...exact.precision import floor_of
from .law import Atoms

_CHUNK = 8192  # atoms at a time
_LONGEST_STRIDE = 81
_PIECE = 64  # nodes looked at together, so that one table of steps serves all
_SPARE = 10.0  # nats by which what strides tell is below what is negligible, at best
_MOST_SINGLE = 1000  # uses above which the errors of single precision would add up to too much


class _Grade(NamedTuple):
    """A float type: its unit roundoff, a generous bound on either table's entries, and what
    weights are left out or wrong by."""

    real: type[np.floating[Any]]
    complex: type[np.complexfloating[Any, Any]]
    roundoff: float
    entry: float
    light: float


_SINGLE = _Grade(np.float32, np.complex64, 2.0**-24, 2e-6, 1e-5)
_DOUBLE = _Grade(np.float64, np.complex128, 2.0**-53, 5e-15, 1e-13)


class Scan:
    """Bounds for the product of powers of several M."""

    def __init__(
        self, parts: Sequence[tuple[Atoms, int]], c: float, spacing: arb, stride: int = 1
    ) -> None:
        """stride: an odd number; node j stands for all within half as many of node j * stride."""
        self.parts = [
            (_Phases(law, c, spacing, grade_for(times), stride), times) for law, times in parts
        ]
        self.terms = sum(len(phases.turns) for phases, _ in self.parts)

    def longest_stride(self, limit: float) -> int:
        """The longest stride, at most, whose nodes may tell that all are below this logarithm.

        An odd number; 1 where that is not worth it.
        """
        stride = 1
        while stride < _LONGEST_STRIDE:
            longer = 3 * stride
            each = ((times, longer / 2 * phases.change) for phases, times in self.parts)
            best = sum(times * math.log(min(change, 1.0)) for times, change in each if change > 0)
            if best > limit - _SPARE:
                break
            stride = longer
        return stride

    def log_bounds(self, first: int, count: int) -> NDArray[np.float64]:
        """Upper bounds of log prod (|M_i|/M_i(c))^K_i at nodes first, ..., first + count - 1."""
        total = np.zeros(count)
        for phases, times in self.parts:
            logs = np.log(np.minimum(phases.sizes(first, count), 1.0))
            wrong = 16 * phases.grade.roundoff  # of the logarithm: relative, and near 1 absolute
            total += times * (logs * (1 - wrong) + wrong)
        return np.minimum(total, 0.0)


def grade_for(times: int) -> _Grade:
    """What floats will do for so many uses."""
    return _SINGLE if times <= _MOST_SINGLE else _DOUBLE


class Screened:
    """The same bounds, by as few nodes as tell what is below a logarithm, the limit."""

    def __init__(
        self, parts: Sequence[tuple[Atoms, int]], c: float, spacing: arb, limit: float
    ) -> None:
        self.each, self.limit = Scan(parts, c, spacing), limit
        self.terms, self.stride = self.each.terms, self.each.longest_stride(limit)
        self.few = Scan(parts, c, spacing, self.stride) if self.stride > 1 else self.each

    def log_bounds(self, first: int, count: int) -> NDArray[np.float64]:
        """As `Scan.log_bounds`; those above the limit are as near as each node tells."""
        if self.stride == 1:
            return self.each.log_bounds(first, count)
        places = (first + np.arange(count) + self.stride // 2) // self.stride
        low, high = int(places[0]), int(places[-1])
        found: NDArray[np.float64] = self.few.log_bounds(low, high + 1 - low)[places - low]
        for start, length in runs_of(np.flatnonzero(found > self.limit)):
            for at in range(start, start + length, _PIECE):
                count = min(_PIECE, start + length - at)
                found[at : at + count] = self.each.log_bounds(first + at, _PIECE)[:count]
        return found


def runs_of(indices: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """Consecutive ones as (first, count)."""
    if len(indices):
        edges = np.flatnonzero(np.diff(indices) > 1) + 1
        for low, high in pairwise([0, *edges.tolist(), len(indices)]):
            yield int(indices[low]), high - low


class _Phases:
    def __init__(self, law: Atoms, c: float, spacing: arb, grade: _Grade, stride: int) -> None:
        self.grade = grade
        weights = law.tilted(c)
        losses = law.about
        spread = math.sqrt(float(weights @ (losses - float(weights @ losses)) ** 2))
        # from a node to the next one; the weights are off by what `light` says as well
        wrong = 10 * _DOUBLE.light * float(np.ptp(losses))
        self.change = (spread * (1 + 1e-6) + wrong) * float(spacing.upper())
        self.apart = (stride // 2) * self.change
        heavy = np.flatnonzero(weights > grade.light / len(weights))
        self.weights = weights[heavy]
        self.light = float(weights.sum() - self.weights.sum()) + 10 * _DOUBLE.light
        turn = spacing * stride / (2 * arb.pi()) * 2**64
        angles = (floor_of(turn * law.losses[x]) % 2**64 for x in heavy)
        self.turns = np.array(list(angles), dtype=np.uint64)
        self.steps: dict[int, list[NDArray[Any]]] = {}

    def sizes(self, first: int, count: int) -> NDArray[Any]:
        """Upper bounds of |M(s_j)|/M(c)."""
        columns = 1 << (count.bit_length() // 2)
        rows = -(-count // columns)
        starts = np.uint64(first) + np.arange(rows, dtype=np.uint64) * np.uint64(columns)
        total = np.zeros((rows, columns), dtype=self.grade.complex)
        roundoff = self.grade.roundoff
        error = self.apart + self.light + 8 * (first + count) * 2.0**-64 + 4 * self.grade.entry
        for low, steps in zip(range(0, len(self.turns), _CHUNK), self._steps(columns), strict=True):
            turns, weights = self.turns[low : low + _CHUNK], self.weights[low : low + _CHUNK]
            waves = self._waves(np.multiply.outer(starts, turns))
            total += (waves * weights.astype(self.grade.real)) @ steps
            error += float(weights.sum()) * 4 * (len(turns) + 4) * roundoff + 4 * roundoff
        sizes: NDArray[Any] = np.abs(total).ravel()[:count]
        sizes = sizes * self.grade.real(1 + 8 * roundoff) + self.grade.real(error * (1 + 1e-6))
        return sizes

    def _steps(self, columns: int) -> list[NDArray[Any]]:
        """The table of steps within a row, which all rows share."""
        if columns not in self.steps:
            within = np.arange(columns, dtype=np.uint64)
            self.steps = {
                columns: [
                    self._waves(np.multiply.outer(self.turns[low : low + _CHUNK], within))
                    for low in range(0, len(self.turns), _CHUNK)
                ]
            }
        return self.steps[columns]

    def _waves(self, turns: NDArray[np.uint64]) -> NDArray[Any]:
        """e^(2 pi i turns/2^64)."""
        angles = (turns.view(np.int64) * (2 * math.pi / 2.0**64)).astype(self.grade.real)
        waves = np.empty(angles.shape, dtype=self.grade.complex)
        np.cos(angles, out=waves.real)
        np.sin(angles, out=waves.imag)
        return waves
