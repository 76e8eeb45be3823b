"""Divergences of one use: the outcomes are listed, what is left out is bounded.

Every function returns an enclosure (lower, upper). With slack s, P and Q of any event are known up
to s: no pair within it costs less than the lower end, none more than the upper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from mpmath import iv

from . import continuous, continuous_renyi
from .arithmetic import (
    INFINITY,
    Enclosure,
    End,
    Interval,
    OpenError,
    at_least,
    certainly,
    exp,
    gathered,
    hull,
    interval,
    log,
    lower,
    power,
    total,
    upper,
    value,
)
from .binomial import Binomial
from .deadline import check_time
from .keys import seen
from .laws import DiscreteLaplace, FiniteLaw, PolyaDifference, SymmetricLaw
from .mechanisms import (
    Additive,
    Continuous,
    Curve,
    Finite,
    FixedSize,
    Key,
    Mechanism,
    Outcomes,
    Response,
    Sampled,
    TwoLaws,
)
from .pmf import FARTHEST, Pmf, reach_where
from .unit import distance

_MOST_LISTED = 250_000  # outcomes of all shifts together, reduced mod m


@dataclass(frozen=True)
class Listed:
    """P and Q outcome by outcome; P has at most `rest` besides, Q at most `rest_q`.

    far: bounds the sum of P^a Q^(1-a) over the outcomes not listed; None: nothing does.
    exact: the same probabilities as rationals, where they are.
    """

    p: Sequence[Interval]
    q: Sequence[Interval]
    rest: Interval
    rest_q: Interval
    far: Callable[[Fraction], Interval] | None = None
    exact: tuple[Sequence[Fraction], Sequence[Fraction]] | None = None
    slack: Fraction = Fraction(0)
    largest: Enclosure | None = None  # sup log P/Q, where the tails settle it
    outcomes: Sequence[int] | None = None  # integers that stand for them
    unit: Fraction | None = None  # the losses are these times it
    reduced: bool = False  # mod m, so that others share their place
    level: int = 0  # each is all of a cell of 2^level steps of the grid that was asked for

    def delta(self, level: End) -> Enclosure:
        """sum of (P - e^level Q)+; P where Q = 0 for the level infinity."""
        if level == INFINITY:
            if self.slack:  # a pair within it has some Q everywhere
                return Fraction(0), Fraction(1)
            apart = total(p for p, q in zip(self.p, self.q, strict=True) if certainly(q <= 0))
            return max(value(apart)[0], Fraction(0)), Fraction(1)
        if level == 0 and self.exact is not None and not self.slack:
            found = sum((max(p - q, Fraction(0)) for p, q in zip(*self.exact, strict=True)))
            return Fraction(found), Fraction(found)
        odds, least, most = exp(interval(Fraction(level))), iv.mpf(0), iv.mpf(0)
        for p, q in zip(self.p, self.q, strict=True):
            gain = p - odds * q
            if certainly(gain > 0):
                least, most = least + lower(gain), most + upper(gain)
            elif not certainly(gain <= 0):
                most += upper(gain)
        charge = interval(self.slack) * (1 + odds)
        low, high = value(least - charge)[0], value(most + charge + self.rest)[1]
        return max(low, Fraction(0)), min(high, Fraction(1))

    @property
    def tells_all_or_nothing(self) -> bool:
        """Is every loss 0 or infinite?"""
        if self.exact is not None:
            return all(p == q or not p or not q for p, q in zip(*self.exact, strict=True))
        pairs = zip(self.p, self.q, strict=True)
        return all(certainly(p <= 0) or certainly(q <= 0) for p, q in pairs)

    def pure(self) -> Enclosure:
        """sup log P/Q, from all outcomes: none may be left out."""
        if self.largest is not None:
            return self.largest
        if self.slack:
            return value(at_least(log(at_least(self._best_ratio(), 1)), 0))[0], INFINITY
        if not certainly(self.rest <= 0):
            raise OpenError("not all outcomes are listed")
        best, open_above = iv.mpf(1), False
        for p, q in zip(self.p, self.q, strict=True):
            if certainly(q <= 0):
                if certainly(p > 0):
                    return INFINITY, INFINITY
                open_above |= not certainly(p <= 0)
            elif certainly(q > 0):
                best = larger(best, p / q)
            else:
                best, open_above = larger(best, lower(p) / upper(q)), True
        low, high = value(at_least(log(best), 0))
        return low, INFINITY if open_above else high

    def _best_ratio(self) -> Interval:
        s, best = interval(self.slack), iv.mpf(1)
        for p, q in zip(self.p, self.q, strict=True):
            best = larger(best, lower((p - s) / (q + s)))
        return best

    @cached_property
    def losses(self) -> list[Interval]:
        """log P/Q of the outcomes that have both."""
        return [log(p / q) for p, q in self._common]

    @cached_property
    def _common(self) -> list[tuple[Interval, Interval]]:
        pairs = zip(self.p, self.q, strict=True)
        return [(p, q) for p, q in pairs if certainly(p > 0) and certainly(q > 0)]

    def sums(self, order: Fraction, powers: int) -> list[Interval]:
        """sum P^a Q^(1-a) (log P/Q)^j over the outcomes that have both, j = 0, ..., powers."""
        above, found = interval(order - 1), [iv.mpf(0)] * (powers + 1)
        for (p, _), loss in zip(self._common, self.losses, strict=True):
            term = p * exp(above * loss)
            for j in range(powers + 1):
                found[j] += term
                term *= loss
        return found

    @property
    def is_complete(self) -> bool:
        """Do all listed outcomes have both P and Q?"""
        return len(self._common) == len(self.p)

    def renyi(self, order: Fraction) -> Enclosure:
        """The Rényi divergence of this order > 1."""
        low, high = self.power_sum(order)
        above = order - 1
        if low is None:
            return INFINITY, INFINITY
        least = value(log(at_least(low, 1)))[0] / above
        return least, INFINITY if high is None else value(log(at_least(high, 1)))[1] / above

    def power_sum(self, order: Fraction) -> tuple[Interval | None, Interval | None]:
        """Bounds of sum P^a Q^(1-a), the upper one None where there is none; (None, None): inf."""
        if self.slack:
            return self._best_event(order), None
        if any(certainly(q <= 0) and certainly(p > 0) for p, q in zip(self.p, self.q, strict=True)):
            return None, None
        found = self.sums(order, 0)[0]
        open_above = any(
            not certainly(p <= 0) and not certainly(q > 0)
            for p, q in zip(self.p, self.q, strict=True)
        )
        listed = total(
            _term(p, q, order)
            for p, q in zip(self.p, self.q, strict=True)
            if not certainly(p > 0) and certainly(q > 0)
        )
        if open_above or self.far is None:
            return lower(found), None
        return lower(found), upper(found + listed + self.far(order))

    def _best_event(self, order: Fraction) -> Interval:
        # any one outcome against the rest: what happens to both laws alike reveals no more
        s, best = interval(self.slack), iv.mpf(1)
        for p, q in zip(self.p, self.q, strict=True):
            less, more = lower(p - s), upper(q + s)
            if certainly(less > more) and certainly(less < 1):
                each = _term(less, more, order) + _term(1 - less, 1 - more, order)
                best = larger(best, lower(each))
        return best


def _term(p: Interval, q: Interval, order: Fraction) -> Interval:
    """p^a q^(1-a), which rises in p, 0 where p is."""
    if certainly(p <= 0):
        return iv.mpf(0)
    high = upper(p) * exp(interval(order - 1) * log(upper(p) / q))
    if not certainly(p > 0):
        return hull(iv.mpf(0), high)
    return hull(lower(p) * exp(interval(order - 1) * log(lower(p) / q)), high)


def larger(a: Interval, b: Interval) -> Interval:
    """The larger of two numbers."""
    return hull(
        lower(a) if certainly(lower(a) >= lower(b)) else lower(b),
        upper(a) if certainly(upper(a) >= upper(b)) else upper(b),
    )


# -- which pairs ----------------------------------------------------------------------------------


def listings(
    mechanism: Mechanism, bits: float, order: Fraction | None, above: bool, full: bool
) -> Sequence[Listed]:
    """Pairs that dominate all neighbours together (above), or some that neighbours attain.

    What is left out is below about 2^-bits; order: of the Rényi sum as well. Reduced mod m every
    shift d = 1, ..., shift counts. Without `full` only the largest is listed, and above the law
    without the reduction, of which the rest is post-processing; wide laws are not listed at all.
    """
    if isinstance(mechanism, Response):
        return [_response(mechanism)]
    if isinstance(mechanism, Sampled):
        # Every pair, mixed: (1-q) Q + q P against Q, or (with Q first) Q against (1-q) Q + q P.
        # What dominates a pair dominates it sampled, post-processing passing through mixtures.
        rate, through = interval(mechanism.rate), _mixture_last
        if mechanism.removing:
            through = _mixture_first
        plain = listings(mechanism.mechanism, bits, order, above, full)
        return [through(one, rate) for one in plain]
    if isinstance(mechanism, FixedSize):
        found = listings(mechanism.attained, bits, order, above, full)
        return [two_way(one) for one in found] if above else found
    if isinstance(mechanism, TwoLaws):
        return [as_listed(mechanism.p, mechanism.q, mechanism.slack)]
    if isinstance(mechanism, Finite):
        side = mechanism.dominating() if above else mechanism.attained()
        return [_of(one, mechanism.removing) for one in side]
    if isinstance(mechanism, Key):
        either = [alone(mechanism)]
        if isinstance(mechanism.noise, Additive):
            either += listings(mechanism.among_others, bits, order, above, full)
        return either
    if not isinstance(mechanism, Additive):
        raise OpenError("outcomes of continuous noise and of vectors cannot be listed")
    law, shift, modulus = mechanism.law, mechanism.shift, mechanism.modulus
    if isinstance(law, FiniteLaw):
        return _finite(law, shift, modulus)
    if modulus is None or (above and not full):
        return _plain(law, shift, bits, order)
    if shift > FARTHEST and full:
        raise OpenError("too many shifts to list")
    shifts: Sequence[int] = range(shift, 0, -1)
    if not isinstance(law, SymmetricLaw):  # else the shifts d and -d are mirror images
        shifts = [d for each in shifts for d in sorted({each, modulus - each})]
    shifts = shifts if full else shifts[: 1 if isinstance(law, SymmetricLaw) else 2]
    pmf = _pmf(law, bits, modulus, order)
    if len(shifts) * min(modulus, 2 * len(pmf.masses)) > _MOST_LISTED:
        raise OpenError("too many outcomes and shifts to list")
    folded = _folded(pmf, modulus)
    outside = 2 * pmf.beyond
    return [_wrapped(folded, outside, shift, modulus) for shift in shifts]


def alone(key: Key) -> Listed:
    """A key that the user alone holds."""
    told, zero = seen(key), iv.mpf(0)
    both = [told, 1 - told], [zero, iv.mpf(1)]
    one = Listed(*(both if key.removing else both[::-1]), zero, zero, _nothing)
    if key.rate == 1:
        return one
    return (_mixture_first if key.removing else _mixture_last)(one, interval(key.rate))


def _of(one: Outcomes, removing: bool) -> Listed:
    if not removing:
        one = one.swapped
    zero, largest = iv.mpf(0), None if one.largest is None else (one.largest, one.largest)
    return Listed(
        one.p, one.q, zero, zero, _nothing, largest=largest, outcomes=one.places, unit=one.unit
    )


def _mixture_first(one: Listed, rate: Interval) -> Listed:
    def mixed(p: Interval, q: Interval) -> Interval:
        return (1 - rate) * q + rate * p

    def far(a: Fraction) -> Interval:
        # x^a is convex: (1 - q + q P/Q)^a Q <= (1-q) Q + q P^a Q^(1-a)
        assert one.far is not None
        return mixed(one.far(a), one.rest_q)

    p = [mixed(*both) for both in zip(one.p, one.q, strict=True)]
    largest = None if one.largest is None else sampled_loss(one.largest, rate, True)
    rest = mixed(one.rest, one.rest_q)
    kept = None if one.far is None else far
    return Listed(p, one.q, rest, one.rest_q, kept, None, one.slack, largest)


def _mixture_last(one: Listed, rate: Interval) -> Listed:
    def far(a: Fraction) -> Interval:
        # the mixture is at least (1-q) P, P being the law without the user here
        return exp(interval(1 - a) * log(1 - rate)) * one.rest

    q = [(1 - rate) * p + rate * q for p, q in zip(one.p, one.q, strict=True)]
    largest = None if one.largest is None else sampled_loss(one.largest, rate, False)
    rest_q = (1 - rate) * one.rest + rate * one.rest_q
    return Listed(one.p, q, one.rest, rest_q, far, None, one.slack, largest)


def two_way(one: Listed) -> Listed:
    """What dominates batches of a fixed size, from the mixture P = (1-q) Q + q P0 against Q.

    *One batch.* With mu the law of a batch without the user, nu and nu' on one with the old and the
    new data, h(t) the largest sum of (nu - t nu')+ over any that differ by one user, b = g/t <= 1
    for t = 1 + (g-1)/q: ((1-q) mu + q nu) - g ((1-q) mu + q nu') = q (nu - t ((1-b) mu + b nu')),
    so that the profile at g >= 1 is at most q h(t), and so it is with the data exchanged: a batch
    without the user is one with that user replaced. The mixture's own, for g >= 1, is q h(t).
    *Both at once.* Losses l > 0 of P- and Q-masses p, q; -l of q, p; all else at the loss 0. It has
    that profile both ways round. P0 and Q being mirror images, the mass {P > Q} of both is <= 1.

    Where p > q is open both are listed: that splits what is at the loss 0, and what is missing of
    it is only added. An outcome left out has q < p <= rest, twice, and is at the loss 0 as well.
    """
    pairs = zip(one.p, one.q, strict=True)
    dear = [(p, q) for p, q in pairs if not certainly(p <= q)]
    left = at_least(1 - total(p + q for p, q in dear), 0)
    p, q = ([*(both[way] for both in dear)] for way in range(2))

    def far(a: Fraction) -> Interval:
        assert one.far is not None
        return one.far(a) + one.rest  # p^(1-a) q^a <= q < p

    kept = None if one.far is None else far
    twice, largest = 2 * one.rest, one.largest
    p, q = [*p, *q, left], [*q, *p, left]
    return Listed(p, q, twice, twice, kept, largest=largest, level=one.level)


def sampled_loss(largest: Enclosure, rate: Interval, removing: bool) -> Enclosure:
    """sup of log(1 - q + q P/Q), or of -log(1 - q + q P/Q), from that of the pair it faces."""

    def through(loss: End) -> Interval:
        if removing:
            return log(1 - rate + rate * exp(interval(Fraction(loss))))
        kept = 0 if loss == INFINITY else exp(interval(-Fraction(loss)))
        return -log(1 - rate + rate * kept)

    low, high = largest
    if not removing:
        return value(through(low))[0], value(through(high))[1]
    least = INFINITY if low == INFINITY else value(through(low))[0]
    return least, INFINITY if high == INFINITY else value(through(high))[1]


def _nothing(order: Fraction) -> Interval:
    """Nothing is left out."""
    return iv.mpf(0)


def as_listed(
    p: Sequence[Fraction], q: Sequence[Fraction], slack: Fraction = Fraction(0)
) -> Listed:
    """Exact probabilities."""
    kept = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    zero = iv.mpf(0)
    return Listed(
        [interval(a) for a, _ in kept],
        [interval(b) for _, b in kept],
        zero,
        zero,
        _nothing,
        ([a for a, _ in kept], [b for _, b in kept]),
        slack,
    )


def _response(mechanism: Response) -> Listed:
    e, d, zero = exp(interval(mechanism.epsilon)), interval(mechanism.delta), iv.mpf(0)
    p = [(1 - d) * e / (1 + e), (1 - d) / (1 + e)]
    if mechanism.delta:
        p = [d, *p, zero]
    return Listed(p, p[::-1], zero, zero, _nothing)


def _finite(law: FiniteLaw, shift: int, modulus: int | None) -> list[Listed]:
    def seen(moved: int) -> dict[int, Fraction]:
        places = (x + moved if modulus is None else (x + moved) % modulus for x in law.outcomes)
        return gathered(zip(places, law.masses, strict=True))

    if shift * len(law.outcomes) > _MOST_LISTED:
        raise OpenError("too many outcomes and shifts to list")
    pairs = []
    for d in range(1, shift + 1):
        check_time()
        p, q = seen(0), seen(d)
        every = sorted(p.keys() | q.keys())
        a, b = ([side.get(x, Fraction(0)) for x in every] for side in (p, q))
        pairs += [as_listed(a, b), as_listed(b, a)]
    return pairs


def _plain(
    law: SymmetricLaw | Binomial, shift: int, bits: float, order: Fraction | None
) -> list[Listed]:
    """The full sensitivity, for laws of which that is the worst; both directions of others."""
    zero = iv.mpf(0)
    if shift > FARTHEST:
        raise OpenError("too many outcomes to sum")
    if isinstance(law, Binomial):  # log-concave
        pmf = law.pmf(bits)
        if certainly(pmf.beyond > 0):
            return _window(pmf, shift)
        masses, gap = pmf.masses, [zero] * shift
        p, q = [*masses, *gap], [*gap, *masses]
        return [Listed(*both, zero, zero, _nothing) for both in ((p, q), (q, p))]
    if isinstance(law, DiscreteLaplace):
        # The loss is the same for all x <= 0, and for all x >= d: each of them as one outcome.
        b = law.beta()
        rest = [(1 - b) * power(b, x) / (1 + b) for x in range(1, shift)]
        p = [1 / (1 + b), *rest, power(b, shift) / (1 + b)]
        largest, places = law.largest_loss(shift), range(shift + 1)
        alike = Listed(p, p[::-1], zero, zero, _nothing, largest=largest, outcomes=places)
        return [alike]
    last = _last(law, shift, bits, order)
    pmf = _summed(law, last + shift, iv.prec)
    p = pmf.masses[shift:]
    q = pmf.masses[: len(p)]
    left = total(pmf.masses[:shift]) + pmf.beyond  # x < -last

    def far(a: Fraction) -> Interval:
        # to the right p(x) <= p(x - shift), so P^a Q^(1-a) <= P
        return upper(law.far_terms(a, shift, pmf, last) + pmf.beyond)

    rest_q = upper(total(pmf.masses[len(p) :]) + 2 * pmf.beyond)
    return [
        Listed(
            p,
            q,
            upper(left + pmf.beyond),
            rest_q,
            far,
            largest=law.largest_loss(shift),
            outcomes=range(pmf.low + shift, pmf.high + 1),
        )
    ]


def _window(pmf: Pmf, shift: int) -> list[Listed]:
    """Both directions, where p(x) and p(x - shift) are both listed."""
    here, there = pmf.masses[shift:], pmf.masses[: len(pmf.masses) - shift]
    if not here:
        raise OpenError("the shift is beyond the outcomes summed")
    left_p = upper(total(pmf.masses[:shift]) + 2 * pmf.beyond)
    left_q = upper(total(pmf.masses[len(there) :]) + 2 * pmf.beyond)
    return [Listed(here, there, left_p, left_q), Listed(there, here, left_q, left_p)]


def _last(law: SymmetricLaw, shift: int, bits: float, order: Fraction | None) -> int:
    """How far to the left to list."""
    exponent, a = bits * 0.7 + 8, 1.0 if order is None else float(order)
    return reach_where(
        lambda k: (
            law.rough(k) > exponent and a * law.rough(k) - (a - 1) * law.rough(k + shift) > exponent
        )
    )


def _pmf(law: SymmetricLaw | Binomial, bits: float, modulus: int, order: Fraction | None) -> Pmf:
    if isinstance(law, Binomial):
        return law.pmf(None if law.trials <= FARTHEST else bits)
    exponent = bits * 0.7 + 8 + min(law.rough(modulus / 2), 1000)
    return _summed(law, reach_where(lambda k: law.rough(k) > exponent), iv.prec)


@lru_cache(maxsize=8)
def _summed(law: SymmetricLaw, reach: int, bits: int) -> Pmf:
    return law.pmf(reach)


def _folded(pmf: Pmf, modulus: int) -> dict[int, Interval]:
    """The masses listed of each residue."""
    return gathered((x % modulus, mass) for x, mass in enumerate(pmf.masses, start=pmf.low))


def _wrapped(folded: dict[int, Interval], outside: Interval, shift: int, modulus: int) -> Listed:
    check_time()
    blur = hull(iv.mpf(0), outside)
    places = sorted(folded.keys() | {(x + shift) % modulus for x in folded})
    p = [folded.get(x, iv.mpf(0)) + blur for x in places]
    q = [folded.get((x - shift) % modulus, iv.mpf(0)) + blur for x in places]
    centre = shift // 2 - modulus // 2
    stand = [centre + (x - centre) % modulus for x in places]
    if len(places) == modulus or certainly(outside <= 0):
        zero = iv.mpf(0)
        return Listed(p, q, zero, zero, _nothing, outcomes=stand, reduced=True)
    return Listed(p, q, upper(outside), upper(outside), outcomes=stand, reduced=True)


# -- of one use -----------------------------------------------------------------------------------


def _largest(pairs: Sequence[Listed], how: Callable[[Listed], Enclosure], above: bool) -> End:
    return max((how(pair)[above] for pair in pairs), default=Fraction(0))


def pure(mechanism: Mechanism, above: bool, full: bool) -> End:
    """The least epsilon of (epsilon, 0)-DP, from above or from below."""
    if isinstance(mechanism, Continuous):
        return continuous.pure(mechanism)[above]
    if isinstance(mechanism, Sampled):
        found = pure(mechanism.mechanism, above, full)
        rate = interval(mechanism.rate)
        return sampled_loss((found, found), rate, mechanism.removing)[above]
    if isinstance(mechanism, Curve):
        return INFINITY if above else Fraction(0)
    if isinstance(mechanism, Finite) and mechanism.as_pure is not None:
        return pure(mechanism.as_pure, above, full)
    if isinstance(mechanism, FixedSize):
        return pure(mechanism.attained, above, full)
    if isinstance(mechanism, Key) and isinstance(mechanism.noise, Continuous):
        return alone(mechanism).pure()[above]
    if isinstance(mechanism, Response):
        return INFINITY if mechanism.delta else mechanism.epsilon
    if mechanism.law_seen is not None and mechanism.law_seen.ends:
        return INFINITY
    if isinstance(mechanism, Additive) and isinstance(mechanism.law, SymmetricLaw):
        law, d, m = mechanism.law, mechanism.shift, mechanism.modulus
        if m is None:
            return law.largest_loss(d)[above]
        if isinstance(law, DiscreteLaplace):
            return law.wrapped_loss(d, m)[above]
        if isinstance(law, PolyaDifference) and law.shape < 1 and not full:
            return law.wrapped_loss(d, m)[above]
    return _largest(listings(mechanism, iv.prec, None, above, True), Listed.pure, above)


def renyi(mechanism: Mechanism, order: Fraction, above: bool, full: bool) -> End:
    """The Rényi divergence of this order."""
    if isinstance(mechanism, Continuous):
        return continuous_renyi.renyi(mechanism, order)[above]
    if isinstance(mechanism, Curve):
        return mechanism.at(order) if above else Fraction(0)
    if isinstance(mechanism, FixedSize) and isinstance(mechanism.mechanism, Continuous):
        return continuous_renyi.of_batches(mechanism, order)[above]
    if isinstance(mechanism, Response):
        if mechanism.delta:
            return INFINITY
        e, a = interval(mechanism.epsilon), interval(order)
        both = (exp(a * e) + exp((1 - a) * e)) / (1 + exp(e))
        return value(log(at_least(both, 1)))[above] / (order - 1)
    if (law := mechanism.law_seen) is not None:
        if law.ends:  # its least outcome under P is none under Q
            return INFINITY
        if (known := law.renyi(mechanism.shift, order)) is not None:
            return known
        if law.is_wide and not full:
            if above:  # its Gaussian's
                return order * distance(law, mechanism.shift**2) ** 2 / 2
            return law.renyi_at_least(mechanism.shift, order)
    pairs = listings(mechanism, iv.prec, order, above, full)
    found = _largest(pairs, lambda pair: pair.renyi(order), above)
    if above and isinstance(mechanism, FixedSize):  # D is quasi-convex in both laws together
        return min(found, renyi(mechanism.mechanism, order, True, full))
    return found


def delta(mechanism: Mechanism, level: End, bits: float, above: bool, full: bool) -> End:
    """The least delta of (level, delta)-DP, up to about 2^-bits."""
    if isinstance(mechanism, Response):
        e, d = mechanism.epsilon, mechanism.delta
        if level >= e:
            return d
        odds = exp(interval(e))
        more = interval(1 - d) * (odds - exp(interval(Fraction(level)))) / (1 + odds)
        return value(interval(d) + more)[above]
    pairs = listings(mechanism, bits, None, above, full)
    return _largest(pairs, lambda pair: pair.delta(level), above)
