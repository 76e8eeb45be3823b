"""The least noise of a spec, all else as it is, that meets a claim; as one line of a page."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from attrs import frozen

from ..exact import Enclosure, Endpoint, OutOfTimeError, ParameterError, decimal_text
from ..verify import Family, Guarantee, UnfinishedError, calibrate
from ..verify.calibration import VectorCalibration
from ..verify.families import choose
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
    text = ",".join(f"{key}={value}" for key, value in kept.items())
    try:
        family = choose(f"{name}:{text}" if text else name, None, times, option="").family
        return _least(family, claim, times)
    except OutOfTimeError:
        return Least("least noise", Enclosure.unknown(), NOT_COMPUTED)
    except ParameterError as error:
        return Least("least noise", Enclosure.unknown(), f"it is not sought here: {error}")


def _least(family: Family, claim: Guarantee, times: int) -> Least:
    """A refuted value bounds the least one where all others on its side are known to fail.

    Of vectors what dominates is verified; what is attained may be refuted only far below.
    """
    verified: Fraction | None
    refuted: Fraction | None
    what = f"{'least' if family.falls else 'largest'} {family.parameter}"
    cover = None if family.order is None else family.order(claim, times)
    proved = cover is not None and cover.is_monotone
    try:
        found = calibrate(family, claim, times)
        verified, refuted, why = found.value, found.neighbour, found.least.why
        if isinstance(found, VectorCalibration):
            refuted, remark = found.failing and found.failing[0], f"; {why}"
        else:
            proved = found.least.proved
            remark = "" if proved else f"; of others it is open: {why}"
    except UnfinishedError as error:
        verified, refuted, remark = error.verified, error.refuted, "; no closer in the time allowed"
    fails: Endpoint | None = refuted if proved else None
    ends = (fails or Fraction(0), verified or Decimal("inf"))
    if not family.falls:
        ends = (verified or Fraction(0), fails or Decimal("inf"))
    named = [(verified, "verified"), (None if family.by_bracket else refuted, "refuted")]
    told = [f"{decimal_text(value)} is {verdict}" for value, verdict in named if value is not None]
    return Least(what, Enclosure(*ends), f"{', '.join(told)}{remark}".removeprefix("; "))
