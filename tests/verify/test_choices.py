"""The choices that certificates name: enough without a search; no lie among them proves more."""

import json
from fractions import Fraction

import pytest
from certificate_mutants import THIRD
from certificates import check, edited, places, reconstructed, resealed

from exactdp.verify import audit
from exactdp.verify import checker as module

NAMES = [path.stem for path in THIRD]
HELD = {path.stem: json.loads(path.read_text()) for path in THIRD}
ORDERS = ["1", "9/8", "3/2", "2", "3", "5", "9", "17", "33", "65"]
LIES = [
    {},
    *({"direction": each} for each in ("forward", "backward")),
    *({"above": [each]} for each in ("gaussian", "one number", "by one", "squares", "1", "2")),
    *({"above": [{"missed": each}]} for each in ("1e-9", "9e-6", "1e-4", "1/2")),
    *({"below": [each]} for each in ("1", "2", "3")),
    *({"along": [[{"move": move, "count": count}]]}
      for move, count in (("1", "1"), ("1", "9"), ("4", "1"), ("9", "9"))),
    *({"along": [steps]} for steps in (["0", "1", "2"], ["0", "31", "62"], ["5", "95"])),
    *({"step": each} for each in ("1/1000", "1", "50")),
    *({"order": each} for each in ("1", "1.001", "2", "60", "100000")),
    *({"cover": [each]} for each in (["1"], ["2", "4"], ORDERS, ORDERS[::-1], ["1", "1000000"])),
    {"cover": [["1", "1", "1"], ORDERS]},
    {"cover": [[str(1 + Fraction(k, 50)) for k in range(200)]]},
    {"listed": "yes"},
    {"listed": "no"},
]  # fmt: skip


def told(name, end, hints):
    """The certificate with another end, and the claim that just follows."""
    content = json.loads(json.dumps(HELD[name]))
    verified = content["verdict"] == "VERIFIED"
    content["measured"] = (
        {"lower": "0", "upper": end} if verified else {"lower": end, "upper": "inf"}
    )
    claim = content["claim"]
    bounded = "rho" if "rho" in claim else "mu" if "mu" in claim else "epsilon"
    claim[bounded] = end if verified else str(Fraction(end) * Fraction(99, 100))
    return resealed(content | {"hints": hints})


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_searched_for(monkeypatch, name):
    def search(*asked):
        raise AssertionError("searched")

    monkeypatch.setattr(module, "found", search)
    assert check(HELD[name]).valid


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("name", NAMES)
def test_no_lie_proves_what_is_false(name):
    """Two percent beyond what the prover knows of the truth."""
    measured = audit(*reconstructed(HELD[name])).measured
    verified = HELD[name]["verdict"] == "VERIFIED"
    known = Fraction(measured.lower if verified else measured.upper)
    end = str(known * (Fraction(98, 100) if verified else Fraction(102, 100)))
    for lie in LIES:
        found = check(told(name, end, HELD[name]["hints"] | lie), 5)
        assert not found.valid, (lie, found)


@pytest.mark.contract
@pytest.mark.parametrize("name", [name for name in NAMES if HELD[name]["hints"]])
def test_a_choice_that_is_changed_proves_the_same_or_nothing(name):
    for path, _ in list(places(HELD[name]["hints"]))[:20]:
        outcome = check(edited(HELD[name], ("hints", *path), "7"), 5)
        assert outcome.reason and "\n" not in outcome.reason


@pytest.mark.contract
def test_a_cover_reaches_from_one_to_where_the_rest_is_settled():
    content = HELD["cover"]
    (orders,) = content["hints"]["cover"]
    finer = [*orders[:2], "5/4", *orders[2:]]
    for cover, valid in (
        ([orders], True), ([finer], True), ([["7"], orders], False), ([orders[1:]], False),
        ([orders[:-1]], False), ([[orders[0], orders[-1]]], False), ([orders[::-1]], False),
        ([["0.5", *orders[1:]]], False), ([[*orders[:3], *orders[2:]]], False),
    ):  # fmt: skip
        assert check(resealed(content | {"hints": {"cover": cover}})).valid is valid, cover
