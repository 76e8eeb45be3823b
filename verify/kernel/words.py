"""What theorems are about, in words, of their numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from .form import Numbers, ratio

_SHORT = 60  # characters of a list that is said in full


def noise(law: Callable[[Numbers], str]) -> Callable[[Numbers], str]:
    """An integer query plus noise of this law."""
    return lambda numbers: (
        f"an integer query of sensitivity {numbers.get('s', 1)} plus {law(numbers)}"
    )


def uses(numbers: Numbers) -> str:
    """How often, where it is more than once."""
    return f", used {numbers['k']:,} times on the same data," if numbers["k"] != 1 else ""


def laplace_law(numbers: Numbers) -> str:
    """Discrete Laplace noise."""
    return f"discrete Laplace noise of scale {ratio(numbers, 't', 'u')}"


def answers(law: Callable[[Numbers], str]) -> Callable[[Numbers], str]:
    """Queries, each chosen by the answers before, plus noise of this law."""
    return lambda numbers: (
        noise(law)(numbers)
        if numbers["k"] == 1
        else f"a sequence of {numbers['k']:,} integer queries of sensitivity {numbers['s']}, each "
        f"chosen by the answers before, plus {law(numbers)},"
    )


@noise
def reduced(numbers: Numbers) -> str:
    """A query plus discrete Laplace noise, seen mod m."""
    return f"discrete Laplace noise of scale {ratio(numbers, 't', 'u')}, seen mod {numbers['m']},"


def gaussian_law(numbers: Numbers) -> str:
    """Discrete Gaussian noise."""
    return f"discrete Gaussian noise of sigma2 {ratio(numbers, 't', 'u')}"


def skellam_law(numbers: Numbers) -> str:
    """Skellam noise."""
    mean = ratio(numbers, "t", "u")
    return f"Skellam noise (the difference of two Poisson counts of mean {mean})"


def binomial_law(numbers: Numbers) -> str:
    """Binomial noise."""
    chance = ratio(numbers, "u", "v") if "u" in numbers else "1/2"
    return f"binomial noise of {numbers['t']} trials with probability {chance}"


def response(numbers: Numbers) -> str:
    """Randomized response, used K times."""
    return f"randomized response (epsilon {ratio(numbers, 'e', 'f')}){uses(numbers)}"


def bits(numbers: Numbers) -> str:
    """Bits, each chosen by the answers before."""
    each = f"by randomized response (epsilon {ratio(numbers, 'e', 'f')})"
    if numbers["k"] == 1:
        return f"a bit {each}"
    return f"a sequence of {numbers['k']:,} bits {each}, each chosen by the answers before,"


def pair(numbers: Numbers) -> str:
    """A user's pair of laws, used K times."""
    a, b = numbers["A"], numbers["B"]
    assert not (isinstance(a, int) or isinstance(b, int))
    return (
        f"two distributions on {len(a):,} outcomes, proportional to {_weights('list_a', a)} and to "
        f"{_weights('list_b', b)}, either way round{uses(numbers)}"
    )


def _weights(name: str, weights: Sequence[int]) -> str:
    text = _text(weights)
    said = f"[{text}]" if len(text) <= _SHORT else f"SHA-256 {digest(weights)}"
    return f"{name} ({len(weights):,} numbers, {said})"


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
    said = []
    for k, t, u, s in grouped(numbers, "W", 4):
        if s:
            law = noise(laplace_law)({"t": t, "u": u, "s": s})
        else:
            law = f"a bit by randomized response (epsilon {ratio({'t': t, 'u': u}, 'u', 't')})"
        said.append(f"{law} {k:,} times")
    return f"{', then '.join(said) or 'nothing'}, each chosen by the answers before,"


def vectors(numbers: Numbers) -> str:
    """A list of discrete Gaussian noise on numbers and vectors."""
    said = [_vector(*nine) for nine in grouped(numbers, "V", 9)]
    return f"{', then '.join(said)}, each chosen by the answers before,"


def sampled(numbers: Numbers) -> str:
    """The same of Poisson-sampled users."""
    said = [
        f"{_vector(k, *rest)} on users of whom each takes part with probability "
        f"{ratio({'x': x, 'y': y}, 'x', 'y')}"
        for k, x, y, *rest in grouped(numbers, "U", 11)
    ]
    others = "each chosen by the answers before, where neighbours have one user more or less,"
    return f"{', then '.join(said)}, {others}"


def _vector(k: int, t: int, u: int, c: int, e: int, p: int, q: int, m: int, n: int) -> str:
    law = gaussian_law({"t": t, "u": u})
    if is_number(c, p, m, n):
        return f"an integer query of sensitivity {m} plus {law} {k:,} times"
    bounds = [
        f"{name} at most {ratio({'x': x, 'y': y}, 'x', 'y')}"
        for name, x, y in (("l2", c, e), ("l1", p, q), ("linf", m, 1))
        if x
    ]
    space = f"in at most {n:,} coordinates" if n else "in any number of coordinates"
    reach = f"{' and '.join(bounds) or 'anything'} {space}"
    return f"integer vectors that neighbours move by {reach} plus {law} in each, {k:,} times"


def is_number(c: int, p: int, m: int, n: int) -> bool:
    """Are vectors of these bounds single numbers, of which only the sensitivity is told?"""
    return (c, p, n) == (0, 0, 1) and m > 0
