"""Do draws follow a law? One test for all samplers, at one significance level.

The outcomes are put into bins whose exact probabilities come from the law's certified tails, merged
until each is expected LEAST times. Two tests, each at half of SIGNIFICANCE:

- G = 2 sum O log(O/E) over the k bins, whose law tends to chi-square with k - 1 degrees of freedom
  (Wilks 1938). Its critical value is scipy's `chi2.isf`; for k = 2, 11 and 51 bins at 5e-7 it is
  25.26, 48.51 and 114.96 (`test_conformance` holds scipy to what these tables say).
- The exact binomial tail of each bin's count, both sides, against the level divided by 2 k (the
  union bound): this one needs no limit theorem.

A right sampler fails with probability 1e-6, per law and seed; the seeds are fixed, so that what
passes once passes always.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from flint import arb
from scipy.stats import binom, chi2

from exactdp.exact.precision import START, working_precision
from exactdp.mechanisms import Binomial, FiniteLaw

SIGNIFICANCE = 1e-6
LEAST = 25
_REACH, _PER_DEVIATION = 5, 4  # bins reach so many deviations out, and are so fine
_LISTED = 3000  # outcomes whose probabilities are listed one by one


@dataclass(frozen=True)
class Fit:
    """G and its critical value; the least exact tail of a bin and the level that it must reach."""

    statistic: float
    critical: float
    tail: float
    level: float

    @property
    def passes(self):
        return self.statistic <= self.critical and self.tail >= self.level


def fit(law, draws):
    """Test these draws (integers) against the law."""
    edges, masses = bins_of(law, len(draws))
    counts = np.bincount(np.searchsorted(edges, draws), minlength=len(masses))
    return fit_counts(counts, masses)


def fit_counts(counts, masses):
    """Test how often each outcome was seen against its probability."""
    counts, masses = np.asarray(counts), np.asarray(masses, dtype=float)
    total = counts.sum()
    assert abs(masses.sum() - 1) < 1e-9 and len(counts) == len(masses)
    seen = counts > 0
    statistic = 2 * float(np.sum(counts[seen] * np.log(counts[seen] / (total * masses[seen]))))
    tails = np.minimum(binom.cdf(counts, total, masses), binom.sf(counts - 1, total, masses))
    bins = len(masses)
    critical = chi2.isf(SIGNIFICANCE / 2, bins - 1) if bins > 1 else 1e-9
    return Fit(statistic, float(critical), float(tails.min()), SIGNIFICANCE / (4 * bins))


def fit_low_bits(draws, count=4):
    """Test the last binary digits of a very wide law's draws, which are all but uniform."""
    places = np.array([int(x) % (1 << count) for x in draws])
    return fit_counts(np.bincount(places, minlength=1 << count), np.full(1 << count, 0.5**count))


def bins_of(law, size):
    """Edges e_0 < e_1 < ... and the probabilities of x <= e_0, e_0 < x <= e_1, ..., x > e_last."""
    edges, masses = _fine_bins(law)
    kept, merged, held = [], [], 0.0
    for place, mass in enumerate(masses):
        held += mass
        if held * size >= LEAST and sum(masses[place + 1 :]) * size >= LEAST:
            kept.append(edges[place])
            merged.append(held)
            held = 0.0
    return np.array(kept), np.array([*merged, held])


@cache
def _fine_bins(law):
    edges = _edges(law)
    first, last = edges[0], edges[-1]
    with working_precision(START):
        ends = law.lower_tail(first), law.upper_tail(last + 1)
        if last - first <= _LISTED:
            points = law.balls(first + 1, last) if last > first else []
            inner = [sum(points[a - first : b - first], arb(0)) for a, b in pairwise(edges)]
        else:
            # differences of the tails on the same side of the centre, which do not cancel
            centre = float(law.moments().mean.lower)
            below = [law.lower_tail(x) if x < centre else 1 - law.upper_tail(x + 1) for x in edges]
            inner = [high - low for low, high in pairwise(below)]
        return edges, [float(mass.mid()) for mass in (ends[0], *inner, ends[1])]


def _edges(law):
    if isinstance(law, FiniteLaw):
        return list(law.outcomes)
    mean, variance = (float(moment.lower) for moment in law.moments())
    deviation = max(math.sqrt(variance), 1.0)
    steps = range(-_REACH * _PER_DEVIATION, _REACH * _PER_DEVIATION + 1)
    edges = {math.floor(mean + deviation * step / _PER_DEVIATION) for step in steps}
    edges |= {math.floor(mean) + near for near in range(-3, 4)}  # and single outcomes
    low, high = law.support
    high = high - 1 if isinstance(law, Binomial) else high
    return sorted(x for x in edges if (low is None or x >= low) and (high is None or x <= high))
