"""What theorems are about, in words, of their numbers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

from .form import Numbers, ratio

_SHORT = 60  # characters of a list that is said in full


LAPLACE = "discrete Laplace noise of scale {t/u}"
REDUCED = f"{LAPLACE}, seen mod {{m}},"
GAUSSIAN = "discrete Gaussian noise of sigma2 {t/u}"
SKELLAM = "Skellam noise (the difference of two Poisson counts of mean {t/u})"
BINOMIAL = "binomial noise of {t} trials with probability {u/v}"
FAIR = "binomial noise of {t} trials with probability 1/2"
_QUERY, _BIT = "an integer query of sensitivity {s} plus", "by randomized response (epsilon {e/f})"
_USES = ", used {k} times on the same data,"


def filled(text: str, numbers: Numbers) -> str:
    """A text with numbers in place of their letters, and quotients, as {t/u}."""

    def written(found: re.Match[str]) -> str:
        name, bottom = found.groups()
        number = numbers[name]
        if bottom:
            return ratio(numbers, name, bottom)
        return f"{number:,}" if name == "k" else str(number)

    return re.sub(r"\{(\w)(?:/(\w))?\}", written, text)


def _words(once: str, several: str = "") -> Callable[[Numbers], str]:
    """Another text where there are several uses."""
    return lambda numbers: filled(once if numbers.get("k", 1) == 1 else several, numbers)


def noise(law: str, sensitivity: str = "{s}") -> Callable[[Numbers], str]:
    """An integer query plus noise of this law."""
    return _words(f"{_QUERY} {law}".replace("{s}", sensitivity))


def answers(law: str) -> Callable[[Numbers], str]:
    """Queries, each chosen by the answers before, plus noise of this law."""
    each = "integer queries of sensitivity {s}, each chosen by the answers before"
    return _words(f"{_QUERY} {law}", f"a sequence of {{k}} {each}, plus {law},")


response = _words(
    "randomized response (epsilon {e/f})", f"randomized response (epsilon {{e/f}}){_USES}"
)
bits = _words(
    f"a bit {_BIT}", f"a sequence of {{k}} bits {_BIT}, each chosen by the answers before,"
)


def pair(numbers: Numbers) -> str:
    """A user's pair of laws, used K times."""
    a, b = numbers["A"], numbers["B"]
    assert not (isinstance(a, int) or isinstance(b, int))
    return (
        f"two distributions on {len(a):,} outcomes, proportional to {_weights('list_a', a)} and to "
        f"{_weights('list_b', b)}, either way round{_words('', _USES)(numbers)}"
    )


def _weights(name: str, weights: Sequence[int]) -> str:
    text = _text(weights)
    shown = f"[{text}]" if len(text) <= _SHORT else f"SHA-256 {digest(weights)}"
    return f"{name} ({len(weights):,} numbers, {shown})"


def digest(numbers: Sequence[int]) -> str:
    """The SHA-256 of a list as it stands in the file, between its brackets."""
    return hashlib.sha256(_text(numbers).encode("ascii")).hexdigest()


def _text(numbers: Sequence[int]) -> str:
    return "; ".join(map(str, numbers))


def grouped(numbers: Numbers, name: str, size: int) -> list[tuple[int, ...]]:
    """The uses of a list, so many numbers a time, as `Laws.v` reads them."""
    found = numbers[name]
    assert not isinstance(found, int)
    return list(zip(*(found[start::size] for start in range(size)), strict=True))


def listed(numbers: Numbers) -> str:
    """A list of uses."""
    each = []
    for k, t, u, s in grouped(numbers, "W", 4):
        one = f"{_QUERY} {LAPLACE}" if s else f"a bit {_BIT}"
        each.append(f"{filled(one, {'t': t, 'u': u, 's': s, 'e': u, 'f': t})} {k:,} times")
    return f"{', then '.join(each) or 'nothing'}, each chosen by the answers before,"


def vectors(numbers: Numbers) -> str:
    """A list of discrete Gaussian noise on numbers and vectors."""
    each = [_vector(*nine) for nine in grouped(numbers, "V", 9)]
    return f"{', then '.join(each)}, each chosen by the answers before,"


def sampled(numbers: Numbers) -> str:
    """The same of Poisson-sampled users."""
    each = [
        f"{_vector(k, *rest)} on users of whom each takes part with probability "
        + filled("{x/y}", {"x": x, "y": y})
        for k, x, y, *rest in grouped(numbers, "U", 11)
    ]
    others = "each chosen by the answers before, where neighbours have one user more or less,"
    return f"{', then '.join(each)}, {others}"


def _vector(k: int, t: int, u: int, c: int, e: int, p: int, q: int, m: int, n: int) -> str:
    law = filled(GAUSSIAN, {"t": t, "u": u})
    if is_number(c, p, m, n):
        return f"an integer query of sensitivity {m} plus {law} {k:,} times"
    bounds = [
        filled(f"{name} at most {{x/y}}", {"x": x, "y": y})
        for name, x, y in (("l2", c, e), ("l1", p, q), ("linf", m, 1))
        if x
    ]
    space = f"in at most {n:,} coordinates" if n else "in any number of coordinates"
    reach = f"{' and '.join(bounds) or 'anything'} {space}"
    return f"integer vectors that neighbours move by {reach} plus {law} in each, {k:,} times"


def is_number(c: int, p: int, m: int, n: int) -> bool:
    """Are vectors of these bounds single numbers, of which only the sensitivity is told?"""
    return (c, p, n) == (0, 0, 1) and m > 0
