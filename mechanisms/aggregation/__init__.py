"""Secure aggregation S: the sum mod m of the users' messages, and nothing else."""

from .aggregation import AggregationError, SecureAggregation

__all__ = ["AggregationError", "SecureAggregation"]
