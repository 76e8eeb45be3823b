"""Certificates of families: on both sides of the boundary, and none of what is false."""

from typing import Any

import pytest
from certificate_fields import STREAM, THRESHOLD
from certificates import certified, check, edited, in_words, shape

import exactdp
from exactdp import NotCertifiedError, Verdict
from exactdp.cli.main import main

SLOW = pytest.mark.slow
TABLE = "value,0,1,2\na,exp(1),1,1\nb,1,exp(1),1\nc,1,1,exp(1)\n"
PLAIN = "value,0,1,2\na,1/2,1/4,1/4\nb,1/4,1/2,1/4\nc,0.25,0.25,0.5\n"

# spec; a claim that is verified, one that is refuted; a field, and what makes a false one of it
CASES = {
    "laplace threshold": (
        "laplace:epsilon=0.66,threshold=100", "approx:0.66,2.1e-29", "approx:0.66,2e-29",
        ("threshold", "99"),
    ),
    "several keys": (
        "discrete-laplace:epsilon=0.1,threshold=200,keys=10", "approx:1,1e-7", "approx:0.9,1e-7",
        ("keys", "12"),
    ),
    "sampled threshold": (
        "discrete-laplace:scale=1,threshold=20,poisson=0.1", "approx:0.2,1e-6", "approx:0.1,1e-6",
        ("poisson", "0.2"),
    ),
    "names": (
        "discrete-laplace:scale=1,threshold=5,names=yes", "approx:0.98,0.02", "approx:0.97,0.02",
        ("threshold", "4"),
    ),
    "names of gaussian counts": (
        "discrete-gaussian:sigma2=4,threshold=10,names=yes", "approx:1.35,1e-3", "approx:1.3,1e-3",
        ("threshold", "5"),
    ),
    "names of continuous counts": (
        "laplace:scale=3,threshold=50,names=yes", "approx:1/3,1e-5", "approx:0.1,1e-6",
        ("threshold", "10"),
    ),
    "partition selection": (
        "partition-selection:epsilon=1,delta=1e-6", "approx:1,1e-6", "approx:0.999,1e-6",
        ("delta", "2e-6"),
    ),
    "tree of steps exactly apart": (
        "tree:steps=10000,sigma=10,restart=2000,participations=100,separation=100,fixed=yes",
        "zcdp:10.625", "zcdp:10.6249", ("fixed", "no"),
    ),
    "tree of shares": (
        "tree:steps=16,sigma=10,noise=discrete-gaussian,clients=20,dropout=3", "zcdp:0.03",
        "zcdp:0.029", ("participations", "2"),
    ),
    "skellam tree": (
        "tree:steps=16,sigma=10,noise=skellam,dimension=3", "approx:0.52,1e-3", "approx:0.5,1e-3",
        ("l2", "2"),
    ),
    "sketch": ("count-mean-sketch:epsilon=4", "pure:4", "approx:3.9,0.01", ("on", "8")),
    "one bit": ("one-bit-mean:epsilon=1", "pure:1", "pure:0.999", ("epsilon", "2")),
    "local table": (
        "local:file=table.csv,normalise=yes", "pure:1", "approx:0.9,0.001",
        ("rows", 0, 0, "exponent", "2"),
    ),
    "shuffled table": (
        "local:file=plain.csv,shuffled=30", "approx:0.6,1e-3", "approx:0.05,1e-3", ("users", "3"),
    ),
    "a root": ("gaussian:rho=0.1*10", "zcdp:1", "approx:7,1e-6", ("scale-squared", "4")),
}  # fmt: skip
WRONG = {  # variants that are not private
    "told values": ("sparse-vector:epsilon=1,variant=3", "pure:1"),
    "no noise": ("sparse-vector:epsilon=1,variant=5", "pure:100"),
    "no end": ("sparse-vector:epsilon=1,variant=6", "pure:1"),
}
LONG = {"partition selection"}  # seconds
EACH = [pytest.param(name, marks=SLOW if name in LONG else ()) for name in CASES]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "plain.csv").write_text(PLAIN)


def made(spec: str, claim: str) -> dict[str, Any]:
    return certified(spec, claim)


@pytest.mark.slow_cases(
    "names of gaussian counts", "tree of steps exactly apart", "tree of shares", "shuffled table"
)
@pytest.mark.contract
@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("name", EACH)
def test_on_both_sides_of_the_boundary(name: str) -> None:
    spec, holds, fails, (*path, value) = CASES[name]
    for claim, verdict in ((holds, "VERIFIED"), (fails, "REFUTED")):
        content = made(spec, claim)
        assert content["verdict"] == verdict and check(content).valid
        asked = ["--expect", spec, "--claim", claim, "--verdict", verdict]
        assert in_words(content, *asked).startswith("valid")
        assert exactdp.audit(spec, claim).verdict is Verdict[verdict]
        other = {"VERIFIED": "REFUTED", "REFUTED": "VERIFIED"}[verdict]
        assert not check(edited(content, ("verdict",), other)).valid
    changed = edited(made(spec, holds), ("uses", 0, "mechanism", *path), value)
    shape().validate(changed)
    assert not check(changed).valid


