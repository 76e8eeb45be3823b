"""Packages that only some functions need, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def bring(module: str, extra: str) -> Any:
    """Import a module. Raises ImportError, naming the extra that brings it, where it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != name:
            raise
        raise ImportError(
            f'{name} is not installed: pip install "exactdp[{extra}]"', name=name
        ) from error
