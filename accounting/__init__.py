"""How much privacy a mechanism costs: certified divergences of the pairs that dominate it,
compositions of many uses, conversions between notions, and users who return.
"""

from typing import TYPE_CHECKING

from ..exact.lazy import lazily

if TYPE_CHECKING:
    from .composed import Composition, Use, compose
    from .curves import Profile
    from .divergences.divergence import (
        delta,
        epsilon,
        gaussian_dp,
        pure_epsilon,
        renyi_curve,
        renyi_divergence,
        total_variation,
        zcdp,
    )
    from .methods.comparison import METHODS, DoesNotApplyError, Method, Reported, compare
    from .methods.conversion import (
        pure_to_renyi,
        pure_to_zcdp,
        renyi_to_delta,
        renyi_to_epsilon,
        zcdp_to_delta,
        zcdp_to_epsilon,
    )
    from .participation.filters import (
        GaussianFilter,
        OverspentError,
        PureFilter,
        RenyiFilter,
        ZcdpFilter,
    )
    from .participation.gaussian_odometer import GaussianOdometer
    from .participation.odometer import RenyiOdometer
    from .participation.returning_users import ParticipationError, ReturningUsers, plan
    from .tradeoff import Tradeoff

__all__ = [
    "METHODS",
    "Composition",
    "DoesNotApplyError",
    "GaussianFilter",
    "GaussianOdometer",
    "Method",
    "OverspentError",
    "ParticipationError",
    "Profile",
    "PureFilter",
    "RenyiFilter",
    "RenyiOdometer",
    "Reported",
    "ReturningUsers",
    "Tradeoff",
    "Use",
    "ZcdpFilter",
    "compare",
    "compose",
    "delta",
    "epsilon",
    "gaussian_dp",
    "plan",
    "pure_epsilon",
    "pure_to_renyi",
    "pure_to_zcdp",
    "renyi_curve",
    "renyi_divergence",
    "renyi_to_delta",
    "renyi_to_epsilon",
    "total_variation",
    "zcdp",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]

__getattr__ = lazily(
    __name__,
    {
        ".composed": ["Composition", "Use", "compose"],
        ".curves": ["Profile"],
        ".divergences.divergence": [
            "delta",
            "epsilon",
            "gaussian_dp",
            "pure_epsilon",
            "renyi_curve",
            "renyi_divergence",
            "total_variation",
            "zcdp",
        ],
        ".methods.comparison": ["METHODS", "DoesNotApplyError", "Method", "Reported", "compare"],
        ".methods.conversion": [
            "pure_to_renyi",
            "pure_to_zcdp",
            "renyi_to_delta",
            "renyi_to_epsilon",
            "zcdp_to_delta",
            "zcdp_to_epsilon",
        ],
        ".participation.filters": [
            "GaussianFilter",
            "OverspentError",
            "PureFilter",
            "RenyiFilter",
            "ZcdpFilter",
        ],
        ".participation.gaussian_odometer": ["GaussianOdometer"],
        ".participation.odometer": ["RenyiOdometer"],
        ".participation.returning_users": ["ParticipationError", "ReturningUsers", "plan"],
        ".tradeoff": ["Tradeoff"],
    },
)
