"""`exactdp search`: is a claim violated anywhere on a grid of mechanisms?"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import typer

from ..exact import ParameterError, decimal_text, exact, whole
from ..mechanisms.specs.spec import parse
from ..verify import Claim, parse_claim
from ..verify.search import Axis, Search, Visited, between, claimed, whole_numbers
from ..verify.search import search as searched
from . import output
from .options import option
from .result import Result, printed

_MOST_VALUES = 100_000
_MOST_LISTED = 20
_CODES = {"VIOLATED": 1, "NONE": 0, "OPEN": 3}
_SAID = {
    "VIOLATED": "VIOLATED",
    "NONE": "not violated at any point of the grid",
    "OPEN": "no violation found; the grid is not settled",
}

Point: TypeAlias = Mapping[str, Fraction]
_LONGEST = 500
_LARGEST_POWER = 64
_LARGEST_BITS = 20_000


@printed
def search(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help="NAME:key=value,... where a value may be a range: 2..64 is every whole number, "
            "1/4..2:8 are 8 evenly spaced values",
        ),
    ],
    claim: Annotated[
        str,
        option(
            "CLAIM",
            "as for audit, with + - * / ** and the keys of SPEC: rdp:2,1/(count*sigma2)",
        ),
    ],
    seconds: Annotated[
        str,
        typer.Option("--seconds", "--time", metavar="S", help="about how long to search"),
    ] = "30",
) -> Result:
    """Look for a mechanism that violates a claim, on a grid.

    Exit 1 with the first violation found; 0 if no point of the whole grid violates; 3 if some
    stayed undecided or were not reached.
    """
    exact(seconds, "seconds", at_least=0, at_most=10**6)
    name, fixed, axes = _grid(spec)

    def named(point: Point) -> str:
        return _text(name, fixed, point)

    first = {axis.name: axis.values[0] for axis in axes}
    parse(named(first))  # what cannot be read is refused before anything is shown
    bound = _claim(claim, fixed)
    bound(first)
    question = claimed(lambda point: parse(named(point)).mechanism, bound)
    with output.working("searching"):
        found = searched(axes, question, seconds)
    settled = found.is_exhausted and not found.undecided and not found.unmeasured
    answer = "VIOLATED" if found.violation else "NONE" if settled else "OPEN"
    data = {"violations": answer} | _told(found, named, bound)
    return Result(data, [_facts(answer, found, named, bound)], _CODES[answer])


def _told(
    found: Search, named: Callable[[Point], str], bound: Callable[[Point], Claim]
) -> dict[str, Any]:
    """What was found, as JSON."""

    def told(visited: Visited) -> dict[str, Any]:
        return {
            "mechanism": named(visited.point),
            "claim": str(bound(visited.point)),
            "measured": visited.compared.measured,
            "ratio": visited.ratio,
        }

    return {
        "violation": None if found.violation is None else told(found.violation),
        "closest": None if found.closest is None else told(found.closest),
        "largest_ratio": found.largest,
        "covered": found.covered,
        "points": found.total,
        "undecided": [told(visited) for visited in found.undecided[:_MOST_LISTED]],
        "undecided_count": len(found.undecided),
        "unmeasured_count": len(found.unmeasured),
    }


def _facts(
    answer: str, found: Search, named: Callable[[Point], str], bound: Callable[[Point], Claim]
) -> dict[str, str]:
    facts = {"claim": _SAID[answer]}
    what, point = ("violation", found.violation) if found.violation else ("closest", found.closest)
    if point is not None:
        facts[what] = named(point.point)
        facts[f"{what}: claimed"] = str(bound(point.point))
        facts[f"{what}: measured"] = str(point.compared.measured)
        facts[f"{what}: ratio"] = str(point.ratio)
    if found.largest is not None:
        facts["largest ratio met"] = str(found.largest)
    facts["covered"] = f"{found.covered} of {found.total} points"
    for name, points in (("undecided", found.undecided), ("unmeasured", found.unmeasured)):
        if points:
            facts[name] = f"{len(points)} points"
    return facts


def _grid(spec: str) -> tuple[str, dict[str, str], list[Axis]]:
    """The name, the keys with one value, and those with a range."""
    name, _, rest = spec.partition(":")
    fixed: dict[str, str] = {}
    axes: list[Axis] = []
    for part in rest.split(",") if rest else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key.isidentifier():
            raise ParameterError(f"SPEC must read NAME:key=value,..., got {part[:40]!r}")
        if key in fixed or any(key == axis.name for axis in axes):
            raise ParameterError(f"{name}: {key} is given twice")
        low, dots, high = value.partition("..")
        if not dots:
            fixed[key] = value
            continue
        high, colon, count = high.partition(":")
        if colon:
            points = whole(count, f"{key}, number of values", at_least=2, at_most=_MOST_VALUES)
            axes.append(between(key, low, high, points))
        else:
            span = exact(high, f"{key}, high") - exact(low, f"{key}, low")
            if not 0 <= span <= _MOST_VALUES:
                raise ParameterError(f"{key} must be a range of at most {_MOST_VALUES} values")
            axes.append(whole_numbers(key, low, high))
    if not axes:
        raise ParameterError("SPEC must hold at least one range, such as count=2..64")
    return name, fixed, axes


def _text(name: str, fixed: Mapping[str, str], point: Point) -> str:
    """The spec of one mechanism."""
    moving = {key: decimal_text(value) for key, value in point.items()}
    return f"{name}:" + ",".join(f"{key}={value}" for key, value in {**fixed, **moving}.items())


def _claim(text: str, fixed: Mapping[str, str]) -> Callable[[Point], Claim]:
    """The claim at a point: its numbers are formulas in the keys of the mechanism."""
    kind, colon, rest = text.partition(":")
    if not rest:
        parse_claim(text)  # says what a claim must be
    known: dict[str, Fraction] = {}
    for key, value in fixed.items():
        try:
            known[key] = exact(value, key)
        except ParameterError:
            continue  # not a number: no formula may name it

    def at(point: Point) -> Claim:
        values = [decimal_text(value_of(part, {**known, **point})) for part in rest.split(",")]
        return parse_claim(f"{kind}{colon}{','.join(values)}")

    return at


def value_of(text: str, known: Mapping[str, Fraction]) -> Fraction:
    """Evaluate numbers, + - * / ** with whole exponents, brackets and the names in `known`.

    Numbers are the decimals that they are written as. Raises ParameterError for anything else.
    """
    if len(text) > _LONGEST:
        raise ParameterError(f"a formula must have at most {_LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _evaluated(tree.body, text.strip(), known)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"formula {text[:40]!r} cannot be read") from error
    except ZeroDivisionError as error:
        raise ParameterError(f"formula {text[:40]!r} divides by zero") from error


def _evaluated(node: ast.expr, text: str, known: Mapping[str, Fraction]) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return exact(ast.get_source_segment(text, node), "a number in a formula")
    if isinstance(node, ast.Name):
        if node.id not in known:
            raise ParameterError(
                f"formula names {node.id!r}, which is not one of {', '.join(known)}"
            )
        return known[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        inner = _evaluated(node.operand, text, known)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = (_evaluated(side, text, known) for side in (node.left, node.right))
        return _sized(_OPERATIONS[type(node.op)](left, right))
    raise ParameterError("a formula may hold numbers, parameters, + - * / ** and brackets only")


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or abs(exponent) > _LARGEST_POWER:
        raise ParameterError(f"an exponent must be a whole number up to {_LARGEST_POWER}")
    return Fraction(base ** int(exponent))


_OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}


def _sized(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _LARGEST_BITS:
        raise ParameterError("a number in a formula grows too large")
    return value
