"""Every number of a mechanism at the edge of what may stand there, and just beyond it."""

import copy
from typing import Any

import pytest
from certificate_fields import NOISE as _PLAIN
from certificate_fields import PAIR, ROUNDED, STREAM, THRESHOLD

from exactdp import CertificateError
from exactdp.verify.checker.kinds import read_use
from exactdp.verify.checker.statement import read_claim

_NOISE = {**_PLAIN, "modulus": "8"}
_REAL = {"kind": "continuous", "law": "gaussian", "scale": "2", "sensitivity": "1",
    "neighbours": "add-remove", "poisson": "1"}  # fmt: skip
_VECTOR = {"kind": "vector", "law": {"name": "skellam", "variance": "9"}, "l2": "2", "l1": "2",
    "linf": "2", "dimension": "4", "modulus": None, "neighbours": "add-remove",
    "poisson": "0.5"}  # fmt: skip
_STREAM = {**STREAM, "matrix": {"name": "tree", "steps": "8", "restart": "4"}, "l2": "2",
    "noise": {"name": "gaussian", "sigma": "3"}}  # fmt: skip
_BLT = {"name": "blt", "steps": "8", "omega": ["0.5"], "theta": ["0.5"]}
_TABLE = {"name": "table", "rows": [["1"], ["1", "1"]]}
_WEIGHT = {"factor": "2", "exponent": "1"}
MECHANISMS: dict[str, dict[str, Any]] = {
    "noise": _NOISE,
    "inverted": {**_NOISE, "law": {"name": "discrete-laplace", "inverted-scale": "2"}},
    "polya": {**_NOISE, "law": {"name": "polya-difference", "shape": "1", "scale": "1"}},
    "sum": {**_NOISE, "law": {"name": "discrete-gaussian-sum", "count": "2", "sigma2": "3"}},
    "binomial": {**_NOISE, "law": {"name": "binomial", "trials": "9", "probability": "1/2"}},
    "finite": {**_NOISE, "law": {"name": "finite", "outcomes": ["0", "1"],
        "masses": ["0.5", "0.5"]}},
    "response": {"kind": "randomized-response", "epsilon": "1", "delta": "0"},
    "pair": PAIR,
    "real": _REAL,
    "vector": _VECTOR,
    "rounded": ROUNDED,
    "sampled": {"kind": "sampled", "mechanism": _NOISE, "poisson": "1"},
    "batches": {"kind": "fixed-size", "mechanism": _PLAIN, "size": "2", "population": "5"},
    "allocation": {"kind": "allocation", "scale": "2", "sensitivity": "1", "taken": "1",
        "steps": "4"},
    "stream": _STREAM,
    "toeplitz": {**_STREAM, "matrix": {"name": "sqrt-toeplitz", "steps": "8"}},
    "blt": {**_STREAM, "matrix": _BLT},
    "table": {**_STREAM, "matrix": _TABLE},
    "threshold": {**THRESHOLD, "noise": _PLAIN},
    "partition": {"kind": "partition-selection", "epsilon": "1", "delta": "0.1", "keys": "1"},
    "categories": {"kind": "categories", "epsilon": "1", "categories": "3"},
    "subsets": {"kind": "subset-selection", "epsilon": "1", "categories": "8", "size": "2"},
    "hadamard": {"kind": "hadamard-response", "epsilon": "1", "categories": "3"},
    "bits": {"kind": "bits", "on": _WEIGHT, "off": "1", "hashes": "2"},
    "reports": {"kind": "reports", "wrong": "0.5", "p": "0.5", "q": "0.75", "hashes": "2",
        "reports": "9"},
    "rows": {"kind": "local-table", "rows": [["1", "2"], [_WEIGHT, "1"]]},
    "exponential": {"kind": "exponential", "epsilon": "1"},
    "flip": {"kind": "permute-and-flip", "epsilon": "1"},
    "noisy-max": {"kind": "noisy-max", "scale": "2", "candidates": "3", "monotone": "no"},
    "sparse": {"kind": "sparse-vector", "epsilon": "1", "answers": "1", "share": "0.5",
        "variant": "2"},
    "shuffled": {"kind": "shuffled", "report": {"kind": "categories", "epsilon": "1",
        "categories": "3"}, "users": "100"},
    "guarantee": {"kind": "guarantee", "claim": {"kind": "rdp", "order": "2", "epsilon": "1"},
        "neighbours": "replace"},
}  # fmt: skip
_TINY = "1e-30"  # above a bound, however little
EDGES = [  # mechanism, where, what is at the edges, what is beyond them
    ("noise", "sensitivity", "1 1000000000", "0 1000000001"),
    ("noise", "modulus", "1 1e40", "0 -1 1.5"),
    ("noise", "law scale", "1.1e-10 1e16", "1e-10 10000000000000001"),
    ("inverted", "law inverted-scale", "1.1e-10 1e16", "1e-10 1.1e16"),
    ("polya", "law shape", "1.1e-21 1e16", "1e-21 1.1e16"),
    ("sum", "law count", "1 1e40", "0 1.5"),
    ("binomial", "law trials", "1 1e40", "0 1.5"),
    ("binomial", "law probability", "1e-30 0.99999999", "0 1 1.5"),
    ("finite", "law outcomes 0", "-1000000000000 1e12", "-1000000000001 1000000000001"),
    ("finite", "law masses 0", "0.5", "0.49 0.51"),
    ("response", "epsilon", "0 10000", "-1 10001"),
    ("response", "delta", "0 1", "-0.1 1.1"),
    ("pair", "slack", "0 1", "-0.1 1.1"),
    ("pair", "p 0", "0.5", "0.49 0.51"),
    ("real", "scale", "1.1e-10 1e16", "1e-10 1.1e16"),
    ("real", "poisson", f"{_TINY} 1", "0 1.1"),
    ("vector", "l2", "1 1e30", "0.9 1.1e30"),
    ("vector", "l1", "1 1e30", "0.9 1.1e30"),
    ("vector", "linf", "1 1e30", "0.9 1.1e30"),
    ("vector", "dimension", "1 1e15", "0 1000000000000001"),
    ("rounded", "l2", "1 1e30", "0 1.1e30"),
    ("rounded", "beta", f"{_TINY} 0.999", "0 1"),
    ("sampled", "poisson", f"{_TINY} 1", "0 1.1"),
    ("batches", "size", "1 5", "0 6"),
    ("batches", "population", "2 1e40", "1 0"),
    ("allocation", "taken", "1 4", "0 5"),
    ("allocation", "steps", "1 10000000", "0 10000001"),
    ("stream", "participations", "1 100000", "0 100001"),
    ("stream", "separation", "1", "0"),
    ("stream", "l2", f"{_TINY} 1000000000", "0 1000000001"),
    ("stream", "matrix restart", "1 8", "0 9"),
    ("stream", "matrix steps", "4", "3 0"),
    ("toeplitz", "matrix steps", "1 1000000", "0 1000001"),
    ("blt", "matrix steps", "1 1000000", "0 1000001"),
    ("blt", "matrix omega 0", "0 1", "1.1 -0.1"),
    ("blt", "matrix theta 0", "0 1", "1.1 -0.1"),
    ("table", "matrix rows 0 0", "-1e12 1e12", "-1000000000001 1000000000001"),
    ("threshold", "threshold", "1 1e30", "0 1.5 2e30"),
    ("threshold", "keys", "1 1000000", "0 1000001"),
    ("partition", "epsilon", f"{_TINY} 1000", "0 1001"),
    ("partition", "delta", f"{_TINY} 0.999", "0 1"),
    ("partition", "keys", "1 1000000", "0 1000001"),
    ("categories", "epsilon", "0 10000", "-1 10001"),
    ("categories", "categories", "2 1000000000", "1 1000000001"),
    ("subsets", "categories", "3 4096", "2 1 4097"),
    ("subsets", "size", "1 7", "0 8"),
    ("hadamard", "categories", "2 1000000000", "1 1000000001"),
    ("bits", "hashes", "1 32", "0 33"),
    ("bits", "on factor", "1e40", "0 2e40"),
    ("bits", "on exponent", "-10000 10000", "-10001 10001"),
    ("bits", "off", "1e40", "0 2e40"),
    ("reports", "wrong", "0 1", "-0.1 1.1"),
    ("reports", "hashes", "1 32", "0 33"),
    ("reports", "reports", "1 1000", "0 1001"),
    ("rows", "rows 0 0", "0 1e40", "2e40"),
    ("exponential", "epsilon", f"{_TINY} 1000", "0 1001"),
    ("flip", "epsilon", f"{_TINY} 1000", "0 1001"),
    ("noisy-max", "scale", "1.1e-10 1e16", "1e-10 1.1e16"),
    ("noisy-max", "candidates", "2 1000000000", "1 1000000001"),
    ("sparse", "answers", "1 1000000", "0 1000001"),
    ("sparse", "share", f"{_TINY} 0.999", "0 1"),
    ("sparse", "variant", "1 6", "0 7"),
    ("shuffled", "users", "1", "0 1.5"),
    ("guarantee", "claim epsilon", f"{_TINY} 10000", "0 10001"),
    ("guarantee", "claim order", "1.0001 10000", "1 10001"),
]


