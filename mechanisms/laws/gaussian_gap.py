"""How nearly the sum of n independent discrete Gaussians N_Z(0, sigma2) is N_Z(0, n sigma2).

It is not quite N_Z(0, n sigma2). Split v in Z^n with sum x into (x/n)(1, ..., 1) + u, u orthogonal
to (1, ..., 1). Then |v|^2 = x^2/n + |u|^2, and u runs through a coset of the lattice
A = {v in Z^n : sum v = 0} that depends on x mod n only:

    p(x) = const e^(-x^2/(2 n sigma2)) w(x),    w(x) = sum_u e^(-|u|^2/(2 sigma2)),

w even and of period n. By Poisson summation over A, with the dual lattice A* = the projection of
Z^n orthogonal to (1, ..., 1),

    w(x) = const sum_{y in A*} e^(-2 pi^2 sigma2 |y|^2) e^(2 pi i <y, u_x>),

so that |w(x)/c - 1| <= T for one constant c, where T is the sum of e^(-2 pi^2 sigma2 |y|^2) over
y in A* other than 0. Hence log(max w/min w) and |log p(x)/p'(x)|, p' the law N_Z(0, n sigma2), are
at most log((1 + T)/(1 - T)) (for the second, sum p = sum p' = 1 fixes the constant up to 1 +- T).
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from ...exact.number import ball


def gaussian_gap(count: int, sigma2: Fraction) -> arb:
    """Bound |log p(x)/p'(x)| for all x; perhaps infinite."""
    rest = _dual_rest(count, 2 * arb.pi() ** 2 * ball(sigma2))
    return (2 * rest / (1 - rest)).log1p().upper() if rest < 1 else arb.pos_inf()


def _dual_rest(count: int, a: arb) -> arb:
    """Bound T = sum of e^(-a |y|^2) over y in A* other than 0.

    A class of Z^n mod (1, ..., 1) has a v with |k| <= n/2, k = sum v, and |y|^2 = |v|^2 - k^2/n.
    Let G(b) = sum_m e^(-a m^2 + b m). The v of k = 0 but 0 itself sum to at most G(0)^n - 1; those
    of k in [first, last], where k^2/n <= k last/n, to at most
    e^(-u first) (G(a last/n + u)^n - 1) for any u >= 0; those of -k to the same.
    """
    if count == 1:
        return arb(0)

    def power(b: arb) -> arb:  # G(b)^n - 1, the terms beyond m = 1 by a geometric sum; 0 <= b <= a
        near = (b - a).exp() + (-b - a).exp()
        excess = near + 2 * (2 * b - 4 * a).exp() / (1 - (b - 5 * a).exp())
        return (count * excess.log1p()).expm1()

    total = power(arb(0))
    first = 1
    while first <= count // 2:
        last = min(2 * first - 1, count // 2)
        step = a * last / count
        u = arb(max(0.0, float(a - step + (arb(first) / count).log())))  # no float holds 1e-400
        total += 2 * power(step).min((-u * first).exp() * power(step + u))
        first = last + 1
    return total.upper()
