"""A sampler's law, without statistics: follow it through all its random choices.

The likeliest unfinished path is followed first. Paths that end with an outcome prove a lower bound
of its probability; the mass of those that are unfinished is what is missing to an upper bound.
"""

import heapq
from itertools import count

import mpmath


class _UnfinishedError(Exception):
    """The path has no more choices: the probabilities of the next one."""


class Path:
    """Random choices that are given, in place of random bits."""

    def __init__(self, choices):
        self.choices, self.place = choices, 0

    def choose(self, probabilities):
        """The index of one of these."""
        if self.place == len(self.choices):
            raise _UnfinishedError(probabilities)
        self.place += 1
        return self.choices[self.place - 1]

    def below(self, bound):
        return 0 if bound == 1 else self.choose([mpmath.mpf(1) / bound] * bound)

    def take(self, bits):
        return self.below(1 << bits)

    def coin(self, probability):
        return self.choose([1 - probability, probability]) == 1


def exhaust(sample, narrow, runs=4000):
    """Lower bounds of the probabilities of the outcomes, by outcome; and the mass left open.

    It ends after so many paths, or once the mass that is left is at most `narrow`.
    """
    found, order, left = {}, count(), mpmath.mpf(1)
    unfinished = [(mpmath.mpf(-1), next(order), ())]
    for _ in range(runs):
        if not unfinished or left <= narrow:
            break
        mass, _, choices = heapq.heappop(unfinished)
        try:
            outcome = sample(Path(choices))
        except _UnfinishedError as error:
            for index, probability in enumerate(error.args[0]):
                if probability:
                    entry = (mass * probability, next(order), (*choices, index))
                    heapq.heappush(unfinished, entry)
        else:
            found[outcome] = found.get(outcome, 0) - mass
            left += mass
    return found, left
