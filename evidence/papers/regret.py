"""Confidence radii, pulls and regret: what eliminates arms in both papers, and when.

*The bandit paper.* Batch b has l(b) = 2^b users an arm. Assumption 1 at level q: |noise| <=
σ sqrt(log(2/q)) + h log(2/q) with probability at least 1 - 2q. The radius (2) takes q = p/(|Φ| b²)
in it and, for Hoeffding's inequality, log(4 |Φ| b²/p)/(2 l(b)).

*The shuffle paper*, Theorems 3.1 and 3.3 and Corollary 3.2, takes as given a summation mechanism
whose error is unbiased and sub-Gaussian with variance σ², independently of the batch (which Theorem
A.1 does not give for all batch sizes: S-thmA1-subgauss). Radius: I = (2 sqrt(t) σ/N + 1/sqrt(N))
sqrt(2 log T), natural logarithm: 2 exp(-4 log T) = 2 T^-4.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import sympy
from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...mechanisms.additive.papers import Preset, theorem1, theorem2, theorem4
from .proofs import Figures, certain, figure, prove_equal, require

_WITNESS_ARMS, _WITNESS_HORIZON = 2, 2**20  # of Lemma 2's witness; p = 1/_WITNESS_HORIZON
_STEEPNESS = 10**9  # its h

_EPSILON, _ARMS, _HORIZON, _SCALING = Fraction(1, 2), 10, 10**6, 10
_BATCHES = (1, 2, 4, 8, 12, 16)
_PROTOCOLS: dict[str, Callable[[int], Preset]] = {
    "Theorem 1": lambda n: theorem1(_EPSILON, n, _HORIZON),
    "Theorem 2": lambda n: theorem2(_EPSILON, n, _HORIZON, _SCALING),
    "Theorem 4": lambda n: theorem4(_EPSILON, n, _HORIZON, _SCALING),
}
_RADII = ((6, 10), (6, 1000), (12, 1000), (100, 1000))  # T = 10^, s


def radii_hold() -> Figures:
    """Lemma 2, P(all radii hold) >= 1 - 3p: refuted where noise meets Assumption 1 with equality.

    The union bound in units of p, for log(x |Φ|b²/p) in the noise and log(y |Φ|b²/p) for the
    rewards: the noise fails with probability 2q = 4p/(x |Φ|b²), the rewards, by Hoeffding, with
    2 exp(-log(y |Φ|b²/p)), for |Φ| arms each, which is known before the batch. So it is
    (4/x + 2/y) Σ b^-2 = (4/x + 2/y) π²/6, with x = 2κ and y = 4 at most 3 from
    κ = 4π²/(36 - π²) on.
    """
    p = Fraction(1, _WITNESS_HORIZON)
    failure = figure(lambda: _failing(p))
    require(failure.greater_than(3 * p), f"the radii fail with probability {failure}, not above 3p")

    def union(noise: int) -> Enclosure:
        return figure(lambda: (arb(4) / noise + arb(1) / 2) * arb.pi() ** 2 / 6)

    mended = union(4)
    require(mended.less_than(3), "the corrected radii do not hold with probability 1 - 3p")
    return {
        "union": union(2),
        "mended": mended,
        "arms": _WITNESS_ARMS,
        "T": _WITNESS_HORIZON,
        "in_units": figure(lambda: _failing(p) / ball(p)),
        "factor": figure(lambda: 4 * arb.pi() ** 2 / (36 - arb.pi() ** 2)),
    }


def _failing(p: Fraction) -> arb:
    """P(some radius fails) for the witness, σ = 0, independent noise, rewards without variance.

    |noise| = h (log 4 + an exponential variable), so P(|noise| > h x) = 4 e^-x for x >= log 4:
    Assumption 1 holds with equality at every q <= 1/2, and for q > 1/2 it asks for nothing. All
    arms have the same rewards; the probability is that of the first failure, up to which (all radii
    hold) no arm is eliminated. A radius fails where |noise| > h log(2/q) + l times Hoeffding's
    term: with probability 2q e^(-slack/h) at level q = p/(arms b²). All batches count that are
    complete before T rounds.
    """
    survives, b = arb(1), 1
    while _WITNESS_ARMS * (2 ** (b + 1) - 2) <= _WITNESS_HORIZON:
        level = ball(p / (_WITNESS_ARMS * b * b))
        slack = (2**b * (4 / level).log() / 2).sqrt()
        survives *= (1 - 2 * level * (-slack / _STEEPNESS).exp()) ** _WITNESS_ARMS
        b += 1
    return 1 - survives


def pulls() -> None:
    """Lemma 2, N_a(T) <= 4 l(b̃): all batches up to b̃ + 1, one of which may be cut short."""
    last, growth = sympy.symbols("last growth", positive=True)
    b = sympy.Symbol("b", integer=True)
    prove_equal(sympy.summation(2**b, (b, 1, last + 1)), 4 * 2**last - 2)
    # growth + ... + growth^(last+1) = growth²/(growth-1) growth^last - growth/(growth-1)
    geometric = growth * (growth ** (last + 1) - 1) / (growth - 1)
    prove_equal(growth**2 / (growth - 1) * growth**last - geometric, growth / (growth - 1))


def assumption() -> Figures:
    """Assumption 1: do the protocols of the paper meet it "for any p"?

    They fix the accuracy at τ with P(|noise| > τ) <= 1/T and the modulus at m = n g + 2τ + 1. Where
    all rewards are 1 and τ < noise <= 2τ, the analyzer takes the released sum n g + noise for an
    underflow and subtracts m: its error is (m - noise)/g >= (m - 2τ)/g > n. The probability of that
    does not fall with p. Lemma 2 needs Assumption 1 at the level q = p/(|Φ| b²), p = 1/T, in
    batch b.
    """
    protocols = []
    for name, build in _PROTOCOLS.items():
        ratios = {b: _overflow(build(2**b)).times(1 / (2 * _level(b))) for b in _BATCHES}
        protocols.append({"name": name, **{f"b{b}": ratio for b, ratio in ratios.items()}})
    last = _BATCHES[-1]
    users, needed = 2**last, _level(last)
    overflow = _overflow(theorem1(_EPSILON, users, _HORIZON))
    require(overflow.greater_than(2 * needed), "Assumption 1 is not violated at this level")

    def constant() -> arb:
        """The C with (C/ε)(sqrt(log(2/q)) + log(2/q)) = n."""
        log = (2 / ball(needed)).log()
        reached: arb = users * ball(_EPSILON) / (log.sqrt() + log)
        return reached

    setting = {"epsilon": _EPSILON, "T": _HORIZON, "arms": _ARMS, "s": _SCALING, "last": last}
    witness = {"overflow": overflow, "allowed": 2 * needed, "constant": figure(constant)}
    return {"protocols": protocols, **setting, **witness}


def _level(b: int) -> Fraction:
    """q = p/(|Φ| b²) with p = 1/T."""
    return Fraction(1, _HORIZON * _ARMS * b * b)


def _overflow(preset: Preset) -> Enclosure:
    """P(τ < noise <= 2τ), which makes the analyzer's error exceed n where all rewards are 1."""
    law, tau = preset.mechanism.law, preset.accuracy or 0
    return figure(lambda: law.upper_tail(tau + 1) - law.upper_tail(2 * tau + 1))