def _read(name: str, where: str, text: str) -> None:
    data = copy.deepcopy(MECHANISMS[name])
    place: Any = data
    *path, last = [int(key) if key.isdigit() else key for key in where.split()]
    for key in path:
        place = place[key]
    place[last] = text
    read_use({"mechanism": data, "times": "1"})


@pytest.mark.parametrize(("name", "where", "inside", "outside"), EDGES)
def test_the_edge_is_read_and_what_is_beyond_is_not(
    name: str, where: str, inside: str, outside: str
) -> None:
    for text in inside.split():
        _read(name, where, text)
    for text in outside.split():
        with pytest.raises(CertificateError):
            _read(name, where, text)


def test_times_are_whole_and_have_a_largest() -> None:
    for text in ("1", "1000000000"):
        assert read_use({"mechanism": _NOISE, "times": text})[1] == int(text)
    for text in ("0", "1.5", "1000000001"):
        with pytest.raises(CertificateError):
            read_use({"mechanism": _NOISE, "times": text})


def test_claims_at_the_edge() -> None:
    assert read_claim({"kind": "approx", "epsilon": "0", "delta": "1"})[0] == "approx"
    for order, delta in (("1", "0.5"), ("0.9", "0.5")):
        with pytest.raises(CertificateError):
            read_claim({"kind": "rdp", "order": order, "epsilon": delta})
    with pytest.raises(CertificateError):
        read_claim({"kind": "approx", "epsilon": "1", "delta": "1.0000001"})


def test_laws_that_are_not_known_are_not_taken_for_others() -> None:
    root = {key: value for key, value in _REAL.items() if key != "scale"} | {"scale-squared": "2"}
    assert read_use({"mechanism": root, "times": "1"}) != read_use(
        {"mechanism": _REAL, "times": "1"}
    )
    for wrong in ({**_REAL, "law": "cauchy"}, {**root, "law": "laplace"}, {**_REAL, "law": None}):
        with pytest.raises(CertificateError, match="law of continuous noise"):
            read_use({"mechanism": wrong, "times": "1"})
