"""Shuffled reports: the multiset of what n users report, one of whom holds x, or x' in its place.

*From above, the blanket* (Balle, Bell, Gascon, Nissim, CRYPTO 2019, Lemma 5.3). Let v(y) be at most
what every value reports, c its sum. Each other user draws from v/c with probability c, and from
something else otherwise, which an adversary is told. Left are her report and M ~ Bin(n-1, c) draws
of v/c, each place being hers as often: with g = e^level and X = (R_x(y) - g R_x'(y))/v(y) with
probability v(y), 0 with 1 - c,
    delta(level) <= E (X_1 + ... + X_n)^+ / n.
What is convex does not fall where a value is split among two others, its mean kept: so the X are
put on a lattice, and sums of them on coarser ones. Sums above the largest one kept are put there:
(a + b)^+ <= a^+ + b for b >= 0 adds what that takes away; those below the least one are raised.
Shuffling is post-processing, so that delta is at most that of one report. Reports with v(y) = 0
are hers: they add (R_x(y) - g R_x'(y))^+.

*From below*: all others hold z. For whole numbers T(y), any at all, and the event that all reports'
T add up to t at least: with the law of the n - 1 others' sum,
    delta(level) >= sum over y of (R_x(y) - g R_x'(y)) P(sum >= t - T(y)),
where T(y) is infinite if R_z(y) = 0, or minus infinity.

*Pure epsilon* is that of one report: where all others hold x', all may report what has the largest
ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from mpmath import iv

from .arithmetic import (
    INFINITY,
    End,
    Interval,
    OpenError,
    at_least,
    ceiling,
    certainly,
    convolve,
    exp,
    floor,
    interval,
    lower,
    precision,
    repeated,
    total,
    upper,
    value,
)
from .deadline import check_time
from .divergences import delta
from .local import READERS, Local, Row, Scene, added, size
from .mechanisms import Finite, Mechanism, Outcomes
from .shape import CertificateError, one_of, read_fields, read_whole

_MOST_USERS = 10**9
_FINE = 64  # points of the lattice in a standard deviation, from above
_MOST_POINTS = 40_000
_MOST_BITS = 4_000
_SPARE = 40  # bits by which what is cut is smaller than delta


class _Crowd:
    """(R_x, R_x', v), report by report, where v is above 0, and (R_x, R_x') where it is 0."""

    def __init__(self, first: Row, second: Row, v: Sequence[Interval]) -> None:
        each = list(zip(_probabilities(first), _probabilities(second), v, strict=True))
        self.shared = [one for one in each if not certainly(one[2] == 0)]
        self.alone = [one[:2] for one in each if certainly(one[2] == 0)]

    def own(self, level: End) -> Interval:
        """What reports add that nobody else makes."""
        g = exp(interval(Fraction(level)))
        return total(at_least(p - g * q, 0) for p, q in self.alone)


@dataclass(frozen=True)
class Shuffled(Finite):
    """The reports of so many users by a local randomizer."""

    local: Local
    users: int

    @property
    def as_pure(self) -> Finite:
        """One report."""
        return self.local

    def attained(self) -> Sequence[Outcomes]:
        """None is listed."""
        raise OpenError("of shuffled reports pure epsilon, and delta of one use, are known only")

    def described(self) -> str:
        """In words."""
        return f"the shuffled reports of {self.users:,} users, each {self.local.described()}"

    def at_most(self, level: End, goal: Fraction) -> End:
        """An upper bound of delta(level), delta about `goal`."""
        alone = delta(self.local, level, 64, True, True)
        if level == INFINITY:
            return alone
        bits = _bits(goal, self.users)
        most: End = Fraction(0)
        with precision(bits + 32):
            for scene in self.local.scenes():
                crowd = _Crowd(scene.first, scene.second, _least(scene))
                most = max(most, _blanket(crowd, self.users, level, goal, bits))
        return min(alone, most)

    def at_least(self, level: End, goal: Fraction) -> End:
        """A lower bound: the first that is above `goal`, or the largest."""
        least: End = Fraction(0)
        if level == INFINITY:
            return least
        bits = _bits(goal, self.users)
        with precision(bits + 32):
            for scene in self.local.scenes():
                for other in scene.others:
                    crowd = _Crowd(scene.first, scene.second, _probabilities(other))
                    with suppress(OpenError):
                        least = max(least, _attained(crowd, self.users, level, goal, bits))
                    if least > goal:
                        return least
        return least


def _probabilities(row: Row) -> Sequence[Interval]:
    whole = size(added(row))
    return [size(each) / whole for each in row]


def _least(scene: Scene) -> Sequence[Interval]:
    """At most what every value reports."""
    if scene.least is not None:
        whole = size(added(scene.first))
        return [size(each) / whole for each in scene.least]
    columns = zip(*map(_probabilities, scene.others), strict=True)
    return [lower(min(column, key=lambda each: value(each)[0])) for column in columns]


def _bits(goal: Fraction, users: int) -> int:
    size = goal.denominator.bit_length() - goal.numerator.bit_length()
    if size > _MOST_BITS:
        raise OpenError("delta is too small")
    return size + _SPARE + 40 + 2 * users.bit_length()


def _tiny(goal: Fraction, users: int, bits: int) -> int:
    """What may be cut at either end of a sum: there are fewer than 2n on the way."""
    return max((goal.numerator << bits - 20 - users.bit_length()) // goal.denominator, 1)


def _gains(crowd: _Crowd, level: End) -> list[tuple[float, Interval, Interval, Interval]]:
    """X, about and exactly; v, and R_x - g R_x'."""
    g = exp(interval(Fraction(level)))
    each = [(p - g * q, v) for p, q, v in crowd.shared]
    return [(float((gain / v).mid), gain / v, v, gain) for gain, v in each]


