"""A form of theorems: a Coq text with numbers left out, written and read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from string import Formatter
from typing import TypeAlias

from attrs import frozen

from ...exact.number import decimal_text

Numbers: TypeAlias = Mapping[str, "int | Sequence[int]"]  # lists have names in upper case

_DIGITS = 4_000  # of one number; Python itself reads no integers of more than 4,300
_NUMBER = rf"(?:0|[1-9][0-9]{{0,{_DIGITS - 1}}})"
OF_A_USE = {"list_w": (4, "four"), "list_v": (9, "nine"), "list_u": (11, "eleven")}  # numbers
# Definitions and Laws come last: what the statement names is theirs, whatever else has that name
_FILE = """\
(* exactdp theorem, version 1: {title} *)
From Coq Require Import Reals List ZArith.
From ExactDP Require Import {module} Definitions Laws.
Import ListNotations.
Open Scope R_scope.

{given}Theorem verdict :
  {statement}.
Proof. apply ({proof}). vm_cast_no_check (eq_refl true). Qed.
Print Assumptions verdict.
"""


class FormError(ValueError):
    """Not a file of any of these forms."""


@frozen(slots=False)
class Form:
    """A theorem with its numbers left out.

    title      unlike any other form's
    module     of the library, where the theorem that proves it is
    statement  the claim, in the words of `Definitions.v` and `Laws.v`
    proof      what is applied: with the checks that the kernel runs, and hints
    words      the mechanism in words, of the numbers
    given      lists that the statement names
    """

    title: str
    module: str
    statement: str
    proof: str
    words: Callable[[Numbers], str]
    given: tuple[str, ...] = ()

    @cached_property
    def template(self) -> str:
        """The whole file, with names in braces for numbers."""
        lists = "".join(
            f"Definition list_{name.lower()} : list Z := [{{{name}}}]%Z.\n" for name in self.given
        )
        return _FILE.format(
            title=self.title,
            module=self.module,
            given=f"{lists}\n" if lists else "",
            statement=self.statement,
            proof=self.proof,
        )

    @property
    def verified(self) -> bool:
        """Does it say that the claim holds?"""
        return self.title.endswith("VERIFIED")

    @property
    def kind(self) -> str:
        """Of which claim: epsilon or rho is a/b, delta n/d, an order c/o."""
        for kind, word in (("zcdp", "zcdp"), ("rdp", "renyi")):
            if word in self.statement:
                return kind
        return "approx"

    def write(self, numbers: Numbers) -> str:
        """The file with these numbers.

        Raises FormError where one is too long or negative, or a list has another length than it
        must have.
        """
        text = self.template.format(
            **{
                name: str(number) if isinstance(number, int) else "; ".join(map(str, number))
                for name, number in numbers.items()
            }
        )
        if self.read(text) is None:
            raise FormError(f"a number has more than {_DIGITS:,} digits")
        return text

    def read(self, text: str) -> dict[str, int | tuple[int, ...]] | None:
        """The numbers with which this form is just this text; None where there are none.

        Raises FormError where a list has another length than it must have.
        """
        found = self._pattern.fullmatch(text)
        if found is None:
            return None
        numbers: dict[str, int | tuple[int, ...]] = {
            name: int(part) if name.islower() else tuple(map(int, part.split("; ")))
            for name, part in found.groupdict().items()
        }
        lists = self.lists(numbers)
        for name, (each, word) in OF_A_USE.items():
            if len(lists.get(name, ())) % each:
                count = len(lists[name])
                raise FormError(f"{name} has {count:,} numbers: each use takes {word}")
        if len({len(column) for column in lists.values()}) > 1:
            raise FormError("list_a and list_b are not of one length")
        return numbers

    def lists(self, numbers: Numbers) -> dict[str, tuple[int, ...]]:
        """The lists that the statement names, as it names them."""
        found = {}
        for name in self.given:
            values = numbers[name]
            assert not isinstance(values, int)
            found[f"list_{name.lower()}"] = tuple(values)
        return found

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts, seen = [], set()
        for fixed, name, _, _ in Formatter().parse(self.template):
            parts.append(re.escape(fixed))
            if name is None:
                continue
            # `*+` keeps no way back, of which a long list would have gigabytes
            number = _NUMBER if name.islower() else f"{_NUMBER}(?:; {_NUMBER})*+"
            parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{number})")
            seen.add(name)
        return re.compile("".join(parts), re.A)

    def described(self, numbers: Numbers) -> str:
        """What the theorem says, in words."""
        claimed = ratio(numbers, "a", "b")
        if self.kind == "zcdp":
            claimed = f"({claimed})-zero-concentrated differentially private"
        elif self.kind == "rdp":
            claimed = f"({ratio(numbers, 'c', 'o')}, {claimed})-Rényi differentially private"
        else:
            claimed = f"({claimed}, {ratio(numbers, 'n', 'd')})-differentially private"
        says, which = ("is", "every") if self.verified else ("is not", "some")
        scope = ""
        if "noise_" in self.statement:
            asked = "way of asking" if "noise_uses" in self.statement else "query"
            scope = f", for {which} data type, neighbour relation and {asked} of that sensitivity"
        elif "sampled_in" in self.statement:
            scope = f", for {which} type of records and way of asking of this kind"
        elif any(name in self.statement for name in ("list_not_dp", "list_dp", "vectors_in")):
            scope = f", for {which} data type, neighbour relation and way of asking of this kind"
        return f"{self.words(numbers)} {says} {claimed}{scope}"


def fraction(numbers: Numbers, top: str, bottom: str) -> Fraction:
    """A quotient of two of the numbers; a form may have 0/1 for good."""
    n, d = numbers.get(top, 0), numbers.get(bottom, 1)
    assert isinstance(n, int) and isinstance(d, int)
    return Fraction(n, d)


def ratio(numbers: Numbers, top: str, bottom: str) -> str:
    """The same as text, of a denominator of 0 too."""
    try:
        return decimal_text(fraction(numbers, top, bottom))
    except ZeroDivisionError:
        return f"{numbers.get(top, 0)}/0"
