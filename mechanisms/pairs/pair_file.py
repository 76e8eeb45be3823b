"""A user's own pair of laws, read from a CSV file.

    outcome,p,q
    yes,0.6,0.4
    no,0.4,0.6

The header names the three columns, in any order; every other line is one outcome, with its exact
probability under each of two neighbouring datasets, as a decimal or a ratio. Blank lines are
skipped.

*Files that specs name* are read once, and their content is kept beside what was made of it.
What names a file means another mechanism when the file is another. So whoever writes a spec down
(a ledger) writes the content with it, and reads it back from there: `only_from` gives the contents,
and no path is opened then, whatever the text says.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path

from attrs import frozen

from ...common.regular_file import read_at_most
from ...exact.number import ExactInput, ParameterError, exact, located
from .pair import FinitePair

_COLUMNS = ("outcome", "p", "q")
_LARGEST_FILE = 10_000_000  # bytes
_MOST_OUTCOMES = 100_000
_LONGEST_OUTCOME = 200  # characters
_LARGEST_DENOMINATOR = 8192  # bits, of all probabilities together
_given: ContextVar[Mapping[str, bytes] | None] = ContextVar("given", default=None)
_noted: ContextVar[dict[str, bytes] | None] = ContextVar("noted", default=None)


def read_pair(path: str | Path, slack: ExactInput = 0) -> FinitePair:
    """Read the pair in this file; slack as in `FinitePair`.

    Raises ParameterError, with the file and the line, for anything but such a table: a missing
    or repeated column or outcome, a probability that is not an exact number in 0..1, a column
    that does not sum to 1 (to within `slack`), or a file beyond the limits above.
    """
    outcomes: dict[str, int] = {}
    columns: dict[str, list[ExactInput]] = {"p": [], "q": []}
    common = 1
    for line, row in _rows(Path(path)):
        with located(f"{path}, line {line}"):
            outcome = row["outcome"]
            if not outcome or len(outcome) > _LONGEST_OUTCOME:
                raise ParameterError(
                    f"the outcome must be text of 1 to {_LONGEST_OUTCOME} characters"
                )
            if outcome in outcomes:
                raise ParameterError(
                    f"outcome {outcome!r} stands on line {outcomes[outcome]} already"
                )
            outcomes[outcome] = line
            if len(outcomes) > _MOST_OUTCOMES:
                raise ParameterError(f"more than {_MOST_OUTCOMES} outcomes")
            for name, column in columns.items():
                mass = exact(row[name], name, at_least=0, at_most=1)
                column.append(mass)
                common = math.lcm(common, mass.denominator)
                if common.bit_length() > _LARGEST_DENOMINATOR:
                    raise ParameterError(
                        "the common denominator of all probabilities exceeds "
                        f"{_LARGEST_DENOMINATOR} bits"
                    )
    with located(path):
        if not outcomes:
            raise ParameterError("no outcomes below the header")
        return FinitePair(tuple(outcomes), tuple(columns["p"]), tuple(columns["q"]), slack)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    header: list[str] | None = None
    for line, cells in lines(path):
        if header is None:
            header = cells
            if sorted(header) != sorted(_COLUMNS):
                raise ParameterError(
                    f"{path}, line {line}: the header must name the columns "
                    f"outcome, p and q, got {','.join(header)[:60]!r}"
                )
        elif len(cells) != len(_COLUMNS):
            raise ParameterError(
                f"{path}, line {line}: {len(_COLUMNS)} cells are needed, got {len(cells)}"
            )
        else:
            yield line, dict(zip(header, cells, strict=True))
    if header is None:
        raise ParameterError(f"{path}: the file is empty; its header must be outcome,p,q")


def lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of a small CSV file, line by line with its number, without blank lines."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                yield reader.line_num, stripped
    except csv.Error as error:
        raise ParameterError(f"{path}, line {reader.line_num}: {error}") from error


def read_text(path: Path) -> str:
    """The text of a small UTF-8 file. Raises ParameterError, with the path, where there is none."""
    try:
        return read_named(path, _LARGEST_FILE).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParameterError(f"{path}: not text in UTF-8") from error


@frozen
class Held:
    """A spec with the SHA-256 of its file's content in the place of the path, and that content."""

    text: str
    name: str  # what stands in the path's place; its suffix tells the format
    content: bytes

    @staticmethod
    def of(name: str, values: Mapping[str, str], content: bytes) -> Held:
        """The spec of this name and these keys, of which `file` names the file."""
        suffix = Path(values["file"]).suffix
        stands = sha256(content).hexdigest() + (suffix if suffix == ".npy" else "")
        said = sorted({**values, "file": stands}.items())
        return Held(f"{name}:{','.join(map('='.join, said))}", stands, content)


def read_named(path: Path, most: int) -> bytes:
    """The content of a file of at most so many bytes. Raises ParameterError, with the path."""
    if (given := _given.get()) is None:
        with located(path):
            content = read_at_most(path, most)
    elif str(path) in given:
        content = given[str(path)]
    else:
        raise ParameterError(f"an entry must not name a file: {str(path)[:60]!r}")
    if (noted := _noted.get()) is not None:
        noted[str(path)] = content
    return content


@contextmanager
def noting() -> Iterator[dict[str, bytes]]:
    """What is read in the block, by path."""
    found: dict[str, bytes] = {}
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


@contextmanager
def only_from(contents: Mapping[str, bytes]) -> Iterator[None]:
    """In the block these are all the files that there are."""
    token = _given.set(contents)
    try:
        yield
    finally:
        _given.reset(token)
