"""The fields of mechanisms in certificates, one of each shape, for tests to change."""

from typing import Any

LAPLACE = {"name": "discrete-laplace", "scale": "10"}
NOISE: dict[str, Any] = {"kind": "additive", "law": LAPLACE, "sensitivity": "1", "modulus": None}
PAIR: dict[str, Any] = {
    "kind": "pair",
    "outcomes": ["a", "b"],
    "p": ["0.5", "0.5"],
    "q": ["0.25", "0.75"],
    "slack": "0",
}
ROUNDED: dict[str, Any] = {
    "kind": "rounded-vector",
    "law": {"name": "skellam", "variance": "9"},
    "l2": "2",
    "dimension": "4",
    "rounding": "conditional",
    "beta": "0.5",
    "modulus": "64",
    "neighbours": "add-remove",
    "poisson": "0.5",
}
STREAM: dict[str, Any] = {
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
THRESHOLD: dict[str, Any] = {
    "kind": "threshold",
    "noise": {**NOISE, "law": {"name": "discrete-laplace", "scale": "1"}},
    "threshold": "5",
    "keys": "1",
    "names": "no",
    "poisson": "1",
}