def _deviation(gains: Sequence[tuple[float, Interval, Interval, Interval]]) -> float:
    found = math.sqrt(sum(x * x * float(v.mid) for x, _, v, _ in gains))
    if not 0 < found < math.inf:
        raise OpenError("nothing is told, or too much")
    return found


@dataclass(frozen=True)
class _Block:
    """So many X: masses at (low + k) step, rounded up; lost: of the mean, in 2^-bits step_1."""

    users: int
    low: int
    masses: list[int]
    level: int
    lost: int


def _blanket(crowd: _Crowd, users: int, level: End, goal: Fraction, bits: int) -> End:
    gains = _gains(crowd, level)
    step = Fraction(2) ** math.floor(math.log2(_deviation(gains) / _FINE))
    tiny = _tiny(goal, users, bits)
    places: dict[int, int] = {}
    left = iv.mpf(1)

    def put(at: int, mass: Interval) -> None:
        places[at] = places.get(at, 0) + max(ceiling(mass, bits), 0)

    for about, x, mass, _ in gains:
        k = math.floor(about / float(step))
        share = x / interval(step) - k
        if not (certainly(share >= -1) and certainly(share <= 2)):
            raise OpenError("a gain is not certain")
        # k or one beside it, with the mean kept: share may be a little outside of [0, 1]
        while not certainly(share >= 0):
            k, share = k - 1, share + 1
        while not certainly(share <= 1) and certainly(share >= 1):
            k, share = k + 1, share - 1
        width = 1 if certainly(share <= 1) else 2  # between k and k + 2
        put(k + width, mass * share / width)
        put(k, mass * (1 - share / width))
        left -= mass
    put(0, left)
    low, high = min(places), max(places)
    if high - low > 4 * _MOST_POINTS:
        raise OpenError("the reports tell too much to be shuffled here")
    one = _Block(1, low, [places.get(k, 0) for k in range(low, high + 1)], 0, 0)

    def joined(a: _Block, b: _Block) -> _Block:
        while a.level != b.level:
            a, b = (_halved(a), b) if a.level < b.level else (a, _halved(b))
        masses = convolve(a.masses, b.masses, bits, True)
        whole = _Block(a.users + b.users, a.low + b.low, masses, a.level, a.lost + b.lost)
        return _kept(whole, tiny)

    block = repeated(_kept(one, tiny), users, joined)
    mean = sum((block.low + k) * mass for k, mass in enumerate(block.masses) if block.low + k > 0)
    units = (mean << block.level) + block.lost
    found = iv.ldexp(interval(step) * units, -bits) / users + crowd.own(level)
    return min(value(upper(found))[1], Fraction(1))


