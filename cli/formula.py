"""Formulas in options: exact arithmetic on the parameters of a mechanism, nothing else."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction

from ..exact import ParameterError, exact

__all__ = ["value_of"]

_LONGEST = 500
_LARGEST_POWER = 64
_LARGEST_BITS = 20_000


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
    if isinstance(node, ast.BinOp):
        left, right = (_evaluated(side, text, known) for side in (node.left, node.right))
        return _sized(_combined(node.op, left, right))
    raise ParameterError("a formula may hold numbers, parameters, + - * / ** and brackets only")


def _combined(operation: ast.operator, left: Fraction, right: Fraction) -> Fraction:
    if isinstance(operation, ast.Add):
        return left + right
    if isinstance(operation, ast.Sub):
        return left - right
    if isinstance(operation, ast.Mult):
        return left * right
    if isinstance(operation, ast.Div):
        return left / right
    if isinstance(operation, ast.Pow):
        if right.denominator != 1 or abs(right) > _LARGEST_POWER:
            raise ParameterError(f"an exponent must be a whole number up to {_LARGEST_POWER}")
        return Fraction(left ** int(right))
    raise ParameterError("a formula may hold numbers, parameters, + - * / ** and brackets only")


def _sized(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _LARGEST_BITS:
        raise ParameterError("a number in a formula grows too large")
    return value
