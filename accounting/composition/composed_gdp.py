"""mu of several mechanisms together: the root of the sum of their squares, and what is below it.

Each use is post-processing of N(mu_i, 1) against N(0, 1); independent ones turn into N(mu, 1)
against N(0, 1) with mu^2 = sum of mu_i^2, by a rotation (Dong, Roth, Su, "Gaussian differential
privacy", JRSS B 2022, Corollary 3.3; the worst pairs of adaptive uses are such a product, see
`composed`). Gaussian noise attains it, and so does sampled Gaussian noise, by its rho. What others
attain is bounded from below by any one of the uses, by rho and by the composed profile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

from ...exact import Enclosure
from ...exact.square_root import squared as exact_square
from ...mechanisms.continuous import Shape, continuous
from ..divergences.gaussian_dp import bounded_mu, root_of, squared
from ..scenario import Use, neighbours
from . import divergence


def _square(use: Use, mu: Enclosure) -> Enclosure:
    """mu^2 of one use; exactly of Gaussian noise, of which it is rational where mu is not."""
    noise = continuous(use.mechanism)
    if noise is None or noise.shape is not Shape.GAUSSIAN or noise.rate != 1:
        return squared(mu)
    return Enclosure.exactly(exact_square(noise.move))


def composed_gdp(
    uses: Sequence[Use],
    delta: Callable[[Fraction], Enclosure],
    pure: Callable[[], Enclosure],
    rho: Callable[[], Enclosure],
    width: Fraction,
    cap: int,
) -> Enclosure:
    """Enclose the least mu for which these uses together are mu-GDP.

    delta, pure, rho: of all of them together, where each use by itself does not tell.
    """
    neighbours(uses)
    each = [divergence.gaussian_dp(use.mechanism, width, cap) for use in uses]
    if len(uses) == uses[0].times == 1:
        return each[0]
    squares = (_square(use, mu).times(use.times) for mu, use in zip(each, uses, strict=True))
    most = root_of(Enclosure.total(squares)).upper
    least = max(each, key=lambda mu: mu.lower).lower  # the others' outputs may be ignored
    if least == Decimal("Infinity"):
        return Enclosure.infinite()
    reasons = [reason for mu in each for reason in mu.why]
    known = Enclosure(least, most)
    found = bounded_mu(known, delta, pure, rho, width)
    return found if found.is_within(width) else found.because(*reasons)
