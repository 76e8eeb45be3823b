"""From a fixed-point vector to an integer one, and how long that may be: three ways.

    stochastic          each coordinate to one of its two neighbours, without bias
    conditional:beta    the same, repeated until the norm is within a bound that a first try misses
                        with probability at most beta
    nearest             each coordinate to the nearest integer: no randomness, and a bias

Let y be the vector, |y| <= c, of d coordinates, and R what it is rounded to.

*Any rounding up or down:* |R - y| < sqrt(d), hence |R| <= c + sqrt(d).

*Conditional.* R_i is floor(y_i) or one more, so R_i^2 takes two values that differ by
|2 floor(y_i) + 1|: by Hoeffding's lemma it is sub-Gaussian about its mean with variance proxy
(floor(y_i) + 1/2)^2. The mean of |R|^2 is |y|^2 + sum f_i (1 - f_i) <= c^2 + d/4, f_i the
fractions; the proxies add up to |floor(y) + 1/2|^2 <= (c + sqrt(d)/2)^2. So
|R|^2 <= c^2 + d/4 + sqrt(2 log(1/beta)) (c + sqrt(d)/2) but with probability beta.
A first try also misses it with probability at most 1/(1 + 2 log(1/beta)): by Cantelli's inequality,
as the variance of R_i^2, f_i (1 - f_i) (2 floor(y_i) + 1)^2, is at most its proxy.
(Kairouz, Liu, Steinke, "The Distributed Discrete Gaussian Mechanism for Federated Learning with
Secure Aggregation", ICML 2021, Proposition 22; `inflated_l2_norm` in TensorFlow Federated.)

*Nearest.* |R_i - y_i| <= 1/2, and R_i != 0 only where |y_i| >= 1/2, so that |R_i| <= 2 |y_i|:
|R| <= min(c + sqrt(d)/2, 2 c).

Each bound is on the integer |R|^2, so its floor is as good; it is checked in exact integers for
every vector that is sent.

*Fixed point*: where floats end and exact integers begin. A client's rotated, scaled vector is known
in floats only, so it is *replaced* by a vector n 2^-f of fixed-point numbers, n integers, and from
there on nothing is approximate: its norm is compared with the bound in exact integers, and its
rounding is a coin of probability exactly (n mod 2^f) 2^-f. So the vector that is rounded has norm
at most the bound for *every* input, whatever the floats before did: they decide how close it is to
what was meant, never how long it may be.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, ball, decimal_text, exact
from ...exact.precision import START, working_precision
from ..laws.arrays import uniform_words
from ..samplers.bits import RandomBits

FIELD = 46  # bits: the norm bound is below 2^FIELD units of the grid
_FINEST = 32
_HALF, _BLOCK = 24, 1 << 15

Integers = NDArray[np.int64]


@frozen
class Rounding:
    """How coordinates are rounded. `text` is how specs write it."""

    text = ""
    is_random = True

    def squared_bound(self, bound: Fraction, size: int) -> int:
        """No integer vector that is sent has a larger squared norm, of `size` coordinates.

        bound: on the norm of the vector that is rounded.
        """
        with working_precision(START + 4 * size.bit_length()):
            return _floor(self._squared(ball(bound), arb(size)))

    def log_acceptance(self) -> float:
        """What log P(the first try is accepted) is at least, rounded down."""
        return 0.0

    def __call__(
        self, values: Integers, fraction: int, squared_bound: int, bits: RandomBits
    ) -> Integers:
        """Round the vector values 2^-fraction; the squared norm is at most `squared_bound`."""
        rounded = self._rounded(values, fraction, bits)
        if squared_norm(rounded) > squared_bound:
            raise AssertionError("a rounded vector is longer than was proved")
        return rounded

    def _squared(self, bound: arb, size: arb) -> arb:
        return (bound + size.sqrt()) ** 2

    def _rounded(self, values: Integers, fraction: int, bits: RandomBits) -> Integers:
        """Up with probability exactly the fraction: where u < n mod 2^f, u of f fair bits."""
        if fraction == 0:
            return values
        parts = (values & ((1 << fraction) - 1)).astype(np.uint64)
        up = uniform_words(len(values), fraction, bits) < parts
        return (values >> fraction) + up


@frozen
class Stochastic(Rounding):
    """Once, without bias: what is sent has the law of y rounded at random.

    >>> str(Stochastic())
    'Stochastic()'
    """

    text = "stochastic"


@frozen
class Conditional(Rounding):
    """Until the norm is within the bound that is missed with probability at most beta.

    beta: above 0 and below 1.

    >>> str(Conditional("0.6"))
    "Conditional(beta='0.6')"
    """

    beta: Fraction

    @property
    def text(self) -> str:  # type: ignore[override]
        return f"conditional:{decimal_text(self.beta)}"

    def log_acceptance(self) -> float:
        with working_precision(START):
            twice = -2 * ball(self.beta).log()
            accepted = ball(1 - self.beta).max(twice / (1 + twice))
            return math.nextafter(float(accepted.log().lower()), -math.inf)

    def __call__(
        self, values: Integers, fraction: int, squared_bound: int, bits: RandomBits
    ) -> Integers:
        # each try ends it with probability 1 - beta at least, whatever the vector within its bound
        while squared_norm(rounded := self._rounded(values, fraction, bits)) > squared_bound:
            pass
        return rounded

    def _squared(self, bound: arb, size: arb) -> arb:
        spread = bound + size.sqrt() / 2
        likely = bound**2 + size / 4 + (-2 * ball(self.beta).log()).sqrt() * spread
        return likely.min(super()._squared(bound, size))


@frozen
class Nearest(Rounding):
    """To the nearest integer, halves up.

    >>> str(Nearest())
    'Nearest()'
    """

    text = "nearest"
    is_random = False

    def _squared(self, bound: arb, size: arb) -> arb:
        return (bound + size.sqrt() / 2).min(2 * bound) ** 2

    def _rounded(self, values: Integers, fraction: int, bits: RandomBits) -> Integers:
        return values if fraction == 0 else (values + (1 << (fraction - 1))) >> fraction


def read_rounding(given: Rounding | str | ExactInput) -> Rounding:
    """Read `stochastic`, `conditional:beta` with 0 < beta < 1, or `nearest`."""
    if isinstance(given, Rounding):
        return given
    name, _, beta = str(given).partition(":")
    if name == "conditional" and beta:
        return Conditional(exact(beta, "rounding=conditional", above=0, below=1))
    for kind in (Stochastic(), Nearest()):
        if given == kind.text:
            return kind
    raise ParameterError(
        f"rounding must be stochastic, conditional:beta with 0 < beta < 1, or nearest, got {given}"
    )


def _floor(value: arb) -> int:
    """The floor of the upper end: no integer between it and the value is left out."""
    found = value.upper().floor().unique_fmpz()
    if found is None:
        raise ParameterError("clip times scale is too large: a norm bound is not known to a unit")
    return int(found)


def fraction_bits(bound: Fraction) -> int:
    """f, the binary digits after the point of a grid for vectors of norm at most `bound`.

    As many as keep the bound below 2^FIELD units, at most 32; negative where there is no grid.
    """
    return min(_FINEST, FIELD - math.ceil(bound).bit_length())


def squared_norm(values: Integers) -> int:
    """The sum of squares, exactly, of integers below 2^47 in size.

    |n| = 2^24 h + l with h < 2^23 and l < 2^24: each product is below 2^48, and sums of at most
    2^15 of them below 2^63; Python's integers add up these sums.
    """
    sizes = np.abs(values)
    high, low = sizes >> _HALF, sizes & ((1 << _HALF) - 1)
    hh, hl, ll = (_exact_sum(a * b) for a, b in ((high, high), (high, low), (low, low)))
    return (hh << (2 * _HALF)) + (hl << (_HALF + 1)) + ll


def on_grid(values: NDArray[np.float64], bound: Fraction, fraction: int) -> Integers:
    """Integers n with n 2^-fraction close to the values, and |n 2^-fraction| <= bound exactly.

    Rounded towards 0, and made shorter where the exact norm is above the bound: in floats by the
    ratio of the norms and a little more, towards 0 again. Each time the norm falls by a relative
    2^-40 at least, which is more than the ratio's rounding can hide, so that it ends.
    """
    limit = math.floor(bound**2 * 4**fraction)  # integers: |n|^2 <= this if and only if it holds
    # coordinates beyond the bound are cut off first, so that they fit: what is left out is only
    # length that is too much
    most = float(2 ** (FIELD + 1) - 1)
    found: Integers = np.trunc(np.clip(np.ldexp(values, fraction), -most, most)).astype(np.int64)
    while (norm := squared_norm(found)) > limit:
        shorter = math.sqrt(limit / norm) * (1 - 2.0**-40)
        found = np.trunc(found * shorter).astype(np.int64)
    return found


def _exact_sum(values: Integers) -> int:
    starts = np.arange(0, len(values), _BLOCK)
    return sum(np.add.reduceat(values, starts).tolist()) if len(values) else 0
