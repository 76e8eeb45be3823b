"""Every relation, in one list."""

from __future__ import annotations

from relations import (
    accounts,
    certificates_agree,
    decisions,
    monotone,
    notions,
    processing,
    sameness,
    slack,
    truths,
)
from relations.engine import Relation

__all__ = ["RELATIONS"]

RELATIONS: tuple[Relation, ...] = (
    *monotone.RELATIONS,
    *processing.RELATIONS,
    *notions.RELATIONS,
    *sameness.RELATIONS,
    *truths.RELATIONS,
    *slack.RELATIONS,
    *decisions.RELATIONS,
    *certificates_agree.RELATIONS,
    *accounts.RELATIONS,
)
