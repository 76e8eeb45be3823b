"""How far the decoded mean may be from the mean of the clipped vectors: a proved bound.

Let n clients be summed, in d coordinates (padded), y_i what client i rounds, E = sum (R_i - y_i)
the rounding and Z the noise, W = E + Z. Unless a coordinate of the sum wraps, the decoded mean is
off by W/(scale n), rotated back, which changes no norm, and by what floats and the grid have added.

For unbiased rounding E_j is a sum of n independent variables in intervals of length 1: sub-Gaussian
of variance proxy n/4 (Hoeffding), E E_j^2 <= n/4, E E_j^4 <= 3 n^2/16 + n/24 (for one of them, of
variance a = f(1 - f), the fourth cumulant is a(1 - 6a) <= 1/24). With K(t) = log E e^(tZ_j) of
symmetric noise, for every t:

1. *Each coordinate.* P(|W_j| > T) <= 2 e^(K(t) + n t^2/8 - t T), and d of them by the union bound.
2. *Their squares.* V_j = W_j^2 where |W_j| <= T, else 0, are independent, in [0, T^2], with mean at
   most m2 = Var Z_j + n/4 and second moment at most m4 = E E^4 + 6 E E^2 E Z^2 + E Z^4, where
   E Z^4 <= (24/t^4)(e^K(t) - 1 - t^2 Var/2), as cosh x >= 1 + x^2/2 + x^4/24. By Bernstein's
   inequality sum V_j <= d m2 + u, u = b x/3 + sqrt((b x/3)^2 + 2 d m4 x), b = T^2, but with
   probability e^-x. And sum V_j <= d T^2 for certain.
3. *Wrapping.* The rotated sum of n vectors of norm at most clip has coordinates that are, over the
   random signs, sub-Gaussian of variance proxy (n clip scale)^2/d: a coordinate of the sum reaches
   2^(bits-1) with probability at most 2 exp(K(t) + n t^2/8 + (n clip scale)^2 t^2/(2d) + t g -
   t 2^(bits-1)), g what the grid moves it by; d of them by the union bound.

*Conditional rounding* is unbiased rounding given an event of probability a_i (see `rounding`) for
each client, so that no event is likelier than by the factor prod 1/a_i: it is charged to all three.
*Nearest*: |E_j| <= n/2, |E| <= n sqrt(d)/2 for certain, and the rest is the noise alone.

*Floats and the grid.* A client's y_i differs from the exact scaled rotation of its clipped vector
by at most 2^-36 clip scale (`encoder.FLOAT_ERROR`, the conversions, and the shortening of
`on_grid`) and 2 sqrt(d) units of the grid; decoding adds 2^-38 of what is decoded.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from attrs import frozen
from flint import acb, arb

from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, ParameterError, ball, exact, whole
from ...exact.precision import enclose, working_precision
from ...mechanisms.additive.coordinate_rounding import fraction_bits
from ...mechanisms.laws.law import Law
from .encoder import Encoding

_BITS = 256
_TRIED = range(-16, 24)  # quarters of octaves about one over the deviation: each t gives a bound

_Cumulant = Callable[[arb], arb]


@frozen
class ErrorBound:
    """A bound of the L2 error of the mean.

    l2: what it is at most, except with probability `failure`, unless the sum wraps.
    wrap: the probability that a coordinate of the sum wraps, over the rotation, the rounding and
    the noise, is at most its upper end. Its upper end is 1 where no useful bound is known.

    >>> from exactdp.mechanisms import Skellam
    >>> encoding = Encoding(clip=1, scale=64, dimension=5, bits=16, rounding="stochastic")
    >>> found = error_bound(encoding, Skellam(variance=2), clients=20)
    >>> found.l2 <= "0.09", found.failure, found.wrap <= "1e-100"
    (True, Fraction(1, 1000000), True)
    """

    l2: Enclosure
    failure: Fraction
    wrap: Enclosure

    @property
    def exceeded(self) -> Enclosure:
        """The probability that the error is above `l2`: at most `failure` and overflow together."""
        return Enclosure(Fraction(0), min(self.failure + Fraction(self.wrap.upper), Fraction(1)))


def error_bound(
    encoding: Encoding,
    share: Law | None,
    clients: ExactInput,
    failure: ExactInput = "1e-6",
) -> ErrorBound:
    """The bound for a sum of so many clients, each with such a share of the noise (None: without).

    encoding: of the clients' vectors. share: symmetric. failure: above 0, below 1.
    Raises ParameterError for what is out of range.

    >>> from exactdp.mechanisms import Skellam
    >>> encoding = Encoding(clip=1, scale=64, dimension=5, bits=16, rounding="stochastic")
    >>> f"{error_bound(encoding, Skellam(variance=2), clients=20).l2:.3f}"
    '0.090'
    """
    if share is not None and not share.symmetric:
        raise ParameterError(f"share must be symmetric, got {share}")
    n = whole(clients, "clients", at_least=1)
    p = exact(failure, "failure", above=0, below=1)
    d, random = encoding.size, encoding.rounding.is_random
    with working_precision(_BITS):
        moment = Enclosure.exactly(0) if share is None else share.moments().variance
        least, variance = (n * ball(Fraction(end)) for end in (moment.lower, moment.upper))
        noise = _noise_cumulant(share, n)
        proxy = arb(n) / 4 if random else arb(0)
        sure = arb(0) if random else arb(n) / 2  # what rounding moves a coordinate by for certain
        charged = -n * arb(encoding.rounding.log_acceptance())
        # by how much y_i differs from what it stands for, in norm
        grid = ball(encoding.bound) * arb(2) ** -36
        grid += 2 * arb(d).sqrt() * arb(2) ** -fraction_bits(encoding.bound)

        def cumulant(t: arb) -> arb:
            return noise(t) + proxy * t * t / 2

        x = ball(2 / p).log() + charged
        near = 1 / (variance + proxy + 1).sqrt()
        most = _least(lambda t: (cumulant(t) + x + arb(2 * d).log()) / t, near)
        fourth = _least(lambda t: 24 / t**4 * (noise(t).exp() - 1 - t * t * least / 2), near)
        m2 = variance + proxy
        m4 = 3 * proxy**2 + 6 * proxy * variance + fourth + (proxy / 6 if random else 0)
        b = most**2 * x / 3
        squares = (d * m2 + b + (b * b + 2 * d * m4 * x).sqrt()).min(d * most**2)
        total = squares.sqrt() + sure * arb(d).sqrt()
        mean = total / (ball(encoding.scale) * n)
        l2 = mean * (1 + arb(2) ** -37) + ball(encoding.clip) * arb(2) ** -37
        l2 += grid / ball(encoding.scale)
        spread = (n * ball(encoding.bound)) ** 2 / d
        room = arb(2) ** (encoding.bits - 1) - sure - n * grid
        exponent = _least(
            lambda t: cumulant(t) + spread * t * t / 2 - t * room,
            near if not room > 0 else room / (m2 + spread),
        )
        wrap = (exponent + arb(2 * d).log() + charged).exp().min(arb(1))
        return ErrorBound(_at_most(l2), p, _at_most(wrap))


def _noise_cumulant(share: Law | None, clients: int) -> _Cumulant:
    if share is None:
        return lambda t: arb(0)
    end = share.mgf_domain[1]

    def cumulant(t: arb) -> arb:
        if end is not None and not t < ball(end):
            return arb.pos_inf()
        return clients * share.cumulant(acb(t)).real

    return cumulant


def _least(bound: _Cumulant, near: arb) -> arb:
    """The least of the bounds at several t; each of them is one."""
    least = arb.pos_inf()
    for quarters in _TRIED:
        found = bound(arb(float(near.mid()) * 2 ** (quarters / 4)))
        if found.is_finite() and (not least.is_finite() or found.upper() < least):
            least = arb(found.upper())
    return least


def _at_most(value: arb) -> Enclosure:
    return Enclosure(Fraction(0), enclose(value).upper)