@pytest.mark.contract
@pytest.mark.parametrize("name", ["told values", "no noise", pytest.param("no end", marks=SLOW)])
def test_what_is_not_private_is_refuted_only(name: str) -> None:
    content = made(*WRONG[name])
    assert content["verdict"] == "REFUTED" and check(content).valid
    assert in_words(content).startswith("valid")
    kind, bound = "pure", str(10**6)
    claim = {"kind": kind, "epsilon": bound}
    verified = content | {"claim": claim, "verdict": "VERIFIED"}
    assert not check(verified | {"measured": {"lower": "0", "upper": bound}}).valid


@pytest.mark.contract
def test_an_audit_from_the_command_line(capsys):
    spec, holds, fails, _ = CASES["laplace threshold"]
    for claim, code, verdict in ((holds, 0, "VERIFIED"), (fails, 1, "REFUTED")):
        assert main(["audit", spec, "--claim", claim, "--certificate", "x.json"]) == code
        expected = ["--expect", spec, "--claim", claim, "--verdict", verdict]
        assert main(["check", "x.json", *expected]) == 0
        assert main(["check", "x.json", "--expect", "laplace:epsilon=0.66,threshold=99"]) == 1
    assert "told where it reaches 100" in capsys.readouterr().out


def stated(mechanism: dict[str, Any], claim: str = "approx:1,1/10", **more: Any) -> dict[str, Any]:
    kind, _, rest = claim.partition(":")
    epsilon, *delta = rest.split(",")
    counts = mechanism["kind"] in ("threshold", "partition-selection")
    kept = "add-remove" if counts else "replace"
    return {
        "format": "exactdp certificate",
        "version": 1,
        "neighbours": kept,
        "orientation": "free" if kept == "replace" else "fixed",
        "uses": [{"mechanism": mechanism, "times": "1"}],
        "claim": {"kind": kind, "epsilon": epsilon, **({"delta": delta[0]} if delta else {})},
        "verdict": "VERIFIED",
        "measured": {"lower": "0", "upper": epsilon},
        "hints": {},
        **more,
    }


@pytest.mark.contract
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"threshold": "0"}, "at least the sensitivity"),
        ({"threshold": "5.5"}, "a whole number"),
        ({"names": "maybe"}, "yes or no"),
        ({"poisson": "0.5", "keys": "2"}, "of one key"),
        ({"noise": {**THRESHOLD["noise"], "modulus": "7"}}, "no modulus"),
        ({"keys": "1000001"}, "too large"),
    ],
)
def test_odd_thresholds_are_refused(fields, told):
    assert check(stated(THRESHOLD)).valid
    assert told in check(stated(THRESHOLD | fields)).reason


@pytest.mark.contract
@pytest.mark.parametrize(
    ("mechanism", "told"),
    [
        ({"kind": "exponential", "epsilon": "0"}, "too small"),
        ({"kind": "shuffled", "report": {"kind": "exponential", "epsilon": "1"}, "users": "2"},
         "must be one of a local randomizer"),
        ({"kind": "categories", "epsilon": "1", "categories": "1"}, "too small"),
        ({"kind": "subset-selection", "epsilon": "1", "categories": "3", "size": "3"}, "too large"),
        ({"kind": "bits", "on": "0", "off": "1", "hashes": "1"}, "above 0"),
        ({"kind": "bits", "on": {"factor": "1"}, "off": "1", "hashes": "1"}, "exponent"),
        ({"kind": "local-table", "rows": [["1", "1"], ["1"]]}, "as long"),
        ({"kind": "local-table", "rows": [["0"], ["0"]]}, "not all 0"),
        ({"kind": "local-table", "rows": [["1"] * 4096] * 8}, "too many"),
        ({"kind": "guarantee", "claim": {"kind": "pure", "epsilon": "1"}, "neighbours": "replace"},
         "zcdp or rdp"),
        ({"kind": "noisy-max", "scale": "1", "candidates": "2", "monotone": ""}, "yes or no"),
        ({"kind": "sparse-vector", "epsilon": "1", "answers": "1", "share": "1", "variant": "1"},
         "below 1"),
        ({"kind": "reports", "wrong": "1/3", "p": "1", "q": "2", "hashes": "1", "reports": "1"},
         "too large"),
    ],
)  # fmt: skip
def test_odd_reports_and_selections_are_refused(mechanism, told):
    assert told in check(stated(mechanism)).reason


@pytest.mark.contract
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"matrix": {"name": "tree", "steps": "8", "restart": "9"}}, "too large"),
        ({"matrix": {"name": "table", "rows": [["1"], ["1"]]}}, "up to the diagonal"),
        ({"matrix": {"name": "blt", "steps": "2", "omega": ["1", "1"], "theta": ["1", "1"]}},
         "at most 1"),
        ({"noise": {"name": "polya-difference", "shape": "1", "scale": "1"}}, "must be gaussian"),
        ({"dimension": "4"}, "noise on the integers"),
        ({"fixed": None}, "yes or no"),
    ],
)  # fmt: skip
def test_odd_streams_are_refused(fields, told):
    assert check(stated(STREAM, "approx:15,1/10")).valid
    assert told in check(stated(STREAM | fields, "approx:15,1/10")).reason


