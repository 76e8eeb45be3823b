"""Do samples follow this law? At a stated error.

The counts of the bins are multinomial, so cutting the bins in two, and each part in two again,
gives splits that are binomial given the count of the part, whatever came before. Each split has an
exact two-sided binomial p-value (scipy.stats.binom, twice the smaller tail); given what came
before it, it is at most u with probability at most u. Two tests share the error, by the union
bound:

    all splits together   -2 log of the product of their p-values is stochastically at most
                          chi-squared with two degrees of freedom a split (Fisher, "Statistical
                          methods for research workers", 4th ed. 1932, 21.1); its tail is
                          scipy.stats.chi2.sf
    the worst split       the smallest p-value, times the number of splits (Bonferroni)

Nothing is asymptotic, other than in a G-test; the expected counts of 5 or more serve the power
only. The probabilities of the bins are known to 1e-9: even with 1e8 samples that moves no count by
more than 1e-5 of its standard deviation, and no p-value that matters by more than `_FLOATS`.

*No violation does not mean* that the samples follow the law: deviations inside a bin, dependence
between samples, and shifts below the stated power stay unseen.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import ArrayLike
from scipy import stats

from ...exact.number import ExactInput, ParameterError, whole
from ...exact.precision import START, enclose, working_precision
from ...mechanisms.laws.finite import FiniteLaw
from ...mechanisms.laws.law import Law, UndecidedError
from .bounds import ERROR, POWER, SampleVerdict, read_error
from .event import Ints
from .partition import Floats, Output, cell_counts, levels
from .sampler import read_outcomes

_FEWEST = 20
_FLOATS = 1e-4  # p-values give way by this much to scipy's and the bins' rounding
_WRAPPED = 100  # one hundredth of the error pays for samples that went round the modulus
EXPECTED = 5  # no bin has a smaller expected count; tails are pooled until it has
_BINS = 32  # of equal probability, as far as single outcomes allow; and finer ones in the tails
_SUMMED = 1 << 15  # a law with more outcomes than this is asked for its CDF at the edges instead
_RELATIVE = Fraction(1, 10**9)  # how well a bin's probability has to be known


@frozen
class Bins:
    """Bin i holds edges[i-1] <= x < edges[i], the first and last ones without end.

    masses: their probabilities, each the middle of an enclosure of relative width below 1e-9.
    """

    edges: tuple[int, ...]
    masses: tuple[float, ...]

    def counts(self, noise: Ints) -> Ints:
        """How many samples fall into each bin."""
        return cell_counts(np.array(self.edges, dtype=np.int64), noise).astype(np.int64)


@frozen
class Fit:
    """Whether samples follow a law, and the counts behind it.

    verdict, p_value: of all tests together. bins, counts: how often samples fell where.

    VIOLATION FOUND: if the samples were independent draws from the law, this would come up with
    probability at most `error`. impossible: samples that the law cannot give at all.
    detectable_shift: the power: the smallest rise of P(X < middle), `middle` near the median, that
    this many samples would have found with probability 0.95; inf where there is none.

    >>> from exactdp.mechanisms import Skellam
    >>> rng = np.random.default_rng(0)
    >>> found = fit(rng.poisson(5, 10_000) - rng.poisson(5, 10_000), Skellam(variance=10))
    >>> found.verdict.value, found.impossible, sum(found.counts)
    ('NO VIOLATION FOUND', 0, 10000)
    """

    law: Law
    verdict: SampleVerdict
    p_value: float
    error: float
    samples: int
    impossible: int
    middle: int
    detectable_shift: float
    bins: Bins
    counts: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """The answer and its figures; the bins as edges, expected and observed counts."""
        shift = self.detectable_shift
        return {
            "verdict": self.verdict.value,
            "p_value": self.p_value,
            "error": self.error,
            "samples": self.samples,
            "impossible": self.impossible,
            "middle": self.middle,
            "detectable_shift": shift if math.isfinite(shift) else "inf",
            "edges": list(self.bins.edges),
            "expected": [self.samples * mass for mass in self.bins.masses],
            "observed": list(self.counts),
        }


def fit(
    samples: ArrayLike,
    law: Law,
    *,
    offset: ExactInput = 0,
    modulus: ExactInput | None = None,
    error: ExactInput = ERROR,
) -> Fit:
    """Test whether samples are independent draws of offset + X, reduced mod `modulus` if given.

    samples: integers, 20 or more. law: of X. error: of a false alarm.
    Raises ParameterError for bad input, also where so many samples go round the modulus that the
    law of X alone does not describe them.

    >>> from exactdp.mechanisms import DiscreteLaplace
    >>> rng = np.random.default_rng(0)
    >>> samples = rng.geometric(0.3, 10_000) - rng.geometric(0.3, 10_000)
    >>> fit(samples, DiscreteLaplace(scale=10)).verdict.value
    'VIOLATION FOUND'
    """
    outcomes = read_outcomes(samples, "samples")
    if outcomes.ndim != 1 or len(outcomes) < _FEWEST:
        raise ParameterError(
            f"samples must be a list of at least {_FEWEST}, got shape {outcomes.shape}"
        )
    shift = whole(offset, "offset")
    wrap = None if modulus is None else whole(modulus, "modulus", at_least=1)
    level = read_error(error)
    if wrap is not None:
        lost = len(outcomes) * float(law.two_sided_tail((wrap - 1) // 2).upper)
        if lost > level / _WRAPPED:
            raise ParameterError(
                f"modulus {wrap} is too small to test {len(outcomes)} samples against the law of "
                "the noise alone: too many go round it"
            )
        level *= 1 - 1 / _WRAPPED
    return _fit(Output(law, shift, wrap).noise(outcomes), law, bins_of(law, len(outcomes)), level)


def _fit(noise: Ints, law: Law, bins: Bins, error: float) -> Fit:
    counts = bins.counts(noise)
    sizes, lefts, shares, cuts = _splits(counts, np.array(bins.masses))
    logs = _log_p_values(lefts, sizes, shares)
    together = float(stats.chi2.sf(-2 * logs.sum(), 2 * len(logs)))
    worst = len(logs) * math.exp(logs.min())
    impossible = _impossible(noise, law)
    p_value = 0.0 if impossible else min(1.0, 2 * min(together, worst) * (1 + _FLOATS))
    return Fit(
        law,
        SampleVerdict.VIOLATION if p_value <= error else SampleVerdict.NONE,
        p_value,
        error,
        len(noise),
        impossible,
        bins.edges[cuts[0] - 1],
        _detectable(len(noise), float(shares[0]), error / (2 * len(logs))),
        bins,
        tuple(counts.tolist()),
    )


def _splits(counts: Ints, masses: Floats) -> tuple[Ints, Ints, Floats, Ints]:
    """Every split of a run of bins into two of about the same probability, the whole first: the
    count of the run, the count of its left part, the left part's share of the probability, and
    the first bin on the right.
    """
    below = np.concatenate([[0.0], np.cumsum(masses)])
    before = np.concatenate([[0], np.cumsum(counts)])
    found, waiting = [], [(0, len(masses))]
    for start, stop in waiting:
        if stop - start < 2:
            continue
        half = (below[start] + below[stop]) / 2
        cut = start + 1 + int(np.argmin(np.abs(below[start + 1 : stop] - half)))
        left, right = masses[start:cut].sum(), masses[cut:stop].sum()
        share = left / (left + right) if left + right else 0.5
        found.append((before[stop] - before[start], before[cut] - before[start], share, cut))
        waiting += [(start, cut), (cut, stop)]
    sizes, lefts, shares, cuts = zip(*found, strict=True)
    return np.array(sizes), np.array(lefts), np.array(shares), np.array(cuts)


def _log_p_values(lefts: Ints, sizes: Ints, shares: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        tails = np.minimum(
            stats.binom.logcdf(lefts, sizes, shares), stats.binom.logsf(lefts - 1, sizes, shares)
        )
    return np.asarray(np.minimum(math.log(2) + tails, 0.0), dtype=np.float64)


def _impossible(noise: Ints, law: Law) -> int:
    low, high = law.support
    outside = np.zeros(len(noise), dtype=bool)
    if low is not None:
        outside |= noise < low
    if high is not None:
        outside |= noise > high
    if isinstance(law, FiniteLaw):
        outside |= ~np.isin(noise, np.array(law.outcomes))
    return int(np.count_nonzero(outside))


def _detectable(samples: int, share: float, p_value: float) -> float:
    """The rise of the first split's share at which its own p-value is this small in 95 %."""
    enough = int(stats.binom.isf(p_value / 2, samples, share)) + 1
    if enough > samples:
        return math.inf
    return float(stats.beta.ppf(POWER, enough, samples - enough + 1)) - share


