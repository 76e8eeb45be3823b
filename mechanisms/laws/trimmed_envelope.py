"""Binomial noise: no mu holds for it, but one does for a law that is all but the same.

p(x)/p(x-1) = odds (n - x + 1)/x, so that the curvature A(x) = log((x+1)(n-x+1)/(x(n-x))) is least
in the middle and rises towards both ends, where the steps of the quantiles grow without bound.

*The substitute.* On [low - 1, high + 1], 1 <= low < high <= n - 1, let u = p, and let log u go on
with the constant curvature A(low) on the left and A(high) on the right. As A rises outward, u >= p
everywhere. u/Z, Z = sum u >= 1, is log-concave and positive on Z, with the curvature at most
max(A(low), A(high)): by theorem B (`cells.widest`) it has a unit parameter of at most that width.

*Its distance.* p - u/Z <= p (1 - 1/Z), so the total variation is at most 1 - 1/Z <= Z - 1, which is
at most the mass of u beyond [low - 1, high + 1]. To the right its ratios start at r = e^(-A(high))
p(high+1)/p(high) and fall: that is at most p(high+1) r/(1 - r); to the left likewise.

*What it costs.* Noise of d coordinates is within d tau of that of the substitute in total
variation. So for an integer vector v, with G the Gaussian trade-off function of mu |v|_2,

    T(x) >= G(x + d tau) - d tau,    delta(eps) <= delta_G(eps) + (1 + e^eps) d tau.
"""

from __future__ import annotations

from typing import NamedTuple

from flint import arb

from ...exact.enclosure import Endpoint
from ...exact.number import ExactInput, ParameterError, ball, exact
from ...exact.precision import enclose, working_precision
from ...exact.roots import first_met
from .binomial import Binomial
from .gaussian_envelope import NoEnvelopeError
from .normal import widest

_BITS = 192
_FEWEST = 4  # trials


class Trimmed(NamedTuple):
    """An upper bound of the unit parameter of the substitute, and of its distance."""

    mu: Endpoint
    tau: Endpoint  # total variation per coordinate
    window: tuple[int, int]  # low and high, beyond which the curvature is constant


def trimmed(law: Binomial, tail: ExactInput) -> Trimmed:
    """The narrowest substitute, about, whose total variation per coordinate is at most `tail`.

    Raises NoEnvelopeError where even the widest is further off.
    """
    if not isinstance(law, Binomial):
        raise ParameterError(f"law must be binomial, got {law}")
    allowed, n = exact(tail, "tail", above=0, below=1), law.trials
    with working_precision(_BITS):
        high, above = _right(law, ball(allowed) / 2)
        left, below = _right(law.mirrored(), ball(allowed) / 2)
        mu = widest(_curvature(n, high).max(_curvature(n, left)))
        return Trimmed(enclose(mu).upper, enclose(above + below).upper, (n - left, high))


def _right(law: Binomial, allowed: arb) -> tuple[int, arb]:
    """The end of the window, right of the middle, beyond which this mass at most is, and it."""
    n = law.trials

    def beyond(x: int) -> arb:
        last = law.ball(x + 1)
        ratio = last / law.ball(x) * (-_curvature(n, x)).exp()
        return last * ratio / (1 - ratio) if ratio < 1 else arb.pos_inf()

    if n < _FEWEST or not beyond(n - 1) <= allowed:
        raise NoEnvelopeError(f"tail must be larger: {law} has too few outcomes to leave out less")
    high = first_met(lambda x: bool(beyond(x) <= allowed), n // 2, n - 1)
    return high, beyond(high)


def _curvature(n: int, x: int) -> arb:
    """log((x+1)(n-x+1)/(x(n-x))), 0 < x < n."""
    return (arb(n + 1) / (arb(x) * (n - x))).log1p()
