"""How much privacy a mechanism costs: one use or many together, conversions between notions,
and users who return.
"""

from typing import TYPE_CHECKING

from ..exact.lazy import lazily

if TYPE_CHECKING:
    from .composition.composed import Composition, Use, compose
    from .composition.curves import Profile
    from .composition.tradeoff import Tradeoff
    from .divergences.conversion import (
        renyi_to_delta,
        renyi_to_epsilon,
        zcdp_to_delta,
        zcdp_to_epsilon,
    )
    from .methods.comparison import METHODS, DoesNotApplyError, Method, Reported, compare
    from .participation.filters import (
        GaussianFilter,
        OverspentError,
        PureFilter,
        RenyiFilter,
        ZcdpFilter,
    )
    from .participation.odometer import GaussianOdometer, RenyiOdometer
    from .participation.returning_users import ParticipationError, ReturningUsers, plan

__all__ = ["METHODS", "Composition", "DoesNotApplyError", "GaussianFilter", "GaussianOdometer"]
__all__ += ["Method", "OverspentError", "ParticipationError", "Profile", "PureFilter"]
__all__ += ["RenyiFilter", "RenyiOdometer", "Reported", "ReturningUsers", "Tradeoff", "Use"]
__all__ += ["ZcdpFilter", "compare", "compose", "plan"]
__all__ += ["renyi_to_delta", "renyi_to_epsilon", "zcdp_to_delta", "zcdp_to_epsilon"]

_CONVERSION = "renyi_to_delta renyi_to_epsilon zcdp_to_delta zcdp_to_epsilon"
_FILTERS = "GaussianFilter OverspentError PureFilter RenyiFilter ZcdpFilter"

__getattr__ = lazily(
    __name__,
    {
        ".composition.composed": ["Composition", "Use", "compose"],
        ".composition.curves": ["Profile"],
        ".composition.tradeoff": ["Tradeoff"],
        ".divergences.conversion": _CONVERSION.split(),
        ".methods.comparison": ["METHODS", "DoesNotApplyError", "Method", "Reported", "compare"],
        ".participation.filters": _FILTERS.split(),
        ".participation.odometer": ["GaussianOdometer", "RenyiOdometer"],
        ".participation.returning_users": ["ParticipationError", "ReturningUsers", "plan"],
    },
)
