"""Probabilities of every law in plain mpmath, written without the library: what tests hold it to.

Each function works at mpmath's current precision and sums or multiplies the definition out. Below
them, the assertions that soundness tests are made of: the truth is inside, and inside is narrow.
"""

from collections.abc import Callable
from fractions import Fraction

import mpmath
from flint import arb
from mpmath import mpf

from exactdp import Enclosure
from exactdp.exact.number import Formula
from exactdp.exact.precision import working_precision

Pmf = Callable[[int], mpf]


def real(value: Fraction | int | str) -> mpf:
    """An exact number at the current precision."""
    number = Fraction(value)
    return mpf(number.numerator) / number.denominator


def known(formula: Formula) -> mpf:
    """A number that is known by its formula, at the current precision."""
    with working_precision(mpmath.mp.prec + 32):
        return mpf(formula.ball().mid().str(mpmath.mp.dps + 5, radius=False))


def discrete_gaussian(sigma2: Fraction | int | str) -> Pmf:
    """e^(-x^2/(2 sigma2)), normalised by its own sum."""
    s2 = real(sigma2)
    reach = int(mpmath.sqrt(2 * s2 * mpmath.mp.prec)) + 2
    total = mpmath.fsum(mpmath.exp(-mpf(k * k) / (2 * s2)) for k in range(-reach, reach + 1))
    return lambda x: mpmath.exp(-mpf(x * x) / (2 * s2)) / total


def skellam(variance: Fraction | int | str) -> Pmf:
    """The product sum of two Poisson laws of mean variance/2."""
    rate = real(variance) / 2

    def pmf(x: int) -> mpf:
        k = abs(x)
        term, total, j = rate**k / mpmath.factorial(k), mpf(0), 0
        while j * j <= rate * rate or term > total * mpf(2) ** -mpmath.mp.prec:
            total += term
            j += 1
            term *= rate * rate / (j * mpf(j + k))
        return mpmath.exp(-2 * rate) * total

    return pmf


def discrete_laplace(scale: Fraction | int | str) -> Pmf:
    """(e^(1/b) - 1)/(e^(1/b) + 1) e^(-|x|/b)."""
    b = real(scale)
    front = (mpmath.exp(1 / b) - 1) / (mpmath.exp(1 / b) + 1)
    return lambda x: front * mpmath.exp(-abs(x) / b)


def polya(shape: Fraction | int | str, scale: Fraction | int | str) -> Pmf:
    """Gamma(x+r)/(x! Gamma(r)) beta^x (1-beta)^r."""
    r, beta = real(shape), mpmath.exp(-1 / real(scale))

    def pmf(x: int) -> mpf:
        if x < 0:
            return mpf(0)
        return mpmath.rf(r, x) / mpmath.factorial(x) * beta**x * (1 - beta) ** r

    return pmf


def polya_difference(shape: Fraction | int | str, scale: Fraction | int | str) -> Pmf:
    """sum_j p(j + |x|) p(j), p the Pólya law."""
    r, beta = real(shape), mpmath.exp(-1 / real(scale))

    def pmf(x: int) -> mpf:
        k = abs(x)
        term = mpmath.rf(r, k) / mpmath.factorial(k) * beta**k
        total, j = mpf(0), 0
        # the factor of the next step is below beta^2 max(1, (j+r)/(j+1))^2 and tends to beta^2
        while term > total * mpf(2) ** -mpmath.mp.prec * (1 - beta) or j < r:
            total += term
            term *= (r + j) * (r + k + j) / ((j + 1) * mpf(k + j + 1)) * beta**2
            j += 1
        return (1 - beta) ** (2 * r) * total

    return pmf


def binomial(trials: int, probability: Fraction | int | str) -> Pmf:
    """C(n, x) q^x (1-q)^(n-x)."""
    q = real(probability)

    def pmf(x: int) -> mpf:
        if not 0 <= x <= trials:
            return mpf(0)
        logs = mpmath.loggamma(trials + 1) - mpmath.loggamma(x + 1)
        logs -= mpmath.loggamma(trials - x + 1)
        return mpmath.exp(logs + x * mpmath.log(q) + (trials - x) * mpmath.log1p(-q))

    return pmf


def convolution(pmf: Pmf, count: int, reach: int) -> dict[int, mpf]:
    """The law of a sum of `count` copies, each cut off outside [-reach, reach]."""
    one = {x: pmf(x) for x in range(-reach, reach + 1)}
    total = {0: mpf(1)}
    for _ in range(count):
        fresh: dict[int, mpf] = {}
        for x, p in total.items():
            for y, q in one.items():
                fresh[x + y] = fresh.get(x + y, mpf(0)) + p * q
        total = fresh
    return total


def tail(pmf: Pmf, t: int, reach: int) -> mpf:
    """P(X >= t), summed up to `reach`."""
    return mpmath.fsum(pmf(x) for x in range(t, reach + 1))


def exactly(value: mpf) -> Fraction:
    """The rational that an mpf is."""
    sign, mantissa, exponent, _ = value._mpf_
    number = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -number if sign else number


def assert_holds(found: Enclosure, truth: mpf, relative: float = 1e-11) -> None:
    """`found` contains the truth, itself known to 30 digits, and is narrow."""
    value = exactly(truth)
    slack = abs(value) / 10**30
    lower, upper = Fraction(found.lower), Fraction(found.upper)
    assert lower - slack <= value <= upper + slack, (str(found), truth)
    assert upper - lower <= Fraction(relative) * abs(value), (str(found), truth)


def assert_meet(one: Enclosure, other: Enclosure) -> None:
    """Both may be enclosures of the same number."""
    assert one.lower <= other.upper and other.lower <= one.upper, (str(one), str(other))


def assert_ball_holds(
    found: arb, truth: mpf, relative: float = 1e-11, absolute: float = 0.0
) -> None:
    """The same for a ball; `absolute` is allowed on top, for sums that cancel."""
    middle, radius, size = mpf(found.mid()), mpf(found.rad()), abs(truth)
    assert abs(middle - truth) <= radius + size * mpf(10) ** -30 + absolute, (found, truth)
    assert radius <= relative * size + absolute, (found, truth)


def least_type_2(p, q, alpha):
    """Neyman and Pearson's type II error of a test of p against q, at this type I error: exact.

    Outcomes are rejected in the order of falling q/p, the last one by chance.
    """
    left, missed = alpha, Fraction(1)
    ratios = [(b / a if a else None, a, b) for a, b in zip(p, q, strict=True) if a or b]
    for ratio, a, b in sorted(ratios, key=lambda each: (each[0] is not None, -(each[0] or 0))):
        share = Fraction(1) if ratio is None or a <= left else left / a
        left, missed = left - share * a, missed - share * b
    return missed
