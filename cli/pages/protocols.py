"""The page of protocols: what they really guarantee, cost and need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .bits import bits
from .markdown import filled
from .missing import pure, renyi
from .moduli import moduli
from .played import played
from .shuffled import shuffled

__all__ = ["SECTIONS", "page"]

SECTIONS: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "Users who vanish: pure ε": pure,
        "Users who vanish: Rényi divergences": renyi,
        "Another modulus than the certified one": moduli,
        "Shuffled bits": shuffled,
        "What the papers send, and the least": bits,
        "A whole round": played,
    }
)
_PICTURE = """\
![Remaining ε against the share of missing users]({name})

What is left of both protocols as users vanish: as published, and with shares that were made larger
for at most 10 % and for at most 30 % of missing users. These keep the promise up to there."""
_INTRODUCTION = """\
# Protocols as they run

Written by `exactdp protocol --markdown FILE{option}`; run it again to check every figure here.

The papers prove privacy for a protocol in which everybody stays and every sum is taken as stated.
Here is what is left where that is not so, and what keeps the promise. Every figure is computed
from the exact law of the noise; digits shown are certain to within one unit of the last one. All
figures are for the sum before it is reduced mod m, unless a modulus is named: the reduction is
post-processing and costs no privacy."""


def page(
    sections: Mapping[str, Callable[[], str]],
    picture: str | None = None,
    done: Callable[[str], None] = lambda title: None,
) -> str:
    """The Markdown page of these sections. picture: the figure's place, seen from the page.

    done: called with each section's title before it is computed.
    """
    option = "" if picture is None else " --figure FILE.svg"
    parts = [_INTRODUCTION.format(option=option)]
    if picture is not None:
        parts.append(_PICTURE.format(name=picture))
    for title, compute in sections.items():
        done(title)
        parts.append(f"## {title}\n\n{compute()}")
    return filled("\n\n".join(parts)) + "\n"
