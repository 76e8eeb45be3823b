"""The discrete Laplace law: Facts 1 and 3, Theorem 5, and the implementation that was published.

*Theorem 5*: the server adds the discrete Laplace noise itself, mod m.

*The published noise* mixes Poisson variables with Gamma(1/n) of scale (1-beta)/beta,
beta = e^(-epsilon/g), where footnote 3 of the paper says beta/(1-beta).
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from ...accounting.composition.composed import compose
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...mechanisms.additive import papers
from ...mechanisms.additive.papers import theorem5
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.mechanism import AdditiveNoise
from .finding import Finding, claim, corrected, fails, figure, holds, require, shown
from .proofs import prove_equal
from .theorem1 import spared


def prove_shares() -> None:
    """Prove that n differences of Pólya(1/n, beta) shares have the discrete Laplace law.

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


def prove_tail() -> None:
    """Prove the loss and the tail of Fact 3, for every scale.

    Loss: (|x-d| - |x|)/b is at most d/b by the triangle inequality, and equal to it at every
    x <= 0. Tail: a geometric sum from m + 1.
    """
    epsilon, sensitivity = sympy.symbols("epsilon Delta", positive=True)
    m = sympy.symbols("m", nonnegative=True)
    beta = sympy.symbols("beta", positive=True)
    tail = (1 - beta) / (1 + beta) * beta ** (m + 1) / (1 - beta)
    stated = beta**m / (1 / beta + 1)  # e^(-epsilon m/Delta)/(e^(epsilon/Delta) + 1)
    prove_equal(tail, stated)
    x, d = sympy.symbols("x d", positive=True)  # the outcome -x
    scale = sensitivity / epsilon
    prove_equal(((x + d) - x) / scale, epsilon * d / sensitivity)


@claim(
    "D-fact1",
    "Chowdhury, Zhou (ICLR 2023), Fact 1",
    "For r > 0, beta in [0, 1], Pólya(r, beta) is a law, and n differences of Pólya(1/n, "
    "e^(-1/b)) shares have the law Lap_Z(b)",
)
def _fact1() -> Finding:
    prove_shares()
    evidence = {
        "shown": "generating functions, symbolically, for all n and all 0 < beta < 1; "
        "at beta = 0 all mass is at 0 on both sides",
        "at beta = 1": "the stated masses are 0 at every x: no probability law",
    }
    return corrected(evidence, "beta in [0, 1) instead of [0, 1]; e^(-1/b) is always inside")


@claim(
    "D-fact3",
    "Chowdhury, Zhou (ICLR 2023), Fact 3",
    "Lap_Z(Delta/epsilon) on a query of sensitivity Delta is (epsilon, 0)-DP, and P(Y > m) = "
    "e^(-epsilon m/Delta)/(e^(epsilon/Delta) + 1)",
)
def _fact3() -> Finding:
    prove_tail()
    fractional = Fraction(5, 2)  # an integer-valued query of sensitivity 5/2 moves by 2 at most
    exact = compose(AdditiveNoise(DiscreteLaplace(fractional), 2)).pure()
    evidence = {
        "shown": "the loss at every x <= 0 is exactly epsilon d/Delta for a shift d; "
        "the tail is a geometric sum; symbolically, for all epsilon, Delta and m",
        "tight": "the least epsilon is epsilon floor(Delta)/Delta: epsilon itself for whole "
        "Delta, less otherwise (an integer-valued query cannot move by a fraction)",
        "least epsilon at Delta = 5/2, epsilon = 1": shown(exact),
    }
    return holds(evidence)


CODE_POINTS = (
    (Fraction(1, 10), 1024),
    (Fraction(1, 2), 1024),
    (Fraction(1), 1024),
    (Fraction(1), 262_144),
    (Fraction(10), 262_144),
)


def prove_never_private() -> None:
    """Prove that for n >= 3 users the noise is never (epsilon, 0)-DP, for any epsilon > 0.

    Gamma(r) of scale theta mixed with Poisson has the generating function
    (1 - theta (z - 1))^(-r), that of Pólya(r, theta/(1+theta)); theta = (1-beta)/beta gives the
    parameter 1 - beta. By Fact 1 the n users' noise is the discrete Laplace law with
    e^(-1/b) = 1 - beta, whose loss at shift g is g/b = -g log(1 - beta). That is at most
    epsilon = -g log beta only if beta <= 1/2, g <= epsilon/log 2. But g >= epsilon sqrt(n), and
    sqrt(3) > 1/log 2.
    """
    theta, r, beta = sympy.symbols("theta r beta", positive=True)
    z, rate = sympy.symbols("z lambda", positive=True)
    # E e^(rate (z-1)): the exponent is -u rate/theta, u = 1 - theta (z-1) > 0 where it is finite
    u = sympy.symbols("u", positive=True)
    prove_equal(-rate / theta + rate * (z - 1), -rate * (1 - theta * (z - 1)) / theta)
    weighted = rate ** (r - 1) * sympy.exp(-rate * u / theta) / (sympy.gamma(r) * theta**r)
    prove_equal(sympy.integrate(weighted, (rate, 0, sympy.oo)), u ** (-r))
    success = theta / (1 + theta)
    prove_equal((1 - success) / (1 - success * z), 1 / (1 - theta * (z - 1)))
    prove_equal(success.subs(theta, (1 - beta) / beta), 1 - beta)
    prove_equal(success.subs(theta, beta / (1 - beta)), beta)
    require(arb(3).sqrt() * arb(2).log() > 1, "sqrt(3) log 2 > 1 is not certain")


