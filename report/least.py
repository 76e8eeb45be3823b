"""The least noise of a spec, all else as it is, that meets a claim; as one line of a page."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from attrs import frozen

from ..exact import Enclosure, Endpoint, OutOfTimeError, ParameterError, decimal_text
from ..verify import Guarantee, UnfinishedError, calibrate
from ..verify.families import Chosen, choose
from ..verify.order import Monotone
from ..verify.vector_calibration import (
    VectorFamily,
    calibrate_vector,
    choose_vector,
    is_vector,
)
from .measured import NOT_COMPUTED

_SIZES = {"epsilon", "rho", "scale", "sigma", "sigma2", "variance", "trials"}


@frozen
class Least:
    """parameter: what is sought; value: what certainly contains it."""

    parameter: str
    value: Enclosure
    remark: str


def least(name: str, values: Mapping[str, str], times: int, claim: Guarantee) -> Least:
    """values: of the mechanism's keys; those that differ from the defaults are kept, sizes aside.

    Where this noise is not sought, or not found in the time that is left, the remark says so.
    """
    kept = {key: value for key, value in values.items() if key not in _SIZES}
    try:
        family = _family(name, kept, times)
        if isinstance(family, VectorFamily):
            return _of_vectors(family, claim, times)
        return _of_numbers(family, claim, times)
    except OutOfTimeError:
        return Least("least noise", Enclosure.unknown(), NOT_COMPUTED)
    except ParameterError as error:
        return Least("least noise", Enclosure.unknown(), f"it is not sought here: {error}")


def _family(name: str, kept: Mapping[str, str], times: int) -> Chosen | VectorFamily:
    """What differs from the spec in its size alone. Raises ParameterError where there is none."""
    text = ",".join(f"{key}={value}" for key, value in kept.items())
    text = f"{name}:{text}" if text else name
    if is_vector(text):
        return choose_vector(text, {})
    return choose(text, None, times, option="")


def _of_numbers(chosen: Chosen, claim: Guarantee, times: int) -> Least:
    """A refuted value bounds the least one where all others on its side are known to fail."""
    family = chosen.family
    verified: Fraction | None
    refuted: Fraction | None
    what = f"{'least' if family.falls else 'largest'} {family.parameter}"
    try:
        found = calibrate(family, claim, times)
        verified, refuted, proved = found.value, found.neighbour, found.least.proved
        remark = "" if proved else f"; of others it is open: {found.least.why}"
    except UnfinishedError as error:
        verified, refuted, remark = error.verified, error.refuted, "; no closer in the time allowed"
        proved = family.order is not None and isinstance(family.order(claim, times), Monotone)
    fails: Endpoint | None = refuted if proved else None
    ends = (fails or Fraction(0), verified or Decimal("inf"))
    if not family.falls:
        ends = (verified or Fraction(0), fails or Decimal("inf"))
    named = ((verified, "verified"), (refuted, "refuted"))
    told = [f"{decimal_text(value)} is {verdict}" for value, verdict in named if value is not None]
    return Least(what, Enclosure(*ends), f"{', '.join(told)}{remark}".removeprefix("; "))


def _of_vectors(family: VectorFamily, claim: Guarantee, times: int) -> Least:
    """What dominates the vector is verified; what is attained may be refuted only far below."""
    failing, what = None, f"least {family.parameter}"
    try:
        found = calibrate_vector(family, claim, times)
        verified: Fraction | None = found.value
        failing, remark = found.failing and found.failing[0], f"; {found.why}"
    except UnfinishedError as error:
        verified, remark = error.verified, "; no closer in the time allowed"
    low = failing if failing is not None and family.proof is not None else Fraction(0)
    told = "" if verified is None else f"{decimal_text(verified)} is verified"
    upper: Endpoint = Decimal("inf") if verified is None else verified
    return Least(what, Enclosure(low, upper), f"{told}{remark}".removeprefix("; "))
