"""Hand mechanisms and compositions to other accountants, pessimistically."""

from .dp_accounting import rdp_epsilons, to_dp_accounting

__all__ = ["rdp_epsilons", "to_dp_accounting"]
