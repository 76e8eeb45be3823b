"""What integer noise hides of a real vector that is rounded at random: as much as of the vector.

A user's real vector y, |y|_2 <= c, is rounded coordinate by coordinate, B_i = floor(y_i) + 1 with
probability the fraction of y_i, else floor(y_i), independently; integer noise X is added. P is the
law of B + X, Q that of X, mu the `unit_parameter` of the noise. Proofs: `docs/rounding.md`.

**Rényi divergences.** At every order a > 1, for any number of coordinates,

    D_a(P||Q) and D_a(Q||P)  <=  factor(a) |y|^2,

and factor(a) is a mu^2/2, what the unrounded vector costs, but for some parts in a thousand while
a mu^2 is small. The pair is post-processing of the Gaussian mixture N(0, 1) + mu B (lemma 1), of
which the other way round costs no more and D_a/a does not fall in a (theorem 1): a bound at the
next whole order serves at any real one. *One coordinate*, y = m + f, integer a, s = mu^2:

    M(y) = E R^a = sum over j of Bin(a, f)(j) e^(s (a (a-1) m^2/2 + (a-1) m j + j (j-1)/2)),

and factor(a) is the supremum of log M(y)/y^2 over y > 0, divided by a - 1. M rises in y, and is
convex on every [m, m + 1] (section 3).

    On [0, 1]   (M - 1)/y^2 is a polynomial of coefficients >= 0, so it rises.
    On cells    of [m, m + 1], where log M rises by D, log M <= the chord of log M + D^2/8.
    From Y on   with k = (a-1) s/4 < 1, log M <= (a (a-1) s y^2/2)/(1 - k) - log(1 - k)/2;
                and log M <= a (a-1) s (y + 1)^2/2.

**A Gaussian, but for a little mass** (theorem 2). Z is N(0, 1), t > 0 a threshold, h = Phibar(t -
mu) and w(z) = e^(mu z - mu^2/2). For every y there is a law G with (1 - b) G <= P <= G + b, b being
h times the sum of the fractions of the |y_i|, for which (G, Q) is post-processing of N(nu |y|, 1)
against N(0, 1), where nu = mu (1 + mu t/2 + ...), namely

    nu = max((Phibar(t - mu) - Phibar(t))/phi(t),  (w(t) - 1 + h)/(t (1 - h))),

if t >= nu and h < 1. In d coordinates the fractions add up to at most min(d, sqrt(d) |y|).

*Proof.* Let y = f < 1 first. P is post-processing of (1-f) N(0, 1) + f N(mu, 1), of density
1 - f + f w to N(0, 1). Cut w off at its value at t, and divide by the mass 1 - f k that is left,
k <= h: that is G, it has (1 - f k) G <= P <= (1 - f k) G + f k, and its density rises, so that
half-lines {z > x} are the best tests. With e = f nu they are never better than those of N(e, 1):

    x <= t   G(z > x) <= P(z > x), as P is larger by f k before the division. Is Phibar(x - e) at
             least Phibar(x) + f (Phibar(x - mu) - Phibar(x))? At f = 0 they are equal; at f = 1 it
             is, as nu >= mu. As a function of f the left side is convex while x >= e and concave
             from there on; its slope at 0, nu phi(x), is at least phi(x) times the integral of
             e^(x u - u^2/2) over 0 < u < mu, which rises in x: so it is in between, too.
    x >= t   Phibar(x - e) >= Phibar(x) + e phi(x) >= Phibar(x) (1 + e t), as x >= e; and G(z > x) =
             Phibar(x) (1 + f (w(t) - 1))/(1 - f k) is no more by the choice of nu.

Of y = m + f take this moved by mu m: tests of level Phibar(x) have at most the power
Phibar(x - mu m - f nu) <= Phibar(x - nu y), and the density rises still. Products: the kernels'
products, distances nu |y_i|, and the product of all 1 - f_i k is at least 1 - b.

Sampled, (1-q) Q + q P, the same holds of (1-q) Q + q G, and over K uses of K b.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from heapq import heapify, heappop, heappush

from flint import arb, arb_poly

from ...exact.budget import spend
from ...exact.number import ExactInput, ball, exact, whole
from ...exact.precision import enclose, upper_float, working_precision
from .gaussian_envelope import unit_parameter
from .law import Law
from .normal import mass, quantile

MOST_ORDER = 1024
_BITS, _DISTANCE_BITS = 128, 192
_NEAR = 1e-4  # how near to the supremum, relatively, a bound should come
_FAR = 24  # where a mu^2 is large: the tail is bounded to about 2/24
_MOST_CELLS = 2000
_MOST = 1e300  # of a factor that is of use


@lru_cache(maxsize=4096)
def rounded_factor(mu: Fraction, order: int) -> Fraction | None:
    """Rounded at random, y costs at most this times |y|_2^2 at this order, either way round.

    mu: (at least) the `unit_parameter` of the noise; order: whole, 2 to 1024. For Gaussian noise of
    variance 1/mu^2 it is at least order mu^2/2, the cost where y is whole. None where it is beyond
    all use (above 1e300).

    >>> mu, order = Fraction(1, 100), 8
    >>> 1 <= rounded_factor(mu, order) / (order * mu**2 / 2) <= Fraction(1001, 1000)
    True
    """
    exact(mu, "mu", above=0)
    order = whole(order, "order", at_least=2, at_most=MOST_ORDER)
    with working_precision(_BITS):
        found = _supremum(order, ball(mu) ** 2) / (order - 1)
        return Fraction(enclose(found.upper()).upper) if found < _MOST else None


def rounded_renyi(
    law: Law, l2: ExactInput, dimension: int | None, order: ExactInput, rate: ExactInput = 1
) -> Fraction | None:
    """What a use costs at most in Rényi divergence, either way round; None where no bound is known.

    law: of the noise in every coordinate. l2: what the norm before rounding is at most. dimension:
    how many coordinates there are, None for any number. order: real, above 1; between two whole
    ones D_a/a is at most what it is at the next one, and (a - 1) D_a, which is convex and 0 at 1,
    at most its chord. rate: users take part with this probability, independently. Neighbours
    differ by one user, added or removed.

    Raises NoEnvelopeError where the noise has no mu.

    >>> from exactdp.mechanisms.laws import Skellam
    >>> float(rounded_renyi(Skellam(10000), 100, 2**20, 8))  # 4.0 without rounding
    4.001605584118442
    """
    mu, norm = Fraction(unit_parameter(law).upper), exact(l2, "l2", at_least=0)
    wanted, share = exact(order, "order", above=1), exact(rate, "rate", above=0, at_most=1)
    low, high = math.floor(wanted), math.ceil(wanted)
    with working_precision(_BITS):
        left, right = (_at_whole(mu, norm, dimension, end, share) for end in (low, high))
        found = _worst(mu, norm, dimension, wanted).min(ball(wanted / high) * right)
        if low < high:
            part = ball(wanted - low)
            total = (1 - part) * (low - 1) * left + part * low * right
            found = found.min(total / ball(wanted - 1))
        return Fraction(enclose(found.upper()).upper) if found.is_finite() else None


def _worst(mu: Fraction, norm: Fraction, dimension: int | None, order: Fraction) -> arb:
    """As if B were the longest vector that y is ever rounded to: shorter than |y| + sqrt(d)."""
    if dimension is None:
        return arb.pos_inf()
    longest = ball(norm) + arb(whole(dimension, "dimension", at_least=1)).sqrt()
    return (ball(order * mu**2 / 2) * longest**2).upper()


@lru_cache(maxsize=4096)
def _at_whole(
    mu: Fraction, norm: Fraction, dimension: int | None, order: int, rate: Fraction
) -> arb:
    """At a whole order; 0 at order 1, where only its product with order - 1 counts.

    Sampled, E (1 - q + q R)^a is the sum of C(a, j) (1-q)^(a-j) q^j E R^j, E R^j = e^((j-1) D_j),
    where E R^j = 1 for j = 0 and 1: it is 1 + that of all others with E R^j - 1.
    """
    if order == 1 or norm == 0:
        return arb(0)
    cost = _worst(mu, norm, dimension, Fraction(order))
    factor = rounded_factor(mu, order) if order <= MOST_ORDER else None
    if factor is not None:
        cost = cost.min(ball(factor * norm**2))
    if rate == 1 or order > MOST_ORDER:
        return cost
    excess, q = arb(0), ball(rate)
    for j in range(2, order + 1):
        next_one = j + -j % (1 << max(0, j.bit_length() - 4))  # few orders, as D_a/a rises
        whole_cost = _at_whole(mu, norm, dimension, next_one, Fraction(1))
        weight = math.comb(order, j) * (1 - q) ** (order - j) * q**j
        excess += weight * (whole_cost * (j - 1) * j / next_one).expm1()
    return cost.min(excess.log1p() / (order - 1)).upper()


def _supremum(order: int, square: arb) -> arb:
    """An upper bound of log M(y)/y^2 over all y > 0, by cells that are halved where it matters."""
    moments = _Moments(order, square)
    first = max(2, math.ceil(math.sqrt(1 / (4 * order * _NEAR))))
    if not (order - 1) * square < 2:
        first = max(first, _FAR)
    tail = moments.tail(first)
    goal = (1 + _NEAR) * max(upper_float(tail), upper_float(moments.limit()))

    def cell(low: Fraction, high: Fraction) -> tuple[float, Fraction, Fraction]:
        return -upper_float(moments.bound(low, high)), low, high

    cells = [cell(Fraction(m), Fraction(m + 1)) for m in range(first)]
    heapify(cells)
    while -cells[0][0] > goal and len(cells) < _MOST_CELLS:
        spend()
        _, low, high = heappop(cells)
        middle = (low + high) / 2
        heappush(cells, cell(low, middle))
        heappush(cells, cell(middle, high))
        goal = max(goal, (1 + _NEAR) * upper_float(moments.log(middle) / ball(middle) ** 2))
    return tail.max(arb(-cells[0][0]))


class _Moments:
    """M(y) = E R^order, at points and on cells; square is mu^2."""

    def __init__(self, order: int, square: arb) -> None:
        self.order, self.square = order, square
        self.log = lru_cache(maxsize=None)(self._log)
        self.sum = lru_cache(maxsize=None)(self._sum)

    def _log(self, y: Fraction) -> arb:
        """log M(y), y >= 0."""
        m = math.floor(y)
        return self._at_whole(m) + self._excess(m, y - m).log1p()

    def limit(self) -> arb:
        """Of log M(y)/y^2 as y goes to 0."""
        return math.comb(self.order, 2) * self.square.expm1()

    def bound(self, low: Fraction, high: Fraction) -> arb:
        """Of log M(y)/y^2 on [low, high], which has no whole number inside."""
        if low == 0:
            return self._rising(high)
        left, right = self.log(low), self.log(high)
        start, rise = ball(low), right - left
        slope = rise / ball(high - low)
        offset = left - slope * start + rise**2 / 8
        found = right / start**2  # as M rises
        if offset < 0:
            # offset + slope y <= slope^2 y^2/(-4 offset): their difference is a square
            found = found.min(-(slope**2) / (4 * offset))
        if slope * start + 2 * offset > 0:  # (offset + slope y)/y^2 falls from there on
            found = found.min((offset + slope * start) / start**2)
        elif slope * ball(high) + 2 * offset < 0:  # it rises up to there
            found = found.min((offset + slope * ball(high)) / ball(high) ** 2)
        if high <= 1:
            found = found.min((start**2 * self._rising(high)).log1p() / start**2)
        return found

    def tail(self, start: int) -> arb:
        """Of log M(y)/y^2 for y >= start."""
        whole_cost = self._at_whole(1)
        found = whole_cost * (1 + arb(1) / start) ** 2
        part = (self.order - 1) * self.square / 4
        if part < 1:
            spread = -(-part).log1p() / (2 * start**2)
            found = found.min(whole_cost / (1 - part) + spread)
        return found

    def _at_whole(self, m: int) -> arb:
        return math.comb(self.order, 2) * m**2 * self.square

    def _rising(self, y: Fraction) -> arb:
        """(M(y) - 1)/y^2, 0 < y <= 1."""
        if y == 1:
            return self._at_whole(1).expm1()
        return self._excess(0, y) / ball(y) ** 2

    def _excess(self, m: int, f: Fraction) -> arb:
        """M(m + f)/M(m) - 1: a sum of terms that are not negative."""
        return self.sum(m)(ball(f / (1 - f))) * ball(1 - f) ** self.order

    def _sum(self, m: int) -> arb_poly:
        pairs = ((self.order - 1) * m * j + j * (j - 1) // 2 for j in range(self.order + 1))
        return arb_poly(
            [math.comb(self.order, j) * (self.square * n).expm1() for j, n in enumerate(pairs)]
        )


# -- a Gaussian, but for a little mass -------------------------------------------------------------


def rounded_distance(law: Law, l2: ExactInput, dimension: int, missed: ExactInput) -> Fraction:
    """A distance of Gaussians that dominates a use but for this probability, at most.

    With b = missed there is a law G, (1 - b) G <= P <= G + b, so that (G, Q) is post-processing of
    N(distance, 1) against N(0, 1), P being the law with the user. So over K uses P(S) is at most
    e^epsilon Q(S) + delta(epsilon) + K b, and Q(S) at most e^epsilon P(S) + delta(epsilon + log(1 -
    K b)), delta the Gaussians' profile; the same of samples, each with its own user's coin.

    The least of three: every vector shorter than l2 + sqrt(d) (nothing missed); the bound on its
    length of `mechanisms.additive.coordinate_rounding`, missed with probability b; and nu l2.

    Raises NoEnvelopeError where no Gaussian envelope of the noise is proved.

    >>> from exactdp.mechanisms.laws import Skellam
    >>> f"{float(rounded_distance(Skellam(250000), 500, 2**20, '1e-9')):.4f}"
    '1.0079'
    """
    norm, b = exact(l2, "l2", at_least=0), exact(missed, "missed", above=0, below=1)
    size = whole(dimension, "dimension", at_least=1)
    if norm == 0:
        return Fraction(0)
    with working_precision(_DISTANCE_BITS):
        mu, c, root = ball(unit_parameter(law).upper), ball(norm), arb(size).sqrt()
        spread = (-2 * ball(b).log()).sqrt() * (c + root / 2)
        found = [mu * (c + root), mu * (c**2 + root**2 / 4 + spread).sqrt()]
        fractions = (root * c).min(root**2)
        if (h := (ball(b) / fractions).lower()) < 0.5:
            t = mu + quantile(h)
            slope = mass(t - mu, mu) * (2 * arb.pi()).sqrt() * (t**2 / 2).exp()
            nu = slope.max(((mu * t - mu**2 / 2).expm1() + h) / (t * (1 - h)))
            if t >= nu:
                found.append(nu * c)
        return min(Fraction(enclose(each.upper()).upper) for each in found)
