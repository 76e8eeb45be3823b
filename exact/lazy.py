"""What is imported when it is first asked for: names of a package (PEP 562), mpmath, and scipy's
special functions.

What a command does not use, it does not load: most of what it takes to start is imports.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["lazily", "mpmath", "special"]


class _Later(ModuleType):
    """A module that is imported when a name of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_loaded(self.__name__), name)


if TYPE_CHECKING:
    import mpmath
    from scipy import special
else:
    mpmath, special = _Later("mpmath"), _Later("scipy.special")


def _loaded(name: str, package: str | None = None) -> Any:
    if name in sys.modules:
        return sys.modules[name]
    return import_module(name, package)


def lazily(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of this package, whose modules (".budget") hold these names.

    None of them may be a module of the package itself, which would take its place.
    """
    homes = {name: module for module, listed in names.items() for name in listed}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(_loaded(homes[name], package), name)
        setattr(sys.modules[package], name, found)  # and is not asked for again
        return found

    return find
