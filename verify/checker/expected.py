"""What a reader expects a certificate to be about: SPEC*K and CLAIM, as `exactdp` writes them.

Only plain mechanisms are read here; the papers' presets and files are known to `exactdp check`,
which hands over what they stand for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .reading import CLAIMS, Statement, read_claim, read_use
from .shape import CertificateError

_LAWS = {
    "discrete-laplace": ("scale",),
    "polya-difference": ("shape", "scale"),
    "skellam": ("variance",),
    "discrete-gaussian": ("sigma2",),
    "discrete-gaussian-sum": ("count", "sigma2"),
    "binomial": ("trials", "probability"),
}
_NORMS = ("l2", "l1", "linf", "dimension")
_USERS = {"neighbours": "replace", "poisson": "1"}
_CONTINUOUS = {"gaussian": ("sigma", "l2"), "laplace": ("scale", "l1")}


def claim_fields(text: str) -> dict[str, str]:
    """The fields of a claim: KIND:NUMBER,... Raises CertificateError for anything else."""
    kind, _, rest = text.partition(":")
    numbers = rest.split(",")
    if kind not in CLAIMS or len(numbers) != len(CLAIMS[kind]):
        raise CertificateError(f"a claim is one of {', '.join(CLAIMS)} with its numbers: {text}")
    found = {"kind": kind, **dict(zip(CLAIMS[kind], numbers, strict=True))}
    read_claim(found)
    return found


def spec_fields(text: str) -> dict[str, Any]:
    """The fields of a use, SPEC*K. Raises CertificateError for what is not a plain mechanism."""
    spec, star, times = text.rpartition("*")
    name, _, rest = (spec if star else text).partition(":")
    values = dict(each.partition("=")[::2] for each in rest.split(",")) if rest else {}
    is_vector = name in _LAWS and not values.keys().isdisjoint(_NORMS)
    sampled = {} if name in _CONTINUOUS or is_vector else _sampled(values)
    if name == "randomized-response":
        mechanism: dict[str, Any] = {"kind": name, "delta": "0", **values}
    elif name in _CONTINUOUS:
        mechanism = _continuous(name, values)
    elif name in _LAWS:
        vector = _vector(values) if is_vector else {}
        sensitivity = values.pop("sensitivity", "1")
        modulus = values.pop("modulus", None)
        if name == "discrete-laplace" and "epsilon" in values:
            epsilon = Fraction(values.pop("epsilon"))
            values["scale"] = str(Fraction(sensitivity) / epsilon)
        if "sigma" in values and "sigma2" in _LAWS[name]:
            values["sigma2"] = str(Fraction(values.pop("sigma")) ** 2)
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
    found = {"mechanism": mechanism, "times": times if star else "1"}
    read_use(found)
    return found


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
        found["scale"] = str(Fraction(sensitivity) / Fraction(values.pop("epsilon")))
    elif scale in values:
        found["scale"] = values.pop(scale)
    return found | values


def difference(
    statement: Statement, uses: Sequence[Mapping[str, Any]], claim: Mapping[str, Any] | None
) -> str | None:
    """How the certificate is of something else; None where it is what was expected.

    uses: fields of the uses expected, in any order; none: any will do.
    """
    if uses:
        wanted: Counter[Any] = Counter()
        for each in uses:
            mechanism, times = read_use(dict(each))
            wanted[mechanism] += times
        held: Counter[Any] = Counter()
        for mechanism, times in statement.uses:
            held[mechanism] += times
        if wanted != held:
            return "it is of other uses than expected"
    if claim is not None and read_claim(dict(claim)) != (statement.kind, dict(statement.numbers)):
        return "it is of another claim than expected"
    return None