def bins_of(law: Law, samples: int) -> Bins:
    """Bins for this many samples of the law; where they leave one bin alone, its likeliest outcome
    and what lies on either side, however unlikely.

    Raises UndecidedError where a probability cannot be enclosed narrowly enough.
    """
    low, high = Output(law).reach(samples)
    with working_precision(2 * START):
        if high - low <= _SUMMED:
            edges, masses = _summed(law, low, high, samples)
        else:
            edges, masses = _by_cdf(law, low, high, samples)
        edges, masses = _pooled(edges, masses, samples)
        if not edges:
            points = np.arange(low, min(high, low + _SUMMED) + 1)
            peak = int(points[np.argmax(law.log_pmf(points))])
            edges = [peak, peak + 1]
            masses = [law.lower_tail(peak - 1), law.ball(peak), law.upper_tail(peak + 1)]
        return Bins(tuple(edges), tuple(_certain(mass) for mass in masses))


def _summed(law: Law, low: int, high: int, samples: int) -> tuple[list[int], list[arb]]:
    """Bins as sums of single probabilities, the outer ones from the tails."""
    each = law.balls(low, high)
    points = np.arange(low, high + 1)
    edges = _edges(points, np.array([float(mass.mid()) for mass in each]), samples)
    if not edges:
        return [], [arb(1)]
    inner = [sum(each[a - low : b - low], arb(0)) for a, b in pairwise(edges)]
    return edges, [law.lower_tail(edges[0] - 1), *inner, law.upper_tail(edges[-1])]


