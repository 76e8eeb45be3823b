"""What regret is at most: from what was released, and before anything runs.

The notation is that of `radius`, whose event has |N| <= c (with what floats add) after every batch;
m is how many users a batch has, cap = min(1, S), the most that a user can lose in y.

*From what was released.* The users of a batch follow the estimate before it: each loses at most
her width in it, sqrt(x' A x) beta + |z| gamma + e, where z = W' x and A = W H W'. Let D be the sum
of x x' over the batch: the difference of two G, so that on the event

    D  <=  D~ = G~ after the batch - G~ before it + (both c) I,    as matrices.

As sum sqrt(x' A x) <= sqrt(m tr(A D)) (Cauchy, Schwarz) and tr(A D) <= tr(A D~), A >= 0,

    regret of the batch  <=  beta sqrt(m tr(W H W' D~)) + gamma sqrt(m tr(W W' D~)) + 3 e m.     (1)

In the event this holds for all batches at once, whatever the contexts are; every term is known to
the server. Floats make a width larger by at most the e that is counted for them, and ties of
floats cost as much: e thrice. (The floats of H are at least 0 as a matrix, too: they are off by
d 2^-53 |H| < rho, as T is at most 10^8.)

*Before anything runs.* Let each user's K contexts be drawn independently of all before, from one
law, with kappa I <= E[mean of x_a x_a' over the arms]; in the first batch, of n_1 users, arms are
at random. And let kappa' I <= E[x x' | all before] of the arm that any convex index is largest of
(`contexts`; 0 if nothing is known), as all later users choose: widths are convex in x. So after n
users the conditional means of x x' add up to at least mu I, mu = kappa n_1 + kappa' (n - n_1), and
by the matrix Chernoff bound for adapted sequences (Tropp 2011; with |x x'| <= 1)

    P(G has an eigenvalue <= g)  <=  d exp(-(mu - g + g log(g/mu))),    0 < g < mu,             (2)

which falls in mu. (e^(-tX) <= I - (1 - e^-t) X where 0 <= X <= I, so that by Lieb's theorem
tr exp((1 - e^-t) sum E[X | all before] - t sum X) is a supermartingale, d at the start; on the
event it is at least e^((1 - e^-t) mu - t g), and t = log(mu/g).) Each batch has its share of q and
so a g of its own, which later ones keep. Otherwise, in the event of the radius, G >= g I and
G~ >= (g - c) I after the batch. Where a = g - c > 0, M = G~ + lambda I >= a I and
0 <= lambda <= max(0, FLOOR f - a) for f = max(c, rho): `radius` takes it from a Rayleigh quotient,
not below the least eigenvalue. W = (I - R) M^-1, |R| <= r, which `radius` checks. Hence
|z| <= (1 + r)/a, and as H <= M + (c + rho) I,

    width(x)  <=  (1 + r) (beta sqrt(1/a + (c + rho)/a^2) + (c_e + lambda S)/a) + 3 e,           (3)

beta^2 <= 2 log(1/p_1) + d log(1 + n/(d rho)). Regret is at most cap n_1, and m min(cap, (3)) of
every later batch, cap where (3) says nothing: with probability at least 1 - p - q, q that of (2);
its mean is at most that and (p + q) cap T. It is found once with kappa', and once with kappa' = 0
and all of q for the first batch; both hold, and the smaller is told. With kappa' > 0 it is of order
beta sqrt(T/kappa'), whatever n_1 is; with kappa' = 0, and n_1 about (T beta)^(2/3)/(4 kappa)^(1/3),
of order T^(2/3). What floats do to contexts and to the choice between two indices that are all but
equal is not in kappa and kappa'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from attrs import frozen
from flint import arb

from ...exact.number import ball
from ...exact.precision import upper_float, working_precision
from ...exact.roots import float_root
from .radius import BITS, FLOOR, MISSED, UNIT, Estimate, Radius, exact_matrix, identity

_SHARE = Fraction(1, 100)  # q is this much of p
_LAST = 1 + 2.0**-38
_SLACK = 2.0**-10  # of lambda, for the last roundings
_NEAR = 1e-9


def cap_of(norm: Fraction) -> Fraction:
    """What a user can lose at most, in y."""
    return min(Fraction(1), norm)


def released_regret(before: Estimate, after: Estimate, users: int, norm: Fraction) -> float:
    """What a batch's regret is at most, from the estimates that it followed and gave: (1)."""
    dimension = len(before.theta)
    with working_precision(BITS):
        inverse, shape = exact_matrix(before.inverse), exact_matrix(before.shape)
        added = (arb(before.matrix) + arb(after.matrix)) * identity(dimension)
        seen = exact_matrix(after.gram) - exact_matrix(before.gram) + added
        projected = inverse.transpose() * seen * inverse
        squares = (shape * projected).trace(), projected.trace()
        first, second = (arb(users).sqrt() * each.max(arb(0)).sqrt() for each in squares)
        widths = before.beta * first + before.gamma * second + 3 * arb(before.rest) * users
        return min(upper_float(widths * _LAST), upper_float(users * ball(cap_of(norm))))


