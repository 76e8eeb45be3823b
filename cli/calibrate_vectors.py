"""`exactdp calibrate --l2`: the least verified noise for integer vectors, and what fails below."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from ..common.moment import now
from ..common.table import Table
from ..exact import OutOfTimeError, decimal_text
from ..verify import Audit
from ..verify.certificate import NotCertifiedError, certificate_of
from ..verify.vector_calibration import VectorCalibration, VectorFamily
from .result import Part


def tried(spec: Callable[[Fraction], str], value: Fraction, audit: Audit) -> dict[str, Any]:
    """A value that was audited, for JSON. spec: of the mechanism with a value."""
    return {
        "value": value,
        "spec": spec(value),
        "verdict": audit.verdict.name,
        "measured": audit.measured,
    }


def certificate(audit: Audit, note: str | None) -> dict[str, Any] | None:
    """What `exactdp check` proves again; None where that is out of its reach, or of the time."""
    try:
        return certificate_of(audit).noted(note, now()).content
    except (NotCertifiedError, OutOfTimeError):
        return None


def told(
    family: VectorFamily, found: VectorCalibration, proof: dict[str, Any] | None
) -> dict[str, Any]:
    """For JSON. failing: the largest noise that was found refuted, if one was."""
    member = partial(tried, family.spec)
    return {
        "parameter": found.parameter,
        **member(found.value, found.verified),
        "certificate": proof,
        "neighbour": member(found.neighbour, found.below),
        "failing": None if found.failing is None else member(*found.failing),
        "why": found.why,
    }


def show(family: VectorFamily, found: VectorCalibration, target: str) -> Iterator[Part]:
    """The same as a table."""
    audits = {found.value: found.verified, found.neighbour: found.below}
    if found.failing is not None:
        value, audit = found.failing
        audits[value] = audit
    rows = [
        (decimal_text(value), audit.verdict.name, audit.told) for value, audit in audits.items()
    ]
    yield {"mechanism": family.spec(found.value), "target": target}
    yield Table((found.parameter, "", "measured"), rows)
    yield {"least": f"{decimal_text(found.value)}, of those that are verified", "why": found.why}
