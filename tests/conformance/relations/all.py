"""Every relation, in one list; and the few that search or prove for seconds."""

from conformance.relations import (
    accounts,
    certificates_agree,
    coarse,
    decisions,
    errors,
    gaussian,
    in_time,
    ladders,
    least,
    monotone,
    notions,
    processing,
    sameness,
    sampling,
    slack,
    truths,
    vectors,
)
from conformance.relations.engine import Relation

RELATIONS: tuple[Relation, ...] = (
    *monotone.RELATIONS,
    *processing.RELATIONS,
    *notions.RELATIONS,
    *sameness.RELATIONS,
    *truths.RELATIONS,
    *slack.RELATIONS,
    *sampling.RELATIONS,
    *decisions.RELATIONS,
    *gaussian.RELATIONS,
    *vectors.RELATIONS,
    *coarse.RELATIONS,
    *accounts.QUICK,
    *errors.RELATIONS,
    *in_time.RELATIONS,
    *ladders.RELATIONS,
)
SEARCHES: tuple[Relation, ...] = (
    *least.RELATIONS,
    *certificates_agree.RELATIONS,
    *accounts.RELATIONS,
    *sameness.PROCESSES,
)
