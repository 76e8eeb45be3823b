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

The quadrature is FLINT's `acb.integral`, which returns an enclosure of the integral; or, on
vertical paths where |M(s + i theta)| falls in theta on [0, pi], so that few values are enough, the
trapezoidal rule. All three integrands, without e^(-tz), are f(z) = sum over n of a(n) e^(zn), with
a(n) = P(X = n), P(X >= n) or P(X < n). So the rule with N points on the segment from s - i pi to
s + i pi gives, exactly,

    (1/N) sum over j of f(z_j) e^(-tz_j)  =  a(t) + sum over k != 0 of a(t + kN) e^(skN),

and since 0 <= a(n) <= M(r) e^(-rn) (Chernoff: for all r, r >= 0, r <= 0 in turn), what is too much
is, for every u > 0 with s - u and s + u in the domain and on the side that is asked, between 0 and

    (M(s+u) e^(-(s+u)t) + M(s-u) e^(-(s-u)t)) e^(-uN)/(1 - e^(-uN)).

1/|1 - e^(-z)| and 1/|e^(-z) - 1| fall in theta as well: the values that are left out, beyond some
theta, are no larger than the last one taken.

*A stretch* of a law's probabilities takes one discrete Fourier transform of such values
(`transformed`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypeAlias

from flint import acb, arb, ctx

from ...exact.budget import OutOfTimeError, spend
from ...exact.precision import working_precision

_POINT = 40  # units, about, that a value of the integrand takes
_MOST = 400  # values on a line: the integral costs no more
_HALVED = 8  # how often u is halved to get into the domain
_Kernel: TypeAlias = Callable[[acb], acb]
_LONGEST = 1 << 20  # of a transform: some hundreds of megabytes


class Transformed(Protocol):
    """A law as this module sees it: see `Law`.

    e^K is what is large, F what may have zeros; K is the same analytic function everywhere, up to
    multiples of 2 pi i. The flag asks for a non-finite answer where M is not analytic on the ball.
    """

    def transform(self, z: acb, analytic: bool) -> tuple[acb, acb]: ...
    def slope(self, z: acb) -> acb | None: ...
    @property
    def falls_off_axis(self) -> bool: ...
    @property
    def lost_bits(self) -> int: ...


def probability(law: Transformed, t: int, path: Sequence[acb]) -> arb:
    """Enclose P(X = t). path: corners from the real axis to the line Im z = pi."""
    return _inverted(law, t, path, lambda z: acb(1), 0)


def upper_tail(law: Transformed, t: int, path: Sequence[acb]) -> arb:
    """Enclose P(X >= t); the path keeps to the right of 0."""
    return _inverted(law, t, path, lambda z: 1 / (1 - (-z).exp()), 1)


def lower_tail(law: Transformed, t: int, path: Sequence[acb]) -> arb:
    """Enclose P(X <= t); the path keeps to the left of 0."""
    return _inverted(law, t + 1, path, lambda z: 1 / ((-z).exp() - 1), -1)


def _inverted(law: Transformed, t: int, path: Sequence[acb], kernel: _Kernel, side: int) -> arb:
    bits = ctx.prec
    # K(z) - tz may cancel: room for the size of t, twice because cosh(z) - 1 cancels as well.
    size = max(16, abs(t).bit_length(), law.lost_bits)
    with working_precision(bits + 2 * size + 24):
        start = acb(path[0])
        # both kernels are positive on their own side of 0 only: a start on the other one, or
        # outside the strip, does not get through
        scale = _on_axis(law, t, start.real) * kernel(start).real
        if not (scale > 0 and scale.is_finite()):
            raise ArithmeticError(f"the path starts at {start}, outside the distribution's domain")
        found = None
        if law.falls_off_axis and (path[-1].real - start.real).is_zero():
            found = _by_rule(law, t, start.real, scale, kernel, side, bits)
        return +(_by_integral(law, t, path, kernel, bits) if found is None else found)


def _on_axis(law: Transformed, t: int, s: arb) -> arb:
    """M(s) e^(-st); not a number outside the domain: inside, M > 0 and K is real."""
    exponent, factor = _tilted(law, t, acb(s), False)
    return exponent.real.exp() * factor.real if exponent.imag.contains(0) else arb.nan()


def _by_rule(
    law: Transformed, t: int, s: arb, first: arb, kernel: _Kernel, side: int, bits: int
) -> arb | None:
    """By values on the vertical line through s; None where too many are needed.

    first: the one at s. What floats choose here (u, N, how many values) moves the width alone.
    """
    slope, beside = law.slope(acb(s)), law.slope(acb(s + arb(2) ** -32))
    if slope is None or beside is None:
        return None
    variance = float(((beside - slope) * 2**32).real.mid())  # of the tilted law, about
    if not 0 < variance < math.inf:
        return None
    spread = math.sqrt(variance)
    nats = 0.7 * (bits + 16) + math.log1p(spread)  # e^-nats is negligible
    u = arb(math.sqrt(2 * nats) / spread)
    if side:
        u = u.min(abs(s.mid()) / 2).mid()
    for _ in range(_HALVED):
        ends = _on_axis(law, t, s + u) + _on_axis(law, t, s - u)
        if ends > 0 and ends.is_finite():
            break
        u /= 2  # s + u or s - u was outside the domain
    else:
        return None
    count = math.ceil((nats + float((ends / first).log().mid())) / float(u)) | 1
    total, taken, last = first, 1, first.upper()
    while taken < count and count * last > first * arb(2) ** -(bits + 16):
        if taken > _MOST:
            return None
        spend(_POINT)
        z = acb(s, arb.pi() * (taken + 1) / count)
        exponent, factor = _tilted(law, t, z, False)
        value = exponent.exp() * factor * kernel(z)
        total, taken, last = total + 2 * value.real, taken + 2, value.abs_upper()
    beyond = (-u * count).exp()
    aliases = ends * beyond / (1 - beyond)
    found = (total + arb(0, ((count - taken) * last).upper())) / count - arb(0).union(aliases)
    return found if found.rel_accuracy_bits() >= bits else None


def _by_integral(law: Transformed, t: int, path: Sequence[acb], kernel: _Kernel, bits: int) -> arb:
    """By FLINT's quadrature along the path."""
    start = path[0]
    peak, factor = _tilted(law, t, start, False)
    middle, weight = peak.real.mid(), (factor * kernel(start)).real.mid()
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

    tolerance = arb(2) ** -(bits + 8)
    total = acb(0)
    for here, there in pairwise(path):
        part = acb.integral(integrand, here, there, rel_tol=tolerance, abs_tol=tolerance)
        if ended is not None:  # then it is no integral
            raise ended
        total += part
    return total.imag / arb.pi() * middle.exp() * weight


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


def any_log(w: acb) -> acb:
    """Some logarithm of w: e^(n any_log(w)) encloses w^n for whole n, on whatever branch it is.

    On balls where w may vanish |w^n| <= e^(n log|w|): an exponent whose imaginary part covers a
    full turn encloses the whole disc.
    """
    if w.contains(0):
        return acb(arb(w.abs_upper()).log(), arb(0, 4))
    return (-w).log() + acb(0, arb.pi()) if w.real < 0 else w.log()


def vertical_path(saddle: float, side: int, spread: float) -> Sequence[acb]:
    """The segment from s to s + i pi, s the saddle point kept clear of 0 on the asked side.

    spread: about the standard deviation. The integrand of a tail has a pole at 0; a distance of
    3/spread keeps it harmless. The choice moves the cost, never the value (Cauchy).
    """
    clearance = min(1.0, 3 / spread)
    start = saddle if side == 0 else side * max(side * saddle, clearance)
    return [acb(arb(start)), acb(arb(start), arb.pi())]


def transformed(
    log_transform: Callable[[acb], acb],
    tilt: Callable[[float], tuple[float, float]],
    low: int,
    high: int,
) -> list[arb]:
    """Enclose p(low), ..., p(high) of a law whose |M(s + i theta)| falls in theta on [0, pi].

    log_transform: log M, M(z) = E e^(zX), up to multiples of 2 pi i. tilt: for a mean, the s for
    which the law tilted by e^(sx) has it, about, and its deviation then.

    With q(x) = p(x) e^(sx)/M(s), the law tilted so that the window's centre is its mean,
    (1/N) sum_j M(s + 2 pi i j/N)/M(s) e^(-2 pi i j x/N) = q(x) + sum over m != 0 of q(x + mN).
    The aliases lie outside (high - N, low + N): Chernoff's bound at both ends covers them.
    The coefficients that are left out are bounded by the last one computed, since |M| falls.
    Raises ArithmeticError for a law so wide that the transform would not fit into memory.
    """
    bits = ctx.prec
    tilted, deviation = tilt((low + high) / 2)
    saddle = arb(tilted)  # exact from here on
    # q is at least about e^(-width^2/2)/deviation at the ends
    width = (high - low) / 2 / deviation + 1
    needed = bits + 16 + int(0.75 * width**2) + int(deviation).bit_length()
    size = 1 << (high - low + int(deviation * math.sqrt(1.4 * needed))).bit_length()

    def beyond(y: int) -> arb:  # Chernoff's bound of the tilted law's mass from y outward
        there = arb(tilt(y)[0])
        return (log_transform(acb(there)).real - start - (there - saddle) * y).exp()

    with working_precision(needed + 2 * high.bit_length() + 2 * size.bit_length()):
        start = log_transform(acb(saddle)).real
        while size <= _LONGEST:
            if (alias := beyond(low + size) + beyond(high - size)) <= arb(2) ** -needed:
                break
            size *= 2
        else:
            raise ArithmeticError(f"noise so wide needs a transform of {size} points: > {_LONGEST}")
        aliases = arb(0).union(alias)
        coefficients, bound = [acb(1)], arb(1)
        while bound > arb(2) ** -needed and 2 * len(coefficients) < size:
            spend()
            z = acb(saddle, 2 * arb.pi() * len(coefficients) / size)
            coefficients.append((log_transform(z) - start).exp())
            bound = arb(coefficients[-1].abs_upper())
        # c_-j is conjugate to c_j, and all other coefficients are at most the bound
        mirrored = [value.conjugate() for value in coefficients[:0:-1]]
        other = acb(arb(0, bound), arb(0, bound))
        rest = [other] * (size - len(coefficients) - len(mirrored))
        sums = acb.dft(coefficients + rest + mirrored)
        result = [
            (sums[x % size].real / size - aliases) * (start - saddle * x).exp()
            for x in range(low, high + 1)
        ]
    return [+value for value in result]
