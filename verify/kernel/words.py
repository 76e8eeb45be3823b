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


@noise
def skellam(numbers: Numbers) -> str:
    """A query plus Skellam noise."""
    mean = ratio(numbers, "t", "u")
    return f"Skellam noise (the difference of two Poisson counts of mean {mean})"


@noise
def binomial(numbers: Numbers) -> str:
    """A query plus binomial noise."""
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
        f"a pair of laws on {len(a):,} outcomes, proportional to {_weights('list_a', a)} and to "
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


def in_fours(numbers: Numbers) -> list[tuple[int, int, int, int]]:
    """The uses of a list, as `uses_in` of `Laws.v` reads them; it drops numbers left over."""
    w = numbers["W"]
    assert not isinstance(w, int)
    return list(zip(w[::4], w[1::4], w[2::4], w[3::4], strict=True))


def listed(numbers: Numbers) -> str:
    """A list of uses."""
    said = []
    for k, t, u, s in in_fours(numbers):
        if s:
            law = noise(laplace_law)({"t": t, "u": u, "s": s})
        else:
            law = f"a bit by randomized response (epsilon {ratio({'t': t, 'u': u}, 'u', 't')})"
        said.append(f"{law} {k:,} times")
    return f"{', then '.join(said) or 'nothing'}, each chosen by the answers before,"
