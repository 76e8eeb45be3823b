"""The algorithms, each a row: batches, release, claim, and the rule that decides.

`ALGORITHMS` are for regret; `IDENTIFIERS` find the best arm with an error that is proved, and
`HALVINGS` do so with a fixed budget (`identification`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from attrs import evolve

from ...mechanisms.additive import papers
from ...mechanisms.additive.protocol import SumProtocol, Trust
from ...verify.guarantee import ZCDP, ApproxDP, PureDP, RenyiDP
from ..evidence import Demand
from ..lower_bound import Barrier
from ..policies import (
    AdaptiveEpisodes,
    Halving,
    drawn_means,
    halving_users,
    imed_index,
    klucb_index,
    private_klucb_index,
)
from ..policy import Largest
from ..radius.paper import (
    NO_NOISE,
    NoiseScale,
    discrete_gaussian_scale,
    discrete_laplace_scale,
    local_scale,
    paper_radius,
    skellam_scale,
)
from ..release import LaplaceRelease, LocalRelease, ModularRelease, OpenRelease, Release
from ..setting import Setting
from . import releases
from .algorithm import (
    AdaptiveElimination,
    ChernoffIndex,
    CumulativeElimination,
    Elimination,
    LargestIndex,
    OwnPolicy,
    one_by_horizon,
)
from .algorithm import Algorithm as Algorithm
from .releases import accuracy_horizon

_ORDER = 2  # at which Theorem 2's curve is certified
_NO_ERROR = Fraction(1, 10**12)


def _pure(setting: Setting) -> Demand:
    return Demand(PureDP(setting.epsilon))


def _renyi(setting: Setting) -> Demand:
    return Demand(RenyiDP(_ORDER, papers.theorem2_curve(setting.epsilon, setting.scaling, _ORDER)))


def _zcdp(setting: Setting) -> Demand:
    """rho = epsilon²/2, and 1e-9 of it more: sums of discrete Gaussians need a little (Lemma 4)."""
    return Demand(ZCDP(setting.epsilon**2 / 2 * (1 + Fraction(1, 10**9))))


def _approx(setting: Setting) -> Demand:
    return Demand(ApproxDP(setting.epsilon, setting.delta))


# -- successive elimination -----------------------------------------------------------------------


def _theorem(
    name: str,
    source: str,
    protocol: Callable[[Setting, int], SumProtocol],
    scale: Callable[[Setting, int], NoiseScale],
    demand: Callable[[Setting], Demand],
    barrier: Barrier = Barrier.NONE,
) -> Algorithm:
    """Of Chowdhury and Zhou (ICLR 2023). protocol, scale: of a batch of so many users."""
    return Algorithm(
        name,
        source,
        releases.growing,
        lambda setting, users: ModularRelease(protocol(setting, users)),
        demand,
        Elimination(
            lambda setting, plan, _: paper_radius(plan, [scale(setting, n) for n in plan.batches])
        ),
        barrier,
    )


DIST_DP_SE = _theorem(
    "dist-dp-se",
    "Theorem 1 (ICLR 2023)",
    lambda it, users: papers.theorem1(it.epsilon, users, accuracy_horizon(it)).protocol,
    lambda it, users: discrete_laplace_scale(it.epsilon),
    _pure,
    Barrier.GLOBAL,
)
DIST_RDP_SE = _theorem(
    "dist-rdp-se",
    "Theorem 2 (ICLR 2023)",
    lambda it, users: papers.theorem2(it.epsilon, users, accuracy_horizon(it), it.scaling).protocol,
    lambda it, users: skellam_scale(it.epsilon, it.scaling),
    _renyi,
)
# Its shares are corrected: see `theorem3`. Simulated with an aggregation that never fails; a
# relaxed one may, with probability 1/(2T). Twice its epsilon/4, and epsilon/2 for the sum mod m.
SHUFFLE_DP_SE = _theorem(
    "shuffle-dp-se",
    "Theorem 3 (ICLR 2023), its shares corrected",
    lambda it, users: papers.theorem3(it.epsilon, users, accuracy_horizon(it)).protocol,
    lambda it, users: discrete_laplace_scale(it.epsilon / 2),
    lambda it: Demand(PureDP(it.epsilon), it.epsilon / 4),
    Barrier.GLOBAL,
)
DIST_CDP_SE = _theorem(
    "dist-cdp-se",
    "Theorem 4 (ICLR 2023)",
    lambda it, users: (
        papers.theorem4(it.epsilon, users, accuracy_horizon(it), it.scaling, stated=False).protocol
    ),
    lambda it, users: discrete_gaussian_scale(it.epsilon, it.scaling),
    _zcdp,
)
CDP_SE = _theorem(  # Theorem 1's parameters; the analyzer alone adds the noise
    "cdp-se",
    "Theorem 5 (ICLR 2023)",
    lambda it, users: (
        papers.theorem5(it.epsilon, users, accuracy_horizon(it), stated=False).protocol
    ),
    lambda it, users: discrete_laplace_scale(it.epsilon),
    _pure,
    Barrier.GLOBAL,
)
LDP_SE = _theorem(
    "ldp-se",
    "Theorem 6 (ICLR 2023)",
    releases.local_protocol,
    lambda it, users: local_scale(it.epsilon, users),
    _pure,
    Barrier.LOCAL,
)
DP_SE = Algorithm(  # a trusted server that sees every real reward, and its continuous noise
    "dp-se",
    "DP-SE of Sajed and Sheffet, An Optimal Private Stochastic-MAB Algorithm (ICML 2019)",
    lambda setting, batch, active: releases.epoch(setting, batch, active)[0],
    lambda setting, users: LaplaceRelease(users, setting.epsilon),
    None,
    AdaptiveElimination(releases.epoch_radii),
    Barrier.GLOBAL,
)
SDP_AE = Algorithm(
    "sdp-ae",
    "Algorithm 1, SDP-AE (NeurIPS 2021), on Algorithm 3",
    releases.constant,
    releases.shuffled_bits,
    _approx,
    CumulativeElimination(releases.shuffled_radii),
)
VB_SDP_AE = evolve(
    SDP_AE,
    name="vb-sdp-ae",
    source="Algorithm 2, VB-SDP-AE (NeurIPS 2021), on Algorithm 3",
    schedule=releases.growing,
)
SE = Algorithm(
    "se",
    "batched successive elimination, without privacy",
    releases.growing,
    lambda setting, users: OpenRelease(users),
    None,
    Elimination(lambda setting, plan, _: paper_radius(plan, [NO_NOISE] * len(plan.batches))),
)

# -- indices --------------------------------------------------------------------------------------

_TAILS = "KL-UCB on the tails of rewards and {}noise, after DP-KLUCB (arXiv 2505.05613)"


def _laplace(name: str, trust: Trust, nats: Fraction, losses: int) -> Algorithm:
    return Algorithm(
        name,
        _TAILS.format(""),
        lambda setting, batch, _: releases.from_first(
            setting, batch, releases.laplace_first(setting, nats)
        ),
        lambda setting, users: releases.laplace_release(
            setting, users, trust, accuracy_horizon(setting)
        ),
        _pure,
        LargestIndex(),
        Barrier.GLOBAL,
        one_by_horizon(losses),
    )


def _wide(
    name: str,
    noise: str,
    release: Callable[[Setting, int, Fraction, int], Release],
    deviation: Callable[[Setting], Fraction],
    demand: Callable[[Setting], Demand],
) -> Algorithm:
    return Algorithm(
        name,
        _TAILS.format(f"{noise} "),
        lambda setting, batch, _: releases.from_first(
            setting, batch, releases.gaussian_first(setting, deviation(setting))
        ),
        lambda setting, users: release(
            setting, users, deviation(setting), accuracy_horizon(setting)
        ),
        demand,
        LargestIndex(),
        usual_confidence=one_by_horizon(),
    )


# With p = 3 log(T)/T losing the best arm costs at most 3 log(T) times the largest gap in the mean
DIST_DP_KLUCB = _laplace("dist-dp-klucb", Trust.DISTRIBUTED, Fraction(5, 2), 3)
DIST_DP_KLUCB_DOUBLING = _laplace("dist-dp-klucb-doubling", Trust.DISTRIBUTED, Fraction(3), 0)
DP_KLUCB = _laplace("dp-klucb", Trust.CENTRAL, Fraction(3), 0)
DIST_RDP_KLUCB = _wide(
    "dist-rdp-klucb", "Skellam", releases.skellam_release, releases.stated_deviation, _renyi
)
DIST_CDP_KLUCB = _wide(
    "dist-cdp-klucb",
    "discrete Gaussian",
    releases.gaussian_release,
    releases.stated_deviation,
    _zcdp,
)
DIST_GAUSS_KLUCB = _wide(
    "dist-gauss-klucb",
    "discrete Gaussian",
    releases.gaussian_release,
    releases.approx_deviation,
    _approx,
)
KL_UCB_DOUBLING = Algorithm(
    "kl-ucb-doubling",
    "KL-UCB in batches (Garivier and Cappé, COLT 2011), without privacy",
    lambda setting, batch, _: releases.from_first(setting, batch, 1),
    lambda _, users: OpenRelease(users),
    None,
    ChernoffIndex(),
    usual_confidence=one_by_horizon(),
)

# -- policies of their own, on these releases: no bound of regret is proved of them (`policies`) ---

DIST_DP_IMED = DIST_DP_KLUCB_DOUBLING.deciding(
    "dist-dp-imed",
    "IMED on noisy sums, after DP-IMED (arXiv 2505.05613)",
    lambda setting, runs: Largest(imed_index),
)
DIST_DP_TS = DIST_DP_KLUCB_DOUBLING.deciding(
    "dist-dp-ts",
    "Thompson sampling with noisy sums, their noise in its spread",
    lambda setting, runs: Largest(drawn_means),
)
DIST_DP_KLUCB_LOG = DIST_DP_KLUCB_DOUBLING.deciding(
    "dist-dp-klucb-log",
    "KL-UCB on noisy sums with log t and the d of private coins, as DP-KLUCB (arXiv 2505.05613)",
    lambda setting, runs: Largest(private_klucb_index),
)
DIST_ADAP_KLUCB = evolve(
    DIST_DP_KLUCB_DOUBLING.deciding(
        "dist-adap-klucb",
        "AdaP-KLUCB of Azize and Basu (NeurIPS 2022), on discrete noise of the users",
        lambda setting, runs: AdaptiveEpisodes(runs, setting.arms),
    ),
    schedule=releases.doubling,
)
KL_UCB_LOG_BATCHED = KL_UCB_DOUBLING.deciding(
    "kl-ucb-log-batched",
    "KL-UCB with log t, in batches (Garivier and Cappé, COLT 2011), without privacy",
    lambda setting, runs: Largest(klucb_index),
)
KL_UCB = evolve(
    KL_UCB_LOG_BATCHED,
    name="kl-ucb",
    source="KL-UCB with log t, nearly every round (Garivier and Cappé, COLT 2011), without privacy",
    schedule=releases.by_twentieths,
    rule=OwnPolicy(lambda setting, runs: Largest(klucb_index, waits=False)),
)

ALGORITHMS = (
    DIST_DP_SE,
    DIST_RDP_SE,
    DIST_CDP_SE,
    CDP_SE,
    LDP_SE,
    SHUFFLE_DP_SE,
    DP_SE,
    SDP_AE,
    VB_SDP_AE,
    SE,
    DIST_DP_KLUCB,
    DP_KLUCB,
    DIST_RDP_KLUCB,
    DIST_CDP_KLUCB,
    DIST_GAUSS_KLUCB,
    KL_UCB,
    DIST_DP_IMED,
    DIST_DP_TS,
    DIST_DP_KLUCB_LOG,
    DIST_ADAP_KLUCB,
    DIST_DP_KLUCB_DOUBLING,
    KL_UCB_DOUBLING,
    KL_UCB_LOG_BATCHED,
)

# -- the best arm ---------------------------------------------------------------------------------

# Of one kind of protocols and noise with the indices: the arm of the largest estimate, and of those
# not told from it that of the largest upper confidence bound, until an e-process tells the first
# from all others. Fixed-confidence identification under global DP is that of Azize, Jourdan, Al
# Marjani and Basu (arXiv 2309.02202) and of Jourdan and Azize (arXiv 2510.17348), who sample by top
# two. Sums of less than log(1/p)/epsilon users can tell no two arms apart, even of means 0 and 1;
# n_1 = ceil(4 log(1/p)/epsilon) takes little longer there, and elsewhere saves the noise of two
# batches. Noise with the tails of a Gaussian has the n_1 of its index policy.
_LUCB = "LUCB in batches that grow by arm, until an e-process decides"
_FOUR = Fraction(4)


def _lucb_accuracy(setting: Setting) -> int:
    """A sum is read wrongly with probability at most p/(1024 K), whatever the horizon."""
    return math.ceil(1024 * setting.arms / setting.confidence)


def _identifying(like: Algorithm, name: str, source: str = _LUCB) -> Algorithm:
    return evolve(
        like,
        name=name,
        source=source,
        rule=ChernoffIndex(),
        usual_confidence=lambda horizon: Fraction(1, 100),
    )


def _laplace_lucb(like: Algorithm, name: str, trust: Trust) -> Algorithm:
    return evolve(
        _identifying(like, name),
        schedule=lambda setting, batch, _: releases.from_first(
            setting, batch, releases.laplace_first(setting, _FOUR)
        ),
        release=lambda setting, users: releases.laplace_release(
            setting, users, trust, _lucb_accuracy(setting)
        ),
    )


def _wide_lucb(
    like: Algorithm,
    name: str,
    release: Callable[[Setting, int, Fraction, int], Release],
    deviation: Callable[[Setting], Fraction],
) -> Algorithm:
    return evolve(
        _identifying(like, name),
        release=lambda setting, users: release(
            setting, users, deviation(setting), _lucb_accuracy(setting)
        ),
    )


_GAUSSIAN, _STATED = releases.gaussian_release, releases.stated_deviation
LUCB = _identifying(KL_UCB_DOUBLING, "lucb", f"{_LUCB}, without privacy")
IDENTIFIERS: tuple[Algorithm, ...] = (
    _laplace_lucb(DIST_DP_KLUCB_DOUBLING, "dist-dp-lucb", Trust.DISTRIBUTED),
    _laplace_lucb(DP_KLUCB, "dp-lucb", Trust.CENTRAL),
    _wide_lucb(DIST_RDP_KLUCB, "dist-rdp-lucb", releases.skellam_release, _STATED),
    _wide_lucb(DIST_CDP_KLUCB, "dist-cdp-lucb", _GAUSSIAN, _STATED),
    _wide_lucb(DIST_GAUSS_KLUCB, "dist-gauss-lucb", _GAUSSIAN, releases.approx_deviation),
    evolve(
        LUCB,
        name="local-lucb",
        source=f"{_LUCB}, on reports that users randomise",
        release=lambda setting, users: LocalRelease(users, setting.epsilon),
        barrier=Barrier.LOCAL,
    ),
    LUCB,
)
DIST_DP_LUCB, DIST_CDP_LUCB = IDENTIFIERS[0], IDENTIFIERS[3]
HALVINGS: tuple[Algorithm, ...] = tuple(
    evolve(
        each,
        name=each.name.replace("lucb", "halving"),
        source="sequential halving of a fixed budget, sums never forgotten",
        schedule=halving_users,
        rule=OwnPolicy(Halving),
        usual_confidence=lambda horizon: _NO_ERROR,
    )
    for each in IDENTIFIERS
)

RENAMED: Mapping[str, str] = {"dist-dp-klucb-tight": "dist-dp-klucb", "kl-ucb-log": "kl-ucb"}
"""Older spellings. Before, the plain names were those of what is `-doubling` now."""


def named(name: str) -> Algorithm | None:
    """The algorithm of this name, or of this older spelling; None where there is none.

    name: as on the command line. Raises nothing.

    >>> named("dist-dp-se").name, named("kl-ucb-log").name, named("nothing")
    ('dist-dp-se', 'kl-ucb', None)
    """
    everywhere = (*ALGORITHMS, *IDENTIFIERS, *HALVINGS)
    return next((each for each in everywhere if each.name == RENAMED.get(name, name)), None)
