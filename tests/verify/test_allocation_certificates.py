"""Certificates of random allocation: against integrals by mpmath alone, and none that is false."""

from fractions import Fraction

import pytest
from certificates import check, edited, in_words

from exactdp import certify

SPEC = "gaussian:sigma={},neighbours=add-remove,allocation={}"
SLOW = pytest.mark.slow
CASES = [  # what holds, and what does not
    pytest.param(SPEC.format(2, "1/4"), "approx:0.9,1e-3", marks=SLOW),
    (SPEC.format(2, "1/4"), "approx:0.5,1e-3"),
    pytest.param(SPEC.format(1, "1/100*3"), "approx:0.8,1e-4", marks=SLOW),
    pytest.param(SPEC.format(2, "2/9*2"), "approx:2.5,1e-3", marks=SLOW),
    pytest.param(SPEC.format(2, "3/20"), "approx:0.2,1e-3", marks=SLOW),
    (SPEC.format(1, "2/10*3"), "zcdp:3.1"),
    (SPEC.format(1, "2/10*3"), "gdp:2.5"),
    (SPEC.format(1, "2/10*3"), "rdp:2,6.1"),
    (SPEC.format(1, "1/10"), "pure:30"),
    (SPEC.format(1, "3/3"), "approx:7,1e-5"),
]


@pytest.mark.contract
@pytest.mark.parametrize(("spec", "claim"), CASES)
def test_proved_again_and_no_false_one(spec, claim):
    content = certify(spec, claim).content
    assert check(content).valid
    assert (content["neighbours"], content["orientation"]) == ("add-remove", "fixed")
    assert "chosen at random" in in_words(content)
    turned = {"VERIFIED": "REFUTED", "REFUTED": "VERIFIED"}[content["verdict"]]
    assert not check(edited(content, ("verdict",), turned)).valid
    if content["measured"]["lower"] == "inf":
        return
    scale = Fraction(content["uses"][0]["mechanism"]["scale"])
    factor = Fraction(1, 4) if content["verdict"] == "VERIFIED" else 4
    false = edited(content, ("uses", 0, "mechanism", "scale"), str(scale * factor))
    assert not check(false).valid
    if content["measured"]["upper"] == "inf":
        return
    if content["measured"]["lower"] != "0" or "approx" not in claim:
        half = str(Fraction(content["measured"]["upper"]) / 4)
        assert not check(edited(content, ("measured",), {"lower": "0", "upper": half})).valid
