"""Uses that another accountant wrote down: a dp_accounting event or an Opacus history, as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from ..accounting.interop import from_json
from ..common.rows import written
from ..exact import ParameterError, decimal_text
from ..exact.number import located
from ..exact.square_root import SquareRoot
from ..mechanisms import Mechanism
from ..mechanisms.continuous import ContinuousNoise
from ..mechanisms.pairs.pair_file import read_text
from ..mechanisms.specs.spec import Spec


def uses_from(path: Path) -> list[tuple[Spec, int]]:
    """The uses in the file. Raises ParameterError, naming it, for anything that is not known."""
    text = read_text(path)
    try:
        data = json.loads(text, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{path}: not JSON: {error}") from error
    with located(path):
        found = from_json(data)
    return [(Spec(_text(use.mechanism), use.mechanism, {}), use.times) for use in found.uses]


def _text(mechanism: Mechanism) -> str:
    """As a spec, where it is continuous."""
    if not isinstance(mechanism, ContinuousNoise) or isinstance(mechanism.scale, SquareRoot):
        return written(mechanism)
    numbers = {mechanism.shape.parameter: mechanism.scale, "sensitivity": mechanism.sensitivity}
    numbers |= {"poisson": mechanism.rate} if mechanism.rate < 1 else {}
    parts = [f"{key}={decimal_text(value)}" for key, value in numbers.items()]
    return f"{mechanism.shape.value}:{','.join([*parts, f'neighbours={mechanism.neighbours}'])}"
