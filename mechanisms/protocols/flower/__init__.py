"""Flower's two sides: clients that add exact noise under SecAgg+, and the server that adds them up.

Whoever uses them finds them in `exactdp.interop.flower`, with the account of what rounds cost.
"""

from .client import Carrier, NoisyUpdates
from .server import CertifiedStrategy, secagg_workflow

__all__ = ["Carrier", "CertifiedStrategy", "NoisyUpdates", "secagg_workflow"]
