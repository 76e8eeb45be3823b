"""Facts and tables that several commands show alike, and how they write numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from ..accounting.figure import as_shown
from ..common.table import Bar, Cell, Table
from ..exact import Enclosure, decimal_text
from ..exact.rounding import float_above, float_below
from ..mechanisms.specs.spec import Spec
from .options import Uses, adjacency
from .result import Line, Part

if TYPE_CHECKING:
    from ..accounting.methods.comparison import Method
    from ..verify import Audit
    from .compared import Comparison
    from .measure import Measured

_DIGITS = 6  # where many figures stand side by side
_NOTHING: Mapping[str, Cell] = {}
_QUANTITIES = {
    "pure": "pure ε",
    "renyi": "Rényi",
    "delta": "δ",
    "epsilon": "ε",
    "zcdp": "ρ of ρ-zCDP",
    "gdp": "μ of μ-GDP",
}
_SYMBOLS = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ"}
_GIVEN = {"order": "order", "epsilon": "ε", "delta": "δ"}


def measurements(
    uses: Uses, results: Sequence[Measured], method: Method | None = None
) -> Iterator[Part]:
    """What these uses cost together; method: how ε and δ were found, if not exactly."""
    yield from used(uses)
    if method is not None:
        yield ""
        yield {"method": _legend(method.title, method.remark)}
    tops = [_middle(result.value) for result in results if result.quantity == "renyi"]
    with_bars = len(tops) > 1
    beside = ["Poisson"] if any(result.poisson is not None for result in results) else []
    rows: list[list[Cell]] = []
    for result in results:
        at = "" if result.given is None else f"{_GIVEN[result.given[0]]} = {result.given[1]}"
        cells: list[Cell] = [_QUANTITIES[result.quantity], at, as_shown(result.value)]
        cells += ["" if result.poisson is None else result.poisson] if beside else []
        if with_bars:
            value = _middle(result.value) if result.quantity == "renyi" else None
            cells.append(Bar(_share(value, tops)))
        rows.append(cells)
    yield Table(("quantity", "at", "value", *beside, *([""] if with_bars else [])), rows)
    if beside:
        yield Line("Poisson: as if users took part independently in every step; no bound here")
    for note in dict.fromkeys(result.note for result in results if result.note):
        yield Line(note, style="yellow")


def measured_curve(uses: Uses, table: Table, mu: Enclosure) -> Iterator[Part]:
    """What is used, some points of its profile, and the Gaussian that dominates."""
    yield from used(uses)
    yield table
    yield {_QUANTITIES["gdp"]: mu}


def comparison(table: Comparison) -> Iterator[Part]:
    """What every method reports, with a bar and the ratio to the exact ε."""
    from ..accounting.methods.comparison import LATE  # loaded by now, where there is a table

    tops = [_middle(each.value) for each in table.reported if each.value is not None]
    rows: list[list[Cell]] = []
    for each in table.reported:
        if each.value is None:
            late = LATE if each.remark == LATE else "not computed"
            why = late if each.open else "does not apply"
            rows.append([each.method.name, why, "", ""])
            continue
        ratio = table.ratio(each)
        times = None if ratio is None else _middle(ratio)
        exact = "" if times is None else f"{times:.4g}"
        bar = Bar(_share(_middle(each.value), tops))
        rows.append([each.method.name, as_shown(each.value), exact, bar])
    columns = ("method", f"ε at δ = {table.delta}", "× exact", "")
    yield Table(columns, rows, right=("× exact",))
    yield {each.method.name: _legend(each.method.title, each.remark) for each in table.reported}


def used(uses: Uses, found: Mapping[str, Cell] = _NOTHING) -> Iterator[Part]:
    """What is used and how often, which datasets are neighbours, and what was found."""
    for spec, times in uses[: len(uses) - 1]:
        yield described(spec) | {"releases": str(times)}
        yield ""
    spec, times = uses[-1]
    last = described(spec)
    if len(uses) > 1 or times > 1:
        last["releases"] = str(times)
    if len(uses) > 1:
        yield last
        yield ""
        last = {}
    last["adjacency"] = adjacency(uses)
    yield {**last, **found}


def evidence(result: Audit) -> dict[str, Cell]:
    """What an audit found, one fact each."""
    found: dict[str, Cell] = {
        "claim": result.claim.brief(),
        "verdict": result.verdict.name,
        f"tightest {_SYMBOLS[result.claim.bounds]}": result.told,
    }
    if result.witness is not None:
        for key, value in result.witness.to_json().items():
            found[f"witness {key}"] = _plain(value)
    if result.note:
        found["note"] = result.note
    return found


def described(spec: Spec) -> dict[str, Cell]:
    """The mechanism and its derived parameters."""
    return {
        "mechanism" if key == "spec" else key.replace("_", " "): text
        for key, text in spec.to_json().items()
    }


def shown(value: Enclosure, digits: int = _DIGITS) -> str:
    """At most this many significant digits, certain to a unit of the last; else both ends."""
    text = str(value)
    return text if text.startswith("[") or text == "inf" else f"{Decimal(text):.{digits}g}".lower()


def at_most(value: Fraction) -> str:
    """Two digits of a small number that is not negative, rounded up."""
    rounded = Context(prec=2, rounding=ROUND_CEILING)
    return short(Fraction(rounded.divide(Decimal(value.numerator), Decimal(value.denominator))))


def short(value: Fraction) -> str:
    """An exact number as people write it: 1e-6, not 0.000001; 1/3 stays."""
    text = decimal_text(value)
    if "/" in text or -5 < Decimal(text).adjusted() < 7:
        return text
    return f"{Decimal(text).normalize():e}".replace("e+", "e")


def except_with(failure: Fraction, overflow: Enclosure) -> str:
    """How likely a bound fails that holds where nothing overflows: the sum of both."""
    most = min(Fraction(overflow.upper), Fraction(1))
    return (
        f"except with probability {at_most(failure)} and that of modular overflow ({limit(most)})"
    )


def overflow_warning(failure: Fraction, overflow: Enclosure) -> dict[str, str]:
    """What stands beside such a bound where overflow may be likelier than the failure allowed."""
    most = Fraction(overflow.upper)
    if most >= 1:
        return {
            "warning": "no probability of modular overflow below 1 is known, so the bound of the "
            "error may never hold: more bits make overflow rarer"
        }
    if most > failure:
        return {
            "warning": f"modular overflow has a probability of {limit(most)}, more than the "
            f"{at_most(failure)} allowed for the error: more bits make overflow rarer"
        }
    return {}


def who_is_summed(summed: int, users: int, gone: int, named: str) -> str:
    """How many are in a sum; some of those who drop out may have sent what is in it before."""
    late = summed + gone - users
    after = f", {late} of them after what they sent was in the sum" if late else ""
    return f"{summed} of {users} {named}; {gone} dropped out{after}"


def limit(value: Fraction) -> str:
    """A bound of a probability: at most so much."""
    return f"at most {at_most(value)}" if value else "0"


def _share(value: float | None, all_values: Sequence[float | None]) -> float:
    """Of the largest of them that is known; 0 where this one is not."""
    top = max((each for each in all_values if each is not None), default=0.0)
    return value / top if value is not None and top else 0.0


def _legend(title: str, remark: str) -> str:
    return f"{title}; {remark}" if remark else title


def _middle(value: Enclosure) -> float | None:
    middle = (float_below(value.lower or value.upper) + float_above(value.upper)) / 2
    return middle if math.isfinite(middle) else None


def _plain(value: object) -> Cell:
    if isinstance(value, dict) and set(value) == {"lower", "upper"}:
        return Enclosure.from_json(value)
    return value if isinstance(value, str) else json.dumps(value)
