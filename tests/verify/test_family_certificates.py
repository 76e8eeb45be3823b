"""Certificates of families: on both sides of the boundary, and none of what is false."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from certificates import check, edited, reconstructed, shape

import exactdp
from exactdp.cli.main import main
from exactdp.verify import Verdict
from exactdp.verify.certificate import certificate_of
from exactdp.verify.checker.reading import read
from exactdp.verify.checker.words import described

SLOW = pytest.mark.slow
C = "1,0,0\n1/2,1,0\n3/8,1/2,1\n"
SIGNED = "1,0,0\n-1/2,1,0\n1,-1/3,1\n"
BLT = {"omega": [0.25, 0.125], "theta": [0.875, 0.5]}

# spec; a claim that is verified, one that is refuted; a field, and what makes a false one of it
CASES = {
    "laplace threshold": (
        "laplace:epsilon=0.66,threshold=100", "approx:0.66,2.1e-29", "approx:0.66,2e-29",
        ("threshold", "99"),
    ),
    "inclusive threshold": (
        "discrete-laplace:scale=1,threshold=5", "approx:1,0.0133899", "approx:1,0.0133897",
        ("threshold", "4"),
    ),
    "several keys": (
        "discrete-laplace:epsilon=0.1,threshold=200,keys=10", "approx:1,1e-7", "approx:0.9,1e-7",
        ("keys", "12"),
    ),
    "gaussian threshold": (
        "gaussian:sigma=5,threshold=40", "approx:0.8,1e-5", "approx:0.7,1e-5", ("threshold", "20"),
    ),
    "sampled threshold": (
        "discrete-laplace:scale=1,threshold=20,poisson=0.1", "approx:0.2,1e-6", "approx:0.1,1e-6",
        ("poisson", "0.2"),
    ),
    "skellam threshold": (
        "skellam:variance=4,threshold=10", "approx:1.2,1e-3", "approx:1.1,1e-3",
        ("threshold", "6"),
    ),
    "threshold composed": (
        "gaussian:sigma=5,threshold=40*3", "approx:1.4,1e-5", "approx:1.3,1e-5",
        ("threshold", "20"),
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
    "tree": (
        "tree:steps=1024,sigma=10", "zcdp:0.055", "zcdp:0.0549999", ("participations", "2"),
    ),
    "tree begun anew": (
        "tree:steps=100,sigma=10,participations=3,separation=10,restart=16", "approx:2.5,1e-6",
        "approx:1,1e-6", ("separation", "1"),
    ),
    "skellam tree": (
        "tree:steps=16,sigma=10,noise=skellam,dimension=3", "approx:0.52,1e-3", "approx:0.5,1e-3",
        ("l2", "2"),
    ),
    "root of prefix sums": (
        "sqrt-toeplitz:steps=2000,sigma=10,separation=342,participations=6", "zcdp:0.1827",
        "zcdp:0.1826", ("separation", "300"),
    ),
    "matrix": ("matrix:file=C.csv,sigma=2", "gdp:0.59", "gdp:0.589", ("noise", "sigma", "1")),
    "signed matrix": (
        "matrix:file=signed.csv,sigma=2,participations=2", "rdp:2,2", "rdp:2,0.5",
        ("participations", "3"),
    ),
    "blt": ("blt:file=blt.json,steps=50,sigma=2", "zcdp:0.175", "zcdp:0.174", ("l2", "2")),
    "a root": ("gaussian:rho=0.1*10", "zcdp:1", "approx:7,1e-6", ("scale-squared", "4")),
}  # fmt: skip
LONG = {"several keys", "threshold composed", "partition selection"}  # seconds


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "C.csv").write_text(C)
    (tmp_path / "signed.csv").write_text(SIGNED)
    (tmp_path / "blt.json").write_text(json.dumps(BLT))


def made(spec: str, claim: str) -> dict[str, Any]:
    return certificate_of(exactdp.audit(exactdp.compose(spec), claim)).content


@pytest.mark.parametrize("name", CASES)
def test_on_both_sides_of_the_boundary(name: str) -> None:
    spec, holds, fails, (*path, value) = CASES[name]
    for claim, verdict in ((holds, "VERIFIED"), (fails, "REFUTED")):
        content = made(spec, claim)
        assert content["verdict"] == verdict and check(content).valid
        statement = read(content)
        assert all(line and "\n" not in line for line in described(statement))
        if name not in LONG:
            composition, _ = reconstructed(content)
            assert exactdp.audit(composition, claim).verdict is Verdict[verdict]
        other = {"VERIFIED": "REFUTED", "REFUTED": "VERIFIED"}[verdict]
        assert not check(edited(content, ("verdict",), other)).valid
    changed = edited(made(spec, holds), ("uses", 0, "mechanism", *path), value)
    shape().validate(changed)
    assert not check(changed).valid


@pytest.mark.parametrize(
    "name", sorted(CASES.keys() - LONG) + [pytest.param(name, marks=SLOW) for name in sorted(LONG)]
)
def test_other_numbers_are_not_valid(name: str) -> None:
    spec, holds, _, _ = CASES[name]
    content = made(spec, holds)
    low, high = (Fraction(content["measured"][side]) for side in ("lower", "upper"))
    bound = content["claim"][read(content).bounded]
    ends = [(Fraction(0), (low or high / 4) / 2)]
    ends += [(high * 2, high * 3)] if low else []
    for least, most in ends:
        moved = edited(content, ("measured",), {"lower": str(least), "upper": str(most)})
        assert not check(moved).valid
    assert Fraction(bound) >= high


def test_an_audit_from_the_command_line(capsys):
    spec, holds, fails, _ = CASES["laplace threshold"]
    for claim, code, verdict in ((holds, 0, "VERIFIED"), (fails, 1, "REFUTED")):
        assert main(["audit", spec, "--claim", claim, "--certificate", "x.json"]) == code
        expected = ["--expect", spec, "--claim", claim, "--verdict", verdict]
        assert main(["check", "x.json", *expected]) == 0
        assert main(["check", "x.json", "--expect", "laplace:epsilon=0.66,threshold=99"]) == 1
    assert "told where it reaches 100" in capsys.readouterr().out


THRESHOLD = {
    "kind": "threshold",
    "noise": {
        "kind": "additive",
        "law": {"name": "discrete-laplace", "scale": "1"},
        "sensitivity": "1",
        "modulus": None,
    },
    "threshold": "5",
    "keys": "1",
    "names": "no",
    "poisson": "1",
}
STREAM = {
    "kind": "stream",
    "matrix": {"name": "tree", "steps": "8", "restart": "8"},
    "participations": "1",
    "separation": "1",
    "fixed": "no",
    "l2": "1",
    "noise": {"name": "gaussian", "sigma": "1"},
    "dimension": None,
    "neighbours": "replace",
}


def stated(mechanism: dict[str, Any], claim: str = "approx:1,1/10", **more: Any) -> dict[str, Any]:
    kind, _, rest = claim.partition(":")
    epsilon, *delta = rest.split(",")
    kept = "replace" if mechanism["kind"] == "stream" else "add-remove"
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
    ],
)  # fmt: skip
def test_hostile_sizes_end_in_time(mechanism, fields):
    from time import monotonic

    start = monotonic()
    outcome = check(stated(mechanism | fields), 1.0)
    assert monotonic() - start < 3.5
    assert not outcome.valid or outcome.reason


def test_steps_of_a_user_are_a_hint_only():
    content = made("tree:steps=100,sigma=10,participations=3,separation=10", "zcdp:0.01")
    fits = edited(content, ("hints",), {"along": [["0", "10", "20"]]})
    assert check(fits).valid
    for steps in (["0", "9", "20"], ["0", "10", "20", "30"], ["80", "90", "100"]):
        assert not check(edited(content, ("hints",), {"along": [steps]})).valid
