"""What is released when messages reduced mod m are summed in another modulus, or not at all.

A certificate is about the sum mod m: there the shares of all users add up, whatever any one of
them carries over. Summed mod M, or over the integers, the reduction of each message stays visible:
the noise of the sum is no longer the sum of the noise. The guarantee is lost, though all the parts
are right; here it is computed what is left of it.

The released value is Y_1 + ... + Y_n, Y_i = (x_i + noise) mod m, seen mod M or as it is. Neighbours
replace one x_i in 0..g by another; all datasets of the others count, but only how often each value
is in them. Where M divides m the sum mod m tells the one mod M: post-processing, nothing is lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce

from flint import arb, arb_poly, ctx

from ..accounting.divergences.finite_sums import residues
from ..exact import Enclosure, ExactInput, ParameterError, refine, whole
from ..mechanisms.additive.protocol import SumProtocol, Trust

_MOST_WORK = 2_000_000  # ratios compared
_LARGEST_MODULUS = 2_000


def mismatched_epsilon(
    protocol: SumProtocol, aggregator_modulus: ExactInput | None = None
) -> Enclosure:
    """The pure epsilon of the sum of a protocol's messages, taken mod M instead of mod m.

    protocol: distributed, with a modulus m; small. aggregator_modulus: M; None: no reduction.
    Raises ParameterError for another protocol, and where there is too much to go through.
    """
    m, n, g = protocol.modulus, protocol.users, protocol.precision
    if protocol.trust is not Trust.DISTRIBUTED or m is None:
        raise ParameterError("protocol must be distributed and have a modulus")
    if protocol.noise.support != (None, None):
        raise ParameterError("protocol must have noise of unbounded support")
    seen = None
    if aggregator_modulus is not None:
        seen = whole(aggregator_modulus, "aggregator_modulus", at_least=1)
    outcomes = n * (m - 1) + 1 if seen is None else min(seen, n * (m - 1) + 1)
    work = math.comb(n - 1 + g, g) * (g + 1) ** 2 * outcomes
    if m > _LARGEST_MODULUS or work > _MOST_WORK:
        raise ParameterError(
            f"protocol must be small: m at most {_LARGEST_MODULUS} and at most {_MOST_WORK} ratios "
            f"of probabilities to compare, got m = {m} and {work}"
        )

    if outcomes == 1:
        return Enclosure.exactly(0)

    def largest() -> arb:
        share = residues(protocol.noise, m, ctx.prec)
        messages = [arb_poly([share[(y - x) % m] for y in range(m)]) for x in range(g + 1)]
        worst = arb(1)
        for others in _sums_of_others(messages, n - 1, seen):
            sums = [_seen(others * message, outcomes, seen) for message in messages]
            for p in sums:
                for q in sums:
                    if p is not q:
                        worst = reduce(arb.max, (a / b for a, b in zip(p, q, strict=True)), worst)
        return worst.log()

    return refine(largest)


def _sums_of_others(
    messages: Sequence[arb_poly], count: int, seen: int | None, least: int = 0
) -> Iterator[arb_poly]:
    """The law of the others' sum, for every multiset of their values."""
    if count == 0:
        yield arb_poly([1])
        return
    for x in range(least, len(messages)):
        for rest in _sums_of_others(messages, count - 1, seen, x):
            yield rest * messages[x]


def _seen(law: arb_poly, outcomes: int, modulus: int | None) -> list[arb]:
    """The probability of each outcome."""
    found = [arb(0)] * outcomes
    for y, mass in enumerate(law.coeffs()):
        found[y if modulus is None else y % modulus] += mass
    return found
