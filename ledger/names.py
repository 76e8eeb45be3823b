"""Which names of users and projects are the same: who has two names has two budgets.

Composed and decomposed letters are the same (NFC is what is written). Everything else that can be
seen makes another name: "Ada" and "ada" are two. What cannot be seen is refused: spaces before,
after and doubled, and characters without a shape; controls, zero widths, bidi marks and tags are
not printable, and refused everywhere.

A name that an older version wrote in another way stays as it is, and is found so.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from ..exact import ParameterError

# Printable to Python, and nothing to see: Unicode's Default_Ignorable_Code_Point but for those of
# category Cf and those that are not assigned, and the blank of Braille.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


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
    return "characters that nobody sees" if _BLANK.search(name) else None
