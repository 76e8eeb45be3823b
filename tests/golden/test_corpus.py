"""Certificates that were true stay valid, and forged ones do not become so."""

import random

import pytest
from certificates import check
from golden.corpus import certificates, forged, forgeries, is_quick

HELD = certificates()
FORGED = len(forgeries())
QUICK = set(random.Random(0).sample([i for i, row in enumerate(HELD) if is_quick(row)], 40))
FEW = set(random.Random(0).sample(range(FORGED), 200))


def cases(count, quick):
    return [pytest.param(i, marks=() if i in quick else pytest.mark.slow) for i in range(count)]


@pytest.mark.contract
@pytest.mark.parametrize("index", cases(len(HELD), QUICK))
def test_a_true_certificate_stays_valid(index):
    outcome = check(HELD[index]["content"])
    assert outcome.valid, f"{HELD[index]['releases']} {HELD[index]['claim']}: {outcome.reason}"


@pytest.mark.contract
@pytest.mark.parametrize("index", cases(FORGED, FEW))
def test_a_forged_certificate_stays_invalid(index):
    assert not check(forged(index)).valid, forgeries()[index]["false"]


def test_the_corpus_has_both_verdicts_both_versions_and_every_kind():
    told = {(row["content"]["version"], row["content"]["verdict"]) for row in HELD}
    assert told == {(v, verdict) for v in (1, 2) for verdict in ("VERIFIED", "REFUTED")}
    kinds = {use["mechanism"]["kind"] for row in HELD for use in row["content"]["uses"]}
    claims = {row["content"]["claim"]["kind"] for row in HELD}
    assert claims == {"pure", "approx", "rdp", "zcdp", "gdp"} and len(kinds) >= 20
    assert len(HELD) >= 400 and FORGED >= 2000
