"""A stretch of a lattice law's probabilities by one discrete Fourier transform."""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import acb, arb, ctx

from ...exact.budget import spend
from ...exact.precision import working_precision

_LONGEST = 1 << 20  # of a transform: some hundreds of megabytes


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
