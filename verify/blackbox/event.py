"""What of an output is looked at, as an integer, and events: unions of intervals of these.

A function of the output is post-processing: a bound on what it tells holds of the output itself.

*Floats.* Their order as integers, one for each bit pattern (all NaN are one); and the exponent of
the lowest bit that is set. Noise that is computed in floats leaves gaps: x + noise has no bits
below those of the larger of the two, and so tells x (Mironov, "On significance of the least
significant bits for differential privacy", CCS 2012).

*Vectors.* Each coordinate, or those in which training samples differ most; their sum; and the
projection on the difference of the training samples' means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Outputs = NDArray[Any]  # int64 or float64; one number each, or a row
Ints = NDArray[np.int64]

_MOST_COORDINATES = 32
_DIRECTION = 20  # bits of a projection's whole weights
_WHOLE = 1 << 62
_SIGN = np.int64(-(1 << 63))
_ZERO = 5000  # what 0, and all that is not finite, have for a lowest bit
_SHOWN = 6  # intervals that are written out


@frozen
class View:
    """A coordinate, or a projection by whole weights, of an output that may be a vector.

    weights: None for a number. lowest: the exponent of its lowest bit, not the number.
    floats: are the outputs floats, seen by their bit patterns?
    """

    weights: tuple[tuple[int, int], ...] | None = None
    floats: bool = False
    lowest: bool = False

    def of(self, outputs: Outputs) -> Ints:
        """One integer for each output."""
        values = outputs
        if self.weights is not None:
            (first, weight), *others = self.weights
            values = outputs[:, first] * weight if weight != 1 else outputs[:, first]
            for index, more in others:
                values = values + outputs[:, index] * more
        if self.lowest:
            return lowest_bits(values)
        return ordered(values) if self.floats else values.astype(np.int64, copy=False)

    def __str__(self) -> str:
        if self.weights is None:
            name = "x"
        elif len(self.weights) == 1 and self.weights[0][1] == 1:
            name = f"x[{self.weights[0][0]}]"
        else:
            name = "w.x"
        return f"the lowest bit's exponent of {name}" if self.lowest else name


PLAIN = View()


def ordered(values: NDArray[np.float64]) -> Ints:
    """Floats in their order as integers, one for each bit pattern; -0.0 comes before 0.0."""
    known = np.where(np.isnan(values), np.nan, values)  # of all patterns the same
    bits = np.ascontiguousarray(known).view(np.int64)
    return np.where(bits >= 0, bits, _SIGN - bits - 1)


def float_at(place: int) -> float:
    """The float of this place."""
    bits = place if place >= 0 else int(_SIGN) - place - 1
    return float(np.array([bits], dtype=np.int64).view(np.float64)[0])


def lowest_bits(values: NDArray[np.float64]) -> Ints:
    """The e for which a float is an odd multiple of 2^e; of 0 and what is not finite, 5000."""
    mantissas, exponents = np.frexp(values)
    finite = np.isfinite(values) & (values != 0)
    whole = np.where(finite, np.ldexp(mantissas, 53), 1).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return np.where(finite, exponents - 53 + trailing, _ZERO)


def views_of(first: Outputs, second: Outputs) -> Iterator[View]:
    """What to look at, chosen by training samples of the two inputs."""
    floats = first.dtype.kind == "f"
    for weights in [None] if first.ndim == 1 else _projections(first, second):
        yield View(weights, floats)
        if floats and (weights is None or len(weights) == 1):
            yield View(weights, floats, lowest=True)


def _projections(first: Outputs, second: Outputs) -> list[tuple[tuple[int, int], ...]]:
    width = first.shape[1]
    with np.errstate(all="ignore"):
        apart = first.mean(axis=0) - second.mean(axis=0)
        spread = np.sqrt(first.var(axis=0) + second.var(axis=0))
        scores = np.nan_to_num(np.abs(apart) / spread, nan=0.0, posinf=np.inf)
        slopes = np.nan_to_num(apart / spread**2, nan=0.0, posinf=0.0, neginf=0.0)
    chosen = np.argsort(-scores, kind="stable")[:_MOST_COORDINATES]
    found: list[tuple[tuple[int, int], ...]] = [((int(k), 1),) for k in chosen]
    if width > 1:
        every = [tuple((k, 1) for k in range(width))]
        top = np.abs(slopes).max()
        if top > 0:
            whole = np.rint(slopes / top * (1 << _DIRECTION)).astype(np.int64)
            every.append(tuple((k, int(w)) for k, w in enumerate(whole) if w))
        largest = max(_largest(first), _largest(second))
        found += [
            weights
            for weights in every
            if first.dtype.kind == "f" or largest * sum(abs(w) for _, w in weights) < _WHOLE
        ]
    return found


def _largest(outputs: Outputs) -> int:
    """No whole number here is larger; of floats, 0."""
    if outputs.dtype.kind == "f" or not outputs.size:
        return 0
    return max(-int(outputs.min()), int(outputs.max()))


@frozen
class Event:
    """The outcomes x with y in one of the intervals, where y = x, or (x - origin) mod `modulus`.

    intervals: [low, high] with both ends inside, rising and disjoint; None where there is no end.
    view: of outputs that are no integers, or vectors, what x is.
    """

    intervals: tuple[tuple[int | None, int | None], ...]
    modulus: int | None = None
    origin: int = 0
    view: View = PLAIN

    def count(self, outputs: NDArray[Any]) -> int:
        """How many of the outputs it contains."""
        if not self.intervals:
            return 0
        values = self.view.of(outputs)
        if self.modulus is not None:
            values = (values - self.origin) % self.modulus
        edges = [end for a, b in self.intervals for end in (a, None if b is None else b + 1)]
        inner = np.array([edge for edge in edges if edge is not None], dtype=np.int64)
        low, high = edges[0], edges[-1]
        if len(inner) == 1:  # comparisons are several times as fast as a search
            return int(np.count_nonzero(values < inner if low is None else values >= inner))
        if len(inner) == 2 and low is not None and high is not None:
            return int(np.count_nonzero((values >= low) & (values < high)))
        passed = np.searchsorted(inner, values, side="right")
        return int(np.count_nonzero(passed % 2 == (low is not None)))

    def __str__(self) -> str:
        if not self.intervals:
            return "nothing"
        shift = "" if not self.origin else f" {'-' if self.origin > 0 else '+'} {abs(self.origin)}"
        seen = str(self.view)
        is_float = self.view.floats and not self.view.lowest
        if self.modulus is None:
            name = seen
        else:
            pattern = f"the place of {seen}" if is_float else seen
            name = f"{f'({pattern}{shift})' if shift else pattern} mod {self.modulus}"
        read = float_at if is_float and self.modulus is None else int
        parts = [
            _interval(name, *(None if end is None else read(end) for end in ends))
            for ends in self.intervals[:_SHOWN]
        ]
        more = len(self.intervals) - len(parts)
        return " or ".join(parts) + (f" or {more} more intervals" if more else "")

    def to_json(self) -> dict[str, Any]:
        """All intervals; null where there is no end."""
        shown: dict[str, Any] = {"intervals": [list(part) for part in self.intervals]}
        if self.modulus is not None:
            shown |= {"modulus": self.modulus, "origin": self.origin}
        if self.view != PLAIN:
            shown |= {"of": str(self.view)}
            if self.view.weights is not None:
                shown |= {"weights": [list(one) for one in self.view.weights]}
        return shown


def _interval(name: str, low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return f"{name} is anything"
    if low is None:
        return f"{name} <= {high}"
    if high is None:
        return f"{name} >= {low}"
    return f"{name} = {low}" if low == high else f"{low} <= {name} <= {high}"
