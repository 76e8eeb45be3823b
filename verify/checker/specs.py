"""SPEC*K and CLAIM, as `exactdp` writes them, in the fields of certificates.

Only plain mechanisms are read here; the papers' presets and files are known to `exactdp check`,
which hands over what they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .arithmetic import root_below
from .kinds import read_use
from .laws import LAWS
from .notions import NOTIONS
from .shape import LONGEST_TEXT, CertificateError, read_number, shown
from .statement import read_claim

_LAWS = [name for name in LAWS if name != "finite"]
_NORMS = ("l2", "l1", "linf", "dimension")
_LARGEST = 10**40  # and the least is its inverse
_DECIMAL = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
_QUOTIENT = re.compile(f"({_DECIMAL})/({_DECIMAL})", re.ASCII)
_USERS = {"neighbours": "replace", "poisson": "1"}
_CONTINUOUS = {"gaussian": ("sigma", "l2"), "laplace": ("scale", "l1")}


def claim_fields(text: str) -> dict[str, str]:
    """The fields of a claim: KIND:NUMBER,... Raises CertificateError for anything else."""
    kind, _, rest = text.partition(":")
    numbers = [_divided(number) for number in rest.split(",")]
    if kind not in NOTIONS or len(numbers) != len(NOTIONS[kind].numbers):
        raise CertificateError(f"a claim is one of {', '.join(NOTIONS)} with its numbers: {text}")
    found = {"kind": kind, **dict(zip(NOTIONS[kind].numbers, numbers, strict=True))}
    read_claim(found)
    return found


def spec_fields(text: str) -> dict[str, Any]:
    """The fields of a use, SPEC*K. Raises CertificateError for what is not a plain mechanism."""
    spec, star, times = text.rpartition("*")
    name, _, rest = (spec if star else text).partition(":")
    given = dict(each.partition("=")[::2] for each in rest.split(",")) if rest else {}
    values = {key: _divided(value) for key, value in given.items()}
    is_vector = name in _LAWS and not values.keys().isdisjoint(_NORMS)
    if name == "gaussian" and "allocation" in values:
        return _read(_allocation(values), times if star else "1")
    is_whole = is_vector or (name in _CONTINUOUS and "fixed-size" not in values)
    sampled = {} if is_whole else _sampled(values)
    if name == "randomized-response":
        mechanism: dict[str, Any] = {"kind": name, "delta": "0", **values}
    elif name in _CONTINUOUS:
        mechanism = _continuous(name, values)
    elif name in _LAWS:
        vector = _vector(values) if is_vector else {}
        sensitivity = values.pop("sensitivity", "1")
        modulus = values.pop("modulus", None)
        if name == "discrete-laplace" and "epsilon" in values:
            values["scale"] = _scale(values, vector.get("l1") if vector else sensitivity)
        if "rho" in values and name == "discrete-gaussian":
            norm = vector.get("l2") if vector.get("kind") == "vector" else None
            values["sigma2"] = _spread(values, norm if vector else sensitivity)
        if "sigma" in values and name.startswith("discrete-gaussian"):
            values["sigma2"] = str(_positive(values.pop("sigma"), "sigma") ** 2)
        mechanism = {
            **(vector or {"kind": "additive", "sensitivity": sensitivity}),
            "law": {"name": name, **values},
            "modulus": None if modulus == "none" else modulus,
        }
    else:
        raise CertificateError(
            f"{name[:40]!r} is not known to the checker alone: it reads {', '.join(_LAWS)}, "
            "randomized-response, gaussian and laplace; `exactdp check` reads the others"
        )
    mechanism = sampled | {"mechanism": mechanism} if sampled else mechanism
    return _read(mechanism, times if star else "1")


def _read(mechanism: Mapping[str, Any], times: str) -> dict[str, Any]:
    found = {"mechanism": mechanism, "times": times}
    read_use(found)
    return found


def _divided(text: str) -> str:
    """4.8448/10 as certificates write it; anything else as it is."""
    if len(text) > LONGEST_TEXT or not set(text) & set(".eE"):
        return text  # 100/10000 may be users out of all
    quotient = _QUOTIENT.fullmatch(text)
    if quotient is None or not (below := Fraction(quotient[2])) > 0:
        return text
    return str(Fraction(quotient[1]) / below)


def _allocation(values: dict[str, str]) -> dict[str, str]:
    taken, _, steps = values.pop("allocation").partition("/")
    if values.pop("neighbours", "replace") != "add-remove":
        raise CertificateError("neighbours must be add-remove where users are allocated")
    found = {"kind": "allocation", "scale": values.pop("sigma", "")}
    found["sensitivity"] = values.pop("sensitivity", "1")
    return found | {"taken": taken, "steps": steps} | values


def _sampled(values: dict[str, str]) -> dict[str, Any]:
    """The fields of what is sampled, or has other neighbours, but the mechanism's own."""
    if "fixed-size" in values:
        if values.pop("neighbours", "replace") != "replace":
            raise CertificateError("neighbours must be replace where batches are of a fixed size")
        size, _, population = values.pop("fixed-size").partition("/")
        return {"kind": "fixed-size", "size": size, "population": population}
    neighbours, rate = values.pop("neighbours", "replace"), values.pop("poisson", "1")
    if neighbours == "replace" and rate == "1":
        return {}
    if neighbours != "add-remove":
        raise CertificateError("neighbours must be add-remove where users are sampled")
    return {"kind": "sampled", "poisson": rate}


