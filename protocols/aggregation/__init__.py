"""Secure aggregation S: the sum mod m of the users' messages, and nothing else.

`PlainSum` adds up and hides nothing: for simulation. `masked.MaskedSum` is the real protocol, and
needs `pip install "exactdp[masks]"`; it is imported from `exactdp.protocols.aggregation.masked`.
"""

from .aggregation import AggregationError, Masking, PlainSum, SecureAggregation

__all__ = ["AggregationError", "Masking", "PlainSum", "SecureAggregation"]
