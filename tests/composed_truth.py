"""The privacy of compositions by plain sums at high precision: no library code.

Four ways, which check one another where they overlap:

    two points   K-fold randomized response: a sum of binomial probabilities
    lattice      K-fold power of a law of losses on a lattice, in fixed point (1e-420)
    outcomes     every combination of outcomes, met in the middle
    envelope     what an adversary who mixes pairs cannot exceed: the largest profile, composed

Parameters are Fractions, results mpf of some 60 digits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, chain, combinations_with_replacement
from math import floor, gcd

import mpmath
from brute_force import wrapped as wrapped
from mpmath import mpf

DIGITS = 90
BITS = 1400  # of fixed-point masses
Atoms = list[tuple[mpf, mpf]]  # (P, Q) of each outcome with P > 0
Profile = Callable[[Fraction], mpf]  # delta(level)


def real(value: Fraction | int | str) -> mpf:
    """A rational at DIGITS."""
    number = Fraction(value)
    with mpmath.workdps(DIGITS):
        return mpf(number.numerator) / number.denominator


def assert_level_holds(
    ends: tuple[Fraction, Fraction], delta: Fraction, low: Profile, high: Profile | None = None
) -> None:
    """The least level with delta(level) <= delta lies between these ends, of which 0 is the least.

    The true profile lies between `low` and `high`; without `high` it is `low`.
    """
    lower, upper = ends
    with mpmath.workdps(DIGITS):
        goal, hair = real(delta), mpf(10) ** -30
        assert lower == 0 or (high or low)(lower) >= goal * (1 - hair), (float(lower), float(delta))
        assert low(upper) <= goal * (1 + hair), (float(upper), float(delta))


# -- two points -----------------------------------------------------------------------------------


def two_points(epsilon: Fraction) -> Atoms:
    """Randomized response, and Laplace noise of sensitivity 1 with scale 1/epsilon."""
    with mpmath.workdps(DIGITS):
        odds = mpmath.exp(real(epsilon))
        return [(odds / (1 + odds), 1 / (1 + odds)), (1 / (1 + odds), odds / (1 + odds))]


def two_point_delta(epsilon: Fraction, times: int, level: Fraction) -> mpf:
    """The loss is (2j - K) epsilon, with j successes among K = times."""
    with mpmath.workdps(DIGITS):
        p, q = _two_point_event(epsilon, times, floor((level / epsilon + times) / 2) + 1)
        return p - mpmath.exp(real(level)) * q


def two_point_epsilon(epsilon: Fraction, times: int, delta: Fraction) -> mpf:
    """The level between two neighbouring losses where delta(level) = delta, in closed form."""
    low, high = times // 2, times  # delta is above its goal at the loss of low, not at high's
    if two_point_delta(epsilon, times, Fraction(0)) <= real(delta):
        return mpf(0)
    while high - low > 1:
        middle = (low + high) // 2
        above = two_point_delta(epsilon, times, (2 * middle - times) * epsilon) > real(delta)
        low, high = (middle, high) if above else (low, middle)
    with mpmath.workdps(DIGITS):
        p, q = _two_point_event(epsilon, times, high)
        return mpmath.log((p - real(delta)) / q)


def _two_point_event(epsilon: Fraction, times: int, first: int) -> tuple[mpf, mpf]:
    """P and Q of at least `first` successes."""
    (p, q), _ = two_points(epsilon)
    return _binomial_tail(times, first, p, q), _binomial_tail(times, first, q, p)


def _binomial_tail(trials: int, first: int, success: mpf, failure: mpf) -> mpf:
    if first <= 0:
        return mpf(1)
    if first > trials:
        return mpf(0)
    if first <= trials * success:
        return 1 - _binomial_tail(trials, trials - first + 1, failure, success)
    with mpmath.workdps(DIGITS + 20):
        logs = mpmath.loggamma(trials + 1) - mpmath.loggamma(first + 1)
        logs -= mpmath.loggamma(trials - first + 1)
        logs += first * mpmath.log(success) + (trials - first) * mpmath.log(failure)
        term, total, least = mpmath.exp(logs), mpf(0), mpf(10) ** -DIGITS
        for j in range(first, trials + 1):  # beyond the mean, so the terms fall
            total += term
            if term < total * least:
                break
            term *= (trials - j) * success / ((j + 1) * failure)
        return total


# -- lattice --------------------------------------------------------------------------------------


class LatticeLaw:
    """P(loss = lowest + k step) = masses[k]/2^BITS, k = 0, 1, ..."""

    def __init__(self, masses: Sequence[int], lowest: Fraction, step: Fraction) -> None:
        self.masses, self.lowest, self.step = list(masses), lowest, step

    def power(self, times: int) -> LatticeLaw:
        """The law of the sum of so many losses."""
        result, square, left = [1 << BITS], self.masses, times
        while left:
            if left & 1:
                result = _convolved(result, square)
            left >>= 1
            square = _convolved(square, square) if left else square
        return LatticeLaw(result, times * self.lowest, self.step)

    def plus(self, other: LatticeLaw) -> LatticeLaw:
        """The law of the sum of one loss each."""
        common = self.step.denominator * other.step.denominator
        step = Fraction(gcd(int(self.step * common), int(other.step * common)), common)
        a, b = (each._spread(int(each.step / step)) for each in (self, other))
        return LatticeLaw(_convolved(a, b), self.lowest + other.lowest, step)

    def _spread(self, factor: int) -> list[int]:
        """The masses on a lattice so many times finer."""
        return list(chain.from_iterable([mass] + [0] * (factor - 1) for mass in self.masses))

    def delta(self, level: Fraction) -> mpf:
        first = max(floor((level - self.lowest) / self.step) + 1, 0)
        with mpmath.workdps(DIGITS):
            factor = mpmath.exp(real(level - self.lowest - first * self.step))
            ratio, total = mpmath.exp(-real(self.step)), mpf(0)
            for mass in self.masses[first:]:
                total += mass * (1 - factor)
                factor *= ratio
            return total / mpf(2) ** BITS


def laplace_losses(scale: Fraction, shift: int) -> LatticeLaw:
    """Laplace noise: the loss is (shift - 2x)/scale for 0 <= x <= shift, constant beyond."""
    with mpmath.workdps(BITS // 3 + 20):
        beta = mpmath.exp(-mpf(scale.denominator) / scale.numerator)
        inner = [(1 - beta) / (1 + beta) * beta**x for x in range(1, shift)]
        masses = [1 / (1 + beta), *inner, beta**shift / (1 + beta)]
        fixed = [int(mpmath.floor(mass * mpf(2) ** BITS)) for mass in reversed(masses)]
    return LatticeLaw(fixed, -shift / scale, 2 / scale)


def gaussian_losses(sigma2: Fraction, shift: int) -> LatticeLaw:
    """Discrete Gaussian noise: the loss is shift (shift - 2x)/(2 sigma2)."""
    reach = int((2 * float(sigma2) * BITS) ** 0.5) + 2
    with mpmath.workdps(BITS // 3 + 20):
        rate = mpf(sigma2.denominator) / (2 * sigma2.numerator)
        weights = [mpmath.exp(-rate * x * x) for x in range(-reach, reach + 1)]
        total = mpmath.fsum(weights)
        fixed = [int(mpmath.floor(weight / total * mpf(2) ** BITS)) for weight in weights]
    return LatticeLaw(fixed, shift * (shift - 2 * reach) / (2 * sigma2), shift / sigma2)


def _convolved(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """The product of two polynomials, as one product of long integers."""
    cell = (2 * BITS + min(len(a), len(b)).bit_length() + 7) // 8
    packed = [
        int.from_bytes(b"".join(c.to_bytes(cell, "little") for c in poly), "little")
        for poly in (a, b)
    ]
    data = (packed[0] * packed[1]).to_bytes(cell * (len(a) + len(b)), "little")
    ends = range(0, cell * (len(a) + len(b) - 1), cell)
    return [int.from_bytes(data[end : end + cell], "little") >> BITS for end in ends]


# -- outcomes -------------------------------------------------------------------------------------


def of_shift(pmf: Callable[[int], mpf], shift: int, low: int, high: int) -> Atoms:
    """The outcomes low, ..., high of noise and of shifted noise."""
    with mpmath.workdps(DIGITS):
        mass = {x: pmf(x) for x in range(low - shift, high + 1)}
        return [(mass[x], mass[x - shift]) for x in range(low, high + 1) if mass[x]]


def product(*each: Atoms) -> Atoms:
    """All combinations of outcomes."""
    result: Atoms = [(mpf(1), mpf(1))]
    with mpmath.workdps(DIGITS):
        for atoms in each:
            result = [(p * r, q * s) for p, q in result for r, s in atoms if r]
    return result


def outcomes_delta(left: Atoms, right: Atoms, level: Fraction) -> mpf:
    """sum of (P - e^level Q)^+ over the combinations of one outcome from each side."""
    with mpmath.workdps(DIGITS):
        odds = mpmath.exp(real(level))
        order = sorted(((q / p, p, q) for p, q in right if p), key=lambda each: each[0])
        ratios = [ratio for ratio, _, _ in order]
        p_below = list(accumulate((p for _, p, _ in order), initial=mpf(0)))
        q_below = list(accumulate((q for _, _, q in order), initial=mpf(0)))
        total = mpf(0)
        for p, q in left:
            count = bisect_left(ratios, p / (odds * q)) if q else len(ratios)
            total += p * p_below[count] - odds * q * q_below[count]
        return total


# -- several pairs --------------------------------------------------------------------------------


def best_mixture(pairs: Sequence[Atoms], times: int, level: Fraction) -> mpf:
    """The largest delta over all ways to fix beforehand which pair is used how often."""
    half = times // 2
    return max(
        outcomes_delta(product(*chosen[:half]), product(*chosen[half:]), level)
        for chosen in combinations_with_replacement(pairs, times)
    )


def envelope(pairs: Sequence[Atoms]) -> Atoms:
    """The pair whose profile is the largest of theirs.

    A profile is the largest of the lines P(S) - gamma Q(S) over the threshold events S, so the
    largest profile is their upper envelope; neighbouring lines on it differ by one outcome.
    """
    with mpmath.workdps(DIGITS):
        lines = [(mpf(1), mpf(1))]
        for atoms in pairs:
            order = sorted(((q / p, p, q) for p, q in atoms if p), key=lambda each: each[0])
            p_below = accumulate((p for _, p, _ in order), initial=mpf(0))
            q_below = accumulate((q for _, _, q in order), initial=mpf(0))
            lines += zip(p_below, q_below, strict=True)
        hull: Atoms = []
        for p, q in sorted(lines, key=lambda line: (line[1], line[0])):
            if hull and hull[-1][1] == q:
                hull.pop()  # the same Q, and at least as much P
            if hull and p <= hull[-1][0]:
                continue
            while len(hull) > 1 and _covered(hull[-2], hull[-1], (p, q)):
                hull.pop()
            hull.append((p, q))
        steps = [
            (p - r, q - s) for (r, s), (p, q) in zip([(mpf(0), mpf(0)), *hull], hull, strict=False)
        ]
        return [(p, q) for p, q in steps if p > 0]


def _covered(first: tuple[mpf, mpf], middle: tuple[mpf, mpf], last: tuple[mpf, mpf]) -> bool:
    """Is the middle line nowhere above both others? (Rising in P and Q.)"""
    rise = (middle[0] - first[0]) * (last[1] - first[1])
    return bool(rise <= (last[0] - first[0]) * (middle[1] - first[1]))
