"""The Gaussian envelope of integer noise: with which distance mu it hides one step, or one shift.

Let p be symmetric and log-concave, positive on all of Z, S(k) = P(X >= k), Phibar the upper tail of
the normal law and t(k) = Phibar^-1(S(k)), which rises in k. Proved in `docs/envelope.md`:

*Domination* (theorem 1). If all steps t(k+1) - t(k) are at most mu_1, noise on an integer vector v
is mu_1 |v|_2-GDP: the best tests of X + d against X are the half-lines, whose errors are S(k) and
1 - S(k - d), and t(k - d) >= t(k) - d mu_1. Nothing smaller serves where mu_1 = 2 t(1), since a
unit shift has total variation p(0).

*The largest step is the one at 0* (theorem A), mu_1 = 2 t(1) = 2 Phi^-1((1 + p(0))/2), and
t(k)/(k - 1/2) does not rise in k >= 1, if the curvature A(k) = 2 log p(k) - log p(k-1) - log p(k+1)
does not rise in k >= 0 (`Law.curvature_falls`): discrete Gaussian, discrete Laplace, Skellam, Pólya
differences of shape r >= 1.

*Sums of discrete Gaussians* (theorem B). Their curvature is largest at 0 (`Law.curvature_peaks`),
and that alone bounds the largest step mu: where it is attained the neighbouring cells are no wider,
so that A(0) >= A(k) >= B_mu(t(k)) >= B_mu(-mu/2), B the curvature of cells of the normal law.

*One shift* d. X + d against X is mu(d)-GDP for mu(d) = sup over k of t(k) - t(k-d) and for no
smaller mu. Where t(k)/(k - 1/2) does not rise mu(d) is the largest of t(j) + t(d+1-j), 1 <= j <= d:
those are the k with k - d <= 0 < k, and for k > d

    t(k) - t(k-d) <= t(k) (1 - (k-d-1/2)/(k-1/2)) <= d t(m+1)/(m + 1/2),  m = d // 2,

which is 2 t(m+1) for d = 2m + 1 and, as t(m) >= t(m+1) (m-1/2)/(m+1/2), at most t(m) + t(m+1) for
d = 2m: one of those sums. Where the steps themselves fall in k >= 0 this middle one is the largest:
discrete Gaussian (`docs/envelope.md`); discrete Laplace, whose steps from k >= 1 on are integrals
of the falling Mills ratio of t over equal lengths.

*Reduction mod m, clamping, rounding of the released value* are post-processing.

*Binomial noise*: no mu holds for it, but one does for a law that is all but the same (`trimmed`).

p(x)/p(x-1) = odds (n - x + 1)/x, so that the curvature A(x) = log((x+1)(n-x+1)/(x(n-x))) is least
in the middle and rises towards both ends, where the steps of the quantiles grow without bound.

*The substitute.* On [low - 1, high + 1], 1 <= low < high <= n - 1, let u = p, and let log u go on
with the constant curvature A(low) on the left and A(high) on the right. As A rises outward, u >= p
everywhere. u/Z, Z = sum u >= 1, is log-concave and positive on Z, with the curvature at most
max(A(low), A(high)): by theorem B (`normal.widest`) it has a unit parameter of at most that width.

*Its distance.* p - u/Z <= p (1 - 1/Z), so the total variation is at most 1 - 1/Z <= Z - 1, which is
at most the mass of u beyond [low - 1, high + 1]. To the right its ratios start at r = e^(-A(high))
p(high+1)/p(high) and fall: that is at most p(high+1) r/(1 - r); to the left likewise.

*What it costs.* Noise of d coordinates is within d tau of that of the substitute in total
variation. So for an integer vector v, with G the Gaussian trade-off function of mu |v|_2,

    T(x) >= G(x + d tau) - d tau,    delta(eps) <= delta_G(eps) + (1 + e^eps) d tau.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import accumulate
from typing import NamedTuple

from flint import arb

from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ExactInput, ParameterError, ball, exact
from ...exact.precision import WIDTH, enclose, enclose_between, refine, working_precision
from ...exact.roots import first_met
from .binomial import Binomial
from .discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum
from .discrete_laplace import DiscreteLaplace
from .law import Law
from .normal import quantile, widest

_MOST_TERMS = 10**50  # beyond, the bits below do not tell the curvature
_BITS = 192  # more would not make the two bounds meet
_POSITIVE = Enclosure(Decimal(0), Decimal("Infinity"))
_FEWEST = 4  # trials
_MOST = 1000  # shifts up to which all sums are compared
_OPEN = "bounded by the largest step times the shift"


class NoEnvelopeError(ParameterError):
    """A law of which no Gaussian envelope is proved; the message says why."""


def unit_parameter(law: Law, width: Fraction = WIDTH) -> Enclosure:
    """mu_1, the largest step t(k+1) - t(k): noise of this law on an integer vector v is
    mu_1 |v|_2-GDP, in any dimension.

    width: the relative width asked for; an enclosure that is wider says why. It is the least such
    constant wherever it is 2 t(1), the lower end.

    Raises NoEnvelopeError where none is proved.

    >>> from exactdp.mechanisms.laws import Skellam
    >>> print(unit_parameter(Skellam(100)))
    0.10016757129403238
    """
    law = law.simplest()
    if any(end is not None for end in law.support):
        raise NoEnvelopeError(
            f"law must have no first and no last outcome, got {law}: at an end the step of the "
            "quantiles is infinite, and no mu holds (`trimmed` charges the tail to delta instead)"
        )
    if not law.log_concave:
        raise NoEnvelopeError(
            f"law must be log-concave, got {law}: only then half-lines are the optimal tests"
        )
    if not (law.symmetric and (law.curvature_falls or law.curvature_peaks)):
        raise NoEnvelopeError(f"law must have a known largest curvature, got {law}")
    if law.curvature_falls:
        return refine(lambda: _first_step(law), width=width).intersection(_POSITIVE)
    if isinstance(law, DiscreteGaussianSum) and law.count > _MOST_TERMS:
        # adding the others is post-processing
        few = unit_parameter(DiscreteGaussianSum(_MOST_TERMS, law.sigma2), width)
        return Enclosure(Decimal(0), few.upper).because("so many terms are not told from fewer")

    def step() -> arb:
        """From 2 t(1) on; by theorem B with A(0), at most this."""
        return _first_step(law).union(widest(2 * (law.ball(0) / law.ball(1)).log()))

    bound = refine(step, width=width, cap=_BITS)
    if not bound.is_within(width):
        bound = bound.because("the largest step is only bounded by the largest curvature")
    return bound.intersection(_POSITIVE)


def distance_at(unit: Endpoint, square: int) -> Fraction:
    """unit |v|_2 of a vector of this |v|_2^2, at most: rational."""
    return Fraction(refine(lambda: ball(unit) * ball(square).sqrt()).upper)


@lru_cache(maxsize=64)
def distance(law: Law, square: int) -> Fraction:
    """mu_1 |v|_2, at most. Raises NoEnvelopeError where no mu_1 is proved."""
    return distance_at(unit_parameter(law).upper, square)


def largest_window(law: Law, d: int) -> Enclosure:
    """mu(d), d >= 1, at the working precision where the curvature does not rise."""
    middle = _middle(law, d)
    if d == 1 or isinstance(law.simplest(), DiscreteGaussian | DiscreteLaplace):
        return enclose(middle)
    if d > _MOST:
        return enclose_between(middle, d * _middle(law, 1)).because(_OPEN)
    sums = accumulate(reversed(law.balls(1, d - 1)), initial=law.upper_tail(d))
    steps = [quantile(tail) for tail in sums]  # t(d), ..., t(1)
    pairs = zip(steps[: (d + 1) // 2], reversed(steps), strict=False)
    return enclose(reduce(arb.max, (left + right for left, right in pairs)))


def _middle(law: Law, d: int) -> arb:
    """t(m+1) + t(m) for d = 2m, 2 t(m+1) for d = 2m + 1."""
    outer = quantile(law.upper_tail(d // 2 + 1))
    return 2 * outer if d % 2 else outer + quantile(law.upper_tail(d // 2))


def _first_step(law: Law) -> arb:
    """2 t(1) = 2 Phi^-1((1 + p(0))/2), from 1 - p(0) = 2 S(1) where that is the smaller one."""
    centre = law.ball(0)
    return 2 * arb(2).sqrt() * centre.erfinv() if centre < 0.5 else _middle(law, 1)


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
