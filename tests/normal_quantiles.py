"""t(k) = Phibar^-1(P(X >= k)) by direct sums and bisection in mpmath, without the library."""

from collections.abc import Callable

import mpmath
from mpmath import mpf


def upper(x: mpf) -> mpf:
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def quantile(tail: mpf) -> mpf:
    """By Newton's method for log Phibar, which is concave: from the left it never overshoots."""
    if tail > mpf(1) / 2:
        return -quantile(1 - tail)
    x, target = mpf(0), mpmath.log(tail)
    for _ in range(200):
        value = upper(x)
        step = (mpmath.log(value) - target) * value / mpmath.npdf(x)
        x += step
        if abs(step) <= abs(x) * mpf(10) ** (5 - mpmath.mp.dps):
            break
    return x


def quantiles(pmf: Callable[[int], mpf], last: int, reach: int) -> dict[int, mpf]:
    """t(1), ..., t(last) of a symmetric law, and t(1 - k) = -t(k)."""
    tail, found = mpf(0), {}
    for k in range(reach, 0, -1):
        tail += pmf(k)
        if k <= last:
            found[k] = quantile(tail)
            found[1 - k] = -found[k]
    return found


def steps(pmf: Callable[[int], mpf], last: int, reach: int) -> list[mpf]:
    """a(0), ..., a(last - 1), a(k) = t(k+1) - t(k)."""
    t = quantiles(pmf, last, reach)
    return [t[k + 1] - t[k] for k in range(last)]
