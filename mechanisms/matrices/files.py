"""Matrices from .npy and .csv files, and parameters of buffered Toeplitz matrices from .json.

Entries of .csv are exact numbers, those of .npy are what their floats are. Nothing is rounded but
what lies 72 bits below the largest entry, and that is accounted for.
"""

from __future__ import annotations

import io
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import numpy as np
from flint import fmpz_mat

from ...exact.number import ParameterError, exact
from ..pairs.pair_file import lines, read_named, read_text
from .columns import MOST_ROWS, Table

_LARGEST_FILE = 40_000_000  # bytes: of MOST_ROWS^2 floats
_MOST_BUFFERS = 1000
_DIGITS = 72  # bits that are kept of the largest entry, and as far below of all others

_Read: TypeAlias = tuple[list[list[int]], Fraction, bool]  # whole numbers, their unit, is it rough?


def read_matrix(name: str) -> Table:
    """The lower-triangular matrix in this file.

    Raises ParameterError, in one line that names the file, for anything else.
    """
    path = Path(name)
    rows, unit, rounded = _from_npy(path) if path.suffix == ".npy" else _from_csv(path)
    size = len(rows)
    for i, row in enumerate(rows):
        if len(row) != size:
            raise ParameterError(
                f"{path}: the matrix must be square, got {size} rows and {len(row)} columns in row "
                f"{i + 1}"
            )
        if any(row[i + 1 :]):
            column = next(j for j in range(i + 1, size) if row[j])
            raise ParameterError(
                f"{path}: the matrix must be lower triangular, as row t is released at time t; "
                f"got an entry other than 0 in row {i + 1}, column {column + 1}"
            )
    if not any(any(row) for row in rows):
        raise ParameterError(f"{path}: the matrix must have an entry other than 0")
    return Table(fmpz_mat(rows), unit, rounded)


def _from_npy(path: Path) -> _Read:
    content = io.BytesIO(read_named(path, _LARGEST_FILE))
    try:
        found = np.lib.format.read_array(content, allow_pickle=False)
    except (ValueError, EOFError, MemoryError, OverflowError) as error:
        raise ParameterError(f"{path}: not a .npy file of numbers") from error
    if found.ndim != 2 or found.dtype.kind not in "fiu" or found.dtype.itemsize > 8:
        raise ParameterError(f"{path}: must hold a matrix of floats or whole numbers")
    _check_rows(path, max(found.shape))
    if found.dtype.kind != "f":
        return [[int(entry) for entry in row] for row in found.tolist()], Fraction(1), False
    if not np.isfinite(found).all():
        raise ParameterError(f"{path}: all entries must be finite, got NaN or infinity")
    parts, exponents = np.frexp(found.astype(np.float64))
    used = exponents[parts != 0]
    low, high = (int(used.min()), int(used.max())) if used.size else (0, 0)
    kept = max(low, high - _DIGITS + 53)
    rows = [
        [int(m) << max(e - kept, 0) >> max(kept - e, 0) for m, e in zip(row, powers, strict=True)]
        for row, powers in zip(np.ldexp(parts, 53).tolist(), exponents.tolist(), strict=True)
    ]
    return rows, Fraction(2) ** (kept - 53), low < kept


def _from_csv(path: Path) -> _Read:
    rows: list[list[Fraction]] = []
    for line, cells in lines(path):
        _check_rows(path, max(len(rows) + 1, len(cells)))
        rows.append([exact(cell, f"{path}, line {line}: entry") for cell in cells])
    if not rows:
        raise ParameterError(f"{path}: the file is empty; it must hold a row of C a line")
    common, largest = 1, Fraction(0)
    for row in rows:
        largest = max(largest, *map(abs, row))
        if common.bit_length() <= _DIGITS:
            common = math.lcm(common, *(entry.denominator for entry in row))
    unit, rounded = Fraction(1, common), common.bit_length() > _DIGITS
    if rounded:
        magnitude = largest.numerator.bit_length() - largest.denominator.bit_length()
        unit = Fraction(2) ** (magnitude - _DIGITS)
    return [[math.floor(entry / unit) for entry in row] for row in rows], unit, rounded


def _check_rows(path: Path, count: int) -> None:
    if count > MOST_ROWS:
        raise ParameterError(
            f"{path}: the matrix must have at most {MOST_ROWS} rows and columns, got {count}; "
            "sqrt-toeplitz, blt and tree take more steps"
        )


def read_buffers(name: str) -> tuple[list[Fraction], list[Fraction]]:
    """omega and theta of {"omega": [...], "theta": [...]}, in this file.

    (Also by the names output_scale and buf_decay.) Raises ParameterError for anything else.
    """
    path = Path(name)
    text = read_text(path)
    try:
        content = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{path}: not JSON: {error}") from error
    found = []
    for names in (("omega", "output_scale"), ("theta", "buf_decay")):
        given = [content[key] for key in names if isinstance(content, dict) and key in content]
        if len(given) != 1 or not isinstance(given[0], list) or len(given[0]) > _MOST_BUFFERS:
            raise ParameterError(
                f"{path}: must have the keys omega and theta, lists of at most {_MOST_BUFFERS} "
                "numbers each"
            )
        found.append([exact(one, f"{path}: {names[0]}") for one in given[0]])
    if len(found[0]) != len(found[1]):
        raise ParameterError(f"{path}: omega and theta must be equally long")
    return found[0], found[1]
