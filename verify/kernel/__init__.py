"""Verdicts as theorems that Coq's kernel checks: `docs/kernel.md`."""

from .coq import CoqError
from .export import theorem_in, theorem_of
from .theorem import Outcome, check_text, check_theorem
from .verdicted import NotWrittenError

__all__ = [
    "CoqError",
    "NotWrittenError",
    "Outcome",
    "check_text",
    "check_theorem",
    "theorem_in",
    "theorem_of",
]
