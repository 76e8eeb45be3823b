"""Golden figures: what lists of releases cost, as enclosures that were computed once and are kept.

A row of `figures.csv` is a list of releases, a figure of it (`epsilon` at a delta, `delta` at an
epsilon, `renyi` at an order, `zcdp`, `gdp`, `pure`), its enclosure, and the relative width that is
promised for its kind: 1e-12 for one release, for losses on a lattice and for Gaussians alone, 1e-6
for other exact figures, and for brackets what was reached when the row was drawn. Two enclosures of
one number meet; so a row needs nothing to be right but that one of the two engines is.
"""

import csv
import random
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import exactdp
from exactdp import Composition, Enclosure

FOLDER = Path(__file__).parent
FIGURES = FOLDER / "figures.csv"
_INFINITY = Decimal("Infinity")
NAMES = ("releases", "figure", "at", "lower", "upper", "width", "seconds")


@dataclass(frozen=True)
class Row:
    """One figure of one list of releases; `seconds` of the processor when it was drawn."""

    releases: str
    figure: str
    at: str
    lower: str = ""
    upper: str = ""
    width: str = ""
    seconds: str = ""

    def __str__(self) -> str:
        return f"{self.figure}({self.at}) of {self.releases}"

    def compute(self) -> Enclosure:
        """The enclosure by the code as it is, at the width that the row promises."""
        ask = getattr(composition(self.releases), self.figure)
        return ask(self.at) if self.at else ask()

    @property
    def is_quick(self) -> bool:
        """Whether it took at most half a second."""
        return float(self.seconds) <= 0.5


def composition(releases: str) -> Composition:
    """The list: specs apart by ` + `, whose tables lie in `tables/`."""
    texts = re.sub(r"file=", f"file={FOLDER}/tables/", releases).split(" + ")
    return exactdp.compose(*texts)


def rows() -> list[Row]:
    """All of them, in the order of the file."""
    with FIGURES.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def tenth(of: list[Row], seed: int = 0) -> list[Row]:
    """A seeded tenth of the rows that are quick, some of every name."""
    rng, by_name = random.Random(seed), dict[str, list[Row]]()
    for row in of:
        if row.is_quick:
            by_name.setdefault(row.releases.partition(":")[0], []).append(row)
    return [row for each in by_name.values() for row in rng.sample(each, -(-len(each) // 10))]


def meet(one: Enclosure, other: Enclosure) -> bool:
    """Whether both can hold of one number."""
    return all(
        high == _INFINITY or (low != _INFINITY and Fraction(low) <= Fraction(high))
        for low, high in ((one.lower, other.upper), (other.lower, one.upper))
    )


def relative_width(enclosure: Enclosure) -> Fraction | Decimal:
    """(upper - lower)/upper; 0 where both ends are the same, infinite ones included."""
    lower, upper = enclosure.lower, enclosure.upper
    if lower == upper:
        return Fraction(0)
    if upper == _INFINITY:
        return _INFINITY
    return (Fraction(upper) - Fraction(lower)) / Fraction(upper)