def _by_cdf(law: Law, low: int, high: int, samples: int) -> tuple[list[int], list[arb]]:
    """Bins as differences of tails, taken on the side where the tail is small."""
    points = np.arange(low, high + 1, max(1, (high - low) // _SUMMED), dtype=np.int64)
    edges = _edges(points, np.exp(law.log_pmf(points)), samples)
    if not edges:
        return [], [arb(1)]
    below = [law.lower_tail(edge - 1) for edge in edges]
    middle = next((k for k, tail in enumerate(below) if float(tail.mid()) > 0.5), len(edges))
    above = [law.upper_tail(edge) for edge in edges[max(middle - 1, 0) :]]
    above = [arb(0)] * max(middle - 1, 0) + above
    inner = [
        below[k + 1] - below[k] if k + 1 < middle else above[k] - above[k + 1]
        for k in range(len(edges) - 1)
    ]
    return edges, [below[0], *inner, law.upper_tail(edges[-1])]


def _edges(points: Ints, masses: Floats, samples: int) -> list[int]:
    """Where to cut, found in floats: at equal steps, and at ever smaller tails."""
    likelihoods = masses / masses.sum()
    below = np.cumsum(likelihoods)
    cuts = np.searchsorted(below, levels(1.0, EXPECTED / samples, _BINS))
    inside = cuts[cuts < len(points) - 1]
    likely = inside[likelihoods[inside] > 0.5 / _BINS]  # a bin of its own: cut on both sides
    around = np.concatenate([points[likely], points[inside + 1]])
    return sorted({int(edge) for edge in around} - {int(points[0])})


def _pooled(edges: list[int], masses: list[arb], samples: int) -> tuple[list[int], list[arb]]:
    """Join neighbouring bins until each expects enough samples."""
    kept: list[int] = []
    joined: list[arb] = []
    least, sum_so_far = EXPECTED / samples, arb(0)
    for k, mass in enumerate(masses):
        sum_so_far += mass
        if float(sum_so_far.mid()) >= least:
            joined.append(sum_so_far)
            sum_so_far = arb(0)
            if k < len(edges):
                kept.append(edges[k])
    if len(kept) == len(joined):  # what is left over on the right joins the last bin
        kept, last = kept[:-1], joined.pop() + sum_so_far if joined else sum_so_far
        joined.append(last)
    return kept, joined


def _certain(mass: arb) -> float:
    found = enclose(mass)
    if not found.is_within(_RELATIVE):
        raise UndecidedError(f"the probability of a bin is only known to be in {found}")
    return float((Fraction(found.lower) + Fraction(found.upper)) / 2)
