"""A user's own local randomizer, read from a CSV file: a row per value, a column per report.

    value,0,1,2
    a,1/2,1/4,1/4
    b,1/4,1/2,1/4
    c,0.25,0.25,0.5

The header names the reports, after any word; every other line is one value, with its exact
probabilities. An entry is a number, or c*exp(a), exp(a), c*exp(a)+d, ... of exact numbers c, d >= 0
and a. Rows must add up to exactly 1, unless they are to be normalised: then they are weights.
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

from attrs import field, frozen

from ...exact.number import ParameterError, exact, located
from ..pairs.pair_file import lines
from .randomizer import LocalRandomizer, Row, Scene, Weight, total

_MOST_REPORTS = 4096
_MOST_COMPARED = 200_000  # values squared times reports
_MOST_TERMS, _LARGEST_EXPONENT = 8, 10_000
_LARGEST_DENOMINATOR = 4096  # bits of a row's common denominator
_TERM = re.compile(r"(?:(?P<factor>[^*()]+)\*)?exp\((?P<exponent>[^()*]+)\)|(?P<plain>[^*()]+)")


@frozen
class Table(LocalRandomizer):
    """The laws of all values, weights report by report; what two of them report is compared."""

    rows: tuple[Row, ...]
    values: tuple[str, ...]
    reports: tuple[str, ...] = field(repr=False)

    def scenes(self, crowded: bool = False) -> tuple[Scene, ...]:
        if len(self.rows) == 1:
            return (Scene(self.rows[0], self.rows[0], self.rows, self.reports),)
        return tuple(
            Scene(one, other, self.rows, self.reports) for one, other in combinations(self.rows, 2)
        )


def read_table(path: str | Path, normalise: bool = False) -> Table:
    """Read the randomizer in this file; normalise: rows are weights, divided by their sums.

    Raises ParameterError, with the file and the line, for anything but such a table: missing or
    repeated values or reports, an entry that is no exact number >= 0, a row that does not add up
    to exactly 1, or a file beyond the limits above.
    """
    listed = lines(Path(path))
    found = next(listed, None)
    if found is None:
        raise ParameterError(f"{path}: the file is empty; its header must name the reports")
    reports = found[1][1:]
    _distinct(reports, f"{path}, line {found[0]}: report")
    if not 1 <= len(reports) <= _MOST_REPORTS:
        raise ParameterError(f"{path}: the header must name 1 to {_MOST_REPORTS} reports")
    rows, values = list[Row](), list[str]()
    for line, cells in listed:
        values.append(cells[0])
        if len(values) ** 2 * len(reports) > _MOST_COMPARED:
            raise ParameterError(
                f"{path}: too large, values squared times reports exceed {_MOST_COMPARED}"
            )
        with located(f"{path}, line {line}"):
            if len(cells) != len(reports) + 1:
                raise ParameterError(f"{len(reports) + 1} cells are needed, got {len(cells)}")
            rows.append(tuple(map(weight_of, cells[1:])))
            _check_row(rows[-1], normalise)
    _distinct(values, f"{path}: value")
    if not rows:
        raise ParameterError(f"{path}: no values below the header")
    return Table(tuple(rows), tuple(values), tuple(reports))


def weight_of(text: str) -> Weight:
    """The number >= 0 that is typed: a sum of terms c, exp(a) and c*exp(a), all exact."""
    terms = re.split(r"(?<![eE*(])\+", text.replace(" ", ""))
    if len(terms) > _MOST_TERMS:
        raise ParameterError(f"an entry has at most {_MOST_TERMS} terms")
    found = []
    for term in terms:
        match = _TERM.fullmatch(term)
        if match is None:
            raise ParameterError(
                f"{text[:40]!r} is not an exact number, c*exp(a) or a sum of such terms"
            )
        exponent = exact(match["exponent"] or "0", "the exponent of an entry")
        factor = exact(match["plain"] or match["factor"] or "1", "an entry", at_least=0)
        if abs(exponent) > _LARGEST_EXPONENT:
            raise ParameterError(f"exponents must be at most {_LARGEST_EXPONENT}")
        found.append((exponent, factor))
    return Weight(found)


def _check_row(row: Row, normalise: bool) -> None:
    whole = total(row)
    if not whole.terms:
        raise ParameterError("all entries are 0")
    if (
        whole.rational is not None
        and whole.rational.denominator.bit_length() > _LARGEST_DENOMINATOR
    ):
        raise ParameterError(f"the common denominator exceeds {_LARGEST_DENOMINATOR} bits")
    if normalise or whole.rational == 1:
        return
    shown = float(whole.ball().mid())
    raise ParameterError(
        f"entries must add up to exactly 1, got {shown:.12g}; normalise=yes divides them "
        "by their sum"
    )


def _distinct(names: list[str], what: str) -> None:
    for index, name in enumerate(names):
        if not name or len(name) > 200:
            raise ParameterError(f"{what} must be text of 1 to 200 characters")
        if name in names[:index]:
            raise ParameterError(f"{what} {name[:40]!r} stands there twice")