@frozen
class PriorBound:
    """What is proved of regret before anything runs.

    bound      what it is at most, but with probability `failure`
    mean       what its mean is at most
    first      users of a first batch of which more may be proved, about
    """

    bound: float
    mean: float
    failure: Fraction
    first: int


def prior_regret(radius: Radius, diversity: Fraction, chosen: Fraction | None = None) -> PriorBound:
    """Of contexts that are drawn independently: (2) and (3).

    diversity: kappa, what no eigenvalue of the mean of x x' is below, of an arm at random. chosen:
    kappa', of the arm that is chosen; None: not known.

    >>> from exactdp.bandit.linear.radius import radius
    >>> from exactdp.bandit.linear.setting import LinearSetting
    >>> given = radius(LinearSetting(2, 100_000, None, first=10_000), None)
    >>> 10_000 < prior_regret(given, Fraction(1, 4)).bound < 25_000
    True
    """
    ends, cap = radius.users, cap_of(radius.norm)
    failed = _SHARE * radius.failure
    looks = max(1, len(ends) - 1)
    later = chosen or Fraction(0)
    means = [diversity * ends[0] + later * (users - ends[0]) for users in ends[:looks]]
    least = [_eigenvalue(mean, radius.dimension, failed / looks) for mean in means]
    once = _eigenvalue(means[0], radius.dimension, failed)
    with working_precision(BITS):
        total = min(
            (_summed(radius, each) for each in (list(accumulate(least, max)), [once] * looks)),
            key=float,
        )
        mean = total + ball((radius.failure + failed) * cap * ends[-1])
        beta = float(radius.largest_beta(ends[-1]).mid())
        first = (ends[-1] * beta) ** (2 / 3) / (4 * float(diversity)) ** (1 / 3)
        most = upper_float(ends[-1] * ball(cap))
        return PriorBound(
            min(upper_float(total), most),
            min(upper_float(mean), most),
            radius.failure + failed,
            min(ends[-1], math.ceil(first)),
        )


def _summed(radius: Radius, least: Sequence[float]) -> arb:
    """Regret of all batches, where no eigenvalue after each, but the last, is below these."""
    ends, cap = radius.users, ball(cap_of(radius.norm))
    total = ends[0] * cap
    for batch, (users, after) in enumerate(pairwise(ends)):
        width = min(_width(radius, batch, least[batch]), upper_float(cap))
        total += (after - users) * arb(width)
    return total


def _eigenvalue(mean: Fraction, dimension: int, failure: Fraction) -> float:
    """g of (2), at most about as large as it may be; 0 where nothing is proved."""
    needed, mu = math.log(dimension / failure), float(mean)
    if mu <= needed:
        return 0.0

    def excess(share: float) -> float:
        return mu * (1 - share + share * math.log(share)) - needed

    found = mu * float_root(excess, 1e-12, 1 - 1e-12, _NEAR) * (1 - 2 * _NEAR)
    g, top = arb(found), ball(mean)
    proved = g < top and top - g + g * (g / top).log() >= ball(dimension / failure).log()
    return found if proved else 0.0


def _width(radius: Radius, batch: int, least: float) -> float:
    """What (3) is at most after this batch, 0, 1, ...; infinity where it says nothing."""
    norm, ridge, d = ball(radius.norm), arb(radius.ridge), radius.dimension
    users, c, error = radius.users[batch], arb(radius.matrix[batch]), arb(radius.error[batch])
    # sums are at most n and what (N) adds, and what floats add depends on sums (`inexact`)
    rewards = users + c * norm + error
    added = arb(2 * radius.inexact(users, upper_float(users + c + rewards)))
    c, error, rewards = c + added, error + added * (1 + norm), rewards + added * (1 + 2 * norm)
    a = arb(least) - c
    if not a > 0:
        return math.inf
    shift = (FLOOR * c.max(ridge) - a + _SLACK).max(arb(0))
    more, beta, gamma = 1 + arb(MISSED), radius.largest_beta(users), error + shift * norm
    inverse, root = more * arb(d).sqrt() / a, arb(d).sqrt()
    shape = users + c + (c + ridge) * root
    floats = 8 * beta * inverse * (d * arb(UNIT) * shape).sqrt()
    floats += 4 * d * arb(UNIT) * (gamma * inverse + inverse * rewards + MISSED)
    missed = arb(MISSED) * norm.min(arb(1))
    width = more * (beta * (1 / a + (c + ridge) / a**2).sqrt() + gamma / a) + 3 * (missed + floats)
    return upper_float(width * _LAST)