def _vector(values: dict[str, str]) -> dict[str, Any]:
    """The fields of vectors but their law and modulus."""
    if "sensitivity" in values:
        raise CertificateError("sensitivity is of single numbers: a vector takes its norms")
    users = {key: values.pop(key, default) for key, default in _USERS.items()}
    if "rounding" in values:
        if not values.keys().isdisjoint(("l1", "linf")):
            raise CertificateError("rounding takes l2 only")
        rounding, _, beta = values.pop("rounding").partition(":")
        norms = {norm: values.pop(norm, None) for norm in ("l2", "dimension")}
        told = {"rounding": rounding, "beta": beta or None}
        return {"kind": "rounded-vector", **norms, **told, **users}
    norms = {norm: values.pop(norm, None) for norm in _NORMS}
    return {"kind": "vector", **norms, **users}


def _continuous(name: str, values: dict[str, str]) -> dict[str, str]:
    scale, norm = _CONTINUOUS[name]
    sensitivity = values.pop(norm, None) or values.pop("sensitivity", "1")
    found = {"kind": "continuous", "law": name, "sensitivity": sensitivity}
    found |= {"neighbours": "replace", "poisson": "1"}
    if "epsilon" in values and name == "laplace":
        found["scale"] = _scale(values, sensitivity)
    elif scale in values:
        found["scale"] = values.pop(scale)
    elif name == "gaussian" and not values.keys().isdisjoint(("sigma2", "rho")):
        square = _positive(values.pop("sigma2", "") or _spread(values, sensitivity), "sigma2")
        root = root_below(square)
        exact = root**2 == square
        found["scale" if exact else "scale-squared"] = str(root if exact else square)
    if odd := sorted(values.keys() - _USERS):
        raise CertificateError(f"{name} has no {shown(odd[0])}, or it is given in two ways")
    return found | values


def _positive(text: str, name: str) -> Fraction:
    return read_number(text, name, above=Fraction(1, _LARGEST), at_most=_LARGEST)


def _spread(values: dict[str, str], sensitivity: str | None) -> str:
    """The sigma2 of Gaussian noise of this rho; the sensitivity of a vector is in L2."""
    if sensitivity is None or not values.keys().isdisjoint(("sigma", "sigma2")):
        raise CertificateError("rho is in place of sigma2, and of vectors with l2 only")
    rho = _positive(values.pop("rho"), "rho")
    return str(_positive(sensitivity, "sensitivity") ** 2 / (2 * rho))


def _scale(values: dict[str, str], sensitivity: str | None) -> str:
    """The scale of Laplace noise of this epsilon; the sensitivity of a vector is in L1."""
    if sensitivity is None or "scale" in values:
        raise CertificateError("epsilon is in place of scale, and of vectors with l1 only")
    epsilon = _positive(values.pop("epsilon"), "epsilon")
    return str(_positive(sensitivity, "sensitivity") / epsilon)
