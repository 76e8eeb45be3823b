"""Verdicts as theorems that Coq's kernel checks: `docs/kernel.md`."""

from .coq import CoqError
from .export import NotWrittenError, theorem_in, theorem_of
from .theorem import Outcome, check_theorem

__all__ = ["CoqError", "NotWrittenError", "Outcome", "check_theorem", "theorem_in", "theorem_of"]
