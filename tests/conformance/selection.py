"""Selection, sparse vectors and names of keys, played as they are described, over all noise.

What a window of noise leaves out is charged: masses of P are too small, those of Q too large, so
figures are below the truth, by about 1e-9.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product

import mpmath
from conformance.truth import Listed, Pair, Pmf, merged
from mpmath import mpf
from oracles import real

Law = dict[object, float]
_SURE = 1 - 1e-9


def _pairs(laws: Iterable[tuple[Law, Law]]) -> Listed:
    ways = []
    for one, other in laws:
        missing = max(0.0, 1 - sum(other.values()))
        ways.append([
            (mpf(p * _SURE), mpf((other.get(x, 0.0) + missing) * (2 - _SURE)))
            for x, p in one.items() if p > 1e-13
        ])  # fmt: skip
    return Listed(tuple(ways))


@cache
def _noise(scale: float, window: int = 60) -> dict[int, float]:
    if not scale:
        return {0: 1.0}
    b = math.exp(-1 / scale)
    return {x: (1 - b) / (1 + b) * b ** abs(x) for x in range(-window, window + 1)}


def _neighbours(
    law: Callable[[tuple[int, ...]], Law],
    scores: Sequence[tuple[int, ...]],
    moves: Sequence[int],
) -> Listed:
    laws = []
    for one in scores:
        for move in product(moves, repeat=len(one)):
            other = tuple(s + m for s, m in zip(one, move, strict=True))
            laws += [(law(one), law(other)), (law(other), law(one))]
    return _pairs(laws)


def noisy_max(scale: float, monotone: bool) -> Listed:
    """Which of three noisy scores is the largest, the first of equal ones."""

    @cache
    def law(scores: tuple[int, ...]) -> Law:
        table = _noise(scale)
        found: Law = {}
        below = _cumulative(table)
        for i, own in enumerate(scores):
            for z, mass in table.items():
                for j, other in enumerate(scores):
                    if j != i:
                        mass *= below(own + z - other - (1 if j < i else 0))
                found[i] = found.get(i, 0.0) + mass
        return found

    scores = [(0, 0, 0), (0, -2, -3), (-6, 0, -6), (-6, 0, 0)]
    return _neighbours(law, scores, (0, 1) if monotone else (-1, 0, 1))


def _cumulative(table: dict[int, float]) -> Callable[[int], float]:
    low, high, total, found = min(table), max(table), 0.0, {}
    for x in range(low, high + 1):
        total += table[x]
        found[x] = total
    return lambda x: 0.0 if x < low else found[min(x, high)]


def permute_and_flip(epsilon: float) -> Listed:
    """Candidates in random order; each is taken with chance e^(epsilon (score - best)/2)."""

    @cache
    def law(scores: tuple[int, ...]) -> Law:
        found: Law = {}
        for order in permutations(range(len(scores))):
            left = 1.0 / math.factorial(len(scores))
            for i in order:
                take = math.exp(epsilon * (scores[i] - max(scores)) / 2)
                found[i] = found.get(i, 0.0) + left * take
                left *= 1 - take
        return found

    return _neighbours(law, [(0, 0, 0), (0, -2, -3), (-6, 0, -6), (-6, 0, 0)], (-1, 0, 1))


def sparse_vector(epsilon: float, answers: int, variant: int) -> Listed:
    """Lyu, Su, Li, Figure 1, at sensitivity 1, on two or three queries; noise within 16."""
    first = epsilon / 4 if variant == 4 else epsilon / 2
    own = answers / first if variant == 2 else 1 / first
    second = {1: 2 * answers, 2: 2 * answers, 3: answers, 4: 1, 5: 0, 6: 1}[variant]
    each = second / (epsilon - first)
    outer, inner = _noise(own, 16), _noise(each, 16)

    @cache
    def law(queries: tuple[int, ...]) -> Law:
        found: Law = {}

        def play(place: int, level: int, left: int, said: tuple[object, ...], mass: float) -> None:
            if mass < 1e-14:
                return
            if place == len(queries) or (left == 0 and variant not in (5, 6)):
                found[said] = found.get(said, 0.0) + mass
                return
            told: dict[object, float] = {}
            for x, p in inner.items():
                seen = queries[place] + x
                word = "below" if seen < level else seen if variant == 3 else "above"
                told[word] = told.get(word, 0.0) + p
            for word, p in told.items():
                after = left - (word != "below")
                anew = variant == 2 and word != "below" and left > 1
                for other, q in outer.items() if anew else ((level, 1.0),):
                    play(place + 1, other, after, (*said, word), mass * p * q)

        for level, mass in outer.items():
            play(0, level, answers, (), mass)
        return found

    moves = [((0, 0), (1, -1)), ((1, -1), (0, 0)), ((0, 0), (1, 1)), ((0, 1), (1, 0)),
             ((0, -1), (-1, 0)), ((2, 0), (1, 1))]  # fmt: skip
    return _pairs((law(one), law(other)) for one, other in moves)


# -- names of keys --------------------------------------------------------------------------------


def _named(chances: Sequence[tuple[mpf, mpf]], step: int, keys: int) -> Listed:
    """Of so many keys, each with any count of others: (shown, not shown) with the user, without."""
    each: list[Pair] = [
        list(zip(chances[n + step], chances[n], strict=True)) for n in range(len(chances) - step)
    ]
    ways = []
    for chosen in combinations_with_replacement(each, keys):
        pair: Pair = [(mpf(1), mpf(1))]
        for one in chosen:
            pair = [(p * a, q * b) for p, q in pair for a, b in one]
        ways += [pair, [(q, p) for p, q in pair]]
    return Listed(tuple(ways))


def names(pmf: Pmf, radius: int, threshold: int, keys: int, most: int) -> Listed:
    """Which counts + noise reach the threshold; others hold up to `most` in each key."""
    masses = {x: pmf(x) for x in range(-radius, radius + 1)}
    chances = [(mpf(0), mpf(1))]
    for n in range(1, most + 2):
        shown = mpmath.fsum(m for x, m in masses.items() if n + x >= threshold)
        hidden = mpmath.fsum(m for x, m in masses.items() if n + x < threshold)
        chances.append((shown, hidden))
    return _named(chances, 1, keys)


def optimal_names(epsilon: Fraction | str, delta: Fraction | str) -> Listed:
    """Desfontaines, Voss, Gipson, Mandayam 2022: each count is shown as often as is allowed."""
    odds, gain = mpmath.exp(real(epsilon)), real(delta)
    chances, value = [(mpf(0), mpf(1))], mpf(0)
    while value < 1:
        value = min(odds * value + gain, 1 - (1 - value - gain) / odds, mpf(1))
        chances.append((value, 1 - value))
    return _named(chances, 1, 1)


def several_keys(one: Listed, keys: int) -> Listed:
    """Products of so many of these pairs, all the same way round; outcomes of one ratio merged."""
    forth, ways = [merged(pair) for pair in one.ways[::2]], []
    for chosen in combinations_with_replacement(forth, keys):
        pair: Pair = [(mpf(1), mpf(1))]
        for each in chosen:
            pair = merged([(p * a, q * b) for p, q in pair for a, b in each])
        ways += [pair, [(q, p) for p, q in pair]]
    return Listed(tuple(ways))