def radius() -> Figures:
    """Theorem 2's radius does not give its regret: it has (1 + 1/s) log T/(ε l) where the regret
    needs sqrt(log T)/(ε l) + log T/(s ε l).

    *Two arms, rewards 1 and 0 without variance* (which are encoded without rounding), K = 2, gap 1.
    By Proposition 1 the noise of a batch, divided by g, is at most e = τ/g with probability
    1 - 1/T, where τ/g <= (2 sqrt(L) + (sqrt(2) L + 1)/s)/ε, L = log(2T), since g >= sε and the
    ceiling adds at most 1. Where it is, the bad arm is kept at the end of a batch with
    2β(b) l(b) - 2e >= l(b); and β(b) l(b) >= C (1 + 1/s) L/ε, C the constant that the O hides,
    since |Φ(b)| b² T >= 2T. So the bad arm is kept in all batches with

        l(b) <= A = (2C (1 + 1/s) L - 4 sqrt(L) - 2 (sqrt(2) L + 1)/s)/ε,

    but for a probability of at most 2 log2(A)/T, and is pulled at least A times, each at the cost
    of 1. With s = L and ε = 1/sqrt(L) A grows like L^(3/2), while the regret that is claimed is at
    most a constant times L + 2 sqrt(L)/ε + 2L/(sε) = 3L + 2 sqrt(L). No constants C, C' reconcile
    the two.
    """
    log, constant = sympy.symbols("L C", positive=True)
    kept = _kept(log, sympy.sqrt(log), constant, sympy.sqrt(2))
    claimed = 3 * log + 2 * sympy.sqrt(log)
    limit = sympy.limit(sympy.expand(kept / claimed / sympy.sqrt(log)), log, sympy.oo)
    prove_equal(limit, 2 * constant / 3)
    points = [
        {"T": f"1e{power}", "s": s, "ratio": figure(partial(_noise_terms, 10**power, s))}
        for power, s in _RADII
    ]
    far = (2 * arb(10**100)).log
    rounds = figure(lambda: _kept(far(), far().sqrt(), arb(1), arb(2).sqrt()))
    return {"points": points, "rounds": rounds}


def _noise_terms(horizon: int, scaling: int) -> arb:
    """(1 + 1/s) L over 2 sqrt(L) + sqrt(2) L/s, L = log(2T): the two noise terms, ε cancelled."""
    log, s = (2 * arb(horizon)).log(), arb(scaling)
    return (1 + 1 / s) * log / (2 * log.sqrt() + arb(2).sqrt() * log / s)


