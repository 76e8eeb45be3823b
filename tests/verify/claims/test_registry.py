"""The registry, and that findings do not depend on how many are checked at a time."""

from pathlib import Path

import pytest
from pages import claims as page

from exactdp import ParameterError
from exactdp.cli.claims import to_json
from exactdp.verify.claims.registry import REGISTRY, find
from exactdp.verify.claims.settle import settle


def test_every_statement_says_what_it_is():
    for name, claim in REGISTRY.items():
        assert claim.id == name and name[:2] in ("D-", "S-", "V-")
        assert claim.source and claim.statement


def test_find_keeps_the_order_of_the_papers():
    names = list(REGISTRY)
    assert [claim.id for claim in find([])] == names
    assert [claim.id for claim in find([names[-1], names[0], names[-1]])] == [names[0], names[-1]]


def test_an_unknown_id_is_refused():
    with pytest.raises(ParameterError, match="ID"):
        find(["D-lem99"])


@pytest.mark.slow
def test_findings_do_not_depend_on_the_number_of_workers():
    claims = find(["S-thmA1-subgauss", "D-lem2-pulls"])
    told = []
    alone = settle(claims, 1, told.append)
    assert told == claims
    assert settle(claims, 2, told.append) == alone
    assert set(told[2:]) == set(claims)


def test_ids_must_be_unique():
    from exactdp.verify.claims.registry import _ordered

    claim = next(iter(REGISTRY.values()))
    with pytest.raises(ValueError, match="two statements"):
        _ordered([claim, claim])


@pytest.mark.slow
def test_all_can_be_settled_and_the_page_in_docs_says_so():
    found = settle(find([]), 2)
    assert all(each.finding is not None for each in found)
    written = Path(__file__).parents[3] / "docs" / "claims.md"
    assert written.read_text(encoding="utf-8") == page.text([to_json(each) for each in found])


def test_the_page_has_a_section_for_every_statement():
    written = (Path(__file__).parents[3] / "docs" / "claims.md").read_text(encoding="utf-8")
    assert all(f"\n### {name}\n" in written and f"[{name}](#" in written for name in REGISTRY)
