"""Theorem A.1 of the shuffle paper: is Algorithm 3 (ε, δ)-DP, is 96 needed, is its error tame?

Algorithm 3 releases the sum of the users' bits plus B, where B is Bin(ceil(tau/m) m, 1/2) for
m <= tau and Bin(m, q), q = tau/(2m), for m > tau, with tau = 96 log(2/delta)/epsilon². The error is
B - E B; for m > tau exactly

    E e^(λ(B - E B)) = ((1 - q) e^(-λq) + q e^(λ(1-q)))^m.

At λ = 2 log((1-q)/q) its logarithm is m (1 - 2q) log((1-q)/q), so that a sub-Gaussian variance is
at least V = m (1 - 2q)/(2 log((1-q)/q)); V is one (Kearns and Saul, "Large deviation methods for
approximate probabilistic inference", UAI 1998, Lemma 1). With m = tau/(2q)

    V/tau = (1 - 2q)/(4 q log((1-q)/q)),

which has no bound as q -> 0: no multiple of tau will do for all m.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import arb

from ...accounting.composition.composed import compose
from ...exact.enclosure import Enclosure
from ...exact.number import Real, ball, linear
from ...exact.roots import first_met
from ...mechanisms.additive.shuffle import stated_tau
from ...mechanisms.laws.binomial import Binomial
from ...mechanisms.mechanism import AdditiveNoise
from .proofs import Figures, certain, figure, proved_positive, proved_positive_beyond, require

_STATED = 96
_ENOUGH = 32  # the paper's own argument goes through from here on; 31 is refused
_MANY = 10**7  # users: many more than tau
_POINTS = tuple(
    (Fraction(epsilon), Fraction(delta))
    for epsilon in ("1/10", "1/2", "99/100")
    for delta in ("1e-3", "1e-6", "1e-12")
)
_STEP = Fraction(1, 100)  # how finely the least constant is told

_VARIANCE = Fraction(3, 2)  # the paper derives exp(-t²/(3 tau)): the variance 3 tau/2
_BEYOND = 10  # m > _BEYOND tau: certainly more than that
_CORRECTED = Fraction(3, 4)  # (_CORRECTED tau, 1)-sub-exponential for every m
_REACH = Fraction(48, 5)  # log T <= _REACH² tau/48 = 1.92 tau
_WITNESS = (Fraction(99, 100), Fraction(1, 2), 10**6)  # epsilon, delta, m of the tail's witness
_RATIOS = (10, 100, 10**4, 10**8)


def privacy() -> Figures:
    """The paper's argument, and at points the least constants for which the exact δ is enough.

    Certified: each is enough, and one fair bit, or one step, less is not.
    """
    points = [_least_constants(epsilon, delta) for epsilon, delta in _POINTS]
    return {
        "stated": _STATED,
        "enough": _ENOUGH,
        "pieces": _prove_with(_STATED),
        "fewer": _prove_with(_ENOUGH),
        "points": points,
        "worst": max(max(point["few"], point["many"]) for point in points),
    }


def _least_constants(epsilon: Fraction, delta: Fraction) -> dict[str, Any]:
    tau = stated_tau(epsilon, delta)
    size = figure(lambda: tau.ball() / _STATED)

    def spent(trials: int, chance: Real) -> Enclosure:
        return compose(AdditiveNoise(Binomial(trials, chance), 1)).delta(epsilon)

    def rare(steps: int) -> Real:
        return linear(Fraction(0), steps * _STEP / _STATED / (2 * _MANY), tau)

    def private(trials: int, chance: Real) -> bool:
        enough = spent(trials, chance).at_most(delta)
        require(enough is not None, f"the delta of {trials} bits is too close to call")
        return enough is True

    most = math.ceil(_STATED * Fraction(size.upper))
    bits = first_met(lambda bits: private(bits, Fraction(1, 2)), 0, most)
    stated = int(_STATED / _STEP)
    return {
        "epsilon": epsilon,
        "delta": delta,
        "few": math.ceil(bits / Fraction(size.lower) / _STEP) * _STEP,
        "many": first_met(lambda steps: private(_MANY, rare(steps)), 0, stated) * _STEP,
        "spent": spent(_MANY, rare(stated)),
    }


def _prove_with(constant: int) -> int:
    """Prove Theorem A.1 with this constant in place of 96, for all epsilon < 1, all delta, all m.

    The paper's argument. With c² = 3 E[B] log(2/delta) and E[B] >= tau/2, Chernoff's bound
    P(|B - E B| >= a E B) <= 2 exp(-a² E B/3), 0 < a <= 1, applies to a = c/E B <= k epsilon with
    k = sqrt(6/constant). For |t - E B| < c, in both regimes of m, P(B = t)/P(B = t-1) is at most
    (1 + k epsilon + 2/tau)/(1 - k epsilon), and P(B = t)/P(B = t+1), which the other direction
    needs, is so too; and 2/tau < d epsilon² with d = 2/(constant log 2). That is at most e^epsilon
    where e^epsilon (1 - k epsilon) > 1 + k epsilon + d epsilon²; divided by epsilon:

        E(epsilon)(1 - k epsilon) - 2k - d epsilon > 0,   E(x) = (e^x - 1)/x increasing, E(0) = 1.

    Chernoff's bound needs in its upper half (1+a) log(1+a) - a > a²/3 for 0 < a <= 1; in its lower
    half (1-a) log(1-a) + a >= a²/2 has only positive terms in its power series.
    Raises NotProvedError where that is false.
    """

    def chernoff(a: Any) -> Any:
        return (1 + a) * (1 + a).log() - a - a * a / 3

    def margin(x: arb) -> arb:
        k = (arb(6) / constant).sqrt()
        d = 2 / (constant * arb(2).log())
        return _growth(x) * (1 - k * x) - 2 * k - d * x

    near = Fraction(2, 5)
    pieces = proved_positive_beyond(chernoff, 0, near, order=2)
    return pieces + proved_positive(chernoff, near, 1) + proved_positive(margin, 0, 1)


def _growth(x: arb) -> arb:
    """(e^x - 1)/x on a ball of 0 <= x <= 1: the integral of e^(xs) over 0 <= s <= 1, increasing."""
    term, total = arb(1), arb(1)
    for n in range(2, 40):
        term = term * x / n
        total += term
    return total + arb(0, 1) * arb(2) ** -120  # the rest is below 2/40!


def tails() -> Figures:
    """The variance has no bound in multiples of tau; what is true instead, and of clean events."""
    q = sympy.Symbol("q", positive=True)
    limit = sympy.limit((1 - 2 * q) / (4 * q * sympy.log((1 - q) / q)), q, 0, "+")
    require(limit == sympy.oo, f"the limit of V/tau is {limit}")
    ratios = [
        {"m": ratio, "V": figure(partial(_ratio, Fraction(1, 2 * ratio)))} for ratio in _RATIOS
    ]
    epsilon, delta, users = _WITNESS
    witness = {"epsilon": epsilon, "delta": delta, "m": users, **_tail_witness()}
    pieces = {"failure": _prove_failure(), "mended": _prove_correction(), "clean": _prove_clean()}
    return {"ratios": ratios, "beyond": _BEYOND, **pieces, **witness}


def _ratio(chance: Fraction) -> arb:
    """V/tau at this q."""
    q = ball(chance)
    return (1 - 2 * q) / (4 * q * ((1 - q) / q).log())


def _prove_failure() -> int:
    """Prove V > _VARIANCE tau for every m >= _BEYOND tau, that is for 0 < q <= 1/(2 _BEYOND).

    V/tau > 3/2 where 1 - 2q - 6q log((1-q)/q) > 0. For q <= 1/1000 it is enough that
    -q log q <= 7/1000, which holds since it rises up to q = 1/e.
    """
    small = Fraction(1, 1000)
    require(
        certain(lambda: arb(7) / 1000 + ball(small) * ball(small).log()),
        "-q log q is above 7/1000 at q = 1/1000",
    )
    require(1 - 2 * small - 6 * Fraction(7, 1000) > 0, "1 - 2q - 6 (7/1000) is not positive")

    def margin(q: arb) -> arb:
        return 1 - 2 * q - 4 * ball(_VARIANCE) * q * ((1 - q) / q).log()

    return proved_positive(margin, small, Fraction(1, 2 * _BEYOND))


def _prove_correction() -> int:
    """Prove that for every m the error is (_CORRECTED tau, 1)-sub-exponential.

    m > tau: E e^(λ(B - E B)) <= exp(mq (e^λ - 1 - λ)), mq = tau/2, and e^λ - 1 - λ <= (3/4) λ² for
    |λ| <= 1, which is proved here. m <= tau: B is Bin(N, 1/2) with N = ceil(tau/m) m < tau + m <=
    2 tau, sub-Gaussian with variance N/4 (Hoeffding's lemma), below tau/2.
    """

    def margin(x: Any) -> Any:
        return ball(_CORRECTED) * x * x - (x.exp() - 1 - x)

    near = Fraction(1, 3)
    pieces = proved_positive_beyond(margin, 0, near, order=2) + proved_positive(margin, near, 1)
    return pieces + proved_positive_beyond(margin, 0, -1, order=2)


def _prove_clean() -> int:
    """Prove that sums over t batches keep P(|sum| > 2σ sqrt(2t log T)) <= 2 T^-4, σ² = 3 tau/2.

    For log T <= _REACH² tau/48, in any mix of batch sizes. With μ = tau/2 the error of a batch has
    E e^(λ error) <= exp(μ (e^λ - 1 - λ)) for λ >= 0 (also for m <= tau, where it is at most
    exp(μλ²/2)) and <= exp(μλ²/2) for λ <= 0. So P(sum >= x) <= exp(-tμ h(x/(tμ))), h(u) =
    (1 + u) log(1 + u) - u. At x = sqrt(24 t μ log T), u = x/(tμ) <= _REACH, that is T^-4 at most
    where h(u) >= u²/6, which is proved here for 0 < u <= _REACH. The lower tail is smaller.
    """

    def margin(u: Any) -> Any:
        return (1 + u) * (1 + u).log() - u - u * u / 6

    return proved_positive_beyond(margin, 0, 1, order=2) + proved_positive(margin, 1, _REACH)


def _tail_witness() -> Figures:
    """P(B - E B >= t) and exp(-t²/(3 tau)) at a t where the first is larger."""
    epsilon, delta, users = _WITNESS
    tau = stated_tau(epsilon, delta)
    mean = Fraction(figure(lambda: tau.ball() / 2).upper)
    outcome = math.ceil(13 * mean)
    distance = math.floor(outcome - mean)  # B >= outcome implies B - E B >= distance
    law = Binomial(users, linear(Fraction(0), Fraction(1, 2 * users), tau))
    tail = figure(lambda: law.upper_tail(outcome))
    bound = figure(lambda: (-(arb(distance) ** 2) / (3 * tau.ball())).exp())
    require(tail.greater_than(bound.upper), "the tail is not above the bound")
    return {"distance": distance, "tail": tail, "bound": bound}
