"""Gaussian rewards clipped to [0, 1]: the synthetic instances of the papers.

X = min(1, max(0, Z)) with Z normal ("projected to [0, 1]": Chowdhury and Zhou, ICLR 2023,
section 7). The encoded reward takes the value j with probability E max(0, 1 - |gX - j|): an
integral of the normal density against a hat, plus the atoms that clipping leaves at 0 and 1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, exact
from .blocks import Blocks, split
from .rewards import Cells, check_sum, drawn_sums

DEFAULT_SIGMA = Fraction(1, 10)  # the paper names no value: this one is ours
_SIGMAS = (Fraction(1, 1000), Fraction(1000))
_BEYOND = 40.0  # the normal density is 0 in floats from here on
_PEAK = 1 / math.sqrt(2 * math.pi)  # phi(0)
_FEW = 64  # up to here, sums of real rewards are drawn reward by reward
_MOST_BLOCKS = 1 << 15
_MOST_KEPT = 1 << 13  # cells or blocks of one law and precision that are kept
_AT_ONCE = 1 << 16  # values of the density
# Gauss-Legendre nodes that integrate e^(-az) on [0, 1] to 1e-14 relative, for a up to the limit:
# the error is a^(2n) (n!)^4 / ((2n+1) (2n)!^3).
_NODES = ((0.05, 3), (0.2, 4), (1.0, 8))


@frozen(init=False, slots=False)
class ClippedGaussian:
    """min(1, max(0, Z)), Z normal with this location and standard deviation sigma.

    `mean` is that of the clipped reward: the papers define pseudo-regret by the mean of the
    reward on [0, 1]. It differs from the location by what clipping takes (at sigma = 0.1, by
    0.0002 for a location of 0.25 or 0.75, by less between them).
    """

    location: float
    sigma: float = float(DEFAULT_SIGMA)

    def __init__(self, location: ExactInput, sigma: ExactInput = DEFAULT_SIGMA) -> None:
        known = type(location) is float and 0 <= location <= 1  # thousands are drawn
        centre = location if known else exact(location, "location", at_least=0, at_most=1)
        if not (type(sigma) is float and 0.001 <= sigma <= 1000):
            sigma = exact(sigma, "sigma", above=0)
            if not _SIGMAS[0] <= sigma <= _SIGMAS[1]:
                raise ParameterError(f"sigma must be between 1/1000 and 1000, got {float(sigma)}")
        object.__setattr__(self, "location", float(centre))
        object.__setattr__(self, "sigma", float(sigma))

    @cached_property
    def mean(self) -> float:
        # E max(0, Z) - E max(0, Z - 1), and E max(0, s + N) = phi(s) + s Phi(s) for N standard
        # normal.
        low, high = self.location / self.sigma, (self.location - 1) / self.sigma
        return float(self.sigma * (_positive_part(low) - _positive_part(high)))

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        return np.clip(rng.normal(self.location, self.sigma, size=size), 0.0, 1.0)

    def encoded(self, precision: int) -> Cells:
        """The law of the encoded reward, all precision + 1 cells of it."""
        kept = self._kept.get((precision, 0))
        if isinstance(kept, Cells):
            return kept
        values = np.arange(precision + 1)
        down, up = self._shares(values[:-1], precision)
        masses = np.append(down, 0.0)
        masses[1:] += up
        masses[[0, -1]] += self._atoms
        found = Cells(values, masses / masses.sum())
        if precision <= _MOST_KEPT:
            self._kept[precision, 0] = found
        return found

    def blocks(self, precision: int, bits: int) -> Blocks:
        """The interior cells in blocks of at most 2^bits, for sums of very many."""
        kept = self._kept.get((precision, bits))
        if isinstance(kept, Blocks):
            return kept
        found = split(
            lambda cells: self.interior(cells, precision),
            self.ends(precision),
            precision,
            bits,
            centre=precision * self.location,
            width=1 / (precision * self.sigma),
        )
        if precision >> bits <= _MOST_KEPT:
            self._kept[precision, bits] = found
        return found

    def sums(
        self, rng: np.random.Generator, precision: int, count: int, size: int
    ) -> NDArray[np.int64]:
        check_sum(count, precision)
        one_by_one, by_cells, by_blocks = self._costs(precision, count, size)
        if one_by_one <= min(by_cells, by_blocks):
            return drawn_sums(self, rng, precision, count, size)
        if by_cells <= by_blocks:
            return self.encoded(precision).sums(rng, count, size)
        return self.blocks(precision, self._bits(precision, count)).sums(rng, count, size)

    def real_sums(self, rng: np.random.Generator, count: int, size: int) -> NDArray[np.float64]:
        """Sums of rewards, rounded at random to a grid of step 2^-32 (coarser above 2^30 rewards).

        That keeps the mean, and moves the sum of n rewards by a standard deviation of at most
        sqrt(n)/2 steps: for 10^9 rewards, 4e-6.
        """
        if count <= _FEW:
            drawn = self.draw(rng, count * size).reshape(size, count)
            return np.asarray(drawn.sum(axis=1))
        precision = 1 << min(32, 62 - count.bit_length())
        return self.sums(rng, precision, count, size) / precision

    def interior(self, cells: NDArray[np.int64], precision: int) -> NDArray[np.float64]:
        """P(encoded = j) for these j in 1, ..., precision - 1, where no atom is near."""
        return self._shares(cells, precision)[0] + self._shares(cells - 1, precision)[1]

    def ends(self, precision: int) -> tuple[float, float]:
        """P(encoded = 0) and P(encoded = precision), with the atoms that clipping leaves there."""
        down, up = self._shares(np.array([0, precision - 1]), precision)
        low, high = self._atoms
        return float(low + down[0]), float(high + up[1])

    @cached_property
    def _atoms(self) -> tuple[float, float]:
        """P(Z <= 0) and P(Z >= 1)."""
        below, above = -self.location / self.sigma, (self.location - 1) / self.sigma
        return _normal(below), _normal(above)

    @cached_property
    def _kept(self) -> dict[tuple[int, int], Cells | Blocks]:
        """What was computed before, by precision and bits (0: cells): runs ask again."""
        return {}

    def __reduce__(self) -> tuple[type[ClippedGaussian], tuple[float, float]]:
        return ClippedGaussian, (self.location, self.sigma)  # what is kept stays here

    def _bits(self, precision: int, count: int) -> int:
        """The size of the blocks (in bits): the rest of `split` is then some n^(1/3) rewards."""
        blocks = min(_MOST_BLOCKS, max(32, 0.4 * count ** (1 / 3) / self.sigma))
        return int(precision / blocks).bit_length() - 1

    def _costs(self, precision: int, count: int, size: int) -> tuple[float, float, float]:
        """Nanoseconds, roughly, that each of the three ways takes: only the choice needs them."""
        one_by_one = 20_000 + 40.0 * count * size
        by_cells = (60.0 * size + 100) * (precision + 1)
        bits = self._bits(precision, count)
        if bits < 2:
            return one_by_one, by_cells, math.inf
        by_blocks = 500_000 + (150.0 * size + 100) * (precision >> bits)
        return one_by_one, by_cells, by_blocks

    def blocks_cost(self, precision: int, count: int) -> float:
        """Nanoseconds, roughly, of one sum by blocks."""
        return self._costs(precision, count, 1)[2]

    def _shares(
        self, starts: NDArray[np.int64], precision: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return _shares(self.location, self.sigma, starts, precision)


def _shares(
    location: float | NDArray[np.float64], sigma: float, starts: NDArray[np.int64], precision: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the mass between each of these cells and the next: what is rounded down, and up.

    Of one location, or of a column of them, one row each.

    With h the distance in standard deviations: the integrals of (1 - u) phi(z + h u) h and
    of u phi(z + h u) h over u in [0, 1]. All terms are positive, so that tails keep their
    relative accuracy. An interval is cut until the density falls by at most e on a part.
    """
    width = 1 / (precision * sigma)
    largest = float(np.max(np.maximum(location, 1 - np.asarray(location))))
    deviations = min(largest / sigma, _BEYOND) + 1
    parts = max(1, math.ceil(width * deviations))
    order = next(order for limit, order in _NODES if width * deviations / parts <= limit)
    nodes, weights = _legendre(order)
    u = ((np.arange(parts)[:, None] + nodes) / parts).ravel()
    share = np.outer(np.full(parts, width / parts * _PEAK), weights).ravel()
    z = (starts / precision - location) / sigma
    if z.size * len(u) <= _AT_ONCE:
        density = np.exp(-0.5 * (z[..., None] + width * u) ** 2)
        return density @ (share * (1 - u)), density @ (share * u)
    down, up = np.zeros_like(z), np.zeros_like(z)
    for point, weight in zip(u, share, strict=True):
        term = weight * np.exp(-0.5 * (z + width * point) ** 2)
        down += (1 - point) * term
        up += point * term
    return down, up


def encoded_masses(
    locations: NDArray[np.float64], sigma: float, precision: int
) -> NDArray[np.float64]:
    """A row for each location: P(encoded = j), j = 0, ..., precision, as `encoded` has them."""
    from scipy.special import ndtr

    down, up = _shares(locations[:, None], sigma, np.arange(precision), precision)
    masses = np.zeros((len(locations), precision + 1))
    masses[:, :-1] += down
    masses[:, 1:] += up
    masses[:, 0] += ndtr(-locations / sigma)
    masses[:, -1] += ndtr((locations - 1) / sigma)
    return np.asarray(masses / masses.sum(axis=1, keepdims=True))


def _normal(at: float) -> float:
    """P(Z <= at) of the standard normal."""
    return math.erfc(-at * math.sqrt(0.5)) / 2


def _positive_part(shift: float) -> float:
    return _PEAK * math.exp(-0.5 * shift * shift) + shift * _normal(shift)


@lru_cache(maxsize=8)
def _legendre(order: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return (nodes + 1) / 2, weights / 2
