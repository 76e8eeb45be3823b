"""Which names of users and projects are the same: who has two names has two budgets.

Composed and decomposed letters are the same (NFC is what is written). Everything else that can be
seen makes another name: "Ada" and "ada" are two. What may not be seen is refused, by the rule of
Unicode's security mechanisms (UTS 39): a new name is

- of letters, marks, numbers, punctuation, symbols and single spaces between them (categories L, M,
  N, P, S): so no controls, formats (zero widths, bidi marks, tags), private use, other spaces;
- the same in form NFKC (no ligature, wide or filling variant of other characters);
- without Default_Ignorable_Code_Points and blanks (what Unicode names BLANK or FILLER);
- without marks of their own but those of a script after a letter of the same script, each once in
  a row: a vowel sign or virama. What is no part of a composed letter (a dot above i, a stroke
  through a letter, an accent twice) may lie on the letter and not be seen (5.4).

A name that an older version wrote in another way stays as it is, and is found so.
"""

from __future__ import annotations

import re
import unicodedata
from unicodedata import normalize

from ..exact import ParameterError

# Default_Ignorable_Code_Point (DerivedCoreProperties.txt) but for what is not printable: Cf and Cn
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_BLANK = re.compile(r"\b(BLANK|FILLER)\b")


def spellings(name: str) -> tuple[str, ...]:
    """The name as it is given, and as it may have been written."""
    return tuple(dict.fromkeys((name, normalize("NFC", name), normalize("NFD", name))))


def is_plain(name: str) -> bool:
    """Is there one spelling of it, which is as new names are?"""
    return _doubt(name) is None and len(spellings(name)) == 1


def new_name(name: str, what: str) -> str:
    """As a new one is written. Raises ParameterError where it differs from others invisibly."""
    if (doubt := _doubt(name)) is not None:
        raise ParameterError(f"{what} must not have {doubt}, got {ascii(name)[:60]}")
    return normalize("NFC", name)


def _doubt(name: str) -> str | None:
    if name != " ".join(name.split()):
        return "spaces before, after or doubled"
    composed = normalize("NFC", name)
    if not name.isprintable() or _IGNORABLE.search(name) or any(map(_is_blank, name)):
        return "characters that nobody sees"
    if normalize("NFKC", composed) != composed:
        return "variants of other characters (its form NFKC is another)"
    return "marks that may not be seen beside their letter" if _has_odd_marks(composed) else None


def _is_blank(letter: str) -> bool:
    return not letter.isascii() and _BLANK.search(unicodedata.name(letter, "")) is not None


def _has_odd_marks(composed: str) -> bool:
    """Is there a mark that follows no letter of its script, or itself?"""
    script, before = "", ""
    for letter in composed:
        own = unicodedata.name(letter, "").partition(" ")[0]  # begins with the script
        if not unicodedata.category(letter).startswith("M"):
            script = own if letter.isalpha() else ""
        elif own != script or letter == before:
            return True
        before = letter
    return False
