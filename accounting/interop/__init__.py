"""Read what other accountants were told, and hand them mechanisms and compositions."""

from .dp_accounting import rdp_epsilons, to_dp_accounting
from .events import from_dp_event, from_json, from_opacus, to_dp_event
from .reading import UnsupportedEventError
from .tff import spec_from_params, spec_from_tff

__all__ = ["UnsupportedEventError", "from_dp_event", "from_json", "from_opacus", "rdp_epsilons"]
__all__ += ["spec_from_params", "spec_from_tff", "to_dp_accounting", "to_dp_event"]
