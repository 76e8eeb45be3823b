"""The discrete Laplace law: Facts 1 and 3, and Theorems 1 and 5, where the sum is reduced mod m.

Notation: beta = e^(-epsilon/g), the noise is Lap_Z(g/epsilon), m = n g + 2 tau + 1. By Theorem 1
users add it in shares, by Theorem 5 the server adds it.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from ...accounting.composition.composed import compose
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...mechanisms.additive import papers
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.search import certain_ceiling
from ...mechanisms.mechanism import AdditiveNoise
from .proofs import Figures, figure, prove_equal, require

POINTS = (  # epsilon, users of the batch, rounds
    (Fraction(1, 10), 2, 10),
    (Fraction(1, 10), 1024, 10**5),
    (Fraction(1), 2, 10),
    (Fraction(1), 1024, 10**5),
    (Fraction(5), 16, 10**3),
)
_CENTRAL_POINTS = (("1/10", 64, 10**4), ("1/2", 1024, 10**6), ("9/10", 4096, 10**6))


def shares() -> None:
    """Fact 1: n differences of Pólya(1/n, beta) shares have the discrete Laplace law.

    The masses c(x) of Pólya(r, beta) satisfy c(x+1) = beta (x+r)/(x+1) c(x). So do the Taylor
    coefficients of f(z) = ((1-beta)/(1-beta z))^r, since (1-beta z) f' = r beta f, and f(0) = c(0):
    f is the generating function. With r = 1/n its n-th power is (1-beta)/(1-beta z), and the
    product with the same in 1/z is that of the discrete Laplace law, on beta < |z| < 1/beta.
    """
    beta, r, n = sympy.symbols("beta r n", positive=True)
    x = sympy.symbols("x", nonnegative=True)
    z = sympy.symbols("z")
    mass = sympy.gamma(x + r) / (sympy.gamma(x + 1) * sympy.gamma(r)) * beta**x * (1 - beta) ** r
    ratio = sympy.gammasimp(sympy.powsimp(mass.subs(x, x + 1) / mass))
    prove_equal(ratio, beta * (x + r) / (x + 1))

    generating = ((1 - beta) / (1 - beta * z)) ** r
    prove_equal(sympy.diff(generating, z) * (1 - beta * z) / generating, r * beta)
    prove_equal(generating.subs(z, 0), sympy.gammasimp(mass.subs(x, 0)))

    whole = sympy.symbols("w", positive=True)  # (1 - beta)/(1 - beta z) for 0 < z < 1/beta
    prove_equal((whole ** (1 / n)) ** n, whole)

    right, left = 1 / (1 - beta * z), (beta / z) / (1 - beta / z)  # sums over x >= 0 and x < 0
    prove_equal(
        (1 - beta) / (1 - beta * z) * (1 - beta) / (1 - beta / z),
        (1 - beta) / (1 + beta) * (right + left),
    )
    b = sympy.symbols("b", positive=True)
    front = (sympy.exp(1 / b) - 1) / (sympy.exp(1 / b) + 1)
    prove_equal(front, (1 - sympy.exp(-1 / b)) / (1 + sympy.exp(-1 / b)))


def loss_and_tail() -> Figures:
    """Fact 3, for every scale.

    Loss: (|x-d| - |x|)/b is at most d/b by the triangle inequality, and equal to it at every
    x <= 0. Tail: a geometric sum from m + 1.
    """
    epsilon, sensitivity = sympy.symbols("epsilon Delta", positive=True)
    m = sympy.symbols("m", nonnegative=True)
    beta = sympy.symbols("beta", positive=True)
    tail = (1 - beta) / (1 + beta) * beta ** (m + 1) / (1 - beta)
    prove_equal(tail, beta**m / (1 / beta + 1))  # e^(-epsilon m/Delta)/(e^(epsilon/Delta) + 1)
    x, d = sympy.symbols("x d", positive=True)  # the outcome -x
    scale = sensitivity / epsilon
    prove_equal(((x + d) - x) / scale, epsilon * d / sensitivity)
    # an integer-valued query of sensitivity 5/2 moves by 2 at most
    return {"least": compose(AdditiveNoise(DiscreteLaplace(Fraction(5, 2)), 2)).pure()}


def loss_mod_m() -> Figures:
    """Theorem 1: the exact epsilon after mod m, in the steps below.

    1. Residue c, 0 <= c <= m, has mass proportional to f(c) = beta^c + beta^(m-c), two geometric
       sums; f is proportional to cosh((c - m/2)/b), b = g/epsilon, and falls on 0 <= c <= m/2.
    2. Let d <= m/2. On d <= c <= m the log of f(c)/f(c - d) rises: its derivative has the sign of
       tanh u - tanh(u - t) = sinh t/(cosh u cosh(u - t)) > 0, t = d/b. On 0 <= c < d the residue
       c - d is that of d - c by f(m - x) = f(x), and f(c)/f(d - c) falls. Both are largest at
       c = 0 (or m): (1 + beta^m)/(beta^d + beta^(m-d)).
    3. That rises in d up to m/2; beyond, d is m - d seen from the other side.
    4. At d = g, where e^(-epsilon) = beta^g, its log is epsilon - log (1+beta^(m-2g))/(1+beta^m),
       always less than epsilon.
    """
    beta, m, c, d, g = sympy.symbols("beta m c d g", positive=True)
    geometric = 1 / (1 - beta**m)
    prove_equal(
        beta**c * geometric + beta ** (m - c) * geometric,
        (beta**c + beta ** (m - c)) / (1 - beta**m),
    )
    u, t = sympy.symbols("u t", positive=True)
    slope = sympy.sinh(u) / sympy.cosh(u) - sympy.sinh(u - t) / sympy.cosh(u - t)
    prove_equal(
        (slope * sympy.cosh(u) * sympy.cosh(u - t)).rewrite(sympy.exp),
        sympy.sinh(t).rewrite(sympy.exp),
    )
    prove_equal(
        sympy.diff(beta**d + beta ** (m - d), d), sympy.log(beta) * (beta**d - beta ** (m - d))
    )
    ratio = (1 + beta**m) / (beta**g + beta ** (m - g))
    prove_equal(ratio * beta**g, (1 + beta**m) / (1 + beta ** (m - 2 * g)))
    points = []
    for epsilon, users, rounds in POINTS:
        preset = papers.theorem1(epsilon, users, rounds)
        period = preset.mechanism.modulus or 0
        require(period >= 2 * preset.precision, "the period is too short")
        at = {"epsilon": epsilon, "n": users, "T": rounds}
        less = _spared(epsilon, preset.precision, period)
        points.append(at | {"what": "epsilon - exact", "value": less})
        if period < 5000:  # the audit's own sum over residues
            summed = compose(preset.mechanism).pure()
            summed.intersection(less.negated().plus(epsilon))  # raises where they do not meet
            points.append(at | {"what": "exact", "value": str(summed)})
    return {"points": points}


def _spared(epsilon: Fraction, g: int, m: int) -> Enclosure:
    """epsilon minus the exact epsilon after mod m >= 2g: log (1 + beta^(m-2g))/(1 + beta^m)."""
    rate = -epsilon / g
    return figure(lambda: ball(rate * (m - 2 * g)).exp().log1p() - ball(rate * m).exp().log1p())


def accuracy() -> Figures:
    """Theorem 1: P(|noise| > tau) <= 1/(2T) for the stated tau, twice as good as is needed.

    P(|noise| > t) = 2 beta^(t+1)/(1+beta) and beta^tau <= 1/(2T), so it is at most
    (1/T) beta/(1+beta), and beta/(1+beta) < 1/2. Solved for t, it is at most 1/T from
    b log(2T/(1+beta)) - 1 on, b = g/epsilon.
    """
    beta, t = sympy.symbols("beta t", positive=True)
    tail = 2 * (1 - beta) / (1 + beta) * beta ** (t + 1) / (1 - beta)
    prove_equal(tail, 2 * beta**t * beta / (1 + beta))
    prove_equal(sympy.Rational(1, 2) - beta / (1 + beta), (1 - beta) / (2 * (1 + beta)))
    points = []
    for epsilon, users, rounds in POINTS:
        preset = papers.theorem1(epsilon, users, rounds)
        scale = preset.precision / epsilon

        def bound(scale: Fraction = scale, rounds: int = rounds) -> arb:
            return ball(scale) * (2 * rounds / (1 + ball(-1 / scale).exp())).log()

        least = max(0, certain_ceiling(bound, "tau") - 1)
        found = preset.mechanism.law.tail_quantile(Fraction(1, rounds))
        require(least == found, f"the least tau is {found}, not {least}")
        stated = {"stated": preset.accuracy, "least": least}
        points.append({"epsilon": epsilon, "n": users, "T": rounds} | stated)
    return {"points": points}


def central() -> Figures:
    """Theorem 5: privacy and the tail for all parameters; the exact epsilon mod m at points.

    Privacy: the sum mod m plus noise mod m is the noisy sum mod m, post-processing of a discrete
    Laplace mechanism of sensitivity g and scale g/ε (Fact 3). Reduced mod m its law is that of
    β^x + β^(m-x), 0 <= x < m, β = e^(-ε/g), whose largest ratio over the shift g is
    (1 + β^m)/(β^g + β^(m-g)) = e^ε (1 + β^m)/(1 + β^(m-2g)) <= e^ε.
    Tail: P(|η| > τ) = 2 (1-β)/(1+β) (β^(τ+1) + β^(τ+2) + ...), a geometric series.
    """
    beta, tau = sympy.symbols("beta tau", positive=True)
    tail = 2 * (1 - beta) / (1 + beta) * beta ** (tau + 1) / (1 - beta)
    prove_equal(beta**tau - tail, beta**tau * (1 - beta) / (1 + beta))  # >= 0
    points = []
    for budget, users, horizon in _CENTRAL_POINTS:
        preset = papers.theorem5(budget, users, horizon)
        epsilon = preset.epsilon
        exact = compose(preset.mechanism).pure()
        here = preset.mechanism.law.two_sided_tail(preset.accuracy or 0)
        require(here.at_most(Fraction(1, 2 * horizon)), f"the tail {here} is above 1/(2T)")
        require(exact.at_most(epsilon), f"the pure epsilon {exact} is above {epsilon}")
        spared = _spared(epsilon, preset.precision, preset.mechanism.modulus or 0)
        meet = exact.contains(epsilon - Fraction(spared.lower))
        require(meet, "the closed form mod m is not what was measured")
        at = {"epsilon": epsilon, "n": users, "T": horizon}
        points.append(at | {"spared": spared, "tail": here})
    return {"points": points}
