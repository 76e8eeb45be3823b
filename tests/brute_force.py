"""Divergences by summing everything at 60 digits, from the oracles' PMFs: no library code."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath
from mpmath import mpf

DIGITS = 60
mpmath.mp.dps = DIGITS  # also for literals and PMFs that test modules build beforehand
Listed = Sequence[tuple[mpf, mpf]]


def shifted(pmf: Callable[[int], mpf], shift: int, reach: int) -> Listed:
    """(p(x), p(x - shift)) for |x| <= reach."""
    with mpmath.workdps(DIGITS):
        values = {x: pmf(x) for x in range(-reach - shift, reach + 1)}
        return [(values[x], values[x - shift]) for x in range(-reach, reach + 1)]


def wrapped(pmf: Callable[[int], mpf], shift: int, modulus: int, reach: int) -> Listed:
    """The same two laws mod `modulus`."""
    with mpmath.workdps(DIGITS):
        residues = [mpf(0)] * modulus
        for x in range(-reach, reach + 1):
            residues[x % modulus] += pmf(x)
        return [(residues[x], residues[(x - shift) % modulus]) for x in range(modulus)]


def renyi(pair: Listed, order: Fraction | int | str) -> mpf:
    with mpmath.workdps(DIGITS):
        a = mpf(Fraction(order).numerator) / Fraction(order).denominator
        return mpmath.log(mpmath.fsum(p**a * q ** (1 - a) for p, q in pair if p)) / (a - 1)


def delta(pair: Listed, level: mpf) -> mpf:
    with mpmath.workdps(DIGITS):
        odds = mpmath.exp(level)
        return mpmath.fsum(max(p - odds * q, mpf(0)) for p, q in pair)


def epsilon(pair: Listed, target: Fraction | str) -> mpf:
    """Exactly: over events of the largest ratios, the largest log((P - delta)/Q)."""
    with mpmath.workdps(DIGITS):
        goal = mpf(Fraction(target).numerator) / Fraction(target).denominator
        best, p_mass, q_mass = mpf(0), mpf(0), mpf(0)
        for p, q in sorted(pair, key=lambda each: each[1] / each[0] if each[0] else mpmath.inf):
            p_mass, q_mass = p_mass + p, q_mass + q
            if p_mass > goal and q_mass:
                best = max(best, mpmath.log((p_mass - goal) / q_mass))
        return best


def pure(pair: Listed) -> mpf:
    with mpmath.workdps(DIGITS):
        return max(mpmath.log(p / q) for p, q in pair if p)