def _kept(log: Any, sqrt_log: Any, constant: Any, sqrt_two: Any) -> Any:
    """A at s = L, ε = 1/sqrt(L), of symbols or of balls."""
    noise = 4 * sqrt_log + 2 * (sqrt_two * log + 1) / log
    return (2 * constant * (1 + 1 / log) * log - noise) * sqrt_log


def constant_batches() -> None:
    """Theorem 3.1 of the shuffle paper: every step of the proof, symbolically."""
    _clean_event()
    sigma, log, gap, m, n = sympy.symbols("sigma L Delta m N", positive=True)
    # 4I <= Δ/2 + Δ/2 at the two thresholds: the pulls beyond which the intervals are disjoint
    rewards = 4 * sympy.sqrt(2 * log) / sympy.sqrt(n)
    noise = 8 * sigma * sympy.sqrt(2 * log) / sympy.sqrt(m * n)  # sqrt(t)/N = 1/sqrt(mN)
    prove_equal(rewards.subs(n, 128 * log / gap**2), gap / 2)
    prove_equal(noise.subs(n, 512 * sigma**2 * log / (m * gap**2)), gap / 2)
    # the bound that does not depend on the gaps: Tγ + ak log T/γ at its minimum
    a, k, rounds, gamma = sympy.symbols("a k T gamma", positive=True)
    best = sympy.sqrt(a * k * log / rounds)
    prove_equal(
        (rounds * gamma + a * k * log / gamma).subs(gamma, best),
        2 * sympy.sqrt(a * k * rounds * log),
    )


def doubling_batches() -> Figures:
    """Theorem 3.3: the same, but t0 <= log2 T, not log T, and the edge t0 = 0."""
    _clean_event()
    t0, log = sympy.symbols("t_0 L", positive=True)
    # N = 2 + ... + 2^t0 = 2^(t0+1) - 2; the next batch 2^(t0+1) <= 3N where 2^(t0+1) >= 3
    pulled = 2 ** (t0 + 1) - 2
    prove_equal(3 * pulled - 2 ** (t0 + 1), 2 ** (t0 + 2) - 6)
    # 64 sqrt(t0) σ sqrt(2 log T) at t0 = log T/log 2
    stated = 64 * sympy.sqrt(2) * log
    prove_equal(
        64 * sympy.sqrt(log / sympy.log(2)) * sympy.sqrt(2 * log), stated / sympy.sqrt(sympy.log(2))
    )
    phases, rounds = 10, 2 * ((2 << 10) - 2)  # two arms that stay for 2 + 4 + ... + 2^10 pulls
    require(certain(lambda: phases - arb(rounds).log()), "the witness for t0 > log T does not hold")
    factor = figure(lambda: 1 / arb(2).log().sqrt())
    bits = figure(lambda: arb(rounds).log())
    return {"T": rounds, "phases": phases, "bits": bits, "factor": factor}


def batch_of_sigma() -> Figures:
    """Corollary 3.2: m = ceil(σ) is not enough, m = ceil(σ²) is.

    *Not enough.* Two arms of gap 1, rewards without variance. By Hoeffding at half the radius the
    estimate of an arm is farther than I/2 from its mean with probability at most 4/T (exponents
    4 log T/4), in a given phase. Otherwise the bad arm is kept while 1 <= 2I - 2(I/2) = I, so for
    all t with 2 sqrt(2 t log T) σ >= mt, that is t <= 8 σ² log T/m²: it is pulled at least
    8 σ² log T/m - m times but for a probability of 8t/T. With m = ceil(σ) that is of order
    σ log T, while the corollary claims O(log T + σ²).
    """
    sigma = sympy.Symbol("sigma", positive=True)
    log = sigma**2  # log T = σ²: the bound as claimed is of order σ²
    pulled = 8 * sigma**2 * log / (sigma + 1) - (sigma + 1)  # m <= σ + 1
    growth = sympy.limit(pulled / (log + sigma**2) / sigma, sigma, sympy.oo)
    require(growth == 4, "the pulls do not grow as stated")
    told = (  # 8 σ² log T/m² phases at m = σ
        f"σ = {s}: {8 * s**2 * s} pulls against log T + σ² = {2 * s**2}" for s in (10, 100, 1000)
    )
    return {"pulls": "; ".join(told)}


def _clean_event() -> None:
    """2 exp(-x²/(2 variance)) = 2 T^-4 for both sums, and the union over k <= T and T phases."""
    sigma, t, n, rounds = sympy.symbols("sigma t N T", positive=True)
    log = sympy.log(rounds)
    noise = 2 * sigma * sympy.sqrt(2 * t * log)
    prove_equal(noise**2 / (2 * t * sigma**2), 4 * log)
    rewards = sympy.sqrt(2 * n * log)
    prove_equal(rewards**2 / (2 * n * sympy.Rational(1, 4)), 4 * log)
    prove_equal(rounds * rounds * 2 * (2 * sympy.exp(-4 * log)), 4 / rounds**2)