def _kept(block: _Block, tiny: int) -> _Block:
    """Clipped at both ends, and as coarse as it may be."""
    masses, low, lost = list(block.masses), block.low, block.lost
    first, last, mass = 0, len(masses), 0
    while first < last - 1 and mass + masses[first] <= tiny:
        mass += masses[first]
        first += 1
    masses[first] += mass
    over = 0
    while last - 1 > first and low + last > 1 and over + masses[last - 1] <= tiny:
        over += masses[last - 1]
        lost += over << block.level  # each step down by one takes so much of the mean
        last -= 1
    masses = masses[first:last]
    masses[-1] += over
    found = _Block(block.users, low + first, masses, block.level, lost)
    while 4**found.level * 4 <= found.users or len(found.masses) > _MOST_POINTS:
        found = _halved(found)
    return found


def _halved(block: _Block) -> _Block:
    """On a lattice of twice the step, what lies between split evenly."""
    check_time()
    odd = block.low % 2
    masses = [0] * odd + block.masses
    masses += [0] * (3 - len(masses) % 2)
    found = masses[::2]
    for k, mass in enumerate(masses[1::2]):
        found[k] += -(-mass // 2)
        if k + 1 < len(found):
            found[k + 1] += -(-mass // 2)
    return _Block(block.users, (block.low - odd) // 2, found, block.level + 1, block.lost)


def _attained(crowd: _Crowd, users: int, level: End, goal: Fraction, bits: int) -> End:
    gains = _gains(crowd, level)
    far = 2 * math.sqrt(2 * (math.log(2) * bits + 10)) * math.sqrt(users) + 2
    step = _deviation(gains) * max(far / _MOST_POINTS, 1 / _FINE)
    scores = [round(x / step) for x, *_ in gains]
    tiny = _tiny(goal, users, bits)
    low, high = min(scores), max(scores)
    if high - low > _MOST_POINTS:
        raise OpenError("the reports tell too much to be shuffled here")
    masses = [0] * (high - low + 1)
    for score, (_, _, mass, _) in zip(scores, gains, strict=True):
        masses[score - low] += max(floor(mass, bits), 0)

    def joined(a: tuple[int, list[int]], b: tuple[int, list[int]]) -> tuple[int, list[int]]:
        return _cut(a[0] + b[0], convolve(a[1], b[1], bits, False), tiny)

    first, sums = (0, [1 << bits]) if users == 1 else repeated((low, masses), users - 1, joined)
    tails = [0]
    for mass in reversed(sums):
        tails.append(tails[-1] + mass)
    tails.reverse()  # tails[k]: of first + k or more
    missing = (1 << bits) - tails[0]
    each = [
        (score, floor(gain, bits)) for score, (_, _, _, gain) in zip(scores, gains, strict=True)
    ]

    def tail(k: int, more: int) -> int:
        return min(tails[min(max(k - first, 0), len(sums))] + more, 1 << bits)

    best = 0
    for t in range(first + low, first + len(sums) + high + 1):
        parts = (gain * tail(t - score, 0 if gain > 0 else missing) for score, gain in each)
        best = max(best, sum(parts))
    check_time()
    return Fraction(best, 1 << 2 * bits) + max(Fraction(value(crowd.own(level))[0]), Fraction(0))


def _cut(low: int, masses: list[int], tiny: int) -> tuple[int, list[int]]:
    first, last, less, more = 0, len(masses), 0, 0
    while first < last - 1 and less + masses[first] <= tiny:
        less += masses[first]
        first += 1
    while last - 1 > first and more + masses[last - 1] <= tiny:
        more += masses[last - 1]
        last -= 1
    if last - first > 4 * _MOST_POINTS:
        raise OpenError("the sums of all reports are too many")
    return low + first, masses[first:last]


def read_shuffled(data: object) -> Mechanism:
    """{kind, report, users}. Raises CertificateError for anything else."""
    fields = read_fields(data, "shuffled", "kind", "report", "users")
    wrong = "report of shuffled users must be one of a local randomizer"
    local = one_of("kind", READERS, wrong)(fields, "report")
    if not isinstance(local, Local):
        raise CertificateError(wrong)
    return Shuffled(local, read_whole(fields["users"], "users", 1, _MOST_USERS))
