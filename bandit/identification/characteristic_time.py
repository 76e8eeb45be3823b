"""How long identification takes at least: the known lower bound, for an instance of coins.

Statement. An epsilon-DP algorithm that always stops, with an arm that is not best with probability
at most p < 1/2 on every instance of coins, has on one whose best arm * is the only one

    E tau >= kl(p, 1 - p)/v,   v = max over w of min over j, l of w_* d(mu_*, l) + w_j d(mu_j, l),

d(x, y) = inf over z of epsilon |z - x| + kl(z, y), w summing to 1, l in [mu_j, mu_*]. Without
privacy d = kl: Garivier and Kaufmann, "Optimal Best Arm Identification with Fixed Confidence" (COLT
2016), from Kaufmann, Cappé and Garivier (JMLR 2016), kl(p, 1 - p) >= log(1/(2.4 p)). With privacy
d is what Jourdan and Azize put in the place of kl (arXiv 2510.17348, abstract); Azize, Jourdan, Al
Marjani and Basu (arXiv 2309.02202, abstract) had total variation and kl apart. As only abstracts
are relied on, here is a proof.

Proof. Let l be means with another best arm, z_a between mu_a and l_a, and P, Q the laws of what the
algorithm does, o, on mu and on l. Draw rewards x of mu, and with each a reward y of mean z_a that
differs from x with probability |z_a - mu_a|. Compare (x, y, o), o drawn by pi(.|x), to (x, y, o)
with y drawn from l, x given y as before, and o by pi(.|y). Their marginals of o are P and Q, so
that KL(P, Q) <= E sum over users of log(z(y)/l(y)) + E log(pi(o|x)/pi(o|y)). Whether a user comes,
and to which arm, depends on earlier rewards, not on hers: the first sum is that of E N_a kl(z_a,
l_a). The second is at most epsilon times the number of users with y != x (group privacy), in the
mean epsilon E N_a |z_a - mu_a|. So sum E N_a d(mu_a, l_a) >= KL(P, Q) >= kl(p, 1 - p), as "o ends
with *" has probability at least 1 - p on mu and at most p on l. With l_* = l_j = l and all others
as they are, for every l and j, E N_* d(mu_*, l) + E N_j d(mu_j, l) >= kl(p, 1 - p) (a limit of
means where j is best alone); and the least of these is at most v E tau. QED.

Evaluation. For any l_j and weights q_j that sum to 1 the minimum is at most the mean with weights
q_j, so v <= max(sum over j of q_j d(mu_*, l_j), max over j of q_j d(mu_j, l_j)). Good ones are
searched in floats (both are equal where q_j ~ 1/d(mu_j, l_j) and sum d(mu_*, l_j)/d(mu_j, l_j) = 1,
where l_j, for some y, makes (y - d(mu_*, l))/d(mu_j, l) largest); any give a bound, in balls.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, ParameterError, exact
from ..environments.environment import Environment
from ..lower_bound import Barrier, coins, hardness

_GRID = 200  # places of l, for each arm
_ZOOMS = 4
_HALVINGS = 60


def least_time(
    environment: Environment,
    epsilon: ExactInput,
    confidence: ExactInput,
    barrier: Barrier = Barrier.GLOBAL,
) -> Enclosure | None:
    """Encloses a lower bound of the mean stopping time; None unless coins, one of them best.

    barrier: NONE for algorithms without privacy. GLOBAL for those with, whomever users trust.
    """
    budget = exact(epsilon, "epsilon", above=0)
    p = exact(confidence, "confidence", above=0, below=1)
    if 2 * p >= 1:
        raise ParameterError(f"confidence must be below 1/2, got {float(p):g}")
    means = coins(environment)
    if means is None or means.count(max(means)) > 1:
        return None
    best = max(means)
    others = [mean for mean in means if mean < best]
    places, weights = _alternatives(best, others, budget if barrier is Barrier.GLOBAL else None)
    down = Enclosure.total(
        hardness(1 - best, 1 - place, budget, barrier).times(weight)
        for place, weight in zip(places, weights, strict=True)
    )
    rate = down
    for mean, place, weight in zip(others, places, weights, strict=True):
        rate = rate.maximum(hardness(mean, place, budget, barrier).times(weight))
    return hardness(p, 1 - p, 1, Barrier.NONE).over(rate)


def _alternatives(
    best: Fraction, others: list[Fraction], epsilon: Fraction | None
) -> tuple[list[Fraction], list[Fraction]]:
    """Where each other arm might meet the best one, and the weights of these alternatives."""
    tops, lows = float(best), np.array([[float(mean)] for mean in others])
    first, last = lows, np.full_like(lows, tops)
    most = float(_divergence(1 - tops, 1 - lows, epsilon).min())
    rows = np.arange(len(others))
    for _ in range(_ZOOMS):
        grid = first + (last - first) * np.arange(1, _GRID) / _GRID
        down = _divergence(1 - tops, 1 - grid, epsilon)
        up = _divergence(lows, grid, epsilon)
        low, high = 0.0, most
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            at = ((middle - down) / up).argmax(axis=1)
            fits = (down[rows, at] / up[rows, at]).sum() < 1
            low, high = (middle, high) if fits else (low, middle)
        at = ((low - down) / up).argmax(axis=1)
        step = (last - first) * 2 / _GRID
        chosen = grid[rows, at][:, None]
        first, last = np.maximum(chosen - step, lows), np.minimum(chosen + step, tops)
    weights = [Fraction(weight) for weight in (1 / up[rows, at]).tolist()]
    places = [Fraction(place) for place in grid[rows, at].tolist()]
    total = sum(weights)
    return places, [weight / total for weight in weights]


def _divergence(
    x: float | NDArray[np.float64], y: NDArray[np.float64], epsilon: Fraction | None
) -> NDArray[np.float64]:
    """d(x, y), x <= y, in floats."""
    z = x + 0 * y
    if epsilon is not None:
        ratio = (1 - y) / y * np.exp(min(float(epsilon), 500.0))
        z = np.maximum(z, 1 / (1 + ratio))
    with np.errstate(divide="ignore", invalid="ignore"):
        kl = np.where(z > 0, z * np.log(z / y), 0) + np.where(
            z < 1, (1 - z) * np.log((1 - z) / (1 - y)), 0
        )
    return np.asarray((0 if epsilon is None else float(epsilon)) * (z - x) + kl)
