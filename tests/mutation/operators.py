"""The changes that are made to source: Cosmic Ray's operators, and those that rounding needs."""

import parso
from cosmic_ray.operators.boolean_replacer import (
    AddNot,
    ReplaceAndWithOr,
    ReplaceFalseWithTrue,
    ReplaceOrWithAnd,
    ReplaceTrueWithFalse,
)
from cosmic_ray.operators.number_replacer import NumberReplacer
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.operators.provider import OperatorProvider

_OPPOSITES = (
    ("min", "max"),
    ("floor", "ceil"),
    ("lower", "upper"),
    ("abs_lower", "abs_upper"),
    ("lower_tail", "upper_tail"),
    ("below", "above"),
    ("ROUND_FLOOR", "ROUND_CEILING"),
    ("any", "all"),
)
_OPPOSITE = {a: b for pair in _OPPOSITES for a, b in (pair, pair[::-1])}
_NAMED = ("funcdef", "classdef", "param", "import_from", "import_as_names", "import_as_name")


class Opposite(Operator):
    """The other direction of rounding: min for max, floor for ceil, lower for upper."""

    def mutation_positions(self, node):
        if node.type == "name" and node.value in _OPPOSITE and node.parent.type not in _NAMED:
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        node.value = _OPPOSITE[node.value]
        return node

    @classmethod
    def examples(cls):
        return Example("x = min(a, b)", "x = max(a, b)"), Example("x.upper()", "x.lower()")


class NoGuard(Operator):
    """Whatever `if` alone stands before a `raise`, a `return` or a `continue`, it never holds."""

    def mutation_positions(self, node):
        if node.type != "if_stmt" or len(node.children) > 4:  # with elif or else
            return
        if node.children[3].get_code().split()[0] in ("raise", "return", "continue"):
            yield node.children[1].start_pos, node.children[1].end_pos

    def mutate(self, node, index):
        node.children[1] = parso.parse(" False")
        return node

    @classmethod
    def examples(cls):
        return (Example("if x < 0:\n    raise E\n", "if False:\n    raise E\n"),)


def _named(*names: str) -> tuple[Operator, ...]:
    every = OperatorProvider()
    return tuple(every[name]() for name in names)


_COMPARED = ("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Eq_NotEq", "NotEq_Eq", "Lt_Gt", "Gt_Lt")
_COMPUTED = ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul")

# Each kind is drawn as often, however many places there are for it.
KINDS: dict[str, tuple[Operator, ...]] = {
    "comparison": _named(*(f"ReplaceComparisonOperator_{way}" for way in _COMPARED)),
    "number": (NumberReplacer(),),
    "direction": (Opposite(),),
    "guard": (NoGuard(),),
    "sum": _named(*(f"ReplaceBinaryOperator_{way}" for way in _COMPUTED)),
    "condition": (
        *(AddNot(), ReplaceAndWithOr(), ReplaceOrWithAnd()),
        *(ReplaceTrueWithFalse(), ReplaceFalseWithTrue()),
    ),
}
