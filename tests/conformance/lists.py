"""Lists of releases, and the truth of delta(epsilon) for each: binomial sums, means over losses.

What one release of a finite pair has lost leaves the others' delta at the rest of epsilon. Both
ways round are summed up, and the larger is the truth; `slack` says how well it is known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import continuous_truth
import mpmath
import numpy as np
import oracles
from conformance import truth
from conformance.cases import TABLES
from conformance.continuous import Mixed
from conformance.truth import Pair
from mpmath import mpf
from oracles import real
from scipy.special import ndtr

Profile = Callable[[mpf], mpf]  # delta at a level of either sign
_ADDED = "neighbours=add-remove"


@dataclass(frozen=True)
class Listing:
    """Releases (` + ` between them), and delta at a level of the whole list."""

    releases: tuple[str, ...]
    level: str
    make: Callable[[mpf], mpf]
    slack: Fraction = Fraction(1, 10**20)
    is_exact: bool = True  # else the truth is of some neighbours
    is_slow: bool = False

    def __str__(self) -> str:
        return " + ".join(self.releases).replace(f"{TABLES}/", "")


def _response(epsilon: str) -> Pair:
    p = 1 / (1 + mpmath.exp(-real(epsilon)))
    return [(p, 1 - p), (1 - p, p)]


def _after(pairs: list[Pair], rest: Profile) -> Callable[[mpf], mpf]:
    """The rest's delta at what these leave, on average."""

    def found(level: mpf) -> mpf:
        total = mpf(0)
        for outcomes in product(*pairs):
            p = mpmath.fprod(one[0] for one in outcomes)
            q = mpmath.fprod(one[1] for one in outcomes)
            total += p * (rest(level - mpmath.log(p / q)) if q else 1) if p else 0
        return total

    return found


def _nothing(level: mpf) -> mpf:
    return max(mpf(0), 1 - mpmath.exp(level))


def _real(base: truth.Gaussian | truth.Laplace) -> Profile:
    return lambda level: Mixed(base, Fraction(1))._excess(mpmath.exp(level))


def _sampled(q: str, noise: str, removing: bool) -> Profile:
    return lambda level: continuous_truth.closed(real(q), real(noise), level, removing)


def _swapped(pair: Pair) -> Pair:
    return [(q, p) for p, q in pair]


def _both(make: Callable[[bool], Callable[[mpf], mpf]]) -> Callable[[mpf], mpf]:
    return lambda level: max(make(True)(level), make(False)(level))


