"""Point and tail probabilities of a law on the integers by certified contour integration.

Let M(z) = E e^(zX), analytic in a strip s0 < Re z < s1 around 0. By Cauchy's formula, for any
s in the strip,

    P(X = t)  =  (1/2 pi i) int_{s-i pi}^{s+i pi} M(z) e^(-tz) dz,
    P(X >= t) =  (1/2 pi i) int_{s-i pi}^{s+i pi} M(z) e^(-tz) / (1 - e^(-z)) dz      for s > 0,
    P(X <= t) = -(1/2 pi i) int_{s-i pi}^{s+i pi} M(z) e^(-(t+1)z) / (1 - e^(-z)) dz  for s < 0

(sum the geometric series under the integral; it converges uniformly on the line). M is real on
the real axis, so the upper half of the path carries everything: twice its real part. The path may
be any that starts on the real axis at s, ends on the line Im z = pi and stays where M is analytic.
At the saddle point of M(z) e^(-tz) the integrand hardly oscillates, so the relative error stays
small however far out t lies, and the cost does not grow with the variance.

The quadrature is FLINT's `acb.integral`, which returns an enclosure of the integral.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypeAlias

from flint import acb, arb, ctx

from .budget import OutOfTimeError, spend
from .precision import working_precision

_POINT = 40  # units, about, that a value of the integrand takes
_Kernel: TypeAlias = Callable[[acb], acb]


class Transformed(Protocol):
    """A law as this module sees it."""

    def transform(self, z: acb, analytic: bool) -> tuple[acb, acb]:
        """(K, F) with M(z) = e^K F for all z in the ball.

        e^K is what is large, F what may have zeros; K is the same analytic function everywhere, up
        to multiples of 2 pi i. The flag asks for a non-finite answer where M is not analytic on
        the ball.
        """
        ...

    def slope(self, z: acb) -> acb | None:
        """K'(z), non-finite where it is not analytic on the ball; None where it is not known."""
        ...


def probability(law: Transformed, t: int, path: Sequence[acb]) -> arb:
    """Enclose P(X = t). path: corners from the real axis to the line Im z = pi."""
    return _inverted(law, t, path, lambda z: acb(1))


def upper_tail(law: Transformed, t: int, path: Sequence[acb]) -> arb:
    """Enclose P(X >= t); the path keeps to the right of 0."""
    return _inverted(law, t, path, lambda z: 1 / (1 - (-z).exp()))


def lower_tail(law: Transformed, t: int, path: Sequence[acb]) -> arb:
    """Enclose P(X <= t); the path keeps to the left of 0."""
    return _inverted(law, t + 1, path, lambda z: 1 / ((-z).exp() - 1))


def _inverted(law: Transformed, t: int, path: Sequence[acb], kernel: _Kernel) -> arb:
    bits = ctx.prec
    # K(z) - tz may cancel: room for the size of t, twice because cosh(z) - 1 cancels as well.
    with working_precision(bits + 2 * max(16, abs(t).bit_length()) + 24):
        start = acb(path[0])
        exponent, factor = _tilted(law, t, start, False)
        peak = exponent.real
        scale = peak.exp() * (factor * kernel(start)).real
        # On the real axis M > 0, so K is real there; both kernels are positive on their own side
        # of 0 only. A start outside the strip, or on the wrong side of 0, does not get through.
        if not (scale > 0 and scale.is_finite() and exponent.imag.contains(0)):
            raise ArithmeticError(f"the path starts at {start}, outside the distribution's domain")
        middle = peak.mid()
        ended: BaseException | None = None  # must not cross C code

        def integrand(z: acb, analytic: bool) -> acb:
            nonlocal ended
            if ended is None:
                try:
                    spend(_POINT)
                    exponent, factor = _tilted(law, t, z, analytic)
                    return (exponent - middle).exp() * factor * kernel(z) / weight
                except (OutOfTimeError, KeyboardInterrupt, SystemExit) as error:
                    ended = error
            return acb(0)  # ends the integral, where NaN would be bisected up to FLINT's limit

        weight = (factor * kernel(start)).real.mid()
        tolerance = arb(2) ** -(bits + 8)
        total = acb(0)
        for here, there in pairwise(path):
            part = acb.integral(integrand, here, there, rel_tol=tolerance, abs_tol=tolerance)
            if ended is not None:  # then it is no integral
                raise ended
            total += part
        result = total.imag / arb.pi() * middle.exp() * weight
    return +result


def _tilted(law: Transformed, t: int, z: acb, analytic: bool) -> tuple[acb, acb]:
    """(K(z) - tz, F(z)), narrow also where K' is near t and the ball is wide.

    A ball is convex, so K(z) - tz lies in K(c) - tc + (K' - t)(z - c) with c its centre and K'
    enclosed over the ball: where that is finite, K is analytic on the whole ball (continued from
    c, should a cut of the logarithm cross it).
    """
    exponent, factor = law.transform(z, analytic)
    centre = z.mid()
    offset = z - centre
    if offset.abs_upper() > arb(2) ** -(ctx.prec // 2):
        slope = law.slope(z)
        if slope is not None and slope.is_finite():
            at_centre, _ = law.transform(centre, analytic)
            return at_centre - t * centre + (slope - t) * offset, factor
    return exponent - t * z, factor
