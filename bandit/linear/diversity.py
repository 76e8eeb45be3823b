"""How much of every direction the contexts of *chosen* arms show, in the unit ball.

A user has K contexts, independent and uniform in the unit ball of R^d, and takes the arm of the
largest f(x), f convex and fixed before: as <theta^, x> + width(x) is. Then for every unit vector w

    E <w, x>^2  >=  E[min over arms of L_a^2]/4,    L_a^2 = 1 - |x_a|^2 + <w, x_a>^2.

*Proof.* Write x_a = s_a w + y_a, y_a orthogonal to w. Given y_a, s_a is uniform in [-L_a, L_a].
Given all y and the other arms' s as well, arm a is taken where f(s_a w + y_a) is larger than the
others' (or as large, of a tie that she wins). As f is convex, s_a is *not* taken in an interval
(p, q), with or without its ends; so that where it is, it is uniform in [-L_a, p] and [q, L_a]. The
mean of s^2 over [q, L], |q| <= L, is (L^2 + qL + q^2)/3 = L^2/4 + (q + L/2)^2/3 >= L^2/4; likewise
over [-L, p], and so over both. Hence E[s_a^2 | a is taken, all y] >= L_a^2/4. QED.

L_a^2 has the law Beta(3/2, (d - 1)/2) (y is a projection of a uniform vector); for d = 1 it is 1.
So E min = integral of P(L^2 > t)^K over [0, 1], from below by steps, as this falls in t.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from flint import arb

from ...exact.number import ball
from ...exact.precision import enclose, working_precision

_STEPS, _BITS = 256, 64


def chosen_in_ball(dimension: int, arms: int) -> Fraction:
    """What no eigenvalue of E[x x'] is below, of the arm of the largest convex index.

    >>> chosen_in_ball(1, 20), float(chosen_in_ball(10, 20)) > 0.0075
    (Fraction(1, 4), True)
    """
    if dimension == 1:
        return Fraction(1, 4)
    places = [Fraction(step, _STEPS) ** 2 for step in range(_STEPS + 1)]  # finer where it is likely
    with working_precision(_BITS):
        total, shape = arb(0), (arb(3) / 2, arb(dimension - 1) / 2)
        for before, after in pairwise(places[:-1]):
            all_above = (1 - ball(after).beta_lower(*shape, regularized=True)) ** arms
            total += ball(after - before) * all_above
        return max(Fraction(enclose(total / 4).lower), Fraction(0))