def _binomial(epsilon: str, count: int) -> Callable[[mpf], mpf]:
    """Randomized response so often: the loss is epsilon times a binomial sum of signs."""

    def found(level: mpf) -> mpf:
        e, p = real(epsilon), 1 / (1 + mpmath.exp(-real(epsilon)))
        return mpmath.fsum(
            mpmath.binomial(count, k) * p**k * (1 - p) ** (count - k)
            * max(mpf(0), 1 - mpmath.exp(level - (2 * k - count) * e))
            for k in range(count // 2, count + 1)
        )  # fmt: skip

    return found


def _often(parts: list[tuple[str, str, int]], c: int, height: int) -> Callable[[mpf], mpf]:
    """Sampled Gaussians: the inversion integral as a sum on the real axis."""

    def one_way(removing: bool) -> Callable[[mpf], mpf]:
        def found(level: mpf) -> mpf:
            with mpmath.workdps(32):
                few = [(real(q), real(noise), times) for q, noise, times in parts]
                step = mpf("0.083")
                return continuous_truth.by_inversion(
                    few, level, mpf(c), step, int(height / step), removing
                )

        return found

    return _both(one_way)


def _ratios(sigma: str, steps: int, taken: int) -> tuple[Any, Any, Any, float]:
    """All but the last of the steps on a grid: masses under Q, and P/Q as first + rest r."""
    mu = 1 / float(Fraction(sigma))
    x, step = np.linspace(-9, 9 + 2 * mu, 1_201, retstep=True)
    mass, r = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * step, np.exp(mu * x - mu * mu / 2)
    if steps == 2:
        return mass, r / 2, np.full_like(r, 0.5), mu
    one, other = r[:, None], r[None, :]
    if taken == 1:
        first, rest = (one + other) / 3, np.full((len(r), len(r)), 1 / 3)
    else:
        first, rest = one * other / 3, (one + other) / 3
    return np.outer(mass, mass), first, rest, mu


def _allocated(sigma: str, steps: int = 2, taken: int = 1) -> Callable[[mpf], mpf]:
    """So many of two or three steps, drawn at random: P/Q is the mean of products of ratios."""

    def found(level: mpf) -> mpf:
        mass, first, rest, mu = _ratios(sigma, steps, taken)
        odds = float(mpmath.exp(level))

        def above(short: Any) -> Any:  # E (rest e^(mu y - mu^2/2) - short)^+
            safe = np.where(short > 0, short, 1.0)
            z = (np.log(safe / rest) + mu * mu / 2) / mu
            call = rest * ndtr(mu - z) - safe * ndtr(-z)
            return np.where(short > 0, call, rest - short)

        removing = (mass * above(odds - first)).sum()
        short = 1 / odds - first  # (1 - odds w)^+ = odds (1/odds - w)^+, by put-call parity
        adding = odds * (mass * (above(short) - rest + short)).sum()
        return mpf(float(max(removing, adding)))

    return found


def allocated_renyi(sigma: str, steps: int, taken: int) -> mpf:
    """At order 2, of P from Q: the mean of (P/Q)^2."""
    mass, first, rest, mu = _ratios(sigma, steps, taken)
    square = first**2 + 2 * first * rest + rest**2 * np.exp(mu * mu)
    return mpf(float(np.log((mass * square).sum())))


def _noise(pmf: truth.Pmf, radius: int, shift: int = 1) -> Pair:
    return truth.shifts(pmf, radius, shift).ways[-2]


def listings() -> list[Listing]:
    infinite = [(real(p), real(q)) for p, q in (
        ("1/2", "2/5"), ("9/20", "11/20"), ("1/20", "0"), ("0", "1/20"))]  # fmt: skip
    one, third, half = (_response(e) for e in ("1", "1/3", "1/2"))
    laplace = _noise(oracles.discrete_laplace(1), 60)
    skellam = _noise(oracles.skellam(1), 26)
    gaussian = truth.Gaussian
    rough = Fraction(1, 10**9)
    table = f"pmf:file={TABLES}/infinite.csv"
    response = "randomized-response:epsilon="

    def mixed_list(removing: bool) -> Callable[[mpf], mpf]:
        pair = laplace if removing else _swapped(laplace)
        return _after([pair], _sampled("1/2", "1", removing))

    return [
        Listing((f"{response}1/10*1000",), "3", _binomial("1/10", 1000)),
        Listing((f"{response}1/10*1000",), "9/2", _binomial("1/10", 1000)),
        Listing((f"{response}1*20",), "0", _binomial("1", 20)),
        Listing((f"{response}1*2", f"{response}1/3*3"), "1/2",
                _after([one, one, third, third, third], _nothing)),
        Listing((f"{response}1*2", f"{response}1/2*2"), "3",
                _after([one, one, half, half], _nothing)),
        Listing(("discrete-laplace:scale=1*2", f"{response}1/3"), "1",
                _after([laplace, laplace, third], _nothing), is_slow=True),
        Listing(("skellam:variance=1*2", f"{response}1/3"), "1",
                _after([skellam, skellam, third], _nothing), is_slow=True),
        Listing(("skellam:variance=1", "discrete-laplace:scale=1"), "1/2",
                _after([skellam, laplace], _nothing)),
        Listing((table, f"{response}1*2"), "1",
                _both(lambda way: _after([infinite if way else _swapped(infinite), one, one],
                                         _nothing))),
        Listing((f"{table}*3",), "1/10", _both(
            lambda way: _after([infinite if way else _swapped(infinite)] * 3, _nothing))),
        Listing(("gaussian:sigma=1*3", "gaussian:sigma=2*4"), "2", gaussian(Fraction(4)).delta),
        Listing(("gaussian:sigma=100*10000",), "5", gaussian(Fraction(1)).delta),
        Listing(("tree:steps=4,sigma=2", "gaussian:sigma=1"), "1", gaussian(Fraction(7, 4)).delta),
        Listing((f"{response}1*3", "gaussian:sigma=2*2"), "1",
                _after([one, one, one], _real(gaussian(Fraction(1, 2))))),
        Listing((f"{response}1*3", "gaussian:sigma=2"), "0",
                _after([one, one, one], _real(gaussian(Fraction(1, 4))))),
        Listing(("discrete-laplace:scale=1", "laplace:scale=2"), "1/2",
                _after([laplace], _real(truth.Laplace(Fraction(1, 2))))),
        Listing((f"{table}*2", "gaussian:sigma=1"), "1", _both(
            lambda way: _after([infinite if way else _swapped(infinite)] * 2,
                               _real(gaussian(Fraction(1)))))),
        Listing((f"discrete-laplace:scale=1,{_ADDED}",
                 f"gaussian:sigma=1,{_ADDED},poisson=1/2"), "1", _both(mixed_list)),
        Listing((f"gaussian:sigma=2,{_ADDED},poisson=1/10*100",), "2.3",
                _often([("1/10", "2", 100)], 5, 25), is_slow=True),
        Listing((f"gaussian:sigma=1,{_ADDED},poisson=1/100*1000",), "1.8",
                _often([("1/100", "1", 1000)], 6, 28), is_slow=True),
        Listing((f"gaussian:sigma=5,{_ADDED},poisson=1/2*64",), "5.3",
                _often([("1/2", "5", 64)], 7, 16), is_slow=True),
        Listing((f"gaussian:sigma=1,{_ADDED},allocation=1/2",), "1/2", _allocated("1"), rough,
                is_slow=True),
        *(
            Listing(
                (f"gaussian:sigma={sigma},{_ADDED},allocation={taken}/3",), level,
                _allocated(sigma, 3, taken), rough, is_exact=False, is_slow=True,
            )
            for sigma, taken, level in (("1", 1, "1/2"), ("2", 1, "1/10"), ("2", 2, "1/5"))
        ),
        Listing((f"gaussian:sigma=2,{_ADDED},allocation=1/2",), "1/10", _allocated("2"), rough),
        Listing(("exponential:epsilon=1", "exponential:epsilon=1/2"), "0",
                lambda level: mpf("0.259814130565"), Fraction(1, 10**11), is_slow=True),
    ]  # fmt: skip
