"""What a test of samples can say: its error, and lower confidence bounds from counts.

All bounds are made of Clopper and Pearson's exact binomial ones ("The use of confidence or fiducial
limits illustrated in the case of the binomial", Biometrika 1934), computed as quantiles of beta
laws by scipy.stats.beta. These are floats: each limit gives way by a relative 1e-8, which is more
than scipy is off (the tests hold the limits to FLINT's incomplete beta function, up to 2e8 trials).
This is statistics: a bound holds with probability 1 - error, not with certainty.

P and Q are the laws of the output on the two inputs. (epsilon, delta)-DP says that P(A) <=
e^epsilon Q(A) + delta for each event A, and the same with P and Q exchanged.
"""

from __future__ import annotations

import math
from enum import Enum

from attrs import frozen
from scipy import stats

from ...exact.number import ExactInput, ParameterError, exact

ERROR = 1e-6  # the probability of a false alarm, over everything that one call tests
POWER = 0.95  # the probability at which a violation counts as one that would have been found
_FLOATS = 1e-8


class SampleVerdict(Enum):
    """What samples can say. They never prove that a claim is true."""

    VIOLATION = "VIOLATION FOUND"
    NONE = "NO VIOLATION FOUND"

    def __bool__(self) -> bool:
        raise TypeError("a verdict is not true or false: compare it with SampleVerdict.VIOLATION")


@frozen
class Notion:
    """(epsilon, delta)-DP as floats; delta = 0 is pure DP."""

    epsilon: float
    delta: float

    @property
    def guessed(self) -> float:
        """e^epsilon/(1 + e^epsilon): how often a guess at the input is right under pure DP."""
        return 1 / (1 + math.exp(-self.epsilon))


@frozen
class Bounds:
    """What counts say about one pair of inputs.

    epsilon, delta: lower confidence bounds, on epsilon at the claimed delta and on delta at the
    claimed epsilon; both hold together, with probability 1 - error.
    detectable_epsilon, detectable_delta: the smallest true values on the events that were used
    for which this many samples exceed the claim with probability 0.95 or more; inf where none is.
    """

    epsilon: float
    delta: float
    error: float
    detectable_epsilon: float
    detectable_delta: float


def read_error(error: ExactInput) -> float:
    """Read an error probability: at least 1e-12, where scipy's quantiles are still accurate."""
    value = float(exact(error, "error", above=0, below=1))
    if not 1e-12 <= value <= 0.5:
        raise ParameterError(f"error must be between 1e-12 and 0.5, got {error}")
    return value


def lower_limit(count: int, trials: int, error: float) -> float:
    """The p with P(Bin(trials, p) >= count) = error: below the true p but for that probability."""
    if count <= 0:
        return 0.0
    return float(stats.beta.ppf(error, count, trials - count + 1)) * (1 - _FLOATS)


def upper_limit(count: int, trials: int, error: float) -> float:
    """The p with P(Bin(trials, p) <= count) = error: above the true p but for that probability."""
    if count >= trials:
        return 1.0
    return min(1.0, float(stats.beta.isf(error, count + 1, trials - count)) * (1 + _FLOATS))


def from_guesses(
    right: int, made: int, trials: int, notion: Notion, error: float, events: int = 2
) -> Bounds:
    """Bounds from guesses at which input an output came from.

    Each trial draws an input by a fair coin, then an output; the guess is the first input on an
    event A, the second on an event B disjoint from A, and none elsewhere. right: guesses that were
    right; made: guesses that were made; trials: with and without a guess; events: 1 where A or B is
    empty, 2 where neither is.

    A guess is made with probability u = (P(A) + Q(A) + P(B) + Q(B))/2, and given that it is made
    it is right with probability c = (P(A) + Q(B))/(2u). Adding P(A) <= e^epsilon Q(A) + delta and
    Q(B) <= e^epsilon P(B) + delta, or taking the one that is not empty, gives
    2uc <= e^epsilon (2u - 2uc) + events delta, so with a = e^epsilon/(1 + e^epsilon)

        c <= a + (events/2) delta (1 - a)/u.

    Given `made`, `right` is Bin(made, c): one Clopper-Pearson bound on c at `error` tests both
    directions at once and needs no allocation between P and Q. For delta > 0 one tenth of the
    error pays for the lower bound on u.
    """
    if made == 0:
        return Bounds(0.0, 0.0, error, math.inf, math.inf)
    sure = 0.9 * error if notion.delta else error
    rate = lower_limit(made, trials, 0.1 * error) if notion.delta else 1.0
    limit = lower_limit(right, made, sure)
    a, missed = notion.guessed, 1 / (1 + math.exp(notion.epsilon))
    part = events / 2
    least = a + part * notion.delta * missed / rate  # what `limit` has to exceed
    delta = (limit - a) * rate / (part * missed) if notion.delta else 0.0
    seen = made / trials
    found_epsilon = found_delta = math.inf
    if (enough := _critical(made, least, sure)) <= made:
        found = float(stats.beta.ppf(POWER, enough, made - enough + 1))
        found_epsilon = _log_odds(found, part * notion.delta / seen)
        found_delta = (found - a) * seen / (part * missed)
    epsilon = _log_odds(limit, part * notion.delta / rate)
    return Bounds(_lowered(epsilon), _lowered(delta), error, found_epsilon, found_delta)


def from_excess(
    first: int, first_trials: int, second: int, second_trials: int, notion: Notion, error: float
) -> Bounds:
    """Bounds from how often one event A occurred in independent samples of P and of Q.

    Half of the error pays for the lower bound on P(A), half for the upper bound on Q(A): by the
    union bound both hold with probability 1 - error, and then so do
    delta >= P(A) - e^epsilon Q(A) and epsilon >= log((P(A) - delta)/Q(A)).
    """
    low = lower_limit(first, first_trials, error / 2)
    high = upper_limit(second, second_trials, error / 2)
    growth = math.exp(notion.epsilon)
    epsilon = math.log((low - notion.delta) / high) if low > notion.delta else 0.0
    delta = low - growth * high
    # Power: had the second count been as frequent as seen. With probability 1 - spare it stays
    # below `most`, and with probability 1 - spare the first one reaches `enough`.
    spare = (1 - POWER) / 2
    seen = second / second_trials
    most = int(stats.binom.ppf(1 - spare, second_trials, seen))
    least = growth * upper_limit(most, second_trials, error / 2) + notion.delta
    found_epsilon = found_delta = math.inf
    if (enough := _critical(first_trials, least, error / 2)) <= first_trials:
        found = float(stats.beta.ppf(1 - spare, enough, first_trials - enough + 1))
        found_delta = found - growth * seen
        found_epsilon = math.log((found - notion.delta) / seen) if seen else math.inf
    return Bounds(_lowered(epsilon), _lowered(delta), error, found_epsilon, found_delta)


def _critical(trials: int, probability: float, error: float) -> int:
    """The least count whose lower limit exceeds `probability`; trials + 1 where none does."""
    probability *= 1 + 2 * _FLOATS
    if probability >= 1:
        return trials + 1
    return int(stats.binom.isf(error, trials, probability)) + 1


def _log_odds(right: float, free: float) -> float:
    """The epsilon at which guesses are right this often, `free` of them for nothing."""
    if free >= 1 or right <= free:
        return 0.0
    return math.log((right - free) / (1 - right)) if right < 1 else math.inf


def _lowered(bound: float) -> float:
    """Give way to the rounding of the few operations after the limits; nothing is negative."""
    return max(0.0, bound - 1e-13 * max(1.0, bound))