def true_epsilon(epsilon: Fraction, g: int) -> Enclosure:
    """-g log(1 - e^(-epsilon/g))."""
    return figure(lambda: -g * (-(-ball(epsilon / g)).expm1()).log())


@claim(
    "D-code",
    "the implementation published with Chowdhury, Zhou (ICLR 2023)",
    "The total noise that it draws for a batch of n users is (epsilon, 0)-DP",
)
def _published() -> Finding:
    prove_never_private()
    evidence = {
        "true epsilon": "-g log(1 - e^(-epsilon/g)), about g log(g/epsilon): it grows with the "
        "batch; above epsilon for every epsilon > 0 and every n >= 3, symbolically",
    }
    for epsilon, users in CODE_POINTS:
        preset = papers.published(epsilon, users)
        closed = true_epsilon(epsilon, preset.precision)
        found = closed.intersection(compose(preset.mechanism).pure())  # must not be empty
        evidence[f"true epsilon at epsilon = {epsilon}, n = {users}"] = shown(found)
    return fails(
        evidence,
        "Gamma scale beta/(1-beta), as footnote 3 says: the shares are then "
        "Pólya(1/n, beta), and Fact 1 and Fact 3 give (epsilon, 0)-DP",
    )


CENTRAL_POINTS = (("1/10", 64, 10**4), ("1/2", 1024, 10**6), ("9/10", 4096, 10**6))  # ε, n, T


@claim(
    "D-thm5",
    "Chowdhury, Zhou (ICLR 2023), Theorem 5",
    "With noise Lap_Z(g/ε) added by the server mod m, Algorithm 1 is (ε, 0)-DP in the central "
    "model, and the noise exceeds τ = ceil((g/ε) log(2T)) with probability at most 1/T.",
)
def _central() -> Finding:
    """Prove privacy and the tail for all parameters; the exact epsilon mod m at points.

    Privacy: the sum mod m plus noise mod m is the noisy sum mod m, post-processing of a discrete
    Laplace mechanism of sensitivity g and scale g/ε (Fact 3). Reduced mod m its law is that of
    β^x + β^(m-x), 0 <= x < m, β = e^(-ε/g), whose largest ratio over the shift g is
    (1 + β^m)/(β^g + β^(m-g)) = e^ε (1 + β^m)/(1 + β^(m-2g)) <= e^ε.
    Tail: P(|η| > τ) = 2 (1-β)/(1+β) (β^(τ+1) + β^(τ+2) + ...), a geometric series.
    """
    beta, tau = sympy.symbols("beta tau", positive=True)
    tail = 2 * (1 - beta) / (1 + beta) * beta ** (tau + 1) / (1 - beta)
    prove_equal(beta**tau - tail, beta**tau * (1 - beta) / (1 + beta))  # >= 0
    evidence = {
        "privacy proved": "exactly log((1 + β^m)/(β^g + β^(m-g))) <= ε, β = e^(-ε/g)",
        "tail proved": "P(|η| > τ) = 2β^(τ+1)/(1+β) <= β^τ <= 1/(2T), half of the p that is asked "
        "(symbolic): τ = ceil((g/ε) log T) is enough",
        "encoding": "the rounding is as in Theorem 1; the order of the regret follows from Lemma 2 "
        "with τ at the level of its union (D-asm1)",
    }
    for epsilon, users, horizon in CENTRAL_POINTS:
        preset = theorem5(epsilon, users, horizon)
        law, tau_here, bound = preset.mechanism.law, preset.accuracy or 0, preset.epsilon
        measured = compose(preset.mechanism).pure()
        tail_here = law.two_sided_tail(tau_here)
        require(
            tail_here.at_most(Fraction(1, 2 * horizon)), f"the tail {tail_here} is above 1/(2T)"
        )
        require(measured.at_most(bound), f"the pure epsilon {measured} is above {bound}")
        slack = spared(bound, preset.precision, preset.mechanism.modulus or 0)
        require(
            measured.contains(bound - Fraction(slack.lower)),
            "the closed form mod m is not what was measured",
        )
        evidence[f"ε = {float(bound):g}, n = {users}, T = {horizon}"] = (
            f"ε minus the exact one is {shown(slack, 3)}; P(|η| > τ) = {shown(tail_here, 5)}"
        )
    return holds(evidence)
