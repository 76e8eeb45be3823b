"""Of which shape the values of a certificate are: anything else is refused, and soon.

Of what size and depth it is is looked at first, so that no text, list or number of a file that
somebody else wrote takes long to read or much memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields as fields_of
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from .deadline import check_time

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d{1,4})?|-?\d+/\d+", re.A)
_LARGEST = 10**100  # of any number that has no closer bound: far within what a float can hold
LONGEST_TEXT = 4_000  # characters; Python itself reads no integers of more than 4,300 digits
_DEEPEST = 8
_MOST_OUTCOMES = 100_000
_LONGEST_DENOMINATOR = 50_000  # bits, of all masses of a law together
_MOST_PARTS = 400_000  # texts, numbers, lists and objects together
_MOST_CHARACTERS = 20_000_000


# In a text for people: what is not seen, or makes a line read as something else. Controls, ends of
# lines, marks of direction, what has no width or changes how a letter is drawn, fillers, halves of
# surrogate pairs, private use, tags.
_HIDDEN = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)


class CertificateError(ValueError):
    """Not a certificate of this version; the message says which field is wrong."""


def look_over(data: object) -> None:
    """Refuse what is too deep, too long or too much, without recursion."""
    layer, parts, characters = [data], 0, 0
    for _ in range(_DEEPEST):
        below: list[object] = []
        for each in layer:
            if isinstance(each, str):
                characters += len(each)
                if len(each) > LONGEST_TEXT:
                    raise CertificateError(f"a text has more than {LONGEST_TEXT} characters")
            elif isinstance(each, dict | list):
                parts += len(each)
                if parts > _MOST_PARTS:
                    raise CertificateError(f"it has more than {_MOST_PARTS} parts")
                below.extend(each.values() if isinstance(each, dict) else each)
        if characters > _MOST_CHARACTERS:
            raise CertificateError(f"it has more than {_MOST_CHARACTERS} characters")
        layer = below
        check_time()
    if layer:
        raise CertificateError(f"it is more than {_DEEPEST} levels deep")


def read_whole(text: object, name: str, least: int, most: int = 10**40) -> int:
    """Read a whole number. Raises CertificateError for any other text."""
    number = read_number(text, name, least=least, at_most=most)
    if number.denominator != 1:
        raise CertificateError(f"{name} must be a whole number")
    return number.numerator


def read_number(
    text: object,
    name: str,
    *,
    above: Fraction | None = None,
    least: int = 0,
    at_most: int = _LARGEST,
) -> Fraction:
    """Read an exact number of a few thousand digits at most. Raises CertificateError for others."""
    check_time()
    if not isinstance(text, str) or len(text) > LONGEST_TEXT or not _NUMBER.fullmatch(text):
        raise CertificateError(f"{name} must be exact text, such as 0.1, 1/3 or 1e-6")
    if re.search("/0+$", text):
        raise CertificateError(f"{name} has the denominator 0")
    number = Fraction(text)
    if number < least or (above is not None and number <= above):
        raise CertificateError(f"{name} is too small")
    if number > at_most:
        raise CertificateError(f"{name} is too large")
    return number


def read_readable(text: object, name: str, least: int, most: int) -> str:
    """Read a text for people, in one line. Raises CertificateError where something in it hides."""
    if not isinstance(text, str) or not least <= len(text) <= most or _HIDDEN.search(text):
        raise CertificateError(
            f"{name} must be one line of {least} to {most} characters, all of which are seen: no "
            "control characters, none of no width, no marks of direction"
        )
    return text


def rounded_text(number: Fraction, digits: int, rounding: str | None = None) -> tuple[Decimal, str]:
    """Rounded to so many digits, and how that is written."""
    context = Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
    near = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    return near, format(near.normalize(context), "f" if -8 < near.adjusted() < 15 else "")


def number_text(number: Fraction, digits: int = 17) -> str:
    """Exact where that is short, otherwise about, and marked so."""
    top, bottom = number.as_integer_ratio()
    short = max(abs(top), bottom) < 10**digits  # Python writes no integers of 4,301 digits
    if bottom == 1 and short:
        return str(top)
    near, text = rounded_text(number, digits)
    if Fraction(near) == number:
        return text
    exact = str(number) if short else ""
    return exact if 0 < len(exact) <= digits else f"about {near:.{digits}g}"


def in_words(name: str, one: Any) -> str:
    """Its name, and its numbers: those of its fields that are there."""
    numbers = []
    for each in fields_of(one):
        held, what = getattr(one, each.name), each.name.replace("_", " ")
        if isinstance(held, bool):
            numbers += [what] if held else []
        elif hasattr(held, "described"):
            numbers.append(f"{what} {held.described()}")
        elif held is not None:
            numbers.append(f"{what} {number_text(Fraction(held))}")
    return f"{name} ({', '.join(numbers)})"


def taking_part(rate: Fraction) -> str:
    """With which probability users do, in words; nothing of all of them."""
    return "" if rate == 1 else f", each user taking part with probability {number_text(rate)}"


def read_list(data: object, name: str, most: int) -> list[Any]:
    """Read a list that is neither empty nor too long."""
    if not isinstance(data, list) or not 1 <= len(data) <= most:
        raise CertificateError(f"{name} must be a list of 1 to {most} entries")
    return data


Reader: TypeAlias = "Callable[[Mapping[str, Any], str], Any]"  # of an object's field of this name
_T = TypeVar("_T")


def number(above: Fraction | None = None, at_most: int = _LARGEST, least: int = 0) -> Reader:
    """How a number in this range is read."""
    return lambda fields, name: read_number(
        fields[name], name, above=above, least=least, at_most=at_most
    )


def whole(least: int, most: int = 10**40) -> Reader:
    """How a whole number in this range is read."""
    return lambda fields, name: read_whole(fields[name], name, least, most)


def choice(*allowed: str, wrong: str = "") -> Reader:
    """How one of these names is read."""
    return lambda fields, name: read_choice(fields, name, allowed, wrong)


def optional(read_one: Reader) -> Reader:
    """How null is read, or something else."""
    return lambda fields, name: None if fields[name] is None else read_one(fields, name)


def one_of(tag: str, readers: Mapping[str, Callable[[object], Any]], wrong: str) -> Reader:
    """How an object is read whose tag says what it is."""

    def read(fields: Mapping[str, Any], name: str) -> Any:
        return readers[read_choice(fields[name], tag, readers, wrong)](fields[name])

    return read


def below_one(fields: Mapping[str, Any], name: str) -> Fraction:
    """Read a number above 0 and below 1."""
    found = read_number(fields[name], name, above=Fraction(0), at_most=1)
    if found == 1:
        raise CertificateError(f"{name} must be below 1")
    return found


def plainly(
    what: str, made: Callable[..., _T], tag: str = "kind", /, **fields: Reader
) -> Callable[[object], _T]:
    """How `what` is read, which has just these fields beside its tag and is made of them."""

    def read(data: object) -> _T:
        return made(*read_each(data, what, fields, *filter(None, [tag])).values())

    return read


def read_each(
    data: object, what: str, readers: Mapping[str, Reader], *others: str
) -> dict[str, Any]:
    """Read an object of just these fields, each by its reader, and of others."""
    held = read_fields(data, what, *others, *readers)
    return {name: read_one(held, name) for name, read_one in readers.items()}


def held(data: object) -> Mapping[str, Any]:
    """The fields of an object; none of anything else, which is refused where it is read."""
    return data if isinstance(data, dict) else {}


def named(data: object, *names: str) -> tuple[str, ...]:
    """Which of these fields an object has."""
    return tuple(name for name in names if name in held(data))


def outcomes(read_one: Callable[[object], Any]) -> Reader:
    """How a list of outcomes is read, each of which stands there once."""

    def read(fields: Mapping[str, Any], name: str) -> tuple[Any, ...]:
        found = tuple(map(read_one, read_list(fields[name], name, _MOST_OUTCOMES)))
        if len(set(found)) != len(found):
            raise CertificateError(f"{name} must be distinct")
        return found

    return read


def masses(fields: Mapping[str, Any], name: str) -> tuple[Fraction, ...]:
    """Read the probabilities of all outcomes, whose sum is 1, up to the slack if there is any."""
    slack = read_number(fields["slack"], "slack", at_most=1) if "slack" in fields else 0
    listed = read_list(fields[name], name, _MOST_OUTCOMES)
    found = tuple(read_number(each, name, at_most=1) for each in listed)
    bottom = 1
    for denominator in {mass.denominator for mass in found}:
        check_time()
        bottom = math.lcm(bottom, denominator)
        if bottom.bit_length() > _LONGEST_DENOMINATOR:
            raise CertificateError(f"{name} need too long a common denominator")
    whole = sum(mass.numerator * (bottom // mass.denominator) for mass in found)
    if len(found) != len(fields["outcomes"]) or abs(Fraction(whole, bottom) - 1) > slack:
        raise CertificateError(f"{name} must have one mass for each outcome and sum to 1")
    return found


def read_choice(data: object, field: str, allowed: Collection[str], wrong: str = "") -> str:
    """Read which of these names an object has in this field. Raises CertificateError: `wrong`."""
    found = held(data).get(field)
    if not isinstance(found, str) or found not in allowed:
        raise CertificateError(wrong or f"{field} must be {' or '.join(allowed)}")
    return found


def read_yes(fields: Mapping[str, Any], name: str) -> bool:
    """Read yes or no."""
    return read_choice(fields, name, ("yes", "no")) == "yes"


def shown(key: object) -> str:
    """The name of a field, in a line that any terminal shows."""
    return ascii(key[:40] if isinstance(key, str) else type(key).__name__)


def read_fields(data: object, name: str, *expected: str) -> Mapping[str, Any]:
    """Read an object that has exactly these fields; the error names what is odd."""
    if not isinstance(data, dict):
        raise CertificateError(f"{name} must be an object")
    if set(data) != set(expected):
        told = []
        for what, odd in (
            ("missing", set(expected) - set(data)), ("not known", set(data) - set(expected)),
        ):  # fmt: skip
            told += [f"{what}: {', '.join(sorted(map(shown, odd))[:3])}"] if odd else []
        needed = f"have exactly the fields {', '.join(expected)}" if expected else "be empty"
        raise CertificateError(f"{name} must {needed}; {'; '.join(told)}")
    return data
