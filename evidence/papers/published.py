"""What was published with the bandit paper: the noise that it draws, and its baseline DP-SE."""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from ...accounting.composition.composed import compose
from ...exact.number import ball
from ...mechanisms.additive import papers
from ...mechanisms.laws.search import certain_floor
from .proofs import Figures, figure, prove_equal, require

_NOISE_POINTS = (
    (Fraction(1, 10), 1024),
    (Fraction(1, 2), 1024),
    (Fraction(1), 1024),
    (Fraction(1), 262_144),
    (Fraction(10), 262_144),
)
_EPSILONS = (Fraction(1, 10), Fraction(1, 2), Fraction(1))  # as in its experiments
_ARMS, _LEVEL = 10, Fraction(1, 10)  # K, and the confidence level delta there


def noise() -> Figures:
    """For n >= 3 users the noise is never (epsilon, 0)-DP, for any epsilon > 0.

    It mixes Poisson variables with Gamma(1/n) of scale (1-beta)/beta, beta = e^(-epsilon/g), where
    footnote 3 of the paper says beta/(1-beta). Gamma(r) of scale theta mixed with Poisson has the
    generating function (1 - theta (z - 1))^(-r), that of Pólya(r, theta/(1+theta)); here the
    parameter is 1 - beta. By Fact 1 the n users' noise is the discrete Laplace law with
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
    points = []
    for epsilon, users in _NOISE_POINTS:
        preset = papers.published(epsilon, users)
        g, rate_here = preset.precision, epsilon / preset.precision
        closed = figure(lambda: -g * (-(-ball(rate_here)).expm1()).log())  # noqa: B023
        found = closed.intersection(compose(preset.mechanism).pure())  # must not be empty
        points.append({"epsilon": epsilon, "n": users, "true": found})
    return {"points": points}


def common_noise() -> Figures:
    """DP-SE: the comparison that removes an arm does not contain the noise.

    After a batch of n rewards of each active arm the implementation adds one Laplace variable Z,
    drawn once, to the sums S of all of them, and removes arm a where (S_a + Z)/n + c < max over b
    of (S_b + Z)/n - c. The variable cancels: a is removed just if max S_b - S_a > 2 c n, whatever Z
    is. So what is played depends on the rewards alone, and not at random: where one user's reward
    decides a comparison, the probability that the arm is removed is 0 for one dataset and 1 for its
    neighbour.

    n of the first batch is 1 + floor(max(32 log(8K/delta)/D², 8 log(4K/delta)/(D epsilon))),
    D = 1/2, and c n = sqrt(n log(8K/delta)/2) + log(4K/delta)/epsilon.
    """
    best, other, added, radius = sympy.symbols("S_b S_a Z c", real=True)
    n = sympy.symbols("n", positive=True)
    gap = ((best + added) / n - radius) - ((other + added) / n + radius)
    prove_equal(n * gap, best - other - 2 * radius * n)
    wide, near = ball(8 * _ARMS / _LEVEL), ball(4 * _ARMS / _LEVEL)
    points = []
    for epsilon in _EPSILONS:
        least = [lambda: 128 * wide.log(), lambda: 16 * near.log() / ball(epsilon)]  # noqa: B023
        users = 1 + max(certain_floor(each, "n") for each in least)

        def behind(users: int = users, epsilon: Fraction = epsilon) -> arb:
            return 2 * ((users * wide.log() / 2).sqrt() + near.log() / ball(epsilon))

        limit = certain_floor(behind, "2 c n")  # an arm that is further behind is removed
        require(limit + 1 <= users, f"no arm can be removed after {users} rewards")
        points.append({"epsilon": epsilon, "n": users, "limit": limit, "more": limit + 1})
    return {"points": points}
