"""The algorithms of the papers, each a value: a schedule, a release, a claim, a radius."""

from .adap_klucb import DIST_ADAP_KLUCB
from .algorithm import Algorithm
from .distributed import CDP_SE, DIST_CDP_SE, DIST_DP_SE, DIST_RDP_SE, LDP_SE, SHUFFLE_DP_SE
from .imed import DIST_DP_IMED
from .indexed import DIST_DP_KLUCB, DIST_DP_KLUCB_TIGHT, DP_KLUCB, KL_UCB
from .indexed_gaussian import DIST_CDP_KLUCB, DIST_GAUSS_KLUCB, DIST_RDP_KLUCB
from .klucb_log import KL_UCB_LOG, KL_UCB_LOG_BATCHED
from .klucb_private import DIST_DP_KLUCB_LOG
from .server import DP_SE, SE
from .shuffle_sum import SDP_AE, VB_SDP_AE
from .thompson import DIST_DP_TS

__all__ = [
    "ALGORITHMS",
    "CDP_SE",
    "DIST_ADAP_KLUCB",
    "DIST_CDP_KLUCB",
    "DIST_CDP_SE",
    "DIST_DP_IMED",
    "DIST_DP_KLUCB",
    "DIST_DP_KLUCB_LOG",
    "DIST_DP_KLUCB_TIGHT",
    "DIST_DP_SE",
    "DIST_DP_TS",
    "DIST_GAUSS_KLUCB",
    "DIST_RDP_KLUCB",
    "DIST_RDP_SE",
    "DP_KLUCB",
    "DP_SE",
    "KL_UCB",
    "KL_UCB_LOG",
    "KL_UCB_LOG_BATCHED",
    "LDP_SE",
    "SDP_AE",
    "SE",
    "SHUFFLE_DP_SE",
    "VB_SDP_AE",
    "Algorithm",
    "named",
]

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
    KL_UCB_LOG,
    DIST_DP_KLUCB_LOG,
    DIST_ADAP_KLUCB,
    DIST_DP_KLUCB_TIGHT,
    KL_UCB_LOG_BATCHED,
)


def named(name: str) -> Algorithm | None:
    """The algorithm of this name; None where there is none.

    name: as on the command line. Raises nothing.

    >>> named("dist-dp-se").name, named("nothing")
    ('dist-dp-se', None)
    """
    return next((each for each in ALGORITHMS if each.name == name), None)
