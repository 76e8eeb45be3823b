"""Index policies: the arm with the largest upper confidence bound has the next batch.

As DP-KLUCB of Azize, Wu, Honda, Orabona, Ito and Basu (arXiv 2505.05613): sums are cumulative,
batches grow by arm, and the index is that of the rewards together with the noise. Here the noise is
discrete, and drawn as shares or by the server; the index is `radius.index`, at the level that keeps
it above a best arm's mean throughout with probability 1 - p.

After b batches an arm has had N_b = ceil(n_1 eta^(b-1)) users, n_1 = ceil(3 log(1/p)/epsilon): with
a third of it not even a sum of 0 rules out a mean near 1 at level p, as noise makes up for it with
probability e^(-epsilon n_1/3). All of it tells a gap of about 2/5 under a single noise; a smaller
first batch would save users where gaps are wider still, which cost little, and add its noise to all
sums after it. Parameters and noise are those of Theorems 1 and 5 of Chowdhury and Zhou (ICLR 2023),
but every batch has the grid of a batch of T users, g = ceil(epsilon sqrt(T)), so that sums add up
as whole numbers, and tau is for the confidence p (`accuracy_horizon`).

`dist-dp-klucb-tight` is the same with p = 3 log(T)/T where none is given, so that losing the best
arm costs at most 3 log(T) times the largest gap in the mean, and with 5/2 for the 3 of n_1.
"""

from __future__ import annotations

import math
from fractions import Fraction

from attrs import evolve

from ...exact.number import ball
from ...mechanisms.additive.papers import laplace_accuracy, laplace_share, least_precision
from ...mechanisms.additive.protocol import SumProtocol, Trust
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.law import Law
from ...mechanisms.laws.search import certain_ceiling
from ...verify.guarantee import PureDP
from ..evidence import Demand
from ..lower_bound import Barrier
from ..release import ModularRelease, OpenRelease, Release
from ..setting import Setting
from .algorithm import Algorithm
from .distributed import accuracy_horizon

_SOURCE = "KL-UCB on the tails of rewards and noise, after DP-KLUCB (arXiv 2505.05613)"


def from_first(setting: Setting, batch: int, first: int) -> int:
    """N_b - N_(b-1), at least 1."""

    def users(number: int) -> int:
        return math.ceil(first * setting.growth ** (number - 1)) if number else 0

    return max(1, users(batch) - users(batch - 1))


def _first(setting: Setting, nats: Fraction) -> int:
    """n_1 = ceil(nats log(1/p)/epsilon)."""
    return certain_ceiling(
        lambda: -ball(nats) * ball(setting.confidence).log() / ball(setting.epsilon), "n_1"
    )


def laplace_release(setting: Setting, users: int, trust: Trust, accuracy: int) -> Release:
    """With the grid of all batches, and tau of Theorem 1 with this in the place of its T."""
    precision = least_precision(setting.epsilon, setting.horizon)
    scale = precision / setting.epsilon
    tau = laplace_accuracy(scale, accuracy)
    central = trust is Trust.CENTRAL
    share: Law = DiscreteLaplace(scale) if central else laplace_share(users, scale)
    modulus = users * precision + 2 * tau + 1
    return ModularRelease(SumProtocol(users, precision, tau, modulus, share, trust))


def _private(name: str, trust: Trust, nats: Fraction = Fraction(3)) -> Algorithm:
    return Algorithm(
        name,
        _SOURCE,
        lambda setting, batch, _: from_first(setting, batch, _first(setting, nats)),
        lambda setting, users: laplace_release(setting, users, trust, accuracy_horizon(setting)),
        None,
        lambda setting: Demand(PureDP(setting.epsilon)),
        forgets=False,
        barrier=Barrier.GLOBAL,
    )


DIST_DP_KLUCB = _private("dist-dp-klucb", Trust.DISTRIBUTED)
DP_KLUCB = _private("dp-klucb", Trust.CENTRAL)
DIST_DP_KLUCB_TIGHT = evolve(
    _private("dist-dp-klucb-tight", Trust.DISTRIBUTED, Fraction(5, 2)), losses=3
)

KL_UCB = Algorithm(
    "kl-ucb",
    "KL-UCB in batches (Garivier and Cappé, COLT 2011), without privacy",
    lambda setting, batch, _: from_first(setting, batch, 1),
    lambda _, users: OpenRelease(users),
    None,
    None,
    forgets=False,
    plain=True,
)
