"""What a shift of wide noise costs at least: as if only the bin of the outcome were seen.

Telling bins of outcomes instead of outcomes is post-processing, so that no divergence is larger
than before. Noise of standard deviation sigma moved by d has about the loss of Gaussian noise,
which is linear in the outcome: bins of width w sigma forget about w^2/12 of its information, and
with it w^2/24 of what it costs, instead of outcomes by the million.

For a symmetric law, P(X >= 1 - k) = 1 - P(X >= k): with the edges mirrored, e to d + 1 - e, the
masses of the moved law are those of the other in reverse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise

from flint import arb

from ...exact.precision import enclose, working_precision
from ...mechanisms.laws.law import Law
from ...mechanisms.pair import FinitePair

_BITS = 256
_SLACK = Fraction(1, 10**40)  # of a column: masses are known to much less
_DIGITS = 10**50
_PER_DEVIATION = 6
_REACH = 10  # standard deviations
_MOST_SUMMED = 10**6  # outcomes whose masses are summed; tails of wider laws are integrals
_NEGLIGIBLE = 1e-48  # mass of a tail that is not looked at


@lru_cache(maxsize=64)
def binned(law: Law, shift: int, modulus: int | None = None) -> FinitePair:
    """X + shift against X, of a symmetric law, seen by bins of a sixth of a standard deviation.

    modulus: where the outcome is reduced, its bins are those of the residues around 0.
    """
    deviation = math.isqrt(math.floor(Fraction(law.moments().variance.upper)))
    reach = _REACH * deviation
    if modulus is not None:
        reach = min(reach, (modulus - 2) // 2)
    step = max(1, deviation // _PER_DEVIATION)
    first, far = -(-(shift + 1) // 2), _REACH * deviation
    above = range(first, first + reach + (shift & 1), step)
    edges = sorted({*above, *(shift + 1 - edge for edge in above)})
    with working_precision(_BITS):
        while not law.upper_tail(far) < _NEGLIGIBLE:
            far *= 2
        tail = _tails(law, far)
        if modulus is None:
            ends = [tail(edge) for edge in edges]
            masses = [1 - ends[0], *_differences(ends), ends[-1]]
        else:
            masses = _wrapped(tail, edges, modulus, far)
        q = [_rounded(mass) for mass in masses]
    # the bin opposite to the others on the circle is its own mirror image
    p = q[::-1] if modulus is None else [*q[-2::-1], q[-1]]
    return FinitePair(map(str, range(len(q))), p, q, _SLACK)


def _wrapped(tail: Callable[[int], arb], edges: Sequence[int], modulus: int, far: int) -> list[arb]:
    """The masses between these edges on a circle; from the last one on round to the first."""
    round_trip = [*edges, edges[0] + modulus]
    total, most = [arb(0)] * len(edges), -(-far // modulus) + 1
    for turn in range(-most, most + 1):
        tails = [tail(edge + turn * modulus) for edge in round_trip]
        total = [mass + more for mass, more in zip(total, _differences(tails), strict=True)]
    missing = 2 * tail(far)  # beyond all turns, which reach that far
    return [mass.union(mass + missing) for mass in total]


def _differences(tails: Sequence[arb]) -> list[arb]:
    return [high - low for high, low in pairwise(tails)]


def _tails(law: Law, far: int) -> Callable[[int], arb]:
    """P(X >= k) at every k, roughly beyond `far`, where next to nothing is left."""
    rest = law.upper_tail(far)
    beyond = arb(0).union(rest)
    sums: list[arb] = []  # from `far` down to 1
    if far <= _MOST_SUMMED:
        sums = list(accumulate(reversed(law.balls(1, far - 1)), initial=rest))

    def tail(edge: int) -> arb:
        if abs(edge) > far:
            return beyond if edge > 0 else 1 - beyond
        if edge < 1:
            return 1 - tail(1 - edge)
        return sums[far - edge] if sums else law.upper_tail(edge)

    return tail


def _rounded(mass: arb) -> Fraction:
    """A mass, off by less than its share of the slack. Raises ArithmeticError where it is more."""
    found = enclose(mass)
    low, high = max(Fraction(found.lower), Fraction(0)), max(Fraction(found.upper), Fraction(0))
    if high - low > _SLACK / 10**6:
        raise ArithmeticError("a tail is not known well enough to be binned")
    return Fraction(math.floor(low * _DIGITS), _DIGITS)
