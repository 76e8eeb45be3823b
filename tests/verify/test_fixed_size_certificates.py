"""Certificates of batches of a fixed size: what is open, and what is no certificate."""

import pytest
from certificates import check, edited

import exactdp

pytestmark = pytest.mark.contract
LAPLACE = "discrete-laplace:epsilon=1,fixed-size=2/5"
CONTINUOUS = {"kind": "continuous", "law": "gaussian", "scale": "2", "sensitivity": "1"}


def test_an_open_claim_has_none():
    spec = "randomized-response:epsilon=1,fixed-size=2/5"
    found = exactdp.audit(20 * exactdp.mechanism(spec), "rdp:2,3.4")
    assert found.verdict.name == "UNDECIDED" and "is open" in str(found.note)
    with pytest.raises(exactdp.NotCertifiedError, match="batches of a fixed size is open"):
        exactdp.certify(20 * exactdp.mechanism(spec), "rdp:2,3.4")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("size",), "6"),
        (("size",), "0"),
        (("mechanism", "modulus"), "9"),
        (("mechanism", "law"), {"name": "binomial", "trials": "4", "probability": "1/2"}),
        (("mechanism", "law"), {"name": "polya-difference", "shape": "0.9", "scale": "2"}),
        (("mechanism", "law"), {"name": "finite", "outcomes": ["0"], "masses": ["1"]}),
        (("mechanism",), CONTINUOUS | {"neighbours": "add-remove", "poisson": "1"}),
        (("mechanism",), CONTINUOUS | {"neighbours": "add-remove", "poisson": "1/2"}),
        (("mechanism",), {"kind": "pair", "outcomes": ["a"], "p": ["1"], "q": ["1"], "slack": "0"}),
    ],
)
def test_batches_of_which_nothing_is_known_are_refused(path, value):
    content = exactdp.certify(LAPLACE, "pure:1").content
    reason = check(edited(content, ("uses", 0, "mechanism", *path), value)).reason
    assert reason.startswith("not a certificate")
    assert "size" in reason or "mechanism of batches" in reason


def test_neighbours_have_to_be_named_and_to_be_those():
    content = exactdp.certify(LAPLACE, "pure:1").content
    assert not check(edited(content, ("neighbours",), "add-remove")).valid
    unnamed = {key: content[key] for key in content if key not in ("neighbours", "orientation")}
    assert not check(unnamed).valid
    with pytest.raises(exactdp.ParameterError, match="replace"):
        exactdp.mechanism(f"{LAPLACE},neighbours=add-remove")