@pytest.mark.contract
@pytest.mark.quick_cases(8)
@pytest.mark.parametrize(
    ("mechanism", "fields"),
    [
        (THRESHOLD, {"threshold": str(10**30)}),
        (THRESHOLD, {"keys": "1000000"}),
        (THRESHOLD, {"keys": "1000", "names": "yes", "threshold": "100000"}),
        (STREAM, {"matrix": {"name": "tree", "steps": str(2**40), "restart": str(2**40)},
                  "participations": "100000"}),
        (STREAM, {"matrix": {"name": "tree", "steps": str(2**40), "restart": "1"},
                  "participations": "300", "separation": "3"}),
        (STREAM, {"matrix": {"name": "sqrt-toeplitz", "steps": "1000000"}}),
        (STREAM, {"matrix": {"name": "table", "rows": [["1/3"] * i for i in range(1, 501)]},
                  "participations": "500"}),
        (STREAM, {"matrix": {"name": "table", "rows": [["-1"] * i for i in range(1, 401)]},
                  "participations": "9", "fixed": "yes"}),
        ({"kind": "exponential", "epsilon": "1000"}, {}),
        ({"kind": "shuffled", "users": "1000000000", "report":
          {"kind": "categories", "epsilon": "1/100", "categories": "1000000000"}}, {}),
        ({"kind": "shuffled", "users": "3", "report":
          {"kind": "categories", "epsilon": "10000", "categories": "3"}}, {}),
        ({"kind": "noisy-max", "scale": "1e9", "candidates": "9", "monotone": "no"}, {}),
        ({"kind": "noisy-max", "scale": "1e-9", "candidates": "9", "monotone": "no"}, {}),
        ({"kind": "sparse-vector", "epsilon": "1e-3", "answers": "1000000", "share": "1/2",
          "variant": "4"}, {}),
        ({"kind": "bits", "on": "3", "off": "1/7", "hashes": "32"}, {}),
        ({"kind": "bits", "on": {"factor": "1e40", "exponent": "10000"}, "off": "1", "hashes": "9"},
         {}),
        ({"kind": "reports", "wrong": "1/3", "p": "1/5", "q": "2/7", "hashes": "32",
          "reports": "1000"}, {}),
        ({"kind": "subset-selection", "epsilon": "1", "categories": "4096", "size": "2000"}, {}),
        ({"kind": "local-table", "rows": [[str(i), "1"] for i in range(1, 300)]}, {}),
    ],
)  # fmt: skip
def test_hostile_sizes_end_in_time(mechanism, fields):
    from time import monotonic

    start = monotonic()
    outcome = check(stated(mechanism | fields), 1.0)
    assert monotonic() - start < 3.5
    assert not outcome.valid or outcome.reason


@pytest.mark.slow_cases("matrix2")
@pytest.mark.contract
@pytest.mark.parametrize(
    "matrix",
    [
        {"name": "sqrt-toeplitz", "steps": "8"},
        {"name": "blt", "steps": "8", "omega": ["1"], "theta": ["1"]},
        {"name": "table", "rows": [["1/2"]]},
    ],
)
def test_noise_on_the_integers_needs_a_matrix_of_whole_numbers(matrix):
    noise = {"name": "skellam", "variance": "100"}
    assert check(stated(STREAM | {"noise": noise}, "approx:2,1e-3")).valid
    outcome = check(stated(STREAM | {"noise": noise, "matrix": matrix}, "approx:2,1e-3"))
    assert outcome.undecided and "whole numbers" in outcome.reason


@pytest.mark.contract
def test_steps_of_a_user_are_a_hint_only():
    content = certified("tree:steps=100,sigma=10,participations=3,separation=10", "zcdp:0.01")
    fits = edited(content, ("hints",), {"along": [["0", "10", "20"]]})
    assert check(fits).valid
    for steps in (["0", "9", "20"], ["0", "10", "20", "30"], ["80", "90", "100"]):
        assert not check(edited(content, ("hints",), {"along": [steps]})).valid


@pytest.mark.contract
@pytest.mark.slow
def test_forged_bits_that_are_shuffled_are_not_valid():
    content = made("unary-encoding:epsilon=1,shuffled=10", "approx:0.9,1e-2")
    report = content["uses"][0]["mechanism"]["report"]
    for forged in (
        {"on": report["off"], "off": report["on"]},
        {"hashes": "2"},
        {"off": {"factor": "1", "exponent": "-2"}},
        {"kind": "reports"},
    ):
        moved = edited(content, ("uses", 0, "mechanism", "report"), report | forged)
        assert not check(moved).valid


@pytest.mark.contract
def test_two_bits_of_which_either_is_set_have_no_certificate():
    """Nobody holds a third value, and no field says so."""
    spec = "unary-encoding:epsilon=1,bits=2,shuffled=10"
    with pytest.raises(NotCertifiedError):
        exactdp.certify(spec, "approx:0.9,1e-2")
