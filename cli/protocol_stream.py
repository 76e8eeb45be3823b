"""`exactdp protocol tree:...,clients=N`: what a stream under masks sends, hides, how it wraps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Any

from ..common.rows import written
from ..common.table import Table
from ..exact import Enclosure, ParameterError, decimal_text, exact
from ..exact.rounding import to_digits
from ..mechanisms.matrices.shared import SharedStream
from ..mechanisms.specs.spec import Spec
from . import output
from .in_time import Figures
from .measure import epsilon_of
from .options import read_dropouts
from .parts import at_most, described, except_with, overflow_warning, shown
from .result import Part, Result

_VANISH = ("0.01", "0.1", "0.25", "0.5")
_ROWS = 6  # kinds of releases whose ε is shown: those that move farthest
_DIGITS = 6


def stream(parsed: Spec, failure: str | None, dropout: Sequence[str], delta: str) -> Result:
    """Measure a stream: ε, wrapping, errors, and what clients who vanish cost."""
    given = parsed.stream
    if given is None:
        raise ParameterError(
            "SPEC must say who sends shares of the noise: clients=N, with noise=skellam or "
            "discrete-gaussian"
        )
    if given.dropout:
        raise ParameterError("SPEC must not take shares out: clients who drop out go to --dropout")
    level = exact(delta, "--delta", above=0, below=1)
    risk = exact(failure or "1e-6", "--failure", above=0, below=1)
    n = given.clients
    gone = read_dropouts(dropout, n, _VANISH)
    figures, anything = Figures(), Enclosure.probability()
    with output.working("measuring the stream"):
        rows = sorted(given.rows().items(), reverse=True)
        fewest = figures.find(lambda: given.fewest_bits(risk), None)
        bits = given.bits or fewest

        def row(place: int, moved: int, count: int) -> dict[str, Any]:
            wrap = bits and figures.find(lambda: given.wrap(moved, bits), anything)
            one = given.row(moved) if place < _ROWS else None
            epsilon = None if one is None else epsilon_of(one, 1, level)
            return {"moved": moved, "count": count, "wrap": wrap, "epsilon": epsilon}

        told: dict[str, Any] = {
            "clients": n,
            "dimension": given.dimension,
            "share": written(given.share),
            "bits": given.bits,
            "fewest_bits": fewest,
            "failure": risk,
            "delta": delta,
            "epsilon": epsilon_of(given.noise, 1, level),
            "wrap": bits and figures.find(lambda: given.any_wrap(bits), anything),
            "overflow": anything,
            "prefix_error": figures.find(lambda: given.prefix_error(risk), None),
            "rows": [row(place, *each) for place, each in enumerate(rows)],
            "dropout": [_lacking(given, each, rows[0][0], level) for each in gone],
        }
    told["overflow"] = anything if told["wrap"] is None else told["wrap"]
    if told["prefix_error"] is not None:
        told |= overflow_warning(risk, told["overflow"])
    named = {"mechanism": parsed, "neighbours": given.noise.neighbours}
    parts = _parts(parsed, given, told, figures.note)
    return Result(named | told | figures.note, parts, figures.code)


def _lacking(given: SharedStream, missing: int, moved: int, level: Fraction) -> dict[str, Any]:
    """Larger shares have the variance of all, at least: n/(n - missing) times as much each."""
    square = given.sigma**2 * given.clients / (given.clients - missing)
    scaled = math.isqrt(math.ceil(square * 10**24)) + 1  # above the root times 10^12
    larger = Fraction(to_digits(Fraction(scaled, 10**12), _DIGITS, ROUND_CEILING))
    left = Fraction(given.clients - missing, given.clients)
    instead = given.with_sigma(larger).missing(missing)
    return {
        "missing": missing,
        "variance_left": left,
        "epsilon_row": epsilon_of(given.row(moved, missing), 1, level),
        "epsilon": epsilon_of(given.missing(missing), 1, level),
        "sigma": larger,
        "epsilon_provided": epsilon_of(instead, 1, level),
    }


def _parts(
    parsed: Spec, given: SharedStream, told: dict[str, Any], note: Mapping[str, str]
) -> Iterator[Part]:
    facts, risk = described(parsed), at_most(told["failure"])
    bits, wrap, fewest = told["bits"] or told["fewest_bits"], told["wrap"], told["fewest_bits"]
    facts["share"] = f"{told['share']}, of each of {given.clients} clients, in every entry"
    facts["adjacency"] = f"{given.noise.neighbours}; who is there is the same in both"
    facts[f"ε at δ = {told['delta']}"] = f"{shown(told['epsilon'])}, of the whole stream"
    facts["fewest bits"] = (
        f"{fewest or 'none found'} a coordinate, of those with which any wraps with at most {risk}"
    )
    if wrap is not None:
        low, high = (at_most(Fraction(end)) for end in (wrap.lower, wrap.upper))
        facts["any wraps"] = f"with probability {low} to {high}, mod 2^{bits}, for the worst data"
        facts["a client sends"] = f"{bits * given.dimension} bits a step, masks aside"
    if told["prefix_error"] is not None:
        facts["prefix sums"] = (
            f"none is off by more than {told['prefix_error']}, "
            f"{except_with(told['failure'], told['overflow'])}"
        )
    rows = [
        (
            str(row["moved"]),
            str(row["count"]),
            "" if row["wrap"] is None else shown(row["wrap"]),
            "" if row["epsilon"] is None else shown(row["epsilon"]),
        )
        for row in told["rows"][:_ROWS]
    ]
    columns = ("a user's part in one", "releases", "a coordinate wraps", "ε of one")
    costs = [
        (
            str(row["missing"]),
            f"× {float(row['variance_left']):.4g}",
            shown(row["epsilon_row"]),
            shown(row["epsilon"]),
            decimal_text(row["sigma"]),
            shown(row["epsilon_provided"]),
        )
        for row in told["dropout"]
    ]
    lacking = ("missing", "variance", "ε of one", "ε of all", "sigma instead", "ε of all then")
    yield facts
    yield Table(columns, rows, right=columns[:2])
    yield Table(lacking, costs, right=("missing",))
    if noted := {**{key: told[key] for key in ("warning",) if key in told}, **note}:
        yield noted
