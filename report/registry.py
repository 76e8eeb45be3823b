"""A draft for OpenDP's registry of deployments: what is certified is filled in, the rest is asked.

The fields are those of the registry's form (github.com/opendp/deployments-registry-data,
schemas/deployments-schema.yaml, as of 2026-07-15). What no accountant can know begins with
`TO_FILL_IN`: it is for whoever publishes, and `status` is Draft until then.

Numbers are upper ends, rounded up: what is written is certainly true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from ..exact import Enclosure
from ..exact.rounding import is_infinite
from ..mechanisms.additive.protocol import Trust
from ..mechanisms.specs.spec import Spec
from ..verify import ApproxDP, Audit, Guarantee, PureDP, RenyiDP
from ..verify.certificate import Certificate
from ..verify.guarantee import ZCDP
from .make import made
from .page import File
from .scope import trust_model
from .subject import Subject

TO_FILL_IN = "To be filled in:"

_DIGITS = 6
_VARIANTS: Mapping[type[Guarantee], str] = {
    PureDP: "Pure DP",
    ApproxDP: "Approximate DP",
    ZCDP: "Zero-concentrated DP",
    RenyiDP: "Renyi DP",
}
_MODELS = {Trust.CENTRAL: "Central", Trust.DISTRIBUTED: "Federated", Trust.LOCAL: "Local"}


def entry(subject: Subject, found: Sequence[tuple[Audit, Certificate | str]]) -> str:
    """The draft as YAML: of the first claim, or of epsilon at the first delta without one."""
    return "\n".join(_yaml(record(subject, found))) + "\n"


def record(subject: Subject, found: Sequence[tuple[Audit, Certificate | str]]) -> dict[str, Any]:
    """The same as nested dicts."""
    date = made()["at"][:10]
    basic = {
        "name": subject.name or _asked("the name of the data product"),
        "data_curators": [subject.owner or _asked("who publishes it")],
        "intended_use": _asked("what it is for"),
        "data_product_type": "Summary statistics",
        "data_product_region": _asked("which region the data describe"),
        "description": _asked("what it is"),
        "publication_date": date,
    }
    variant, parameters = _parameters(subject, found)
    model = _model(subject)
    trust = "; ".join(dict.fromkeys(trust_model(spec) for spec, _ in subject.uses))
    deployment: dict[str, Any] = {
        "basic": basic,
        "dp_variant": {"variant_name": variant},
        "privacy_loss": {
            "privacy_unit": _asked("who or what one user is"),
            "privacy_unit_details": f"Neighbouring datasets: {subject.differing}.",
            "privacy_parameters": parameters,
            "privacy_parameters_details": "\n".join(_details(subject, found)),
        },
        "deployment_model": {
            **({"model_name": model} if model is not None else {}),
            "model_name_details": f"{trust}.",
        },
        "accounting": {
            "composition": "All releases together, adaptive, composed exactly: certified "
            "enclosures of the true privacy loss, not a composition theorem."
        },
        "implementation": {"mechanisms": "\n".join(_mechanisms(subject))},
        "administrative": {
            "notes": f"Drafted by {made()['by']} on {date}. data_product_type and publication_date "
            "must be checked.",
            "registry_authors": [_asked("who wrote this entry")],
        },
    }
    slug = re.sub(r"\W+", "-", f"{basic['name']} {basic['data_curators'][0]} {date[:4]}".lower())
    return {"url_slug": slug, "status": "Draft", "tier": 2, "deployment": deployment}


def _asked(what: str) -> str:
    return f"{TO_FILL_IN} {what}"


def _parameters(
    subject: Subject, found: Sequence[tuple[Audit, Certificate | str]]
) -> tuple[str, dict[str, Fraction]]:
    """The variant, and its numbers as far as they are finite."""
    if not found:
        numbers = _finite("epsilon", subject.epsilon)
        return "Approximate DP", numbers | {"delta": subject.deltas[0]}
    audit = found[0][0]
    numbers = _finite(audit.claim.bounds, audit.measured)
    if isinstance(audit.claim, ApproxDP):
        numbers["delta"] = audit.claim.delta
    known = {
        name: number for name, number in numbers.items() if name in ("epsilon", "delta", "rho")
    }
    return _VARIANTS.get(type(audit.claim), "Custom"), known


def _finite(name: str, value: Enclosure) -> dict[str, Fraction]:
    return {} if is_infinite(value.upper) else {name: _up(Fraction(value.upper))}


def _up(number: Fraction) -> Fraction:
    up = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    return Fraction(up.divide(Decimal(number.numerator), Decimal(number.denominator)))


def _details(subject: Subject, found: Sequence[tuple[Audit, Certificate | str]]) -> Iterator[str]:
    yield f"Upper ends of certified enclosures, rounded up to {_DIGITS} digits."
    yield f"Sampling: {subject.sampling}. Adjacency: {subject.adjacency}."
    for audit, held in found:
        low, high = audit.measured.to_json().values()
        said = f"{audit.claim} {audit.verdict.name}: the least {audit.claim.quantity}"
        proof = ""
        if isinstance(held, Certificate):
            proof = f"; certificate with SHA-256 {File('', held.text, '').sha256}"
        yield f"{said} lies between {low} and {high}{proof}."


def _mechanisms(subject: Subject) -> Iterator[str]:
    for spec, times in subject.uses:
        shown = spec.to_json()
        noise = f": {shown['noise']}" if "noise" in shown else ""
        yield f"- {shown['spec']}{noise}, used {times} times"
    yield f"- {TO_FILL_IN} how they are implemented, the source of randomness, and who may access"


def _model(subject: Subject) -> str | None:
    """As the registry names it; None where the mechanism does not say, or uses differ."""
    models = {_model_of(spec) for spec, _ in subject.uses}
    return models.pop() if len(models) == 1 else None


def _model_of(spec: Spec) -> str | None:
    if spec.shuffled is not None:
        return "Shuffle"
    if spec.federated is not None:
        return "Federated"
    return None if spec.protocol is None else _MODELS[spec.protocol.trust]


def _yaml(value: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Text in double quotes, as JSON writes it: every such text is YAML as well."""
    for name, held in value.items():
        if isinstance(held, Mapping):
            yield f"{indent}{name}:" + ("" if held else " {}")
            yield from _yaml(held, f"{indent}  ")
        elif isinstance(held, list):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {_scalar(each)}" for each in held)
        else:
            yield f"{indent}{name}: {_scalar(held)}"


def _scalar(value: object) -> str:
    """A number as YAML 1.1 reads it: with a point before the exponent."""
    if isinstance(value, Fraction):
        mantissa, _, exponent = f"{Decimal(value.numerator) / value.denominator:e}".partition("e")
        point = mantissa if "." in mantissa else f"{mantissa}.0"
        return f"{point}e{exponent}"
    return str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False)
